// Names, inputs and constants that people change.
#include "x2ir/core/edit/edit.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

constexpr char kNet[] = R"(graph net(x: float32[2], m: float32[2]) -> (y, z) {
  w = float32[2]{1, 2}
  a: float32[2] = add(x, w) "first"
  b: float32[2] = mul(a, m) "second"
  y: float32[2] = neg(b)
  z: float32[2] = relu(b)
})";

std::shared_ptr<Graph> Net() {
  auto graph = ParseGraph(kNet);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return *graph;
}

std::string Names(const Graph& graph) {
  std::string text;
  const auto add = [&](const Value* value) { text += value->name() + " "; };
  for (const Value* input : graph.inputs()) add(input);
  text += "| ";
  for (const Value* constant : graph.constants()) add(constant);
  text += "| ";
  for (const Node* node : graph.nodes()) add(node->output(0));
  return text;
}

// NAME=NEW, as the programs and x2ir.h take it.
TEST(Rename, NamesThatHaveAnEqualsSign) {
  const struct {
    const char *text, *name, *renamed;  // null: it is refused
  } rows[] = {
      {"a=b", "a", "b"},
      {"a=b=c", "a=b", "c"},  // the last one, unless it is said to be of a name
      {R"(a=b\=c)", "a", "b=c"},
      {R"(a\=b=c\=d\=)", "a=b", "c=d="},
      {R"(a\\=b)", R"(a\)", "b"},
      {R"(a\\\=b=c)", R"(a\=b)", "c"},
      {R"(a\b=c\d\)", R"(a\b)", R"(c\d\)"},
      {R"(\==b)", "=", "b"},
      {R"(a\=b)", nullptr, nullptr},
      {"a=", nullptr, nullptr},
      {"=b", nullptr, nullptr},
      {"ab", nullptr, nullptr},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const auto options = ParseConversion({{"rename", row.text}}, FindFormat("ir"), nullptr);
    ASSERT_EQ(options.ok(), row.name != nullptr) << options.status();
    if (!options.ok()) {
      EXPECT_EQ(OptionOf(options.status()), "rename");
      continue;
    }
    ASSERT_EQ(options->from.rename.size(), 1u);
    EXPECT_EQ(options->from.rename[0].first, row.name);
    EXPECT_EQ(options->from.rename[0].second, row.renamed);
  }
}

TEST(Rename, AllAtOnce) {
  const struct {
    NamePairs pairs;
    const char* names;  // or the error
  } rows[] = {
      {{{"x", "image"}, {"y", "scores"}}, "image m | w | a b scores z "},
      {{{"x", "m"}, {"m", "x"}}, "m x | w | a b y z "},
      {{{"y", "z"}, {"z", "y"}}, "x m | w | a b z y "},
      {{{"x", "a"}}, "a m | w | a_was b y z "},
      {{{"w", "weight"}, {"a", "sum"}}, "x m | weight | sum b y z "},
      {{{"x", "x"}}, "x m | w | a b y z "},
      {{{"x", "m"}}, "'m' is already the name of an input"},
      {{{"a", "y"}}, "'y' is already the name of an output"},
      {{{"xx", "image"}}, "there is no value 'xx'; did you mean 'x'?"},
      {{{"x", "a1"}, {"x", "a2"}}, "'x' is given twice"},
      {{{"x", "q"}, {"m", "q"}}, "'q' would be the name of two values"},
  };
  for (const auto& row : rows) {
    const auto graph = Net();
    const absl::Status status = RenameValues(*graph, row.pairs);
    if (status.ok()) {
      EXPECT_EQ(Names(*graph), row.names);
    } else {
      EXPECT_THAT(std::string(status.message()), HasSubstr(row.names));
      EXPECT_EQ(OptionOf(status), "rename");
    }
  }
}

TEST(StripNames, InputsAndOutputsKeepTheirs) {
  const auto graph = Net();
  StripNames(*graph);
  EXPECT_EQ(Names(*graph), "x m | v0 | v1 v2 y z ");
  EXPECT_EQ(graph->first()->name(), "");
  EXPECT_TRUE(graph->CheckNames().ok());
}

TEST(ParamsAsInputs, KeepTheirValues) {
  const auto graph = Net();
  ParamsAsInputs(*graph);
  EXPECT_EQ(Names(*graph), "x m w | | a b y z ");
  ASSERT_NE(graph->inputs().back()->constant(), nullptr);
  EXPECT_EQ(graph->inputs().back()->constant()->AsDouble(1), 2);
}

TEST(FoldInputs, FromFiles) {
  const TempDir dir;
  const std::string two = dir.Path("two.npy"), three = dir.Path("three.npy");
  ASSERT_TRUE(WriteNpy(two, Tensor::Of<float>({2}, {3, 4})).ok());
  ASSERT_TRUE(WriteNpy(three, Tensor::Of<float>({3}, {3, 4, 5})).ok());
  const auto graph = Net();
  EXPECT_THAT(std::string(FoldInputs(*graph, {{"m", three}}).message()),
              HasSubstr("input 'm' is float32[2], and '"));
  EXPECT_THAT(std::string(FoldInputs(*graph, {{"n", two}}).message()),
              HasSubstr("the model has no input 'n'"));
  EXPECT_THAT(std::string(FoldInputs(*graph, {{"m", two + ".gone"}}).message()),
              HasSubstr("input 'm'"));
  ASSERT_TRUE(FoldInputs(*graph, {{"m", two}}).ok());
  EXPECT_EQ(Names(*graph), "x | w m | a b y z ");
}

}  // namespace
}  // namespace x2ir
