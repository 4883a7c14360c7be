#include "x2ir/handlers/checkpoint/vision.h"

#include <cmath>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"

namespace x2ir::checkpoint {

bool RegisterVision(std::string model_type, const std::string& stem, BuildVision build,
                    const std::vector<std::string>& suffixes) {
  std::vector<std::string> classes;
  for (const std::string& suffix : suffixes) classes.push_back(stem + suffix);
  return RegisterArchitecture(
      {.model_type = std::move(model_type),
       .kind = "vision",
       .classes = std::move(classes),
       .build = [build = std::move(build)](Net& net, const std::string& name) {
         net.settings().Ignore({"num_labels"});
         build(net, name);
       }});
}

// --- Settings
// --------------------------------------------------------------------------------------

std::vector<int64_t> SizesOf(Settings& settings, std::string_view names,
                             std::vector<int64_t> fallback, size_t count, int64_t least) {
  std::vector<int64_t> sizes = settings.Ints(names);
  if (sizes.empty() && !settings.Has(names)) sizes = std::move(fallback);
  const std::string_view name = names.substr(0, names.find('|'));
  if (count && sizes.size() != count) {
    Broken("config.json: '", name, "' has ", sizes.size(), " numbers; expected ", count);
  }
  for (const int64_t size : sizes) {
    if (size < least || size > (1 << 24)) {
      Broken("config.json: '", name, "' has the number ", size, "; expected ", least, " to 2^24");
    }
  }
  return sizes;
}

Sides SidesOf(Settings& settings, std::string_view names, int64_t fallback) {
  std::vector<int64_t> sides = SizesOf(settings, names, {fallback});
  if (sides.size() == 1) sides.push_back(sides[0]);
  if (sides.size() != 2) {
    Broken("config.json: '", names, "' has ", sides.size(), " numbers; expected one or two");
  }
  return {sides[0], sides[1]};
}

int64_t ScaledSize(int64_t size, double ratio) {
  const double scaled = static_cast<double>(size) * ratio;
  if (!(scaled >= 1 && scaled <= (1 << 24))) {
    Broken("config.json: ", size, " by the ratio ", ratio, " is no size");
  }
  return static_cast<int64_t>(scaled);
}

int64_t DivisibleWidth(double channels, int64_t divisor, int64_t least) {
  if (!(channels >= 0 && channels < (1 << 24)))
    Broken("config.json: a width of ", channels, " channels");
  const auto step = static_cast<double>(divisor);
  double rounded = std::max(static_cast<double>(least),
                            std::floor(std::trunc(channels + step / 2) / step) * step);
  if (rounded < 0.9 * channels) rounded += step;
  return static_cast<int64_t>(rounded);
}

void IgnoreStages(Settings& settings) {
  settings.Ignore({"stage_names", "out_features", "out_indices", "apply_layernorm",
                   "reshape_hidden_states", "_out_features", "_out_indices"});
}

// --- Input, convolutions, heads
// --------------------------------------------------------------------

Expr PixelValues(Net& net, int64_t channels, const std::optional<Sides>& sides) {
  if (sides) {
    return net.Input("pixel_values", DType::kFloat32,
                     {"batch_size", channels, (*sides)[0], (*sides)[1]});
  }
  return net.Input("pixel_values", DType::kFloat32, {"batch_size", channels, "height", "width"});
}

std::string StoredPrefix(Net& net, const std::string& prefix, const std::string& weight) {
  return net.HasWeight(prefix + weight) ? prefix : "";
}

Expr Convolved(Net& net, const Expr& x, const NormedConv& conv) {
  Net::ConvSpec spec = conv.spec;
  spec.bias = false;
  const Expr y = net.BatchNorm(net.Conv(x, conv.conv, spec), conv.norm, conv.spec.out, conv.eps);
  return conv.activation.empty() ? y : net.Activate(y, conv.activation);
}

Expr MeanOfImage(const Expr& x) { return Reduce(x, "reduce_mean", {2, 3}); }

Expr ChannelNorm(Net& net, const Expr& x, const NormSpec& norm, const std::string& name,
                 int64_t channels) {
  return Transpose(net.Norm(Transpose(x, {0, 2, 3, 1}), norm, name, channels), {0, 3, 1, 2});
}

Expr Perceptron(Net& net, const Expr& x, const std::string& name, int64_t in, int64_t hidden,
                int64_t out, int64_t layers) {
  Expr y = x;
  for (int64_t i = 0; i < layers; ++i) {
    const bool last = i + 1 == layers;
    y = net.Linear(y, StrCat(name, ".layers.", i), i ? hidden : in, last ? out : hidden);
    if (!last) y = y.Op("relu");
  }
  return y;
}

int64_t LabelCount(Net& net, const std::string& weight) {
  const std::vector<int64_t> dims = net.DimsOf(weight);
  if (dims.empty()) Broken("weight '", weight, "' is a number; expected a matrix");
  return dims[0];
}

void Classify(Net& net, const Expr& x, const std::string& name, int64_t in) {
  const std::string weight = StrCat(name, ".weight");
  const Json& labels = net.program().config["id2label"];
  const bool none = labels.is_object() && labels.members().empty() && !net.HasWeight(weight);
  net.Output("logits", none ? x : net.Linear(x, name, in, LabelCount(net, weight)));
}

// --- Towers of patches
// -----------------------------------------------------------------------------

namespace {

class PatchEmbedding {
 public:
  PatchEmbedding(Net& net, const ImageTower& tower) : net_(net), t_(tower), b_(net.b()) {
    for (const ExtraTokens& extra : t_.extra) {
      if (extra.has_position) (extra.last ? after_ : before_) += extra.count;
    }
  }

  // [batch, tokens, width], and the sizes.
  Encoded Run(const Expr& pixels) {
    Encoded e;
    Net::ConvSpec conv = {.in = t_.channels,
                          .out = t_.width,
                          .kernel = {t_.patch[0], t_.patch[1]},
                          .stride = {t_.patch[0], t_.patch[1]}};
    conv.bias = t_.patch_bias;
    const Expr patches = net_.Conv(pixels, t_.prefix + t_.patches, conv);
    e.batch = SizeAt(pixels, 0);
    e.rows = SizeAt(patches, 2), e.columns = SizeAt(patches, 3);
    e.length = Times(b_, e.rows, e.columns);
    for (const ExtraTokens& extra : t_.extra) e.length = Plus(b_, e.length, extra.count);
    const Expr flat = ReshapeTo(patches, {e.batch, x2ir::Size(t_.width), x2ir::Size(-1)});
    e.x = Transpose(flat, {0, 2, 1});
    if (t_.positions.empty()) {
      e.x = WithExtra(e.x, e.batch, nullptr);
    } else if (t_.stretch == ImageTower::kFixed && before_ + after_ == ExtraCount(t_)) {
      const int64_t count =
          before_ + after_ + t_.image[0] / t_.patch[0] * (t_.image[1] / t_.patch[1]);
      e.x = WithExtra(e.x, e.batch, nullptr) + Table(count);
    } else {
      const Expr table = Table(-1);
      e.x = WithExtra(e.x + Stretched(Middle(table, 1), e, 1), e.batch, table);
    }
    return e;
  }

  // The positions of [depth, tokens, width] for the patches of an image: [depth, tokens, width].
  Expr OfAll(const Expr& table, const Encoded& e, int64_t depth) {
    std::vector<Value*> parts;
    if (before_) parts.push_back(Part(table, 1, 0, before_));
    parts.push_back(Stretched(Middle(table, 1), e, depth));
    if (after_) parts.push_back(Slice(table, 1, -after_, kToEnd));
    return Concat(b_, parts, 1);
  }

 private:
  Expr Table(int64_t count) {
    const std::string name = t_.prefix + t_.positions;
    if (t_.positions.ends_with(".weight")) {
      return Unsqueeze(net_.Weight(name, {count, t_.width}), {0});
    }
    return net_.Weight(name, {1, count, t_.width});
  }

  Expr Middle(const Expr& table, int64_t axis) {
    return before_ + after_ ? Slice(table, axis, before_, after_ ? x2ir::Size(-after_) : kToEnd)
                            : table;
  }

  // [depth, patches of the table, width] as that of the image.
  Expr Stretched(const Expr& table, const Encoded& e, int64_t depth) {
    const Dim count = DimAt(table, 1);
    Sides from = {t_.image[0] / t_.patch[0], t_.image[1] / t_.patch[1]};
    if (!count.is_static()) Broken("the table of positions has no size");
    if (t_.stretch != ImageTower::kFixed && t_.stretch != ImageTower::kAny) {
      const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(count.value())));
      from = {side, side};
    }
    if (from[0] < 1 || from[1] < 1 || from[0] * from[1] != count.value()) {
      Broken("the positions of ", count.value(), " patches are not those of ", from[0], " by ",
             from[1]);
    }
    if (e.rows.number == from[0] && e.columns.number == from[1]) return table;
    const Expr image = Transpose(
        Reshape(table, std::vector<int64_t>{depth, from[0], from[1], t_.width}), {0, 3, 1, 2});
    const bool linear = t_.stretch == ImageTower::kSquareLinear;
    const Sampling sampling = Interpolated(linear ? "linear" : "cubic", false);
    Expr resized = nullptr;
    if (t_.stretch == ImageTower::kSquareSmooth) {
      AttributeMap attrs = sampling.Attrs();
      attrs.Set("antialias", int64_t{1});
      attrs.Set("exclude_outside", int64_t{1});
      attrs.Set("cubic_coeff_a", -0.5F);
      resized = image.Op("resize",
                         {nullptr, nullptr,
                          Vector(b_, {x2ir::Size(depth), x2ir::Size(t_.width), e.rows, e.columns})},
                         std::move(attrs));
    } else {
      resized =
          ResizedTo(image, {x2ir::Size(depth), x2ir::Size(t_.width), e.rows, e.columns}, sampling);
    }
    return Reshape(Transpose(resized, {0, 2, 3, 1}), std::vector<int64_t>{depth, -1, t_.width});
  }

  // The patches with the other tokens before and after them. `table`: where those have positions.
  Expr WithExtra(const Expr& patches, const x2ir::Size& batch, const Expr& table) {
    std::vector<Value*> before, after;
    int64_t at = 0, at_end = after_;
    for (const ExtraTokens& extra : t_.extra) {
      Expr token = nullptr;
      const std::string name = t_.prefix + extra.name;
      if (net_.DimsOf(name).size() == 1) {
        token = Unsqueeze(net_.Weight(name, {t_.width}), {0, 1});
      } else {
        token = net_.Weight(name, {1, extra.count, t_.width});
      }
      if (table.value() && extra.has_position) {
        token =
            token + (extra.last ? Slice(table, 1, -at_end,
                                        at_end == extra.count ? x2ir::Size(kToEnd)
                                                              : x2ir::Size(extra.count - at_end))
                                : Part(table, 1, at, extra.count));
        (extra.last ? at_end : at) += extra.last ? -extra.count : extra.count;
      }
      (extra.last ? after : before).push_back(token);
    }
    const auto expanded = [&](const std::vector<Value*>& tokens) {
      const Expr all = Concat(b_, tokens, 1);
      return Expand(all, Vector(b_, {batch, x2ir::Size(1), x2ir::Size(1)}));
    };
    std::vector<Value*> parts;
    if (!before.empty()) parts.push_back(expanded(before));
    parts.push_back(patches);
    if (!after.empty()) parts.push_back(expanded(after));
    return Concat(b_, parts, 1);
  }

  Net& net_;
  const ImageTower& t_;
  Builder& b_;
  int64_t before_ = 0, after_ = 0;  // tokens with positions
};

}  // namespace

Encoded RunTower(Net& net, const ImageTower& tower, const Expr& pixels,
                 const BeforeLayer& before_layer) {
  PatchEmbedding embedding(net, tower);
  Encoded e = embedding.Run(pixels);
  const auto count = static_cast<int64_t>(tower.layers.size());
  Expr later = nullptr;
  if (!tower.mid_positions.empty() && count > 1) {
    const std::string name = tower.prefix + tower.mid_positions;
    const Expr table = Squeeze(net.Weight(name, {count - 1, 1, -1, tower.width}), {1});
    later = embedding.OfAll(table, e, count - 1);
  }
  Expr x = Reshape(e.x, std::vector<int64_t>{-1, tower.width});
  if (!tower.pre_norm.empty()) {
    x = net.Norm(x, tower.norm, tower.prefix + tower.pre_norm, tower.width);
  }
  e.stages.push_back(x);
  Context context(net, e.batch, e.length);
  for (int64_t i = 0; i < count; ++i) {
    if (before_layer) before_layer(context, e, static_cast<size_t>(i));
    x = RunLayer(context, tower.layers[static_cast<size_t>(i)], x, tower.width);
    if (later.value() && i + 1 < count) {
      const Expr sum = context.ByTokens(x, tower.width) + ElementAt(later, 0, i);
      x = Reshape(sum, std::vector<int64_t>{-1, tower.width});
    }
    e.stages.push_back(x);
  }
  if (!tower.final_norm.empty()) {
    x = net.Norm(x, tower.norm, tower.prefix + tower.final_norm, tower.width);
  }
  e.x = context.ByTokens(x, tower.width);
  return e;
}

ImageTower TowerOf(Settings& s, std::string prefix, double eps) {
  ImageTower t;
  t.prefix = std::move(prefix);
  t.width = s.Size("hidden_size", 768);
  t.channels = s.Size("num_channels", 3);
  t.image = SidesOf(s, "image_size", 224);
  t.patch = SidesOf(s, "patch_size", 16);
  if (t.patch[0] > t.image[0] || t.patch[1] > t.image[1]) {
    Broken("config.json: a patch is larger than the image");
  }
  t.norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", eps)};
  return t;
}

Layer VitLayer(Settings& s, const ImageTower& t) {
  Layer layer;
  layer.norm = t.norm;
  layer.before_attention = "layernorm_before", layer.before_mlp = "layernorm_after";
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads", 12);
  a.size = s.Size("head_dim", std::max<int64_t>(t.width / a.heads, 1));
  a.q = "attention.attention.query", a.k = "attention.attention.key";
  a.v = "attention.attention.value", a.out = "attention.output.dense";
  a.q_bias = a.k_bias = a.v_bias = s.Flag("qkv_bias", true);
  a.out_bias = true;
  layer.mlp = {.hidden = s.Size("intermediate_size", 3072),
               .activation = s.Text("hidden_act", "gelu"),
               .up = "intermediate.dense",
               .down = "output.dense",
               .bias = true};
  return layer;
}

ImageTower VitTower(Net& net, Settings& s, const std::string& base, double eps) {
  ImageTower t =
      TowerOf(s, StoredPrefix(net, base, "embeddings.patch_embeddings.projection.weight"), eps);
  t.positions = "embeddings.position_embeddings";
  t.final_norm = "layernorm";
  // ViT MSN's classifier has the prefix at other weights only.
  const std::string encoder =
      StoredPrefix(net, t.prefix, "encoder.layer.0.attention.attention.query.weight");
  t.layers =
      Layers(VitLayer(s, t), s.Count("num_hidden_layers", 12), encoder + "encoder.layer.{}.");
  net.IgnoreWeights({t.prefix + "embeddings.mask_token", t.prefix + "pooler.*", "classifier.*",
                     "cls_classifier.*", "distillation_classifier.*", "decoder.*"});
  s.Ignore({"encoder_stride"});
  return t;
}

ImageTower Dinov2Tower(Net& net, Settings& s, const std::string& base, bool registers) {
  ImageTower t = VitTower(net, s, base, 1e-6);
  t.patch = SidesOf(s, "patch_size", registers ? 16 : 14);
  t.extra = {{.name = "embeddings.cls_token"}};
  if (registers) {
    const int64_t count = s.Int("num_register_tokens", 4);
    if (count < 0 || count > 65536) Broken("config.json: ", count, " register tokens");
    if (count) {
      t.extra.push_back(
          {.name = "embeddings.register_tokens", .count = count, .has_position = false});
    }
    net.IgnoreWeights({t.prefix + "embeddings.register_tokens"});
  }
  t.stretch = registers ? ImageTower::kSquareSmooth : ImageTower::kSquare;
  const bool gated = s.Flag("use_swiglu_ffn", false);
  int64_t hidden = ScaledSize(t.width, s.Number("mlp_ratio", 4));
  if (gated) hidden = (static_cast<int64_t>(static_cast<double>(hidden) * 2 / 3) + 7) / 8 * 8;
  for (Layer& layer : t.layers) {
    layer.before_attention = "norm1", layer.before_mlp = "norm2";
    layer.attention_scale = "layer_scale1.lambda1", layer.mlp_scale = "layer_scale2.lambda1";
    layer.mlp.hidden = hidden;
    layer.mlp.up = "mlp.fc1", layer.mlp.down = "mlp.fc2";
    if (gated) {
      layer.mlp.activation = "silu";
      layer.mlp.gate_up = "mlp.weights_in", layer.mlp.down = "mlp.weights_out";
    }
  }
  s.Ignore({"layerscale_value", "use_mask_token"});
  IgnoreStages(s);
  return t;
}

int64_t ExtraCount(const ImageTower& t) {
  int64_t count = 0;
  for (const ExtraTokens& extra : t.extra) count += extra.count;
  return count;
}

Layer ClipLayer(Settings& s, int64_t width, const NormSpec& norm, const ClipDefaults& defaults) {
  Layer layer;
  layer.norm = norm;
  layer.before_attention = "layer_norm1", layer.before_mlp = "layer_norm2";
  Attention& a = layer.attention;
  a.out = "self_attn.out_proj";
  a.heads = a.kv_heads = s.Size("num_attention_heads", defaults.heads);
  a.size = std::max<int64_t>(width / a.heads, 1);
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
  layer.mlp = {.hidden = s.Size("intermediate_size", defaults.hidden),
               .activation = s.Text("hidden_act", defaults.activation),
               .up = "mlp.fc1",
               .down = "mlp.fc2",
               .bias = true};
  return layer;
}

std::vector<Layer> Layers(const Layer& layer, int64_t count, const std::string& prefix) {
  std::vector<Layer> all(static_cast<size_t>(count), layer);
  const size_t at = prefix.find("{}");
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].prefix = StrCat(prefix.substr(0, at), i, prefix.substr(at + 2));
  }
  return all;
}

Expr TokenAt(const Encoded& encoded, int64_t i) { return ElementAt(encoded.x, 1, i); }

Expr MeanFrom(const Encoded& encoded, int64_t first) {
  const Expr tokens = first ? Slice(encoded.x, 1, first, kToEnd) : encoded.x;
  return Reduce(tokens, "reduce_mean", {1});
}

}  // namespace x2ir::checkpoint
