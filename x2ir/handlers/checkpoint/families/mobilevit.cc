// MobileViT and its second version: layers of MobileNet, and transformers over the patches of an
// image in which each place of a patch sees its like in the others.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class MobileVitNet {
 public:
  MobileVitNet(Net& net, bool second)
      : net_(net), b_(net.b()), s_(net.settings()), second_(second) {}

  void Run(const std::string& class_name) {
    prefix_ =
        StoredPrefix(net_, second_ ? "mobilevitv2." : "mobilevit.", "conv_stem.convolution.weight");
    activation_ = s_.Text("hidden_act", second_ ? "swish" : "silu");
    patch_ = s_.Size("patch_size", 2);
    kernel_ = s_.Size("conv_kernel_size", 3);
    if (kernel_ % 2 == 0) Refuse("config.json: a 'conv_kernel_size' of ", kernel_, ", an even one");
    expand_ = s_.Number("expand_ratio", second_ ? 2 : 4);
    norm_ = {.kind = NormSpec::kLayer, .eps = s_.Number("layer_norm_eps", 1e-5)};
    s_.Ignore({"image_size", "semantic_loss_ignore_index", "aspp_dropout_prob", "attn_dropout",
               "ffn_dropout"});
    Widths();
    const int64_t channels = s_.Size("num_channels", 3);
    const int64_t steps = s_.Int("output_stride", 32);

    Expr x = Conv(PixelValues(net_, channels), prefix_ + "conv_stem", channels, widths_[0],
                  {.kernel = 3, .stride = 2});
    x = Residuals(x, "encoder.layer.0.", widths_[0], widths_[1], 1, 1);
    x = Residuals(x, "encoder.layer.1.", widths_[1], widths_[2], 2, second_ ? 2 : 3);
    int64_t dilation = 1;
    for (int64_t i = 2; i < 5; ++i) {
      if ((i == 3 && steps == 8) || (i == 4 && (steps == 8 || steps == 16))) dilation *= 2;
      x = Block(x, StrCat(prefix_, "encoder.layer.", i, "."), static_cast<size_t>(i), dilation);
    }
    if (class_name.ends_with("ForSemanticSegmentation")) {
      net_.IgnoreWeights({prefix_ + "conv_1x1_exp.*", "classifier.*"});
      return Segment(x);
    }
    s_.Ignore({"aspp_out_channels", "atrous_rates"});
    net_.IgnoreWeights({"segmentation_head.*", "classifier.*"});
    int64_t width = widths_[5];
    if (!second_) {
      x = Conv(x, prefix_ + "conv_1x1_exp", width, widths_[6], {});
      width = widths_[6];
    }
    const Expr pooled = MeanOfImage(x);
    if (IsImageClassifier(class_name)) return Classify(net_, pooled, "classifier", width);
    net_.Output("last_hidden_state", x);
    net_.Output("pooler_output", pooled);
  }

 private:
  struct ConvShape {
    int64_t kernel = 1, stride = 1, groups = 1, dilation = 1;
  };
  Expr Conv(const Expr& x, const std::string& name, int64_t in, int64_t out, const ConvShape& c,
            const std::string& activation) {
    return Convolved(net_, x,
                     {.conv = name + ".convolution",
                      .norm = name + ".normalization",
                      .spec = {.in = in,
                               .out = out,
                               .kernel = {c.kernel, c.kernel},
                               .stride = {c.stride, c.stride},
                               .padding = SamePads(c.kernel, c.dilation),
                               .groups = c.groups,
                               .dilation = {c.dilation, c.dilation}},
                      .activation = activation});
  }
  Expr Conv(const Expr& x, const std::string& name, int64_t in, int64_t out, const ConvShape& c) {
    return Conv(x, name, in, out, c, activation_);
  }
  // Of one pixel, without a norm.
  Expr Plain(const Expr& x, const std::string& name, int64_t in, int64_t out, bool bias) {
    return net_.Conv(x, name + ".convolution",
                     {.in = in, .out = out, .kernel = {1, 1}, .bias = bias});
  }

  void Widths() {
    if (!second_) {
      widths_ = SizesOf(s_, "neck_hidden_sizes", {16, 32, 64, 96, 128, 160, 640}, 7);
      inner_ = SizesOf(s_, "hidden_sizes", {144, 192, 240}, 3);
      depths_ = {2, 4, 3};
      return;
    }
    const double factor = s_.Number("width_multiplier", 1);
    if (!(factor > 0 && factor < 4096)) Broken("config.json: a 'width_multiplier' of ", factor);
    widths_ = {DivisibleWidth(std::clamp(32 * factor, 16.0, 64.0), 8, 16),
               DivisibleWidth(64 * factor, 16, 16)};
    for (const int64_t width : {128, 256, 384, 512}) {
      widths_.push_back(DivisibleWidth(static_cast<double>(width) * factor, 8, 8));
    }
    for (const int64_t width : SizesOf(s_, "base_attn_unit_dims", {128, 192, 256}, 3)) {
      inner_.push_back(DivisibleWidth(static_cast<double>(width) * factor, 8, 8));
    }
    depths_ = SizesOf(s_, "n_attn_blocks", {2, 4, 3}, 3);
  }

  Expr Residual(const Expr& x, const std::string& name, int64_t in, int64_t out, int64_t stride,
                int64_t dilation = 1) {
    const int64_t wide = DivisibleWidth(std::nearbyint(static_cast<double>(in) * expand_), 8, 8);
    Expr y = Conv(x, name + "expand_1x1", in, wide, {});
    y = Conv(y, name + "conv_3x3", wide, wide,
             {.kernel = 3, .stride = stride, .groups = wide, .dilation = dilation});
    y = Conv(y, name + "reduce_1x1", wide, out, {}, "");
    return stride == 1 && in == out ? x + y : y;
  }
  Expr Residuals(Expr x, const std::string& name, int64_t in, int64_t out, int64_t stride,
                 int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      x = Residual(x, StrCat(prefix_, name, "layer.", i, "."), i ? out : in, out, i ? 1 : stride);
    }
    return x;
  }

  Expr Block(const Expr& input, const std::string& name, size_t number, int64_t dilation) {
    const int64_t out = widths_[number + 1], inner = inner_[number - 2];
    const Expr x = Residual(input, name + "downsampling_layer.", widths_[number], out,
                            dilation == 1 ? 2 : 1, std::max<int64_t>(dilation / 2, 1));
    Expr y = Conv(x, name + "conv_kxk", out, out, {.kernel = kernel_, .groups = second_ ? out : 1});
    y = Plain(y, name + "conv_1x1", out, inner, false);
    const int64_t depth = depths_[number - 2];
    if (second_) {
      y = SeenLinearly(y, name, inner, depth);
      return Conv(y, name + "conv_projection", inner, out, {}, "");
    }
    y = Seen(y, name, inner, depth);
    y = Conv(y, name + "conv_projection", inner, out, {});
    return Conv(Concat(b_, {x, y}, 1), name + "fusion", 2 * out, out, {.kernel = kernel_});
  }

  // Attention among the same places of all patches, over an image that patches divide.
  Expr Seen(const Expr& image, const std::string& name, int64_t width, int64_t depth) {
    const x2ir::Size batch = SizeAt(image, 0), height = SizeAt(image, 2), length = SizeAt(image, 3);
    const auto patches = [&](const x2ir::Size& n) {
      return Divided(b_, Plus(b_, n, patch_ - 1), patch_);
    };
    const x2ir::Size rows = patches(height), columns = patches(length);
    const auto resized = [&](const Expr& x, const x2ir::Size& r, const x2ir::Size& c) {
      return patch_ == 1
                 ? x
                 : ResizedTo(x, {batch, x2ir::Size(width), r, c}, Interpolated("linear", false));
    };
    Expr x = resized(image, Times(b_, rows, patch_), Times(b_, columns, patch_));
    x = ReshapeTo(
        x, {batch, x2ir::Size(width), rows, x2ir::Size(patch_), columns, x2ir::Size(patch_)});
    x = Reshape(Transpose(x, {0, 3, 5, 2, 4, 1}), std::vector<int64_t>{-1, width});
    if (patch_ > 4096) Broken("config.json: patches of ", patch_, " pixels");
    Context context(net_, Times(b_, batch, patch_ * patch_), Times(b_, rows, columns));
    Layer layer;
    layer.norm = norm_;
    layer.before_attention = "layernorm_before", layer.before_mlp = "layernorm_after";
    Attention& a = layer.attention;
    a.heads = a.kv_heads = s_.Size("num_attention_heads", 4);
    a.size = std::max<int64_t>(width / a.heads, 1);
    a.q = "attention.attention.query", a.k = "attention.attention.key";
    a.v = "attention.attention.value", a.out = "attention.output.dense";
    a.q_bias = a.k_bias = a.v_bias = s_.Flag("qkv_bias", true);
    a.out_bias = true;
    layer.mlp = {.hidden = ScaledSize(width, s_.Number("mlp_ratio", 2)),
                 .activation = activation_,
                 .up = "intermediate.dense",
                 .down = "output.dense",
                 .bias = true};
    for (const Layer& l : Layers(layer, depth, name + "transformer.layer.{}.")) {
      x = RunLayer(context, l, x, width);
    }
    x = net_.Norm(x, norm_, name + "layernorm", width);
    x = ReshapeTo(
        x, {batch, x2ir::Size(patch_), x2ir::Size(patch_), rows, columns, x2ir::Size(width)});
    x = ReshapeTo(Transpose(x, {0, 5, 3, 1, 4, 2}),
                  {batch, x2ir::Size(width), Times(b_, rows, patch_), Times(b_, columns, patch_)});
    return resized(x, height, length);
  }

  // One score for each place, by which keys are summed up: [batch, width, places, patches].
  Expr SeenLinearly(const Expr& image, const std::string& name, int64_t width, int64_t depth) {
    const x2ir::Size batch = SizeAt(image, 0), height = SizeAt(image, 2), length = SizeAt(image, 3);
    if (patch_ > 4096) Broken("config.json: patches of ", patch_, " pixels");
    const x2ir::Size rows = Divided(b_, height, patch_), columns = Divided(b_, length, patch_);
    const int64_t area = patch_ * patch_;
    // What is left beside the last patches becomes zero.
    const x2ir::Size used_rows = Times(b_, rows, patch_), used_columns = Times(b_, columns, patch_);
    Expr x = image;
    if (patch_ > 1) x = Slice(Slice(x, 2, 0, used_rows), 3, 0, used_columns);
    x = ReshapeTo(
        x, {batch, x2ir::Size(width), rows, x2ir::Size(patch_), columns, x2ir::Size(patch_)});
    x = ReshapeTo(Transpose(x, {0, 1, 3, 5, 2, 4}),
                  {batch, x2ir::Size(width), x2ir::Size(area), Times(b_, rows, columns)});
    const auto norm = [&](const Expr& y, const std::string& of) {
      return GroupNormalize(y, net_.Weight(of + ".weight", {width}),
                            net_.Weight(of + ".bias", {width}), 1, norm_.eps);
    };
    const int64_t hidden = s_.Size("ffn_multiplier", 2) * width / 16 * 16;
    if (hidden < 1 || hidden > (1 << 24))
      Broken("config.json: a feed-forward of ", hidden, " elements");
    for (int64_t i = 0; i < depth; ++i) {
      const std::string layer = StrCat(name, "transformer.layer.", i, ".");
      const Expr all = Plain(norm(x, layer + "layernorm_before"), layer + "attention.qkv_proj",
                             width, 1 + 2 * width, true);
      const Expr scores = Part(all, 1, 0, 1).Op("softmax", {}, {{"axis", 3}});
      const Expr found = Sum(Part(all, 1, 1, width) * scores, 3, true);
      const Expr seen = Part(all, 1, 1 + width, width).Op("relu") * found;
      x = x + Plain(seen, layer + "attention.out_proj", width, width, true);
      Expr y = Plain(norm(x, layer + "layernorm_after"), layer + "ffn.conv1", width, hidden, true);
      x = x + Plain(net_.Activate(y, activation_), layer + "ffn.conv2", hidden, width, true);
    }
    x = norm(x, name + "layernorm");
    x = ReshapeTo(
        x, {batch, x2ir::Size(width), x2ir::Size(patch_), x2ir::Size(patch_), rows, columns});
    x = ReshapeTo(Transpose(x, {0, 1, 4, 2, 5, 3}),
                  {batch, x2ir::Size(width), used_rows, used_columns});
    if (patch_ == 1) return x;
    return x.Op("pad", {Vector(b_, {0, 0, 0, 0, 0, 0, Minus(b_, height, used_rows),
                                    Minus(b_, length, used_columns)}),
                        x.Number(0)});
  }

  // DeepLab's head: places seen through kernels of several spreads, and the image as a whole.
  void Segment(const Expr& x) {
    const int64_t in = widths_[5], out = s_.Size("aspp_out_channels", second_ ? 512 : 256);
    const std::vector<int64_t> rates = SizesOf(s_, "atrous_rates", {6, 12, 18}, 3);
    const std::string head = "segmentation_head.", pyramid = head + "aspp.convs.";
    std::vector<Value*> seen = {Conv(x, pyramid + "0", in, out, {}, "relu")};
    for (size_t i = 0; i < rates.size(); ++i) {
      seen.push_back(
          Conv(x, StrCat(pyramid, i + 1), in, out, {.kernel = 3, .dilation = rates[i]}, "relu"));
    }
    const Expr whole =
        Conv(Reduce(x, "reduce_mean", {2, 3}, true), pyramid + "4.conv_1x1", in, out, {}, "relu");
    seen.push_back(Expand(whole, ShapeOf({b_, seen[0]})));
    const Expr all = Conv(Concat(b_, seen, 1), head + "aspp.project", 5 * out, out, {}, "relu");
    const std::string classifier = head + "classifier";
    net_.Output("logits", Plain(all, classifier, out,
                                LabelCount(net_, classifier + ".convolution.weight"), true));
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  bool second_;
  std::string prefix_, activation_;
  int64_t patch_ = 2, kernel_ = 3;
  double expand_ = 4;
  NormSpec norm_;
  std::vector<int64_t> widths_, inner_, depths_;
};

[[maybe_unused]] const bool kMobileVitRegistered[] = {
    RegisterVision("mobilevit", "MobileViT",
                   [](Net& net, const std::string& name) { MobileVitNet(net, false).Run(name); },
                   {"ForImageClassification", "Model", "ForSemanticSegmentation"}),
    RegisterVision("mobilevitv2", "MobileViTV2",
                   [](Net& net, const std::string& name) { MobileVitNet(net, true).Run(name); },
                   {"ForImageClassification", "Model", "ForSemanticSegmentation"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
