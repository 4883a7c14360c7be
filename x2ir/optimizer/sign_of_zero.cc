// See sign_of_zero.h. Each op says itself what it does with zeros (OpDef::Zeros).
#include "x2ir/optimizer/sign_of_zero.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

constexpr size_t kMaxNodes = 64;  // that are looked at

// Whether no element is 0.
bool HasNoZero(const Value* value) {
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || tensor->num_elements() > 4096) return false;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    if (tensor->AsDouble(i) == 0) return false;
  }
  return true;
}

bool Tells(const Node& node, size_t operand) {
  const OpDef* def = node.is_ir() ? FindOp(node.op()) : nullptr;
  return !def || def->impure() || node.has_subgraphs() || def->zeros() == ZeroUse::kTells ||
         (operand == 1 && def->zeros() == ZeroUse::kTellsOfOperand1);
}

bool Forgets(const Node& node, size_t operand) {
  const ZeroUse use = FindOp(node.op())->zeros();
  return use == ZeroUse::kForgets ||
         (use == ZeroUse::kForgetsInSum && HasNoZero(node.input(1 - operand)));
}

}  // namespace

bool SignOfZeroMatters(const Value& value) {
  std::vector<const Value*> todo = {&value};
  absl::flat_hash_set<const Value*> seen = {&value};
  while (!todo.empty()) {
    const Value& next = *todo.back();
    todo.pop_back();
    if (!IsFloating(next.dtype())) {
      // Comparisons and casts to integers tell no zeros apart. Text does; what is not known may.
      if (IsInteger(next.dtype()) || next.dtype() == DType::kBool) continue;
      return true;
    }
    if (next.is_graph_output() && next.graph()->parent_node()) return true;
    for (const Use& use : next.uses()) {
      if (Tells(*use.node, use.index)) return true;
      if (Forgets(*use.node, use.index)) continue;
      for (const Value* output : use.node->outputs()) {
        if (!output || !seen.insert(output).second) continue;
        if (seen.size() > kMaxNodes) return true;
        todo.push_back(output);
      }
    }
  }
  return false;
}

}  // namespace x2ir
