// The summary of convert and export.
#ifndef X2IR_CLI_SUMMARY_H_
#define X2IR_CLI_SUMMARY_H_

#include <cstdint>
#include <string>

#include "x2ir/cli/session.h"
#include "x2ir/core/report.h"

namespace x2ir::cli {

// A small table: opset, nodes before and after, transposes, bytes written; and ops that were kept
// foreign.
void PrintFacts(Session& session, const Report& report, int64_t bytes);
// A table of nodes by op, of the model that was read and of the one that was written, with totals
// and bytes: one list of ops where both are in one dialect, else one of each, the most frequent
// first.
void PrintOps(Session& session, const Report& report, int64_t bytes_read, int64_t bytes_written);
// One line; the counts of each op with -v; nothing with -q.
void PrintSummary(Session& session, const Report& report, const std::string& done);
// "checked: ONNX's schemas, libonnx's checker", if the report tells of checks.
void PrintChecks(Session& session, const Report& report);
void PrintWarnings(Session& session, const Report& report);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_SUMMARY_H_
