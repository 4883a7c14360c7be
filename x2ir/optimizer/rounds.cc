#include "x2ir/optimizer/rounds.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/copy_size.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

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

// A scalar, of rank 1 if the body requires it; null if the body does not use it.
Value* AsDeclared(Builder& b, const Value& input, Tensor scalar) {
  if (input.uses().empty()) return nullptr;
  const bool rank1 = input.shape() && input.shape()->rank() == 1;
  return b.Constant(rank1 ? scalar.Reshaped({1}) : std::move(scalar), "round");
}

// A copy of the body that hands its condition on, without what is used for nothing else.
std::shared_ptr<Graph> WithoutCondition(const Graph& body) {
  std::shared_ptr<Graph> copy = body.Clone();
  copy->SetOutput(0, copy->inputs()[1]);
  for (Node* node = copy->last(); node;) {
    Node* before = node->prev();
    const auto outputs = node->outputs();
    const bool used = std::any_of(outputs.begin(), outputs.end(),
                                  [](const Value* value) { return value && !value->is_unused(); });
    if (!used) copy->EraseUnused(node);
    node = before;
  }
  return copy;
}

}  // namespace

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

bool MayBeRounds(const Node& node, int64_t rounds, size_t first, size_t carried, size_t from) {
  const Graph& body = node.attrs().SubGraph("body");
  for (size_t i = first; i < first + carried; ++i) {
    // An optional may become what it holds.
    if (!node.input(i) || node.input(i)->type().kind() == Type::kOptional ||
        !node.input(i)->type().is_known()) {
      return false;
    }
  }
  for (size_t i = carried; i < node.num_outputs(); ++i) {
    if (!node.output(i)) continue;
    if (rounds == 0) return false;  // the shape of nothing is that of the body's output
    if (!body.outputs()[from + i]->shape()) return false;
  }
  return true;
}

std::optional<Values> AppendRound(Builder& b, const Graph& body, const Values& inputs) {
  // What its values are in every round may be more particular in this one.
  const size_t first = b.made().size();
  Values results = InlineGraph(b, body, inputs);
  for (size_t i = first; i < b.made().size(); ++i) {
    if (!InferNode(*b.made()[i]).ok()) return std::nullopt;
  }
  return results;
}

int64_t NodesOfRounds(const Graph& body, int64_t rounds) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  int64_t nodes = 1;
  for (const Node* node : body.nodes()) {
    int64_t own = 1;
    const std::optional<int64_t> inner_rounds = node->Is("loop") ? RoundsOf(*node) : std::nullopt;
    for (const Graph* inner : node->subgraphs()) {
      own = std::min(kLimit, own + NodesOfRounds(*inner, inner_rounds.value_or(1)));
    }
    nodes = std::min(kLimit, nodes + own);
  }
  if (rounds <= 0) return 0;
  return nodes > kLimit / rounds ? kLimit : nodes * rounds;
}

absl::Status RoundsBudget::Take(const Graph& body, int64_t rounds) const {
  const int64_t nodes = NodesOfRounds(body, rounds);
  if (nodes > nodes_) {
    return CannotExpress(rounds, " rounds, unrolled, are ", nodes,
                         " nodes; for a target without loops, unrolled loops have at most ",
                         kMaxNodes);
  }
  // Those of loops within are counted when they are written out.
  const int64_t own = static_cast<int64_t>(body.TotalNodes()) + 1, each = BytesOfCopy(body);
  if (each > bytes_ / std::max<int64_t>(rounds, 1)) {
    return CannotExpress(rounds, " rounds, unrolled, take ", each,
                         " bytes each; for a target without loops, unrolled loops take at most ",
                         kMaxBytes, " bytes in total");
  }
  nodes_ -= std::min(nodes_, own * rounds);
  bytes_ -= each * rounds;
  return absl::OkStatus();
}

absl::Status TakeRounds(const Target& target, const Graph& body, int64_t rounds) {
  const auto* budget = dynamic_cast<const RoundsBudget*>(&target);
  return budget ? budget->Take(body, rounds) : absl::OkStatus();
}

void ShareConstants(Builder& b, Graph& body) {
  for (Value* constant : body.constants()) {
    Value* shared = b.Constant(*constant->constant(), constant->name());
    body.ReplaceAllUses(constant, shared);
    if (constant->is_unused()) body.RemoveConstant(constant);
  }
  for (Node* node : body.nodes()) {
    for (Graph* inner : node->subgraphs()) ShareConstants(b, *inner);
  }
}

Value* Stacked(Builder& b, const Values& rounds, int64_t axis) {
  Values parts;
  for (Value* value : rounds) parts.push_back(b.Op("unsqueeze", {value, b.Ints({axis})}));
  return b.Op("concat", std::move(parts), {{"axis", axis}});
}

std::optional<Values> LoopInRounds(Builder& b, const Node& node, int64_t rounds) {
  const size_t carried = node.num_inputs() - kLoopCarriedFrom;
  const std::shared_ptr<Graph> copy = WithoutCondition(node.attrs().SubGraph("body"));
  ShareConstants(b, *copy);
  const Graph& body = *copy;
  Values state;
  for (size_t i = 0; i < carried; ++i) state.push_back(node.input(kLoopCarriedFrom + i));
  std::vector<Values> stacks(node.num_outputs() - carried);
  for (int64_t round = 0; round < rounds; ++round) {
    Values inputs = {AsDeclared(b, *body.inputs()[0], Tensor::Scalar<int64_t>(round)),
                     AsDeclared(b, *body.inputs()[1], Tensor::Scalar<bool>(true))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const auto results = AppendRound(b, body, inputs);
    if (!results) return std::nullopt;
    for (size_t i = 0; i < carried; ++i) state[i] = (*results)[1 + i];
    for (size_t i = 0; i < stacks.size(); ++i) stacks[i].push_back((*results)[1 + carried + i]);
  }
  for (size_t i = 0; i < stacks.size(); ++i) {
    state.push_back(node.output(carried + i) ? Stacked(b, stacks[i], 0) : nullptr);
  }
  return state;
}

}  // namespace x2ir
