// Numbers that are quantized and at once dequantized with the same steps, as real arithmetic, which
// the standard has: it has no operators on the integers between them. Its own quantization rounds
// halves away from zero, and not to even.
#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

bool SameNumbers(const Value* x, const Value* y) {
  if (x == y) return true;
  const Tensor *a = x ? SettledTensor(x) : nullptr, *b = y ? SettledTensor(y) : nullptr;
  if (!a || !b || a->type() != b->type() || a->is_sparse() || b->is_sparse()) return false;
  return std::ranges::equal(a->bytes(), b->bytes());
}
const Value* OperandOf(const Node& node, size_t i) {
  return i < node.num_inputs() ? node.input(i) : nullptr;
}
// The node that quantizes what this one dequantizes; null: another one.
Node* QuantizerOf(const Node& node) {
  Node* other = node.input(0) ? node.input(0)->producer() : nullptr;
  if (!other || !other->is_ir() || other->op() != Symbol("quantize_linear")) return nullptr;
  const DType t = node.input(0)->dtype();
  const bool whole =
      t == DType::kInt8 || t == DType::kUInt8 || t == DType::kInt16 || t == DType::kUInt16;
  const auto plain = [](const Node& n) {
    return n.attrs().Int("block_size", 0) == 0 && n.attrs().String("precision", "").empty();
  };
  const auto axis = [](const Node& n) { return n.attrs().Int("axis", 1); };
  const bool same = whole && plain(node) && plain(*other) && axis(node) == axis(*other) &&
                    OperandOf(*other, 0)->dtype() == DType::kFloat32 &&
                    OperandOf(*other, 1)->dtype() == DType::kFloat32 && node.output(0) &&
                    node.output(0)->dtype() == DType::kFloat32 &&
                    SameNumbers(OperandOf(node, 1), OperandOf(*other, 1)) &&
                    SameNumbers(OperandOf(node, 2), OperandOf(*other, 2));
  return same ? other : nullptr;
}

void SpellOutPairs(Graph& graph, NodeNames& names) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) SpellOutPairs(*inner, names);
    if (!node->is_ir() || node->op() != Symbol("dequantize_linear")) continue;
    Node* other = QuantizerOf(*node);
    const Shape* shape = other ? other->input(0)->shape() : nullptr;
    const Value* scale = other ? other->input(1) : nullptr;
    if (!shape || !scale->shape() || scale->shape()->rank() > 1) continue;
    Builder b(graph, node);
    b.set_name_hint(*node);
    QuantizationParams steps{Expr(b, other->input(1)), Expr(nullptr)};
    if (scale->shape()->rank() == 1) {
      const int64_t axis = node->attrs().Int("axis", 1);
      steps.axis = axis < 0 ? axis + shape->rank() : axis;
    }
    const Expr x(b, other->input(0));
    const DType t = node->input(0)->dtype();
    const ValueBounds range = RangeOfInteger(t);
    Expr offset(nullptr);
    if (OperandOf(*node, 2)) {
      offset = PlacedAlong(x, Expr(b, node->input(2)), steps).To(DType::kFloat32);
    }
    const Expr step = PlacedAlong(x, steps.scale, steps);
    Expr q = (x / step).Op("round");
    if (offset.value()) q = q + offset;
    q = Max(Min(q, range.high), range.low);
    if (offset.value()) q = q - offset;
    Splice(node, {(q * step).value()}, b, names);
    if (other->output(0)->uses().empty() && !other->output(0)->is_graph_output()) {
      EraseWithConstants(other);
    }
  }
}

}  // namespace

absl::Status SpellOutQuantizedPairs(Graph& graph) {
  NodeNames names(graph);
  SpellOutPairs(graph, names);
  return absl::OkStatus();
}

}  // namespace x2ir
