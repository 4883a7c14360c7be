// Decoders with experts: DeepSeek and those that route as it does, and those whose experts are
// stored in one weight.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

// An expert of its own weights, gated: names of its three layers.
Mlp Expert(const Decoder& d, int64_t hidden, const std::string& gate = "gate_proj",
           const std::string& up = "up_proj", const std::string& down = "down_proj") {
  return {.hidden = hidden,
          .activation = d.layers[0].mlp.activation,
          .gate = gate,
          .up = up,
          .down = down};
}

Mlp Shared(const Decoder& d, int64_t hidden, const std::string& prefix) {
  return Expert(d, hidden, prefix + ".gate_proj", prefix + ".up_proj", prefix + ".down_proj");
}

// Sigmoids, a correction of the pick, groups, experts that all tokens have; the first layers are
// dense.
Experts DeepSeekRouting(Net& net, Decoder& d, bool corrected = true) {
  Settings& s = net.settings();
  Experts e;
  e.count = s.Count("n_routed_experts|num_local_experts|num_experts");
  e.picked = s.Count("num_experts_per_tok");
  e.factor = s.Number("routed_scaling_factor", 1);
  e.groups = s.Count("n_group", 1), e.picked_groups = s.Count("topk_group", 1);
  const int64_t hidden = s.Size("moe_intermediate_size"),
                shared = s.Count("n_shared_experts|num_shared_experts", corrected ? 1 : 2);
  e.mlp = Expert(d, hidden);
  e.shared = Shared(d, hidden * shared, "mlp.shared_experts");
  if (corrected) {
    e.score = Experts::kSigmoid;
    e.correction = "mlp.gate.e_score_correction_bias";
    e.normalize = s.Flag("norm_topk_prob", true);
  }
  s.Ignore({"ep_size", "moe_layer_freq", "num_nextn_predict_layers", "aux_loss_alpha", "seq_aux",
            "pretraining_tp", "scoring_func", "router_dtype"});
  return e;
}

void AfterFirst(Net& net, Decoder& d, const Experts& e, int64_t fallback) {
  const int64_t dense = net.settings().Int("first_k_dense_replace", fallback);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    if (static_cast<int64_t>(i) >= dense) d.layers[i].experts = e;
  }
  // Layers after the last one predict further tokens in training.
  net.IgnoreWeights({StrCat(d.prefix, "layers.", d.layers.size(), ".*")});
}

void SetLatent(Net& net, Decoder& d, bool interleaved) {
  Settings& s = net.settings();
  Latent latent = {.q_rank = s.Has("q_lora_rank") ? s.Size("q_lora_rank") : 0,
                   .kv_rank = s.Size("kv_lora_rank", 512),
                   .plain = s.Size("qk_nope_head_dim", 128),
                   .turned = s.Size("qk_rope_head_dim", 64)};
  if (!s.Stands("q_lora_rank")) latent.q_rank = 1536;
  s.Ignore({"qk_head_dim", "head_dim", "num_key_value_heads"});
  const int64_t values = s.Size("v_head_dim", 128);
  Rope rope = RopeOf(s, latent.turned);
  rope.interleaved = interleaved;
  // The two norms in between have their own bound.
  const NormSpec norm = {.kind = NormSpec::kRms, .eps = 1e-6};
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.latent = latent;
    a.kv_heads = a.heads;
    a.value_size = values;
    a.qk_norm = norm;
    a.rope = rope;
  });
}

Decoder LatentLike(Net& net, const LlamaDefaults& defaults) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, defaults);
  SetLatent(net, d, s.Flag("rope_interleave", true));
  // Scores grow with what yarn stretches.
  Settings& rope = s.Nested("rope_parameters|rope_scaling");
  const double of_all = rope.Number("mscale_all_dim", 0), factor = rope.Number("factor", 1);
  const double mscale = of_all == 0 || factor <= 1 ? 1 : 0.1 * of_all * portable::log(factor) + 1;
  ForEach(d, [&](Layer& layer) {
    const Latent& l = *layer.attention.latent;
    layer.attention.scale = mscale * mscale / std::sqrt(static_cast<double>(l.plain + l.turned));
  });
  return d;
}

Decoder DeepSeekV3(Net& net) {
  Settings& s = net.settings();
  s.Only("scoring_func", "sigmoid");
  s.Only("topk_method", "noaux_tc");
  Decoder d = LatentLike(net, {.turns = false});
  Experts e = DeepSeekRouting(net, d);
  e.factor = s.Number("routed_scaling_factor", 2.5);
  AfterFirst(net, d, e, 3);
  return d;
}

Decoder Youtu(Net& net) {
  net.settings().Ignore({"embedding_initializer_range"});
  return LatentLike(net, {.tied = true, .turns = false});
}

// Experts in layers of type "sparse", by default in all but the first ones.
void SparseLayers(Net& net, Decoder& d, const Experts& e, int64_t dense) {
  const std::vector<std::string> types = net.settings().Texts("mlp_layer_types");
  if (!types.empty() && types.size() != d.layers.size()) {
    Broken("config.json: 'mlp_layer_types' names ", types.size(), " layers; there are ",
           d.layers.size());
  }
  for (size_t i = 0; i < d.layers.size(); ++i) {
    if (types.empty() ? static_cast<int64_t>(i) >= dense : types[i] == "sparse") {
      d.layers[i].experts = e;
    } else if (!types.empty() && types[i] != "dense") {
      Refuse("config.json: layers of type '", types[i], "' are not supported");
    }
  }
}

Decoder Glm4MoeLite(Net& net) {
  Settings& s = net.settings();
  s.Only("topk_method", "noaux_tc");
  s.Ignore({"partial_rotary_factor"});
  Decoder d = LatentLike(net, {.eps = 1e-5, .turns = false});
  Experts e = DeepSeekRouting(net, d);
  e.factor = s.Number("routed_scaling_factor", 1.8);
  SparseLayers(net, d, e, s.Int("first_k_dense_replace", 1));
  net.IgnoreWeights({StrCat(d.prefix, "layers.", d.layers.size(), ".*")});
  return d;
}

Decoder DeepSeekV2(Net& net) {
  Settings& s = net.settings();
  s.Only("scoring_func", "softmax");
  s.Only("norm_topk_prob", false);
  Decoder d = LlamaLike(net, {.turns = false});
  SetLatent(net, d, true);
  Experts e = DeepSeekRouting(net, d, false);
  const std::string method = s.Text("topk_method", "greedy");
  if (method == "group_limited_greedy") {
    e.best_of_group = 1;
  } else if (method == "greedy") {
    e.groups = e.picked_groups = 1;
  } else {
    s.Only("topk_method", "greedy");
  }
  AfterFirst(net, d, e, 0);
  return d;
}

Decoder Dots1(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net);
  HeadNorms(d);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 4096),
                full = s.Int("max_window_layers", 62);
  const auto types = LayerTypes(s, d.layers.size(), [&](size_t i) -> std::string {
    return window > 0 && static_cast<int64_t>(i) >= full ? "sliding_attention" : "full_attention";
  });
  SetWindows(d, window, types);
  Experts e = DeepSeekRouting(net, d);
  e.normalize = s.Flag("norm_topk_prob", false);
  AfterFirst(net, d, e, 0);
  return d;
}

Decoder Glm4Moe(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.partial = 0.5}});
  ForEach(d, [](Layer& layer) { layer.attention.out_bias = false; });
  if (s.Flag("use_qk_norm", false)) HeadNorms(d);
  AfterFirst(net, d, DeepSeekRouting(net, d), 1);
  return d;
}

// With windows, only their layers have positions.
Decoder ExaoneMoe(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  HeadNorms(d);
  const int64_t window = s.Int("sliding_window", s.Stands("sliding_window") ? 0 : 4096);
  const bool counted = s.Raw("sliding_window_pattern").is_number();
  const auto types =
      EveryNthFull(s, d.layers.size(), counted ? s.Count("sliding_window_pattern") : 4);
  SetWindows(d, window, types);
  Experts e = DeepSeekRouting(net, d);
  e.factor = s.Number("routed_scaling_factor", 2.5);
  e.correction = "mlp.e_score_correction_bias";
  SparseLayers(net, d, e, s.Int("first_k_dense_replace", 1));
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Attention& a = d.layers[i].attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = false;
    if (window > 0 && types[i] == "full_attention") a.rope.reset();
  }
  net.IgnoreWeights({"mtp.*"});
  return d;
}

Decoder SolarOpen(Net& net) {
  Settings& s = net.settings();
  s.Ignore({"first_k_dense_replace", "intermediate_size", "use_qk_norm"});
  Decoder d = LlamaLike(
      net, {.eps = 1e-5, .rope = {.theta = 1e6}, .hidden_names = "moe_intermediate_size"});
  ForEach(d, [](Layer& layer) { layer.attention.out_bias = false; });
  const Experts e = DeepSeekRouting(net, d);
  ForEach(d, [&](Layer& layer) { layer.experts = e; });
  return d;
}

Decoder MiniMaxM2(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.rope = {.theta = 5e6}});
  Experts e;
  e.count = s.Count("num_local_experts|num_experts", 256);
  e.picked = s.Count("num_experts_per_tok", 8);
  e.score = Experts::kSigmoid;
  e.normalize = true;
  e.router = "block_sparse_moe.gate";
  e.correction = "block_sparse_moe.e_score_correction_bias";
  e.prefix = "block_sparse_moe.experts.{}.";
  e.mlp = Expert(d, d.layers[0].mlp.hidden, "w1", "w3", "w2");
  HeadNorms(d);
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = false;
    a.norm_all = true;
    layer.experts = e;
  });
  return d;
}

// --- One weight for all experts ------------------------------------------------------------------

Decoder GraniteMoe(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net);
  GraniteFactors(net, d);
  Experts e = GraniteExperts(net, d);
  if (s.Int("shared_intermediate_size", 0) > 0) {
    e.shared = e.mlp;
    e.shared->hidden = s.Size("shared_intermediate_size");
    e.shared->gate_up = "shared_mlp.input_linear", e.shared->down = "shared_mlp.output_linear";
  }
  ForEach(d, [&](Layer& layer) { layer.experts = e; });
  return d;
}

// gate_up_proj and down_proj of all experts, and perhaps their biases, as [in, out].
void UnstackProjections(Net& net, const std::string& experts) {
  for (const char* name : {"gate_up_proj", "down_proj"}) {
    net.Unstack(experts + name, StrCat(experts, "{}.", name, ".weight"));
    net.Unstack(StrCat(experts, name, "_bias"), StrCat(experts, "{}.", name, ".bias"));
  }
}

constexpr char kGptOssRope[] =
    R"({"rope_type":"yarn","factor":32,"beta_fast":32,"beta_slow":1,"truncate":false,)"
    R"("original_max_position_embeddings":4096})";

Decoder GptOss(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(
      net, {.eps = 1e-5, .rope = {.theta = 150000, .absent = kGptOssRope}, .attention_bias = true});
  s.Ignore({"experts_per_token", "initial_context_length", "swiglu_limit"});
  const int64_t window = s.Int("sliding_window", 128);
  SetWindows(d, window, EveryNthFull(s, d.layers.size(), 2));
  Experts e;
  e.count = s.Count("num_local_experts|num_experts", 128);
  e.picked = s.Count("num_experts_per_tok", 4);
  e.score = Experts::kSoftmaxOfPicked;
  e.router = "mlp.router";
  e.router_bias = true;
  e.mlp = {.hidden = d.layers[0].mlp.hidden,
           .activation = "quick_gelu",
           .down = "down_proj",
           .gate_up = "gate_up_proj",
           .bias = true,
           .transposed = true,
           .neighbors = true,
           .limit = 7,
           .up_shift = 1};
  ForEach(d, [&](Layer& layer) {
    UnstackProjections(net, layer.prefix + "mlp.experts.");
    layer.attention.sinks = "self_attn.sinks";
    layer.experts = e;
  });
  return d;
}

Decoder Llama4(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.theta = 500000}});
  s.Ignore({"for_llm_compressor"});
  Experts e;
  e.count = s.Count("num_local_experts", 16);
  e.picked = s.Count("num_experts_per_tok", 1);
  e.score = Experts::kSigmoidOfPicked;
  e.weigh_input = true;
  e.router = "feed_forward.router";
  e.prefix = "feed_forward.experts.{}.";
  e.mlp = {.hidden = d.layers[0].mlp.hidden,
           .activation = d.layers[0].mlp.activation,
           .down = "down_proj",
           .gate_up = "gate_up_proj",
           .transposed = true};
  e.shared = Shared(d, e.mlp.hidden, "feed_forward.shared_expert");
  const Mlp dense = Shared(d, s.Size("intermediate_size_mlp", 16384), "feed_forward");
  const auto count = static_cast<int64_t>(d.layers.size());
  std::vector<int64_t> with_experts = s.Ints("moe_layers"), turned = s.Ints("no_rope_layers");
  const int64_t step = s.Count("interleave_moe_layer_step", 1),
                interval = s.Count("no_rope_layer_interval", 4);
  if (!s.Has("moe_layers")) {
    for (int64_t i = step - 1; i < count; i += step) with_experts.push_back(i);
  }
  for (int64_t i = 0; turned.empty() && i < count; ++i) turned.push_back((i + 1) % interval != 0);
  turned.resize(d.layers.size(), 1);
  const auto types = LayerTypes(s, d.layers.size(), [&](size_t i) -> std::string {
    return turned[i] ? "chunked_attention" : "full_attention";
  });
  const int64_t chunk = s.Int("attention_chunk_size", 8192), length = s.Size("floor_scale", 8192);
  const bool normed = s.Flag("use_qk_norm", true), tuned = s.Flag("attn_temperature_tuning", true);
  const double beta = s.Number("attn_scale", 0.1);
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<size_t>(i);
    Layer& layer = d.layers[n];
    Attention& a = layer.attention;
    if (std::find(with_experts.begin(), with_experts.end(), i) != with_experts.end()) {
      UnstackProjections(net, layer.prefix + "feed_forward.experts.");
      layer.experts = e;
    }
    layer.mlp = dense;
    if (types[n] == "chunked_attention") {
      a.chunk = chunk;
    } else if (types[n] != "full_attention") {
      Refuse("config.json: layers of type '", types[n], "' are not supported");
    }
    if (turned[n]) {
      a.rope->interleaved = true;
      if (normed) a.qk_norm = {.kind = NormSpec::kRms, .eps = d.norm.eps, .scale = false};
      a.norm_after_rope = true;
    } else {
      a.rope.reset();
      if (tuned) a.temperature_beta = beta, a.temperature_length = length;
    }
  }
  return d;
}

// --- Others --------------------------------------------------------------------------------------

Decoder Ernie45Moe(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.tied = true, .eps = 1e-5, .rope = {.theta = 500000}});
  s.Ignore({"moe_capacity", "moe_gate", "moe_use_aux_free", "moe_layer_feed_forward"});
  const bool bias = s.Flag("use_bias", false);
  Experts e;
  e.count = s.Count("moe_num_experts|num_experts", 64);
  e.picked = s.Count("moe_k|num_experts_per_tok", 6);
  e.normalize = true;
  e.least_sum = s.Number("moe_norm_min", 1e-12);
  e.correction = "mlp.moe_statics.e_score_correction_bias";
  const int64_t hidden = s.Size("moe_intermediate_size", 1536);
  e.mlp = Expert(d, hidden);
  if (s.Int("moe_num_shared_experts", 2) > 0) {
    e.shared = Shared(d, hidden * s.Count("moe_num_shared_experts", 2), "mlp.shared_experts");
    e.shared->bias = bias;
  }
  const auto count = static_cast<int64_t>(d.layers.size());
  const int64_t first = s.Int("moe_layer_start_index", 1), step = s.Count("moe_layer_interval", 1);
  int64_t last = s.Int("moe_layer_end_index", -1);
  if (last == -1) last = count - 1;
  for (int64_t i = 0; i < count; ++i) {
    Layer& layer = d.layers[static_cast<size_t>(i)];
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = layer.mlp.bias = bias;
    a.rope->interleaved = true;
    if ((i + 1) % step == 0 && i >= first && i <= last) layer.experts = e;
  }
  net.IgnoreWeights({"model.mtp_*"});
  return d;
}

// A number for all layers, or one for each; they must be one.
int64_t Same(Settings& s, std::string_view names, int64_t fallback) {
  if (s.Raw(names).is_number() || !s.Has(names)) return s.Count(names, fallback);
  const std::vector<int64_t> all = s.Ints(names);
  for (const int64_t n : all) {
    if (n != all[0]) Refuse("config.json: '", names, "' is not the same for all layers");
  }
  if (all.empty() || all[0] < 1 || all[0] > 65536) Broken("config.json: '", names, "' is wrong");
  return all[0];
}

Decoder HunyuanMoe(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5});
  s.Ignore({"eod_token_id", "attention_head_dim", "moe_intermediate_size", "num_shared_expert"});
  Experts e;
  e.count = Same(s, "num_experts|num_local_experts", 1);
  e.picked = Same(s, "moe_topk|num_experts_per_tok", 1);
  e.normalize = true;
  e.router = "mlp.gate.wg";
  e.mlp = Expert(d, d.layers[0].mlp.hidden);
  e.shared = Shared(d, d.layers[0].mlp.hidden, "mlp.shared_mlp");
  HeadNorms(d);
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.norm_after_rope = true;
    a.q_norm = "self_attn.query_layernorm", a.k_norm = "self_attn.key_layernorm";
    layer.experts = e;
  });
  return d;
}

Decoder PhiMoe(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5, .norm = NormSpec::kLayer, .rope = {.theta = 1e6}});
  s.Ignore({"input_jitter_noise", "original_max_position_embeddings"});
  d.head_bias = s.Flag("lm_head_bias", false);
  const int64_t window = s.Int("sliding_window", 0);
  Experts e;
  e.count = s.Count("num_local_experts", 16);
  e.picked = s.Count("num_experts_per_tok", 2);
  if (e.picked != 2 || e.count < 2) {
    Refuse("config.json: 'num_experts_per_tok' is ", e.picked, " of ", e.count,
           "; for this architecture only 2 is supported");
  }
  e.score = Experts::kSparseMixer;
  e.closeness = s.Number("router_jitter_noise", 0.01);
  e.router = "block_sparse_moe.gate";
  e.prefix = "block_sparse_moe.experts.{}.";
  e.mlp = Expert(d, d.layers[0].mlp.hidden, "w1", "w3", "w2");
  ForEach(d, [&](Layer& layer) {
    layer.attention.window = window;
    layer.experts = e;
  });
  return d;
}

Decoder FlexOlmo(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.rope = {.theta = 500000}});
  Experts e;
  e.count = s.Count("num_experts|num_local_experts", 7);
  e.picked = s.Count("num_experts_per_tok", 5);
  e.normalize = s.Flag("norm_topk_prob", false);
  e.mlp = Expert(d, d.layers[0].mlp.hidden);
  HeadNorms(d);
  ForEach(d, [&](Layer& layer) {
    layer.before_attention.clear(), layer.before_mlp.clear();
    layer.after_attention = "post_attention_layernorm";
    layer.after_mlp = "post_feedforward_layernorm";
    layer.attention.norm_all = true;
    layer.experts = e;
  });
  return d;
}

[[maybe_unused]] const bool kExpertsAreRegistered[] = {
    RegisterDecoder("deepseek_v2", "DeepseekV2", DeepSeekV2),
    RegisterDecoder("deepseek_v3", "DeepseekV3", DeepSeekV3),
    RegisterDecoder("youtu", "Youtu", Youtu),
    RegisterDecoder("glm4_moe_lite", "Glm4MoeLite", Glm4MoeLite),
    RegisterDecoder("exaone_moe", "ExaoneMoe", ExaoneMoe),
    RegisterDecoder("dots1", "Dots1", Dots1),
    RegisterDecoder("glm4_moe", "Glm4Moe", Glm4Moe),
    RegisterDecoder("solar_open", "SolarOpen", SolarOpen),
    RegisterDecoder("minimax_m2", "MiniMaxM2", MiniMaxM2),
    RegisterDecoder("granitemoe", "GraniteMoe", GraniteMoe),
    RegisterDecoder("granitemoeshared", "GraniteMoeShared", GraniteMoe),
    RegisterDecoder("gpt_oss", "GptOss", GptOss),
    RegisterDecoder("llama4_text", "Llama4", Llama4, {"Llama4TextModel"}),
    RegisterDecoder("ernie4_5_moe", "Ernie4_5_Moe", Ernie45Moe),
    RegisterDecoder("hunyuan_v1_moe", "HunYuanMoEV1", HunyuanMoe),
    RegisterDecoder("phimoe", "Phimoe", PhiMoe),
    RegisterDecoder("flex_olmo", "FlexOlmo", FlexOlmo),
};

}  // namespace
}  // namespace x2ir::checkpoint
