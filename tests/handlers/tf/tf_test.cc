// TensorFlow's ops as IR: graphs in text form on the one side, IR as text on the other.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Placeholder(std::string_view name, std::string_view dtype,
                        const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t dim : dims) StrAppend(&shape, " dim { size: ", dim, " }");
  return StrCat("node { name: '", name,
                "' op: 'Placeholder' attr { key: 'dtype' value { type: ", dtype,
                " } } attr { key: 'shape' value { shape {", shape, " } } } }\n");
}

std::string Ints(std::string_view name, const std::vector<int64_t>& values, bool scalar = false) {
  std::string text;
  for (const int64_t value : values) StrAppend(&text, " int_val: ", value);
  return StrCat(
      "node { name: '", name,
      "' op: 'Const' attr { key: 'value' value { tensor { dtype: ", "DT_INT32 tensor_shape {",
      scalar ? "" : StrCat(" dim { size: ", values.size(), " }"), " }", text, " } } } }\n");
}

// "y: Op(a, b)" with attributes in text form: "axis { i: 1 } T { type: DT_FLOAT }".
struct Attr {
  std::string_view name, value;
};
std::string Op(std::string_view op, const std::vector<std::string>& inputs,
               const std::vector<Attr>& attrs = {}, std::string_view name = "y") {
  std::string text = StrCat("node { name: '", name, "' op: '", op, "'");
  for (const std::string& input : inputs) StrAppend(&text, " input: '", input, "'");
  for (const Attr& attr : attrs) {
    StrAppend(&text, " attr { key: '", attr.name, "' value { ", attr.value, " } }");
  }
  return text + " }\n";
}

// The graph as IR, or the error.
std::string Convert(const std::string& text) {
  return tf_proto::ImportedText(text + "versions { producer: 1000 }");
}

// A constant that differs from element to element.
std::string Weights(std::string_view name, const std::vector<int64_t>& dims) {
  std::string shape, values;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    StrAppend(&shape, " dim { size: ", dim, " }");
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) StrAppend(&values, i == 0 ? "" : ", ", 0.25 * (i % 7));
  return StrCat("node { name: '", name,
                "' op: 'Const' attr { key: 'value' value { tensor { dtype: ",
                "DT_FLOAT tensor_shape {", shape, " } float_val: [", values, "] } } } }\n");
}

struct Row {
  std::string graph;
  std::vector<std::string> parts;  // of the IR, or of the error
};

const std::string kX = Placeholder("x", "DT_FLOAT", {2, 8, 8, 4});

TEST(Tf, Rows) {
  const Row rows[] = {
      {kX + Op("Relu", {"x"}, {{"T", "type: DT_FLOAT"}, {"_note", "i: 3"}}),
       {"y: float32[2,8,8,4] = relu(x)"}},
      {kX + Op("Relu", {"x"}, {{"strange", "i: 3"}}), {"attribute 'strange' = 3"}},
      {kX + Op("Rsqrt", {"x"}, {{"strange", "i: 3"}}), {"attribute 'strange' = 3 is not known"}},
      {kX + Op("Rsqrt", {}), {"operand 0 is missing"}},
      // Variables, and what writes to them.
      {Op("VarHandleOp", {}, {}, "v") + Op("ReadVariableOp", {"v"}),
       {"tf.VarHandleOp (1 node)", "no value in this file"}},
      {kX + Op("VarHandleOp", {}, {}, "v") + Op("AssignAddVariableOp", {"v", "x"}, {}, "w") +
           Op("ReadVariableOp", {"v", "^w"}),
       {"tf.AssignAddVariableOp (1 node)", "'w'"}},
      {kX + Op("VarHandleOp", {}, {}, "v") + Op("ResourceScatterUpdate", {"v", "x", "x"}, {}, "w") +
           Op("ReadVariableOp", {"v", "^w"}),
       {"tf.ResourceScatterUpdate (1 node)", "'w'"}},
      {kX + Op("NoSuchOp", {"x"}), {"tf.NoSuchOp (1 node): no mapping to IR"}},
      {kX + Op("NoSuchOp", {"x"}) + Op("FloorMod", {"y", "y"}, {}, "z"),
       {"cannot convert to IR: 1 op"}},
      {kX + Op("Relu", {"x"}) + Op("Neg", {"y:3"}, {}, "z"), {"error"}},
      // Layout and padding.
      {kX + Op("MaxPool", {"x"},
               {{"ksize", "list { i: [1, 2, 2, 1] }"},
                {"strides", "list { i: [1, 2, 2, 1] }"},
                {"padding", "s: 'SAME'"}}),
       {"y: float32[2,4,4,4] = max_pool(x)", "layout = \"channels_last\"",
        "auto_pad = \"SAME_UPPER\""}},
      {kX + Op("MaxPool", {"x"},
               {{"ksize", "list { i: [1, 2, 2, 2] }"},
                {"strides", "list { i: [1, 2, 2, 1] }"},
                {"padding", "s: 'SAME'"}}),
       {"attribute 'ksize' is 2 for the batch or the channels"}},
      {kX + Op("AvgPool", {"x"},
               {{"ksize", "list { i: [1, 1, 2, 2] }"},
                {"strides", "list { i: [1, 1, 2, 2] }"},
                {"data_format", "s: 'NCHW'"},
                {"padding", "s: 'VALID'"}}),
       {"y: float32[2,8,4,2] = average_pool(x)", "layout = \"channels_first\""}},
      {kX + Placeholder("w", "DT_FLOAT", {3, 3, 2, 6}) +
           Op("Conv2D", {"x", "w"},
              {{"strides", "list { i: [1, 1, 1, 1] }"},
               {"padding", "s: 'EXPLICIT'"},
               {"explicit_paddings", "list { i: [0, 0, 1, 2, 3, 0, 0, 0] }"}}),
       {"float32[6,2,3,3] = transpose(w)", "y: float32[2,9,9,6] = conv(x, ", "group = 2",
        "pads = [1, 3, 2, 0]"}},
      {kX + Placeholder("w", "DT_FLOAT", {3, 3, 4, 2}) +
           Op("DepthwiseConv2dNative", {"x", "w"},
              {{"strides", "list { i: [1, 1, 1, 1] }"}, {"padding", "s: 'VALID'"}}),
       {"y: float32[2,6,6,8] = conv(x, ", "group = 4"}},
      // Slices with every mask: x[1, ..., newaxis, ::-1].
      {kX + Ints("b", {1, 0, 0, 0}) + Ints("e", {2, 0, 0, 0}) + Ints("s", {1, 1, 1, -1}) +
           Op("StridedSlice", {"x", "b", "e", "s"},
              {{"shrink_axis_mask", "i: 1"},
               {"ellipsis_mask", "i: 2"},
               {"new_axis_mask", "i: 4"},
               {"begin_mask", "i: 8"},
               {"end_mask", "i: 8"}}),
       {"y: float32[8,8,1,4] = unsqueeze("}},
      {kX + Ints("b", {9}) + Ints("e", {10}) + Ints("s", {1}) +
           Op("StridedSlice", {"x", "b", "e", "s"}, {{"shrink_axis_mask", "i: 1"}}),
       {"index 9 of an axis of 2"}},
      {kX + Ints("a", {-1}, true) + Op("Split", {"a", "x"}, {{"num_split", "i: 2"}}),
       {"\"y:1\": float32[2,8,8,2]", "= split(x) { axis = -1 }"}},
      {kX + Ints("a", {}) + Op("Sum", {"x", "a"}),
       {"noop_with_empty_axes = 1", "y: float32[2,8,8,4]"}},
      {Placeholder("p", "DT_COMPLEX64", {3}) + Op("Real", {"p"}), {"no Fourier transform gave"}},
      {Placeholder("p", "DT_QUINT8", {3}) + Ints("s", {3, 1}) + Op("Reshape", {"p", "s"}),
       {"p: uint8[3]", "y: uint8[3,1] = reshape("}},
      {"node { name: 'c' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_QINT16 "
       "tensor_shape { dim { size: 2 } } int_val: [-3, 4] } } } }\n" +
           Op("Cast", {"c"}, {{"SrcT", "type: DT_QINT16"}, {"DstT", "type: DT_QINT32"}}),
       {"int16[2]{-3, 4}", "y: int32[2] = cast(c)"}},
      {Placeholder("p", "DT_INT32", {3}) + Placeholder("q", "DT_INT64", {3}) +
           Op("Add", {"p", "q"}),
       {"INVALID_ARGUMENT"}},
  };
  for (const Row& row : rows) {
    const std::string got = Convert(row.graph);
    for (const std::string& part : row.parts) {
      if (part == "error") {
        EXPECT_THAT(got, HasSubstr("INVALID_ARGUMENT")) << row.graph;
      } else {
        EXPECT_THAT(got, HasSubstr(part)) << row.graph;
      }
    }
  }
}

// What nodes become, one after the other, has no Transposes between.
TEST(Tf, ChannelsLastNetworksHaveNoTransposesBetween) {
  const std::string window = "list { i: [1, 1, 1, 1] }";
  const std::string graph =
      kX + Weights("w", {3, 3, 4, 4}) + Weights("b", {4}) +
      Op("Conv2D", {"x", "w"}, {{"strides", window}, {"padding", "s: 'SAME'"}}, "c1") +
      Op("BiasAdd", {"c1", "b"}, {}, "b1") + Op("Relu", {"b1"}, {}, "r1") +
      Op("Conv2D", {"r1", "w"}, {{"strides", window}, {"padding", "s: 'SAME'"}}, "c2") +
      Op("AddV2", {"c2", "r1"}, {}, "a2");
  absl::StatusOr<Model> model = ParseTensorFlow(graph + "versions { producer: 1000 }");
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(ToIr(*model).ok());
  const absl::Status s = FromIr(*model, "onnx", {.opset = 18});
  ASSERT_TRUE(s.ok()) << s;
  int on_activations = 0;
  for (const Node* node : model->graph->nodes()) {
    on_activations += node->op() == Symbol("Transpose") && node->input(0)->name() != "w";
  }
  EXPECT_EQ(on_activations, 2) << ToText(*model->graph);
}

// A function's body stands in the place of its call, a branch in its if.
TEST(Tf, FunctionsAreInlined) {
  const std::string library = R"(library { function {
    signature { name: 'scale' input_arg { name: 'a' type: DT_FLOAT }
                input_arg { name: 'v' type: DT_RESOURCE }
                output_arg { name: 'r' type: DT_FLOAT } attr { name: 'to' type: 'type' } }
    node_def { name: 'read' op: 'ReadVariableOp' input: 'v' }
    node_def { name: 'cast' op: 'Cast' input: 'a' attr { key: 'DstT' value { placeholder: 'to' } } }
    node_def { name: 'm' op: 'Mul' input: 'cast:y:0' input: 'read:value:0' }
    ret { key: 'r' value: 'm:z:0' } } })";
  const std::string got = Convert(kX + Placeholder("v", "DT_FLOAT", {4}) +
                                  Op("scale", {"x", "v"}, {{"to", "type: DT_FLOAT"}}) + library);
  EXPECT_THAT(got, HasSubstr("y: float32[2,8,8,4] = mul("));
  EXPECT_THAT(got, Not(HasSubstr("tf.")));
}

// Every form of this dialect goes some way, and names an IR op.
TEST(Tf, FormsNameOpsOfTheIr) {
  for (const Form* form : AllForms("tf")) {
    EXPECT_TRUE(form->imports || form->exports) << form->op.view();
    EXPECT_NE(FindOp(form->ir_op), nullptr) << form->op.view();
  }
}

}  // namespace
}  // namespace x2ir
