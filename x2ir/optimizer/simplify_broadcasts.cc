// Rules of simplify for ops that broadcast, and for what others write in their place (see
// simplify.cc).
// 27. `expand` before an op whose operands are broadcast is its operand, where the result has the
//     same shape without it. One whose elements are all the same whole number, or bool, becomes
//     that number.
// 28. `expand` of an `expand` is one.
// 29. A reduce_sum of floats that is divided by the number of its elements is reduce_mean.
// 30. A constant that is added to a matmul after a reshape that takes its columns apart, with one
//     number for each column, is added before the reshape.
#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/type.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// --- 27 -------------------------------------------------------------------------------------

bool BroadcastsAll(const OpDef& op) {
  return op.axes().spread == kElementwiseAxes.spread || op.rows() == RowUse::kElementwise;
}

// Whether the result has the shape that it has now when operand i is of that shape.
bool KeepsShape(const Node& node, size_t i, const Shape& shape) {
  const Shape* result = node.output(0)->shape();
  if (!result || shape.rank() > result->rank()) return false;
  for (int64_t axis = 0; axis < result->rank(); ++axis) {
    const Dim& size = (*result)[axis];
    const auto has = [&](const Shape& s) {
      const int64_t own = axis - (result->rank() - s.rank());
      return own >= 0 && ProvablyEqual(s[own], size);
    };
    bool kept = has(shape);
    for (size_t k = 0; !kept && k < node.num_inputs(); ++k) {
      const Value* other = node.input(k);
      kept = k != i && other && other->shape() && has(*other->shape());
    }
    if (!kept) return false;
    const int64_t own = axis - (result->rank() - shape.rank());
    if (own >= 0 && !has(shape) && !(shape[own] == Dim(1))) return false;
  }
  return true;
}

bool ReplaceOperand(Rewriter& r, size_t i, Value* value) {
  Values operands = r.node().inputs();
  operands[i] = value;
  Value* y = r.b().Op(r.node().op(), operands, r.attrs());
  const Value* out = r.out();
  if (!r.b().status().ok() || y->dtype() != out->dtype() || !SameShape(y->shape(), out->shape())) {
    return false;
  }
  return r.Replace(y);
}

absl::StatusOr<bool> BroadcastAnyway(Rewriter& r) {
  if (r.node().num_outputs() != 1 || r.node().num_inputs() < 2) return false;
  for (size_t i = 0; i < r.node().num_inputs(); ++i) {
    const Node* expand = r.in(i) ? r.Producer(i, "expand") : nullptr;
    const Shape* shape = expand ? expand->input(0)->shape() : nullptr;
    if (shape && KeepsShape(r.node(), i, *shape)) return ReplaceOperand(r, i, expand->input(0));
  }
  return false;
}
X2IR_RULE_OF_OPS(simplify, BroadcastsAll, BroadcastAnyway, {"expand"});

// One number for all elements, of a constant of more than one.
std::optional<double> OneWholeNumber(const Value* value) {
  constexpr int64_t kMost = 4096;
  const Tensor* tensor = DenseConstant(value);
  if (!tensor || tensor->num_elements() < 2 || tensor->num_elements() > kMost ||
      !(tensor->dtype() == DType::kBool || IsInteger(tensor->dtype())) ||
      BitWidth(tensor->dtype()) < 8) {
    return std::nullopt;
  }
  constexpr int64_t kExact = int64_t{1} << 53;
  const int64_t first = tensor->AsInt(0);
  if (first < -kExact || first > kExact) return std::nullopt;
  for (int64_t i = 1; i < tensor->num_elements(); ++i) {
    if (tensor->AsInt(i) != first) return std::nullopt;
  }
  return static_cast<double>(first);
}

absl::StatusOr<bool> OneNumberForAll(Rewriter& r) {
  if (r.node().num_outputs() != 1 || r.node().num_inputs() < 2) return false;
  for (size_t i = 0; i < r.node().num_inputs(); ++i) {
    const auto number = r.in(i) ? OneWholeNumber(r.in(i)) : std::nullopt;
    if (!number || !KeepsShape(r.node(), i, Shape())) continue;
    return ReplaceOperand(r, i, r.b().Scalar(r.in(i)->dtype(), *number));
  }
  return false;
}
X2IR_RULE_OF_OPS(simplify, BroadcastsAll, OneNumberForAll, {kKnownOperand});

// --- 28 -------------------------------------------------------------------------------------

absl::StatusOr<bool> MergeExpands(Rewriter& r) {
  const Node* first = r.Producer(0, "expand");
  const auto sizes = r.out()->shape() ? r.out()->shape()->Static() : std::nullopt;
  if (!first || !sizes) return false;
  return r.Replace(r.b().Op("expand", {first->input(0), r.b().Ints(*sizes, "sizes")}));
}
X2IR_RULE(simplify, expand, MergeExpands, {"expand"});

// --- 29 -------------------------------------------------------------------------------------

absl::StatusOr<bool> SumAsMean(Rewriter& r) {
  const auto with = IsFloating(r.out()->dtype()) ? Pattern::NumberOperand(r.node()) : std::nullopt;
  const Pattern pattern(r);
  const Node* sum = with && !with->first ? pattern.OnlyBy(with->other, "reduce_sum") : nullptr;
  const Shape* shape = sum ? sum->input(0)->shape() : nullptr;
  const auto axes = sum && sum->input(1) ? KnownInts(sum->input(1)) : std::nullopt;
  if (!shape || !axes || axes->empty()) return false;
  const auto normal = NormalizeAxes(*axes, shape->rank());
  if (!normal.ok()) return false;
  double count = 1;
  for (const int64_t axis : *normal) {
    if (!(*shape)[axis].is_static()) return false;
    count *= static_cast<double>((*shape)[axis].value());
  }
  if (count != with->number || count == 0) return false;
  return r.Replace(r.b().Op("reduce_mean", sum->inputs(), sum->attrs()));
}
X2IR_RULE(simplify, div, SumAsMean, {"reduce_sum"});

// --- 30 -------------------------------------------------------------------------------------

// The constant whose elements the value has, in their order.
const Tensor* ConstantBehind(const Pattern& pattern, const Value* value) {
  constexpr int kMost = 4;
  for (int i = 0; i < kMost; ++i) {
    const auto only_shape = [](const OpDef& op) { return op.moves() == MoveUse::kInOrder; };
    const Node* node = pattern.By(value, only_shape);
    if (!node) break;
    value = node->input(0);
  }
  return DenseConstant(value);
}

absl::StatusOr<bool> AddBeforeReshape(Rewriter& r) {
  const Pattern pattern(r);
  for (const size_t i : {0, 1}) {
    const Node* reshape = pattern.OnlyBy(r.in(i), "reshape");
    const Node* product = reshape ? pattern.OnlyBy(reshape->input(0), "matmul") : nullptr;
    const Tensor* bias = product ? ConstantBehind(pattern, r.in(1 - i)) : nullptr;
    const auto dims = bias && r.in(1 - i)->shape() ? r.in(1 - i)->shape()->Static() : std::nullopt;
    const Shape *flat = dims ? reshape->input(0)->shape() : nullptr, *apart = r.in(i)->shape();
    if (!flat || !apart || flat->rank() < 2 || !SameShape(r.in(i), r.out())) continue;
    const Dim& columns = flat->dims().back();
    const int64_t count = bias->num_elements();
    if (!columns.is_static() || count < 2 || columns.value() != count) continue;
    // The axes that the columns became, from the last one on.
    const auto rank = static_cast<int64_t>(dims->size());
    int64_t axes = 0, size = 1;
    while (size < count && axes < std::min(apart->rank(), rank)) {
      ++axes;
      const int64_t own = (*dims)[static_cast<size_t>(rank - axes)];
      if ((*apart)[apart->rank() - axes] != Dim(own)) break;
      size *= own;
    }
    if (size != count) continue;
    Value* row = r.b().Constant(bias->Reshaped({count}), "row");
    Value* sum = r.b().Op("add", {reshape->input(0), row});
    return r.Replace(r.b().Op("reshape", {sum, reshape->input(1)}, reshape->attrs()));
  }
  return false;
}
X2IR_RULE(simplify, add, AddBeforeReshape, {"reshape"});

}  // namespace
}  // namespace x2ir
