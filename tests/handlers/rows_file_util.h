// Files of rows (tests/data/*/rows.txt), which the generators make (rows.py of the dialects'
// folders): an operator on small constants, and what it gives by its framework's documentation.
#ifndef X2IR_TESTS_HANDLERS_ROWS_FILE_UTIL_H_
#define X2IR_TESTS_HANDLERS_ROWS_FILE_UTIL_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

// Tensors as text, with the names that they have in the row ("" where it says none). "_": an
// operand that is left out, a result that nobody looks at.
struct NamedTexts {
  std::vector<std::string> names, tensors;
};
struct FileRow {
  std::string op, attrs;
  NamedTexts operands, results;
  std::string ToString() const;  // for messages
};

// The rows of tests/data/NAME/rows.txt.
std::vector<FileRow> ReadFileRows(std::string_view name);

// What is known of operands when the row is converted.
enum class RowOperands {
  kConstants,
  kInputs,       // types and sizes
  kOfSomeSizes,  // types and ranks
};

// The names of operands and results as attributes, as the reader of Paddle's programs notes them.
std::string SlotsOfRow(const FileRow& row);

// The row as a model of its dialect; `more_attrs` stand before those of the row. Operands that are
// inputs are called v0, v1, ...
absl::StatusOr<Model> ModelOfRow(const FileRow& row, std::string_view dialect,
                                 std::string_view more_attrs, RowOperands known);
// The operands that a graph of it takes as inputs, and the results that are looked at.
absl::StatusOr<std::vector<Tensor>> InputsOfRow(const FileRow& row, const Graph& graph);
absl::StatusOr<std::vector<Tensor>> ResultsOfRow(const FileRow& row);

// What differs between the row and what the dialect's operator gives in our evaluation; "" where
// nothing does, or where there is an error because so little is known. `more_attrs` stand
// before those of the row.
std::string DifferenceOfRow(const FileRow& row, std::string_view dialect,
                            std::string_view more_attrs = "",
                            RowOperands known = RowOperands::kConstants);

// Checks all rows, with all that may be known of operands (with X2IR_CASES=op: those of one
// operator), and that every operator of the dialect has two of them or a reason to have none.
void ExpectRowsOfAll(std::string_view dialect,
                     const std::map<std::string, std::string>& reasons_for_none,
                     std::string (*more_attrs)(const FileRow& row) = nullptr);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_ROWS_FILE_UTIL_H_
