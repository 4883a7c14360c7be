// Weights of float checkpoints, rounded to integers of four or eight bits with a scale for each
// block, because the user asked for it: the nearest number, no calibration.
#ifndef X2IR_HANDLERS_CHECKPOINT_ROUNDED_H_
#define X2IR_HANDLERS_CHECKPOINT_ROUNDED_H_

#include <cstdint>
#include <string_view>

#include "x2ir/builder/expr.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace checkpoint {

inline constexpr int64_t kRoundedBlock = 32;  // numbers of a row that share a scale

// Whether a weight can be: a matrix [out, in] of floats whose rows are whole blocks.
bool CanRound(const Tensor& weight);

// float32 [out, in]: dequantize_linear of int4 or int8 constants. A block's scale is its largest
// number without the sign over 7 or 127; numbers are rounded to the nearest code, halves to even.
Expr RoundedAsIr(Builder& b, const Tensor& weight, int bits, std::string_view name);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_ROUNDED_H_
