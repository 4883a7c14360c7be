// What a lookup table holds, as a constant of the graph in the place of the table's handle: two
// rows of strings, [2, n], keys and values; numbers as their bytes.
#ifndef X2IR_FORMATS_TENSORFLOW_TABLE_CONTENTS_H_
#define X2IR_FORMATS_TENSORFLOW_TABLE_CONTENTS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// What InitializeTableFromTextFile takes from a line, beside columns from 0 on.
inline constexpr int64_t kWholeLine = -2, kLineNumber = -1;

// Keys and values of n elements each. A key that occurs again is left out; unless the first one
// counts, it must have the same value (InvalidArgument).
absl::StatusOr<Tensor> PackTfTable(const Tensor& keys, const Tensor& values,
                                   bool first_counts = false);

// The keys (row 0) or values (row 1) of a table as a tensor of n elements of that type.
// InvalidArgument where they are of another one, or `table` is no table.
absl::StatusOr<Tensor> TfTableRow(const Tensor& table, int64_t row, DType dtype);

// Whether the op looks something up in the table that is its first operand, or tells its size.
bool ReadsTfTable(std::string_view op);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TENSORFLOW_TABLE_CONTENTS_H_
