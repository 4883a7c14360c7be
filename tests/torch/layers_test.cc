// Layers of PyTorch as IR, and what is refused of them. What they compute is tested with
// PyTorch's own samples (torch_cases_test.cc).
#include <gtest/gtest.h>

#include <string>

#include "tests/core/convert_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct Row {
  std::string header, call, want;  // want "error PART": a refusal whose message has PART
};

// "graph g(HEADER) { LINES }".
std::string Graph(const Row& row, std::string_view lines) {
  return StrCat("graph g(", row.header, ") {\n", lines, "\n}");
}

void Expect(const Row& row) {
  ConvertTextOptions options;
  options.dialect = "torch";
  options.extra_opsets = {{"aten", 1}};
  const std::string got = ToIrText(Graph(row, row.call), 1, options);
  if (row.want.starts_with("error ")) {
    EXPECT_TRUE(got.starts_with("error: ")) << row.call << "\n" << got;
    EXPECT_NE(got.find(row.want.substr(6)), got.npos) << row.call << "\n" << got;
    return;
  }
  EXPECT_FALSE(got.starts_with("error: ")) << row.call << "\n" << got;
  EXPECT_EQ(Body(got), Body(Canonical(Graph(row, row.want), options))) << row.call;
}

TEST(TorchLayers, AreOps) {
  const Row rows[] = {
      {"x: float32[n,3,8,8], w: float32[4,3,3,3]) -> (y: float32[n,4,8,8]",
       R"(y: float32[n,4,8,8] = torch.aten::conv2d.padding(x, w)
          { operands = ["input", "weight"], padding = "same" })",
       R"(y = conv(x, w) { layout = "channels_first", auto_pad = "NOTSET", group = 1,
          strides = [1, 1], dilations = [1, 1], pads = [1, 1, 1, 1] })"},
      {"x: float32[n,3,h,w]) -> (y: float32[n,3,h,w]",
       R"(y: float32[n,3,h,w] = torch.aten::dropout.default(x)
          { operands = ["input"], p = 0.5d, train = tensor(bool[]{false}) })",
       "y = identity(x)"},
      {"x: float32[n,4]) -> (y: float32[n,4]",
       R"(y: float32[n,4] = torch.aten::leaky_relu.default(x)
          { operands = ["self"], negative_slope = 0.25d })",
       "y = leaky_relu(x) { alpha = 0.25 }"},
      {"x: float32[n,3,h,w]) -> (y: float32[n,3,1,1]",
       R"(y: float32[n,3,1,1] = torch.aten::adaptive_avg_pool2d.default(x)
          { operands = ["self"], output_size = [1, 1] })",
       R"(y = global_average_pool(x) { layout = "channels_first" })"},
      {"x: float32[n,8,h,w]) -> (y: float32[n,2,a,b]",
       R"(y: float32[n,2,a,b] = torch.aten::pixel_shuffle.default(x)
          { operands = ["self"], upscale_factor = 2 })",
       R"(y = depth_to_space(x) { layout = "channels_first", blocksize = 2, mode = "CRD" })"},
  };
  for (const Row& row : rows) Expect(row);
}

TEST(TorchLayers, AreRefused) {
  const std::string x = "x: float32[2,3,4,4]) -> (y: float32[2,3,4,4]";
  const Row rows[] = {
      {x, R"(y: float32[2,3,4,4] = torch.aten::dropout.default(x)
             { operands = ["input"], p = 0.5d, train = tensor(bool[]{true}) })",
       "error random"},
      {x, R"(y: float32[2,3,4,4] = torch.aten::rrelu.default(x)
             { operands = ["self"], training = tensor(bool[]{true}) })",
       "error random"},
      {x, R"(y: float32[2,3,4,4] = torch.aten::conv2d.padding(x, x)
             { operands = ["input", "weight"], padding = "same", stride = [2, 2] })",
       "error strides"},
      {x, R"(y: float32[2,3,4,4] = torch.aten::avg_pool2d.default(x)
             { operands = ["self"], kernel_size = [2, 2], divisor_override = 0 })",
       "error divisor_override"},
      {x, R"(y: float32[2,3,4,4] = torch.aten::pixel_shuffle.default(x)
             { operands = ["self"], upscale_factor = 2 })",
       "error expected a multiple of 4"},
      {x, R"(y: float32[2,3,4,4] = torch.aten::pad.default(x)
             { operands = ["self"], pad = [1, 1, 1], mode = "reflect" })",
       "error 3 numbers"},
      {"x: complex64[2]) -> (y: complex64[2]",
       R"(y: complex64[2] = torch.aten::mish.default(x) { operands = ["self"] })",
       "error of complex numbers"},
      {"x: float32[4,3], b: int64[4]) -> (y: float32[4,3]",
       R"(y: float32[4,3] = torch.aten::gru.data(x, b) { operands = ["data", "batch_sizes"] })",
       "error packed"},
      {"x: float32[n,3,h,w]) -> (y: float32[n,3,a,b]",
       R"(y: float32[n,3,a,b] = torch.aten::avg_pool2d.default(x)
          { operands = ["self"], kernel_size = [2, 2], ceil_mode = tensor(bool[]{true}),
            divisor_override = 3 })",
       "error unknown size"},
  };
  for (const Row& row : rows) Expect(row);
}

}  // namespace
}  // namespace x2ir
