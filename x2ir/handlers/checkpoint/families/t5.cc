// T5 and its relatives: positions are a bias of scores by distance.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/handlers/checkpoint/seq2seq.h"

namespace x2ir::checkpoint {
namespace {

// "gated-gelu": gated, with the activation after the dash.
Mlp T5Mlp(Settings& s, const char* fallback) {
  const std::string text = s.Text("feed_forward_proj", fallback);
  const bool gated = text.starts_with("gated-");
  std::string activation = gated ? text.substr(6) : text;
  if (text == "gated-gelu") activation = "gelu_new";
  activation = s.Text("dense_act_fn", activation);
  Mlp mlp{.hidden = s.Size("d_ff"), .activation = activation};
  if (s.Flag("is_gated_act", gated)) mlp.gate = "wi_0";
  mlp.up = mlp.gate.empty() ? "wi" : "wi_1";
  mlp.down = "wo";
  return mlp;
}

Mlp MlpAfter(Mlp mlp, const std::string& prefix) {
  if (!mlp.gate.empty()) mlp.gate = prefix + mlp.gate;
  mlp.up = prefix + mlp.up;
  mlp.down = prefix + mlp.down;
  return mlp;
}

// `bias_by_layer`: each layer has its own, else the first one's is of all.
Seq2Seq T5Like(Net& net, const char* activation, bool bias_by_layer) {
  Settings& s = net.settings();
  Seq2Seq m;
  m.width = s.Size("d_model");
  m.norm = {.kind = NormSpec::kRms, .eps = s.Number("layer_norm_epsilon", 1e-6)};
  m.prefix.clear();
  const int64_t vocab = s.Size("vocab_size");
  const int64_t count = net.LayerCount("num_layers");
  const Mlp mlp = T5Mlp(s, activation);
  Attention attention;
  attention.heads = attention.kv_heads = s.Size("num_heads");
  attention.size = s.Size("d_kv");
  attention.scale = 1;
  const auto named = [](Attention a, const std::string& prefix) {
    a.q = prefix + "q", a.k = prefix + "k", a.v = prefix + "v", a.out = prefix + "o";
    return a;
  };
  const auto describe = [&](Stack& stack, const std::string& side, int64_t layers) {
    const bool decodes = side == "decoder";
    stack.prefix = side + ".";
    stack.vocab = vocab;
    stack.final_norm = "final_layer_norm";
    Layer layer;
    layer.norm = m.norm;
    layer.attention = named(attention, "layer.0.SelfAttention.");
    layer.before_attention = "layer.0.layer_norm";
    if (decodes) {
      layer.cross = named(attention, "layer.1.EncDecAttention.");
      layer.before_cross = "layer.1.layer_norm";
    }
    const std::string last = decodes ? "layer.2." : "layer.1.";
    layer.before_mlp = last + "layer_norm";
    layer.mlp = MlpAfter(mlp, last + "DenseReluDense.");
    const DistanceBias bias = {.table = {},
                               .count = s.Size("relative_attention_num_buckets", 32),
                               .max_distance = s.Size("relative_attention_max_distance", 128),
                               .both_ways = !decodes};
    for (int64_t i = 0; i < layers; ++i) {
      layer.prefix = StrCat(stack.prefix, "block.", i, ".");
      layer.attention.distance_bias = bias;
      layer.attention.distance_bias->table =
          StrCat(stack.prefix, "block.", bias_by_layer ? i : 0,
                 ".layer.0.SelfAttention.relative_attention_bias");
      stack.layers.push_back(layer);
    }
  };
  describe(m.encoder, "encoder", count);
  describe(m.decoder, "decoder", net.LayerCount("num_decoder_layers", count));
  s.Ignore({"n_positions", "output_past", "tie_word_embeddings", "scalable_attention"});
  net.IgnoreWeights({"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"});
  return m;
}

double RootFactor(const Seq2Seq& m) { return 1 / std::sqrt(static_cast<double>(m.width)); }

Seq2Seq T5(Net& net) {
  Settings& s = net.settings();
  Seq2Seq m = T5Like(net, "relu", false);
  // Version 1.1 says that nothing is tied, and means that nothing is scaled.
  if (s.Flag("scale_decoder_outputs", s.Flag("tie_word_embeddings", true))) {
    m.head_factor = RootFactor(m);
  }
  return m;
}

Seq2Seq Mt5(Net& net) { return T5Like(net, "gated-gelu", false); }

Seq2Seq Umt5(Net& net) {
  Seq2Seq m = T5Like(net, "gated-gelu", true);
  m.head_factor = RootFactor(m);
  return m;
}

[[maybe_unused]] const bool kT5Registered[] = {
    RegisterSeq2Seq("t5", "T5", T5, {"T5EncoderModel", "T5WithLMHeadModel"}),
    RegisterSeq2Seq("mt5", "MT5", Mt5, {"MT5EncoderModel"}),
    RegisterSeq2Seq("umt5", "UMT5", Umt5, {"UMT5EncoderModel"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
