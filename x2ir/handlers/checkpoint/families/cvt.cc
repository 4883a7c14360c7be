// CvT: stages of attention whose queries, keys and values are convolved first.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class CvtNet {
 public:
  explicit CvtNet(Net& net) : net_(net), b_(net.b()), s_(net.settings()) {}

  void Run(const std::string& class_name) {
    const std::string prefix = StoredPrefix(
        net_, "cvt.", "encoder.stages.0.embedding.convolution_embeddings.projection.weight");
    widths_ = SizesOf(s_, "embed_dim", {64, 192, 384});
    const size_t count = widths_.size();
    const auto sizes = [&](std::string_view name, std::vector<int64_t> fallback,
                           int64_t least = 1) {
      return SizesOf(s_, name, std::move(fallback), count, least);
    };
    patches_ = sizes("patch_sizes", {7, 3, 3}), strides_ = sizes("patch_stride", {4, 2, 2});
    pads_ = sizes("patch_padding", {2, 1, 1}, 0);
    heads_ = sizes("num_heads", {1, 3, 6});
    tokens_ = sizes("cls_token", {0, 0, 1}, 0), bias_ = sizes("qkv_bias", {1, 1, 1}, 0);
    kernels_ = sizes("kernel_qkv", {3, 3, 3});
    pads_q_ = sizes("padding_q", {1, 1, 1}, 0), pads_kv_ = sizes("padding_kv", {1, 1, 1}, 0);
    strides_q_ = sizes("stride_q", {1, 1, 1}), strides_kv_ = sizes("stride_kv", {2, 2, 2});
    const std::vector<int64_t> depths = sizes("depth", {1, 2, 10});
    const std::vector<double> ratios =
        s_.Has("mlp_ratio") ? s_.Numbers("mlp_ratio") : std::vector<double>(count, 4);
    for (const std::string& method : s_.Texts("qkv_projection_method")) {
      if (method != "dw_bn") Refuse("config.json: a 'qkv_projection_method' of '", method, "'");
    }
    if (ratios.size() != count) Broken("config.json: 'mlp_ratio' has ", ratios.size(), " numbers");
    // Norms have the usual epsilon, whatever layer_norm_eps says.
    s_.Ignore({"layer_norm_eps", "attention_drop_rate", "drop_rate", "num_stages"});

    const int64_t channels = s_.Size("num_channels", 3);
    Expr x = PixelValues(net_, channels);
    batch_ = SizeAt(x, 0);
    Expr token = nullptr;
    for (size_t i = 0; i < count; ++i) {
      const std::string stage = StrCat(prefix, "encoder.stages.", i, ".");
      const int64_t width = widths_[i];
      const std::string embedding = stage + "embedding.convolution_embeddings.";
      const Expr patches = net_.Conv(x, embedding + "projection",
                                     {.in = i ? widths_[i - 1] : channels,
                                      .out = width,
                                      .kernel = {patches_[i], patches_[i]},
                                      .stride = {strides_[i], strides_[i]},
                                      .padding = {pads_[i], pads_[i]}});
      rows_ = SizeAt(patches, 2), columns_ = SizeAt(patches, 3);
      length_ = Times(b_, rows_, columns_);
      Expr y =
          net_.Norm(Transpose(patches, {0, 2, 3, 1}), kNorm, embedding + "normalization", width);
      y = ReshapeTo(y, {batch_, length_, x2ir::Size(width)});
      if (tokens_[i]) {
        const Expr cls = net_.Weight(stage + "cls_token", {1, 1, widths_.back()});
        if (width != widths_.back())
          Refuse("config.json: a class token in a stage of another width");
        y = Concat(b_, {Expand(cls, Vector(b_, {batch_, x2ir::Size(1), x2ir::Size(1)})), y}, 1);
        length_ = Plus(b_, length_, 1);
      }
      const int64_t hidden = ScaledSize(width, ratios[i]);
      for (int64_t j = 0; j < depths[i]; ++j) {
        y = Layer(y, StrCat(stage, "layers.", j, "."), i, width, hidden);
      }
      token = nullptr;
      if (tokens_[i]) {
        token = Part(y, 1, 0, 1);
        y = Slice(y, 1, 1, kToEnd);
      }
      last_ = y;
      x = Image(y, width);
    }
    const int64_t width = widths_.back();
    if (IsImageClassifier(class_name)) {
      const Expr normed = net_.Norm(token.value() ? token : last_, kNorm, "layernorm", width);
      return Classify(net_, Reduce(normed, "reduce_mean", {1}), "classifier", width);
    }
    net_.IgnoreWeights({"layernorm.*", "classifier.*"});
    net_.Output("last_hidden_state", x);
    if (token.value()) net_.Output("cls_token_value", token);
  }

 private:
  static constexpr NormSpec kNorm = {.kind = NormSpec::kLayer, .eps = 1e-5};

  Expr Image(const Expr& tokens, int64_t width) {
    return Transpose(ReshapeTo(tokens, {batch_, rows_, columns_, x2ir::Size(width)}), {0, 3, 1, 2});
  }

  Expr Layer(const Expr& x, const std::string& name, size_t stage, int64_t width, int64_t hidden) {
    const Expr y = x + Attended(net_.Norm(x, kNorm, name + "layernorm_before", width),
                                name + "attention.", stage, width);
    const Expr h = net_.Norm(y, kNorm, name + "layernorm_after", width);
    const Expr wide = net_.Linear(h, name + "intermediate.dense", width, hidden).Op("gelu");
    return y + net_.Linear(wide, name + "output.dense", hidden, width);
  }

  Expr Attended(const Expr& x, const std::string& name, size_t stage, int64_t width) {
    const int64_t heads = heads_[stage], kernel = kernels_[stage];
    if (width % heads != 0)
      Broken("config.json: ", heads, " heads cannot share ", width, " elements");
    const bool has_token = tokens_[stage] != 0;
    const Expr token = has_token ? Part(x, 1, 0, 1) : nullptr;
    const Expr image = Image(has_token ? Slice(x, 1, 1, kToEnd) : x, width);
    const auto projected = [&](const std::string& what, int64_t stride, int64_t pad) {
      const std::string conv =
          StrCat(name, "attention.convolution_projection_", what, ".convolution_projection.");
      const Expr seen = Convolved(net_, image,
                                  {.conv = conv + "convolution",
                                   .norm = conv + "normalization",
                                   .spec = {.in = width,
                                            .out = width,
                                            .kernel = {kernel, kernel},
                                            .stride = {stride, stride},
                                            .padding = {pad, pad},
                                            .groups = width}});
      x2ir::Size length = Times(b_, SizeAt(seen, 2), SizeAt(seen, 3));
      Expr tokens = ReshapeTo(Transpose(seen, {0, 2, 3, 1}), {batch_, length, x2ir::Size(width)});
      if (has_token) {
        tokens = Concat(b_, {token, tokens}, 1);
        length = Plus(b_, length, 1);
      }
      const Expr rows =
          net_.Linear(Reshape(tokens, std::vector<int64_t>{-1, width}),
                      StrCat(name, "attention.projection_", what), width, width, bias_[stage] != 0);
      const Expr apart =
          ReshapeTo(rows, {batch_, length, x2ir::Size(heads), x2ir::Size(width / heads)});
      return Transpose(apart, {0, 2, 1, 3});
    };
    const Expr q = projected("query", strides_q_[stage], pads_q_[stage]),
               k = projected("key", strides_kv_[stage], pads_kv_[stage]),
               v = projected("value", strides_kv_[stage], pads_kv_[stage]);
    // By the whole width, and not that of a head.
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
    const Expr found = Transpose(q.Op("attention", {k, v}, {{"scale", scale}}), {0, 2, 1, 3});
    const Expr rows = Reshape(found, std::vector<int64_t>{-1, width});
    const Expr out = net_.Linear(rows, name + "output.dense", width, width);
    return ReshapeTo(out, {batch_, length_, x2ir::Size(width)});
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  std::vector<int64_t> widths_, patches_, strides_, pads_, heads_, tokens_, bias_, kernels_,
      pads_q_, pads_kv_, strides_q_, strides_kv_;
  x2ir::Size batch_, rows_, columns_, length_;
  Expr last_ = nullptr;
};

[[maybe_unused]] const bool kCvtRegistered[] = {
    RegisterVision("cvt", "Cvt", [](Net& net, const std::string& name) { CvtNet(net).Run(name); }),
};

}  // namespace
}  // namespace x2ir::checkpoint
