// Models that write the text of a sound: of spectra, which are of a fixed length for Whisper and of
// any for Speech2Text, or of samples.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/seq2seq.h"
#include "x2ir/handlers/checkpoint/sound.h"

namespace x2ir::checkpoint {
namespace {

// Two convolutions over time, the second of which halves it, and the positions.
Front WhisperFeatures(Net& net, const Stack& encoder, int64_t width, int64_t bins, int64_t length) {
  const Expr features =
      net.Input("input_features", DType::kFloat32, {"batch_size", bins, 2 * length});
  const auto conv = [&](const Expr& x, const char* name, int64_t in, int64_t stride) {
    const Expr y =
        net.Conv(x, encoder.prefix + name,
                 {.in = in, .out = width, .kernel = {3}, .stride = {stride}, .padding = {1}});
    return y.Op("gelu");
  };
  const Expr spectra = conv(conv(features, "conv1", bins, 1), "conv2", width, 2);
  Front front;
  front.batch = SizeAt(features, 0);
  front.length = length;
  const Expr positions =
      net.Weight(StrCat(encoder.prefix, "embed_positions.weight"), {length, width});
  front.x = Reshape(Transpose(spectra, {0, 2, 1}) + positions, std::vector<int64_t>{-1, width});
  return front;
}

Seq2Seq Whisper(Net& net) {
  Seq2Seq m = BartLike(net, true);
  Settings& s = net.settings();
  for (Stack* stack : {&m.encoder, &m.decoder}) {
    for (Layer& layer : stack->layers) {
      layer.attention.k_bias = false;
      if (layer.cross) layer.cross->k_bias = false;
    }
  }
  m.head = "proj_out";
  m.encoder_apart = true;
  m.decoder.embed_factor = 1;  // scale_embedding is of no effect
  m.decoder.positions.kind = Positions::kTable;
  m.decoder.positions.count = s.Size("max_target_positions", 448);
  const int64_t bins = s.Size("num_mel_bins", 80), length = s.Size("max_source_positions", 1500);
  m.encoder.front = [encoder = m.encoder, width = m.width, bins, length](Net& n) {
    return WhisperFeatures(n, encoder, width, bins, length);
  };
  // Of training, of words' times, and of the class for labels.
  s.Ignore({"mask_time_prob", "mask_time_length", "mask_time_min_masks", "mask_feature_prob",
            "mask_feature_length", "mask_feature_min_masks", "median_filter_width",
            "classifier_proj_size", "use_weighted_layer_sum", "max_position_embeddings"});
  return m;
}

// Convolutions with gates, each of which halves the time.
struct Subsampling {
  std::string prefix;
  std::vector<int64_t> kernels;
  int64_t bins = 0, channels = 0, width = 0;
  double factor = 1;
  int64_t padding_token = 1;
};

Front Subsampled(Net& net, const Subsampling& s) {
  const Expr features = net.Input("input_features", DType::kFloat32,
                                  {"batch_size", "feature_sequence_length", s.bins});
  Expr x = Transpose(features, {0, 2, 1});
  int64_t in = s.bins;
  for (size_t i = 0; i < s.kernels.size(); ++i) {
    const int64_t out = i + 1 < s.kernels.size() ? s.channels : 2 * s.width;
    x = net.Conv(x, StrCat(s.prefix, "conv.conv_layers.", i),
                 {.in = in,
                  .out = out,
                  .kernel = {s.kernels[i]},
                  .stride = {2},
                  .padding = {s.kernels[i] / 2}});
    x = GatedHalves(x, out / 2);
    in = out / 2;
  }
  x = Scaled(Transpose(x, {0, 2, 1}), s.factor);
  Front front;
  front.batch = SizeAt(features, 0);
  front.length = SizeAt(x, 1);
  // Positions see padding as a token of its own: 1, and 0 of what is none.
  Expr tokens = nullptr;
  if (net.request().sound_mask) {
    const Expr mask =
        net.Input("attention_mask", DType::kInt64, {"batch_size", "feature_sequence_length"});
    Expr lengths = Sum(mask, 1);
    for (size_t i = 0; i < s.kernels.size(); ++i) lengths = WindowsIn(lengths, 1, 2);
    front.padding = FirstOf(net, lengths, front.length);
    tokens = Not(front.padding).To(DType::kInt64);
  } else {
    tokens = Filled(net.b(), DType::kInt64, {front.batch, front.length}, 0);
  }
  x = x + CountedPositions(net, tokens, s.padding_token, s.width, std::nullopt);
  front.x = Reshape(x, std::vector<int64_t>{-1, s.width});
  return front;
}

Seq2Seq SpeechToText(Net& net) {
  Seq2Seq m = BartLike(net, true);
  Settings& s = net.settings();
  m.encoder_apart = true;
  // Its scale is on where nothing is said of it.
  const bool scaled = s.Flag("scale_embedding", true);
  m.decoder.embed_factor = scaled ? std::sqrt(static_cast<double>(m.width)) : 1;
  m.decoder.positions = {.kind = Positions::kCounted, .padding = s.Int("pad_token_id", 1)};
  Subsampling sub;
  sub.prefix = m.encoder.prefix;
  sub.kernels =
      s.Has("conv_kernel_sizes") ? s.Ints("conv_kernel_sizes") : std::vector<int64_t>{5, 5};
  sub.bins = s.Size("input_feat_per_channel", 80) * s.Size("input_channels", 1);
  sub.channels = s.Size("conv_channels", 1024);
  sub.width = m.width;
  sub.factor = m.decoder.embed_factor;
  sub.padding_token = m.decoder.positions.padding;
  if (sub.kernels.empty() || sub.kernels.size() > 100 || sub.channels % 2 != 0) {
    Broken("config.json: ", sub.kernels.size(), " convolutions of ", sub.channels, " channels");
  }
  for (const int64_t kernel : sub.kernels) {
    if (kernel < 1 || kernel > 1000) Broken("config.json: a convolution has a kernel of ", kernel);
  }
  m.encoder.front = [sub](Net& n) { return Subsampled(n, sub); };
  m.encoder.front_has_padding = true;
  // Positions have no end.
  s.Ignore({"num_conv_layers", "max_source_positions", "max_target_positions"});
  net.IgnoreWeights(
      {"model.encoder.embed_positions.weights", "model.decoder.embed_positions.weights"});
  return m;
}

// Convolutions of samples, the first of which is normed as a whole.
Front Samples(Net& net, const std::string& prefix, int64_t width) {
  const Expr sound = net.Input("input_values", DType::kFloat32, {"batch_size", "sequence_length"});
  const auto conv = [&](const Expr& x, const char* name, int64_t in, int64_t out, int64_t kernel,
                        int64_t stride, bool bias) {
    return net.Conv(x, prefix + name,
                    {.in = in,
                     .out = out,
                     .kernel = {kernel},
                     .stride = {stride},
                     .padding = {0},
                     .bias = bias});
  };
  Expr x = conv(Unsqueeze(sound, {1}), "conv1", 1, width, 127, 64, false).Op("tanh");
  x = x.Op("group_normalization",
           {net.Weight(prefix + "groupnorm.weight", {width}),
            net.Weight(prefix + "groupnorm.bias", {width})},
           {{"num_groups", int64_t{1}}, {"epsilon", 1e-5F}});
  x = conv(x, "conv2", width, 2 * width, 7, 3, true).Op("gelu");
  x = conv(x, "conv3", 2 * width, width, 3, 2, true).Op("gelu");
  Front front;
  front.batch = SizeAt(sound, 0);
  front.length = SizeAt(x, 2);
  if (net.request().sound_mask) {
    const Expr mask = net.Input("attention_mask", DType::kInt64, {"batch_size", "sequence_length"});
    const Expr some = Slice(mask, 1, x2ir::Size(0), x2ir::Size(kToEnd), x2ir::Size(64 * 3 * 2));
    front.padding = Slice(some, 1, x2ir::Size(0), front.length).To(DType::kBool);
  }
  front.x = Reshape(Transpose(x, {0, 2, 1}), std::vector<int64_t>{-1, width});
  return front;
}

Seq2Seq Moonshine(Net& net) {
  Settings& s = net.settings();
  Seq2Seq m;
  m.width = s.Size("hidden_size");
  m.norm = {.kind = NormSpec::kLayer, .eps = 1e-5, .shift = false};
  m.tied = s.Flag("tie_word_embeddings", true);
  m.encoder_apart = true;
  m.prefix = net.HasWeight("model.decoder.layers.0.mlp.fc1.weight") ? "model." : "";
  m.head = "proj_out";
  m.decoder.vocab = s.Size("vocab_size");
  Layer layer;
  layer.norm = m.norm;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("encoder_num_attention_heads");
  for (const char* other : {"decoder_num_attention_heads", "encoder_num_key_value_heads",
                            "decoder_num_key_value_heads"}) {
    if (s.Size(other, a.heads) != a.heads) {
      Refuse("config.json: '", other, "' is not the number of all heads, ", a.heads);
    }
  }
  a.size = std::max<int64_t>(m.width / a.heads, 1);
  a.q_bias = a.k_bias = a.v_bias = s.Flag("attention_bias", false);
  a.rope = RopeOf(s, a.size, {.partial = 0.9});
  a.rope->interleaved = true;
  layer.mlp = {.hidden = s.Size("intermediate_size"),
               .activation = {},
               .up = "mlp.fc1",
               .down = "mlp.fc2",
               .bias = true};
  const auto add = [&](Stack& stack, const std::string& side) {
    stack.prefix = StrCat(m.prefix, side, ".");
    layer.mlp.activation = s.Text(side + "_hidden_act", side == "encoder" ? "gelu" : "silu");
    const int64_t count = s.Count(side + "_num_hidden_layers");
    for (int64_t i = 0; i < count; ++i) {
      layer.prefix = StrCat(stack.prefix, "layers.", i, ".");
      stack.layers.push_back(layer);
    }
  };
  m.encoder.final_norm = "layer_norm";
  add(m.encoder, "encoder");
  m.decoder.final_norm = "norm";
  layer.cross = a;
  layer.cross->rope.reset();
  layer.cross->q = "encoder_attn.q_proj", layer.cross->k = "encoder_attn.k_proj";
  layer.cross->v = "encoder_attn.v_proj", layer.cross->out = "encoder_attn.o_proj";
  layer.before_cross = "post_attention_layernorm";
  layer.before_mlp = "final_layernorm";
  layer.mlp.gate_up = layer.mlp.up;
  layer.mlp.gate_last = true;
  add(m.decoder, "decoder");
  m.encoder.front = [prefix = m.encoder.prefix, width = m.width](Net& n) {
    return Samples(n, prefix, width);
  };
  m.encoder.front_has_padding = true;
  // Zeros beside a head's numbers change nothing.
  s.Ignore({"pad_head_dim_to_multiple_of"});
  return m;
}

[[maybe_unused]] const bool kSpeechWritersRegistered[] = {
    RegisterSeq2Seq("whisper", "Whisper", Whisper),
    RegisterSeq2Seq("moonshine", "Moonshine", Moonshine),
    RegisterSeq2Seq("speech_to_text", "Speech2Text", SpeechToText),
};

}  // namespace
}  // namespace x2ir::checkpoint
