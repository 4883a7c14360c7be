// Builds and prints the table of ops.
#include "x2ir/core/ops_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

std::string Range(const OpRow::Mapping& m) {
  if (m.open_ended) return StrCat(m.first, "+");
  return m.first == m.last ? StrCat(m.first) : StrCat(m.first, "-", m.last);
}

// "onnx.Clip 6-10, 11+, 12 of torch": an op's name stands once for its forms. Of dialects that are
// only read, where one IR op may stand for dozens of ops, it is how many.
std::string Opsets(const OpRow& row) {
  std::string text;
  std::string_view last;
  std::map<std::string_view, std::set<std::string_view>> only_read;
  for (const OpRow::Mapping& m : row.mappings) {
    const std::string_view dialect = std::string_view(m.foreign).substr(0, m.foreign.find('.'));
    if (const Dialect* known = FindDialect(dialect); known && !known->ops) {
      only_read[dialect].insert(m.foreign);
      continue;
    }
    const bool same = !text.empty() && m.foreign == last;
    StrAppend(&text, text.empty() ? "" : ", ", same ? "" : StrCat(m.foreign, " "), Range(m));
    last = m.foreign;
  }
  for (const auto& [dialect, ops] : only_read) {
    StrAppend(&text, text.empty() ? "" : ", ", ops.size(), " of ", dialect);
  }
  return text;
}

std::string_view YesNo(bool yes) { return yes ? "yes" : "-"; }

bool Any(const OpRow& row, bool OpRow::Mapping::*which) {
  return std::any_of(row.mappings.begin(), row.mappings.end(),
                     [&](const OpRow::Mapping& m) { return m.*which; });
}

std::string Join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) StrAppend(&text, text.empty() ? "" : ", ", item);
  return text;
}

// The cells of a row, in the order of kColumns.
constexpr std::string_view kColumns[] = {"op",         "import",   "export",
                                         "evaluation", "lowering", "foreign ops and opsets"};
std::vector<std::string> Cells(const OpRow& row) {
  return {row.op,
          std::string(YesNo(Any(row, &OpRow::Mapping::imports))),
          std::string(YesNo(Any(row, &OpRow::Mapping::exports))),
          std::string(YesNo(row.evaluates)),
          row.lowerings.empty() ? "-" : Join(row.lowerings),
          Opsets(row)};
}

constexpr std::string_view kForeignColumns[] = {"op",        "IR op",    "exists at opset",
                                                "imported",  "exported", "lowered by",
                                                "evaluated", "read from"};
std::string OrDash(std::string text) { return text.empty() ? "-" : text; }
std::vector<std::string> Cells(const ForeignOpRow& row) {
  return {row.op,
          OrDash(Join(row.ir_ops)),
          OrDash(row.exists),
          OrDash(row.imports),
          OrDash(row.exports),
          OrDash(Join(row.lowerings)),
          std::string(YesNo(row.evaluates)),
          OrDash(Join(row.others))};
}

// The opsets from 1 to `latest` where it holds: "1-5, 7+".
template <typename Holds>
std::string Intervals(int latest, Holds holds) {
  std::string text;
  for (int first = 1; first <= latest; ++first) {
    if (!holds(first)) continue;
    int last = first;
    while (last < latest && holds(last + 1)) ++last;
    StrAppend(&text, text.empty() ? "" : ", ", first);
    if (last == latest) {
      text += '+';
    } else if (last > first) {
      StrAppend(&text, "-", last);
    }
    first = last;
  }
  return text;
}

std::vector<ForeignOpRow> ForeignRows(const Dialect& dialect, std::optional<int> opset) {
  std::vector<ForeignOpRow> rows;
  const Symbol name(dialect.name);
  const std::vector<Symbol> ops = dialect.ops();
  // The newest opset of each domain: the default one's is known, others' are their newest op's.
  std::map<std::string, int> latest;
  for (Symbol op : ops) {
    int& last = latest[std::string(SplitOp(op.view()).first)];
    for (const OpSchema* schema : dialect.versions(op)) last = std::max(last, schema->since);
  }
  latest[""] = dialect.latest_opset;
  std::map<std::string, std::vector<std::string>> lowerings;
  for (const Lowering* lowering : AllLowerings()) {
    lowerings[lowering->op.str()].emplace_back(lowering->name);
  }
  std::map<std::string, std::set<std::string>> others;  // by IR op
  for (const Form* form : AllForms("")) {
    if (form->dialect == name || !form->imports) continue;
    const auto [domain, base] = SplitOp(form->op.view());
    others[form->ir_op.str()].insert(
        StrCat(form->dialect.str(), ".", domain,
               domain.empty() ? "" : "::", base.substr(0, base.find('.'))));
  }
  for (Symbol op : ops) {
    const std::string domain(SplitOp(op.view()).first);
    const auto exists = [&](int o) {
      const OpSchema* schema = dialect.schema(op, o);
      return schema && !schema->deprecated;
    };
    const int last = latest[domain];
    ForeignOpRow row;
    row.op = op.str();
    row.exists = Intervals(last, exists);
    if (row.exists.empty() || (opset && domain.empty() && !exists(*opset))) continue;
    std::set<std::string> ir_ops;
    row.imports = Intervals(last, [&](int o) {
      const Form* form = exists(o) ? FindImportForm(name, op, o) : nullptr;
      if (form) ir_ops.insert(form->ir_op.str());
      return form != nullptr;
    });
    row.exports = Intervals(last, [&](int o) {
      return exists(o) && o >= (domain.empty() ? dialect.oldest_written_opset : 1) &&
             std::any_of(ir_ops.begin(), ir_ops.end(), [&](const std::string& ir) {
               const Form* form = FindExportForm(name, ir, o);
               return form && form->op == op;
             });
    });
    row.evaluates = !ir_ops.empty();
    for (const std::string& ir : ir_ops) {
      const OpDef* def = FindOp(ir);
      row.evaluates = row.evaluates && def && def->eval();
      row.lowerings.insert(row.lowerings.end(), lowerings[ir].begin(), lowerings[ir].end());
      row.others.insert(row.others.end(), others[ir].begin(), others[ir].end());
    }
    row.ir_ops.assign(ir_ops.begin(), ir_ops.end());
    rows.push_back(std::move(row));
  }
  return rows;
}

// The ops of a dialect that has no schemas and is only read, as its forms name them.
std::vector<ForeignOpRow> ReadRows(const std::string& dialect) {
  std::map<std::string, ForeignOpRow> rows;
  for (const Form* form : AllForms(dialect)) {
    if (!form->imports) continue;
    ForeignOpRow& row = rows[form->op.str()];
    row.op = form->op.str();
    row.imports = "yes";
    row.ir_ops.push_back(form->ir_op.str());
    const OpDef* def = FindOp(form->ir_op);
    row.evaluates = def && def->eval();
  }
  std::vector<ForeignOpRow> list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

using Lines = std::vector<std::vector<std::string>>;

// The header, then the rows.
Lines LinesOf(const OpsTable& table) {
  Lines lines;
  if (table.foreign_rows.empty()) {
    lines.push_back({std::begin(kColumns), std::end(kColumns)});
    for (const OpRow& row : table.rows) lines.push_back(Cells(row));
  } else if (table.foreign_rows[0].exists.empty()) {  // of a dialect that is only read
    lines.push_back({"op", "evaluated", "IR op"});
    for (const ForeignOpRow& row : table.foreign_rows) {
      lines.push_back({row.op, std::string(YesNo(row.evaluates)), Join(row.ir_ops)});
    }
  } else {
    lines.push_back({std::begin(kForeignColumns), std::end(kForeignColumns)});
    for (const ForeignOpRow& row : table.foreign_rows) lines.push_back(Cells(row));
  }
  return lines;
}

std::string JsonOf(const ForeignOpRow& row) {
  auto list = [](const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items)
      StrAppend(&text, text.empty() ? "" : ", ", JsonString(item));
    return StrCat("[", text, "]");
  };
  return StrCat(
      "{\"op\": ", JsonString(row.op), ", \"ir_ops\": ", list(row.ir_ops),
      ", \"exists\": ", JsonString(row.exists), ", \"imports\": ", JsonString(row.imports),
      ", \"exports\": ", JsonString(row.exports), ", \"lowerings\": ", list(row.lowerings),
      ", \"evaluates\": ", row.evaluates ? "true" : "false", ", \"others\": ", list(row.others),
      "}");
}

}  // namespace

absl::StatusOr<OpsTable> MakeOpsTable(const std::string& dialect, std::optional<int> opset) {
  const Dialect* known = FindDialect(dialect);
  if (!dialect.empty() && !known) return Invalid("there is no dialect '", dialect, "'");
  if (opset && (*opset < 1 || (known && *opset > known->latest_opset))) {
    return Invalid("there is no opset ", *opset,
                   known ? StrCat(" of ", dialect, "; expected 1 to ", known->latest_opset) : "");
  }
  std::map<std::string, OpRow> rows;
  for (const OpDef* def : AllOps()) {
    OpRow& row = rows[def->name().str()];
    row.doc = def->doc();
    row.evaluates = def->eval() != nullptr;
  }
  for (const Form* form : AllForms(dialect)) {
    const Dialect* own = FindDialect(form->dialect);
    const std::string_view domain = SplitOp(form->op.view()).first;
    auto at = [&](int of_default) {  // the opset of the form's own domain
      const int version = DomainVersion(own, domain, of_default);
      return version != 0 ? version : of_default;
    };
    if (opset && !form->opsets.contains(at(*opset))) continue;
    OpRow& row = rows[form->ir_op.str()];
    OpRow::Mapping m;
    m.foreign = StrCat(form->dialect.str(), ".", form->op.str());
    m.first = form->opsets.first;
    m.open_ended = form->opsets.last == std::numeric_limits<int>::max();
    m.last = m.open_ended ? (own ? at(own->latest_opset) : m.first) : form->opsets.last;
    m.imports = form->imports && (!form->code || form->code->import);
    m.exports = form->exports && (!form->code || form->code->export_);
    row.mappings.push_back(std::move(m));
  }
  for (const Lowering* lowering : AllLowerings()) {
    rows[lowering->op.str()].lowerings.emplace_back(lowering->name);
  }
  OpsTable table;
  for (auto& [name, row] : rows) {
    row.op = name;
    std::stable_sort(row.mappings.begin(), row.mappings.end(), [](const auto& a, const auto& b) {
      return std::pair(a.foreign, a.first) < std::pair(b.foreign, b.first);
    });
    table.rows.push_back(std::move(row));
  }
  if (known) table.foreign_rows = known->ops ? ForeignRows(*known, opset) : ReadRows(dialect);
  return table;
}

std::string OpsTable::ToText() const {
  const Lines lines = LinesOf(*this);
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) {
      StrAppend(&row, line[i], std::string(widths[i] - line[i].size() + 2, ' '));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    StrAppend(&text, row, "\n");
  }
  if (!foreign_rows.empty()) return text + StrCat(foreign_rows.size(), " ops\n");
  std::set<std::string_view> foreign;
  for (const OpRow& row : rows) {
    for (const OpRow::Mapping& m : row.mappings) foreign.insert(m.foreign);
  }
  StrAppend(&text, rows.size(), " ops of the IR, ", foreign.size(), " foreign ops\n");
  return text;
}

std::string OpsTable::ToMarkdown() const {
  std::string text;
  const Lines lines = LinesOf(*this);
  for (size_t i = 0; i < lines.size(); ++i) {
    text += "|";
    for (const std::string& cell : lines[i]) StrAppend(&text, " ", cell, " |");
    text += "\n";
    if (i > 0) continue;
    text += "|";
    for (size_t column = 0; column < lines[0].size(); ++column) text += "---|";
    text += "\n";
  }
  return text;
}

std::string OpsTable::ToJson() const {
  std::string json = "[";
  for (const ForeignOpRow& row : foreign_rows) {
    StrAppend(&json, json.size() > 1 ? "," : "", "\n  ", JsonOf(row));
  }
  if (!foreign_rows.empty()) return json + "\n]\n";
  for (const OpRow& row : rows) {
    StrAppend(&json, json.size() > 1 ? "," : "", "\n  {\"op\": ", JsonString(row.op),
              ", \"doc\": ", JsonString(row.doc),
              ", \"evaluates\": ", row.evaluates ? "true" : "false", ", \"lowerings\": [");
    for (size_t i = 0; i < row.lowerings.size(); ++i) {
      StrAppend(&json, i ? ", " : "", JsonString(row.lowerings[i]));
    }
    json += "], \"mappings\": [";
    for (size_t i = 0; i < row.mappings.size(); ++i) {
      const OpRow::Mapping& m = row.mappings[i];
      StrAppend(&json, i ? ", " : "", "{\"foreign\": ", JsonString(m.foreign),
                ", \"first\": ", m.first, ", \"last\": ", m.last,
                ", \"import\": ", m.imports ? "true" : "false",
                ", \"export\": ", m.exports ? "true" : "false", "}");
    }
    json += "]}";
  }
  return json + "\n]\n";
}

}  // namespace x2ir
