// identity, if whose condition is known, loop, scan, and sequence_map.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/inline_graph.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/rounds.h"

namespace x2ir {
namespace {

// Of a type that Identity does not take.
absl::StatusOr<Values> IdentityAsOperand(Rewrite& r) {
  // As an output it would need a copy again.
  if (r.node.output(0)->is_graph_output()) return CannotExpress("it is an output of the graph");
  return Values{r.in(0)};
}
X2IR_LOWERING(identity, IdentityAsOperand);

absl::StatusOr<Values> IfKnownAsBranch(Rewrite& r) {
  const Graph* branch = KnownBranch(r.node);
  if (!branch) return CannotExpress("the condition is not known");
  return InlineGraph(r.b, *branch, {});
}
X2IR_LOWERING(if, IfKnownAsBranch);

// An axis of a tensor, which may count from the end.
absl::StatusOr<int64_t> ScannedAxis(const Value& value, int64_t axis) {
  if (axis == 0) return axis;
  if (!value.shape()) return CannotExpress("an axis that is not the first one, of unknown rank");
  return NormalizeAxis(axis, value.shape()->rank());
}

// Moves the first axis to `to`.
Value* MoveFirst(Builder& b, Value* value, int64_t rank, int64_t to) {
  std::vector<int64_t> perm;
  for (int64_t i = 1; i < rank; ++i) perm.push_back(i);
  perm.insert(perm.begin() + to, 0);
  return b.Op("transpose", {value}, {{"perm", std::move(perm)}});
}

// A loop whose rounds gather the slices, along the axis that they are on: no operand is transposed.
// The number of a slice from the end is an output of the loop where outputs are to be reversed.
absl::StatusOr<Values> ScanAsLoop(Rewrite& r) {
  const AttributeMap& attrs = r.attrs();
  const size_t scans = static_cast<size_t>(attrs.Int("num_scan_inputs"));
  const size_t states = r.node.num_inputs() - scans;
  auto round = std::make_shared<Graph>("scan_round");
  Builder b(*round, nullptr);
  Value* number = round->AddInput("", Type::Tensor(DType::kInt64, Shape()));
  Value* cond = round->AddInput("", Type::Tensor(DType::kBool, Shape()));
  Values operands = {nullptr, r.b.Constant(Tensor::Scalar<bool>(true), "cond")}, inputs;
  for (size_t i = 0; i < states; ++i) {
    operands.push_back(r.in(i));
    inputs.push_back(round->AddInput("", r.in(i)->type()));
  }
  Value* from_end = nullptr;
  for (size_t i = 0; i < scans; ++i) {
    Value* value = r.in(states + i);
    X2IR_ASSIGN_OR_RETURN(const int64_t axis,
                          ScannedAxis(*value, attrs.Ints("scan_input_axes")[i]));
    if (i == 0) {
      Value* dims = r.b.Op("shape", {value});
      operands[0] = r.b.Op("gather", {dims, r.b.Int(axis)}, {{"axis", 0}});
      Value* last = r.b.Op("sub", {operands[0], r.b.Int(1)});
      from_end = b.Op("sub", {last, number});
    }
    const bool reversed = attrs.Ints("scan_input_directions")[i] != 0;
    inputs.push_back(b.Op("gather", {value, reversed ? from_end : number}, {{"axis", axis}}));
  }
  const Values results = InlineGraph(b, attrs.SubGraph("body"), inputs);
  round->AddOutput(cond);
  for (Value* result : results) round->AddOutput(result);
  const std::vector<int64_t>& directions = attrs.Ints("scan_output_directions");
  const bool reverse = std::count(directions.begin(), directions.end(), 1) != 0;
  if (reverse) round->AddOutput(from_end);
  X2IR_RETURN_IF_ERROR(b.status());
  Values outputs =
      r.b.Ops("loop", operands, {{"body", std::move(round)}}, r.num_outputs() + (reverse ? 1 : 0));
  for (size_t i = states; i < r.num_outputs(); ++i) {
    if (!r.node.output(i)) {
      outputs[i] = nullptr;
      continue;
    }
    if (directions[i - states] != 0) {
      outputs[i] = r.b.Op("gather", {outputs[i], outputs.back()}, {{"axis", 0}});
    }
    const Value& stacked = *r.node.output(i);
    X2IR_ASSIGN_OR_RETURN(const int64_t to,
                          ScannedAxis(stacked, attrs.Ints("scan_output_axes")[i - states]));
    if (to != 0) outputs[i] = MoveFirst(r.b, outputs[i], stacked.shape()->rank(), to);
  }
  return outputs;
}
X2IR_LOWERING(scan, ScanAsLoop);

// Until opset 10 a Loop carries at least one value.
absl::StatusOr<Values> LoopThatCarries(Rewrite& r) {
  if (r.node.num_inputs() > 2) return NothingToDo();
  auto round = std::make_shared<Graph>("loop_body");
  Builder b(*round, nullptr);
  const Graph& body = r.attrs().SubGraph("body");
  Values inputs;
  for (const Value* input : body.inputs()) inputs.push_back(round->AddInput("", input->type()));
  Value* carried = round->AddInput("", Type::Tensor(DType::kBool, Shape()));
  Values results = InlineGraph(b, body, inputs);
  results.insert(results.begin() + 1, carried);
  for (Value* result : results) round->AddOutput(result);
  X2IR_RETURN_IF_ERROR(b.status());
  Value* initial = r.b.Constant(Tensor::Scalar<bool>(true), "carried");
  Values outputs = r.b.Ops("loop", {r.in(0), r.in(1), initial}, {{"body", std::move(round)}},
                           r.num_outputs() + 1);
  outputs.erase(outputs.begin());
  return outputs;
}
X2IR_LOWERING(loop, LoopThatCarries);

// For a target that has no loops.
absl::StatusOr<Values> LoopAsRounds(Rewrite& r) {
  if (r.target.Has("loop")) return NothingToDo();
  const std::optional<int64_t> rounds = RoundsOf(r.node);
  if (!rounds) return CannotExpress("how many rounds it has is not known");
  X2IR_RETURN_IF_ERROR(TakeRounds(r.target, r.attrs().SubGraph("body"), *rounds));
  const size_t carried = r.node.num_inputs() - kLoopCarriedFrom;
  std::optional<Values> results;
  if (MayBeRounds(r.node, *rounds, kLoopCarriedFrom, carried, 1)) {
    results = LoopInRounds(r.b, r.node, *rounds);
  }
  if (!results) return CannotExpress("what its rounds hand on is not known");
  return *results;
}
X2IR_LOWERING(loop, LoopAsRounds);

// As ONNX defines it: a loop over the elements' numbers that collects what the body gives.
absl::StatusOr<Values> SequenceMapAsLoop(Rewrite& r) {
  const Graph& body = r.attrs().SubGraph("body");
  std::vector<Value*> operands;
  operands.push_back(r.b.Op("sequence_length", {r.in(0)}));
  operands.push_back(r.b.Constant(Tensor::Scalar<bool>(true), "cond"));
  auto round = std::make_shared<Graph>("sequence_map_body");
  Builder b(*round, nullptr);
  Value* number = round->AddInput("", Type::Tensor(DType::kInt64, Shape()));
  Value* cond = round->AddInput("", Type::Tensor(DType::kBool, Shape()));
  Values collected;
  for (const Value* output : body.outputs()) {
    const DType dtype = output->dtype();
    if (dtype == DType::kUndefined) return CannotExpress("the body's element type is not known");
    operands.push_back(r.b.Op("sequence_empty", {}, {{"dtype", Name(dtype)}}));
    collected.push_back(round->AddInput("", operands.back()->type()));
  }
  Values inputs;
  for (size_t i = 0; i < r.node.num_inputs(); ++i) {
    if (!r.in(i)->type().is_known()) return CannotExpress("operand ", i, " is of unknown type");
    const bool sequence = r.in(i)->type().kind() == Type::kSequence;
    inputs.push_back(sequence ? b.Op("sequence_at", {r.in(i), number}) : r.in(i));
  }
  const Values results = InlineGraph(b, body, inputs);
  round->AddOutput(cond);
  for (size_t i = 0; i < results.size(); ++i) {
    round->AddOutput(b.Op("sequence_insert", {collected[i], results[i]}));
  }
  X2IR_RETURN_IF_ERROR(b.status());
  return r.b.Ops("loop", std::move(operands), {{"body", std::move(round)}}, r.num_outputs());
}
X2IR_LOWERING(sequence_map, SequenceMapAsLoop);

}  // namespace
}  // namespace x2ir
