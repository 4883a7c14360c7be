// Convolutional networks for images.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/resnet.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

// --- ResNet and RegNet
// -----------------------------------------------------------------------------

void ResNetLike(Net& net, const std::string& class_name, const ConvStages& stages,
                const std::string& base) {
  const std::string prefix = StoredPrefix(net, base, "embedder.embedder.convolution.weight");
  const Expr last = RunStages(net, stages, prefix, PixelValues(net, stages.channels)).back();
  const Expr mean = Reduce(last, "reduce_mean", {2, 3}, true);
  net.IgnoreWeights({"classifier.*"});
  if (IsImageClassifier(class_name)) {
    return Classify(net, Squeeze(mean, {2, 3}), "classifier.1", stages.widths.back());
  }
  net.Output("last_hidden_state", last);
  net.Output("pooler_output", mean);
}

void ResNet(Net& net, const std::string& class_name) {
  const ConvStages stages = ResNetStages(net.settings());
  ResNetLike(net, class_name, stages, "resnet.");
}

void RegNet(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  ConvStages stages;
  stages.channels = s.Size("num_channels", 3);
  stages.embedding = s.Size("embedding_size", 32);
  stages.embedding_kernel = 3;
  stages.pooled = false;
  stages.widths = SizesOf(s, "hidden_sizes", {128, 192, 512, 1088});
  stages.depths = SizesOf(s, "depths", {2, 6, 12, 2}, stages.widths.size());
  stages.activation = stages.inner_activation = s.Text("hidden_act", "relu");
  stages.first_stride = s.Flag("downsample_in_first_stage", true) ? 2 : 1;
  const std::string type = s.Text("layer_type", "y");
  if (type != "x" && type != "y") Broken("config.json: 'layer_type' is '", type, "'");
  stages.kind = ConvStages::kGrouped;
  stages.group_width = s.Size("groups_width", 64);
  stages.squeezes = type == "y";
  IgnoreStages(s);
  ResNetLike(net, class_name, stages, "regnet.");
}

// --- ConvNeXt
// --------------------------------------------------------------------------------------

// Each channel by how strong it is in this image, against the others (V2).
Expr ResponseNorm(Net& net, const Expr& x, const std::string& name, int64_t width) {
  const Expr strength = VectorNorm(x, 2, {1, 2}, true);
  const Expr relative = strength / (Reduce(strength, "reduce_mean", {3}, true) + 1e-6);
  const auto weight = [&](const char* part) {
    const std::string full = Joined(name, part);
    return net.Weight(full, {1, 1, 1, width});
  };
  return x * (weight("weight") * relative + 1.0) + weight("bias");
}

void ConvNextLike(Net& net, const std::string& class_name, bool second) {
  Settings& s = net.settings();
  const std::string prefix =
      StoredPrefix(net, second ? "convnextv2." : "convnext.", "embeddings.patch_embeddings.weight");
  const NormSpec norm = {.kind = NormSpec::kLayer, .eps = 1e-6};
  const NormSpec last_norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", 1e-12)};
  const std::vector<int64_t> widths = SizesOf(s, "hidden_sizes", {96, 192, 384, 768}),
                             depths = SizesOf(s, "depths", {3, 3, 9, 3}, widths.size());
  const int64_t count = s.Count("num_stages", 4);
  if (count != static_cast<int64_t>(widths.size())) {
    Broken("config.json: 'hidden_sizes' has ", widths.size(), " numbers for ", count, " stages");
  }
  const int64_t patch = s.Size("patch_size", 4), channels = s.Size("num_channels", 3);
  const std::string activation = s.Text("hidden_act", "gelu");
  const bool scaled = !second && s.Number("layer_scale_init_value", 1e-6) > 0;
  s.Ignore({"image_size"});
  IgnoreStages(s);

  Expr x = net.Conv(
      PixelValues(net, channels), prefix + "embeddings.patch_embeddings",
      {.in = channels, .out = widths[0], .kernel = {patch, patch}, .stride = {patch, patch}});
  x = ChannelNorm(net, x, norm, prefix + "embeddings.layernorm", widths[0]);
  for (size_t i = 0; i < widths.size(); ++i) {
    const std::string stage = StrCat(prefix, "encoder.stages.", i, ".");
    const int64_t width = widths[i];
    if (i > 0) {
      x = ChannelNorm(net, x, norm, stage + "downsampling_layer.0", widths[i - 1]);
      x = net.Conv(x, stage + "downsampling_layer.1",
                   {.in = widths[i - 1], .out = width, .kernel = {2, 2}, .stride = {2, 2}});
    }
    for (int64_t j = 0; j < depths[i]; ++j) {
      const std::string layer = StrCat(stage, "layers.", j, ".");
      Expr y = net.Conv(
          x, layer + "dwconv",
          {.in = width, .out = width, .kernel = {7, 7}, .padding = {3, 3}, .groups = width});
      y = net.Norm(Transpose(y, {0, 2, 3, 1}), norm, layer + "layernorm", width);
      y = net.Activate(net.Linear(y, layer + "pwconv1", width, 4 * width), activation);
      if (second) y = ResponseNorm(net, y, layer + "grn", 4 * width);
      y = net.Linear(y, layer + "pwconv2", 4 * width, width);
      if (scaled) y = y * net.Weight(layer + "layer_scale_parameter", {width});
      x = x + Transpose(y, {0, 3, 1, 2});
    }
  }
  const Expr pooled = net.Norm(MeanOfImage(x), last_norm, prefix + "layernorm", widths.back());
  net.IgnoreWeights({"classifier.*"});
  if (IsImageClassifier(class_name)) return Classify(net, pooled, "classifier", widths.back());
  net.Output("last_hidden_state", x);
  net.Output("pooler_output", pooled);
}

// --- PoolFormer
// ------------------------------------------------------------------------------------

Expr OneGroupNorm(Net& net, const Expr& x, const std::string& name, int64_t width) {
  return GroupNormalize(x, net.Weight(name + ".weight", {width}),
                        net.Weight(name + ".bias", {width}), 1, 1e-5);
}

void PoolFormer(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  const std::string prefix =
      StoredPrefix(net, "poolformer.", "encoder.patch_embeddings.0.projection.weight");
  const auto count = static_cast<size_t>(s.Count("num_encoder_blocks", 4));
  const auto sizes = [&](std::string_view name, std::vector<int64_t> fallback, int64_t least = 1) {
    return SizesOf(s, name, std::move(fallback), count, least);
  };
  const std::vector<int64_t> widths = sizes("hidden_sizes", {64, 128, 320, 512}),
                             depths = sizes("depths", {2, 2, 6, 2}),
                             patches = sizes("patch_sizes", {7, 3, 3, 3}),
                             strides = sizes("strides", {4, 2, 2, 2}),
                             pads = sizes("padding", {2, 1, 1, 1}, 0);
  const int64_t pool = s.Size("pool_size", 3), channels = s.Size("num_channels", 3);
  if (pool % 2 == 0) Refuse("config.json: a 'pool_size' of ", pool, ", an even one");
  const double ratio = s.Number("mlp_ratio", 4);
  const std::string activation = s.Text("hidden_act", "gelu");
  const bool scaled = s.Flag("use_layer_scale", true);
  s.Ignore({"patch_size", "stride", "layer_scale_init_value"});

  WindowPool window;
  window.window.kernel = {pool, pool};
  window.window.pads = {pool / 2, pool / 2, pool / 2, pool / 2};
  window.kind = PoolKind::kAverage;
  Expr x = PixelValues(net, channels);
  for (size_t i = 0; i < count; ++i) {
    const int64_t width = widths[i], hidden = ScaledSize(width, ratio);
    x = net.Conv(x, StrCat(prefix, "encoder.patch_embeddings.", i, ".projection"),
                 {.in = i ? widths[i - 1] : channels,
                  .out = width,
                  .kernel = {patches[i], patches[i]},
                  .stride = {strides[i], strides[i]},
                  .padding = {pads[i], pads[i]}});
    for (int64_t j = 0; j < depths[i]; ++j) {
      const std::string layer = StrCat(prefix, "encoder.block.", i, ".", j, ".");
      const auto branch = [&](const Expr& y, const char* scale) {
        if (!scaled) return y;
        return y * Unsqueeze(net.Weight(layer + scale, {width}), {1, 2});
      };
      const Expr h = OneGroupNorm(net, x, layer + "before_norm", width);
      x = x + branch(MakePool(h, window) - h, "layer_scale_1");
      Expr y = OneGroupNorm(net, x, layer + "after_norm", width);
      y = net.Conv(y, layer + "output.conv1", {.in = width, .out = hidden, .kernel = {1, 1}});
      y = net.Conv(net.Activate(y, activation), layer + "output.conv2",
                   {.in = hidden, .out = width, .kernel = {1, 1}});
      x = x + branch(y, "layer_scale_2");
    }
  }
  if (IsImageClassifier(class_name)) {
    const Expr mean = MeanOfImage(OneGroupNorm(net, x, "norm", widths.back()));
    return Classify(net, mean, "classifier", widths.back());
  }
  net.IgnoreWeights({"classifier.*", "norm.*"});
  net.Output("last_hidden_state", x);
}

// --- EfficientNet
// ----------------------------------------------------------------------------------

class EfficientNet {
 public:
  explicit EfficientNet(Net& net) : net_(net), s_(net.settings()) {}

  void Run(const std::string& class_name) {
    prefix_ = StoredPrefix(net_, "efficientnet.", "embeddings.convolution.weight");
    divisor_ = s_.Size("depth_divisor", 8);
    width_factor_ = s_.Number("width_coefficient", 2);
    eps_ = s_.Number("batch_norm_eps", 1e-3);
    activation_ = s_.Text("hidden_act", "swish");
    squeeze_ratio_ = s_.Number("squeeze_expansion_ratio", 0.25);
    for (const int64_t block : s_.Ints("depthwise_padding")) plain_pads_.push_back(block);
    const int64_t channels = s_.Size("num_channels", 3), first = Rounded(32);
    Expr x = Convolved(net_, PixelValues(net_, channels),
                       {.conv = prefix_ + "embeddings.convolution",
                        .norm = prefix_ + "embeddings.batchnorm",
                        .spec = {.in = channels,
                                 .out = first,
                                 .kernel = {3, 3},
                                 .stride = {2, 2},
                                 .padding = {0, 0, 1, 1}},
                        .eps = eps_,
                        .activation = activation_});
    x = Blocks(x);
    const int64_t hidden = s_.Size("hidden_dim", 2560);
    x = Convolved(net_, x,
                  {.conv = prefix_ + "encoder.top_conv",
                   .norm = prefix_ + "encoder.top_bn",
                   .spec = {.in = last_, .out = hidden, .kernel = {1, 1}},
                   .eps = eps_,
                   .activation = activation_});
    const std::string pooling = s_.Text("pooling_type", "mean");
    if (pooling != "mean" && pooling != "max")
      Refuse("config.json: a 'pooling_type' of '", pooling, "'");
    const Expr pooled = Reduce(x, pooling == "max" ? "reduce_max" : "reduce_mean", {2, 3});
    s_.Ignore({"image_size", "batch_norm_momentum", "drop_connect_rate", "num_hidden_layers"});
    net_.IgnoreWeights({"classifier.*"});
    if (IsImageClassifier(class_name)) return Classify(net_, pooled, "classifier", hidden);
    net_.Output("last_hidden_state", x);
    net_.Output("pooler_output", pooled);
  }

 private:
  // Channels by the width coefficient, a multiple of the divisor that is not much smaller.
  int64_t Rounded(int64_t channels) {
    const double wide = static_cast<double>(channels) * width_factor_;
    const auto divisor = static_cast<double>(divisor_);
    if (!(wide > 0 && wide < (1 << 24))) Broken("config.json: a width of ", wide, " channels");
    double rounded =
        std::max(divisor, std::floor(std::trunc(wide + divisor / 2) / divisor) * divisor);
    if (rounded < 0.9 * wide) rounded += divisor;
    return static_cast<int64_t>(rounded);
  }

  Expr Blocks(Expr x) {
    const std::vector<int64_t> in = SizesOf(s_, "in_channels", {32, 16, 24, 40, 80, 112, 192});
    const auto sizes = [&](std::string_view name, std::vector<int64_t> fallback) {
      return SizesOf(s_, name, std::move(fallback), in.size());
    };
    const std::vector<int64_t> out = sizes("out_channels", {16, 24, 40, 80, 112, 192, 320}),
                               kernels = sizes("kernel_sizes", {3, 3, 5, 3, 5, 5, 3}),
                               strides = sizes("strides", {1, 2, 2, 2, 1, 2, 1}),
                               repeats = sizes("num_block_repeats", {1, 2, 2, 3, 3, 4, 1}),
                               expands = sizes("expand_ratios", {1, 6, 6, 6, 6, 6, 6});
    const double depth_factor = s_.Number("depth_coefficient", 3.1);
    for (size_t i = 0; i < in.size(); ++i) {
      const double count = std::ceil(depth_factor * static_cast<double>(repeats[i]));
      for (double j = 0; j < count; ++j) {
        const int64_t from = Rounded(j > 0 ? out[i] : in[i]);
        x = Block(x, from, Rounded(out[i]), j > 0 ? 1 : strides[i], expands[i], kernels[i], j > 0);
      }
    }
    last_ = Rounded(out.back());
    return x;
  }

  Expr Block(const Expr& x, int64_t in, int64_t out, int64_t stride, int64_t expand, int64_t kernel,
             bool residual) {
    const int64_t number = count_++, wide = in * expand;
    const std::string block = StrCat(prefix_, "encoder.blocks.", number, ".");
    if (stride > 2) Refuse("config.json: 'strides' has ", stride, "; 1 and 2 are supported");
    Expr y = x;
    if (expand != 1) {
      y = Convolved(net_, y,
                    {.conv = block + "expansion.expand_conv",
                     .norm = block + "expansion.expand_bn",
                     .spec = {.in = in, .out = wide, .kernel = {1, 1}},
                     .eps = eps_,
                     .activation = activation_});
    }
    // Of steps of 2 the padding is less by one before the image, but in some blocks.
    const int64_t half = kernel / 2, before = stride == 2 ? half : (kernel - 1) / 2;
    const bool plain = stride != 2 || std::find(plain_pads_.begin(), plain_pads_.end(), number) !=
                                          plain_pads_.end();
    const int64_t begin = before - (plain ? 0 : 1);
    if (begin < 0) Refuse("config.json: a kernel of size 1 with steps of 2");
    y = Convolved(net_, y,
                  {.conv = block + "depthwise_conv.depthwise_conv",
                   .norm = block + "depthwise_conv.depthwise_norm",
                   .spec = {.in = wide,
                            .out = wide,
                            .kernel = {kernel, kernel},
                            .stride = {stride, stride},
                            .padding = {begin, begin, half, half},
                            .groups = wide},
                   .eps = eps_,
                   .activation = activation_});
    y = Squeezed(
        y, block + "squeeze_excite.", wide,
        std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(in) * squeeze_ratio_)));
    y = Convolved(net_, y,
                  {.conv = block + "projection.project_conv",
                   .norm = block + "projection.project_bn",
                   .spec = {.in = wide, .out = out, .kernel = {1, 1}},
                   .eps = eps_});
    return residual ? y + x : y;
  }

  Expr Squeezed(const Expr& x, const std::string& name, int64_t width, int64_t narrow) {
    Expr y = Reduce(x, "reduce_mean", {2, 3}, true);
    y = net_.Conv(y, name + "reduce", {.in = width, .out = narrow, .kernel = {1, 1}});
    y = net_.Conv(net_.Activate(y, activation_), name + "expand",
                  {.in = narrow, .out = width, .kernel = {1, 1}});
    return x * y.Op("sigmoid");
  }

  Net& net_;
  Settings& s_;
  std::string prefix_, activation_;
  int64_t divisor_ = 8, count_ = 0, last_ = 0;
  double width_factor_ = 1, eps_ = 0, squeeze_ratio_ = 0;
  std::vector<int64_t> plain_pads_;
};

// --- MobileNet
// -------------------------------------------------------------------------------------

// A convolution with its norm as both versions have it: its padding is TensorFlow's, by the size of
// the image, or that of a step of 1.
class MobileConv {
 public:
  explicit MobileConv(Net& net)
      : net_(net),
        same_(net.settings().Flag("tf_padding", true)),
        eps_(net.settings().Number("layer_norm_eps", 1e-3)),
        activation_(net.settings().Text("hidden_act", "relu6")) {}

  struct Shape {
    int64_t in, out, kernel = 1, stride = 1;
    bool depthwise = false;
    int64_t dilation = 1;
  };
  Expr Run(const Expr& x, const std::string& name, const Shape& c, bool active = true) const {
    NormedConv conv = {.conv = name + ".convolution",
                       .norm = name + ".normalization",
                       .spec = {.in = c.in, .out = c.out, .kernel = {c.kernel, c.kernel}},
                       .eps = eps_};
    conv.spec.stride = {c.stride, c.stride};
    conv.spec.dilation = {c.dilation, c.dilation};
    conv.spec.groups = c.depthwise ? c.in : 1;
    conv.spec.same = same_ && c.stride > 1;
    if (!conv.spec.same) conv.spec.padding = SamePads(c.kernel, c.dilation);
    if (active) conv.activation = activation_;
    return Convolved(net_, x, conv);
  }

 private:
  Net& net_;
  bool same_;
  double eps_;
  std::string activation_;
};

double DepthMultiplier(Settings& s) {
  const double factor = s.Number("depth_multiplier", 1);
  if (!(factor > 0 && factor < 4096)) Broken("config.json: a 'depth_multiplier' of ", factor);
  return factor;
}

void MobileNetV1(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  const std::string prefix = StoredPrefix(net, "mobilenet_v1.", "conv_stem.convolution.weight");
  const double factor = DepthMultiplier(s);
  const int64_t channels = s.Size("num_channels", 3), least = s.Size("min_depth", 8);
  const auto scaled = [&](int64_t depth) {
    return std::max(static_cast<int64_t>(static_cast<double>(depth) * factor), least);
  };
  const MobileConv conv(net);
  int64_t depth = 32, out = scaled(depth);
  Expr x = conv.Run(PixelValues(net, channels), prefix + "conv_stem",
                    {.in = channels, .out = out, .kernel = 3, .stride = 2});
  constexpr int64_t kStrides[] = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
  for (int64_t i = 0; i < 13; ++i) {
    const int64_t in = out, stride = kStrides[i];
    if (stride == 2 || i == 0) depth *= 2, out = scaled(depth);
    x = conv.Run(x, StrCat(prefix, "layer.", 2 * i),
                 {.in = in, .out = in, .kernel = 3, .stride = stride, .depthwise = true});
    x = conv.Run(x, StrCat(prefix, "layer.", 2 * i + 1), {.in = in, .out = out});
  }
  const Expr pooled = MeanOfImage(x);
  s.Ignore({"image_size"});
  net.IgnoreWeights({"classifier.*"});
  if (IsImageClassifier(class_name)) return Classify(net, pooled, "classifier", out);
  net.Output("last_hidden_state", x);
  net.Output("pooler_output", pooled);
}

class MobileNetV2 {
 public:
  explicit MobileNetV2(Net& net) : net_(net), s_(net.settings()), conv_(net) {}

  void Run(const std::string& class_name) {
    prefix_ = StoredPrefix(net_, "mobilenet_v2.", "conv_stem.first_conv.convolution.weight");
    factor_ = DepthMultiplier(s_);
    divisor_ = s_.Size("depth_divisible_by", 8);
    least_ = s_.Size("min_depth", 8);
    expand_ = s_.Number("expand_ratio", 6);
    s_.Ignore({"image_size", "semantic_loss_ignore_index"});
    Expr x = Stem();
    x = Residuals(x);
    const bool fine = s_.Flag("finegrained_output", true) && factor_ < 1;
    const int64_t width = Scaled(320), out = fine ? 1280 : Scaled(1280);
    if (class_name == "MobileNetV2ForSemanticSegmentation") {
      net_.IgnoreWeights({prefix_ + "conv_1x1.*"});
      return Segment(x, width);
    }
    x = conv_.Run(x, prefix_ + "conv_1x1", {.in = width, .out = out});
    const Expr pooled = MeanOfImage(x);
    net_.IgnoreWeights({"classifier.*", "segmentation_head.*"});
    if (IsImageClassifier(class_name)) return Classify(net_, pooled, "classifier", out);
    net_.Output("last_hidden_state", x);
    net_.Output("pooler_output", pooled);
  }

 private:
  int64_t Scaled(int64_t channels) const {
    return DivisibleWidth(std::nearbyint(static_cast<double>(channels) * factor_), divisor_,
                          least_);
  }

  Expr Stem() {
    const int64_t channels = s_.Size("num_channels", 3), wide = Scaled(32), out = Scaled(16);
    const std::string stem = prefix_ + "conv_stem.";
    Expr x = conv_.Run(PixelValues(net_, channels), stem + "first_conv",
                       {.in = channels, .out = wide, .kernel = 3, .stride = 2});
    if (!s_.Flag("first_layer_is_expansion", true)) {
      x = conv_.Run(x, stem + "expand_1x1", {.in = wide, .out = wide});
    }
    x = conv_.Run(x, stem + "conv_3x3", {.in = wide, .out = wide, .kernel = 3, .depthwise = true});
    return conv_.Run(x, stem + "reduce_1x1", {.in = wide, .out = out}, false);
  }

  Expr Residuals(Expr x) {
    constexpr int64_t kWidths[] = {16, 24, 24, 32, 32,  32,  64,  64, 64,
                                   64, 96, 96, 96, 160, 160, 160, 320};
    constexpr int64_t kStrides[] = {2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1};
    // From the wanted total of steps on, later ones become dilations.
    const int64_t most = s_.Size("output_stride", 32);
    int64_t total = 2, dilation = 1;
    for (int64_t i = 0; i < 16; ++i) {
      const bool reached = total == most;
      const int64_t in = Scaled(kWidths[i]), out = Scaled(kWidths[i + 1]),
                    stride = reached ? 1 : kStrides[i], spread = reached ? dilation : 1;
      (reached ? dilation : total) *= kStrides[i];
      const int64_t wide =
          DivisibleWidth(std::nearbyint(static_cast<double>(in) * expand_), divisor_, least_);
      const std::string layer = StrCat(prefix_, "layer.", i, ".");
      Expr y = conv_.Run(x, layer + "expand_1x1", {.in = in, .out = wide});
      y = conv_.Run(y, layer + "conv_3x3",
                    {.in = wide,
                     .out = wide,
                     .kernel = 3,
                     .stride = stride,
                     .depthwise = true,
                     .dilation = spread});
      y = conv_.Run(y, layer + "reduce_1x1", {.in = wide, .out = out}, false);
      x = stride == 1 && in == out ? x + y : y;
    }
    return x;
  }

  // DeepLab's head: the image as a whole beside each place of it.
  void Segment(const Expr& x, int64_t width) {
    const std::string head = "segmentation_head.";
    const auto conv = [&](const Expr& a, const std::string& name, int64_t in) {
      return Convolved(net_, a,
                       {.conv = head + name + ".convolution",
                        .norm = head + name + ".normalization",
                        .spec = {.in = in, .out = 256, .kernel = {1, 1}},
                        .activation = "relu"});
    };
    const Expr whole = conv(Reduce(x, "reduce_mean", {2, 3}, true), "conv_pool", width);
    const Expr places = conv(x, "conv_aspp", width);
    const Expr both = Concat(net_.b(), {Expand(whole, ShapeOf(places)), places}, 1);
    const std::string classifier = head + "classifier.convolution";
    const int64_t labels = LabelCount(net_, classifier + ".weight");
    net_.IgnoreWeights({"classifier.*"});
    net_.Output("logits", net_.Conv(conv(both, "conv_projection", 512), classifier,
                                    {.in = 256, .out = labels, .kernel = {1, 1}}));
  }

  Net& net_;
  Settings& s_;
  MobileConv conv_;
  std::string prefix_;
  double factor_ = 1, expand_ = 6;
  int64_t divisor_ = 8, least_ = 8;
};

[[maybe_unused]] const bool kConvnetsRegistered[] = {
    RegisterVision("resnet", "ResNet", ResNet),
    RegisterVision("regnet", "RegNet", RegNet),
    RegisterVision("convnext", "ConvNext",
                   [](Net& net, const std::string& name) { ConvNextLike(net, name, false); }),
    RegisterVision("convnextv2", "ConvNextV2",
                   [](Net& net, const std::string& name) { ConvNextLike(net, name, true); }),
    RegisterVision("poolformer", "PoolFormer", PoolFormer),
    RegisterVision("efficientnet", "EfficientNet",
                   [](Net& net, const std::string& name) { EfficientNet(net).Run(name); }),
    RegisterVision("mobilenet_v1", "MobileNetV1", MobileNetV1),
    RegisterVision("mobilenet_v2", "MobileNetV2",
                   [](Net& net, const std::string& name) { MobileNetV2(net).Run(name); },
                   {"ForImageClassification", "Model", "ForSemanticSegmentation"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
