// OneFlow: norms.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

// Operands x, mean, variance, gamma, beta.
Value* BatchNorm(OneflowArgs& a, const Expr& mean, const Expr& variance, const Expr& gamma,
                 const Expr& beta) {
  const Expr x = a.in(0);
  const int64_t rank = x.rank(), axis = a.AxisOf(a.Int("axis"), rank);
  const auto epsilon = static_cast<float>(a.Number("epsilon"));
  a.Ignore("momentum");
  a.Require(!a.Bool("training"), "norms of a batch's own statistics");
  if (axis == 1 || axis == rank - 1) {
    return a.Op("batch_normalization", {x, gamma, beta, mean, variance},
                {{"layout", axis == 1 ? "channels_first" : "channels_last"}, {"epsilon", epsilon}});
  }
  const auto along = [&](const Expr& v) { return AlongAxis(v, axis, rank); };
  const Expr scale = gamma / Sqrt(variance + epsilon);
  return (x - along(mean)) * along(scale) + along(beta);
}
Values FromNormalization(OneflowArgs& a) {
  a.Require(!a.wants(1) && !a.wants(2), "statistics of a batch");
  const Expr y(a, BatchNorm(a, a.in(1), a.in(2), a.in(3), a.in(4)));
  Values values(a.num_outputs(), nullptr);
  values[0] = a.has(5) ? y + a.in(5) : y;
  return values;
}
// x, addend, mean, variance, gamma, beta.
Values NormalizationAddRelu(OneflowArgs& a) {
  for (size_t i = 1; i < a.num_outputs(); ++i) {
    a.Require(!a.wants(i), "statistics of a batch");
  }
  const Expr y(a, BatchNorm(a, a.in(2), a.in(3), a.in(4), a.in(5)));
  Values values(a.num_outputs(), nullptr);
  values[0] = a.Op("relu", {a.has(1) ? y + a.in(1) : y});
  return values;
}
absl::StatusOr<Values> ToBatchNorm(OneflowWriter& w) {
  if (w.Int("training_mode") != 0) return CannotExpress("norms of a batch's own statistics");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const bool last = w.String("layout") == "channels_last";
  for (size_t i = 1; i < 5; ++i) {
    if (w.dtype(i) != w.dtype(1)) return CannotExpress("statistics of several types");
  }
  if (w.wants(1) || w.wants(2)) return CannotExpress("statistics that are given on");
  return w.OneflowAll("normalization", {w.in(0), w.in(3), w.in(4), w.in(1), w.in(2)},
                      {{"axis", last ? rank - 1 : 1},
                       {"epsilon", w.Float("epsilon")},
                       {"momentum", 0.9f},
                       {"training", 0}},
                      {true}, {w.out_type()});
}

// The sizes of the axes from one on, which must be known.
std::vector<int64_t> SizesFrom(OneflowArgs& a, int64_t axis) {
  const Shape* shape = a.shape(0);
  std::vector<int64_t> sizes;
  for (int64_t i = axis; shape && i < shape->rank(); ++i) {
    a.Require((*shape)[i].is_static(), "operands of unknown sizes");
    sizes.push_back((*shape)[i].value());
  }
  return sizes;
}
// Ones, where the scale is left out.
Expr ScaleOr1(OneflowArgs& a, Value* scale, const std::vector<int64_t>& sizes) {
  if (scale) return {a, scale};
  return Expand(a.in(0).Number(1), a.b().Ints(sizes));
}
// y, mean and inverse deviation, these without the axes that are gone.
Values LayerNormOf(OneflowArgs& a, const Expr& x, int64_t axis, Value* gamma, Value* beta,
                   float epsilon) {
  const std::vector<int64_t> sizes = SizesFrom(a, axis);
  const auto placed = [&](Value* v) -> Value* { return v ? Reshape({a, v}, sizes).value() : v; };
  const Expr scale = ScaleOr1(a, placed(gamma), sizes);
  Values values = a.b().Ops("layer_normalization", {x, scale, placed(beta)},
                            {{"axis", axis}, {"epsilon", epsilon}}, {true, a.wants(1), a.wants(2)});
  const int64_t rank = x.rank();
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i]) values[i] = Squeeze({a, values[i]}, CountedFrom(axis, rank - axis));
  }
  values.resize(std::max<size_t>(a.num_outputs(), 1), nullptr);
  return values;
}
// Operands x, beta, gamma.
Values FromLayerNorm(OneflowArgs& a) {
  a.Ignore("center");
  a.Ignore("scale");
  a.Ignore("begin_params_axis");
  const int64_t axis = a.AxisOf(a.Int("begin_norm_axis"), a.in(0).rank());
  return LayerNormOf(a, a.in(0), axis, a.has(2) ? a.in(2).value() : nullptr,
                     a.has(1) ? a.in(1).value() : nullptr, static_cast<float>(a.Number("epsilon")));
}
// Operands x, gamma, beta, bias, skip: of x + bias + alpha * skip, along the last axis.
Values SkipLayerNorm(OneflowArgs& a) {
  const double alpha = a.Number("alpha");
  const auto epsilon = static_cast<float>(a.Number("epsilon"));
  Expr x = a.in(0);
  if (a.has(3)) x = x + a.in(3);
  if (a.has(4)) x = x + Scaled(a.in(4), alpha);
  return LayerNormOf(a, x, x.rank() - 1, a.has(1) ? a.in(1).value() : nullptr,
                     a.has(2) ? a.in(2).value() : nullptr, epsilon);
}
// Type and sizes of a norm's statistics.
absl::StatusOr<Type> StatisticsType(OneflowWriter& w, int64_t axes) {
  if (!w.shape()) return CannotExpress("operands of unknown rank");
  std::vector<Dim> dims(w.shape()->begin(), w.shape()->begin() + axes);
  const DType type = w.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  return Type::Tensor(type, Shape(std::move(dims)));
}
absl::StatusOr<Values> ToLayerNorm(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (w.wants(1) || w.wants(2)) return CannotExpress("statistics that are given on");
  for (size_t i = 1; i <= 2; ++i) {
    if (!w.has(i)) continue;
    const Shape* shape = w.shape(i);
    bool fits = shape && shape->rank() == rank - axis;
    for (int64_t k = 0; fits && k < shape->rank(); ++k)
      fits = (*shape)[k] == (*w.shape())[axis + k];
    if (!fits) return CannotExpress("scales of other sizes");
  }
  X2IR_ASSIGN_OR_RETURN(const Type statistics, StatisticsType(w, axis));
  Values values = w.OneflowAll("layer_norm", {w.in(0), w.in(2), w.in(1)},
                               {{"center", w.has(2)},
                                {"scale", 1},
                                {"begin_norm_axis", axis},
                                {"begin_params_axis", axis},
                                {"epsilon", static_cast<double>(w.Float("epsilon"))}},
                               {true, true, true}, {w.out_type(), statistics, statistics});
  values.resize(1);
  return values;
}

Expr RmsNormOf(OneflowArgs& a, const Expr& x, Value* weight) {
  const std::vector<int64_t> sizes = a.Ints("normalized_shape");
  const auto epsilon = static_cast<float>(a.Number("epsilon"));
  const Expr scale = weight ? Expr(a, weight) : Expand(x.Number(1), a.b().Ints(sizes));
  const int64_t axis = x.rank() - static_cast<int64_t>(sizes.size());
  return a.Op("rms_normalization", {x, scale}, {{"axis", axis}, {"epsilon", epsilon}});
}
Values FromRmsNorm(OneflowArgs& a) {
  a.Require(!a.wants(1), "roots that are given on");
  return {RmsNormOf(a, a.in(0), a.has(1) ? a.in(1).value() : nullptr), nullptr};
}
Values SkipRmsNorm(OneflowArgs& a) {
  a.Require(!a.wants(1), "roots that are given on");
  const double alpha = a.Number("alpha");
  Expr x = a.in(0);
  if (a.has(2)) x = x + a.in(2);
  if (a.has(3)) x = x + Scaled(a.in(3), alpha);
  return {RmsNormOf(a, x, a.has(1) ? a.in(1).value() : nullptr), nullptr};
}
absl::StatusOr<Values> ToRmsNorm(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, w.Sizes(w.in(1)->type()));
  if (static_cast<int64_t>(sizes.size()) != rank - axis)
    return CannotExpress("scales of other sizes");
  X2IR_ASSIGN_OR_RETURN(const Type roots, StatisticsType(w, axis));
  Values values =
      w.OneflowAll("rms_norm", {w.in(0), w.in(1)},
                   {{"normalized_shape", std::move(sizes)}, {"epsilon", w.Float("epsilon")}},
                   {true, true}, {w.out_type(), roots});
  values.resize(1);
  return values;
}

// Operands x, beta, gamma.
Values FromGroupNorm(OneflowArgs& a) {
  a.Ignore("affine");
  a.Require(!a.wants(1) && !a.wants(2), "statistics that are given on");
  const int64_t groups = a.Int("num_groups");
  const auto epsilon = static_cast<float>(a.Number("epsilon"));
  const std::string format = a.String("data_format"), activation = a.String("activation");
  a.Require(format == "channels_first" || format == "channels_last",
            StrCat("data_format ", format));
  const bool last = format == "channels_last";
  const Expr x = a.in(0);
  const Dim channels = DimAt(x, last ? x.rank() - 1 : 1);
  a.Require(channels.is_static(), "an unknown number of channels");
  const Expr zeros = Expand(x.Number(0), a.b().Ints({channels.value()}));
  const Expr gamma = ScaleOr1(a, a.has(2) ? a.in(2).value() : nullptr, {channels.value()});
  Expr y = a.Op("group_normalization", {x, gamma, a.has(1) ? a.in(1) : zeros},
                {{"layout", format}, {"num_groups", groups}, {"epsilon", epsilon}});
  if (activation == "silu") {
    y = a.Op("swish", {y});
  } else {
    a.Require(activation == "none" || activation.empty(), StrCat("activation ", activation));
  }
  return {y, nullptr, nullptr};
}
absl::StatusOr<Values> WriteGroupNorm(OneflowWriter& w, int64_t groups) {
  if (!w.shape() || w.shape()->rank() < 2) return CannotExpress("operands of unknown rank");
  X2IR_ASSIGN_OR_RETURN(Type statistics, StatisticsType(w, 1));
  Shape dims = *statistics.shape();
  dims.Append(Dim(groups));
  statistics.set_shape(dims);
  Values values = w.OneflowAll("group_norm", {w.in(0), w.in(2), w.in(1)},
                               {{"affine", 1},
                                {"num_groups", groups},
                                {"epsilon", static_cast<double>(w.Float("epsilon"))},
                                {"data_format", w.String("layout")}},
                               {true, true, true}, {w.out_type(), statistics, statistics});
  values.resize(1);
  return values;
}
absl::StatusOr<Values> ToGroupNorm(OneflowWriter& w) {
  return WriteGroupNorm(w, w.Int("num_groups"));
}
// A group for each channel.
absl::StatusOr<Values> ToInstanceNorm(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const Dim& channels = (*w.shape())[w.String("layout") == "channels_last" ? rank - 1 : 1];
  if (!channels.is_static()) return CannotExpress("an unknown number of channels");
  return WriteGroupNorm(w, channels.value());
}

// y, and the sums of squares.
Values L2Normalize(OneflowArgs& a) {
  const Expr x = a.in(0);
  const int64_t axis = a.AxisOf(a.Int("axis"), x.rank());
  const double epsilon = a.Number("epsilon");
  const Expr sum = Sum(Square(x), axis, true);
  return {x / Sqrt(Max(sum, epsilon)), sum};
}

}  // namespace

X2IR_ONEFLOW(batch_normalization)
    .To("normalization", ToBatchNorm)
    .From({{"normalization", FromNormalization},
           {"normalization_infer", FromNormalization},
           {"normalization_add_relu", NormalizationAddRelu}});
X2IR_ONEFLOW(layer_normalization)
    .To("layer_norm", ToLayerNorm)
    .From({{"layer_norm", FromLayerNorm}, {"skip_layer_norm", SkipLayerNorm}});
X2IR_ONEFLOW(rms_normalization)
    .To("rms_norm", ToRmsNorm)
    .From({{"rms_norm", FromRmsNorm}, {"skip_rms_norm", SkipRmsNorm}});
X2IR_ONEFLOW(group_normalization).To("group_norm", ToGroupNorm).From("group_norm", FromGroupNorm);
X2IR_ONEFLOW(instance_normalization).To("group_norm", ToInstanceNorm);
X2IR_ONEFLOW(lp_normalization).From("l2_normalize", L2Normalize);

}  // namespace x2ir
