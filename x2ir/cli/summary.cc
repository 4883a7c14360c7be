// The summary of a conversion.
#include "x2ir/cli/summary.h"

#include <algorithm>
#include <cmath>

#include "x2ir/core/columns.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

void PrintSummary(Session& session, const Report& report, const std::string& done) {
  if (session.quiet) return;
  session.Print(StrCat(done, ": ", report.nodes_read, report.nodes_read == 1 ? " node" : " nodes",
                       " read, ", report.mapped(), " mapped, ", report.foreign(), " foreign, ",
                       report.nodes_written, " written\n"));
  for (const std::string& note : report.notes) session.Print(StrCat("  ", note, "\n"));
  if (!session.verbose) return;
  size_t width = 0;
  for (const auto& entry : report.ops) width = std::max(width, entry.first.size());
  for (const auto& [op, count] : report.ops) {
    std::string line = StrCat("  ", op, std::string(width - op.size(), ' '));
    if (count.mapped != 0) StrAppend(&line, "  ", count.mapped, " mapped");
    if (count.lowered != 0) StrAppend(&line, "  ", count.lowered, " lowered");
    if (count.foreign != 0) StrAppend(&line, "  ", count.foreign, " foreign");
    session.Print(line + "\n");
  }
  for (const PassResult& pass : report.passes) {
    const auto ms = static_cast<int64_t>(std::lround(pass.seconds * 1000));
    session.Print(StrCat("  pass ", pass.name, ": ", pass.changes,
                         pass.changes == 1 ? " change, " : " changes, ", ms, " ms\n"));
  }
}

void PrintFacts(Session& session, const Report& report, int64_t bytes) {
  if (session.quiet) return;
  std::vector<Columns::Column> titles;
  std::vector<std::string> cells;
  const auto add = [&](const char* title, std::string cell) {
    titles.push_back({title});
    cells.push_back(std::move(cell));
  };
  if (report.opset > 0) add("opset", StrCat(report.opset));
  add("nodes", StrCat(Grouped(report.nodes_read), " -> ", Grouped(report.nodes_written)));
  if (report.transposes >= 0) add("transposes", Grouped(report.transposes));
  add("size", SizeText(bytes));
  Columns table(titles);
  table.Add(cells);
  const std::string text = table.ToText();
  const size_t line = text.find('\n') + 1;
  session.Print(StrCat("  ", text.substr(0, line), "  ", text.substr(line)));
  std::string foreign;
  for (const auto& [op, count] : report.ops) {
    if (count.foreign == 0) continue;
    StrAppend(&foreign, foreign.empty() ? "" : ", ", op,
              count.foreign > 1 ? StrCat(" ", count.foreign) : "");
  }
  if (!foreign.empty()) session.Print(StrCat("  kept as they are: ", foreign, "\n"));
}

void PrintChecks(Session& session, const Report& report) {
  if (session.quiet || report.checks.empty()) return;
  std::string line;
  for (const std::string& check : report.checks) {
    StrAppend(&line, line.empty() ? "checked: " : "; ", check);
  }
  session.Print(line + "\n");
}

void PrintWarnings(Session& session, const Report& report) {
  for (const std::string& warning : report.warnings) session.Warn(warning);
}

}  // namespace x2ir::cli
