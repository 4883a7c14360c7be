#include "gtest/gtest.h"
#include "tests/optimizer/pass_util.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

TEST(CommonSubexpressions, Rows) {
  constexpr std::string_view kX = "x: float32[n,2]";
  const PassRow rows[] = {
      {kX, "a = neg(x)\n b = neg(x)\n y = add(a, b)", "a = neg(x)\n y = add(a, a)"},
      {kX, "a = neg(x)\n b = neg(x)\n c = exp(a)\n d = exp(b)\n y = add(c, d)",
       "a = neg(x)\n c = exp(a)\n y = add(c, c)"},
      // One after the other, so that what they are worked on by is a twin only later.
      {kX,
       "a = neg(x)\n c = exp(a)\n e = abs(c)\n b = neg(x)\n d = exp(b)\n f = abs(d)\n y = add(e, "
       "f)",
       "a = neg(x)\n c = exp(a)\n e = abs(c)\n y = add(e, e)"},
      {kX,
       "a = neg(x)\n b = exp(x)\n c = sub(a, b)\n d = neg(x)\n e = exp(x)\n f = sub(d, e)\n"
       "y = add(c, f)",
       "a = neg(x)\n b = exp(x)\n c = sub(a, b)\n y = add(c, c)"},
      {kX, "a = neg(x)\n c = sub(a, a)\n b = neg(x)\n d = sub(b, a)\n y = add(c, d)",
       "a = neg(x)\n c = sub(a, a)\n y = add(c, c)"},
      {kX, "a = leaky_relu(x) { alpha = 0.5 }\n b = leaky_relu(x) { alpha = 0.25 }\n y = add(a, b)",
       ""},
      {kX,
       "a = float32[2]{1, 2}\n b = float32[2]{1, 2}\n c = add(x, a)\n d = add(x, b)\n"
       "y = mul(c, d)",
       "a = float32[2]{1, 2}\n c = add(x, a)\n y = mul(c, c)"},
      {kX, "a = float32[2]{1, 2}\n b = float32[1,2]{1, 2}\n c = add(x, a)\n y = add(c, b)", ""},
      {kX, "a = float32[2]{0, 2}\n b = float32[2]{-0, 2}\n c = add(x, a)\n y = add(c, b)", ""},
      {kX,
       "s = int64[1]{2}\n a = random_uniform(s) { dtype = \"float32\" }\n"
       "b = random_uniform(s) { dtype = \"float32\" }\n c = sub(a, b)\n y = add(x, c)",
       ""},
      // Outputs keep their names.
      {kX, "y = neg(x)\n z = neg(x)", "", "y, z"},
      {kX, "a = neg(x)\n b = exp(a)\n y = neg(x)", "y = neg(x)\n b = exp(y)", "y, b"},
      // Shapes that are the same have the same elements.
      {"x: float32[n,2], z: float32[n,5]",
       "a = shape(x) { end = 1 }\n b = shape(z) { end = 1 }\n y = add(a, b)",
       "a = shape(x) { end = 1 }\n y = add(a, a)"},
      {"x: float32[n,2], z: float32[m,5]",
       "a = shape(x) { end = 1 }\n b = shape(z) { end = 1 }\n y = add(a, b)", ""},
      // A nested graph sees what is around it, but not what is in another one.
      {"c: bool[], x: float32[2]",
       "a = neg(x)\n b = if(c) { then_branch = graph t() -> (p) { n = neg(x)\n m = exp(x)\n"
       "p = add(m, n) }, else_branch = graph e() -> (q) { q = exp(x) } }\n d = exp(x)\n"
       "y = sum(a, b, d)",
       "a = neg(x)\n b = if(c) { then_branch = graph t() -> (p) { m = exp(x)\n"
       "p = add(m, a) }, else_branch = graph e() -> (q) { q = exp(x) } }\n d = exp(x)\n"
       "y = sum(a, b, d)"},
  };
  for (const PassRow& row : rows) ExpectPass(row, {"common_subexpressions", "dead_code"});
}

// A state of one operator is not that of another, though both are zero; nor are integers of one
// scale those of another.
TEST(CommonSubexpressions, ConstantsWithOtherAnnotations) {
  for (const bool differ : {false, true}) {
    auto graph = ParseGraph(
        "graph g(x: float32[2]) -> (y) { a = float32[2]{1, 2} b = float32[2]{1, 2} "
        "c: float32[2] = add(x, a) y: float32[2] = mul(c, b) }");
    ASSERT_TRUE(graph.ok()) << graph.status();
    (*graph)->Find("a")->annotations().GetOrMake().extra["format.note"] = "one";
    (*graph)->Find("b")->annotations().GetOrMake().extra["format.note"] = differ ? "other" : "one";
    ASSERT_TRUE(RunPasses(**graph, {"common_subexpressions"}).ok());
    EXPECT_EQ((*graph)->constants().size(), differ ? 2u : 1u);
  }
}

}  // namespace
}  // namespace x2ir
