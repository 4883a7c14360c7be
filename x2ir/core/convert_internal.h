// The steps that convert.h calls. They work in place and cannot be undone: on failure the model is
// left partly converted.
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
// `dialect` is not IR. Only those options of `target` matter that concern the graph ("opset") and
// the dialect's `before_write`. kLacksOps among them are Format::lacks_ops, and kToFormat the name
// of the format that is written.
inline constexpr char kLacksOps[] = "lacks_ops";
inline constexpr char kToFormat[] = "to_format";
absl::Status ExportModel(Model& model, const std::string& dialect, const ExportOptions& options,
                         const FormatOptions& target, Report& report);
// For targets that hold IR: the model changes only where options require it.
absl::Status ExportIr(Model& model, const ExportOptions& options, const FormatOptions& target,
                      Report& report);

// Runs passes, and says in the report what they did.
absl::Status Optimize(Graph& graph, const std::vector<std::string>& names, PassContext context,
                      const ProgressFn& progress, Report& report);
// OK, or Cancelled if the caller cancelled the call.
absl::Status CheckGoOn(const ProgressFn& progress, const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_CORE_CONVERT_INTERNAL_H_
