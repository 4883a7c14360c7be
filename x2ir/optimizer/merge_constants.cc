// merge_constants: what is added, or multiplied, one constant after the other is one constant.
//  1. (x + a) + b, in any order, is x + (a + b).
//  2. (x * a) * b is x * (a * b).
//  3. (x * a) / a, with a number a, is x.
// Floats, if the intermediate result has no other user and the constant is not larger than the ones
// that it replaces. Constants of a sum must be small beside the digits of their type: a large one
// that is added and taken away again rounds x, and is meant to. A product must be a normal number,
// and neither factor so large or small that it alone takes numbers to infinity or to 0.
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(merge_constants, "Constants that are added or multiplied in turn become one.");

// Powers of 2 that a factor may have: one that is larger takes what it multiplies to infinity, or
// to 0, where the product of both does not. Half of the type's exponents; a quarter of float16's.
int LargestExponent(DType type) {
  switch (type) {
    case DType::kFloat64: return 511;
    case DType::kFloat32: return 63;
    default: return 5;
  }
}
bool IsMildFactor(DType type, double number) {
  return number == 0 || std::abs(std::ilogb(number)) <= LargestExponent(type);
}

double SmallestNormal(DType type) {
  switch (type) {
    case DType::kFloat64: return std::numeric_limits<double>::min();
    case DType::kFloat32: return std::numeric_limits<float>::min();
    default: return std::ldexp(1.0, -14);
  }
}

// The sum or the product of two constants, rounded once; nullopt where the rules above forbid it.
std::optional<Tensor> Merged(const Tensor& a, const Tensor& b, bool sum) {
  const DType type = a.dtype();
  const auto dims = BroadcastDims(a.dims(), b.dims());
  if (!dims.ok() || (*dims != a.dims() && *dims != b.dims())) return std::nullopt;
  const Tensor wide_a = BroadcastTo(a, *dims), wide_b = BroadcastTo(b, *dims);
  const Numbers<double> x(wide_a), y(wide_b);
  const double most = LargestSummand(type), least = SmallestNormal(type);
  std::vector<double> numbers;
  for (int64_t i = 0; i < x.size(); ++i) {
    const double number = sum ? x[i] + y[i] : x[i] * y[i];
    const bool fits = sum ? std::abs(x[i]) <= most && std::abs(y[i]) <= most
                      : !IsMildFactor(type, x[i]) || !IsMildFactor(type, y[i]) ? false
                      : number == 0 ? x[i] == 0 || y[i] == 0
                                    : std::abs(number) >= least;
    if (!fits || !std::isfinite(x[i]) || !std::isfinite(y[i])) return std::nullopt;
    numbers.push_back(number);
  }
  Tensor merged = FromNumbers<double>(type, *dims, numbers);
  const Numbers<double> rounded(merged);
  for (double number : rounded.span()) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return merged;
}

absl::StatusOr<bool> MergeConstants(Rewriter& r) {
  const bool sum = r.node().Is("add");
  for (size_t i : {0, 1}) {
    const Tensor* b = DenseConstant(r.in(i));
    const Node* inner = r.Producer(1 - i, r.node().op());
    if (!b || !inner || !Rewriter::UsedOnce(r.in(1 - i)) || LargestSummand(b->dtype()) == 0)
      continue;
    for (size_t k : {0, 1}) {
      const Tensor* a = DenseConstant(inner->input(k));
      if (!a || a->dtype() != b->dtype()) continue;
      const Value* larger = a->num_elements() > b->num_elements() ? inner->input(k) : r.in(i);
      if (IsShared(larger) || StaysInFile(*larger->constant(), r.context()) ||
          static_cast<int64_t>(a->nbytes() + b->nbytes()) > kMaxRewrittenBytes) {
        continue;
      }
      auto both = Merged(*a, *b, sum);
      if (!both) continue;
      Value* constant = r.b().Constant(*std::move(both), "constant");
      return r.Replace(r.b().Op(r.node().op(), {inner->input(1 - k), constant}));
    }
  }
  return false;
}
X2IR_RULE(merge_constants, add, MergeConstants, {"add"});
X2IR_RULE(merge_constants, mul, MergeConstants, {"mul"});

absl::StatusOr<bool> RemoveFactor(Rewriter& r) {
  const Node* mul = r.Producer(0, "mul");
  const auto divisor = Pattern::Number(r.in(1), r.in(0));
  const auto factor = mul && Rewriter::UsedOnce(r.in(0)) ? Pattern::NumberOperand(*mul)
                                                         : std::optional<Pattern::WithNumber>();
  if (!divisor || !factor || *divisor != factor->number || *divisor == 0 ||
      !IsMildFactor(r.out()->dtype(), *divisor) || !SameShape(factor->other, r.out())) {
    return false;
  }
  return r.Replace(factor->other);
}
X2IR_RULE(merge_constants, div, RemoveFactor, {"mul"});

}  // namespace
}  // namespace x2ir
