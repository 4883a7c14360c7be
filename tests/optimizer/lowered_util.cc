#include "tests/optimizer/lowered_util.h"

#include <cmath>
#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

absl::StatusOr<Model> Parse(std::string_view inputs, std::string_view lines,
                            std::string_view outputs) {
  Model model;
  X2IR_ASSIGN_OR_RETURN(model.graph, ParseIr(inputs, lines, outputs));
  return model;
}

absl::StatusOr<Model> Export(std::string_view inputs, std::string_view lines,
                             std::string_view outputs, int opset) {
  X2IR_ASSIGN_OR_RETURN(Model model, Parse(inputs, lines, outputs));
  ExportOptions options;
  options.opset = opset;
  options.optimize = false;
  options.check = true;
  X2IR_RETURN_IF_ERROR(FromIr(model, "onnx", options));
  return model;
}

absl::StatusOr<std::vector<Datum>> Run(const Model& model, const Graph& operands) {
  std::vector<Datum> inputs;
  for (const Value* input : model.graph->inputs()) {
    const Value* operand = operands.Find(input->name());
    if (!operand) return Invalid("no operand ", input->name());
    inputs.emplace_back(*operand->constant());
  }
  return RunGraph(*model.graph, std::move(inputs));
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
  auto plain = Parse(inputs, row.lines, row.outputs);
  ASSERT_TRUE(plain.ok()) << row.lines << " " << plain.status();
  const auto want = Run(*plain, **operands);
  ASSERT_TRUE(want.ok()) << row.lines << " " << want.status();
  for (const int opset : row.opsets) {
    SCOPED_TRACE(StrCat(row.lines, " at opset ", opset));
    auto model = Export(inputs, row.lines, row.outputs, opset);
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) continue;
    const std::string text = ToText(*model->graph);
    const absl::Status imported = ToIr(*model);
    EXPECT_TRUE(imported.ok()) << imported << text;
    if (!imported.ok()) continue;
    const auto got = Run(*model, **operands);
    EXPECT_TRUE(got.ok()) << got.status() << text;
    for (size_t i = 0; got.ok() && i < want->size(); ++i) {
      EXPECT_EQ(Difference(*(*got)[i].tensor(), *(*want)[i].tensor(), row.tolerance), "") << text;
    }
  }
}

std::string LoweredText(std::string_view inputs, std::string_view lines, int opset,
                        std::string_view outputs) {
  const auto model = Export(inputs, lines, outputs, opset);
  return model.ok() ? ToText(*model->graph) : StrCat("error: ", model.status().ToString());
}

}  // namespace x2ir
