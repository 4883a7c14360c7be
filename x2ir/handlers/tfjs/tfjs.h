// Rows of TensorFlow.js: what is written otherwise than for TensorFlow. They make nodes of dialect
// "tf" (core/derived_dialect.h).
#ifndef X2IR_HANDLERS_TFJS_TFJS_H_
#define X2IR_HANDLERS_TFJS_TFJS_H_

#include "x2ir/core/dialect_spec.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

struct TfjsDialect : TfDialect {
  static constexpr std::string_view kName = "tfjs";
};

// Whether TensorFlow.js (4.22) would leave `x` as it is where it is broadcast to a shape in which a
// size turns out to be 0: it tiles only along axes of which it wants more.
bool MayStayLarger(const Value& x, const Type& result);

#define X2IR_TFJS(ir_op) X2IR_ROWS(::x2ir::TfjsDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFJS_TFJS_H_
