// Calls of PyTorch's operators on a tensor whose sizes the program does not say.
#include "gtest/gtest.h"
#include "tests/handlers/torch/calls_util.h"

namespace x2ir {
namespace {

TEST(TorchUnknownSizes, Calls) {
  const struct {
    std::string_view lines, results, expected;
  } rows[] = {
      {"y: float32[?,?] = torch.aten::mean.dim(x) { operands = [\"self\"], dim = [0], keepdim = "
       "tensor(bool[]{true}) }",
       "y", "tensor(float32[1,3]{3.5, 2.5, 0.5})"},
      {"y: int64[?,?] = torch.aten::argmax.default(x) { operands = [\"self\"], keepdim = "
       "tensor(bool[]{true}) }",
       "y", "tensor(int64[1,1]{0})"},
      {"y, z: float32[?], int64[?] = torch.aten::median.dim(x) { operands = [\"self\"], dim = 0 }",
       "y, z", "tensor(float32[3]{3, 2, 0}); tensor(int64[3]{1, 0, 1})"},
      {"y: float32[] = torch.aten::nanmedian.default(x) { operands = [\"self\"] }", "y",
       "tensor(float32[]{2})"},
      {"y, z: float32[?], int64[?] = torch.aten::mode.default(x) { operands = [\"self\"], dim = 1 "
       "}",
       "y, z", "tensor(float32[2]{1, 3}); tensor(int64[2]{2, 1})"},
      {"a1 = float32[2]{0, 0.5}\n y: float32[?,?] = torch.aten::quantile.default(x, a1) { operands "
       "= [\"self\", \"q\"], dim = 0 }",
       "y", "tensor(float32[2,3]{3, 2, 0, 3.5, 2.5, 0.5})"},
      {"y, z: float32[?,?], int64[?,?] = torch.aten::topk.default(x) { operands = [\"self\"], k = "
       "2, dim = 1 }",
       "y, z", "tensor(float32[2,2]{4, 2, 3, 3}); tensor(int64[2,2]{0, 1, 0, 1})"},
      // torch.vmap over an axis of unknown size, of what has the hidden axis and of what has not.
      {"s: int64[] = torch.aten::sym_size.int(x) { operands = [\"self\"], dim = 0 }\n"
       "a: float32[?] = torch.torch._functorch.predispatch::_add_batch_dim(x) "
       "{ operands = [\"arg0\"], arg1 = 0, arg2 = 1 }\n"
       "b: float32[?] = torch.aten::neg.default(a) { operands = [\"self\"] }\n"
       "y: float32[?,?] = torch.torch._functorch.predispatch::_remove_batch_dim(b, s) "
       "{ operands = [\"arg0\", \"arg2:int\"], arg1 = 1, arg3 = 1 }\n"
       "z: float32[?,?,?] = torch.torch._functorch.predispatch::_remove_batch_dim(x, s) "
       "{ operands = [\"arg0\", \"arg2:int\"], arg1 = 1, arg3 = 2 }",
       "y, z",
       "tensor(float32[3,2]{-4, -3, -2, -3, -1, -0}); "
       "tensor(float32[2,3,2]{4, 4, 2, 2, 1, 1, 3, 3, 3, 3, 0, 0})"},
      {"y: float32[?,?] = torch.aten::adaptive_avg_pool1d.default(x) { operands = [\"self\"], "
       "output_size = [2] }",
       "y", "tensor(float32[2,2]{3, 1.5, 3, 1.5})"},
      {"y, _: float32[?,?], int64[?,?] = torch.aten::adaptive_max_pool1d.default(x) { operands = "
       "[\"self\"], output_size = [2] }",
       "y", "tensor(float32[2,2]{4, 2, 3, 3})"},
      {"y: float32[?,?] = torch.aten::diff.default(x) { operands = [\"self\"], dim = 0 }", "y",
       "tensor(float32[1,3]{-1, 1, -1})"},
      {"y: float32[?] = torch.aten::trapezoid.dx(x) { operands = [\"y\"], dx = 2 }", "y",
       "tensor(float32[2]{9, 9})"},
      {"y: float32[?,?] = torch.aten::cumprod.default(x) { operands = [\"self\"], dim = 1 }", "y",
       "tensor(float32[2,3]{4, 8, 8, 3, 9, 0})"},
      {"y, z, w: float32[?], int64[?,?], int64[?] = torch.aten::unique_consecutive.default(x) { "
       "operands = [\"self\"], return_inverse = tensor(bool[]{true}), return_counts = "
       "tensor(bool[]{true}) }",
       "y, z, w",
       "tensor(float32[5]{4, 2, 1, 3, 0}); tensor(int64[2,3]{0, 1, 2, 3, 3, 4}); "
       "tensor(int64[5]{1, 1, 1, 2, 1})"},
      {"y, z, w: float32[?], int64[?,?], int64[?] = torch.aten::_unique2.default(x) { operands = "
       "[\"self\"], return_inverse = tensor(bool[]{true}), return_counts = tensor(bool[]{true}) }",
       "y, z, w",
       "tensor(float32[5]{0, 1, 2, 3, 4}); tensor(int64[2,3]{4, 2, 1, 3, 3, 0}); "
       "tensor(int64[5]{1, 1, 1, 2, 1})"},
      {"a0 = float32[3]{0, 2, 3}\n y: int64[?,?] = torch.aten::searchsorted.Tensor(a0, x) { "
       "operands = [\"sorted_sequence\", \"self\"] }",
       "y", "tensor(int64[2,3]{3, 1, 1, 2, 2, 0})"},
      {"a1 = float32[1]{3}\n y: bool[?,?] = torch.aten::isin.Tensor_Tensor(x, a1) { operands = "
       "[\"elements\", \"test_elements\"] }",
       "y", "tensor(bool[2,3]{false, false, false, true, true, false})"},
      {"y: float32[?] = torch.aten::histc.default(x) { operands = [\"self\"], bins = 2 }", "y",
       "tensor(float32[2]{2, 4})"},
      {"a1 = int64[2]{1, 0}\n a2 = int64[2,1]{0, 2}\n y: float32[?,?] = "
       "torch.aten::index.Tensor(x, a1, a2) { operands = [\"self\", \"indices[0]\", "
       "\"indices[1]\"] }",
       "y", "tensor(float32[2,2]{3, 4, 0, 1})"},
      {"a1 = bool[2]{true, false}\n y: float32[?,?] = torch.aten::index.Tensor(x, a1) { operands = "
       "[\"self\", \"indices[0]\"] }",
       "y", "tensor(float32[1,3]{4, 2, 1})"},
      {"a1 = int64[1]{0}\n y: float32[?,?] = torch.aten::index_fill.int_Scalar(x, a1) { operands = "
       "[\"self\", \"index\"], dim = 1, value = 9 }",
       "y", "tensor(float32[2,3]{9, 2, 1, 9, 3, 0})"},
      {"a1 = int64[1]{0}\n a2 = float32[1,3]{1, 1, 1}\n y: float32[?,?] = "
       "torch.aten::index_add.default(x, a1, a2) { operands = [\"self\", \"index\", \"source\"], "
       "dim = 0 }",
       "y", "tensor(float32[2,3]{5, 3, 2, 3, 3, 0})"},
      {"a1 = int64[1,1]{1}\n a2 = float32[1,2]{7, 8}\n y: float32[?,?] = "
       "torch.aten::scatter.src(x, a1, a2) { operands = [\"self\", \"index\", \"src\"], dim = 0 }",
       "y", "tensor(float32[2,3]{4, 2, 1, 7, 3, 0})"},
      {"a1 = int64[2,2]{0, 0, 1, 1}\n a2 = float32[2,2]{2, 4, 6, 9}\n y: float32[?,?] = "
       "torch.aten::scatter_reduce.two(x, a1, a2) { operands = [\"self\", \"index\", \"src\"], dim "
       "= 1, reduce = \"mean\", include_self = tensor(bool[]{false}) }",
       "y", "tensor(float32[2,3]{3, 2, 1, 3, 7.5, 0})"},
      {"a1 = int64[2,1]{1, 0}\n y: float32[?,?] = torch.aten::take_along_dim.default(x, a1) { "
       "operands = [\"self\", \"indices\"], dim = 1 }",
       "y", "tensor(float32[2,1]{2, 3})"},
      {"a1 = int64[1]{5}\n a2 = float32[1]{7}\n y: float32[?,?] = torch.aten::put.default(x, a1, "
       "a2) { operands = [\"self\", \"index\", \"source\"] }",
       "y", "tensor(float32[2,3]{4, 2, 1, 3, 3, 7})"},
      {"a1 = bool[3]{true, false, true}\n y: float32[?] = torch.aten::masked_select.default(x, a1) "
       "{ operands = [\"self\", \"mask\"] }",
       "y", "tensor(float32[4]{4, 1, 3, 0})"},
      {"a1 = bool[2,1]{true, false}\n a2 = float32[3]{7, 8, 9}\n y: float32[?,?] = "
       "torch.aten::masked_scatter.default(x, a1, a2) { operands = [\"self\", \"mask\", "
       "\"source\"] }",
       "y", "tensor(float32[2,3]{7, 8, 9, 3, 3, 0})"},
      {"a1 = float32[2,1]{7, 8}\n y: float32[?,?] = torch.aten::slice_scatter.default(x, a1) { "
       "operands = [\"self\", \"src\"], dim = 1, start = -2, end = -1 }",
       "y", "tensor(float32[2,3]{4, 7, 1, 3, 8, 0})"},
      {"a1 = int64[2]{0, 2}\n y: float32[?,?] = torch.aten::segment_reduce.default(x, a1) { "
       "operands = [\"data\", \"lengths\"], reduce = \"sum\" }",
       "y", "tensor(float32[2,3]{0, 0, 0, 7, 5, 1})"},
      {"y: float32[?,?] = torch.aten::renorm.default(x) { operands = [\"self\"], p = infd, dim = "
       "0, maxnorm = 100 }",
       "y", "tensor(float32[2,3]{4, 2, 1, 3, 3, 0})"},
      {"y, z: float32[], float32[] = torch.aten::std_mean.correction(x) { operands = [\"self\"], "
       "dim = type(?), correction = 5 }",
       "y, z", "tensor(float32[]{3.2914028}); tensor(float32[]{2.1666667})"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(
        EvalCallOf("x: float32[n,m]", "float32[2,3]{4, 2, 1, 3, 3, 0}", row.lines, row.results),
        row.expected)
        << row.lines;
  }
}

}  // namespace
}  // namespace x2ir
