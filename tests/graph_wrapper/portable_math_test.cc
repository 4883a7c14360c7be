// Functions that give the same bits everywhere: their errors against the C library's long double,
// their special values against its double, and some of their bits, which no machine may change.
#include "x2ir/graph_wrapper/portable_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace x2ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Row {
  const char* name;
  double (*of_double)(double);
  float (*of_float)(float);
  double (*libm)(double);
  long double (*exact)(long double);
  double from, to;    // of operands
  double ulp = 0.51;  // the largest error of the double
};
#define X2IR_ROW(f, ...)                                                     \
  {                                                                          \
#f, portable::f, portable::f, static_cast < double (*)(double)>(std::f), \
        static_cast < long double (*)(long double)>(std::f), __VA_ARGS__     \
  }
const Row kRows[] = {
    X2IR_ROW(acos, -1, 1),       X2IR_ROW(acosh, 1, 1e3),         X2IR_ROW(asin, -1, 1),
    X2IR_ROW(asinh, -50, 50),    X2IR_ROW(atan, -20, 20),         X2IR_ROW(atanh, -1, 1),
    X2IR_ROW(cos, -1e3, 1e3),    X2IR_ROW(cosh, -20, 20),         X2IR_ROW(erf, -6, 6, 2),
    X2IR_ROW(erfc, -6, 26, 4),   X2IR_ROW(exp, -700, 700),        X2IR_ROW(exp2, -1000, 1000),
    X2IR_ROW(expm1, -30, 30),    X2IR_ROW(expm1, -0.1, 0.1),      X2IR_ROW(lgamma, 3, 100),
    X2IR_ROW(log, 1e-3, 10),     X2IR_ROW(log, 0.98, 1.02),       X2IR_ROW(log10, 1e-3, 1e6),
    X2IR_ROW(log1p, -0.99, 5),   X2IR_ROW(log1p, -1e-3, 1e-3),    X2IR_ROW(log2, 1e-3, 1e6),
    X2IR_ROW(sin, -1e3, 1e3),    X2IR_ROW(sin, -1e-3, 1e-3),      X2IR_ROW(sin, 1e15, 1e17),
    X2IR_ROW(sinh, -20, 20),     X2IR_ROW(tan, -1e3, 1e3),        X2IR_ROW(tanh, -10, 10),
    X2IR_ROW(tanh, -1e-2, 1e-2), X2IR_ROW(tgamma, 0.1, 100, 0.6), X2IR_ROW(tgamma, -9.9, 0, 0.6),
};

// The distance of doubles, or floats, at x.
template <typename T>
T Ulp(T x) {
  x = std::fabs(x);
  return std::nextafter(x, std::numeric_limits<T>::infinity()) - x;
}

// Errors are measured with 11 bits more than a double has; where there are no more, nothing is.
TEST(PortableMath, IsCloseToTheExactResult) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no long double";
  std::mt19937_64 random(1);
  for (const Row& row : kRows) {
    long double worst = 0, worst_float = 0;
    for (int i = 0; i < 2000; ++i) {
      const double x =
          row.from + (row.to - row.from) * static_cast<double>(random() >> 11) * 0x1p-53;
      const long double exact = row.exact(x);
      const long double error =
          std::fabs(row.of_double(x) - exact) / Ulp(static_cast<double>(exact));
      worst = std::max(worst, error);
      const auto f = static_cast<float>(x);
      const long double exact_of_float = row.exact(f);
      const auto nearest = static_cast<float>(exact_of_float);
      if (std::isnormal(nearest)) {
        worst_float =
            std::max(worst_float, std::fabs(row.of_float(f) - exact_of_float) / Ulp(nearest));
      }
    }
    EXPECT_LE(worst, row.ulp) << row.name << " from " << row.from << " to " << row.to;
    EXPECT_LE(worst_float, 0.502L) << row.name << " of float from " << row.from;
  }
  long double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = std::exp2(static_cast<double>(random() >> 11) * 0x1p-48 - 16);
    const double y = static_cast<double>(random() >> 11) * 0x1p-47 - 32;
    const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    worst =
        std::max(worst, std::fabs(portable::pow(x, y) - exact) / Ulp(static_cast<double>(exact)));
  }
  EXPECT_LE(worst, 0.51) << "pow";
}

// Equal, or nearly, with the same sign of zero; a NaN for a NaN, of positive sign.
void ExpectAlike(double own, double libm, const std::string& what) {
  if (std::isnan(libm)) {
    EXPECT_TRUE(std::isnan(own) && !std::signbit(own)) << what;
  } else if (std::isinf(libm) || libm == 0) {
    EXPECT_EQ(own, libm) << what;
    EXPECT_EQ(std::signbit(own), std::signbit(libm)) << what;
  } else {
    EXPECT_NEAR(own, libm, 5 * Ulp(libm)) << what;
  }
}

TEST(PortableMath, HasTheSpecialValuesOfTheCLibrary) {
  std::vector<double> numbers = {0,     1e-320, 5e-324, 1e-300, 0x1p-1022, 1e-20,  0.5,  1,
                                 1.5,   2,      3,      7,      26.5,      27.5,   100,  170.5,
                                 171.7, 184.5,  709.7,  710,    745.2,     1023.5, 1024, 1074,
                                 1080,  1e10,   1e22,   1e300,  0x1p1023,  kInf};
  for (size_t i = 0, n = numbers.size(); i < n; ++i) numbers.push_back(-numbers[i]);
  numbers.push_back(std::nan(""));
  for (const Row& row : kRows) {
    for (const double x : numbers) {
      const std::string what = row.name + ("(" + std::to_string(x)) + ")";
      ExpectAlike(row.of_double(x), row.libm(x), what);
      const auto f = static_cast<float>(x);
      const double libm_of_float = static_cast<float>(row.libm(f));
      if (std::fabs(libm_of_float) < 1e-37 && libm_of_float != 0) continue;  // few digits
      if (std::isfinite(libm_of_float)) {
        EXPECT_NEAR(row.of_float(f), libm_of_float, 1e-7 * std::fabs(libm_of_float)) << what;
      } else {
        ExpectAlike(row.of_float(f), libm_of_float, what + " of float");
      }
    }
  }
  for (const double x : numbers) {
    for (const double y : numbers) {
      ExpectAlike(portable::pow(x, y), std::pow(x, y),
                  "pow(" + std::to_string(x) + ", " + std::to_string(y) + ")");
    }
  }
  EXPECT_EQ(portable::pow(10, 3), 1000);
  EXPECT_EQ(portable::pow(2, 0.5F), std::sqrt(2.0));
  EXPECT_EQ(portable::log2(8), 3);
  EXPECT_EQ(portable::log10(1000), 3);
  EXPECT_EQ(portable::tgamma(6), 120);
}

// A sum of the bits of many results. It is that of any machine and compiler.
TEST(PortableMath, HasTheSameBitsEverywhere) {
  uint64_t sum = 0;
  const auto add = [&](double y) {
    sum = (sum ^ std::bit_cast<uint64_t>(y)) * 0x9E3779B97F4A7C15u;
  };
  for (const Row& row : kRows) {
    for (int i = 0; i <= 1000; ++i) {
      const double x = row.from + (row.to - row.from) * i / 1000;
      add(row.of_double(x));
      add(row.of_float(static_cast<float>(x)));
    }
  }
  for (int i = 1; i <= 1000; ++i) add(portable::pow(i * 0.37, 17.3 - i * 0.03));
  EXPECT_EQ(sum, 8234321287851905527u);
}

}  // namespace
}  // namespace x2ir
