// Further decoders that differ from Llama in little.
#include <string>
#include <vector>

#include "x2ir/handlers/checkpoint/decoder.h"

namespace x2ir::checkpoint {
namespace {

Decoder Apertus(Net& net) {
  Decoder d = LlamaLike(net, {.eps = 1e-5, .rope = {.theta = 12e6}, .activation = "xielu"});
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

[[maybe_unused]] const bool kRegistered[] = {
    RegisterDecoder("apertus", "Apertus", Apertus),
    RegisterDecoder("ministral", "Ministral", Ministral),
    RegisterDecoder("ministral3", "Ministral3", Ministral3),
    RegisterDecoder("bitnet", "BitNet", BitNet),
};

}  // namespace
}  // namespace x2ir::checkpoint
