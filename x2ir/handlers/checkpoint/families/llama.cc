// Llama and the decoders that differ from it in little.
#include <algorithm>
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

Decoder Llama(Net& net) { return LlamaLike(net); }

// A window of all layers.
Decoder Windowed(Net& net, const LlamaDefaults& defaults, int64_t absent) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, defaults);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : absent);
  ForEach(d, [&](Layer& layer) { layer.attention.window = window; });
  return d;
}

Decoder Mistral(Net& net) { return Windowed(net, {.kv_heads = 8}, 4096); }

// Windows from layer `max_window_layers` on, where they are used at all.
void QwenWindows(Net& net, Decoder& d) {
  Settings& s = net.settings();
  const bool used = s.Flag("use_sliding_window", false);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 4096),
                full = s.Int("max_window_layers", 28);
  const auto types = LayerTypes(s, d.layers.size(), [&](size_t i) -> std::string {
    return used && window > 0 && static_cast<int64_t>(i) >= full ? "sliding_attention"
                                                                 : "full_attention";
  });
  SetWindows(d, window, types);
}

Decoder Qwen2(Net& net) {
  Decoder d = LlamaLike(net);
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = net.settings().Flag("qkv_bias", true);
    a.out_bias = false;
  });
  QwenWindows(net, d);
  return d;
}

Decoder Qwen3(Net& net) {
  Decoder d = LlamaLike(net);
  HeadNorms(d);
  QwenWindows(net, d);
  return d;
}

// Some layers have experts: every `decoder_sparse_step`-th one that is not in `mlp_only_layers`.
void QwenExperts(Net& net, Decoder& d, const Experts& experts) {
  Settings& s = net.settings();
  const int64_t step = s.Count("decoder_sparse_step", 1);
  const std::vector<int64_t> dense = s.Ints("mlp_only_layers");
  for (size_t i = 0; i < d.layers.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    const bool is_dense = std::find(dense.begin(), dense.end(), n) != dense.end();
    if (!is_dense && (n + 1) % step == 0) d.layers[i].experts = experts;
  }
}

Experts QwenRouting(Net& net, const Decoder& d) {
  Settings& s = net.settings();
  Experts e;
  e.count = s.Count("num_experts|num_local_experts");
  e.picked = s.Count("num_experts_per_tok");
  e.normalize = s.Flag("norm_topk_prob", false);
  e.mlp = {.hidden = s.Size("moe_intermediate_size"),
           .activation = d.layers[0].mlp.activation,
           .gate = "gate_proj",
           .up = "up_proj",
           .down = "down_proj"};
  return e;
}

Decoder Qwen2Moe(Net& net) {
  Decoder d = Qwen2(net);
  Experts e = QwenRouting(net, d);
  e.shared = Mlp{.hidden = net.settings().Size("shared_expert_intermediate_size"),
                 .activation = d.layers[0].mlp.activation,
                 .gate = "mlp.shared_expert.gate_proj",
                 .up = "mlp.shared_expert.up_proj",
                 .down = "mlp.shared_expert.down_proj"};
  e.shared_gate = "mlp.shared_expert_gate";
  QwenExperts(net, d, e);
  return d;
}

Decoder Qwen3Moe(Net& net) {
  Decoder d = Qwen3(net);
  QwenExperts(net, d, QwenRouting(net, d));
  return d;
}

Decoder Mixtral(Net& net) {
  Decoder d = Windowed(net, {.eps = 1e-5, .rope = {.theta = 1e6}, .kv_heads = 8}, 0);
  Settings& s = net.settings();
  Experts e;
  e.count = s.Count("num_local_experts|num_experts", 8);
  e.picked = s.Count("num_experts_per_tok", 2);
  e.normalize = true;
  e.router = "block_sparse_moe.gate";
  e.prefix = "block_sparse_moe.experts.{}.";
  e.mlp = d.layers[0].mlp;
  e.mlp.gate = "w1", e.mlp.up = "w3", e.mlp.down = "w2";
  ForEach(d, [&](Layer& layer) { layer.experts = e; });
  return d;
}

Decoder SmolLm3(Net& net) {
  Decoder d = LlamaLike(net, {.tied = true, .rope = {.theta = 2e6}, .kv_heads = 4});
  Settings& s = net.settings();
  const std::vector<int64_t> turned = s.Ints("no_rope_layers");
  const int64_t step = s.Count("no_rope_layer_interval", 4);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    const bool turns =
        i < turned.size() ? turned[i] != 0 : (static_cast<int64_t>(i) + 1) % step != 0;
    if (!turns) d.layers[i].attention.rope.reset();
  }
  QwenWindows(net, d);
  return d;
}

// Norms only of what the branches give.
void NormsAfter(Decoder& d) {
  ForEach(d, [](Layer& layer) {
    layer.before_attention.clear(), layer.before_mlp.clear();
    layer.after_attention = "post_attention_layernorm";
    layer.after_mlp = "post_feedforward_layernorm";
  });
}

Decoder Olmo(Net& net) {
  Decoder d = LlamaLike(net);
  d.norm = {.kind = NormSpec::kLayer, .eps = 1e-5, .scale = false, .shift = false};
  const double clip = net.settings().Number("clip_qkv", 0);
  ForEach(d, [&](Layer& layer) {
    layer.norm = d.norm;
    layer.attention.clip = clip;
  });
  return d;
}

Decoder Olmo2(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  NormsAfter(d);
  ForEach(d, [&](Layer& layer) {
    layer.attention.qk_norm = d.norm;
    layer.attention.norm_all = true;
  });
  return d;
}

Decoder Olmo3(Net& net) {
  Decoder d = Olmo2(net);
  Settings& s = net.settings();
  const auto types = LayerTypes(s, d.layers.size(), [](size_t i) -> std::string {
    return (i + 1) % 4 != 0 ? "sliding_attention" : "full_attention";
  });
  SetWindows(d, s.Int("sliding_window", 4096), types);
  return d;
}

Decoder Olmoe(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  Settings& s = net.settings();
  const double clip = s.Number("clip_qkv", 0);
  Experts e;
  e.count = s.Count("num_experts");
  e.picked = s.Count("num_experts_per_tok");
  e.normalize = s.Flag("norm_topk_prob", false);
  e.mlp = d.layers[0].mlp;
  e.mlp.gate = "gate_proj", e.mlp.up = "up_proj", e.mlp.down = "down_proj";
  ForEach(d, [&](Layer& layer) {
    layer.attention.qk_norm = d.norm;
    layer.attention.norm_all = true;
    layer.attention.clip = clip;
    layer.experts = e;
  });
  return d;
}

Decoder Granite(Net& net) {
  Decoder d = LlamaLike(net);
  GraniteFactors(net, d);
  return d;
}

Decoder Helium(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-8, .rope = {.theta = 100000}});
  ForEach(d, [](Layer& layer) {
    layer.attention.rope->interleaved = true;
    layer.attention.out_bias = false;
  });
  return d;
}

Decoder Glm(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1.5625e-7, .attention_bias = true, .kv_heads = 2});
  Settings& s = net.settings();
  const int64_t size = d.layers[0].attention.size;
  ForEach(d, [&](Layer& layer) {
    layer.attention.rope = RopeOf(s, size, {.partial = 0.5});
    layer.attention.rope->interleaved = true;
    layer.attention.out_bias = false;
    layer.mlp.gate_up = "mlp.gate_up_proj";
  });
  return d;
}

Decoder Glm4(Net& net) {
  Decoder d = Glm(net);
  ForEach(d, [](Layer& layer) {
    layer.after_attention = "post_self_attn_layernorm";
    layer.after_mlp = "post_mlp_layernorm";
  });
  return d;
}

Decoder Phi3(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  Settings& s = net.settings();
  const int64_t window = s.Int("sliding_window", 0);
  ForEach(d, [&](Layer& layer) {
    layer.attention.fused = Attention::kConcat;
    layer.attention.qkv = "self_attn.qkv_proj";
    layer.attention.window = window;
    layer.mlp.gate_up = "mlp.gate_up_proj";
  });
  return d;
}

Decoder Arcee(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5, .activation = "relu2"});
  ForEach(d, [](Layer& layer) { layer.mlp.gate.clear(); });
  return d;
}

Decoder Exaone4(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  Settings& s = net.settings();
  NormsAfter(d);
  HeadNorms(d);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 4096);
  const int64_t pattern =
      s.Has("sliding_window_pattern") && s.Raw("sliding_window_pattern").is_number()
          ? s.Int("sliding_window_pattern")
          : 4;
  s.Ignore({"sliding_window_pattern"});
  const auto types = LayerTypes(s, d.layers.size(), [&](size_t i) -> std::string {
    return window > 0 && (static_cast<int64_t>(i) + 1) % pattern != 0 ? "sliding_attention"
                                                                      : "full_attention";
  });
  SetWindows(d, window, types);
  // With windows, only layers of windows have positions.
  for (size_t i = 0; window > 0 && i < d.layers.size(); ++i) {
    if (types[i] == "full_attention") d.layers[i].attention.rope.reset();
  }
  return d;
}

Decoder SeedOss(Net& net) {
  Decoder d = LlamaLike(net, {.attention_bias = true});
  const bool out = net.settings().Flag("attention_out_bias", false);
  ForEach(d, [&](Layer& layer) { layer.attention.out_bias = out; });
  net.settings().Ignore({"residual_dropout"});
  return d;
}

Decoder Ernie45(Net& net) {
  Decoder d = LlamaLike(net, {.tied = true, .eps = 1e-5, .rope = {.theta = 500000}});
  const bool bias = net.settings().Flag("use_bias", false);
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = layer.mlp.bias = bias;
    a.rope->interleaved = true;
  });
  return d;
}

Decoder HunyuanDense(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  net.settings().Ignore({"eod_token_id", "attention_head_dim"});
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.qk_norm = d.norm;
    a.norm_after_rope = true;
    a.q_norm = "self_attn.query_layernorm", a.k_norm = "self_attn.key_layernorm";
  });
  return d;
}

[[maybe_unused]] const bool kLlamaAreRegistered[] = {
    RegisterDecoder("llama", "Llama", Llama),
    RegisterDecoder("mistral", "Mistral", Mistral),
    RegisterDecoder("mixtral", "Mixtral", Mixtral),
    RegisterDecoder("qwen2", "Qwen2", Qwen2),
    RegisterDecoder("qwen2_moe", "Qwen2Moe", Qwen2Moe),
    RegisterDecoder("qwen3", "Qwen3", Qwen3),
    RegisterDecoder("qwen3_moe", "Qwen3Moe", Qwen3Moe),
    RegisterDecoder("smollm3", "SmolLM3", SmolLm3),
    RegisterDecoder("olmo", "Olmo", Olmo),
    RegisterDecoder("olmo2", "Olmo2", Olmo2),
    RegisterDecoder("olmo3", "Olmo3", Olmo3),
    RegisterDecoder("olmoe", "Olmoe", Olmoe),
    RegisterDecoder("granite", "Granite", Granite),
    RegisterDecoder("helium", "Helium", Helium),
    RegisterDecoder("glm", "Glm", Glm),
    RegisterDecoder("glm4", "Glm4", Glm4),
    RegisterDecoder("phi3", "Phi3", Phi3),
    RegisterDecoder("arcee", "Arcee", Arcee),
    RegisterDecoder("exaone4", "Exaone4", Exaone4),
    RegisterDecoder("seed_oss", "SeedOss", SeedOss),
    RegisterDecoder("ernie4_5", "Ernie4_5", Ernie45),
    RegisterDecoder("hunyuan_v1_dense", "HunYuanDenseV1", HunyuanDense),
};

}  // namespace
}  // namespace x2ir::checkpoint
