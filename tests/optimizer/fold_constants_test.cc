#include <bit>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/optimizer/pass_util.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

TEST(FoldConstants, Rows) {
  const PassRow rows[] = {
      {"x: float32[2]", "a = float32[2]{1, 2}\n b = float32[]{0.5}\n c = mul(a, b)\n y = add(x, c)",
       "c = float32[2]{0.5, 1}\n y = add(x, c)"},
      // Results on the way do not stand in the graph.
      {"x: float32[2]",
       "a = float32[2]{1, 2}\n b = neg(a)\n c = abs(b)\n d = floor(c)\n"
       "y = add(x, d)",
       "c = float32[2]{1, 2}\n y = add(x, c)"},
      {"x: float32[2]", "a = float32[2]{1, 2}\n b = neg(a)\n y = add(b, b)",
       "y = float32[2]{-2, -4}"},
      {"x: float32[2,3]", "s = shape(x)\n y = cast(s) { to = \"float32\" }",
       "y = float32[2]{2, 3}"},
      {"x: float32[n,3]",
       "s = shape(x)\n i = int64[]{1}\n g = gather(s, i) { axis = 0 }\n"
       "y = add(g, i)",
       "y = int64[]{4}"},
      {"x: float32[n,3]", "y = shape(x)", ""},
      {"x: float32[n,3]", "y = size(x)", ""},
      {"x: float32[2]",
       "s = int64[1]{2}\n r = random_uniform(s) { dtype = \"float32\" }\n"
       "y = add(x, r)",
       ""},
      // What is kept as integers stays so.
      {"x: float32[2]",
       "q = int8[2]{1, 2}\n s = float32[]{0.5}\n d = dequantize_linear(q, s)\n"
       "y = add(x, d)",
       ""},
      // 400 kB out of nothing.
      {"x: float32[100000]", "s = int64[1]{100000}\n c = constant_of_shape(s)\n y = add(x, c)", ""},
      // Two parts of one constant.
      {"x: float32[2]",
       "a = float32[4]{1, 2, 3, 4}\n b, c = split(a) { axis = 0, num_outputs = 2 }\n"
       "d = add(x, b)\n y = mul(d, c)",
       "b = float32[2]{1, 2}\n c = float32[2]{3, 4}\n d = add(x, b)\n y = mul(d, c)"},
      // How large the first result is, only its computation says.
      {"x: float32[2]",
       "m = bool[3]{true, false, true}\n w = float32[3]{1, 2, 3}\n i = int64[]{0}\n"
       "p = non_zero(m)\n a = gather(p, i) { axis = 0 }\n b = gather(w, a) { axis = 0 }\n"
       "y = add(x, b)",
       "b = float32[2]{1, 3}\n y = add(x, b)"},
      // Sizes that are computed with floats tell what hangs on them, and so on down the graph.
      {"x: float32[24]",
       "f = float32[2]{4.2, 6.9}\n g = floor(f)\n s = cast(g) { to = \"int64\" }\n"
       "r = reshape(x, s)\n t = shape(r)\n u = cast(t) { to = \"float32\" }\n v = neg(u)\n"
       "w = abs(v)\n q = cast(w) { to = \"int64\" }\n p = reshape(x, q)\n"
       "o = shape(p)\n y = cast(o) { to = \"float32\" }",
       "y = float32[2]{4, 6}"},
      // The factors of a resize are seen where they stand in the graph.
      {"x: float32[1,1,2,2]",
       "a = float32[2]{1, 1}\n b = float32[2]{2, 3}\n s = concat(a, b) { axis = 0 }\n"
       "r = resize(x, _, s)\n y = shape(r)",
       "y = int64[4]{1, 1, 4, 6}"},
      // In a nested graph, of an outer constant.
      {"c: bool[], x: float32[2]",
       "k = float32[2]{1, 2}\n y = if(c) { then_branch = graph t() -> (p) { n = neg(k)\n"
       "p = add(x, n) }, else_branch = graph e() -> (q) { q = neg(x) } }",
       "y = if(c) { then_branch = graph t() -> (p) { n = float32[2]{-1, -2}\n"
       "p = add(x, n) }, else_branch = graph e() -> (q) { q = neg(x) } }"},
  };
  for (const PassRow& row : rows) ExpectPass(row, {"fold_constants", "dead_code"});
}

// Whatever NaN the processor makes of them.
TEST(FoldConstants, NaNsAreTheSameEverywhere) {
  for (const char* line : {"y = div(zero, zero)", "y = sub(infinity, infinity)", "y = neg(nan)",
                           "y = log(minus)", "y = acos(infinity)", "y = mul(infinity, zero)"}) {
    auto graph = ParseGraph(std::string("graph g() -> (y) {\n zero = float32[1]{0}\n") +
                            " infinity = float32[1]{inf}\n nan = float32[1]{nan}\n" +
                            " minus = float32[1]{-1}\n " + line + "\n}");
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_TRUE(RunPasses(**graph, {"fold_constants", "dead_code"}).ok());
    const Tensor* y = (*graph)->outputs()[0]->constant();
    ASSERT_NE(y, nullptr) << line;
    EXPECT_EQ(std::bit_cast<uint32_t>(y->span<float>()[0]), 0x7FC00000u) << line;
  }
}

// The bound holds over all rounds of a pipeline together.
TEST(FoldConstants, FilesDoNotGrow) {
  std::string text = "graph g(x: float32[50000]) -> (y) {\n v0 = float32[50000]\n";
  for (int i = 0; i < 20; ++i) {
    text += "u" + std::to_string(i) + " = add(x, v0)\n";
    text += "e" + std::to_string(i) + " = float32[]{" + std::to_string(i) + "}\n";
    text += "w" + std::to_string(i) + " = add(v0, e" + std::to_string(i) + ")\n";
  }
  text += "y = sum(";
  for (int i = 0; i < 20; ++i) {
    text += (i ? ", u" : "u") + std::to_string(i) + ", w" + std::to_string(i);
  }
  auto graph = ParseGraph(text + ")\n}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const int64_t before = FileBytes(**graph);
  ASSERT_TRUE(RunPasses(**graph, {"fold_constants", "dead_code", "fold_constants"}).ok());
  EXPECT_LE(FileBytes(**graph), before * 12 / 10 + 2048);
}

}  // namespace
}  // namespace x2ir
