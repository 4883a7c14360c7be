// Weights in blocks of GGUF's types, in the graph: as integers of few bits that are dequantized, or
// as plain floats. Both say exactly the numbers that ggml computes in float32.
#ifndef X2IR_HANDLERS_CHECKPOINT_BLOCKS_H_
#define X2IR_HANDLERS_CHECKPOINT_BLOCKS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// float32 of the weight's sizes: dequantize_linear of integers (int4, uint4 or int8) with one scale
// for each group of the last axis; for types with minima less these, group by group. Large tensors
// go to a temporary file (graph_wrapper/residency.h). Fails the builder for a type that has no
// such form, and for bytes that are not of these sizes. `name`: of the constants.
Expr BlockWeightAsIr(Builder& b, const BlockWeight& weight, std::string_view name);

// Rows of a matrix by their numbers `ids`, of any rank: only these are dequantized. The codes are
// int8, of which runtimes can pick rows.
Expr BlockRowsAsIr(Builder& b, const BlockWeight& weight, const Expr& ids, std::string_view name);

// The numbers; `type`: float32, or rounded to float16 or bfloat16.
absl::StatusOr<Tensor> DequantizedBlock(const BlockWeight& weight, DType type);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_BLOCKS_H_
