// TensorFlow's files that mean harm: each is an error that says what is wrong, or some graph, in a
// time and a memory that its size allows.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/formats/tf_proto_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using namespace tf_proto;  // NOLINT

constexpr int kMany = 100000;

std::string N(int i, std::string_view prefix = "n") { return StrCat(prefix, i); }
std::string X() {
  return NodeDef("x", "Placeholder", {}, {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr({2})}});
}
std::string ConstOf(std::string_view name, std::string_view tensor) {
  return NodeDef(name, "Const", {}, {{"value", TensorAttr(tensor)}});
}
// y = -c for a constant of that TensorProto.
std::string OfTensor(std::string_view tensor) {
  return GraphDef({ConstOf("c", tensor), NodeDef("y", "Neg", {"c"})});
}

struct Row {
  std::string graph;
  const char* error;
};

TEST(TensorFlowHostile, Edges) {
  for (const Row& row : std::vector<Row>{
           {GraphDef({NodeDef("a", "Neg", {"b"}), NodeDef("b", "Neg", {"a"}),
                      NodeDef("y", "Neg", {"b"})}),
            "cycle"},
           {GraphDef({NodeDef("a", "Neg", {"a"}), NodeDef("y", "Neg", {"a"})}), "cycle"},
           {GraphDef({X(), NodeDef("m", "Merge", {"x", "n"}), NodeDef("n", "Neg", {"m"}),
                      NodeDef("y", "Neg", {"n"})}),
            "cycle"},
           {GraphDef({X(), NodeDef("a", "Neg", {"x", "^b"}), NodeDef("b", "Neg", {"x", "^a"})}),
            "= neg(x)"},  // only an order, which nobody keeps
           {GraphDef({NodeDef("y", "Neg", {"z"})}), "there is no node 'z'"},
           {GraphDef({NodeDef("y", "Neg", {"z:0"})}), "there is no node 'z'"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x", "^z"})}), "there is no node 'z'"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x:1"})}), "Placeholder 'x': it has no output 1"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x:-1"})}), "'x:-1' is not an output"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x:"})}), "'x:' is not an output"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x:0:0"})}), "'x:0:0' is not an output"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x:18446744073709551616"})}), "is not an output"},
           {GraphDef({X(), NodeDef("y", "Neg", {""})}), "there is no node ''"},
           {GraphDef({X(), NodeDef("y", "Neg", {"^"})}), "there is no node ''"},
           {GraphDef({X(), NodeDef("a", "Neg", {"x"}), NodeDef("y", "Neg", {"a:1"})}),
            "too many outputs"},
           {GraphDef({X(), NodeDef("y", "Neg", {})}), "too few operands"},
           {GraphDef({X(), NodeDef("y", "Neg", {"x", "x"})}), "Neg"},
           {GraphDef({X(), X()}), "two nodes have the name 'x'"},
           {GraphDef({NodeDef("", "Neg", {})}), "has the name ''"},
           {GraphDef({NodeDef("^y", "Neg", {})}), "has the name '^y'"},
           {GraphDef({X(), NodeDef("y", "", {"x"})}), "node 'y' has no op"},
           {GraphDef({X(), NodeDef("y", "Neg\n\x1b[31m", {"x"})}), "cannot convert"}}) {
    EXPECT_THAT(ImportedText(row.graph), HasSubstr(row.error));
  }
  // Names may have other odd characters.
  const std::string odd("\xff\n\t \"'\\{}\0.", 11);
  EXPECT_THAT(ImportedText(GraphDef({X(), NodeDef(odd, "Neg", {"x"}), NodeDef("y", "Abs", {odd})})),
              HasSubstr("= abs("));
}

TEST(TensorFlowHostile, Tensors) {
  const auto head = [](int64_t type, const std::vector<int64_t>& dims) {
    return Int(1, type) + Bytes(2, ShapeProto(dims));
  };
  const std::string content = Bytes(4, std::string(8, '\0'));
  constexpr int64_t k40 = int64_t{1} << 40;
  for (const Row& row : std::vector<Row>{
           {head(kFloat, {3}) + content, "has 8 bytes; expected 12"},
           {head(kFloat, {1}) + content, "has 8 bytes; expected 4"},
           {head(kFloat, {0}) + content, "has 8 bytes; expected 0"},
           {head(kFloat, {k40, k40}) + content, "too large"},
           {head(kFloat, {INT64_MAX}), "too large"},
           {head(kFloat, {INT64_MAX, 0}), "neg("},  // nothing at all
           {head(kFloat, {-1}) + content, "shape is not known"},
           {head(kFloat, {-2}) + content, "has the dim -2"},
           {head(kFloat, {INT64_MIN}) + content, "has the dim"},
           {Int(1, kFloat) + Bytes(2, Int(3, 1)) + content, "shape is not known"},
           {head(0, {2}) + content, "type 0"},
           {head(99, {2}) + content, "type 99"},
           {head(-1, {2}) + content, "type -1"},
           {head(INT64_MIN, {2}) + content, "type -9223372036854775808"},
           {head(INT64_MAX, {2}) + content, "which x2ir does not have"},
           {head(kResource, {2}) + content, "DT_RESOURCE"},
           {head(kString, {2}) + content, "strings as tensor_content"},
           {head(kFloat, {2}) + Bytes(5, "abc"), "DATA_LOSS"},
           {head(kFloat, {1}) + Bytes(5, Float(1) + Float(2)), "{1}"},  // what is too much goes
           {head(8, {1}) + Bytes(9, Float(1)), "an incomplete complex number"},
           {head(kFloat, std::vector<int64_t>(300, 1)), "more than 254 dims"},
           {Int(2, 3), "DATA_LOSS"}}) {
    EXPECT_THAT(ImportedText(OfTensor(row.graph)), HasSubstr(row.error)) << row.error;
  }
  // A small file that claims much, many times.
  std::vector<std::string> nodes;
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    nodes.push_back(ConstOf(N(i), head(kFloat, {1 << 20}) + Bytes(5, Float(1) + Float(2))));
    names.push_back(N(i));
  }
  nodes.push_back(NodeDef("y", "AddN", names));
  EXPECT_THAT(ImportedText(GraphDef(nodes)), HasSubstr("too large to be filled with the last one"));
}

TEST(TensorFlowHostile, Attributes) {
  const auto of = [](const std::string& op, const Attrs& attrs,
                     const std::vector<std::string>& inputs = {"x"}) {
    return GraphDef({X(), NodeDef("y", op, inputs, attrs)});
  };
  for (const Row& row : std::vector<Row>{
           {of("Cast", {{"DstT", ShapeAttr({2})}}), "DstT"},
           {of("Cast", {{"DstT", IntAttr(1)}}), "'DstT': expected a type"},
           {of("Cast", {{"DstT", TypeAttr(99)}}), "DstT"},
           {of("Cast", {{"DstT", ""}}), "it has 0 values"},
           {of("Cast", {{"DstT", TypeAttr(kFloat) + IntAttr(1)}}), "it has 2 values"},
           {of("LeakyRelu", {{"alpha", IntAttr(1)}}), "'alpha': expected float, got int"},
           {of("Elu", {{"surprise", IntAttr(1)}}), "surprise"},
           {of("Neg", {{"T", Bytes(1, Int(3, 1) + Bytes(2, "s"))}}), "a list of several kinds"},
           {of("Neg", {{"T", Bytes(9, "U")}}), "refers to 'U'"},
           {of("StatelessIf", {{"then_branch", IntAttr(1)}}), "then_branch"},
           {of("StatelessIf", {}, {}), "it has no condition"},
           {of("PartitionedCall", {{"f", FuncAttr("nobody")}}), "PartitionedCall"},
           {of("PartitionedCall", {{"f", IntAttr(1)}}), "PartitionedCall"},
           {GraphDef({NodeDef("x", "Placeholder", {}, {{"dtype", ShapeAttr({1})}}),
                      NodeDef("y", "Neg", {"x"})}),
            "'dtype' is not a type"},
           {GraphDef({NodeDef("x", "Placeholder", {},
                              {{"dtype", TypeAttr(kFloat)}, {"shape", TypeAttr(kFloat)}}),
                      NodeDef("y", "Neg", {"x"})}),
            "'shape' is not a shape"},
           {GraphDef({NodeDef("c", "Const", {}, {{"value", Bytes(8, "\xff")}}),
                      NodeDef("y", "Neg", {"c"})}),
            "DATA_LOSS"}}) {
    EXPECT_THAT(ImportedText(row.graph), HasSubstr(row.error)) << row.error;
  }
  Attrs many;
  for (int i = 0; i < 2000; ++i) many.emplace_back(N(i), IntAttr(i));
  EXPECT_THAT(ImportedText(of("Neg", many)), HasSubstr("it has 2000 attributes"));
  // Splits into as many as a number says.
  EXPECT_THAT(ImportedText(GraphDef(
                  {X(), ConstOf("a", TensorProto(kInt32, {}, std::string(4, '\0'))),
                   NodeDef("y", "Split", {"a", "x"}, {{"num_split", IntAttr(INT64_MAX)}})})),
              Not(HasSubstr("graph(")));
  EXPECT_THAT(ImportedText(GraphDef({X(), NodeDef("y", "Unpack", {"x"}, {{"num", IntAttr(-5)}})})),
              HasSubstr("is a result"));
}

// One function for each of many, and everything for itself.
TEST(TensorFlowHostile, Functions) {
  const std::vector<Arg> in = {{"a", kFloat}}, out = {{"r", kFloat}};
  const auto calls = [&](const std::string& name, const std::string& callee) {
    return FunctionDef(name, in, out, {NodeDef("c", callee, {"a"})}, {{"r", "c:r:0"}});
  };
  const auto top = [](const std::string& callee, const std::vector<std::string>& functions) {
    return GraphDef({X(), NodeDef("y", callee, {"x"})}, functions);
  };
  const std::string leaf =
      FunctionDef("leaf", in, out, {NodeDef("c", "Neg", {"a"})}, {{"r", "c:y:0"}});
  for (const Row& row : std::vector<Row>{
           {top("f", {calls("f", "f")}), "f"},
           {top("f", {calls("f", "g"), calls("g", "f")}), "f"},
           {top("f", {calls("f", "leaf"), leaf, leaf}), "two functions have the same name"},
           {top("leaf", {FunctionDef("leaf", in, out, {}, {})}), "output 'r' is not given"},
           {top("leaf", {FunctionDef("leaf", in, out, {}, {{"r", "b"}})}), "there is no node 'b'"},
           {top("leaf", {FunctionDef("leaf", in, out, {}, {{"r", "a:1"}})}), "is not an argument"},
           {top("leaf",
                {FunctionDef("leaf", {{"a", kFloat}, {"a", kFloat}}, out, {}, {{"r", "a"}})}),
            "two arguments or nodes have the name 'a'"},
           {top("leaf", {FunctionDef("leaf", in, out, {NodeDef("a", "Neg", {"a"})}, {{"r", "a"}})}),
            "two arguments or nodes have the name 'a'"},
           {top("leaf", {FunctionDef("leaf", in, out, {NodeDef("c", "TopKV2", {"a", "a"})},
                                     {{"r", "c:nothing:0"}})}),
            "is not an output of a TopKV2"},
           {top("leaf", {FunctionDef("leaf", in, out, {NodeDef("c", "TopKV2", {"a", "a"})},
                                     {{"r", "c:values:1"}})}),
            "is not an output of a TopKV2"},
           {top("leaf", {FunctionDef("leaf", in, out, {NodeDef("c", "Neg", {"a"})}, {{"r", "c"}})}),
            "'c' is not an output"},
           {GraphDef({X(), NodeDef("y", "leaf", {"x", "x"})}, {leaf}), "leaf"},
           {GraphDef({X(), NodeDef("z", "leaf", {"x"}), NodeDef("y", "Neg", {"z:1"})}, {leaf}),
            "the function has no output 1"},
           {GraphDef({X(), NodeDef("y", "StatelessIf", {"x", "x", "x"},
                                   {{"then_branch", FuncAttr("leaf")},
                                    {"else_branch", FuncAttr("leaf")}})},
                     {leaf}),
            "it gets 2 arguments; expected 1"},
           {GraphDef({X(), NodeDef("y", "StatelessIf", {"x", "x"},
                                   {{"then_branch", FuncAttr("nobody")},
                                    {"else_branch", FuncAttr("leaf")}})},
                     {leaf}),
            "there is no function 'nobody'"}}) {
    EXPECT_THAT(ImportedText(row.graph), HasSubstr(row.error)) << row.error;
    EXPECT_THAT(ImportedText(row.graph), Not(HasSubstr("graph("))) << row.error;
  }
  // Each calls the next, a hundred thousand deep; and each twice, sixty deep.
  std::vector<std::string> chain;
  for (int i = 0; i < kMany; ++i) chain.push_back(calls(N(i), i + 1 < kMany ? N(i + 1) : "Neg"));
  EXPECT_THAT(ImportedText(top("n0", chain)), HasSubstr("more than 200 deep"));
  std::vector<std::string> doubling;
  for (int i = 0; i < 60; ++i) {
    const std::string next = i + 1 < 60 ? N(i + 1) : "leaf";
    doubling.push_back(FunctionDef(N(i), in, out,
                                   {NodeDef("c", next, {"a"}), NodeDef("d", next, {"c:r:0"})},
                                   {{"r", "d:r:0"}}));
  }
  doubling.push_back(leaf);
  const std::string got = ImportedText(top("n0", doubling));
  EXPECT_THAT(got, HasSubstr("n0"));
  EXPECT_THAT(got, Not(HasSubstr("graph(")));
}

// Chains of a hundred thousand nodes: no recursion, nothing quadratic.
TEST(TensorFlowHostile, LongChains) {
  std::vector<std::string> waits = {X(), NodeDef("n0", "NoOp", {})};
  std::vector<std::string> data = {X(), NodeDef("n0", "Identity", {"x"})};
  std::vector<std::string> asserts = {X(), NodeDef("n0", "Assert", {"x"})};
  for (int i = 1; i < kMany; ++i) {
    waits.push_back(NodeDef(N(i), "NoOp", {"^" + N(i - 1)}));
    data.push_back(NodeDef(N(i), "Identity", {N(i - 1)}));
    asserts.push_back(NodeDef(N(i), "Assert", {"x", "^" + N(i - 1)}));
  }
  const std::string last = N(kMany - 1);
  const std::string wait = NodeDef("y", "Neg", {"x", "^" + last});
  for (auto* nodes : {&waits, &asserts}) {
    nodes->push_back(wait);
    EXPECT_THAT(ImportedText(GraphDef(*nodes)), HasSubstr("= neg(x)"));
  }
  data.push_back(NodeDef("y", "Neg", {last}));
  EXPECT_THAT(ImportedText(GraphDef(data)), HasSubstr("neg("));
  // The same where a branch of TensorFlow 1 hangs on it.
  data.back() = NodeDef("s", "Switch", {last, "p"});
  data.push_back(NodeDef("p", "Placeholder", {}, {{"dtype", TypeAttr(kBool)}}));
  data.push_back(NodeDef("t0", "Identity", {"s:1"}));
  for (int i = 1; i < kMany; ++i) data.push_back(NodeDef(N(i, "t"), "Identity", {N(i - 1, "t")}));
  data.push_back(NodeDef("y", "Merge", {"s", N(kMany - 1, "t")}));
  EXPECT_THAT(ImportedText(GraphDef(data)), HasSubstr("if("));
}

// Branches of TensorFlow 1 in each other, as deep as the file says.
TEST(TensorFlowHostile, DeepBranches) {
  constexpr int kDeep = 20000;
  std::vector<std::string> nodes = {X()};
  std::string in = "x";
  for (int i = 0; i < kDeep; ++i) {
    nodes.push_back(NodeDef(N(i, "p"), "Placeholder", {}, {{"dtype", TypeAttr(kBool)}}));
    nodes.push_back(NodeDef(N(i, "s"), "Switch", {in, N(i, "p")}));
    in = N(i, "s") + ":1";
  }
  std::string out = in;
  for (int i = kDeep; i-- > 0;) {
    nodes.push_back(NodeDef(N(i, "m"), "Merge", {N(i, "s"), out}));
    out = N(i, "m");
  }
  nodes.push_back(NodeDef("y", "Neg", {out}));
  const std::string got = ImportedText(GraphDef(nodes));
  EXPECT_THAT(got.substr(0, 500), HasSubstr("branches in more than 100"));
}

TEST(TensorFlowHostile, Text) {
  const auto deep = [](const std::string& open, int times) {
    std::string text = "node { name: 'x' op: 'Neg' ";
    for (int i = 0; i < times; ++i) text += open;
    return text;
  };
  for (const Row& row :
       std::vector<Row>{{deep("unknown {", kMany), "too deeply"},
                        {deep("attr <", kMany), "too deeply"},
                        {deep("unknown: [", kMany), "expected ']'"},
                        {deep("[a.b/c] {", kMany), "too deeply"},
                        {"node { name: '" + std::string(kMany, '\\') + "' }", "has no op"},
                        {"node { [" + std::string(kMany, '[') + "] {} }", "has the name ''"},
                        {"versions { producer: " + std::string(kMany, '9') + " }", "cannot be"}}) {
    EXPECT_THAT(ImportedText(row.graph).substr(0, 200 + kMany), HasSubstr(row.error)) << row.error;
  }
}

}  // namespace
}  // namespace x2ir
