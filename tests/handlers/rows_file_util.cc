#include "tests/handlers/rows_file_util.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

Strings Split(const std::string& text, const std::string& by) {
  Strings parts;
  size_t start = 0;
  for (size_t at; (at = text.find(by, start)) != text.npos; start = at + by.size()) {
    parts.push_back(text.substr(start, at - start));
  }
  parts.push_back(text.substr(start));
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

// "X=float32[1]{2}": the name, and the tensor's text.
NamedTexts ReadNamed(const std::string& text) {
  NamedTexts named;
  for (const std::string& each : Split(text, "; ")) {
    const size_t equals = each.find('=');
    const bool has_name = equals != each.npos;
    named.names.push_back(has_name ? each.substr(0, equals) : "");
    named.tensors.push_back(has_name ? each.substr(equals + 1) : each);
  }
  return named;
}

// Nested graphs have lines of their own, written as \n.
std::string Unescaped(const std::string& text) {
  std::string lines;
  for (const std::string& line : Split(text, "\\n"))
    StrAppend(&lines, lines.empty() ? "" : "\n", line);
  return lines;
}

bool IsNothing(const std::string& tensor) { return tensor == "_"; }

// "v0, _, v2"; without the places of nothing: "v0, v2".
std::string Listed(const char* prefix, const Strings& tensors, bool keep_nothing) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool nothing = IsNothing(tensors[i]);
    if (nothing && !keep_nothing) continue;
    StrAppend(&text, text.empty() ? "" : ", ", nothing ? "_" : StrCat(prefix, i));
  }
  return text;
}

std::string Constants(const char* prefix, const Strings& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!IsNothing(tensors[i])) StrAppend(&text, prefix, i, " = ", tensors[i], "\n");
  }
  return text;
}

// "v0: float32[2,3]", or with names for the sizes.
std::string Inputs(const Strings& tensors, RowOperands known) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (IsNothing(tensors[i])) continue;
    std::string type = tensors[i].substr(0, tensors[i].find('{'));
    const size_t sizes = type.find('[') + 1;
    if (known == RowOperands::kOfSomeSizes && type[sizes] != ']') {
      const auto rank = static_cast<size_t>(std::count(type.begin(), type.end(), ',')) + 1;
      type.resize(sizes);
      for (size_t k = 0; k < rank; ++k) StrAppend(&type, k ? "," : "", "n", i, "_", k);
      type += "]";
    }
    StrAppend(&text, text.empty() ? "" : ", ", "v", i, ": ", type);
  }
  return text;
}

absl::StatusOr<std::vector<Tensor>> Tensors(const Strings& texts) {
  X2IR_ASSIGN_OR_RETURN(const auto graph,
                        ParseGraph(StrCat("graph g() -> (", Listed("e", texts, false), ") {\n",
                                          Constants("e", texts), "}")));
  std::vector<Tensor> tensors;
  for (Value* output : graph->outputs()) tensors.push_back(*output->constant());
  return tensors;
}

std::string DifferenceOf(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return StrCat("is ", got.type().ToString(), ", expected ", want.type().ToString());
  }
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double a = got.AsDouble(i), b = want.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= 2e-5 + 2e-4 * std::abs(b))) {
      return StrCat("element ", i, " is ", a, ", expected ", b);
    }
  }
  return "";
}

}  // namespace

std::string FileRow::ToString() const {
  std::string text = StrCat(op, " { ", attrs, " } of");
  for (const std::string& tensor : operands.tensors) StrAppend(&text, " ", tensor.substr(0, 200));
  return text;
}

std::string SlotsOfRow(const FileRow& row) {
  const auto slots = [](const Strings& names) {
    std::string text;
    for (const std::string& name : names) {
      StrAppend(&text, text.empty() ? "" : ", ", "\"", name, "\"");
    }
    return names.empty() ? "[]:strings" : StrCat("[", text, "]");
  };
  return StrCat("operand_slots = ", slots(row.operands.names),
                ", result_slots = ", slots(row.results.names));
}

std::vector<FileRow> ReadFileRows(std::string_view name) {
  std::vector<FileRow> rows;
  std::istringstream file(ReadFile(StrCat(X2IR_SOURCE_DIR "/tests/data/", name, "/rows.txt")));
  for (std::string line; std::getline(file, line);) {
    const Strings parts = Split(line, " | ");
    if (parts.size() != 4) {
      ADD_FAILURE() << "not a row: " << line;
      continue;
    }
    rows.push_back({parts[0], Unescaped(parts[2]), ReadNamed(parts[1]), ReadNamed(parts[3])});
  }
  return rows;
}

absl::StatusOr<Model> ModelOfRow(const FileRow& row, std::string_view dialect,
                                 std::string_view more_attrs, RowOperands known) {
  const Strings &operands = row.operands.tensors, &results = row.results.tensors;
  const bool constants = known == RowOperands::kConstants;
  return ModelFromText(
      StrCat("graph g(", constants ? "" : Inputs(operands, known), ") -> (",
             Listed("r", results, false), ") {\n", constants ? Constants("v", operands) : "",
             Listed("r", results, true), " = ", dialect, ".", row.op, "(",
             Listed("v", operands, true), ") { ", more_attrs,
             !more_attrs.empty() && !row.attrs.empty() ? ", " : "", row.attrs, " }\n}"),
      dialect, 1);
}

absl::StatusOr<std::vector<Tensor>> InputsOfRow(const FileRow& row, const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const Value* input : graph.inputs()) {  // labels may be gone
    const size_t i = std::stoul(input->name().substr(1));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Tensor> given, Tensors({row.operands.tensors[i]}));
    inputs.push_back(given[0]);
  }
  return inputs;
}

absl::StatusOr<std::vector<Tensor>> ResultsOfRow(const FileRow& row) {
  return Tensors(row.results.tensors);
}

std::string DifferenceOfRow(const FileRow& row, std::string_view dialect,
                            std::string_view more_attrs, RowOperands known) {
  const auto run = [&]() -> absl::StatusOr<std::string> {
    X2IR_ASSIGN_OR_RETURN(Model model, ModelOfRow(row, dialect, more_attrs, known));
    const absl::Status converted = ToIr(model);
    if (!converted.ok() && known != RowOperands::kConstants) return std::string();
    X2IR_RETURN_IF_ERROR(converted);
    X2IR_ASSIGN_OR_RETURN(const std::vector<Tensor> given, InputsOfRow(row, *model.graph));
    const auto got = RunGraph(*model.graph, {given.begin(), given.end()});
    // Sizes that do not fit may come to light here.
    if (!got.ok() && known == RowOperands::kOfSomeSizes) return std::string();
    X2IR_RETURN_IF_ERROR(got.status());
    X2IR_ASSIGN_OR_RETURN(const std::vector<Tensor> want, ResultsOfRow(row));
    for (size_t i = 0; i < want.size(); ++i) {
      if (!(*got)[i].tensor()) return StrCat("result ", i, " is no tensor");
      const std::string difference = DifferenceOf(*(*got)[i].tensor(), want[i]);
      if (!difference.empty()) return StrCat("result ", i, ": ", difference);
    }
    return std::string();
  };
  const absl::StatusOr<std::string> problem = run();
  return problem.ok() ? *problem : std::string(problem.status().message());
}

void ExpectRowsOfAll(std::string_view dialect,
                     const std::map<std::string, std::string>& reasons_for_none,
                     std::string (*more_attrs)(const FileRow& row)) {
  const std::string only = Env("X2IR_CASES");
  std::map<std::string, int> counts;
  for (const FileRow& row : ReadFileRows(dialect)) {
    ++counts[row.op];
    if (!only.empty() && row.op != only) continue;
    const std::string more = more_attrs ? more_attrs(row) : "";
    for (const RowOperands known :
         {RowOperands::kConstants, RowOperands::kInputs, RowOperands::kOfSomeSizes}) {
      EXPECT_EQ(DifferenceOfRow(row, dialect, more, known), "")
          << row.ToString() << " as " << static_cast<int>(known);
    }
  }
  std::set<std::string> known;
  for (const Form* form : AllForms(dialect)) known.insert(form->op.str());
  for (const std::string& op : known) {
    if (reasons_for_none.contains(op)) continue;
    EXPECT_GE(counts[op], 2) << op << " has too few rows";
  }
  for (const auto& [op, reason] : reasons_for_none) {
    EXPECT_TRUE(known.contains(op)) << op << " is no operator (" << reason << ")";
    EXPECT_FALSE(counts.contains(op)) << op << " has rows, though: " << reason;
  }
}

}  // namespace x2ir
