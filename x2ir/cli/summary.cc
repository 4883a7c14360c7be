// The summary of a conversion.
#include "x2ir/cli/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/columns.h"

namespace x2ir::cli {

namespace {

using OpCounts = std::map<std::string, int64_t>;

// The dialect that most nodes are of; "" is IR.
std::string DialectOf(const OpCounts& ops) {
  std::map<std::string, int64_t> nodes;
  for (const auto& [op, count] : ops) {
    const size_t dot = op.find('.');
    nodes[dot == op.npos ? "" : op.substr(0, dot)] += count;
  }
  const auto most = std::max_element(
      nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == nodes.end() ? "" : most->first;
}

std::string WithoutDialect(const std::string& op, const std::string& dialect) {
  const bool its_own = !dialect.empty() && op.starts_with(dialect + ".");
  return its_own ? op.substr(dialect.size() + 1) : op;
}

// The most frequent first, then by name.
std::vector<std::pair<std::string, int64_t>> ByCount(const OpCounts& ops) {
  std::vector<std::pair<std::string, int64_t>> sorted(ops.begin(), ops.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

int64_t TotalOf(const OpCounts& ops) {
  int64_t total = 0;
  for (const auto& entry : ops) total += entry.second;
  return total;
}

int64_t CountIn(const OpCounts& ops, const std::string& op) {
  const auto it = ops.find(op);
  return it == ops.end() ? 0 : it->second;
}

}  // namespace

void PrintOps(Session& session, const Report& report, int64_t bytes_read, int64_t bytes_written) {
  if (session.quiet) return;
  const OpCounts &read = report.ops_read, &written = report.ops_written;
  const std::string from = DialectOf(read), to = DialectOf(written);
  const auto title = [](const std::string& dialect) { return dialect.empty() ? "IR" : dialect; };
  const std::string nodes_read = Grouped(TotalOf(read)), nodes_written = Grouped(TotalOf(written));
  std::vector<Columns::Column> columns = {{title(from)}, {"original", Columns::kRight}};
  const bool same = from == to || read.empty() || written.empty();
  if (!same) columns.push_back({title(to)});
  columns.push_back({"converted", Columns::kRight});
  Columns table(columns);
  if (same) {
    const std::string& dialect = read.empty() ? to : from;
    OpCounts all = read;
    for (const auto& [op, count] : written) all[op] = std::max(all[op], count);
    for (const auto& entry : ByCount(all)) {
      const std::string& op = entry.first;
      table.Add(
          {WithoutDialect(op, dialect), Grouped(CountIn(read, op)), Grouped(CountIn(written, op))});
    }
    table.Add({"total", nodes_read, nodes_written});
    table.Add({"size", SizeText(bytes_read), SizeText(bytes_written)});
  } else {
    const auto left = ByCount(read), right = ByCount(written);
    for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      std::vector<std::string> cells(4);
      if (i < left.size()) {
        cells[0] = WithoutDialect(left[i].first, from);
        cells[1] = Grouped(left[i].second);
      }
      if (i < right.size()) {
        cells[2] = WithoutDialect(right[i].first, to);
        cells[3] = Grouped(right[i].second);
      }
      table.Add(cells);
    }
    table.Add({"total", nodes_read, "", nodes_written});
    table.Add({"size", SizeText(bytes_read), "", SizeText(bytes_written)});
  }
  const std::string text = table.ToText();
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = text.find('\n', at) + 1;
    session.Print(StrCat("  ", text.substr(at, end - at)));
  }
}

void PrintSummary(Session& session, const Report& report, const std::string& done) {
  if (session.quiet) return;
  session.Print(StrCat(done, ": ", report.nodes_read, report.nodes_read == 1 ? " node" : " nodes",
                       " read, ", report.mapped(), " mapped, ", report.foreign(), " foreign, ",
                       report.nodes_written, " written\n"));
  for (const std::string& note : report.notes) session.Print(StrCat("  ", WithFlags(note), "\n"));
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
