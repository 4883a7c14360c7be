// Funnel: blocks of layers, each of half as many tokens as the one before, and layers of all tokens
// again above them.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/encoder.h"

namespace x2ir::checkpoint {
namespace {

struct FunnelPlan {
  int64_t width = 0, heads = 0, size = 0, hidden = 0;
  std::vector<int64_t> blocks, repeats;
  int64_t above = 0;  // layers of all tokens
  bool max = false, factorized = false, own_first = true, cut = true, only_queries = true;
  bool is_base = false;  // a class without the layers of all tokens
  std::string activation;
  NormSpec norm{};
};

// The tokens of a level: what attention asks of them besides their vectors.
struct FunnelLevel {
  Expr count = nullptr;                  // int64, rank 0
  Expr types = nullptr, mask = nullptr;  // int64 [batch, count]
  Expr places = nullptr;                 // int64 [count], where the tokens are in the text
  // The same, but that the first token lies before the text.
  Expr shifted = nullptr;
};

class Funnel {
 public:
  Funnel(Context& context, const FunnelPlan& plan, const std::string& base)
      : context_(context), net_(context.net()), b_(net_.b()), p_(plan), base_(base) {}

  Expr Run(const Tokens& tokens, const Expr& types, const Expr& x) {
    const FunnelLevel all = First(tokens, types);
    FunnelLevel now = all;
    std::vector<Expr> states = {Apart(x)};
    for (size_t i = 0; i < p_.blocks.size(); ++i) Block(static_cast<int64_t>(i), now, states);
    Expr y = states.back();
    if (!p_.is_base) {
      y = Spread(y, now.count, all.count) + states.at(static_cast<size_t>(p_.blocks[0]));
      for (int64_t i = 0; i < p_.above; ++i) {
        y = Attended(StrCat(base_, "decoder.layers.", i, "."), 0, y, y, all, all);
      }
    }
    return Reshape(y, std::vector<int64_t>{-1, p_.width});
  }

 private:
  Expr N(int64_t number) { return Int(b_, number); }
  Expr Apart(const Expr& x) { return ReshapeTo(x, {context_.batch(), Size(-1), Size(p_.width)}); }

  FunnelLevel First(const Tokens& tokens, const Expr& types) {
    FunnelLevel level;
    level.count = Scalar(b_, context_.length());
    level.types = types, level.mask = tokens.mask;
    level.places = level.shifted = Iota(level.count);
    return level;
  }

  // Which tokens one of the next level is made of: two, or the last one alone.
  struct Pairs {
    Expr count = nullptr, even = nullptr, odd = nullptr;
  };
  Pairs PairsOf(const Expr& count) {
    Pairs pairs;
    const Expr add = N(p_.own_first && !p_.cut ? 2 : 1);
    pairs.count = (count + add) / N(2);
    const Expr twice = Iota(pairs.count) * N(2);
    if (p_.own_first) {
      pairs.even = Max(twice - N(1), N(0));
      pairs.odd = Min(twice, count - N(p_.cut ? 2 : 1));
    } else {
      pairs.even = twice;
      pairs.odd = Min(twice + N(1), count - N(1));
    }
    return pairs;
  }

  Expr Pooled(const Expr& x, const Pairs& pairs) {
    const Expr a = Gather(x, pairs.even, 1), b = Gather(x, pairs.odd, 1);
    return p_.max ? Max(a, b) : (a + b) * 0.5;
  }

  FunnelLevel Next(const FunnelLevel& level, const Pairs& pairs, int64_t block) {
    FunnelLevel next;
    next.count = pairs.count;
    next.types = Gather(level.types, pairs.even, 1);
    next.mask = Min(Gather(level.mask, pairs.even, 1), Gather(level.mask, pairs.odd, 1));
    next.places = Gather(level.places, pairs.even, 0);
    next.shifted = Gather(level.shifted, pairs.even, 0);
    if (p_.own_first) {
      const Expr first = N(1 - (int64_t{1} << block));
      next.shifted = Where(Iota(pairs.count) == N(0), first, next.shifted);
    }
    return next;
  }

  void Block(int64_t block, FunnelLevel& now, std::vector<Expr>& states) {
    for (int64_t i = 0; i < p_.blocks[static_cast<size_t>(block)]; ++i) {
      for (int64_t j = 0; j < p_.repeats[static_cast<size_t>(block)]; ++j) {
        const std::string prefix = StrCat(base_, "encoder.blocks.", block, ".", i, ".");
        const Expr x = states.back();
        // Texts of one or two tokens, which would not be pooled, are not told apart.
        const bool pools = block > 0 && i == 0 && j == 0;
        if (!pools) {
          states.push_back(Attended(prefix, block, x, x, now, now));
          continue;
        }
        const Pairs pairs = PairsOf(now.count);
        const Expr pooled = Pooled(x, pairs);
        const FunnelLevel next = Next(now, pairs, block);
        states.push_back(p_.only_queries ? Attended(prefix, block, pooled, x, next, now)
                                         : Attended(prefix, block, pooled, pooled, next, next));
        now = next;
      }
    }
  }

  // The tokens of the last level, each repeated for the tokens of the text that it was pooled from.
  Expr Spread(const Expr& x, const Expr& count, const Expr& all) {
    const int64_t times = int64_t{1} << (p_.blocks.size() - 1);
    if (times == 1) return x;
    if (!p_.own_first) return Gather(x, Iota(all) / N(times), 1);
    const Expr rest = count - N(1), at = Iota(all - N(1));
    const Expr from = Min(at / N(times), rest - N(1)) + N(1);
    Expr spread = Gather(x, from, 1);
    if (p_.cut) {
      spread = spread * Unsqueeze((at < rest * N(times)).To(DType::kFloat32), {0, 2});
    }
    return Concat(b_, {SliceAt(x, 1, 0), spread}, 1);
  }

  // --- Attention ---------------------------------------------------------------------------------

  Expr Heads(const Expr& rows) {
    return Transpose(ReshapeTo(rows, {context_.batch(), Size(-1), Size(p_.heads), Size(p_.size)}),
                     {0, 2, 1, 3});
  }

  // [count, width]: sines and cosines of places.
  std::pair<Expr, Expr> Waves(const Expr& places) {
    std::vector<double> frequencies;
    const int64_t half = p_.width / 2;
    for (int64_t i = 0; i < half; ++i) {
      const float exponent = static_cast<float>(i) / static_cast<float>(half);
      frequencies.push_back(1.0F / portable::pow(10000.0F, exponent));
    }
    const Expr angles = Unsqueeze(places.To(DType::kFloat32), {1}) *
                        NumbersAs(b_, DType::kFloat32, {1, half}, frequencies, "frequencies");
    return {Sin(angles), Cos(angles)};
  }

  // q with a bias [heads, size] of its own.
  Expr Biased(const Expr& q, const std::string& name) {
    const double scale = 1 / std::sqrt(static_cast<double>(p_.size));
    const Expr bias = net_.Weight(name, {p_.heads, p_.size});
    return Scaled(q + Unsqueeze(bias, {1}), scale);
  }

  // [batch, heads, queries, keys]: by how far they are from each other.
  Expr ByPlaces(const std::string& prefix, int64_t block, const Expr& q, const FunnelLevel& of_q,
                const FunnelLevel& of_k) {
    const Expr biased = Biased(q, prefix + "attention.r_r_bias");
    const Expr kernel = net_.Weight(prefix + "attention.r_kernel", {p_.width, p_.heads, p_.size});
    if (p_.factorized) {
      const auto [sine, cosine] = Waves(of_q.places);
      const auto [key_sine, key_cosine] = Waves(of_k.places);
      const Expr turned = MatMul(biased, Transpose(kernel, {1, 2, 0}));
      const Expr phi = Concat(b_, {sine, sine}, 1), pi = Concat(b_, {cosine, cosine}, 1),
                 psi = Concat(b_, {key_cosine, key_sine}, 1),
                 omega = Concat(b_, {-key_sine, key_cosine}, 1);
      return MatMul(turned * phi, Transpose(psi, {1, 0})) +
             MatMul(turned * pi, Transpose(omega, {1, 0}));
    }
    const bool pools = of_q.count.value() != of_k.count.value();
    const int64_t shift = pools ? 2 : 1, stride = int64_t{1} << (pools ? block - 1 : block);
    const Expr first = ElementAt(of_q.shifted, 0, 0);
    const Expr farthest = first - ElementAt(of_k.shifted, 0, 0) + of_q.count * N(shift * stride),
               nearest = first - ElementAt(of_k.shifted, 0, -1);
    const Expr places(b_, b_.Op("range", {farthest, nearest - N(1), N(-stride)}));
    const auto [sine, cosine] = Waves(places);
    const Expr rows = MatMul(Concat(b_, {sine, cosine}, 1),
                             Reshape(kernel, std::vector<int64_t>{p_.width, p_.heads * p_.size}));
    const Expr by_head =
        Transpose(Reshape(rows, std::vector<int64_t>{-1, p_.heads, p_.size}), {1, 2, 0});
    const Expr scores = MatMul(biased, by_head);
    const Size queries(of_q.count), keys(of_k.count), heads(p_.heads);
    const Expr turned = ReshapeTo(scores, {context_.batch(), heads, Size(-1), queries});
    const Expr moved = ReshapeTo(Slice(turned, 2, Size(shift), Size(kToEnd)),
                                 {context_.batch(), heads, queries, Size(-1)});
    return Slice(moved, 3, Size(0), keys);
  }

  // The same, by whether they are of one sentence.
  Expr ByTypes(const std::string& prefix, const Expr& q, const FunnelLevel& of_q,
               const FunnelLevel& of_k) {
    const Expr embed = net_.Weight(prefix + "attention.seg_embed", {2, p_.heads, p_.size});
    const Expr scores =
        MatMul(Biased(q, prefix + "attention.r_s_bias"), Transpose(embed, {1, 2, 0}));
    const Expr a = Unsqueeze(of_q.types, {2}), b = Unsqueeze(of_k.types, {1});
    const Expr same = Unsqueeze((a == b) | (a == N(2)) | (b == N(2)), {1});
    return Where(same, Part(scores, 3, 1, 1), Part(scores, 3, 0, 1));
  }

  Expr Attended(const std::string& prefix, int64_t block, const Expr& x, const Expr& from,
                const FunnelLevel& of_q, const FunnelLevel& of_k) {
    const int64_t all = p_.heads * p_.size;
    const auto linear = [&](const Expr& of, const char* name, bool bias) {
      return Heads(net_.Linear(Reshape(of, std::vector<int64_t>{-1, p_.width}), prefix + name,
                               p_.width, all, bias));
    };
    const Expr q = linear(x, "attention.q_head", false);
    const Expr k = linear(from, "attention.k_head", true),
               v = linear(from, "attention.v_head", true);
    Expr bias = ByPlaces(prefix, block, q, of_q, of_k) + ByTypes(prefix, q, of_q, of_k);
    if (p_.own_first) {
      const auto inner = [&](const FunnelLevel& level) {
        return (Iota(level.count) > N(0)).To(DType::kFloat32);
      };
      bias = bias * (Unsqueeze(inner(of_q), {1}) * Unsqueeze(inner(of_k), {0}));
    }
    const Expr hidden = (of_k.mask.To(DType::kFloat32) - 1.0) * 1e6;
    bias = bias + Unsqueeze(hidden, {1, 2});
    const Expr attended =
        Biased(q, prefix + "attention.r_w_bias").Op("attention", {k, v, bias}, {{"scale", 1.0f}});
    const Expr rows =
        net_.Linear(Reshape(Transpose(attended, {0, 2, 1, 3}), std::vector<int64_t>{-1, all}),
                    prefix + "attention.post_proj", all, p_.width);
    const Expr y = net_.Norm(x + Apart(rows), p_.norm, prefix + "attention.layer_norm", p_.width);
    const Mlp mlp = {.hidden = p_.hidden,
                     .activation = p_.activation,
                     .up = "ffn.linear_1",
                     .down = "ffn.linear_2",
                     .bias = true};
    const Expr flat = Reshape(y, std::vector<int64_t>{-1, p_.width});
    const Expr fed = Apart(FeedForward(net_, mlp, prefix, flat, p_.width));
    return net_.Norm(y + fed, p_.norm, prefix + "ffn.layer_norm", p_.width);
  }

  Context& context_;
  Net& net_;
  Builder& b_;
  const FunnelPlan& p_;
  std::string base_;
};

FunnelPlan PlanOf(Settings& s, const std::string& class_name) {
  FunnelPlan p;
  p.width = s.Size("d_model|hidden_size", 768);
  p.heads = s.Size("n_head|num_attention_heads", 12);
  p.size = s.Size("d_head", 64);
  p.hidden = s.Size("d_inner", 3072);
  p.blocks = s.Ints("block_sizes");
  if (p.blocks.empty()) p.blocks = {4, 4, 4};
  p.repeats = s.Ints("block_repeats");
  if (p.repeats.empty()) p.repeats.assign(p.blocks.size(), 1);
  p.above = s.Int("num_decoder_layers", 2);
  bool fits = p.blocks.size() == p.repeats.size() && p.blocks.size() <= 16 && p.above >= 0 &&
              p.above <= 1024 && p.width % 2 == 0;
  for (size_t i = 0; fits && i < p.blocks.size(); ++i) {
    fits = p.blocks[i] > 0 && p.blocks[i] <= 1024 && p.repeats[i] > 0 && p.repeats[i] <= 64;
  }
  if (!fits) Broken("config.json: blocks of layers that do not fit together");
  const std::string pooling = s.Text("pooling_type", "mean"),
                    attention = s.Text("attention_type", "relative_shift");
  if ((pooling != "mean" && pooling != "max") ||
      (attention != "relative_shift" && attention != "factorized")) {
    Refuse("config.json: 'pooling_type' ", pooling, " with 'attention_type' ", attention,
           " is not supported");
  }
  p.max = pooling == "max", p.factorized = attention == "factorized";
  p.own_first = s.Flag("separate_cls", true);
  p.cut = s.Flag("truncate_seq", true);
  p.only_queries = s.Flag("pool_q_only", true);
  p.is_base = class_name.ends_with("BaseModel") ||
              class_name.ends_with("ForSequenceClassification") ||
              class_name.ends_with("ForMultipleChoice");
  p.activation = s.Text("hidden_act", "gelu_new");
  p.norm = {.kind = NormSpec::kLayer, .eps = s.Number("layer_norm_eps", 1e-9)};
  return p;
}

void BuildFunnel(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  const FunnelPlan plan = PlanOf(s, class_name);
  IgnoreOldKeys(s);
  s.Ignore({"max_position_embeddings", "type_vocab_size", "num_hidden_layers", "num_blocks"});
  Encoder e;
  e.base = "funnel.";
  e.width = e.embed_width = plan.width;
  e.vocab = s.Size("vocab_size", 30522);
  e.norm = plan.norm;
  e.embed_norm = "embeddings.layer_norm";
  e.types.clear(), e.positions.clear();
  e.type_count = 3;  // two sentences, and the first token
  e.tied = s.Flag("tie_word_embeddings", true);
  e.stack = [plan](Context& context, const Encoder&, const Tokens& tokens, const Expr& types,
                   const Expr& x) {
    return Funnel(context, plan, tokens.base).Run(tokens, types, x);
  };
  const Step dense = {.dense = "classifier.linear_hidden", .activation = "tanh"};
  e.heads = {
      {.of_class = "ForMaskedLM", .gives = Head::kWords, .out = "lm_head"},
      LabelsHead(Head::kFirst, {dense}, "classifier.linear_out"),
      ChoiceHead(Head::kFirst, {dense}, "classifier.linear_out"),
      TagsHead(),
      SpanHead(),
      {.of_class = "ForPreTraining",
       .steps = {{.dense = "discriminator_predictions.dense", .activation = plan.activation}},
       .gives = Head::kScore,
       .out = "discriminator_predictions.dense_prediction"}};
  if (plan.is_base) net.IgnoreWeights({"decoder.*", "funnel.decoder.*"});
  BuildEncoder(net, std::move(e), class_name);
}

[[maybe_unused]] const bool kFunnel = RegisterArchitecture(
    {.model_type = "funnel",
     .kind = "encoder",
     .classes = {"FunnelModel", "FunnelBaseModel", "FunnelForMaskedLM",
                 "FunnelForSequenceClassification", "FunnelForTokenClassification",
                 "FunnelForQuestionAnswering", "FunnelForMultipleChoice", "FunnelForPreTraining"},
     .build = BuildFunnel});

}  // namespace
}  // namespace x2ir::checkpoint
