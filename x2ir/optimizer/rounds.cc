#include "x2ir/optimizer/rounds.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/identities.h"
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
  const Value* cond = WithoutIdentities(body.outputs()[0]);
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

// The integer of one element that is the same in every run.
std::optional<int64_t> FixedNumber(const Value* value) {
  const auto ints = KnownInts(value);
  if (ints && ints->size() == 1) return (*ints)[0];
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || tensor->num_elements() != 1 ||
      !IsInteger(tensor->dtype()) || BitWidth(tensor->dtype()) < 8) {
    return std::nullopt;
  }
  return tensor->AsInt(0);
}

bool HasOneElement(const Value& value) {
  const Shape* shape = value.shape();
  return shape && std::all_of(shape->dims().begin(), shape->dims().end(),
                              [](const Dim& dim) { return dim == Dim(1); });
}

// Whether a type holds all of the numbers.
bool Holds(DType type, const RoundNumber& n) {
  if (!IsSignedInt(type) || BitWidth(type) < 8) return false;
  const int64_t most = BitWidth(type) == 64 ? INT64_MAX : (int64_t{1} << (BitWidth(type) - 1)) - 1;
  return n.low >= -most - 1 && n.high <= most;
}

// n of value + n or n + value, where `of` is the value.
std::optional<int64_t> AddedTo(const Value* of, const Value* sum) {
  if (sum == of) return 0;
  const Node* add = sum ? sum->producer() : nullptr;
  if (!add || !add->Is("add")) return std::nullopt;
  for (const size_t i : {0, 1}) {
    if (WithoutIdentities(add->input(i)) == of) return FixedNumber(add->input(1 - i));
  }
  return std::nullopt;
}

// How many rounds there are at most, by a condition after each: `less` of a number that is counted
// and a bound.
std::optional<int64_t> RoundsByComparison(const Node& loop, const Value* condition) {
  const Node* less = condition->producer();
  if (!less || !less->Is("less")) return std::nullopt;
  const Graph& body = loop.attrs().SubGraph("body");
  const auto bound = FixedNumber(less->input(1));
  const Value* number = WithoutIdentities(less->input(0));
  if (!bound) return std::nullopt;
  for (size_t i = 0; kLoopCarriedFrom + i < loop.num_inputs(); ++i) {
    const auto start = CountedFromNumber(loop, i);
    const auto added = start ? AddedTo(body.inputs()[kLoopCarriedFrom + i], number) : std::nullopt;
    // In round k it is start + added + k. No sum leaves the type before it reaches the bound.
    int64_t first = 0, more = 0;
    if (!added || *added < 0 || *added > 1 || __builtin_add_overflow(*start, *added, &first) ||
        !Holds(number->dtype(), {1, first, first, first}) ||
        __builtin_sub_overflow(*bound, first, &more)) {
      continue;
    }
    return std::max<int64_t>(more, 0) + (more < INT64_MAX ? 1 : 0);
  }
  return std::nullopt;
}

// The same of a condition that is several of them, or the one that the round was given.
std::optional<int64_t> RoundsByCondition(const Node& loop, const Value* condition, int depth = 0) {
  constexpr int kMostDepth = 4;
  condition = WithoutIdentities(condition);
  const Node* both = condition ? condition->producer() : nullptr;
  if (!condition || depth > kMostDepth) return std::nullopt;
  if (condition == loop.attrs().SubGraph("body").inputs()[1] ||
      KnownCondition(*condition) == true) {
    return INT64_MAX;
  }
  if (!both || !both->Is("and")) return RoundsByComparison(loop, condition);
  const auto one = RoundsByCondition(loop, both->input(0), depth + 1);
  const auto other = RoundsByCondition(loop, both->input(1), depth + 1);
  return one && other ? std::optional(std::min(*one, *other)) : std::nullopt;
}

// The greatest number of a round: that of a count which is not known is of its type.
int64_t LastRoundOf(const Node& loop) {
  if (const auto count = RoundsOf(loop)) return std::max<int64_t>(*count - 1, 0);
  const Node* cast = loop.input(0) ? loop.input(0)->producer() : nullptr;
  const bool narrow = cast && cast->Is("cast") && IsSignedInt(cast->input(0)->dtype()) &&
                      BitWidth(cast->input(0)->dtype()) <= 32;
  return narrow ? INT32_MAX - 1 : INT64_MAX;
}

// The number with another one added; nullopt where it may overflow.
std::optional<RoundNumber> PlusNumber(RoundNumber n, int64_t added) {
  if (__builtin_add_overflow(n.offset, added, &n.offset) ||
      __builtin_add_overflow(n.low, added, &n.low) ||
      __builtin_add_overflow(n.high, added, &n.high)) {
    return std::nullopt;
  }
  return n;
}
std::optional<RoundNumber> Negated(const RoundNumber& n) {
  if (n.low == INT64_MIN || n.offset == INT64_MIN) return std::nullopt;
  return RoundNumber{-n.factor, -n.offset, -n.high, -n.low};
}

std::optional<RoundNumber> RoundNumberOf(const Graph& body, const Value* value, int depth) {
  constexpr int kMostNodes = 8;
  if (!value || depth > kMostNodes || !HasOneElement(*value)) return std::nullopt;
  const Node& loop = *body.parent_node();
  if (value == body.inputs()[0]) return RoundNumber{1, 0, 0, LastRoundOf(loop)};
  for (size_t i = 0; value->is_input() && kLoopCarriedFrom + i < loop.num_inputs(); ++i) {
    if (value != body.inputs()[kLoopCarriedFrom + i]) continue;
    const auto first = CountedFromNumber(loop, i);
    const auto n = first ? PlusNumber({1, 0, 0, LastRoundOf(loop)}, *first) : std::nullopt;
    return n && Holds(value->dtype(), *n) ? n : std::nullopt;
  }
  const Node* node = value->producer();
  if (!node || !node->is_ir() || node->graph() != &body) return std::nullopt;
  const auto of = [&](size_t i) { return RoundNumberOf(body, node->input(i), depth + 1); };
  std::optional<RoundNumber> n;
  if (node->Is("add")) {
    for (const size_t i : {0, 1}) {
      const auto number = n ? std::nullopt : FixedNumber(node->input(1 - i));
      if (!number) continue;
      n = of(i);
      if (n) n = PlusNumber(*n, *number);
    }
  } else if (node->Is("sub")) {
    const auto first = FixedNumber(node->input(0)), second = FixedNumber(node->input(1));
    if (second && *second != INT64_MIN) {
      n = of(0);
      if (n) n = PlusNumber(*n, -*second);
    } else if (first) {
      n = of(1);
      if (n) n = Negated(*n);
      if (n) n = PlusNumber(*n, *first);
    }
  } else if (node->Is("cast") || node->Is("identity") || node->Is("unsqueeze") ||
             node->Is("squeeze") || node->Is("reshape")) {
    n = of(0);
  }
  return n && Holds(value->dtype(), *n) ? n : std::nullopt;
}

}  // namespace

std::optional<RoundNumber> RoundNumberOf(const Graph& body, const Value* value) {
  const Node* loop = body.parent_node();
  if (!loop || !loop->Is("loop") || body.inputs().empty()) return std::nullopt;
  return RoundNumberOf(body, value, 0);
}

Dim CountOfRounds(const Node& node) {
  if (const auto rounds = RoundsOf(node)) return Dim(*rounds);
  const Value* trips = node.input(0);
  if (!trips || !trips->elements() || trips->elements()->size() != 1) return Dim();
  if (const Value* cond = node.input(1)) {
    if (KnownCondition(*cond) != true || !StaysTrue(node.attrs().SubGraph("body"))) return Dim();
  }
  return (*trips->elements())[0];
}

std::optional<int64_t> CountedFromNumber(const Node& loop, size_t carried) {
  const Graph& body = loop.attrs().SubGraph("body");
  const Value* before = body.inputs()[kLoopCarriedFrom + carried];
  if (!IsSignedInt(before->dtype()) || !HasOneElement(*before)) return std::nullopt;
  if (AddedTo(before, WithoutIdentities(body.outputs()[1 + carried])) != 1) return std::nullopt;
  return FixedNumber(loop.input(kLoopCarriedFrom + carried));
}

std::optional<int64_t> RoundsOf(const Node& node) {
  const auto trips = KnownInts(node.input(0));
  const bool counted = trips && trips->size() == 1;
  if (counted && (*trips)[0] <= 0) return 0;
  int64_t most = INT64_MAX;
  if (const Value* cond = node.input(1)) {
    const std::optional<bool> starts = KnownCondition(*cond);
    if (starts == false) return 0;
    if (!starts) return std::nullopt;
    const Graph& body = node.attrs().SubGraph("body");
    const auto by_condition = RoundsByCondition(node, body.outputs()[0]);
    if (!by_condition) return std::nullopt;
    most = *by_condition;
  }
  // Of a trip count that is not known, the condition may be the end or not.
  if (counted) return std::min(most, (*trips)[0]);
  return !node.input(0) && most != INT64_MAX ? std::optional(most) : std::nullopt;
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
