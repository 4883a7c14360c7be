// Gemma: norms whose scale is 1 more than the weight, and an embedding that grows with the width.
#include <cmath>
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

Decoder GemmaLike(Net& net, bool turns = true) {
  Settings& s = net.settings();
  Decoder d = LlamaLike(net, {.tied = true,
                              .turns = turns,
                              .activation = "gelu_pytorch_tanh",
                              .activation_names = "hidden_activation|hidden_act"});
  s.Only("use_bidirectional_attention", false);
  s.Ignore({"cache_implementation"});
  d.norm.plus_one = true;
  SetNorm(d, d.norm);
  d.embed_factor = std::sqrt(static_cast<double>(d.width));
  return d;
}

Decoder Gemma(Net& net) { return GemmaLike(net); }

void ScaleAndCaps(Net& net, Decoder& d, double scores, double logits) {
  Settings& s = net.settings();
  // A null of config.json is a value: no cap.
  const auto cap_of = [&](std::string_view name, double absent) {
    return s.Number(name, s.Stands(name) ? 0 : absent);
  };
  d.logit_softcap = cap_of("final_logit_softcapping", logits);
  const double scalar = s.Number("query_pre_attn_scalar", 256),
               cap = cap_of("attn_logit_softcapping", scores);
  if (scalar <= 0) Broken("config.json: 'query_pre_attn_scalar' is ", scalar);
  ForEach(d, [&](Layer& layer) {
    layer.attention.scale = 1 / std::sqrt(scalar);
    layer.attention.softcap = cap;
  });
}

// Norms before and after both branches.
void FourNorms(Decoder& d) {
  ForEach(d, [](Layer& layer) {
    layer.after_attention = "post_attention_layernorm";
    layer.before_mlp = "pre_feedforward_layernorm";
    layer.after_mlp = "post_feedforward_layernorm";
  });
}

Decoder Gemma2(Net& net) {
  Settings& s = net.settings();
  Decoder d = GemmaLike(net);
  FourNorms(d);
  ScaleAndCaps(net, d, 50, 30);
  SetWindows(d, s.Int("sliding_window", 4096), EveryNthFull(s, d.layers.size(), 2));
  return d;
}

Decoder VaultGemma(Net& net) {
  Decoder d = Gemma2(net);
  ForEach(d, [](Layer& layer) { layer.after_attention.clear(), layer.after_mlp.clear(); });
  return d;
}

Decoder Gemma3(Net& net) {
  Settings& s = net.settings();
  Decoder d = GemmaLike(net, false);
  FourNorms(d);
  HeadNorms(d);
  ScaleAndCaps(net, d, 0, 0);
  // A cap of scores may be written, and is not used.
  ForEach(d, [](Layer& layer) { layer.attention.softcap = 0; });
  const auto types = EveryNthFull(s, d.layers.size(),
                                  s.Count("sliding_window_pattern|_sliding_window_pattern", 6));
  SetWindows(d, s.Int("sliding_window", 4096), types);
  const int64_t size = d.layers[0].attention.size;
  const Rope all = RopeOf(s, size, {.theta = 1e6}, "full_attention"),
             near = RopeOf(s, size, {.theta_name = "rope_local_base_freq", .scaled = false},
                           "sliding_attention");
  for (size_t i = 0; i < d.layers.size(); ++i) {
    d.layers[i].attention.rope = types[i] == "full_attention" ? all : near;
  }
  return d;
}

[[maybe_unused]] const bool kGemmaAreRegistered[] = {
    RegisterDecoder("gemma", "Gemma", Gemma),
    RegisterDecoder("gemma2", "Gemma2", Gemma2),
    RegisterDecoder("gemma3_text", "Gemma3Text", Gemma3, {"Gemma3ForCausalLM"}),
    RegisterDecoder("vaultgemma", "VaultGemma", VaultGemma),
};

}  // namespace
}  // namespace x2ir::checkpoint
