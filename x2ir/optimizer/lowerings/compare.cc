// Comparisons by other comparisons, right for NaN, and where by arithmetic. They serve ONNX
// before opset 12, which lacked most of them for most element types.
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> OrEqual(Rewrite& r, Symbol strict, Symbol opposite) {
  const DType t = r.dtype(0);
  if (IsInteger(t)) {
    return Values{r.b.Op("not", {r.b.Op(opposite, {r.in(0), r.in(1)})})};
  }
  // For floats "not less" would hold for NaN.
  if (!IsFloating(t)) return CannotExpress("the element type of the operands is not known");
  Value* above = r.b.Op(strict, {r.in(0), r.in(1)});
  return Values{r.b.Op("or", {above, r.b.Op("equal", {r.in(0), r.in(1)})})};
}

absl::StatusOr<Values> GreaterOrEqual(Rewrite& r) { return OrEqual(r, "greater", "less"); }
absl::StatusOr<Values> LessOrEqual(Rewrite& r) { return OrEqual(r, "less", "greater"); }

// Equal are two numbers of which none is greater, and none of which is NaN.
absl::StatusOr<Values> EqualOfFloats(Rewrite& r) {
  if (!IsFloating(r.dtype(0))) return CannotExpress("equal as less and greater is for floats");
  Value* a = r.in(0);
  Value* b = r.in(1);
  Value* differ = r.b.Op("or", {r.b.Op("less", {a, b}), r.b.Op("greater", {a, b})});
  Value* nan = r.b.Op("or", {r.b.Op("is_nan", {a}), r.b.Op("is_nan", {b})});
  return Values{r.b.Op("not", {r.b.Op("or", {differ, nan})})};
}

// Every number is greater than -1 or less than 1, and NaN neither.
absl::StatusOr<Values> IsNaNAsCompare(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsFloating(t)) return CannotExpress("the element type of the operand is not a known float");
  Value* above = r.b.Op("greater", {r.in(0), r.b.Scalar(t, -1)});
  Value* below = r.b.Op("less", {r.in(0), r.b.Scalar(t, 1)});
  return Values{r.b.Op("not", {r.b.Op("or", {above, below})})};
}

// Infinite is what lies beyond the largest number.
absl::StatusOr<Values> IsInfAsCompare(Rewrite& r) {
  const DType t = r.dtype(0);
  double max;
  switch (t) {
    case DType::kFloat64: max = std::numeric_limits<double>::max(); break;
    case DType::kFloat32: max = std::numeric_limits<float>::max(); break;
    case DType::kFloat16: max = 65504; break;
    case DType::kBFloat16: max = 0x1.fep127; break;
    default: return CannotExpress("no comparison of ", Name(t), " tells infinity");
  }
  Value *positive = nullptr, *negative = nullptr;
  if (r.attrs().Int("detect_positive") != 0) {
    positive = r.b.Op("greater", {r.in(0), r.b.Scalar(t, max)});
  }
  if (r.attrs().Int("detect_negative") != 0) {
    negative = r.b.Op("less", {r.in(0), r.b.Scalar(t, -max)});
  }
  if (positive && negative) return Values{r.b.Op("or", {positive, negative})};
  if (positive || negative) return Values{positive ? positive : negative};
  // Neither: false everywhere, in the operand's shape.
  Value* some = r.b.Op("greater", {r.in(0), r.b.Scalar(t, max)});
  return Values{r.b.Op("and", {some, r.b.Op("not", {some})})};
}

// Exact for bools and integers. For floats the branch not taken may be infinite or NaN, which
// no arithmetic takes out again.
absl::StatusOr<Values> WhereAsArithmetic(Rewrite& r) {
  const DType t = r.dtype(1);
  Value* condition = r.in(0);
  Value* otherwise = r.b.Op("not", {condition});
  if (t == DType::kBool) {
    Value* x = r.b.Op("and", {condition, r.in(1)});
    return Values{r.b.Op("or", {x, r.b.Op("and", {otherwise, r.in(2)})})};
  }
  if (!IsInteger(t)) {
    return CannotExpress("where of ", Name(t), " has no exact counterpart");
  }
  const AttributeMap to = {{"to", Name(t)}};
  Value* x = r.b.Op("mul", {r.b.Op("cast", {condition}, to), r.in(1)});
  Value* y = r.b.Op("mul", {r.b.Op("cast", {otherwise}, to), r.in(2)});
  return Values{r.b.Op("add", {x, y})};
}

// Of any type: both branches one after the other, of which each result picks its element.
absl::StatusOr<Values> WhereAsGather(Rewrite& r) {
  Builder& b = r.b;
  const Shape* y = r.node.output(0)->shape();
  const auto dims = y ? y->Static() : std::nullopt;
  const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
  if (!count || *count < 1 || *count > kMaxLoweringElements) {
    return CannotExpress("as Gather, it needs a known shape with elements");
  }
  std::vector<Value*> branches;
  for (size_t i = 1; i < 3; ++i) {
    Value* branch = r.in(i);
    if (!branch->shape() || *branch->shape() != *y) {
      branch = b.Op("expand", {branch, b.Ints(*dims, "shape")});
    }
    branches.push_back(b.Op("reshape", {branch, b.Ints({*count}, "count")}));
  }
  std::vector<int64_t> places(*count);
  std::iota(places.begin(), places.end(), 0);
  Value* here = b.Constant(Tensor::Of<int64_t>(*dims, absl::MakeConstSpan(places)), "places");
  Value* otherwise = Expr(b, b.Op("not", {r.in(0)})).To(DType::kInt64);
  Value* skip = b.Op("mul", {otherwise, b.Int(*count, "count")});
  return Values{
      b.Op("gather", {b.Op("concat", branches, {{"axis", 0}}), b.Op("add", {here, skip})})};
}

// In the type that evaluation computes in, which holds lambd and bias as they are. NaN stays.
absl::StatusOr<Values> ShrinkAsWhere(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatComputeType(r.dtype(0)));
  Builder& b = r.b;
  Value* x = Expr(b, r.in(0)).To(t);
  const double lambd = r.attrs().Float("lambd");
  Value* bias = b.Scalar(t, r.attrs().Float("bias"), "bias");
  Value* below = b.Op("less", {x, b.Scalar(t, -lambd, "low")});
  Value* above = b.Op("greater", {x, b.Scalar(t, lambd, "high")});
  Value* rest = b.Op("where", {b.Op("is_nan", {x}), x, b.Scalar(t, 0, "zero")});
  rest = b.Op("where", {above, b.Op("sub", {x, bias}), rest});
  return Values{Expr(b, b.Op("where", {below, b.Op("add", {x, bias}), rest})).To(r.dtype(0))};
}

}  // namespace

X2IR_LOWERING(greater_or_equal, GreaterOrEqual);
X2IR_LOWERING(less_or_equal, LessOrEqual);
X2IR_LOWERING(equal, EqualOfFloats);
X2IR_LOWERING(is_nan, IsNaNAsCompare);
X2IR_LOWERING(is_inf, IsInfAsCompare);
X2IR_LOWERING(where, WhereAsArithmetic);
X2IR_LOWERING(where, WhereAsGather);
X2IR_LOWERING(shrink, ShrinkAsWhere);

}  // namespace x2ir
