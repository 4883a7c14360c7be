// Caffe: convolutions.
#include <algorithm>

#include "x2ir/handlers/caffe/caffe.h"
#include "x2ir/handlers/nnvm/layers.h"

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
  if (numbers.empty()) numbers.push_back(fallback);
  if (numbers.size() == 1) numbers.resize(spatial, numbers[0]);
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

}  // namespace

X2IR_CAFFE(conv)
    .From("Convolution", "convolution_param", Convolution)
    .From("DepthwiseConvolution", "convolution_param", DepthwiseConvolution)
    .From("ConvolutionDepthwise", "convolution_param", DepthwiseConvolution)
    .From("Im2col", "convolution_param", Im2col);
X2IR_CAFFE(conv_transpose).From("Deconvolution", "convolution_param", Deconvolution);

}  // namespace x2ir
