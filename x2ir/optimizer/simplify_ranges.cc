// Rules of simplify for integers that are known to be from one number to another (see simplify.cc).
// 33. A comparison whose result is the same for all of them is known; `max`, `min` and `clip` that
//     leave all of them as they are, are their operand.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "x2ir/optimizer/integer_range.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

constexpr int64_t kMostKnown = 4096;  // elements of a result

// Whether a comparison is true for all numbers, or false for all.
std::optional<bool> Compared(std::string_view op, const NumbersBetween& a,
                             const NumbersBetween& b) {
  if (op == "less") {
    if (a.high < b.low) return true;
    if (a.low >= b.high) return false;
  } else if (op == "less_or_equal") {
    if (a.high <= b.low) return true;
    if (a.low > b.high) return false;
  } else if (op == "equal") {
    if (a.high < b.low || a.low > b.high) return false;
  }
  return std::nullopt;
}

absl::StatusOr<bool> CompareRanges(Rewriter& r) {
  const Shape* shape = r.out()->shape();
  if (!shape || !IsInteger(r.in(0)->dtype())) return false;
  Dim count(1);
  for (const Dim& dim : *shape) count = count * dim;
  if (!count.is_static() || count.value() > kMostKnown) return false;
  const auto a = RangeOf(r.in(0)), b = a ? RangeOf(r.in(1)) : std::nullopt;
  if (!b) return false;
  const Symbol op = r.node().op();
  const auto known = op == "greater"            ? Compared("less", *b, *a)
                     : op == "greater_or_equal" ? Compared("less_or_equal", *b, *a)
                                                : Compared(op, *a, *b);
  if (!known) return false;
  std::vector<int64_t> dims;
  for (const Dim& dim : *shape) dims.push_back(dim.value());
  Tensor result = Tensor::Zeros(DType::kBool, dims);
  for (std::byte& element : result.mutable_bytes()) element = std::byte{*known};
  return r.Replace(r.b().Constant(std::move(result), "known"));
}
X2IR_RULE(simplify, less, CompareRanges, {kKnownOperand});
X2IR_RULE(simplify, less_or_equal, CompareRanges, {kKnownOperand});
X2IR_RULE(simplify, greater, CompareRanges, {kKnownOperand});
X2IR_RULE(simplify, greater_or_equal, CompareRanges, {kKnownOperand});
X2IR_RULE(simplify, equal, CompareRanges, {kKnownOperand});

absl::StatusOr<bool> BoundRange(Rewriter& r) {
  if (r.node().num_inputs() != 2 || !IsInteger(r.out()->dtype())) return false;
  for (const size_t i : {0, 1}) {
    if (!MayBeKnown(*r.in(1 - i))) continue;
    const auto bound = RangeOf(r.in(1 - i)), range = RangeOf(r.in(i));
    if (!bound || !range) return false;
    if (r.node().Is("max") ? bound->high > range->low : bound->low < range->high) continue;
    return HasTypeOf(r, i) && r.Replace(r.in(i));
  }
  return false;
}
X2IR_RULE(simplify, max, BoundRange, {kKnownOperand});
X2IR_RULE(simplify, min, BoundRange, {kKnownOperand});

absl::StatusOr<bool> ClipRange(Rewriter& r) {
  const auto range = RangeOf(r.in(0));
  if (!range) return false;
  for (const size_t i : {1, 2}) {
    const auto bound = RangeOf(r.in(i));
    if (r.in(i) && !bound) return false;
    if (bound && (i == 1 ? bound->high > range->low : bound->low < range->high)) return false;
  }
  return HasTypeOf(r, 0) && r.Replace(r.in(0));
}
X2IR_RULE(simplify, clip, ClipRange, {kKnownOperand});

}  // namespace
}  // namespace x2ir
