// Feed-forward layers, and those that pick experts.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace x2ir::checkpoint {
namespace {

std::string WithNumber(const std::string& name, int64_t i) {
  const size_t at = name.find("{}");
  return at == name.npos ? name : StrCat(name.substr(0, at), i, name.substr(at + 2));
}

// What the router gives each token: the numbers of its experts and their weights, [tokens, picked].
struct Picks {
  Expr experts, weights;
};

class Routing {
 public:
  Routing(Net& net, const Experts& e) : net_(net), e_(e) {}

  Picks Run(const Expr& logits, const std::string& prefix) {
    Expr scores = logits;
    if (e_.score == Experts::kSoftmax) scores = Softmax(logits);
    if (e_.score == Experts::kSigmoid) scores = logits.Op("sigmoid");
    Expr ranked = scores;
    if (!e_.correction.empty()) {
      ranked = scores + net_.Weight(prefix + e_.correction, {e_.count});
    }
    if (e_.groups > 1) ranked = OfBestGroups(ranked);
    const Sorted best = TopOf(ranked, net_.b().Ints({e_.picked}), 1);
    Expr weights =
        ranked.value() == scores.value() ? best.values : GatherElements(scores, best.indices, 1);
    if (e_.score == Experts::kSoftmaxOfPicked) weights = Softmax(weights);
    if (e_.normalize) {
      Expr sum = Sum(weights, 1, true);
      if (e_.score == Experts::kSigmoid) sum = sum + 1e-20;
      weights = weights / sum;
    }
    return {best.indices, Scaled(weights, e_.factor)};
  }

 private:
  static Expr Softmax(const Expr& x) { return x.Op("softmax", {}, {{"axis", -1}}); }

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

}  // namespace

Expr FeedForward(Net& net, const Mlp& mlp, const std::string& prefix, const Expr& x,
                 int64_t width) {
  const auto linear = [&](const Expr& a, const std::string& name, int64_t in, int64_t out) {
    return net.Linear(a, prefix + name, in, out, mlp.bias, mlp.transposed);
  };
  Expr h = nullptr;
  if (!mlp.gate_up.empty()) {
    const Expr both = linear(x, mlp.gate_up, width, 2 * mlp.hidden);
    const Expr first = Part(both, 1, 0, mlp.hidden), last = Part(both, 1, mlp.hidden, mlp.hidden);
    h = net.Activate(mlp.gate_last ? last : first, mlp.activation) * (mlp.gate_last ? first : last);
  } else if (!mlp.gate.empty()) {
    h = net.Activate(linear(x, mlp.gate, width, mlp.hidden), mlp.activation) *
        linear(x, mlp.up, width, mlp.hidden);
  } else {
    h = net.Activate(linear(x, mlp.up, width, mlp.hidden), mlp.activation);
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
  const Expr none = Filled(b, DType::kFloat32, {tokens, Size(e.count)}, 0);
  const Expr weights =
      Transpose(ScatterElements(none, 1, picks.experts, picks.weights, "none"), {1, 0});
  const Expr chosen =
      Transpose(ScatterElements(none, 1, picks.experts,
                                Filled(b, DType::kFloat32, {tokens, Size(e.picked)}, 1), "none"),
                {1, 0});
  Expr sum = Filled(b, DType::kFloat32, {tokens, Size(width)}, 0);
  for (int64_t i = 0; i < e.count; ++i) {
    const Expr at =
        Squeeze(Expr(b, ElementAt(chosen, 0, i)).Op("non_zero"), {0});  // the tokens that picked it
    Expr operand = Gather(x, at, 0);
    const Expr weight = Unsqueeze(Gather(ElementAt(weights, 0, i), at, 0), {1});
    if (e.weigh_input) operand = operand * weight;
    Expr y = FeedForward(net, e.mlp, prefix + WithNumber(e.prefix, i), operand, width);
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
  Net& net = context.net();
  const auto norm = [&](const std::string& name, const Expr& a) {
    return name.empty() ? a : net.Norm(a, layer.norm, layer.prefix + name, width);
  };
  const auto branch = [&](const Expr& a, const std::string& scale) {
    Expr y = Scaled(a, layer.residual_factor);
    return scale.empty() ? y : y * net.Weight(layer.prefix + scale, {width});
  };
  const auto feed = [&](const Expr& a) {
    return layer.experts ? Consult(net, *layer.experts, layer.prefix, a, width)
                         : FeedForward(net, layer.mlp, layer.prefix, a, width);
  };
  const Expr h = norm(layer.before_attention, x);
  const Expr mixed = layer.mixer ? layer.mixer(net, layer, h)
                                 : Attend(context, layer.attention, layer.prefix, h, width);
  const Expr attended = branch(norm(layer.after_attention, mixed), layer.attention_scale);
  const Expr residual = layer.residual_of_norm ? h : x;
  if (layer.parallel) {
    const Expr operand = layer.before_mlp.empty() ? h : norm(layer.before_mlp, x);
    return residual + attended + branch(norm(layer.after_mlp, feed(operand)), layer.mlp_scale);
  }
  Expr y = norm(layer.of_attention_sum, residual + attended);
  if (layer.cross) {
    const Expr looked =
        Attend(context, *layer.cross, layer.prefix, norm(layer.before_cross, y), width, true);
    y = norm(layer.of_cross_sum, y + branch(looked, ""));
  }
  const Expr operand = norm(layer.before_mlp, y);
  const Expr fed = branch(norm(layer.after_mlp, feed(operand)), layer.mlp_scale);
  return norm(layer.of_mlp_sum, (layer.residual_of_norm ? operand : y) + fed);
}

}  // namespace x2ir::checkpoint
