// Builds and prints the table of ops.
#include "x2ir/inspect/ops_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "x2ir/core/dialect.h"
#include "x2ir/core/json_list.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/attribute_meanings.h"
#include "x2ir/inspect/op_families.h"
#include "x2ir/inspect/produced_ops.h"
#include "x2ir/inspect/wrap.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

std::string Range(const OpRow::Mapping& m) {
  if (m.open_ended) return StrCat(m.first, "+");
  return m.first == m.last ? StrCat(m.first) : StrCat(m.first, "-", m.last);
}

// "onnx.Clip 6-10, 11+, 12 of torch": an op's name occurs once for all its forms. For dialects that
// are only read, where dozens of ops may become one IR op, it is their number.
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
  // The newest opset of each domain: that of the default one is known; for others, the newest op's.
  std::map<std::string, int> latest;
  for (Symbol op : ops) {
    int& last = latest[std::string(SplitOp(op.view()).first)];
    for (const OpSchema* schema : dialect.versions(op)) last = std::max(last, schema->since);
  }
  latest[""] = dialect.latest_opset;
  std::map<std::string, std::vector<std::string>> lowerings;
  for (const auto& [op, lowering] : AllLowerings()) {
    lowerings[op.str()].emplace_back(lowering->name);
  }
  std::map<std::string, std::set<std::string>> others;  // by IR op
  for (const Form* form : AllForms("")) {
    if (form->dialect == name || !form->imports || !MakesItsIrOp(*form)) continue;
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

// The ops of a dialect that has no schemas, as its forms name them.
std::vector<ForeignOpRow> RowsOfForms(const std::string& dialect) {
  std::map<std::string, ForeignOpRow> rows;
  for (const Form* form : AllForms(dialect)) {
    ForeignOpRow& row = rows[form->op.str()];
    row.op = form->op.str();
    if (form->exports) row.exports = "yes";
    if (!form->imports) continue;
    row.imports = "yes";
    for (std::string& op : ProducedOps(*form)) row.ir_ops.push_back(std::move(op));
    const OpDef* def = FindOp(form->ir_op);
    row.evaluates = def && def->eval();
  }
  std::vector<ForeignOpRow> list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

std::vector<OpRow::Operand> OperandsOf(const std::vector<OperandDef>& defs) {
  std::vector<OpRow::Operand> operands;
  for (const OperandDef& def : defs) {
    std::string arity;
    if (def.arity == Arity::kOptional) arity = "optional";
    if (def.arity == Arity::kVariadic) {
      arity = def.min == 0 ? "any number" : StrCat("at least ", def.min);
    }
    operands.push_back({def.name, std::move(arity), {}});
  }
  return operands;
}

// What the definition says.
void Describe(const OpDef& def, OpRow& row) {
  row.doc = def.doc();
  row.evaluates = def.eval() != nullptr;
  if (const OpFamily* family = FamilyOf(def.name())) row.family = family->title;
  row.operands = OperandsOf(def.inputs());
  row.results = OperandsOf(def.outputs());
  for (const AttrDef& attr : def.attrs()) {
    OpRow::Attribute& described = row.attributes.emplace_back();
    described.name = attr.name.str();
    described.kind = Name(attr.kind);
    if (attr.default_value) described.usually = AttributeText(*attr.default_value);
    described.required = !attr.default_value && !attr.optional;
    described.meaning = AttributeMeaning(def.name().view(), attr.name.view());
  }
}

// Element types of operands and results, from the newest schema of an op that is IR's op without
// code between them.
void AddTypes(OpRow& row) {
  for (const Form* form : AllForms("")) {
    const Dialect* dialect = FindDialect(form->dialect);
    if (form->ir_op.view() != row.op || form->code || !dialect || !dialect->schema) continue;
    const std::string_view domain = SplitOp(form->op.view()).first;
    const int newest = DomainVersion(dialect, domain, dialect->latest_opset);
    const OpSchema* schema =
        form->opsets.contains(newest) ? dialect->schema(form->op, newest) : nullptr;
    if (!schema || schema->inputs.size() != row.operands.size()) continue;
    const auto add = [](const std::vector<OperandSchema>& from, std::vector<OpRow::Operand>& to) {
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
        if (from[i].dtypes == ~uint32_t{0}) continue;  // nothing is said of them
        for (int type = 1; type < kNumDTypes; ++type) {
          if ((from[i].dtypes >> type & 1) != 0) {
            to[i].types.emplace_back(Name(static_cast<DType>(type)));
          }
        }
      }
    };
    add(schema->inputs, row.operands);
    add(schema->outputs, row.results);
    return;
  }
}

absl::Status KeepOnly(const std::vector<std::string>& only, std::map<std::string, OpRow>& rows) {
  if (only.empty()) return absl::OkStatus();
  std::map<std::string, OpRow> kept;
  for (const std::string& op : only) {
    const auto it = rows.find(op);
    if (it == rows.end()) {
      std::vector<std::string> known;
      for (const auto& row : rows) known.push_back(row.first);
      return Invalid("there is no op '", op, "' of the IR", DidYouMean(op, known));
    }
    kept[op] = it->second;
  }
  rows = std::move(kept);
  return absl::OkStatus();
}

using Lines = std::vector<std::vector<std::string>>;

// The header, then the rows.
Lines LinesOf(const OpsTable& table) {
  Lines lines;
  if (table.foreign_rows.empty()) {
    lines.push_back({std::begin(kColumns), std::end(kColumns)});
    for (const OpRow& row : table.rows) lines.push_back(Cells(row));
  } else if (table.foreign_rows[0].exists.empty()) {  // of a dialect without schemas
    lines.push_back({"op", "read", "written", "evaluated", "IR op"});
    for (const ForeignOpRow& row : table.foreign_rows) {
      lines.push_back({row.op, std::string(YesNo(!row.imports.empty())),
                       std::string(YesNo(!row.exports.empty())), std::string(YesNo(row.evaluates)),
                       Join(row.ir_ops)});
    }
  } else {
    lines.push_back({std::begin(kForeignColumns), std::end(kForeignColumns)});
    for (const ForeignOpRow& row : table.foreign_rows) lines.push_back(Cells(row));
  }
  return lines;
}

constexpr size_t kWidth = 100;  // of lines, where words allow it

// Widths of columns: the widest ones are made narrower until lines are not too long, but a word
// stays whole.
std::vector<size_t> WidthsOf(const Lines& lines) {
  std::vector<size_t> widths(lines[0].size(), 0), least(lines[0].size(), 0);
  size_t total = 2 * (widths.size() - 1);
  for (size_t i = 0; i < widths.size(); ++i) {
    for (const auto& line : lines) {
      widths[i] = std::max(widths[i], line[i].size());
      for (const std::string& word : Wrapped(line[i], 1))
        least[i] = std::max(least[i], word.size());
    }
    total += widths[i];
  }
  while (total > kWidth) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest]))
        widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

std::string JsonOf(const ForeignOpRow& row) {
  const auto list = [](const std::vector<std::string>& items) {
    return JsonList(items, JsonString);
  };
  return StrCat(
      "{\"op\": ", JsonString(row.op), ", \"ir_ops\": ", list(row.ir_ops),
      ", \"exists\": ", JsonString(row.exists), ", \"imports\": ", JsonString(row.imports),
      ", \"exports\": ", JsonString(row.exports), ", \"lowerings\": ", list(row.lowerings),
      ", \"evaluates\": ", row.evaluates ? "true" : "false", ", \"others\": ", list(row.others),
      "}");
}

std::string JsonOf(const std::vector<OpRow::Operand>& operands) {
  return JsonList(operands, [](const OpRow::Operand& operand) {
    return StrCat("{\"name\": ", JsonString(operand.name),
                  ", \"arity\": ", JsonString(operand.arity),
                  ", \"types\": ", JsonList(operand.types, JsonString), "}");
  });
}

std::string JsonOf(const OpRow& row) {
  const auto yes = [](bool value) { return value ? "true" : "false"; };
  return StrCat(
      "{\"op\": ", JsonString(row.op), ", \"doc\": ", JsonString(row.doc),
      ", \"family\": ", JsonString(row.family), ", \"operands\": ", JsonOf(row.operands),
      ", \"results\": ", JsonOf(row.results), ", \"attributes\": ",
      JsonList(row.attributes,
               [&](const OpRow::Attribute& attr) {
                 return StrCat(
                     "{\"name\": ", JsonString(attr.name), ", \"kind\": ", JsonString(attr.kind),
                     ", \"default\": ", attr.usually.empty() ? "null" : JsonString(attr.usually),
                     ", \"required\": ", yes(attr.required),
                     ", \"meaning\": ", JsonString(attr.meaning), "}");
               }),
      ", \"evaluates\": ", yes(row.evaluates),
      ", \"lowerings\": ", JsonList(row.lowerings, JsonString), ", \"mappings\": ",
      JsonList(row.mappings,
               [&](const OpRow::Mapping& m) {
                 return StrCat("{\"foreign\": ", JsonString(m.foreign), ", \"first\": ", m.first,
                               ", \"last\": ", m.last, ", \"import\": ", yes(m.imports),
                               ", \"export\": ", yes(m.exports), "}");
               }),
      "}");
}

}  // namespace

absl::StatusOr<OpsTable> MakeOpsTable(const std::string& dialect, std::optional<int> opset,
                                      const std::vector<std::string>& only) {
  const Dialect* known = FindDialect(dialect);
  if (!dialect.empty() && !known) {
    std::set<std::string> names;
    for (const Form* form : AllForms("")) names.insert(form->dialect.str());
    return Invalid("there is no dialect '", dialect, "'",
                   DidYouMean(dialect, {names.begin(), names.end()}));
  }
  if (opset && (*opset < 1 || (known && *opset > known->latest_opset))) {
    return Invalid("there is no opset ", *opset,
                   known ? StrCat(" of ", dialect, "; expected 1 to ", known->latest_opset) : "");
  }
  std::map<std::string, OpRow> rows;
  for (const OpDef* def : AllOps()) Describe(*def, rows[def->name().str()]);
  for (const Form* form : AllForms(dialect)) {
    const Dialect* own = FindDialect(form->dialect);
    const std::string_view domain = SplitOp(form->op.view()).first;
    auto at = [&](int of_default) {  // the opset of the form's own domain
      const int version = DomainVersion(own, domain, of_default);
      return version != 0 ? version : of_default;
    };
    if (opset && !form->opsets.contains(at(*opset))) continue;
    if (!MakesItsIrOp(*form)) continue;
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
  for (const auto& [op, lowering] : AllLowerings()) {
    rows[op.str()].lowerings.emplace_back(lowering->name);
  }
  X2IR_RETURN_IF_ERROR(KeepOnly(only, rows));
  OpsTable table;
  for (auto& [name, row] : rows) {
    row.op = name;
    AddTypes(row);
    std::stable_sort(row.mappings.begin(), row.mappings.end(), [](const auto& a, const auto& b) {
      return std::pair(a.foreign, a.first) < std::pair(b.foreign, b.first);
    });
    table.rows.push_back(std::move(row));
  }
  if (known && only.empty())
    table.foreign_rows = known->ops ? ForeignRows(*known, opset) : RowsOfForms(dialect);
  return table;
}

std::string OpsTable::ToText() const {
  const Lines lines = LinesOf(*this);
  const std::vector<size_t> widths = WidthsOf(lines);
  std::string text;
  for (const auto& line : lines) {
    std::vector<std::vector<std::string>> cells;
    size_t height = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      cells.push_back(Wrapped(line[i], widths[i]));
      height = std::max(height, cells[i].size());
    }
    for (size_t k = 0; k < height; ++k) {
      std::string row;
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = k < cells[i].size() ? cells[i][k] : "";
        StrAppend(&row, cell, std::string(widths[i] - cell.size() + 2, ' '));
      }
      row.erase(row.find_last_not_of(' ') + 1);
      StrAppend(&text, row, "\n");
    }
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
    StrAppend(&json, json.size() > 1 ? "," : "", "\n  ", JsonOf(row));
  }
  return json + "\n]\n";
}

namespace {

// What an op of the IR is in each dialect: the dialect, and its ops with their opsets where it has
// any. "read" and "written" where it goes one way only.
std::vector<std::pair<std::string, std::string>> DialectsOf(const OpRow& row) {
  std::map<std::string, std::map<std::string, std::vector<const OpRow::Mapping*>>> dialects;
  for (const OpRow::Mapping& m : row.mappings) {
    const size_t dot = m.foreign.find('.');
    dialects[m.foreign.substr(0, dot)][m.foreign.substr(dot + 1)].push_back(&m);
  }
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [name, ops] : dialects) {
    const Dialect* dialect = FindDialect(name);
    const bool has_opsets = dialect && dialect->ops;
    std::string text;
    for (const auto& [op, mappings] : ops) {
      StrAppend(&text, text.empty() ? "" : "; ", op);
      bool read = false, written = false, first = true;
      for (const OpRow::Mapping* m : mappings) {
        if (has_opsets) StrAppend(&text, first ? " " : ", ", Range(*m));
        read = read || m->imports;
        written = written || m->exports;
        first = false;
      }
      if (has_opsets && !written) text += " (read)";
      if (!read) text += " (written)";
    }
    list.emplace_back(name, std::move(text));
  }
  return list;
}

std::string UsuallyOf(const OpRow::Attribute& attr) {
  return attr.required ? "required" : attr.usually.empty() ? "may be absent" : attr.usually;
}

}  // namespace

std::string OpsTable::ReferenceText() const {
  std::string text;
  // "  name   words", the words in a column of their own.
  const auto entry = [&](std::string_view name, size_t column, std::string_view words) {
    std::string line = StrCat("  ", name);
    for (const std::string& part : Wrapped(words, kWidth - column)) {
      line.resize(std::max(column, line.size() + (name.empty() || part.empty() ? 0 : 2)), ' ');
      StrAppend(&text, line, part, "\n");
      line.clear();
    }
  };
  const auto operands = [&](std::string_view title, const std::vector<OpRow::Operand>& list) {
    if (list.empty()) return;
    StrAppend(&text, "\n", title, "\n");
    size_t column = 0;
    for (const OpRow::Operand& operand : list) column = std::max(column, operand.name.size() + 4);
    for (const OpRow::Operand& operand : list) {
      std::string words = operand.arity;
      if (!operand.types.empty()) {
        StrAppend(&words, words.empty() ? "" : "; ", Join(operand.types));
      }
      entry(operand.name, column, words.empty() ? "any type" : words);
    }
  };
  for (const OpRow& row : rows) {
    StrAppend(&text, text.empty() ? "" : "\n\n", row.op, "   (", row.family, ")\n");
    entry("", 2, row.doc);
    operands("operands", row.operands);
    operands("results", row.results);
    if (!row.attributes.empty()) {
      text += "\nattributes\n";
      size_t column = 0;
      for (const auto& attr : row.attributes) column = std::max(column, attr.name.size() + 4);
      for (const OpRow::Attribute& attr : row.attributes) {
        entry(attr.name, column, StrCat(attr.kind, ", ", UsuallyOf(attr), ": ", attr.meaning));
      }
    }
    text += "\nin each dialect\n";
    for (const auto& [dialect, ops] : DialectsOf(row)) entry(dialect, 10, ops);
    if (row.mappings.empty()) entry("", 2, "none");
    text += "\n";
    if (!row.lowerings.empty()) entry("lowerings", 15, Join(row.lowerings));
    entry("evaluation", 15, YesNo(row.evaluates));
  }
  return text;
}

std::string OpsTable::ReferenceMarkdown() const {
  std::string text;
  // What a cell of a table may not have as it is.
  const auto cell = [](std::string_view words) {
    std::string escaped;
    for (const char c : words) StrAppend(&escaped, c == '|' ? "\\" : "", std::string_view(&c, 1));
    return escaped;
  };
  const auto operands = [&](std::string_view title, const std::vector<OpRow::Operand>& list) {
    if (list.empty()) return;
    StrAppend(&text, "\n| ", title, " | | element types |\n|---|---|---|\n");
    for (const OpRow::Operand& operand : list) {
      StrAppend(&text, "| `", operand.name, "` | ", operand.arity, " | ", Join(operand.types),
                " |\n");
    }
  };
  for (const OpFamily& family : OpFamilies()) {
    StrAppend(&text, "\n## ", family.title, "\n");
    for (const OpRow& row : rows) {
      if (row.family != family.title) continue;
      StrAppend(&text, "\n### ", row.op, "\n\n", cell(row.doc), "\n");
      operands("operand", row.operands);
      operands("result", row.results);
      if (!row.attributes.empty()) {
        text += "\n| attribute | kind | default | meaning |\n|---|---|---|---|\n";
        for (const OpRow::Attribute& attr : row.attributes) {
          const bool code = !attr.usually.empty();
          StrAppend(&text, "| `", attr.name, "` | ", attr.kind, " | ", code ? "`" : "",
                    cell(UsuallyOf(attr)), code ? "`" : "", " | ", cell(attr.meaning), " |\n");
        }
      }
      text += "\n";
      for (const auto& [dialect, ops] : DialectsOf(row)) {
        StrAppend(&text, "- ", dialect, ": ", ops, "\n");
      }
      if (!row.lowerings.empty()) StrAppend(&text, "- lowerings: ", Join(row.lowerings), "\n");
      if (!row.evaluates) text += "- is not evaluated\n";
    }
  }
  return text;
}

}  // namespace x2ir
