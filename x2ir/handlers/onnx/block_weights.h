// Weights of few bits as ONNX Runtime's own ops hold them: rows of bytes, each of 8 bits' worth of
// numbers, the low ones first. A row begins at a byte.
#ifndef X2IR_HANDLERS_ONNX_BLOCK_WEIGHTS_H_
#define X2IR_HANDLERS_ONNX_BLOCK_WEIGHTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// Rows of `count` numbers of 2, 4 or 8 bits, as a tensor [rows, count] of uint2, uint4 or uint8,
// whose rows follow one another without a gap. Bytes that have the same layout are not copied.
// Unimplemented: not of bytes; InvalidArgument: another number of bytes.
absl::StatusOr<Tensor> UnpackedRows(const Tensor& bytes, int64_t rows, int64_t count, int64_t bits);

// The middle of the range, for each: the zero point where none is given.
Tensor MiddleZeroPoints(int64_t rows, int64_t count, int64_t bits);

// How many bytes a row of numbers takes.
inline int64_t RowBytes(int64_t count, int64_t bits) { return (count * bits + 7) / 8; }

// Unimplemented for a number of bits that no runtime supports.
absl::Status CheckBits(const char* attribute, int64_t bits);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_BLOCK_WEIGHTS_H_
