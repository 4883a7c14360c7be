// Normalizations.
#include <limits>
#include <optional>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// --- Formulas -------------------------------------------------------------------------------

struct Normalized {
  Value *y, *mean, *inv_std;
};
// (x - mean) / sqrt(var + eps) over the axes, the variance being that of the population.
Normalized Normalize(TorchMath& m, Value* x, const std::vector<int64_t>& axes, double eps) {
  Normalized n;
  n.mean = m.Reduce("mean", x, axes);
  Value* centered = m.Sub(x, n.mean);
  Value* var = m.Reduce("mean", m.Mul(centered, centered), axes);
  n.inv_std = m.Un("reciprocal", m.Un("sqrt", m.Add(var, eps)));
  n.y = m.Mul(centered, n.inv_std);
  return n;
}

// A vector with one number for each channel, that broadcasts to x.
Value* PerChannel(TorchCall& c, Value* v, int64_t rank) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max<int64_t>(rank - 1, 1)), 1);
  dims[0] = -1;
  return dims.size() == 1 ? v : c.Reshape(v, dims);
}

Value* ScaleAndShift(TorchMath& m, Value* y, Value* scale, Value* shift) {
  if (scale) y = m.Mul(y, scale);
  return shift ? m.Add(y, shift) : y;
}

// The optional weight and bias of C channels, in type t.
Value* OrNumber(TorchCall& c, Value* given, DType t, const TorchSize& channels, double number) {
  return given ? c.Cast(given, t) : Filled(c, t, {channels}, number);
}

// --- batch_norm -----------------------------------------------------------------------------

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
  const DType t = n.x->dtype(), compute = ComputeTypeFor(t);
  const TorchSize channels = SizeAt(c, n.x, 1);
  if (t == DType::kFloat64) {
    TorchMath m(c, t);
    const int64_t rank = c.Rank(n.x);
    const auto in = [&](Value* v) { return v ? PerChannel(c, m.In(v), rank) : nullptr; };
    Value* inv_std = m.Un("reciprocal", m.Un("sqrt", m.Add(in(n.var), n.eps)));
    return ScaleAndShift(m, m.Mul(m.Sub(n.x, in(n.mean)), inv_std), in(n.weight), in(n.bias));
  }
  Value* y = c.Op(
      "batch_normalization",
      {c.Cast(n.x, compute), OrNumber(c, n.weight, compute, channels, 1),
       OrNumber(c, n.bias, compute, channels, 0), c.Cast(n.mean, compute), c.Cast(n.var, compute)},
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
  TorchMath m(c, ComputeTypeFor(n.x->dtype()));
  const auto channels = [&](Value* v) { return v ? PerChannel(c, m.In(v), rank) : nullptr; };
  Value* x = m.In(n.x);
  const Normalized all = Normalize(m, x, axes, n.eps);
  Trained t;
  t.y = c.Cast(ScaleAndShift(m, all.y, channels(n.weight), channels(n.bias)), n.x->dtype());
  t.mean = c.Reshape(all.mean, {-1});
  t.inv_std = c.Reshape(all.inv_std, {-1});
  if (!running) return t;
  if (!n.mean || !n.var) {
    c.Fail(Invalid("running statistics are missing"));
    return t;
  }
  // Of a sample: divided by one less than there are.
  TorchSize count = SizeAt(c, n.x, 0);
  count = Times(c, count, Times(c, SizesAt(c, n.x, 2, rank)));
  Value* of = c.Cast(ValueOf(c, count), m.type());
  Value* centered = m.Sub(x, all.mean);
  Value* var = m.Div(m.Reduce("sum", m.Mul(centered, centered), axes, false), m.Sub(of, 1));
  const auto mixed = [&](Value* before, Value* now) {
    Value* sum = m.Add(m.Mul(m.In(before), 1 - n.momentum), m.Mul(now, n.momentum));
    return c.Cast(sum, before->dtype());
  };
  t.running_mean = mixed(n.mean, t.mean);
  t.running_var = mixed(n.var, var);
  return t;
}

// Results: y; then the statistics that were used, which inference has not; then new running ones.
Values BatchNormalization(TorchCall& c, BatchNorm n) {
  Values values(c.num_outputs(), nullptr);
  if (!c.b().status().ok()) return values;
  if (n.training) {
    const Trained t = WithBatchStatistics(c, n, Wants(c, 3) || Wants(c, 4));
    Value* all[] = {t.y, t.mean, t.inv_std, t.running_mean, t.running_var};
    for (size_t i = 0; i < values.size() && i < 5; ++i) {
      if (Wants(c, i) && all[i])
        values[i] = c.Cast(all[i], i < 3 ? c.out_dtype(i) : all[i]->dtype());
    }
    return values;
  }
  if (Wants(c, 0)) values[0] = WithRunningStatistics(c, n);
  for (size_t i = 1; i < 3; ++i) {
    if (!Wants(c, i)) continue;
    const auto dims = c.out_shape(i) ? c.out_shape(i)->Static() : std::nullopt;
    if (dims != std::vector<int64_t>{0}) {
      return c.Fail(Unimplemented("the statistics of inference"));
    }
    values[i] = c.b().Constant(x2ir::Tensor::Zeros(c.out_dtype(i), {0}));
  }
  for (size_t i = 3; i < 5; ++i) {
    if (Wants(c, i)) values[i] = c.Op("identity", {i == 3 ? n.mean : n.var});
  }
  return values;
}

// What has more results than there are here would say other things with them.
TorchHandler BatchNormOf(size_t results) {
  return [results](TorchCall& c) -> Values {
    for (size_t i = results; i < c.num_outputs(); ++i) {
      if (Wants(c, i)) return c.Fail(Unimplemented("its result ", i, " has no mapping"));
    }
    return BatchNormalization(c, ReadBatchNorm(c));
  };
}
X2IR_TORCH(batch_normalization)
    .Is("aten::batch_norm.default", BatchNormOf(1))
    .Is({"aten::native_batch_norm.default", "aten::_native_batch_norm_legit.default",
         "aten::cudnn_batch_norm.default", "aten::miopen_batch_norm.default",
         "aten::_batch_norm_impl_index.default", "aten::_batch_norm_with_update.default"},
        BatchNormOf(3))
    .Is({"aten::_native_batch_norm_legit_functional.default"}, BatchNormOf(5))
    .Is("aten::_native_batch_norm_legit.no_stats",
        [](TorchCall& c) {
          BatchNorm n = ReadBatchNorm(c, false);
          return BatchNormalization(c, n);
        })
    .Is({"aten::_native_batch_norm_legit_no_training.default",
         "aten::_batch_norm_no_update.default"},
        BatchNormOf(3));

// --- instance_norm, group_norm --------------------------------------------------------------

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
  const DType t = n.x->dtype(), compute = ComputeTypeFor(t);
  if (t == DType::kFloat64) {
    TorchMath m(c, t);
    const auto in = [&](Value* v) { return v ? PerChannel(c, m.In(v), rank) : nullptr; };
    Value* y = Normalize(m, n.x, CountedFrom(2, rank - 2), n.eps).y;
    return {ScaleAndShift(m, y, in(n.weight), in(n.bias))};
  }
  const TorchSize channels = SizeAt(c, n.x, 1);
  Value* y = c.Op("instance_normalization",
                  {c.Cast(n.x, compute), OrNumber(c, n.weight, compute, channels, 1),
                   OrNumber(c, n.bias, compute, channels, 0)},
                  {{"epsilon", static_cast<float>(n.eps)}});
  return {c.Cast(y, t)};
}
X2IR_TORCH(instance_normalization).Is("aten::instance_norm.default", InstanceNorm);

struct GroupNorm {
  Value *x, *weight, *bias;
  int64_t groups;
  double eps;
};

// Each group of channels in a row.
Normalized GroupsInRows(TorchCall& c, TorchMath& m, const GroupNorm& n) {
  Value* x = m.In(n.x);
  const int64_t rank = c.Rank(x);
  const TorchSize per_group = DividedBy(c, Times(c, SizesAt(c, x, 1, rank)), n.groups);
  Value* rows = ReshapeTo(c, x, {SizeAt(c, x, 0), {n.groups, nullptr}, per_group});
  Normalized all = Normalize(m, rows, {2}, n.eps);
  all.y = ReshapeTo(c, all.y, SizesAt(c, x, 0, rank));
  const auto in = [&](Value* v) { return v ? PerChannel(c, m.In(v), rank) : nullptr; };
  all.y = ScaleAndShift(m, all.y, in(n.weight), in(n.bias));
  return all;
}

Values GroupNormalization(TorchCall& c, const GroupNorm& n) {
  RequireFloat(c, n.x);
  if (n.groups < 1) return c.Fail(Invalid("expected 1 group or more, got ", n.groups));
  const int64_t rank = c.Rank(n.x);
  if (rank < 2) return c.Fail(Invalid("expected an input of rank 2 or more"));
  const DType t = n.x->dtype(), compute = ComputeTypeFor(t);
  Values values(c.num_outputs(), nullptr);
  if (t == DType::kFloat64 || rank < 3 || Wants(c, 1) || Wants(c, 2)) {
    TorchMath m(c, compute);
    const Normalized all = GroupsInRows(c, m, n);
    if (Wants(c, 0)) values[0] = c.Cast(all.y, t);
    if (Wants(c, 1)) values[1] = c.Cast(c.Squeeze(all.mean, {2}), c.out_dtype(1));
    if (Wants(c, 2)) values[2] = c.Cast(c.Squeeze(all.inv_std, {2}), c.out_dtype(2));
    return values;
  }
  const TorchSize channels = SizeAt(c, n.x, 1);
  Value* y = c.Op("group_normalization",
                  {c.Cast(n.x, compute), OrNumber(c, n.weight, compute, channels, 1),
                   OrNumber(c, n.bias, compute, channels, 0)},
                  {{"num_groups", n.groups}, {"epsilon", static_cast<float>(n.eps)}});
  values[0] = c.Cast(y, t);
  return values;
}
X2IR_TORCH(group_normalization)
    .Is("aten::group_norm.default",
        [](TorchCall& c) {
          c.Ignore({"cudnn_enabled"});
          return GroupNormalization(c,
                                    {c.Tensor("input"), c.OptTensor("weight"), c.OptTensor("bias"),
                                     c.Int("num_groups"), c.Float("eps", 1e-5)});
        })
    .Is("aten::native_group_norm.default", [](TorchCall& c) {
      c.Ignore({"N", "C", "HxW"});
      return GroupNormalization(c, {c.Tensor("input"), c.OptTensor("weight"), c.OptTensor("bias"),
                                    c.Int("group"), c.Float("eps")});
    });

// --- layer_norm, rms_norm -------------------------------------------------------------------

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
    TorchMath m(c, t);
    const Normalized all = Normalize(m, x, CountedFrom(axis, rank - axis), eps);
    Value* y =
        ScaleAndShift(m, all.y, weight ? m.In(weight) : nullptr, bias ? m.In(bias) : nullptr);
    Value* of[] = {y, all.mean, all.inv_std};
    for (size_t i = 0; i < values.size() && i < 3; ++i) {
      if (Wants(c, i)) values[i] = of[i];
    }
    return values;
  }
  // Halves whose weights are float32 are computed so.
  const DType compute =
      (weight && weight->dtype() != t) || (bias && bias->dtype() != t) ? DType::kFloat32 : t;
  if (!weight) weight = Filled(c, compute, SizesAt(c, x, axis, rank), 1);
  const std::vector<Value*> y = c.b().Ops(
      "layer_normalization",
      {c.Cast(x, compute), c.Cast(weight, compute), bias ? c.Cast(bias, compute) : nullptr},
      {{"axis", axis}, {"epsilon", static_cast<float>(eps)}},
      std::vector<bool>{true, Wants(c, 1), Wants(c, 2)});
  for (size_t i = 0; i < values.size() && i < 3; ++i) {
    if (Wants(c, i)) values[i] = c.Cast(y[i], c.out_dtype(i));
  }
  return values;
}
X2IR_TORCH(layer_normalization)
    .Is({"aten::layer_norm.default", "aten::native_layer_norm.default"}, LayerNorm);

Values RmsNorm(TorchCall& c) {
  Value* x = c.Tensor("input");
  Value* weight = c.OptTensor("weight");
  const std::optional<double> given = c.OptFloat("eps");
  RequireFloat(c, x);
  const int64_t rank = c.Rank(x), axis = FirstAxis(c, x);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const DType t = x->dtype();
  if (!given && BitWidth(t) < 32) {
    return c.Fail(Unimplemented("of ", Name(t), " without eps, which versions take differently"));
  }
  const double eps = given.value_or(EpsilonOf(t));
  Values values(c.num_outputs(), nullptr);
  const bool float32 = t == DType::kFloat32 && (!weight || weight->dtype() == t);
  if (float32 && !Wants(c, 1)) {
    if (!weight) weight = Filled(c, t, SizesAt(c, x, axis, rank), 1);
    values[0] = c.Op("rms_normalization", {x, weight},
                     {{"axis", axis}, {"epsilon", static_cast<float>(eps)}});
    return values;
  }
  TorchMath m(c, ComputeTypeFor(t));
  Value* wide = m.In(x);
  Value* mean = m.Reduce("mean", m.Mul(wide, wide), CountedFrom(axis, rank - axis));
  Value* inv_rms = m.Un("reciprocal", m.Un("sqrt", m.Add(mean, eps)));
  Value* y = m.Mul(wide, inv_rms);
  if (weight) y = m.Mul(y, m.In(weight));
  if (Wants(c, 0)) values[0] = c.Cast(y, c.out_dtype(0));
  if (Wants(c, 1)) values[1] = c.Cast(inv_rms, c.out_dtype(1));
  return values;
}
X2IR_TORCH(rms_normalization)
    .Is({"aten::rms_norm.default", "aten::_fused_rms_norm.default"}, RmsNorm);

// --- weight_norm ----------------------------------------------------------------------------

// v g / |v|, the norm being over all axes but `dim` (over all: -1).
Values WeightNorm(TorchCall& c) {
  Value* v = c.Tensor("v");
  Value* g = c.Tensor("g");
  const int64_t dim = c.Int("dim", 0), rank = c.Rank(v);
  RequireFloat(c, v);
  std::vector<int64_t> axes;
  const int64_t kept = dim == -1 ? -1 : c.NormalAxis(dim, rank);
  for (int64_t i = 0; i < rank; ++i) {
    if (i != kept) axes.push_back(i);
  }
  TorchMath m(c, ComputeTypeFor(v->dtype()));
  Value* wide = m.In(v);
  Value* norm = axes.empty() ? m.Un("abs", wide) : m.Reduce("l2", wide, axes);
  Values values(c.num_outputs(), nullptr);
  if (Wants(c, 0)) values[0] = c.Cast(m.Mul(wide, m.Div(m.In(g), norm)), v->dtype());
  if (Wants(c, 1)) values[1] = c.Cast(norm, c.out_dtype(1));
  return values;
}
X2IR_TORCH(reduce_l2).Is({"aten::_weight_norm.default", "aten::_weight_norm_interface.default"},
                         WeightNorm);

}  // namespace
}  // namespace x2ir
