// StableHLO's operations on shapes, where sizes are computed or padding is negative, and ops of the
// IR that are written as them, there and back.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

const std::string kM = "x = int32[2,3]{1, 2, 3, 4, 5, 6}\n";

TEST(Stablehlo, Shapes) {
  const ConstantRow rows[] = {
      {kM + "y: int32[3,4,2] = stablehlo.broadcast_in_dim(x) { broadcast_dimensions = [2, 0] }\n"
            "z: int32[3,1,2] = stablehlo.slice(y) { start_indices = [0, 1, 0], limit_indices = "
            "[3, 2, 2], strides = [1, 1, 1] }",
       "z", "int32[3,1,2]{1, 4, 2, 5, 3, 6}"},
      {kM + "y: int32[2,3] = stablehlo.reverse(x) { dimensions = [0, 1] }", "y",
       "int32[2,3]{6, 5, 4, 3, 2, 1}"},
      {kM + "n = int32[]{0}\ny: int32[1,6] = stablehlo.pad(x, n) { edge_padding_low = [-1, 1], "
            "edge_padding_high = [0, 0], interior_padding = [0, 1] }",
       "y", "int32[1,6]{0, 4, 0, 5, 0, 6}"},
      // What is added is cut off again.
      {"x = int32[2]{1, 2}\nn = int32[]{9}\ny: int32[1] = stablehlo.pad(x, n) { edge_padding_low "
       "= [-3], edge_padding_high = [2], interior_padding = [0] }",
       "y", "int32[1]{9}"},
      {"x = int32[0]{}\nn = int32[]{9}\ny: int32[2] = stablehlo.pad(x, n) { edge_padding_low = "
       "[1], edge_padding_high = [1], interior_padding = [5] }",
       "y", "int32[2]{9, 9}"},
      {kM + "n = int32[]{0}\nl = int64[2]{0, -1}\nh = int64[2]{1, 0}\ni = int64[2]{0, 1}\n"
            "y: int32[3,4] = stablehlo.dynamic_pad(x, n, l, h, i)",
       "y", "int32[3,4]{0, 2, 0, 3, 0, 5, 0, 6, 0, 0, 0, 0}"},
      {kM + "s = int64[2]{0, 1}\nl = int64[2]{2, 3}\nt = int64[2]{1, 2}\n"
            "y: int32[2,1] = stablehlo.real_dynamic_slice(x, s, l, t)",
       "y", "int32[2,1]{2, 5}"},
      {kM + "y: int32[] = stablehlo.get_dimension_size(x) { dimension = 1 }", "y", "int32[]{3}"},
      {kM + "s = int32[]{2}\ny: int32[2,?] = stablehlo.set_dimension_size(x, s) { dimension = 1 }",
       "y", "int32[2,2]{1, 2, 4, 5}"},
      {"s = int32[2]{2, 3}\ny: int8[?,?] = stablehlo.dynamic_iota(s) { iota_dimension = 1 }", "y",
       "int8[2,3]{0, 1, 2, 0, 1, 2}"},
      {"x = float32[2]{1, 2}\ns = int32[2]{2, 2}\ny: float32[?,?] = "
       "stablehlo.dynamic_broadcast_in_dim(x, s) { broadcast_dimensions = [0] }",
       "y", "float32[2,2]{1, 1, 2, 2}"},
      {kM + "s = int32[1]{6}\ny: int32[?] = stablehlo.dynamic_reshape(x, s)", "y",
       "int32[6]{1, 2, 3, 4, 5, 6}"},
      {kM + "y: int32[2] = stablehlo.unary_einsum(x) { einsum_config = \"ab->a\" }", "y",
       "int32[2]{6, 15}"},
  };
  ExpectConstantRows(rows, "stablehlo");
}

// An IR graph as StableHLO and as IR again computes what it did.
absl::StatusOr<std::vector<Tensor>> RunOf(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<Datum> values;
  for (const Tensor& input : inputs) values.emplace_back(input);
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(graph, values));
  std::vector<Tensor> tensors;
  for (const Datum& result : results) tensors.push_back(*result.tensor());
  return tensors;
}
void ExpectNear(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.dtype(), want.dtype());
  ASSERT_EQ(got.dims(), want.dims());
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double number = want.AsDouble(i);
    EXPECT_NEAR(got.AsDouble(i), number, 1e-6 * std::abs(number)) << i;
  }
}
void ExpectSameThereAndBack(const std::string& inputs, std::string_view lines,
                            const std::vector<Tensor>& tensors, std::string_view outputs = "y") {
  SCOPED_TRACE(StrCat(inputs, ": ", lines));
  const auto graph = ParseIr(inputs, lines, outputs);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto want = RunOf(**graph, tensors);
  ASSERT_TRUE(want.ok()) << want.status();
  Model model;
  model.graph = *graph;
  const absl::Status written = FromIrSayingWhatWasTried(model, "stablehlo", {});
  ASSERT_TRUE(written.ok()) << written;
  model.source_dialect = "stablehlo";
  const absl::Status read = ToIr(model);
  ASSERT_TRUE(read.ok()) << read;
  const auto got = RunOf(*model.graph, tensors);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), want->size());
  for (size_t i = 0; i < want->size(); ++i) ExpectNear((*got)[i], (*want)[i]);
}

TEST(Stablehlo, OpsOnShapesThereAndBack) {
  const Tensor x = Tensor::Of<float>({2, 3}, {1, -2, 3, -4, 5, 6});
  const Tensor row = Tensor::Of<float>({3}, {10, 20, 30});
  const Tensor shape = Tensor::Of<int64_t>({2}, {-1, 2});
  const std::string_view of_x[] = {
      "y = shape(x)",
      "y = shape(x) { start = 1 }",
      "y = size(x)",
      "y = transpose(x) { perm = [1, 0] }",
      "a = int64[2]{0, 2} y = unsqueeze(x, a)",
      "y = flatten(x) { axis = 1 }",
      "s = int64[1]{-1} y = reshape(x, s)",
      "s = int64[2]{3, -1} y = reshape(x, s)",
      "s = int64[2]{0, -1} y = reshape(x, s)",
      "s = int64[3]{2, 1, 1} y = expand(x, s)",
      "s = int64[2]{2, 3} y = tile(x, s)",
      "y = concat(x, x) { axis = -1 }",
      "s = int64[1]{1} e = int64[1]{-1} a = int64[1]{1} y = slice(x, s, e, a)",
      "s = int64[2]{-1, -2} e = int64[2]{100, 100} y = slice(x, s, e)",
      "s = int64[4]{0, 1, 2, -1} y = pad(x, s)",
      "y = eye_like(x) { k = 1 }",
      "y = relu(x)",
      "y = leaky_relu(x) { alpha = 0.5 }",
      "y = elu(x)",
      "y = softplus(x)",
      "y = softsign(x)",
      "y = hard_sigmoid(x)",
      "n = float32[]{0} m = float32[]{4} y = clip(x, n, m)",
      "n = float32[]{0} y = clip(x, n)",
      "z = float32[]{2} y = add(x, z)",
      "y = is_inf(x) { detect_negative = 0 }",
      "y = reciprocal(x)",
      "y = cast(x) { to = \"int32\" }",
      "a = float32[1,3]{1, 0, 2} c = less(x, a) y = where(c, x, a)",
      "s = size(x) n = int64[]{0} d = int64[]{2} y = range(n, s, d)",
      "y = arg_max(x) { axis = 1 }",
      "y = arg_min(x) { axis = 0, keepdims = 0 }",
      "k = int64[1]{2} y, z = top_k(x, k) { axis = 1 }",
      "k = int64[1]{1} y, z = top_k(x, k) { axis = 0, largest = 0 }",
      "k = shape(x) { start = 1 } y, z = top_k(x, k) { axis = -1 }",
      "s = shape(x) n = float32[1,1]{2.5} y = expand(n, s)",
      "s = shape(x) n = float32[]{2.5} y = expand(n, s)",
  };
  for (const std::string_view lines : of_x) {
    // Of sizes that are known, and that are not.
    for (const char* type : {"float32[2,3]", "float32[n,3]", "float32[n,m]", "float32[?,?]"}) {
      const bool two = lines.find("y, z") != lines.npos;
      ExpectSameThereAndBack(StrCat("x: ", type), lines, {x}, two ? "y, z" : "y");
    }
  }
  for (const char* op : {"cum_sum", "cum_prod"}) {
    for (const char* flags : {"", "exclusive = 1", "reverse = 1", "exclusive = 1, reverse = 1"}) {
      for (const char* type : {"float32[2,3]", "float32[n,3]", "float32[n,m]", "float32[?,?]"}) {
        for (const char* axis : {"0", "-1"}) {
          ExpectSameThereAndBack(
              StrCat("x: ", type),
              StrCat("a = int64[]{", axis, "} y = ", op, "(x, a) { ", flags, " }"), {x});
        }
      }
    }
  }
  ExpectSameThereAndBack("x: float32[n,m], r: float32[k]", "y = add(x, r)", {x, row});
  ExpectSameThereAndBack("x: float32[n,m], s: int64[2]", "y = reshape(x, s)", {x, shape});
  ExpectSameThereAndBack("x: float32[n,m], s: int64[2]", "e = int64[2]{9, 9} y = slice(x, s, e)",
                         {x, shape});
  ExpectSameThereAndBack("x: float32[1,4,n,m]", "y = depth_to_space(x) { blocksize = 2 }",
                         {Tensor::Of<float>({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})});
  for (const char* lines : {"y, z = split(x) { axis = 1, num_outputs = 2 }",
                            "s = int64[2]{1, 2} y, z = split(x, s) { axis = 1 }"}) {
    ExpectSameThereAndBack("x: float32[2,3]", lines, {x}, "y, z");
    ExpectSameThereAndBack("x: float32[n,m]", lines, {x}, "y, z");
  }
  ExpectSameThereAndBack("x: float32[n,m], i: int64[k]", "y = gather(x, i) { axis = 1 }",
                         {x, Tensor::Of<int64_t>({2}, {-1, 0})});
  ExpectSameThereAndBack("i: int64[n]", "d = int64[]{3} v = float32[2]{0, 5} y = one_hot(i, d, v)",
                         {Tensor::Of<int64_t>({3}, {0, -1, 7})});
  ExpectSameThereAndBack(
      "a: int32[n], b: int32[n]", "y = div(a, b) z = mod(a, b) w = mod(a, b) { fmod = 1 }",
      {Tensor::Of<int32_t>({4}, {7, -7, 7, 5}), Tensor::Of<int32_t>({4}, {2, 2, -2, 0})},
      "y, z, w");
}

TEST(Stablehlo, StringsAreNotWritten) {
  ConvertTextOptions options;
  options.dialect = "stablehlo";
  EXPECT_THAT(FromIrText("graph g(x: string[2]) -> (y) { y = identity(x) }", 1, options),
              ::testing::HasSubstr("may not be string"));
}

}  // namespace
}  // namespace x2ir
