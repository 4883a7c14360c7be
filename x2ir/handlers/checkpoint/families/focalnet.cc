// FocalNet: in place of attention, what is around a place, in wider and wider views, modulates it.
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class FocalNet {
 public:
  explicit FocalNet(Net& net) : net_(net), b_(net.b()), s_(net.settings()) {}

  void Run(const std::string& class_name) {
    prefix_ = StoredPrefix(net_, "focalnet.", "embeddings.patch_embeddings.projection.weight");
    const std::vector<int64_t> depths = SizesOf(s_, "depths", {2, 2, 6, 2});
    const std::vector<int64_t> levels = SizesOf(s_, "focal_levels", {2, 2, 2, 2}),
                               windows = SizesOf(s_, "focal_windows", {3, 3, 3, 3});
    if (levels.size() < depths.size() || windows.size() < depths.size()) {
      Broken("config.json: 'focal_levels' and 'focal_windows' have ", levels.size(), " and ",
             windows.size(), " numbers for ", depths.size(), " stages");
    }
    activation_ = s_.Text("hidden_act", "gelu");
    ratio_ = s_.Number("mlp_ratio", 4);
    scaled_ = s_.Flag("use_layerscale", false);
    after_ = s_.Flag("use_post_layernorm", false);
    inner_norm_ = s_.Flag("use_post_layernorm_in_modulation", false);
    mean_ = s_.Flag("normalize_modulator", false);
    convolves_ = s_.Flag("use_conv_embed", false);
    norm_ = {.kind = NormSpec::kLayer, .eps = s_.Number("layer_norm_eps", 1e-5)};
    s_.Ignore({"image_size", "hidden_sizes", "layerscale_value", "encoder_stride"});
    IgnoreStages(s_);
    net_.IgnoreWeights({prefix_ + "embeddings.mask_token", "classifier.*", "decoder.*"});

    const int64_t channels = s_.Size("num_channels", 3);
    int64_t width = s_.Size("embed_dim", 96);
    const Sides patch = SidesOf(s_, "patch_size", 4);
    const Expr pixels = PixelValues(net_, channels);
    Expr x = Embedded(pixels, prefix_ + "embeddings.patch_embeddings.", channels, width, patch,
                      {7, 4, 2});
    x = net_.Norm(x, norm_, prefix_ + "embeddings.norm", width);
    for (size_t i = 0; i < depths.size(); ++i) {
      const std::string stage = StrCat(prefix_, "encoder.stages.", i, ".");
      for (int64_t j = 0; j < depths[i]; ++j) {
        x = Layer(x, StrCat(stage, "layers.", j, "."), width, levels[i], windows[i]);
      }
      if (i + 1 == depths.size()) break;
      if (2 * width > (1 << 24)) Broken("config.json: a stage of ", 2 * width, " elements");
      const std::string down = stage + "downsample.";
      x = Embedded(Transpose(x, {0, 3, 1, 2}), down, width, 2 * width, {2, 2}, {3, 2, 1});
      width *= 2;
      x = net_.Norm(x, norm_, down + "norm", width);
    }
    x = net_.Norm(x, norm_, prefix_ + "layernorm", width);
    const Expr pooled = Reduce(x, "reduce_mean", {1, 2});
    if (IsImageClassifier(class_name)) return Classify(net_, pooled, "classifier", width);
    net_.Output("last_hidden_state",
                ReshapeTo(x, {SizeAt(pixels, 0), x2ir::Size(-1), x2ir::Size(width)}));
    net_.Output("pooler_output", pooled);
  }

 private:
  struct Overlap {
    int64_t kernel, stride, pad;
  };
  // An image padded to whole patches, as [batch, rows, columns, width].
  Expr Embedded(const Expr& image, const std::string& name, int64_t in, int64_t out,
                const Sides& patch, const Overlap& overlap) {
    const auto missing = [&](int64_t axis, int64_t size) {
      return Modulo(b_, Minus(b_, size, Modulo(b_, SizeAt(image, axis), size)), size);
    };
    const x2ir::Size below = missing(2, patch[0]), right = missing(3, patch[1]);
    Expr x = image;
    if (below.number != 0 || right.number != 0) {
      x = x.Op("pad", {Vector(b_, {0, 0, 0, 0, 0, 0, below, right}), x.Number(0)});
    }
    Net::ConvSpec conv = {
        .in = in, .out = out, .kernel = {patch[0], patch[1]}, .stride = {patch[0], patch[1]}};
    if (convolves_) {
      conv.kernel = {overlap.kernel, overlap.kernel};
      conv.stride = {overlap.stride, overlap.stride};
      conv.padding = {overlap.pad, overlap.pad};
    }
    return Transpose(net_.Conv(x, name + "projection", conv), {0, 2, 3, 1});
  }

  Expr Layer(const Expr& x, const std::string& name, int64_t width, int64_t levels,
             int64_t window) {
    const auto norm = [&](const Expr& y, const char* part) {
      return net_.Norm(y, norm_, name + part, width);
    };
    const auto branch = [&](const Expr& y, const char* scale) {
      return scaled_ ? y * net_.Weight(name + scale, {width}) : y;
    };
    const int64_t hidden = ScaledSize(width, ratio_);
    const auto feed = [&](const Expr& y) {
      const Expr wide = net_.Linear(y, name + "mlp.fc1", width, hidden);
      return net_.Linear(net_.Activate(wide, activation_), name + "mlp.fc2", hidden, width);
    };
    const Expr seen =
        after_ ? norm(Modulated(x, name + "modulation.", width, levels, window), "norm1")
               : Modulated(norm(x, "norm1"), name + "modulation.", width, levels, window);
    const Expr y = x + branch(seen, "gamma_1");
    return y + branch(after_ ? norm(feed(y), "norm2") : feed(norm(y, "norm2")), "gamma_2");
  }

  Expr Modulated(const Expr& x, const std::string& name, int64_t width, int64_t levels,
                 int64_t window) {
    const Expr all = Transpose(
        net_.Linear(x, name + "projection_in", width, 2 * width + levels + 1), {0, 3, 1, 2});
    const Expr gates = Part(all, 1, 2 * width, levels + 1);
    Expr view = Part(all, 1, width, width), sum = nullptr;
    for (int64_t i = 0; i < levels; ++i) {
      const int64_t kernel = window + 2 * i;
      if (kernel % 2 == 0) Refuse("config.json: a focal window of ", kernel, ", an even one");
      view = net_.Conv(view, StrCat(name, "focal_layers.", i, ".0"),
                       {.in = width,
                        .out = width,
                        .kernel = {kernel, kernel},
                        .padding = {kernel / 2, kernel / 2},
                        .groups = width,
                        .bias = false})
                 .Op("gelu");
      const Expr part = view * Part(gates, 1, i, 1);
      sum = sum.value() ? sum + part : part;
    }
    const Expr whole = Reduce(view, "reduce_mean", {2, 3}, true).Op("gelu");
    sum = sum + whole * Part(gates, 1, levels, 1);
    if (mean_) sum = Scaled(sum, 1 / static_cast<double>(levels + 1));
    const Expr by =
        net_.Conv(sum, name + "projection_context", {.in = width, .out = width, .kernel = {1, 1}});
    Expr y = Transpose(Part(all, 1, 0, width) * by, {0, 2, 3, 1});
    if (inner_norm_) y = net_.Norm(y, norm_, name + "layernorm", width);
    return net_.Linear(y, name + "projection_out", width, width);
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  std::string prefix_, activation_;
  double ratio_ = 4;
  bool scaled_ = false, after_ = false, inner_norm_ = false, mean_ = false, convolves_ = false;
  NormSpec norm_;
};

[[maybe_unused]] const bool kFocalNetRegistered[] = {
    RegisterVision("focalnet", "FocalNet",
                   [](Net& net, const std::string& name) { FocalNet(net).Run(name); }),
};

}  // namespace
}  // namespace x2ir::checkpoint
