// How quantized matrices stand in the graph. See quantized.h.
#ifndef X2IR_HANDLERS_CHECKPOINT_QUANTIZED_FORMS_H_
#define X2IR_HANDLERS_CHECKPOINT_QUANTIZED_FORMS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// (code - zero point) * scale, with one zero point and one scale for each group of a row's numbers.
struct IntegerMatrix {
  int64_t rows = 0, width = 0;
  int64_t group = 0;  // divides the width
  int bits = 4;       // codes are from 0 to 2^bits - 1
  // Writes those of rows [begin, end), one to a byte.
  std::function<void(int64_t begin, int64_t end, uint8_t* to)> codes = {};
  // The same less 128, as they are stored: for 8 bits; may be absent.
  std::optional<Tensor> as_int8 = {};
  std::function<float(int64_t row, int64_t group)> scale = {};
  // None: the middle of the range, 2^(bits - 1).
  std::function<int64_t(int64_t row, int64_t group)> zero = {};
  std::vector<Tensor> read = {};  // what is read on the way

  int64_t groups() const { return width / group; }
};

// dequantize_linear: of int4 or int8 where all zero points are the middle of the range, else of
// uint4 or uint8.
Expr IntegersAsIr(Builder& b, const IntegerMatrix& matrix, std::string_view name);

// Float8 or int8 numbers by one scale for each block of rows and columns.
struct ScaledMatrix {
  Tensor numbers;  // rank 2
  // [rows / block_rows, columns / block_columns], rounded up; rank 2.
  Tensor scales;
  int64_t block_rows = 1, block_columns = 1;
};
Expr ScaledAsIr(Builder& b, const ScaledMatrix& matrix, std::string_view name);

// Numbers of a table of 16, two to a byte, the first in the upper half, by one scale for each block
// of numbers, whatever row they are of.
struct TableMatrix {
  std::vector<int64_t> dims;  // their product is even
  Tensor bytes;               // uint8, rank 1
  std::vector<float> table, scales;
  int64_t block = 64;
};
Expr TableAsIr(Builder& b, const TableMatrix& matrix, std::string_view name);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_QUANTIZED_FORMS_H_
