// IR files: everything in a Model survives, equal models give equal bytes, and whatever is
// wrong with a file is an error that says where.
#include "x2ir/formats/ir/ir.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

using IrTest = TempDirTest;

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// --- A full description of a model, by other code than the writer's ---------------------------

std::string Hex(absl::Span<const std::byte> bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string Describe(const Tensor& t) {
  std::string text = StrCat(t.type().ToString(), "{");
  if (t.is_sparse()) {
    StrAppend(&text, Describe(t.sparse().values), "@", Describe(t.sparse().indices));
  } else if (t.is_string()) {
    for (const std::string& s : t.strings()) StrAppend(&text, s.size(), ":", s, ",");
  } else {
    text += Hex(t.bytes());
  }
  return text + "}";
}

std::string Describe(const AnnotationsPtr& annotations) {
  const Annotations* a = annotations.get();
  if (!a || a->empty()) return "";
  std::string text = StrCat(" // ", a->doc_string);
  for (const auto& [key, value] : a->metadata) StrAppend(&text, " ", key, "=", value);
  for (const auto& [key, value] : a->extra) StrAppend(&text, " ", key, ":=", value);
  return text;
}

std::string Describe(const Graph& graph);

template <typename T>
std::string BitsOf(const T& value) {
  return Hex({reinterpret_cast<const std::byte*>(&value), sizeof(T)});
}

std::string Describe(const Attribute& attr) {
  std::string text = StrCat(Name(attr.kind()), "(");
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        const auto one = [&](const auto& v) {
          using V = std::decay_t<decltype(v)>;
          if constexpr (std::is_arithmetic_v<V>) {
            text += BitsOf(v);
          } else if constexpr (std::is_same_v<V, std::string>) {
            StrAppend(&text, v.size(), ":", v);
          } else if constexpr (std::is_same_v<V, Type>) {
            text += v.ToString();
          } else if constexpr (std::is_same_v<V, Attribute::GraphPtr>) {
            text += Describe(*v);
          } else if constexpr (std::is_same_v<V, AttrRef>) {
            StrAppend(&text, v.name, " ", Name(v.kind));
          } else {
            text += Describe(v);
          }
          text += ",";
        };
        if constexpr (requires { value.begin(); } && !std::is_same_v<T, std::string>) {
          for (const auto& v : value) one(v);
        } else {
          one(value);
        }
      },
      attr.variant());
  return text + ")";
}

std::string Describe(const Graph& graph) {
  std::string text = StrCat("graph ", graph.name(), Describe(graph.annotations()), "\n");
  const auto value = [&](const Value* v) {
    if (!v) return std::string("_");
    return StrCat(v->name(), ": ", v->type().ToString(), Describe(v->annotations()));
  };
  for (const Value* v : graph.inputs()) {
    StrAppend(&text, "input ", value(v), v->constant() ? Describe(*v->constant()) : "", "\n");
  }
  std::vector<std::string> constants;
  for (const Value* v : graph.constants()) {
    constants.push_back(StrCat("constant ", value(v), Describe(*v->constant()), "\n"));
  }
  std::sort(constants.begin(), constants.end());
  for (const std::string& line : constants) text += line;
  for (const Node* node = graph.first(); node; node = node->next()) {
    for (const Value* v : node->outputs()) StrAppend(&text, value(v), ", ");
    StrAppend(&text, "= ", node->dialect().view(), ".", node->op().view(), "(");
    for (const Value* v : node->inputs()) {
      StrAppend(&text, v ? v->name() : "_", v && v->graph() != &graph ? "^" : "", ", ");
    }
    StrAppend(&text, ") '", node->name(), "' {");
    for (const auto& [name, attr] : node->attrs()) {
      StrAppend(&text, name.view(), "=", Describe(attr), " ");
    }
    StrAppend(&text, "}", Describe(node->annotations()), "\n");
  }
  for (const Value* v : graph.outputs()) StrAppend(&text, "output ", v->name(), "\n");
  return text;
}

std::string Describe(const Model& model) {
  std::string text = StrCat(model.source_dialect, " ", model.ir_version, " ", model.producer_name,
                            " ", model.producer_version, " ", model.domain, " ",
                            model.model_version, Describe(model.annotations), "\n");
  const auto opsets = [&](const std::vector<OpsetImport>& imports) {
    for (const OpsetImport& o : imports) StrAppend(&text, "opset ", o.domain, " ", o.version, "\n");
  };
  opsets(model.opset_imports);
  text += Describe(*model.graph);
  for (const auto& f : model.functions) {
    StrAppend(&text, "function ", f->domain, "::", f->name, " ", f->overload,
              Describe(f->annotations), "\n");
    for (const std::string& name : f->attributes) StrAppend(&text, "attribute ", name, "\n");
    for (const auto& [name, attr] : f->attribute_defaults) {
      StrAppend(&text, "default ", name, "=", Describe(attr), "\n");
    }
    opsets(f->opset_imports);
    text += f->body ? Describe(*f->body) : "no body\n";
  }
  return text;
}

// --- Models -----------------------------------------------------------------------------------

Model ModelOf(std::string_view text) {
  Model model;
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (graph.ok()) model.graph = *graph;
  return model;
}

Tensor Counting(DType dtype, std::vector<int64_t> dims) {
  Tensor t = Tensor::Zeros(dtype, std::move(dims));
  int i = 0;
  for (std::byte& b : t.mutable_bytes()) b = static_cast<std::byte>(++i * 7);
  return t;
}

void Annotate(AnnotationsPtr& annotations, std::string_view what) {
  Annotations& a = annotations.GetOrMake();
  a.doc_string = StrCat("doc of ", what, "\n\xc3\xa4");
  a.metadata = {{"b", "2"}, {"a", "\xff"}, {"a", "again"}};
  a.extra = {{"onnx.wire", std::string("\0\x01\xfe", 3)}, {"k", "v"}, {"", ""}};
}

// One of everything.
Model EverythingModel() {
  Model model;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.opset_imports = {{"", 17}, {"com.acme", 1}, {"com.acme", 2}};
  model.producer_name = "maker";
  model.producer_version = "1.\xff";
  model.domain = "d";
  model.model_version = -3;
  Annotate(model.annotations, "model");
  Graph& g = *model.graph;
  g.set_name("main \"graph\"");
  Annotate(g.annotations(), "graph");

  Value* x = g.AddInput("x", Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), 3, Dim()}));
  Annotate(x->annotations(), "x");
  Value* size = g.AddInput("size", Type::Tensor(DType::kInt64, Shape{Dim()}));
  g.SetDefault(size, Tensor::Of<int64_t>({2}, {3, -4}));
  Value* big = g.AddInput("big", Type::Tensor(DType::kFloat32));
  g.SetDefault(big, Counting(DType::kFloat32, {40}));
  for (const std::string_view type :
       {"?", "float32[...]", "float32[]", "sequence(int64[?])", "optional(sequence(string[...]))",
        "map(string, float32[2])", "sparse(float32[3,4])", "opaque(some, thing)",
        "int4[2*seq+1,?,0]"}) {
    const auto parsed = Type::Parse(type);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    g.AddInput(StrCat("in ", type), *parsed);
  }

  std::vector<Value*> operands = {x, nullptr, size, nullptr};
  for (int number = 1; number < kNumDTypes; ++number) {
    const DType dtype = static_cast<DType>(number);
    if (dtype == DType::kString) continue;
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {0, 5}, {30, 2}}) {
      operands.push_back(g.AddConstant(StrCat("c ", Name(dtype), Shape::FromInts(dims).ToString()),
                                       Counting(dtype, dims)));
    }
  }
  const float kInf = std::numeric_limits<float>::infinity();
  const float odd_nan = std::bit_cast<float>(0xff800001);
  const double odd_double_nan = std::bit_cast<double>(0x7ff0000000000001);
  operands.push_back(g.AddConstant(
      "floats",
      Tensor::Of<float>({8}, {0.f, -0.f, 0.1f, 1e-45f, 3.4028235e38f, kInf, -kInf, odd_nan})));
  operands.push_back(g.AddConstant(
      "doubles", Tensor::Of<double>({4}, {0.1, 5e-324, std::nan(""), odd_double_nan})));
  operands.push_back(
      g.AddConstant("limits", Tensor::Of<int64_t>({2}, {std::numeric_limits<int64_t>::min(),
                                                        std::numeric_limits<int64_t>::max()})));
  operands.push_back(
      g.AddConstant("ulimits", Tensor::Of<uint64_t>({1}, {std::numeric_limits<uint64_t>::max()})));
  operands.push_back(g.AddConstant("bools", Tensor::Of<bool>({2}, {true, false})));
  operands.push_back(
      g.AddConstant("strings", Tensor::Strings({3}, {"", "\xff\xfe", std::string("a\0b\n\"", 5)})));
  operands.push_back(g.AddConstant(
      "sparse",
      Tensor::Sparse({30, 40}, Counting(DType::kFloat32, {20}), Counting(DType::kInt64, {20, 2}))));
  operands.push_back(g.AddConstant(
      "sparse strings", Tensor::Sparse({3}, Tensor::Strings({1}, {"s"}), Tensor::Vector({2}))));
  operands.push_back(g.AddConstant("__metadata__", Counting(DType::kFloat16, {5})));
  operands.push_back(g.AddConstant("name \xff\x80", Counting(DType::kFloat16, {5})));
  Value* noted = g.AddConstant("noted", Counting(DType::kFloat32, {40}));
  noted->set_type(Type::Tensor(DType::kFloat32));
  Annotate(noted->annotations(), "noted");
  g.AddConstant("unused b", Counting(DType::kInt8, {100}));
  g.AddConstant("unused a", Counting(DType::kInt8, {100}));

  Node* node = g.AppendNode("onnx", "com.acme::Every \"thing\"", operands);
  node->set_name("n\xc0");
  Annotate(node->annotations(), "node");
  Value* y = g.AddNodeOutput(node, "y\x80", Type::Tensor(DType::kFloat32, Shape{1, Dim()}));
  Annotate(y->annotations(), "y");
  g.AddMissingOutput(node);
  Value* z = g.AddNodeOutput(node, "z");
  g.AddMissingOutput(node);
  Value* w = g.AddNodeOutput(node, "w");
  Annotate(w->annotations(), "w");

  using Ints = Attribute::Ints;
  using Floats = Attribute::Floats;
  using Strings = Attribute::Strings;
  node->SetAttr("int", int64_t{-7});
  node->SetAttr("int_min", std::numeric_limits<int64_t>::min());
  node->SetAttr("float", 1.0f);
  node->SetAttr("float_small", 1e-45f);
  node->SetAttr("float_nan", std::numeric_limits<float>::quiet_NaN());
  node->SetAttr("float_odd", odd_nan);
  node->SetAttr("float_inf", -kInf);
  node->SetAttr("double", 0.1);
  node->SetAttr("double_odd", odd_double_nan);
  node->SetAttr("string", "caf\xc3\xa9");
  node->SetAttr("string_empty", "");
  node->SetAttr("string_bytes", std::string("\xff\0\x01", 3));
  node->SetAttr("tensor", Tensor::Of<float>({2}, {1, 2}));
  node->SetAttr("tensor_big", Counting(DType::kFloat32, {50}));
  node->SetAttr("tensor_int4", Counting(DType::kInt4, {5}));
  node->SetAttr("type", Type::Tensor(DType::kInt8, Shape{2}));
  node->SetAttr("ints", Ints{1, -2});
  node->SetAttr("ints_empty", Ints{});
  node->SetAttr("floats", Floats{1, 0.5});
  node->SetAttr("floats_odd", Floats{1, kInf, odd_nan});
  node->SetAttr("floats_empty", Floats{});
  node->SetAttr("strings", Strings{"a", "", "\xff"});
  node->SetAttr("strings_bytes", Strings{"\xff", "a"});
  node->SetAttr("strings_empty", Strings{});
  node->SetAttr("tensors",
                std::vector<Tensor>{Tensor::Scalar(int64_t{1}), Counting(DType::kBFloat16, {50})});
  node->SetAttr("tensors_empty", std::vector<Tensor>{});
  node->SetAttr("types", std::vector<Type>{Type(), Type::Sequence(Type::Tensor(DType::kInt8))});
  node->SetAttr("types_empty", std::vector<Type>{});
  node->SetAttr("graphs_empty", std::vector<Attribute::GraphPtr>{});
  node->SetAttr("ref", AttrRef{"outer \xff", AttrKind::kInts});
  node->SetAttr("", int64_t{1});

  // A graph in a graph in a graph: names that hide outer ones, constants of the same name,
  // outputs that are outer values.
  std::vector<Attribute::GraphPtr> branches;
  for (const std::string_view name : {"then", "else"}) {
    auto inner = std::make_shared<Graph>(std::string(name));
    Value* hidden = inner->AddConstant("noted", Counting(DType::kFloat32, {41}));
    Node* add = inner->AppendNode(kIrDialect, "add", {y, hidden});
    Value* sum = inner->AddNodeOutput(add, "x", Type::Tensor(DType::kFloat32));
    inner->AddOutput(sum);
    inner->AddOutput(z);
    inner->AddOutput(hidden);
    auto deep = std::make_shared<Graph>("deep");
    Node* mul = deep->AppendNode(kIrDialect, "mul", {sum, z, hidden});
    deep->AddOutput(deep->AddNodeOutput(mul, "deep out"));
    Node* holder = inner->AppendNode(kIrDialect, "hold", {});
    inner->AddNodeOutput(holder, "held");
    holder->SetAttr("body", deep);
    branches.push_back(inner);
  }
  Node* choice = g.AppendNode(kIrDialect, "if", {y});
  choice->SetAttr("then", branches[0]);
  choice->SetAttr("others", std::vector<Attribute::GraphPtr>{branches[1]});
  Value* chosen = g.AddNodeOutput(choice, "chosen", Type::Sequence(Type::Tensor(DType::kInt8)));
  for (Value* output : {y, chosen, chosen, x, noted}) g.AddOutput(output);

  auto function = std::make_shared<Function>();
  function->domain = "com.acme";
  function->name = "F";
  function->overload = "o";
  function->attributes = {"alpha", "\xff"};
  function->attribute_defaults.emplace_back("beta", Attribute(0.5f));
  function->attribute_defaults.emplace_back("t", Attribute(Counting(DType::kFloat32, {33})));
  auto default_graph = std::make_shared<Graph>("default");
  default_graph->AddOutput(default_graph->AddConstant("c", Tensor::Scalar(1.0f)));
  function->attribute_defaults.emplace_back("g", Attribute(default_graph));
  function->opset_imports = {{"", 16}};
  Annotate(function->annotations, "function");
  function->body = std::make_shared<Graph>("body");
  Value* a = function->body->AddInput("a", Type());
  Value* weight = function->body->AddConstant("noted", Counting(DType::kFloat32, {42}));
  Node* call = function->body->AppendNode("onnx", "Mul", {a, weight});
  call->SetAttr("alpha", AttrRef{"alpha", AttrKind::kFloat});
  function->body->AddOutput(function->body->AddNodeOutput(call, "b"));
  model.functions.push_back(function);
  auto bare = std::make_shared<Function>();
  bare->name = "G";
  model.functions.push_back(bare);
  return model;
}

TEST_F(IrTest, EverythingSurvives) {
  const Model model = EverythingModel();
  ASSERT_TRUE(WriteIr(model, Path("a.json")).ok());
  const auto read = ReadIr(Path("a.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Describe(*read), Describe(model));

  // The same bytes again, under another name.
  ASSERT_TRUE(WriteIr(*read, Path("other name")).ok());
  EXPECT_EQ(ReadFile(Path("other name")), ReadFile(Path("a.json")));
  EXPECT_EQ(ReadFile(Path("other name.safetensors")), ReadFile(Path("a.safetensors")));
  // Over its own files, which are mapped.
  ASSERT_TRUE(WriteIr(*read, Path("a.json")).ok());
  const auto again = ReadIr(Path("a.json"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Describe(*again), Describe(model));
}

TEST_F(IrTest, BothFilesCanBeRenamed) {
  const Model model = ModelOf(
      "graph g(x: float32[2]) -> (y) {\n w: float32[40,2]\n"
      " y: float32[40] = matmul(w, x)\n}");
  ASSERT_TRUE(WriteIr(model, Path("a.json")).ok());
  fs::create_directory(Path("sub.dir"));
  fs::rename(Path("a.json"), Path("sub.dir/b.c*.json"));
  fs::rename(Path("a.safetensors"), Path("sub.dir/b.c*.safetensors"));
  const auto read = ReadIr(Path("sub.dir/b.c*.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Describe(*read), Describe(model));
  fs::rename(Path("sub.dir/b.c*.json"), Path("sub.dir/alone.json"));
  const absl::Status status = ReadIr(Path("sub.dir/alone.json")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_NE(std::string(status.message()).find("alone.safetensors"), std::string::npos) << status;
}

TEST_F(IrTest, IsPleasantToReadAndDiff) {
  Model model = ModelOf(R"(graph net(x: float32[batch,3,8,8]) -> (y) {
    w: float32[4,3,3,3]
    axes = int64[2]{2, 3}
    c: float32[batch,4,6,6] = conv(x, w, _) { strides = [1, 1], layout = "channels_first" } "/conv"
    r: float32[batch,4] = reduce_mean(c, axes) { keepdims = 0, scale = 1.0 }
    y: float32[batch,4] = onnx.com.acme::Foo(r)
  })");
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.opset_imports = {{"", 17}};
  ASSERT_TRUE(WriteIr(model, Path("net.json")).ok());
  EXPECT_EQ(ReadFile(Path("net.json")), R"({
"format": "x2ir", "version": 1,
"source": {"dialect": "onnx", "ir_version": 8, "opset_imports": [["", 17]]},
"weights": ["*.safetensors"],
"graph": {
  "name": "net",
  "inputs": [
    {"name": "x", "type": "float32[batch,3,8,8]"}
  ],
  "outputs": [
    ["y", "float32[batch,4]"]
  ],
  "constants": [
    {"name": "w", "type": "float32[4,3,3,3]"},
    {"name": "axes", "type": "int64[2]", "values": [2, 3]}
  ],
  "nodes": [
    {"op": "conv", "name": "/conv", "in": ["x", "w", ""], "out": [["c", "float32[batch,4,6,6]"]], "attrs": {"strides": [1, 1], "layout": "channels_first"}},
    {"op": "reduce_mean", "in": ["c", "axes"], "out": [["r", "float32[batch,4]"]], "attrs": {"keepdims": 0, "scale": 1.0}},
    {"op": "com.acme::Foo", "dialect": "onnx", "in": ["r"], "out": [["y", "float32[batch,4]"]]}
  ]
}
}
)");
  // The weights are a plain safetensors file.
  const auto weights = ReadSafetensors(Path("net.safetensors"));
  ASSERT_TRUE(weights.ok());
  ASSERT_EQ(weights->tensors.size(), 1u);
  EXPECT_EQ(weights->tensors[0].name, "w");
}

TEST_F(IrTest, EqualModelsGiveEqualBytes) {
  // Only the order in which constants were made differs.
  const auto build = [](bool backwards) {
    Model model;
    Graph& g = *model.graph;
    Value* x = g.AddInput("x", Type::Tensor(DType::kFloat32));
    std::vector<std::string> names = {"a", "b", "c", "d", "e"};
    if (backwards) std::reverse(names.begin(), names.end());
    for (const std::string& name : names) {
      g.AddConstant(name, Counting(DType::kFloat32, {20 + name[0]}));
    }
    Node* node = g.AppendNode(kIrDialect, "f", {x, g.Find("d"), g.Find("b"), g.Find("d")});
    auto inner = std::make_shared<Graph>("inner");
    inner->AddOutput(g.Find("e"));
    node->SetAttr("body", inner);
    g.AddOutput(g.AddNodeOutput(node, "y"));
    return model;
  };
  ASSERT_TRUE(WriteIr(build(false), Path("a.json")).ok());
  ASSERT_TRUE(WriteIr(build(true), Path("b.json")).ok());
  const std::string json = ReadFile(Path("a.json"));
  EXPECT_EQ(json, ReadFile(Path("b.json")));
  EXPECT_EQ(ReadFile(Path("a.safetensors")), ReadFile(Path("b.safetensors")));
  // First use first, then by name.
  size_t at = 0;
  for (const std::string_view name : {"d", "b", "e", "a", "c"}) {
    const size_t next = json.find(StrCat("{\"name\": \"", name, "\""));
    ASSERT_NE(next, std::string::npos);
    EXPECT_GT(next, at);
    at = next;
  }
}

// Other programs may write the members of every object in another order: "weights" last.
TEST_F(IrTest, MembersMayComeInAnyOrder) {
  Model model = ModelOf(R"(graph net(x: float32[2], s: int64[2] = int64[2]{1, 2}) -> (y, n) {
    w: float32[40,2]
    c = int64[2]{2, 3}
    a: float32[40] = matmul(w, x) { f = 0.1, i = 1, l = [1.0, 2.0], t = tensor(float32[2]{1, 2}) }
    y: float32[40] = if(c) { then = graph b() -> (o) { o: float32[40] = relu(a) } }
    n = loop(x) { body = graph b() -> (o) { v: float32[30]  o = add(v, w) } }
  })");
  model.functions.push_back(std::make_shared<Function>());
  model.functions[0]->name = "F";
  model.functions[0]->body =
      ModelOf("graph f(a: ?) -> (b) {\n w: float32[40,3]\n b = add(a, w)\n}").graph;
  ASSERT_TRUE(WriteIr(model, Path("a.json")).ok());
  const auto sorted = nlohmann::json::parse(ReadFile(Path("a.json")));
  for (const int indent : {-1, 2}) {
    WriteFile(Path("a.json"), sorted.dump(indent));
    const auto read = ReadIr(Path("a.json"));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(Describe(*read), Describe(model));
  }
}

TEST_F(IrTest, UnsortedNodesAreSorted) {
  WriteFile(Path("a.json"), R"({"format": "x2ir", "version": 1, "graph": {"nodes": [
    {"op": "relu", "in": ["a"], "out": ["b"]},
    {"op": "if", "in": ["x"], "out": ["c"], "attrs": {"then": {"graph": {
        "outputs": [["d", "?"]],
        "nodes": [{"op": "neg", "in": ["b"], "out": ["d"]}, {"op": "neg", "in": ["d"], "out": ["b"]}]
    }}}},
    {"op": "abs", "in": ["x"], "out": ["a"]}],
    "inputs": [{"name": "x"}], "outputs": [["c", "?"]]}})");
  // "b" in the nested graph is its own, though an outer one is known earlier: a cycle.
  const absl::Status status = ReadIr(Path("a.json")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(std::string(status.message()).find("cycle"), std::string::npos) << status;
  WriteFile(Path("a.json"), Replaced(ReadFile(Path("a.json")),
                                     "{\"op\": \"neg\", \"in\": [\"d\"], \"out\": [\"b\"]}",
                                     "{\"op\": \"neg\", \"in\": [\"d\"], \"out\": [\"e\"]}"));
  const auto read = ReadIr(Path("a.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->graph->Validate().empty());
  EXPECT_EQ(read->graph->first()->op(), "abs");
}

// Real networks, as their ONNX files have them, copied and by reference.
TEST_F(IrTest, RealNetworksSurvive) {
  const fs::path models = Shared("models");
  if (models.empty()) GTEST_SKIP() << kNotShared;
  int files = 0;
  for (const auto& folder : fs::directory_iterator(models)) {
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (entry.path().extension() != ".onnx") continue;
      ++files;
      const auto model = ReadOnnx(entry.path());
      ASSERT_TRUE(model.ok()) << model.status();
      for (const bool reference : {false, true}) {
        ASSERT_TRUE(WriteIr(*model, Path("m.json"), {.reference_weights = reference}).ok());
        const auto read = ReadIr(Source(Path("m.json")).AllowOutside(reference));
        ASSERT_TRUE(read.ok()) << entry.path() << read.status();
        EXPECT_TRUE(Describe(*read) == Describe(*model)) << entry.path();
        ASSERT_TRUE(WriteIr(*read, Path("n.json"), {.reference_weights = reference}).ok());
        EXPECT_TRUE(ReadFile(Path("m.json")) == ReadFile(Path("n.json"))) << entry.path();
        EXPECT_TRUE(ReadFile(Path("m.safetensors")) == ReadFile(Path("n.safetensors")));
      }
    }
  }
  EXPECT_GT(files, 0);
}

// --- References to files ------------------------------------------------------------------------

TEST_F(IrTest, WeightsMayBeReferences) {
  fs::create_directories(Path("models/data"));
  fs::create_directories(Path("elsewhere"));
  const std::string blob(1000, 'w');
  WriteFile(Path("models/data/blob.bin"), blob);
  WriteFile(Path("elsewhere/blob.bin"), blob);
  const auto model_with = [&](const std::string& path) {
    Model model;
    const auto file = MappedFile::Open(path);
    EXPECT_TRUE(file.ok());
    const auto tensor = Tensor::FromFile(DType::kFloat32, {50}, *file, 100, 200);
    EXPECT_TRUE(tensor.ok());
    model.graph->AddOutput(model.graph->AddConstant("w", *tensor));
    model.graph->AddOutput(model.graph->AddConstant("m", Counting(DType::kInt8, {99})));
    return model;
  };
  const IrWriteOptions reference = {.reference_weights = true};
  const std::string json = Path("models/m.json");

  // Inside the folder: relative, and the folder can be moved.
  const Model inside = model_with(Path("models/../models/data/blob.bin"));
  ASSERT_TRUE(WriteIr(inside, json, reference).ok());
  EXPECT_NE(ReadFile(json).find("\"file\": \"data/blob.bin\", \"offset\": 100, \"size\": 200"),
            std::string::npos);
  EXPECT_LT(fs::file_size(Path("models/m.safetensors")), 300u);
  fs::rename(Path("models"), Path("moved"));
  auto read = ReadIr(Path("moved/m.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Describe(*read), Describe(inside));
  // Copied again when nobody asks for references; what is in the weight file itself is copied.
  ASSERT_TRUE(WriteIr(*read, Path("moved/m.json")).ok());
  read = ReadIr(Path("moved/m.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_TRUE(WriteIr(*read, Path("moved/m.json"), reference).ok());
  EXPECT_EQ(ReadFile(Path("moved/m.json")).find("\"file\""), std::string::npos);

  // Outside: absolute, and read only when the caller allows it.
  const Model outside = model_with(Path("elsewhere/blob.bin"));
  ASSERT_TRUE(WriteIr(outside, Path("moved/m.json"), reference).ok());
  const absl::Status refused = ReadIr(Path("moved/m.json")).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
  EXPECT_NE(std::string(refused.message()).find("is an absolute path"), std::string::npos);
  read = ReadIr(Source(Path("moved/m.json")).AllowOutside());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Describe(*read), Describe(outside));
  // A file that was replaced since it was mapped is not what the tensor is.
  WriteFile(Path("elsewhere/new.bin"), "other");
  fs::rename(Path("elsewhere/new.bin"), Path("elsewhere/blob.bin"));
  ASSERT_TRUE(WriteIr(outside, Path("moved/m.json"), reference).ok());
  EXPECT_TRUE(ReadIr(Path("moved/m.json")).ok());
}

TEST_F(IrTest, PathsMustStayInTheFolder) {
  fs::create_directories(Path("models/sub"));
  WriteFile(Path("secret.bin"), std::string(8, 's'));
  WriteFile(Path("models/sub/w.bin"), std::string(8, 'w'));
  fs::create_symlink(Path("secret.bin"), Path("models/link.bin"));
  fs::create_symlink(Path("models/sub/w.bin"), Path("models/good_link.bin"));
  fs::create_directory_symlink(folder_, Path("models/up"));
  const struct {
    std::string file;
    std::string_view message;  // empty: allowed
    bool exists = true;
  } kRows[] = {
      {"sub/w.bin", ""},
      {"sub/../sub/w.bin", ""},
      {"good_link.bin", ""},
      {"../secret.bin", "leads out of the model's folder"},
      {"sub/../../secret.bin", "leads out of the model's folder"},
      {"link.bin", "is a link out of the model's folder"},
      {"up/secret.bin", "is a link out of the model's folder"},
      {Path("secret.bin"), "is an absolute path"},
      {"none.bin", "there is no file", false},
      {"sub", "directory", false},
      {"", "not a valid file name", false},
      {"a\\u0000b", "not a valid file name", false},
  };
  for (const auto& row : kRows) {
    for (const bool in_weights : {false, true}) {
      // As a weight file it fails in any case, since it is no safetensors file.
      const std::string_view message =
          in_weights && row.message.empty() ? "not a safetensors file" : row.message;
      WriteFile(Path("models/m.json"),
                StrCat("{\"format\": \"x2ir\", \"version\": 1, \"weights\": [",
                       in_weights ? StrCat("\"", row.file, "\"") : std::string(),
                       "], \"graph\": {\"constants\": [{\"name\": \"c\", \"type\": \"int8[8]\", ",
                       "\"file\": \"", row.file, "\", \"offset\": 0, \"size\": 8}]}}"));
      const absl::Status status = ReadIr(Path("models/m.json")).status();
      EXPECT_EQ(status.ok(), message.empty()) << row.file << status;
      EXPECT_NE(std::string(status.message()).find(message), std::string::npos) << status;
      const auto allowed = ReadIr(Source(Path("models/m.json")).AllowOutside());
      EXPECT_EQ(allowed.ok(), row.exists && !in_weights) << row.file << allowed.status();
    }
  }
}

// --- Errors -------------------------------------------------------------------------------------

TEST_F(IrTest, WhatBreaksTheSchemaIsNamed) {
  using absl::StatusCode;
  constexpr std::string_view kGood = R"({"format": "x2ir", "version": 1,
"source": {"dialect": "onnx", "opset_imports": [["", 17]]}, "weights": ["*.safetensors"],
"graph": {"name": "g",
"inputs": [{"name": "x", "type": "float32[2]"}],
"outputs": [["y", "float32[2]"]],
"constants": [{"name": "w", "type": "float32[40]"}, {"name": "k", "type": "int8[2]", "values": [1, 2]}],
"nodes": [{"op": "add", "in": ["x", "w", ""], "out": [["y", "float32[2]"]], "attrs": {"a": 1, "l": [1, 2]}}]},
"functions": [{"name": "F", "defaults": [["a", 1]]}]})";
  const std::vector<NamedTensor> weights = {{"w", Counting(DType::kFloat32, {40})}};
  ASSERT_TRUE(WriteSafetensors(Path("m.safetensors"), weights).ok());
  WriteFile(Path("m.json"), kGood);
  ASSERT_TRUE(ReadIr(Path("m.json")).ok()) << ReadIr(Path("m.json")).status();
  const struct {
    std::string_view from, to;
    StatusCode code;
    std::string_view message;
  } kRows[] = {
      {"\"x2ir\"", "\"other\"", StatusCode::kDataLoss, "not an x2ir model"},
      {"\"format\": \"x2ir\", ", "", StatusCode::kDataLoss, "\"format\" is missing"},
      {"\"version\": 1", "\"version\": 2", StatusCode::kUnimplemented,
       "version: this file has format version 2; this x2ir reads only version 1"},
      {"\"version\": 1", "\"version\": \"1\"", StatusCode::kInvalidArgument, "expected a number"},
      {"\"version\": 1,\n", "", StatusCode::kInvalidArgument, "\"version\" is missing"},
      {"\"source\"", "\"sauce\"", StatusCode::kInvalidArgument, "unknown key \"sauce\""},
      {"[\"\", 17]", "[\"\"]", StatusCode::kInvalidArgument, "opset_imports[0]: expected 2 items"},
      {"[\"\", 17]", "[\"\", 17, 1]", StatusCode::kInvalidArgument, "expected 2 items"},
      {"*.safetensors", "no.safetensors", StatusCode::kNotFound, "no.safetensors"},
      {"\"*.safetensors\"", "\"*.safetensors\", \"*.safetensors\"", StatusCode::kInvalidArgument,
       "tensor 'w' is in two weight files"},
      {"\"name\": \"x\", ", "", StatusCode::kInvalidArgument,
       "graph.inputs[0]: a value needs a name"},
      {"float32[2]", "float33[2]", StatusCode::kInvalidArgument,
       "line 4, column 34: graph.inputs[0].type"},
      {"[[\"y\", \"float32[2]\"]],\n\"const", "[[\"q\", \"float32[2]\"]],\n\"const",
       StatusCode::kInvalidArgument, "output 'q' is not defined"},
      {"[[\"y\", \"float32[2]\"]],\n\"const", "[[\"y\", \"float32[3]\"]],\n\"const",
       StatusCode::kInvalidArgument, "output 'y' is declared float32[3], but it is float32[2]"},
      {"float32[40]", "float32[41]", StatusCode::kInvalidArgument,
       "tensor 'w' of the weight files is float32[40], expected float32[41]"},
      {"\"name\": \"w\"", "\"name\": \"v\"", StatusCode::kInvalidArgument, "no tensor 'v'"},
      {"\"name\": \"w\"", "\"name\": \"x\"", StatusCode::kInvalidArgument,
       "value 'x' is defined twice"},
      {"float32[40]", "float32[n]", StatusCode::kInvalidArgument, "type with all its sizes"},
      {"float32[40]", "float32[...]", StatusCode::kInvalidArgument, "type with all its sizes"},
      {"float32[40]", "sequence(float32[40])", StatusCode::kInvalidArgument, "all its sizes"},
      {"float32[40]", "sparse(float32[40])", StatusCode::kInvalidArgument, "expected one of"},
      {"[1, 2]}]", "[1]}]", StatusCode::kInvalidArgument, "int8[2] has 2 elements, got 1"},
      {"[1, 2]}]", "[1, 2, 3]}]", StatusCode::kInvalidArgument, "has 2 elements, got 3"},
      {"[1, 2]}]", "[1, 128]}]", StatusCode::kInvalidArgument, "out of range"},
      {"[1, 2]}]", "[1, 2.0]}]", StatusCode::kInvalidArgument, "expected an integer"},
      {"int8[2]", "int4[2]", StatusCode::kInvalidArgument, "elements of int4 cannot be written"},
      {"int8[2]", "bool[2]", StatusCode::kInvalidArgument, "expected true or false"},
      {"int8[2]", "int8[1000000000000]", StatusCode::kInvalidArgument,
       "has 1000000000000 elements"},
      {"\"values\": [1, 2]", "\"values\": [1, 2], \"key\": \"w\"", StatusCode::kInvalidArgument,
       "expected one of \"values\""},
      {"\"values\": [1, 2]", "\"file\": \"m.json\"", StatusCode::kInvalidArgument,
       "expected one of"},
      {"\"values\": [1, 2]", "\"file\": \"m.json\", \"offset\": 99999, \"size\": 2",
       StatusCode::kDataLoss, "lie outside"},
      {"\"values\": [1, 2]", "\"file\": \"m.json\", \"offset\": 1, \"size\": 3",
       StatusCode::kInvalidArgument, "wrong size"},
      {"\"values\": [1, 2]", "\"file\": \"m.json\", \"offset\": 18446744073709551615, \"size\": 2",
       StatusCode::kDataLoss, "lie outside"},
      {"\"op\": \"add\", ", "", StatusCode::kInvalidArgument, "graph.nodes[0]: a node needs an op"},
      {"\"op\": \"add\"", "\"op\": \"\"", StatusCode::kInvalidArgument, "an op cannot be"},
      {"\"op\": \"add\"", "\"op\": 3", StatusCode::kInvalidArgument,
       "graph.nodes[0].op: expected a string, got a number"},
      {"\"op\": \"add\"", "\"op\": \"add\", \"op\": \"sub\"", StatusCode::kInvalidArgument,
       "op: this key occurs twice"},
      {"\"op\": \"add\"", "\"Op\": \"add\"", StatusCode::kInvalidArgument, "unknown key \"Op\""},
      {"\"in\": [\"x\"", "\"in\": [\"q\"", StatusCode::kInvalidArgument,
       "add '': input 'q' is not defined"},
      {"\"in\": [\"x\"", "\"in\": [\"y\"", StatusCode::kInvalidArgument, "cycle"},
      {"\"out\": [[\"y\"", "\"out\": [[\"x\"", StatusCode::kInvalidArgument,
       "'x' is defined twice"},
      {"\"out\": [[\"y\", \"float32[2]\"]", "\"out\": [[\"y\"]", StatusCode::kInvalidArgument,
       "expected a name and a type"},
      {"\"out\": [[\"y\", \"float32[2]\"]", "\"out\": [[\"y\", \"float32[2]\", {}, 1]",
       StatusCode::kInvalidArgument, "expected name, type and annotations"},
      {"\"a\": 1, ", "\"a\": 1, \"a\": 2, ", StatusCode::kInvalidArgument,
       "attrs.a: this attribute occurs twice"},
      {"\"a\": 1, ", "\"a\": true, ", StatusCode::kInvalidArgument, "expected a number"},
      {"\"a\": 1, ", "\"a\": null, ", StatusCode::kInvalidArgument, "expected a number, got null"},
      {"\"a\": 1, ", "\"a\": [], ", StatusCode::kInvalidArgument, "an empty list needs a kind"},
      {"\"a\": 1, ", "\"a\": [1, \"b\"], ", StatusCode::kInvalidArgument, "numbers and strings"},
      {"\"a\": 1, ", "\"a\": [\"b\", 1], ", StatusCode::kInvalidArgument, "expected a string"},
      {"\"a\": 1, ", "\"a\": [[1]], ", StatusCode::kInvalidArgument,
       "expected a string, got a list"},
      {"\"a\": 1, ", "\"a\": 9223372036854775808, ", StatusCode::kInvalidArgument, "64 bits"},
      {"\"a\": 1, ", "\"a\": 1e50, ", StatusCode::kInvalidArgument, "out of range"},
      {"\"a\": 1, ", "\"a\": {}, ", StatusCode::kInvalidArgument, "expected one kind"},
      {"\"a\": 1, ", "\"a\": {\"what\": 1}, ", StatusCode::kInvalidArgument,
       "unknown kind of attribute \"what\""},
      {"\"a\": 1, ", "\"a\": {\"int\": 1, \"float\": 2}, ", StatusCode::kInvalidArgument,
       "expected one kind"},
      {"\"a\": 1, ", "\"a\": {\"ref\": \"b\"}, ", StatusCode::kInvalidArgument,
       "expected one kind"},
      {"\"a\": 1, ", "\"a\": {\"kind\": \"int\"}, ", StatusCode::kInvalidArgument,
       "expected one kind"},
      {"\"a\": 1, ", "\"a\": {\"ref\": \"b\", \"kind\": \"x\"}, ", StatusCode::kInvalidArgument,
       "unknown kind"},
      {"\"a\": 1, ", "\"a\": {\"float\": \"NaN\"}, ", StatusCode::kInvalidArgument,
       "expected a number"},
      {"\"a\": 1, ", "\"a\": {\"float\": \"0x7fc0000\"}, ", StatusCode::kInvalidArgument,
       "expected a number"},
      {"\"a\": 1, ", "\"a\": {\"bytes\": \"a=b\"}, ", StatusCode::kInvalidArgument, "base64"},
      {"\"a\": 1, ", "\"a\": {\"bytes\": \"YQ\"}, ", StatusCode::kInvalidArgument, "base64"},
      {"\"a\": 1, ", "\"a\": {\"tensor\": {\"type\": \"float32[1]\"}}, ",
       StatusCode::kInvalidArgument, "expected one of"},
      {"\"a\": 1, ", "\"a\": {\"tensor\": {\"name\": \"a\"}}, ", StatusCode::kInvalidArgument,
       "unknown key \"name\""},
      {"\"a\": 1, ", "\"a\": {\"type\": \"what\"}, ", StatusCode::kInvalidArgument, "attrs.a.type"},
      {"\"a\": 1, ", "\"a\": {\"graph\": {\"outputs\": [[\"q\", \"?\"]]}}, ",
       StatusCode::kInvalidArgument, "output 'q' is not defined"},
      {"\"name\": \"F\", ", "", StatusCode::kInvalidArgument,
       "functions[0]: a function needs a name"},
      {"[\"a\", 1]", "[\"a\"]", StatusCode::kInvalidArgument, "defaults[0]: expected 2 items"},
      {"]})", "]}) ", StatusCode::kOk, ""},
  };
  for (const auto& row : kRows) {
    if (row.code == StatusCode::kOk) continue;
    WriteFile(Path("m.json"), Replaced(std::string(kGood), row.from, row.to));
    const absl::Status status = ReadIr(Path("m.json")).status();
    EXPECT_EQ(status.code(), row.code) << row.to << "\n" << status;
    EXPECT_NE(std::string(status.message()).find(row.message), std::string::npos)
        << row.to << "\n"
        << status << "\nexpected " << row.message;
    EXPECT_NE(std::string(status.message()).find("m.json"), std::string::npos) << status;
  }
}

TEST_F(IrTest, BrokenFilesDoNotCrash) {
  Model model = ModelOf(R"(graph net(x: float32[2], s: int64[2] = int64[2]{1, 2}) -> (y) {
    w: float32[40,2]
    a: float32[40] = matmul(w, x) { t = tensor(float32[2]{1, 2}), l = [1.0, 2.0], s = "s" }
    y: float32[40] = if(a) { then = graph b() -> (o) { o: float32[40] = relu(a) } }
  })");
  ASSERT_TRUE(WriteIr(model, Path("m.json")).ok());
  const std::string good = ReadFile(Path("m.json"));
  for (size_t n = 0; n + 2 < good.size(); n += 5) {
    WriteFile(Path("m.json"), good.substr(0, n));
    const absl::Status status = ReadIr(Path("m.json")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status << good.substr(0, n);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    std::string bad = good;
    for (size_t n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0: bad[at] ^= static_cast<char>(1 << random() % 8); break;
        case 1: bad.erase(at, random() % 20); break;
        case 2: bad.insert(at, bad.substr(random() % bad.size(), random() % 40)); break;
        case 3: bad[at] = "{}[]\",:0"[random() % 8]; break;
      }
    }
    WriteFile(Path("m.json"), bad);
    if (const auto read = ReadIr(Path("m.json")); read.ok()) {
      EXPECT_TRUE(read->graph->Validate().empty());
    }
  }
}

TEST_F(IrTest, DepthIsBounded) {
  const auto nested = [](int depth) {
    Model model;
    Graph* graph = model.graph.get();
    for (int i = 1; i < depth; ++i) {
      Node* node = graph->AppendNode(kIrDialect, "hold", {});
      auto inner = std::make_shared<Graph>("g");
      graph = inner.get();
      node->SetAttr("body", inner);
    }
    return model;
  };
  const Model deepest = nested(200);
  ASSERT_TRUE(WriteIr(deepest, Path("m.json")).ok());
  const auto read = ReadIr(Path("m.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Describe(*read), Describe(deepest));
  EXPECT_EQ(WriteIr(nested(201), Path("n.json")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(fs::exists(Path("n.json")));
  std::string text = R"({"format": "x2ir", "version": 1, "weights": [], "graph": )";
  for (int i = 0; i < 100000; ++i) text += R"({"nodes": [{"op": "f", "attrs": {"a": {"graph": )";
  WriteFile(Path("m.json"), text);
  const absl::Status status = ReadIr(Path("m.json")).status();
  EXPECT_NE(std::string(status.message()).find("more than 200 deep"), std::string::npos) << status;
  text = R"({"format": "x2ir", "version": 1, "weights": [], "graph": {"constants": [)";
  for (int i = 0; i < 100000; ++i) text += R"({"sparse_values": )";
  WriteFile(Path("m.json"), text);
  EXPECT_FALSE(ReadIr(Path("m.json")).ok());
}

TEST_F(IrTest, AFailedWriteLeavesWhatWasThere) {
  ASSERT_TRUE(WriteIr(ModelOf("graph g(x: ?) -> (x) { }"), Path("m.json")).ok());
  const std::string json = ReadFile(Path("m.json")), weights = ReadFile(Path("m.safetensors"));
  Model unnamed;
  unnamed.graph->AddNodeOutput(unnamed.graph->AppendNode(kIrDialect, "f", {}), "");
  Model undefined;
  undefined.graph->AppendNode(kIrDialect, "f", {})->SetAttr("t", Tensor());
  Model missing;
  missing.graph->AppendNode(kIrDialect, "f", {})->SetAttr("g", Attribute::GraphPtr());
  Model hiding;  // an inner "x" hides the outer one that is used
  Value* x = hiding.graph->AddInput("x", Type());
  auto inner = std::make_shared<Graph>("inner");
  inner->AddInput("x", Type());
  inner->AppendNode(kIrDialect, "f", {x});
  hiding.graph->AppendNode(kIrDialect, "f", {})->SetAttr("g", inner);
  for (const Model* model : {&unnamed, &undefined, &missing, &hiding}) {
    EXPECT_FALSE(WriteIr(*model, Path("m.json")).ok());
    EXPECT_EQ(ReadFile(Path("m.json")), json);
    EXPECT_EQ(ReadFile(Path("m.safetensors")), weights);
  }
  EXPECT_EQ(WriteIr(Model(), Path("m.safetensors")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteIr(Model(), Path("none/m.json")).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(IrTest, WeightsOfAnotherProgramMayLackOurNotes) {
  Model model;
  model.graph->AddOutput(model.graph->AddConstant("w", Counting(DType::kInt4, {7, 9})));
  ASSERT_TRUE(WriteIr(model, Path("m.json")).ok());
  const std::vector<NamedTensor> bare = {{"w", Counting(DType::kUInt8, {32})}};
  ASSERT_TRUE(WriteSafetensors(Path("m.safetensors"), bare).ok());
  const auto read = ReadIr(Path("m.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Describe(*read), Describe(model));
}

TEST(LooksLikeIrTest, KnowsItsOwn) {
  const struct {
    std::string_view text;
    bool want;
  } kRows[] = {{"{\"format\": \"x2ir\"", true},
               {" \n{\"version\":1,\"format\" :\t\"x2ir\"}", true},
               {"{\"format\": \"x2ir2\"", false},
               {"{\"format\": \"other\"}", false},
               {"[\"format\": \"x2ir\"]", false},
               {"", false},
               {"{", false},
               {"{\"format\"", false},
               {"{\"format\":", false},
               {"{\"a\": \"format\", \"format\": \"x2ir\"", true}};
  for (const auto& row : kRows) {
    EXPECT_EQ(LooksLikeIr({reinterpret_cast<const std::byte*>(row.text.data()), row.text.size()}),
              row.want)
        << row.text;
  }
}

// Time follows the nodes: ten times as many may not take much more than ten times as long.
TEST_F(IrTest, TimeIsLinear) {
  const auto seconds = [&](int nodes) {
    Model model;
    Graph& g = *model.graph;
    const Type type = Type::Tensor(DType::kFloat32, Shape{Dim::Symbol("batch"), 64});
    Value* x = g.AddInput("x", type);
    for (int i = 0; i < nodes; ++i) {
      Value* w = i % 4 == 0 ? g.AddConstant(StrCat("w", i), Tensor::Scalar(0.5f)) : x;
      Node* node = g.AppendNode(kIrDialect, "add", {x, w});
      node->set_name(StrCat("/layer/node_", i));
      node->SetAttr("alpha", 0.5f);
      x = g.AddNodeOutput(node, StrCat("value_", i), type);
    }
    g.AddOutput(x);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(WriteIr(model, Path("m.json")).ok());
    const auto middle = std::chrono::steady_clock::now();
    const auto read = ReadIr(Path("m.json"));
    const auto end = std::chrono::steady_clock::now();
    EXPECT_TRUE(read.ok()) << read.status();
    const double write_s = std::chrono::duration<double>(middle - start).count();
    const double read_s = std::chrono::duration<double>(end - middle).count();
    std::printf("%d nodes: %.1f MB, write %.3f s, read %.3f s\n", nodes,
                static_cast<double>(fs::file_size(Path("m.json"))) / 1e6, write_s, read_s);
    return write_s + read_s;
  };
  const double small = seconds(20000);
  EXPECT_LT(seconds(200000), 40 * small + 0.5);
}

}  // namespace
}  // namespace x2ir
