// Activation functions as the formulas that define them.
#include <cmath>
#include <string>

#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"
#include "x2ir/optimizer/retype.h"

namespace x2ir {
namespace {

// A scalar of the type of operand 0; FailedPrecondition where that is not known.
absl::StatusOr<DType> FloatType(const Rewrite& r) {
  if (IsFloating(r.dtype(0))) return r.dtype(0);
  return CannotExpress("the element type of the operand is not a known float");
}

// Formulas round at each step, the op once: floats of 16 bits are computed in float32.
absl::StatusOr<Values> InFloat32(Rewrite& r) {
  if (!IsFloating(r.dtype(0)) || BitWidth(r.dtype(0)) > 16) {
    return CannotExpress("it is computed in its own type");
  }
  return InStandInType(r, DType::kFloat32);
}

absl::StatusOr<Values> GeluAsFormula(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatType(r));
  Value* x = r.in(0);
  Value* f;
  if (r.attrs().String("approximate") == "tanh") {
    Value* cube = r.b.Op("mul", {r.b.Op("mul", {x, x}), x});
    Value* inner = r.b.Op("add", {x, r.b.Op("mul", {r.b.Scalar(t, 0.044715), cube})});
    const double c = std::sqrt(2 / 3.14159265358979323846);
    f = r.b.Op("tanh", {r.b.Op("mul", {r.b.Scalar(t, c), inner})});
  } else {
    f = r.b.Op("erf", {r.b.Op("div", {x, r.b.Scalar(t, std::sqrt(2.0))})});
  }
  Value* half = r.b.Op("mul", {x, r.b.Scalar(t, 0.5)});
  return Values{r.b.Op("mul", {half, r.b.Op("add", {f, r.b.Scalar(t, 1)})})};
}

absl::StatusOr<Values> MishAsFormula(Rewrite& r) {
  return Values{r.b.Op("mul", {r.in(0), r.b.Op("tanh", {r.b.Op("softplus", {r.in(0)})})})};
}

absl::StatusOr<Values> SwishAsFormula(Rewrite& r) {
  Value* x = r.in(0);
  Value* scaled = x;
  if (const double alpha = r.attrs().Float("alpha"); alpha != 1) {
    X2IR_ASSIGN_OR_RETURN(const DType t, FloatType(r));
    scaled = r.b.Op("mul", {x, r.b.Scalar(t, alpha)});
  }
  return Values{r.b.Op("mul", {x, r.b.Op("sigmoid", {scaled})})};
}

absl::StatusOr<Values> HardSwishAsFormula(Rewrite& r) {
  Value* gate = r.b.Op("hard_sigmoid", {r.in(0)}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  return Values{r.b.Op("mul", {r.in(0), gate})};
}

absl::StatusOr<Values> CeluAsElu(Rewrite& r) {
  const double alpha = r.attrs().Float("alpha");
  if (alpha == 1) return Values{r.b.Op("elu", {r.in(0)}, {{"alpha", 1.0f}})};
  if (alpha == 0) return Values{r.b.Op("relu", {r.in(0)})};
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatType(r));
  Value* a = r.b.Scalar(t, alpha, "alpha");
  if (!(alpha > 0)) {  // x and x / alpha are not on one side of 0
    const Expr x(r.b, r.in(0));
    const Expr curve = Expr(r.b, a) * ((x / Expr(r.b, a)).Op("exp") - 1.0);
    return Values{x.Op("max", {x.Number(0)}) + curve.Op("min", {x.Number(0)})};
  }
  Value* y = r.b.Op("elu", {r.b.Op("div", {r.in(0), a})}, {{"alpha", 1.0f}});
  return Values{r.b.Op("mul", {a, y})};
}

absl::StatusOr<Values> ThresholdedReluAsWhere(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const DType t, FloatType(r));
  // float16 does not have every alpha.
  X2IR_ASSIGN_OR_RETURN(const DType wide, FloatComputeType(t));
  Value* alpha = r.b.Scalar(wide, r.attrs().Float("alpha"), "alpha");
  Value* above = r.b.Op("greater", {Expr(r.b, r.in(0)).To(wide), alpha});
  return Values{r.b.Op("where", {above, r.in(0), r.b.Scalar(t, 0, "zero")})};
}

// --- float64 --------------------------------------------------------------------------------

// What runtimes have no kernel of float64 for, by operations that they have one for.
absl::Status ExpectFloat64(const Rewrite& r) {
  return r.dtype(0) == DType::kFloat64 ? absl::OkStatus() : CannotExpress("a formula of float64");
}

absl::StatusOr<Values> LeakyReluOfFloat64(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(ExpectFloat64(r));
  const Expr x(r.b, r.in(0));
  const Expr slope =
      r.node.op() == "prelu" ? Expr(r.b, r.in(1)) : x.Number(r.attrs().Float("alpha"));
  return Values{Where(x.Op("less", {x.Number(0)}), slope * x, x)};
}

absl::StatusOr<Values> HardSigmoidOfFloat64(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(ExpectFloat64(r));
  const Expr x(r.b, r.in(0));
  const Expr line = x * r.attrs().Float("alpha") + r.attrs().Float("beta");
  return Values{line.Op("min", {x.Number(1)}).Op("max", {x.Number(0)})};
}

absl::StatusOr<Values> SoftsignOfFloat64(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(ExpectFloat64(r));
  const Expr x(r.b, r.in(0));
  return Values{x / (x.Op("abs") + 1.0)};
}

// --- clip -----------------------------------------------------------------------------------

// A bound has one element, and may have more axes than the result.
Value* BoundOf(Rewrite& r, size_t i) {
  const int64_t rank = r.rank(i);
  if (rank == 0 || (rank > 0 && rank <= r.rank(0))) return r.in(i);
  return r.b.Op("reshape", {r.in(i), r.b.Ints({}, "scalar")});
}

absl::StatusOr<Values> ClipAsMinMax(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(FloatType(r).status());  // integers: below
  Value* y = r.in(0);
  if (!r.has(1) && !r.has(2)) return Values{r.b.Op("identity", {y})};
  if (r.has(1)) y = r.b.Op("max", {y, BoundOf(r, 1)});
  if (r.has(2)) y = r.b.Op("min", {y, BoundOf(r, 2)});
  return Values{y};
}

// For integers, which ONNX's Max and Min took later than its Where and Less.
absl::StatusOr<Values> ClipAsWhere(Rewrite& r) {
  if (!IsInteger(r.dtype(0))) return CannotExpress("clip as where is for integers");
  Value* y = r.in(0);
  if (!r.has(1) && !r.has(2)) return Values{r.b.Op("identity", {y})};
  for (size_t i = 1; i < 3; ++i) {
    if (!r.has(i)) continue;
    Value* bound = BoundOf(r, i);
    Value* outside = r.b.Op(i == 1 ? "less" : "greater", {y, bound});
    y = r.b.Op("where", {outside, bound, y});
  }
  return Values{y};
}

}  // namespace

X2IR_LOWERING(gelu, InFloat32);
X2IR_LOWERING(gelu, GeluAsFormula);
X2IR_LOWERING(mish, InFloat32);
X2IR_LOWERING(mish, MishAsFormula);
X2IR_LOWERING(swish, InFloat32);
X2IR_LOWERING(swish, SwishAsFormula);
X2IR_LOWERING(hard_swish, InFloat32);
X2IR_LOWERING(hard_swish, HardSwishAsFormula);
X2IR_LOWERING(celu, InFloat32);
X2IR_LOWERING(celu, CeluAsElu);
X2IR_LOWERING(leaky_relu, LeakyReluOfFloat64);
X2IR_LOWERING(prelu, LeakyReluOfFloat64);
X2IR_LOWERING(hard_sigmoid, HardSigmoidOfFloat64);
X2IR_LOWERING(softsign, SoftsignOfFloat64);
X2IR_LOWERING(thresholded_relu, ThresholdedReluAsWhere);
X2IR_LOWERING(clip, ClipAsMinMax);
X2IR_LOWERING(clip, ClipAsWhere);

}  // namespace x2ir
