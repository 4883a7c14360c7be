// Operators of symbols (MXNet's, NNVM's) on constants: a row an operator.
#ifndef X2IR_TESTS_HANDLERS_SYMBOL_ROWS_UTIL_H_
#define X2IR_TESTS_HANDLERS_SYMBOL_ROWS_UTIL_H_

#include <string_view>

#include "absl/types/span.h"

namespace x2ir {

// Operands and results stand behind each other with a semicolon between.
struct SymbolRow {
  const char *op, *attrs, *operands, *want;
};
void ExpectSymbolRows(absl::Span<const SymbolRow> rows, std::string_view dialect);

}  // namespace x2ir

#endif  // X2IR_TESTS_HANDLERS_SYMBOL_ROWS_UTIL_H_
