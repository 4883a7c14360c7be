#include "tests/ops/eval_rows_util.h"

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

void ExpectRows(absl::Span<const EvalRow> rows, std::string_view before) {
  for (const EvalRow& row : rows) {
    ExpectText(EvalText(StrCat(before, row.lines), row.outputs), row.want, row.lines);
  }
}

void ExpectRows(absl::Span<const InferRow> rows) {
  for (const InferRow& row : rows) {
    ExpectText(InferText(row.inputs, row.lines, row.outputs), row.want, row.lines);
  }
}

}  // namespace x2ir
