// Adaptive pools of all dialects (builder/layers/adaptive_pool.h) where sizes are computed or
// windows have several sizes. Expected numbers follow from the windows [o in / out, ceil((o + 1) in
// / out)), by hand.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/torch/calls_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

absl::StatusOr<std::string> Pooled(std::string_view dialect, std::string_view lines,
                                   std::string_view results) {
  X2IR_ASSIGN_OR_RETURN(Model model, ModelFromText(StrCat("graph g(x: float32[1,1,n,m]) -> (",
                                                          results, ") {\n", lines, "\n}"),
                                                   dialect, 1, {{"aten", 1}}));
  X2IR_RETURN_IF_ERROR(ToIr(model, {}));
  X2IR_ASSIGN_OR_RETURN(const auto values,
                        ParseGraph("graph v() -> (v) { v = float32[1,1,2,3]{4, 6, 4, 6, 6, 0} }"));
  std::vector<Datum> inputs;
  inputs.emplace_back(*values->outputs()[0]->constant());
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> outputs,
                        RunGraph(*model.graph, std::move(inputs)));
  return ResultsText(outputs);
}

TEST(AdaptivePools, OfComputedSizesAndOfUnevenWindows) {
  const struct {
    std::string_view dialect, lines, results, expected;
  } rows[] = {
      // Of equal elements the first in the order of the plane is found.
      {"torch",
       "y, i: float32[1,1,1,1], int64[1,1,1,1] = torch.aten::adaptive_max_pool2d.default(x) { "
       "operands = [\"self\"], output_size = [1, 1] }",
       "y, i", "tensor(float32[1,1,1,1]{6}); tensor(int64[1,1,1,1]{1})"},
      {"torch",
       "y, i: float32[1,1,1,2], int64[1,1,1,2] = torch.aten::adaptive_max_pool2d.default(x) { "
       "operands = [\"self\"], output_size = [1, 2] }",
       "y, i", "tensor(float32[1,1,1,2]{6, 6}); tensor(int64[1,1,1,2]{1, 1})"},
      {"torch",
       "y, i: float32[1,1,4,2], int64[1,1,4,2] = torch.aten::adaptive_max_pool2d.default(x) { "
       "operands = [\"self\"], output_size = [4, 2] }",
       "i", "tensor(int64[1,1,4,2]{1, 1, 1, 1, 3, 4, 3, 4})"},
      // Elements that are all the lowest number are in their windows.
      {"torch",
       "z: float32[?,?,?,?] = torch.aten::mul.Scalar(x) { operands = [\"self\"], other = 0.0d }\n"
       "l: float32[?,?,?,?] = torch.aten::log.default(z) { operands = [\"self\"] }\n"
       "y, i: float32[1,1,2,2], int64[1,1,2,2] = torch.aten::adaptive_max_pool2d.default(l) { "
       "operands = [\"self\"], output_size = [2, 2] }",
       "i", "tensor(int64[1,1,2,2]{0, 1, 3, 4})"},
      {"oneflow", "y, i = oneflow.adaptive_max_pool2d(x) { output_size = [1, 2] }", "y, i",
       "tensor(float32[1,1,1,2]{6, 6}); tensor(int64[1,1,1,2]{1, 1})"},
      {"oneflow", "y = oneflow.adaptive_avg_pool2d(x) { output_size = [1, 2] }", "y",
       "tensor(float32[1,1,1,2]{5.5, 4})"},
      {"mxnet", "y = mxnet._contrib_AdaptiveAvgPooling2D(x) { output_size = \"(1, 2)\" }", "y",
       "tensor(float32[1,1,1,2]{5.5, 4})"},
      {"ncnn",
       "c = float32[1,1,2,3]{4, 6, 4, 6, 6, 0}\n"
       "y = ncnn.Pooling(c) { \"0\" = 1, \"7\" = 1, \"8\" = 2, \"18\" = 1 }",
       "y", "tensor(float32[1,1,1,2]{5.5, 4})"},
      {"ncnn",
       "c = float32[1,1,2,3]{4, 6, 4, 6, 6, 0}\n"
       "y = ncnn.Pooling(c) { \"0\" = 0, \"7\" = 1, \"8\" = 2, \"18\" = -233 }",
       "y", "tensor(float32[1,1,2,2]{6, 6, 6, 6})"},
      {"ncnn", "y = ncnn.Pooling(x) { \"0\" = 1, \"7\" = 1, \"8\" = 2, \"18\" = 1 }", "y",
       "tensor(float32[1,1,1,2]{5.5, 4})"},
      {"paddle",
       "x2 = paddle.scale(x) { operand_slots = [\"X\"], result_slots = [\"Out\"], scale = 1.0 }\n"
       "y = paddle.pool2d(x2) { operand_slots = [\"X\"], result_slots = [\"Out\"], ksize = [1, 2], "
       "pooling_type = \"max\", adaptive = 1 }",
       "y", "tensor(float32[1,1,1,2]{6, 6})"},
  };
  for (const auto& row : rows) {
    const absl::StatusOr<std::string> got = Pooled(row.dialect, row.lines, row.results);
    EXPECT_EQ(got.ok() ? *got : got.status().ToString(), row.expected) << row.lines;
  }
}

}  // namespace
}  // namespace x2ir
