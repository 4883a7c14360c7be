// XlaCallModule: programs of StableHLO inside graphs of TensorFlow.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/mlir/text.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tf_proto;  // NOLINT: all pieces are of it

// x * w + b of a batch of any size, by a function that it calls; and b itself.
constexpr char kDense[] = R"(
module @jit_dense attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%x: tensor<?x2xf32>, %w: tensor<2x1xf32>, %b: tensor<1xf32>)
      -> (tensor<?x1xf32>, tensor<1xf32>) {
    %0 = stablehlo.dot %x, %w
        : (tensor<?x2xf32>, tensor<2x1xf32>) -> tensor<?x1xf32>
    %1 = call @bias(%0, %b) : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    return %1, %b : tensor<?x1xf32>, tensor<1xf32>
  }
  func.func private @bias(%x: tensor<?x1xf32>, %b: tensor<1xf32>) -> tensor<?x1xf32> {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
    %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.constant dense<1> : tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %b, %2, dims = [1]
        : (tensor<1xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %4 = stablehlo.add %x, %3 : tensor<?x1xf32>
    return %4 : tensor<?x1xf32>
  }
})";

// The sum on the first platform, the difference on the second.
constexpr char kPlatforms[] = R"(
func.func public @main(%p: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.case"(%p) ({
    %1 = stablehlo.add %a, %b : tensor<2xf32>
    "stablehlo.return"(%1) : (tensor<2xf32>) -> ()
  }, {
    %1 = stablehlo.subtract %a, %b : tensor<2xf32>
    "stablehlo.return"(%1) : (tensor<2xf32>) -> ()
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})";

constexpr char kSum[] = R"(
func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
})";

std::string Artifact(const char* text) {
  std::string bytes;
  const absl::Status s =
      stablehlo::WriteArtifact(*mlir::ParseText(text), {1, 7, 0}, Sink::To(&bytes));
  EXPECT_TRUE(s.ok()) << s;
  return bytes;
}

// Lists of an AttrValue.
std::string Strings(const std::vector<std::string>& strings) {
  std::string list;
  for (const std::string& each : strings) list += Bytes(2, each);
  return Bytes(1, list);
}
std::string Types(const std::vector<int64_t>& types) {
  std::string list;
  for (const int64_t each : types) list += Int(6, each);
  return Bytes(1, list);
}
std::string Shapes(const std::vector<std::vector<int64_t>>& shapes) {
  std::string list;
  for (const std::vector<int64_t>& each : shapes) list += Bytes(7, ShapeProto(each));
  return Bytes(1, list);
}
std::string Functions(const std::string& name) { return Bytes(1, Bytes(9, Bytes(1, name))); }

std::string Constant(std::string_view name, const std::vector<int64_t>& dims,
                     const std::vector<float>& values) {
  std::string content;
  for (const float value : values) content += Float(value);
  return NodeDef(name, "Const", {}, {{"value", TensorAttr(TensorProto(kFloat, dims, content))}});
}

std::string Call(const std::vector<std::string>& operands, std::string_view module,
                 const std::vector<std::vector<int64_t>>& shapes, const Attrs& others = {}) {
  const std::vector<int64_t> types(shapes.size(), kFloat);
  Attrs attrs = {{"module", StringAttr(module)},
                 {"Tin", Types(std::vector<int64_t>(operands.size(), kFloat))},
                 {"Tout", Types(types)},
                 {"Sout", Shapes(shapes)},
                 {"version", IntAttr(9)},
                 {"platforms", Strings({"CPU"})},
                 {"dim_args_spec", Strings({})},
                 {"function_list", Strings({})},
                 {"disabled_checks", Strings({"platform"})},
                 {"has_token_input_output", Int(5, 0)}};
  for (const auto& other : others) {
    std::erase_if(attrs, [&](const auto& attr) { return attr.first == other.first; });
    attrs.push_back(other);
  }
  return NodeDef("call", "XlaCallModule", operands, attrs);
}

// The results as text, or the error; also where it cannot be written as ONNX.
std::string Results(const std::string& bytes, const std::vector<std::string>& outputs,
                    const std::vector<Tensor>& inputs = {}) {
  absl::StatusOr<Model> model = ParseTensorFlow(bytes, {.outputs = outputs});
  if (!model.ok()) return model.status().ToString();
  if (const absl::Status s = ToIr(*model); !s.ok()) return s.ToString();
  if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
  const auto got = RunGraph(*model->graph, std::vector<Datum>(inputs.begin(), inputs.end()));
  if (!got.ok()) return got.status().ToString();
  ExportOptions options;
  options.check = true;
  if (const absl::Status s = FromIr(*model, "onnx", options); !s.ok()) return s.ToString();
  std::string text;
  for (const Datum& datum : *got) {
    StrAppend(&text, text.empty() ? "" : " ", AttributeText(Attribute(*datum.tensor())));
  }
  return text;
}

const std::vector<std::string> kWeights = {Constant("w", {2, 1}, {1, 10}),
                                           Constant("b", {1}, {0.5f})};
Tensor Batch() {
  const std::vector<float> values = {1, 2, 3, 4};
  return Tensor::Of<float>({2, 2}, absl::MakeConstSpan(values));
}

TEST(XlaCallModule, IsItsModule) {
  for (const std::string& module : {std::string(kDense), Artifact(kDense)}) {
    for (const int64_t batch : {-1, 2}) {
      const std::string graph =
          GraphDef({PlaceholderOf("x", {batch, 2}), kWeights[0], kWeights[1],
                    Call({"x", "w", "b"}, module, {{batch, 1}, {1}}), NodeDef("y", "Neg", {"call"}),
                    NodeDef("z", "Neg", {"call:1"})});
      EXPECT_EQ(Results(graph, {"y", "z", "call:1"}, {Batch()}),
                "tensor(float32[2,1]{-21.5, -43.5}) tensor(float32[1]{-0.5}) "
                "tensor(float32[1]{0.5})");
    }
  }
}

TEST(XlaCallModule, InAFunctionOfASavedModel) {
  const std::string graph = GraphDef(
      {PlaceholderOf("in", {-1, 2}), NodeDef("run", "StatefulPartitionedCall", {"in"},
                                             {{"f", FuncAttr("converted")}, {"Tout", Types({1})}})},
      {FunctionDef("converted", {{"x", kFloat}}, {{"out", kFloat}},
                   {kWeights[0], kWeights[1],
                    Call({"x", "w:output:0", "b:output:0"}, Artifact(kDense), {{-1, 1}, {1}}),
                    NodeDef("y", "Identity", {"call:output:0"})},
                   {{"out", "y:output:0"}})});
  const std::string saved = SavedModel(graph, "serving_default", {{"x", "in:0", kFloat, {-1, 2}}},
                                       {{"y", "run:0", kFloat, {-1, 1}}});
  EXPECT_EQ(Results(saved, {}, {Batch()}), "tensor(float32[2,1]{21.5, 43.5})");
}

std::string Paired(const std::string& call) {
  return Results(GraphDef({Constant("a", {2}, {5, 7}), Constant("b", {2}, {1, 2}), call}),
                 {"call"});
}

TEST(XlaCallModule, RunsOnTheCpuIfItCan) {
  const auto on = [](const std::vector<std::string>& platforms) {
    return Paired(Call({"a", "b"}, kPlatforms, {{2}}, {{"platforms", Strings(platforms)}}));
  };
  EXPECT_EQ(on({"CUDA", "CPU"}), "tensor(float32[2]{4, 5})");
  EXPECT_EQ(on({"TPU", "CUDA"}), "tensor(float32[2]{6, 9})");
  EXPECT_THAT(on({"CPU"}), HasSubstr("its module: it takes 3 tensors, but the node has 2"));
}

TEST(XlaCallModule, GivesWhatItIsGiven) {
  const std::string call = Call({"x"}, R"(
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<1xf32>) {
  %0 = stablehlo.constant dense<3.0> : tensor<1xf32>
  return %x, %x, %0 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<1xf32>
})",
                                {{2, 2}, {2, 2}, {1}});
  EXPECT_EQ(Results(GraphDef({PlaceholderOf("x", {2, 2}), call}), {"call", "call:1", "call:2"},
                    {Batch()}),
            "tensor(float32[2,2]{1, 2, 3, 4}) tensor(float32[2,2]{1, 2, 3, 4}) "
            "tensor(float32[1]{3})");
}

TEST(XlaCallModule, WhatIsRefused) {
  const auto with = [](const Attrs& others) {
    return Paired(Call({"a", "b"}, kSum, {{2}}, others));
  };
  EXPECT_EQ(with({}), "tensor(float32[2]{6, 9})");
  EXPECT_EQ(with({{"version", IntAttr(5)}}), "tensor(float32[2]{6, 9})");
  const struct {
    Attrs attrs;
    const char* want;
  } rows[] = {
      {{{"version", IntAttr(4)}}, "version 4 of its calling convention; 5 to 10 are read"},
      {{{"version", IntAttr(11)}}, "version 11 of its calling convention"},
      {{{"function_list", Functions("f")}}, "its module calls functions of TensorFlow"},
      {{{"dim_args_spec", Strings({"0.0"})}}, "sizes are arguments of its module"},
      {{{"has_token_input_output", Int(5, 1)}}, "effects that are in an order"},
      {{{"module", StringAttr("")}}, "its module: it is empty"},
      {{{"module", StringAttr("func.func @main(")}}, "its module: "},
      {{{"module", StringAttr("ML\xefR\x01")}}, "its module: "},
      {{{"module", StringAttr("func.func @f() { return }")}}, "no function 'main'"},
      {{{"Sout", Shapes({{3}})}},
       "its module: result 0 is float32[2], but the node says float32[3]"},
      {{{"Tout", Types({kInt32})}}, "but the node says int32[2]"},
      {{{"Tout", Types({kFloat, kFloat})}}, "it gives 1 tensors, but the node has 2 results"},
      {{{"new_attribute", IntAttr(1)}}, "new_attribute"},
  };
  for (const auto& row : rows) EXPECT_THAT(with(row.attrs), HasSubstr(row.want));
  EXPECT_THAT(Paired(Call({"a", "a"},
                          "func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) "
                          "-> tensor<2xf32> { return %a : tensor<2xf32> }",
                          {{2}})),
              HasSubstr("operand 1 is float32[2], but its argument is float32[3]"));
  EXPECT_THAT(Paired(Call({"a", "b"},
                          "func.func @main(%t: !stablehlo.token, %a: tensor<2xf32>, "
                          "%b: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }",
                          {{2}})),
              HasSubstr("effects that are in an order"));
  EXPECT_THAT(Paired(Call({"a", "b"},
                          "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> "
                          "{ %0 = stablehlo.custom_call @other(%a) : (tensor<2xf32>) -> "
                          "tensor<2xf32>\n return %0 : tensor<2xf32> }",
                          {{2}})),
              HasSubstr("a call of 'other'"));
}

}  // namespace
}  // namespace x2ir
