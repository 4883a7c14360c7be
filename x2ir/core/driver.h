// The conversion driver: walks a graph once and lets handlers say what each node is in the
// other dialect; splices their answers in, keeps names, and collects every failure.
#ifndef X2IR_CORE_DRIVER_H_
#define X2IR_CORE_DRIVER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Rewrites a sorted graph (nested ones included) of `dialect` to IR. Failures go to the
// report; nodes that fail stay as they were. InvalidArgument only for what makes going on
// pointless, Cancelled when `progress` says so. The policy says which nodes may stay foreign
// without being a failure. Calls of local functions become what the functions say, at the
// functions' own opsets, and the model has functions no more; with `keep_functions` the calls stay,
// and so do all functions.
absl::Status RewriteToIr(Model& model, const std::string& dialect, const ForeignPolicy& policy,
                         bool keep_functions, const ProgressFn& progress, Report& report);

// Rewrites a sorted IR graph to `dialect` with the opsets that model.opset_imports says;
// lowers what has no form there. Foreign ops of that dialect stay as they are.
// `source_opsets`: those that foreign ops came from (empty: unknown).
// `keep_failed`: nodes that cannot be written become ops of a domain of their own (IR ops of
// domain "x2ir", which RewriteToIr knows again); they are in the report's failures all the same.
// `lacks_ops`: ops of the dialect that are not written.
absl::Status RewriteFromIr(Model& model, const std::string& dialect,
                           const std::vector<OpsetImport>& source_opsets, bool keep_failed,
                           const std::vector<std::string>& lacks_ops, const ProgressFn& progress,
                           Report& report);

// For tables of operators: `observer` is told of every node that a row of code rewrote to IR, and
// of the nodes that replace it (those of nested graphs aside). From any thread that converts. Null,
// the default: nothing is told.
using RewriteObserver = void (*)(const Form& form, const std::vector<Node*>& made);
void SetRewriteObserver(RewriteObserver observer);

}  // namespace x2ir

#endif  // X2IR_CORE_DRIVER_H_
