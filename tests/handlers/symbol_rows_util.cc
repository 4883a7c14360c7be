#include "tests/handlers/symbol_rows_util.h"

#include <algorithm>
#include <string>

#include "tests/handlers/constant_rows_util.h"

namespace x2ir {

void ExpectSymbolRows(absl::Span<const SymbolRow> rows, std::string_view dialect) {
  for (const SymbolRow& row : rows) {
    std::string lines, names;
    std::string_view rest = row.operands;
    for (char name = 'a'; !rest.empty(); ++name) {
      const size_t end = std::min(rest.find(';'), rest.size());
      lines += std::string(1, name) + " = " + std::string(rest.substr(0, end)) + "\n";
      names += (names.empty() ? "" : ", ") + std::string(1, name);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    // As many results as there are tensors to be had.
    const std::string want = row.want;
    const auto count = std::count(want.begin(), want.end(), ';') + 1;
    std::string results = "r";
    for (long i = 1; i < count; ++i) results += ", r" + std::to_string(i);
    lines += results + " = " + std::string(dialect) + "." + row.op + "(" + names + ") { " +
             row.attrs + " }";
    const ConstantRow one[] = {{lines, results, row.want}};
    ExpectConstantRows(one, dialect);
  }
}

}  // namespace x2ir
