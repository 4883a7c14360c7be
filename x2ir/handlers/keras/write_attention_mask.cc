// Keras, written: masks of attention.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/write_attention_parts.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/match.h"

namespace x2ir {
namespace {

class ConstantComputer {
 public:
  static std::optional<Tensor> Of(const Value* mask) { return ConstantComputer().Compute(mask, 0); }

 private:
  static constexpr int kMostNodes = 256, kDeepest = 64;
  static constexpr int64_t kMostElements = int64_t{1} << 22;

  std::optional<Tensor> Compute(const Value* value, int depth) {
    if (const Tensor* tensor = DenseConstant(value)) return *tensor;
    const Node* node = value ? value->producer() : nullptr;
    const OpDef* def = node && node->is_ir() ? FindOp(node->op()) : nullptr;
    const Dim count = value && value->shape() ? value->shape()->NumElements() : Dim();
    if (!def || def->impure() || def->heavy() || node->num_inputs() == 0 ||
        !node->subgraphs().empty() || node->num_outputs() != 1 || !count.is_static() ||
        count.value() > kMostElements || depth > kDeepest || ++nodes_ > kMostNodes) {
      return std::nullopt;
    }
    std::vector<Datum> operands;
    for (const Value* operand : node->inputs()) {
      auto tensor = operand ? Compute(operand, depth + 1) : std::nullopt;
      if (operand && !tensor) return std::nullopt;
      operands.push_back(operand ? Datum(*std::move(tensor)) : Datum());
    }
    const auto results = EvalNode(*node, std::move(operands), nullptr);
    const Tensor* tensor = results.ok() && !results->empty() ? (*results)[0].tensor() : nullptr;
    return tensor ? std::optional(*tensor) : std::nullopt;
  }

  int nodes_ = 0;
};

// 0, 1, .. along an axis of a matrix.
bool CountsAlong(const Value* value, int64_t other_axis) {
  const Node* unsqueeze = MadeBy(value, "unsqueeze");
  const Node* range = unsqueeze ? MadeBy(unsqueeze->input(0), "range") : nullptr;
  if (!range || !IsOfRank(value, 2) || DimAt(value, other_axis) != Dim(1)) return false;
  const Tensor *first = DenseConstant(range->input(0)), *step = DenseConstant(range->input(2));
  return first && step && IsInteger(first->dtype()) && first->AsInt(0) == 0 && step->AsInt(0) == 1;
}

}  // namespace

std::optional<Tensor> ComputedConstant(const Value* value) { return ConstantComputer::Of(value); }

void ScoreMasks::Add(Value* mask, const Dim& queries, const Dim& keys) {
  std::vector<Value*> left = {mask};
  std::set<const Value*> seen;  // "and" of one mask twice is that mask
  while (!left.empty()) {
    Value* one = left.back();
    left.pop_back();
    if (!seen.insert(one).second) continue;
    if (const Node* both = MadeBy(one, "and")) {
      left.push_back(both->input(1));
      left.push_back(both->input(0));
    } else {
      AddOne(one, queries, keys);
    }
  }
}

void ScoreMasks::AddOne(Value* mask, const Dim& queries, const Dim& keys) {
  const Node* unsqueeze = MadeBy(mask, "unsqueeze");
  Value* flat = unsqueeze ? unsqueeze->input(0) : nullptr;
  if (IsOfRank(mask, 3) && IsOfRank(flat, 2)) {
    const Node* order = MadeBy(flat, "less_or_equal");
    if (order && DimAt(mask, 0) == Dim(1) && CountsAlong(order->input(0), 0) &&
        CountsAlong(order->input(1), 1) && ProvablyEqual(DimAt(flat, 0), queries) &&
        ProvablyEqual(DimAt(flat, 1), keys)) {
      causal = true;
      return;
    }
    // Releases differ in whether they take a mask of queries: it is one of all scores.
    if (DimAt(mask, 1) == Dim(1) && ProvablyEqual(DimAt(flat, 1), keys)) {
      Value*& place = of_values ? of_keys : of_values;
      if (!place) {
        place = flat;
        return;
      }
    }
  }
  others.push_back(mask);
}

Value* MaskOfAddend(const Value* addend) {
  const Node* product = MadeBy(addend, "mul");
  const auto number = product ? Pattern::NumberOperand(*product) : std::nullopt;
  if (!number) return nullptr;
  const double closed = addend->dtype() == DType::kFloat16 ? -3e4 : -1e9;
  const Node* cast = MadeBy(number->other, "cast");
  const Node* no = cast ? MadeBy(cast->input(0), "not") : nullptr;
  return no && number->number <= closed ? no->input(0) : nullptr;
}

}  // namespace x2ir
