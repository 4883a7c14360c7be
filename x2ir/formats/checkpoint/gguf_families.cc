#include "x2ir/formats/checkpoint/gguf_families.h"

#include <set>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::gguf {
namespace {

// --- Keys ----------------------------------------------------------------------------------------

// Lengths of heads and positions have code of their own (gguf_config.cc).
constexpr KeyRow kCommonKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"vocab_size", ""},  // the rows of the embedding
};

constexpr KeyRow kLayerNormEps[] = {{"attention.layer_norm_epsilon", "layer_norm_eps"}};
constexpr KeyRow kMixtralKeys[] = {{"expert_count", "num_local_experts"},
                                   {"expert_used_count", "num_experts_per_tok"}};
constexpr KeyRow kLlamaKeys[] = {{"expert_count", ""}, {"expert_used_count", ""}};
constexpr KeyRow kQwenMoeKeys[] = {
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_weights_norm", "norm_topk_prob"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"}};
constexpr KeyRow kOlmoeKeys[] = {{"expert_count", "num_experts"},
                                 {"expert_used_count", "num_experts_per_tok"},
                                 {"attention.clamp_kqv", "clip_qkv"}};
constexpr KeyRow kWindowKeys[] = {{"attention.sliding_window", "sliding_window"}};
constexpr KeyRow kGemma2Keys[] = {{"attention.sliding_window", "sliding_window"},
                                  {"attn_logit_softcapping", "attn_logit_softcapping"},
                                  {"final_logit_softcapping", "final_logit_softcapping"}};
constexpr KeyRow kGpt2Keys[] = {{"context_length", "n_positions"},
                                {"embedding_length", "n_embd"},
                                {"block_count", "n_layer"},
                                {"feed_forward_length", "n_inner"},
                                {"attention.head_count", "n_head"},
                                {"attention.head_count_kv", ""},
                                {"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
constexpr KeyRow kBloomKeys[] = {{"context_length", "seq_length"},
                                 {"block_count", "n_layer"},
                                 {"feed_forward_length", ""},  // four times the width
                                 {"attention.head_count", "n_head"},
                                 {"attention.head_count_kv", ""},
                                 {"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
constexpr KeyRow kFalconKeys[] = {{"feed_forward_length", "ffn_hidden_size"},
                                  {"attention.head_count_kv", "num_kv_heads"},
                                  {"attention.layer_norm_epsilon", "layer_norm_epsilon"}};
constexpr KeyRow kNeoxKeys[] = {{"use_parallel_residual", "use_parallel_residual"},
                                {"attention.head_count_kv", ""},
                                {"attention.layer_norm_epsilon", "layer_norm_eps"}};
constexpr KeyRow kStableKeys[] = {{"use_parallel_residual", "use_parallel_residual"},
                                  {"attention.layer_norm_epsilon", "layer_norm_eps"}};
constexpr KeyRow kStarcoder2Keys[] = {{"attention.sliding_window", "sliding_window"},
                                      {"attention.layer_norm_epsilon", "norm_epsilon"}};
constexpr KeyRow kOlmoKeys[] = {{"attention.clamp_kqv", "clip_qkv"},
                                {"attention.layer_norm_epsilon", ""}};  // 1e-5 in transformers, too
constexpr KeyRow kCohereKeys[] = {{"logit_scale", "logit_scale"},
                                  {"attention.layer_norm_epsilon", "layer_norm_eps"}};
constexpr KeyRow kCohere2Keys[] = {{"attention.sliding_window", "sliding_window"},
                                   {"logit_scale", "logit_scale"},
                                   {"attention.layer_norm_epsilon", "layer_norm_eps"}};
constexpr KeyRow kGraniteKeys[] = {{"logit_scale", "logits_scaling"},
                                   {"attention.scale", "attention_multiplier"},
                                   {"embedding_scale", "embedding_multiplier"},
                                   {"residual_scale", "residual_multiplier"}};
constexpr KeyRow kBertKeys[] = {{"attention.head_count_kv", ""},
                                {"attention.layer_norm_epsilon", "layer_norm_eps"}};

// --- Names ---------------------------------------------------------------------------------------

constexpr NameRow kDecoder[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "model.layers.#.input_layernorm"},
    {"blk.#.attn_q", "model.layers.#.self_attn.q_proj"},
    {"blk.#.attn_k", "model.layers.#.self_attn.k_proj"},
    {"blk.#.attn_v", "model.layers.#.self_attn.v_proj"},
    {"blk.#.attn_output", "model.layers.#.self_attn.o_proj"},
    {"blk.#.attn_q_norm", "model.layers.#.self_attn.q_norm"},
    {"blk.#.attn_k_norm", "model.layers.#.self_attn.k_norm"},
    {"blk.#.ffn_norm", "model.layers.#.post_attention_layernorm"},
    {"blk.#.ffn_gate", "model.layers.#.mlp.gate_proj"},
    {"blk.#.ffn_up", "model.layers.#.mlp.up_proj"},
    {"blk.#.ffn_down", "model.layers.#.mlp.down_proj"},
};
constexpr NameRow kMixtral[] = {
    {"blk.#.ffn_gate_inp", "model.layers.#.block_sparse_moe.gate"},
    {"blk.#.ffn_gate_exps", "model.layers.#.block_sparse_moe.experts.@.w1"},
    {"blk.#.ffn_down_exps", "model.layers.#.block_sparse_moe.experts.@.w2"},
    {"blk.#.ffn_up_exps", "model.layers.#.block_sparse_moe.experts.@.w3"},
};
constexpr NameRow kMlpExperts[] = {
    {"blk.#.ffn_gate_inp", "model.layers.#.mlp.gate"},
    {"blk.#.ffn_gate_exps", "model.layers.#.mlp.experts.@.gate_proj"},
    {"blk.#.ffn_down_exps", "model.layers.#.mlp.experts.@.down_proj"},
    {"blk.#.ffn_up_exps", "model.layers.#.mlp.experts.@.up_proj"},
    {"blk.#.ffn_gate_inp_shexp", "model.layers.#.mlp.shared_expert_gate", true},
    {"blk.#.ffn_gate_shexp", "model.layers.#.mlp.shared_expert.gate_proj"},
    {"blk.#.ffn_down_shexp", "model.layers.#.mlp.shared_expert.down_proj"},
    {"blk.#.ffn_up_shexp", "model.layers.#.mlp.shared_expert.up_proj"},
};
// Norms before and after both branches.
constexpr NameRow kGemma2[] = {
    {"blk.#.post_attention_norm", "model.layers.#.post_attention_layernorm"},
    {"blk.#.ffn_norm", "model.layers.#.pre_feedforward_layernorm"},
    {"blk.#.post_ffw_norm", "model.layers.#.post_feedforward_layernorm"},
};
constexpr NameRow kPostNorms[] = {
    {"blk.#.post_attention_norm", "model.layers.#.post_attention_layernorm"},
    {"blk.#.post_ffw_norm", "model.layers.#.post_feedforward_layernorm"},
};
constexpr NameRow kGlm4[] = {
    {"blk.#.post_attention_norm", "model.layers.#.post_self_attn_layernorm"},
    {"blk.#.post_ffw_norm", "model.layers.#.post_mlp_layernorm"},
    {"blk.#.ffn_up", "model.layers.#.mlp.gate_up_proj"},
};
constexpr NameRow kPhi2[] = {
    {"output_norm", "model.final_layernorm"},
    {"blk.#.attn_output", "model.layers.#.self_attn.dense"},
    {"blk.#.ffn_up", "model.layers.#.mlp.fc1"},
    {"blk.#.ffn_down", "model.layers.#.mlp.fc2"},
};
constexpr NameRow kPhi3[] = {
    {"blk.#.attn_qkv", "model.layers.#.self_attn.qkv_proj"},
    {"blk.#.ffn_up", "model.layers.#.mlp.gate_up_proj"},
};
constexpr NameRow kStarcoder2[] = {
    {"blk.#.ffn_up", "model.layers.#.mlp.c_fc"},
    {"blk.#.ffn_down", "model.layers.#.mlp.c_proj"},
};
constexpr NameRow kStableLm[] = {
    {"blk.#.attn_q_norm", "model.layers.#.self_attn.q_layernorm.norms.@"},
    {"blk.#.attn_k_norm", "model.layers.#.self_attn.k_layernorm.norms.@"},
};
constexpr NameRow kGpt2[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "transformer.h.#.ln_1"},
    {"blk.#.attn_qkv", "transformer.h.#.attn.c_attn"},
    {"blk.#.attn_output", "transformer.h.#.attn.c_proj"},
    {"blk.#.ffn_norm", "transformer.h.#.ln_2"},
    {"blk.#.ffn_up", "transformer.h.#.mlp.c_fc"},
    {"blk.#.ffn_down", "transformer.h.#.mlp.c_proj"},
};
// BLOOM and Falcon.
constexpr NameRow kBloom[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"token_embd_norm", "transformer.word_embeddings_layernorm"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "transformer.h.#.input_layernorm"},
    {"blk.#.attn_qkv", "transformer.h.#.self_attention.query_key_value"},
    {"blk.#.attn_output", "transformer.h.#.self_attention.dense"},
    {"blk.#.ffn_norm", "transformer.h.#.post_attention_layernorm"},
    {"blk.#.ffn_up", "transformer.h.#.mlp.dense_h_to_4h"},
    {"blk.#.ffn_down", "transformer.h.#.mlp.dense_4h_to_h"},
};
// Falcon with a norm for each branch.
constexpr NameRow kFalconTwoNorms[] = {
    {"blk.#.attn_norm", "transformer.h.#.ln_mlp"},
    {"blk.#.attn_norm_2", "transformer.h.#.ln_attn"},
};
constexpr NameRow kNeox[] = {
    {"token_embd", "gpt_neox.embed_in"},
    {"output_norm", "gpt_neox.final_layer_norm"},
    {"output", "embed_out"},
    {"blk.#.attn_norm", "gpt_neox.layers.#.input_layernorm"},
    {"blk.#.attn_qkv", "gpt_neox.layers.#.attention.query_key_value"},
    {"blk.#.attn_output", "gpt_neox.layers.#.attention.dense"},
    {"blk.#.ffn_norm", "gpt_neox.layers.#.post_attention_layernorm"},
    {"blk.#.ffn_up", "gpt_neox.layers.#.mlp.dense_h_to_4h"},
    {"blk.#.ffn_down", "gpt_neox.layers.#.mlp.dense_4h_to_h"},
};
constexpr NameRow kBert[] = {
    {"token_embd", "embeddings.word_embeddings"},
    {"token_types", "embeddings.token_type_embeddings"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"blk.#.attn_q", "encoder.layer.#.attention.self.query"},
    {"blk.#.attn_k", "encoder.layer.#.attention.self.key"},
    {"blk.#.attn_v", "encoder.layer.#.attention.self.value"},
    {"blk.#.attn_output", "encoder.layer.#.attention.output.dense"},
    {"blk.#.attn_output_norm", "encoder.layer.#.attention.output.LayerNorm"},
    {"blk.#.ffn_up", "encoder.layer.#.intermediate.dense"},
    {"blk.#.ffn_down", "encoder.layer.#.output.dense"},
    {"blk.#.layer_output_norm", "encoder.layer.#.output.LayerNorm"},
};

// --- What the code of llama.cpp says
// --------------------------------------------------------------

// Layer i looks at all positions where (i + 1) % every is 0, else at a window.
void SetLayerTypes(const Facts& facts, int64_t every, Json& config) {
  std::vector<Json> types;
  for (int64_t i = 1; i <= facts.layers; ++i) {
    types.emplace_back(std::string(i % every == 0 ? "full_attention" : "sliding_attention"));
  }
  config.Set("layer_types", Json::Array(std::move(types)));
}

// Scores are scaled by the size of a head; in models of `largest` layers (27B) by width / heads.
void SetQueryScalar(const Facts& facts, int64_t largest, Json& config) {
  const bool by_width = facts.layers == largest && facts.heads > 0;
  config.Set("query_pre_attn_scalar", Json(by_width ? facts.width / facts.heads : facts.head_size));
}

void FinishGemma2(const Facts& facts, Json& config) {
  SetQueryScalar(facts, 46, config);
  SetLayerTypes(facts, 2, config);
}

void FinishGemma3(const Facts& facts, Json& config) {
  SetQueryScalar(facts, 62, config);
  // The parameters of positions are those of the layers that see all.
  Json all = config["rope_parameters"];
  if (config.Has("sliding_window")) {
    SetLayerTypes(facts, 6, config);
    Json near = Json::Object();
    near.Set("rope_type", Json(std::string("default")));
    near.Set("rope_theta", all.Has("local_theta") ? all["local_theta"] : Json(10000.0));
    all.Erase("local_theta");
    Json both = Json::Object();
    both.Set("full_attention", std::move(all));
    both.Set("sliding_attention", std::move(near));
    config.Set("rope_parameters", std::move(both));
  } else {
    SetLayerTypes(facts, 1, config);
  }
}

void FinishCohere2(const Facts& facts, Json& config) { SetLayerTypes(facts, 4, config); }

// Every fourth layer has no positions.
void FinishSmolLm3(const Facts& facts, Json& config) {
  std::vector<Json> turned;
  for (int64_t i = 1; i <= facts.layers; ++i) turned.emplace_back(int64_t{i % 4 != 0});
  config.Set("no_rope_layers", Json::Array(std::move(turned)));
}

// With a window it is the next version.
void FinishOlmo2(const Facts&, Json& config) {
  if (!config.Has("sliding_window")) return;
  config.Set("model_type", Json(std::string("olmo3")));
  config.Set("architectures", Json::Array({Json(std::string("Olmo3ForCausalLM"))}));
}

void FinishFalcon(const Facts& facts, Json& config) {
  const bool grouped = facts.variant || (facts.kv_heads > 1 && facts.kv_heads < facts.heads);
  config.Set("new_decoder_architecture", Json::Bool(grouped));
  config.Set("multi_query", Json::Bool(!grouped && facts.kv_heads == 1));
  if (grouped) config.Set("num_ln_in_parallel_attn", Json(int64_t{facts.variant ? 2 : 1}));
}

constexpr char kSilu[] = R"({"hidden_act": "silu"})";
constexpr char kFalcon[] =
    R"({"alibi": false, "bias": false, "parallel_attn": true, "activation": "gelu"})";
constexpr char kInterleaved[] = R"({"rope_interleaved": true})";
constexpr char kNormHasOne[] = R"({"norm_has_one": true})";
constexpr char kConcatenated[] = R"({"qkv_concatenated": true})";

constexpr PresenceRow kBiases[] = {{"blk.0.attn_q.bias", "attention_bias"},
                                   {"blk.0.ffn_up.bias", "mlp_bias"}};
constexpr PresenceRow kAttentionBias[] = {{"blk.0.attn_q.bias", "attention_bias"}};
constexpr PresenceRow kUseBias[] = {{"blk.0.attn_q.bias", "use_bias"}};
constexpr PresenceRow kStablePresence[] = {{"blk.0.attn_q.bias", "use_qkv_bias"},
                                           {"blk.0.attn_q_norm.weight", "qk_layernorm"}};
constexpr PresenceRow kCoherePresence[] = {{"blk.0.attn_q.bias", "attention_bias"},
                                           {"blk.0.attn_q_norm.weight", "use_qk_norm"}};

constexpr absl::Span<const NameRow> kNoNames;

const std::vector<Family>& Families() {
  static const std::vector<Family> all = {
      {"llama", false, "llama", "LlamaForCausalLM", kDecoder, kNoNames, kLlamaKeys, kBiases, kSilu,
       kInterleaved},
      {"llama",
       true,
       "mixtral",
       "MixtralForCausalLM",
       kMixtral,
       kDecoder,
       kMixtralKeys,
       {},
       kSilu,
       kInterleaved},
      {"qwen2", false, "qwen2", "Qwen2ForCausalLM", kDecoder, kNoNames, {}, {}, kSilu},
      {"qwen3", false, "qwen3", "Qwen3ForCausalLM", kDecoder, kNoNames, {}, kAttentionBias, kSilu},
      {"qwen2moe",
       true,
       "qwen2_moe",
       "Qwen2MoeForCausalLM",
       kMlpExperts,
       kDecoder,
       kQwenMoeKeys,
       {},
       R"({"hidden_act": "silu", "norm_topk_prob": false})"},
      {"qwen3moe", true, "qwen3_moe", "Qwen3MoeForCausalLM", kMlpExperts, kDecoder, kQwenMoeKeys,
       kAttentionBias, R"({"hidden_act": "silu", "norm_topk_prob": true})"},
      {"olmoe",
       true,
       "olmoe",
       "OlmoeForCausalLM",
       kMlpExperts,
       kDecoder,
       kOlmoeKeys,
       {},
       R"({"hidden_act": "silu", "norm_topk_prob": false})"},
      {"gemma",
       false,
       "gemma",
       "GemmaForCausalLM",
       kDecoder,
       kNoNames,
       {},
       {},
       R"({"hidden_act": "gelu_pytorch_tanh"})",
       kNormHasOne},
      {"gemma2",
       false,
       "gemma2",
       "Gemma2ForCausalLM",
       kGemma2,
       kDecoder,
       kGemma2Keys,
       {},
       R"({"hidden_activation": "gelu_pytorch_tanh"})",
       kNormHasOne,
       true,
       FinishGemma2},
      {"gemma3",
       false,
       "gemma3_text",
       "Gemma3ForCausalLM",
       kGemma2,
       kDecoder,
       kGemma2Keys,
       {},
       R"({"hidden_activation": "gelu_pytorch_tanh"})",
       kNormHasOne,
       true,
       FinishGemma3},
      {"phi2",
       false,
       "phi",
       "PhiForCausalLM",
       kPhi2,
       kDecoder,
       kLayerNormEps,
       {},
       R"({"hidden_act": "gelu_new", "qk_layernorm": false})"},
      {"phi3", false, "phi3", "Phi3ForCausalLM", kPhi3, kDecoder, kWindowKeys, {}, kSilu},
      {"gpt2",
       false,
       "gpt2",
       "GPT2LMHeadModel",
       kGpt2,
       kNoNames,
       kGpt2Keys,
       {},
       R"({"activation_function": "gelu_new"})",
       R"({"conv1d_transposed": true})",
       false},
      {"starcoder2", false, "starcoder2", "Starcoder2ForCausalLM", kStarcoder2, kDecoder,
       kStarcoder2Keys, kUseBias, R"({"hidden_act": "gelu_pytorch_tanh"})"},
      {"bloom",
       false,
       "bloom",
       "BloomForCausalLM",
       kBloom,
       kNoNames,
       kBloomKeys,
       {},
       "{}",
       kConcatenated,
       false},
      {"falcon",
       false,
       "falcon",
       "FalconForCausalLM",
       kBloom,
       kNoNames,
       kFalconKeys,
       {},
       kFalcon,
       kConcatenated,
       true,
       FinishFalcon},
      {"falcon",
       true,
       "falcon",
       "FalconForCausalLM",
       kFalconTwoNorms,
       kBloom,
       kFalconKeys,
       {},
       kFalcon,
       kConcatenated,
       true,
       FinishFalcon},
      {"gptneox",
       false,
       "gpt_neox",
       "GPTNeoXForCausalLM",
       kNeox,
       kNoNames,
       kNeoxKeys,
       {},
       R"({"hidden_act": "gelu", "attention_bias": true})",
       kConcatenated},
      {"stablelm", false, "stablelm", "StableLmForCausalLM", kStableLm, kDecoder, kStableKeys,
       kStablePresence, kSilu},
      {"olmo",
       false,
       "olmo",
       "OlmoForCausalLM",
       kDecoder,
       kNoNames,
       kOlmoKeys,
       {},
       kSilu,
       kInterleaved},
      {"olmo2",
       false,
       "olmo2",
       "Olmo2ForCausalLM",
       kPostNorms,
       kDecoder,
       kWindowKeys,
       {},
       kSilu,
       "{}",
       true,
       FinishOlmo2},
      {"command-r", false, "cohere", "CohereForCausalLM", kDecoder, kNoNames, kCohereKeys,
       kCoherePresence, kSilu},
      {"cohere2", false, "cohere2", "Cohere2ForCausalLM", kDecoder, kNoNames, kCohere2Keys,
       kAttentionBias, kSilu, "{}", true, FinishCohere2},
      {"granite", false, "granite", "GraniteForCausalLM", kDecoder, kNoNames, kGraniteKeys, kBiases,
       kSilu, kInterleaved},
      {"smollm3",
       false,
       "smollm3",
       "SmolLM3ForCausalLM",
       kDecoder,
       kNoNames,
       {},
       kBiases,
       kSilu,
       kInterleaved,
       true,
       FinishSmolLm3},
      {"glm4", false, "glm4", "Glm4ForCausalLM", kGlm4, kDecoder, {}, kAttentionBias, kSilu},
      {"exaone4",
       false,
       "exaone4",
       "Exaone4ForCausalLM",
       kPostNorms,
       kDecoder,
       kWindowKeys,
       {},
       kSilu},
      {"bert",
       false,
       "bert",
       "BertModel",
       kBert,
       kNoNames,
       kBertKeys,
       {},
       R"({"hidden_act": "gelu"})",
       "{}",
       false},
  };
  return all;
}

template <typename Row, typename Field>
const Row* FindIn(absl::Span<const Row> rows, Field Row::*field, std::string_view text) {
  for (const Row& row : rows) {
    if (row.*field == text) return &row;
  }
  return nullptr;
}

}  // namespace

const Family* FindFamily(std::string_view architecture, bool variant) {
  const Family* found = nullptr;
  for (const Family& family : Families()) {
    if (family.architecture != architecture) continue;
    if (!found || family.variant == variant) found = &family;
  }
  return found;
}

std::string FamilyNames() {
  std::set<std::string_view> names;
  for (const Family& family : Families()) names.insert(family.architecture);
  std::string text;
  for (const std::string_view name : names) StrAppend(&text, text.empty() ? "" : ", ", name);
  return text;
}

const KeyRow* FindKey(const Family& family, std::string_view key) {
  const KeyRow* row = FindIn(family.keys, &KeyRow::key, key);
  return row ? row : FindIn(absl::Span<const KeyRow>(kCommonKeys), &KeyRow::key, key);
}

const NameRow* FindName(const Family& family, std::string_view tensor) {
  const NameRow* row = FindIn(family.names, &NameRow::tensor, tensor);
  return row ? row : FindIn(family.more_names, &NameRow::tensor, tensor);
}

}  // namespace x2ir::gguf
