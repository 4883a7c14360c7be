// What is said of a node that was refused because something is not known: which value, where it is
// lost, and an option that helps, which is tried.
#include "x2ir/core/unknown.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/ops/text_graph_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Refusal {
  const char* what;
  std::string dialect, ir;
  std::string says;
  std::vector<std::pair<std::string, std::string>> shapes;  // that are said to help
};

std::vector<Refusal> Rows() {
  const std::string conv =
      "{ w = float32[1,3,1,1]{1, 2, 3} y = conv(x, w, _) { layout = \"channels_first\", strides = "
      "[2, 2], auto_pad = \"SAME_UPPER\" } \"first\" }";
  return {
      {"an input without a shape",
       "torch",
       "graph g(x: float32[...]) -> (y) { y = shape(x) \"s\" }",
       "'x' is float32[...]: the input states no shape; option 'shapes' x:1,3,... sets the sizes",
       {{"x", "1,3"}}},
      {"what is computed of one",
       "torch",
       "graph g(x: float32[...]) -> (y) { a = relu(x) b = neg(a) y = shape(b) \"s\" }",
       "'b' is float32[...]: input 'x' states no shape; option 'shapes' x:1,3,... sets the sizes",
       {{"x", "1,3"}}},
      {"sizes",
       "torch",
       "graph g(x: float32[1,3,?,8]) -> (y) " + conv,
       "'x' is float32[1,3,?,8]: the input states float32[1,3,?,8]; option 'shapes' x:1,3,N,8 "
       "sets the sizes",
       {{"x", "1,3,6,8"}}},
      {"a choice that an input makes, as of a sample rate",
       "torch",
       R"(graph g(x: float32[1,8], sr: int64[]) -> (y) {
         k = int64[]{16000}
         c: bool[] = equal(sr, k)
         r = if(c) {
           then_branch = graph t() -> (a) { a: float32[1,8] = neg(x) },
           else_branch = graph e() -> (b) { s = int64[1]{8}  b: float32[8] = reshape(x, s) } } "pick"
         y = shape(r) "s" })",
       "it is a result of higher_order::cond; option 'fold_inputs' sr=VALUE makes the operands "
       "constant that it is computed from",
       {}},
  };
}

TEST(Unknown, TheHintSaysWhatWhereAndHow) {
  for (const Refusal& row : Rows()) {
    SCOPED_TRACE(row.what);
    ConvertTextOptions options;
    options.dialect = row.dialect;
    const std::string ir = ToText(*InferredGraph(row.ir));
    const std::string text = FromIrText(ir, 0, options);
    EXPECT_THAT(text, AllOf(HasSubstr("error: FAILED_PRECONDITION"), HasSubstr(row.says)));
    EXPECT_THAT(text, Not(HasSubstr("already"))) << "lowerings that were tried are for -v";
    if (row.shapes.empty()) continue;
    auto model = ModelFromText(ir, "", 0);
    ASSERT_TRUE(model.ok()) << model.status();
    ImportOptions import;
    for (const auto& [name, sizes] : row.shapes) {
      std::vector<Dim> dims;
      for (size_t at = 0; at <= sizes.size();) {
        const size_t end = std::min(sizes.find(',', at), sizes.size());
        dims.push_back(Dim::Symbol(sizes.substr(at, end - at)));
        at = end + 1;
      }
      import.shapes.emplace_back(name, Shape(dims));
    }
    ASSERT_TRUE(ToIr(*model, import).ok());
    EXPECT_TRUE(FromIr(*model, row.dialect).ok()) << "the hint does not help";
  }
}

// What is refused for another reason is no matter of sizes, whatever these are.
TEST(Unknown, NoHintWhereNothingIsMissing) {
  ConvertTextOptions options;
  options.dialect = "nnvm";
  const std::string text = FromIrText("graph g(x: float32[...]) -> (y) { y = erf(x) }", 0, options);
  EXPECT_THAT(text, HasSubstr("no mapping to nnvm"));
  EXPECT_THAT(text, Not(HasSubstr("shapes")));
}

}  // namespace
}  // namespace x2ir
