// What of a TensorFlow graph is wanted: --inputs, --outputs, --shape, --dtype; and what is said of
// all that cannot be had.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

std::string Converted(const std::string& text, const ImportOptions& options) {
  const TempDir dir;
  absl::StatusOr<Model> model =
      Import(dir.Put("model.pbtxt", text + "versions { producer: 1000 }\n"), options);
  if (!model.ok()) return model.status().ToString();
  if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
  return ToText(*model->graph);
}

constexpr char kGraph[] = R"(
node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 4 } } } } }
node { name: 'd' op: 'PlaceholderWithDefault' input: 'two'
       attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape {} } } }
node { name: 'two' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
node { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
       attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
node { name: 'check' op: 'Assert' input: 'x' input: 'x' }
node { name: 'parts' op: 'Split' input: 'axis' input: 'x' input: '^check'
       attr { key: 'num_split' value { i: 2 } } }
node { name: 'm' op: 'Mul' input: 'parts:1' input: 'd' }
node { name: 'y' op: 'Neg' input: 'm' }
)";

TEST(TfOptions, ChosenInputsAndOutputs) {
  using Options = ImportOptions;
  struct Row {
    Options options;
    const char* wanted;
  };
  for (const Row& row : std::vector<Row>{
           {{}, "graph(x: float32[?,4]) -> (y: float32[?,2]) {"},
           {{.outputs = {"y"}}, "graph(x: float32[?,4]) -> (y: float32[?,2])"},
           {{.outputs = {"parts:1", "m"}},
            "graph(x: float32[?,4]) -> (\"parts:1\": float32[?,2], m: float32[?,2])"},
           {{.outputs = {"y:0"}}, "-> (y: float32[?,2])"},
           {{.outputs = {"y:1"}}, "too many outputs; expected at most 1, got 2"},
           {{.outputs = {"parts:2"}}, "INVALID_ARGUMENT"},
           {{.outputs = {"nobody"}}, "option 'outputs': there is no node 'nobody'"},
           {{.shapes = {{"x", Shape{3, 4}}}, .outputs = {"y"}},
            "graph(x: float32[3,4]) -> (y: float32[3,2])"},
           {{.shapes = {{"x", Shape{Dim::Symbol("n"), 8}}}, .outputs = {"y"}},
            "graph(x: float32[n,8]) -> (y: float32[n,4])"},
           {{.shapes = {{"x", Shape{3, 5}}}, .outputs = {"y"}}, "INVALID_ARGUMENT"},
           {{.shapes = {{"z", Shape{3}}}, .outputs = {"y"}}, "'z'; its inputs are: x"},
           // A default is a value unless it is asked for; so is a constant.
           {{.inputs = {"x", "d"}, .outputs = {"y"}},
            "graph(x: float32[?,4], d: float32[]) -> (y: float32[?,2])"},
           {{.inputs = {"two", "x"}, .outputs = {"y"}},
            "graph(two: float32[], x: float32[?,4]) -> (y: float32[?,2])"},
           {{.inputs = {"m"}, .outputs = {"y"}},
            "graph(m: float32[?,2]) -> (y: float32[?,2]) {\n  y: float32[?,2] = neg(m)\n}"},
           {{.inputs = {"parts:1"}, .outputs = {"y"}}, "graph(\"parts:1\": float32[?,2]) -> (y"},
           {{.inputs = {"parts:0"}, .outputs = {"y"}}, "the outputs also need x"},
           {{.inputs = {"d"}, .outputs = {"y"}}, "option 'inputs': the outputs also need x"},
           {{.inputs = {"x", "x:0"}, .outputs = {"y"}}, "names 'x' twice"},
           {{.inputs = {"nobody"}, .outputs = {"y"}}, "option 'inputs': there is no node 'nobody'"},
           {{.inputs = {"m:3"}, .outputs = {"y"}}, "INVALID_ARGUMENT"},
           {{.shapes = {{"m", Shape{1, 2}}}, .inputs = {"m"}, .outputs = {"y"}},
            "graph(m: float32[1,2]) -> (y: float32[1,2])"}}) {
    EXPECT_THAT(Converted(kGraph, row.options), HasSubstr(row.wanted));
  }
}

TEST(TfOptions, UnknownOpsAreToldAllAtOnce) {
  std::string text = kGraph;
  for (int i = 0; i < 5; ++i) {
    text += StrCat("node { name: 'odd", i, "' op: 'Oddity' input: 'y' }\n");
    text += StrCat("node { name: 'rare", i, "' op: 'Rarity' input: 'odd", i, "' input: '^y' }\n");
  }
  text += "node { name: 'after' op: 'Neg' input: 'rare0' }\n";
  text +=
      "node { name: 'cast' op: 'Cast' input: 'y' attr { key: 'DstT' value { type: DT_VARIANT } } "
      "}\n";
  const std::string got = Converted(text, {});
  EXPECT_THAT(got, HasSubstr("tf.Oddity (5 nodes)"));
  EXPECT_THAT(got, HasSubstr("'odd0'"));
  EXPECT_THAT(got, HasSubstr("tf.Rarity (5 nodes)"));
  EXPECT_THAT(got, HasSubstr("tf.Cast (1 node): attribute 'DstT' is DT_VARIANT"));
  EXPECT_THAT(got, testing::Not(HasSubstr("tf.Neg")));  // which only follows
  // What is unknown may be before the cut.
  EXPECT_THAT(Converted(text, {.inputs = {"odd1"}, .outputs = {"odd1"}}), HasSubstr("odd1"));
  EXPECT_THAT(Converted(text, {.shapes = {{"rare0", Shape{2}}},
                               .dtypes = {{"rare0", DType::kFloat32}},
                               .inputs = {"rare0"},
                               .outputs = {"after"}}),
              HasSubstr("graph(rare0: float32[2]) -> (after: float32[2])"));
}

}  // namespace
}  // namespace x2ir
