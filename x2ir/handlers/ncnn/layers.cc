// ncnn: convolutions, products, pools and norms.
#include "x2ir/handlers/nnvm/layers.h"

#include <algorithm>
#include <limits>

#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

constexpr int64_t kSameUpper = -233, kSameLower = -234;

// The numbers of parameters: of width, height, depth; each is the one before's where left out.
struct WindowIds {
  std::vector<int64_t> kernel, dilation, stride, begin, end;
};
const WindowIds& IdsOf(size_t spatial) {
  static const auto& ids = *new std::vector<WindowIds>{
      {{1}, {2}, {3}, {4}, {15}},
      {{1, 11}, {2, 12}, {3, 13}, {4, 14}, {15, 16}},
      {{1, 11, 21}, {2, 12, 22}, {3, 13, 23}, {4, 14, 24}, {15, 16, 17}}};
  return ids[spatial - 1];
}
// In the order of axes: height before width.
std::vector<int64_t> Turned(std::vector<int64_t> numbers) {
  std::reverse(numbers.begin(), numbers.end());
  return numbers;
}
std::vector<int64_t> Each(NcnnArgs& a, const std::vector<int64_t>& ids, int64_t fallback) {
  std::vector<int64_t> numbers;
  for (const int64_t id : ids)
    numbers.push_back(a.Int(id, numbers.empty() ? fallback : numbers[0]));
  return numbers;
}

std::vector<int64_t> PadsOf(NcnnArgs& a, const std::vector<int64_t>& begin_ids,
                            const std::vector<int64_t>& end_ids) {
  const std::vector<int64_t> begins = Each(a, begin_ids, 0);
  std::vector<int64_t> ends;
  for (size_t i = 0; i < begins.size(); ++i) ends.push_back(a.Int(end_ids[i], begins[i]));
  return JoinPads(Turned(begins), Turned(ends));
}

Window WindowOf(NcnnArgs& a, size_t spatial) {
  const WindowIds& ids = IdsOf(spatial);
  Window w;
  w.kernel = Turned(Each(a, ids.kernel, 0));
  w.dilations = Turned(Each(a, ids.dilation, 1));
  w.strides = Turned(Each(a, ids.stride, 1));
  w.pads = PadsOf(a, ids.begin, ids.end);
  if (w.begins() == std::vector<int64_t>(spatial, kSameUpper)) w.auto_pad = AutoPad::kSameUpper;
  if (w.begins() == std::vector<int64_t>(spatial, kSameLower)) w.auto_pad = AutoPad::kSameLower;
  if (IsSame(w.auto_pad)) w.pads.assign(2 * spatial, 0);
  CheckWindow(a, w);
  return w;
}

// Integers as they are, floats in steps of their scale.
Expr Integers(const Expr& x, const Expr& scale) {
  return x.dtype() == DType::kInt8 ? x.To(DType::kFloat32) : NcnnQuantized(x, scale);
}

// Weights of so many numbers a filter, and what is left for the channels.
Expr Kernel(NcnnArgs& a, const Expr& flat, const Window& window, int64_t out) {
  std::vector<int64_t> dims = {out, -1};
  dims.insert(dims.end(), window.kernel.begin(), window.kernel.end());
  if (out < 1) a.Fail(Invalid(out, " filters"));
  return Reshape(flat, dims);
}

template <size_t kSpatial, bool kGroups>
absl::StatusOr<Value*> Convolution(NcnnArgs& a) {
  const int64_t scales = a.Int(8, 0), group = kGroups ? a.Int(7, 1) : 1;
  const bool bias = a.Flag(5, false), dynamic = a.Flag(19, false);
  int64_t out = a.Int(0, 0);
  a.Drop({6, 17});
  if (a.RankOf() == 2 && kSpatial == 2 && !kGroups) {
    // Of a list: a product.
    const Expr weights = Reshape(a.weights(0), {out, -1});
    a.Drop({1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 18});
    a.Require(scales == 0, "weights of 8 bits on a list");
    X2IR_ASSIGN_OR_RETURN(
        const Expr y,
        NcnnActivated(a, Dense(a.in(0), weights, bias ? a.weights(1).value() : nullptr)));
    return y.value();
  }
  if (a.RankOf() != static_cast<int64_t>(kSpatial) + 2) {
    return Invalid("an operand of ", a.RankOf() - 1, " axes");
  }
  Window w = WindowOf(a, kSpatial);
  Expr x = a.in(0);
  const double padded = a.Float(18, 0);
  Expr kernel = nullptr, shift = nullptr;
  if (dynamic) {
    // [1, out, in, kernel...] and [1, out], which say the sizes themselves.
    const auto sizes = KnownSizes(a.in(1));
    a.Require(sizes && sizes->size() == kSpatial + 3 && scales == 0, "weights of unknown size");
    out = (*sizes)[1];
    w.kernel.assign(sizes->begin() + 3, sizes->end());
    kernel = Squeeze(a.in(1), {0});
    if (bias) shift = Reshape(a.in(2), {-1});
  } else {
    kernel = Kernel(a, a.weights(0), w, out);
    if (bias) shift = a.weights(1);
  }
  if (padded != 0) {
    a.Require(!IsSame(w.auto_pad) && scales == 0, "this padding with another number than 0");
    x = a.Op("pad", {x, a.b().Ints(TensorPads(w)), x.Number(padded)});
    w.pads.assign(2 * kSpatial, 0);
  }
  Expr y = nullptr;
  if (scales == 0) {
    y = MakeConv(x, kernel, shift, w, group);
  } else {
    // Integers, whose sums are exact as floats, and then back by both scales.
    const int64_t kind = scales > 100 ? scales - 100 : scales;
    a.Require(kind == 1 || kind == 2, StrCat("int8_scale_term ", scales));
    const size_t at = bias ? 2 : 1;
    const Expr of_weights = a.weights(at), of_x = a.weights(at + 1);
    y = MakeConv(Integers(x, of_x), kernel, nullptr, w, group);
    Expr each = of_weights;
    if (kGroups && kind == 1 && group > 0 && out % group == 0 && out != group) {
      each = Reshape(Expand(Reshape(each, {-1, 1}), a.b().Ints({group, out / group})), {-1});
    }
    y = y / AlongChannels(each * of_x, kSpatial + 2);
    if (bias) y = y + AlongChannels(shift, kSpatial + 2);
  }
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y));
  // Integers for the next layer.
  if (scales > 100) y = NcnnQuantized(y, a.weights(bias ? 4 : 3)).To(DType::kInt8);
  return y.value();
}

template <size_t kSpatial, bool kGroups>
absl::StatusOr<Value*> Deconvolution(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0), group = kGroups ? a.Int(7, 1) : 1;
  const bool bias = a.Flag(5, false);
  a.Drop({6});
  a.Require(!a.Flag(28, false), "weights that are computed");
  const Window w = WindowOf(a, kSpatial);
  const std::vector<int64_t> more_ids = {18, 19, 20},
                             size_ids = kSpatial == 3 ? std::vector<int64_t>{25, 26, 27}
                                                      : std::vector<int64_t>{20, 21};
  std::vector<int64_t> more, sizes;
  for (size_t i = 0; i < kSpatial; ++i) {
    more.push_back(a.Int(more_ids[i], more.empty() ? 0 : more[0]));
    sizes.push_back(a.Int(size_ids[i], sizes.empty() ? 0 : sizes[0]));
  }
  const bool cut = IsSame(w.auto_pad);
  const bool sized = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
  a.Require(!cut || sized, "padding to a size that is not said");
  if (group < 1 || out < 1 || out % group != 0)
    return Invalid(out, " filters in ", group, " groups");
  // [group, out of a group, in of a group, kernel] becomes [in, out of a group, kernel].
  std::vector<int64_t> apart = {group, out / group, -1}, together = {-1, out / group};
  apart.insert(apart.end(), w.kernel.begin(), w.kernel.end());
  together.insert(together.end(), w.kernel.begin(), w.kernel.end());
  std::vector<int64_t> order = CountedFrom(0, static_cast<int64_t>(apart.size()));
  std::swap(order[1], order[2]);
  const Expr kernel = Reshape(Transpose(Reshape(a.weights(0), apart), order), together);
  Window uncut = w;
  uncut.auto_pad = AutoPad::kNotSet;
  Value* const shift = bias ? a.weights(1).value() : nullptr;
  Expr y = MakeConvTranspose(a.in(0), kernel, shift, uncut, group, Turned(more));
  if (cut) {
    // To the size that is said; of an odd number the end loses more, or the begin.
    const int64_t spatial = kSpatial;
    const auto whole = KnownSizes(y, 2, 2 + spatial);
    const std::vector<int64_t> wanted = Turned(sizes);
    a.Require(whole.has_value(), "a result of a given size from an image of an unknown one");
    for (size_t i = 0; i < kSpatial; ++i) {
      const int64_t rest = (*whole)[i] - wanted[i];
      if (rest < 0) return Invalid("a result of ", (*whole)[i], " cut to ", wanted[i]);
      const int64_t from = w.auto_pad == AutoPad::kSameUpper ? rest / 2 : rest - rest / 2;
      y = Slice(y, static_cast<int64_t>(i) + 2, Size(from), Size(from + wanted[i]));
    }
  }
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y));
  return y.value();
}

// Rows of a blob of two axes, or all of a blob.
absl::StatusOr<Value*> InnerProduct(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0);
  const bool bias = a.Flag(1, false), quantized = a.Flag(8, false);
  a.Drop({2});
  if (out < 1) return Invalid(out, " results");
  const Expr weights = Reshape(a.weights(0), {out, -1});
  Expr x = a.in(0);
  const Dim inner = DimAt(weights, 1), last = DimAt(x, a.RankOf() - 1);
  const bool rows = a.RankOf() == 3 && inner == last;
  if (!rows) x = FlattenedRows(x);
  Expr y = nullptr;
  Value* const shift = bias ? a.weights(1).value() : nullptr;
  if (quantized) {
    const size_t at = bias ? 2 : 1;
    y = Dense(Integers(x, a.weights(at + 1)), weights, nullptr) /
        (a.weights(at) * a.weights(at + 1));
    if (shift) y = y + Expr(a, shift);
  } else {
    y = Dense(x, weights, shift);
  }
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y));
  return y.value();
}

absl::StatusOr<Value*> Embed(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0), rows = a.Int(1, 0);
  const bool bias = a.Flag(2, false);
  a.Drop({3});
  const bool quantized = a.Int(18, 0) != 0;
  // Places behind the last one are the last.
  const Expr last(a, a.b().Int(std::max<int64_t>(rows - 1, 0)));
  const Expr places = Clip(a.AsInt64(a.in(0)), Expr(a, a.b().Int(0)), last);
  Expr y = Gather(Reshape(a.weights(0), {-1, out}), places, 0);
  if (quantized) y = y / a.weights(bias ? 2 : 1);
  return (bias ? y + a.weights(1) : y).value();
}

// --- Pools ---------------------------------------------------------------------------------------

template <size_t kSpatial>
absl::StatusOr<Value*> PoolLayer(NcnnArgs& a) {
  const Expr x = a.in(0);
  const int64_t kind = a.Int(0, 0), mode = a.Int(5, 0);
  const bool global = a.Flag(4, false), count = a.Flag(6, false), adaptive = a.Flag(7, false);
  const bool mean = kind == 1;
  if (kind != 0 && kind != 1) return Unimplemented("pools of kind ", kind);
  // Of width, then 10 more for each other axis; ends are numbered on their own.
  const auto ids = [](int64_t first) {
    return CountedFrom(first, static_cast<int64_t>(kSpatial), 10);
  };
  WindowPool pool{.window = {}, .kind = mean ? PoolKind::kAverage : PoolKind::kMax};
  Window& w = pool.window;
  w.kernel = Turned(Each(a, ids(1), 0));
  w.strides = Turned(Each(a, ids(2), 1));
  w.pads = PadsOf(a, ids(3), {14, 15, 16});
  const std::vector<int64_t> out = Each(a, ids(8), 0);
  if (a.RankOf() != static_cast<int64_t>(kSpatial) + 2) {
    return Invalid("a pool of an operand of ", a.RankOf() - 1, " axes");
  }
  if (global) {
    // A list of channels is left.
    return Reduce(x, mean ? "reduce_mean" : "reduce_max",
                  CountedFrom(2, static_cast<int64_t>(kSpatial)))
        .value();
  }
  if (adaptive) {
    const auto sizes = KnownSizes(x, 2, 2 + static_cast<int64_t>(kSpatial));
    const std::vector<int64_t> wanted = Turned(out);
    a.Require(sizes.has_value(), "a pool to a size from an unknown one");
    for (size_t i = 0; i < kSpatial; ++i) {
      const int64_t to = wanted[i] == -233 ? (*sizes)[i] : wanted[i];
      a.Require(to > 0 && (*sizes)[i] % to == 0, "windows of several sizes");
      w.kernel[i] = (*sizes)[i] / to;
    }
    w.strides = w.kernel;
    w.pads.clear();
    return MakePool(x, pool).value();
  }
  pool.count_include_pad = count;
  if (mode == 2 || mode == 3) {
    w.auto_pad = mode == 2 ? AutoPad::kSameUpper : AutoPad::kSameLower;
    w.pads.clear();
    return MakePool(x, pool).value();
  }
  if (mode != 0 && mode != 1) return Unimplemented("pad_mode ", mode);
  w.ceil_mode = mode == 0;
  CheckPool(a, x, w);
  // No window is dropped here, but one that sees nothing of the image means nothing either; a mean
  // counts all of what was added, or none.
  bool inside = true, beyond = false;
  for (size_t i = 0; i < kSpatial; ++i) {
    const Dim dim = DimAt(x, w.axis(i));
    inside = inside && LastBeginsInside(w, i, dim);
    beyond = beyond || (dim.is_static() ? LastOf(w, i, dim.value(), false).beyond > w.pad_end(i)
                                        : w.strides[i] > 1);
  }
  a.Require(!w.ceil_mode || inside, "a pool whose last window stands behind the image");
  a.Require(!mean || !count || !w.ceil_mode || !beyond, "a mean that counts what rounding up adds");
  return PoolByEnds(a, x, pool).value();
}

// Means of the planes, and how far numbers are from them.
Value* StatisticsPooling(NcnnArgs& a) {
  const bool deviation = a.Flag(0, false);
  // Blobs of one or two axes have one plane.
  const Expr x = a.RankOf() < 4 ? Unsqueeze(FlattenedRows(a.in(0)), {1}) : a.in(0);
  const std::vector<int64_t> axes = CountedFrom(2, x.rank() - 2);
  const Expr mean = Reduce(x, "reduce_mean", axes, true);
  const auto flat = [&](const Expr& y) { return Squeeze(y, axes); };
  if (!deviation) return flat(mean);
  return Concat(a, {flat(mean), flat(Sqrt(Reduce(Square(x - mean), "reduce_mean", axes, true)))},
                1);
}

// --- Norms ---------------------------------------------------------------------------------------

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
Value* SoftmaxLayer(NcnnArgs& a) {
  a.Drop({1});  // whether axes are counted as today
  return a.Op("softmax", {a.in(0)}, {{"axis", a.AxisOf(a.Int(0, 0))}});
}

}  // namespace

X2IR_NCNN(conv)
    .From("Convolution", Convolution<2, false>)
    .From("Convolution1D", Convolution<1, false>)
    .From("Convolution3D", Convolution<3, false>)
    .From("ConvolutionDepthWise", Convolution<2, true>)
    .From("ConvolutionDepthWise1D", Convolution<1, true>)
    .From("ConvolutionDepthWise3D", Convolution<3, true>);
X2IR_NCNN(conv_transpose)
    .From("Deconvolution", Deconvolution<2, false>)
    .From("Deconvolution1D", Deconvolution<1, false>)
    .From("Deconvolution3D", Deconvolution<3, false>)
    .From("DeconvolutionDepthWise", Deconvolution<2, true>)
    .From("DeconvolutionDepthWise1D", Deconvolution<1, true>)
    .From("DeconvolutionDepthWise3D", Deconvolution<3, true>);
X2IR_NCNN(gemm).From("InnerProduct", InnerProduct);
X2IR_NCNN(gather).From("Embed", Embed);
X2IR_NCNN(max_pool)
    .From("Pooling", PoolLayer<2>)
    .From("Pooling1D", PoolLayer<1>)
    .From("Pooling3D", PoolLayer<3>);
X2IR_NCNN(reduce_mean).From("StatisticsPooling", StatisticsPooling);
X2IR_NCNN(lrn).From("LRN", Lrn);
X2IR_NCNN(sub).From("MVN", Mvn);
X2IR_NCNN(div).From("Normalize", Normalize);
X2IR_NCNN(instance_normalization).From("InstanceNorm", InstanceNorm);
X2IR_NCNN(group_normalization).From("GroupNorm", GroupNorm);
X2IR_NCNN(layer_normalization)
    .From("LayerNorm", [](NcnnArgs& a) { return OverLast(a, true); })
    .From("RMSNorm", [](NcnnArgs& a) { return OverLast(a, false); });
X2IR_NCNN(softmax).From("Softmax", SoftmaxLayer);

}  // namespace x2ir
