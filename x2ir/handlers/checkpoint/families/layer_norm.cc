// Decoders with rotary positions and layer norms instead of Llama's: Phi, StableLM, Cohere, ...
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

constexpr LlamaDefaults kLayerNorms = {
    .eps = 1e-5, .eps_names = "layer_norm_eps", .norm = NormSpec::kLayer};

void NotGated(Decoder& d, const std::string& up, const std::string& down, bool bias) {
  ForEach(d, [&](Layer& layer) {
    layer.mlp.gate.clear();
    layer.mlp.up = up, layer.mlp.down = down;
    layer.mlp.bias = bias;
  });
}

void SetBiases(Decoder& d, bool qkv, bool out) {
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = qkv;
    a.out_bias = out;
  });
}

// Both branches have the operand of the attention.
void OneNorm(Decoder& d) {
  ForEach(d, [](Layer& layer) {
    layer.parallel = true;
    layer.before_mlp.clear();
  });
}

Decoder Phi(Net& net) {
  LlamaDefaults defaults = kLayerNorms;
  defaults.rope.partial = 0.5;
  defaults.activation = "gelu_new";
  Decoder d = LlamaLike(net, defaults);
  d.final_norm = "final_layernorm", d.head_bias = true;
  const bool normed = net.settings().Flag("qk_layernorm", false);
  NotGated(d, "mlp.fc1", "mlp.fc2", true);
  SetBiases(d, true, true);
  OneNorm(d);
  ForEach(d, [&](Layer& layer) {
    layer.attention.out = "self_attn.dense";
    layer.attention.q_norm = "self_attn.q_layernorm";
    layer.attention.k_norm = "self_attn.k_layernorm";
    if (normed) layer.attention.qk_norm = d.norm;
  });
  return d;
}

Decoder Persimmon(Net& net) {
  LlamaDefaults defaults = kLayerNorms;
  defaults.rope.partial = 0.5;
  defaults.activation = "relu2";
  Decoder d = LlamaLike(net, defaults);
  d.final_norm = "final_layernorm";
  const bool normed = net.settings().Flag("qk_layernorm", true);
  NotGated(d, "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", true);
  SetBiases(d, true, true);
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.fused = Attention::kByHead;
    a.qkv = "self_attn.query_key_value", a.out = "self_attn.dense";
    a.q_norm = "self_attn.q_layernorm", a.k_norm = "self_attn.k_layernorm";
    if (normed) a.qk_norm = d.norm;
  });
  return d;
}

Decoder StableLm(Net& net) {
  Settings& s = net.settings();
  LlamaDefaults defaults = kLayerNorms;
  defaults.rope.partial = 0.25;
  Decoder d = LlamaLike(net, defaults);
  SetBiases(d, s.Flag("use_qkv_bias", false), false);
  if (s.Flag("use_parallel_residual", false)) OneNorm(d);
  const bool normed = s.Flag("qk_layernorm", false);
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.q_norm = "self_attn.q_layernorm.norms.{}", a.k_norm = "self_attn.k_layernorm.norms.{}";
    a.norm_each = true;
    if (normed) a.qk_norm = d.norm;
  });
  return d;
}

Decoder Starcoder2(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.tied = true,
                              .eps = 1e-5,
                              .eps_names = "norm_epsilon",
                              .norm = NormSpec::kLayer,
                              .activation = "gelu_pytorch_tanh",
                              .kv_heads = 2});
  s.Ignore({"residual_dropout", "embedding_dropout", "norm_type", "mlp_type",
            "attention_softmax_in_fp32"});
  const bool bias = s.Flag("use_bias", true);
  const int64_t window = s.Int("sliding_window", 0);
  NotGated(d, "mlp.c_fc", "mlp.c_proj", bias);
  SetBiases(d, bias, bias);
  ForEach(d, [&](Layer& layer) { layer.attention.window = window; });
  return d;
}

Decoder Nemotron(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5,
                              .eps_names = "norm_eps|layer_norm_eps",
                              .norm = NormSpec::kLayer,
                              .rope = {.partial = 0.5},
                              .activation = "relu2"});
  d.norm.plus_one = true;
  SetNorm(d, d.norm);
  NotGated(d, "mlp.up_proj", "mlp.down_proj", d.layers[0].mlp.bias);
  return d;
}

Decoder CohereLike(Net& net, double theta) {
  Settings& s = net.settings();
  LlamaDefaults defaults = kLayerNorms;
  defaults.tied = true;
  defaults.rope.theta = theta;
  Decoder d = LlamaLike(net, defaults);
  s.Ignore({"use_parallel_block", "use_parallel_embedding", "use_gated_activation", "rotary_pct",
            "position_embedding_type", "order_of_interleaved_layers", "cache_implementation",
            "_sliding_window_pattern", "use_embedding_sharing"});
  d.norm.shift = false;
  SetNorm(d, d.norm);
  d.logit_factor = s.Number("logit_scale", 0.0625);
  OneNorm(d);
  ForEach(d, [](Layer& layer) { layer.attention.rope->interleaved = true; });
  return d;
}

Decoder Cohere(Net& net) {
  Decoder d = CohereLike(net, 500000);
  const bool normed = net.settings().Flag("use_qk_norm", false);
  ForEach(d, [&](Layer& layer) {
    layer.attention.norm_by_head = true;
    if (normed) layer.attention.qk_norm = d.norm;
  });
  return d;
}

// Only layers of windows have positions.
Decoder Cohere2(Net& net) {
  Settings& s = net.settings();
  s.Only("use_qk_norm", false);
  Decoder d = CohereLike(net, 10000);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 4096);
  SetWindows(d, window, EveryNthFull(s, d.layers.size(), s.Count("sliding_window_pattern", 4)));
  ForEach(d, [](Layer& layer) {
    if (layer.attention.window == 0) layer.attention.rope.reset();
  });
  return d;
}

Decoder ModernBertDecoder(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.tied = true,
                              .eps = 1e-5,
                              .eps_names = "norm_eps",
                              .norm = NormSpec::kLayer,
                              .turns = false,
                              .activation = "gelu",
                              .activation_names = "hidden_activation"});
  s.Ignore({"initializer_cutoff_factor", "classifier_pooling", "deterministic_flash_attn",
            "embedding_dropout", "sparse_prediction", "sparse_pred_ignore_index",
            "reference_compile", "repad_logits_with_grad", "causal_mask"});
  d.norm.shift = s.Flag("norm_bias", false);
  SetNorm(d, d.norm);
  d.embed = "embeddings.tok_embeddings", d.embed_norm = "embeddings.norm";
  d.final_norm = "final_norm", d.head = "decoder";
  d.head_bias = s.Flag("decoder_bias", true);
  d.head_dense = "lm_head.dense", d.head_norm = "lm_head.norm";
  d.head_dense_bias = s.Flag("classifier_bias", false);
  d.head_activation = s.Text("classifier_activation", "gelu");
  const int64_t size = d.layers[0].attention.size, every = s.Count("global_attn_every_n_layers", 3);
  const Rope all = RopeOf(s, size, {.theta = 160000, .theta_name = "global_rope_theta"},
                          "full_attention"),
             near = RopeOf(s, size, {.theta_name = "local_rope_theta"}, "sliding_attention");
  const auto types = LayerTypes(s, d.layers.size(), [&](size_t i) -> std::string {
    return static_cast<int64_t>(i) % every == 0 ? "full_attention" : "sliding_attention";
  });
  const int64_t window = s.Int("sliding_window", s.Size("local_attention", 128) / 2);
  if (window < 1) Broken("config.json: 'sliding_window' is ", window);
  SetWindows(d, window, types);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Layer& layer = d.layers[i];
    layer.before_attention = i == 0 ? "" : "attn_norm", layer.before_mlp = "mlp_norm";
    layer.mlp.gate_up = "mlp.Wi", layer.mlp.down = "mlp.Wo";
    Attention& a = layer.attention;
    a.q = "attn.q_proj", a.k = "attn.k_proj", a.v = "attn.v_proj", a.out = "attn.Wo";
    a.rope = types[i] == "full_attention" ? all : near;
  }
  return d;
}

[[maybe_unused]] const bool kLayerNormAreRegistered[] = {
    RegisterDecoder("phi", "Phi", Phi),
    RegisterDecoder("persimmon", "Persimmon", Persimmon),
    RegisterDecoder("stablelm", "StableLm", StableLm),
    RegisterDecoder("starcoder2", "Starcoder2", Starcoder2),
    RegisterDecoder("nemotron", "Nemotron", Nemotron),
    RegisterDecoder("cohere", "Cohere", Cohere),
    RegisterDecoder("cohere2", "Cohere2", Cohere2),
    RegisterDecoder("modernbert-decoder", "ModernBertDecoder", ModernBertDecoder),
};

}  // namespace
}  // namespace x2ir::checkpoint
