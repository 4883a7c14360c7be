// Local functions: calls become bodies, at the functions' own opsets, or stay with
// --keep-functions; recursion and blow-up are errors.
#include "x2ir/core/functions.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/ir/ir.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

// An op that holds graphs.
X2IR_OP(fn_hold)
    .In("c")
    .Out("y")
    .ReqAttr("a", AttrKind::kGraph)
    .ReqAttr("b", AttrKind::kGraph)
    .Infer([](InferContext&) { return absl::OkStatus(); });
X2IR_ONNX(fn_hold).Is("h::Hold", Since(1));

// A function as text; the name of its graph is its own.
struct Fn {
  std::string_view text;
  std::vector<std::string> attributes{};
  std::vector<std::pair<std::string, Attribute>> defaults{};
  int opset = 17;
  std::string overload{};
  std::string domain = "f";
};

Model Build(std::string_view graph, const std::vector<Fn>& functions, int opset = 17) {
  auto model = ModelFromText(graph, "onnx", opset, {{"f", 1}, {"h", 1}});
  EXPECT_TRUE(model.ok()) << model.status() << "\n" << graph;
  if (!model.ok()) return Model();
  model->ir_version = 10;
  for (const Fn& fn : functions) {
    auto function = std::make_shared<Function>();
    auto body = ParseGraph(fn.text);
    EXPECT_TRUE(body.ok()) << body.status() << "\n" << fn.text;
    if (!body.ok()) continue;
    function->body = *body;
    function->domain = fn.domain;
    function->name = function->body->name();
    function->overload = fn.overload;
    function->attributes = fn.attributes;
    function->attribute_defaults = fn.defaults;
    function->opset_imports = {{"", fn.opset}, {"f", 1}, {"h", 1}};
    model->functions.push_back(std::move(function));
  }
  return *std::move(model);
}

std::string IrText(Model& model, const ImportOptions& options = {}, bool names = false) {
  if (absl::Status s = ToIr(model, options); !s.ok()) return StrCat("error: ", s.ToString());
  if (const auto problems = model.graph->Validate(); !problems.empty()) {
    return StrCat("invalid: ", problems[0]);
  }
  TextOptions text;
  text.types = false;
  text.node_names = names;
  return ToText(*model.graph, text);
}

Attribute Branch(std::string_view text) { return Attribute(*ParseGraph(text)); }

TEST(Functions, Inlined) {
  const Fn twice = {"graph Twice(x: ?) -> (y) { t = onnx.Relu(x) y = onnx.Neg(t) }"};
  struct Row {
    std::string_view what, graph;
    std::vector<Fn> functions;
    std::string_view ir;  // its body, or the start of an error
  };
  const Row rows[] = {
      {"results keep their names, values inside begin with the call's",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::Twice(x) \"call\" }",
       {twice},
       "call/t = relu(x) z = neg(call/t)"},
      {"no name: the result's",
       "graph g(x: float32[2]) -> (z) { h = onnx.f::Twice(x) z = onnx.f::Twice(h) }",
       {twice},
       "h/t = relu(x) h = neg(h/t) z/t = relu(h) z = neg(z/t)"},
      {"nested calls",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::Outer(x) }",
       {{"graph Outer(a: ?) -> (b) { c = onnx.f::Twice(a) b = onnx.Abs(c) }"}, twice},
       "z/c/t = relu(x) z/c = neg(z/c/t) z = abs(z/c)"},
      {"a body in any order",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { y = onnx.Neg(t) t = onnx.Relu(x) }"}},
       "z/t = relu(x) z = neg(z/t)"},
      {"inside of a nested graph",
       "graph g(c: bool[], x: float32[2]) -> (z) { z = onnx.h::Hold(c) { a = graph t() -> (p) "
       "{ p = onnx.f::Twice(x) }, b = graph e() -> (q) { q = onnx.f::Twice(x) } } }",
       {twice},
       "z = fn_hold(c) { a = graph t() -> (p) { p/t = relu(x) p = neg(p/t) }, "
       "b = graph e() -> (q) { q/t = relu(x) q = neg(q/t) } }"},
      {"a function goes before a standard op",
       "graph g(x: float32[2]) -> (z) { z = onnx.Relu(x) }",
       {{"graph Relu(x: ?) -> (y) { y = onnx.Neg(x) }", {}, {}, 17, "", ""}},
       "z = neg(x)"},
      {"the other spelling of the default domain",
       "graph g(x: float32[2]) -> (z) { z = onnx.Relu(x) }",
       {{"graph Relu(x: ?) -> (y) { y = onnx.Neg(x) }", {}, {}, 17, "", "ai.onnx"}},
       "z = neg(x)"},
      {"operands left out are left out inside",
       "graph g(x: float32[2], hi: float32[]) -> (z) { z = onnx.f::F(x, _, hi) }",
       {{"graph F(x: ?, lo: ?, hi: ?) -> (y) { y = onnx.Clip(x, lo, hi) }"}},
       "z = clip(x, _, hi)"},
      {"operands left out at the end",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?, lo: ?, hi: ?) -> (y) { y = onnx.Clip(x, lo, hi) }"}},
       "z = clip(x)"},
      {"results left out",
       "graph g(x: float32[2]) -> (z) { _, z = onnx.f::F(x) w = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y, z) { y = onnx.Neg(x) z = onnx.Abs(y) }"}},
       "z/y = neg(x) z = abs(z/y) w = neg(x) w/z = abs(w)"},
      {"an operand as a result",
       "graph g(x: float32[2]) -> (z) { h = onnx.f::F(x) z = onnx.Neg(h) }",
       {{"graph F(x: ?) -> (x) {}"}},
       "z = neg(x)"},
      {"an operand as a result of the model",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (x) {}"}},
       "z = identity(x)"},
      {"one result twice",
       "graph g(x: float32[2]) -> (z, w) { z, w = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y, y) { y = onnx.Neg(x) }"}},
       "z = neg(x) w = identity(z)"},
      {"attributes: of the call, defaults, and absent ones",
       "graph g(x: float32[2]) -> (a, b) { a = onnx.f::F(x) { k = 0.5 } b = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { t = onnx.LeakyRelu(x) { alpha = ref(k: float) } "
         "y = onnx.Selu(t) { alpha = ref(m: float) } }",
         {"k"},
         {{"m", 2.0f}}}},
       "a/t = leaky_relu(x) { alpha = 0.5 } a = selu(a/t) { alpha = 2., gamma = 1.050701 } "
       "b/t = leaky_relu(x) { alpha = 0.01 } b = selu(b/t) { alpha = 2., gamma = 1.050701 }"},
      {"attributes handed on",
       "graph g(x: float32[2]) -> (a, b) { a = onnx.f::G(x) { n = 0.5 } b = onnx.f::G(x) }",
       {{"graph F(x: ?) -> (y) { y = onnx.LeakyRelu(x) { alpha = ref(k: float) } }",
         {},
         {{"k", 4.0f}}},
        {"graph G(x: ?) -> (y) { y = onnx.f::F(x) { k = ref(n: float) } }", {"n"}}},
       "a = leaky_relu(x) { alpha = 0.5 } b = leaky_relu(x) { alpha = 4. }"},
      {"references inside of nested graphs, and a name that would hide one of the model's",
       "graph g(c: bool[], x: float32[2], p: float32[2]) -> (z) "
       "{ z = onnx.f::F(c, x) { k = 0.5 } }",
       {{"graph F(c: ?, x: ?) -> (y) { y = onnx.h::Hold(c) { "
         "a = graph t() -> (p) { p = onnx.LeakyRelu(x) { alpha = ref(k: float) } }, "
         "b = graph e() -> (q) { q = onnx.Neg(x) } } }",
         {"k"}}},
       "z = fn_hold(c) { a = graph t() -> (p_1) { p_1 = leaky_relu(x) { alpha = 0.5 } }, "
       "b = graph e() -> (q) { q = neg(x) } }"},
      {"a graph as an attribute",
       "graph g(c: bool[], x: float32[2]) -> (z) { z = onnx.f::F(c) { "
       "body = graph b() -> (p) { p = onnx.Neg(x) } } }",
       {{"graph F(c: ?) -> (y) { y = onnx.h::Hold(c) { a = ref(body: graph), "
         "b = ref(body: graph) } }",
         {"body"}}},
       "z = fn_hold(c) { a = graph b() -> (p) { p = neg(x) }, "
       "b = graph b() -> (p) { p = neg(x) } }"},
      {"a graph as a default",
       "graph g(c: bool[]) -> (z) { z = onnx.f::F(c) }",
       {{"graph F(c: ?) -> (y) { y = onnx.h::Hold(c) { a = ref(body: graph), "
         "b = ref(body: graph) } }",
         {},
         {{"body", Branch("graph b() -> (p) { p = onnx.Constant() { value_float = 1.5 } }")}}}},
       "z = fn_hold(c) { a = graph b() -> (p) { p = float32[]{1.5} }, "
       "b = graph b() -> (p) { p = float32[]{1.5} } }"},
      {"a function's own opset, and one inside of it",
       "graph g(x: float32[2,3]) -> (y) { y = onnx.f::Outer(x) }",
       {{"graph Old(x: ?) -> (y) { y = onnx.ReduceSum(x) { axes = [1], keepdims = 0 } }",
         {},
         {},
         11},
        {"graph Outer(x: ?) -> (y) { a = onnx.Constant() { value_ints = [1] } "
         "t = onnx.f::Old(x) y = onnx.Unsqueeze(t, a) }",
         {},
         {},
         13}},
       "y/a = int64[1]{1} y/t_axes = int64[1]{1} y/t = reduce_sum(x, y/t_axes) { keepdims = 0, "
       "noop_with_empty_axes = 0 } y = unsqueeze(y/t, y/a)"},
      {"types of the model count, not names of sizes in the function",
       "graph g(x: float32[n,3]) -> (y) { y = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { t: float32[n,n] = onnx.Transpose(x) y = onnx.Neg(t) }"}},
       "y/t = transpose(x) { perm = [1, 0] } y = neg(y/t)"},

      {"recursion",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::A(x) }",
       {{"graph A(x: ?) -> (y) { y = onnx.f::A(x) }"}},
       "error: INVALID_ARGUMENT: a function must not call itself: 'f::A' calls 'f::A'"},
      {"mutual recursion, in a nested graph",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::A(x) }",
       {{"graph A(x: ?) -> (y) { y = onnx.f::B(x) }"},
        {"graph B(x: ?) -> (y) { y = onnx.h::Hold(x) { a = graph t() -> (p) "
         "{ p = onnx.f::A(x) }, b = graph e() -> (q) { q = onnx.Neg(x) } } }"}},
       "error: INVALID_ARGUMENT: a function must not call itself: 'f::A' calls 'f::B' calls "
       "'f::A'"},
      {"too many operands",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::Twice(x, x) }",
       {twice},
       "takes 1 operands, got 2"},
      {"too many results",
       "graph g(x: float32[2]) -> (z) { z, w = onnx.f::Twice(x) }",
       {twice},
       "gives 1 results, not 2"},
      {"an attribute that it has not",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::Twice(x) { k = 1 } }",
       {twice},
       "the function has no attribute 'k'"},
      {"an attribute of another kind",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) { k = 1 } }",
       {{"graph F(x: ?) -> (y) { y = onnx.LeakyRelu(x) { alpha = ref(k: float) } }", {"k"}}},
       "attribute 'k' is used as float, but is int"},
      {"the same, in a nested graph that uses values of the body",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) { k = 1 } }",
       {{"graph F(x: ?) -> (y) { t = onnx.Relu(x) u = onnx.Relu(t) y = onnx.h::Hold(u) { a = "
         "graph a() -> (p) { p = onnx.Add(t, u) }, b = graph b() -> (q) { q = onnx.LeakyRelu(t) { "
         "alpha = ref(k: float) } } } }",
         {"k"}}},
       "attribute 'k' is used as float, but is int"},
      {"a default that holds itself",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { y = onnx.h::Hold(x) { a = ref(g: graph), b = ref(g: graph) } }",
         {},
         {{"g",
           Branch(
               "graph b(i: float32[]) -> (p) { p = onnx.h::Hold(i) { a = ref(g: graph), b = ref(g: "
               "graph) } }")}}}},
       "graphs are nested more than 200 deep"},
      {"an operand left out as a result of a nested graph",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?, w: ?) -> (y) { y = onnx.h::Hold(x) { a = graph a() -> (w) {}, b = graph "
         "b() -> (x) {} } }"}},
       "an output of a nested graph is a missing operand"},
      {"a reference outside of functions",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) { k = ref(k: float) } }",
       {{"graph F(x: ?) -> (y) { y = onnx.LeakyRelu(x) { alpha = ref(k: float) } }", {"k"}}},
       "attribute 'k' refers to an attribute of a function, but is not in a function"},
      {"a result that is an operand left out",
       "graph g(x: float32[2]) -> (z) { y, z = onnx.f::F(x) }",
       {{"graph F(x: ?, w: ?) -> (x, w) {}"}},
       "result 1 is a missing operand"},
      {"an opset that is not known yet",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { y = onnx.Neg(x) }", {}, {}, 999}},
       "UNIMPLEMENTED"},
      {"an op that its opset has not",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { y = onnx.Gelu(x) }", {}, {}, 17}},
       "in function 'F': does not exist at opset 17"},
      {"a foreign op of another opset",
       "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }",
       {{"graph F(x: ?) -> (y) { y = onnx.g::Op(x) }"}},
       "the function imports no opset of domain 'g'"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Model model = Build(row.graph, row.functions);
    const std::string got = IrText(model);
    if (!got.starts_with("graph ")) {
      EXPECT_THAT(got, HasSubstr(std::string(row.ir)));
      continue;
    }
    const std::string head(row.graph.substr(0, row.graph.find('{')));
    EXPECT_EQ(Body(got), Body(Canonical(StrCat(head, "{", row.ir, "}"))));
    EXPECT_TRUE(model.functions.empty());
  }
}

TEST(Functions, Overloads) {
  Model model = Build("graph g(x: float32[2]) -> (a, b) { a = onnx.f::F(x) b = onnx.f::F(x) }",
                      {{"graph F(x: ?) -> (y) { y = onnx.Neg(x) }"},
                       {"graph F(x: ?) -> (y) { y = onnx.Abs(x) }", {}, {}, 17, "o"}});
  model.graph->last()->annotations().GetOrMake().extra["onnx.overload"] = "o";
  EXPECT_EQ(Body(IrText(model)), "a = neg(x)\nb = abs(x)\n");
}

TEST(Functions, NamesOfNodesAreUnique) {
  Model model =
      Build("graph g(x: float32[2]) -> (z) { h = onnx.f::F(x) \"n\" z = onnx.f::F(h) \"n\" }",
            {{"graph F(x: ?) -> (y) { y = onnx.Neg(x) \"neg\" }"}});
  EXPECT_EQ(Body(IrText(model, {}, true)), "h = neg(x) \"n/neg\"\nz = neg(h) \"n/neg_2\"\n");
}

// Every function calls the one before it twice.
std::vector<Fn> Laughs(int n, std::vector<std::string>& texts) {
  std::vector<Fn> functions;
  for (int i = 0; i < n; ++i) {
    texts.push_back(i == 0 ? "graph F0(x: ?) -> (y) { y = onnx.Neg(x) }"
                           : StrCat("graph F", i, "(x: ?) -> (y) { t = onnx.f::F", i - 1,
                                    "(x) y = onnx.f::F", i - 1, "(t) }"));
  }
  for (const std::string& text : texts) functions.push_back({text});
  return functions;
}

TEST(Functions, BlowUpIsBounded) {
  std::vector<std::string> texts;
  Model model = Build("graph g(x: float32[2]) -> (z) { z = onnx.f::F40(x) }", Laughs(41, texts));
  EXPECT_THAT(IrText(model), HasSubstr("local functions, inlined, take more than"));
}

TEST(Functions, DepthIsBounded) {
  std::vector<std::string> texts = {"graph F0(x: ?) -> (y) { y = onnx.Neg(x) }"};
  for (int i = 1; i < 3000; ++i) {
    texts.push_back(StrCat("graph F", i, "(x: ?) -> (y) { y = onnx.f::F", i - 1, "(x) }"));
  }
  std::vector<Fn> functions;
  for (const std::string& text : texts) functions.push_back({text});
  Model model = Build("graph g(x: float32[2]) -> (z) { z = onnx.f::F2999(x) }", functions);
  EXPECT_THAT(IrText(model), HasSubstr("calls of functions are nested more than 200 deep"));
}

// Each function hands on a graph that holds the one it got twice.
TEST(Functions, GraphsHandedOnAreBounded) {
  std::vector<std::string> texts = {
      "graph F0(c: ?) -> (y) { y = onnx.h::Hold(c) { a = ref(g: graph), b = ref(g: "
      "graph) } }"};
  for (int i = 1; i < 60; ++i) {
    texts.push_back(
        StrCat("graph F", i, "(c: ?) -> (y) { y = onnx.f::F", i - 1,
               "(c) { g = graph b() -> (p) { p = onnx.h::Hold(c) { a = ref(g: graph), b = "
               "ref(g: graph) } } } }"));
  }
  std::vector<Fn> functions;
  for (const std::string& text : texts) functions.push_back({text, {"g"}});
  Model model = Build(
      "graph g(c: bool[], x: float32[2]) -> (z) { z = onnx.f::F59(c) { g = graph b() -> (p) { p = "
      "onnx.Neg(x) } } }",
      functions);
  EXPECT_THAT(IrText(model), HasSubstr("local functions, inlined, take more than"));
}

TEST(Functions, ForeignOpsInside) {
  ImportOptions options;
  options.foreign.domains = {"f"};
  const std::string_view graph = "graph g(x: float32[2]) -> (z) { z = onnx.f::F(x) }";
  Model same = Build(graph, {{"graph F(x: ?) -> (y) { y = onnx.f::NoSuch(x) }"}});
  EXPECT_EQ(Body(IrText(same, options)), "z = onnx.f::NoSuch(x)\n");
  Model other = Build(graph, {{"graph F(x: ?) -> (y) { y = onnx.f::NoSuch(x) }"}});
  other.functions[0]->opset_imports[1].version = 2;
  EXPECT_THAT(IrText(other, options), HasSubstr("it is in a function of opset 2"));
  Model fresh = Build(graph, {{"graph F(x: ?) -> (y) { y = onnx.new::Op(x) }"}});
  fresh.functions[0]->opset_imports.push_back({"new", 3});
  options.foreign.domains = {"new"};
  EXPECT_EQ(Body(IrText(fresh, options)), "z = onnx.new::Op(x)\n");
  EXPECT_EQ(fresh.Opset("new"), 3);
}

// --- --keep-functions ---------------------------------------------------------------------------

using KeepFunctions = TempDirTest;

TEST_F(KeepFunctions, ThroughFilesAndBack) {
  const std::string_view graph =
      "graph g(x: float32[2]) -> (z) { h = onnx.f::F(x) { k = 0.5 } z = onnx.Neg(h) }";
  Model model =
      Build(graph, {{"graph F(x: ?) -> (y) { y = onnx.h::Hold(c) { a = graph t() -> (p) { p = "
                     "onnx.LeakyRelu(x) { alpha = ref(k: float) } }, b = graph e() -> (q) "
                     "{ q = onnx.f::G(x) { m = ref(m: int) } } } c = onnx.Constant() { value = "
                     "tensor(bool[]{1}) } }",
                     {"k"},
                     {{"m", 3}}},
                    {"graph G(x: ?) -> (y) { y = onnx.Neg(x) }", {"m"}},
                    {"graph Unused(x: ?) -> (y) { y = onnx.Abs(x) }"}});
  const auto texts = [](const Model& m) {
    std::vector<std::string> result;
    for (const auto& f : m.functions) {
      std::string text = StrCat(f->domain, ":", f->name, ":", f->overload, " ");
      for (const std::string& attr : f->attributes) StrAppend(&text, attr, " ");
      for (const auto& [name, attr] : f->attribute_defaults) {
        StrAppend(&text, name, "=", attr.ToString(), " ");
      }
      for (const OpsetImport& i : f->opset_imports) StrAppend(&text, i.domain, i.version, " ");
      result.push_back(text + ToText(*f->body));
    }
    return result;
  };
  // As a file of ONNX has them: sorted.
  for (const auto& f : model.functions) ASSERT_TRUE(f->body->Sort().ok());
  const std::vector<std::string> before = texts(model);
  ASSERT_TRUE(WriteOnnx(model, Path("a.onnx")).ok());

  ImportOptions keep;
  keep.keep_functions = true;
  auto ir = Import(Path("a.onnx"), keep);
  ASSERT_TRUE(ir.ok()) << ir.status();
  TextOptions plain;
  plain.types = false;
  EXPECT_EQ(Body(ToText(*ir->graph, plain)), "h = onnx.f::F(x) { k = 0.5 }\nz = neg(h)\n");
  ASSERT_TRUE(Write(*ir, Path("a.json")).ok());
  auto read = Load(Path("a.json"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(texts(*read), before);

  absl::Status exported = Export(*std::move(read), Path("b.onnx"));
  ASSERT_TRUE(exported.ok()) << exported;
  auto back = Load(Path("b.onnx"));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(texts(*back), before);
  EXPECT_EQ(Body(ToText(*back->graph, plain)), "h = onnx.f::F(x) { k = 0.5 }\nz = onnx.Neg(h)\n");

  // An IR file with functions can still be written out.
  auto again = Import(Path("a.json"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->functions.empty());
  EXPECT_THAT(ToText(*again->graph), HasSubstr("leaky_relu(x) { alpha = 0.5 }"));
}

TEST_F(KeepFunctions, ExportAtAnotherOpset) {
  ImportOptions keep;
  keep.keep_functions = true;
  const std::string_view graph = "graph g(x: float32[2,2]) -> (z) { z = onnx.f::F(x) }";
  const auto run = [&](std::string_view function, int opset) {
    Model model = Build(graph, {{function, {}, {}, 11}}, 11);
    if (absl::Status s = ToIr(model, keep); !s.ok()) return s.ToString();
    ExportOptions options;
    options.opset = opset;
    return FromIr(model, "onnx", options).ToString();
  };
  const std::string_view same = "graph F(x: ?) -> (y) { y = onnx.LeakyRelu(x) }";
  EXPECT_EQ(run(same, 11), "OK");
  EXPECT_EQ(run(same, 15), "OK");
  EXPECT_THAT(run(same, 16), HasSubstr("its op LeakyRelu has another meaning"));
}

// Functions of IR files whose bodies are IR (docs/ir_format.md).
TEST_F(KeepFunctions, InstancesOfAnIrFile) {
  const struct {
    const char *graph, *want;
  } rows[] = {
      {"z = tf.F(x)", "z = onnx.func::F(x)\n"},
      {"z = tf.F(x, x)", "error: function 'F' has 1 operands and 1 results; a call has 2 and 1"},
      {"z = tf.F(_)", "error: a call of function 'F' leaves out an operand"},
      {"z, v = tf.F(x)", "error: function 'F' has 1 operands and 1 results; a call has 1 and 2"},
      {"c = concat(x, x) { axis = 0 } z = tf.F(c)",
       "error: function 'F' was converted for an operand of type float32[2], but 'c' is found to "
       "be "
       "float32[4]; it can only be inlined"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.graph);
    Model model = Build(StrCat("graph g(x: float32[2]) -> (z) { ", row.graph, " }"),
                        {{"graph F(x: float32[2]) -> (y) { y = neg(x) }"}});
    model.source_dialect = "tf";
    model.opset_imports = {{"", 1}};
    model.functions[0]->domain.clear();
    model.functions[0]->opset_imports.clear();
    ASSERT_TRUE(Write(model, Path("a.json")).ok());
    auto read = Load(Path("a.json"));
    ASSERT_TRUE(read.ok()) << read.status();
    for (Node* node : read->graph->nodes()) ASSERT_TRUE(InferNode(*node).ok());
    const auto onnx = FromIr(*std::move(read), "onnx");
    if (onnx.ok()) {
      TextOptions plain;
      plain.types = false;
      EXPECT_EQ(Body(ToText(*onnx->graph, plain)), row.want);
      ASSERT_EQ(onnx->functions.size(), 1u);
      EXPECT_EQ(Body(ToText(*onnx->functions[0]->body, plain)), "y = onnx.Neg(x)\n");
      EXPECT_EQ(onnx->Opset("func"), 1);
    } else {
      EXPECT_EQ(StrCat("error: ", std::string(onnx.status().message())), row.want);
    }
  }
}

}  // namespace
}  // namespace x2ir
