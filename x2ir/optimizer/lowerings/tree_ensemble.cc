// The old regressor as tree_ensemble, which took its place in version 5 of ai.onnx.ml.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/forest.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

using Ints = std::vector<int64_t>;

// What tree_ensemble has a place for: a leaf has one vote.
absl::Status CheckVotes(const Forest& forest) {
  for (const Forest::Node& node : forest.nodes) {
    if (node.mode != Forest::Mode::kLeaf || node.end_votes - node.first_vote == 1) continue;
    return CannotExpress("a leaf with ", node.end_votes - node.first_vote, " votes");
  }
  return absl::OkStatus();
}

// All leaves of some tree vote for the target. Of one without a vote the base value does not
// count, and an addition would count it.
bool AlwaysVotedFor(const Forest& forest, int64_t target) {
  for (size_t tree = 0; tree < forest.roots.size(); ++tree) {
    const size_t end =
        tree + 1 < forest.roots.size() ? forest.roots[tree + 1] : forest.nodes.size();
    bool all = true;
    for (size_t n = forest.roots[tree]; n < end; ++n) {
      const Forest::Node& node = forest.nodes[n];
      if (node.mode == Forest::Mode::kLeaf) {
        all = all && forest.votes[node.first_vote].target == target;
      }
    }
    if (all) return true;
  }
  return false;
}

// Base values are added to scores that no transform has touched: to one score only PROBIT is one.
absl::Status CheckBase(const Forest& forest, int64_t targets, const std::string& transform) {
  const bool plain = transform == "NONE" || (targets == 1 && transform != "PROBIT");
  if (!plain) return CannotExpress("base_values before ", transform);
  for (int64_t t = 0; t < targets && targets > 1; ++t) {
    if (!AlwaysVotedFor(forest, t)) return CannotExpress("base_values of a target without votes");
  }
  return absl::OkStatus();
}

AttributeMap EnsembleOf(const Forest& forest, DType type) {
  Ints position, on_true, on_false, true_leafs, false_leafs, features, missing, targets, roots;
  std::vector<std::string> modes;
  std::vector<double> splits, weights;
  bool any_missing = false;
  constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                    "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  // Inner nodes and leaves are counted apart.
  int64_t inner = 0, leaves = 0;
  for (const Forest::Node& node : forest.nodes) {
    position.push_back(node.mode == Forest::Mode::kLeaf ? leaves++ : inner++);
  }
  auto is_leaf = [&](int64_t n) { return forest.nodes[n].mode == Forest::Mode::kLeaf; };
  auto add = [&](const char* mode, int64_t yes, int64_t no, double split, int64_t feature,
                 bool nan) {
    modes.emplace_back(mode);
    on_true.push_back(position[yes]);
    on_false.push_back(position[no]);
    true_leafs.push_back(is_leaf(yes));
    false_leafs.push_back(is_leaf(no));
    splits.push_back(split);
    features.push_back(feature);
    missing.push_back(nan);
    any_missing = any_missing || nan;
  };
  for (const Forest::Node& node : forest.nodes) {
    if (node.mode == Forest::Mode::kLeaf) {
      targets.push_back(forest.votes[node.first_vote].target);
      weights.push_back(forest.votes[node.first_vote].weight);
    } else {
      add(kModes[static_cast<int>(node.mode)], node.on_true, node.on_false, node.split,
          node.feature, node.missing_is_true);
    }
  }
  for (const int64_t root : forest.roots) {
    roots.push_back(is_leaf(root) ? static_cast<int64_t>(modes.size()) : position[root]);
    // A tree that is one leaf begins with a node that leads there in any case.
    if (is_leaf(root)) add("BRANCH_LEQ", root, root, 0, 0, false);
  }
  auto tensor = [&](const std::vector<double>& values) {
    const std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
    return type == DType::kFloat64
               ? Tensor::Of<double>(dims, values)
               : Tensor::Of<float>(dims, std::vector<float>(values.begin(), values.end()));
  };
  AttributeMap attrs = {{"leaf_targetids", targets},       {"leaf_weights", tensor(weights)},
                        {"nodes_falseleafs", false_leafs}, {"nodes_falsenodeids", on_false},
                        {"nodes_featureids", features},    {"nodes_modes", modes},
                        {"nodes_splits", tensor(splits)},  {"nodes_trueleafs", true_leafs},
                        {"nodes_truenodeids", on_true},    {"tree_roots", roots}};
  if (any_missing) attrs.Set("nodes_missing_value_tracks_true", missing);
  return attrs;
}

absl::StatusOr<Values> RegressorAsEnsemble(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestById(r.attrs(), "target"));
  const int64_t targets = r.attrs().Int("n_targets", 0);
  const std::string& transform = r.attrs().String("post_transform");
  if (forest.roots.empty() || targets < 1) return CannotExpress("no trees, or no n_targets");
  X2IR_RETURN_IF_ERROR(CheckVotes(forest));
  if (r.dtype(0) == DType::kUndefined) return CannotExpress("the operand's type is not known");
  if (targets > 1 && (transform == "SOFTMAX" || transform == "LOGISTIC")) {
    return CannotExpress(transform, ": runtimes take TreeEnsemble's number of it for another");
  }
  // Features are compared as float64 or as float32, and so are the sums made.
  const bool wide = r.dtype(0) == DType::kFloat64;
  const DType type = wide ? DType::kFloat64 : DType::kFloat32;
  Value* x = r.in(0);
  if (r.dtype(0) != type) x = r.b.Op("cast", {x}, {{"to", Name(type)}});
  AttributeMap attrs = EnsembleOf(forest, type);
  attrs.Set("aggregate_function", r.attrs().String("aggregate_function"));
  attrs.Set("n_targets", targets);
  attrs.Set("post_transform", transform);
  Value* y = r.b.Op("tree_ensemble", {x}, std::move(attrs));
  if (const Attribute* base = r.attrs().Find("base_values")) {
    X2IR_RETURN_IF_ERROR(CheckBase(forest, targets, transform));
    X2IR_ASSIGN_OR_RETURN(const Tensor dense, base->get<Tensor>()->ToDense());
    X2IR_ASSIGN_OR_RETURN(Tensor same, CastTensor(dense.AlignedCopyIfNeeded(), type));
    if (same.num_elements() != 0) y = r.b.Op("add", {y, r.b.Constant(std::move(same), "base")});
  }
  if (wide) y = r.b.Op("cast", {y}, {{"to", Name(DType::kFloat32)}});
  return Values{y};
}

X2IR_LOWERING(tree_ensemble_regressor, RegressorAsEnsemble);

}  // namespace
}  // namespace x2ir
