#include "tests/handlers/constant_rows_util.h"

#include <vector>

#include "tests/core/convert_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {

absl::StatusOr<std::string> ResultsOfConstants(std::string_view lines, std::string_view outputs,
                                               std::string_view dialect) {
  const std::string text = StrCat("graph g() -> (", outputs, ") {\n", lines, "\n}");
  X2IR_ASSIGN_OR_RETURN(Model model, ModelFromText(text, dialect, 1, {{"custom", 1}}));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(*model.graph, {}));
  std::string got;
  for (const Datum& result : results) {
    StrAppend(&got, got.empty() ? "" : "; ", TensorText(*result.tensor()));
  }
  return got;
}

void ExpectConstantRows(absl::Span<const ConstantRow> rows, std::string_view dialect) {
  for (const ConstantRow& row : rows) {
    const absl::StatusOr<std::string> got = ResultsOfConstants(row.lines, row.outputs, dialect);
    ExpectText(got.ok() ? *got : "error: " + got.status().ToString(), row.want, row.lines);
  }
}

}  // namespace x2ir
