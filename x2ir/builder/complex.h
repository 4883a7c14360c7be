// Complex numbers as two tensors of floats, and their arithmetic as formulas of these. What is
// computed is the principal value, as in C. Parts of float32 are computed in float64 where float32
// would overflow or lose digits.
#ifndef X2IR_BUILDER_COMPLEX_H_
#define X2IR_BUILDER_COMPLEX_H_

#include <complex>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

struct Complex {
  Expr re, im;
  DType dtype() const { return re.dtype(); }  // of the parts
  Complex To(DType part) const { return {re.To(part), im.To(part)}; }
};

// The element type of the parts of complex numbers, and of the numbers that these parts make.
DType PartType(DType complex);
DType ComplexType(DType part);

// Real functions of two numbers: sqrt(a^2 + b^2) without overflow, and the direction of (x, y) from
// -pi to pi, with the signs of zeros.
Expr Hypot(const Expr& a, const Expr& b);
Expr Atan2(const Expr& y, const Expr& x);

inline Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator-(const Complex& z) { return {-z.re, -z.im}; }
// All four products, those with 0 too: they decide the signs of zeros.
Complex operator*(const Complex& a, const Complex& b);
Complex operator/(const Complex& a, const Complex& b);
inline Complex operator*(const Complex& z, const Expr& real) { return {z.re * real, z.im * real}; }
inline Complex Conj(const Complex& z) { return {z.re, -z.im}; }
Complex Reciprocal(const Complex& z);

Expr Abs(const Complex& z);
Expr Angle(const Complex& z);
Complex Polar(const Expr& size, const Expr& angle);
Complex Sign(const Complex& z);  // z / |z|, of 0 it is 0

Complex Exp(const Complex& z);
Complex Log(const Complex& z);
Complex Sqrt(const Complex& z);
Complex Sin(const Complex& z);
Complex Cos(const Complex& z);
Complex Sinh(const Complex& z);
Complex Cosh(const Complex& z);
Complex Tan(const Complex& z);
Complex Tanh(const Complex& z);
Complex Asin(const Complex& z);
Complex Acos(const Complex& z);
Complex Atan(const Complex& z);
Complex Asinh(const Complex& z);
Complex Acosh(const Complex& z);
Complex Atanh(const Complex& z);
Complex Exp2(const Complex& z);
// exp(z) - 1 and log(1 + z), with every digit near 0.
Complex Expm1(const Complex& z);
Complex Log1p(const Complex& z);
// z / (1 + exp(-z)).
Complex SwishOf(const Complex& z);
// log(exp(a) + exp(b)): the imaginary part is that of the number with the larger real part (of
// equal ones, of `a`) and what the other one adds to it.
Complex LogAddExp(const Complex& a, const Complex& b);
Complex Sigmoid(const Complex& z);
Complex Pow(const Complex& z, const Complex& exponent);
// Of an exponent that is known: small integers are products, halves are roots.
Complex Pow(const Complex& z, std::complex<double> exponent);

Expr IsNan(const Complex& z);  // either part is
Expr IsInf(const Complex& z);  // either part is

}  // namespace x2ir

#endif  // X2IR_BUILDER_COMPLEX_H_
