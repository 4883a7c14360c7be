// CLIP and SigLIP: a tower for images and one for texts, whose results are compared.
#include <algorithm>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

// What differs between the families.
struct ClipKind {
  std::string stem;  // of classes
  bool siglip = false;
  bool bert = false;  // texts by layers of BERT
  double text_eps = 1e-5, image_eps = 1e-5;
  int64_t patch = 32;
  std::string activation = "quick_gelu";
};

class ClipNet {
 public:
  ClipNet(Net& net, const ClipKind& kind) : net_(net), b_(net.b()), k_(kind), s_(net.settings()) {}

  void Run(const std::string& class_name) {
    net_.IgnoreWeights({"text_model.embeddings.position_ids",
                        "vision_model.embeddings.position_ids", "embeddings.position_ids"});
    const std::string name = class_name.substr(k_.stem.size());
    s_.Ignore({"logit_scale_init_value"});
    if (name == "Model") return Both();
    if (name == "ForImageClassification") return ClassifyImage();
    if (name.starts_with("Vision")) return ImageAlone(name.ends_with("WithProjection"));
    TextAlone(name.ends_with("WithProjection"));
  }

 private:
  struct Seen {
    Expr tokens = nullptr, pooled = nullptr;
    int64_t width = 0;
  };

  // Older files have the settings twice; those of "*_dict" count.
  Settings& Of(const std::string& part) {
    const std::string plain = part + "_config", twice = part + "_config_dict";
    s_.Ignore({plain, twice});
    Settings& s = s_.Nested(!k_.siglip && s_.Has(twice) ? twice : plain);
    s.Ignore({"projection_dim", "add_cross_attention", "tie_word_embeddings"});  // say nothing here
    return s;
  }

  // --- Images -----------------------------------------------------------------------------------

  ImageTower Tower(Settings& s, const std::string& prefix) {
    ImageTower t = TowerOf(s, prefix, k_.image_eps);
    t.patch = SidesOf(s, "patch_size", k_.patch);
    if (t.patch[0] > t.image[0] || t.patch[1] > t.image[1]) {
      Broken("config.json: a patch is larger than the image");
    }
    t.patches = "embeddings.patch_embedding";
    t.positions = "embeddings.position_embedding.weight";
    t.patch_bias = k_.siglip;
    if (!k_.siglip) {
      t.extra = {{.name = "embeddings.class_embedding"}};
      t.pre_norm = "pre_layrnorm";  // so spelt
    } else {
      t.final_norm = "post_layernorm";
    }
    const Layer layer = ClipLayer(s, t.width, t.norm, {12, 3072, k_.activation});
    t.layers = Layers(layer, s.Count("num_hidden_layers", 12), prefix + "encoder.layers.{}.");
    return t;
  }

  Seen See(Settings& s, const std::string& prefix, bool pools = true) {
    const ImageTower t = Tower(s, prefix);
    const Encoded e = RunTower(net_, t, PixelsOf(net_, t));
    Seen seen = {.tokens = e.x, .width = t.width};
    if (!k_.siglip) {
      if (pools) seen.pooled = net_.Norm(TokenAt(e, 0), t.norm, prefix + "post_layernorm", t.width);
    } else if (s.Flag("vision_use_head", true) && pools) {
      seen.pooled = Attended(t, e);
    }
    if (!pools) net_.IgnoreWeights({prefix + "post_layernorm.*", prefix + "head.*"});
    return seen;
  }

  // What a learned query finds among all tokens.
  Expr Attended(const ImageTower& t, const Encoded& e) {
    const std::string head = t.prefix + "head.";
    const int64_t w = t.width;
    const Layer& layer = t.layers[0];
    const Attention& a = layer.attention;
    const Expr weight = net_.Weight(head + "attention.in_proj_weight", {3 * w, w}),
               bias = net_.Weight(head + "attention.in_proj_bias", {3 * w});
    const auto all = [&](const Expr& x) {
      return Dense(Reshape(x, std::vector<int64_t>{-1, w}), weight, bias);
    };
    Context context(net_, e.batch, e.length), one(net_, e.batch, 1);
    const Expr of_tokens = all(e.x);
    const Expr query = Part(all(net_.Weight(head + "probe", {1, 1, w})), 1, 0, w);
    const Expr q = Expand(Reshape(query, std::vector<int64_t>{1, a.heads, 1, a.size}),
                          Vector(b_, {e.batch, x2ir::Size(1), x2ir::Size(1), x2ir::Size(1)}));
    const Expr found =
        q.Op("attention", {context.Heads(Part(of_tokens, 1, w, w), a.heads, a.size),
                           context.Heads(Part(of_tokens, 1, 2 * w, w), a.heads, a.size)});
    const Expr x = net_.Linear(one.Rows(found, w), head + "attention.out_proj", w, w);
    return x + FeedForward(net_, layer.mlp, head, net_.Norm(x, t.norm, head + "layernorm", w), w);
  }

  // --- Texts ------------------------------------------------------------------------------------

  Seen Read(Settings& s, const std::string& prefix) {
    return k_.bert ? ReadBert(s, prefix) : ReadClip(s, prefix);
  }

  struct Text {
    Expr ids, mask;
    x2ir::Size batch, length;
  };
  Text TextInput() {
    Text t = {
        net_.Input("input_ids", DType::kInt64, {"batch_size", "sequence_length"}), nullptr, {}, {}};
    t.mask = net_.Input("attention_mask", DType::kInt64, {"batch_size", "sequence_length"});
    t.batch = SizeAt(t.ids, 0), t.length = SizeAt(t.ids, 1);
    return t;
  }

  Seen ReadClip(Settings& s, const std::string& prefix) {
    const int64_t width = s.Size("hidden_size", k_.siglip ? 768 : 512),
                  vocab = s.Size("vocab_size", k_.siglip ? 32000 : 49408),
                  most = s.Size("max_position_embeddings", k_.siglip ? 64 : 77);
    const NormSpec norm = {.kind = NormSpec::kLayer,
                           .eps = s.Number("layer_norm_eps", k_.text_eps)};
    const Layer layer =
        ClipLayer(s, width, norm, {k_.siglip ? 12 : 8, k_.siglip ? 3072 : 2048, k_.activation});
    const Text text = TextInput();
    Context context(net_, text.batch, text.length);
    context.causal = !k_.siglip;
    context.padding = text.mask.To(DType::kBool);
    const std::string embed = prefix + "embeddings.";
    const Expr words = net_.Embedding(text.ids, embed + "token_embedding", vocab, width);
    const Expr places =
        Slice(net_.Weight(embed + "position_embedding.weight", {most, width}), 0, 0, text.length);
    Expr x = Reshape(words + places, std::vector<int64_t>{-1, width});
    for (const Layer& l :
         Layers(layer, s.Count("num_hidden_layers", 12), prefix + "encoder.layers.{}.")) {
      x = RunLayer(context, l, x, width);
    }
    x = net_.Norm(x, norm, prefix + "final_layer_norm", width);
    Seen seen = {.tokens = context.ByTokens(x, width), .width = width};
    if (k_.siglip) {
      const int64_t size = s.Size("projection_size", width);
      seen.pooled = net_.Linear(ElementAt(seen.tokens, 1, -1), prefix + "head", width, size);
      return seen;
    }
    // At the end of the text: its first token of that number. 2 was written for files in which the
    // end has the largest number of all.
    const int64_t end = s.Int("eos_token_id", 49407);
    const Expr ranked =
        (end == 2 ? text.ids : text.ids == static_cast<double>(end)).To(DType::kInt32);
    const Expr at = ranked.Op("arg_max", {}, {{"axis", 1}, {"keepdims", int64_t{0}}});
    const Expr rows = Iota(Scalar(b_, text.batch)) * Scalar(b_, text.length) + at;
    seen.pooled = Gather(x, rows, 0);
    return seen;
  }

  Seen ReadBert(Settings& s, const std::string& prefix) {
    const int64_t width = s.Size("hidden_size", 768), vocab = s.Size("vocab_size", 30522),
                  most = s.Size("max_position_embeddings", 512),
                  types = s.Size("type_vocab_size", 2);
    const NormSpec norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", 1e-12)};
    s.Only("position_embedding_type", "absolute");
    Layer layer;
    layer.norm = norm;
    layer.before_attention = layer.before_mlp = "";
    layer.of_attention_sum = "attention.output.LayerNorm", layer.of_mlp_sum = "output.LayerNorm";
    Attention& a = layer.attention;
    a.heads = a.kv_heads = s.Size("num_attention_heads", 12);
    a.size = std::max<int64_t>(width / a.heads, 1);
    a.q = "attention.self.query", a.k = "attention.self.key", a.v = "attention.self.value";
    a.out = "attention.output.dense";
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
    layer.mlp = {.hidden = s.Size("intermediate_size", 3072),
                 .activation = s.Text("hidden_act", "gelu"),
                 .up = "intermediate.dense",
                 .down = "output.dense",
                 .bias = true};
    const Text text = TextInput();
    const Expr kinds =
        net_.Input("token_type_ids", DType::kInt64, {"batch_size", "sequence_length"});
    Context context(net_, text.batch, text.length);
    context.padding = text.mask.To(DType::kBool);
    const std::string embed = prefix + "embeddings.";
    net_.IgnoreWeights({embed + "token_type_ids", prefix + "pooler.*"});
    const Expr words =
        net_.Embedding(text.ids, embed + "word_embeddings", vocab, width) +
        net_.Embedding(kinds, embed + "token_type_embeddings", types, width) +
        Slice(net_.Weight(embed + "position_embeddings.weight", {most, width}), 0, 0, text.length);
    Expr x = net_.Norm(Reshape(words, std::vector<int64_t>{-1, width}), norm, embed + "LayerNorm",
                       width);
    for (const Layer& l :
         Layers(layer, s.Count("num_hidden_layers", 12), prefix + "encoder.layer.{}.")) {
      x = RunLayer(context, l, x, width);
    }
    Seen seen = {.tokens = context.ByTokens(x, width), .width = width};
    seen.pooled = ElementAt(seen.tokens, 1, 0);
    return seen;
  }

  // --- Models -----------------------------------------------------------------------------------

  // The prefix of a model of one tower: older files have the name of the tower.
  std::string OneTower(const std::string& prefix, const std::string& embedding) {
    return StoredPrefix(net_, prefix, "embeddings." + embedding + ".weight");
  }

  void ImageAlone(bool projected) {
    const Seen seen = See(s_, OneTower("vision_model.", "patch_embedding"));
    const int64_t size = s_.Size("projection_dim", 512);
    if (projected) {
      net_.Output("image_embeds",
                  net_.Linear(seen.pooled, "visual_projection", seen.width, size, false));
    }
    net_.Output("last_hidden_state", seen.tokens);
    if (!projected && seen.pooled.value()) net_.Output("pooler_output", seen.pooled);
  }

  void TextAlone(bool projected) {
    const Seen seen = Read(s_, OneTower("text_model.", "token_embedding"));
    const int64_t size = s_.Size("projection_dim", 512);
    if (projected) {
      net_.Output("text_embeds",
                  net_.Linear(seen.pooled, "text_projection", seen.width, size, false));
    }
    net_.Output("last_hidden_state", seen.tokens);
    if (!projected) net_.Output("pooler_output", seen.pooled);
  }

  void ClassifyImage() {
    const Seen seen = See(Of("vision"), "vision_model.", false);
    s_.Ignore({"text_config", "text_config_dict", "projection_dim", "initializer_factor"});
    net_.IgnoreWeights({"text_model.*", "text_projection.*", "visual_projection.*", "logit_*"});
    const Expr tokens = k_.siglip ? seen.tokens : Slice(seen.tokens, 1, 1, kToEnd);
    Classify(net_, Reduce(tokens, "reduce_mean", {1}), "classifier", seen.width);
  }

  void Both() {
    Settings& texts = Of("text");
    Settings& images = Of("vision");
    const Seen text = Read(texts, "text_model."), image = See(images, "vision_model.");
    if (!image.pooled.value()) Refuse("config.json: 'vision_config.vision_use_head' is false");
    const auto embedded = [&](const Seen& seen, const std::string& projection) {
      Expr x = seen.pooled;
      if (!k_.siglip) {
        x = net_.Linear(x, projection, seen.width, s_.Size("projection_dim", 512), false);
      }
      return x / VectorNorm(x, 2, {1}, true);
    };
    const Expr of_text = embedded(text, "text_projection"),
               of_image = embedded(image, "visual_projection");
    const std::vector<int64_t> one = k_.siglip ? std::vector<int64_t>{1} : std::vector<int64_t>{};
    Expr per_text = of_text.Op("gemm", {of_image}, {{"transB", int64_t{1}}}) *
                    Exp(net_.Weight("logit_scale", one));
    if (k_.siglip) per_text = per_text + net_.Weight("logit_bias", one);
    net_.Output("logits_per_image", Transpose(per_text, {1, 0}));
    net_.Output("logits_per_text", per_text);
    net_.Output("text_embeds", of_text);
    net_.Output("image_embeds", of_image);
  }

  Net& net_;
  Builder& b_;
  const ClipKind& k_;
  Settings& s_;
};

const ClipKind kClip = {.stem = "CLIP"};
const ClipKind kChineseClip = {.stem = "ChineseCLIP", .bert = true};
const ClipKind kSiglip = {.stem = "Siglip",
                          .siglip = true,
                          .text_eps = 1e-6,
                          .image_eps = 1e-6,
                          .patch = 16,
                          .activation = "gelu_pytorch_tanh"};

bool RegisterClip(const char* type, const ClipKind& kind,
                  const std::vector<std::string>& suffixes) {
  return RegisterVision(
      type, kind.stem, [&kind](Net& net, const std::string& name) { ClipNet(net, kind).Run(name); },
      suffixes);
}

[[maybe_unused]] const bool kClipRegistered[] = {
    RegisterClip("clip", kClip, {"Model", "ForImageClassification"}),
    RegisterClip("clip_vision_model", kClip, {"VisionModel", "VisionModelWithProjection"}),
    RegisterClip("clip_text_model", kClip, {"TextModel", "TextModelWithProjection"}),
    RegisterClip("chinese_clip", kChineseClip, {"Model"}),
    RegisterClip("chinese_clip_vision_model", kChineseClip, {"VisionModel"}),
    RegisterClip("siglip", kSiglip, {"Model", "ForImageClassification"}),
    RegisterClip("siglip_vision_model", kSiglip, {"VisionModel"}),
    RegisterClip("siglip_text_model", kSiglip, {"TextModel"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
