// Calls of PyTorch's linear algebra, losses and functions of numbers: evaluated, against what
// PyTorch gives.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/torch/calls_util.h"

namespace x2ir {
namespace {

TEST(TorchMathematics, Products) {
  const CallRow rows[] = {
      // Heads that share keys, two and two.
      {"a0 = float32[4,1,1]{1, 2, 3, 4}\n a1 = float32[2,1,1]{5, 7}",
       "y: float32[4,1,1] = torch.aten::scaled_dot_product_attention.default(a0, a1, a1) { "
       "operands = [\"query\", \"key\", \"value\"], enable_gqa = tensor(bool[]{true}) }",
       "y", "float32[4,1,1]{5, 5, 7, 7}"},
      {"a0 = float32[3]{-2, 0, 3}\n a1 = float32[3]{0, 0, 0}",
       "y: float32[3] = torch.aten::rrelu_with_noise_functional.default(a0, a1) { operands = "
       "[\"self\", \"noise\"], lower = 0.25d, upper = 0.75d }",
       "y", "float32[3]{-1, 0, 3}"},
      {"a0 = int64[2,2]{1, 2, 3, 4}\n a1 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[2,2] = torch.aten::mm.default(a0, a1) { operands = [\"self\", \"mat2\"] }", "y",
       "int64[2,2]{19, 22, 43, 50}"},
      {"a0 = int16[1,2]{300, 2}\n a1 = int16[2,1]{300, 1}",
       "y: int16[1,1] = torch.aten::mm.default(a0, a1) { operands = [\"self\", \"mat2\"] }", "y",
       "int16[1,1]{24466}"},
      {"a0 = float32[2]{1, 2}\n a1 = float32[2,2]{1, 0, 0, 1}",
       "y: float32[2] = torch.aten::matmul.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[2]{1, 2}"},
      {"a0 = int64[2]{1, 2}\n a1 = int64[2]{3, 4}",
       "y: int64[] = torch.aten::dot.default(a0, a1) { operands = [\"self\", \"tensor\"] }", "y",
       "int64[]{11}"},
      {"a0 = int64[2,2]{1, 2, 3, 4}\n a1 = int64[2]{1, -1}",
       "y: int64[2] = torch.aten::mv.default(a0, a1) { operands = [\"self\", \"vec\"] }", "y",
       "int64[2]{-1, -1}"},
      {"a0 = float32[1,2]{nan, 1}\n a1 = float32[1,2]{1, 2}\n a2 = float32[2,2]{1, 2, 3, 4}",
       "y: float32[1,2] = torch.aten::addmm.default(a0, a1, a2) { operands = [\"self\", \"mat1\", "
       "\"mat2\"], beta = 0, alpha = 2 }",
       "y", "float32[1,2]{14, 20}"},
      {"a0 = int64[2]{1, 1}\n a1 = int64[2,2]{1, 2, 3, 4}\n a2 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[2,2] = torch.aten::addmm.default(a0, a1, a2) { operands = [\"self\", \"mat1\", "
       "\"mat2\"], beta = 2, alpha = -1 }",
       "y", "int64[2,2]{-17, -20, -41, -48}"},
      {"a0 = float32[1,1]{1}\n a1 = float32[2,1,1]{1, 2}\n a2 = float32[2,1,1]{3, 4}",
       "y: float32[1,1] = torch.aten::addbmm.default(a0, a1, a2) { operands = [\"self\", "
       "\"batch1\", \"batch2\"] }",
       "y", "float32[1,1]{12}"},
      {"a0 = bool[2,1]{true, false}\n a1 = bool[2]{true, false}\n a2 = bool[3]{true, false, true}",
       "y: bool[2,3] = torch.aten::addr.default(a0, a1, a2) { operands = [\"self\", \"vec1\", "
       "\"vec2\"], beta = tensor(bool[]{true}), alpha = tensor(bool[]{true}) }",
       "y", "bool[2,3]{true, true, true, false, false, false}"},
      {"a0 = bool[2]{true, false}\n a1 = bool[2]{true, true}",
       "y: bool[2,2] = torch.aten::outer.default(a0, a1) { operands = [\"self\", \"vec2\"] }", "y",
       "bool[2,2]{true, true, false, false}"},
      {"a0 = int64[2,2]{1, 2, 3, 4}\n a1 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[2,2] = torch.aten::inner.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "int64[2,2]{17, 23, 39, 53}"},
      {"a0 = float32[]{2}\n a1 = float32[2]{1, 2}",
       "y: float32[2] = torch.aten::inner.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[2]{2, 4}"},
      {"a0 = int64[2,2]{1, 2, 3, 4}\n a1 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[] = torch.aten::tensordot.default(a0, a1) { operands = [\"self\", \"other\"], "
       "dims_self = [0, 1], dims_other = [0, 1] }",
       "y", "int64[]{70}"},
      {"a0 = int64[2,1]{1, 2}\n a1 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[2,2] = torch.aten::tensordot.default(a0, a1) { operands = [\"self\", \"other\"], "
       "dims_self = [1], dims_other = [0] }",
       "y", "int64[2,2]{12, 14, 24, 28}"},
      {"a0 = int64[2,2]{1, 2, 3, 4}\n a1 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[2,2] = torch.aten::einsum.default(a0, a1) { operands = [\"tensors[0]\", "
       "\"tensors[1]\"], equation = \"ij,jk->ki\" }",
       "y", "int64[2,2]{19, 43, 22, 50}"},
      {"a0 = int64[2]{1, 2}\n a1 = int64[2,2]{5, 6, 7, 8}",
       "y: int64[2,4] = torch.aten::kron.default(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "int64[2,4]{5, 6, 10, 12, 7, 8, 14, 16}"},
      {"a0 = float32[2]{1, 2}\n a1 = float32[2,2]{1, 2, 3, 4}\n a2 = float32[2]{1, 1}",
       "y: float32[] = torch.aten::linalg_multi_dot.default(a0, a1, a2) { operands = "
       "[\"tensors[0]\", \"tensors[1]\", \"tensors[2]\"] }",
       "y", "float32[]{17}"},
      {"a0 = float32[2,2]{1, 1, 0, 1}",
       "y: float32[2,2] = torch.aten::linalg_matrix_power.default(a0) { operands = [\"self\"], n = "
       "5 }",
       "y", "float32[2,2]{1, 5, 0, 1}"},
      {"a0 = float32[2,2]{2, 0, 0, 4}",
       "y: float32[2,2] = torch.aten::linalg_matrix_power.default(a0) { operands = [\"self\"], n = "
       "-2 }",
       "y", "float32[2,2]{0.25, 0, 0, 0.0625}"},
      {"a0 = float32[2,2]{1, 2, 3, 4}\n a1 = float32[2,2]{1, 1, 2, 2}",
       "y: float32[2] = torch.aten::linalg_vecdot.default(a0, a1) { operands = [\"x\", \"y\"], dim "
       "= 0 }",
       "y", "float32[2]{7, 10}"},
      {"a0 = int64[2,3]{1, 0, 0, 0, 1, 0}\n a1 = int64[2,3]{0, 1, 0, 0, 0, 1}",
       "y: int64[2,3] = torch.aten::cross.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "int64[2,3]{0, 0, 1, 1, 0, 0}"},
      {"a0 = int64[3,1]{1, 0, 0}\n a1 = int64[3,1]{0, 1, 0}",
       "y: int64[3,1] = torch.aten::linalg_cross.default(a0, a1) { operands = [\"self\", "
       "\"other\"], dim = -2 }",
       "y", "int64[3,1]{0, 0, 1}"},
      {"a0 = float32[2,2]{0, 0, 3, 4}\n a1 = float32[1,2]{0, 0}",
       "y: float32[2,1] = torch.aten::cdist.default(a0, a1) { operands = [\"x1\", \"x2\"], p = "
       "2.0d }",
       "y", "float32[2,1]{0, 5}"},
      {"a0 = float32[2,2]{0, 0, 3, 4}\n a1 = float32[1,2]{0, 1}",
       "y: float32[2,1] = torch.aten::cdist.default(a0, a1) { operands = [\"x1\", \"x2\"], p = "
       "infd }",
       "y", "float32[2,1]{1, 3}"},
      {"a0 = float32[3,2]{0, 0, 3, 4, 0, 1}",
       "y: float32[3] = torch.aten::pdist.default(a0) { operands = [\"self\"], p = 1.0d }", "y",
       "float32[3]{7, 1, 6}"},
      {"a0 = float32[2]{3, 0}\n a1 = float32[2]{0, 4}",
       "y: float32[] = torch.aten::dist.default(a0, a1) { operands = [\"self\", \"other\"], p = 2 "
       "}",
       "y", "float32[]{5}"},
      {"a0 = float32[2,3]{1, 2, 3, 3, 2, 1}",
       "y: float32[2,2] = torch.aten::cov.default(a0) { operands = [\"self\"] }", "y",
       "float32[2,2]{1, -1, -1, 1}"},
      {"a0 = int64[4]{1, 2, 3, 4}\n a1 = int64[4]{1, 1, 1, 1}",
       "y: float32[] = torch.aten::cov.default(a0, a1) { operands = [\"self\", \"fweights\"], "
       "correction = 0 }",
       "y", "float32[]{1.25}"},
      {"a0 = float32[2,3]{1, 2, 3, 3, 2, 1}",
       "y: float32[2,2] = torch.aten::corrcoef.default(a0) { operands = [\"self\"] }", "y",
       "float32[2,2]{1, -1, -1, 1}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchMathematics, Systems) {
  const CallRow rows[] = {
      {"a0 = float32[2,2]{0, 2, 4, 0}",
       "y: float32[] = torch.aten::det.default(a0) { operands = [\"self\"] }", "y",
       "float32[]{-8}"},
      {"a0 = float32[2,2]{0, 1, 1, 0}",
       "y, z: float32[], float32[] = torch.aten::slogdet.default(a0) { operands = [\"self\"] }",
       "y, z", "float32[]{-1}; float32[]{0}"},
      {"a0 = float32[2,2]{0, 1, 1, 0}",
       "y: float32[] = torch.aten::logdet.default(a0) { operands = [\"self\"] }", "y",
       "float32[]{nan}"},
      {"a0 = float32[2,2]{0, 2, 4, 0}",
       "y: float32[2,2] = torch.aten::inverse.default(a0) { operands = [\"self\"] }", "y",
       "float32[2,2]{0, 0.25, 0.5, 0}"},
      {"a0 = float32[2,1]{2, 6}\n a1 = float32[2,2]{1, 9, 2, 2}",
       "y, z: float32[2,1], float32[2,2] = torch.aten::triangular_solve.default(a0, a1) { operands "
       "= [\"self\", \"A\"], upper = tensor(bool[]{false}) }",
       "y, z", "float32[2,1]{2, 1}; float32[2,2]{1, 9, 2, 2}"},
      {"a0 = float32[2,1]{4, 4}\n a1 = float32[2,2]{2, 1, 7, 2}",
       "y, z: float32[2,1], float32[2,2] = torch.aten::triangular_solve.default(a0, a1) { operands "
       "= [\"self\", \"A\"], upper = tensor(bool[]{true}), transpose = tensor(bool[]{true}) }",
       "y, z", "float32[2,1]{2, 1}; float32[2,2]{2, 1, 7, 2}"},
      {"a0 = float32[2,2]{1, 2, 0, 1}\n a1 = float32[1,2]{5, 6}",
       "y: float32[1,2] = torch.aten::linalg_solve_triangular.default(a0, a1) { operands = "
       "[\"self\", \"B\"], upper = tensor(bool[]{true}), left = tensor(bool[]{false}) }",
       "y", "float32[1,2]{5, -4}"},
      {"a0 = float32[2,2]{4, 2, 2, 10}",
       "y, z: float32[2,2], int32[] = torch.aten::linalg_cholesky_ex.default(a0) { operands = "
       "[\"self\"] }",
       "y, z", "float32[2,2]{2, 0, 1, 3}; int32[]{0}"},
      {"a0 = float32[2,2]{4, 2, 2, 10}",
       "y, z: float32[2,2], int32[] = torch.aten::linalg_cholesky_ex.default(a0) { operands = "
       "[\"self\"], upper = tensor(bool[]{true}) }",
       "y, z", "float32[2,2]{2, 1, 0, 3}; int32[]{0}"},
      {"a0 = float32[2,1]{4, 2}\n a1 = float32[2,2]{2, 0, 0, 1}",
       "y: float32[2,1] = torch.aten::cholesky_solve.default(a0, a1) { operands = [\"self\", "
       "\"input2\"] }",
       "y", "float32[2,1]{1, 2}"},
      {"a0 = float32[3,2]{2, 0, 0, 0, 0, 4}",
       "y: float32[2,3] = torch.aten::pinverse.default(a0) { operands = [\"self\"] }", "y",
       "float32[2,3]{0.5, 0, 0, 0, 0, 0.25}"},
      {"a0 = float32[2,2]{1, 2, 2, 4}",
       "y: int64[] = torch.aten::linalg_matrix_rank.default(a0) { operands = [\"self\"], tol = "
       "0.0001d }",
       "y", "int64[]{1}"},
      {"a0 = float32[2,2]{1, -2, 3, 4}",
       "y: float32[] = torch.aten::linalg_matrix_norm.default(a0) { operands = [\"self\"], ord = 1 "
       "}",
       "y", "float32[]{6}"},
      {"a0 = float32[2,2]{1, -2, 3, 4}",
       "y: float32[1,1] = torch.aten::linalg_matrix_norm.default(a0) { operands = [\"self\"], ord "
       "= -infd, dim = [0, 1], keepdim = tensor(bool[]{true}) }",
       "y", "float32[1,1]{3}"},
      {"a0 = float32[2,2]{3, 0, 0, 4}",
       "y: float32[] = torch.aten::linalg_matrix_norm.str_ord(a0) { operands = [\"self\"], ord = "
       "\"nuc\" }",
       "y", "float32[]{7}"},
      {"a0 = float32[0,3]{}",
       "y: float32[] = torch.aten::linalg_matrix_norm.default(a0) { operands = [\"self\"], ord = "
       "infd }",
       "y", "float32[]{0}"},
      {"a0 = float32[2,2]{3, 4, 0, 0}",
       "y: float32[] = torch.aten::linalg_norm.default(a0) { operands = [\"self\"] }", "y",
       "float32[]{5}"},
      {"a0 = float32[3,2]{0, 3, 2, 0, 0, 0}",
       "y: float32[2] = torch.aten::linalg_svdvals.default(a0) { operands = [\"A\"] }", "y",
       "float32[2]{3, 2}"},
      {"a0 = float32[2,2]{-1, 0, 0, -3}",
       "y: float32[2] = torch.aten::linalg_eigvalsh.default(a0) { operands = [\"self\"] }", "y",
       "float32[2]{-3, -1}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

// What is the same whichever signs singular vectors have.
TEST(TorchMathematics, FactorsWithoutSigns) {
  const CallRow rows[] = {
      {"a0 = float32[2,2]{0, 2, -1, 0}",
       "y, z: float32[2,2], float32[2,2] = torch.aten::linalg_polar.default(a0) { operands = "
       "[\"A\"] }",
       "y, z", "float32[2,2]{0, 1, -1, 0}; float32[2,2]{1, 0, 0, 2}"},
      // Of the lower triangle; eigenvalues below 0 count as 0.
      {"a0 = float32[2,2]{4, 99, 0, 9}",
       "y: float32[2,2] = torch.aten::linalg_matrix_sqrth.default(a0) { operands = [\"self\"] }",
       "y", "float32[2,2]{2, 0, 0, 3}"},
      {"a0 = float32[2,2]{1, 0, 0, -4}",
       "y: float32[2,2] = torch.aten::linalg_matrix_sqrth.default(a0) { operands = [\"self\"] }",
       "y", "float32[2,2]{1, 0, 0, 0}"},
      {"a0 = float32[2,2]{0, 1, 1, 0}",
       "y: float32[2,2] = torch.aten::linalg_matrix_sqrth.default(a0) { operands = [\"self\"] }",
       "y", "float32[2,2]{0.5, 0.5, 0.5, 0.5}"},
      {"a0 = float32[2,3]{0, 1, 1, 0, 0, 0}",
       "y, z: float32[2,3], float32[3,3] = torch.aten::linalg_polar.default(a0) { operands = "
       "[\"A\"] }",
       "y, z", "error expected as many rows as columns, or more"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchMathematics, BackwardPasses) {
  constexpr std::string_view kPair =
      "a0 = float32[2,2]{1, 2, 3, 4}\n a1 = float32[2,2]{0.25, 0.75, 0.5, 0.5}";
  constexpr std::string_view kPool =
      "y: bfloat16[1,2,2] = torch.aten::max_pool2d_with_indices_backward.default(a0, a1, a2) { "
      "operands = [\"grad_output\", \"self\", \"indices\"], kernel_size = [2, 2], stride = [1, "
      "1], padding = [0, 0], dilation = [1, 1], ceil_mode = tensor(bool[]{false}) }";
  const CallRow rows[] = {
      {kPair,
       "y: float32[2,2] = torch.aten::_softmax_backward_data.default(a0, a1) { operands = "
       "[\"grad_output\", \"output\"], dim = 1, input_dtype = type(float32[]) }",
       "y", "float32[2,2]{-0.1875, 0.1875, -0.25, 0.25}"},
      {kPair,
       "y: float32[2,2] = torch.aten::_softmax_backward_data.default(a0, a1) { operands = "
       "[\"grad_output\", \"output\"], dim = 0, input_dtype = type(float32[]) }",
       "y", "float32[2,2]{-0.1875, -1.125, 0.625, 0.25}"},
      {kPair,
       "y: float16[2,2] = torch.aten::_softmax_backward_data.default(a0, a1) { operands = "
       "[\"grad_output\", \"output\"], dim = 0, input_dtype = type(float16[]) }",
       "y", "error of different element types"},
      {"a0 = float32[2,2]{1, 2, 3, 4}\n a1 = float32[2,2]{0, 0, 0, 0}",
       "y: float32[2,2] = torch.aten::_log_softmax_backward_data.default(a0, a1) { operands = "
       "[\"grad_output\", \"output\"], dim = 1, input_dtype = type(float32[]) }",
       "y", "float32[2,2]{-2, -1, -4, -3}"},
      {"a0 = int64[2]{1, 2}\n a1 = bool[2]{true, false}",
       "y: float32[2] = torch.aten::native_dropout_backward.default(a0, a1) { operands = "
       "[\"grad_output\", \"mask\"], scale = 2.5d }",
       "y", "float32[2]{2.5, 0}"},
      {"a0 = float32[1,2,2]{1, 2, 3, 4}\n a1 = float32[1,3,3]{0, 0, 0, 0, 0, 0, 0, 0, 0}\n "
       "a2 = int64[1,2,2]{4, 4, 4, 5}",
       "y: float32[1,3,3] = torch.aten::max_pool2d_with_indices_backward.default(a0, a1, a2) { "
       "operands = [\"grad_output\", \"self\", \"indices\"], kernel_size = [2, 2], stride = [1, "
       "1], padding = [0, 0], dilation = [1, 1], ceil_mode = tensor(bool[]{false}) }",
       "y", "float32[1,3,3]{0, 0, 0, 0, 6, 4, 0, 0, 0}"},
      // How sums of halves are rounded depends on the order.
      {"a0 = bfloat16[1,1,1]{1}\n a1 = bfloat16[1,2,2]{0, 0, 0, 0}\n a2 = int64[1,1,1]{3}", kPool,
       "y", "error windows of bfloat16 that overlap"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchMathematics, ResultsBesideTheFirst) {
  const CallRow rows[] = {
      // The logarithm of the sum of the scores' exponentials; 0 where all are -inf.
      {"a0 = float32[1,1,2,1]{1, 2}\n a1 = float32[1,1,2,1]{0, 0}\n a2 = float32[1,1,2,1]{4, 8}\n "
       "a3 = float32[2,2]{0, -inf, -inf, -inf}",
       "y, z: float32[1,1,2,1], float32[1,1,2] = "
       "torch.aten::_scaled_dot_product_flash_attention_for_cpu.default(a0, a1, a2, a3) { operands "
       "= [\"query\", \"key\", \"value\", \"attn_mask\"] }",
       "y, z", "float32[1,1,2,1]{4, 0}; float32[1,1,2]{0, 0}"},
      // Always in training; the reserve of CPUs has no elements.
      {"a0 = float32[2,1]{1, 3}\n a1 = float32[1]{1}\n a2 = float32[1]{0}\n a3 = float32[1]{9}",
       "y, m, s, r: float32[2,1], float32[1], float32[1], uint8[0] = "
       "torch.aten::_batch_norm_with_update.default(a0, a1, a2, a3, a3) { operands = [\"input\", "
       "\"weight\", \"bias\", \"running_mean\", \"running_var\"], momentum = 0.1d, eps = 0d }",
       "y, m, s, r", "float32[2,1]{-1, 1}; float32[1]{2}; float32[1]{1}; uint8[0]{}"},
      {"a0 = float32[2,1]{1, 3}\n a1 = float32[1]{1}\n a2 = float32[1]{0}\n a3 = float32[1]{4}",
       "y, m, s, r: float32[2,1], float32[0], float32[0], uint8[7] = "
       "torch.aten::_batch_norm_no_update.default(a0, a1, a2, a2, a3) { operands = [\"input\", "
       "\"weight\", \"bias\", \"running_mean\", \"running_var\"], momentum = 0.1d, eps = 0d }",
       "y, m, s, r", "error its result 3 with elements"},
      {"a0 = float32[2,1]{1, 3}\n a1 = float32[1]{1}\n a2 = float32[1]{0}\n a3 = float32[1]{4}",
       "y, m, s: float32[2,1], float32[?], float32[?] = "
       "torch.aten::native_batch_norm.default(a0, a1, a2, a2, a3) { operands = [\"input\", "
       "\"weight\", \"bias\", \"running_mean\", \"running_var\"], training = "
       "tensor(bool[]{false}), momentum = 0.1d, eps = 0d }",
       "m, s", "error the statistics of inference"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchMathematics, Losses) {
  const CallRow rows[] = {
      {"a0 = float32[2,2]{1, 2, 3, 0}\n a1 = float32[2,2]{0, 2, 1, 1}",
       "y: float32[] = torch.aten::mse_loss.default(a0, a1) { operands = [\"self\", \"target\"] }",
       "y", "float32[]{1.5}"},
      {"a0 = float32[2,2]{1, 2, 3, 0}\n a1 = float32[2,2]{0, 2, 1, 1}",
       "y: float32[2,2] = torch.aten::mse_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"], reduction = 0 }",
       "y", "float32[2,2]{1, 0, 4, 1}"},
      {"a0 = float32[0]{}\n a1 = float32[0]{}",
       "y: float32[] = torch.aten::mse_loss.default(a0, a1) { operands = [\"self\", \"target\"] }",
       "y", "float32[]{nan}"},
      {"a0 = float32[2,2]{1, 2, 3, 0}\n a1 = float32[2,2]{0, 2, 1, 1}",
       "y: float32[] = torch.aten::l1_loss.default(a0, a1) { operands = [\"self\", \"target\"], "
       "reduction = 2 }",
       "y", "float32[]{4}"},
      {"a0 = float32[2,2]{1, 2, 3, 0}\n a1 = float32[2,2]{0, 2, 1, 1}",
       "y: float32[2,2] = torch.aten::smooth_l1_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"], reduction = 0, beta = 2.0d }",
       "y", "float32[2,2]{0.25, 0, 1, 0.25}"},
      {"a0 = float32[2,2]{1, 2, 3, 0}\n a1 = float32[2,2]{0, 2, 1, 1}",
       "y: float32[2,2] = torch.aten::smooth_l1_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"], reduction = 0, beta = 0.0d }",
       "y", "float32[2,2]{1, 0, 2, 1}"},
      {"a0 = float32[2,2]{1, 2, 3, 0}\n a1 = float32[2,2]{0, 2, 1, 1}",
       "y: float32[2,2] = torch.aten::huber_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"], reduction = 0, delta = 1.5d }",
       "y", "float32[2,2]{0.5, 0, 1.875, 0.5}"},
      {"a0 = float32[2]{0.5, 2}\n a1 = float32[2]{-1, 1}",
       "y: float32[2] = torch.aten::hinge_embedding_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"], reduction = 0 }",
       "y", "float32[2]{0.5, 2}"},
      {"a0 = float32[2]{1, 2}\n a1 = float32[2]{2, 1}\n a2 = float32[2]{1, 1}",
       "y: float32[2] = torch.aten::margin_ranking_loss.default(a0, a1, a2) { operands = "
       "[\"input1\", \"input2\", \"target\"], margin = 0.5d, reduction = 0 }",
       "y", "float32[2]{1.5, 0}"},
      {"a0 = float32[1,2]{0, 0}\n a1 = float32[1,2]{3, 0}\n a2 = float32[1,2]{0, 1}",
       "y: float32[] = torch.aten::triplet_margin_loss.default(a0, a1, a2) { operands = "
       "[\"anchor\", \"positive\", \"negative\"], p = 1.0d, eps = 0.0d }",
       "y", "float32[]{3}"},
      {"a0 = float32[2,2]{-1, -2, -3, -4}\n a1 = int64[2]{1, 0}\n a2 = float32[2]{1, 3}",
       "y: float32[] = torch.aten::nll_loss.default(a0, a1, a2) { operands = [\"self\", "
       "\"target\", \"weight\"] }",
       "y", "float32[]{2.25}"},
      {"a0 = float32[2,2]{-1, -2, -3, -4}\n a1 = int64[2]{1, -100}",
       "y: float32[2] = torch.aten::nll_loss.default(a0, a1) { operands = [\"self\", \"target\"], "
       "reduction = 0 }",
       "y", "float32[2]{2, 0}"},
      {"a0 = float32[2,2]{-1, -2, -3, -4}\n a1 = int64[2]{1, 0}\n a2 = float32[2]{1, 3}",
       "y, z: float32[], float32[] = torch.aten::nll_loss_forward.default(a0, a1, a2) { operands = "
       "[\"self\", \"target\", \"weight\"], reduction = 2, ignore_index = 0 }",
       "y, z", "float32[]{6}; float32[]{3}"},
      {"a0 = float32[2,2]{-inf, 0, 0, -inf}\n a1 = int64[2]{1, 0}",
       "y: float32[] = torch.aten::cross_entropy_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"] }",
       "y", "float32[]{-0}"},
      {"a0 = float32[1,2]{0, 0}\n a1 = int64[1]{7}",
       "y: float32[] = torch.aten::cross_entropy_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"], ignore_index = 7 }",
       "y", "float32[]{nan}"},
      {"a0 = float32[2]{0, 1}\n a1 = float32[2]{1, 1}",
       "y: float32[2] = torch.aten::binary_cross_entropy.default(a0, a1) { operands = [\"self\", "
       "\"target\"], reduction = 0 }",
       "y", "float32[2]{100, -0}"},
      {"a0 = float32[2]{1, 2}\n a1 = float32[2]{0, 1}",
       "y: float32[2] = torch.aten::kl_div.default(a0, a1) { operands = [\"self\", \"target\"], "
       "reduction = 0 }",
       "y", "float32[2]{0, -2}"},
      {"a0 = float32[1,3]{1, 2, 4}\n a1 = int64[1]{1}",
       "y: float32[] = torch.aten::multi_margin_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"] }",
       "y", "float32[]{1}"},
      {"a0 = float32[1,4]{0.25, 0.5, 0.25, 1}\n a1 = int64[1,4]{3, 0, -1, 1}",
       "y: float32[] = torch.aten::multilabel_margin_loss.default(a0, a1) { operands = [\"self\", "
       "\"target\"] }",
       "y", "float32[]{0.75}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchMathematics, Numbers) {
  const CallRow rows[] = {
      {"a0 = float32[4]{1, nan, 3, 4}\n a1 = float32[4]{2, 2, nan, 2}\n a2 = float32[1]{3}",
       "y: float32[4] = torch.aten::clamp.Tensor(a0, a1, a2) { operands = [\"self\", \"min\", "
       "\"max\"] }",
       "y", "float32[4]{2, nan, nan, 3}"},
      {"a0 = int64[2]{1, 5}",
       "y: int64[2] = torch.aten::clamp_max.default(a0) { operands = [\"self\"], max = 3 }", "y",
       "int64[2]{1, 3}"},
      {"a0 = float32[3]{nan, 1, nan}\n a1 = float32[3]{1, nan, nan}",
       "y: float32[3] = torch.aten::fmax.default(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "float32[3]{1, 1, nan}"},
      {"a0 = int64[2]{1, 5}\n a1 = int64[2]{3, 3}",
       "y: int64[2] = torch.aten::fmin.default(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "int64[2]{1, 3}"},
      {"a0 = float32[4]{nan, inf, -inf, 1}",
       "y: float32[4] = torch.aten::nan_to_num.default(a0) { operands = [\"self\"], nan = 2.0d, "
       "posinf = 3.0d }",
       "y", "float32[4]{2, 3, -3.4028235e+38, 1}"},
      {"a0 = int64[1]{1}",
       "y: int64[1] = torch.aten::nan_to_num.default(a0) { operands = [\"self\"] }", "y",
       "int64[1]{1}"},
      {"a0 = float64[2]{1.25, -0.375}",
       "y: float64[2] = torch.aten::round.decimals(a0) { operands = [\"self\"], decimals = 1 }",
       "y", "float64[2]{1.2, -0.4}"},
      {"a0 = float32[2]{1250, 1350}",
       "y: float32[2] = torch.aten::round.decimals(a0) { operands = [\"self\"], decimals = -2 }",
       "y", "float32[2]{1200, 1400}"},
      {"a0 = int64[2]{1, 2}\n a1 = int64[2]{3, 4}\n a2 = int64[2]{5, 6}",
       "y: int64[2] = torch.aten::addcmul.default(a0, a1, a2) { operands = [\"self\", \"tensor1\", "
       "\"tensor2\"], value = 2 }",
       "y", "int64[2]{31, 50}"},
      {"a0 = float32[1]{1}\n a1 = float32[1]{3}\n a2 = float32[1]{2}",
       "y: float32[1] = torch.aten::addcdiv.default(a0, a1, a2) { operands = [\"self\", "
       "\"tensor1\", \"tensor2\"], value = 2 }",
       "y", "float32[1]{4}"},
      {"a0 = float32[2]{0, 1}\n a1 = float32[2]{4, inf}\n a2 = float32[2]{0.25, 1}",
       "y: float32[2] = torch.aten::lerp.Tensor(a0, a1, a2) { operands = [\"self\", \"end\", "
       "\"weight\"] }",
       "y", "float32[2]{1, nan}"},
      {"a0 = float32[3]{3, inf, 3e+30}\n a1 = float32[3]{4, nan, 4e+30}",
       "y: float32[3] = torch.aten::hypot.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[3]{5, inf, 5e+30}"},
      {"a0 = float32[2]{inf, -inf}\n a1 = float32[2]{inf, -inf}",
       "y: float32[2] = torch.aten::logaddexp.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[2]{inf, -inf}"},
      {"a0 = int64[2]{1, 2}\n a1 = float32[2]{-0, 0}",
       "y: float32[2] = torch.aten::copysign.Tensor(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[2]{-1, 2}"},
      {"a0 = float32[3]{-0, 0, -1}",
       "y: bool[3] = torch.aten::signbit.default(a0) { operands = [\"self\"] }", "y",
       "bool[3]{true, false, true}"},
      {"a0 = float32[4]{0, nan, -1, 2}\n a1 = float32[1]{0.5}",
       "y: float32[4] = torch.aten::heaviside.default(a0, a1) { operands = [\"self\", \"values\"] "
       "}",
       "y", "float32[4]{0.5, 0, 0, 1}"},
      {"a0 = int64[2]{0, -1}\n a1 = int64[1]{7}",
       "y: int64[2] = torch.aten::heaviside.default(a0, a1) { operands = [\"self\", \"values\"] }",
       "y", "int64[2]{7, 0}"},
      {"a0 = int64[2]{2, -3}",
       "y: float64[2] = torch.aten::float_power.Tensor_Scalar(a0) { operands = [\"self\"], "
       "exponent = 3 }",
       "y", "float64[2]{8, -27}"},
      {"a0 = float32[2]{1, 3}\n a1 = int64[2]{130, -1}",
       "y: float32[2] = torch.aten::ldexp.Tensor(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "float32[2]{inf, 1.5}"},
      {"a0 = float32[5]{8, 0, -0.75, 1e-40, inf}",
       "y, z: float32[5], int32[5] = torch.aten::frexp.Tensor(a0) { operands = [\"self\"] }",
       "y, z", "float32[5]{0.5, 0, -0.75, 0.54444885, inf}; int32[5]{4, 0, 0, -132, 0}"},
      {"a0 = float32[3]{1, 0, 1}\n a1 = float32[3]{1, 1, nan}",
       "y: float32[3] = torch.aten::nextafter.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[3]{1, 1e-45, nan}"},
      {"a0 = int64[3]{12, 0, -8}\n a1 = int64[3]{18, 0, 6}",
       "y: int64[3] = torch.aten::gcd.default(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "int64[3]{6, 0, 2}"},
      {"a0 = uint8[1]{200}\n a1 = uint8[1]{150}",
       "y: uint8[1] = torch.aten::gcd.default(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "uint8[1]{50}"},
      {"a0 = int64[3]{4, 0, -3}\n a1 = int64[3]{6, 0, 2}",
       "y: int64[3] = torch.aten::lcm.default(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "int64[3]{12, 0, 6}"},
      {"a0 = int16[2]{1, -3}\n a1 = int16[2]{14, 2}",
       "y: int16[2] = torch.aten::bitwise_left_shift.Tensor(a0, a1) { operands = [\"self\", "
       "\"other\"] }",
       "y", "int16[2]{16384, -12}"},
      {"a0 = int64[2]{-5, 5}\n a1 = int64[2]{1, 62}",
       "y: int64[2] = torch.aten::bitwise_right_shift.Tensor(a0, a1) { operands = [\"self\", "
       "\"other\"] }",
       "y", "int64[2]{-3, 0}"},
      {"a0 = float32[2]{0, -0}\n a1 = float32[2]{1, 1}",
       "y: float32[2] = torch.aten::atan2.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[2]{0, -0}"},
      {"a0 = float32[2]{nan, 2}",
       "y: float32[2] = torch.aten::angle.default(a0) { operands = [\"self\"] }", "y",
       "float32[2]{nan, 0}"},
      {"a0 = float32[2]{nan, 2}",
       "y: bool[2] = torch.aten::isreal.default(a0) { operands = [\"self\"] }", "y",
       "bool[2]{true, true}"},
      {"a0 = float32[3]{0, -1, inf}",
       "y: float32[3] = torch.aten::log1p.default(a0) { operands = [\"self\"] }", "y",
       "float32[3]{0, -inf, inf}"},
      {"a0 = float32[3]{0, -inf, inf}",
       "y: float32[3] = torch.aten::expm1.default(a0) { operands = [\"self\"] }", "y",
       "float32[3]{0, -1, inf}"},
      {"a0 = int64[2]{3, -1}",
       "y: float32[2] = torch.aten::exp2.default(a0) { operands = [\"self\"] }", "y",
       "float32[2]{8, 0.5}"},
      {"a0 = float32[3]{0.5, 2, 0}",
       "y: float32[3] = torch.aten::logit.default(a0) { operands = [\"self\"] }", "y",
       "float32[3]{0, nan, -inf}"},
      {"a0 = float32[1]{0.5}",
       "y: float32[1] = torch.aten::logit.default(a0) { operands = [\"self\"], eps = 0.25d }", "y",
       "float32[1]{0}"},
      {"a0 = float32[3]{0, 0, 1}\n a1 = float32[3]{0, nan, 1}",
       "y: float32[3] = torch.aten::xlogy.Tensor(a0, a1) { operands = [\"self\", \"other\"] }", "y",
       "float32[3]{0, nan, 0}"},
      {"a0 = float32[4]{0, -1, 1, nan}",
       "y: float32[4] = torch.aten::special_entr.default(a0) { operands = [\"self\"] }", "y",
       "float32[4]{0, -inf, -0, nan}"},
      {"a0 = float32[1]{0}",
       "y: float32[1] = torch.aten::sinc.default(a0) { operands = [\"self\"] }", "y",
       "float32[1]{1}"},
      {"a0 = int64[5]{0, 1, 2, 3, 4}",
       "y: int64[5] = torch.aten::fft_fftshift.default(a0) { operands = [\"self\"] }", "y",
       "int64[5]{3, 4, 0, 1, 2}"},
      {"a0 = int64[5]{0, 1, 2, 3, 4}",
       "y: int64[5] = torch.aten::fft_ifftshift.default(a0) { operands = [\"self\"] }", "y",
       "int64[5]{2, 3, 4, 0, 1}"},
      {"a0 = float32[3]{1, 1, 1}",
       "y: float32[4] = torch.aten::fft_irfft.default(a0) { operands = [\"self\"] }", "y",
       "float32[4]{1, 0, 0, 0}"},
      {"a0 = float32[3]{1, 0, 0}\n a1 = float32[3]{0, 1, 0}",
       "y: float32[3] = torch.aten::igamma.default(a0, a1) { operands = [\"self\", \"other\"] }",
       "y", "float32[3]{0, 1, nan}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchMathematics, Refused) {
  const CallRow rows[] = {
      {"a = float32[2,2]{1, 2, 3, 4}",
       "y, z: float32[2], float32[2,2] = torch.aten::linalg_eigh.default(a) { operands = "
       "[\"self\"] }",
       "y, z", "error eigenvectors, whose signs are not defined"},
      {"a = float32[2,2]{1, 2, 3, 4}",
       "y, z, w: float32[2,2], float32[2], float32[2,2] = torch.aten::linalg_svd.default(a) { "
       "operands = [\"A\"] }",
       "y, z, w", "error singular vectors"},
      {"a = float32[2]{1, 2}",
       "y: float32[2] = torch.aten::linalg_inv.default(a) { operands = [\"A\"] }", "y",
       "error expected matrices"},
      {"a = float32[2,3]{1, 2, 3, 4, 5, 6}",
       "y: float32[2] = torch.aten::linalg_eigvalsh.default(a) { operands = [\"self\"] }", "y",
       "error "},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

}  // namespace
}  // namespace x2ir
