// StableHLO, written: branches and loops. Their regions use outer values as they are.
#include <memory>
#include <utility>

#include "x2ir/core/loop_as_while.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using GraphPtr = std::shared_ptr<Graph>;

absl::StatusOr<std::vector<Type>> TensorTypes(absl::Span<const Value* const> values) {
  std::vector<Type> types;
  for (const Value* value : values) {
    if (!value->type().is_tensor() || !value->shape()) {
      return CannotExpress("values that are no tensors of known rank");
    }
    types.push_back(value->type());
  }
  return types;
}

absl::StatusOr<Values> ToIf(StablehloWriter& w) {
  std::vector<GraphPtr> branches;
  for (const char* name : {"then_branch", "else_branch"}) {
    const Graph& branch = w.attrs().SubGraph(name);
    if (!branch.inputs().empty()) return CannotExpress("branches with inputs");
    branches.push_back(branch.Clone());
  }
  const Graph& first = *branches[0];
  X2IR_ASSIGN_OR_RETURN(std::vector<Type> types, TensorTypes(first.outputs()));
  // Both branches give results of one type.
  const Graph& second = *branches[1];
  for (size_t i = 0; i < types.size(); ++i) {
    if (second.outputs()[i]->type() == types[i]) continue;
    return CannotExpress("branches that give different shapes");
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  Value* cond = rank == 0 ? w.in(0) : w.Reshape(w.in(0), {});
  return w.HloAll("if", {cond}, {{"true_branch", branches[0]}, {"false_branch", branches[1]}},
                  std::vector<bool>(types.size(), true), types);
}

// --- Loops --------------------------------------------------------------------------------------

// A tensor that the results of a known number of rounds are put into.
absl::Status AddHloStack(StablehloWriter& w, LoopAsWhile& loop, size_t i) {
  if (!loop.rounds() || loop.asks()) return CannotExpress("results of an unknown number of rounds");
  const Type& each = loop.added(i).type();
  const auto sizes = each.is_tensor() && each.shape() ? each.shape()->Static() : std::nullopt;
  if (!sizes) return CannotExpress("rounds that give unknown sizes");
  std::vector<int64_t> stacked = {*loop.rounds()};
  stacked.insert(stacked.end(), sizes->begin(), sizes->end());
  Value* zero = w.b().Constant(Tensor::Zeros(each.dtype(), {}));
  loop.AddStack(
      w.Op("expand", {zero, w.Ints(stacked)}),
      Type::Tensor(each.dtype(), Shape(std::vector<Dim>(stacked.begin(), stacked.end()))));
  return absl::OkStatus();
}

Value* PutIntoHloStack(Builder& b, size_t, Value* stack, Value* added, Value* round) {
  Values operands = {stack, b.Op("unsqueeze", {added, b.Ints({0})}), round};
  for (int64_t k = 1; k < stack->shape()->rank(); ++k) operands.push_back(b.Int(0));
  Value* put = b.Node(StablehloDialect::kName, "dynamic_update_slice", operands, {}, {true})[0];
  put->set_type(stack->type());
  return put;
}

absl::StatusOr<Values> ToWhile(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(LoopAsWhile loop, LoopAsWhile::Of(w, {}));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Type> first_types,
                        TensorTypes(absl::MakeConstSpan(loop.first().data(), loop.first().size())));
  for (size_t i = 0; i < loop.carried(); ++i) {
    const Type& first = first_types[loop.own() + i];
    const Type& next = loop.next(i).type();
    if (next == first && loop.types()[loop.own() + i] == first) continue;
    return CannotExpress("a variable whose shape changes from round to round");
  }
  for (size_t i = 0; i < loop.stacked(); ++i) X2IR_RETURN_IF_ERROR(AddHloStack(w, loop, i));
  X2IR_ASSIGN_OR_RETURN(const GraphPtr cond, loop.Condition());
  X2IR_ASSIGN_OR_RETURN(const GraphPtr step, loop.Body(PutIntoHloStack));
  const Values all = w.HloAll("while", loop.first(), {{"cond", cond}, {"body", step}},
                              std::vector<bool>(loop.types().size(), true), loop.types());
  return Values(all.begin() + static_cast<ptrdiff_t>(loop.own()), all.end());
}

}  // namespace

X2IR_STABLEHLO(if).To("if", ToIf);
X2IR_STABLEHLO(loop).To("while", ToWhile);

}  // namespace x2ir
