#include "x2ir/handlers/checkpoint/decoder.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/sentence.h"
#include "x2ir/handlers/checkpoint/stored_forms.h"

namespace x2ir::checkpoint {
namespace {

constexpr char kPast[] = "past_sequence_length", kAll[] = "past_sequence_length + sequence_length";

class Building {
 public:
  Building(Net& net, Decoder decoder) : net_(net), d_(std::move(decoder)) {
    UseStoredForms(net.program().extras, d_);
  }

  enum Head : uint8_t { kNoHead, kWords, kLabels, kTokenLabels };

  void Run(Head head) {
    const bool has_head = head == kWords;
    const bool cached = net_.request().cache && has_head && HasCache();
    const Expr ids = net_.Input("input_ids", DType::kInt64, {kBatch, kLength});
    const Expr mask =
        net_.Input("attention_mask", DType::kInt64, {kBatch, cached ? kAll : kLength});
    Context context(net_, SizeAt(ids, 0), SizeAt(ids, 1));
    context.causal = true;
    context.padding = mask.To(DType::kBool);
    const bool turned = UsesPositions();
    Expr positions = nullptr;
    if (d_.positions_of_mask) {
      positions = CumSum(mask, 1) * mask - 1.0;
    } else if (turned || !d_.positions.empty() || d_.sinusoids) {
      positions = net_.Input("position_ids", DType::kInt64, {kBatch, kLength});
    }
    context.positions = positions;
    if (cached) {
      AddPasts(context);
      // By the mask: a runtime may give caches that are longer than what is in them.
      if (!context.pasts.empty()) context.SetKeys(SizeAt(mask, 1));
    }
    if (d_.positions_of_mask && context.past) {
      positions = Slice(positions, 1, *context.past, Size(kToEnd));
      context.positions = positions;
    }
    Expr x = Embedded(ids, positions);
    for (const Layer& layer : d_.layers) x = RunLayer(context, layer, x, d_.width);
    if (!d_.final_norm.empty()) x = net_.Norm(x, d_.norm, d_.prefix + d_.final_norm, d_.width);
    if (!d_.project_out.empty()) {
      x = net_.Linear(x, d_.prefix + d_.project_out, d_.width, d_.embed_width, false);
    }
    if (head == kNoHead) {
      const int64_t width = d_.embed_width ? d_.embed_width : d_.width;
      const Expr tokens = context.ByTokens(x, width);
      if (HasSentence(net_.program())) return OutputSentence(net_, tokens, mask, width);
      net_.Output("last_hidden_state", tokens);
    } else if (head == kLabels || head == kTokenLabels) {
      net_.Output("logits", Labels(context, ids, x, head == kLabels));
    } else {
      net_.Output("logits", context.ByTokens(Logits(x), d_.vocab));
    }
    if (!cached) return;
    size_t keys = 0, states = 0;
    for (size_t i = 0; i < d_.layers.size(); ++i) {
      if (HasKeys(d_.layers[i])) {
        const Context::Cache& present = context.presents.at(keys++);
        net_.Output(StrCat("present.", i, ".key"), present.key);
        net_.Output(StrCat("present.", i, ".value"), present.value);
      } else if (d_.layers[i].state_space) {
        const Context::State& present = context.present_states.at(states++);
        if (present.conv.value()) net_.Output(StrCat("present_conv.", i), present.conv);
        if (present.state.value()) net_.Output(StrCat("present_ssm.", i), present.state);
      }
    }
  }

 private:
  bool UsesPositions() const {
    for (const Layer& layer : d_.layers) {
      if (layer.attention.rope || layer.attention.temperature_beta != 0) return true;
    }
    return false;
  }

  void AddPasts(Context& context) {
    for (size_t n = 0; n < d_.layers.size(); ++n) {
      const Layer& layer = d_.layers[n];
      const Attention& a = layer.attention;
      if (layer.state_space) AddState(context, n, *layer.state_space);
      if (!HasKeys(layer)) continue;
      const int64_t heads = a.latent ? a.heads : a.kv_heads,
                    key = a.latent ? a.latent->plain + a.latent->turned : a.size,
                    value = a.value_size ? a.value_size : a.size;
      const auto past = [&](const char* what, int64_t size) {
        return net_.Input(StrCat("past_key_values.", n, ".", what), DType::kFloat32,
                          {kBatch, heads, kPast, size});
      };
      context.pasts.push_back({past("key", key), past("value", value)});
    }
  }

  void AddState(Context& context, size_t n, const StateSpace& s) {
    Context::State past;
    if (s.kernel > 0) {
      past.conv =
          net_.Input(StrCat("past_conv.", n), DType::kFloat32, {kBatch, s.channels(), s.kernel});
    }
    if (const std::vector<int64_t> sizes = s.state_dims(); !sizes.empty()) {
      std::vector<Net::InputDim> dims = {kBatch};
      dims.insert(dims.end(), sizes.begin(), sizes.end());
      past.state = net_.Input(StrCat("past_ssm.", n), DType::kFloat32, dims);
    }
    context.past_states.push_back(past);
  }

  static bool HasKeys(const Layer& layer) {
    return !layer.mixer && !layer.state_space && !layer.attention.no_cache;
  }
  bool HasCache() const {
    return std::any_of(d_.layers.begin(), d_.layers.end(),
                       [](const Layer& layer) { return HasKeys(layer) || layer.state_space; });
  }

  Expr Embedded(const Expr& ids, const Expr& positions) {
    const int64_t width = d_.embed_width ? d_.embed_width : d_.width;
    const Expr flat = Reshape(ids, std::vector<int64_t>{-1});
    Expr x = Scaled(net_.Embedding(flat, d_.prefix + d_.embed, d_.vocab, width), d_.embed_factor);
    if (!d_.project_in.empty())
      x = net_.Linear(x, d_.prefix + d_.project_in, width, d_.width, false);
    if (!d_.positions.empty()) {
      const Expr at = Reshape(Shifted(positions, static_cast<double>(d_.position_offset)),
                              std::vector<int64_t>{-1});
      x = x + net_.Embedding(at, d_.prefix + d_.positions, d_.position_count, d_.width);
    }
    if (d_.sinusoids) {
      // Sines, then cosines, of positions by falling frequencies.
      const int64_t half = d_.width / 2;
      std::vector<double> frequencies;
      for (int64_t i = 0; i < half; ++i) {
        frequencies.push_back(portable::exp(-portable::log(1e4) * static_cast<double>(i) /
                                            static_cast<double>(std::max<int64_t>(half - 1, 1))));
      }
      const Expr at = Reshape(Shifted(positions, static_cast<double>(d_.position_offset)),
                              std::vector<int64_t>{-1, 1});
      const Expr angles = at.To(DType::kFloat32) *
                          NumbersAs(net_.b(), DType::kFloat32, {1, half}, frequencies, "sinusoids");
      x = x + Concat(net_.b(), {Sin(angles), Cos(angles)}, 1);
    }
    return d_.embed_norm.empty() ? x : net_.Norm(x, d_.norm, d_.prefix + d_.embed_norm, d_.width);
  }

  // Of each token, or of the last one of a row that is no padding, by its number.
  Expr Labels(Context& context, const Expr& ids, const Expr& x, bool of_row) {
    Builder& b = net_.b();
    const std::string name = net_.HasWeight("score.weight") ? "score" : "classifier";
    const std::vector<int64_t> dims = net_.DimsOf(name + ".weight");
    const int64_t width = d_.embed_width ? d_.embed_width : d_.width;
    const int64_t count = dims.empty() ? 0 : dims[0];
    Expr rows = x;
    if (of_row) {
      const Expr all = context.ByTokens(x, width);
      Expr last = Expand(Shifted(Scalar(b, context.length()), -1), Vector(b, {context.batch()}));
      if (net_.settings().Has("pad_token_id")) {
        const auto pad = static_cast<double>(net_.settings().Int("pad_token_id"));
        const Expr counts = Not(ids == pad).To(DType::kInt64);
        last = Reduce(counts * Iota(Scalar(b, context.length())), "reduce_max", {1});
      }
      const Expr at = Expand(Unsqueeze(last, {1, 2}),
                             Vector(b, {context.batch(), x2ir::Size(1), x2ir::Size(width)}));
      rows = Squeeze(GatherElements(all, at, 1), {1});
    }
    const Expr y = net_.Linear(rows, name, width, count, net_.HasWeight(name + ".bias"));
    return of_row ? y : context.ByTokens(y, count);
  }

  Expr Logits(Expr x) {
    if (!d_.head_dense.empty()) {
      x = net_.Linear(x, d_.head_dense, d_.width, d_.width, d_.head_dense_bias);
      x = net_.Norm(net_.Activate(x, d_.head_activation), d_.norm, d_.head_norm, d_.width);
    }
    const int64_t width = d_.embed_width ? d_.embed_width : d_.width;
    // A tied head may be stored too, and is the same then.
    const std::string embed = StrCat(d_.prefix, d_.embed, ".weight"),
                      own = StrCat(d_.head, ".weight");
    const bool tied = d_.tied || !net_.HasWeight(own);
    if (tied && !d_.tied) Broken("weight '", own, "' is missing, and config.json does not tie it");
    if (tied) net_.IgnoreWeights({own});
    const Expr w = net_.Weight(tied ? embed : own, {d_.vocab, width});
    std::vector<Value*> operands = {w};
    if (d_.head_bias) operands.push_back(net_.Weight(StrCat(d_.head, ".bias"), {d_.vocab}));
    Expr logits = x.Op("gemm", operands, {{"transB", int64_t{1}}});
    logits = Scaled(logits, d_.logit_factor);
    if (d_.logit_softcap != 0) {
      logits = Scaled(Scaled(logits, 1 / d_.logit_softcap).Op("tanh"), d_.logit_softcap);
    }
    return logits;
  }

  Net& net_;
  Decoder d_;
};

}  // namespace

void BuildDecoder(Net& net, Decoder decoder, const std::string& class_name) {
  const auto head = class_name.ends_with("ForSequenceClassification") ? Building::kLabels
                    : class_name.ends_with("ForTokenClassification")  ? Building::kTokenLabels
                    : !class_name.ends_with("Model") || class_name.ends_with("HeadModel")
                        ? Building::kWords
                        : Building::kNoHead;
  // Heads that were not asked for.
  if (head == Building::kNoHead) {
    net.IgnoreWeights({"score.weight", "score.bias", "classifier.weight", "classifier.bias"});
  }
  if (head != Building::kWords) {
    for (const std::string& name : {decoder.head, decoder.head_dense, decoder.head_norm}) {
      if (!name.empty()) net.IgnoreWeights({name + ".weight", name + ".bias"});
    }
  }
  // The base model alone names its weights without the first part of the prefix, and so do some
  // files of models with a head.
  if (const size_t dot = decoder.prefix.find('.');
      dot != std::string::npos &&
      !net.HasWeight(StrCat(decoder.prefix, decoder.embed, ".weight"))) {
    const std::string part = decoder.prefix.substr(0, dot + 1);
    if (net.HasWeight(StrCat(decoder.prefix.substr(dot + 1), decoder.embed, ".weight"))) {
      decoder.prefix.erase(0, dot + 1);
      for (Layer& layer : decoder.layers) {
        if (layer.prefix.starts_with(part)) layer.prefix.erase(0, part.size());
      }
    }
  }
  Building(net, std::move(decoder)).Run(head);
}

bool RegisterDecoder(std::string model_type, std::string stem, DescribeDecoder describe,
                     const std::vector<std::string>& others) {
  std::vector<std::string> classes;
  for (const char* end : {"ForCausalLM", "Model", "LMHeadModel", "ForSequenceClassification",
                          "ForTokenClassification"}) {
    classes.push_back(stem + end);
  }
  classes.insert(classes.end(), others.begin(), others.end());
  return RegisterArchitecture({.model_type = std::move(model_type),
                               .kind = "decoder",
                               .classes = std::move(classes),
                               .build = [describe](Net& net, const std::string& class_name) {
                                 BuildDecoder(net, describe(net), class_name);
                               }});
}

std::vector<std::string> LayerTypes(Settings& settings, size_t layers,
                                    const std::function<std::string(size_t)>& fallback) {
  std::vector<std::string> types = settings.Texts("layer_types");
  if (types.empty()) {
    for (size_t i = 0; i < layers; ++i) types.push_back(fallback(i));
  }
  if (types.size() != layers) {
    Broken("config.json: 'layer_types' names ", types.size(), " layers; there are ", layers);
  }
  return types;
}

Decoder LlamaLike(Net& net, const LlamaDefaults& defaults) {
  Settings& s = net.settings();
  Decoder d;
  d.width = s.Size("hidden_size");
  d.vocab = s.Size("vocab_size");
  d.norm = {.kind = defaults.norm, .eps = s.Number(defaults.eps_names, defaults.eps)};
  d.tied = s.Flag("tie_word_embeddings", defaults.tied);
  const int64_t count = net.LayerCount(defaults.count_names);
  Layer layer;
  layer.norm = d.norm;
  Attention& a = layer.attention;
  a.heads = s.Size("num_attention_heads");
  a.kv_heads =
      s.Size("num_key_value_heads",
             defaults.kv_heads && !s.Stands("num_key_value_heads") ? defaults.kv_heads : a.heads);
  a.size = s.Size("head_dim", std::max<int64_t>(d.width / a.heads, 1));
  if (defaults.turns) a.rope = RopeOf(s, a.size, defaults.rope);
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = s.Flag("attention_bias", defaults.attention_bias);
  layer.mlp = {.hidden = s.Size(defaults.hidden_names),
               .activation = s.Text(defaults.activation_names, defaults.activation),
               .gate = "mlp.gate_proj",
               .bias = s.Flag("mlp_bias", false)};
  for (int64_t i = 0; i < count; ++i) {
    layer.prefix = StrCat(d.prefix, "layers.", i, ".");
    d.layers.push_back(layer);
  }
  net.IgnoreWeights({"*rotary_emb.inv_freq"});
  return d;
}

Decoder GptLike(Net& net, const GptDefaults& defaults) {
  Settings& s = net.settings();
  Decoder d;
  d.prefix = defaults.prefix;
  d.embed = "wte";
  d.width = s.Size("hidden_size|n_embd|d_model|n_embed");
  d.vocab = s.Size("vocab_size");
  d.norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_epsilon|layer_norm_eps", 1e-5)};
  d.tied = s.Flag("tie_word_embeddings", defaults.tied);
  d.final_norm = "ln_f";
  const int64_t count = net.LayerCount("num_hidden_layers|n_layer|n_layers|num_layers");
  Layer layer;
  layer.norm = d.norm;
  layer.before_attention = "ln_1", layer.before_mlp = "ln_2";
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads|n_head|n_heads|num_heads|attention_heads");
  a.size = d.width / a.heads;
  if (a.size * a.heads != d.width) {
    Broken("config.json: a width of ", d.width, " is not divided by ", a.heads, " heads");
  }
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
  layer.mlp = {.hidden = defaults.hidden_names.empty() ? 4 * d.width
                                                       : s.Size(defaults.hidden_names, 4 * d.width),
               .activation = s.Text("activation_function|hidden_act", defaults.activation),
               .up = "mlp.c_fc",
               .down = "mlp.c_proj",
               .bias = true};
  for (int64_t i = 0; i < count; ++i) {
    layer.prefix = StrCat(d.prefix, defaults.layers, ".", i, ".");
    d.layers.push_back(layer);
  }
  return d;
}

void SetWindows(Decoder& d, int64_t window, const std::vector<std::string>& types) {
  for (size_t i = 0; i < d.layers.size(); ++i) {
    if (types[i] == "sliding_attention") {
      d.layers[i].attention.window = window;
    } else if (types[i] != "full_attention") {
      Refuse("config.json: layers of type '", types[i],
             "' are not supported for this architecture");
    }
  }
}

std::vector<std::string> EveryNthFull(Settings& settings, size_t layers, int64_t n) {
  return LayerTypes(settings, layers, [n](size_t i) -> std::string {
    return n > 0 && (static_cast<int64_t>(i) + 1) % n == 0 ? "full_attention" : "sliding_attention";
  });
}

void HeadNorms(Decoder& d) {
  ForEach(d, [&](Layer& layer) { layer.attention.qk_norm = d.norm; });
}

void SetNorm(Decoder& d, const NormSpec& norm) {
  d.norm = norm;
  ForEach(d, [&](Layer& layer) { layer.norm = norm; });
}

void GraniteFactors(Net& net, Decoder& d) {
  Settings& s = net.settings();
  d.embed_factor = s.Number("embedding_multiplier", 1);
  d.logit_factor = 1 / s.Number("logits_scaling", 1);
  ForEach(d, [&](Layer& layer) {
    layer.attention.scale = s.Number("attention_multiplier", 1);
    layer.residual_factor = s.Number("residual_multiplier", 1);
  });
}

Experts GraniteExperts(Net& net, const Decoder& d) {
  Settings& s = net.settings();
  Experts e;
  e.count = s.Count("num_local_experts", 8);
  e.picked = s.Count("num_experts_per_tok", 2);
  e.score = Experts::kSoftmaxOfPicked;
  e.router = "block_sparse_moe.router.layer";
  e.prefix = "block_sparse_moe.{}.";
  e.mlp = {.hidden = d.layers[0].mlp.hidden,
           .activation = d.layers[0].mlp.activation,
           .down = "output_linear",
           .gate_up = "input_linear"};
  for (const Layer& layer : d.layers) {
    const std::string moe = layer.prefix + "block_sparse_moe.";
    for (const char* name : {"input_linear", "output_linear"}) {
      net.Unstack(StrCat(moe, name, ".weight"), StrCat(moe, "{}.", name, ".weight"));
    }
  }
  return e;
}

}  // namespace x2ir::checkpoint
