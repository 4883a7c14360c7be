// Feed-forward layers, and those that pick experts.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace x2ir::checkpoint {
namespace {

// What the router gives each token: the numbers of its experts and their weights, [tokens, picked].
struct Picks {
  Expr experts, weights;
};

class Routing {
 public:
  Routing(Net& net, const Experts& e) : net_(net), e_(e) {}

  Picks Run(const Expr& logits, const std::string& prefix) {
    if (e_.score == Experts::kSparseMixer) return Mixed(logits);
    Expr scores = logits;
    if (e_.score == Experts::kSoftmax) scores = Softmax(logits);
    if (e_.score == Experts::kSigmoid) scores = logits.Op("sigmoid");
    Expr ranked = scores;
    if (!e_.correction.empty()) {
      const std::string name = prefix + e_.correction;
      const Expr correction = net_.DimsOf(name).size() == 2 ? net_.Weight(name, {1, e_.count})
                                                            : net_.Weight(name, {e_.count});
      ranked = scores + correction;
    }
    if (e_.groups > 1) ranked = OfBestGroups(ranked);
    const Sorted best = TopOf(ranked, net_.b().Ints({e_.picked}), 1);
    Expr weights =
        ranked.value() == scores.value() ? best.values : GatherElements(scores, best.indices, 1);
    if (e_.score == Experts::kSoftmaxOfPicked) weights = Softmax(weights);
    if (e_.score == Experts::kSigmoidOfPicked) weights = weights.Op("sigmoid");
    if (e_.normalize) {
      Expr sum = Sum(weights, 1, true);
      if (e_.least_sum != 0) sum = Max(sum, e_.least_sum);
      if (e_.score == Experts::kSigmoid) sum = sum + e_.sum_shift;
      weights = weights / sum;
    }
    return {best.indices, Scaled(weights, e_.factor)};
  }

 private:
  static Expr Softmax(const Expr& x) { return x.Op("softmax", {}, {{"axis", -1}}); }

  // The best and the second. The weight of each is its part in a softmax over the scores that are
  // not further from it than `closeness` allows; for the second, without the best.
  Picks Mixed(const Expr& scores) {
    Builder& b = net_.b();
    const Sorted best = TopOf(scores, b.Ints({2}), 1);
    const Expr is_first = Reshape(Ints(b, CountedFrom(0, e_.count)),
                                  std::vector<int64_t>{1, e_.count}) == Part(best.indices, 1, 0, 1);
    const auto weight = [&](int64_t i) {
      const Expr top = Part(best.values, 1, i, 1);
      Expr close = (top - scores) / Max(Abs(scores), top) <= 2 * e_.closeness;
      if (i == 1) close = close & Not(is_first);
      return Reciprocal(Sum(Where(close, Exp(scores - top), 0.0), 1, true));
    };
    return {best.indices, Concat(b, {weight(0), weight(1)}, 1)};
  }

  // Scores that are the lowest in all groups but the best ones.
  Expr OfBestGroups(const Expr& ranked) {
    if (e_.count % e_.groups != 0 || e_.picked_groups > e_.groups) {
      Broken("config.json: ", e_.count, " experts in ", e_.groups, " groups, of which ",
             e_.picked_groups, " are picked");
    }
    Builder& b = net_.b();
    const int64_t each = e_.count / e_.groups;
    const Expr grouped = Reshape(ranked, std::vector<int64_t>{-1, e_.groups, each});
    const Expr group_scores = e_.best_of_group == 1
                                  ? Reduce(grouped, "reduce_max", {2})
                                  : Sum(TopOf(grouped, b.Ints({e_.best_of_group}), 2).values, 2);
    const Expr best = TopOf(group_scores, b.Ints({e_.picked_groups}), 1).indices;
    // [tokens, groups]: whether the group is among the best.
    const Expr numbers =
        Reshape(Ints(b, CountedFrom(0, e_.groups)), std::vector<int64_t>{1, e_.groups, 1});
    const Expr among = Any(numbers == Unsqueeze(best, {1}), {2});
    const Expr kept = Where(Unsqueeze(among, {2}), grouped, kLowest);
    return Reshape(kept, std::vector<int64_t>{-1, e_.count});
  }

  Net& net_;
  const Experts& e_;
};

// x^2 and x above 0, an exponential below, by two learned numbers.
Expr Xielu(Net& net, const std::string& prefix, const Expr& x) {
  const auto number = [&](const char* name, std::optional<double> fallback) {
    const std::string weight = prefix + name;
    if (fallback && !net.HasWeight(weight)) return *fallback;
    return net.Numbers(weight, std::vector<int64_t>(net.DimsOf(weight).size(), 1)).at(0);
  };
  const auto softplus = [](double v) {
    return portable::log1p(portable::exp(-std::abs(v))) + std::max(v, 0.0);
  };
  const double beta = number("beta", 0.5), eps = number("eps", -1e-6),
               above = softplus(number("alpha_p", {})),
               below = beta + softplus(number("alpha_n", {}));
  const Expr positive = Square(x) * above, negative = (Expm1(Min(x, eps)) - x) * below;
  return Where(x > 0.0, positive, negative) + x * beta;
}

}  // namespace

Expr FeedForward(Net& net, const Mlp& mlp, const std::string& prefix, const Expr& x,
                 int64_t width) {
  const auto linear = [&](const Expr& a, const std::string& name, int64_t in, int64_t out) {
    return net.Linear(a, prefix + name, in, out, mlp.bias, mlp.transposed);
  };
  const auto activated = [&](const Expr& a) {
    return mlp.activation == "xielu" ? Xielu(net, prefix + mlp.learned, a)
                                     : net.Activate(a, mlp.activation);
  };
  const auto gated = [&](Expr gate, Expr up) {
    if (mlp.limit != 0) {
      gate = Min(gate, mlp.limit);
      up = Clip(up, up.Number(-mlp.limit), up.Number(mlp.limit));
    }
    return activated(gate) * Shifted(up, mlp.up_shift);
  };
  Expr h = nullptr;
  if (!mlp.gate_up.empty()) {
    const Expr both = linear(x, mlp.gate_up, width, 2 * mlp.hidden);
    const auto every_other = [&](int64_t from) {
      return Slice(both, 1, Size(from), Size(kToEnd), Size(2));
    };
    const Expr first = mlp.neighbors ? every_other(0) : Part(both, 1, 0, mlp.hidden);
    const Expr last = mlp.neighbors ? every_other(1) : Part(both, 1, mlp.hidden, mlp.hidden);
    h = mlp.gate_last ? gated(last, first) : gated(first, last);
  } else if (!mlp.gate.empty()) {
    h = gated(linear(x, mlp.gate, width, mlp.hidden), linear(x, mlp.up, width, mlp.hidden));
  } else {
    h = activated(linear(x, mlp.up, width, mlp.hidden));
  }
  if (!mlp.norm.empty()) h = net.Norm(h, mlp.norm_spec, prefix + mlp.norm, mlp.hidden);
  return linear(h, mlp.down, mlp.hidden, width);
}

// Each expert computes the tokens that picked it, and adds its results to theirs.
Expr Consult(Net& net, const Experts& e, const std::string& prefix, const Expr& x, int64_t width) {
  Builder& b = net.b();
  if (e.picked > e.count) {
    Broken("config.json: ", e.picked, " of ", e.count, " experts are picked for each token");
  }
  const Expr logits = net.Linear(x, prefix + e.router, width, e.count, e.router_bias);
  const Picks picks = Routing(net, e).Run(logits, prefix);
  const Size tokens = SizeAt(x, 0);
  // [experts, tokens]: the weight of each expert for each token; 0 where it is not picked.
  const Expr numbers =
      Reshape(Ints(b, CountedFrom(0, e.count)), std::vector<int64_t>{e.count, 1, 1});
  const Expr weights =
      Sum(Where(numbers == Unsqueeze(picks.experts, {0}), Unsqueeze(picks.weights, {0}), 0.0), 2);
  Expr sum = Filled(b, DType::kFloat32, {tokens, Size(width)}, 0);
  for (int64_t i = 0; i < e.count; ++i) {
    const Expr of_one = ElementAt(weights, 0, i);
    const Expr at = Squeeze(of_one.Op("non_zero"), {0});  // the tokens that picked it
    Expr operand = Gather(x, at, 0);
    const Expr weight = Unsqueeze(Gather(of_one, at, 0), {1});
    if (e.weigh_input) operand = operand * weight;
    Expr y = FeedForward(net, e.mlp, prefix + Numbered(e.prefix, i), operand, width);
    if (!e.weigh_input) y = y * weight;
    // A token picks an expert once, so no two results go to one place.
    sum = ScatterNd(sum, Unsqueeze(at, {1}), Gather(sum, at, 0) + y, "none");
  }
  if (!e.shared) return sum;
  Expr shared = FeedForward(net, *e.shared, prefix, x, width);
  if (!e.shared_gate.empty()) {
    shared = shared * net.Linear(x, prefix + e.shared_gate, width, 1, false).Op("sigmoid");
  }
  return sum + shared;
}

Expr RunLayer(Context& context, const Layer& layer, const Expr& x, int64_t width) {
  if (layer.whole) return layer.whole(context, layer, x);
  Net& net = context.net();
  const auto norm = [&](const std::string& name, const Expr& a) {
    return name.empty() ? a : net.Norm(a, layer.norm, layer.prefix + name, width);
  };
  const auto branch = [&](const Expr& a, const std::string& scale, double factor) {
    Expr y = Scaled(a, layer.residual_factor * factor);
    return scale.empty() ? y : y * net.Weight(layer.prefix + scale, {width});
  };
  const auto feed = [&](const Expr& a) {
    return layer.experts ? Consult(net, *layer.experts, layer.prefix, a, width)
                         : FeedForward(net, layer.mlp, layer.prefix, a, width);
  };
  const Expr h = norm(layer.before_attention, x);
  const Expr mixed = layer.mixer ? layer.mixer(net, layer, h)
                     : layer.state_space
                         ? Recur(context, *layer.state_space, layer.prefix, h, width)
                         : Attend(context, layer.attention, layer.prefix, h, width);
  const Expr attended =
      branch(norm(layer.after_attention, mixed), layer.attention_scale, layer.attention_factor);
  const Expr residual = Scaled(layer.residual_of_norm ? h : x, layer.kept_by_attention);
  if (layer.parallel) {
    const Expr operand = layer.before_mlp.empty() ? h : norm(layer.before_mlp, x);
    return residual + attended +
           branch(norm(layer.after_mlp, feed(operand)), layer.mlp_scale, layer.mlp_factor);
  }
  Expr y = norm(layer.of_attention_sum, residual + attended);
  if (!layer.has_mlp) return y;
  if (layer.cross) {
    const Expr looked =
        Attend(context, *layer.cross, layer.prefix, norm(layer.before_cross, y), width, true);
    y = norm(layer.of_cross_sum, y + branch(looked, "", 1));
  }
  const Expr operand = norm(layer.before_mlp, y);
  const Expr fed = branch(norm(layer.after_mlp, feed(operand)), layer.mlp_scale, layer.mlp_factor);
  return norm(layer.of_mlp_sum,
              Scaled(layer.residual_of_norm ? operand : y, layer.kept_by_mlp) + fed);
}

}  // namespace x2ir::checkpoint
