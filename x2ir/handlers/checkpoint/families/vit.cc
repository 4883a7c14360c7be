// ViT and what is made like it: one tower of layers over patches, and a head.
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

// The class token by a dense layer, where one is stored.
void Pooled(Net& net, const ImageTower& t, const Encoded& e) {
  Settings& s = net.settings();
  const int64_t size = s.Size("pooler_output_size", t.width);
  const std::string activation = s.Text("pooler_act", "tanh"), name = t.prefix + "pooler.dense";
  if (!net.HasWeight(name + ".weight")) return;
  const Expr dense = net.Linear(TokenAt(e, 0), name, t.width, size);
  net.Output("pooler_output", net.Activate(dense, activation));
}

void Vit(Net& net, const std::string& class_name) {
  ImageTower t = VitTower(net, net.settings(), "vit.", 1e-12);
  t.extra = {{.name = "embeddings.cls_token"}};
  const Encoded e = RunTower(net, t, PixelsOf(net, t));
  net.settings().Ignore({"pooler_output_size", "pooler_act"});
  if (IsImageClassifier(class_name)) return Classify(net, TokenAt(e, 0), "classifier", t.width);
  net.Output("last_hidden_state", e.x);
  Pooled(net, t, e);
}

void VitMsn(Net& net, const std::string& class_name) {
  ImageTower t = VitTower(net, net.settings(), "vit.", 1e-6);
  t.extra = {{.name = "embeddings.cls_token"}};
  const Encoded e = RunTower(net, t, PixelsOf(net, t));
  if (IsImageClassifier(class_name)) return Classify(net, TokenAt(e, 0), "classifier", t.width);
  net.Output("last_hidden_state", e.x);
}

void IJepa(Net& net, const std::string& class_name) {
  ImageTower t = VitTower(net, net.settings(), "ijepa.", 1e-12);
  const Encoded e = RunTower(net, t, PixelsOf(net, t));
  net.settings().Ignore({"pooler_output_size", "pooler_act"});
  if (IsImageClassifier(class_name)) return Classify(net, MeanFrom(e, 0), "classifier", t.width);
  net.Output("last_hidden_state", e.x);
}

void Deit(Net& net, const std::string& class_name) {
  ImageTower t = VitTower(net, net.settings(), "deit.", 1e-12);
  t.extra = {{.name = "embeddings.cls_token"}, {.name = "embeddings.distillation_token"}};
  const Encoded e = RunTower(net, t, PixelsOf(net, t));
  net.settings().Ignore({"pooler_output_size", "pooler_act"});
  if (class_name.ends_with("WithTeacher")) {
    const auto logits = [&](const std::string& name, int64_t token) {
      return net.Linear(TokenAt(e, token), name, t.width, LabelCount(net, name + ".weight"));
    };
    const Expr of_class = logits("cls_classifier", 0),
               of_teacher = logits("distillation_classifier", 1);
    net.Output("logits", (of_class + of_teacher) * 0.5);
    net.Output("cls_logits", of_class);
    return net.Output("distillation_logits", of_teacher);
  }
  if (IsImageClassifier(class_name)) return Classify(net, TokenAt(e, 0), "classifier", t.width);
  net.Output("last_hidden_state", e.x);
  Pooled(net, t, e);
}

// --- BEiT ---------------------------------------------------------------------------------------

// Scores that depend on where a patch lies to another one, by a table of the model's own image,
// which is stretched to the patches that there are. The last three rows are of the class token: to
// patches, from patches, to itself.
class BeitBias {
 public:
  BeitBias(Net& net, const ImageTower& tower, const Encoded& e)
      : net_(net), t_(tower), b_(net.b()), rows_(e.rows), columns_(e.columns) {}

  Expr Of(const std::string& name, int64_t heads) {
    const Sides was = {2 * (t_.image[0] / t_.patch[0]) - 1, 2 * (t_.image[1] / t_.patch[1]) - 1};
    const int64_t between = was[0] * was[1];
    const Expr table = Transpose(net_.Weight(name, {between + 3, heads}), {1, 0});
    const auto doubled = [&](const x2ir::Size& n) { return Minus(b_, Times(b_, n, 2), 1); };
    const Expr image =
        Reshape(Part(table, 1, 0, between), std::vector<int64_t>{1, heads, was[1], was[0]});
    const Expr resized =
        ResizedTo(image, {x2ir::Size(1), x2ir::Size(heads), doubled(rows_), doubled(columns_)},
                  Interpolated("linear", false));
    const Expr all = Concat(
        b_, {Reshape(resized, std::vector<int64_t>{heads, -1}), Part(table, 1, between, 3)}, 1);
    return Unsqueeze(Gather(all, Index(), 1), {0});
  }

 private:
  // [tokens, tokens]: rows of the table.
  Expr Index() {
    if (index_.value()) return index_;
    const Expr columns = Scalar(b_, columns_), span = columns * 2.0 - 1.0;
    const Expr numbers = Iota(Scalar(b_, Times(b_, rows_, columns_)));
    const Expr row = numbers / columns;
    const Expr place = row * span + (numbers - row * columns);
    const Expr middle = (Scalar(b_, rows_) - 1.0) * span + columns - 1.0;
    const Expr between = Unsqueeze(place, {1}) - Unsqueeze(place, {0}) + middle;
    const Expr count = (Scalar(b_, rows_) * 2.0 - 1.0) * span;
    const Expr none = place * 0.0;
    const Expr from_class = Concat(b_, {Unsqueeze(count + 2.0, {0}), none + count}, 0);
    const Expr to_class = Unsqueeze(none + (count + 1.0), {1});
    return index_ = Concat(b_, {Unsqueeze(from_class, {0}), Concat(b_, {to_class, between}, 1)}, 0);
  }

  Net& net_;
  const ImageTower& t_;
  Builder& b_;
  x2ir::Size rows_, columns_;
  Expr index_ = nullptr;
};

void BeitLike(Net& net, const std::string& class_name, const std::string& base) {
  Settings& s = net.settings();
  ImageTower t = VitTower(net, net.settings(), base, 1e-12);
  t.extra = {{.name = "embeddings.cls_token"}};
  t.stretch = ImageTower::kSquare;
  if (!s.Flag("use_absolute_position_embeddings", false)) t.positions.clear();
  const bool mean = s.Flag("use_mean_pooling", true);
  if (mean) t.final_norm.clear();
  for (Layer& layer : t.layers) {
    layer.attention.k_bias = false;
    if (s.Number("layer_scale_init_value", 0.1) > 0) {
      layer.attention_scale = "lambda_1", layer.mlp_scale = "lambda_2";
    }
  }
  const bool own = s.Flag("use_relative_position_bias", false),
             shared = s.Flag("use_shared_relative_position_bias", false);
  s.Only("qkv_bias", true);
  s.Ignore({"vocab_size", "use_mask_token", "pool_scales", "use_auxiliary_head",
            "auxiliary_loss_weight", "auxiliary_channels", "auxiliary_num_convs",
            "auxiliary_concat_input", "semantic_loss_ignore_index", "add_fpn"});
  IgnoreStages(s);
  const int64_t heads = t.layers[0].attention.heads;
  const std::string table = "relative_position_bias.relative_position_bias_table";
  net.IgnoreWeights({t.prefix + "encoder.relative_position_bias.relative_position_index"});
  for (const Layer& layer : t.layers) {
    net.IgnoreWeights(
        {layer.prefix + "attention.attention.relative_position_bias.relative_position_index"});
  }
  std::optional<BeitBias> bias;
  Expr of_all = nullptr;
  const auto before_layer = [&](Context& context, const Encoded& e, size_t i) {
    if (!own && !shared) return;
    if (!bias) bias.emplace(net, t, e);
    if (shared && i == 0) {
      const std::string prefix = t.prefix + "encoder.";
      of_all = bias->Of(net.AnyOf({prefix + table,
                                   t.prefix + "shared_position_bias.relative_position_bias_table"}),
                        heads);
    }
    Expr scores = of_all;
    if (own) {
      const Expr of_layer =
          bias->Of(StrCat(t.layers[i].prefix, "attention.attention.", table), heads);
      scores = scores.value() ? scores + of_layer : of_layer;
    }
    context.SetBias(scores);
  };
  const Encoded e = RunTower(net, t, PixelsOf(net, t), before_layer);
  const std::string norm = t.prefix + "pooler.layernorm";
  const bool classifies = IsImageClassifier(class_name);
  if (!classifies) net.Output("last_hidden_state", e.x);
  if (!classifies && mean && !net.HasWeight(norm + ".weight")) return;
  const Expr pooled = mean ? net.Norm(MeanFrom(e, 1), t.norm, norm, t.width) : TokenAt(e, 0);
  if (classifies) return Classify(net, pooled, "classifier", t.width);
  net.Output("pooler_output", pooled);
}

// --- DINOv2 and DINOv3
// -----------------------------------------------------------------------------

void Dinov2Like(Net& net, const std::string& class_name, const std::string& base, bool registers) {
  const ImageTower t = Dinov2Tower(net, net.settings(), base, registers);
  const Encoded e = RunTower(net, t, PixelsOf(net, t));
  const Expr token = TokenAt(e, 0);
  if (IsImageClassifier(class_name)) {
    const Expr both = Concat(net.b(), {token, MeanFrom(e, ExtraCount(t))}, 1);
    return Classify(net, both, "classifier", 2 * t.width);
  }
  net.Output("last_hidden_state", e.x);
  net.Output("pooler_output", token);
}

// Positions of rows and columns turn halves of each head of the patches; other tokens stay.
Turn TurnOfPatches(Net& net, const Encoded& e, int64_t others, int64_t size, double theta) {
  Builder& b = net.b();
  std::vector<double> frequencies;
  for (int64_t i = 0; i < size / 4; ++i) {
    const float exponent = static_cast<float>(i) * (4.0F / static_cast<float>(size));
    frequencies.push_back(2 * M_PI / portable::pow(static_cast<float>(theta), exponent));
  }
  const Expr row = NumbersAs(b, DType::kFloat32, {1, size / 4}, frequencies, "frequencies");
  const auto places = [&](const x2ir::Size& n) {
    const Expr count = Scalar(b, n);
    return ((Iota(count).To(DType::kFloat32) + 0.5) / count.To(DType::kFloat32)) * 2.0 - 1.0;
  };
  const auto angles = [&](const x2ir::Size& n, int64_t axis) {
    const Expr of_axis = Unsqueeze(Unsqueeze(places(n), {1}) * row, {axis});
    return Expand(of_axis, Vector(b, {e.rows, e.columns, x2ir::Size(size / 4)}));
  };
  const Expr grid = Concat(b, {angles(e.rows, 1), angles(e.columns, 0)}, 2);
  const Expr patches = Reshape(grid, std::vector<int64_t>{1, -1, size / 2});
  const Expr none = Zeros(b, DType::kFloat32, {1, others, size / 2});
  const Expr all =
      Expand(Concat(b, {none, patches}, 1), Vector(b, {e.batch, x2ir::Size(1), x2ir::Size(1)}));
  return {Cos(all), Sin(all)};
}

void Dinov3(Net& net, const std::string&) {
  Settings& s = net.settings();
  ImageTower t = TowerOf(s, "", 1e-5);
  t.width = s.Size("hidden_size", 384);
  t.patches = "embeddings.patch_embeddings";
  t.extra = {{.name = "embeddings.cls_token"}};
  const int64_t count = s.Int("num_register_tokens", 0);
  if (count < 0 || count > 65536) Broken("config.json: ", count, " register tokens");
  if (count) t.extra.push_back({.name = "embeddings.register_tokens", .count = count});
  t.stretch = ImageTower::kAny;
  t.final_norm = "norm";
  Layer layer;
  layer.norm = t.norm;
  layer.before_attention = "norm1", layer.before_mlp = "norm2";
  layer.attention_scale = "layer_scale1.lambda1", layer.mlp_scale = "layer_scale2.lambda1";
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads", 6);
  a.size = std::max<int64_t>(t.width / a.heads, 1);
  if (a.size % 4 != 0) Broken("config.json: heads of ", a.size, " elements have no such positions");
  a.q = "attention.q_proj", a.k = "attention.k_proj", a.v = "attention.v_proj";
  a.out = "attention.o_proj";
  a.q_bias = s.Flag("query_bias", true), a.k_bias = s.Flag("key_bias", false);
  a.v_bias = s.Flag("value_bias", true), a.out_bias = s.Flag("proj_bias", true);
  a.rope.emplace().dim = a.size;
  layer.mlp = {.hidden = s.Size("intermediate_size", 1536),
               .activation = s.Text("hidden_act", "gelu"),
               .gate = s.Flag("use_gated_mlp", false) ? "mlp.gate_proj" : "",
               .bias = s.Flag("mlp_bias", true)};
  const bool nested = net.HasWeight("model.layer.0.norm1.weight");
  t.layers =
      Layers(layer, s.Count("num_hidden_layers", 12), nested ? "model.layer.{}." : "layer.{}.");
  const double theta =
      s.Nested("rope_parameters").Number("rope_theta", s.Number("rope_theta", 100));
  s.Ignore({"layerscale_value", "pos_embed_shift", "pos_embed_jitter", "pos_embed_rescale"});
  IgnoreStages(s);
  net.IgnoreWeights({"embeddings.mask_token", "embeddings.register_tokens", "rope_embeddings.*"});
  const auto before_layer = [&](Context& context, const Encoded& e, size_t i) {
    if (i == 0) context.turn = TurnOfPatches(net, e, 1 + count, a.size, theta);
  };
  const Encoded e = RunTower(net, t, PixelsOf(net, t), before_layer);
  net.Output("last_hidden_state", e.x);
  net.Output("pooler_output", TokenAt(e, 0));
}

// --- YOLOS
// -----------------------------------------------------------------------------------------

void Yolos(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  ImageTower t = VitTower(net, net.settings(), "vit.", 1e-12);
  const int64_t count = s.Count("num_detection_tokens", 100);
  t.extra = {{.name = "embeddings.cls_token"},
             {.name = "embeddings.detection_tokens", .count = count, .last = true}};
  t.stretch = ImageTower::kAny;
  if (s.Flag("use_mid_position_embeddings", true)) {
    t.mid_positions = "encoder.mid_position_embeddings";
  }
  s.Ignore({"auxiliary_loss", "class_cost", "bbox_cost", "giou_cost", "bbox_loss_coefficient",
            "giou_loss_coefficient", "eos_coefficient"});
  const Encoded e = RunTower(net, t, PixelsOf(net, t));
  if (class_name == "YolosForObjectDetection") {
    const Expr found = Slice(e.x, 1, -count, kToEnd);
    const std::string classes = "class_labels_classifier", boxes = "bbox_predictor";
    const int64_t labels = LabelCount(net, classes + ".layers.2.weight");
    net.Output("logits", Perceptron(net, found, classes, t.width, t.width, labels, 3));
    net.Output("pred_boxes", Perceptron(net, found, boxes, t.width, t.width, 4, 3).Op("sigmoid"));
  } else {
    net.IgnoreWeights({"class_labels_classifier.*", "bbox_predictor.*"});
  }
  net.Output("last_hidden_state", e.x);
  const std::string pooler = t.prefix + "pooler.dense";
  if (class_name == "YolosModel" && net.HasWeight(pooler + ".weight")) {
    net.Output("pooler_output", net.Linear(TokenAt(e, 0), pooler, t.width, t.width).Op("tanh"));
  }
}

[[maybe_unused]] const bool kVitRegistered[] = {
    RegisterVision("vit", "ViT", Vit),
    RegisterVision("vit_msn", "ViTMSN", VitMsn),
    RegisterVision("ijepa", "IJepa", IJepa),
    RegisterVision("deit", "DeiT", Deit,
                   {"ForImageClassification", "Model", "ForImageClassificationWithTeacher"}),
    RegisterVision("beit", "Beit",
                   [](Net& net, const std::string& name) { BeitLike(net, name, "beit."); }),
    RegisterVision(
        "data2vec-vision", "Data2VecVision",
        [](Net& net, const std::string& name) { BeitLike(net, name, "data2vec_vision."); }),
    RegisterVision(
        "dinov2", "Dinov2",
        [](Net& net, const std::string& name) { Dinov2Like(net, name, "dinov2.", false); }),
    RegisterVision("dinov2_with_registers", "Dinov2WithRegisters",
                   [](Net& net, const std::string& name) {
                     Dinov2Like(net, name, "dinov2_with_registers.", true);
                   }),
    RegisterVision("dinov3_vit", "DINOv3ViT", Dinov3, {"Model"}),
    RegisterVision("yolos", "Yolos", Yolos, {"ForObjectDetection", "Model"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
