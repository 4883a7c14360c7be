// Arithmetic by other arithmetic, where that is exact: round, mod, pow of mixed types, sums
// and means that broadcast, cast_like.
#include <cstdint>
#include <optional>

#include "x2ir/builder/expr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/optimizer/integer_range.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// Up from floor(x) where the rest is over one half, or is one half above an odd number. The
// rest of a number whose floor differs from it is exact, or so close to 1 that it counts as
// that. Infinities and NaN have no rest that compares.
absl::StatusOr<Values> RoundAsFloor(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsFloating(t)) return CannotExpress("the element type of the operand is not a known float");
  Value* half = r.b.Scalar(t, 0.5, "half");
  Value* floor = r.b.Op("floor", {r.in(0)});
  Value* rest = r.b.Op("sub", {r.in(0), floor});
  Value* over = r.b.Op("greater", {rest, half});
  Value* under = r.b.Op("less", {rest, half});
  Value* halved = r.b.Op("mul", {floor, half});
  Value* odd = r.b.Op("greater", {halved, r.b.Op("floor", {halved})});
  Value* tie = r.b.Op("and", {r.b.Op("not", {under}), odd});
  Value* up = r.b.Op("or", {over, tie});
  return Values{r.b.Op("add", {floor, r.b.Op("cast", {up}, {{"to", Name(t)}})})};
}

// Floats, sign of the divisor: fmod, moved by one divisor where the signs differ.
absl::StatusOr<Values> FloorModOfFloats(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsFloating(t) || r.attrs().Int("fmod") != 0) {
    return CannotExpress("only mod of floats with the divisor's sign has a formula");
  }
  Value* b = r.in(1);
  Value* zero = r.b.Scalar(t, 0, "zero");
  Value* rest = r.b.Op("mod", {r.in(0), b}, {{"fmod", 1}});
  Value* is_zero = r.b.Op("equal", {rest, zero});
  Value* differ = r.b.Op("xor", {r.b.Op("less", {rest, zero}), r.b.Op("less", {b, zero})});
  Value* move = r.b.Op("and", {r.b.Op("not", {is_zero}), differ});
  return Values{r.b.Op("where", {move, r.b.Op("add", {rest, b}), rest})};
}

// Integers by division, which goes towards zero: a - a / b * b has the sign of a. Once more
// after adding b it has that of b. Of constants it is known that no sum overflows and no
// division by zero hides.
absl::StatusOr<Values> ModOfConstantAsDiv(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t) || BitWidth(t) < 32) {
    return CannotExpress("mod as div is for integers of 32 bits and more");
  }
  const std::optional<std::vector<int64_t>> divisors = r.ConstInts(1);
  if (!divisors) return CannotExpress("the divisor is not constant");
  const bool fmod = r.attrs().Int("fmod") != 0;
  const int64_t limit = int64_t{1} << (BitWidth(t) - 2);
  for (const int64_t b : *divisors) {
    if (b == 0 || b == -1 || (!fmod && (b > limit || b < -limit))) {
      return CannotExpress("the divisor is 0, -1 or too large");
    }
  }
  Value* b = r.in(1);
  const auto rest = [&](Value* a) {
    return r.b.Op("sub", {a, r.b.Op("mul", {r.b.Op("div", {a, b}), b})});
  };
  Value* y = rest(r.in(0));
  if (!fmod && IsSignedInt(t)) y = rest(r.b.Op("add", {y, b}));
  return Values{y};
}

// The same of any divisors. Adding b once where the sign is the wrong one overflows nowhere, since
// the signs differ. Divisors 0 and -1, of which
// nothing is left over, are 1: no division fails or overflows.
absl::StatusOr<Values> ModAsDiv(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t) || BitWidth(t) < 8) return CannotExpress("mod as div is for integers");
  const DType wide = BitWidth(t) < 32 ? DType::kInt32 : t;
  Builder& b = r.b;
  Value *x = Expr(b, r.in(0)).To(wide), *y = Expr(b, r.in(1)).To(wide);
  Value* zero = b.Scalar(wide, 0, "zero");
  const std::optional<NumbersBetween> range = RangeOf(r.in(1));
  if (range && (range->low >= 1 || range->high <= -2)) {
    // No divisor is 0 or -1.
  } else if (Value* one = b.Scalar(wide, 1, "one"); IsSignedInt(wide)) {
    Value* least = b.Scalar(wide, -2, "least");
    Value* trivial = b.Op("and", {b.Op("less", {y, one}), b.Op("greater", {y, least})});
    y = b.Op("where", {trivial, one, y});
  } else {
    y = b.Op("add", {y, Expr(b, b.Op("less", {y, one})).To(wide)});
  }
  Value* rest = b.Op("sub", {x, b.Op("mul", {b.Op("div", {x, y}), y})});
  if (r.attrs().Int("fmod") == 0 && IsSignedInt(t)) {
    Value* negative = b.Op("less", {rest, zero});
    Value* positive = b.Op("greater", {rest, zero});
    Value* below = b.Op("less", {y, zero});
    Value* move =
        b.Op("or", {b.Op("and", {negative, b.Op("not", {below})}), b.Op("and", {positive, below})});
    rest = b.Op("where", {move, b.Op("add", {rest, y}), rest});
  }
  return Values{Expr(b, rest).To(t)};
}

// The exponent in the base's type, where that has the same numbers.
absl::StatusOr<Values> PowOfOneType(Rewrite& r) {
  const DType base = r.dtype(0), exponent = r.dtype(1);
  if (base == exponent || base == DType::kUndefined || exponent == DType::kUndefined) {
    return CannotExpress("pow of ", Name(base), " and ", Name(exponent), " has no other form");
  }
  if (const Tensor* constant = r.in(1)->fixed_constant(); constant && !constant->is_sparse()) {
    X2IR_ASSIGN_OR_RETURN(Tensor same, CastTensor(*constant, base));
    X2IR_ASSIGN_OR_RETURN(const Tensor back, CastTensor(same, exponent));
    if (back == *constant) {
      return Values{r.b.Op("pow", {r.in(0), r.b.Constant(std::move(same), "exponent")})};
    }
  }
  // Exact in a float whose digits hold every value of the integer type.
  const int digits = base == DType::kFloat64 ? 53 : base == DType::kFloat32 ? 24 : 0;
  if (!IsInteger(exponent) || BitWidth(exponent) > digits) {
    return CannotExpress("exponents of ", Name(exponent), " are not exact as ", Name(base));
  }
  Value* same = r.b.Op("cast", {r.in(1)}, {{"to", Name(base)}});
  return Values{r.b.Op("pow", {r.in(0), same})};
}

absl::StatusOr<Values> SumAsAdd(Rewrite& r) {
  if (r.node.num_inputs() < 2) return NothingToDo();
  Value* sum = r.in(0);
  for (size_t i = 1; i < r.node.num_inputs(); ++i) sum = r.b.Op("add", {sum, r.in(i)});
  return Values{sum};
}

absl::StatusOr<Values> MeanAsSum(Rewrite& r) {
  if (!IsFloating(r.dtype(0))) return CannotExpress("mean as sum is for floats");
  const auto n = static_cast<double>(r.node.num_inputs());
  return Values{r.b.Op("div", {r.b.Op("sum", r.node.inputs()), r.b.Scalar(r.dtype(0), n)})};
}

absl::StatusOr<Values> CastLikeAsCast(Rewrite& r) {
  const DType to = r.dtype(1);
  if (to == DType::kUndefined) return CannotExpress("the element type to cast to is not known");
  return Values{r.b.Op("cast", {r.in(0)},
                       {{"to", Name(to)},
                        {"saturate", r.attrs().Int("saturate")},
                        {"round_mode", r.attrs().String("round_mode")}})};
}

absl::StatusOr<Values> CastToItself(Rewrite& r) {
  const DType to = r.node.output(0) ? r.node.output(0)->dtype() : DType::kUndefined;
  if (to == DType::kUndefined || r.dtype(0) != to) return CannotExpress("another element type");
  return Values{r.b.Op("identity", {r.in(0)})};
}

// NaN is neither greater nor less than 0, and stays NaN: tanh times 0 is NaN for NaN alone.
absl::StatusOr<Values> SignAsCompare(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsFloating(t)) return CannotExpress("sign as comparisons is for floats");
  const AttributeMap to = {{"to", Name(t)}};
  Value* zero = r.b.Scalar(t, 0, "zero");
  Value* positive = r.b.Op("cast", {r.b.Op("greater", {r.in(0), zero})}, to);
  Value* negative = r.b.Op("cast", {r.b.Op("less", {r.in(0), zero})}, to);
  Value* nan = r.b.Op("mul", {r.b.Op("tanh", {r.in(0)}), zero});
  return Values{r.b.Op("add", {r.b.Op("sub", {positive, negative}), nan})};
}

// Integers rounded towards zero.
absl::StatusOr<Values> ErfOfIntegers(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t)) return CannotExpress("in float64, it is for integers");
  return Values{Expr(r.b, r.b.Op("erf", {Expr(r.b, r.in(0)).To(DType::kFloat64)})).To(t)};
}

}  // namespace

X2IR_LOWERING(erf, ErfOfIntegers);
X2IR_LOWERING(round, RoundAsFloor);
X2IR_LOWERING(mod, FloorModOfFloats);
X2IR_LOWERING(mod, ModOfConstantAsDiv);
X2IR_LOWERING(mod, ModAsDiv);
X2IR_LOWERING(pow, PowOfOneType);
X2IR_LOWERING(sum, SumAsAdd);
X2IR_LOWERING(mean, MeanAsSum);
X2IR_LOWERING(cast, CastToItself);
X2IR_LOWERING(cast_like, CastLikeAsCast);
X2IR_LOWERING(sign, SignAsCompare);

}  // namespace x2ir
