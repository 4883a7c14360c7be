// gather*, scatter*, non_zero, compress, unique, top_k, reverse_sequence, non_max_suppression:
// values checked by hand, inference with symbols.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

TEST(Gather, Eval) {
  const EvalRow rows[] = {
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n i = int64[2]{-1, 0}\n y = gather(x, i)",
       "int8[2,3]{4, 5, 6, 1, 2, 3}"},
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n i = int32[1,2]{2, -3}\n y = gather(x, i) { axis = -1 }",
       "int8[2,1,2]{3, 1, 6, 4}"},
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n i = int64[]{1}\n y = gather(x, i) { axis = 1 }",
       "int8[2]{2, 5}"},
      {"x = int8[3]{1, 2, 3}\n i = int64[1]{3}\n y = gather(x, i)", "error out of range"},
      {"x = int8[3]{1, 2, 3}\n i = int64[1]{-4}\n y = gather(x, i)", "error out of range"},
      {"x = int8[0]{}\n i = int64[0]{}\n y = gather(x, i)", "int8[0]{}"},
      {"x = int8[0]{}\n i = int64[1]{0}\n y = gather(x, i)", "error out of range"},
      {"x = int8[]{1}\n i = int64[1]{0}\n y = gather(x, i)", "error out of range"},
      {"x = string[2]{\"a\", \"b\"}\n i = int64[3]{1, 0, 1}\n y = gather(x, i)",
       "string[3]{\"b\", \"a\", \"b\"}"},
      {"x = uint4[3]{1, 2, 15}\n i = int64[2]{2, 0}\n y = gather(x, i)", "uint4[2]{15, 1}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[2,2]{0, 0, 1, -2}\n "
       "y = gather_elements(x, i) { axis = 1 }",
       "int8[2,2]{1, 1, 4, 3}"},
      {"x = int8[3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n i = int64[2,3]{1, 2, 0, 2, 0, 0}\n "
       "y = gather_elements(x, i)",
       "int8[2,3]{4, 8, 3, 7, 2, 3}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[3,1]{0, 0, 0}\n y = gather_elements(x, i) "
       "{ axis = 1 }",
       "error reach beyond"},
      {"x = int8[2]{1, 2}\n i = int64[1,1]{0}\n y = gather_elements(x, i)", "error rank"},
      {"x = int8[2]{1, 2}\n i = int64[1]{2}\n y = gather_elements(x, i)", "error out of range"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[2,2]{0, 0, 1, -1}\n y = gather_nd(x, i)",
       "int8[2]{1, 4}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[2,1]{1, 0}\n y = gather_nd(x, i)",
       "int8[2,2]{3, 4, 1, 2}"},
      {"x = int8[2,2,2]{0, 1, 2, 3, 4, 5, 6, 7}\n i = int64[2,1]{1, 0}\n "
       "y = gather_nd(x, i) { batch_dims = 1 }",
       "int8[2,2]{2, 3, 4, 5}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[1,3]{0, 0, 0}\n y = gather_nd(x, i)", "error into 2"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[1,2]{0, 2}\n y = gather_nd(x, i)",
       "error out of range"},
      {"x = int8[2]{1, 2}\n i = int64[3,0]{}\n y = gather_nd(x, i)", "int8[3,2]{1, 2, 1, 2, 1, 2}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[1,2]{0, 2}\n y = gather_nd(x, i) { batch_dims = 2 }",
       "error batch_dims"},
  };
  ExpectRows(rows);
}

TEST(Scatter, Eval) {
  const EvalRow rows[] = {
      {"x = int8[1,5]{1, 2, 3, 4, 5}\n i = int64[1,2]{1, -2}\n u = int8[1,2]{11, 21}\n "
       "y = scatter_elements(x, i, u) { axis = 1 }",
       "int8[1,5]{1, 11, 3, 21, 5}"},
      {"x = int8[3,2]{0, 0, 0, 0, 0, 0}\n i = int64[1,2]{2, 0}\n u = int8[1,2]{7, 8}\n "
       "y = scatter_elements(x, i, u)",
       "int8[3,2]{0, 8, 0, 0, 7, 0}"},
      {"x = int8[2]{100, 2}\n i = int64[2]{0, 0}\n u = int8[2]{100, 3}\n "
       "y = scatter_elements(x, i, u) { reduction = \"add\" }",
       "int8[2]{-53, 2}"},
      {"x = float32[2]{2, 2}\n i = int64[2]{0, 0}\n u = float32[2]{4, 0.5}\n "
       "y = scatter_elements(x, i, u) { reduction = \"mul\" }",
       "float32[2]{4, 2}"},
      {"x = float32[2]{2, nan}\n i = int64[3]{0, 0, 1}\n u = float32[3]{4, 3, 1}\n "
       "y = scatter_elements(x, i, u) { reduction = \"max\" }",
       "float32[2]{4, nan}"},
      {"x = float32[2]{2, 5}\n i = int64[3]{0, 0, 1}\n u = float32[3]{4, 1, nan}\n "
       "y = scatter_elements(x, i, u) { reduction = \"min\" }",
       "float32[2]{1, nan}"},
      {"x = bool[2]{true, false}\n i = int64[2]{0, 1}\n u = bool[2]{true, true}\n "
       "y = scatter_elements(x, i, u) { reduction = \"add\" }",
       "bool[2]{true, true}"},
      {"x = string[2]{\"a\", \"b\"}\n i = int64[1]{1}\n u = string[1]{\"c\"}\n "
       "y = scatter_elements(x, i, u)",
       "string[2]{\"a\", \"c\"}"},
      {"x = string[2]{\"a\", \"b\"}\n i = int64[1]{1}\n u = string[1]{\"c\"}\n "
       "y = scatter_elements(x, i, u) { reduction = \"add\" }",
       "error string"},
      {"x = int8[2]{1, 2}\n i = int64[1]{2}\n u = int8[1]{1}\n y = scatter_elements(x, i, u)",
       "error out of range"},
      {"x = int8[2]{1, 2}\n i = int64[1]{0}\n u = int8[2]{1, 1}\n y = scatter_elements(x, i, u)",
       "error updates"},
      {"x = int8[2]{1, 2}\n i = int64[1]{0}\n u = int8[1]{1}\n "
       "y = scatter_elements(x, i, u) { reduction = \"sub\" }",
       "error reduction"},
      {"x = int8[4]{1, 2, 3, 4}\n i = int64[2,1]{3, -3}\n u = int8[2]{9, 8}\n "
       "y = scatter_nd(x, i, u)",
       "int8[4]{1, 8, 3, 9}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[1,1]{1}\n u = int8[1,2]{9, 8}\n "
       "y = scatter_nd(x, i, u)",
       "int8[2,2]{1, 2, 9, 8}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n i = int64[2,1]{1, 1}\n u = int8[2,2]{9, 8, 1, 1}\n "
       "y = scatter_nd(x, i, u) { reduction = \"add\" }",
       "int8[2,2]{1, 2, 13, 13}"},
      {"x = int8[2]{1, 2}\n i = int64[1,1]{5}\n u = int8[1]{9}\n y = scatter_nd(x, i, u)",
       "error out of range"},
      {"x = int8[2]{1, 2}\n i = int64[0,1]{}\n u = int8[0]{}\n y = scatter_nd(x, i, u)",
       "int8[2]{1, 2}"},
      {"x = int8[2]{1, 2}\n i = int64[2,0]{}\n u = int8[2,2]{3, 4, 5, 6}\n y = scatter_nd(x, i, u)",
       "int8[2]{5, 6}"},
  };
  ExpectRows(rows);
}

TEST(Select, Eval) {
  const EvalRow rows[] = {
      {"x = float32[2,2]{1, 0, -0.0, nan}\n y = non_zero(x)", "int64[2,2]{0, 1, 0, 1}"},
      {"x = int8[]{5}\n y = non_zero(x)", "int64[0,1]{}"},
      {"x = bool[3]{true, false, true}\n y = non_zero(x)", "int64[1,2]{0, 2}"},
      {"x = int4[3]{0, -1, 0}\n y = non_zero(x)", "int64[1,1]{1}"},
      {"x = int8[0,2]{}\n y = non_zero(x)", "int64[2,0]{}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n c = bool[2]{false, true}\n y = compress(x, c) { axis = 0 }",
       "int8[1,2]{3, 4}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n c = bool[1]{true}\n y = compress(x, c) { axis = -1 }",
       "int8[2,1]{1, 3}"},
      {"x = int8[2,2]{1, 2, 3, 4}\n c = bool[4]{true, false, false, true}\n y = compress(x, c)",
       "int8[2]{1, 4}"},
      {"x = int8[2]{1, 2}\n c = bool[3]{true, false, true}\n y = compress(x, c)",
       "error selects element 2"},
      {"x = int8[5]{2, 1, 1, 3, 2}\n a, b, c, y = unique(x)",
       "int8[3]{1, 2, 3}; int64[3]{1, 0, 3}; int64[5]{1, 0, 0, 2, 1}; int64[3]{2, 2, 1}",
       "a, b, c, y"},
      {"x = int8[5]{2, 1, 1, 3, 2}\n a, b, c, y = unique(x) { sorted = 0 }",
       "int8[3]{2, 1, 3}; int64[3]{0, 1, 3}; int64[5]{0, 1, 1, 2, 0}; int64[3]{2, 2, 1}",
       "a, b, c, y"},
      {"x = int8[3,2]{1, 0, 1, 0, 0, 9}\n a, b, c = unique(x) { axis = 0 }",
       "int8[2,2]{0, 9, 1, 0}; int64[2]{2, 0}; int64[3]{1, 1, 0}", "a, b, c"},
      {"x = int8[2,3]{1, 1, 0, 2, 2, 5}\n y = unique(x) { axis = -1 }", "int8[2,2]{0, 1, 5, 2}"},
      {"x = float32[4]{nan, 1, nan, -inf}\n y = unique(x)", "float32[3]{-inf, 1, nan}"},
      {"x = string[3]{\"b\", \"a\", \"b\"}\n y = unique(x)", "string[2]{\"a\", \"b\"}"},
      {"x = int8[0]{}\n y = unique(x)", "int8[0]{}"},
      {"x = int8[1,4]{3, 1, 3, 2}\n k = int64[1]{3}\n a, y = top_k(x, k)",
       "int8[1,3]{3, 3, 2}; int64[1,3]{0, 2, 3}", "a, y"},
      {"x = int8[1,4]{3, 1, 3, 2}\n k = int64[1]{3}\n a, y = top_k(x, k) { largest = 0 }",
       "int8[1,3]{1, 2, 3}; int64[1,3]{1, 3, 0}", "a, y"},
      {"x = int8[2,2]{3, 1, 4, 2}\n k = int64[1]{1}\n a, y = top_k(x, k) { axis = 0 }",
       "int8[1,2]{4, 2}; int64[1,2]{1, 1}", "a, y"},
      {"x = float32[4]{1, nan, inf, nan}\n k = int64[]{3}\n a, y = top_k(x, k)",
       "float32[3]{nan, nan, inf}; int64[3]{1, 3, 2}", "a, y"},
      {"x = float32[3]{nan, 2, 1}\n k = int64[]{3}\n a, y = top_k(x, k) { largest = 0 }",
       "float32[3]{1, 2, nan}; int64[3]{2, 1, 0}", "a, y"},
      {"x = int8[2]{1, 2}\n k = int64[1]{0}\n a, y = top_k(x, k)", "int8[0]{}; int64[0]{}", "a, y"},
      {"x = int8[2]{1, 2}\n k = int64[1]{3}\n a, y = top_k(x, k)", "error k = 3", "a, y"},
      {"x = uint64[2]{18446744073709551615, 1}\n k = int64[1]{1}\n a, y = top_k(x, k)",
       "uint64[1]{18446744073709551615}; int64[1]{0}", "a, y"},
      {"x = int8[3,2]{1, 2, 3, 4, 5, 6}\n l = int64[2]{3, 1}\n y = reverse_sequence(x, l)",
       "int8[3,2]{5, 2, 3, 4, 1, 6}"},
      {"x = int8[2,3]{1, 2, 3, 4, 5, 6}\n l = int64[2]{2, 0}\n "
       "y = reverse_sequence(x, l) { batch_axis = 0, time_axis = 1 }",
       "int8[2,3]{2, 1, 3, 4, 5, 6}"},
      {"x = int8[2,1]{1, 2}\n l = int64[1]{3}\n y = reverse_sequence(x, l)", "error of 2 steps"},
      {"x = int8[2,1]{1, 2}\n l = int64[1]{1}\n y = reverse_sequence(x, l) { batch_axis = 0 }",
       "error batch_axis"},
  };
  ExpectRows(rows);
}

TEST(NonMaxSuppression, Eval) {
  // Box 1 overlaps box 0 by 0.9 / 1.1; box 2 stands apart and is written corner by corner.
  const std::string in =
      "b = float32[1,3,4]{0, 0, 1, 1, 0, 0.1, 1, 1.1, 11, 11, 10, 10}\n"
      "s = float32[1,1,3]{0.9, 0.75, 0.6}\n m = int64[]{3}\n t = float32[]{0.5}\n";
  const EvalRow rows[] = {
      {"y = non_max_suppression(b, s, m, t)", "int64[2,3]{0, 0, 0, 0, 0, 2}"},
      {"u = float32[]{0.9}\n y = non_max_suppression(b, s, m, u)",
       "int64[3,3]{0, 0, 0, 0, 0, 1, 0, 0, 2}"},
      {"c = float32[]{0.7}\n y = non_max_suppression(b, s, m, t, c)", "int64[1,3]{0, 0, 0}"},
      {"n = int64[1]{1}\n y = non_max_suppression(b, s, n, t)", "int64[1,3]{0, 0, 0}"},
      {"y = non_max_suppression(b, s)", "int64[0,3]{}"},
      {"u = float32[]{2}\n y = non_max_suppression(b, s, m, u)", "error iou_threshold"},
      {"y = non_max_suppression(s, b, m, t)", "error expected boxes"},
  };
  ExpectRows(rows, in);
}

TEST(Indexing, Infer) {
  const InferRow rows[] = {
      {"x: float32[n,h], i: int64[k,2]", "y = gather(x, i) { axis = 1 }", "float32[n,k,2]"},
      {"x: float32[...], i: int64[]", "y = gather(x, i)", "float32[...]"},
      {"x: float32[n,h]", "s = shape(x)\n i = int64[]{-1}\n y = gather(s, i)", "int64[] {h}"},
      {"x: float32[n,h]", "s = shape(x)\n i = int64[3]{1, 0, 1}\n y = gather(s, i)",
       "int64[3] {h, n, h}"},
      {"x: float32[n,h]", "s = shape(x)\n i = int64[1]{2}\n y = gather(s, i)",
       "error out of range"},
      {"x: float32[n,h], i: float32[1]", "y = gather(x, i)", "error expected integers"},
      {"x: float32[n,h], i: int64[n,2]", "y = gather_elements(x, i)", "float32[n,2]"},
      {"x: float32[n,h]", "i = int64[5,2]\n y = gather_nd(x, i)", "float32[5]"},
      {"x: float32[n,h,w], i: int64[m,1]", "y = gather_nd(x, i)", "float32[m,h,w]"},
      {"x: float32[n,h,w], i: int64[n,1]", "y = gather_nd(x, i) { batch_dims = 1 }",
       "float32[n,w]"},
      {"x: float32[n,h], i: int64[m,k]", "y = gather_nd(x, i)", "float32[...]"},
      {"x: float32[n,h], i: int64[m,2], u: float32[m]", "y = scatter_nd(x, i, u)", "float32[n,h]"},
      {"x: float32[n,h,3]",
       "s = shape(x)\n i = int64[1,1]{1}\n u = int64[1]{7}\n y = scatter_nd(s, i, u)",
       "int64[3] {n, 7, 3}"},
      {"x: float32[n,h], i: int64[1,1], u: int32[1,1]", "y = scatter_elements(x, i, u)",
       "error expected float32"},
      {"x: float32[n,h]", "y = non_zero(x)", "int64[2,?]"},
      {"x: float32[n,h], c: bool[2]", "y = compress(x, c) { axis = 1 }", "float32[n,?]"},
      {"x: float32[n,h]", "c = bool[2]{true, true}\n y = compress(x, c) { axis = 1 }",
       "float32[n,2]"},
      {"x: float32[n,h]", "y, a, b, c = unique(x) { axis = 1 }",
       "float32[n,?]; int64[?]; int64[h]; int64[?]", "y, a, b, c"},
      {"x: float32[n,h]", "k = int64[1]{5}\n a, y = top_k(x, k)", "float32[n,5]; int64[n,5]",
       "a, y"},
      {"x: float32[n,h]", "k = shape(x) { end = 1 }\n a, y = top_k(x, k)",
       "float32[n,n]; int64[n,n]", "a, y"},
      {"b: float32[1,n,4], s: float32[1,c,n]", "y = non_max_suppression(b, s)", "int64[?,3]"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
