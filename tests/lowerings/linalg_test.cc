// Lowerings of linear algebra.
#include <string>

#include "gtest/gtest.h"
#include "tests/lowerings/lowering_util.h"

namespace x2ir {
namespace {

TEST(Lowerings, LinearAlgebra) {
  const std::vector<int> kOpsets = {11, 13, 18};
  const LoweringRow rows[] = {
      {kOpsets,
       "x: float32[n,3,3]",
       "y, p = lu(x)",
       {"float32[2,3,3]{1,2,3,4,5,6,7,8,10, 0,0,1,0,2,3,4,5,6}",
        "float32[1,3,3]{0,0,0,0,0,0,0,0,0}", "float32[1,3,3]{0,1,2,0,1,2,0,3,4}",
        "float32[0,3,3]{}", "float32[1,3,3]{1,1,1,-1,1,2,1,-1,5}"},
       "y, p"},
      {kOpsets, "x: float64[1,1]", "y, p = lu(x)", {"float64[1,1]{3}"}, "y, p"},
      {kOpsets,
       "a: float32[n,2,2], b: float32[n,2,k]",
       "y = solve(a, b)",
       {"float32[1,2,2]{0,2,4,1}; float32[1,2,1]{6,8}",
        "float32[2,2,2]{1,2,3,4,5,6,7,9}; float32[2,2,2]{1,0,0,1,1,2,3,4}"}},
      {kOpsets,
       "a: float64[3,3], b: float64[3,2]",
       "y = triangular_solve(a, b)",
       {"float64[3,3]{2,9,9,1,4,9,3,5,8}; float64[3,2]{2,4,6,8,1,3}",
        "float64[3,3]{0,9,9,1,4,9,3,5,8}; float64[3,2]{2,0,6,8,1,3}"}},
      {kOpsets,
       "a: float64[3,3], b: float64[3,2]",
       "y = triangular_solve(a, b) { upper = 1 }",
       {"float64[3,3]{2,9,7,nan,4,9,nan,inf,8}; float64[3,2]{2,4,6,8,1,3}"}},
      {kOpsets,
       "a: float32[2,2], b: float32[2,1]",
       "y = triangular_solve(a, b) { unit = 1 }",
       {"float32[2,2]{0,9,4,0}; float32[2,1]{1,6}"}},
      {kOpsets,
       "x: float32[n,3,3]",
       "y = cholesky(x)",
       {"float32[1,3,3]{4,99,99,2,10,99,6,9,30}", "float32[1,3,3]{-4,0,0,2,10,0,6,9,30}"}},
      {kOpsets,
       "x: float32[n,3,2]",
       "y, _, _ = svd(x)",
       {"float32[2,3,2]{3,0,0,4,0,0, 1,2,3,4,5,6}", "float32[1,3,2]{0,0,0,0,0,0}"}},
      {kOpsets, "x: float64[2,3]", "y, u, v = svd(x) { full = 1 }", {"float64[2,3]{1,2,3,-4,5,6}"}},
  };
  for (const LoweringRow& row : rows) ExpectSameResults(row);
}

TEST(Lowerings, SingularVectorsAreRefused) {
  ExpectRefused(17, "x: float32[2,2]", "s, y, _ = svd(x)", "no defined signs");
  ExpectRefused(17, "x: float32[a,b]", "y, _, _ = svd(x)", "are not known");
}

}  // namespace
}  // namespace x2ir
