#include "x2ir/optimizer/retype.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

const NumberRule* RuleOf(const Node& node) {
  const OpDef* op = FindOp(node.op());
  return op && op->numbers().use != NumberUse::kFixed ? &op->numbers() : nullptr;
}

bool Selected(uint32_t mask, size_t i) { return (mask >> std::min<size_t>(i, 31)) & 1; }

// Binary digits that a type has for integers: all whole numbers of that many fit.
int Digits(DType t) {
  switch (t) {
    case DType::kFloat64: return 53;
    case DType::kFloat32: return 24;
    case DType::kFloat16: return 11;
    case DType::kBFloat16: return 8;
    case DType::kBool: return 1;
    default: return IsInteger(t) ? BitWidth(t) - (IsSignedInt(t) ? 1 : 0) : 0;
  }
}

}  // namespace

bool HoldsEvery(DType to, DType from) {
  if (to == from) return true;
  if (IsFloating(from)) {
    if (to == DType::kFloat64) return true;
    if (to == DType::kFloat32) return from != DType::kFloat64;
    return to == DType::kFloat16 && BitWidth(from) <= 8 && from != DType::kFloat8E8M0;
  }
  if (!IsInteger(from) && from != DType::kBool) return false;
  if (IsSignedInt(from) && IsUnsignedInt(to)) return false;
  return Digits(to) >= Digits(from);
}

namespace {

bool MayStandIn(DType to, DType from, NumberUse use) {
  const bool integers = IsInteger(to) && IsInteger(from);
  if (IsFloating(from) && use > NumberUse::kCompares) {
    return BitWidth(from) <= 16 && (to == DType::kFloat32 || to == DType::kFloat64);
  }
  switch (use) {
    case NumberUse::kMoves:
      return HoldsEvery(to, from) || (integers && BitWidth(to) >= BitWidth(from));
    case NumberUse::kCompares: return HoldsEvery(to, from);
    case NumberUse::kWraps: return integers && BitWidth(to) >= BitWidth(from);
    case NumberUse::kComputes: return integers && HoldsEvery(to, from);
    case NumberUse::kFloatOnly:
    case NumberUse::kFixed: return false;
  }
  return false;
}

DType ElementType(const Node& node, const NumberRule& rule) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (Selected(rule.operands, i) && node.input(i)) return node.input(i)->dtype();
  }
  return DType::kUndefined;
}

absl::StatusOr<Value*> Cast(Builder& b, Value* value, DType to) {
  if (const Tensor* tensor = value->fixed_constant(); tensor && !tensor->is_sparse()) {
    X2IR_ASSIGN_OR_RETURN(Tensor cast, CastTensor(*tensor, to, /*saturate=*/false));
    return b.Constant(std::move(cast));
  }
  // Saturation would make an infinity of float8 finite.
  const bool small_float = IsFloating(to) && BitWidth(to) <= 8;
  return b.Op("cast", {value}, {{"to", Name(to)}, {"saturate", small_float ? 0 : 1}});
}

}  // namespace

std::vector<DType> StandInTypes(const Node& node) {
  // Types that runtimes support for most ops come first.
  constexpr DType kTypes[] = {DType::kInt32,   DType::kFloat32, DType::kInt64,
                              DType::kFloat64, DType::kUInt8,   DType::kInt8,
                              DType::kUInt32,  DType::kUInt64,  DType::kFloat16};
  const NumberRule* rule = RuleOf(node);
  if (!rule || (rule->except && rule->except(node))) return {};
  const DType from = ElementType(node, *rule);
  if (!IsFloating(from) && !IsInteger(from) && from != DType::kBool) return {};
  std::vector<DType> types;
  for (const DType to : kTypes) {
    if (to != from && MayStandIn(to, from, rule->use)) types.push_back(to);
  }
  // Weights of few bits that are only moved should not become much larger.
  if (BitWidth(from) < 8 && rule->use == NumberUse::kMoves) {
    std::stable_partition(types.begin(), types.end(),
                          [&](DType t) { return BitWidth(t) == 8 && HoldsEvery(t, from); });
  }
  return types;
}

absl::StatusOr<Values> InStandInType(Rewrite& r, DType type) {
  const NumberRule* rule = RuleOf(r.node);
  if (!rule) return Internal(r.node.op().str(), " has no substitute types");
  const DType from = ElementType(r.node, *rule);
  std::vector<Value*> operands = r.node.inputs();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i] || !Selected(rule->operands, i) || operands[i]->dtype() != from) continue;
    X2IR_ASSIGN_OR_RETURN(operands[i], Cast(r.b, operands[i], type));
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  Values values = r.b.Ops(r.node.op(), std::move(operands), r.attrs(), wanted);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i] || !Selected(rule->results, i) || r.node.output(i)->dtype() != from) continue;
    X2IR_ASSIGN_OR_RETURN(values[i], Cast(r.b, values[i], from));
  }
  return values;
}

}  // namespace x2ir
