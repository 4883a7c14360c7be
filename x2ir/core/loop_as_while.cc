#include "x2ir/core/loop_as_while.h"

#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
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
  const Value* next = body.outputs()[0];
  while (next->producer() && next->producer()->Is("identity")) next = next->producer()->input(0);
  return next != body.inputs()[1] && !IsKnownTrue(next);
}

Value* ScalarOf(NodeWriter& w, Value* v) {
  return v->shape() && v->shape()->rank() == 0 ? v : w.Reshape(v, {});
}

// The same in a nested graph.
Value* ScalarIn(Builder& b, Value* v) {
  return v->shape() && v->shape()->rank() == 0 ? v : b.Op("reshape", {v, b.Ints({})});
}

}  // namespace

LoopAsWhile::LoopAsWhile(NodeWriter& w)
    : w_(&w),
      body_(&w.attrs().SubGraph("body")),
      carried_(w.num_inputs() > kFirstCarried ? w.num_inputs() - kFirstCarried : 0),
      stacked_(body_->outputs().size() - 1 - carried_),
      asks_(AsksFor(w, *body_)) {}

absl::StatusOr<LoopAsWhile> LoopAsWhile::Of(NodeWriter& w, bool sequences) {
  LoopAsWhile loop(w);
  if (w.has(0)) {
    const auto known = KnownInts(w.in(0));
    if (known && known->size() == 1) loop.rounds_ = std::max<int64_t>((*known)[0], 0);
    loop.limit_ =
        loop.rounds_ ? w.b().Int(*loop.rounds_) : ScalarOf(w, w.Cast(w.in(0), DType::kInt64));
  } else if (!loop.asks_) {
    return CannotExpress("a loop without an end");
  }
  loop.AddStack(w.b().Int(0), Type::Tensor(DType::kInt64, Shape()));
  if (loop.asks_) {
    Value* start = w.has(1) ? w.in(1) : w.b().Constant(Tensor::Scalar<bool>(true));
    loop.AddStack(ScalarOf(w, start), Type::Tensor(DType::kBool, Shape()));
  }
  for (size_t i = 0; i < loop.carried_; ++i) {
    Value* first = w.in(kFirstCarried + i);
    const bool carries = first && (first->type().is_tensor() ||
                                   (sequences && first->type().kind() == Type::kSequence));
    if (!carries) {
      return CannotExpress("a loop that carries what is no tensor",
                           sequences ? " or sequence" : "");
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

absl::StatusOr<std::shared_ptr<Graph>> LoopAsWhile::Condition() const {
  auto graph = std::make_shared<Graph>("cond");
  Builder b(*graph, nullptr);
  const Values inputs = AddInputs(*graph);
  Value* more = nullptr;
  if (limit_) more = b.Op("less", {inputs[0], rounds_ ? b.Int(*rounds_) : limit_});
  if (asks_) more = more ? b.Op("and", {more, inputs[1]}) : b.Op("identity", {inputs[1]});
  graph->AddOutput(more);
  X2IR_RETURN_IF_ERROR(NameMade(b, "more"));
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
  Value* goes_on = asks_ ? inputs[1] : b.Constant(Tensor::Scalar<bool>(true));
  Values given = {as_told(inputs[0], 0), as_told(goes_on, 1)};
  for (size_t i = 0; i < carried_; ++i) given.push_back(inputs[own() + i]);
  const Values results = InlineGraph(b, *body_, given);
  graph->AddOutput(b.Op("add", {inputs[0], b.Int(1)}));
  if (asks_) graph->AddOutput(ScalarIn(b, results[0]));
  for (size_t i = 0; i < carried_; ++i) graph->AddOutput(results[1 + i]);
  for (size_t i = 0; i < stacked_; ++i) {
    Value* stack = inputs[own() + carried_ + i];
    Value* next = put(b, i, stack, results[1 + carried_ + i], inputs[0]);
    graph->AddOutput(next);
  }
  X2IR_RETURN_IF_ERROR(NameMade(b, "round"));
  return graph;
}

}  // namespace x2ir
