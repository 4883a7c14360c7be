// LeViT: attention by products whose norms are those of batches, with a bias for each distance, and
// steps between the stages in which queries are those of every other row and column.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class LevitNet {
 public:
  explicit LevitNet(Net& net) : net_(net), b_(net.b()), s_(net.settings()) {}

  void Run(const std::string& class_name) {
    prefix_ = StoredPrefix(net_, "levit.", "patch_embeddings.embedding_layer_1.convolution.weight");
    const std::vector<int64_t> widths = SizesOf(s_, "hidden_sizes", {128, 256, 384});
    const size_t count = widths.size();
    const auto sizes = [&](std::string_view name, std::vector<int64_t> fallback,
                           int64_t least = 1) {
      return SizesOf(s_, name, std::move(fallback), count, least);
    };
    const std::vector<int64_t> heads = sizes("num_attention_heads", {4, 8, 12}),
                               depths = sizes("depths", {4, 4, 4}),
                               keys = sizes("key_dim", {16, 16, 16}),
                               ratios = sizes("attention_ratio", {2, 2, 2}),
                               hidden = sizes("mlp_ratio", {2, 2, 2}, 0);
    const int64_t image = s_.Size("image_size", 224), patch = s_.Size("patch_size", 16);
    const auto steps = Steps(keys, widths);

    side_ = image / patch;
    Expr x = Embed(widths[0], image);
    for (size_t i = 0; i < count; ++i) {
      number_ = 0;
      stage_ = StrCat(prefix_, "encoder.stages.", i, ".layers.");
      for (int64_t j = 0; j < depths[i]; ++j) {
        x = x + AttendAll(x, Next() + "module.", widths[i], heads[i], keys[i], ratios[i]);
        if (hidden[i] > 0) x = x + Feed(x, Next() + "module.", widths[i], hidden[i]);
      }
      if (i < steps.size()) x = Shrunk(x, widths[i], widths[i + 1], steps[i]);
    }
    const int64_t width = widths.back();
    const Expr tokens = Reshape(x, std::vector<int64_t>{-1, side_ * side_, width});
    const Expr pooled = Reduce(tokens, "reduce_mean", {1});
    if (class_name == "LevitModel") {
      net_.IgnoreWeights({"classifier.*", "classifier_distill.*"});
      net_.Output("last_hidden_state", tokens);
      return net_.Output("pooler_output", pooled);
    }
    const auto logits = [&](const std::string& name) {
      const Expr normed = net_.BatchNorm(pooled, name + ".batch_norm", width, 1e-5);
      return net_.Linear(normed, name + ".linear", width,
                         LabelCount(net_, name + ".linear.weight"));
    };
    const Expr of_class = logits("classifier");
    if (IsImageClassifier(class_name)) {
      net_.IgnoreWeights({"classifier_distill.*"});
      return net_.Output("logits", of_class);
    }
    const Expr of_teacher = logits("classifier_distill");
    net_.Output("logits", (of_class + of_teacher) * 0.5);
    net_.Output("cls_logits", of_class);
    net_.Output("distillation_logits", of_teacher);
  }

 private:
  struct Step {
    int64_t key, heads, ratio, hidden, stride;
  };
  // Between stages: ["Subsample", key_dim, heads, attention ratio, mlp ratio, stride].
  std::vector<Step> Steps(const std::vector<int64_t>& keys, const std::vector<int64_t>& widths) {
    std::vector<Step> steps;
    const Json& all = s_.Raw("down_ops");
    for (size_t i = 0; i + 1 < widths.size(); ++i) {
      if (!all.is_array()) {
        steps.push_back({keys[0], widths[i] / std::max<int64_t>(keys[0], 1), 4, 2, 2});
        continue;
      }
      const Json& one = all.at(i);
      std::array<int64_t, 5> n = {};
      for (size_t k = 0; k < n.size(); ++k) {
        const Json& number = one.at(k + 1);
        if (one.at(0).text() != "Subsample" || !number.is_number() ||
            number.Number() < (k == 3 ? 0 : 1) || number.Number() > 65536 ||
            number.Number() != std::floor(number.Number())) {
          Broken(
              "config.json: 'down_ops' is not a list of [\"Subsample\", five numbers] for each "
              "stage but the last");
        }
        n[k] = number.Int();
      }
      steps.push_back({n[0], n[1], n[2], n[3], n[4]});
    }
    return steps;
  }

  Expr Embed(int64_t width, int64_t image) {
    const int64_t channels = s_.Size("num_channels", 3), kernel = s_.Size("kernel_size", 3),
                  stride = s_.Size("stride", 2), pad = s_.Int("padding", 1);
    if (pad < 0 || pad > 4096) Broken("config.json: 'padding' is ", pad);
    Expr x = PixelValues(net_, channels, Sides{image, image});
    int64_t in = channels;
    for (int64_t i = 1; i <= 4; ++i) {
      const std::string name = StrCat(prefix_, "patch_embeddings.embedding_layer_", i);
      const int64_t out = width >> (4 - i);
      if (out < 1) Broken("config.json: a first stage of ", width, " elements");
      x = Convolved(net_, x,
                    {.conv = name + ".convolution",
                     .norm = name + ".batch_norm",
                     .spec = {.in = in,
                              .out = out,
                              .kernel = {kernel, kernel},
                              .stride = {stride, stride},
                              .padding = {pad, pad}},
                     .activation = i < 4 ? "hardswish" : ""});
      in = out;
    }
    for (const int64_t axis : {2, 3}) {
      if (const Dim side = DimAt(x, axis); !side.is_static() || side.value() != side_) {
        Broken("config.json: the embedding does not make ", side_, " by ", side_, " patches");
      }
    }
    return Reshape(Transpose(x, {0, 2, 3, 1}), std::vector<int64_t>{-1, width});
  }

  std::string Next() { return StrCat(stage_, number_++, "."); }

  Expr Normed(const Expr& x, const std::string& name, int64_t in, int64_t out) {
    return net_.BatchNorm(net_.Linear(x, name + ".linear", in, out, false), name + ".batch_norm",
                          out, 1e-5);
  }
  static Expr HardSwish(const Expr& x) { return x.Op("hard_swish"); }

  Expr Feed(const Expr& x, const std::string& name, int64_t width, int64_t ratio) {
    return Normed(HardSwish(Normed(x, name + "linear_up", width, width * ratio)),
                  name + "linear_down", width * ratio, width);
  }

  // [1, heads, queries, keys]: queries are of every stride-th row and column.
  Expr Distances(const std::string& name, int64_t heads, int64_t queries, int64_t stride) {
    if (side_ > 64) Refuse("images of ", side_, " by ", side_, " patches");
    // Distances have numbers in the order in which they come up.
    std::map<std::pair<int64_t, int64_t>, int64_t> known;
    std::vector<int64_t> all;
    const auto each = [](int64_t side, const auto& f) {
      for (int64_t r = 0; r < side; ++r) {
        for (int64_t c = 0; c < side; ++c) f(r, c);
      }
    };
    each(queries, [&](int64_t qr, int64_t qc) {
      each(side_, [&](int64_t r, int64_t c) {
        const std::pair offset(std::abs(qr * stride - r), std::abs(qc * stride - c));
        all.push_back(known.try_emplace(offset, static_cast<int64_t>(known.size())).first->second);
      });
    });
    const Expr index =
        Reshape(Ints(b_, all), std::vector<int64_t>{queries * queries, side_ * side_});
    const Expr table =
        net_.Weight(name + "attention_biases", {heads, static_cast<int64_t>(known.size())});
    net_.IgnoreWeights({name + "attention_bias_idxs"});
    return Unsqueeze(Gather(table, index, 1), {0});
  }

  Expr Heads(const Expr& x, int64_t length, int64_t heads, int64_t size) {
    return Transpose(Reshape(x, std::vector<int64_t>{-1, length, heads, size}), {0, 2, 1, 3});
  }
  Expr Scored(const Expr& q, const Expr& k, const Expr& v, const Expr& bias,
              const std::string& name, int64_t inner, int64_t out) {
    const Expr found = q.Op("attention", {k, v, bias});
    const Expr rows = Reshape(Transpose(found, {0, 2, 1, 3}), std::vector<int64_t>{-1, inner});
    return Normed(HardSwish(rows), name + "projection", inner, out);
  }

  Expr AttendAll(const Expr& x, const std::string& name, int64_t width, int64_t heads, int64_t key,
                 int64_t ratio) {
    const int64_t length = side_ * side_, value = ratio * key, size = 2 * key + value;
    const Expr all =
        Heads(Normed(x, name + "queries_keys_values", width, heads * size), length, heads, size);
    return Scored(Part(all, 3, 0, key), Part(all, 3, key, key), Part(all, 3, 2 * key, value),
                  Distances(name, heads, side_, 1), name, heads * value, width);
  }

  Expr Shrunk(const Expr& x, int64_t in, int64_t out, const Step& step) {
    const std::string name = Next();
    const int64_t length = side_ * side_, value = step.ratio * step.key, size = step.key + value,
                  side = (side_ - 1) / step.stride + 1;
    const Expr all =
        Heads(Normed(x, name + "keys_values", in, step.heads * size), length, step.heads, size);
    Expr some = Reshape(x, std::vector<int64_t>{-1, side_, side_, in});
    for (const int64_t axis : {1, 2}) some = Slice(some, axis, 0, kToEnd, step.stride);
    some = Reshape(some, std::vector<int64_t>{-1, in});
    const Expr q = Heads(Normed(some, name + "queries", in, step.heads * step.key), side * side,
                         step.heads, step.key);
    Expr y = Scored(q, Part(all, 3, 0, step.key), Part(all, 3, step.key, value),
                    Distances(name, step.heads, side, step.stride), name, step.heads * value, out);
    side_ = side;
    if (step.hidden > 0) y = y + Feed(y, Next() + "module.", out, step.hidden);
    return y;
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  std::string prefix_, stage_;
  int64_t side_ = 0, number_ = 0;
};

[[maybe_unused]] const bool kLevitRegistered[] = {
    RegisterVision("levit", "Levit",
                   [](Net& net, const std::string& name) { LevitNet(net).Run(name); },
                   {"ForImageClassification", "Model", "ForImageClassificationWithTeacher"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
