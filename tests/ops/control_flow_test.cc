// if, loop, scan and sequence_map: values checked by hand.
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

TEST(If, Eval) {
  const EvalRow rows[] = {
      {"c = bool[]{true}\n a = float32[]{1}\n y = if(c) {\n"
       "then_branch = graph t() -> (p) { p = add(a, a) },\n"
       "else_branch = graph e() -> (q) { q = neg(a) } }",
       "float32[]{2}"},
      {"c = bool[1]{false}\n a = float32[]{1}\n y = if(c) {\n"
       "then_branch = graph t() -> (p) { p = add(a, a) },\n"
       "else_branch = graph e() -> (q) { q = neg(a) } }",
       "float32[]{-1}"},
      // Branches without nodes: an outer value, a constant of its own; and graphs within.
      {"c = bool[]{true}\n a = float32[]{1}\n y, z = if(c) {\n"
       "then_branch = graph t() -> (a, b) { b = int64[2]{1, 2} },\n"
       "else_branch = graph e() -> (b, b2) { b = float32[]{3}\n b2 = int64[3]{1, 2, 3} } }",
       "float32[]{1}; int64[2]{1, 2}", "y, z"},
      {"c = bool[]{true}\n a = float32[]{1}\n y = if(c) {\n"
       "then_branch = graph t() -> (p) { b = add(a, a)\n p = if(c) {\n"
       "  then_branch = graph t() -> (r) { r = mul(a, b) },\n"
       "  else_branch = graph e() -> (a) { } } },\n"
       "else_branch = graph e() -> (a) { } }",
       "float32[]{2}"},
      {"c = bool[2]{true, true}\n a = float32[]{1}\n y = if(c) {\n"
       "then_branch = graph t() -> (a) { }, else_branch = graph e() -> (a) { } }",
       "error one bool"},
      {"c = bool[]{true}\n a = float32[]{1}\n y = if(c) {\n"
       "then_branch = graph t() -> (a) { }, else_branch = graph e() -> (a, a) { } }",
       "error outputs"},
      {"c = bool[]{true}\n a = float32[]{1}\n y = if(c) {\n"
       "then_branch = graph t() -> (a) { }, else_branch = graph e() -> (b) { b = int64[]{1} } }",
       "error differ"},
  };
  ExpectRows(rows);
}

// Counts up: body (i, c, x) -> (c_out, x + 1, x * 10).
#define X2IR_COUNT(cond)                                                          \
  "{ body = graph b(i: int64[], c: bool[], x: int64[]) -> (c_out, x_out, s) {\n"  \
  "one = int64[]{1}\n three = int64[]{3}\n ten = int64[]{10}\n s = mul(x, ten)\n" \
  "x_out = add(x, one)\n c_out = " cond " } }"

TEST(Loop, Eval) {
  const EvalRow rows[] = {
      {"n = int64[]{3}\n c = bool[]{true}\n x = int64[]{5}\n"
       "y, z = loop(n, c, x) " X2IR_COUNT("identity(c)"),
       "int64[]{8}; int64[3]{50, 60, 70}", "y, z"},
      {"n = int64[1]{3}\n c = bool[]{true}\n x = int64[]{5}\n"
       "y, z = loop(n, c, x) " X2IR_COUNT("less(i, one)"),
       "int64[]{7}; int64[2]{50, 60}", "y, z"},
      {"c = bool[]{true}\n x = int64[]{0}\n y, z = loop(_, c, x) " X2IR_COUNT("less(x, three)"),
       "int64[]{4}; int64[4]{0, 10, 20, 30}", "y, z"},
      // Without a condition the body's is not looked at.
      {"n = int64[]{2}\n x = int64[]{0}\n y, z = loop(n, _, x) " X2IR_COUNT("less(x, x)"),
       "int64[]{2}; int64[2]{0, 10}", "y, z"},
      // No rounds.
      {"n = int64[]{0}\n x = int64[]{5}\n y, z = loop(n, _, x) " X2IR_COUNT("identity(c)"),
       "int64[]{5}; int64[0]{}", "y, z"},
      {"n = int64[]{-7}\n x = int64[]{5}\n y, z = loop(n, _, x) " X2IR_COUNT("identity(c)"),
       "int64[]{5}; int64[0]{}", "y, z"},
      {"c = bool[]{false}\n x = int64[]{5}\n y, z = loop(_, c, x) " X2IR_COUNT("identity(c)"),
       "int64[]{5}; int64[0]{}", "y, z"},
      // What is carried may change its shape. Outer values are seen inside.
      {"n = int64[]{3}\n a = float32[1]{1}\n y = loop(n, _, a) {\n"
       "body = graph b(i: int64[], c: bool[], x: float32[...]) -> (c, x_out) {\n"
       "x_out = concat(x, a) { axis = 0 } } }",
       "float32[4]{1, 1, 1, 1}"},
      // A body that stales its declarations is not believed.
      {"n = int64[]{3}\n a = float32[1]{1}\n v = loop(n, _, a) {\n"
       "body = graph b(i: int64[], c: bool[], x: float32[1]) -> (c, x_out) {\n"
       "x_out: float32[1] = concat(x, a) { axis = 0 } } }\n y = shape(v)",
       "int64[1]{4}"},
      // A sequence, and a number of the round of rank 1.
      {"n = int64[]{3}\n e = sequence_empty() { dtype = \"int64\" }\n s = loop(n, _, e) {\n"
       "body = graph b(i: int64[1], c: bool[], x: sequence(int64[...])) -> (c, x_out) {\n"
       "x_out = sequence_insert(x, i) } }\n y = concat_from_sequence(s) { axis = 0 }",
       "int64[3]{0, 1, 2}"},
      // Values that go straight through, and twice.
      {"n = int64[]{2}\n a = int64[]{1}\n b = int64[]{2}\n y, z, w = loop(n, _, a, b) {\n"
       "body = graph g(i: int64[], c: bool[], p: int64[], q: int64[]) -> (c, q, p, q) { } }",
       "int64[]{1}; int64[]{2}; int64[2]{2, 1}", "y, z, w"},
      {"n = int64[]{2}\n y = loop(n) {\n"
       "body = graph g(i: int64[], c: bool[]) -> (c, i) { } }",
       "int64[2]{0, 1}"},
      {"n = int64[]{1}\n a = float32[2]{1, 2}\n y = loop(n, _, a) {\n"
       "body = graph g(i: int64[], c: bool[], x: float32[...]) -> (c) { } }",
       "error expected 2"},
      {"n = int64[]{2}\n a = float32[1]{1}\n v, y = loop(n, _, a) {\n"
       "body = graph b(i: int64[], c: bool[], x: float32[...]) -> (c, x_out, x) {\n"
       "x_out = concat(x, a) { axis = 0 } } }",
       "error expected one type"},
      // It need not end.
      {"c = bool[]{true}\n a = int64[]{0}\n y = loop(_, c, a) {\n"
       "body = graph b(i: int64[], d: bool[], x: int64[]) -> (d, x) { } }",
       "error might never end"},
  };
  ExpectRows(rows);
}

TEST(Scan, Eval) {
#define X2IR_SUM(axes, directions, out_axes, out_directions)                               \
  "{ num_scan_inputs = 1, scan_input_axes = " axes ", scan_input_directions = " directions \
  ", scan_output_axes = " out_axes ", scan_output_directions = " out_directions            \
  ",\n"                                                                                    \
  "body = graph b(s: float32[...], x: float32[...]) -> (t, u) {\n"                         \
  "t = add(s, x)\n u = identity(t) } }"
  const EvalRow rows[] = {
      {"s = float32[2]{0, 0}\n x = float32[3,2]{1, 2, 3, 4, 5, 6}\n y, z = scan(s, x) " X2IR_SUM(
           "[0]", "[0]", "[0]", "[0]"),
       "float32[2]{9, 12}; float32[3,2]{1, 2, 4, 6, 9, 12}", "y, z"},
      {"s = float32[3]{0, 0, 0}\n x = float32[3,2]{1, 2, 3, 4, 5, 6}\n y, z = scan(s, x) " X2IR_SUM(
           "[-1]", "[1]", "[1]", "[0]"),
       "float32[3]{3, 7, 11}; float32[3,2]{2, 3, 4, 7, 6, 11}", "y, z"},
      {"s = float32[2]{0, 0}\n x = float32[3,2]{1, 2, 3, 4, 5, 6}\n y, z = scan(s, x) " X2IR_SUM(
           "[0]", "[0]", "[-1]", "[1]"),
       "float32[2]{9, 12}; float32[2,3]{9, 4, 1, 12, 6, 2}", "y, z"},
      {"s = float32[2]{7, 8}\n x = float32[0,2]{}\n y, z = scan(s, x) " X2IR_SUM("[0]", "[0]",
                                                                                 "[0]", "[0]"),
       "float32[2]{7, 8}; float32[0,2]{}", "y, z"},
      {"s = float32[2]{7, 8}\n x = float32[]{1}\n y, z = scan(s, x) " X2IR_SUM("[0]", "[0]", "[0]",
                                                                               "[0]"),
       "error axis"},
      {"s = float32[2]{7, 8}\n x = float32[1,2]{1, 2}\n y, z = scan(s, x) " X2IR_SUM("[0]", "[2]",
                                                                                     "[0]", "[0]"),
       "error 0 or 1"},
      {"s = float32[2]{7, 8}\n x = float32[1,2]{1, 2}\n y, z = scan(s, x) " X2IR_SUM(
           "[0, 0]", "[0]", "[0]", "[0]"),
       "error 1 numbers"},
      {"a = float32[2]{1, 2}\n b = float32[3]{1, 2, 3}\n y = scan(a, b) { num_scan_inputs = 2,\n"
       "scan_input_axes = [0, 0], scan_input_directions = [0, 0], scan_output_axes = [0],\n"
       "scan_output_directions = [0], body = graph g(p: float32[], q: float32[]) -> (r) {\n"
       "r = add(p, q) } }",
       "error must be equal"},
  };
  ExpectRows(rows);
}

TEST(SequenceMap, Eval) {
  const EvalRow rows[] = {
      {"a = float32[2]{1, 2}\n b = float32[1]{3}\n s = sequence_construct(a, b)\n"
       "c = float32[]{10}\n m = sequence_map(s, c) {\n"
       "body = graph g(x: float32[...], k: float32[]) -> (r) { r = mul(x, k) } }\n"
       "y = concat_from_sequence(m) { axis = 0 }",
       "float32[3]{10, 20, 30}"},
      {"a = float32[2]{1, 2}\n b = float32[1]{3}\n s = sequence_construct(a, b)\n"
       "m, n = sequence_map(s, s) {\n"
       "body = graph g(x: float32[...], k: float32[...]) -> (r, k) { r = add(x, k) } }\n"
       "y = concat_from_sequence(m) { axis = 0 }\n z = sequence_length(n)",
       "float32[3]{2, 4, 6}; int64[]{2}", "y, z"},
      {"a = float32[1]{1}\n s = sequence_construct(a, a)\n t = sequence_construct(a)\n"
       "m = sequence_map(s, t) {\n"
       "body = graph g(x: float32[...], k: float32[...]) -> (r) { r = add(x, k) } }\n"
       "y = sequence_length(m)",
       "error expected 2"},
  };
  ExpectRows(rows);
}

TEST(ControlFlow, Infer) {
  const InferRow rows[] = {
      // What both branches say.
      {"c: bool[], a: float32[n,3], b: float32[m,3]",
       "y = if(c) { then_branch = graph t() -> (a) { }, else_branch = graph e() -> (b) { } }",
       "float32[?,3]"},
      {"c: bool[], a: float32[n], b: float32[n,3]",
       "y = if(c) { then_branch = graph t() -> (a) { }, else_branch = graph e() -> (b) { } }",
       "float32[...]"},
      {"a: float32[n], b: float32[n,3]",
       "c = bool[]{false}\n"
       "y = if(c) { then_branch = graph t() -> (a) { }, else_branch = graph e() -> (b) { } }",
       "float32[n,3]"},
      {"c: float32[], a: float32[n]",
       "y = if(c) { then_branch = graph t() -> (a) { }, else_branch = graph e() -> (a) { } }",
       "error one bool"},
      // What a loop keeps stays known; what it changes does not.
      {"n: int64[], c: bool[], a: float32[k,3]",
       "y, z = loop(n, c, a) { body = graph b(i, d, x) -> (d, u, u) { u = relu(x) } }",
       "float32[k,3]; float32[?,k,3]", "y, z"},
      {"n: int64[], c: bool[], a: float32[k,3]",
       "y = loop(n, c, a) {\n"
       "body = graph b(i, d, x) -> (d, u) { u = concat(x, x) { axis = 0 } } }",
       "float32[?,3]"},
      {"n: int64[], c: bool[], a: float32[k,3]",
       "y = loop(n, c, a) { body = graph b(i, d, x) -> (d, u) { u = transpose(x) } }",
       "float32[?,?]"},
      {"n: int64[], c: bool[], a: float32[k]",
       "y = loop(n, c, a) {\n"
       "body = graph b(i, d, x) -> (d, u) { w = int64[1]{0}\n u = unsqueeze(x, w) } }",
       "float32[...]"},
      {"a: float32[k]",
       "n = int64[]{5}\n z, y = loop(n, _, a) { body = graph b(i, d, x) -> (d, x, x) { } }",
       "float32[5,k]"},
      {"n: int64[], a: float32[k]",
       "y = loop(n, _, a) { body = graph b(i, d, x) -> (d, u) { u = is_nan(x) } }", "error differ"},
      // Four levels: no more is tried.
      {"n: int64[], a: float32[k]",
       "y = loop(n, _, a) { body = graph b(i, d, x) -> (d, u) {\n"
       "u = loop(n, _, x) { body = graph b(i, d, x) -> (d, u) {\n"
       "u = loop(n, _, x) { body = graph b(i, d, x) -> (d, u) {\n"
       "u = loop(n, _, x) { body = graph b(i, d, x) -> (d, u) {\n"
       "u = loop(n, _, x) { body = graph b(i, d, x) -> (d, u) { u = relu(x) } }\n"
       "} }\n} }\n} }\n} }",
       "float32[...]"},
      {"s: float32[2], x: float32[n,2,m]",
       "y, z = scan(s, x) { num_scan_inputs = 1, scan_input_axes = [-1],\n"
       "scan_input_directions = [0], scan_output_axes = [1], scan_output_directions = [0],\n"
       "body = graph b(p, q) -> (p, q) { } }",
       "float32[2]; float32[n,m,2]", "y, z"},
      {"s: sequence(float32[n]), t: int64[2]",
       "y = sequence_map(s, t) { body = graph b(p, q) -> (q) { } }", "sequence(int64[2])"},
      {"s: sequence(float32[n])", "y = relu(s)", "error may not be sequence(float32[n])"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
