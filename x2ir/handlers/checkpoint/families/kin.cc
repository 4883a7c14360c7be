// Further decoders that differ from Llama in little.
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

constexpr char kApertusRope[] =
    R"({"rope_type":"llama3","rope_theta":12000000,"factor":8,"low_freq_factor":1,)"
    R"("high_freq_factor":4,"original_max_position_embeddings":8192})";
constexpr char kCwmRope[] =
    R"({"rope_type":"llama3","rope_theta":1000000,"factor":16,"low_freq_factor":1,)"
    R"("high_freq_factor":4,"original_max_position_embeddings":8192})";

Decoder Apertus(Net& net) {
  Decoder d = LlamaLike(
      net, {.eps = 1e-5, .rope = {.theta = 12e6, .absent = kApertusRope}, .activation = "xielu"});
  net.settings().Ignore({"post_norm", "qk_norm", "mlp_bias"});
  HeadNorms(d);
  ForEach(d, [](Layer& layer) {
    layer.before_attention = "attention_layernorm";
    layer.before_mlp = "feedforward_layernorm";
    layer.mlp.gate.clear();
    layer.mlp.bias = false;
    layer.mlp.learned = "mlp.act_fn.";
  });
  net.IgnoreWeights({"*.mlp.act_fn.beta", "*.mlp.act_fn.eps"});
  return d;
}

Decoder Ministral(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 4096);
  SetWindows(d, window, LayerTypes(s, d.layers.size(), [&](size_t) -> std::string {
               return window > 0 ? "sliding_attention" : "full_attention";
             }));
  return d;
}

// Scores grow with the position.
Decoder Ministral3(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  Settings& rope = s.Nested("rope_parameters|rope_scaling");
  rope.Ignore({"max_position_embeddings"});
  const int64_t window = s.Int("sliding_window", 0);
  const double beta = rope.Number("llama_4_scaling_beta");
  const int64_t length = rope.Size("original_max_position_embeddings");
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.window = window;
    a.temperature_beta = beta, a.temperature_length = length, a.temperature_offset = 0;
  });
  return d;
}

Decoder BitNet(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.theta = 500000}, .activation = "relu2"});
  ForEach(d, [&](Layer& layer) {
    layer.attention.out_norm = layer.mlp.norm_spec = d.norm;
    layer.attention.out_norm_name = "self_attn.attn_sub_norm";
    layer.mlp.norm = "mlp.ffn_sub_norm";
  });
  return d;
}

Decoder Cwm(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.theta = 1e6, .absent = kCwmRope}});
  const auto types = LayerTypes(s, d.layers.size(), [](size_t i) -> std::string {
    return i % 4 == 0 ? "full_attention" : "sliding_attention";
  });
  SetWindows(d, s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 8192), types);
  return d;
}

Decoder Jais2(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5,
                              .eps_names = "layer_norm_eps",
                              .norm = NormSpec::kLayer,
                              .activation = "relu2",
                              .attention_bias = true});
  const bool bias = net.settings().Flag("mlp_bias", true);
  ForEach(d, [&](Layer& layer) {
    layer.mlp.gate.clear();
    layer.mlp.bias = bias;
  });
  return d;
}

// Granite with norms of what branches give; logits are multiplied.
Decoder HyperClovaX(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net);
  GraniteFactors(net, d);
  d.logit_factor = s.Number("logits_scaling", 1);
  const bool after = s.Flag("use_post_norm", true), scaled = s.Has("attention_multiplier");
  ForEach(d, [&](Layer& layer) {
    if (!scaled) layer.attention.scale.reset();
    if (after) layer.after_attention = "post_norm1", layer.after_mlp = "post_norm2";
  });
  return d;
}

// InternLM 2: projections in groups, names of its own.
Decoder InternLm2(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net);
  s.Only("attn_implementation", "eager");
  d.embed = "tok_embeddings", d.head = "output";
  const bool bias = s.Flag("bias", true);
  ForEach(d, [&](Layer& layer) {
    layer.before_attention = "attention_norm", layer.before_mlp = "ffn_norm";
    Attention& a = layer.attention;
    a.fused = Attention::kByHead;
    a.qkv = "attention.wqkv", a.out = "attention.wo";
    a.q_bias = a.out_bias = bias;
    layer.mlp.gate = "feed_forward.w1", layer.mlp.up = "feed_forward.w3";
    layer.mlp.down = "feed_forward.w2";
  });
  return d;
}

// EXAONE 3: Llama by the names of GPT Neo.
Decoder Exaone(Net& net) {
  Settings& s = net.settings();
  s.Ignore({"embed_dropout", "resid_dropout"});
  Decoder d = LlamaLike(net, {.eps = 1e-5,
                              .eps_names = "layer_norm_epsilon",
                              .activation_names = "activation_function",
                              .count_names = "num_layers|num_hidden_layers"});
  d.prefix = "transformer.", d.embed = "wte", d.final_norm = "ln_f";
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Layer& layer = d.layers[i];
    layer.prefix = StrCat("transformer.h.", i, ".");
    layer.before_attention = "ln_1", layer.before_mlp = "ln_2";
    Attention& a = layer.attention;
    a.q = "attn.attention.q_proj", a.k = "attn.attention.k_proj", a.v = "attn.attention.v_proj";
    a.out = "attn.attention.out_proj";
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = false;
    layer.mlp.gate = "mlp.c_fc_0", layer.mlp.up = "mlp.c_fc_1", layer.mlp.down = "mlp.c_proj";
  }
  net.IgnoreWeights({"*.rotary.inv_freq"});
  return d;
}

[[maybe_unused]] const bool kKinAreRegistered[] = {
    RegisterDecoder("cwm", "Cwm", Cwm),
    RegisterDecoder("jais2", "Jais2", Jais2),
    RegisterDecoder("hyperclovax", "HyperCLOVAX", HyperClovaX),
    RegisterDecoder("internlm2", "InternLM2", InternLm2),
    RegisterDecoder("exaone", "Exaone", Exaone),
    RegisterDecoder("apertus", "Apertus", Apertus),
    RegisterDecoder("ministral", "Ministral", Ministral),
    RegisterDecoder("ministral3", "Ministral3", Ministral3),
    RegisterDecoder("bitnet", "BitNet", BitNet),
};

}  // namespace
}  // namespace x2ir::checkpoint
