#include "tests/handlers/torch/calls_util.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
std::string ResultsText(const std::vector<Datum>& results) {
  std::string text;
  for (const Datum& result : results) {
    if (!text.empty()) text += "; ";
    text += result.tensor() ? AttributeText(*result.tensor(), {.max_constant_elements = 64})
                            : "no tensor";
  }
  return text;
}

namespace {

absl::StatusOr<std::string> Eval(std::string_view input, std::string_view value,
                                 std::string_view lines, std::string_view results) {
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      ModelFromText(StrCat("graph g(", input, ") -> (", results, ") {\n", lines, "\n}"), "torch", 1,
                    {{"aten", 1}, {"quantized_decomposed", 1}, {"torchao", 1}}));
  X2IR_RETURN_IF_ERROR(ToIr(model, {}));
  std::vector<Datum> inputs;
  if (!value.empty()) {
    X2IR_ASSIGN_OR_RETURN(const auto graph,
                          ParseGraph(StrCat("graph v() -> (v) { v = ", value, " }")));
    inputs.emplace_back(*graph->outputs()[0]->constant());
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> outputs,
                        RunGraph(*model.graph, std::move(inputs)));
  return ResultsText(outputs);
}

std::string TextOf(const absl::StatusOr<std::string>& text) {
  return text.ok() ? *text : StrCat("error: ", text.status().ToString());
}

}  // namespace

std::string EvalCall(std::string_view constants, std::string_view call, std::string_view results) {
  return TextOf(Eval("", "", StrCat(constants, "\n", call), results));
}

std::string EvalCallOf(std::string_view input, std::string_view value, std::string_view call,
                       std::string_view results) {
  return TextOf(Eval(input, value, call, results));
}

void ExpectCall(const CallRow& row) {
  const std::string got = EvalCall(row.constants, row.call, row.results);
  if (row.expected.substr(0, 6) == "error ") {
    EXPECT_THAT(got, ::testing::HasSubstr("error: ")) << row.call;
    EXPECT_THAT(got, ::testing::HasSubstr(std::string(row.expected.substr(6)))) << row.call;
    return;
  }
  std::string want;
  for (std::string_view rest = row.expected; !rest.empty();) {
    const size_t end = std::min(rest.find("; "), rest.size());
    if (!want.empty()) want += "; ";
    want += StrCat("tensor(", rest.substr(0, end), ")");
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  EXPECT_EQ(got, want) << row.call;
}

}  // namespace x2ir
