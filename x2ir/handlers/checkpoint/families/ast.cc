// Audio Spectrogram Transformer: labels of a sound by patches of its spectrum.
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/architectures.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace x2ir::checkpoint {
namespace {

void BuildAst(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  const int64_t width = s.Size("hidden_size"), patch = s.Size("patch_size", 16),
                bins = s.Size("num_mel_bins", 128), time = s.Size("max_length", 1024);
  const std::vector<int64_t> strides = {s.Size("frequency_stride", 10), s.Size("time_stride", 10)};
  const NormSpec norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", 1e-12)};
  if (patch > bins || patch > time) {
    Broken("config.json: patches of ", patch, " in a spectrum of ", bins, " by ", time);
  }
  const int64_t count = ((bins - patch) / strides[0] + 1) * ((time - patch) / strides[1] + 1);
  const std::string prefix = net.HasWeight("audio_spectrogram_transformer.embeddings.cls_token")
                                 ? "audio_spectrogram_transformer."
                                 : "";
  Layer layer;
  layer.norm = norm;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads");
  a.size = s.Size("head_dim", std::max<int64_t>(width / a.heads, 1));
  a.q = "attention.attention.query", a.k = "attention.attention.key";
  a.v = "attention.attention.value", a.out = "attention.output.dense";
  a.q_bias = a.k_bias = a.v_bias = s.Flag("qkv_bias", true);
  a.out_bias = true;
  layer.before_attention = "layernorm_before", layer.before_mlp = "layernorm_after";
  layer.mlp = {.hidden = s.Size("intermediate_size"),
               .activation = s.Text("hidden_act", "gelu"),
               .up = "intermediate.dense",
               .down = "output.dense",
               .bias = true};

  const Expr sound = net.Input("input_values", DType::kFloat32, {"batch_size", time, bins});
  const Size batch = SizeAt(sound, 0);
  const std::string embeddings = prefix + "embeddings.";
  Expr x = net.Conv(
      Unsqueeze(Transpose(sound, {0, 2, 1}), {1}), embeddings + "patch_embeddings.projection",
      {.in = 1, .out = width, .kernel = {patch, patch}, .stride = strides, .padding = {0, 0}});
  x = Transpose(ReshapeTo(x, {batch, Size(width), Size(count)}), {0, 2, 1});
  Builder& b = net.b();
  const auto token = [&](const char* name) {
    const Expr one = net.Weight(embeddings + name, {1, 1, width});
    return Expand(one, Vector(b, std::vector<Size>{batch, 1, Size(width)}));
  };
  x = Concat(b, {token("cls_token"), token("distillation_token"), x}, 1) +
      net.Weight(embeddings + "position_embeddings", {1, count + 2, width});
  x = Reshape(x, std::vector<int64_t>{-1, width});
  Context context(net, batch, Size(count + 2));
  const int64_t layers = s.Count("num_hidden_layers");
  for (int64_t i = 0; i < layers; ++i) {
    layer.prefix = StrCat(prefix, "encoder.layer.", i, ".");
    x = RunLayer(context, layer, x, width);
  }
  x = context.ByTokens(net.Norm(x, norm, prefix + "layernorm", width), width);
  const Expr pooled = (ElementAt(x, 1, 0) + ElementAt(x, 1, 1)) * 0.5;
  s.Ignore({"num_labels"});
  if (class_name.ends_with("Model")) {
    net.Output("last_hidden_state", x);
    net.Output("pooler_output", pooled);
    net.IgnoreWeights({"classifier.*"});
    return;
  }
  const std::vector<int64_t> dims = net.DimsOf("classifier.dense.weight");
  net.Output("logits", net.Linear(net.Norm(pooled, norm, "classifier.layernorm", width),
                                  "classifier.dense", width, dims.empty() ? 1 : dims[0]));
}

[[maybe_unused]] const bool kAstRegistered =
    RegisterArchitecture({.model_type = "audio-spectrogram-transformer",
                          .kind = "sound",
                          .classes = {"ASTModel", "ASTForAudioClassification"},
                          .build = BuildAst});

}  // namespace
}  // namespace x2ir::checkpoint
