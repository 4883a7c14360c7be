// The steps behind the front door (convert.h), in place and without a way back: on failure the
// model is left half done.
#ifndef X2IR_CORE_CONVERT_INTERNAL_H_
#define X2IR_CORE_CONVERT_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {

absl::Status ImportModel(Model& model, const ImportOptions& options, Report& report);
// `dialect` is not IR. Of `target` the options count that concern the graph ("opset"), and what the
// dialect's `before_write` knows.
absl::Status ExportModel(Model& model, const std::string& dialect, const ExportOptions& options,
                         const FormatOptions& target, Report& report);
// For targets that hold IR: the model stays as it is, but for what options ask.
absl::Status ExportIr(Model& model, const ExportOptions& options, const FormatOptions& target,
                      Report& report);

// Runs passes, and says in the report what they did.
absl::Status Optimize(Graph& graph, const std::vector<std::string>& names, PassContext context,
                      const ProgressFn& progress, Report& report);
// OK, or Cancelled where the caller wants no more.
absl::Status CheckGoOn(const ProgressFn& progress, const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_CORE_CONVERT_INTERNAL_H_
