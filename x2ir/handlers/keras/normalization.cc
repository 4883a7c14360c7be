// Keras: normalizations.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// The scale and the shift of a layer that may have either, before its other weights.
struct Affine {
  Expr scale = nullptr, shift = nullptr;
  std::vector<Expr> rest;
};
Affine TakeAffine(KerasArgs& a, std::vector<std::string> others, bool scale_alone = false) {
  const bool scale = a.Flag("scale", true) || scale_alone;
  const bool center = a.Flag("center", true) && !scale_alone;
  std::vector<std::string> names;
  if (scale) names.emplace_back("gamma");
  if (center) names.emplace_back("beta");
  const size_t own = names.size();
  names.insert(names.end(), others.begin(), others.end());
  const std::vector<Expr> w = a.Weights(names);
  Affine affine;
  if (scale) affine.scale = w[0];
  if (center) affine.shift = w[own - 1];
  affine.rest.assign(w.begin() + static_cast<ptrdiff_t>(own), w.end());
  return affine;
}

// Of halves Keras computes norms in float32.
template <Value* (*kNorm)(KerasArgs&)>
Value* InFloats(KerasArgs& a) {
  const DType own = a.compute_type();
  if (own != DType::kFloat16 && own != DType::kBFloat16) return kNorm(a);
  a.compute_in(DType::kFloat32);
  return Expr(a, kNorm(a)).To(own);
}

Expr FilledLike(KerasArgs& a, const Expr& x, DType type, double number) {
  return Filled(a, type, AllSizes(x), number);
}

std::vector<int64_t> NormAxes(KerasArgs& a, int64_t rank) {
  std::vector<int64_t> axes = a.Integers("axis");
  if (axes.empty()) axes = {-1};
  axes = a.Axes(axes, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

// By the mean and the variance that training counted, or where it is called as in training by those
// of the batch.
Value* BatchNorm(KerasArgs& a) {
  const double epsilon = a.Number("epsilon", 1e-3);
  const Affine w = TakeAffine(a, {"moving mean", "moving variance"});
  const bool masked = !a.named("mask").empty();
  a.Require(!masked || !a.Flag("call.training", false), "a mask of the batch's numbers");
  const Expr x = a.tensor();
  const int64_t rank = a.RankOf(x);
  const std::vector<int64_t> axes = NormAxes(a, rank);
  a.Require(axes.size() == 1 && axes[0] > 0, "a normalization along several axes, or the batch");
  Expr mean = w.rest[0], variance = w.rest[1];
  if (a.Flag("call.training", false)) {
    std::vector<int64_t> others = CountedFrom(0, rank);
    others.erase(others.begin() + axes[0]);
    mean = Reduce(x, "reduce_mean", others);
    variance = Reduce(Square(x - Reduce(x, "reduce_mean", others, true)), "reduce_mean", others);
  }
  return BatchNormalize(a, x, w.scale, w.shift, mean, variance, axes[0], epsilon);
}

Value* LayerNorm(KerasArgs& a) {
  const auto epsilon = a.Number("epsilon", 1e-3);
  // By the deviation, but the mean stays.
  const bool keeps_mean = a.Flag("rms_scaling", false);
  const Affine w = TakeAffine(a, {}, keeps_mean);
  const Expr x = a.tensor();
  const int64_t rank = a.RankOf(x);
  const std::vector<int64_t> axes = NormAxes(a, rank);
  const bool at_end = axes[0] == rank - static_cast<int64_t>(axes.size());
  if (!keeps_mean && at_end && (w.scale.value() || w.shift.value())) {
    const Expr scale = w.scale.value() ? w.scale : FilledLike(a, w.shift, x.dtype(), 1);
    std::vector<Value*> operands = {scale};
    if (w.shift.value()) operands.push_back(w.shift);
    return x.Op("layer_normalization", operands,
                {{"axis", axes[0]}, {"epsilon", static_cast<float>(epsilon)}});
  }
  const Expr d = x - Reduce(x, "reduce_mean", axes, true);
  const Expr spread = Sqrt(Reduce(Square(d), "reduce_mean", axes, true) + epsilon);
  Expr y = (keeps_mean ? x : d) / spread;
  const auto placed = [&](const Expr& v) {
    std::vector<Size> sizes(static_cast<size_t>(rank), Size(1));
    for (size_t i = 0; i < axes.size(); ++i) {
      sizes[static_cast<size_t>(axes[i])] = SizeAt(v, static_cast<int64_t>(i));
    }
    return ReshapeTo(v, sizes);
  };
  if (w.scale.value()) y = y * placed(w.scale);
  if (w.shift.value()) y = y + placed(w.shift);
  return y;
}

Value* RmsNorm(KerasArgs& a) {
  const auto epsilon = static_cast<float>(a.Number("epsilon", 1e-6));
  const Expr x = a.tensor(), scale = a.Weights({"scale"})[0];
  const int64_t rank = a.RankOf(x);
  const std::vector<int64_t> axes = NormAxes(a, rank);
  a.Require(axes[0] == rank - static_cast<int64_t>(axes.size()),
            "a normalization along axes that are not the last");
  return x.Op("rms_normalization", {scale}, {{"axis", axes[0]}, {"epsilon", epsilon}});
}

Value* GroupNorm(KerasArgs& a) {
  const double epsilon = a.Number("epsilon", 1e-3);
  int64_t groups = a.Integer("groups", 32);
  const Affine w = TakeAffine(a, {});
  const Expr x = a.tensor();
  const int64_t rank = a.RankOf(x);
  const std::vector<int64_t> axes = NormAxes(a, rank);
  a.Require(axes.size() == 1 && (axes[0] == 1 || axes[0] == rank - 1),
            "groups along an axis that is neither the first nor the last");
  const Size channels = SizeAt(x, axes[0]);
  a.Require(channels.number.has_value(), "a number of channels that is not known");
  if (groups == -1) groups = *channels.number;
  if (groups < 1 || *channels.number % groups != 0) a.Fail(Invalid(groups, " groups of channels"));
  const bool last = axes[0] == rank - 1 && rank > 2;
  return GroupNormalize(x, w.scale, w.shift, groups, epsilon, last);
}

Value* UnitNorm(KerasArgs& a) {
  const Expr x = a.tensor();
  const std::vector<int64_t> axes = NormAxes(a, a.RankOf(x));
  const Expr sum = Reduce(Square(x), "reduce_sum", axes, true);
  return x / Sqrt(Max(sum, x.Number(1e-12)));
}

}  // namespace

X2IR_KERAS(batch_normalization)
    .From({"BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2",
           "SyncBatchNormalization"},
          InFloats<BatchNorm>);
X2IR_KERAS(group_normalization).From("GroupNormalization", InFloats<GroupNorm>);
X2IR_KERAS(layer_normalization).From("LayerNormalization", InFloats<LayerNorm>);
X2IR_KERAS(reduce_l2).From("UnitNormalization", UnitNorm);
X2IR_KERAS(rms_normalization).From("RMSNormalization", InFloats<RmsNorm>);

}  // namespace x2ir
