// Normalizations.
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/paddle/nn.h"

namespace x2ir {
namespace {

// By the running statistics; the results of that name are these.
PaddleResults BatchNorm(PaddleArgs& a) {
  const Expr x = a.X();
  const Expr mean = a.X("Mean"), variance = a.X("Variance");
  Expr scale = a.Opt("Scale"), bias = a.Opt("Bias");
  a.Drop({"MomentumTensor"});
  const bool last = ChannelsLast(a, a.HasAttr("data_layout") ? "data_layout" : "data_format");
  const double epsilon = a.Number("epsilon", 1e-5);
  const bool of_batch = !a.Bool("is_test", true) && !a.Bool("use_global_stats", false);
  a.Require(!of_batch, "batch normalization in training");
  a.Ignore("use_global_stats");
  const auto filled = [&](double number) { return Expand(mean.Number(number), ShapeOf(mean)); };
  if (!scale.value()) scale = filled(1);
  if (!bias.value()) bias = filled(0);
  const int64_t rank = a.Rank(x);
  const Expr y =
      x.Op("batch_normalization",
           {scale.To(x.dtype()), bias.To(x.dtype()), mean.To(x.dtype()), variance.To(x.dtype())},
           {{"layout", LayoutName(last && rank > 2)}, {"epsilon", static_cast<float>(epsilon)}});
  PaddleResults results = {{"Y", {y}}};
  if (a.Wants("MeanOut")) results.push_back({"MeanOut", {mean.Op("identity")}});
  if (a.Wants("VarianceOut")) results.push_back({"VarianceOut", {variance.Op("identity")}});
  return results;
}

// Axes from begin_norm_axis on; scale and bias have one number for each of their elements.
PaddleResults LayerNorm(PaddleArgs& a) {
  const Expr x = a.X();
  Expr scale = a.Opt("Scale"), bias = a.Opt("Bias");
  const int64_t rank = a.Rank(x), axis = a.Axis(a.Int("begin_norm_axis", 1), x);
  const double epsilon = a.Number("epsilon", 1e-5);
  std::vector<Size> sizes = SizesAt(x, axis, rank);
  const auto shaped = [&](const Expr& v) { return sizes.size() == 1 ? v : ReshapeTo(v, sizes); };
  const auto plain = [&](double number) { return Filled(a, x.dtype(), sizes, number); };
  const Expr s = scale.value() ? shaped(scale.To(x.dtype())) : plain(1);
  std::vector<Value*> operands = {x, s};
  if (bias.value()) operands.push_back(shaped(bias.To(x.dtype())));
  const Expr y = a.Op("layer_normalization", operands,
                      {{"axis", axis}, {"epsilon", static_cast<float>(epsilon)}});
  PaddleResults results = {{"Y", {y}}};
  if (a.Wants("Mean") || a.Wants("Variance")) {
    const std::vector<int64_t> axes = CountedFrom(axis, rank - axis);
    const Expr mean = Reduce(x, "reduce_mean", axes, true);
    results.push_back({"Mean", {Flat(mean)}});
    results.push_back({"Variance", {Flat(Reduce(Square(x - mean), "reduce_mean", axes))}});
  }
  return results;
}

Expr InstanceNorm(PaddleArgs& a) {
  const Expr x = a.X();
  Expr scale = a.Opt("Scale"), bias = a.Opt("Bias");
  const bool last = ChannelsLast(a, a.HasAttr("data_layout") ? "data_layout" : "data_format");
  const double epsilon = a.Number("epsilon", 1e-5);
  return InstanceNormalize(x, scale, bias, epsilon, last);
}

PaddleResults GroupNorm(PaddleArgs& a) {
  const Expr x = a.X();
  Expr scale = a.Opt("Scale"), bias = a.Opt("Bias");
  const bool last = ChannelsLast(a, a.HasAttr("data_layout") ? "data_layout" : "data_format");
  const double epsilon = a.Number("epsilon", 1e-5);
  const int64_t groups = a.Int("groups", 1);
  return {{"Y", {GroupNormalize(x, scale, bias, groups, epsilon, last)}}};
}

// x / (k + alpha * the sum of squares over n neighboring channels)^beta.
PaddleResults LocalResponse(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = ChannelsLast(a);
  const int64_t n = a.Int("n", 5);
  const double alpha = a.Number("alpha", 1e-4) * static_cast<double>(n);
  const int64_t rank = a.Rank(x);
  const Expr first = last ? MoveAxis(x, rank - 1, 1) : x;
  const Expr y = LocalResponseNorm(first, n, alpha, a.Number("beta", 0.75), a.Number("k", 2));
  return {{"Out", {last ? MoveAxis(y, 1, rank - 1) : y}}};
}

}  // namespace

X2IR_PADDLE(batch_normalization).From({"batch_norm", "sync_batch_norm"}, BatchNorm);
X2IR_PADDLE(layer_normalization).From("layer_norm", LayerNorm);
X2IR_PADDLE(instance_normalization).From("instance_norm", InstanceNorm);
X2IR_PADDLE(group_normalization).From("group_norm", GroupNorm);
X2IR_PADDLE(lrn).From("lrn", LocalResponse);

}  // namespace x2ir
