#include "x2ir/builder/nested.h"

#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

void AddResults(Builder& b, const Values& values) {
  for (Value* value : values) b.graph().AddOutput(b.Op("identity", {value}));
}

namespace {

// One of branches [from, to), halved: conditions are as deep as a number has digits.
Values OneOf(Builder& b, Value* index, const std::vector<std::shared_ptr<Graph>>& branches,
             size_t from, size_t to) {
  const auto half = [&](size_t begin, size_t end) -> std::shared_ptr<Graph> {
    if (end - begin == 1) return branches[begin];
    auto graph = std::make_shared<Graph>("branches");
    Builder inner(*graph, nullptr);
    AddResults(inner, OneOf(inner, index, branches, begin, end));
    if (!inner.status().ok()) b.Fail(inner.status());
    return graph;
  };
  const size_t middle = from + (to - from) / 2;
  Value* cond = b.Op("less", {index, b.Int(static_cast<int64_t>(middle))});
  return b.Ops("if", {cond},
               {{"then_branch", half(from, middle)}, {"else_branch", half(middle, to)}},
               branches[0]->outputs().size());
}

}  // namespace

Values BranchOf(Builder& b, Value* index, const std::vector<std::shared_ptr<Graph>>& branches) {
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  Value* outside =
      b.Op("or", {b.Op("less", {index, b.Int(0)}), b.Op("greater", {index, b.Int(last)})});
  Value* inside = b.Op("where", {outside, b.Int(last), index});
  return OneOf(b, inside, branches, 0, branches.size());
}

LoopBody::LoopBody() : graph_(std::make_shared<Graph>("body")), b_(*graph_, nullptr) {
  graph_->AddInput("iteration", Type::Tensor(DType::kInt64, Shape()));
  graph_->AddInput("condition", Type::Tensor(DType::kBool, Shape()));
}

Value* LoopBody::Carry(Value* first, std::string_view name, Type type) {
  first_.push_back(first);
  return graph_->AddInput(std::string(name), std::move(type));
}

absl::StatusOr<Values> LoopBody::Loop(Builder& outside, Value* rounds, Value* starts,
                                      Value* goes_on, const Values& results) {
  AddResults(b_, {goes_on});
  AddResults(b_, results);
  X2IR_RETURN_IF_ERROR(b_.status());
  std::vector<Value*> operands = {rounds, starts};
  operands.insert(operands.end(), first_.begin(), first_.end());
  return outside.Ops("loop", std::move(operands), {{"body", graph_}}, results.size());
}

}  // namespace x2ir
