// Integers that represent the floats of a range.
#ifndef X2IR_HANDLERS_TF_QUANTIZE_H_
#define X2IR_HANDLERS_TF_QUANTIZE_H_

#include "x2ir/builder/expr.h"
#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// Its ends, float32.
struct QuantizedRange {
  Expr least, greatest;
};
// One number each.
QuantizedRange RangeAt(TfArgs& a, size_t least, size_t greatest);

struct QuantizedLimits {
  double least, greatest;
  double steps() const { return greatest - least + 1; }
  bool is_signed() const { return least < 0; }
};
// Of int8, uint8, int16, uint16 and int32, as TensorFlow's quantized types are read.
QuantizedLimits LimitsOf(TfArgs& a, DType t);

// By steps of which one is zero.
Expr QuantizedMinFirst(const Expr& x, const QuantizedRange& range, const QuantizedLimits& limits,
                       DType t);
Expr DequantizedMinFirst(const Expr& q, const QuantizedRange& range, const QuantizedLimits& limits);
// The integer for `number`, as a float64 that may be beyond the limits.
Expr QuantizedNumber(double number, const QuantizedRange& range, const QuantizedLimits& limits);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_QUANTIZE_H_
