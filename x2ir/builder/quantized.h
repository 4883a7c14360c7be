// Integers n that represent floats, (n - zero_point) * scale: one builder for every framework's
// quantization. Where ONNX's quantize_linear and dequantize_linear say the same they are made,
// since runtimes take them and the op between them for one kernel; where not, arithmetic.
//
// The same means: of the same formula. quantize_linear divides by the scale, where others multiply
// by its reciprocal: a number whose quotient is within rounding of a half may go to the other
// neighbor. Where that is to be expected, and of constants, it is the arithmetic, digit for digit.
// What NaN becomes as an integer is said nowhere; here it is the least.
#ifndef X2IR_BUILDER_QUANTIZED_H_
#define X2IR_BUILDER_QUANTIZED_H_

#include <cstdint>
#include <optional>

#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// Real numbers that a value lies between, as far as its producers tell. NaN aside.
struct ValueBounds {
  double low, high;
  bool Within(double from, double to) const { return from <= low && high <= to; }
};
ValueBounds BoundsOf(const Value* value);

// The numbers that a value has in every run, where it is a constant or another name of one; null
// otherwise.
const Tensor* SettledTensor(const Value* value);
// Whether a value is the same in every run, as far as a few of its producers show, and not so large
// that computing it is left to run time.
bool IsSettled(const Value* value);

// Numbers as another type; constants at once.
Expr CastNow(const Expr& x, DType to);

// The least and greatest integer of a type.
ValueBounds RangeOfInteger(DType type);

// One scale and zero point for all (rank 0 or one element), or one for each index of an axis
// (rank 1), or one for each block of indices of it (the rank of what is quantized).
struct QuantizationParams {
  Expr scale;       // float
  Expr zero_point;  // integers, of any type; null: 0
  std::optional<int64_t> axis = std::nullopt;
  int64_t block_size = 0;
};

// Integers low .. high, of a type that holds them.
struct IntegerRange {
  DType type;
  int64_t low, high;
};

// round(x * (1 / scale)) + zero_point, halves to even, no less than low and no more than high. The
// arithmetic is done in x's type; only float32 has the op.
Expr Quantized(const Expr& x, const QuantizationParams& steps, const IntegerRange& range);

// (q - zero_point) * scale as that type; the arithmetic is of at least float32.
Expr Dequantized(const Expr& q, const QuantizationParams& steps, DType to);

// x as integers low .. high would leave it, in x's type: quantized and dequantized.
Expr FakeQuantized(const Expr& x, const QuantizationParams& steps, int64_t low, int64_t high);

// A scale or zero point with the axes of x, so that it broadcasts to it.
Expr PlacedAlong(const Expr& x, const Expr& numbers, const QuantizationParams& steps);

}  // namespace x2ir

#endif  // X2IR_BUILDER_QUANTIZED_H_
