// The functions of <cmath> that C libraries round differently. C libraries choose other code for
// other processors, so that a number in a converted file would depend on the machine. Here the same
// operands give the same bits everywhere: the code is only additions, multiplications, divisions
// and square roots of IEEE 754, which are never contracted.
//
// Names, domains and special values are those of <cmath>: a NaN where it has one (always the same
// NaN, of positive sign), infinities and signed zeros as in Annex F of C. No errno, no exceptions
// of floating point.
//
// Of double: the nearest double but for about one result in 10,000, which is the other neighbour.
// Of erf, erfc, tgamma and lgamma the error is below 1.5 ulp (of lgamma near 1 and 2 and of
// negative numbers 1e-15 in total). Of float: the nearest float but for about one in a million.
//
// What IEEE 754 defines itself (sqrt, fabs, floor, fmod, ldexp, ...) is that of <cmath>.
#ifndef X2IR_GRAPH_WRAPPER_PORTABLE_MATH_H_
#define X2IR_GRAPH_WRAPPER_PORTABLE_MATH_H_

#include <type_traits>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace portable {

// Overloads as in <cmath>: of float and of double; integers are taken as double.
#define X2IR_PORTABLE_FUNCTION_(name)                                     \
  float name(float x);                                                    \
  double name(double x);                                                  \
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> \
  double name(T x) {                                                      \
    return name(static_cast<double>(x));                                  \
  }

X2IR_PORTABLE_FUNCTION_(acos)
X2IR_PORTABLE_FUNCTION_(acosh)
X2IR_PORTABLE_FUNCTION_(asin)
X2IR_PORTABLE_FUNCTION_(asinh)
X2IR_PORTABLE_FUNCTION_(atan)
X2IR_PORTABLE_FUNCTION_(atanh)
X2IR_PORTABLE_FUNCTION_(cos)
X2IR_PORTABLE_FUNCTION_(cosh)
X2IR_PORTABLE_FUNCTION_(erf)
X2IR_PORTABLE_FUNCTION_(erfc)
X2IR_PORTABLE_FUNCTION_(exp)
X2IR_PORTABLE_FUNCTION_(exp2)
X2IR_PORTABLE_FUNCTION_(expm1)
X2IR_PORTABLE_FUNCTION_(lgamma)
X2IR_PORTABLE_FUNCTION_(log)
X2IR_PORTABLE_FUNCTION_(log10)
X2IR_PORTABLE_FUNCTION_(log1p)
X2IR_PORTABLE_FUNCTION_(log2)
X2IR_PORTABLE_FUNCTION_(sin)
X2IR_PORTABLE_FUNCTION_(sinh)
X2IR_PORTABLE_FUNCTION_(tan)
X2IR_PORTABLE_FUNCTION_(tanh)
X2IR_PORTABLE_FUNCTION_(tgamma)
#undef X2IR_PORTABLE_FUNCTION_

float pow(float base, float exponent);
double pow(double base, double exponent);
// Of two types: in double.
template <typename A, typename B,
          std::enable_if_t<!std::is_same_v<A, B> || std::is_integral_v<A>, int> = 0>
double pow(A base, B exponent) {
  return pow(static_cast<double>(base), static_cast<double>(exponent));
}

}  // namespace portable
}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_PORTABLE_MATH_H_
