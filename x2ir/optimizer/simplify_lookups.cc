// Rules of simplify for rows of a table that are looked up (see simplify.cc).
// 31. where(0 <= j and j < n, gather(t, min(max(j, 0), n - 1)), c) with j = where(i < 0, i + n, i),
//     of a table t of n rows, is where(k == i, gather(t, k), c) with k = min(max(i, -n), n - 1): a
//     negative index counts from the end anyway. With i for j, k is not negative. Where i is known
//     to be k, it is gather(t, i).
#include <cstdint>
#include <optional>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/integer_range.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

std::optional<int64_t> WholeNumber(const Value* value) {
  const Tensor* tensor = DenseConstant(value);
  if (!tensor || tensor->num_elements() != 1 || !IsInteger(tensor->dtype()) ||
      BitWidth(tensor->dtype()) < 8) {
    return std::nullopt;
  }
  return tensor->AsInt(0);
}

// x of op(x, number), also of op(number, x) where `either`.
Value* BesideNumber(const Pattern& pattern, const Value* value, std::string_view op, int64_t number,
                    bool either) {
  const Node* node = pattern.By(value, op);
  if (!node || node->num_inputs() != 2) return nullptr;
  if (WholeNumber(node->input(1)) == number) return node->input(0);
  return either && WholeNumber(node->input(0)) == number ? node->input(1) : nullptr;
}

// j of min(max(j, 0), last) in another integer type or in its own. A bound may be missing that all
// numbers keep.
Value* Clamped(const Pattern& pattern, Value* value, int64_t last) {
  const auto uncast = [&](Value* v) {
    const Node* cast = pattern.By(v, "cast");
    const bool wider = cast && IsInteger(v->dtype()) && IsSignedInt(cast->input(0)->dtype()) &&
                       BitWidth(v->dtype()) >= BitWidth(cast->input(0)->dtype());
    return wider ? cast->input(0) : v;
  };
  const auto bounded = [&](Value* v, std::string_view op, int64_t bound) -> Value* {
    if (Value* of = BesideNumber(pattern, v, op, bound, true)) return of;
    const auto range = RangeOf(v);
    return range && (op == "min" ? range->high <= bound : range->low >= bound) ? v : nullptr;
  };
  Value* low = bounded(uncast(value), "min", last);
  Value* j = low ? bounded(low, "max", 0) : nullptr;
  return j ? uncast(j) : nullptr;
}

// j of 0 <= j and j <= last.
Value* Inside(const Pattern& pattern, const Value* value, int64_t last) {
  const Node* both = pattern.By(value, "and");
  for (size_t i = 0; both && i < 2; ++i) {
    Value* j = BesideNumber(pattern, both->input(i), "greater_or_equal", 0, false);
    if (j && BesideNumber(pattern, both->input(1 - i), "less_or_equal", last, false) == j) return j;
  }
  return nullptr;
}

// i of where(i < 0, i + n, i).
Value* FromEnd(const Pattern& pattern, const Value* value, int64_t n) {
  const Node* where = pattern.By(value, "where");
  if (!where) return nullptr;
  Value* i = where->input(2);
  const bool fits = BesideNumber(pattern, where->input(0), "less", 0, false) == i &&
                    BesideNumber(pattern, where->input(1), "add", n, true) == i;
  return fits ? i : nullptr;
}

absl::StatusOr<bool> LookUpOnce(Rewriter& r) {
  const Pattern pattern(r);
  const Node* gather = pattern.OnlyBy(r.in(1), "gather");
  const Shape* table = gather ? gather->input(0)->shape() : nullptr;
  if (!table || table->rank() < 1 || gather->attrs().Int("axis") != 0 || !(*table)[0].is_static()) {
    return false;
  }
  const int64_t n = (*table)[0].value();
  Value* j = n > 0 ? Clamped(pattern, gather->input(1), n - 1) : nullptr;
  Value* tested = j ? Inside(pattern, r.in(0), n - 1) : nullptr;
  if (!tested || !IsSignedInt(j->dtype()) || BitWidth(j->dtype()) < 32 || n >= (1 << 30)) {
    return false;
  }
  const Node* unsqueeze = pattern.By(tested, "unsqueeze");
  if (tested != j && (!unsqueeze || unsqueeze->input(0) != j)) return false;
  const DType t = j->dtype();
  Value* from_end = FromEnd(pattern, j, n);
  Value* i = from_end ? from_end : j;
  const int64_t first = from_end ? -n : 0;
  Builder& b = r.b();
  if (const auto range = RangeOf(i); range && range->low >= first && range->high <= n - 1) {
    Value* rows = b.Op("gather", {gather->input(0), i}, gather->attrs());
    return SameShape(rows, r.out()) && r.Replace(rows);
  }
  Value *low = b.Scalar(t, static_cast<double>(first)),
        *high = b.Scalar(t, static_cast<double>(n - 1));
  Value* k = r.context().Has("clip", t) ? b.Op("clip", {i, low, high})
                                        : b.Op("min", {b.Op("max", {i, low}), high});
  Value* inside = b.Op("equal", {i, k});
  if (tested != j) inside = b.Op("unsqueeze", {inside, unsqueeze->input(1)});
  Value* rows = b.Op("gather", {gather->input(0), k}, gather->attrs());
  return r.Replace(b.Op("where", {inside, rows, r.in(2)}));
}
X2IR_RULE(simplify, where, LookUpOnce, {"gather"});

}  // namespace
}  // namespace x2ir
