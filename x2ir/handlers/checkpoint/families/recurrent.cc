// Decoders whose layers keep a state instead of keys and values, and those that mix both kinds.
#include <algorithm>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

constexpr int64_t kMaxHeads = 4096;

void IgnoreTraining(Settings& s) {
  s.Ignore({"rescale_prenorm_residual",
            "residual_in_fp32",
            "time_step_floor",
            "time_step_init_scheme",
            "time_step_max",
            "time_step_min",
            "time_step_scale",
            "use_associative_scan",
            "use_mambapy",
            "use_falcon_mambapy",
            "use_mamba_kernels",
            "chunk_size",
            "mamba_chunk_size",
            "fused_add_norm",
            "num_logits_to_keep",
            "norm_before_gate",
            "calc_logits_for_entire_prompt",
            "z_loss_coefficient",
            "ssm_cfg",
            "d_model",
            "n_layer",
            "rms_norm",
            "pad_vocab_size_multiple"});
}

// A rank that "auto" makes a sixteenth of the width.
int64_t StepRank(Settings& s, std::string_view name, int64_t width) {
  if (s.Raw(name).is_number()) return s.Size(name);
  s.Only(name, "auto");
  return (width + 15) / 16;
}

int64_t Product(int64_t width, int64_t factor) {
  const int64_t all = width * factor;
  if (all > (int64_t{1} << 24)) Broken("config.json: layers are ", all, " wide");
  return all;
}

// Bounds of the step, where they bound anything.
void SetStepLimits(Settings& s, StateSpace& space) {
  const Json& limits = s.Raw("time_step_limit");
  if (limits.is_null()) return;
  if (!limits.is_array() || limits.items().size() != 2) {
    Broken("config.json: 'time_step_limit' is ", limits.ToString().substr(0, 100),
           "; expected two numbers");
  }
  const Json &least = limits.at(0), &most = limits.at(1);
  if (least.is_number()) space.least_step = least.Number();
  if (most.is_number() && most.Number() < 1e30) space.most_step = most.Number();
}

// A stack of only such layers, each with one norm before it.
Decoder MambaLike(Net& net, StateSpace space, bool tied) {
  Settings& s = net.settings();
  Decoder d;
  d.prefix = "backbone.", d.final_norm = "norm_f";
  d.embed = net.HasWeight("backbone.embedding.weight") ? "embedding" : "embeddings";
  d.width = s.Size("hidden_size");
  d.vocab = s.Size("vocab_size");
  d.norm = {.kind = NormSpec::kRms, .eps = s.Number("layer_norm_epsilon", 1e-5)};
  d.tied = s.Flag("tie_word_embeddings", tied);
  IgnoreTraining(s);
  space.kernel = s.Count("conv_kernel", 4);
  space.states = s.Count("state_size", space.states);
  space.bias = s.Flag("use_bias", false), space.conv_bias = s.Flag("use_conv_bias", true);
  space.activation = s.Text("hidden_act", "silu");
  space.norm_eps = d.norm.eps;
  Layer layer;
  layer.norm = d.norm;
  layer.before_attention = "norm";
  layer.has_mlp = false;
  layer.state_space = space;
  const int64_t count = net.LayerCount("num_hidden_layers");
  for (int64_t i = 0; i < count; ++i) {
    layer.prefix = StrCat(d.prefix, "layers.", i, ".");
    d.layers.push_back(layer);
  }
  return d;
}

Decoder Mamba1(Net& net, const NormSpec& parts_norm) {
  Settings& s = net.settings();
  const int64_t width = s.Size("hidden_size");
  s.Ignore({"intermediate_size"});
  return MambaLike(net,
                   {.kind = StateSpace::kMamba,
                    .inner = Product(width, s.Count("expand", 2)),
                    .states = 16,
                    .step_rank = StepRank(s, "time_step_rank", width),
                    .parts_norm = parts_norm},
                   true);
}

Decoder Mamba(Net& net) { return Mamba1(net, {}); }

// Norms without weights of the step, of B and of C.
Decoder FalconMamba(Net& net) {
  return Mamba1(net, {.kind = NormSpec::kRms,
                      .eps = net.settings().Number("mixer_rms_eps", 1e-6),
                      .scale = false});
}

void CheckHeads(const StateSpace& space) {
  if (space.inner % space.heads != 0 || space.heads % space.groups != 0) {
    Broken("config.json: a state space ", space.inner, " wide cannot have ", space.heads,
           " heads in ", space.groups, " groups");
  }
}

Decoder Mamba2(Net& net) {
  Settings& s = net.settings();
  StateSpace space = {.kind = StateSpace::kMamba2,
                      .inner = Product(s.Count("num_heads", 128), s.Count("head_dim", 64)),
                      .states = 128,
                      .heads = s.Count("num_heads", 128),
                      .groups = s.Count("n_groups", 8)};
  s.Ignore({"expand", "time_step_rank", "intermediate_size"});
  SetStepLimits(s, space);
  CheckHeads(space);
  return MambaLike(net, space, false);
}

// --- Layers of both kinds ------------------------------------------------------------------------

// Of mamba_d_conv, mamba_d_state, ...: Mamba, or Mamba 2 where there are heads.
StateSpace MambaPart(Net& net, const Decoder& d, StateSpace::Kind kind) {
  Settings& s = net.settings();
  IgnoreTraining(s);
  StateSpace space = {.kind = kind,
                      .prefix = "mamba.",
                      .inner = Product(d.width, s.Count("mamba_expand", 2)),
                      .kernel = s.Count("mamba_d_conv", 4),
                      .states = s.Count("mamba_d_state", kind == StateSpace::kMamba ? 16 : 256),
                      .bias = s.Flag("mamba_proj_bias", false),
                      .conv_bias = s.Flag("mamba_conv_bias", true),
                      .activation = d.layers[0].mlp.activation,
                      .norm_eps = d.norm.eps};
  if (kind == StateSpace::kMamba) {
    space.step_rank = StepRank(s, "mamba_dt_rank", d.width);
    space.parts_norm = d.norm;
    space.step_norm = "dt_layernorm", space.b_norm = "b_layernorm", space.c_norm = "c_layernorm";
  } else {
    s.Ignore({"mamba_d_head"});
    space.heads = s.Count("mamba_n_heads", 128), space.groups = s.Count("mamba_n_groups", 1);
    SetStepLimits(s, space);
    CheckHeads(space);
  }
  return space;
}

void AfterAttention(Decoder& d, const std::string& norm, const std::string& mlp) {
  ForEach(d, [&](Layer& layer) {
    layer.before_mlp = norm;
    layer.mlp.gate = mlp + ".gate_proj", layer.mlp.up = mlp + ".up_proj";
    layer.mlp.down = mlp + ".down_proj";
  });
}

Decoder Jamba(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.turns = false});
  s.Ignore({"max_position_embeddings", "sliding_window", "rope_parameters", "rope_scaling"});
  d.final_norm = "final_layernorm";
  AfterAttention(d, "pre_ff_layernorm", "feed_forward");
  const int64_t experts = s.Count("num_experts|num_local_experts", 16),
                period = s.Count("expert_layer_period", 2),
                offset = s.Int("expert_layer_offset", 1),
                attn_period = s.Count("attn_layer_period", 8),
                attn_offset = s.Int("attn_layer_offset", 4);
  Experts e;
  e.count = experts;
  e.picked = s.Count("num_experts_per_tok", 2);
  e.router = "feed_forward.router";
  e.prefix = "feed_forward.experts.{}.";
  e.mlp = d.layers[0].mlp;
  e.mlp.gate = "gate_proj", e.mlp.up = "up_proj", e.mlp.down = "down_proj";
  const StateSpace space = MambaPart(net, d, StateSpace::kMamba);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    if (experts > 1 && n % period == offset) d.layers[i].experts = e;
    if (n % attn_period != attn_offset) d.layers[i].state_space = space;
  }
  return d;
}

Decoder Bamba(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.partial = 0.5, .whole = true}});
  s.Ignore({"layers_block_type", "layer_types"});
  d.final_norm = "final_layernorm";
  AfterAttention(d, "pre_ff_layernorm", "feed_forward");
  const std::vector<int64_t> attending = s.Ints("attn_layer_indices");
  const StateSpace space = MambaPart(net, d, StateSpace::kMamba2);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    if (std::find(attending.begin(), attending.end(), n) == attending.end()) {
      d.layers[i].state_space = space;
    }
  }
  return d;
}

Decoder GraniteHybrid(Net& net) {
  Settings& s = net.settings();
  const bool turns = s.Text("position_embedding_type", "nope") == "rope";
  if (!turns) {
    s.Ignore({"rope_parameters", "rope_theta", "rope_scaling", "max_position_embeddings"});
  }
  Decoder d = LlamaLike(net, {.turns = turns});
  GraniteFactors(net, d);
  s.Ignore({"normalization_function", "init_method", "mamba_chunk_size"});
  const auto types = LayerTypes(s, d.layers.size(), [](size_t) { return "mamba"; });
  const StateSpace space = MambaPart(net, d, StateSpace::kMamba2);
  const Mlp shared = {.hidden = s.Size("shared_intermediate_size", 1024),
                      .activation = d.layers[0].mlp.activation,
                      .down = "shared_mlp.output_linear",
                      .gate_up = "shared_mlp.input_linear"};
  std::optional<Experts> experts;
  if (s.Int("num_local_experts", 8) > 0) {
    experts = GraniteExperts(net, d);
    experts->shared = shared;
  } else {
    s.Ignore({"num_experts_per_tok"});
  }
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Layer& layer = d.layers[i];
    layer.mlp = shared;
    layer.experts = experts;
    if (types[i] == "mamba") {
      layer.state_space = space;
    } else if (types[i] != "attention" && types[i] != "full_attention") {
      Refuse("config.json: layers of type '", types[i], "' are not supported");
    }
  }
  return d;
}

// Linear attention in every other layer; branches are added to the norm before them, with factors.
Decoder MiniMax(Net& net) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.theta = 1e6}});
  s.Ignore({"block_size"});
  const int64_t window = s.Int("sliding_window", 0);
  Experts e;
  e.count = s.Count("num_local_experts|num_experts", 8);
  e.picked = s.Count("num_experts_per_tok", 2);
  e.normalize = true;
  e.router = "block_sparse_moe.gate";
  e.prefix = "block_sparse_moe.experts.{}.";
  e.mlp = d.layers[0].mlp;
  e.mlp.gate = "w1", e.mlp.up = "w3", e.mlp.down = "w2";
  const auto types = LayerTypes(s, d.layers.size(), [](size_t i) -> std::string {
    return (i + 1) % 2 != 0 ? "full_attention" : "linear_attention";
  });
  const auto factor = [&](std::string_view name) { return s.Number(name, 1); };
  const double full[] = {factor("full_attn_alpha_factor"), factor("full_attn_beta_factor")},
               linear[] = {factor("linear_attn_alpha_factor"), factor("linear_attn_beta_factor")},
               mlp[] = {factor("mlp_alpha_factor"), factor("mlp_beta_factor")};
  const auto count = static_cast<double>(d.layers.size());
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Layer& layer = d.layers[i];
    layer.residual_of_norm = true;
    layer.experts = e;
    layer.kept_by_mlp = mlp[0], layer.mlp_factor = mlp[1];
    const bool is_linear = types[i] == "linear_attention";
    layer.kept_by_attention = is_linear ? linear[0] : full[0];
    layer.attention_factor = is_linear ? linear[1] : full[1];
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = false;
    a.window = window;
    if (!is_linear) {
      if (types[i] != "full_attention") {
        Refuse("config.json: layers of type '", types[i], "' are not supported");
      }
      continue;
    }
    StateSpace space = {.kind = StateSpace::kLightning,
                        .prefix = "self_attn.",
                        .inner = a.heads * a.size,
                        .activation = e.mlp.activation,
                        .heads = a.heads,
                        .norm_eps = 1e-6};
    if (a.heads > kMaxHeads) Broken("config.json: ", a.heads, " heads of linear attention");
    const double base = portable::pow(2.0, -8 / static_cast<double>(a.heads)),
                 of_layer = 1 - static_cast<double>(i) / (count - 1 + 1e-5) + 1e-5;
    for (int64_t h = 1; h <= a.heads; ++h) {
      space.decays.push_back(
          portable::exp(-portable::pow(base, static_cast<double>(h)) * of_layer));
    }
    layer.state_space = space;
  }
  net.IgnoreWeights({"*.self_attn.slope_rate", "*.self_attn.query_decay", "*.self_attn.key_decay",
                     "*.self_attn.diagonal_decay"});
  return d;
}

// Short convolutions.
Decoder Lfm2Like(Net& net, bool adjusted) {
  Settings& s = net.settings();
  s.Ignore({"block_dim", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale",
            "block_use_swiglu", "block_use_xavier_init", "conv_dim", "conv_dim_out",
            "conv_use_xavier_init", "num_heads", "theta", "use_pos_enc", "hidden_act"});
  Decoder d = LlamaLike(net, {.tied = true,
                              .eps = 1e-5,
                              .eps_names = "norm_eps",
                              .rope = {.theta = 1e6},
                              .activation_names = "no_activation",
                              .hidden_names = "block_ff_dim|intermediate_size"});
  if (s.Has("tie_embedding")) d.tied = s.Flag("tie_embedding", true);
  d.final_norm = "embedding_norm";
  int64_t hidden = s.Size("block_ff_dim|intermediate_size", 12288);
  if (s.Flag("block_auto_adjust_ff_dim", adjusted)) {
    const int64_t multiple = s.Count("block_multiple_of", 256);
    const double factor = s.Number("block_ffn_dim_multiplier", 1);
    if (factor <= 0 || factor > 1024) Broken("config.json: 'block_ffn_dim_multiplier' is ", factor);
    hidden = static_cast<int64_t>(factor * static_cast<double>(2 * hidden / 3));
    hidden = (hidden + multiple - 1) / multiple * multiple;
  } else {
    s.Ignore({"block_multiple_of", "block_ffn_dim_multiplier"});
  }
  const std::vector<int64_t> attending = s.Ints("full_attn_idxs");
  const bool listed = s.Has("full_attn_idxs");
  const auto types = LayerTypes(s, d.layers.size(), [&](size_t i) -> std::string {
    const auto n = static_cast<int64_t>(i);
    return !listed || std::find(attending.begin(), attending.end(), n) != attending.end()
               ? "full_attention"
               : "conv";
  });
  const bool bias = s.Flag("conv_bias", false);
  const StateSpace space = {.kind = StateSpace::kShortConv,
                            .prefix = "conv.",
                            .conv = "conv",
                            .inner = d.width,
                            .kernel = s.Count("conv_L_cache", 3),
                            .bias = bias,
                            .conv_bias = bias};
  HeadNorms(d);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Layer& layer = d.layers[i];
    layer.before_attention = "operator_norm", layer.before_mlp = "ffn_norm";
    layer.attention.out = "self_attn.out_proj";
    layer.attention.q_norm = "self_attn.q_layernorm";
    layer.attention.k_norm = "self_attn.k_layernorm";
    layer.mlp = {.hidden = hidden,
                 .activation = "silu",
                 .gate = "feed_forward.w1",
                 .up = "feed_forward.w3",
                 .down = "feed_forward.w2"};
    if (types[i] == "conv") {
      layer.state_space = space;
    } else if (types[i] != "full_attention") {
      Refuse("config.json: layers of type '", types[i], "' are not supported");
    }
  }
  return d;
}

Decoder Lfm2(Net& net) { return Lfm2Like(net, true); }

Decoder Lfm2Moe(Net& net) {
  Settings& s = net.settings();
  Decoder d = Lfm2Like(net, false);
  Experts e;
  e.count = s.Count("num_experts", 32);
  e.picked = s.Count("num_experts_per_tok", 4);
  e.score = Experts::kSigmoid;
  if (s.Flag("use_expert_bias", true)) e.correction = "feed_forward.expert_bias";
  e.normalize = s.Flag("norm_topk_prob", true);
  e.sum_shift = 1e-6;
  e.factor = s.Number("routed_scaling_factor", 1);
  e.router = "feed_forward.gate";
  e.prefix = "feed_forward.experts.{}.";
  e.mlp = {.hidden = s.Size("moe_intermediate_size", 1792),
           .activation = "silu",
           .gate = "w1",
           .up = "w3",
           .down = "w2"};
  const int64_t dense = s.Int("num_dense_layers", 2);
  for (size_t i = 0; i < d.layers.size(); ++i) {
    if (static_cast<int64_t>(i) >= dense) d.layers[i].experts = e;
  }
  return d;
}

[[maybe_unused]] const bool kRecurrentAreRegistered[] = {
    RegisterDecoder("mamba", "Mamba", Mamba),
    RegisterDecoder("falcon_mamba", "FalconMamba", FalconMamba),
    RegisterDecoder("mamba2", "Mamba2", Mamba2),
    RegisterDecoder("jamba", "Jamba", Jamba),
    RegisterDecoder("bamba", "Bamba", Bamba),
    RegisterDecoder("granitemoehybrid", "GraniteMoeHybrid", GraniteHybrid),
    RegisterDecoder("minimax", "MiniMax", MiniMax),
    RegisterDecoder("lfm2", "Lfm2", Lfm2),
    RegisterDecoder("lfm2_moe", "Lfm2Moe", Lfm2Moe),
};

}  // namespace
}  // namespace x2ir::checkpoint
