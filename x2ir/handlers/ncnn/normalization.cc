// ncnn: norms.
#include <algorithm>

#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

Value* BatchNorm(NcnnArgs& a) {
  a.Drop({0});
  const double epsilon = a.Float(1, 0);
  if (a.RankOf() < 2) a.Fail(Invalid("a norm of what has no channels"));
  return a.Op("batch_normalization",
              {a.in(0), a.weights(0), a.weights(3), a.weights(1), a.weights(2)},
              {{"epsilon", static_cast<float>(epsilon)}});
}

Value* Lrn(NcnnArgs& a) {
  const bool within = a.Int(0, 0) == 1;
  const int64_t size = a.Int(1, 5);
  const double alpha = a.Float(2, 1), beta = a.Float(3, 0.75), bias = a.Float(4, 1);
  if (size < 1 || size % 2 == 0) a.Fail(Invalid("a norm over ", size, " neighbours"));
  const Expr x = a.in(0);
  if (!within) {
    return LocalResponseNorm(x, size, alpha, beta, bias);
  }
  return LocalResponseNormWithin(x, size, alpha, beta, bias);
}

Value* Mvn(NcnnArgs& a) {
  const bool variance = a.Flag(0, false), across = a.Flag(1, false);
  const double epsilon = a.Float(2, 0.0001);
  const Expr x = a.in(0);
  const int64_t first = across ? 1 : 2;
  const std::vector<int64_t> axes = CountedFrom(first, std::max<int64_t>(a.RankOf() - first, 0));
  if (axes.empty()) a.Fail(Invalid("a norm of a list"));
  return MeanVarianceNorm(x, axes, variance, epsilon);
}

absl::StatusOr<Value*> Normalize(NcnnArgs& a) {
  const bool spatial = a.Flag(0, false), shared = a.Flag(1, false), channels = a.Flag(4, true);
  const double epsilon = a.Float(2, 0.0001);
  const int64_t mode = a.Int(9, 0);
  a.Drop({3});
  a.Require(a.RankOf() == 4 && (spatial || channels), "a norm over these axes");
  const Expr x = a.in(0);
  std::vector<int64_t> axes;
  if (channels) axes.push_back(1);
  if (spatial) axes.insert(axes.end(), {2, 3});
  const Expr sum = Reduce(Square(x), "reduce_sum", axes, true);
  if (mode < 0 || mode > 2) return Unimplemented("eps_mode ", mode);
  const Expr length = mode == 0   ? Sqrt(sum + epsilon)
                      : mode == 1 ? Max(Sqrt(sum), epsilon)
                                  : Sqrt(Max(sum, epsilon));
  const Expr scale = a.weights(0);
  return (x / length * (shared ? scale : Reshape(scale, {-1, 1, 1}))).value();
}

Value* InstanceNorm(NcnnArgs& a) {
  a.Drop({0});
  const double epsilon = a.Float(1, 0.001);
  const bool affine = a.Flag(2, true);
  const int64_t rank = a.RankOf();
  const Expr y = Standardized(a.in(0), CountedFrom(2, std::max<int64_t>(rank - 2, 0)), epsilon);
  if (!affine) return y;
  return y * AlongChannels(a.weights(0), rank) + AlongChannels(a.weights(1), rank);
}

absl::StatusOr<Value*> GroupNorm(NcnnArgs& a) {
  const int64_t groups = a.Int(0, 1), channels = a.Int(1, 0), rank = a.RankOf();
  const double epsilon = a.Float(2, 0.001);
  const bool affine = a.Flag(3, true);
  if (groups < 1 || channels < 1 || channels % groups != 0) {
    return Invalid(channels, " channels in ", groups, " groups");
  }
  const std::vector<Size> sizes = AllSizes(a.in(0));
  std::vector<Size> apart = {sizes[0], Size(groups), Size(channels / groups)};
  apart.insert(apart.end(), sizes.begin() + 2, sizes.end());
  Expr y =
      ReshapeTo(Standardized(ReshapeTo(a.in(0), apart), CountedFrom(2, rank - 1), epsilon), sizes);
  if (affine) y = y * AlongChannels(a.weights(0), rank) + AlongChannels(a.weights(1), rank);
  return y.value();
}

// Over as many of the last axes as the affine size says.
absl::StatusOr<Value*> OverLast(NcnnArgs& a, bool centred) {
  const int64_t size = a.Int(0, 0), rank = a.RankOf();
  const double epsilon = a.Float(1, 0.001);
  const bool affine = a.Flag(2, true);
  const Expr x = a.in(0);
  std::vector<int64_t> axes = {rank - 1};
  const Dim last = DimAt(x, rank - 1);
  a.Require(last.is_static() || rank <= 3, "a norm over axes of unknown size");
  std::vector<int64_t> dims;
  if (last.is_static() && last.value() != size && rank == 4) {
    const auto sizes = KnownSizes(x, 2, 4);
    a.Require(sizes && (*sizes)[0] * (*sizes)[1] == size, "a norm over these axes");
    axes = {2, 3};
    dims = *sizes;
  } else if (last.is_static() && last.value() != size && affine) {
    return Invalid("a norm over ", size, " numbers of ", last.value());
  }
  Expr y = centred ? Standardized(x, axes, epsilon)
                   : x / Sqrt(Reduce(Square(x), "reduce_mean", axes, true) + epsilon);
  if (affine) {
    const auto placed = [&](size_t i) {
      return dims.empty() ? a.weights(i) : Reshape(a.weights(i), dims);
    };
    y = y * placed(0);
    if (centred) y = y + placed(1);
  }
  return y.value();
}

}  // namespace

X2IR_NCNN(batch_normalization).From("BatchNorm", BatchNorm);
X2IR_NCNN(lrn).From("LRN", Lrn);
X2IR_NCNN(instance_normalization).From({{"MVN", Mvn}, {"InstanceNorm", InstanceNorm}});
X2IR_NCNN(lp_normalization).From("Normalize", Normalize);
X2IR_NCNN(group_normalization).From("GroupNorm", GroupNorm);
X2IR_NCNN(layer_normalization)
    .From("LayerNorm", [](NcnnArgs& a) { return OverLast(a, true); })
    .From("RMSNorm", [](NcnnArgs& a) { return OverLast(a, false); });

}  // namespace x2ir
