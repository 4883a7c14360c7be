// Transposes and numbers as attributes.
#include "x2ir/handlers/oneflow/finish.h"

#include <string_view>
#include <vector>

#include "x2ir/formats/oneflow/schema.h"

namespace x2ir {
namespace {

bool IsOneflow(const Node* node, std::string_view op) {
  return node && node->dialect() == Symbol(oneflow::kDialect) && node->op().view() == op;
}

// Whether a permutation changes the last two axes alone.
bool SwapsLast(const std::vector<int64_t>& perm) {
  const size_t n = perm.size();
  if (n < 2) return false;
  for (size_t i = 0; i + 2 < n; ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return perm[n - 1] == static_cast<int64_t>(n) - 2 && perm[n - 2] == static_cast<int64_t>(n) - 1;
}

void TakeUpTransposes(Graph& graph, Node* node) {
  if (!IsOneflow(node, "matmul") && !IsOneflow(node, "batch_matmul") &&
      !IsOneflow(node, "broadcast_matmul")) {
    return;
  }
  for (size_t i = 0; i < 2; ++i) {
    Value* turned = node->input(i);
    Node* before = turned ? turned->producer() : nullptr;
    if (!IsOneflow(before, "transpose") || before->graph() != &graph) continue;
    if (!SwapsLast(before->attrs().Ints("perm", {}))) continue;
    const Symbol attr(i == 0 ? "transpose_a" : "transpose_b");
    node->SetAttr(attr, node->attrs().Int(attr, 0) == 0 ? 1 : 0);
    node->SetInput(i, before->input(0));
    if (turned->is_unused()) graph.EraseUnused(before);
  }
}

struct ScalarOp {
  std::string_view op, scalar_op;
  bool either;    // the number may be operand 0
  bool negative;  // the number is taken with the other sign
};
constexpr ScalarOp kScalarOps[] = {
    {"broadcast_add", "scalar_add", true, false},
    {"broadcast_sub", "scalar_add", false, true},
    {"broadcast_mul", "scalar_mul", true, false},
    {"broadcast_div", "scalar_div", false, false},
    {"broadcast_pow", "scalar_pow", false, false},
    {"broadcast_equal", "scalar_logical_equal", true, false},
    {"broadcast_greater", "scalar_logical_greater", false, false},
    {"broadcast_greater_equal", "scalar_logical_greater_equal", false, false},
    {"broadcast_less", "scalar_logical_less", false, false},
    {"broadcast_less_equal", "scalar_logical_less_equal", false, false},
};

// A number that an attribute holds exactly: of types that OneFlow's scalar kernels have.
const Tensor* NumberIn(const Value* value) {
  const Tensor* t = value ? value->fixed_constant() : nullptr;
  if (!t || t->rank() != 0 || t->is_sparse()) return nullptr;
  const DType d = t->dtype();
  const bool known = d == DType::kFloat32 || d == DType::kFloat64 || d == DType::kFloat16 ||
                     d == DType::kInt32 || d == DType::kInt64;
  return known ? t : nullptr;
}

void TakeUpNumber(Graph& graph, Node* node) {
  for (const ScalarOp& row : kScalarOps) {
    if (!IsOneflow(node, row.op)) continue;
    const size_t at = !NumberIn(node->input(1)) && row.either ? 0 : 1;
    Value* number = node->input(at);
    const Tensor* t = NumberIn(number);
    Value* other = node->input(1 - at);
    if (!t || !other || NumberIn(other)) return;
    const bool real = IsFloating(t->dtype());
    if (real) {
      const double value = t->AsDouble(0);
      node->SetAttr("has_float_operand", 1);
      node->SetAttr("float_operand", row.negative ? -value : value);
    } else {
      // The least integer has no counterpart of the other sign; it wraps to itself.
      const auto value = static_cast<uint64_t>(t->AsInt(0));
      node->SetAttr("has_int_operand", 1);
      node->SetAttr("int_operand", static_cast<int64_t>(row.negative ? 0 - value : value));
    }
    node->set_op(node->dialect(), row.scalar_op);
    node->SetInputs(std::vector<Value*>{other});
    if (number->is_unused()) graph.RemoveConstant(number);
    return;
  }
}

}  // namespace

absl::Status FinishOneflow(Model& model, const FormatOptions&) {
  Graph& graph = *model.graph;
  for (Node* node : graph.nodes()) {
    TakeUpTransposes(graph, node);
    TakeUpNumber(graph, node);
  }
  return absl::OkStatus();
}

}  // namespace x2ir
