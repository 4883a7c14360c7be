// gemm: products of matrices as gemm, where the target has it and it saves a node.
//  1. A transpose of an operand of gemm becomes transA or transB.
//  2. matmul of matrices and an add to it are one gemm, as are a gemm without a third operand and
//     an add, where what is added broadcasts to the result without changing its shape.
//  3. matmul of matrices, one of them a transpose without other users, is a gemm.
//  4. A transpose of such a product, which has no other user, is the product of its operands'
//     transposes the other way round, where there is no third operand or a number only.
// Only floats: runtimes have gemm of integers rarely.
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(gemm, "Products of matrices with transposes and additions become gemm.");

// The matrix whose transpose this is.
Value* TransposeOf(const Pattern& pattern, const Value* value, bool only) {
  const Node* node = only ? pattern.OnlyBy(value, "transpose") : pattern.By(value, "transpose");
  if (!node || !IsMatrix(node->input(0))) return nullptr;
  const std::vector<int64_t> perm = node->attrs().Ints("perm", {1, 0});
  return perm == std::vector<int64_t>{1, 0} ? node->input(0) : nullptr;
}

absl::StatusOr<bool> TakeTransposes(Rewriter& r) {
  const Pattern pattern(r);
  std::vector<Value*> operands = r.node().inputs();
  AttributeMap attrs = r.attrs();
  bool changed = false;
  for (size_t i : {0, 1}) {
    Value* matrix = TransposeOf(pattern, operands[i], /*only=*/false);
    if (!matrix) continue;
    const char* name = i == 0 ? "transA" : "transB";
    attrs.Set(name, r.attrs().Int(name) != 0 ? 0 : 1);
    operands[i] = matrix;
    changed = true;
  }
  if (!changed) return false;
  return r.Replace(r.b().Op("gemm", operands, attrs));
}
X2IR_RULE(gemm, gemm, TakeTransposes, {"transpose"});

// Whether c broadcasts to the result of a gemm and leaves its shape.
bool BroadcastsTo(const Value* c, const Value* result) {
  const Shape *from = c->shape(), *to = result->shape();
  if (!from || !to || from->rank() > to->rank()) return false;
  for (int64_t i = 0; i < from->rank(); ++i) {
    const Dim& dim = (*from)[i];
    if (dim != Dim(1) && !ProvablyEqual(dim, (*to)[to->rank() - from->rank() + i])) return false;
  }
  return true;
}

absl::StatusOr<bool> TakeAdd(Rewriter& r) {
  const Pattern pattern(r);
  for (size_t i : {0, 1}) {
    Value *product = r.in(i), *c = r.in(1 - i);
    if (!IsFloating(product->dtype()) || !BroadcastsTo(c, product)) continue;
    AttributeMap attrs;
    const Node* node = pattern.OnlyBy(product, "gemm");
    if (node && !node->input(2)) {
      attrs = node->attrs();
      attrs.Set("beta", 1.0f);
    } else {
      node = pattern.OnlyBy(product, "matmul");
      if (!node || !IsMatrix(node->input(0)) || !IsMatrix(node->input(1)) ||
          !r.context().Has("gemm", product->dtype())) {
        continue;
      }
    }
    return r.Become("gemm", {node->input(0), node->input(1), c}, std::move(attrs));
  }
  return false;
}
X2IR_RULE(gemm, add, TakeAdd, {"gemm", "matmul"});

absl::StatusOr<bool> TransposedMatMul(Rewriter& r) {
  const Pattern pattern(r);
  std::vector<Value*> operands = r.node().inputs();
  if (!IsFloating(r.out()->dtype()) || !IsMatrix(operands[0]) || !IsMatrix(operands[1]) ||
      !r.context().Has("gemm", r.out()->dtype())) {
    return false;
  }
  AttributeMap attrs;
  for (size_t i : {0, 1}) {
    Value* matrix = TransposeOf(pattern, operands[i], /*only=*/true);
    if (!matrix) continue;
    attrs.Set(i == 0 ? "transA" : "transB", 1);
    operands[i] = matrix;
  }
  if (attrs.empty()) return false;
  return r.Replace(r.b().Op("gemm", operands, attrs));
}
X2IR_RULE(gemm, matmul, TransposedMatMul, {"transpose"});

absl::StatusOr<bool> TransposeOfProduct(Rewriter& r) {
  const Pattern pattern(r);
  const Value* product = r.in(0);
  const Node* node = pattern.OnlyBy(product, "gemm");
  if (!node) node = pattern.OnlyBy(product, "matmul");
  if (!node || !TransposeOf(pattern, r.out(), /*only=*/false) || !IsFloating(product->dtype()) ||
      !IsMatrix(node->input(0)) || !IsMatrix(node->input(1)) ||
      !r.context().Has("gemm", product->dtype())) {
    return false;
  }
  // What is added to each column would have to be added to each row.
  const Value* c = node->input(2);
  if (c && !(c->shape() && c->shape()->NumElements() == Dim(1))) return false;
  AttributeMap attrs = node->attrs();
  attrs.Set("transA", node->attrs().Int("transB", 0) != 0 ? 0 : 1);
  attrs.Set("transB", node->attrs().Int("transA", 0) != 0 ? 0 : 1);
  std::vector<Value*> operands = {node->input(1), node->input(0)};
  if (c) operands.push_back(node->input(2));
  return r.Replace(r.b().Op("gemm", operands, attrs));
}
X2IR_RULE(gemm, transpose, TransposeOfProduct, {"gemm", "matmul"});

}  // namespace
}  // namespace x2ir
