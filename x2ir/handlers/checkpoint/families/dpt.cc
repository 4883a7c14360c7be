// DPT and Depth Anything: images out of the results of several layers of a tower, from coarse to
// fine.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class DptNet {
 public:
  DptNet(Net& net, bool anything)
      : net_(net), b_(net.b()), s_(net.settings()), anything_(anything) {}

  void Run(const std::string& class_name) {
    widths_ = SizesOf(s_, "neck_hidden_sizes",
                      anything_ ? std::vector<int64_t>{48, 96, 192, 384}
                                : std::vector<int64_t>{96, 192, 384, 768});
    fused_ = s_.Size("fusion_hidden_size", anything_ ? 64 : 256);
    factors_ = s_.Numbers("reassemble_factors");
    if (!s_.Has("reassemble_factors")) factors_ = {4, 2, 1, 0.5};
    if (!anything_) {
      s_.Only("is_hybrid", false);
      readout_ = s_.Text("readout_type", "project");
      batch_norm_ = s_.Flag("use_batch_norm_in_fusion_residual", false);
      bias_ = s_.Flag("use_bias_in_fusion_residual", !batch_norm_);
      s_.Ignore({"use_auxiliary_head", "auxiliary_loss_weight", "semantic_loss_ignore_index",
                 "semantic_classifier_dropout", "backbone_featmap_shape", "pooler_output_size",
                 "neck_ignore_stages", "expand_channels", "pooler_act"});
      net_.IgnoreWeights({"auxiliary_head.*"});
    }
    s_.Ignore({"use_pretrained_backbone", "use_timm_backbone", "backbone_kwargs"});
    const std::vector<Expr> seen = See();
    if (seen.size() != widths_.size() || factors_.size() < widths_.size()) {
      Broken("config.json: ", seen.size(), " layers and ", factors_.size(), " factors for ",
             widths_.size(), " sizes of the neck");
    }
    std::vector<Expr> features;
    for (size_t i = 0; i < seen.size(); ++i) features.push_back(Reassembled(seen[i], i));
    const std::vector<Expr> all = Fused(features);
    const int64_t at = s_.Int("head_in_index", -1), count = static_cast<int64_t>(all.size());
    if (at < -count || at >= count) Broken("config.json: 'head_in_index' is ", at);
    const Expr x = all[static_cast<size_t>(at < 0 ? at + count : at)];
    if (anything_) return DepthOfAnything(x);
    if (class_name == "DPTForSemanticSegmentation") {
      s_.Ignore({"add_projection"});
      return Segment(x);
    }
    Depth(x);
  }

 private:
  // The tokens of the layers that count, [batch, tokens, width].
  std::vector<Expr> See() {
    std::vector<Expr> seen;
    const bool nested = anything_ || s_.Has("backbone_config");
    ImageTower t;
    if (nested) {
      Settings& s = s_.Nested("backbone_config");
      s.Only("model_type", "dinov2");
      t = Dinov2Tower(net_, s, "backbone.", false);
      s.Only("reshape_hidden_states", false);
      if (!anything_) {
        // Settings of a tower that is not there.
        s_.Ignore({"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                   "layer_norm_eps", "image_size", "patch_size", "num_channels", "qkv_bias",
                   "backbone_out_indices"});
      }
    } else {
      s_.Ignore({"backbone_config", "backbone"});
      t = VitTower(net_, s_, "dpt.", 1e-12);
      t.extra = {{.name = "embeddings.cls_token"}};
      t.stretch = ImageTower::kSquareLinear;
      net_.IgnoreWeights({t.prefix + "layernorm.*"});
    }
    width_ = t.width;
    patch_ = t.patch[0];
    if (t.patch[0] != t.patch[1]) Refuse("config.json: patches that are not squares");
    const bool normed = nested && s_.Nested("backbone_config").Flag("apply_layernorm", true);
    const NormSpec norm = t.norm;
    const std::string name = t.prefix + "layernorm";
    t.final_norm.clear();  // each layer that counts has it, or none
    if (nested && !normed) net_.IgnoreWeights({name + ".*"});
    tower_ = RunTower(net_, t, PixelsOf(net_, t));
    for (const int64_t i : Indices(nested, static_cast<int64_t>(t.layers.size()))) {
      Expr x = tower_.stages[static_cast<size_t>(i)];
      if (normed) x = net_.Norm(x, norm, name, width_);
      seen.push_back(ReshapeTo(x, {tower_.batch, tower_.length, x2ir::Size(width_)}));
    }
    activation_ = readout_ == "project" ? s_.Text("hidden_act", "gelu") : "";
    if (!anything_) s_.Ignore({"hidden_act"});
    return seen;
  }

  // Which layers count; 0 is what the first one is given.
  std::vector<int64_t> Indices(bool nested, int64_t layers) {
    std::vector<int64_t> all;
    if (!nested) {
      all = s_.Ints("backbone_out_indices");
      if (!s_.Has("backbone_out_indices")) all = {2, 5, 8, 11};
      for (int64_t& i : all) ++i;
    } else {
      Settings& s = s_.Nested("backbone_config");
      all = s.Ints("out_indices");
      if (!s.Has("out_indices")) Refuse("config.json: 'backbone_config' without 'out_indices'");
      for (int64_t& i : all) i += i < 0 ? layers + 1 : 0;
    }
    std::sort(all.begin(), all.end());
    for (const int64_t i : all) {
      if (i < 0 || i > layers) Broken("config.json: layer ", i, " of ", layers, " is to count");
    }
    return all;
  }

  Expr Conv(const Expr& x, const std::string& name, int64_t in, int64_t out, int64_t kernel,
            bool bias = true, int64_t stride = 1) {
    return net_.Conv(x, name,
                     {.in = in,
                      .out = out,
                      .kernel = {kernel, kernel},
                      .stride = {stride, stride},
                      .padding = SamePads(kernel),
                      .bias = bias});
  }
  Expr Linear(const Expr& x, const std::vector<x2ir::Size>& sizes, bool corners) {
    if (const auto known = KnownSizes(x)) {
      bool same = known->size() == sizes.size();
      for (size_t i = 0; same && i < sizes.size(); ++i) same = sizes[i].number == (*known)[i];
      if (same) return x;
    }
    return ResizedTo(x, sizes, Interpolated("linear", corners));
  }
  Expr Doubled(const Expr& x) {
    return ResizedBy(x, std::vector<float>{1, 1, 2, 2}, Interpolated("linear", true));
  }

  Expr Reassembled(const Expr& tokens, size_t i) {
    const std::string stage = "neck.reassemble_stage.", layer = StrCat(stage, "layers.", i, ".");
    Expr x = Slice(tokens, 1, 1, kToEnd);
    const Expr token = SliceAt(tokens, 1, 0);
    if (!anything_ && readout_ == "project") {
      const Expr of_all = Expand(
          token,
          Vector(b_, {x2ir::Size(1), Times(b_, tower_.rows, tower_.columns), x2ir::Size(1)}));
      x = net_.Linear(Concat(b_, {x, of_all}, 2), StrCat(stage, "readout_projects.", i, ".0"),
                      2 * width_, width_);
      x = net_.Activate(x, activation_);
    } else if (!anything_ && readout_ == "add") {
      x = x + token;
    } else if (!anything_ && readout_ != "ignore") {
      Broken("config.json: 'readout_type' is '", readout_, "'");
    }
    x = ReshapeTo(x, {tower_.batch, tower_.rows, tower_.columns, x2ir::Size(width_)});
    x = Conv(Transpose(x, {0, 3, 1, 2}), layer + "projection", width_, widths_[i], 1);
    const double factor = factors_[i];
    const int64_t width = widths_[i];
    if (factor > 1) {
      if (factor != std::floor(factor) || factor > 4096)
        Broken("config.json: a factor of ", factor);
      const auto side = static_cast<int64_t>(factor);
      Window window;
      window.kernel = window.strides = {side, side};
      x = MakeConvTranspose(x, net_.Weight(layer + "resize.weight", {width, width, side, side}),
                            net_.Weight(layer + "resize.bias", {width}), window, 1);
    } else if (factor < 1) {
      const double stride = std::trunc(1 / factor);
      if (!(stride >= 1 && stride < 4096)) Broken("config.json: a factor of ", factor);
      x = Conv(x, layer + "resize", width, width, 3, true, static_cast<int64_t>(stride));
    }
    return Conv(x, StrCat("neck.convs.", i), width, fused_, 3, false);
  }

  Expr Residual(const Expr& x, const std::string& name) {
    Expr y = x;
    for (const char* number : {"1", "2"}) {
      y = Conv(y.Op("relu"), name + "convolution" + number, fused_, fused_, 3, bias_);
      if (batch_norm_) y = net_.BatchNorm(y, name + "batch_norm" + number, fused_, 1e-5);
    }
    return x + y;
  }

  // From the last feature to the first, each in the size of the next, the last one in twice its
  // own.
  std::vector<Expr> Fused(const std::vector<Expr>& features) {
    std::vector<Expr> all;
    for (size_t i = 0; i < features.size(); ++i) {
      const std::string layer = StrCat("neck.fusion_stage.layers.", i, ".");
      const Expr& feature = features[features.size() - 1 - i];
      Expr x = feature;
      if (i == 0) {
        net_.IgnoreWeights({layer + "residual_layer1.*"});
      } else {
        const Expr& before = all.back();
        x = before + Residual(Linear(feature, AllSizes(before), false), layer + "residual_layer1.");
      }
      x = Residual(x, layer + "residual_layer2.");
      if (anything_ && i + 1 < features.size()) {
        const Expr& next = features[features.size() - 2 - i];
        x = Linear(x, {tower_.batch, x2ir::Size(fused_), SizeAt(next, 2), SizeAt(next, 3)}, true);
      } else {
        x = Doubled(x);
      }
      all.push_back(Conv(x, layer + "projection", fused_, fused_, 1));
    }
    return all;
  }

  void DepthOfAnything(const Expr& x) {
    const int64_t half = fused_ / 2, hidden = s_.Size("head_hidden_size", 32),
                  patch = s_.Size("patch_size", 14);
    const std::string kind = s_.Text("depth_estimation_type", "relative");
    if (kind != "relative" && kind != "metric")
      Broken("config.json: 'depth_estimation_type' is '", kind, "'");
    if (patch != patch_ || s_.Size("reassemble_hidden_size", width_) != width_) {
      Refuse("config.json: a patch or a width that is not that of the backbone");
    }
    Expr y = Conv(x, "head.conv1", fused_, half, 3);
    y = Linear(y,
               {tower_.batch, x2ir::Size(half), Times(b_, tower_.rows, patch),
                Times(b_, tower_.columns, patch)},
               true);
    y = Conv(y, "head.conv2", half, hidden, 3).Op("relu");
    y = Conv(y, "head.conv3", hidden, 1, 1).Op(kind == "metric" ? "sigmoid" : "relu");
    net_.Output("predicted_depth", Squeeze(Scaled(y, s_.Number("max_depth", 1)), {1}));
  }

  void Depth(const Expr& x) {
    Expr y = x;
    if (s_.Flag("add_projection", false)) y = Conv(y, "head.projection", 256, 256, 3).Op("relu");
    y = Doubled(Conv(y, "head.head.0", fused_, fused_ / 2, 3));
    y = Conv(y, "head.head.2", fused_ / 2, 32, 3).Op("relu");
    y = Conv(y, "head.head.4", 32, 1, 1).Op("relu");
    net_.Output("predicted_depth", Squeeze(y, {1}));
  }

  void Segment(const Expr& x) {
    Expr y = Convolved(net_, x,
                       {.conv = "head.head.0",
                        .norm = "head.head.1",
                        .spec = {.in = fused_, .out = fused_, .kernel = {3, 3}, .padding = {1, 1}},
                        .activation = "relu"});
    y = Conv(y, "head.head.4", fused_, LabelCount(net_, "head.head.4.weight"), 1);
    net_.Output("logits", Doubled(y));
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  bool anything_;
  std::vector<int64_t> widths_;
  std::vector<double> factors_;
  std::string readout_, activation_;
  int64_t fused_ = 0, width_ = 0, patch_ = 0;
  bool batch_norm_ = false, bias_ = true;
  Encoded tower_;
};

[[maybe_unused]] const bool kDptRegistered[] = {
    RegisterVision("dpt", "DPT",
                   [](Net& net, const std::string& name) { DptNet(net, false).Run(name); },
                   {"ForDepthEstimation", "ForSemanticSegmentation"}),
    RegisterVision("depth_anything", "DepthAnything",
                   [](Net& net, const std::string& name) { DptNet(net, true).Run(name); },
                   {"ForDepthEstimation"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
