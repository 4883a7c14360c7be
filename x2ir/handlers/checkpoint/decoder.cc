#include "x2ir/handlers/checkpoint/decoder.h"

#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir::checkpoint {
namespace {

constexpr char kBatch[] = "batch_size", kLength[] = "sequence_length",
               kPast[] = "past_sequence_length", kAll[] = "past_sequence_length + sequence_length";

class Building {
 public:
  Building(Net& net, Decoder decoder) : net_(net), d_(std::move(decoder)) {}

  void Run(bool has_head) {
    const bool cached = net_.request().cache && has_head;
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
    } else if (turned || !d_.positions.empty()) {
      positions = net_.Input("position_ids", DType::kInt64, {kBatch, kLength});
    }
    context.positions = positions;
    if (cached) {
      AddPasts(context);
      // By the mask: a runtime may give caches that are longer than what is in them.
      context.SetKeys(SizeAt(mask, 1));
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
    if (!has_head) {
      net_.Output("last_hidden_state",
                  context.ByTokens(x, d_.embed_width ? d_.embed_width : d_.width));
      return;
    }
    net_.Output("logits", context.ByTokens(Logits(x), d_.vocab));
    for (size_t i = 0; i < context.presents.size(); ++i) {
      net_.Output(StrCat("present.", i, ".key"), context.presents[i].key);
      net_.Output(StrCat("present.", i, ".value"), context.presents[i].value);
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
    int64_t n = 0;
    for (const Layer& layer : d_.layers) {
      const Attention& a = layer.attention;
      if (layer.mixer || a.no_cache) continue;
      const int64_t heads = a.latent ? a.heads : a.kv_heads,
                    key = a.latent ? a.latent->plain + a.latent->turned : a.size,
                    value = a.value_size ? a.value_size : a.size;
      const auto past = [&](const char* what, int64_t size) {
        return net_.Input(StrCat("past_key_values.", n, ".", what), DType::kFloat32,
                          {kBatch, heads, kPast, size});
      };
      context.pasts.push_back({past("key", key), past("value", value)});
      ++n;
    }
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
    return d_.embed_norm.empty() ? x : net_.Norm(x, d_.norm, d_.prefix + d_.embed_norm, d_.width);
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
  const bool has_head = !class_name.ends_with("Model") || class_name.ends_with("LMHeadModel");
  // A model without a head names its weights without the prefix.
  if (!has_head && !net.HasWeight(StrCat(decoder.prefix, decoder.embed, ".weight"))) {
    for (Layer& layer : decoder.layers) {
      if (layer.prefix.starts_with(decoder.prefix)) layer.prefix.erase(0, decoder.prefix.size());
    }
    decoder.prefix.clear();
  }
  Building(net, std::move(decoder)).Run(has_head);
}

bool RegisterDecoder(std::string model_type, std::string stem, DescribeDecoder describe) {
  return RegisterArchitecture(
      {.model_type = std::move(model_type),
       .kind = "decoder",
       .classes = {stem + "ForCausalLM", stem + "LMHeadModel", stem + "Model"},
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

Decoder LlamaLike(Net& net) {
  Settings& s = net.settings();
  Decoder d;
  d.width = s.Size("hidden_size");
  d.vocab = s.Size("vocab_size");
  d.norm = {.kind = NormSpec::kRms, .eps = s.Number("rms_norm_eps", 1e-6)};
  d.tied = s.Flag("tie_word_embeddings", false);
  const int64_t count = s.Count("num_hidden_layers");
  Layer layer;
  layer.norm = d.norm;
  Attention& a = layer.attention;
  a.heads = s.Size("num_attention_heads");
  a.kv_heads = s.Size("num_key_value_heads", a.heads);
  a.size = s.Size("head_dim", std::max<int64_t>(d.width / a.heads, 1));
  a.rope = RopeOf(s, a.size);
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = s.Flag("attention_bias", false);
  layer.mlp = {.hidden = s.Size("intermediate_size"),
               .activation = s.Text("hidden_act|hidden_activation", "silu"),
               .gate = "mlp.gate_proj",
               .bias = s.Flag("mlp_bias", false)};
  for (int64_t i = 0; i < count; ++i) {
    layer.prefix = StrCat("model.layers.", i, ".");
    d.layers.push_back(layer);
  }
  net.IgnoreWeights({"model.rotary_emb.inv_freq"});
  return d;
}

}  // namespace x2ir::checkpoint
