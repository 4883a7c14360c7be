// What handlers of StableHLO's operations by element share.
#ifndef X2IR_HANDLERS_STABLEHLO_ELEMENTWISE_H_
#define X2IR_HANDLERS_STABLEHLO_ELEMENTWISE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/handlers/stablehlo/complex.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace X2IR_API x2ir {

// By a formula of real numbers and one of complex ones.
template <Expr (*kReal)(const Expr&), Complex (*kComplex)(const Complex&)>
Value* OfNumber(StablehloArgs& a) {
  const Expr x = a.in(0);
  return IsComplex(x.dtype()) ? NumberOfParts(kComplex(PartsOfNumber(x))) : kReal(x);
}

// The size of one number with the sign of another, that of zeros too.
Expr WithSignOf(const Expr& size, const Expr& sign);

// max, min and min(max(x, low), high), of bools by logic, of complex numbers in the order of their
// parts.
Expr Greatest(const Expr& x, const Expr& y);
Expr Least(const Expr& x, const Expr& y);

// "EQ", "NE", "GE", "GT", "LE", "LT"; `total`: the order of IEEE 754 of all floats, NaNs and the
// signs of zeros included.
absl::StatusOr<Value*> Compared(StablehloArgs& a, const Expr& x, const Expr& y,
                                std::string_view direction, bool total);

// The integer whose bits a number has: as wide, unsigned or signed.
DType UnsignedOf(int64_t bits);
DType SignedOf(int64_t bits);
Expr BitsAs(const Expr& x, DType to);

// Integers in the order of IEEE 754 of all floats: those of one sign are in their order as they
// are, and that of negative ones is reversed.
Expr TotalOrderOf(const Expr& x);

// x as another element type, as the interpreter converts: floats go to integers towards zero and
// no further than the type reaches, NaN is 0; complex numbers lose their imaginary parts.
Expr Converted(const Expr& x, DType to);

// Of a node of the IR whose operands broadcast: the operation on operands of one shape.
absl::StatusOr<Value*> ToBroadcast(StablehloWriter& w, std::string_view op,
                                   AttributeMap attrs = {});

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_ELEMENTWISE_H_
