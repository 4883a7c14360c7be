// inline_control_flow: puts what an `if`, `loop` or `scan` does in its place, where that is known.
//  1. An `if` whose condition is the same in every run is the branch that it takes.
//  2. A `loop` that runs no round gives what it was given; one that always runs a few rounds is
//     these rounds, one after the other, if that is no more nodes.
//  3. A `scan` over nothing gives the state that it was given; one over a few slices is its rounds,
//     in the same way.
// The number of rounds is known where the trip count is, and the condition stays true or is left
// out; of a scan, where the size of the axes is. Outputs of the graph keep their names.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"
#include "x2ir/optimizer/rounds.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(inline_control_flow,
                "Puts the branch that an if always takes, and the rounds of a short loop, in its "
                "place.");

absl::StatusOr<bool> InlineIf(Rewriter& r) {
  const Graph* branch = KnownBranch(r.node());
  if (!branch) return false;
  return r.Replace(InlineGraph(r.b(), *branch, {}));
}
X2IR_RULE(inline_control_flow, if, InlineIf);

constexpr int64_t kMaxRounds = 8;
constexpr int64_t kMaxNodes = 64;  // of all rounds together
bool HasLoop(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    // Of the IR ops with nested graphs only `if` does not repeat them.
    if (node->is_ir() && node->has_subgraphs() && !node->Is("if")) return true;
    for (const Graph* inner : node->subgraphs()) {
      if (HasLoop(*inner)) return true;
    }
  }
  return false;
}

// How many nodes of a round are left when those are computed whose operands are known, these inputs
// of the body among them.
int64_t NodesLeft(const Graph& body, absl::flat_hash_set<const Value*> known) {
  int64_t left = 0;
  for (const Node* node : body.nodes()) {
    const OpDef* def = node->is_ir() ? FindOp(node->op()) : nullptr;
    bool goes = def && !def->impure() && !node->has_subgraphs();
    for (const Value* input : node->inputs()) {
      goes = goes && (!input || MayBeKnown(*input) || known.contains(input));
    }
    if (goes) {
      known.insert(node->outputs().begin(), node->outputs().end());
    } else if (!node->Is("identity")) {
      ++left;
      for (const Graph* inner : node->subgraphs()) {
        left += static_cast<int64_t>(inner->TotalNodes());
      }
    }
  }
  return left;
}

// Whether it becomes no more nodes; operands and outputs as for MayBeRounds.
bool MayUnroll(const Node& node, int64_t rounds, size_t first, size_t carried, size_t from) {
  if (!MayBeRounds(node, rounds, first, carried, from)) return false;
  if (rounds == 0) return true;
  const Graph& body = node.attrs().SubGraph("body");
  // Loops within go first, so that all nodes that there will be are counted.
  if (rounds > kMaxRounds || static_cast<int64_t>(body.TotalNodes()) * rounds > kMaxNodes ||
      HasLoop(body)) {
    return false;
  }
  // Of each round: its nodes, slices of what is scanned, and parts of what is stacked.
  const bool is_loop = first == kLoopCarriedFrom;
  absl::flat_hash_set<const Value*> known;
  if (is_loop) known.insert(body.inputs()[0]);  // the number of the round
  int64_t scanned = 0, stacks = 0;
  for (size_t i = first + carried; i < node.num_inputs(); ++i) {
    if (MayBeKnown(*node.input(i))) {
      known.insert(body.inputs()[i]);
    } else {
      ++scanned;
    }
  }
  int64_t each = NodesLeft(body, std::move(known)) + scanned;
  for (size_t i = carried; i < node.num_outputs(); ++i) stacks += node.output(i) != nullptr;
  each += stacks;
  const int64_t concats = rounds > 1 ? stacks : 0;
  return each * rounds + concats <= NodesLeft(body, {}) + 1;
}

absl::StatusOr<bool> UnrollLoop(Rewriter& r) {
  const Node& node = r.node();
  if (node.num_inputs() < kLoopCarriedFrom) return false;
  const size_t carried = node.num_inputs() - kLoopCarriedFrom;
  const std::optional<int64_t> rounds = RoundsOf(node);
  if (!rounds || !MayUnroll(node, *rounds, kLoopCarriedFrom, carried, 1)) return false;
  const std::optional<Values> results = LoopInRounds(r.b(), node, *rounds);
  return results ? r.Replace(*results) : false;
}
X2IR_RULE(inline_control_flow, loop, UnrollLoop);

// How many slices all scanned operands have; nullopt where one does not say.
std::optional<int64_t> SlicesOf(const Node& node, size_t states) {
  std::optional<int64_t> length;
  const std::vector<int64_t>& axes = node.attrs().Ints("scan_input_axes");
  for (size_t i = states; i < node.num_inputs(); ++i) {
    const Shape* shape = node.input(i)->shape();
    if (!shape) return std::nullopt;
    const auto axis = NormalizeAxes({axes[i - states]}, shape->rank());
    if (!axis.ok() || !(*shape)[(*axis)[0]].is_static()) return std::nullopt;
    const int64_t size = (*shape)[(*axis)[0]].value();
    if (length && *length != size) return std::nullopt;
    length = size;
  }
  return length;
}

absl::StatusOr<bool> UnrollScan(Rewriter& r) {
  const Node& node = r.node();
  const AttributeMap& attrs = node.attrs();
  const auto scans = static_cast<size_t>(attrs.Int("num_scan_inputs"));
  const size_t states = node.num_inputs() - scans;
  const std::optional<int64_t> rounds = SlicesOf(node, states);
  if (!rounds || !MayUnroll(node, *rounds, 0, states, 0)) return false;
  Builder& b = r.b();
  const auto index = [&](std::string_view directions, size_t i, int64_t round) {
    return attrs.Ints(directions)[i] == 0 ? round : *rounds - 1 - round;
  };
  Values state = node.inputs();
  state.resize(states);
  std::vector<Values> stacks(node.num_outputs() - states, Values(*rounds));
  for (int64_t round = 0; round < *rounds; ++round) {
    Values inputs = state;
    for (size_t i = 0; i < scans; ++i) {
      inputs.push_back(
          b.Op("gather",
               {node.input(states + i), b.Int(index("scan_input_directions", i, round), "slice")},
               {{"axis", attrs.Ints("scan_input_axes")[i]}}));
    }
    const auto results = AppendRound(b, attrs.SubGraph("body"), inputs);
    if (!results) return false;
    for (size_t i = 0; i < states; ++i) state[i] = (*results)[i];
    for (size_t i = 0; i < stacks.size(); ++i) {
      stacks[i][index("scan_output_directions", i, round)] = (*results)[states + i];
    }
  }
  for (size_t i = 0; i < stacks.size(); ++i) {
    const int64_t axis = attrs.Ints("scan_output_axes")[i];
    state.push_back(node.output(states + i) ? Stacked(b, stacks[i], axis) : nullptr);
  }
  return r.Replace(state);
}
X2IR_RULE(inline_control_flow, scan, UnrollScan);

}  // namespace
}  // namespace x2ir
