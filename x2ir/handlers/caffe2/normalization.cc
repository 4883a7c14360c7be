// Caffe2: norms.

#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> SpatialBn(Caffe2Args& a) {
  const double epsilon = a.Number("epsilon", 1e-5);
  const bool last = a.ChannelsLast();
  a.Drop({"momentum", "num_batches"});
  return BatchNormalize(a, a.in(0), a.in(1), a.in(2), a.in(3), a.in(4), last ? a.RankOf() - 1 : 1,
                        epsilon)
      .value();
}

absl::StatusOr<Value*> InstanceNorm(Caffe2Args& a) {
  const double epsilon = a.Number("epsilon", 1e-5);
  return a
      .Op("instance_normalization", {a.in(0), a.in(1), a.in(2)},
          {{"epsilon", static_cast<float>(epsilon)},
           {"layout", a.ChannelsLast() ? "channels_last" : "channels_first"}})
      .value();
}

absl::StatusOr<Value*> Lrn(Caffe2Args& a) {
  const int64_t size = a.Int("size", 0);
  const double alpha = a.Number("alpha", 0), beta = a.Number("beta", 0), bias = a.Number("bias", 1);
  if (size < 1 || size % 2 == 0) return Invalid("a norm over ", size, " neighbours");
  return LocalResponseNorm(a.in(0), size, alpha, beta, bias, a.ChannelsLast()).value();
}

Value* AffineChannel(Caffe2Args& a) {
  a.Drop({"is_learnable"});
  if (a.ChannelsLast()) return a.in(0) * a.in(1) + a.in(2);
  const int64_t rank = a.RankOf();
  return a.in(0) * AlongChannels(a.in(1), rank) + AlongChannels(a.in(2), rank);
}

// Results: normalized, mean, standard deviation.
absl::StatusOr<Values> LayerNorm(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1)), rank = a.RankOf();
  const double epsilon = a.Number("epsilon", 1e-5);
  const bool affine = a.Bool("elementwise_affine", false);
  const std::vector<int64_t> axes = CountedFrom(axis, rank - axis);
  const Expr x = a.in(0), mean = Reduce(x, "reduce_mean", axes, true), centred = x - mean;
  const Expr deviation = Sqrt(Reduce(Square(centred), "reduce_mean", axes, true) + epsilon);
  Expr y = centred / deviation;
  if (affine) y = y * a.in(1) + a.in(2);
  // Of the others the axes that were counted are one.
  const auto kept = [&](const Expr& v) {
    return Squeeze(v, CountedFrom(axis + 1, rank - axis - 1)).value();
  };
  Values all = {y};
  all.push_back(a.wants(1) ? kept(mean) : nullptr);
  all.push_back(a.wants(2) ? kept(deviation) : nullptr);
  return all;
}

absl::StatusOr<Value*> GroupNorm(Caffe2Args& a) {
  const int64_t groups = a.Int("group", 32), rank = a.RankOf();
  const double epsilon = a.Number("epsilon", 1e-5);
  const bool last = a.ChannelsLast();
  if (rank < 2) return Invalid("a norm of a list");
  const Expr x = last ? MoveAxis(a.in(0), rank - 1, 1) : a.in(0);
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static(), "an unknown number of channels");
  if (groups < 1 || channels.value() % groups != 0) {
    return Invalid(channels.value(), " channels in ", groups, " groups");
  }
  const std::vector<Size> sizes = AllSizes(x);
  const Expr apart = ReshapeTo(x, {sizes[0], Size(groups), Size(-1)});
  const Expr y = ReshapeTo(Standardized(apart, {2}, epsilon), sizes);
  const Expr scaled = y * AlongChannels(a.in(1), rank) + AlongChannels(a.in(2), rank);
  return (last ? MoveAxis(scaled, 1, rank - 1) : scaled).value();
}

}  // namespace

X2IR_CAFFE2(batch_normalization).From({{"SpatialBN", SpatialBn}, {"AffineChannel", AffineChannel}});
X2IR_CAFFE2(instance_normalization).From("InstanceNorm", InstanceNorm);
X2IR_CAFFE2(lrn).From("LRN", Lrn);
X2IR_CAFFE2(layer_normalization).From("LayerNorm", LayerNorm);
X2IR_CAFFE2(group_normalization).From("GroupNorm", GroupNorm);

}  // namespace x2ir
