// Caffe: layers with weights, norms and softmax.
#include "x2ir/handlers/nnvm/layers.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

// One number for all spatial axes, one for each, or (of images) one for height and one for width.
std::vector<int64_t> PerAxis(CaffeArgs& a, std::string_view field, std::string_view suffix_of,
                             size_t spatial, int64_t fallback) {
  std::vector<int64_t> numbers = a.Ints(field);
  const std::string h = StrCat(suffix_of, "_h"), w = StrCat(suffix_of, "_w");
  if (a.Has(h) || a.Has(w)) {
    if (spatial != 2 || !numbers.empty()) {
      a.Fail(Invalid(h, " and ", w, " of ", spatial, " spatial axes, or beside ", field));
    }
    return {a.Int(h, fallback), a.Int(w, fallback)};
  }
  if (numbers.size() > 1 && numbers.size() != spatial) {
    a.Fail(Invalid(field, " has ", numbers.size(), " numbers for ", spatial, " axes"));
  }
  if (numbers.size() <= 1) numbers.assign(spatial, numbers.empty() ? fallback : numbers[0]);
  return numbers;
}

Window TakeCaffeWindow(CaffeArgs& a, size_t spatial) {
  Window w;
  w.kernel = PerAxis(a, "kernel_size", "kernel", spatial, 0);
  w.strides = PerAxis(a, "stride", "stride", spatial, 1);
  w.dilations = PerAxis(a, "dilation", "dilation", spatial, 1);
  w.pads = BothEnds(PerAxis(a, "pad", "pad", spatial, 0));
  CheckWindow(a, w);
  return w;
}

// With the channels on another axis than 1 those before them are all of the batch.
struct Convolved {
  int64_t axis = 1;
  Expr x = nullptr;
  Window window;
  Expr weights = nullptr;
  Value* bias = nullptr;
  int64_t group = 1;
};
// `by_channel`: each channel is convolved alone, whatever the group says.
Convolved ConvolutionOf(CaffeArgs& a, bool by_channel) {
  Convolved c;
  a.Drop({"force_nd_im2col", "num_output"});
  c.axis = a.AxisOf(a.Int("axis", 1));
  c.x = a.in(0);
  if (c.axis == 0) c.x = Unsqueeze(c.x, {0});
  if (c.axis > 1) c.x = FlattenFront(c.x, c.axis);
  const int64_t rank = c.x.rank();
  const auto spatial = static_cast<size_t>(std::max<int64_t>(rank - 2, 0));
  c.weights = a.blob(0, rank);
  const Dim out = DimAt(c.weights, 0);
  c.group = a.Int("group", 1);
  if (by_channel && !a.Has("group")) c.group = out.is_static() ? out.value() : 1;
  if (c.group < 1) a.Fail(Invalid("a group of ", c.group));
  if (a.Bool("bias_term", true)) c.bias = a.blob(1, 1);
  c.window = TakeCaffeWindow(a, spatial);
  const auto sizes = KnownSizes(c.weights, 2, rank);
  if (sizes && *sizes != c.window.kernel) {
    a.Fail(Invalid("weights of another window than kernel_size says"));
  }
  return c;
}
// The axes before the channels as they were.
Value* WithFront(CaffeArgs& a, const Convolved& c, const Expr& y) {
  if (c.axis == 0) return Squeeze(y, {0});
  if (c.axis == 1) return y;
  std::vector<Size> sizes = SizesAt(a.in(0), 0, c.axis), rest = SizesAt(y, 1, y.rank());
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return ReshapeTo(y, sizes);
}
Value* Convolution(CaffeArgs& a) {
  const Convolved c = ConvolutionOf(a, false);
  return WithFront(a, c, Convolve(a, c.x, c.weights, c.bias, c.window, c.group));
}
Value* DepthwiseConvolution(CaffeArgs& a) {
  const Convolved c = ConvolutionOf(a, true);
  return WithFront(a, c, Convolve(a, c.x, c.weights, c.bias, c.window, c.group));
}
Value* Deconvolution(CaffeArgs& a) {
  const Convolved c = ConvolutionOf(a, false);
  return WithFront(a, c, MakeConvTranspose(c.x, c.weights, c.bias, c.window, c.group));
}
// The windows of a convolution as channels: [batch, channels * window, ...].
absl::StatusOr<Value*> Im2col(CaffeArgs& a) {
  const int64_t rank = a.RankOf();
  a.Drop({"num_output", "group", "bias_term", "force_nd_im2col"});
  if (a.AxisOf(a.Int("axis", 1)) != 1) return Unimplemented("channels on another axis than 1");
  const auto spatial = static_cast<size_t>(std::max<int64_t>(rank - 2, 0));
  const Window w = TakeCaffeWindow(a, spatial);
  const Dim channels = DimAt(a.in(0), 1);
  a.Require(channels.is_static(), "windows of an unknown number of channels");
  const auto window = CheckedProduct(w.kernel);
  if (!window || *window > 4096 || channels.value() > 65536) {
    return Unimplemented("windows of this size");
  }
  // Each place of the window is a convolution of its own with a single 1.
  std::vector<double> ones(static_cast<size_t>(*window * *window), 0);
  for (int64_t i = 0; i < *window; ++i) ones[static_cast<size_t>(i * *window + i)] = 1;
  std::vector<int64_t> dims = {*window, 1};
  dims.insert(dims.end(), w.kernel.begin(), w.kernel.end());
  std::vector<int64_t> repeats(dims.size(), 1);
  repeats[0] = channels.value();
  const Expr weights = NumbersAs(a, a.dtype(), dims, ones).Op("tile", {a.b().Ints(repeats)});
  return Convolve(a, a.in(0), weights, nullptr, w, channels.value()).value();
}

Value* InnerProduct(CaffeArgs& a) {
  const int64_t axis = a.AxisOf(a.Int("axis", 1));
  const bool transposed = a.Bool("transpose", false);
  a.Drop({"num_output"});
  const Expr weights = a.blob(0, 2);
  Value* const bias = a.Bool("bias_term", true) ? a.blob(1, 1).value() : nullptr;
  return DenseFrom(a.in(0), axis, weights, bias, transposed);
}
Value* Embed(CaffeArgs& a) {
  a.Drop({"num_output", "input_dim"});
  const Expr y = Gather(a.blob(0, 2), a.AsInt64(a.in(0)), 0);
  return a.Bool("bias_term", true) ? y + a.blob(1, 1) : y;
}

absl::StatusOr<Value*> BatchNorm(CaffeArgs& a) {
  const Expr x = a.in(0);
  const bool global = a.Bool("use_global_stats", true);
  const float epsilon = a.Float("eps", 1e-5f);
  a.Drop({"moving_average_fraction"});
  const int64_t rank = a.RankOf();
  if (!global) {
    // By the batch itself, as the definition asks.
    std::vector<int64_t> axes = CountedFrom(2, std::max<int64_t>(rank - 2, 0));
    axes.insert(axes.begin(), 0);
    return Standardized(x, axes, epsilon).value();
  }
  a.Require(a.num_blobs() == 2 || a.num_blobs() == 3,
            "a norm that scales and shifts as well (a layer of another branch)");
  Expr mean = a.blob(0, 1), variance = a.blob(1, 1);
  if (a.num_blobs() == 3) {
    // The sums are divided by how much they weigh; 0: there are none.
    const Tensor* factor = a.blob(2)->fixed_constant();
    a.Require(factor != nullptr, "a factor that is no constant");
    if (factor->num_elements() != 1) return Invalid("a factor of ", factor->num_elements());
    const double sum = factor->AsDouble(0);
    mean = Scaled(mean, sum == 0 ? 0 : 1 / sum);
    variance = Scaled(variance, sum == 0 ? 0 : 1 / sum);
  }
  if (rank < 2) return Invalid("a norm of an operand without channels");
  return BatchNormalize(a, x, nullptr, nullptr, mean, variance, 1, epsilon).value();
}

// Of other branches: PSPNet's has slope, bias, mean and variance, SegNet's a scale and a shift that
// have the statistics in them.
absl::StatusOr<Value*> BranchNorm(CaffeArgs& a) {
  const double epsilon = a.Float("eps", 1e-5f);
  const std::string mode = a.Text("bn_mode", "LEARN");
  a.Drop({"momentum", "frozen"});
  const auto list = [&](size_t i) { return Reshape(a.blob(i), {-1}); };
  if (a.num_blobs() == 4) {
    return BatchNormalize(a, a.in(0), list(0), list(1), list(2), list(3), 1, epsilon).value();
  }
  a.Require(a.num_blobs() == 2 && mode == "INFERENCE",
            "a norm by the batch (bn_mode: LEARN), or of other weights than PSPNet's and SegNet's");
  const int64_t rank = a.RankOf();
  return (a.in(0) * AlongChannels(a.blob(0), rank) + AlongChannels(a.blob(1), rank)).value();
}

absl::StatusOr<Value*> Lrn(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t size = a.Int("local_size", 5);
  const float alpha = a.Float("alpha", 1), beta = a.Float("beta", 0.75f), k = a.Float("k", 1);
  if (size < 1 || size % 2 == 0) return Invalid("a norm over ", size, " neighbours");
  if (a.Text("norm_region", "ACROSS_CHANNELS") == "ACROSS_CHANNELS") {
    return LocalResponseNorm(x, size, alpha, beta, k).value();
  }
  // k has no meaning there.
  return LocalResponseNormWithin(x, size, alpha, beta, 1).value();
}

Value* Mvn(CaffeArgs& a) {
  const Expr x = a.in(0);
  const bool across = a.Bool("across_channels", false);
  const double epsilon = a.Float("eps", 1e-9f);
  const int64_t first = across ? 1 : 2, rank = a.RankOf();
  const std::vector<int64_t> axes = CountedFrom(first, std::max<int64_t>(rank - first, 0));
  if (axes.empty()) a.Fail(Invalid("a norm of an operand of ", rank, " axes"));
  return MeanVarianceNorm(x, axes, a.Bool("normalize_variance", true), epsilon);
}

// SSD's: over all of an image, or over the channels of each pixel.
Value* Normalize(CaffeArgs& a) {
  const Expr x = a.in(0);
  const bool across = a.Bool("across_spatial", true), shared = a.Bool("channel_shared", true);
  const double epsilon = a.Float("eps", 1e-10f);
  a.Require(a.RankOf() == 4, "a norm of what is no image");
  const Expr y = L2Normalized(x, across ? CountedFrom(1, 3) : CountedFrom(1, 1), epsilon);
  const Expr scale = Reshape(a.blob(0), {-1});
  return y * (shared ? scale : Reshape(scale, {1, -1, 1, 1}));
}

Value* SoftmaxAlong(CaffeArgs& a) {
  return a.Op("softmax", {a.in(0)}, {{"axis", a.AxisOf(a.Int("axis", 1))}});
}

}  // namespace

X2IR_CAFFE(conv)
    .From("Convolution", "convolution_param", Convolution)
    .From("DepthwiseConvolution", "convolution_param", DepthwiseConvolution)
    .From("ConvolutionDepthwise", "convolution_param", DepthwiseConvolution)
    .From("Im2col", "convolution_param", Im2col);
X2IR_CAFFE(conv_transpose).From("Deconvolution", "convolution_param", Deconvolution);
X2IR_CAFFE(gemm).From("InnerProduct", "inner_product_param", InnerProduct);
X2IR_CAFFE(gather).From("Embed", "embed_param", Embed);
X2IR_CAFFE(batch_normalization)
    .From("BatchNorm", "batch_norm_param", BatchNorm)
    .From("BN", "bn_param", BranchNorm);
X2IR_CAFFE(lrn).From("LRN", "lrn_param", Lrn);
X2IR_CAFFE(sub).From("MVN", "mvn_param", Mvn);
X2IR_CAFFE(div).From("Normalize", "norm_param", Normalize);
X2IR_CAFFE(softmax).From("Softmax", "softmax_param", SoftmaxAlong);

}  // namespace x2ir
