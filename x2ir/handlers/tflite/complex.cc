// TFLite: complex numbers and Fourier transforms.
#include "x2ir/builder/complex.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Value* AbsOfComplex(TfliteArgs& a) { return Abs(Complex{a.in(0).Op("real"), a.in(0).Op("imag")}); }

// Of the last two axes, cut off or filled up with zeros to the lengths in operand 1.
absl::StatusOr<Value*> Rfft2d(TfliteArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, a.KnownInts(1, "lengths"));
  X2IR_RETURN_IF_ERROR(a.Rank(0).status());
  if (lengths.size() != 2 || lengths[0] < 1 || lengths[1] < 1)
    return Invalid("two lengths expected");
  const auto transformed = [&](const Expr& x, int64_t axis, int64_t length, bool onesided) {
    return a.Op("dft", {x, a.b().Int(length), a.b().Int(axis)},
                {{"inverse", 0}, {"onesided", onesided}});
  };
  const Expr rows = transformed(Unsqueeze(a.in(0), {-1}), -2, lengths[1], true);
  const Expr all = transformed(rows, -3, lengths[0], false);
  return Gather(all, a.b().Int(0), -1).Op("complex", {Gather(all, a.b().Int(1), -1)});
}

}  // namespace

X2IR_TFLITE(abs).From("COMPLEX_ABS", AbsOfComplex);
X2IR_TFLITE(dft).From("RFFT2D", Rfft2d);
X2IR_TFLITE(imag).From("IMAG");
X2IR_TFLITE(real).From("REAL");

}  // namespace x2ir
