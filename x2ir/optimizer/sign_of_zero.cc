// See sign_of_zero.h. What IEEE 754 says of each op stands in the tables.
#include "x2ir/optimizer/sign_of_zero.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

constexpr size_t kMaxNodes = 64;  // that are looked at

// Ops that give other numbers (an infinity of the other sign, say), or may do so inside.
constexpr std::array<std::string_view, 12> kTell = {
    "bit_cast", "cholesky", "det",        "eigh",  "lu",  "ml_normalizer",
    "pow",      "qr",       "reciprocal", "solve", "svd", "triangular_solve"};
// Of these operand 1 alone: what is divided by.
constexpr std::array<std::string_view, 2> kDivide = {"div", "quantize_linear"};
// Ops that give the same, zeros and all.
constexpr std::array<std::string_view, 9> kForget = {
    "abs", "cos", "cosh", "exp", "hardmax", "log", "log_softmax", "sigmoid", "softmax"};

template <size_t n>
bool Has(const std::array<std::string_view, n>& ops, std::string_view op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

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
  return !def || def->impure() || node.has_subgraphs() || Has(kTell, node.op().view()) ||
         (operand == 1 && Has(kDivide, node.op().view()));
}

bool Forgets(const Node& node, size_t operand) {
  if (Has(kForget, node.op().view())) return true;
  return (node.op() == "add" || node.op() == "sub") && HasNoZero(node.input(1 - operand));
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
