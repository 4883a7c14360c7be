#include "x2ir/handlers/checkpoint/encoder.h"

#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/sentence.h"

namespace x2ir::checkpoint {
namespace {

class Encoding {
 public:
  Encoding(Net& net, Encoder encoder) : net_(net), e_(std::move(encoder)) {
    if (!net_.HasWeight(e_.base + e_.embed + ".weight")) e_.base.clear();
    if (e_.embed_width == 0) e_.embed_width = e_.width;
    if (e_.word_width == 0) e_.word_width = e_.embed_width;
    for (Layer& layer : e_.layers) {
      layer.prefix = e_.base + layer.prefix;
      std::optional<Rope>& rope = layer.attention.rope;
      if (!rope || rope->table.empty()) continue;
      rope->table = e_.base + rope->table;
      if (!net_.HasWeight(rope->table + ".weight")) rope->table.clear();
    }
  }

  void Run(const std::string& class_name) {
    std::vector<const Head*> heads;
    for (const Head& head : e_.heads) {
      IgnoreUnlessUsed(head);
      if (class_name.ends_with(head.of_class)) heads.push_back(&head);
    }
    if (heads.empty() && !class_name.ends_with("Model")) {
      Refuse("class '", class_name, "' is not supported with these settings");
    }
    if (e_.pooler) Ignore(e_.base + e_.pooler->dense);
    net_.IgnoreWeights(
        {e_.base + "embeddings.position_ids", e_.base + "embeddings.token_type_ids"});
    Read(!heads.empty() && heads[0]->gives == Head::kChoice);
    Context context(net_, SizeAt(tokens_.ids, 0), SizeAt(tokens_.ids, 1));
    context.padding = tokens_.mask.To(DType::kBool);
    if (UsesRope()) {
      context.positions = Expand(Unsqueeze(Places(context), {0}),
                                 Vector(net_.b(), {context.batch(), context.length()}));
    }
    Expr x = Embedded(context);
    if (e_.prepare) e_.prepare(context, e_.base);
    if (e_.stack) {
      x = e_.stack(context, e_, tokens_, types_, x);
    } else {
      for (const Layer& layer : e_.layers) x = RunLayer(context, layer, x, e_.width);
    }
    if (!e_.final_norm.empty()) x = net_.Norm(x, e_.norm, e_.base + e_.final_norm, e_.width);
    if (heads.empty()) return Hidden(context, x);
    for (const Head* head : heads) RunHead(context, *head, x);
  }

 private:
  // Weights of heads of other classes are no mistake of the checkpoint.
  void Ignore(const std::string& layer) {
    if (!layer.empty()) net_.IgnoreWeights({layer + ".*"});
  }
  void IgnoreUnlessUsed(const Head& head) {
    for (const Step& step : head.steps) Ignore(step.dense), Ignore(step.norm);
    Ignore(head.out);
    if (!head.bias.empty()) net_.IgnoreWeights({head.bias});
    if (!head.more.empty()) net_.IgnoreWeights({head.more});
  }

  bool UsesRope() const {
    for (const Layer& layer : e_.layers) {
      if (layer.attention.rope) return true;
    }
    return false;
  }

  void Read(bool choices) {
    std::vector<Net::InputDim> dims = {"batch_size", "sequence_length"};
    if (choices) dims.insert(dims.begin() + 1, "num_choices");
    const auto input = [&](const char* name) {
      const Expr x = net_.Input(name, DType::kInt64, dims);
      if (!choices) return x;
      choices_ = SizeAt(x, 1);
      return ReshapeTo(x, {Size(-1), SizeAt(x, 2)});
    };
    tokens_ = {input("input_ids"), input("attention_mask"), e_.base};
    if (e_.types_given && e_.type_count > 1) types_ = input("token_type_ids");
  }

  Expr Places(const Context& context) { return Iota(Scalar(net_.b(), context.length())); }

  // The rows of learned positions: [length, width], or of each token.
  Expr Positions(const Context& context) {
    const std::string name = e_.base + e_.positions;
    if (e_.position_padding) {
      const auto padding = static_cast<double>(*e_.position_padding);
      const Expr counts = Not(tokens_.ids == padding).To(DType::kInt64);
      const Expr at = Shifted(CumSum(counts, 1) * counts, padding);
      return net_.Embedding(at, name, e_.position_count, e_.embed_width);
    }
    const Expr table = net_.StoredWeight(name + ".weight", {e_.position_count, e_.embed_width});
    return Slice(table, 0, Size(0), context.length()).To(DType::kFloat32);
  }

  Expr Embedded(const Context& context) {
    Expr x = net_.Embedding(tokens_.ids, e_.base + e_.embed, e_.vocab, e_.word_width);
    x = Scaled(x, e_.embed_factor);
    if (e_.of_words) x = e_.of_words(net_, tokens_, x);
    if (!e_.positions.empty()) x = x + Positions(context);
    if (!e_.types.empty() && e_.type_count > 0) {
      const std::string name = e_.base + e_.types;
      if (types_.value()) {
        x = x + net_.Embedding(types_, name, e_.type_count, e_.embed_width);
      } else {
        x = x + ElementAt(net_.Weight(name + ".weight", {e_.type_count, e_.embed_width}), 0, 0);
      }
    }
    int64_t width = e_.embed_width;
    const auto project = [&] {
      if (e_.project.empty()) return;
      x = net_.Linear(x, e_.base + e_.project, width, e_.width, e_.project_bias);
      width = e_.width;
    };
    if (e_.project_first) project();
    if (!e_.embed_norm.empty()) x = net_.Norm(x, e_.norm, e_.base + e_.embed_norm, width);
    if (e_.embed_masked) x = x * Unsqueeze(tokens_.mask, {2}).To(DType::kFloat32);
    x = Reshape(x, std::vector<int64_t>{-1, width});
    if (!e_.project_first) project();
    return x;
  }

  // --- Results -----------------------------------------------------------------------------------

  bool HasPooler() const {
    return e_.pooler && (e_.pooler->dense.empty() ||
                         net_.HasWeight(StrCat(e_.base, e_.pooler->dense, ".weight")));
  }

  Expr First(const Context& context, const Expr& x, int64_t width) {
    return ElementAt(ReshapeTo(x, {context.batch(), Size(-1), Size(width)}), 1, 0);
  }

  void Hidden(Context& context, const Expr& x) {
    // A stack of its own may give fewer tokens.
    const Expr tokens =
        ReshapeTo(x, {context.batch(), e_.stack ? Size(-1) : context.length(), Size(e_.width)});
    if (HasSentence(net_.program())) return OutputSentence(net_, tokens, tokens_.mask, e_.width);
    net_.Output("last_hidden_state", tokens);
    if (HasPooler()) net_.Output("pooler_output", Pooled(ElementAt(tokens, 1, 0)));
  }

  Expr Pooled(const Expr& first) { return Stepped(first, *e_.pooler, e_.base, e_.width).first; }

  // The result and its width.
  std::pair<Expr, int64_t> Stepped(const Expr& x, const Step& step, const std::string& prefix,
                                   int64_t width) {
    Expr y = x;
    const int64_t out = step.width ? step.width : width;
    if (!step.dense.empty()) y = net_.Linear(y, prefix + step.dense, width, out, step.bias);
    if (!step.activation.empty()) y = net_.Activate(y, step.activation);
    if (!step.norm.empty()) {
      y = net_.Norm(y, step.norm_spec.value_or(e_.norm), prefix + step.norm, out);
    }
    return {y, out};
  }

  void RunHead(Context& context, const Head& head, Expr x) {
    if (head.from == Head::kFirst) x = First(context, x, e_.width);
    if (head.from == Head::kLast) x = ElementAt(context.ByTokens(x, e_.width), 1, -1);
    if (head.from == Head::kPooled) x = Pooled(First(context, x, e_.width));
    if (head.from == Head::kMean) {
      const Expr counts = Unsqueeze(tokens_.mask, {2}).To(DType::kFloat32);
      x = Sum(context.ByTokens(x, e_.width) * counts, 1) / Sum(counts, 1);
    }
    int64_t width = e_.width;
    for (const Step& step : head.steps) std::tie(x, width) = Stepped(x, step, "", width);
    if (head.gives == Head::kWords) {
      return net_.Output(head.output, context.ByTokens(Words(head, x, width), e_.vocab));
    }
    const std::vector<int64_t> dims = net_.DimsOf(head.out + ".weight");
    const int64_t count = dims.empty() ? 1 : dims[0];
    const Expr y = net_.Linear(x, head.out, width, count, head.has_bias);
    const auto expect = [&](int64_t expected) {
      if (count != expected) {
        Broken("weight '", head.out, ".weight' has ", count, " rows; expected ", expected);
      }
    };
    const std::vector<Size> by_token = {context.batch(), context.length()};
    switch (head.gives) {
      case Head::kSpan:
        expect(2);
        for (const int64_t i : {0, 1}) {
          net_.Output(i ? "end_logits" : "start_logits", ReshapeTo(ElementAt(y, 1, i), by_token));
        }
        break;
      case Head::kChoice:
        expect(1);
        net_.Output(head.output, ReshapeTo(y, {Size(-1), choices_}));
        break;
      case Head::kScore:
        expect(1);
        net_.Output(head.output, ReshapeTo(y, by_token));
        break;
      default:
        net_.Output(head.output, head.from == Head::kTokens ? context.ByTokens(y, count) : y);
    }
  }

  Expr Words(const Head& head, const Expr& x, int64_t width) {
    const std::string own = head.out + ".weight", embed = e_.base + e_.embed + ".weight";
    const std::string name = e_.tied ? net_.Tied(own, embed) : own;
    std::string bias = head.out + ".bias";
    if (!head.bias.empty())
      bias = e_.tied ? net_.Tied(bias, head.bias) : net_.AnyOf({bias, head.bias});
    const int64_t of_words = head.more.empty() ? width : e_.word_width;
    Expr part = head.more.empty() ? x : Part(x, 1, 0, of_words);
    std::vector<Value*> operands = {net_.Weight(name, {e_.vocab, of_words})};
    if (!head.more.empty()) {
      const Expr more = net_.Weight(head.more, {width - of_words, e_.vocab});
      const Expr rest = Part(x, 1, of_words, width - of_words);
      Expr sum = MatMul(rest, more);
      if (head.has_bias) sum = sum + net_.Weight(bias, {e_.vocab});
      operands.push_back(sum);
    } else if (head.has_bias) {
      operands.push_back(net_.Weight(bias, {e_.vocab}));
    }
    return part.Op("gemm", operands, {{"transB", int64_t{1}}});
  }

  Net& net_;
  Encoder e_;
  Tokens tokens_ = {nullptr, nullptr, ""};
  Expr types_ = nullptr;
  Size choices_ = 1;
};

std::vector<std::string> UsualClasses() {
  return {"ForMaskedLM", "ForSequenceClassification", "ForTokenClassification",
          "ForQuestionAnswering", "ForMultipleChoice"};
}

}  // namespace

void BuildEncoder(Net& net, Encoder encoder, const std::string& class_name) {
  Encoding(net, std::move(encoder)).Run(class_name);
}

bool RegisterEncoder(std::string model_type, std::string stem, DescribeEncoder describe,
                     std::vector<std::string> more_classes) {
  std::vector<std::string> classes = {stem + "Model"};
  for (const std::string& end : UsualClasses()) classes.push_back(stem + end);
  for (const std::string& end : more_classes) classes.push_back(stem + end);
  return RegisterArchitecture({.model_type = std::move(model_type),
                               .kind = "encoder",
                               .classes = std::move(classes),
                               .build = [describe](Net& net, const std::string& class_name) {
                                 BuildEncoder(net, describe(net), class_name);
                               }});
}

// --- Like BERT -----------------------------------------------------------------------------------

Head LabelsHead(Head::From from, std::vector<Step> steps, std::string out) {
  return {.of_class = "ForSequenceClassification",
          .from = from,
          .steps = std::move(steps),
          .out = std::move(out)};
}
Head ChoiceHead(Head::From from, std::vector<Step> steps, std::string out) {
  return {.of_class = "ForMultipleChoice",
          .from = from,
          .steps = std::move(steps),
          .gives = Head::kChoice,
          .out = std::move(out)};
}
Head TagsHead(std::vector<Step> steps, std::string out) {
  return {.of_class = "ForTokenClassification", .steps = std::move(steps), .out = std::move(out)};
}
Head SpanHead(std::vector<Step> steps, std::string out) {
  return {.of_class = "ForQuestionAnswering",
          .steps = std::move(steps),
          .gives = Head::kSpan,
          .out = std::move(out)};
}
Head WordsHead(const Encoder& encoder, const std::string& activation) {
  return {.of_class = "ForMaskedLM",
          .steps = {{.dense = "cls.predictions.transform.dense",
                     .activation = activation,
                     .norm = "cls.predictions.transform.LayerNorm",
                     .width = encoder.embed_width}},
          .gives = Head::kWords,
          .out = "cls.predictions.decoder",
          .bias = "cls.predictions.bias"};
}

Head DenseLabelsHead(const std::string& activation) {
  return LabelsHead(Head::kFirst, {{.dense = "classifier.dense", .activation = activation}},
                    "classifier.out_proj");
}
Head LmHead() {
  return {.of_class = "ForMaskedLM",
          .steps = {{.dense = "lm_head.dense", .activation = "gelu", .norm = "lm_head.layer_norm"}},
          .gives = Head::kWords,
          .out = "lm_head.decoder",
          .bias = "lm_head.bias"};
}

Head SummaryHead(Settings& s, const SummaryDefaults& defaults) {
  Step step;
  if (s.Flag("summary_use_proj", defaults.projects)) step.dense = "sequence_summary.summary";
  step.activation = s.Text("summary_activation", defaults.activation);
  s.Ignore({"summary_first_dropout", "summary_last_dropout"});
  const std::string type = s.Text("summary_type", defaults.type);
  const bool is_first = type == "first", is_last = type == "last" || type == "cls_index";
  Head head = ChoiceHead(is_first ? Head::kFirst : Head::kLast, {step});
  if ((!is_first && !is_last) || s.Flag("summary_proj_to_labels", false)) head.of_class = "-";
  return head;
}

void AddPretraining(Encoder& e) {
  const auto next = [](const char* of_class, const char* output) {
    return Head{.of_class = of_class,
                .from = Head::kPooled,
                .out = "cls.seq_relationship",
                .output = output};
  };
  Head words = e.heads[0];
  words.of_class = "ForPreTraining", words.output = "prediction_logits";
  e.heads.push_back(std::move(words));
  e.heads.push_back(next("ForPreTraining", "seq_relationship_logits"));
  e.heads.push_back(next("ForNextSentencePrediction", "logits"));
}

Layer BertLayer(Settings& s, const NormSpec& norm, int64_t width, const BertDefaults& defaults) {
  Layer layer;
  layer.norm = norm;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = s.Size("num_attention_heads", defaults.heads);
  if (width % a.heads != 0) {
    Broken("config.json: ", a.heads, " heads cannot share ", width, " numbers");
  }
  a.size = width / a.heads;
  a.q = "attention.self.query", a.k = "attention.self.key", a.v = "attention.self.value";
  a.out = "attention.output.dense";
  a.q_bias = a.k_bias = a.v_bias = a.out_bias = true;
  layer.before_attention.clear(), layer.before_mlp.clear();
  layer.of_attention_sum = "attention.output.LayerNorm";
  layer.of_mlp_sum = "output.LayerNorm";
  layer.mlp = {.hidden = s.Size("intermediate_size", defaults.hidden),
               .activation = s.Text("hidden_act", defaults.activation),
               .up = "intermediate.dense",
               .down = "output.dense",
               .bias = true};
  return layer;
}

void AddLayers(Encoder& e, const Layer& layer, int64_t count, const std::string& prefix) {
  const size_t at = prefix.find("{}");
  for (int64_t i = 0; i < count; ++i) {
    e.layers.push_back(layer);
    e.layers.back().prefix = StrCat(prefix.substr(0, at), i, prefix.substr(at + 2));
  }
}

void IgnoreOldKeys(Settings& s) {
  s.Ignore({"directionality", "pooler_fc_size", "pooler_num_attention_heads",
            "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type", "output_past",
            "num_labels", "_num_labels", "model_max_length", "sbert_ce_default_activation_function",
            "sentence_transformers", "adapters"});
}

Encoder BertLike(Net& net, const std::string& base, const BertDefaults& defaults) {
  Settings& s = net.settings();
  s.Only("is_decoder", false);
  s.Only("add_cross_attention", false);
  IgnoreOldKeys(s);
  Encoder e;
  e.base = base;
  e.width = s.Size("hidden_size", defaults.width);
  e.vocab = s.Size("vocab_size", defaults.vocab);
  e.embed_width = e.width;
  if (s.Int("type_vocab_size", defaults.types) != 0) {
    e.type_count = s.Size("type_vocab_size", defaults.types);
  }
  e.position_count = s.Size("max_position_embeddings", defaults.positions);
  e.norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", defaults.eps)};
  e.tied = s.Flag("tie_word_embeddings", true);
  const Layer layer = BertLayer(s, e.norm, e.width, defaults);
  AddLayers(e, layer, net.LayerCount("num_hidden_layers", defaults.layers));
  e.pooler = Step{.dense = "pooler.dense", .activation = "tanh"};
  e.heads = {WordsHead(e, layer.mlp.activation), LabelsHead(Head::kPooled),
             ChoiceHead(Head::kPooled), TagsHead(), SpanHead()};
  return e;
}

}  // namespace x2ir::checkpoint
