// See lowering_util.h.
#include "tests/lowerings/lowering_util.h"

#include <cmath>
#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// "float32[2]{1, 2}; int64[]{2}"
absl::StatusOr<std::vector<Datum>> ParseValues(std::string_view text) {
  std::string lines, names;
  for (size_t i = 0; !text.empty(); ++i) {
    const size_t end = std::min(text.find(';'), text.size());
    StrAppend(&lines, "v", i, " = ", text.substr(0, end), "\n");
    StrAppend(&names, i > 0 ? ", v" : "v", i);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (names.empty()) return std::vector<Datum>();
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> graph, ParseIr("", lines, names));
  return RunGraph(*graph, {});
}

absl::StatusOr<Model> Exported(std::string_view inputs, std::string_view lines,
                               std::string_view outputs, int opset) {
  Model model;
  X2IR_ASSIGN_OR_RETURN(model.graph, ParseIr(inputs, lines, outputs));
  model.source_dialect = kIrDialect;
  ExportOptions options;
  options.opset = opset;
  options.optimize = false;
  options.check = true;
  X2IR_RETURN_IF_ERROR(FromIrSayingWhatWasTried(model, "onnx", options));
  const std::vector<std::string> problems = model.graph->Validate();
  if (!problems.empty()) return Internal("invalid graph: ", problems[0]);
  return model;
}

absl::StatusOr<Model> ThereAndBack(std::string_view inputs, std::string_view lines,
                                   std::string_view outputs, int opset) {
  X2IR_ASSIGN_OR_RETURN(Model model, Exported(inputs, lines, outputs, opset));
  model.source_dialect = "onnx";
  X2IR_RETURN_IF_ERROR(ToIr(model));
  return model;
}

absl::StatusOr<Model> ThereAndBack(const LoweringRow& row, int opset) {
  return ThereAndBack(row.inputs, row.lines, row.outputs, opset);
}

std::string Text(const Datum& datum) {
  if (!datum.tensor()) return "no tensor";
  TextOptions options;
  options.max_constant_elements = 1000;
  return AttributeText(Attribute(*datum.tensor()), options);
}

bool Same(const Datum& got, const Datum& want) {
  const Tensor *a = got.tensor(), *b = want.tensor();
  if (!a || !b || a->dtype() != b->dtype() || a->dims() != b->dims()) return false;
  if (!IsFloating(a->dtype())) return *a == *b;
  const double tolerance = BitWidth(a->dtype()) < 32 ? 1e-2 : 1e-5;
  for (int64_t i = 0; i < a->num_elements(); ++i) {
    const double x = a->AsDouble(i), y = b->AsDouble(i);
    const bool near = std::isfinite(y) && std::abs(x - y) <= tolerance * std::abs(y);
    if (x != y && !(std::isnan(x) && std::isnan(y)) && !near) return false;
  }
  return true;
}

// Runs a graph whose inputs stand for constants of the same names.
absl::StatusOr<std::vector<Datum>> RunOn(const Graph& graph, const Graph& operands) {
  std::vector<Datum> inputs;
  for (const Value* input : graph.inputs()) {
    const Value* operand = operands.Find(input->name());
    if (!operand) return Invalid("no operand ", input->name());
    inputs.emplace_back(*operand->constant());
  }
  return RunGraph(graph, std::move(inputs));
}

std::string Difference(const Tensor& got, const Tensor& want, double tolerance) {
  if (got.type() != want.type()) return StrCat(got.type().ToString(), " ", want.type().ToString());
  if (got == want) return "";
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    if (IsInteger(want.dtype()) && got.AsInt(i) != want.AsInt(i)) {
      return StrCat("element ", i, " is ", got.AsInt(i), ", expected ", want.AsInt(i));
    }
    const double x = got.AsDouble(i), y = want.AsDouble(i);
    const bool close = x == y || (std::isnan(x) && std::isnan(y)) ||
                       std::fabs(x - y) <= tolerance * std::fmax(1, std::fabs(y));
    if (!close) return StrCat("element ", i, " is ", x, ", expected ", y);
  }
  return "";
}

absl::Status Compare(const LoweringRow& row, const Graph& lowered, const std::string& values) {
  X2IR_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> graph,
                        ParseIr(row.inputs, row.lines, row.outputs));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> inputs, ParseValues(values));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> want, RunGraph(*graph, inputs));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunGraph(lowered, inputs));
  if (got.size() != want.size()) return Internal("number of outputs");
  for (size_t i = 0; i < want.size(); ++i) {
    if (!Same(got[i], want[i])) return Internal("got ", Text(got[i]), ", want ", Text(want[i]));
  }
  return absl::OkStatus();
}

}  // namespace

void ExpectSameNumbers(const LoweredRow& row) {
  const auto operands = ParseGraph(StrCat("graph o() -> () {\n", row.operands, "\n}"));
  ASSERT_TRUE(operands.ok()) << operands.status() << row.operands;
  std::string inputs(row.inputs);
  for (const Value* operand : (*operands)->constants()) {
    if (!row.inputs.empty()) break;
    StrAppend(&inputs, inputs.empty() ? "" : ", ", operand->name(), ": ",
              operand->type().ToString());
  }
  const auto plain = ParseIr(inputs, row.lines, row.outputs);
  ASSERT_TRUE(plain.ok()) << row.lines << " " << plain.status();
  const auto want = RunOn(**plain, **operands);
  ASSERT_TRUE(want.ok()) << row.lines << " " << want.status();
  for (const int opset : row.opsets) {
    SCOPED_TRACE(StrCat(row.lines, " at opset ", opset));
    const auto model = ThereAndBack(inputs, row.lines, row.outputs, opset);
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) continue;
    const auto got = RunOn(*model->graph, **operands);
    EXPECT_TRUE(got.ok()) << got.status() << ToText(*model->graph);
    for (size_t i = 0; got.ok() && i < want->size(); ++i) {
      EXPECT_EQ(Difference(*(*got)[i].tensor(), *(*want)[i].tensor(), row.tolerance), "")
          << ToText(*model->graph);
    }
  }
}

void ExpectSameResults(const LoweringRow& row) {
  for (const int opset : row.opsets) {
    const absl::StatusOr<Model> model = ThereAndBack(row, opset);
    EXPECT_TRUE(model.ok()) << row.lines << " at opset " << opset << "\n" << model.status();
    if (!model.ok()) continue;
    for (const std::string& values : row.values) {
      const absl::Status status = Compare(row, *model->graph, values);
      EXPECT_TRUE(status.ok()) << row.lines << " at opset " << opset << "\n of " << values << "\n"
                               << status << "\n"
                               << ToText(*model->graph);
    }
  }
}

void ExpectFails(const LoweringRow& row) {
  for (const int opset : row.opsets) {
    const absl::StatusOr<Model> model = ThereAndBack(row, opset);
    const auto graph = ParseIr(row.inputs, row.lines, row.outputs);
    EXPECT_TRUE(model.ok() && graph.ok()) << row.lines << "\n" << model.status();
    if (!model.ok() || !graph.ok()) continue;
    for (const std::string& values : row.values) {
      const auto inputs = ParseValues(values);
      EXPECT_TRUE(inputs.ok()) << values;
      EXPECT_FALSE(RunGraph(**graph, *inputs).ok()) << row.lines << "\n" << values;
      EXPECT_FALSE(RunGraph(*model->graph, *inputs).ok()) << row.lines << "\n" << values;
    }
  }
}

void ExpectRefused(int opset, std::string_view inputs, std::string_view lines,
                   std::string_view part) {
  const absl::StatusOr<Model> model = ThereAndBack(inputs, lines, "y", opset);
  EXPECT_FALSE(model.ok()) << lines;
  if (model.ok()) return;
  EXPECT_TRUE(absl::IsFailedPrecondition(model.status())) << model.status();
  EXPECT_THAT(std::string(model.status().message()), ::testing::HasSubstr(std::string(part)));
}

std::string LoweredText(std::string_view inputs, std::string_view lines, int opset,
                        std::string_view outputs) {
  const auto model = Exported(inputs, lines, outputs, opset);
  return model.ok() ? ToText(*model->graph) : StrCat("error: ", model.status().ToString());
}

}  // namespace x2ir
