// simplify: removes ops that change nothing, and merges two ops that one op can do. The rules of
// ops that move elements are in simplify_moves.cc, of ops that only change the shape in
// simplify_reshapes.cc, of ops that are useless for their operands in simplify_numbers.cc; rules 27
// to 30 are in simplify_broadcasts.cc, 31 in simplify_lookups.cc, 32 in simplify_pools.cc,
// 33 in simplify_iterations.cc.
//  1. `identity` is removed, except where an output of the graph would lose its name.
//  2. `dropout` that does not drop is its operand: no training mode, or a ratio of 0. Its mask is a
//     constant then, where the other output is none of the graph's.
//  3. `cast` to the type that the operand has is its operand; `cast_like` a known type is `cast`.
//  4. `cast` of `cast` is one where that gives the same numbers: the first loses nothing, or
//     both go from integers to integers that are not wider.
//  5. `clip` without bounds, and `min`, `max`, `sum`, `mean`, `concat` of one operand, are it;
//  `sum` of two
//     is `add`.
//  6. x + 0, x - 0, x * 1, x / 1, pow(x, 1), x and true, x or false, ... are x, where the result
//     has x's shape. Of floats x + 0 makes 0 of -0: it is x where nothing tells these apart.
//  7. neg, not and bitwise_not twice are nothing; relu, abs, floor, ... twice are one.
//  8. `where` with a condition that is true everywhere, or nowhere, is that operand; after `not`
//  its operands are swapped.
#include <cmath>
#include <string_view>
#include <utility>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/retype.h"
#include "x2ir/optimizer/rule_util.h"
#include "x2ir/optimizer/sign_of_zero.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(simplify, "Removes ops that change nothing; chains of ops become one.");

constexpr int64_t kMaxLookedAt = 4096;  // elements

// --- 1, 2 -----------------------------------------------------------------------------------

absl::StatusOr<bool> RemoveIdentity(Rewriter& r) {
  const Value* from = r.out();
  const Value* to = r.in(0);
  if (from->is_graph_output() &&
      (!to->producer() || to->graph() != &r.graph() || to->is_graph_output())) {
    return false;
  }
  return r.Replace(r.in(0));
}
X2IR_RULE(simplify, identity, RemoveIdentity);

std::optional<double> KnownNumber(const Value* value) {
  const std::optional<Tensor> tensor = value ? KnownTensor(*value) : std::nullopt;
  if (!tensor || tensor->num_elements() != 1 || tensor->is_string()) return std::nullopt;
  return tensor->AsDouble(0);
}

absl::StatusOr<bool> RemoveDropout(Rewriter& r) {
  const Value* mask = r.node().output(1);
  const bool masked = mask && !mask->is_unused();
  const auto dims = masked && mask->shape() ? mask->shape()->Static() : std::nullopt;
  // A copy of the operand and a constant are no fewer nodes.
  if (masked && (!dims || r.out()->is_graph_output())) return false;
  const bool never = !r.in(2) || KnownNumber(r.in(2)) == 0;
  if (!never && KnownNumber(r.in(1)) != 0) return false;
  if (!masked) return r.Replace({r.in(0), r.in(0)});
  const auto count = CheckedProduct(*dims);
  if (!count || *count > kMaxLookedAt) return false;
  Tensor kept = Tensor::Zeros(DType::kBool, *dims);
  for (std::byte& element : kept.mutable_bytes()) element = std::byte{1};
  return r.Replace({r.in(0), r.b().Constant(std::move(kept), "kept")});
}
X2IR_RULE(simplify, dropout, RemoveDropout);

// --- 3, 4 -----------------------------------------------------------------------------------

absl::StatusOr<bool> CastLikeAsCast(Rewriter& r) {
  const DType to = r.in(1)->dtype();
  if (to == DType::kUndefined) return false;
  AttributeMap attrs = r.attrs();
  attrs.Set("to", Name(to));
  return r.Replace(r.b().Op("cast", {r.in(0)}, std::move(attrs)));
}
X2IR_RULE(simplify, cast_like, CastLikeAsCast);

absl::StatusOr<bool> MergeCasts(Rewriter& r) {
  const std::optional<DType> to = ParseDType(r.attrs().String("to"));
  if (!to) return false;
  if (r.in(0)->dtype() == *to && r.in(0)->type().is_tensor()) return r.Replace(r.in(0));
  const Node* first = r.Producer(0, "cast");
  if (!first) return false;
  const DType from = first->input(0)->dtype(), between = r.in(0)->dtype();
  if (from == DType::kUndefined || between == DType::kUndefined) return false;
  if (*to == DType::kString) return false;  // the text of a number depends on its type
  const bool wraps =
      IsInteger(from) && IsInteger(between) && IsInteger(*to) && BitWidth(between) >= BitWidth(*to);
  if (!wraps && !HoldsEvery(between, from)) return false;
  if (from == *to) return r.Replace(first->input(0));
  return r.Replace(r.b().Op("cast", {first->input(0)}, r.attrs()));
}
X2IR_RULE(simplify, cast, MergeCasts);

// --- 5 --------------------------------------------------------------------------------------

absl::StatusOr<bool> RemoveBoundless(Rewriter& r) {
  return !r.in(1) && !r.in(2) && r.Replace(r.in(0));
}
X2IR_RULE(simplify, clip, RemoveBoundless);

absl::StatusOr<bool> RemoveOfOne(Rewriter& r) {
  return r.node().num_inputs() == 1 && r.Replace(r.in(0));
}
bool OfOneIsIt(const OpDef& op) { return op.obeys(kOfOneIsIt); }
X2IR_RULE_OF_OPS(simplify, OfOneIsIt, RemoveOfOne);

absl::StatusOr<bool> SumAsAdd(Rewriter& r) {
  if (r.node().num_inputs() != 2 || !r.in(0) || !r.in(1)) return false;
  return r.Replace(r.b().Op("add", {r.in(0), r.in(1)}));
}
X2IR_RULE(simplify, sum, SumAsAdd);

// --- 6 --------------------------------------------------------------------------------------

// Whether all elements are that number; zeros of another sign than `negative_zero` says only where
// `of` tells no zeros apart.
bool IsAll(const Value& value, int number, bool negative_zero, const Value& of) {
  const Tensor* tensor = value.fixed_constant();
  std::optional<Tensor> known;
  if (!tensor) {
    known = KnownTensor(value);
    tensor = known ? &*known : nullptr;
  }
  if (!tensor || tensor->is_sparse() || tensor->num_elements() == 0 ||
      tensor->num_elements() > kMaxLookedAt) {
    return false;
  }
  const DType t = tensor->dtype();
  bool matters = false;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    if (IsInteger(t) || t == DType::kBool) {
      if (tensor->AsInt(i) != number) return false;
    } else {
      const double v = tensor->AsDouble(i);
      if (v != number) return false;
      if (v == 0 && std::signbit(v) != negative_zero) matters = true;
    }
  }
  return !matters || !SignOfZeroMatters(of);
}

absl::StatusOr<bool> RemoveNeutral(Rewriter& r) {
  const OpDef& op = *OpOf(&r.node());
  for (const size_t other : {size_t{1}, size_t{0}}) {
    if (other == 0 && !op.commutes()) break;
    const DType t = r.in(other)->dtype();
    // Complex numbers: infinities times 1 are NaN.
    if (!IsInteger(t) && !IsFloating(t) && t != DType::kBool) continue;
    // x + -0 is x for all x; x + 0 makes 0 of -0.
    if (IsAll(*r.in(other), *op.neutral(), r.node().Is("add"), *r.out()) &&
        HasTypeOf(r, 1 - other)) {
      return r.Replace(r.in(1 - other));
    }
  }
  return false;
}
bool HasNeutral(const OpDef& op) { return op.neutral().has_value(); }
X2IR_RULE_OF_OPS(simplify, HasNeutral, RemoveNeutral, {kKnownOperand});

// --- 7, 8 -----------------------------------------------------------------------------------

absl::StatusOr<bool> RemoveTwice(Rewriter& r) {
  const Node* first = r.Producer(0, r.node().op());
  return first && r.Replace(first->input(0));
}
bool TwiceIsNothing(const OpDef& op) { return op.obeys(kTwiceIsNothing); }
X2IR_RULE_OF_OPS(simplify, TwiceIsNothing, RemoveTwice, TwiceIsNothing);

absl::StatusOr<bool> RemoveSecond(Rewriter& r) {
  return r.Producer(0, r.node().op()) && r.Replace(r.in(0));
}
bool TwiceIsOnce(const OpDef& op) { return op.obeys(kTwiceIsOnce); }
X2IR_RULE_OF_OPS(simplify, TwiceIsOnce, RemoveSecond, TwiceIsOnce);

absl::StatusOr<bool> RemoveWhere(Rewriter& r) {
  if (r.in(0)->dtype() != DType::kBool) return false;
  const size_t taken = IsAll(*r.in(0), 1, false, *r.out())   ? 1
                       : IsAll(*r.in(0), 0, false, *r.out()) ? 2
                                                             : 0;
  return taken != 0 && HasTypeOf(r, taken) && r.Replace(r.in(taken));
}
X2IR_RULE(simplify, where, RemoveWhere);

absl::StatusOr<bool> WhereNot(Rewriter& r) {
  const Node* negation = r.Producer(0, "not");
  return negation && r.Replace(r.b().Op("where", {negation->input(0), r.in(2), r.in(1)}));
}
X2IR_RULE(simplify, where, WhereNot, {"not"});

}  // namespace
}  // namespace x2ir
