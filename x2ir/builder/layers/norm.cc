#include "x2ir/builder/layers/norm.h"

#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// An op with a scale and a shift for each channel.
Expr Normalized(std::string_view op, const Expr& x, Value* scale, Value* shift, bool channels_last,
                AttributeMap attrs) {
  Builder& b = x.builder();
  const Size channels = SizeAt(x, channels_last ? x.rank() - 1 : 1);
  attrs.Set("layout", channels_last ? "channels_last" : "channels_first");
  return x.Op(
      op, {OrFilled(b, scale, x.dtype(), channels, 1), OrFilled(b, shift, x.dtype(), channels, 0)},
      std::move(attrs));
}

}  // namespace

Expr OrFilled(Builder& b, Value* given, DType t, const Size& channels, double number) {
  return given ? Expr(b, given).To(t) : Filled(b, t, {channels}, number);
}

Expr GroupNormalize(const Expr& x, Value* scale, Value* shift, int64_t groups, double epsilon,
                    bool channels_last) {
  return Normalized("group_normalization", x, scale, shift, channels_last,
                    {{"num_groups", groups}, {"epsilon", static_cast<float>(epsilon)}});
}

Expr InstanceNormalize(const Expr& x, Value* scale, Value* shift, double epsilon,
                       bool channels_last) {
  return Normalized("instance_normalization", x, scale, shift, channels_last,
                    {{"epsilon", static_cast<float>(epsilon)}});
}

Expr BatchNormalize(NodeReader& a, const Expr& x, Value* scale, Value* shift, const Expr& mean,
                    const Expr& variance, int64_t axis, double epsilon) {
  const int64_t rank = x->shape() ? x->shape()->rank() : -1;
  const auto filled = [&](double number) {
    return Filled(a, mean.dtype(), {SizeAt(mean, 0)}, number).value();
  };
  if (!scale) scale = filled(1);
  if (!shift) shift = filled(0);
  if (axis < 0 && rank >= 0) axis += rank;
  if (rank >= 0 && (axis < 0 || axis >= rank)) a.Fail(Invalid("there is no axis ", axis));
  const bool last = axis == -1 || (rank > 2 && axis == rank - 1 && axis != 1);
  const AttributeMap attrs = {{"epsilon", static_cast<float>(epsilon)},
                              {"layout", last ? "channels_last" : "channels_first"}};
  const auto normalized = [&](const Expr& v) {
    return a.Op("batch_normalization", {v, scale, shift, mean, variance}, attrs);
  };
  if (last || axis == 1) return normalized(x);
  if (rank < 2) a.Fail(Unimplemented("axis ", axis, " of an operand of unknown rank"));
  return MoveAxis(normalized(MoveAxis(x, axis, 1)), 1, axis);
}

Expr Standardized(const Expr& x, const std::vector<int64_t>& axes, double epsilon) {
  const Expr centred = x - Reduce(x, "reduce_mean", axes, true);
  return centred / Sqrt(Reduce(Square(centred), "reduce_mean", axes, true) + epsilon);
}

Expr MeanVarianceNorm(const Expr& x, const std::vector<int64_t>& axes, bool scales,
                      double epsilon) {
  const Expr centred = x - Reduce(x, "reduce_mean", axes, true);
  if (!scales) return centred;
  return centred / (Sqrt(Reduce(Square(centred), "reduce_mean", axes, true)) + epsilon);
}

Expr L2Normalized(const Expr& x, const std::vector<int64_t>& axes, double epsilon) {
  return x / Sqrt(Reduce(Square(x), "reduce_sum", axes, true) + epsilon);
}

Expr LocalResponseNorm(const Expr& x, int64_t size, double alpha, double beta, double bias,
                       bool channels_last) {
  return x.Op("lrn", {},
              {{"size", size},
               {"alpha", static_cast<float>(alpha)},
               {"beta", static_cast<float>(beta)},
               {"bias", static_cast<float>(bias)},
               {"layout", channels_last ? "channels_last" : "channels_first"}});
}

Expr LocalResponseNormWithin(const Expr& x, int64_t size, double alpha, double beta, double bias) {
  const int64_t half = size / 2;
  const Expr mean = Square(x).Op("average_pool", {},
                                 {{"kernel_shape", {size, size}},
                                  {"strides", {1, 1}},
                                  {"pads", {half, half, half, half}},
                                  {"count_include_pad", 1}});
  return x * Pow(Shifted(Scaled(mean, alpha), bias), -beta);
}

}  // namespace x2ir
