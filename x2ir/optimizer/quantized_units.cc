// quantized_units: keeps dequantize_linear, op, quantize_linear side by side. Runtimes run the
// three as one op on integers, and nodes between them prevent this.
//  1. quantize_linear of dequantize_linear with the same scale and zero point gives the integers
//     that there were: x. (The other way round numbers are rounded, so that stays.)
//  2. Ops that only move elements work on the integers: they move before a dequantize_linear that
//  only they use, and after a quantize_linear that is their only user. Ops that select elements
//  move before, not after.
// Scales are one for the whole tensor; a transpose also passes those along an axis. Rule 1 holds
// where no number overflows or loses digits on the way: scales are constants, float32, or float16
// for integers of at most 8 bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(quantized_units, "Keeps quantized ops and their scales together.");

bool SameConstant(const Value* a, const Value* b) {
  if (a == b) return true;
  const Tensor *x = DenseConstant(a), *y = DenseConstant(b);
  return x && y && x->dtype() == y->dtype() && x->num_elements() == y->num_elements() &&
         (x->num_elements() == 1 || x->dims() == y->dims()) &&
         std::equal(x->bytes().begin(), x->bytes().end(), y->bytes().begin(), y->bytes().end());
}

bool IsSingle(const Value* value) {
  const Shape* shape = value ? value->shape() : nullptr;
  return shape && (shape->rank() == 0 || (shape->rank() == 1 && (*shape)[0] == Dim(1)));
}

bool IsZero(const Value* zero_point) {
  const Tensor* tensor = DenseConstant(zero_point);
  if (!tensor || !IsInteger(tensor->dtype())) return false;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    if (tensor->AsInt(i) != 0) return false;
  }
  return true;
}

bool SameZeroPoint(const Node& a, const Node& b) {
  const Value *x = a.input(2), *y = b.input(2);
  if (x && y) return SameConstant(x, y);
  return (!x || IsZero(x)) && (!y || IsZero(y));
}

// --- 1 --------------------------------------------------------------------------------------

// Whether n * scale / scale is n again, rounded, for all n that integers of `t` and zero points
// of it can be apart.
bool KeepsIntegers(const Tensor& scales, DType t) {
  if (!IsInteger(t) || BitWidth(t) > 16) return false;
  double largest = 0;
  if (scales.dtype() == DType::kFloat32) {
    largest = static_cast<double>(std::numeric_limits<float>::max());
  } else if (scales.dtype() == DType::kFloat16 && BitWidth(t) <= 8) {
    largest = 65504;
  }
  const double apart = std::ldexp(1.0, BitWidth(t));
  for (int64_t i = 0; i < scales.num_elements(); ++i) {
    const double scale = std::abs(scales.AsDouble(i));
    if (!(scale > 0 && scale * apart <= largest)) return false;
  }
  return true;
}

absl::StatusOr<bool> RemovePair(Rewriter& r) {
  const Node* first = r.Producer(0, "dequantize_linear");
  if (!first || r.attrs().Has("precision") || first->attrs().Has("output_dtype")) return false;
  const DType t = r.out()->dtype();
  const Tensor* scales = DenseConstant(r.in(1));
  if (first->input(0)->dtype() != t || !scales || !KeepsIntegers(*scales, t)) return false;
  if (!SameConstant(first->input(1), r.in(1)) || !SameZeroPoint(*first, r.node())) return false;
  const bool single = IsSingle(r.in(1)) && r.attrs().Int("block_size") == 0 &&
                      first->attrs().Int("block_size") == 0;
  for (const char* name : {"axis", "block_size"}) {
    const Attribute *a = first->attrs().Find(name), *b = r.attrs().Find(name);
    if (!single && (!a || !b || *a != *b)) return false;
  }
  return r.Replace(first->input(0));
}
X2IR_RULE(quantized_units, quantize_linear, RemovePair);

// --- 2 --------------------------------------------------------------------------------------

// The attributes of a quantize_linear or dequantize_linear for an operand on the other side of
// `moves`, whose operand it has (`before`) or whose result; nullopt where scales would not fit.
std::optional<AttributeMap> AttrsAcross(const Node& scaled, const Node& moves, bool before) {
  AttributeMap attrs = scaled.attrs();
  if (attrs.Int("block_size") != 0) return std::nullopt;
  if (IsSingle(scaled.input(1))) return attrs;
  const int64_t rank = RankOf(moves.input(0));
  if (moves.op() != "transpose" || !moves.attrs().Has("perm") || rank < 0 || !attrs.Has("axis")) {
    return std::nullopt;
  }
  const auto axis = NormalizeAxes({attrs.Int("axis")}, rank);
  const std::vector<int64_t>& perm = moves.attrs().Ints("perm");
  if (!axis.ok() || static_cast<int64_t>(perm.size()) != rank) return std::nullopt;
  const int64_t at = (*axis)[0];
  attrs.Set("axis", before ? std::find(perm.begin(), perm.end(), at) - perm.begin() : perm[at]);
  return attrs;
}

// Whether the op may be there for integers of that type.
bool MayMove(const Rewriter& r, Symbol op, DType t) {
  if (r.context().target) return r.context().Has(op, t);
  return t == DType::kInt8 || t == DType::kUInt8;
}

// The node's own operands and attributes, on another first operand.
Value* OnOther(Rewriter& r, const Node& node, Value* first) {
  Values operands = node.inputs();
  operands[0] = first;
  return r.b().Op(node.op(), std::move(operands), node.attrs());
}

absl::StatusOr<bool> MoveBefore(Rewriter& r) {
  const Node* scaled = r.Producer(0, "dequantize_linear");
  if (!scaled || !Rewriter::UsedOnce(r.in(0))) return false;
  const auto attrs = AttrsAcross(*scaled, r.node(), true);
  if (!attrs || !MayMove(r, r.node().op(), scaled->input(0)->dtype())) return false;
  Values operands = scaled->inputs();
  operands[0] = OnOther(r, r.node(), scaled->input(0));
  return r.Replace(r.b().Op("dequantize_linear", std::move(operands), *attrs));
}
X2IR_RULE_OF_OPS(quantized_units, [](const OpDef& op) { return op.moves() != MoveUse::kNone; },
                 MoveBefore, {"dequantize_linear"});

absl::StatusOr<bool> MoveBehind(Rewriter& r) {
  const Node* moves = r.in(0)->producer();
  const OpDef* op = OpOf(moves);
  if (!op || moves->graph() != &r.graph() || !Rewriter::UsedOnce(r.in(0)) ||
      op->moves() < MoveUse::kAll) {
    return false;
  }
  const auto attrs = AttrsAcross(r.node(), *moves, false);
  if (!attrs || !MayMove(r, moves->op(), r.out()->dtype())) return false;
  Values operands = r.node().inputs();
  operands[0] = moves->input(0);
  Value* quantized = r.b().Op("quantize_linear", std::move(operands), *attrs);
  return r.Replace(OnOther(r, *moves, quantized));
}
X2IR_RULE(quantized_units, quantize_linear, MoveBehind);

}  // namespace
}  // namespace x2ir
