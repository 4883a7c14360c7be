#include "x2ir/ops/work.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "x2ir/ops/einsum.h"

namespace x2ir {
namespace {

// Sizes of operands and results; unknown where a shape is not known.
Dim Elements(const Value* value) {
  return value && value->shape() ? value->shape()->NumElements() : Dim();
}
Dim SizeAt(const Value* value, int64_t axis) {
  const Shape* shape = value ? value->shape() : nullptr;
  if (!shape) return Dim();
  if (axis < 0) axis += shape->rank();
  return axis >= 0 && axis < shape->rank() ? (*shape)[axis] : Dim();
}
Dim ElementsFrom(const Value* value, int64_t axis) {
  const Shape* shape = value ? value->shape() : nullptr;
  return shape && axis <= shape->rank() ? shape->NumElements(axis, shape->rank()) : Dim();
}

}  // namespace

Dim WorkOfConv(const Node& node, size_t weight) {
  return Elements(node.output(0)) * ElementsFrom(node.input(weight), 1);
}
// Each element of the operand goes to the kernel and the channels of a group: w is [in, out/group,
// kernel...].
Dim WorkOfConvTranspose(const Node& node) {
  return Elements(node.input(0)) * ElementsFrom(node.input(1), 1);
}
Dim WorkOfMatMul(const Node& node) { return Elements(node.output(0)) * SizeAt(node.input(0), -1); }
Dim WorkOfGemm(const Node& node) {
  return Elements(node.output(0)) * SizeAt(node.input(0), node.attrs().Int("transA", 0) ? 0 : 1);
}
// Every step multiplies w and r with the input and the state of each sequence.
Dim WorkOfRecurrent(const Node& node) {
  return SizeAt(node.input(0), 0) * SizeAt(node.input(0), 1) *
         (Elements(node.input(1)) + Elements(node.input(2)));
}

// Of all letters together, as if the sums were not taken apart.
Dim WorkOfEinsum(const Node& node) {
  auto equation = ParseEquation(node.attrs().String("equation", ""));
  std::vector<int64_t> ranks;
  for (const Value* operand : node.inputs()) {
    if (!operand || !operand->shape()) return Dim();
    ranks.push_back(operand->shape()->rank());
  }
  if (equation.ok()) equation = ExpandEllipsis(*std::move(equation), ranks);
  if (!equation.ok() || equation->terms.size() != ranks.size()) return Dim();
  std::map<char, Dim> sizes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string& term = equation->terms[i];
    for (size_t k = 0; k < term.size() && k < static_cast<size_t>(ranks[i]); ++k) {
      const Dim& size = (*node.input(i)->shape())[static_cast<int64_t>(k)];
      const auto [it, is_new] = sizes.emplace(term[k], size);
      if (!is_new && it->second == Dim(1)) it->second = size;
    }
  }
  Dim product(1);
  for (const auto& [letter, size] : sizes) product = product * size;
  return product;
}

// q k^T, and the product with v. Heads lie on an axis of their own, or in the last one.
Dim WorkOfAttention(const Node& node) {
  const Value *q = node.input(0), *v = node.input(2), *y = node.output(0);
  if (!q || !q->shape() || !v || !v->shape() || !y) return Dim();
  const bool apart = q->shape()->rank() == 4;
  const Dim keys = SizeAt(v, -2) + (node.input(5) ? SizeAt(node.input(5), -2) : Dim(0));
  // With heads in the last axis a key is as long as a query, head by head.
  const Dim of_scores = Elements(q) * keys;
  const Dim of_values = apart || y->shape() ? Elements(y) * keys : Dim();
  return of_scores + of_values;
}

}  // namespace x2ir
