// Encoders whose queries and keys are turned by their positions: ModernBERT, Nomic BERT, RoFormer,
// and ESM, which reads proteins.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/decoder.h"
#include "x2ir/handlers/checkpoint/encoder.h"

namespace x2ir::checkpoint {
namespace {

// --- ModernBERT ----------------------------------------------------------------------------------

Encoder ModernBert(Net& net) {
  Settings& s = net.settings();
  Encoder e;
  e.base = "model.";
  e.width = s.Size("hidden_size", 768);
  e.vocab = s.Size("vocab_size", 50368);
  e.embed = "embeddings.tok_embeddings", e.embed_norm = "embeddings.norm";
  e.types.clear(), e.positions.clear();
  e.norm = {.kind = NormSpec::kLayer,
            .eps = s.Number("norm_eps", 1e-5),
            .shift = s.Flag("norm_bias", false)};
  e.final_norm = "final_norm";
  e.tied = s.Flag("tie_word_embeddings", true);
  Layer layer;
  layer.norm = e.norm;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads", 12);
  if (e.width % a.heads != 0) {
    Broken("config.json: ", a.heads, " heads cannot share ", e.width, " numbers");
  }
  a.size = e.width / a.heads;
  a.fused = Attention::kConcat;
  a.qkv = "attn.Wqkv", a.out = "attn.Wo";
  a.q_bias = a.out_bias = s.Flag("attention_bias", false);
  layer.before_attention = "attn_norm", layer.before_mlp = "mlp_norm";
  layer.mlp = {.hidden = s.Size("intermediate_size", 1152),
               .activation = s.Text("hidden_activation", "gelu"),
               .down = "mlp.Wo",
               .gate_up = "mlp.Wi",
               .bias = s.Flag("mlp_bias", false)};
  AddLayers(e, layer, net.LayerCount("num_hidden_layers", 22), "layers.{}.");
  e.layers[0].before_attention.clear();
  const int64_t step = s.Count("global_attn_every_n_layers", 3);
  const auto types = LayerTypes(s, e.layers.size(), [&](size_t i) -> std::string {
    return static_cast<int64_t>(i) % step != 0 ? "sliding_attention" : "full_attention";
  });
  const int64_t window = s.Size("local_attention", 128) / 2;
  const Rope all = RopeOf(s, a.size, {.theta = 160000, .theta_name = "global_rope_theta"},
                          "full_attention"),
             near = RopeOf(s, a.size, {.theta = 10000, .theta_name = "local_rope_theta"},
                           "sliding_attention");
  for (size_t i = 0; i < e.layers.size(); ++i) {
    Attention& of = e.layers[i].attention;
    const bool slides = types[i] == "sliding_attention";
    if (!slides && types[i] != "full_attention") {
      Refuse("config.json: layers of type '", types[i], "' are not supported here");
    }
    of.rope = slides ? near : all;
    // A window of 0 is of the token alone.
    if (slides && window == 0) Refuse("config.json: 'local_attention' below 2 is not supported");
    if (slides) of.window = window;
  }
  const Step dense = {.dense = "head.dense",
                      .activation = s.Text("classifier_activation", "gelu"),
                      .norm = "head.norm",
                      .bias = s.Flag("classifier_bias", false)};
  const std::string pooling = s.Text("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean") {
    Refuse("config.json: 'classifier_pooling' is '", pooling, "'; cls and mean are supported");
  }
  const Head::From from = pooling == "mean" ? Head::kMean : Head::kFirst;
  e.heads = {{.of_class = "ForMaskedLM",
              .steps = {dense},
              .gives = Head::kWords,
              .out = "decoder",
              .has_bias = s.Flag("decoder_bias", true)},
             LabelsHead(from, {dense}),
             ChoiceHead(from, {dense}),
             TagsHead({dense}),
             SpanHead({dense}, "classifier")};
  IgnoreOldKeys(s);
  s.Ignore({"deterministic_flash_attn", "sparse_prediction", "sparse_pred_ignore_index",
            "reference_compile", "repad_logits_with_grad", "layer_norm_eps",
            "position_embedding_type", "max_position_embeddings"});
  return e;
}

// --- Nomic BERT ----------------------------------------------------------------------------------

// Keys of the model as it was published; what transformers does not have of it is refused.
BertDefaults PublishedNomicBert(Settings& s) {
  for (const char* key :
       {"causal", "mlp_fc1_bias", "mlp_fc2_bias", "qkv_proj_bias", "parallel_block",
        "parallel_block_tied_norm", "prenorm", "rotary_emb_interleaved",
        "scale_attn_by_inverse_layer_idx", "use_rms_norm"}) {
    s.Only(key, false);
  }
  s.Only("scale_attn_weights", true);
  s.Only("activation_function", "swiglu");
  if (s.Has("rotary_emb_scale_base") || s.Has("rotary_scaling_factor") ||
      s.Number("rotary_emb_fraction", 1) != 1) {
    Refuse(
        "config.json: 'rotary_emb_scale_base', 'rotary_scaling_factor' and "
        "'rotary_emb_fraction' are not supported");
  }
  s.Ignore({"dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln", "max_trained_positions",
            "pad_vocab_size_multiple", "reorder_and_upcast_attn", "use_flash_attn", "use_xentropy",
            "last_layer_subset", "summary_activation", "summary_first_dropout",
            "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  return {.vocab = 30528,
          .width = s.Size("n_embd", 768),
          .layers = s.Count("n_layer", 12),
          .heads = s.Size("n_head", 12),
          .hidden = s.Size("n_inner", 3072),
          .positions = s.Size("n_positions", 2048),
          .activation = "silu",
          .eps = s.Number("layer_norm_epsilon", 1e-12)};
}

Encoder NomicBert(Net& net) {
  Settings& s = net.settings();
  Encoder e = BertLike(net, "nomic_bert.", PublishedNomicBert(s));
  e.positions.clear();
  e.heads[0].steps[0].norm = "cls.predictions.transform.layer_norm";
  Layer layer = e.layers[0];
  Attention& a = layer.attention;
  a.size = s.Size("head_dim", a.size);
  a.rope = RopeOf(s, a.size, {.theta = s.Number("rotary_emb_base", 1000)});
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = layer.mlp.bias = false;
  const auto count = static_cast<int64_t>(e.layers.size());
  e.layers.clear();
  // Two ways to name the same weights: as the model was published, and as transformers has it.
  bool published = false;
  for (const std::string& base : {e.base, std::string()}) {
    published = published || net.HasWeight(base + "encoder.layers.0.attn.Wqkv.weight");
  }
  if (published) {
    a.fused = Attention::kConcat;
    a.qkv = "attn.Wqkv", a.out = "attn.out_proj";
    layer.of_attention_sum = "norm1", layer.of_mlp_sum = "norm2";
    layer.mlp.up = "mlp.fc11", layer.mlp.gate = "mlp.fc12", layer.mlp.down = "mlp.fc2";
    e.embed_norm = "emb_ln";
  } else {
    a.q = "self_attn.q_proj", a.k = "self_attn.k_proj", a.v = "self_attn.v_proj";
    a.out = "self_attn.o_proj";
    layer.of_attention_sum = "post_attention_layernorm";
    layer.of_mlp_sum = "post_mlp_layernorm";
    layer.mlp.up = "mlp.up_proj", layer.mlp.gate = "mlp.gate_proj",
    layer.mlp.down = "mlp.down_proj";
  }
  AddLayers(e, layer, count, published ? "encoder.layers.{}." : "layers.{}.");
  return e;
}

// --- RoFormer ------------------------------------------------------------------------------------

Encoder RoFormer(Net& net) {
  Settings& s = net.settings();
  Encoder e = BertLike(net, "roformer.", {.vocab = 50000, .positions = 1536});
  e.positions.clear();
  e.embed_width = s.Size("embedding_size", e.width);
  if (e.embed_width != e.width) e.project = "embeddings_project";
  Rope rope = RopeOf(s, e.layers[0].attention.size);
  rope.interleaved = true;
  rope.table = "encoder.embed_positions", rope.table_count = e.position_count;
  const bool values = s.Flag("rotary_value", false);
  for (Layer& layer : e.layers) {
    layer.attention.rope = rope;
    layer.attention.rope_of_values = values;
  }
  e.pooler.reset();
  e.heads[0].steps[0].width = e.embed_width;
  e.heads[1] = DenseLabelsHead(e.layers[0].mlp.activation);
  e.heads[2] = SummaryHead(s);
  s.Ignore({"summary_type", "use_bias", "norm_type"});
  return e;
}

// --- ESM -----------------------------------------------------------------------------------------

Encoder Esm(Net& net) {
  Settings& s = net.settings();
  Encoder e = BertLike(net, "esm.", {.positions = 1026});
  s.Only("is_folding_model", false);
  s.Ignore({"esmfold_config", "vocab_list", "type_vocab_size", "hidden_act"});
  e.types.clear(), e.type_count = 0;
  e.final_norm = "encoder.emb_layer_norm_after";
  e.embed_norm = s.Flag("emb_layer_norm_before", false) ? "embeddings.layer_norm" : "";
  e.embed_masked = true;
  const std::string kind = s.Text("position_embedding_type", "absolute");
  if (kind != "absolute" && kind != "rotary") {
    Refuse("config.json: 'position_embedding_type' is '", kind,
           "'; absolute and rotary are supported");
  }
  const Rope rope = RopeOf(s, e.layers[0].attention.size);
  if (kind == "rotary") {
    e.positions.clear();
  } else {
    e.position_padding = s.Int("pad_token_id");
  }
  for (Layer& layer : e.layers) {
    layer.mlp.activation = "gelu";
    layer.of_attention_sum.clear(), layer.of_mlp_sum.clear();
    layer.before_attention = "attention.LayerNorm", layer.before_mlp = "LayerNorm";
    if (kind == "rotary") layer.attention.rope = rope;
  }
  // Words that are hidden count for nothing, and the others for more.
  if (s.Flag("token_dropout", false)) {
    const auto hidden = static_cast<double>(s.Int("mask_token_id"));
    e.of_words = [hidden](Net&, const Tokens& tokens, const Expr& words) {
      const Expr is_hidden = tokens.ids == hidden;
      const Expr count = Sum(is_hidden.To(DType::kFloat32), 1, true),
                 all = Sum(tokens.mask, 1, true).To(DType::kFloat32);
      const Expr factor = (1 - 0.15 * 0.8) / (1.0 - count / all);
      return words * Unsqueeze(Where(is_hidden, 0.0, factor), {2});
    };
  }
  e.heads = {LmHead(), DenseLabelsHead("tanh"), TagsHead()};
  for (const std::string& base : {e.base, std::string()}) {
    // The last one is how newer versions of the library write the name.
    net.IgnoreWeights({base + "contact_head.*", base + "rotary_embeddings.inv_freq",
                       base + "encoder.layer.*.attention.self.rotary_embeddings.inv_freq"});
    for (size_t i = 0; i < e.layers.size(); ++i) {
      net.IgnoreWeights(
          {StrCat(base, "encoder.layer.", i, ".attention.self.rotary_embeddings.inv_freq")});
    }
  }
  return e;
}

[[maybe_unused]] const bool kRotaryEncoders[] = {
    RegisterEncoder("modernbert", "ModernBert", ModernBert),
    RegisterEncoder("nomic_bert", "NomicBert", NomicBert),
    RegisterEncoder("roformer", "RoFormer", RoFormer),
    RegisterEncoder("esm", "Esm", Esm),
};

}  // namespace
}  // namespace x2ir::checkpoint
