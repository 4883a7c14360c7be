// inline_control_flow: puts what an `if` or `loop` does in its place, where that is known.
//  1. An `if` whose condition is the same in every run is the branch that it takes.
//  2. A `loop` that runs no round gives what it was given; one that always runs a few rounds of
//     few nodes is these rounds, one after the other.
// The number of rounds is known where the trip count is, and the condition stays true or is left
// out. Outputs of the graph keep their names.
#include <algorithm>
#include <utility>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"
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
constexpr size_t kCarriedFrom = 2;

std::optional<bool> KnownCondition(const Value& value) {
  const std::optional<Tensor> tensor = KnownTensor(value);
  if (!tensor || tensor->dtype() != DType::kBool || tensor->num_elements() != 1) {
    return std::nullopt;
  }
  return tensor->AsInt(0) != 0;
}

// Whether the body gives a true condition if it is given one.
bool StaysTrue(const Graph& body) {
  const Value* cond = body.outputs()[0];
  while (cond && cond->producer() && cond->producer()->Is("identity")) {
    cond = cond->producer()->input(0);
  }
  return cond && (cond == body.inputs()[1] || KnownCondition(*cond) == true);
}

// How often the body runs; nullopt where that is not known.
std::optional<int64_t> RoundsOf(const Node& node) {
  const auto trips = KnownInts(node.input(0));
  const bool counted = trips && trips->size() == 1;
  if (counted && (*trips)[0] <= 0) return 0;
  if (const Value* cond = node.input(1)) {
    const std::optional<bool> starts = KnownCondition(*cond);
    if (starts == false) return 0;
    if (!starts || !StaysTrue(node.attrs().SubGraph("body"))) return std::nullopt;
  }
  return counted ? std::optional((*trips)[0]) : std::nullopt;
}

// A scalar, of rank 1 where the body wants it so.
Value* AsDeclared(Builder& b, const Value& input, Tensor scalar) {
  const bool rank1 = input.shape() && input.shape()->rank() == 1;
  return b.Constant(rank1 ? scalar.Reshaped({1}) : std::move(scalar), "round");
}

bool HasLoop(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (node->Is("loop") || node->Is("scan") || node->Is("sequence_map")) return true;
    for (const Graph* inner : node->subgraphs()) {
      if (HasLoop(*inner)) return true;
    }
  }
  return false;
}

bool MayUnroll(const Node& node, int64_t rounds) {
  const Graph& body = node.attrs().SubGraph("body");
  const size_t carried = node.num_inputs() - kCarriedFrom;
  for (size_t i = 0; i < carried; ++i) {
    // An optional may become what it holds.
    if (!node.input(kCarriedFrom + i) ||
        node.input(kCarriedFrom + i)->type().kind() == Type::kOptional ||
        !node.input(kCarriedFrom + i)->type().is_known()) {
      return false;
    }
  }
  for (size_t i = carried; i < node.num_outputs(); ++i) {
    if (!node.output(i)) continue;
    if (rounds == 0) return false;  // the shape of nothing is that of the body's output
    if (!body.outputs()[1 + i]->shape()) return false;
  }
  if (rounds <= 1) return true;
  // Loops within go first, so that all nodes that there will be are counted.
  return rounds <= kMaxRounds && static_cast<int64_t>(body.TotalNodes()) * rounds <= kMaxNodes &&
         !HasLoop(body);
}

absl::StatusOr<bool> UnrollLoop(Rewriter& r) {
  const Node& node = r.node();
  if (node.num_inputs() < kCarriedFrom) return false;
  const std::optional<int64_t> rounds = RoundsOf(node);
  if (!rounds || !MayUnroll(node, *rounds)) return false;
  const Graph& body = node.attrs().SubGraph("body");
  Builder& b = r.b();
  const size_t carried = node.num_inputs() - kCarriedFrom;
  Values state;
  for (size_t i = 0; i < carried; ++i) state.push_back(node.input(kCarriedFrom + i));
  std::vector<Values> scans(node.num_outputs() - carried);
  size_t inferred = 0;
  for (int64_t round = 0; round < *rounds; ++round) {
    Values inputs = {AsDeclared(b, *body.inputs()[0], Tensor::Scalar<int64_t>(round)),
                     AsDeclared(b, *body.inputs()[1], Tensor::Scalar<bool>(true))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const Values results = InlineGraph(b, body, inputs);
    // What the body's values were in every round may be more particular in this one.
    for (; inferred < b.made().size(); ++inferred) {
      if (!InferNode(*b.made()[inferred]).ok()) return false;
    }
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<int64_t>(carried));
    for (size_t i = 0; i < scans.size(); ++i) {
      if (!node.output(carried + i)) continue;
      scans[i].push_back(b.Op("unsqueeze", {results[1 + carried + i], b.Ints({0})}));
      inferred = b.made().size();
    }
  }
  Values results = std::move(state);
  for (Values& parts : scans) {
    results.push_back(parts.empty() ? nullptr : b.Op("concat", std::move(parts), {{"axis", 0}}));
  }
  return r.Replace(results);
}
X2IR_RULE(inline_control_flow, loop, UnrollLoop);

}  // namespace
}  // namespace x2ir
