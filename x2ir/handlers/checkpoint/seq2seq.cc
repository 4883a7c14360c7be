#include "x2ir/handlers/checkpoint/seq2seq.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"

namespace x2ir::checkpoint {
namespace {

constexpr char kAnyBatch[] = "batch_size", kSource[] = "encoder_sequence_length",
               kTarget[] = "decoder_sequence_length",
               kTargetPast[] = "past_decoder_sequence_length",
               kSourcePast[] = "past_encoder_sequence_length";

// pos / 10000^(2 i / width) for each i below width / 2: sines, then cosines.
std::vector<double> SinesTable(int64_t count, int64_t width) {
  if (width % 2 != 0 || count > (int64_t{1} << 26) / width) {
    Refuse("positions by a table of sines, ", count, " of ", width, " numbers");
  }
  std::vector<double> table;
  for (int64_t at = 0; at < count; ++at) {
    for (int64_t j = 0; j < width; ++j) {
      const double i = static_cast<double>(j % (width / 2));
      const double angle =
          static_cast<double>(at) / portable::pow(10000.0, 2 * i / static_cast<double>(width));
      table.push_back(j < width / 2 ? portable::sin(angle) : portable::cos(angle));
    }
  }
  return table;
}

// exp(-i * log(10000) / (width / 2 - 1)), in float32 as PyTorch computes it.
std::vector<double> CountedFrequencies(int64_t width) {
  if (width % 2 != 0 || width < 4) Refuse("positions by sines of ", width, " numbers");
  const auto step =
      static_cast<float>(-portable::log(10000.0) / static_cast<double>(width / 2 - 1));
  std::vector<double> all;
  for (int64_t i = 0; i < width / 2; ++i)
    all.push_back(portable::exp(static_cast<float>(i) * step));
  return all;
}

class BuildingParts {
 public:
  BuildingParts(Net& net, Seq2Seq model) : net_(net), m_(std::move(model)) {}

  void Encoder() {
    const Front front = Source();
    net_.Output("last_hidden_state", States(Encoded(front), front.batch, front.length));
    IgnoreDecoder();
  }

  void Decoder() {
    const Expr ids = net_.Input("input_ids", DType::kInt64, {kAnyBatch, kTarget});
    const Expr states =
        net_.Input("encoder_hidden_states", DType::kFloat32, {kAnyBatch, kSource, m_.width});
    Context context(net_, SizeAt(ids, 0), SizeAt(ids, 1));
    if (HasMask()) {
      context.encoded_padding =
          net_.Input("encoder_attention_mask", DType::kInt64, {kAnyBatch, kSource})
              .To(DType::kBool);
    }
    context.encoded_length = SizeAt(states, 1);
    Expr rest = states;
    if (net_.request().cache) {
      AddPasts(context);
      const Size known = SizeAt(context.cross_pasts[0].key, 2);
      rest = Slice(states, 1, known, Size(kToEnd));
      context.encoded_length = SizeAt(rest, 1);
    }
    context.encoded = Reshape(rest, std::vector<int64_t>{-1, m_.width});
    const Expr x = Decoded(context, ids);
    net_.Output("logits", context.ByTokens(Logits(x), m_.decoder.vocab));
    for (size_t i = 0; i < context.presents.size(); ++i) {
      const auto give = [&](const char* whose, const Context::Cache& cache) {
        net_.Output(StrCat("present.", i, ".", whose, ".key"), cache.key);
        net_.Output(StrCat("present.", i, ".", whose, ".value"), cache.value);
      };
      give("decoder", context.presents[i]);
      give("encoder", context.cross_presents[i]);
    }
    net_.IgnoreWeights({StrCat(m_.encoder.prefix, "*")});
  }

  void Whole(bool has_head) {
    const Front front = Source();
    const Expr encoded = Encoded(front);
    const Expr ids = net_.Input("decoder_input_ids", DType::kInt64, {kAnyBatch, kTarget});
    Context context(net_, front.batch, SizeAt(ids, 1));
    LookAt(context, front, encoded);
    const Expr x = Decoded(context, ids);
    if (has_head) {
      net_.Output("logits", context.ByTokens(Logits(x), m_.decoder.vocab));
    } else {
      net_.Output("last_hidden_state", context.ByTokens(x, m_.width));
      IgnoreHead();
    }
    net_.Output("encoder_last_hidden_state", States(encoded, front.batch, front.length));
  }

  void Classifier() {
    const Front front = Source();
    const Expr encoded = Encoded(front);
    const Expr start = Filled(net_.b(), DType::kInt64, {front.batch, Size(1)},
                              static_cast<double>(m_.start_token));
    const Expr ids = Concat(net_.b(), {start, Slice(ids_, 1, Size(0), Size(-1))}, 1);
    Context context(net_, front.batch, front.length);
    LookAt(context, front, encoded);
    const Expr x = Decoded(context, ids);
    // The last end of each row: the largest of the positions at which there is one.
    Builder& b = net_.b();
    const Expr places = Iota(Scalar(b, front.length));
    const Expr is_end = ids_ == static_cast<double>(m_.end_token);
    const Expr last = Reduce(is_end.To(DType::kInt64) * places, "reduce_max", {1});
    const Expr rows = Iota(Scalar(b, front.batch)) * Scalar(b, front.length) + last;
    const Expr picked = Gather(x, rows, 0);
    const std::vector<int64_t> dims = net_.DimsOf("classification_head.out_proj.weight");
    const int64_t labels = dims.empty() ? 1 : dims[0];
    const Expr dense =
        net_.Linear(picked, "classification_head.dense", m_.width, m_.width).Op("tanh");
    net_.Output("logits", net_.Linear(dense, "classification_head.out_proj", m_.width, labels));
    net_.Output("encoder_last_hidden_state", States(encoded, front.batch, front.length));
    IgnoreHead();
  }

 private:
  bool HasMask() const {
    return !m_.encoder.front || (m_.encoder.front_has_padding && net_.request().sound_mask);
  }

  Expr States(const Expr& x, const Size& batch, const Size& length) {
    return ReshapeTo(x, {batch, length, Size(m_.width)});
  }

  Front Source() {
    if (m_.encoder.front) return m_.encoder.front(net_);
    ids_ = net_.Input("input_ids", DType::kInt64, {kAnyBatch, kSource});
    const Expr mask = net_.Input("attention_mask", DType::kInt64, {kAnyBatch, kSource});
    Front front;
    front.batch = SizeAt(ids_, 0), front.length = SizeAt(ids_, 1);
    front.padding = mask.To(DType::kBool);
    front.x = Embedded(m_.encoder, ids_, std::nullopt);
    return front;
  }

  Expr Encoded(const Front& front) {
    Context context(net_, front.batch, front.length);
    context.padding = front.padding;
    return Run(context, m_.encoder, front.x);
  }

  void LookAt(Context& context, const Front& front, const Expr& encoded) {
    context.encoded = encoded;
    context.encoded_length = front.length;
    context.encoded_padding = front.padding;
  }

  Expr Decoded(Context& context, const Expr& ids) {
    context.causal = true;
    return Run(context, m_.decoder, Embedded(m_.decoder, ids, context.past));
  }

  Expr Run(Context& context, const Stack& stack, Expr x) {
    const bool turns = std::any_of(stack.layers.begin(), stack.layers.end(),
                                   [](const Layer& layer) { return layer.attention.rope; });
    if (turns) {
      const Expr at = Unsqueeze(Range(context.past, context.length()), {0});
      context.positions =
          Expand(at, Vector(net_.b(), std::vector<Size>{context.batch(), context.length()}));
    }
    for (const Layer& layer : stack.layers) x = RunLayer(context, layer, x, m_.width);
    if (stack.final_norm.empty()) return x;
    return net_.Norm(x, m_.norm, stack.prefix + stack.final_norm, m_.width);
  }

  void AddPasts(Context& context) {
    for (size_t i = 0; i < m_.decoder.layers.size(); ++i) {
      const Attention& a = m_.decoder.layers[i].attention;
      const auto past = [&](const char* name, const char* length) {
        return net_.Input(StrCat("past_key_values.", i, ".", name), DType::kFloat32,
                          {kAnyBatch, a.kv_heads, length, a.size});
      };
      const Expr key = past("decoder.key", kTargetPast), value = past("decoder.value", kTargetPast);
      context.pasts.push_back({key, value});
      const Expr of_source = past("encoder.key", kSourcePast);
      context.cross_pasts.push_back({of_source, past("encoder.value", kSourcePast)});
      if (i == 0) context.past = SizeAt(key, 2);
    }
  }

  // --- Embeddings --------------------------------------------------------------------------------

  // [batch, length] as [tokens, width].
  Expr Embedded(const Stack& stack, const Expr& ids, const std::optional<Size>& past) {
    const std::string name = NameOf({StrCat(stack.prefix, m_.embed), StrCat(m_.prefix, m_.shared)},
                                    m_.encoder_apart && stack.prefix == m_.encoder.prefix);
    Expr x = Scaled(net_.Embedding(ids, name, stack.vocab, m_.width), stack.embed_factor);
    const auto norm = [&] {
      if (!stack.embed_norm.empty()) {
        x = net_.Norm(x, m_.norm, stack.prefix + stack.embed_norm, m_.width);
      }
    };
    if (stack.norm_before_positions) norm();
    const Positions& p = stack.positions;
    if (p.kind == Positions::kCounted) {
      x = x + CountedPositions(net_, ids, p.padding, m_.width, past);
    } else if (p.kind != Positions::kNone) {
      x = x + Table(stack, ids, past);
    }
    if (!stack.norm_before_positions) norm();
    return Reshape(x, std::vector<int64_t>{-1, m_.width});
  }

  Expr Range(const std::optional<Size>& past, const Size& length) {
    Builder& b = net_.b();
    const Size from = past ? *past : Size(0), to = past ? Plus(b, *past, length) : length;
    return {b, b.Op("range", {Scalar(b, from), Scalar(b, to), b.Int(1)})};
  }

  Expr Table(const Stack& stack, const Expr& ids, const std::optional<Size>& past) {
    Builder& b = net_.b();
    const Positions& p = stack.positions;
    const Expr at = Shifted(Range(past, SizeAt(ids, 1)), static_cast<double>(p.offset));
    const std::string name = stack.prefix + p.name;
    if (p.kind == Positions::kTable || net_.HasWeight(StrCat(name, ".weight"))) {
      return net_.Embedding(at, name, p.count, m_.width);
    }
    const Expr table = NumbersAs(b, DType::kFloat32, {p.count, m_.width},
                                 SinesTable(p.count, m_.width), "positions");
    return Gather(table, at, 0);
  }

  // The weight of the first name that is stored apart; of tied ones those of the others serve, and
  // serve for all that are the same.
  std::string NameOf(const std::vector<std::string>& names, bool apart = false) {
    std::vector<std::string> all;
    if (m_.tied && !apart) {
      all = {StrCat(m_.decoder.prefix, m_.embed), m_.head};
      if (!m_.encoder_apart) {
        all.insert(all.begin(),
                   {StrCat(m_.prefix, m_.shared), StrCat(m_.encoder.prefix, m_.embed)});
      }
    }
    const auto has = [&](const std::string& name) {
      return net_.HasWeight(StrCat(name, ".weight"));
    };
    net_.IgnoreWeights({StrCat(m_.prefix, m_.shared, ".weight")});
    for (const std::string& name : names) {
      if (!has(name)) continue;
      const auto same = std::find_if(all.begin(), all.end(), [&](const std::string& other) {
        return has(other) && Same(name, other);
      });
      if (same == all.end()) return name;
      net_.IgnoreWeights({StrCat(name, ".weight")});
      return *same;
    }
    const auto any = std::find_if(all.begin(), all.end(), has);
    return any == all.end() ? names[0] : *any;
  }

  bool Same(const std::string& a, const std::string& b) const {
    const auto find = [&](const std::string& name) {
      return net_.program().weights.Find(StrCat(name, ".weight"));
    };
    const Tensor *x = find(a), *y = find(b);
    return x == y || (x && y && x->dtype() == y->dtype() && x->dims() == y->dims() &&
                      x->bytes() == y->bytes());
  }

  // --- Heads -------------------------------------------------------------------------------------

  Expr Logits(const Expr& x) {
    const std::string name = NameOf({m_.head});
    std::vector<Value*> operands = {
        net_.Weight(StrCat(name, ".weight"), {m_.decoder.vocab, m_.width})};
    if (!m_.head_bias.empty() && net_.HasWeight(m_.head_bias)) {
      operands.push_back(net_.Weight(m_.head_bias, {1, m_.decoder.vocab}));
    }
    AttributeMap attrs = {{"transB", int64_t{1}}};
    if (m_.head_factor != 1) attrs.Set("alpha", static_cast<float>(m_.head_factor));
    return x.Op("gemm", operands, std::move(attrs));
  }

  void IgnoreHead() {
    net_.IgnoreWeights({StrCat(m_.head, ".weight")});
    if (!m_.head_bias.empty()) net_.IgnoreWeights({m_.head_bias});
  }
  void IgnoreDecoder() {
    IgnoreHead();
    net_.IgnoreWeights({StrCat(m_.decoder.prefix, "*")});
  }

  Net& net_;
  Seq2Seq m_;
  Expr ids_ = nullptr;
};

}  // namespace

Expr CountedPositions(Net& net, const Expr& ids, int64_t padding, int64_t width,
                      const std::optional<x2ir::Size>& past) {
  Builder& b = net.b();
  const Expr counts = Not(ids == static_cast<double>(padding));
  Expr at = CumSum(counts.To(DType::kInt64), 1);
  if (past) at = at + Scalar(b, *past);
  at = Shifted(at, static_cast<double>(padding));
  const Expr frequencies =
      NumbersAs(b, DType::kFloat32, {width / 2}, CountedFrequencies(width), "frequencies");
  const Expr angles = Unsqueeze(at.To(DType::kFloat32), {2}) * frequencies;
  const Expr both = Concat(b, {Sin(angles), Cos(angles)}, 2);
  return both * Unsqueeze(counts.To(DType::kFloat32), {2});
}

void BuildSeq2Seq(Net& net, Seq2Seq model, const std::string& class_name) {
  const bool classifies = class_name.ends_with("ForSequenceClassification");
  const bool has_head =
      !classifies && (!class_name.ends_with("Model") || class_name.ends_with("MTModel") ||
                      class_name.ends_with("LMHeadModel"));
  BuildingParts building(net, std::move(model));
  const Request::Part part = net.request().part;
  if (part == Request::kEncoder || class_name.ends_with("EncoderModel")) return building.Encoder();
  if (part == Request::kDecoder) {
    if (!has_head) Refuse("class '", class_name, "' has no decoder that writes a text");
    return building.Decoder();
  }
  if (classifies) return building.Classifier();
  building.Whole(has_head);
}

bool RegisterSeq2Seq(std::string model_type, std::string stem, DescribeSeq2Seq describe,
                     std::vector<std::string> more) {
  std::vector<std::string> classes = {stem + "ForConditionalGeneration", stem + "Model"};
  classes.insert(classes.end(), more.begin(), more.end());
  return RegisterArchitecture({.model_type = std::move(model_type),
                               .kind = kEncoderDecoder,
                               .classes = std::move(classes),
                               .build = [describe](Net& net, const std::string& class_name) {
                                 BuildSeq2Seq(net, describe(net), class_name);
                               }});
}

Seq2Seq BartLike(Net& net, bool norm_first) {
  Settings& s = net.settings();
  Seq2Seq m;
  m.width = s.Size("d_model");
  m.norm = {.kind = NormSpec::kLayer, .eps = 1e-5};
  m.tied = s.Flag("tie_word_embeddings", true);
  m.prefix = net.HasWeight("model.decoder.layers.0.fc1.weight") ? "model." : "";
  m.head_bias = "final_logits_bias";
  const int64_t vocab = s.Size("vocab_size");
  const double factor =
      s.Flag("scale_embedding", false) ? std::sqrt(static_cast<double>(m.width)) : 1;
  const std::string activation = s.Text("activation_function", "gelu");
  const auto describe = [&](Stack& stack, const std::string& side) {
    stack.prefix = StrCat(m.prefix, side, ".");
    stack.vocab = vocab;
    stack.embed_factor = factor;
    if (norm_first) stack.final_norm = "layer_norm";
    Layer layer;
    layer.norm = m.norm;
    Attention& a = layer.attention;
    a.heads = a.kv_heads = s.Size(side + "_attention_heads");
    a.size = m.width / a.heads;
    if (a.size * a.heads != m.width) {
      Broken("config.json: ", m.width, " numbers for ", a.heads, " heads");
    }
    a.out = "self_attn.out_proj";
    a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
    layer.mlp = {.hidden = s.Size(side + "_ffn_dim"),
                 .activation = activation,
                 .up = "fc1",
                 .down = "fc2",
                 .bias = true};
    const bool crosses = side == "decoder";
    if (crosses) {
      layer.cross = a;
      layer.cross->q = "encoder_attn.q_proj", layer.cross->k = "encoder_attn.k_proj";
      layer.cross->v = "encoder_attn.v_proj", layer.cross->out = "encoder_attn.out_proj";
    }
    layer.before_attention.clear(), layer.before_mlp.clear();
    (norm_first ? layer.before_attention : layer.of_attention_sum) = "self_attn_layer_norm";
    if (crosses) (norm_first ? layer.before_cross : layer.of_cross_sum) = "encoder_attn_layer_norm";
    (norm_first ? layer.before_mlp : layer.of_mlp_sum) = "final_layer_norm";
    const int64_t count = net.LayerCount(side + "_layers");
    for (int64_t i = 0; i < count; ++i) {
      layer.prefix = StrCat(stack.prefix, "layers.", i, ".");
      stack.layers.push_back(layer);
    }
  };
  describe(m.encoder, "encoder");
  describe(m.decoder, "decoder");
  // The names that all configurations have, and what only older versions knew.
  s.Ignore({"num_hidden_layers",
            "hidden_size",
            "num_attention_heads",
            "_num_labels",
            "add_bias_logits",
            "add_final_layer_norm",
            "classif_dropout",
            "do_blenderbot_90_layernorm",
            "encoder_no_repeat_ngram_size",
            "extra_pos_embeddings",
            "force_bos_token_to_be_generated",
            "layernorm_variant",
            "min_length",
            "normalize_before",
            "normalize_embedding",
            "num_beam_groups",
            "output_past",
            "save_step",
            "static_position_embeddings",
            "forced_decoder_ids"});
  net.IgnoreWeights(
      {"model.encoder.version", "model.decoder.version", "encoder.version", "decoder.version"});
  return m;
}

}  // namespace x2ir::checkpoint
