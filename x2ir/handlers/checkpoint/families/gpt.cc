// GPT and the decoders of its kind: layer norms, biases, and feed-forward layers without a gate.
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

void IgnoreSummary(Settings& s) {
  s.Ignore({"summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
            "summary_use_proj", "n_ctx", "predict_special_tokens"});
}

void LearnedPositions(Net& net, Decoder& d, std::string_view names, int64_t offset = 0) {
  d.position_count = net.settings().Size(names) + offset;
  d.position_offset = offset;
}

// One projection for queries, keys and values.
void Fuse(Decoder& d, Attention::Fused fused, const std::string& qkv, const std::string& out) {
  ForEach(d, [&](Layer& layer) {
    layer.attention.fused = fused;
    layer.attention.qkv = qkv;
    layer.attention.out = out;
  });
}

Decoder Gpt2(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net);
  IgnoreSummary(s);
  s.Only("add_cross_attention", false);
  s.Ignore({"reorder_and_upcast_attn"});
  d.positions = "wpe";
  LearnedPositions(net, d, "n_positions|max_position_embeddings");
  Fuse(d, Attention::kConcat, "attn.c_attn", "attn.c_proj");
  const bool scaled = s.Flag("scale_attn_weights", true),
             by_layer = s.Flag("scale_attn_by_inverse_layer_idx", false);
  double number = 0;
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    number += 1;
    a.transposed = layer.mlp.transposed = true;
    a.scale = (scaled ? 1 / std::sqrt(static_cast<double>(a.size)) : 1) / (by_layer ? number : 1);
  });
  net.IgnoreWeights({"*.attn.bias", "*.attn.masked_bias"});
  return d;
}

Decoder OpenAiGpt(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.hidden_names = ""});
  IgnoreSummary(s);
  d.embed = "tokens_embed", d.positions = "positions_embed";
  LearnedPositions(net, d, "n_positions|max_position_embeddings");
  d.final_norm.clear();
  Fuse(d, Attention::kConcat, "attn.c_attn", "attn.c_proj");
  const std::string afn = s.Text("afn", "gelu");
  if (afn != "gelu" && afn != "relu" && afn != "silu" && afn != "swish") {
    Refuse("config.json: 'afn' is '", afn, "'; expected gelu, relu, silu or swish");
  }
  ForEach(d, [&](Layer& layer) {
    layer.attention.transposed = layer.mlp.transposed = true;
    layer.attention.no_cache = true;
    layer.mlp.activation = afn == "gelu" ? "gelu_new" : afn;
    layer.before_attention.clear(), layer.before_mlp.clear();
    layer.of_attention_sum = "ln_1", layer.of_mlp_sum = "ln_2";
  });
  net.IgnoreWeights({"*.attn.bias", "*position_ids"});
  return d;
}

Decoder GptNeo(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.hidden_names = "intermediate_size"});
  IgnoreSummary(s);
  s.Ignore({"resid_dropout", "embed_dropout", "attention_layers"});
  d.positions = "wpe";
  LearnedPositions(net, d, "max_position_embeddings");
  const int64_t window = s.Size("window_size", 256);
  // Pairs of a list of types and how often it is repeated.
  std::vector<bool> local;
  const Json& types = s.Raw("attention_types");
  for (const Json& item : types.items()) {
    if (item.at(0).items().empty() || !item.at(1).is_number()) {
      Broken("config.json: 'attention_types' is ", types.ToString().substr(0, 100),
             "; expected pairs of types and how often they stand");
    }
    const double times = item.at(1).Number();
    for (int64_t i = 0; static_cast<double>(i) < times && local.size() < d.layers.size(); ++i) {
      for (const Json& type : item.at(0).items()) local.push_back(type.text() == "local");
    }
  }
  for (size_t i = 0; types.is_null() && i < 24; ++i) local.push_back(i % 2 == 1);
  if (local.size() != d.layers.size()) {
    Broken("config.json: 'attention_types' names other than ", d.layers.size(), " layers");
  }
  for (size_t i = 0; i < d.layers.size(); ++i) {
    Attention& a = d.layers[i].attention;
    a.q = "attn.attention.q_proj", a.k = "attn.attention.k_proj", a.v = "attn.attention.v_proj";
    a.out = "attn.attention.out_proj";
    a.q_bias = a.k_bias = a.v_bias = false;
    a.scale = 1;
    if (local[i]) a.window = window;
  }
  net.IgnoreWeights({"*.attn.attention.bias", "*.attn.attention.masked_bias"});
  return d;
}

Decoder GptBigCode(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.activation = "gelu_pytorch_tanh"});
  IgnoreSummary(s);
  s.Only("add_cross_attention", false);
  s.Ignore({"attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "inference_runner",
            "validate_runner_input", "pre_allocate_kv_cache", "max_sequence_length",
            "max_batch_size", "pad_key_length", "runner_max_sequence_length",
            "num_key_value_heads"});
  d.positions = "wpe";
  LearnedPositions(net, d, "n_positions|max_position_embeddings");
  const bool shared = s.Flag("multi_query", true), scaled = s.Flag("scale_attn_weights", true);
  Fuse(d, shared ? Attention::kConcat : Attention::kByHead, "attn.c_attn", "attn.c_proj");
  ForEach(d, [&](Layer& layer) {
    if (shared) layer.attention.kv_heads = 1;
    if (!scaled) layer.attention.scale = 1;
  });
  net.IgnoreWeights({"*.attn.bias", "*.attn.masked_bias"});
  return d;
}

// GPT-J and CodeGen: both branches of one norm, positions of neighboring pairs.
Decoder JLike(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.hidden_names = "n_inner", .tied = false});
  IgnoreSummary(s);
  s.Ignore({"rotary", "gradient_checkpointing", "scale_attn_weights"});
  d.head_bias = true;
  const int64_t size = d.layers[0].attention.size, turned = s.Size("rotary_dim", 64);
  if (turned > size) Broken("config.json: 'rotary_dim' is ", turned, "; a head has ", size);
  Rope rope = RopeOf(s, turned);
  rope.interleaved = true;
  ForEach(d, [&](Layer& layer) {
    layer.parallel = true;
    layer.before_mlp.clear();
    layer.mlp.up = "mlp.fc_in", layer.mlp.down = "mlp.fc_out";
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = false;
    a.q = "attn.q_proj", a.k = "attn.k_proj", a.v = "attn.v_proj", a.out = "attn.out_proj";
    a.rope = rope;
  });
  net.IgnoreWeights(
      {"*.attn.bias", "*.attn.masked_bias", "*.attn.causal_mask", "*.embed_positions"});
  return d;
}

Decoder CodeGen(Net& net) {
  Decoder d = JLike(net);
  Fuse(d, Attention::kByHead, "attn.qkv_proj", "attn.out_proj");
  // Four parts, as they once were on four devices.
  ForEach(d, [](Layer& layer) {
    layer.attention.fused_groups = 4;
    layer.attention.values_first = true;
  });
  return d;
}

Decoder GptNeoX(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.prefix = "gpt_neox.",
                            .layers = "layers",
                            .hidden_names = "intermediate_size",
                            .activation = "gelu",
                            .tied = false});
  d.embed = "embed_in", d.head = "embed_out", d.final_norm = "final_layer_norm";
  const Rope rope = RopeOf(s, d.layers[0].attention.size,
                           {.partial = 0.25, .theta_name = "rotary_emb_base|rope_theta"});
  const bool parallel = s.Flag("use_parallel_residual", true),
             bias = s.Flag("attention_bias", true);
  Fuse(d, Attention::kByHead, "attention.query_key_value", "attention.dense");
  ForEach(d, [&](Layer& layer) {
    layer.before_attention = "input_layernorm", layer.before_mlp = "post_attention_layernorm";
    layer.parallel = parallel;
    layer.attention.q_bias = layer.attention.out_bias = bias;
    layer.attention.rope = rope;
    layer.mlp.up = "mlp.dense_h_to_4h", layer.mlp.down = "mlp.dense_4h_to_h";
  });
  net.IgnoreWeights({"*.attention.bias", "*.attention.masked_bias", "*rotary_emb.inv_freq"});
  return d;
}

Decoder Bloom(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.hidden_names = "", .activation = "gelu_pytorch_tanh"});
  s.Ignore({"attention_softmax_in_fp32", "masked_softmax_fusion", "skip_bias_add",
            "skip_bias_add_qkv", "bias_dropout_fusion", "offset_alibi", "n_inner"});
  if (s.Int("pretraining_tp", 1) > 1) s.Only("slow_but_exact", false);
  s.Ignore({"slow_but_exact"});
  d.embed = "word_embeddings", d.embed_norm = "word_embeddings_layernorm";
  const bool of_norm = s.Flag("apply_residual_connection_post_layernorm", false);
  Fuse(d, Attention::kByHead, "self_attention.query_key_value", "self_attention.dense");
  ForEach(d, [&](Layer& layer) {
    layer.before_attention = "input_layernorm", layer.before_mlp = "post_attention_layernorm";
    layer.residual_of_norm = of_norm;
    layer.attention.alibi = true;
    layer.mlp.up = "mlp.dense_h_to_4h", layer.mlp.down = "mlp.dense_4h_to_h";
  });
  return d;
}

Decoder Falcon(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.hidden_names = "ffn_hidden_size", .activation = "gelu"});
  s.Ignore({"intermediate_size", "apply_residual_connection_post_layernorm"});
  d.embed = "word_embeddings";
  const bool alibi = s.Flag("alibi", false), newer = s.Flag("new_decoder_architecture", false),
             shared = s.Flag("multi_query", true), bias = s.Flag("bias", false);
  const int64_t heads = d.layers[0].attention.heads, given = s.Size("num_kv_heads", heads),
                kv_heads = newer    ? given
                           : shared ? 1
                                    : heads,
                norms = s.Int("num_ln_in_parallel_attn", newer ? 2 : 1);
  const bool parallel = s.Flag("parallel_attn", true) || newer;
  if (newer && !s.Flag("parallel_attn", true)) {
    Refuse("config.json: 'new_decoder_architecture' without 'parallel_attn' is not supported");
  }
  if (newer ? norms != 1 && norms != 2 : norms == 2 && parallel) {
    Refuse("config.json: 'num_ln_in_parallel_attn' is ", norms,
           ", which is not supported with these other settings");
  }
  const std::string activation = s.Text("activation", "gelu");
  const double size = static_cast<double>(d.layers[0].attention.size);
  std::optional<Rope> rope;
  if (!alibi) {
    rope = RopeOf(s, d.layers[0].attention.size);
  } else {
    s.Ignore({"rope_parameters", "rope_theta", "rope_scaling", "max_position_embeddings"});
  }
  Fuse(d, Attention::kByHead, "self_attention.query_key_value", "self_attention.dense");
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.kv_heads = kv_heads;
    a.q_bias = a.out_bias = layer.mlp.bias = bias;
    a.rope = rope;
    a.alibi = alibi;
    a.alibi_factor = 1 / std::sqrt(size);
    a.alibi_bfloat16 = true;
    layer.mlp.activation = activation;
    layer.mlp.up = "mlp.dense_h_to_4h", layer.mlp.down = "mlp.dense_4h_to_h";
    layer.parallel = parallel;
    layer.before_attention = newer && norms == 2 ? "ln_attn" : "input_layernorm";
    layer.before_mlp = newer && norms == 2 ? "ln_mlp" : parallel ? "" : "post_attention_layernorm";
  });
  net.IgnoreWeights({"*rotary_emb.inv_freq", "*.self_attention.maybe_rotary.inv_freq"});
  return d;
}

Decoder Mpt(Net& net) {
  Settings& s = net.settings();
  Decoder d = GptLike(net, {.layers = "blocks", .hidden_names = "", .activation = "gelu"});
  Settings& attn = s.Nested("attn_config");
  attn.Ignore({"attn_pdrop", "attn_impl", "attn_type", "attn_uses_sequence_id", "alibi_bias_max",
               "alibi", "model_type", "softmax_scale"});
  attn.Only("prefix_lm", false);
  attn.Only("qk_ln", false);
  attn.Only("attn_type", "multihead_attention");
  s.Ignore({"init_device", "learned_pos_emb", "no_bias", "emb_pdrop", "embedding_fraction",
            "norm_type", "verbose", "expansion_ratio", "init_config", "fc_type", "max_seq_len",
            "logit_scale", "use_pad_tok_in_ffn", "emb_pdrop", "ffn_config"});
  NormSpec norm = d.norm;
  norm.shift = false;
  SetNorm(d, norm);
  d.final_norm = "norm_f";
  const double clip = attn.Number("clip_qkv", 0), scale = attn.Number("softmax_scale", 0);
  Fuse(d, Attention::kConcat, "attn.Wqkv", "attn.out_proj");
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    layer.before_attention = "norm_1", layer.before_mlp = "norm_2";
    a.q_bias = a.out_bias = layer.mlp.bias = false;
    a.clip = clip;
    if (scale != 0) a.scale = scale;
    a.alibi = a.alibi_of_cache = true;
    layer.mlp.up = "ffn.up_proj", layer.mlp.down = "ffn.down_proj";
  });
  return d;
}

// The decoder of BART alone.
Decoder BartLike(Net& net, const GptDefaults& defaults) {
  Decoder d = GptLike(net, defaults);
  d.embed = "embed_tokens", d.final_norm = "layer_norm";
  ForEach(d, [](Layer& layer) {
    layer.before_attention = "self_attn_layer_norm", layer.before_mlp = "final_layer_norm";
    layer.attention.out = "self_attn.out_proj";
    layer.mlp.up = "fc1", layer.mlp.down = "fc2";
  });
  return d;
}

Decoder Opt(Net& net) {
  Settings& s = net.settings();
  Decoder d = BartLike(net, {.prefix = "model.decoder.",
                             .layers = "layers",
                             .hidden_names = "ffn_dim",
                             .activation = "relu"});
  s.Ignore({"activation_dropout"});
  d.positions = "embed_positions";
  LearnedPositions(net, d, "max_position_embeddings", 2);
  d.positions_of_mask = true;
  const bool before = s.Flag("do_layer_norm_before", true), bias = s.Flag("enable_bias", true),
             affine = s.Flag("layer_norm_elementwise_affine", true);
  SetNorm(d, {.kind = NormSpec::kLayer, .eps = 1e-5, .scale = affine, .shift = affine});
  const bool removed = s.Flag("_remove_final_layer_norm", false);
  d.final_norm = before && !removed ? "final_layer_norm" : "";
  const int64_t narrow = s.Size("word_embed_proj_dim", d.width);
  if (narrow != d.width) {
    d.embed_width = narrow;
    d.project_in = "project_in", d.project_out = "project_out";
  }
  ForEach(d, [&](Layer& layer) {
    Attention& a = layer.attention;
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = layer.mlp.bias = bias;
    if (!before) {
      layer.of_attention_sum = layer.before_attention, layer.of_mlp_sum = layer.before_mlp;
      layer.before_attention.clear(), layer.before_mlp.clear();
    }
  });
  return d;
}

double ScaleOf(Settings& s, const Decoder& d) {
  return s.Flag("scale_embedding", true) ? std::sqrt(static_cast<double>(d.width)) : 1;
}

Decoder Xglm(Net& net) {
  Settings& s = net.settings();
  Decoder d = BartLike(
      net,
      {.prefix = "model.", .layers = "layers", .hidden_names = "ffn_dim", .activation = "gelu"});
  s.Only("add_cross_attention", false);
  s.Ignore({"max_position_embeddings"});
  if (d.width % 2 != 0) Refuse("sinusoidal positions of an odd width are not supported");
  d.sinusoids = true;
  d.position_offset = 2;
  d.embed_factor = ScaleOf(s, d);
  net.IgnoreWeights({"*embed_positions.weights"});
  return d;
}

Decoder BioGpt(Net& net) {
  Settings& s = net.settings();
  Decoder d = BartLike(net, {.prefix = "biogpt.",
                             .layers = "layers",
                             .hidden_names = "intermediate_size",
                             .activation = "gelu"});
  d.positions = "embed_positions", d.head = "output_projection";
  LearnedPositions(net, d, "max_position_embeddings", 2);
  d.embed_factor = ScaleOf(s, d);
  // Of layers by default, whatever the configuration says of the embedding.
  SetNorm(d, {.kind = NormSpec::kLayer, .eps = 1e-5});
  return d;
}

[[maybe_unused]] const bool kGptAreRegistered[] = {
    RegisterDecoder("gpt2", "GPT2", Gpt2),
    RegisterDecoder("openai-gpt", "OpenAIGPT", OpenAiGpt),
    RegisterDecoder("gpt_neo", "GPTNeo", GptNeo),
    RegisterDecoder("gpt_bigcode", "GPTBigCode", GptBigCode),
    RegisterDecoder("gptj", "GPTJ", JLike),
    RegisterDecoder("codegen", "CodeGen", CodeGen),
    RegisterDecoder("gpt_neox", "GPTNeoX", GptNeoX),
    RegisterDecoder("bloom", "Bloom", Bloom),
    RegisterDecoder("falcon", "Falcon", Falcon),
    RegisterDecoder("mpt", "Mpt", Mpt),
    RegisterDecoder("opt", "OPT", Opt),
    RegisterDecoder("xglm", "XGLM", Xglm),
    RegisterDecoder("biogpt", "BioGpt", BioGpt),
};

}  // namespace
}  // namespace x2ir::checkpoint
