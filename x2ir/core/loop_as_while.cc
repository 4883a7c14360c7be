#include "x2ir/core/loop_as_while.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/builder/node_marks.h"
#include "x2ir/core/loop_condition_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

constexpr size_t kFirstCarried = 2;  // after the number of rounds and the condition

bool IsKnownTrue(const Value* v) {
  const auto known = KnownTensor(*v);
  return known && known->num_elements() == 1 && known->AsInt(0) != 0;
}

// Whether the condition can ever be false.
bool AsksFor(const NodeWriter& w, const Graph& body) {
  if (w.has(1) && !IsKnownTrue(w.in(1))) return true;
  const Value* next = WithoutIdentities(body.outputs()[0]);
  return next != body.inputs()[1] && !IsKnownTrue(next);
}

// What exporters say where only a condition ends the loop.
bool IsNoLimit(const Value* limit) {
  const auto known = KnownInts(limit);
  return known && known->size() == 1 && (*known)[0] == std::numeric_limits<int64_t>::max();
}

Value* ScalarOf(NodeWriter& w, Value* v) {
  return v->shape() && v->shape()->rank() == 0 ? v : w.Reshape(v, {});
}

// What only the condition of the next round needed is not a part of the round.
void EraseUnusedNodes(Graph& graph) {
  const auto is_unused = [](const Value* output) { return !output || output->is_unused(); };
  std::vector<Node*> nodes;
  for (Node* node : graph.nodes()) nodes.push_back(node);
  for (size_t i = nodes.size(); i-- > 0;) {
    const OpDef* op = nodes[i]->is_ir() ? FindOp(nodes[i]->op()) : nullptr;
    const auto outputs = nodes[i]->outputs();
    const bool unused = std::all_of(outputs.begin(), outputs.end(), is_unused);
    if (unused && op && !op->impure()) graph.EraseUnused(nodes[i]);
  }
}

absl::Status Finish(const Builder& b, Graph& graph, std::string_view hint) {
  X2IR_RETURN_IF_ERROR(b.status());
  EraseUnusedNodes(graph);
  for (Node* node : graph.nodes()) graph.NameValues(node, hint);
  return absl::OkStatus();
}

}  // namespace

void MarkOwnConditions(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) MarkOwnConditions(*inner);
    if (!node->Is("loop")) continue;
    auto condition = LoopCondition::Of(*node);
    MarkNode(*node, NodeMark::kOwnCondition, condition && condition->IsFirst());
  }
}

LoopAsWhile::LoopAsWhile(NodeWriter& w, bool is_scalar)
    : body_(&w.attrs().SubGraph("body")),
      carried_(w.num_inputs() > kFirstCarried ? w.num_inputs() - kFirstCarried : 0),
      stacked_(body_->outputs().size() - 1 - carried_),
      is_scalar_(is_scalar),
      asks_(AsksFor(w, *body_)) {}

absl::StatusOr<LoopAsWhile> LoopAsWhile::Of(NodeWriter& w, Allowed allowed) {
  LoopAsWhile loop(w, allowed.scalar_condition);
  if (w.has(0) && !(loop.asks_ && IsNoLimit(w.in(0)))) {
    const auto known = KnownInts(w.in(0));
    if (known && known->size() == 1) loop.rounds_ = std::max<int64_t>((*known)[0], 0);
    loop.limit_ =
        loop.rounds_ ? w.b().Int(*loop.rounds_) : ScalarOf(w, w.Cast(w.in(0), DType::kInt64));
  } else if (!loop.asks_) {
    return CannotExpress("a loop without an end");
  }
  loop.counts_ = loop.limit_ || !loop.body_->inputs()[0]->is_unused();
  const bool own = loop.asks_ && IsMarked(w.node(), NodeMark::kOwnCondition);
  if (auto condition = own ? LoopCondition::Of(w.node()) : std::nullopt) {
    loop.condition_ = std::make_shared<const LoopCondition>(*std::move(condition));
  }
  if (loop.counts_) loop.AddStack(w.b().Int(0), Type::Tensor(DType::kInt64, Shape()));
  if (loop.keeps_condition()) {
    Value* start = w.has(1) ? w.in(1) : w.b().Constant(Tensor::Scalar<bool>(true));
    loop.AddStack(allowed.scalar_condition ? start : ScalarOf(w, start),
                  Type::Tensor(DType::kBool, Shape()));
  }
  for (size_t i = 0; i < loop.carried_; ++i) {
    Value* first = w.in(kFirstCarried + i);
    const bool carries = first && (first->type().is_tensor() ||
                                   (allowed.sequences && first->type().kind() == Type::kSequence));
    if (!carries) {
      return CannotExpress("a loop that carries what is no tensor",
                           allowed.sequences ? " or sequence" : "");
    }
    // As the body sees it in every round.
    loop.AddStack(first, loop.body_->inputs()[kFirstCarried + i]->type());
  }
  return loop;
}

Values LoopAsWhile::AddInputs(Graph& graph) const {
  Values inputs;
  for (size_t i = 0; i < types_.size(); ++i) {
    inputs.push_back(graph.AddInput(StrCat("variable_", i), types_[i]));
  }
  return inputs;
}

Values LoopAsWhile::CarriedOf(const Values& inputs) const {
  const auto first = inputs.begin() + static_cast<ptrdiff_t>(own());
  return {first, first + static_cast<ptrdiff_t>(carried_)};
}

// A condition, in a nested graph.
Value* LoopAsWhile::Scalar(Builder& b, Value* v) const {
  const bool is_scalar = v->shape() ? v->shape()->rank() == 0 : is_scalar_;
  return is_scalar ? v : b.Op("reshape", {v, b.Ints({})});
}

absl::StatusOr<std::shared_ptr<Graph>> LoopAsWhile::Condition() const {
  auto graph = std::make_shared<Graph>("cond");
  Builder b(*graph, nullptr);
  const Values inputs = AddInputs(*graph);
  Value* more = nullptr;
  if (limit_) more = b.Op("less", {inputs[0], rounds_ ? b.Int(*rounds_) : limit_});
  if (asks_) {
    Value* goes_on = condition_ ? Scalar(b, condition_->Copy(b, CarriedOf(inputs)))
                                : b.Op("identity", {inputs[own() - 1]});
    more = more ? b.Op("and", {more, goes_on}) : goes_on;
  }
  graph->AddOutput(more);
  X2IR_RETURN_IF_ERROR(Finish(b, *graph, "more"));
  return graph;
}

absl::StatusOr<std::shared_ptr<Graph>> LoopAsWhile::Body(const PutFn& put) const {
  auto graph = std::make_shared<Graph>("body");
  Builder b(*graph, nullptr);
  const Values inputs = AddInputs(*graph);
  const auto as_told = [&](Value* v, size_t i) {
    const Shape* told = body_->inputs()[i]->shape();  // some bodies take tensors of rank 1
    return told && told->rank() == 1 ? b.Op("reshape", {v, b.Ints({1})}) : v;
  };
  // There is no round where the condition is false.
  Value* round = counts_ ? inputs[0] : b.Int(0);
  Values given = {as_told(round, 0), as_told(b.Constant(Tensor::Scalar<bool>(true)), 1)};
  for (Value* carried : CarriedOf(inputs)) given.push_back(carried);
  const Values results = InlineGraph(b, *body_, given);
  if (counts_) graph->AddOutput(b.Op("add", {round, b.Int(1)}));
  if (keeps_condition()) graph->AddOutput(Scalar(b, results[0]));
  for (size_t i = 0; i < carried_; ++i) graph->AddOutput(results[1 + i]);
  for (size_t i = 0; i < stacked_; ++i) {
    Value* stack = inputs[own() + carried_ + i];
    graph->AddOutput(put(b, i, stack, results[1 + carried_ + i], counts_ ? inputs[0] : nullptr));
  }
  X2IR_RETURN_IF_ERROR(Finish(b, *graph, "round"));
  return graph;
}

}  // namespace x2ir
