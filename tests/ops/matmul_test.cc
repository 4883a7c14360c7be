// matmul, gemm, det, einsum: values checked by hand, inference, einsum against a plain sum.
#include "x2ir/ops/matmul.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"
#include "x2ir/ops/einsum.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
TEST(MatMul, Eval) {
  const std::string in =
      "a = float32[2,3]{1, 2, 3, 4, 5, 6}\n b = float32[3,2]{1, 0, 0, 1, 2, -1}\n"
      "v = float32[3]{1, 1, 2}\n w = float32[2]{1, -1}\n"
      "s = float32[2,1,2,3]{1, 2, 3, 4, 5, 6, 0, 0, 1, 1, 0, 0}\n"
      "t = float32[2,3,1]{1, 1, 1, 0, 0, 1}\n";
  const EvalRow rows[] = {
      {"y = matmul(a, b)", "float32[2,2]{7, -1, 16, -1}"},
      {"y = matmul(a, v)", "float32[2]{9, 21}"},
      {"y = matmul(w, a)", "float32[3]{-3, -3, -3}"},
      {"y = matmul(v, v)", "float32[]{6}"},
      {"y = matmul(s, b)", "float32[2,1,2,2]{7, -1, 16, -1, 2, -1, 1, 0}"},
      {"y = matmul(s, t)", "float32[2,2,2,1]{6, 15, 3, 6, 1, 1, 1, 0}"},
      {"y = matmul(s, v)", "float32[2,1,2]{9, 21, 2, 1}"},
      {"y = matmul(a, a)", "error cannot be multiplied"},
      {"k = float32[]{1}\n y = matmul(k, v)", "error rank 1"},
      {"p = float32[2,0]{}\n q = float32[0,2]{}\n y = matmul(p, q)", "float32[2,2]{0, 0, 0, 0}"},
      {"p = float32[0,3]{}\n y = matmul(p, b)", "float32[0,2]{}"},
      {"p = float32[0,2,3]{}\n y = matmul(p, b)", "float32[0,2,2]{}"},
      {"p = int32[1,2]{2147483647, 1}\n q = int32[2,1]{2, 3}\n y = matmul(p, q)", "int32[1,1]{1}"},
      {"p = uint64[1,1]{18446744073709551615}\n y = matmul(p, p)", "uint64[1,1]{1}"},
      {"p = float16[1,2]{0.5, 2}\n q = float16[2,1]{4, 0.25}\n y = matmul(p, q)",
       "float16[1,1]{2.5}"},
      {"p = float32[2,1,1]{1, 2}\n q = float32[3,1,1]{1, 2, 3}\n y = matmul(p, q)", "error "},
      {"y = gemm(a, b)", "float32[2,2]{7, -1, 16, -1}"},
      {"y = gemm(a, b, w) { alpha = 2.0, beta = 0.5 }", "float32[2,2]{14.5, -2.5, 32.5, -2.5}"},
      {"c = float32[2,1]{10, 20}\n y = gemm(a, b, c)", "float32[2,2]{17, 9, 36, 19}"},
      {"c = float32[]{10}\n y = gemm(a, b, c)", "float32[2,2]{17, 9, 26, 9}"},
      {"y = gemm(a, a) { transB = 1 }", "float32[2,2]{14, 32, 32, 77}"},
      {"y = gemm(a, a) { transA = 1 }", "float32[3,3]{17, 22, 27, 22, 29, 36, 27, 36, 45}"},
      {"y = gemm(b, a) { transA = 1, transB = 1 }", "float32[2,2]{7, 16, -1, -1}"},
      {"y = gemm(a, a)", "error cannot be multiplied"},
      {"y = gemm(a, b, v)", "error broadcast"},
      {"c = float32[1,2,2]{1, 2, 3, 4}\n y = gemm(a, b, c)", "error rank 2"},
      {"p = int32[1,1]{3}\n c = int32[]{4}\n y = gemm(p, p, c)", "int32[1,1]{13}"},
      {"m = float32[2,2]{1, 2, 3, 4}\n y = det(m)", "float32[]{-2}"},
      {"m = float64[2,1,1]{5, -3}\n y = det(m)", "float64[2]{5, -3}"},
      {"m = float32[0,0]{}\n y = det(m)", "float32[]{1}"},
      {"y = det(a)", "error square"},
  };
  ExpectRows(rows, in);
}

TEST(Einsum, Eval) {
  const std::string in =
      "a = float32[2,3]{1, 2, 3, 4, 5, 6}\n b = float32[3,2]{1, 0, 0, 1, 2, -1}\n"
      "q = float32[2,2]{1, 2, 3, 4}\n v = float32[3]{1, 1, 2}\n r = float32[1]{10}\n"
      "s = float32[2,1,3]{1, 2, 3, 4, 5, 6}\n i = int32[2]{3, 4}\n";
  const EvalRow rows[] = {
      {"y = einsum(a, b) { equation = \"ij,jk->ik\" }", "float32[2,2]{7, -1, 16, -1}"},
      {"y = einsum(a, b) { equation = \" i j , jk \" }", "float32[2,2]{7, -1, 16, -1}"},
      {"y = einsum(a) { equation = \"ij->ji\" }", "float32[3,2]{1, 4, 2, 5, 3, 6}"},
      {"y = einsum(a) { equation = \"ij->\" }", "float32[]{21}"},
      {"y = einsum(a) { equation = \"ij->j\" }", "float32[3]{5, 7, 9}"},
      {"y = einsum(a) { equation = \"ba\" }", "float32[3,2]{1, 4, 2, 5, 3, 6}"},
      {"y = einsum(q) { equation = \"ii->i\" }", "float32[2]{1, 4}"},
      {"y = einsum(q) { equation = \"ii\" }", "float32[]{5}"},
      {"y = einsum(v, i) { equation = \"i,j\" }", "error expected float32"},
      {"y = einsum(i, i) { equation = \"i,j->ij\" }", "int32[2,2]{9, 12, 12, 16}"},
      {"y = einsum(a, v) { equation = \"...i,i->...\" }", "float32[2]{9, 21}"},
      {"y = einsum(s, b) { equation = \"...ij,jk->...ik\" }", "float32[2,1,2]{7, -1, 16, -1}"},
      {"y = einsum(s, a) { equation = \"...i,...i->...\" }", "float32[2,2]{14, 32, 32, 77}"},
      {"y = einsum(a, v, r) { equation = \"ij,j,k->ik\" }", "float32[2,1]{90, 210}"},
      {"y = einsum(v, r) { equation = \"i,i->i\" }", "float32[3]{10, 10, 20}"},
      {"y = einsum(v, r) { equation = \"i,i->\" }", "float32[]{40}"},
      {"y = einsum(a, b) { equation = \"ij,ij->ij\" }", "error "},
      {"y = einsum(a) { equation = \"ij,jk->ik\" }", "error 2 terms for 1"},
      {"y = einsum(a) { equation = \"ijk->ik\" }", "error names 3"},
      {"y = einsum(a) { equation = \"ij->ik\" }", "error no operand"},
      {"y = einsum(a) { equation = \"ij->ii\" }", "error twice"},
      {"y = einsum(a) { equation = \"i.j->ij\" }", "error misplaced"},
      {"y = einsum(a) { equation = \"i1->i\" }", "error unexpected"},
      {"e = float32[2,0]{}\n f = float32[0,2]{}\n y = einsum(e, f) { equation = \"ij,jk->ik\" }",
       "float32[2,2]{0, 0, 0, 0}"},
  };
  ExpectRows(rows, in);
}

TEST(MatMul, Infer) {
  struct Row {
    std::string_view inputs, lines, want;
  };
  const Row rows[] = {
      {"a: float32[n,h,s,d], b: float32[n,h,d,s]", "y = matmul(a, b)", "float32[n,h,s,s]"},
      {"a: float32[n,s,4], b: float32[4,k]", "y = matmul(a, b)", "float32[n,s,k]"},
      {"a: float32[4], b: float32[n,4,k]", "y = matmul(a, b)", "float32[n,k]"},
      {"a: float32[n,4], b: float32[4]", "y = matmul(a, b)", "float32[n]"},
      {"a: float32[n,4], b: float32[...]", "y = matmul(a, b)", "float32[...]"},
      {"a: float32[n,4], b: float32[n+1,4]", "y = gemm(a, b) { transB = 1 }", "float32[n,n+1]"},
      {"a: float32[...], b: float32[4,k]", "y = gemm(a, b)", "float32[?,k]"},
      {"a: float32[n,3,3]", "y = det(a)", "float32[n]"},
      {"a: float32[b,h,i,d], b: float32[b,h,j,d]",
       "y = einsum(a, b) { equation = \"bhid,bhjd->bhij\" }", "float32[b,h,i,j]"},
      {"a: float32[n,1,d], b: float32[5,d]", "y = einsum(a, b) { equation = \"...d,...d->...\" }",
       "float32[n,5]"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(InferText(row.inputs, row.lines), row.want) << row.inputs << " | " << row.lines;
  }
}

TEST(Einsum, Equations) {
  auto equation = ParseEquation("b...a, ca ->");
  ASSERT_TRUE(equation.ok());
  EXPECT_THAT(equation->terms, ElementsAre("b.a", "ca"));
  EXPECT_EQ(equation->result, "");
  equation = ParseEquation("b...a,ca");
  ASSERT_TRUE(equation.ok());
  EXPECT_EQ(equation->result, ".bc");
  equation = ExpandEllipsis(*equation, {4, 2});
  ASSERT_TRUE(equation.ok());
  EXPECT_EQ(equation->terms[0].size(), 4u);
  EXPECT_EQ(equation->result.size(), 4u);
  EXPECT_FALSE(ExpandEllipsis(*ParseEquation("...a"), {0}).ok());
}

TEST(MatrixProduct, AllTranspositions) {
  const int64_t m = 3, k = 4, n = 2;
  std::vector<int64_t> a(m * k), b(k * n), at(m * k), bt(k * n), want(m * n, 0);
  for (int64_t i = 0; i < m * k; ++i) a[i] = i * 7 % 11 - 5;
  for (int64_t i = 0; i < k * n; ++i) b[i] = i * 5 % 13 - 6;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < k; ++j) at[j * m + i] = a[i * k + j];
  }
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) bt[j * k + i] = b[i * n + j];
  }
  for (int64_t i = 0; i < m * n; ++i) {
    for (int64_t j = 0; j < k; ++j) want[i] += a[i / n * k + j] * b[j * n + i % n];
  }
  for (int way = 0; way < 4; ++way) {
    std::vector<int64_t> c(m * n);
    MatrixProduct((way & 1 ? at : a).data(), (way & 2 ? bt : b).data(), c.data(), m, k, n, way & 1,
                  way & 2);
    EXPECT_EQ(c, want) << way;
  }
}

}  // namespace
}  // namespace x2ir
