// Layers of networks on images: convolutions, pools, norms, other sizes. Axes before the last three
// are those of a batch.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/resize.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

// valid, same, or what else the layer has.
void PadAutomatically(NnArgs& a, Window* window) {
  if (a.Given("same")) {
    const std::string mode = a.Enum("same.asymmetryMode", "BOTTOM_RIGHT_HEAVY");
    window->auto_pad = mode == "TOP_LEFT_HEAVY" ? AutoPad::kSameLower : AutoPad::kSameUpper;
    return;
  }
  a.Require(a.Given("valid"), "padding of no kind");
  a.Given("valid.paddingAmounts");
  window->pads = PadsOfPairs(BordersOf(a, "valid.paddingAmounts"));
}

Expr Convolved(NnArgs& a, const Expr& x, Value* weights, Value* bias, const Window& window,
               int64_t groups, bool transposed, const std::vector<int64_t>& sizes) {
  if (transposed) return Deconvolved(a, x, weights, bias, window, groups, sizes);
  return MakeConv(x, weights, bias, window, groups);
}

Expr Convolution(NnArgs& a) {
  const int64_t out = a.Int("outputChannels"), in = a.Int("kernelChannels"),
                groups = a.Int("nGroups", 1);
  const std::vector<int64_t> kernel = a.List("kernelSize", {3, 3});
  Window window;
  window.strides = a.List("stride", {1, 1});
  window.dilations = a.List("dilationFactor", {1, 1});
  a.Require(kernel.size() == 2 && window.strides.size() == 2 && window.dilations.size() == 2,
            "a kernel of other axes");
  PadAutomatically(a, &window);
  const bool transposed = a.Flag("isDeconvolution"), biased = a.Flag("hasBias");
  if (transposed) window.dilations = {1, 1};  // what the layer says of them is not used
  const std::vector<int64_t> sizes = a.List("outputShape");
  a.Require(sizes.empty() || transposed, "a size of a convolution");
  a.Require(out > 0 && in > 0 && groups > 0 && (!transposed || out % groups == 0), "channels");
  Value* weights = nullptr;
  if (a.count() > 1) {
    a.Require(!transposed, "a transposed convolution of computed weights");
    weights = a.X(1);
  } else {
    weights = a.NeedWeights(
        "weights", {transposed ? in : out, transposed ? out / groups : in, kernel[0], kernel[1]});
  }
  Value* bias = biased ? a.NeedWeights("bias", {out}).value() : nullptr;
  return OnImages(a, a.X(), [&](const Expr& x) {
    return Convolved(a, x, weights, bias, window, groups, transposed, sizes);
  });
}

std::string KindOfPool(NnArgs& a) {
  const std::string type = a.Enum("type", "MAX");
  if (type == "MAX") return "max";
  if (type == "AVERAGE") return "average";
  a.Require(type == "L2", StrCat("pools ", type));
  return "l2";
}

Expr OfWhole(const Expr& x, std::string_view kind, const std::vector<int64_t>& axes) {
  return Reduce(x,
                kind == "max"  ? "reduce_max"
                : kind == "l2" ? "reduce_l2"
                               : "reduce_mean",
                axes, true);
}

Expr Pooling(NnArgs& a) {
  const std::string kind = KindOfPool(a);
  const bool whole = a.Flag("globalPooling"), exclude = a.Flag("avgPoolExcludePadding");
  Window window;
  window.kernel = a.List("kernelSize", {3, 3});
  window.strides = a.List("stride", {1, 1});
  a.Require(window.kernel.size() == 2 && window.strides.size() == 2, "a kernel of other axes");
  if (a.Given("includeLastPixel")) {
    const std::vector<int64_t> pads = a.List("includeLastPixel.paddingAmounts", {0, 0});
    a.Require(pads.size() == 2, "pads of other axes");
    window.pads = BothEnds(pads);
    window.ceil_mode = true;
  } else if (!whole || a.Given("same") || a.Given("valid")) {
    PadAutomatically(a, &window);
  }
  if (whole) return OfWhole(a.X(), kind, {-2, -1});
  return OnImages(a, a.X(), [&](const Expr& x) { return Pooled(a, x, kind, window, !exclude); });
}

// --- Of three axes
// --------------------------------------------------------------------------------

std::vector<int64_t> Three(NnArgs& a, std::string_view what, int64_t fallback) {
  std::vector<int64_t> numbers;
  for (const char* axis : {"Depth", "Height", "Width"}) {
    numbers.push_back(a.Int(Symbol(StrCat(what, axis)), fallback));
  }
  return numbers;
}

void PadThree(NnArgs& a, Window* window) {
  const std::string type = a.Enum("paddingType", "CUSTOM");
  std::vector<int64_t> pads;
  for (const char* side : {"Front", "Top", "Left", "Back", "Bottom", "Right"}) {
    pads.push_back(a.Int(Symbol(StrCat("customPadding", side))));
  }
  a.Require(type == "CUSTOM" || type == "VALID" || type == "SAME", StrCat("padding ", type));
  if (type == "CUSTOM") window->pads = std::move(pads);
  if (type == "SAME") window->auto_pad = AutoPad::kSameUpper;
}

Expr Convolution3d(NnArgs& a) {
  const int64_t out = a.Int("outputChannels"), in = a.Int("inputChannels"),
                groups = a.Int("nGroups", 1);
  const std::vector<int64_t> kernel = Three(a, "kernel", 3);
  Window window;
  window.strides = Three(a, "stride", 1);
  window.dilations = Three(a, "dilation", 1);
  PadThree(a, &window);
  const bool transposed = a.Flag("isDeconvolution"), biased = a.Flag("hasBias");
  const std::vector<int64_t> sizes = a.List("outputShape");
  a.Require(groups > 0 && out > 0 && in > 0 && out % groups == 0 && in % groups == 0, "channels");
  a.Require(sizes.empty() || transposed, "a size of a convolution");
  const Expr weights = a.NeedWeights(
      "weights",
      {transposed ? in : out, (transposed ? out : in) / groups, kernel[0], kernel[1], kernel[2]});
  Value* bias = biased ? a.NeedWeights("bias", {out}).value() : nullptr;
  return Convolved(a, a.X(), weights, bias, window, groups, transposed, sizes);
}

Expr Pooling3d(NnArgs& a) {
  const std::string kind = KindOfPool(a);
  Window window;
  window.kernel = Three(a, "kernel", 3);
  window.strides = Three(a, "stride", 1);
  PadThree(a, &window);
  return Pooled(a, a.X(), kind, window, !a.Flag("countExcludePadding"));
}
Expr GlobalPooling3d(NnArgs& a) { return OfWhole(a.X(), KindOfPool(a), {-3, -2, -1}); }

// --- Norms
// ----------------------------------------------------------------------------------------

Expr BatchNorm(NnArgs& a) {
  const int64_t channels = a.Int("channels");
  const bool computed = a.Flag("computeMeanVar"), instance = a.Flag("instanceNormalization");
  const auto epsilon = static_cast<float>(a.Number("epsilon", 1e-5));
  a.Require(channels > 0 && computed == instance, "statistics of a batch");
  const Expr gamma = a.NeedWeights("gamma", {channels}), beta = a.NeedWeights("beta", {channels});
  if (instance) {
    return OnImages(a, a.X(), [&](const Expr& x) {
      return x.Op("instance_normalization", {gamma, beta}, {{"epsilon", epsilon}});
    });
  }
  const Expr mean = a.NeedWeights("mean", {channels}),
             variance = a.NeedWeights("variance", {channels});
  return OnImages(a, a.X(), [&](const Expr& x) {
    return x.Op("batch_normalization", {gamma, beta, mean, variance}, {{"epsilon", epsilon}});
  });
}

Expr MeanVariance(NnArgs& a) {
  std::vector<int64_t> axes = {-2, -1};
  if (a.Flag("acrossChannels")) axes.insert(axes.begin(), -3);
  const bool scales = a.Flag("normalizeVariance");
  const double epsilon = a.Number("epsilon", 1e-6);
  const Expr x = a.X();
  return scales ? Standardized(x, axes, epsilon) : x - Reduce(x, "reduce_mean", axes, true);
}

Expr L2Norm(NnArgs& a) { return L2Normalized(a.X(), {-3, -2, -1}, a.Number("epsilon", 1e-6)); }

Expr LocalResponse(NnArgs& a) {
  AttributeMap attrs = {{"alpha", static_cast<float>(a.Number("alpha"))},
                        {"beta", static_cast<float>(a.Number("beta"))},
                        {"bias", static_cast<float>(a.Number("k", 1))},
                        {"size", a.Int("localSize")}};
  return OnImages(a, a.X(), [&](const Expr& x) { return x.Op("lrn", {}, attrs); });
}

Expr LayerNorm(NnArgs& a) {
  const std::vector<int64_t> dims = a.List("normalizedShape");
  const auto epsilon = static_cast<float>(a.Number("eps", 1e-5));
  const auto count = static_cast<int64_t>(dims.size());
  a.Require(!dims.empty(), "a norm of no axes");
  return a.X().Op("layer_normalization",
                  {a.NeedWeights("gamma", dims), a.NeedWeights("beta", dims)},
                  {{"axis", -count}, {"epsilon", epsilon}});
}

// --- Sizes
// ----------------------------------------------------------------------------------------

Expr Cropped(NnArgs& a) {
  const Expr x = a.X();
  if (a.count() == 1) {
    a.Given("cropAmounts");
    const std::vector<int64_t> borders = BordersOf(a, "cropAmounts");
    a.Ignore("offset");
    Expr y = x;
    for (const int64_t axis : {-2, -1}) {
      const auto at = static_cast<size_t>(2 * (axis + 2));
      const Size end = borders[at + 1] == 0 ? Size(kToEnd) : Size(-borders[at + 1]);
      y = Slice(y, axis, borders[at], end);
    }
    return y;
  }
  const std::vector<int64_t> offset = a.List("offset", {0, 0});
  a.Given("cropAmounts");
  BordersOf(a, "cropAmounts");
  a.Require(offset.size() == 2, "offsets of other axes");
  Expr y = x;
  for (const int64_t axis : {-2, -1}) {
    const int64_t begin = offset[static_cast<size_t>(axis + 2)];
    y = Slice(y, axis, begin, Plus(a.b(), begin, SizeAt(a.X(1), axis)));
  }
  return y;
}

Expr Padded(NnArgs& a) {
  std::string mode;
  double value = 0;
  if (a.Given("reflection")) mode = "reflect";
  if (a.Given("replication")) mode = "edge";
  if (a.Given("constant")) {
    mode = "constant";
    value = a.Number("constant.value");
  }
  a.Require(!mode.empty(), "padding of another kind");
  a.Given("paddingAmounts");
  const std::vector<int64_t> borders = BordersOf(a, "paddingAmounts");
  return OnImages(a, a.X(), [&](const Expr& x) {
    return x.Op(
        "pad",
        {a.b().Ints({0, 0, borders[0], borders[2], 0, 0, borders[1], borders[3]}), x.Number(value)},
        {{"mode", mode}});
  });
}

Expr Upsampled(NnArgs& a) {
  const std::vector<int64_t> factors = a.List("scalingFactor", {1, 1});
  std::vector<float> parts = a.FloatList("fractionalScalingFactor", {});
  const std::string mode = a.Enum("mode", "NN"), linear = a.Enum("linearUpsampleMode", "DEFAULT");
  if (parts.empty()) {
    for (const int64_t factor : factors) parts.push_back(static_cast<float>(factor));
  }
  a.Require(parts.size() == 2, "factors of other axes");
  a.Require(mode == "NN" || mode == "BILINEAR", StrCat("mode ", mode));
  return OnImages(a, a.X(), [&](const Expr& x) {
    const std::vector<Size> sizes = ScaledSizes(a, x, parts[0], parts[1], mode == "NN");
    if (mode == "NN") return ResizedNearest(a, x, sizes);
    return ResizedLinear(a, x, sizes,
                         linear == "ALIGN_CORNERS_TRUE"    ? "STRICT_ALIGN_CORNERS"
                         : linear == "ALIGN_CORNERS_FALSE" ? "UNALIGN_CORNERS"
                                                           : "DEFAULT");
  });
}

Expr ResizedBilinear(NnArgs& a) {
  const std::vector<int64_t> sizes = a.List("targetSize", {1, 1});
  a.Given("mode");
  const std::string method = a.Enum("mode.samplingMethod", "STRICT_ALIGN_ENDPOINTS_MODE");
  static constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"STRICT_ALIGN_ENDPOINTS_MODE", "STRICT_ALIGN_CORNERS"},
      {"ALIGN_ENDPOINTS_MODE", "ALIGN_CORNERS"},
      {"UPSAMPLE_MODE", "DEFAULT"},
      {"ROI_ALIGN_MODE", "OFFSET_CORNERS"},
  };
  const auto* mode = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](const auto& each) { return each.first == method; });
  a.Require(mode != std::end(kModes), StrCat("sampling ", method));
  a.Require(sizes.size() == 2, "sizes of other axes");
  return OnImages(a, a.X(), [&](const Expr& x) {
    return ResizedLinear(a, x, {sizes[0], sizes[1]}, mode->second);
  });
}

}  // namespace

X2IR_NN(conv).From("convolution", Convolution).From("convolution3d", Convolution3d);
X2IR_NN(average_pool)
    .From("pooling", Pooling)
    .From("pooling3d", Pooling3d)
    .From("globalPooling3d", GlobalPooling3d);
X2IR_NN(batch_normalization).From("batchnorm", BatchNorm).From("mvn", MeanVariance);
X2IR_NN(layer_normalization).From("layerNormalization", LayerNorm);
X2IR_NN(lp_normalization).From("l2normalize", L2Norm);
X2IR_NN(lrn).From("lrn", LocalResponse);
X2IR_NN(slice).From("crop", Cropped);
X2IR_NN(pad).From("padding", Padded);
X2IR_NN(resize).From("upsample", Upsampled).From("resizeBilinear", ResizedBilinear);

}  // namespace x2ir
