// Rules of simplify for the number of a loop's round (see simplify.cc).
// 33. It is not negative, and less than the number of rounds where that is constant: `less` than a
//     number, `max` and `min` with one are known, or the number of the round itself.
#include <cstdint>
#include <limits>
#include <optional>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

std::optional<int64_t> NumberBeside(const Value* value) {
  const Tensor* tensor = DenseConstant(value);
  if (!tensor || tensor->num_elements() != 1 || !IsInteger(tensor->dtype()) ||
      BitWidth(tensor->dtype()) < 8) {
    return std::nullopt;
  }
  return tensor->AsInt(0);
}

// The greatest number that the value may be, if it is the number of a round, in any integer type
// that has them all; else -1.
int64_t LastRound(Rewriter& r, const Value* value) {
  const Pattern pattern(r);
  int bits = 64;
  constexpr int kMostCasts = 4;
  for (int i = 0; i < kMostCasts; ++i) {
    if (!value || !IsSignedInt(value->dtype())) return -1;
    bits = std::min(bits, BitWidth(value->dtype()));
    const Node* cast = pattern.By(value, "cast");
    if (!cast) break;
    value = cast->input(0);
  }
  const Node* loop = r.graph().parent_node();
  if (!loop || !loop->Is("loop") || r.graph().inputs().empty() || value != r.graph().inputs()[0]) {
    return -1;
  }
  const auto rounds = NumberBeside(loop->input(0));
  const int64_t last = rounds ? std::max<int64_t>(*rounds - 1, 0) : INT64_MAX;
  return bits == 64 || (bits >= 32 && last <= INT32_MAX) ? last : -1;
}

absl::StatusOr<bool> CompareRound(Rewriter& r) {
  const auto number = NumberBeside(r.in(1));
  const int64_t last = number ? LastRound(r, r.in(0)) : -1;
  if (last < 0 || RankOf(r.out()) != 0 || (*number > 0 && *number <= last)) return false;
  Tensor known = Tensor::Zeros(DType::kBool, {});
  known.mutable_bytes()[0] = std::byte{*number > 0};
  return r.Replace(r.b().Constant(std::move(known), "known"));
}
X2IR_RULE(simplify, less, CompareRound, {kKnownOperand});

absl::StatusOr<bool> BoundRound(Rewriter& r) {
  if (r.node().num_inputs() != 2) return false;
  for (const size_t i : {0, 1}) {
    const auto bound = NumberBeside(r.in(1 - i));
    const int64_t last = bound ? LastRound(r, r.in(i)) : -1;
    if (last < 0 || !(r.node().Is("max") ? *bound <= 0 : *bound >= last)) continue;
    return HasTypeOf(r, i) && r.Replace(r.in(i));
  }
  return false;
}
X2IR_RULE(simplify, max, BoundRound, {kKnownOperand});
X2IR_RULE(simplify, min, BoundRound, {kKnownOperand});

}  // namespace
}  // namespace x2ir
