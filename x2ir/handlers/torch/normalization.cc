// Normalizations.
#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

struct Normalized {
  Expr y, mean, inv_std;
};

// (x - mean) / sqrt(var + eps) over the axes, the variance being that of the population.
Normalized Normalize(const Expr& x, const std::vector<int64_t>& axes, double eps) {
  const Expr mean = Reduce(x, "reduce_mean", axes, true), centered = x - mean;
  const Expr var = Reduce(Square(centered), "reduce_mean", axes, true);
  const Expr inv_std = Reciprocal(Sqrt(Shifted(var, eps)));
  return {centered * inv_std, mean, inv_std};
}

// A vector with one number for each channel, that broadcasts to x.
Expr PerChannel(const Expr& v, int64_t rank) { return rank <= 2 ? v : AlongChannels(v, rank); }

// The same of an operand in type t; null where it is left out.
Expr PerChannel(TorchCall& c, Value* v, DType t, int64_t rank) {
  return v ? PerChannel(c.Cast(v, t), rank) : nullptr;
}

Expr ScaleAndShift(const Expr& y, const Expr& scale, const Expr& shift) {
  const Expr scaled = scale ? y * scale : y;
  return shift ? scaled + shift : scaled;
}

struct BatchNorm {
  Value *x, *weight, *bias, *mean, *var;
  bool training;
  double momentum, eps;
};

BatchNorm ReadBatchNorm(TorchCall& c, bool has_mean = true) {
  BatchNorm n{};
  n.x = c.Tensor("input");
  n.weight = c.OptTensor("weight");
  n.bias = c.OptTensor("bias");
  c.Ignore({"cudnn_enabled"});
  n.mean = has_mean ? c.OptTensor("running_mean") : nullptr;
  n.var = has_mean ? c.OptTensor("running_var") : nullptr;
  n.training = c.Bool("training", false);
  const bool cudnn = c.Has("epsilon");
  n.eps = c.Float(cudnn ? "epsilon" : "eps");
  n.momentum = c.Has("exponential_average_factor") ? c.Float("exponential_average_factor")
                                                   : c.Float("momentum", 0.1);
  RequireFloat(c, n.x);
  if (c.Rank(n.x) < 2) c.Fail(Unimplemented("of an input of rank ", c.Rank(n.x)));
  if (!n.training && (!n.mean || !n.var)) c.Fail(Invalid("running statistics are missing"));
  return n;
}

Value* WithRunningStatistics(TorchCall& c, const BatchNorm& n) {
  const DType t = n.x->dtype(), compute = AtLeastFloat32(t);
  const Size channels = SizeAt({c, n.x}, 1);
  if (t == DType::kFloat64) {
    const int64_t rank = c.Rank(n.x);
    const auto in = [&](Value* v) { return PerChannel(c, v, t, rank); };
    const Expr inv_std = Reciprocal(Sqrt(Shifted(in(n.var), n.eps)));
    return ScaleAndShift((Expr(c, n.x) - in(n.mean)) * inv_std, in(n.weight), in(n.bias));
  }
  Value* y = c.Op(
      "batch_normalization",
      {c.Cast(n.x, compute), OrFilled(c, n.weight, compute, channels, 1),
       OrFilled(c, n.bias, compute, channels, 0), c.Cast(n.mean, compute), c.Cast(n.var, compute)},
      {{"epsilon", static_cast<float>(n.eps)}});
  return c.Cast(y, t);
}

// In training: statistics of the batch, and what becomes of the running ones.
struct Trained {
  Value *y, *mean, *inv_std;
  Value *running_mean = nullptr, *running_var = nullptr;
};

Trained WithBatchStatistics(TorchCall& c, const BatchNorm& n, bool running) {
  const int64_t rank = c.Rank(n.x);
  std::vector<int64_t> axes = {0};
  for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
  const DType computed = AtLeastFloat32(n.x->dtype());
  const auto channels = [&](Value* v) { return PerChannel(c, v, computed, rank); };
  const Expr x = c.Cast(n.x, computed);
  const Normalized all = Normalize(x, axes, n.eps);
  Trained t;
  t.y = ScaleAndShift(all.y, channels(n.weight), channels(n.bias)).To(n.x->dtype());
  t.mean = Reshape(all.mean, {-1});
  t.inv_std = Reshape(all.inv_std, {-1});
  if (!running) return t;
  if (!n.mean || !n.var) {
    c.Fail(Invalid("running statistics are missing"));
    return t;
  }
  // Of a sample: divided by one less than there are.
  Size count = SizeAt({c, n.x}, 0);
  count = Times(c, count, Product(c, SizesAt({c, n.x}, 2, rank)));
  const Expr of = c.Cast(Scalar(c, count), computed);
  const Expr centered = x - all.mean;
  const Expr var = Reduce(Square(centered), "reduce_sum", axes) / (of - 1);
  const auto mixed = [&](Value* before, const Expr& now) {
    const Expr sum = Scaled(c.Cast(before, computed), 1 - n.momentum) + Scaled(now, n.momentum);
    return sum.To(before->dtype());
  };
  t.running_mean = mixed(n.mean, {c, t.mean});
  t.running_var = mixed(n.var, var);
  return t;
}

// What the results after the first three are.
enum class BatchNormRest : uint8_t {
  kRefused,
  kStatistics,  // new running ones
  kReserve,     // for the backward pass: no elements on CPUs; then the number of the kernel, 0
};

// Results: y; then the statistics that were used, of which inference has none.
Values BatchNormalization(TorchCall& c, BatchNorm n, BatchNormRest rest) {
  Values values(c.num_outputs(), nullptr);
  if (!c.b().status().ok()) return values;
  const bool statistics = rest == BatchNormRest::kStatistics;
  for (size_t i = 3; i < values.size(); ++i) {
    if (!c.wants(i) || (statistics && i < 5)) continue;
    if (rest != BatchNormRest::kReserve || i > 4) {
      return c.Fail(Unimplemented("its result ", i, " has no mapping"));
    }
    if (i == 3) {
      // The program says of how many elements it is; kernels of GPUs have some.
      const auto dims = c.out_shape(i) ? c.out_shape(i)->Static() : std::nullopt;
      if (c.out_shape(i) && dims != std::vector<int64_t>{0}) {
        return c.Fail(Unimplemented("its result 3 with elements"));
      }
      values[i] = Zeros(c, DType::kUInt8, {0});
    } else {
      values[i] = Int(c, 0);
    }
  }
  if (n.training) {
    const Trained t = WithBatchStatistics(c, n, statistics && (c.wants(3) || c.wants(4)));
    Value* all[] = {t.y, t.mean, t.inv_std, t.running_mean, t.running_var};
    for (size_t i = 0; i < values.size() && i < 5; ++i) {
      if (c.wants(i) && all[i])
        values[i] = c.Cast(all[i], i < 3 ? c.out_dtype(i) : all[i]->dtype());
    }
    return values;
  }
  if (c.wants(0)) values[0] = WithRunningStatistics(c, n);
  for (size_t i = 1; i < 3; ++i) {
    if (!c.wants(i)) continue;
    const auto dims = c.out_shape(i) ? c.out_shape(i)->Static() : std::nullopt;
    if (c.out_shape(i) && dims != std::vector<int64_t>{0}) {
      return c.Fail(Unimplemented("the statistics of inference"));
    }
    values[i] = Zeros(c, c.out_dtype(i), {0});
  }
  for (size_t i = 3; i < 5; ++i) {
    if (statistics && c.wants(i)) values[i] = c.Op("identity", {i == 3 ? n.mean : n.var});
  }
  return values;
}

TorchHandler BatchNormOf(BatchNormRest rest) {
  return [rest](TorchCall& c) { return BatchNormalization(c, ReadBatchNorm(c), rest); };
}

X2IR_TORCH(batch_normalization)
    .From({"aten::batch_norm.default", "aten::native_batch_norm.default",
           "aten::_native_batch_norm_legit.default", "aten::cudnn_batch_norm.default",
           "aten::miopen_batch_norm.default", "aten::_native_batch_norm_legit_no_training.default"},
          BatchNormOf(BatchNormRest::kRefused))
    .From({"aten::_batch_norm_impl_index.default", "aten::_batch_norm_no_update.default"},
          BatchNormOf(BatchNormRest::kReserve))
    .From("aten::_batch_norm_with_update.default",
          [](TorchCall& c) {
            BatchNorm n = ReadBatchNorm(c);
            n.training = true;
            return BatchNormalization(c, n, BatchNormRest::kReserve);
          })
    .From({"aten::_native_batch_norm_legit_functional.default"},
          BatchNormOf(BatchNormRest::kStatistics))
    .From("aten::_native_batch_norm_legit.no_stats", [](TorchCall& c) {
      return BatchNormalization(c, ReadBatchNorm(c, false), BatchNormRest::kRefused);
    });

Values InstanceNorm(TorchCall& c) {
  const bool of_input = c.Bool("use_input_stats");
  BatchNorm n{};
  n.x = c.Tensor("input");
  n.weight = c.OptTensor("weight");
  n.bias = c.OptTensor("bias");
  n.mean = c.OptTensor("running_mean");
  n.var = c.OptTensor("running_var");
  n.eps = c.Float("eps");
  c.Ignore({"momentum", "cudnn_enabled"});
  RequireFloat(c, n.x);
  const int64_t rank = c.Rank(n.x);
  if (!of_input && (!n.mean || !n.var)) return c.Fail(Invalid("running statistics are missing"));
  if (rank < 3) return c.Fail(Invalid("expected an input of rank 3 or more"));
  if (!of_input) return {WithRunningStatistics(c, n)};
  const DType t = n.x->dtype(), compute = AtLeastFloat32(t);
  if (t == DType::kFloat64) {
    const auto in = [&](Value* v) { return PerChannel(c, v, t, rank); };
    const Expr y = Normalize({c, n.x}, CountedFrom(2, rank - 2), n.eps).y;
    return {ScaleAndShift(y, in(n.weight), in(n.bias))};
  }
  return {InstanceNormalize(c.Cast(n.x, compute), n.weight, n.bias, n.eps).To(t)};
}

X2IR_TORCH(instance_normalization).From("aten::instance_norm.default", InstanceNorm);

struct GroupNorm {
  Value *x, *weight, *bias;
  int64_t groups;
  double eps;
};

// Each group of channels in a row.
Normalized GroupsInRows(TorchCall& c, DType computed, const GroupNorm& n) {
  const Expr x = c.Cast(n.x, computed);
  const int64_t rank = x.rank();
  const Size per_group = DividedBy(c, Product(c, SizesAt(x, 1, rank)), n.groups);
  const Expr rows = ReshapeTo(x, {SizeAt(x, 0), n.groups, per_group});
  Normalized all = Normalize(rows, {2}, n.eps);
  all.y = ReshapeTo(all.y, AllSizes(x));
  const auto in = [&](Value* v) { return PerChannel(c, v, computed, rank); };
  all.y = ScaleAndShift(all.y, in(n.weight), in(n.bias));
  return all;
}

Values GroupNormalization(TorchCall& c, const GroupNorm& n) {
  RequireFloat(c, n.x);
  if (n.groups < 1) return c.Fail(Invalid("expected 1 group or more, got ", n.groups));
  const int64_t rank = c.Rank(n.x);
  if (rank < 2) return c.Fail(Invalid("expected an input of rank 2 or more"));
  const DType t = n.x->dtype(), compute = AtLeastFloat32(t);
  Values values(c.num_outputs(), nullptr);
  if (t == DType::kFloat64 || rank < 3 || c.wants(1) || c.wants(2)) {
    const Normalized all = GroupsInRows(c, compute, n);
    if (c.wants(0)) values[0] = all.y.To(t);
    if (c.wants(1)) values[1] = Squeeze(all.mean, {2}).To(c.out_dtype(1));
    if (c.wants(2)) values[2] = Squeeze(all.inv_std, {2}).To(c.out_dtype(2));
    return values;
  }
  values[0] = GroupNormalize(c.Cast(n.x, compute), n.weight, n.bias, n.groups, n.eps).To(t);
  return values;
}

X2IR_TORCH(group_normalization)
    .From("aten::group_norm.default",
          [](TorchCall& c) {
            c.Ignore({"cudnn_enabled"});
            return GroupNormalization(
                c, {c.Tensor("input"), c.OptTensor("weight"), c.OptTensor("bias"),
                    c.Int("num_groups"), c.Float("eps", 1e-5)});
          })
    .From("aten::native_group_norm.default", [](TorchCall& c) {
      c.Ignore({"N", "C", "HxW"});
      return GroupNormalization(c, {c.Tensor("input"), c.OptTensor("weight"), c.OptTensor("bias"),
                                    c.Int("group"), c.Float("eps")});
    });

// The first of the axes that are normalized; those sizes are the input's last.
int64_t FirstAxis(TorchCall& c, const Value* x) {
  const int64_t count = static_cast<int64_t>(c.Sizes("normalized_shape").size());
  if (count < 1 || count > c.Rank(x)) {
    c.Fail(Invalid("normalized_shape: ", count, " sizes for an input of rank ", c.Rank(x)));
    return 0;
  }
  return c.Rank(x) - count;
}

Values LayerNorm(TorchCall& c) {
  Value* x = c.Tensor("input");
  Value* weight = c.OptTensor("weight");
  Value* bias = c.OptTensor("bias");
  const double eps = c.Float("eps", 1e-5);
  c.Ignore({"cudnn_enable"});
  RequireFloat(c, x);
  const int64_t rank = c.Rank(x), axis = FirstAxis(c, x);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const DType t = x->dtype();
  Values values(c.num_outputs(), nullptr);
  if (t == DType::kFloat64) {
    const Normalized all = Normalize({c, x}, CountedFrom(axis, rank - axis), eps);
    const auto in = [&](Value* v) -> Expr { return v ? c.Cast(v, t) : nullptr; };
    const Expr y = ScaleAndShift(all.y, in(weight), in(bias));
    Value* of[] = {y, all.mean, all.inv_std};
    for (size_t i = 0; i < values.size() && i < 3; ++i) {
      if (c.wants(i)) values[i] = of[i];
    }
    return values;
  }
  // Halves whose weights are float32 are computed so.
  const DType compute =
      (weight && weight->dtype() != t) || (bias && bias->dtype() != t) ? DType::kFloat32 : t;
  if (!weight) weight = Filled(c, compute, SizesAt({c, x}, axis, rank), 1);
  const std::vector<Value*> y = c.b().Ops(
      "layer_normalization",
      {c.Cast(x, compute), c.Cast(weight, compute), bias ? c.Cast(bias, compute) : nullptr},
      {{"axis", axis}, {"epsilon", static_cast<float>(eps)}},
      std::vector<bool>{true, c.wants(1), c.wants(2)});
  for (size_t i = 0; i < values.size() && i < 3; ++i) {
    if (c.wants(i)) values[i] = c.Cast(y[i], c.out_dtype(i));
  }
  return values;
}

X2IR_TORCH(layer_normalization)
    .From({"aten::layer_norm.default", "aten::native_layer_norm.default"}, LayerNorm);

Values RmsNorm(TorchCall& c) {
  Value* x = c.Tensor("input");
  Value* weight = c.OptTensor("weight");
  const std::optional<double> given = c.OptFloat("eps");
  const bool complex = IsComplex(x->dtype());
  if (!complex) RequireFloat(c, x);
  const int64_t rank = c.Rank(x), axis = FirstAxis(c, x);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const DType t = x->dtype();
  if (complex) {  // by the mean of the squares, which is complex
    const DType part = PartType(t);
    const std::vector<int64_t> axes = CountedFrom(axis, rank - axis);
    const Complex z = PartsOf({c, x}), square = z * z;
    const auto mean = [&](const Expr& of) { return Reduce(of, "reduce_mean", axes, true); };
    const double shift = given.value_or(EpsilonOf(part));
    const Complex root = Sqrt(Complex{mean(square.re) + shift, mean(square.im)});
    Complex y = z * Reciprocal(root);
    if (weight) y = y * PartsOf(c.Cast(weight, t));
    return {ComplexOf(y)};
  }
  if (!given && BitWidth(t) < 32) {
    return c.Fail(Unimplemented("of ", Name(t), " without eps, which versions take differently"));
  }
  const double eps = given.value_or(EpsilonOf(t));
  Values values(c.num_outputs(), nullptr);
  const bool float32 = t == DType::kFloat32 && (!weight || weight->dtype() == t);
  if (float32 && !c.wants(1)) {
    if (!weight) weight = Filled(c, t, SizesAt({c, x}, axis, rank), 1);
    values[0] = c.Op("rms_normalization", {x, weight},
                     {{"axis", axis}, {"epsilon", static_cast<float>(eps)}});
    return values;
  }
  const Expr wide = c.Cast(x, AtLeastFloat32(t));
  const Expr mean = Reduce(Square(wide), "reduce_mean", CountedFrom(axis, rank - axis), true);
  const Expr inv_rms = Reciprocal(Sqrt(Shifted(mean, eps)));
  Expr y = wide * inv_rms;
  if (weight) y = y * c.Cast(weight, wide.dtype());
  if (c.wants(0)) values[0] = c.Cast(y, c.out_dtype(0));
  if (c.wants(1)) values[1] = c.Cast(inv_rms, c.out_dtype(1));
  return values;
}

X2IR_TORCH(rms_normalization)
    .From({"aten::rms_norm.default", "aten::_fused_rms_norm.default"}, RmsNorm);

absl::StatusOr<Value*> WriteBatchNorm(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  if (w.Int("training_mode") != 0) return CannotExpress("statistics of the batch");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("rank ", rank);
  return w.Call("aten::batch_norm.default", {{"input", w.in(0)},
                                             {"weight", w.in(1)},
                                             {"bias", w.in(2)},
                                             {"running_mean", w.in(3)},
                                             {"running_var", w.in(4)},
                                             {"training", false},
                                             {"momentum", 0.1},
                                             {"eps", w.Float("epsilon")},
                                             {"cudnn_enabled", false}});
}

absl::StatusOr<Value*> WriteInstanceNorm(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 3) return CannotExpress("rank ", rank);
  const Shape& shape = *w.in(0)->shape();
  if (std::all_of(shape.begin() + 2, shape.end(), [](const Dim& d) { return d == Dim(1); })) {
    return CannotExpress("statistics of one element");
  }
  return w.Call("aten::instance_norm.default", {{"input", w.in(0)},
                                                {"weight", w.in(1)},
                                                {"bias", w.in(2)},
                                                {"running_mean", nullptr},
                                                {"running_var", nullptr},
                                                {"use_input_stats", true},
                                                {"momentum", 0.1},
                                                {"eps", w.Float("epsilon")},
                                                {"cudnn_enabled", false}});
}

absl::StatusOr<Value*> WriteGroupNorm(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  return w.Call("aten::group_norm.default", {{"input", w.in(0)},
                                             {"num_groups", w.Int("num_groups")},
                                             {"weight", w.in(1)},
                                             {"bias", w.in(2)},
                                             {"eps", w.Float("epsilon")},
                                             {"cudnn_enabled", false}});
}

// The sizes of the normalized axes, which the scale must have too.
absl::StatusOr<std::vector<TorchScalar>> NormalizedShape(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  for (size_t i = 1; i < std::min<size_t>(w.num_inputs(), 3); ++i) {
    const Shape* shape = w.has(i) ? w.in(i)->shape() : nullptr;
    if (w.has(i) && (!shape || shape->rank() != rank - axis)) {
      return CannotExpress("a scale of another shape");
    }
    for (int64_t k = 0; shape && k < shape->rank(); ++k) {
      const Dim& dim = (*w.in(0)->shape())[axis + k];
      if (dim.is_unknown() || (*shape)[k] != dim) return CannotExpress("a scale of another shape");
    }
  }
  return w.Sizes(w.in(0), axis, rank);
}

absl::StatusOr<Values> WriteLayerNorm(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> shape, NormalizedShape(w));
  const DType stash = w.DTypeAttr("stash_type");
  if (stash != DType::kFloat32) return CannotExpress("statistics in ", Name(stash));
  TorchArguments arguments = {{"input", w.in(0)},
                              {"normalized_shape", std::move(shape)},
                              {"weight", w.in(1)},
                              {"bias", w.in(2)},
                              {"eps", w.Float("epsilon")}};
  if (w.wants(1) || w.wants(2)) {
    if (w.dtype() != stash) return CannotExpress("statistics of ", Name(w.dtype()));
    return w.Calls("aten::native_layer_norm.default", std::move(arguments));
  }
  Values values(w.node().num_outputs(), nullptr);
  values[0] = w.Call("aten::layer_norm.default", std::move(arguments));
  return values;
}

absl::StatusOr<Value*> WriteRmsNorm(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> shape, NormalizedShape(w));
  return w.Call("aten::rms_norm.default", {{"input", w.in(0)},
                                           {"normalized_shape", std::move(shape)},
                                           {"weight", w.in(1)},
                                           {"eps", w.Float("epsilon")}});
}

// What has no norm stays 0.
absl::StatusOr<Value*> WriteLpNormalization(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const int64_t p = w.Int("p");
  if (p != 1 && p != 2) return CannotExpress("norm ", p);
  const Expr x{w, w.in(0)};
  const Expr norm =
      x.Op(p == 1 ? "reduce_l1" : "reduce_l2", {w.b().Ints({axis})}, {{"keepdims", 1}});
  return Where(norm == 0, 0, x / norm);
}

// Squares of the channels around each one, added up.
absl::StatusOr<Value*> WriteLrn(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t size = w.Int("size");
  const Dim& channels = (*w.in(0)->shape())[1];
  if (rank < 2 || !channels.is_static() || size > 1024) return CannotExpress("unknown channels");
  const DType t = w.dtype();
  const auto n = [&](double number) { return w.Number(t, number); };
  Value* squares = w.Op("mul", {w.in(0), w.in(0)});
  Value* padded =
      w.Op("pad", {squares, w.b().Ints({(size - 1) / 2, size / 2}), n(0), w.b().Ints({1})});
  Value* sum = nullptr;
  for (int64_t i = 0; i < size; ++i) {
    Value* part = w.Op(
        "slice", {padded, w.b().Ints({i}), w.b().Ints({i + channels.value()}), w.b().Ints({1})});
    sum = sum ? w.Op("add", {sum, part}) : part;
  }
  Value* scaled = w.Op("mul", {sum, n(w.Float("alpha") / static_cast<double>(size))});
  Value* power = w.Op("pow", {w.Op("add", {scaled, n(w.Float("bias"))}), n(w.Float("beta"))});
  return w.Op("div", {w.in(0), power});
}

}  // namespace

X2IR_TORCH(batch_normalization).To("aten::batch_norm.default", WriteBatchNorm);
X2IR_TORCH(instance_normalization).To("aten::instance_norm.default", WriteInstanceNorm);
X2IR_TORCH(group_normalization).To("aten::group_norm.default", WriteGroupNorm);
X2IR_TORCH(layer_normalization).To("aten::layer_norm.default", WriteLayerNorm);
X2IR_TORCH(rms_normalization).To("aten::rms_norm.default", WriteRmsNorm);
X2IR_TORCH(lp_normalization).To("aten::where.self", WriteLpNormalization);
X2IR_TORCH(lrn).To("aten::div.Tensor", WriteLrn);

}  // namespace x2ir
