// Words for people: what was meant, and lines that fit.
#include "gtest/gtest.h"
#include "x2ir/core/suggest.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/wrap.h"

namespace x2ir {
namespace {

TEST(Suggest, TheNearestWord) {
  const std::vector<std::string> verbs = {"convert", "show",   "info", "draw",
                                          "run",     "verify", "ops"};
  const struct {
    const char *word, *closest;
  } rows[] = {
      {"cnovert", "convert"},  // two letters changed places
      {"convrt", "convert"},   // one left out
      {"conv", "convert"},     // the beginning
      {"Convert", "convert"}, {"verfiy", "verify"}, {"rum", "run"},
      {"op", "ops"},          {"export", ""},       {"", ""},
      {"nonsense", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Closest(row.word, verbs), row.closest) << row.word;
  }
  EXPECT_EQ(Closest(std::string(100'000, 'x'), verbs), "");
  EXPECT_EQ(DidYouMean("shwo", verbs), "; did you mean 'show'?");
  EXPECT_EQ(DidYouMean("klingon", verbs), "");
}

TEST(Wrap, WordsOnLines) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Wrapped("", 10), Lines{""});
  EXPECT_EQ(Wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(Wrapped("extraordinary is long", 7), (Lines{"extraordinary", "is long"}));
}

// Broken lines are the same graph.
TEST(Wrap, GraphTextReadsTheSame) {
  const std::string text =
      R"(graph g(x: float32[batch,"a b, c",4,2*seq+1], "in put, one": int64[], /very/long/name: float32[...]) -> (y: float32[batch,2], s: sequence(float32[2,3]), m: map(string, int64[2])) {
  w: float32[4,20]
  b = float32[8]{0.5, -1, 0.25, 1e-10, 3, 4, 5, 6}
  t = string[2]{"a, b \\\" c", "d e"}
  y: float32[batch,2] = onnx.com.acme::Foo(x, _, "in put, one", /very/long/name, w, b, t) { alpha = 0.5, list = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], text = "a, \"b c" } "a name, of a node"
  s: sequence(float32[2,3]) = if(y) {
    then_branch = graph "then it is"() -> (v: sequence(float32[2,3])) {
      v: sequence(float32[2,3]) = sequence_construct(y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y)
    },
    else_branch = graph() -> (y) {
    }
  }
  m: map(string, int64[2]) = q(y)
}
)";
  TextOptions options;
  options.node_names = true;
  const auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string printed = ToText(**graph, options);
  for (const size_t width : {1, 20, 40, 80, 100}) {
    const std::string wrapped = WrapGraphText(printed, width);
    EXPECT_NE(wrapped, printed);
    const auto again = ParseGraph(wrapped);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << wrapped;
    EXPECT_EQ(ToText(**again, options), printed) << wrapped;
    if (width < 80) continue;
    for (size_t start = 0, end; start < wrapped.size(); start = end + 1) {
      end = wrapped.find('\n', start);
      EXPECT_LE(end - start, width) << wrapped.substr(start, end - start);
    }
  }
  EXPECT_EQ(WrapGraphText(printed, 1000), printed);
}

}  // namespace
}  // namespace x2ir
