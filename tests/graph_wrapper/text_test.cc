// Graph text: printing what was parsed gives the same text; errors say where.
#include "x2ir/graph_wrapper/text.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace x2ir {
namespace {

// Text that is already as the printer writes it.
TEST(TextTest, RoundTrip) {
  const std::string rows[] = {
      "graph() -> () {\n}\n",
      R"(graph mlp(x: float32[batch,4]) -> (y: float32[batch,2]) {
  w: float32[4,20]
  b = float32[2]{0.5, -1}
  h: float32[batch,2] = matmul(x, w)
  s, m: float32[2], int64[2] = topk(h, b) { axis = -1, largest = 1 }
  y: float32[batch,2] = onnx.com.acme::Foo(h, _, s) { alpha = 0.5 }
}
)",
      R"(graph "my graph"("a b", y: undefined[]) -> () {
}
)",
      R"(graph g(x: float32[2] = float32[2]{1, 2}, big: int8[1000] = int8[1000], z) -> (x: float32[2], z, z) {
}
)",
      R"(graph g(/in/x.1, onnx::Conv_193, "193", "a:0", "_", "a b\n", "\"q\"") -> (a-b) {
  a-b = op(/in/x.1, onnx::Conv_193, "193", "a:0", "_", "a b\n", "\"q\"")
}
)",
      R"(graph g(%0) -> (%3) {
  %1 = float32[]{2}
  %2 = add(%0, %1)
  %3 = mul(%2, %2)
}
)",
      R"(graph g(x) -> () {
  () = print(x)
  _ = drop(x)
  a, _, c: float32[2], ?, int64[] = three()
}
)",
      R"(graph kinds() -> () {
  () = a() { i = -9223372036854775808, f = 1.0, g = 1e+20, h = 1e-45, d = 1.5d, e = 1d }
  () = b() { nan = nan, inf = inf, neg = -inf, nand = nand, infd = -infd, zero = -0.0 }
  () = c() { s = "a\"\\\n\u0001", ints = [1, -2], floats = [1.0, nan, -0.5], strings = ["", "b"] }
  () = d() { a = []:ints, b = []:floats, c = []:strings, d = []:tensors, e = []:graphs, f = []:types }
  () = e() { t = tensor(float32[2]{1, 2}), u = tensor(float32[1000]), v = [tensor(int8[]{1}), tensor(bool[0]{})] }
  () = f() { t = type(float32[2,n]), l = [type(sequence(?)), type(?)], r = ref(alpha: float), "a b" = 1, n = null }
}
)",
      R"(graph elements() -> () {
  f32 = float32[7]{0.1, -0, 1e+10, 3.4028235e+38, nan, inf, -inf}
  f64 = float64[2]{0.1, 5e-324}
  f16 = float16[5]{0.1, 65504, 6e-08, inf, nan}
  bf16 = bfloat16[3]{0.1, 3.39e+38, -0}
  f8 = float8e4m3fn[3]{0.1, 448, nan}
  f8b = float8e5m2[3]{0.09, inf, -57344}
  f8c = float8e4m3fnuz[2]{240, nan}
  f8d = float8e5m2fnuz[2]{0.5, nan}
  e8 = float8e8m0[3]{1, 0.5, nan}
  f4 = float4e2m1[3]{0.5, -6, 1.5}
  i64 = int64[2]{9223372036854775807, -9223372036854775808}
  u64 = uint64[1]{18446744073709551615}
  i8 = int8[2]{-128, 127}
  i4 = int4[3]{-8, 7, -1}
  u4 = uint4[3]{0, 15, 8}
  i2 = int2[5]{-2, -1, 0, 1, -2}
  u2 = uint2[5]{0, 1, 2, 3, 0}
  b = bool[2]{true, false}
  s = string[2]{"a\n", "\u007f"}
  c64 = complex64[2]{(1, -0.5), (nan, inf)}
  c128 = complex128[1]{(0.1, 0)}
  empty = float32[2,0]{}
  strings: string[9]
  sparse: sparse(float32[3,3])
}
)",
      R"(graph outer(c: bool[], x: float32[2]) -> (y) {
  k = float32[]{3}
  y = if(c) {
    then_branch = graph then() -> (t: float32[2]) {
      t: float32[2] = mul(x, k)
    },
    else_branch = graph else() -> (x) {
      u = float32[1]{7}
      %0 = add(x, u)
      () = nest(%0) {
        bodies = [graph a() -> (%0) {
        }, graph() -> (%1) {
          %1 = neg(%0)
        }]
      }
    }
  }
  "z z" = relu(y)
}
)",
      R"(graph foreign(x) -> () {
  a = tf.Add(x, x)
  b = onnx.Relu(x)
  c = "my dialect"."odd op"(x)
  d = "odd.op"(x)
  e = onnx."(("(x)
}
)",
  };
  for (const std::string& text : rows) {
    const auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << text;
    EXPECT_EQ(ToText(**graph), text);
    EXPECT_EQ(ToText(*(*graph)->Clone()), text);
  }
}

// Text in other dress, and how the printer writes it.
TEST(TextTest, ReadsLoosely) {
  const std::tuple<std::string, std::string> rows[] = {
      {"graph(x)->(y){y=relu(x)}", "graph(x) -> (y) {\n  y = relu(x)\n}\n"},
      // Constants by first use; operands before their definition; an output's type.
      {R"(graph g(x) -> (y: f32[2]) {  # a comment
            unused: int8[9]
            b = f32[2]{1,2}   # second
            y = add(h, b)  h = mul(x, a)
            a: float[1,2]
          })",
       R"(graph g(x) -> (y: float32[2]) {
  b = float32[2]{1, 2}
  a = float32[1,2]{0, 0}
  unused: int8[9]
  y: float32[2] = add(h, b)
  h = mul(x, a)
}
)"},
      {"graph g(x) -> () { y = a(x) {} z = b(x) { l = [1, 2.5], d = 1e3d, p = +inf } }",
       "graph g(x) -> () {\n  y = a(x)\n  z = b(x) { l = [1.0, 2.5], d = 1000d, p = inf }\n}\n"},
      {"graph g(x) -> () { y = a(x) \"node\" \"z\" = b(x) { s = \"\\u00e9\\ud83d\\ude00\\/\" } }",
       "graph g(x) -> () {\n  y = a(x)\n  z = b(x) { s = \"\xc3\xa9\xf0\x9f\x98\x80/\" }\n}\n"},
      {"graph g() -> () { b = bool[2]{1, 0} }",
       "graph g() -> () {\n  b = bool[2]{true, false}\n}\n"},
      {"graph g() -> () { %7 = a() %3 = b(%7) }",
       "graph g() -> () {\n  %0 = a()\n  %1 = b(%0)\n}\n"},
  };
  for (const auto& [text, want] : rows) {
    const auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << text;
    EXPECT_EQ(ToText(**graph), want);
    EXPECT_EQ(ToText(**ParseGraph(want)), want);
  }
}

// Every bit pattern of the small formats comes back (but NaNs only as some NaN).
TEST(TextTest, SmallFloatsRoundTrip) {
  for (const DType dtype :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
        DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0, DType::kFloat4E2M1}) {
    const int64_t count = int64_t{1} << BitWidth(dtype);
    Tensor tensor = Tensor::Zeros(dtype, {count});
    const auto bytes = tensor.mutable_bytes();
    for (int64_t i = 0; i < static_cast<int64_t>(bytes.size()); ++i) {
      const int64_t pattern = BitWidth(dtype) == 16  ? i / 2 >> 8 * (i % 2)
                              : BitWidth(dtype) == 4 ? (2 * i) | (2 * i + 1) << 4
                                                     : i;
      bytes[i] = static_cast<std::byte>(pattern);
    }
    Graph graph;
    graph.AddConstant("c", tensor);
    const auto back = ParseGraph(ToText(graph, {.max_constant_elements = 1 << 16}));
    ASSERT_TRUE(back.ok()) << back.status();
    const Tensor& got = *(*back)->Find("c")->constant();
    ASSERT_EQ(got.type(), tensor.type());
    for (int64_t i = 0; i < count; ++i) {
      const double want = tensor.AsDouble(i), value = got.AsDouble(i);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(value)) << Name(dtype) << " " << i;
      } else {
        ASSERT_EQ(value, want) << Name(dtype) << " " << i;
        ASSERT_EQ(std::signbit(value), std::signbit(want)) << Name(dtype) << " " << i;
      }
    }
  }
}

TEST(TextTest, Options) {
  const auto graph = ParseGraph(R"(graph g(x: float32[2]) -> (y) {
    k = float32[3]{1, 2, 3}
    y: float32[2] = if(x, k) { body = graph b() -> (x) {} } "the node"
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Node& node = *(*graph)->first();
  EXPECT_EQ(node.name(), "the node");
  EXPECT_EQ(ToText(**graph, {.max_constant_elements = 2, .types = false, .node_names = true}),
            R"(graph g(x: float32[2]) -> (y) {
  k: float32[3]
  y = if(x, k) {
    body = graph b() -> (x) {
    }
  } "the node"
}
)");
  EXPECT_EQ(ToText(node), "y: float32[2] = if(x, k) { body = graph b { ... } }");
  EXPECT_EQ(AttributeText(*node.attrs().Find("body")), "graph b() -> (x) {\n}");
  EXPECT_EQ(Attribute(0.5f).ToString(), "0.5");
}

TEST(TextTest, NestedGraphsSeeOuterValues) {
  const auto graph = ParseGraph(R"(graph g(x) -> (z) {
    y = if(x) { then_branch = graph t() -> (late) { x = id(x) a = neg(late) b = abs(x) } }
    late = relu(y)
    z = relu(late)
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Graph& inner = *(*graph)->first()->subgraphs().at(0);
  EXPECT_EQ(inner.outputs()[0], (*graph)->Find("late"));
  // The inner x shadows the outer one, even where it is used before its definition.
  EXPECT_EQ(inner.first()->input(0), inner.Find("x"));
  EXPECT_EQ(inner.last()->input(0), inner.Find("x"));
  EXPECT_EQ((*graph)->Find("late")->uses().size(), 2u);
  EXPECT_EQ((*graph)->Find("x")->uses().size(), 1u);
}

TEST(TextTest, Errors) {
  // text, where, what
  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"", "line 1, column 1", "expected 'graph'"},
      {"graph g(x) -> (y) {\n  y = relu(q)\n}", "line 2, column 12", "unknown value 'q'"},
      {"graph g(x) -> (y) {\n}", "line 1, column 16", "unknown value 'y'"},
      {"graph g(x) -> () {\n  x = relu(x)\n}", "line 2, column 3", "'x' is defined twice"},
      {"graph g(x, x) -> () {}", "line 1, column 12", "'x' is defined twice"},
      {"graph g() -> () {\n a, a = f() }", "line 2", "'a' is defined twice"},
      {"graph g() -> () { %0 = f() %0 = f() }", "line 1, column 28", "'%0' is defined twice"},
      {"graph g() -> () {", "line 1, column 18", "expected a name"},
      {"graph g() -> () {} x", "line 1, column 20", "expected the end"},
      {"graph g() -> () { w }", "line 1", "expected '=' or ':'"},
      {"graph g() -> () { w: float32[n] }", "line 1, column 19", "needs an element type"},
      {"graph g() -> () { w: sequence(?) }", "line 1", "a constant is a tensor"},
      {"graph g() -> () { w: float32[99999999999] }", "line 1", "too large"},
      {"graph g() -> () { w: float32[9999999999,9999999999] }", "line 1", "as large as"},
      {"graph g() -> () { w: string[999999999999] }", "line 1", "too large"},
      {"graph g() -> () { w = float32[2]{1} }", "column 23", "expected 2 elements, got 1"},
      {"graph g() -> () { w = float32[2]{1, 2, 3} }", "column 23", "expected 2 elements, got 3"},
      {"graph g() -> () { w = float32[99999999999,99999999999]{1} }", "column 23", "as large as"},
      {"graph g() -> () { w = int8[1]{128} }", "column 31", "expected an element of int8"},
      {"graph g() -> () { w = uint4[1]{-1} }", "column 32", "expected an element of uint4"},
      {"graph g() -> () { w = float32[1]{1e99} }", "column 34", "expected an element"},
      {"graph g() -> () { w = float32[1]{1 2} }", "column 36", "expected ',' or '}'"},
      {"graph g() -> () { w = complex64[1]{1} }", "column 36", "expected an element"},
      {"graph g() -> () { a, b = float32[1]{1} }", "column 26", "one name"},
      {"graph g() -> () { a: int8[1] = float32[1]{1} }", "column 19", "expected int8[1]"},
      {"graph g() -> () { a, b: ? = f() }", "line 1", "expected 2 types, got 1"},
      {"graph g() -> () { a = f() { x = 1, x = 2 } }", "column 36", "given twice"},
      {"graph g() -> () { a = f() { x = } }", "column 33", "value of an attribute"},
      {"graph g() -> () { a = f() { x = 99999999999999999999 } }", "column 33", "out of range"},
      {"graph g() -> () { a = f() { x = 1e99 } }", "column 33", "out of range"},
      {"graph g() -> () { a = f() { x = 1.5.2 } }", "column 33", "not a number"},
      {"graph g() -> () { a = f() { x = [1, \"a\"] } }", "column 37", "different kinds"},
      {"graph g() -> () { a = f() { x = [1d] } }", "line 1", "no lists of double"},
      {"graph g() -> () { a = f() { x = [] } }", "column 36", "expected ':'"},
      {"graph g() -> () { a = f() { x = []:int } }", "line 1", "empty list"},
      {"graph g() -> () { a = f() { x = [[1]] } }", "line 1", "value of an attribute"},
      {"graph g() -> () { a = f() { x = ref(a: foo) } }", "column 40", "kind of attribute"},
      {"graph g() -> () { a = f() { x = \"abc } }", "column 33", "does not end"},
      {"graph g() -> () { a = f(\"\") }", "column 25", "cannot be empty"},
      {"graph g(_) -> () {}", "line 1", "left out"},
      {"graph g() -> (_) {}", "line 1", "left out"},
      {"graph g(x: foo[2]) -> () {}", "line 1, column 12", "unknown element type"},
      {"graph g() -> () { % = f() }", "line 1", "number after %"},
      {"graph g() -> () { a = (x) }", "column 23", "expected an op"},
      {"graph g() -> () { a = onnx.(x) }", "column 28", "expected an op"},
  };
  for (const auto& [text, where, what] : rows) {
    const auto graph = ParseGraph(text);
    ASSERT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument) << text;
    const std::string message(graph.status().message());
    EXPECT_NE(message.find(where), std::string::npos) << message << "\n" << text;
    EXPECT_NE(message.find(what), std::string::npos) << message << "\n" << text;
  }
}

TEST(TextTest, DeepNestingIsRefused) {
  auto nested = [](int depth) {
    std::string text, close;
    for (int i = 0; i < depth; ++i) {
      text += "graph() -> () { () = f() { b = ";
      close += "} }";
    }
    return text + "graph() -> () {}" + close;
  };
  EXPECT_TRUE(ParseGraph(nested(150)).ok());
  const auto graph = ParseGraph(nested(10000));
  EXPECT_NE(graph.status().message().find("nested too deeply"), std::string_view::npos);
}

// No bytes crash the parser; whatever it accepts prints and parses to the same text.
TEST(TextTest, SurvivesMutations) {
  const std::string seed = R"(graph g(x: float32[n,2*m+1], c = bool[]{true}) -> (y: ?) {
  w: float32[4,2]
  b = float16[2]{0.5, -1}
  "q\n", _: int64[], ? = onnx.com.acme::Foo(x, _, %0) { a = 1.5d, l = [1, 2], t = type(map(string, ?)) }
  %0 = if(c) { body = graph h(i) -> (x) { j = neg(late) }, r = ref(z: ints), e = []:ints } "name"
  late = string[1]{"\u0001"}
  y = tail(b, w) { t = tensor(int4[2]{-8, 7}) }
})";
  ASSERT_TRUE(ParseGraph(seed).ok()) << ParseGraph(seed).status();
  std::mt19937 random(11);
  int accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = seed;
    for (int edits = 1 + random() % 3; edits > 0 && !text.empty(); --edits) {
      const size_t at = random() % text.size();
      switch (random() % 5) {
        case 0: text.erase(at, 1 + random() % 8); break;
        case 1: text[at] = static_cast<char>(random()); break;
        case 2: text.insert(at, 1, "{}()[],:=\"%_#.-0n"[random() % 17]); break;
        case 3: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
        case 4: text.resize(at); break;
      }
    }
    const auto graph = ParseGraph(text);
    if (!graph.ok()) continue;
    ++accepted;
    const std::string printed = ToText(**graph);
    const auto again = ParseGraph(printed);
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
    ASSERT_EQ(ToText(**again), printed);
  }
  EXPECT_GT(accepted, 50);
}

TEST(TextTest, LargeGraphsAreLinear) {
  std::string text = "graph big(v0) -> (v50000) {\n";
  for (int i = 0; i < 50000; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += "  c" + n + " = float32[1]{1}\n";
    text += "  v" + next + ": float32[batch,1] = add(v" + n + ", c" + n + ")\n";
  }
  const auto graph = ParseGraph(text + "}\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string printed = ToText(**graph);
  EXPECT_EQ(ToText(**ParseGraph(printed)), printed);
}

}  // namespace
}  // namespace x2ir
