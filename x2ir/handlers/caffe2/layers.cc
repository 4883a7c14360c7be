// Caffe2: convolutions, products, pools and norms.
#include "x2ir/handlers/nnvm/layers.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

enum LegacyPad : int64_t { kNotSet, kValid, kSame, kCaffe };

struct Windows {
  Window window;
  int64_t legacy = kNotSet;
};
// One number for all axes, or those of height and width, or a list.
std::vector<int64_t> PerAxis(Caffe2Args& a, std::string_view one, std::string_view many,
                             size_t spatial, int64_t fallback) {
  const std::string h = StrCat(one, "_h"), w = StrCat(one, "_w");
  std::vector<int64_t> numbers = a.Ints(many);
  if (numbers.empty() && (a.HasAttr(Symbol(h)) || a.HasAttr(Symbol(w)))) {
    numbers = {a.Int(Symbol(h), fallback), a.Int(Symbol(w), fallback)};
  }
  const int64_t single = a.Int(Symbol(one), fallback);
  if (numbers.empty()) numbers.assign(spatial, single);
  if (numbers.size() != spatial) {
    a.Fail(Invalid(many, " has ", numbers.size(), " numbers for ", spatial, " axes"));
  }
  return numbers;
}
std::vector<int64_t> PadsOf(Caffe2Args& a, size_t spatial) {
  std::vector<int64_t> pads = a.Ints("pads");
  const int64_t all = a.Int("pad", 0);
  if (pads.empty() &&
      (a.HasAttr("pad_t") || a.HasAttr("pad_l") || a.HasAttr("pad_b") || a.HasAttr("pad_r"))) {
    pads = {a.Int("pad_t", 0), a.Int("pad_l", 0), a.Int("pad_b", 0), a.Int("pad_r", 0)};
  }
  if (pads.empty()) pads.assign(2 * spatial, all);
  if (pads.size() != 2 * spatial) {
    a.Fail(Invalid("pads has ", pads.size(), " numbers for ", spatial, " axes"));
  }
  return pads;
}
Windows WindowsOf(Caffe2Args& a) {
  const auto spatial = static_cast<size_t>(std::max<int64_t>(a.RankOf() - 2, 0));
  Windows w;
  w.window.channels_last = a.ChannelsLast();
  w.window.kernel = PerAxis(a, "kernel", "kernels", spatial, 0);
  w.window.strides = PerAxis(a, "stride", "strides", spatial, 1);
  w.window.dilations = PerAxis(a, "dilation", "dilations", spatial, 1);
  w.window.pads = PadsOf(a, spatial);
  w.legacy = a.Int("legacy_pad", kNotSet);
  return w;
}

absl::StatusOr<Value*> Conv(Caffe2Args& a) {
  Windows w = WindowsOf(a);
  const int64_t group = a.Int("group", 1);
  Value* bias = a.num_inputs() > 2 ? a.in(2).value() : nullptr;
  if (w.legacy == kValid) std::fill(w.window.pads.begin(), w.window.pads.end(), 0);
  if (w.legacy > kValid) return Unimplemented("legacy_pad ", w.legacy, " of a convolution");
  return Convolve(a, a.in(0), a.in(1), bias, w.window, group).value();
}
absl::StatusOr<Value*> ConvTranspose(Caffe2Args& a) {
  Windows w = WindowsOf(a);
  CheckWindow(a, w.window);
  const std::vector<int64_t> more = PerAxis(a, "adj", "adjs", w.window.rank(), 0);
  const bool last = w.window.channels_last;
  w.window.channels_last = false;
  const int64_t group = a.Int("group", 1);
  // With channels last weights are [in, kernel..., out].
  const auto first = [&](size_t i) {
    return last ? MoveAxis(a.in(i), a.RankOf(i) - 1, 1) : a.in(i);
  };
  const Expr x = first(0), weights = first(1);
  const Expr y =
      MakeConvTranspose(x, weights, a.has(2) ? a.in(2).value() : nullptr, w.window, group, more);
  return (last ? MoveAxis(y, 1, a.RankOf() - 1) : y).value();
}

absl::StatusOr<Value*> PoolOp(Caffe2Args& a, bool mean) {
  const bool global = a.Bool("global_pooling", false);
  const bool count = a.Bool("count_include_pad", false);
  if (global) {
    const bool last = a.ChannelsLast();
    a.Drop({"kernel", "kernels", "kernel_h", "kernel_w", "stride", "strides", "pad", "pads",
            "legacy_pad", "dilation", "dilations", "stride_h", "stride_w"});
    return GlobalPool(a, a.in(0), mean ? PoolKind::kAverage : PoolKind::kMax, last).value();
  }
  const Windows w = WindowsOf(a);
  // A mean counts what is of the image, unless it is told otherwise.
  WindowPool pool{w.window, mean ? PoolKind::kAverage : PoolKind::kMax, count};
  if (w.legacy == kCaffe) {
    a.Require(!w.window.channels_last, "channels last");
    pool.window.dilations.clear();
    pool.window.ceil_mode = true;
    return PoolByEnds(a, a.in(0), pool).value();
  }
  if (w.legacy != kNotSet && w.legacy != kValid) {
    return Unimplemented("legacy_pad ", w.legacy);
  }
  if (w.legacy == kValid) std::fill(pool.window.pads.begin(), pool.window.pads.end(), 0);
  return PoolWindows(a, a.in(0), pool).value();
}

// x from an axis on as columns, by weights [out, in].
absl::StatusOr<Value*> Fc(Caffe2Args& a, bool transposed) {
  const Expr x = a.in(0);
  const int64_t given = a.Int("axis", 1), of_weights = a.Int("axis_w", 1);
  const int64_t axis = given == 1 ? 1 : a.AxisOf(given);  // 1 there is, of any rank
  Expr weights = a.in(1);
  a.Require(weights->shape() != nullptr, "weights of unknown rank");
  if (weights->shape()->rank() != 2) weights = weights.Op("flatten", {}, {{"axis", of_weights}});
  return DenseFrom(x, axis, weights, a.in(2), transposed).value();
}
Expr MaybeSwapped(const Expr& x, bool swap) { return swap ? SwapLast(x) : x; }
absl::StatusOr<Value*> MatrixProduct(Caffe2Args& a) {
  const bool left = a.Bool("trans_a", false), right = a.Bool("trans_b", false);
  a.Drop({"broadcast"});
  a.Require(a.Int("axis_a", 1) == 1 && a.Int("axis_b", 1) == 1, "axes of a product");
  if (a.RankOf(0) < 2 || a.RankOf(1) < 2) return Unimplemented("a product of lists");
  return MatMul(MaybeSwapped(a.in(0), left), MaybeSwapped(a.in(1), right)).value();
}

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
// The axes from `axis` on count as one.
template <bool kLog>
Value* SoftmaxOver(Caffe2Args& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1)), rank = a.RankOf();
  const Symbol op(kLog ? "log_softmax" : "softmax");
  if (axis == rank - 1) return a.Op(op, {a.in(0)}, {{"axis", axis}});
  const Expr rows = a.in(0).Op("flatten", {}, {{"axis", axis}});
  return ReshapeTo(rows.Op(op, {}, {{"axis", 1}}), AllSizes(a.in(0)));
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
Value* LpPool(Caffe2Args& a) {
  WindowPool pool{.window = {}, .kind = PoolKind::kLp};
  const double p = a.Number("p", 2);
  a.Require(p >= 1 && p == std::floor(p) && p < 64, "a power that is no integer");
  pool.p = static_cast<int64_t>(p);
  pool.window = WindowsOf(a).window;
  return PoolWindows(a, a.in(0), pool);
}

absl::StatusOr<Value*> RoiAlign(Caffe2Args& a) {
  a.Require(!a.ChannelsLast(), "channels last");
  const int64_t samples = a.Int("sampling_ratio", -1);
  const bool aligned = a.Bool("aligned", false);
  const Expr rois = a.in(1);
  const Dim columns = DimAt(rois, 1);
  // Of one image they need not say which.
  a.Require(columns == Dim(5) || columns == Dim(4), "regions of unknown size");
  const bool numbered = columns == Dim(5);
  const Expr image = numbered ? a.AsInt64(Squeeze(Slice(rois, 1, Size(0), Size(1)), {1}))
                              : Filled(a, DType::kInt64, {SizeAt(rois, 0)}, 0);
  const Expr regions = numbered ? Slice(rois, 1, Size(1), Size(5)) : rois;
  return AlignedRegions(a.in(0), regions, image,
                        {a.Int("pooled_h", 1), a.Int("pooled_w", 1), a.Number("spatial_scale", 1),
                         samples, aligned})
      .value();
}

}  // namespace

X2IR_CAFFE2(conv).From("Conv", Conv);
X2IR_CAFFE2(conv_transpose).From("ConvTranspose", ConvTranspose);
X2IR_CAFFE2(max_pool).From("MaxPool", [](Caffe2Args& a) { return PoolOp(a, false); });
X2IR_CAFFE2(average_pool).From("AveragePool", [](Caffe2Args& a) { return PoolOp(a, true); });
X2IR_CAFFE2(gemm)
    .From("FC", [](Caffe2Args& a) { return Fc(a, false); })
    .From("FCTransposed", [](Caffe2Args& a) { return Fc(a, true); });
X2IR_CAFFE2(matmul).From({"MatMul", "BatchMatMul"}, MatrixProduct);
X2IR_CAFFE2(batch_normalization).From("SpatialBN", SpatialBn);
X2IR_CAFFE2(instance_normalization).From("InstanceNorm", InstanceNorm);
X2IR_CAFFE2(lrn).From("LRN", Lrn);
X2IR_CAFFE2(mul).From("AffineChannel", AffineChannel);
X2IR_CAFFE2(softmax).From("Softmax", SoftmaxOver<false>);
X2IR_CAFFE2(log_softmax).From("LogSoftmax", SoftmaxOver<true>);
X2IR_CAFFE2(layer_normalization).From("LayerNorm", LayerNorm);
X2IR_CAFFE2(group_normalization).From("GroupNorm", GroupNorm);
X2IR_CAFFE2(lp_pool).From("LpPool", LpPool);
X2IR_CAFFE2(roi_align).From("RoIAlign", RoiAlign);

}  // namespace x2ir
