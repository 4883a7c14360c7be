#include <string>

#include "gtest/gtest.h"
#include "tests/optimizer/pass_util.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

TEST(InlineControlFlow, Rows) {
  constexpr std::string_view kX = "x: float32[2]";
  const PassRow rows[] = {
      {kX,
       "c = bool[]{false}\n y = if(c) { then_branch = graph t() -> (p) { p = neg(x) },\n"
       "else_branch = graph e() -> (q) { q = exp(x) } }",
       "y = exp(x)"},
      {"c: bool[], x: float32[2]",
       "y = if(c) { then_branch = graph t() -> (p) { p = neg(x) },\n"
       "else_branch = graph e() -> (q) { q = exp(x) } }",
       ""},
      // Two rounds, and the number of the round. The casts are known.
      {kX,
       "n = int64[]{2}\n y = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: "
       "float32[2]) -> (c, w) { f = cast(i) { to = \"float32\" }\n w = add(v, f) } }",
       "i = int64[]{0}\n j = int64[]{1}\n f = cast(i) { to = \"float32\" }\n w = add(x, f)\n"
       "g = cast(j) { to = \"float32\" }\n y = add(w, g)"},
      // One round, carried and stacked values.
      {kX,
       "n = int64[]{1}\n v, y = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: "
       "float32[2]) -> (c, w, w) { w = neg(v) } }",
       "o = int64[1]{0}\n v = neg(x)\n a = unsqueeze(v, o)\n y = concat(a) { axis = 0 }", "v, y"},
      // Rounds would be more nodes than the loop and its body.
      {kX,
       "n = int64[]{2}\n v, y = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: "
       "float32[2]) -> (c, w, w) { f = cast(i) { to = \"float32\" }\n w = add(v, f) } }",
       "", "v, y"},
      {kX,
       "n = int64[]{2}\n y = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: "
       "float32[2]) -> (c, w) { s = sin(v)\n t = cos(s)\n w = neg(t) } }",
       ""},
      {kX,
       "n = int64[]{0}\n a = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: "
       "float32[2]) -> (c, w) { w = neg(v) } }\n y = neg(a)",
       "y = neg(x)"},
      {kX,
       "n = int64[]{5}\n f = bool[]{false}\n a = loop(n, f, x) { body = graph b(i: int64[], c: "
       "bool[], v: float32[2]) -> (c, w) { w = neg(v) } }\n y = neg(a)",
       "y = neg(x)"},
      // The condition may end it.
      {kX,
       "n = int64[]{2}\n t = bool[]{true}\n y = loop(n, t, x) { body = graph b(i: int64[], c: "
       "bool[], v: float32[2]) -> (d, w) { d = not(c)\n w = neg(v) } }",
       ""},
      // A branch that is known inside of one that is, and inside of a round.
      {kX,
       "c = bool[]{true}\n n = int64[]{1}\n y = if(c) { then_branch = graph t() -> (p) {\n"
       "p = if(c) { then_branch = graph u() -> (a) { a = neg(x) },\n"
       "else_branch = graph v() -> (b) { b = exp(x) } } },\n"
       "else_branch = graph e() -> (q) { q = exp(x) } }",
       "y = neg(x)"},
      {kX,
       "t = bool[]{true}\n n = int64[]{1}\n y = loop(n, _, x) { body = graph b(i: int64[], c: "
       "bool[], v: float32[2]) -> (c, w) { w = if(t) { then_branch = graph u() -> (p) { p = "
       "neg(v) }, else_branch = graph e() -> (q) { q = exp(v) } } } }",
       "y = neg(x)"},
      // Slices of what is known, from the end, stacked from the end.
      {"x: float32[2]",
       "z = float32[3,1]{1, 2, 3}\n v, y = scan(x, z) { body = graph b(s: float32[2], e: "
       "float32[3]) -> (w, u) { w = neg(s)\n"
       "u = exp(e) }, num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1],\n"
       "scan_output_axes = [1], scan_output_directions = [1] }",
       "z = float32[3,1]{1, 2, 3}\n i = int64[]{0}\n o = int64[1]{1}\n"
       "v = neg(x)\n a = gather(z, i) { axis = -1 }\n t = exp(a)\n c = unsqueeze(t, o)\n y = "
       "concat(c) { axis = 1 }",
       "v, y"},
      // One slice that is not known, and two slices, would be more nodes than the scan and its
      // body.
      {"x: float32[2], z: float32[3,1]",
       "v, y = scan(x, z) { body = graph b(s: float32[2], e: float32[3]) -> (w, u) { w = neg(s)\n"
       "u = exp(e) }, num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [0],\n"
       "scan_output_axes = [1], scan_output_directions = [0] }",
       "", "v, y"},
      {"x: float32[2], z: float32[3,2]",
       "v, y = scan(x, z) { body = graph b(s: float32[2], e: float32[3]) -> (w, u) { w = neg(s)\n"
       "u = exp(e) }, num_scan_inputs = 1, scan_input_axes = [-1], scan_input_directions = [1],\n"
       "scan_output_axes = [1], scan_output_directions = [1] }",
       "", "v, y"},
      {"x: float32[2], z: float32[0,3]",
       "a = scan(x, z) { body = graph b(s: float32[2], e: float32[3]) -> (w) { w = neg(s) },\n"
       "num_scan_inputs = 1, scan_input_axes = [0], scan_input_directions = [0],\n"
       "scan_output_axes = []:ints, scan_output_directions = []:ints }\n y = neg(a)",
       "y = neg(x)"},
      // Nobody knows how many slices, or there are too many.
      {"x: float32[2], z: float32[n,2]",
       "y = scan(x, z) { body = graph b(s: float32[2], e: float32[2]) -> (w) { w = add(s, e) },\n"
       "num_scan_inputs = 1, scan_input_axes = [0], scan_input_directions = [0],\n"
       "scan_output_axes = []:ints, scan_output_directions = []:ints }",
       ""},
      {"x: float32[2], z: float32[9,2]",
       "y = scan(x, z) { body = graph b(s: float32[2], e: float32[2]) -> (w) { w = add(s, e) },\n"
       "num_scan_inputs = 1, scan_input_axes = [0], scan_input_directions = [0],\n"
       "scan_output_axes = []:ints, scan_output_directions = []:ints }",
       ""},
      // Too many rounds.
      {kX,
       "n = int64[]{9}\n y = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: "
       "float32[2]) -> (c, w) { w = neg(v) } }",
       ""},
      {"n: int64[], x: float32[2]",
       "y = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: float32[2]) -> (c, w) {"
       "w = neg(v) } }",
       ""},
  };
  for (const PassRow& row : rows) ExpectPass(row, {"inline_control_flow", "dead_code"});
}

// Two rounds of two rounds of ... 2^30 nodes if all were written out.
TEST(InlineControlFlow, NestedLoopsAreBounded) {
  std::string text = "n = int64[]{2}\n";
  std::string close;
  std::string state = "x";
  for (int i = 0; i < 30; ++i) {
    const std::string k = std::to_string(i);
    text += "y" + k + " = loop(n, _, " + state + ") { body = graph b" + k + "(i" + k +
            ": int64[], c" + k + ": bool[], v" + k + ": float32[2]) -> (c" + k + ", " +
            (i == 29 ? "w" : "y" + std::to_string(i + 1)) + ") {\n";
    state = "v" + k;
    close += "} }\n";
  }
  const auto graph = ParseGraph("graph g(x: float32[2]) -> (y0) {\n" + text + "w = neg(" + state +
                                ")\n" + close + "}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(InferGraph(**graph).ok());
  ASSERT_TRUE(RunPasses(**graph, DefaultPasses()).ok());
  EXPECT_TRUE((*graph)->Validate().empty());
  EXPECT_LT((*graph)->TotalNodes(), 1000);
}

}  // namespace
}  // namespace x2ir
