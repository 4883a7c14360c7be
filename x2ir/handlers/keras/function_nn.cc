// Functions in models of Keras: activations, convolutions, pools, images.
#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/conv.h"
#include "x2ir/handlers/keras/functions.h"
#include "x2ir/handlers/keras/images.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// --- Activations ---------------------------------------------------------------------------------

Value* FunctionSilu(KerasCall& c) {
  const Expr x = c.Floats("x");
  return x * Scaled(x, c.Number("beta", 1)).Op("sigmoid");
}
// TensorFlow's is exact where nothing is said, that of Keras 3 is not.
Value* FunctionGelu(KerasCall& c) {
  const bool approximate = c.Flag("approximate", c.promotes());
  return c.Floats("x").Op("gelu", {}, {{"approximate", approximate ? "tanh" : "none"}});
}
Value* FunctionLeaky(KerasCall& c) {
  const auto slope = static_cast<float>(c.Number("negative_slope", 0.2));
  return activation::LeakyRelu(c.Floats("x"), slope);
}
Value* FunctionElu(KerasCall& c) {
  return c.Floats("x").Op("elu", {}, {{"alpha", static_cast<float>(c.Number("alpha", 1))}});
}
Value* FunctionCelu(KerasCall& c) {
  return c.Floats("x").Op("celu", {}, {{"alpha", static_cast<float>(c.Number("alpha", 1))}});
}
Value* FunctionLogSigmoid(KerasCall& c) { return LogSigmoid(c.Floats("x")); }
Value* FunctionHardSigmoid(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Clip(x / 6.0 + 0.5, x.Number(0), x.Number(1));
}
Value* FunctionHardSilu(KerasCall& c) {
  const Expr x = c.Floats("x");
  return x * Clip(x / 6.0 + 0.5, x.Number(0), x.Number(1));
}
Value* FunctionHardTanh(KerasCall& c) { return activation::HardTanh(c.Floats("x")); }
Value* FunctionTanhShrink(KerasCall& c) { return activation::TanhShrink(c.Floats("x")); }
Value* FunctionHardShrink(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Where(Abs(x) > c.Number("threshold", 0.5), x, 0.0);
}
Value* FunctionSoftShrink(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Sign(x) * Max(Abs(x) - c.Number("threshold", 0.5), 0.0);
}
Value* FunctionThreshold(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Where(x > c.Number("threshold", 0), x, c.Number("default_value", 0));
}
Value* FunctionSquareplus(KerasCall& c) {
  const Expr x = c.Floats("x");
  return (x + Sqrt(Square(x) + c.Number("b", 4))) / 2.0;
}
Value* FunctionSparseSigmoid(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Clip((x + 1.0) * 0.5, x.Number(0), x.Number(1));
}
Value* FunctionSparsePlus(KerasCall& c) {
  const Expr x = c.Floats("x");
  return Where(x <= -1.0, x.Number(0), Where(x < 1.0, Square(x + 1.0) / 4.0, x));
}
Value* FunctionGlu(KerasCall& c) {
  const Expr x = c.Floats("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", -1), x.rank());
  const Values halves = c.b().Ops("split", {x}, {{"axis", axis}}, 2);
  return Expr(c, halves[0]) * Expr(c, halves[1]).Op("sigmoid");
}
Value* FunctionCrelu(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return Concat(c, {x, -x}, c.Integer("axis", -1)).Op("relu");
}

// --- Normalizations ------------------------------------------------------------------------------

Expr BatchNormalized(KerasCall& c, const Expr& x, const std::function<Expr(const char*)>& of,
                     double epsilon) {
  Expr factor = 1.0 / Sqrt(of("variance") + epsilon);
  if (c.Given("scale")) factor = factor * of("scale");
  const Expr shift = -(of("mean") * factor);
  return x * factor + (c.Given("offset") ? of("offset") + shift : shift);
}
Value* FunctionBatchNormalization(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return BatchNormalized(
      c, x, [&](const char* name) { return c.Tensor(name, x.dtype()); },
      c.Number("variance_epsilon", 0));
}
// Keras 3: numbers along one axis.
Value* FunctionBatchNorm(KerasCall& c) {
  const Expr x = c.Floats("x");
  const int64_t axis = c.AxisOf(c.Integer("axis", -1), x.rank());
  return BatchNormalized(
      c, x,
      [&](const char* name) { return AlongAxis(c.Tensor(name, x.dtype()), axis, x.rank(), name); },
      c.Number("epsilon", 1e-3));
}

// --- Windows -------------------------------------------------------------------------------------

// The layout that TensorFlow's names say: channels last where they say nothing.
std::string LayoutText(KerasCall& c, size_t spatial) {
  return c.Text("data_format", spatial == 3 ? "NDHWC" : "NHWC");
}

// One number for all axes of the image, one for each, or one for each axis of the tensor.
std::vector<int64_t> WindowList(KerasCall& c, std::string_view name, size_t spatial,
                                const std::string& layout) {
  std::vector<int64_t> list = c.Integers(name).value_or(std::vector<int64_t>{1});
  if (list.size() == 1) list.resize(spatial, list[0]);
  if (list.size() == spatial) {
    const bool first = layout.starts_with("NC");
    list.insert(list.begin(), first ? 2 : 1, 1);
    if (!first) list.push_back(1);
  }
  if (list.size() != spatial + 2) c.Fail(Invalid("argument '", name, "'"));
  return list;
}

AttributeMap WindowArguments(KerasCall& c, size_t spatial, bool dilates) {
  const std::string layout = LayoutText(c, spatial);
  AttributeMap attrs = {{"data_format", layout}};
  attrs.Set("strides", WindowList(c, "strides", spatial, layout));
  if (dilates) attrs.Set("dilations", WindowList(c, "dilations", spatial, layout));
  const Json& padding = c.Arg("padding");
  if (!padding.is_array()) {
    std::string text = padding.text();
    for (char& letter : text) letter = static_cast<char>(std::toupper(letter));
    attrs.Set("padding", text);
    return attrs;
  }
  attrs.Set("padding", "EXPLICIT");
  Attribute::Ints pads;
  for (const Json& pair : padding.items()) {
    for (const Json& item : pair.items()) pads.push_back(item.Int(-1));
  }
  attrs.Set("explicit_paddings", std::move(pads));
  return attrs;
}

Value* FunctionConv2d(KerasCall& c) {
  c.Arg("use_cudnn_on_gpu");
  const Expr x = c.Tensor("x");
  return c.AsTf("Conv2D", {x, c.Tensor("filters", x.dtype())}, WindowArguments(c, 2, true));
}
Value* FunctionConv3d(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return c.AsTf("Conv3D", {x, c.Tensor("filters", x.dtype())}, WindowArguments(c, 3, true));
}
Value* FunctionDepthwise(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return c.AsTf("DepthwiseConv2dNative", {x, c.Tensor("filters", x.dtype())},
                WindowArguments(c, 2, true));
}
Value* FunctionSeparable(KerasCall& c) {
  const Expr x = c.Tensor("x");
  AttributeMap attrs = WindowArguments(c, 2, true);
  const Expr y = c.AsTf("DepthwiseConv2dNative", {x, c.Tensor("depthwise", x.dtype())}, attrs);
  return c.AsTf("Conv2D", {y, c.Tensor("pointwise", x.dtype())},
                {{"data_format", LayoutText(c, 2)},
                 {"strides", Attribute::Ints{1, 1, 1, 1}},
                 {"padding", "VALID"}});
}
Value* FunctionConv2dTranspose(KerasCall& c) {
  const Expr x = c.Tensor("x");
  return c.AsTf("Conv2DBackpropInput", {c.Sizes("output_shape"), c.Tensor("filters", x.dtype()), x},
                WindowArguments(c, 2, true));
}

template <bool kAverage, size_t kSpatial>
Value* FunctionPool(KerasCall& c) {
  const Expr x = c.Tensor("x");
  if (x.rank() != kSpatial + 2) c.Fail(Unimplemented("a pool of a tensor of rank ", x.rank()));
  AttributeMap attrs = WindowArguments(c, kSpatial, false);
  attrs.Set("ksize", WindowList(c, "ksize", kSpatial, LayoutText(c, kSpatial)));
  const std::string_view op = kAverage ? (kSpatial == 2 ? "AvgPool" : "AvgPool3D")
                                       : (kSpatial == 2 ? "MaxPool" : "MaxPool3D");
  return c.AsTf(op, {x}, attrs);
}

// Operations of Keras 3 are of as many axes as x has.
Window WindowOf(KerasCall& c, const Expr& x, std::vector<int64_t> kernel) {
  const auto spatial = static_cast<size_t>(std::max<int64_t>(x.rank() - 2, 1));
  const auto list = [&](std::string_view name) {
    std::vector<int64_t> all = c.Integers(name).value_or(std::vector<int64_t>{1});
    if (all.size() == 1) all.resize(spatial, all[0]);
    const bool good = std::ranges::all_of(all, [](int64_t n) { return n > 0 && n <= (1 << 24); });
    if (all.size() != spatial || !good) c.Fail(Invalid("argument '", name, "'"));
    return all;
  };
  Window window;
  window.kernel = std::move(kernel);
  if (window.kernel.empty()) window.kernel = list("pool_size");
  window.strides = c.Given("strides") ? list("strides") : std::vector<int64_t>(spatial, 1);
  window.dilations = list("dilation_rate");
  const std::string padding = c.Text("padding", "valid"),
                    layout = c.Text("data_format", "channels_last");
  if (layout != "channels_last" && layout != "channels_first") c.Fail(Invalid("'", layout, "'"));
  window.channels_last = layout == "channels_last";
  if (window.kernel.size() != spatial) c.Fail(Invalid("a window of another rank"));
  SetPadding(c, padding, &window);
  return window;
}
std::vector<int64_t> KernelSizes(KerasCall& c, const Expr& kernel) {
  auto sizes = KnownSizes(kernel);
  c.Require(sizes && sizes->size() > 2, "a kernel of unknown size");
  sizes->resize(sizes->size() - 2);
  return *std::move(sizes);
}
Expr Convolved(KerasCall& c, const Expr& x, const Expr& kernel, const Window& window) {
  const Dim of_x = DimAt(x, window.channels_last ? x.rank() - 1 : 1),
            of_kernel = DimAt(kernel, kernel.rank() - 2);
  c.Require(of_x.is_static() && of_kernel.is_static() && of_kernel.value() > 0,
            "channels of a number that is not known");
  if (of_x.value() % of_kernel.value() != 0) c.Fail(Invalid("a kernel for other channels"));
  return ConvolveKeras(c, x, kernel, window, of_x.value() / of_kernel.value());
}

// Of as many axes as x has, where TensorFlow says so.
Value* FunctionConvolution(KerasCall& c) {
  const Expr x = c.Tensor("x"), kernel = c.Tensor("filters", x.dtype());
  Window window;
  window.kernel = KernelSizes(c, kernel);
  const std::string layout = c.Text("data_format", "N...C");
  window.channels_last = !layout.starts_with("NC");
  std::string padding = c.Text("padding", "VALID");
  for (char& letter : padding) letter = static_cast<char>(std::tolower(letter));
  for (const auto& [name, list] :
       {std::pair("strides", &window.strides), std::pair("dilations", &window.dilations)}) {
    *list = c.Integers(name).value_or(std::vector<int64_t>{1});
    if (list->size() == 1) list->resize(window.kernel.size(), (*list)[0]);
    const bool good = std::ranges::all_of(*list, [](int64_t n) { return n > 0 && n <= (1 << 24); });
    if (list->size() != window.kernel.size() || !good) c.Fail(Invalid("argument '", name, "'"));
  }
  c.Require(padding != "causal", "causal padding");
  SetPadding(c, padding, &window);
  return Convolved(c, x, kernel, window);
}

Value* FunctionConv(KerasCall& c) {
  const Expr x = c.Floats("x"), kernel = c.Tensor("kernel", x.dtype());
  return Convolved(c, x, kernel, WindowOf(c, x, KernelSizes(c, kernel)));
}
Value* FunctionDepthwiseConv(KerasCall& c) {
  const Expr x = c.Floats("x"), kernel = c.Tensor("kernel", x.dtype());
  return DepthwiseKeras(c, x, kernel, WindowOf(c, x, KernelSizes(c, kernel)));
}
Value* FunctionSeparableConv(KerasCall& c) {
  const Expr x = c.Floats("x"), kernel = c.Tensor("depthwise", x.dtype()),
             point = c.Tensor("pointwise", x.dtype());
  const Window window = WindowOf(c, x, KernelSizes(c, kernel));
  Window one = window;
  one.kernel = one.strides = one.dilations = std::vector<int64_t>(window.kernel.size(), 1);
  one.pads.assign(one.pads.size(), 0);
  return Convolved(c, DepthwiseKeras(c, x, kernel, window), point, one);
}

template <bool kAverage>
Value* FunctionPoolOf(KerasCall& c) {
  const Expr x = c.Tensor("x");
  Window window = WindowOf(c, x, {});
  if (!c.Given("strides")) window.strides = window.kernel;
  window.dilations.clear();
  return MakePool(x, {window, kAverage ? PoolKind::kAverage : PoolKind::kMax});
}

template <bool kAverage>
Value* FunctionAdaptivePool(KerasCall& c) {
  const bool last = c.Text("data_format", "channels_last") != "channels_first";
  return AdaptivePool(c, c.Tensor("x"), c.Integers("output_size").value_or(std::vector<int64_t>()),
                      last, kAverage);
}

// --- Images --------------------------------------------------------------------------------------

// One image as a batch of one.
template <typename Fn>
Expr OnBatch(KerasCall& c, const Expr& x, const Fn& fn) {
  if (x.rank() != 3 && x.rank() != 4) c.Fail(Invalid("images of rank ", x.rank()));
  return x.rank() == 4 ? Expr(fn(x)) : Squeeze(fn(Unsqueeze(x, {0})), {0});
}

Value* FunctionResize(KerasCall& c) {
  c.Require(!c.Flag("preserve_aspect_ratio"), "an aspect ratio that is kept");
  const bool antialias = c.Flag("antialias");
  const Expr sizes = c.Sizes("size");
  const std::string how = c.Text("method", "bilinear");
  return OnBatch(c, c.Tensor("x"),
                 [&](const Expr& x) { return ResizedImages(c, x, sizes, how, antialias); });
}

// As it was before TensorFlow 2: the first pixels are where they were.
Value* FunctionOldResize(KerasCall& c) {
  c.Require(!c.Flag("preserve_aspect_ratio"), "an aspect ratio that is kept");
  const Expr sizes = c.Sizes("size");
  static constexpr std::string_view kNames[] = {"bilinear", "nearest", "bicubic", "area"};
  static constexpr std::string_view kOps[] = {"ResizeBilinear", "ResizeNearestNeighbor",
                                              "ResizeBicubic", "ResizeArea"};
  size_t at = 0;
  if (c.Arg("method").is_string()) {
    const std::string name = c.Text("method");
    at = static_cast<size_t>(std::ranges::find(kNames, name) - std::begin(kNames));
  } else {
    at = static_cast<size_t>(c.Integer("method", 0));
  }
  c.Require(at < std::size(kNames), "this method of resizing");
  const AttributeMap attrs = {{"align_corners", c.Flag("align_corners")}};
  return OnBatch(c, c.Tensor("x"), [&](const Expr& x) {
    return c.AsTf(kOps[at], {x, sizes}, attrs);
  });
}

// Keras 3's, of either layout.
Value* FunctionResizeOf(KerasCall& c) {
  const KerasFit fit = c.Flag("crop_to_aspect_ratio")  ? KerasFit::kCrop
                       : c.Flag("pad_to_aspect_ratio") ? KerasFit::kPad
                                                       : KerasFit::kStretch;
  const double fill = c.Number("fill_value", 0);
  const std::string mode = c.Text("fill_mode", "constant");
  c.Require(fit != KerasFit::kPad || mode == "constant", StrCat("fill_mode '", mode, "'"));
  const bool antialias = c.Flag("antialias");
  const bool last = c.Text("data_format", "channels_last") != "channels_first";
  const auto sizes = c.Integers("size");
  if (!sizes || sizes->size() != 2 || (*sizes)[0] < 1 || (*sizes)[1] < 1) {
    c.Fail(Invalid("its size"));
  }
  const std::string how = c.Text("interpolation", "bilinear");
  const Expr x = c.Tensor("x");
  c.Require(IsFloating(x.dtype()) || how == "nearest", "images of integers");
  return OnBatch(c, x, [&](const Expr& batch) {
    const Expr y = FittedImages(c, last ? batch : Transpose(batch, {0, 2, 3, 1}), (*sizes)[0],
                                (*sizes)[1], how, antialias, fit, fill);
    return last ? y : Transpose(y, {0, 3, 1, 2});
  });
}

// By the weights of ITU-R BT.601.
Value* FunctionGrayscale(KerasCall& c) {
  const Expr x = c.Tensor("x");
  c.Require(IsFloating(x.dtype()), "images of integers");
  const bool last = c.Text("data_format", "channels_last") != "channels_first";
  const int64_t axis = last ? x.rank() - 1 : x.rank() - 3;
  const Expr weights = NumbersAs(c, x.dtype(), {3}, {0.2989, 0.5870, 0.1140});
  return Sum(x * AlongAxis(weights, axis, x.rank()), axis, true);
}

// To mean 0 and deviation 1; of an image that is nearly even, by that of noise.
Value* FunctionStandardized(KerasCall& c) {
  const Expr x = c.Tensor("image").To(DType::kFloat32);
  const int64_t rank = x.rank();
  if (rank < 3) c.Fail(Invalid("images of rank ", rank));
  const std::vector<int64_t> axes = {rank - 3, rank - 2, rank - 1};
  const Expr d = x - Reduce(x, "reduce_mean", axes, true);
  const Expr deviation = Sqrt(Reduce(Square(d), "reduce_mean", axes, true));
  const Expr least = 1.0 / Sqrt(CountOf(x, axes).To(DType::kFloat32));
  return d / Max(deviation, least);
}

Value* FunctionCropToBox(KerasCall& c) {
  const Expr x = c.Tensor("image");
  if (x.rank() != 3 && x.rank() != 4) c.Fail(Invalid("images of rank ", x.rank()));
  const int64_t top = c.Integer("offset_height", -1), left = c.Integer("offset_width", -1),
                height = c.Integer("target_height", 0), width = c.Integer("target_width", 0);
  constexpr int64_t kLimit = int64_t{1} << 40;
  if (top < 0 || left < 0 || height < 1 || width < 1 || top > kLimit || left > kLimit ||
      height > kLimit || width > kLimit) {
    c.Fail(Invalid("a box of ", height, " by ", width));
  }
  const Expr rows = Slice(x, x.rank() - 3, Size(top), Size(top + height));
  return Slice(rows, x.rank() - 2, Size(left), Size(left + width));
}

// --- Attention -----------------------------------------------------------------------------------

// Of [batch, time, heads, size].
Value* FunctionAttention(KerasCall& c) {
  c.Arg("flash_attention");
  c.Require(!c.Given("bias") && !c.Given("attn_logits_soft_cap"), "a bias");
  const std::vector<Expr> of = c.Matched({"query", "key", "value"});
  for (const Expr& x : of) {
    if (x.rank() != 4) c.Fail(Invalid("an operand of rank ", x.rank()));
  }
  c.Require(DimAt(of[0], 2) == DimAt(of[1], 2) && DimAt(of[1], 2) == DimAt(of[2], 2),
            "queries of more heads than keys");
  const Dim size = DimAt(of[0], 3);
  c.Require(size.is_static() && size.value() > 0, "a head whose size is not known");
  const double scale =
      c.Given("scale") ? c.Number("scale", 1) : 1 / std::sqrt(static_cast<double>(size.value()));
  const Expr q = Transpose(of[0], {0, 2, 1, 3}), k = Transpose(of[1], {0, 2, 3, 1}),
             v = Transpose(of[2], {0, 2, 1, 3});
  Expr scores = MatMul(q * scale, k);
  const Expr closed = FiniteExtreme(c, scores.dtype(), false) * 0.7;
  if (c.Given("mask")) {
    scores = Where(c.Tensor("mask").To(DType::kBool), scores, closed);
  }
  if (c.Flag("is_causal")) {
    const Expr from = Iota(SizeOf(scores, 2)), to = Iota(SizeOf(scores, 3));
    scores = Where(Unsqueeze(from, {1}) >= to, scores, closed);
  }
  const Expr y = MatMul(scores.Op("softmax", {}, {{"axis", -1}}), v);
  return Transpose(y, {0, 2, 1, 3});
}

constexpr char kPool[] = "x|input|value ksize strides padding data_format";
constexpr char kPoolOf[] = "x|inputs pool_size strides padding data_format dilation_rate";
constexpr char kConv[] =
    "x|input filters|filter strides padding data_format dilations|rate use_cudnn_on_gpu";
constexpr char kConvOf[] = "x|inputs kernel strides padding data_format dilation_rate";

}  // namespace

X2IR_KERAS_FUNCTION(sigmoid)
    .From("tf.nn.silu tf.nn.swish ops.Silu", "x|features beta", FunctionSilu)
    .From("ops.Glu", "x axis", FunctionGlu);
X2IR_KERAS_FUNCTION(gelu).From("tf.nn.gelu ops.Gelu", "x|features approximate", FunctionGelu);
X2IR_KERAS_FUNCTION(leaky_relu).From("ops.LeakyRelu", "x negative_slope", FunctionLeaky);
X2IR_KERAS_FUNCTION(elu).From("ops.Elu", "x alpha", FunctionElu);
X2IR_KERAS_FUNCTION(celu).From("ops.Celu", "x alpha", FunctionCelu);
X2IR_KERAS_FUNCTION(log).From("tf.math.log_sigmoid ops.LogSigmoid", "x", FunctionLogSigmoid);
X2IR_KERAS_FUNCTION(hard_sigmoid).From("ops.HardSigmoid", "x", FunctionHardSigmoid);
X2IR_KERAS_FUNCTION(hard_swish).From("ops.HardSilu", "x", FunctionHardSilu);
X2IR_KERAS_FUNCTION(clip)
    .From("ops.HardTanh", "x", FunctionHardTanh)
    .From("ops.SparseSigmoid", "x", FunctionSparseSigmoid);
X2IR_KERAS_FUNCTION(tanh).From("ops.TanhShrink", "x", FunctionTanhShrink);
X2IR_KERAS_FUNCTION(where)
    .From("ops.HardShrink", "x threshold", FunctionHardShrink)
    .From("ops.SoftShrink", "x threshold", FunctionSoftShrink)
    .From("ops.Threshold", "x threshold default_value", FunctionThreshold)
    .From("ops.SparsePlus", "x", FunctionSparsePlus);
X2IR_KERAS_FUNCTION(sqrt).From("ops.Squareplus", "x b", FunctionSquareplus);
X2IR_KERAS_FUNCTION(relu).From("tf.nn.crelu", "x|features axis", FunctionCrelu);
X2IR_KERAS_FUNCTION(batch_normalization)
    .From("tf.nn.batch_normalization", "x mean variance offset scale variance_epsilon",
          FunctionBatchNormalization)
    .From("ops.BatchNorm", "x mean variance offset scale axis epsilon", FunctionBatchNorm);
X2IR_KERAS_FUNCTION(conv)
    .From("tf.nn.conv2d tf.compat.v1.nn.conv2d", kConv, FunctionConv2d)
    .From("tf.nn.conv3d tf.compat.v1.nn.conv3d", kConv, FunctionConv3d)
    .From("tf.nn.depthwise_conv2d tf.compat.v1.nn.depthwise_conv2d", kConv, FunctionDepthwise)
    .From("tf.nn.separable_conv2d tf.compat.v1.nn.separable_conv2d",
          "x|input depthwise|depthwise_filter pointwise|pointwise_filter strides padding "
          "data_format dilations|rate",
          FunctionSeparable)
    .From("tf.nn.convolution tf.compat.v1.nn.convolution tf.nn.conv1d",
          "x|input filters|filter strides|stride padding data_format dilations|dilation_rate",
          FunctionConvolution)
    .From("ops.Conv", kConvOf, FunctionConv)
    .From("ops.DepthwiseConv", kConvOf, FunctionDepthwiseConv)
    .From("ops.SeparableConv",
          "x|inputs depthwise|depthwise_kernel pointwise|pointwise_kernel strides padding "
          "data_format dilation_rate",
          FunctionSeparableConv);
X2IR_KERAS_FUNCTION(conv_transpose)
    .From("tf.nn.conv2d_transpose",
          "x|input filters output_shape strides padding data_format dilations",
          FunctionConv2dTranspose);
X2IR_KERAS_FUNCTION(max_pool)
    .From("tf.nn.max_pool tf.nn.max_pool2d tf.compat.v1.nn.max_pool", kPool, FunctionPool<false, 2>)
    .From("tf.nn.max_pool3d tf.compat.v1.nn.max_pool3d", kPool, FunctionPool<false, 3>)
    .From("ops.MaxPool", kPoolOf, FunctionPoolOf<false>)
    .From("ops.AdaptiveMaxPool", "x|inputs output_size data_format", FunctionAdaptivePool<false>);
X2IR_KERAS_FUNCTION(average_pool)
    .From("tf.nn.avg_pool tf.nn.avg_pool2d tf.compat.v1.nn.avg_pool", kPool, FunctionPool<true, 2>)
    .From("tf.nn.avg_pool3d tf.compat.v1.nn.avg_pool3d", kPool, FunctionPool<true, 3>)
    .From("ops.AveragePool", kPoolOf, FunctionPoolOf<true>)
    .From("ops.AdaptiveAveragePool", "x|inputs output_size data_format",
          FunctionAdaptivePool<true>);
X2IR_KERAS_FUNCTION(resize)
    .From("tf.image.resize", "x|images size method preserve_aspect_ratio antialias", FunctionResize)
    .From("tf.compat.v1.image.resize tf.compat.v1.image.resize_images",
          "x|images size method align_corners preserve_aspect_ratio", FunctionOldResize)
    .From("ops.Resize",
          "x|images size interpolation antialias crop_to_aspect_ratio pad_to_aspect_ratio "
          "fill_mode fill_value data_format",
          FunctionResizeOf);
X2IR_KERAS_FUNCTION(reduce_sum)
    .From("tf.image.rgb_to_grayscale ops.RGBToGrayscale", "x|images data_format",
          FunctionGrayscale);
X2IR_KERAS_FUNCTION(reduce_mean)
    .From("tf.image.per_image_standardization", "image", FunctionStandardized);
X2IR_KERAS_FUNCTION(slice).From("tf.image.crop_to_bounding_box",
                                "image offset_height offset_width target_height target_width",
                                FunctionCropToBox);
X2IR_KERAS_FUNCTION(attention).From(
    "ops.DotProductAttention",
    "query key value bias mask scale is_causal flash_attention attn_logits_soft_cap",
    FunctionAttention);

}  // namespace x2ir
