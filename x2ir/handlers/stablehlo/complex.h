// Functions of complex numbers as StableHLO and CHLO have them: parts are computed in float64 and
// rounded once, and numbers of any size, infinite ones too, have the values that the functions
// tend to.
#ifndef X2IR_HANDLERS_STABLEHLO_COMPLEX_H_
#define X2IR_HANDLERS_STABLEHLO_COMPLEX_H_

#include "x2ir/builder/complex.h"

namespace X2IR_API x2ir {

// A complex number by its parts, and back.
Complex PartsOfNumber(const Expr& z);
Expr NumberOfParts(const Complex& z);

// In float64, rounded once.
template <Complex (*kFunction)(const Complex&)>
Complex InDoubleParts(const Complex& z) {
  return kFunction(z.To(DType::kFloat64)).To(z.dtype());
}

Complex AcosOf(const Complex& z);
Complex AcoshOf(const Complex& z);
Complex AsinOf(const Complex& z);
Complex AsinhOf(const Complex& z);
Complex AtanOf(const Complex& z);
Complex AtanhOf(const Complex& z);
Complex Log1pOf(const Complex& z);
Complex SquareOf(const Complex& z);
Complex SignOf(const Complex& z);  // NaN where a part is
Complex CubeRootOf(const Complex& z);
// -i log((x + iy) / sqrt(x^2 + y^2)).
Complex Atan2Of(const Complex& y, const Complex& x);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_COMPLEX_H_
