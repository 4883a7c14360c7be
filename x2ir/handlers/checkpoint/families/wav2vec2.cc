// Wav2Vec2 and the models of speech that differ from it in little.
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/sound.h"

namespace x2ir::checkpoint {
namespace {

std::vector<int64_t> ConvSizes(Settings& s, const char* name,
                               const std::vector<int64_t>& fallback) {
  const std::vector<int64_t> sizes = s.Has(name) ? s.Ints(name) : fallback;
  if (sizes.empty() || sizes.size() > 1000)
    Broken("config.json: '", name, "' has ", sizes.size(), " sizes");
  for (const int64_t size : sizes) {
    if (size < 1 || size > (1 << 20)) Broken("config.json: '", name, "' has a size of ", size);
  }
  return sizes;
}

Listener ListenerLike(Net& net, const std::string& prefix) {
  Settings& s = net.settings();
  Listener m;
  m.prefix = prefix;
  m.width = s.Size("hidden_size");
  m.norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", 1e-5)};
  m.channels = ConvSizes(s, "conv_dim", {512, 512, 512, 512, 512, 512, 512});
  m.kernels = ConvSizes(s, "conv_kernel", {10, 3, 3, 3, 3, 2, 2});
  m.strides = ConvSizes(s, "conv_stride", {5, 2, 2, 2, 2, 2, 2});
  if (m.kernels.size() != m.channels.size() || m.strides.size() != m.channels.size()) {
    Broken("config.json: ", m.channels.size(), " convolutions have ", m.kernels.size(),
           " kernels and ", m.strides.size(), " strides");
  }
  m.conv_bias = s.Flag("conv_bias", false);
  const std::string norm = s.Text("feat_extract_norm", "group");
  if (norm != "group" && norm != "layer") {
    Refuse("config.json: 'feat_extract_norm' is '", norm, "'; expected 'group' or 'layer'");
  }
  m.conv_norm = norm == "layer" ? Listener::kLayer : Listener::kGroup;
  m.activation = s.Text("feat_extract_activation", "gelu");
  m.position_kernel = s.Size("num_conv_pos_embeddings", 128);
  m.position_groups = s.Size("num_conv_pos_embedding_groups", 16);
  m.norm_first = s.Flag("do_stable_layer_norm", false);
  m.vocab = s.Size("vocab_size", 32);
  m.projector = s.Size("classifier_proj_size", 256);
  m.weighted_sum = s.Flag("use_weighted_layer_sum", false);
  Layer layer;
  layer.norm = m.norm;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads");
  a.size = m.width / a.heads;
  if (a.size * a.heads != m.width || m.width % m.position_groups != 0) {
    Broken("config.json: ", m.width, " numbers for ", a.heads, " heads and ", m.position_groups,
           " groups");
  }
  a.q = "attention.q_proj", a.k = "attention.k_proj", a.v = "attention.v_proj";
  a.out = "attention.out_proj";
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
  layer.mlp = {.hidden = s.Size("intermediate_size"),
               .activation = s.Text("hidden_act", "gelu"),
               .up = "feed_forward.intermediate_dense",
               .down = "feed_forward.output_dense",
               .bias = true};
  layer.before_attention.clear(), layer.before_mlp.clear();
  (m.norm_first ? layer.before_attention : layer.of_attention_sum) = "layer_norm";
  (m.norm_first ? layer.before_mlp : layer.of_mlp_sum) = "final_layer_norm";
  const int64_t count = s.Count("num_hidden_layers");
  for (int64_t i = 0; i < count; ++i) {
    layer.prefix = StrCat(prefix, "encoder.layers.", i, ".");
    m.layers.push_back(layer);
  }
  // Of training, and of classes for other aims.
  s.Ignore({"mask_time_prob",
            "mask_time_length",
            "mask_time_min_masks",
            "mask_feature_prob",
            "mask_feature_length",
            "mask_feature_min_masks",
            "mask_channel_length",
            "mask_channel_min_space",
            "mask_channel_other",
            "mask_channel_prob",
            "mask_channel_selection",
            "mask_time_min_space",
            "mask_time_other",
            "mask_time_selection",
            "num_codevectors_per_group",
            "num_codevector_groups",
            "contrastive_logits_temperature",
            "num_negatives",
            "codevector_dim",
            "proj_codevector_dim",
            "diversity_loss_weight",
            "ctc_loss_reduction",
            "ctc_zero_infinity",
            "tdnn_dim",
            "tdnn_kernel",
            "tdnn_dilation",
            "xvector_output_dim",
            "num_feat_extract_layers",
            "num_ctc_classes",
            "replace_prob",
            "num_clusters",
            "freeze_feat_extract_train",
            "feat_extract_dropout",
            "no_mask_channel_overlap",
            "no_mask_time_overlap",
            "num_labels",
            "tokenizer_class"});
  return m;
}

// What follows the layers, where there is something.
void ReadAdapter(Net& net, Listener& m) {
  Settings& s = net.settings();
  const Listener::Adapter adapter = {.width = s.Size("output_hidden_size", m.width),
                                     .kernel = s.Size("adapter_kernel_size", 3),
                                     .stride = s.Size("adapter_stride", 2),
                                     .count = s.Count("num_adapter_layers", 3)};
  if (s.Flag("add_adapter", false)) m.adapter = adapter;
}

Listener Wav2Vec2(Net& net) {
  Listener m = ListenerLike(net, "wav2vec2.");
  ReadAdapter(net, m);
  Settings& s = net.settings();
  if (s.Has("adapter_attn_dim") && m.norm_first) m.layer_adapter = s.Size("adapter_attn_dim");
  return m;
}

Listener Hubert(Net& net) {
  Listener m = ListenerLike(net, "hubert.");
  if (!net.settings().Flag("feat_proj_layer_norm", true)) m.feature_norm.clear();
  m.position_batch_norm = net.settings().Flag("conv_pos_batch_norm", false);
  return m;
}

// Positions are also a bias of scores by distance, with gates.
Listener WavLm(Net& net) {
  Listener m = ListenerLike(net, "wavlm.");
  Settings& s = net.settings();
  ReadAdapter(net, m);
  const DistanceBias bias = {.table = m.prefix + "encoder.layers.0.attention.rel_attn_embed",
                             .count = s.Size("num_buckets", 320),
                             .max_distance = s.Size("max_bucket_distance", 800),
                             .gate = "attention.gru_rel_pos_linear",
                             .gate_factor = "attention.gru_rel_pos_const"};
  for (Layer& layer : m.layers) layer.attention.distance_bias = bias;
  return m;
}

Listener Data2VecAudio(Net& net) {
  Settings& s = net.settings();
  s.Only("do_stable_layer_norm", false);
  Listener m = ListenerLike(net, "data2vec_audio.");
  ReadAdapter(net, m);
  m.conv_norm = Listener::kLayer;
  m.position_layers = s.Count("num_conv_pos_embeddings", 5);
  m.position_kernel = s.Size("conv_pos_kernel_size", 19);
  return m;
}

Listener Sew(Net& net) {
  Settings& s = net.settings();
  s.Only("do_stable_layer_norm", false);
  Listener m = ListenerLike(net, "sew.");
  m.squeeze = s.Count("squeeze_factor", 2);
  m.feature_norm = "layer_norm";
  m.projection = m.channels.back() == m.width ? "" : "feature_projection";
  return m;
}

Listener UniSpeech(Net& net) { return ListenerLike(net, "unispeech."); }
Listener UniSpeechSat(Net& net) { return ListenerLike(net, "unispeech_sat."); }

[[maybe_unused]] const bool kListenersRegistered[] = {
    RegisterListener("wav2vec2", "Wav2Vec2", Wav2Vec2),
    RegisterListener("hubert", "Hubert", Hubert),
    RegisterListener("wavlm", "WavLM", WavLm),
    RegisterListener("data2vec-audio", "Data2VecAudio", Data2VecAudio),
    RegisterListener("sew", "SEW", Sew),
    RegisterListener("unispeech", "UniSpeech", UniSpeech),
    RegisterListener("unispeech-sat", "UniSpeechSat", UniSpeechSat),
};

}  // namespace
}  // namespace x2ir::checkpoint
