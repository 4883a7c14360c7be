// TensorFlow's files, made byte by byte.
#include "x2ir/formats/tensorflow/tensorflow.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tf_proto;  // NOLINT

// The graph as text, or the error.
std::string Read(const std::string& bytes, const TensorFlowOptions& options = {}) {
  absl::StatusOr<Model> model = ParseTensorFlow(bytes, options);
  if (!model.ok()) return model.status().ToString();
  if (const auto problems = model->graph->Validate(); !problems.empty()) return problems[0];
  return ToText(*model->graph);
}

std::string ConstOf(std::string_view name, int64_t type, const std::vector<int64_t>& dims,
                    std::string_view content) {
  return NodeDef(
      name, "Const", {},
      {{"dtype", TypeAttr(type)}, {"value", TensorAttr(TensorProto(type, dims, content))}});
}

TEST(TensorFlowGraph, NodesInputsAndResults) {
  const std::string graph = GraphDef({
      NodeDef("sum", "Add", {"x", "w", "^init"}, {{"T", TypeAttr(kFloat)}, {"_class", IntAttr(1)}}),
      PlaceholderOf("x", {-1, 2}),
      ConstOf("w", kFloat, {2}, Float(1) + Float(2)),
      NodeDef("parts", "Split", {"axis", "sum"}, {{"num_split", IntAttr(2)}}),
      ConstOf("axis", kInt32, {}, std::string(4, '\0')),
      NodeDef("init", "NoOp", {}),
  });
  EXPECT_EQ(Read(graph),
            "graph(x: float32[?,2]) -> (parts, \"parts:1\") {\n"
            "  w = float32[2]{1, 2}\n"
            "  axis = int32[]{0}\n"
            "  sum = tf.Add(x, w) { T = type(float32[...]) }\n"
            "  parts, \"parts:1\" = tf.Split(axis, sum) { num_split = 2 }\n"
            "}\n")
      << Read(graph);
  EXPECT_THAT(Read(graph, {.outputs = {"sum"}}), HasSubstr("-> (sum) {"));
  EXPECT_THAT(Read(graph, {.outputs = {"parts:1"}}), HasSubstr("-> (\"parts:1\") {"));
  EXPECT_THAT(Read(graph, {.outputs = {"nothing"}}), HasSubstr("there is no node 'nothing'"));
  EXPECT_THAT(Read(graph, {.outputs = {"x:7"}}), HasSubstr("it has no output 7"));
  EXPECT_THAT(Read(graph, {.signature = "s"}), HasSubstr("only SavedModels"));
}

// One value for many elements: small ones are written out, large ones said with an op.
TEST(TensorFlowGraph, RepeatedValues) {
  const auto splat = [](const std::vector<int64_t>& dims, std::string_view values) {
    return GraphDef({NodeDef("c", "Const", {},
                             {{"value", TensorAttr(Int(1, kInt32) + Bytes(2, ShapeProto(dims)) +
                                                   Bytes(7, values))}}),
                     NodeDef("y", "Neg", {"c"})});
  };
  EXPECT_THAT(Read(splat({4}, Varint(3) + Varint(5))), HasSubstr("c = int32[4]{3, 5, 5, 5}"));
  EXPECT_THAT(Read(splat({2, 2}, "")), HasSubstr("c = int32[2,2]{0, 0, 0, 0}"));
  EXPECT_THAT(Read(splat({0}, Varint(3))), HasSubstr("c = int32[0]{}"));
  EXPECT_THAT(Read(splat({1 << 20, 1 << 20}, Varint(7))),
              HasSubstr("c = tf.Fill(\"c:dims\", \"c:value\")"));
  EXPECT_THAT(Read(splat({1 << 20, 1 << 20}, Varint(7) + Varint(8))), HasSubstr("too large"));
  EXPECT_THAT(Read(splat({int64_t{1} << 40, int64_t{1} << 40}, Varint(7))), HasSubstr("too large"));
  EXPECT_THAT(Read(splat({-1}, Varint(7))), HasSubstr("shape is not known"));
}

TEST(TensorFlowGraph, TextSaysTheSame) {
  const std::string text = R"(# a graph
node { name: "x" op: 'Placeholder'
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } }
}
node <
  name: "w" op: "Const"
  attr { key: "value" value { tensor {
    dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
    tensor_content: "\000\000\200?\x00" "\x00\000@" } } }
  attr { key: "dtype" value: { type: DT_FLOAT } }
>
node { name: "c" op: "Const" attr { key: "value" value { tensor {
  dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1.5, -inf] float_val: 2e1f } } } }
node { name: "y" op: "Add" input: ["x", "w"], unknown { a: 1 [b.c]: < d: "e" > }
  attr { key: "flag" value { b: true } }; attr { key: "n" value { i: -0x10 } }
  attr { key: "l" value { list { i: 1 i: 02 } } } }
node { name: "z" op: "Neg" input: "c" }
versions { producer: 27 }
)";
  const std::string floats =
      Float(1.5) + Float(-std::numeric_limits<float>::infinity()) + Float(20);
  const std::string binary = GraphDef(
      {PlaceholderOf("x", {-1, 2}), ConstOf("w", kFloat, {2}, Float(1) + Float(2)),
       ConstOf("c", kFloat, {3}, floats),
       NodeDef("y", "Add", {"x", "w"},
               {{"flag", Int(5, 1)}, {"n", IntAttr(-16)}, {"l", Bytes(1, Int(3, 1) + Int(3, 2))}}),
       NodeDef("z", "Neg", {"c"})},
      {}, 27);
  EXPECT_EQ(Read(text), Read(binary)) << Read(text);
  EXPECT_THAT(Read(binary), HasSubstr("flag = 1, n = -16, l = [1, 2]"));
  for (const auto& [bad, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"node { name: \"x\"", "ends inside of a message"},
           {"node { name: \"x }", "a string is not terminated"},
           {"node { name: x }", "'name' cannot be x"},
           {"node: 3", "expected '{'"},
           {"versions { producer: \"a\" }", "is not a string"},
           {"node { name: \"\\q\" }", "unknown escape"},
           {"versions { producer: 99999999999999999999 }", "cannot be"},
           {"versions { producer: 2147483648 }", "cannot be"},
           {"versions { producer: -2147483649 }", "cannot be"},
           {"versions { producer: 08 }", "cannot be"},
           {"versions { producer [ 1 ] }", "expected ':'"},
           {"versions { producer: 1.5 }", "cannot be"},
           {"versions: [ 3 ]", "expected '{'"},
           {"node { name: \"\\x\" }", "hexadecimal"},
           {"node { name: \"\\u12\" }", "character's number"},
           {"node { name: \"\\U00110000\" }", "character's number"},
           {"node { name: \"a\nb\" }", "a string is not terminated"},
           {"node { [a.b: 3 }", "a name is not terminated"},
           {"node { attr: { value { type: DT_NOTHING } } }", "cannot be DT_NOTHING"},
           {"node { attr: { value { b: maybe } } }", "cannot be maybe"},
           {"node { attr: { value { i: 9223372036854775808 } } }", "cannot be"},
           {"node { attr: { value { tensor { uint64_val: -1 } } } }", "cannot be -1"},
           {"node { attr: { value { tensor { uint32_val: 4294967296 } } } }", "cannot be"},
           {"node { attr: { value { f: 1e } } }", "cannot be 1e"},
           {"node { attr: { value { f: one } } }", "cannot be one"},
           {"node { name: \"x\" >", "expected the name"}}) {
    EXPECT_THAT(Read(bad), HasSubstr(why)) << bad;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "node {";
  EXPECT_THAT(Read(deep), HasSubstr("too deeply"));
}

// Numbers of text are the nearest floats, to the bit; strings are bytes.
TEST(TensorFlowGraph, TextIsExact) {
  const auto floats = [](const std::string& type, const std::string& list, int n) {
    const auto model = ParseTensorFlow(
        StrCat("node { name: 'c' op: 'Const' attr [ { key: 'value' value { tensor { dtype: ", type,
               " tensor_shape { dim [ { size: ", n, " } ] } ", list, " } } } ] }",
               "node { name: 'y' op: 'Neg' input: 'c' }"));
    return model.ok() ? *model->graph->Find("c")->constant() : Tensor::Vector({});
  };
  const std::pair<const char*, float> numbers[] = {{"1.17549435e-38", 0x1p-126f},
                                                   {"1e-45", 0x1p-149f},
                                                   {"-0.0", -0.0f},
                                                   {"-0", -0.0f},
                                                   {"0.1f", 0.1f},
                                                   {"16777217", 16777216.0f},
                                                   {"3.40282347e+38", 0x1.fffffep127f},
                                                   {"1e39", INFINITY},
                                                   {"-INF", -INFINITY},
                                                   {"1e-60", 0.0f},
                                                   {".5", 0.5f},
                                                   {"5.", 5.0f},
                                                   {"0x10", 16.0f}};
  for (const auto& [text, value] : numbers) {
    EXPECT_TRUE(floats("DT_FLOAT", StrCat("float_val: ", text), 1) ==
                Tensor::Of<float>({1}, {value}))
        << text;
  }
  EXPECT_TRUE(std::isnan(floats("DT_FLOAT", "float_val: nan", 1).AsDouble(0)));
  EXPECT_TRUE(floats("DT_DOUBLE", "double_val: [ 0.1, -5e-324, 1e400 ]", 3) ==
              Tensor::Of<double>({3}, {0.1, -5e-324, INFINITY}));
  EXPECT_TRUE(floats("2", "double_val: 9007199254740993", 1) ==
              Tensor::Of<double>({1}, {9007199254740992.0}));
  EXPECT_TRUE(floats("DT_UINT64", "uint64_val: 18446744073709551615", 1) ==
              Tensor::Of<uint64_t>({1}, {UINT64_MAX}));
  EXPECT_TRUE(floats("DT_INT64", "int64_val: [-9223372036854775808, 017, 0X1f]", 3) ==
              Tensor::Of<int64_t>({3}, {INT64_MIN, 15, 31}));
  EXPECT_TRUE(floats("DT_BOOL", "bool_val: [true, False, 1, f]", 4) ==
              Tensor::Of<bool>({4}, {true, false, true, false}));
  const Tensor text =
      floats("DT_STRING",
             R"(string_val: ['\a\b\f\n\r\t\v\\\'\"\?' "\0\1234\x4A\xg", "\u00e9\U0001F600"])", 2);
  EXPECT_EQ(text.num_elements(), 0);  // "\xg" is no escape
  const Tensor right = floats("DT_STRING", R"(string_val: ['\a\b\f\n\r\t\v\\\'\"\?' # here
      "\0\1234\x4A", "\u00e9\U0001F600"])",
                              2);
  ASSERT_EQ(right.num_elements(), 2);
  EXPECT_EQ(right.strings()[0], std::string("\a\b\f\n\r\t\v\\'\"?\0S4J", 15));
  EXPECT_EQ(right.strings()[1], "\xc3\xa9\xf0\x9f\x98\x80");
}

TEST(TensorFlowGraph, FunctionsAndBranches) {
  const std::vector<std::string> functions = {
      FunctionDef("twice", {{"a", kFloat}}, {{"r", kFloat}}, {NodeDef("t", "Add", {"a", "a"})},
                  {{"r", "t:z:0"}}),
      FunctionDef("top", {{"a", kFloat}}, {{"v", kFloat}},
                  {NodeDef("k", "TopKV2", {"a", "a"}), NodeDef("c", "Cast", {"k:indices:0"})},
                  {{"v", "c:y:0"}}),
  };
  const std::string graph = GraphDef(
      {PlaceholderOf("x", {2}), NodeDef("p", "Placeholder", {}, {{"dtype", TypeAttr(kBool)}}),
       NodeDef("call", "PartitionedCall", {"x"},
               {{"f", FuncAttr("twice")}, {"Tout", Bytes(1, Int(6, kFloat))}}),
       NodeDef("if", "StatelessIf", {"p", "call"},
               {{"then_branch", FuncAttr("twice")}, {"else_branch", FuncAttr("top")}})},
      functions);
  const std::string text = Read(graph);
  EXPECT_THAT(text, HasSubstr("call: float32[...] = tf.twice(x)"));
  EXPECT_THAT(text, HasSubstr("t: float32[...] = tf.Add(call, call)"));
  EXPECT_THAT(text, HasSubstr("k, \"k:1\" = tf.TopKV2(call, call)"));
  EXPECT_THAT(text, HasSubstr("= tf.StatelessIf(p)"));
  // A function that is its own branch has no end.
  const std::string endless = GraphDef(
      {PlaceholderOf("x", {2}),
       NodeDef("if", "If", {"x", "x"},
               {{"then_branch", FuncAttr("f")}, {"else_branch", FuncAttr("f")}})},
      {FunctionDef("f", {{"a", kFloat}}, {{"r", kFloat}},
                   {NodeDef("i", "If", {"a", "a"},
                            {{"then_branch", FuncAttr("f")}, {"else_branch", FuncAttr("f")}})},
                   {{"r", "i:output:0"}})});
  EXPECT_THAT(Read(endless),
              testing::AnyOf(HasSubstr("nested more than"), HasSubstr("too many nodes")));
}

// What would change a variable before a result is not forgotten.
TEST(TensorFlowGraph, SideEffectsStay) {
  const std::string graph = GraphDef({
      NodeDef("v", "VarHandleOp", {}),
      PlaceholderOf("x", {}),
      NodeDef("set", "AssignVariableOp", {"v", "x"}),
      NodeDef("check", "Assert", {"x"}),
      NodeDef("read", "ReadVariableOp", {"v", "^set", "^check"}),
  });
  EXPECT_THAT(Read(graph), HasSubstr("tf.AssignVariableOp(v, x)"));
  EXPECT_THAT(Read(graph), Not(HasSubstr("Assert")));
}

TEST(TensorFlowGraph, Hostile) {
  EXPECT_THAT(Read(""), HasSubstr("DATA_LOSS"));
  EXPECT_THAT(Read(GraphDef({})), HasSubstr("no node of the graph is a result"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a", "Neg", {"b"})})), HasSubstr("there is no node 'b'"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a", "Neg", {}), NodeDef("a", "Neg", {})})),
              HasSubstr("two nodes"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a:1", "Neg", {})})), HasSubstr("has the name 'a:1'"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a", "Neg", {"b:99999999999"}), NodeDef("b", "Neg", {})})),
              HasSubstr("not an output"));
  std::vector<std::string> wide;
  for (int i = 0; i < 100; ++i) {
    wide.push_back(NodeDef("s" + std::to_string(i), "Split", {}));
    wide.push_back(NodeDef("n" + std::to_string(i), "Neg", {"s" + std::to_string(i) + ":65535"}));
  }
  EXPECT_THAT(Read(GraphDef(wide)), HasSubstr("too many outputs"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a", "Neg", {"c"}),
                             NodeDef("c", "Const", {}, {{"value", IntAttr(3)}})})),
              HasSubstr("not a tensor"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a", "Neg", {"c"}), ConstOf("c", kFloat, {3}, "abc")})),
              HasSubstr("expected 12"));
  EXPECT_THAT(Read(GraphDef({NodeDef("a", "Neg", {"c"}), ConstOf("c", kResource, {}, "")})),
              HasSubstr("DT_RESOURCE"));
  // A graph cut off anywhere, or with any byte changed, is an error or some graph.
  const std::string graph = GraphDef(
      {PlaceholderOf("x", {-1, 2}), ConstOf("w", kFloat, {2}, Float(1) + Float(2)),
       NodeDef("y", "call", {"x", "w"}, {{"f", FuncAttr("f")}})},
      {FunctionDef(
          "call", {{"a", kFloat}, {"b", kFloat}}, {{"r", kFloat}},
          {NodeDef("s", "If", {"a", "b"},
                   {{"then_branch", FuncAttr("call")}, {"else_branch", FuncAttr("call")}})},
          {{"r", "s:output:0"}})});
  for (size_t i = 0; i < graph.size(); ++i) {
    Read(graph.substr(0, i));
    for (const int flip : {1, 8, 64, 128}) {
      std::string changed = graph;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      Read(changed);
    }
  }
}

bool Looks(const std::string& bytes) {
  return LooksLikeTensorFlow(
      {reinterpret_cast<const std::byte*>(bytes.data()), std::min<size_t>(bytes.size(), 4096)},
      bytes.size());
}

TEST(TensorFlowFormat, IsToldFromOthers) {
  const std::string graph = GraphDef({PlaceholderOf("x", {2}), NodeDef("y", "Neg", {"x"})});
  const std::string saved = SavedModel(graph, "s", {}, {});
  for (const std::string& bytes : {graph, saved, std::string("node {\n name: \"x\" }"),
                                   std::string("# text\nsaved_model_schema_version: 1")}) {
    EXPECT_TRUE(Looks(bytes));
    EXPECT_FALSE(LooksLikeOnnx({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
                               bytes.size()));
  }
  // An ONNX model begins with its version and who made it.
  const std::string onnx = Int(1, 8) + Bytes(2, "pytorch") + Bytes(7, Bytes(2, "g"));
  EXPECT_FALSE(Looks(onnx));
  EXPECT_FALSE(Looks(Int(1, 1) + Bytes(2, "pytorch") + Bytes(7, Bytes(2, "g"))));
  for (const char* other : {"", "{\"format\": \"x2ir\"}", "PK\3\4", "nodes", "\n"}) {
    EXPECT_FALSE(Looks(other)) << other;
  }
}

}  // namespace
}  // namespace x2ir
