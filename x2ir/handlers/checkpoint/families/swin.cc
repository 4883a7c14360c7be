// Swin: attention within windows, every other time shifted by half a window, and stages of half the
// rows and columns.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

constexpr int64_t kMaxSwinWindow = 48;  // a table of its pairs has 5 million numbers

// [batch, rows, columns, width] with more of both at the end.
Expr PaddedAtEnds(const Expr& x, const x2ir::Size& rows, const x2ir::Size& columns) {
  if (rows.number == 0 && columns.number == 0) return x;
  const Expr pads = Vector(x.builder(), {0, 0, 0, 0, 0, rows, columns, 0});
  return x.Op("pad", {pads, x.Number(0)});
}

// The windows of a stage: sizes of the image, which windows divide once it is padded, and what all
// of its layers share.
class SwinWindows {
 public:
  SwinWindows(Net& net, const x2ir::Size& batch, const x2ir::Size& rows, const x2ir::Size& columns,
              int64_t side, const x2ir::Size& shift)
      : b_(net.b()), batch_(batch), rows_(rows), columns_(columns), side_(side), shift_(shift) {
    across_ = Count(rows), along_ = Count(columns);
    padded_rows_ = Times(b_, across_, side), padded_columns_ = Times(b_, along_, side);
    count_ = Times(b_, batch_, Times(b_, across_, along_));
  }

  int64_t area() const { return side_ * side_; }
  const x2ir::Size& count() const { return count_; }
  const x2ir::Size& rows() const { return rows_; }
  const x2ir::Size& columns() const { return columns_; }

  // [tokens, width] in the order of windows, and back.
  Expr Split(const Expr& x, int64_t width, bool shifted) {
    Expr y = ReshapeTo(x, {batch_, rows_, columns_, x2ir::Size(width)});
    y = PaddedAtEnds(y, Minus(b_, padded_rows_, rows_), Minus(b_, padded_columns_, columns_));
    if (shifted) {
      y = Gather(y, Rolled(padded_rows_, shift_, padded_rows_), 1);
      y = Gather(y, Rolled(padded_columns_, shift_, padded_columns_), 2);
    }
    y = ReshapeTo(
        y, {batch_, across_, x2ir::Size(side_), along_, x2ir::Size(side_), x2ir::Size(width)});
    return Reshape(Transpose(y, {0, 1, 3, 2, 4, 5}), std::vector<int64_t>{-1, width});
  }
  Expr Join(const Expr& x, int64_t width, bool shifted) {
    Expr y = ReshapeTo(
        x, {batch_, across_, along_, x2ir::Size(side_), x2ir::Size(side_), x2ir::Size(width)});
    y = ReshapeTo(Transpose(y, {0, 1, 3, 2, 4, 5}),
                  {batch_, padded_rows_, padded_columns_, x2ir::Size(width)});
    if (shifted) {
      y = Gather(y, Rolled(rows_, Minus(b_, padded_rows_, shift_), padded_rows_), 1);
      y = Gather(y, Rolled(columns_, Minus(b_, padded_columns_, shift_), padded_columns_), 2);
    } else {
      if (!Same(rows_, padded_rows_)) y = Slice(y, 1, 0, rows_);
      if (!Same(columns_, padded_columns_)) y = Slice(y, 2, 0, columns_);
    }
    return Reshape(y, std::vector<int64_t>{-1, width});
  }

  // [windows, 1, area, area]: what parts of a shifted window that are no neighbors get.
  Expr Mask(double apart) {
    if (mask_.value()) return mask_;
    const auto regions = [&](const x2ir::Size& n) {
      const Expr at = Iota(Scalar(b_, n));
      const auto from = [&](const x2ir::Size& last) {
        return (at >= Scalar(b_, Minus(b_, n, last))).To(DType::kInt64);
      };
      return from(side_) + from(shift_);
    };
    const Expr region =
        Unsqueeze(regions(padded_rows_), {1}) * 3.0 + Unsqueeze(regions(padded_columns_), {0});
    const Expr parts = ReshapeTo(region, {across_, x2ir::Size(side_), along_, x2ir::Size(side_)});
    const Expr windows = Reshape(Transpose(parts, {0, 2, 1, 3}), std::vector<int64_t>{-1, area()});
    const Expr scores = Where(Unsqueeze(windows, {1}) == Unsqueeze(windows, {2}),
                              Expr(b_, b_.Scalar(DType::kFloat32, 0)), apart);
    const Expr of_all =
        Expand(Unsqueeze(scores, {0, 2}),
               Vector(b_, {batch_, x2ir::Size(1), x2ir::Size(1), x2ir::Size(1), x2ir::Size(1)}));
    return mask_ = Reshape(of_all, std::vector<int64_t>{-1, 1, area(), area()});
  }

 private:
  static bool Same(const x2ir::Size& a, const x2ir::Size& b) {
    return a.number && a.number == b.number;
  }
  x2ir::Size Count(const x2ir::Size& n) { return Divided(b_, Plus(b_, n, side_ - 1), side_); }
  // (i + from) mod n for the first `count` i.
  Expr Rolled(const x2ir::Size& count, const x2ir::Size& from, const x2ir::Size& n) {
    return Mod(Iota(Scalar(b_, count)) + Scalar(b_, from), Scalar(b_, n));
  }

  Builder& b_;
  x2ir::Size batch_, rows_, columns_;
  int64_t side_;
  x2ir::Size shift_, across_, along_, padded_rows_, padded_columns_, count_;
  Expr mask_ = nullptr;
};

class SwinNet {
 public:
  SwinNet(Net& net, bool second) : net_(net), b_(net.b()), s_(net.settings()), second_(second) {}

  void Run(const std::string& class_name) {
    const std::string base = second_ ? "swinv2." : "swin.";
    prefix_ = StoredPrefix(net_, base, "embeddings.patch_embeddings.projection.weight");
    image_ = SidesOf(s_, "image_size", 224);
    patch_ = SidesOf(s_, "patch_size", 4);
    side_ = s_.Size("window_size", 7);
    width_ = s_.Size("embed_dim", 96);
    const std::vector<int64_t> depths = SizesOf(s_, "depths", {2, 2, 6, 2}),
                               heads = SizesOf(s_, "num_heads", {3, 6, 12, 24}, depths.size());
    if (second_) {
      pretrained_ = SizesOf(s_, "pretrained_window_sizes", {0, 0, 0, 0}, 0, 0);
      if (pretrained_.size() < depths.size()) {
        Broken("config.json: 'pretrained_window_sizes' has ", pretrained_.size(), " numbers for ",
               depths.size(), " stages");
      }
    }
    ratio_ = s_.Number("mlp_ratio", 4);
    activation_ = s_.Text("hidden_act", "gelu");
    bias_ = s_.Flag("qkv_bias", true);
    norm_ = {.kind = NormSpec::kLayer, .eps = s_.Number("layer_norm_eps", 1e-5)};
    s_.Ignore({"hidden_size", "num_layers", "encoder_stride", "path_norm", "out_features"});
    IgnoreStages(s_);
    net_.IgnoreWeights({prefix_ + "embeddings.mask_token", "classifier.*", "decoder.*"});

    Expr x = Embed(s_.Flag("use_absolute_embeddings", false));
    for (size_t i = 0; i < depths.size(); ++i) {
      x = Stage(x, i, depths[i], heads[i], i + 1 < depths.size());
    }
    x = net_.Norm(x, norm_, prefix_ + "layernorm", width_);
    const Expr tokens = ReshapeTo(x, {batch_, Times(b_, rows_, columns_), x2ir::Size(width_)});
    const Expr pooled = Reduce(tokens, "reduce_mean", {1});
    if (IsImageClassifier(class_name)) {
      return Classify(net_, pooled, "classifier", width_);
    }
    net_.Output("last_hidden_state", tokens);
    net_.Output("pooler_output", pooled);
  }

 private:
  static constexpr NormSpec kPlain = {.kind = NormSpec::kLayer, .eps = 1e-5};

  Expr Embed(bool positions) {
    const int64_t channels = s_.Size("num_channels", 3);
    const Expr pixels =
        PixelValues(net_, channels, positions ? std::optional(image_) : std::nullopt);
    const auto missing = [&](int64_t axis, int64_t patch) {
      const x2ir::Size size = SizeAt(pixels, axis);
      return Modulo(b_, Minus(b_, patch, Modulo(b_, size, patch)), patch);
    };
    const x2ir::Size below = missing(2, patch_[0]), right = missing(3, patch_[1]);
    Expr x = pixels;
    if (below.number != 0 || right.number != 0) {
      x = x.Op("pad", {Vector(b_, {0, 0, 0, 0, 0, 0, below, right}), x.Number(0)});
    }
    const std::string name = prefix_ + "embeddings.";
    x = net_.Conv(x, name + "patch_embeddings.projection",
                  {.in = channels,
                   .out = width_,
                   .kernel = {patch_[0], patch_[1]},
                   .stride = {patch_[0], patch_[1]}});
    batch_ = SizeAt(pixels, 0), rows_ = SizeAt(x, 2), columns_ = SizeAt(x, 3);
    x = net_.Norm(Transpose(x, {0, 2, 3, 1}), kPlain, name + "norm", width_);
    if (positions) {
      if (!rows_.number || !columns_.number) Broken("the image has no size");
      const int64_t r = *rows_.number, c = *columns_.number;
      const Expr table = net_.Weight(name + "position_embeddings", {1, r * c, width_});
      x = x + Reshape(table, std::vector<int64_t>{1, r, c, width_});
    }
    return Reshape(x, std::vector<int64_t>{-1, width_});
  }

  // How far windows are shifted: not at all where one is as large as the image.
  x2ir::Size Shift(int64_t side) {
    if (rows_.number && columns_.number) {
      return std::min(*rows_.number, *columns_.number) <= side ? 0 : side / 2;
    }
    const Expr least = Min(Scalar(b_, rows_), Scalar(b_, columns_));
    return Where(least <= static_cast<double>(side), Int(b_, 0), Int(b_, side / 2));
  }

  Expr Stage(const Expr& input, size_t number, int64_t depth, int64_t heads, bool shrinks) {
    const std::string stage = StrCat(prefix_, "encoder.layers.", number, ".");
    int64_t side = side_;
    x2ir::Size shift = 0;
    if (second_) {
      // By the configuration's image, whatever the image is.
      Sides was = {(image_[0] / patch_[0]) >> number, (image_[1] / patch_[1]) >> number};
      side = std::min(side_, was[0]);
      if (side < 1) Broken("config.json: the image is too small for ", number + 1, " stages");
      if (was[0] > side) shift = side_ / 2;
      if (std::min(side_, was[1]) != side) Refuse("windows that are not squares");
    } else {
      shift = Shift(side);
    }
    if (side > kMaxSwinWindow)
      Refuse("windows of ", side, " patches; at most ", kMaxSwinWindow, " are supported");
    SwinWindows windows(net_, batch_, rows_, columns_, side, shift);
    const int64_t width = width_;
    if (width % heads != 0)
      Broken("config.json: ", heads, " heads cannot share ", width, " elements");
    Context context(net_, windows.count(), x2ir::Size(windows.area()));
    Layer layer;
    layer.norm = norm_;
    layer.before_attention = layer.before_mlp = "";
    (second_ ? layer.after_attention : layer.before_attention) = "layernorm_before";
    (second_ ? layer.after_mlp : layer.before_mlp) = "layernorm_after";
    layer.mlp = {.hidden = ScaledSize(width, ratio_),
                 .activation = activation_,
                 .up = "intermediate.dense",
                 .down = "output.dense",
                 .bias = true};
    Attention& a = layer.attention;
    a.heads = a.kv_heads = heads, a.size = width / heads;
    a.q = "attention.self.query", a.k = "attention.self.key", a.v = "attention.self.value";
    a.out = "attention.output.dense";
    a.q_bias = a.v_bias = bias_, a.k_bias = bias_ && !second_;
    a.out_bias = true;
    Expr x = input;
    for (int64_t i = 0; i < depth; ++i) {
      const bool shifted = i % 2 == 1 && shift.number != 0;
      layer.prefix = StrCat(stage, "blocks.", i, ".");
      net_.IgnoreWeights({layer.prefix + "attention.self.relative_position_index",
                          layer.prefix + "attention.self.relative_coords_table",
                          layer.prefix + "attn_mask"});
      layer.mixer = [&](Net&, const Layer& l, const Expr& h) {
        Expr scores = second_ ? LearnedBias(l, side, pretrained_[number]) : TableBias(l, side);
        if (shifted) scores = scores + windows.Mask(second_ ? -200 : -100);
        context.SetBias(scores);
        const Expr y = windows.Split(h, width, shifted);
        const Expr mixed = second_ ? CosineAttend(context, l, y, width)
                                   : Attend(context, l.attention, l.prefix, y, width);
        return windows.Join(mixed, width, shifted);
      };
      x = RunLayer(context, layer, x, width);
    }
    return shrinks ? Merged(x, stage + "downsample.") : x;
  }

  // Two by two patches become one of twice the width.
  Expr Merged(const Expr& x, const std::string& name) {
    const auto half = [&](const x2ir::Size& n) { return Divided(b_, Plus(b_, n, 1), 2); };
    const x2ir::Size rows = half(rows_), columns = half(columns_);
    Expr y = ReshapeTo(x, {batch_, rows_, columns_, x2ir::Size(width_)});
    y = PaddedAtEnds(y, Minus(b_, Times(b_, rows, 2), rows_),
                     Minus(b_, Times(b_, columns, 2), columns_));
    y = ReshapeTo(y, {batch_, rows, x2ir::Size(2), columns, x2ir::Size(2), x2ir::Size(width_)});
    const int64_t four = 4 * width_, two = 2 * width_;
    if (two > (1 << 24)) Broken("config.json: a stage of ", two, " elements");
    y = Reshape(Transpose(y, {0, 1, 3, 4, 2, 5}), std::vector<int64_t>{-1, four});
    if (!second_) y = net_.Norm(y, kPlain, name + "norm", four);
    y = net_.Linear(y, name + "reduction", four, two, false);
    if (second_) y = net_.Norm(y, kPlain, name + "norm", two);
    width_ = two, rows_ = rows, columns_ = columns;
    return y;
  }

  // [area, area]: the row of a table of offsets for each pair of places in a window.
  Expr Index(int64_t side) {
    for (const auto& [known, index] : indexes_) {
      if (known == side) return index;
    }
    std::vector<int64_t> all;
    const int64_t area = side * side, span = 2 * side - 1;
    for (int64_t i = 0; i < area; ++i) {
      for (int64_t j = 0; j < area; ++j) {
        all.push_back((i / side - j / side + side - 1) * span + i % side - j % side + side - 1);
      }
    }
    const Expr index = Reshape(Ints(b_, all), std::vector<int64_t>{area, area});
    indexes_.emplace_back(side, index);
    return index;
  }

  // [1, heads, area, area] of a table [offsets, heads].
  Expr OfPairs(const Expr& table, int64_t side) {
    return Unsqueeze(Gather(Transpose(table, {1, 0}), Index(side), 1), {0});
  }

  Expr TableBias(const Layer& layer, int64_t side) {
    const int64_t span = 2 * side - 1;
    return OfPairs(net_.Weight(layer.prefix + "attention.self.relative_position_bias_table",
                               {span * span, layer.attention.heads}),
                   side);
  }

  // By a small network of the offsets, whose logarithms are within 1 for windows of training.
  Expr LearnedBias(const Layer& layer, int64_t side, int64_t pretrained) {
    const float most = static_cast<float>(pretrained > 0 ? pretrained - 1 : side - 1);
    std::vector<double> places;
    for (int64_t r = 1 - side; r < side; ++r) {
      for (int64_t c = 1 - side; c < side; ++c) {
        for (const int64_t offset : {r, c}) {
          float x = static_cast<float>(offset);
          if (pretrained > 0 || side > 1) x /= most;
          x *= 8;
          const float size = portable::log2(std::abs(x) + 1.0F) / 3.0F;
          places.push_back(x < 0 ? -size : x > 0 ? size : 0.0F);
        }
      }
    }
    for (const double x : places) {
      if (!std::isfinite(x)) Broken("config.json: a pretrained window of one patch");
    }
    const int64_t span = 2 * side - 1;
    const std::string name = layer.prefix + "attention.self.continuous_position_bias_mlp.";
    Expr x = NumbersAs(b_, DType::kFloat32, {span * span, 2}, places, "offsets");
    x = net_.Linear(x, name + "0", 2, 512).Op("relu");
    x = net_.Linear(x, name + "2", 512, layer.attention.heads, false);
    return OfPairs(x.Op("sigmoid") * 16.0, side);
  }

  // Scores are cosines by a learned factor.
  Expr CosineAttend(Context& context, const Layer& layer, const Expr& x, int64_t width) {
    const Attention& a = layer.attention;
    const auto heads = [&](const std::string& name, bool bias) {
      const Expr all = net_.Linear(x, layer.prefix + name, width, width, bias);
      return context.Heads(all, a.heads, a.size);
    };
    const auto unit = [&](const Expr& y) { return y / Max(VectorNorm(y, 2, {3}, true), 1e-12); };
    const Expr factor =
        Exp(Min(net_.Weight(layer.prefix + "attention.self.logit_scale", {a.heads, 1, 1}),
                portable::log(100.0)));
    const Expr q = unit(heads(a.q, a.q_bias)) * factor, k = unit(heads(a.k, a.k_bias));
    const Expr y =
        q.Op("attention", {k, heads(a.v, a.v_bias), context.MaskOf(a)}, {{"scale", 1.0F}});
    return net_.Linear(context.Rows(y, width), layer.prefix + a.out, width, width);
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  bool second_;
  std::string prefix_, activation_;
  Sides image_ = {}, patch_ = {};
  int64_t side_ = 0, width_ = 0;
  double ratio_ = 4;
  bool bias_ = true;
  NormSpec norm_;
  std::vector<int64_t> pretrained_;
  x2ir::Size batch_, rows_, columns_;
  std::vector<std::pair<int64_t, Expr>> indexes_;
};

[[maybe_unused]] const bool kSwinRegistered[] = {
    RegisterVision("swin", "Swin",
                   [](Net& net, const std::string& name) { SwinNet(net, false).Run(name); }),
    RegisterVision("swinv2", "Swinv2",
                   [](Net& net, const std::string& name) { SwinNet(net, true).Run(name); }),
};

}  // namespace
}  // namespace x2ir::checkpoint
