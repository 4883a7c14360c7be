// SavedModels as TensorFlow writes them, from the folder to results: variables that go through
// calls, branches and loops, and what TensorFlow 1 has around them.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tf_proto;  // NOLINT

class TfVariables : public TempDirTest {
 protected:
  // Output "y" (or the graph's node of that name) for x = 3, with w = 5 and v = 7; or the error.
  std::string Result(const std::vector<std::string>& nodes,
                     const std::vector<std::string>& functions = {}) {
    std::vector<std::string> all = {
        NodeDef("x", "Placeholder", {}, {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr({})}}),
        NodeDef("w", "VarHandleOp", {}, {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr({})}}),
        NodeDef("v", "VariableV2", {},
                {{"dtype", TypeAttr(kFloat)},
                 {"shape", ShapeAttr({})},
                 {"container", StringAttr("")},
                 {"shared_name", StringAttr("")}})};
    all.insert(all.end(), nodes.begin(), nodes.end());
    Put("saved_model.pb", SavedModel(GraphDef(all, functions), "serving_default",
                                     {{"x", "x:0", kFloat, {}}}, {{"y", "y:0", kFloat, {}}}));
    const CheckpointFiles files =
        Checkpoint({{"w", kFloat, {}, Float(5)}, {"v", kFloat, {}, Float(7)}});
    Put("variables/variables.index", files.index);
    Put("variables/variables.data-00000-of-00001", files.data[0]);
    absl::StatusOr<Model> model = Import(folder_.string());
    if (!model.ok()) return model.status().ToString();
    if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
    const auto got = RunGraph(*model->graph, {Tensor::Scalar<float>(3)});
    if (!got.ok()) return got.status().ToString() + ToText(*model->graph);
    return StrCat((*got)[0].tensor()->AsDouble(0));
  }
};

std::string Call(std::string_view name, const std::vector<std::string>& inputs,
                 std::string_view function) {
  return NodeDef(name, "StatefulPartitionedCall", inputs,
                 {{"f", FuncAttr(function)},
                  {"Tin", Bytes(1, Int(6, kFloat) + Int(6, kResource))},
                  {"Tout", Bytes(1, Int(6, kFloat))},
                  {"config_proto", StringAttr("")}});
}
const std::vector<Arg> kArgs = {{"a", kFloat}, {"w", kResource}};

// Keras hands variables down through functions in functions.
TEST_F(TfVariables, CallsInCalls) {
  const std::vector<std::string> functions = {
      FunctionDef("outer", kArgs, {{"r", kFloat}}, {Call("call", {"a", "w"}, "middle")},
                  {{"r", "call:output:0"}}),
      FunctionDef(
          "middle", kArgs, {{"r", kFloat}},
          {Call("call", {"a", "w"}, "inner"), Call("again", {"call:output:0", "w"}, "inner"),
           NodeDef("none", "NoOp", {"^again"})},
          {{"r", "again:output:0"}}, {"none"}),
      FunctionDef("inner", kArgs, {{"r", kFloat}},
                  {NodeDef("read", "ReadVariableOp", {"w"}, {{"dtype", TypeAttr(kFloat)}}),
                   NodeDef("m", "Mul", {"a", "read:value:0"}, {{"T", TypeAttr(kFloat)}}),
                   NodeDef("i", "Identity", {"m:z:0"})},
                  {{"r", "i:output:0"}})};
  EXPECT_EQ(Result({Call("y", {"x", "w"}, "outer")}, functions), "75");
}

TEST_F(TfVariables, BranchesAndLoops) {
  const std::vector<Arg> state = {{"a", kFloat}, {"n", kFloat}, {"w", kResource}};
  const auto body = [&](const std::string& name, const std::string& op) {
    return FunctionDef(
        name, kArgs, {{"r", kFloat}},
        {NodeDef("read", "ReadVariableOp", {"w"}), NodeDef("m", op, {"a", "read:value:0"})},
        {{"r", "m:z:0"}});
  };
  const std::string one =
      NodeDef("one", "Const", {}, {{"value", TensorAttr(TensorProto(kFloat, {}, Float(1)))}});
  const std::vector<std::string> functions = {
      body("add", "AddV2"), body("mul", "Mul"),
      FunctionDef("less", state, {{"r", kBool}}, {NodeDef("l", "Less", {"n", "a"})},
                  {{"r", "l:z:0"}}),
      FunctionDef("step", state, {{"a_", kFloat}, {"n_", kFloat}, {"w_", kResource}},
                  {one, NodeDef("read", "ReadVariableOp", {"w"}),
                   NodeDef("s", "AddV2", {"a", "read:value:0"}),
                   NodeDef("n1", "Mul", {"s:z:0", "read:value:0"}),
                   NodeDef("n2", "AddV2", {"n1:z:0", "one:output:0"})},
                  {{"a_", "s:z:0"}, {"n_", "n2:z:0"}, {"w_", "w"}})};
  const std::string less = NodeDef("less", "Less", {"x", "read"}),
                    read = NodeDef("read", "ReadVariableOp", {"w"});
  EXPECT_EQ(Result({read, less,
                    NodeDef("y", "If", {"less", "x", "w"},
                            {{"then_branch", FuncAttr("mul")},
                             {"else_branch", FuncAttr("add")},
                             {"Tout", Bytes(1, Int(6, kFloat))}})},
                   functions),
            "15");
  // x = 3, n = 0 -> x = 8, n = 41: one round.
  const std::string zero =
      NodeDef("zero", "Const", {}, {{"value", TensorAttr(TensorProto(kFloat, {}, Float(0)))}});
  EXPECT_EQ(Result({zero, NodeDef("y", "StatelessWhile", {"x", "zero", "w"},
                                  {{"cond", FuncAttr("less")}, {"body", FuncAttr("step")}})},
                   functions),
            "8");
}

// Reference variables, their assertions and their saver.
TEST_F(TfVariables, OfTensorFlow1) {
  const std::string strings = Int(1, kString) + Bytes(2, ShapeProto({1})) + Bytes(8, "v");
  EXPECT_EQ(Result({NodeDef("v/read", "Identity", {"v"}, {{"_class", StringAttr("loc:@v")}}),
                    NodeDef("y", "Mul", {"x", "v/read"}),
                    NodeDef("names", "Const", {}, {{"value", TensorAttr(strings)}}),
                    NodeDef("save/RestoreV2", "RestoreV2", {"names", "names", "names"}),
                    NodeDef("save/Assign", "Assign", {"v", "save/RestoreV2"}),
                    NodeDef("init", "NoOp", {"^save/Assign"}),
                    NodeDef("legacy_init_op", "NoOp", {"^init"})}),
            "21");
  EXPECT_EQ(
      Result({NodeDef("there", "VarIsInitializedOp", {"w"}),
              NodeDef("v_there", "IsVariableInitialized", {"v"}, {{"dtype", TypeAttr(kFloat)}}),
              NodeDef("both", "LogicalAnd", {"there", "v_there"}),
              NodeDef("check", "Assert", {"both", "x"}),
              NodeDef("y", "SelectV2", {"both", "x", "v", "^check"})}),
      "3");
  EXPECT_EQ(Result({NodeDef("shape", "VariableShape", {"w"}, {{"out_type", TypeAttr(kInt32)}}),
                    NodeDef("ones", "Fill", {"shape", "x"}), NodeDef("y", "Neg", {"ones"})}),
            "-3");
  // Who writes to a variable before the result is refused by name.
  EXPECT_THAT(Result({NodeDef("set", "AssignAddVariableOp", {"w", "x"}),
                      NodeDef("y", "ReadVariableOp", {"w", "^set"})}),
              HasSubstr("AssignAddVariableOp"));
  EXPECT_THAT(Result({NodeDef("set", "AssignAdd", {"v", "x"}), NodeDef("y", "Neg", {"set"})}),
              HasSubstr("AssignAdd 'set': it changes 'v', whose value is kept from run to run"));
  // Tables and what else has a state too.
  EXPECT_THAT(Result({NodeDef("table", "HashTableV2", {}),
                      NodeDef("y", "LookupTableFindV2", {"table", "x", "x"})}),
              HasSubstr("tf.HashTableV2 (1 node): what the table holds is not known"));
}

}  // namespace
}  // namespace x2ir
