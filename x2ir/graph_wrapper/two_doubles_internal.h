// Numbers of about 106 bits as the sum of two doubles, of which the first is the nearest double.
// The operations are those of Dekker (1971) and Knuth. They are exact only if the compiler does not
// contract a product and a sum into one operation. Not for other folders.
#ifndef X2IR_GRAPH_WRAPPER_TWO_DOUBLES_INTERNAL_H_
#define X2IR_GRAPH_WRAPPER_TWO_DOUBLES_INTERNAL_H_

#include <cmath>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace portable {

struct Two {
  double hi = 0, lo = 0;
  constexpr Two() = default;
  constexpr Two(double h, double l = 0) : hi(h), lo(l) {}  // NOLINT: numbers are also of one double
};

// a + b, exactly.
constexpr Two ExactSum(double a, double b) {
  const double s = a + b, of_b = s - a;
  return {s, (a - (s - of_b)) + (b - of_b)};
}
// The same where |a| is not below |b|, or a is 0.
constexpr Two ExactSumOfOrdered(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
// a * b, exactly; |a| and |b| below 2^995, and the product not so small that it loses bits.
constexpr Two ExactProduct(double a, double b) {
  constexpr double kSplit = 134217729;  // 2^27 + 1
  const double p = a * b, ta = kSplit * a, tb = kSplit * b;
  const double ah = ta - (ta - a), bh = tb - (tb - b), al = a - ah, bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

constexpr Two operator-(Two a) { return {-a.hi, -a.lo}; }
constexpr Two operator+(Two a, double b) {
  const Two s = ExactSum(a.hi, b);
  return ExactSumOfOrdered(s.hi, s.lo + a.lo);
}
constexpr Two operator+(Two a, Two b) {
  Two s = ExactSum(a.hi, b.hi);
  const Two t = ExactSum(a.lo, b.lo);
  s = ExactSumOfOrdered(s.hi, s.lo + t.hi);
  return ExactSumOfOrdered(s.hi, s.lo + t.lo);
}
constexpr Two operator-(Two a, Two b) { return a + -b; }
constexpr Two operator*(Two a, double b) {
  const Two p = ExactProduct(a.hi, b);
  return ExactSumOfOrdered(p.hi, p.lo + a.lo * b);
}
constexpr Two operator*(Two a, Two b) {
  const Two p = ExactProduct(a.hi, b.hi);
  return ExactSumOfOrdered(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
constexpr Two operator/(Two a, Two b) {
  const double q = a.hi / b.hi;
  const Two p = ExactProduct(q, b.hi);
  return ExactSumOfOrdered(q, (((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo)) / b.hi);
}
inline Two Sqrt(Two a) {
  if (a.hi <= 0) return std::sqrt(a.hi);
  const double s = std::sqrt(a.hi);
  return ExactSumOfOrdered(s, (a - ExactProduct(s, s)).hi / (2 * s));
}

}  // namespace portable
}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_TWO_DOUBLES_INTERNAL_H_
