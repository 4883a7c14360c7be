// See forest.h.
#include "x2ir/ops/forest.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/ml_util.h"

namespace x2ir {
namespace {

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

absl::StatusOr<Forest::Mode> ModeOf(const std::string& name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<Forest::Mode>(i);
  }
  return Invalid("nodes_modes: unknown mode '", name, "'");
}

absl::Status SameLength(std::string_view name, size_t have, std::string_view other, size_t want,
                        bool may_be_empty = false) {
  if (have == want || (may_be_empty && have == 0)) return absl::OkStatus();
  return Invalid(name, " has ", have, " elements, ", other, " has ", want);
}

// The numbers of a tensor attribute, none where it is left out.
absl::StatusOr<std::vector<double>> NumbersAttr(const AttributeMap& attrs,
                                                const std::string& name) {
  const Attribute* attr = attrs.Find(name);
  const Tensor* tensor = attr ? attr->get<Tensor>() : nullptr;
  if (!tensor) return std::vector<double>();
  if (!IsFloating(tensor->dtype())) {
    return Invalid(name, ": expected floating numbers, got ", Name(tensor->dtype()));
  }
  X2IR_ASSIGN_OR_RETURN(const Tensor dense, tensor->ToDense());
  std::vector<double> numbers;
  numbers.reserve(dense.num_elements());
  for (int64_t i = 0; i < dense.num_elements(); ++i) numbers.push_back(dense.AsDouble(i));
  return numbers;
}

// From no root does a way lead in a circle. What is reached twice is fine.
absl::Status CheckNoCycles(const Forest& forest) {
  enum : uint8_t { kNew, kOnTheWay, kDone };
  std::vector<uint8_t> state(forest.nodes.size(), kNew);
  struct Step {
    int64_t node;
    int children;  // visited so far
  };
  std::vector<Step> way;
  for (const int64_t root : forest.roots) {
    if (state[root] == kNew) way.push_back({root, 0});
    while (!way.empty()) {
      Step& step = way.back();
      const Forest::Node& node = forest.nodes[step.node];
      if (node.mode == Forest::Mode::kLeaf || step.children == 2) {
        state[step.node] = kDone;
        way.pop_back();
        continue;
      }
      state[step.node] = kOnTheWay;
      const int64_t child = step.children++ == 0 ? node.on_true : node.on_false;
      if (state[child] == kOnTheWay) return Invalid("the nodes of a tree form a cycle");
      if (state[child] == kNew) way.push_back({child, 0});
    }
  }
  return absl::OkStatus();
}

absl::Status Finish(Forest& forest) {
  for (const Forest::Node& node : forest.nodes) {
    if (node.mode == Forest::Mode::kLeaf) continue;
    if (node.feature < 0) return Invalid("nodes_featureids: ", node.feature);
    forest.max_feature = std::max(forest.max_feature, node.feature);
  }
  for (const Forest::Vote& vote : forest.votes) {
    if (vote.target < 0) return Invalid("a vote for target ", vote.target);
    forest.max_target = std::max(forest.max_target, vote.target);
  }
  return CheckNoCycles(forest);
}

template <typename T>
bool Holds(const Forest& forest, const Forest::Node& node, T x) {
  const T split = static_cast<T>(node.split);
  switch (node.mode) {
    case Forest::Mode::kLeq: return x <= split;
    case Forest::Mode::kLt: return x < split;
    case Forest::Mode::kGte: return x >= split;
    case Forest::Mode::kGt: return x > split;
    case Forest::Mode::kEq: return x == split;
    case Forest::Mode::kNeq: return x != split;
    case Forest::Mode::kMember: {
      const std::vector<double>& set = forest.sets[node.set];
      return !std::isnan(x) && std::binary_search(set.begin(), set.end(), double{x});
    }
    case Forest::Mode::kLeaf: break;
  }
  return false;
}

}  // namespace

template <typename T>
const Forest::Node& Forest::Leaf(int64_t root, const T* x) const {
  const Node* node = &nodes[root];
  while (node->mode != Mode::kLeaf) {
    const T value = x[node->feature];
    const bool yes = Holds(*this, *node, value) || (node->missing_is_true && std::isnan(value));
    node = &nodes[yes ? node->on_true : node->on_false];
  }
  return *node;
}
template const Forest::Node& Forest::Leaf<float>(int64_t, const float*) const;
template const Forest::Node& Forest::Leaf<double>(int64_t, const double*) const;

namespace {

// Lists of one entry a node, and the two that may be left out.
absl::Status CheckLengths(absl::Span<const std::pair<std::string_view, size_t>> lengths,
                          size_t missing, size_t hits, size_t nodes) {
  for (const auto& [name, length] : lengths) {
    X2IR_RETURN_IF_ERROR(SameLength(name, length, "nodes_modes", nodes));
  }
  X2IR_RETURN_IF_ERROR(SameLength("nodes_missing_value_tracks_true", missing, "nodes_modes", nodes,
                                  /*may_be_empty=*/true));
  return SameLength("nodes_hitrates", hits, "nodes_modes", nodes, /*may_be_empty=*/true);
}

}  // namespace

absl::StatusOr<Forest> ForestById(const AttributeMap& attrs, const std::string& vote) {
  Forest forest;
  const Strings& modes = ListAttr<std::string>(attrs, "nodes_modes");
  auto ints = [&](std::string_view name) -> const Ints& { return ListAttr<int64_t>(attrs, name); };
  const Ints &trees = ints("nodes_treeids"), &ids = ints("nodes_nodeids");
  const Ints &on_true = ints("nodes_truenodeids"), &on_false = ints("nodes_falsenodeids");
  const Ints& features = ints("nodes_featureids");
  const Ints& missing = ints("nodes_missing_value_tracks_true");
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> splits, NumbersAttr(attrs, "nodes_values"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> hits, NumbersAttr(attrs, "nodes_hitrates"));
  const std::pair<std::string_view, size_t> lengths[] = {
      {"nodes_treeids", trees.size()},       {"nodes_nodeids", ids.size()},
      {"nodes_truenodeids", on_true.size()}, {"nodes_falsenodeids", on_false.size()},
      {"nodes_featureids", features.size()}, {"nodes_values", splits.size()}};
  X2IR_RETURN_IF_ERROR(CheckLengths(lengths, missing.size(), hits.size(), modes.size()));

  absl::flat_hash_map<std::pair<int64_t, int64_t>, int64_t> index;
  absl::flat_hash_set<int64_t> seen;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (!index.emplace(std::pair(trees[i], ids[i]), i).second) {
      return Invalid("node ", ids[i], " of tree ", trees[i], " occurs twice");
    }
    // The first node of a tree is its root.
    if (i > 0 && trees[i] == trees[i - 1]) continue;
    if (!seen.insert(trees[i]).second) return Invalid("tree ", trees[i], " is not in one piece");
    forest.roots.push_back(static_cast<int64_t>(i));
  }
  auto find = [&](int64_t tree, int64_t id) -> absl::StatusOr<int64_t> {
    auto it = index.find({tree, id});
    if (it == index.end()) return Invalid("there is no node ", id, " of tree ", tree);
    return it->second;
  };
  for (size_t i = 0; i < modes.size(); ++i) {
    Forest::Node node;
    X2IR_ASSIGN_OR_RETURN(node.mode, ModeOf(modes[i]));
    if (node.mode == Forest::Mode::kMember) return Invalid("nodes_modes: ", modes[i]);
    if (node.mode != Forest::Mode::kLeaf) {
      X2IR_ASSIGN_OR_RETURN(node.on_true, find(trees[i], on_true[i]));
      X2IR_ASSIGN_OR_RETURN(node.on_false, find(trees[i], on_false[i]));
      node.split = splits[i];
      node.feature = features[i];
      node.missing_is_true = !missing.empty() && missing[i] == 1;
    }
    forest.nodes.push_back(node);
  }

  const Ints &vote_ids = ints(vote + "_nodeids"), &targets = ints(vote + "_ids");
  const Ints& vote_trees = ints(vote + "_treeids");
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> weights, NumbersAttr(attrs, vote + "_weights"));
  const std::string counted = vote + "_ids";
  X2IR_RETURN_IF_ERROR(SameLength(vote + "_nodeids", vote_ids.size(), counted, targets.size()));
  X2IR_RETURN_IF_ERROR(SameLength(vote + "_treeids", vote_trees.size(), counted, targets.size()));
  X2IR_RETURN_IF_ERROR(SameLength(vote + "_weights", weights.size(), counted, targets.size()));
  std::vector<std::pair<int64_t, size_t>> order;  // votes by node
  for (size_t i = 0; i < targets.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t node, find(vote_trees[i], vote_ids[i]));
    // Old converters gave inner nodes votes as well, which are not counted.
    if (forest.nodes[node].mode == Forest::Mode::kLeaf) order.emplace_back(node, i);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [n, i] : order) {
    Forest::Node& node = forest.nodes[n];
    if (node.end_votes == 0) node.first_vote = forest.votes.size();
    forest.votes.push_back({targets[i], weights[i]});
    node.end_votes = forest.votes.size();
  }
  X2IR_RETURN_IF_ERROR(Finish(forest));
  return forest;
}

absl::StatusOr<Forest> ForestByPosition(const AttributeMap& attrs) {
  Forest forest;
  auto ints = [&](std::string_view name) -> const Ints& { return ListAttr<int64_t>(attrs, name); };
  const Strings& modes = ListAttr<std::string>(attrs, "nodes_modes");
  const Ints &on_true = ints("nodes_truenodeids"), &on_false = ints("nodes_falsenodeids");
  const Ints &true_leafs = ints("nodes_trueleafs"), &false_leafs = ints("nodes_falseleafs");
  const Ints &features = ints("nodes_featureids"), &targets = ints("leaf_targetids");
  const Ints& missing = ints("nodes_missing_value_tracks_true");
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> splits, NumbersAttr(attrs, "nodes_splits"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> hits, NumbersAttr(attrs, "nodes_hitrates"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> weights, NumbersAttr(attrs, "leaf_weights"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> members, NumbersAttr(attrs, "membership_values"));
  const std::pair<std::string_view, size_t> lengths[] = {
      {"nodes_truenodeids", on_true.size()},  {"nodes_falsenodeids", on_false.size()},
      {"nodes_trueleafs", true_leafs.size()}, {"nodes_falseleafs", false_leafs.size()},
      {"nodes_featureids", features.size()},  {"nodes_splits", splits.size()}};
  X2IR_RETURN_IF_ERROR(CheckLengths(lengths, missing.size(), hits.size(), modes.size()));
  X2IR_RETURN_IF_ERROR(
      SameLength("leaf_weights", weights.size(), "leaf_targetids", targets.size()));

  const int64_t inner = static_cast<int64_t>(modes.size());
  const int64_t leaves = static_cast<int64_t>(targets.size());
  // Leaves follow the inner nodes here.
  auto child = [&](int64_t position, int64_t is_leaf) -> absl::StatusOr<int64_t> {
    if (position >= 0 && position < (is_leaf ? leaves : inner)) {
      return is_leaf ? inner + position : position;
    }
    return Invalid("there is no ", is_leaf ? "leaf " : "node ", position);
  };
  size_t next_member = 0;  // sets follow one another, each with a NaN at its end
  for (int64_t i = 0; i < inner; ++i) {
    Forest::Node node;
    X2IR_ASSIGN_OR_RETURN(node.mode, ModeOf(modes[i]));
    if (node.mode == Forest::Mode::kLeaf) return Invalid("nodes_modes: ", modes[i]);
    X2IR_ASSIGN_OR_RETURN(node.on_true, child(on_true[i], true_leafs[i]));
    X2IR_ASSIGN_OR_RETURN(node.on_false, child(on_false[i], false_leafs[i]));
    node.split = splits[i];
    node.feature = features[i];
    node.missing_is_true = !missing.empty() && missing[i] == 1;
    if (node.mode == Forest::Mode::kMember) {
      node.set = forest.sets.size();
      std::vector<double>& set = forest.sets.emplace_back();
      while (next_member < members.size() && !std::isnan(members[next_member])) {
        set.push_back(members[next_member++]);
      }
      ++next_member;
      if (set.empty()) return Invalid("membership_values: no set for node ", i);
      std::sort(set.begin(), set.end());
    }
    forest.nodes.push_back(node);
  }
  if (next_member < members.size()) return Invalid("membership_values: more than are asked for");
  for (int64_t i = 0; i < leaves; ++i) {
    Forest::Node node;
    node.first_vote = forest.votes.size();
    forest.votes.push_back({targets[i], weights[i]});
    node.end_votes = forest.votes.size();
    forest.nodes.push_back(node);
  }
  for (const int64_t root : ints("tree_roots")) {
    X2IR_ASSIGN_OR_RETURN(const int64_t node, child(root, 0));
    forest.roots.push_back(node);
  }
  X2IR_RETURN_IF_ERROR(Finish(forest));
  return forest;
}

}  // namespace x2ir
