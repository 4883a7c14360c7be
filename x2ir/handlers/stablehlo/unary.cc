// StableHLO: functions of CHLO that the IR has too.
#include "x2ir/handlers/stablehlo/elementwise.h"

namespace x2ir {
namespace {

// The op of real numbers, or a formula of complex ones.
template <Complex (*kComplex)(const Complex&)>
auto Named(std::string_view op) {
  return [op](StablehloArgs& a) -> Value* {
    const Expr x = a.in(0);
    return IsComplex(x.dtype()) ? NumberOfParts(kComplex(PartsOfNumber(x))) : x.Op(op);
  };
}

}  // namespace

X2IR_STABLEHLO(acos).To("chlo.acos").From("chlo.acos", Named<AcosOf>("acos"));
X2IR_STABLEHLO(acosh).To("chlo.acosh").From("chlo.acosh", Named<AcoshOf>("acosh"));
X2IR_STABLEHLO(asin).To("chlo.asin").From("chlo.asin", Named<AsinOf>("asin"));
X2IR_STABLEHLO(asinh).To("chlo.asinh").From("chlo.asinh", Named<AsinhOf>("asinh"));
X2IR_STABLEHLO(atan).To("chlo.atan").From("chlo.atan", Named<AtanOf>("atan"));
X2IR_STABLEHLO(atanh).To("chlo.atanh").From("chlo.atanh", Named<AtanhOf>("atanh"));
X2IR_STABLEHLO(cosh).To("chlo.cosh").From("chlo.cosh", Named<InDoubleParts<Cosh>>("cosh"));
X2IR_STABLEHLO(sinh).To("chlo.sinh").From("chlo.sinh", Named<InDoubleParts<Sinh>>("sinh"));
X2IR_STABLEHLO(erf).Is("chlo.erf");
X2IR_STABLEHLO(is_inf).From("chlo.is_inf");
X2IR_STABLEHLO(tan).From("chlo.tan");

}  // namespace x2ir
