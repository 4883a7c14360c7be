// If, Loop, Scan, SequenceMap, sequences and optionals: text in, text out, both directions.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/rows_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(ControlFlowHandlers, BothWays) {
  const BothWays rows[] = {
      {7, "c: bool[], x: float32[n]) -> (y)",
       "y = onnx.If(c) { else_branch = graph e() -> (p) { p = onnx.Relu(x) },"
       "then_branch = graph t() -> (q) { q = onnx.Neg(x) } }",
       "y = if(c) { then_branch = graph t() -> (q) { q = neg(x) },"
       "else_branch = graph e() -> (p) { p = relu(x) } }"},
      {11, "n: int64[], x: float32[3]) -> (y, z)",
       "y, z = onnx.Loop(n, _, x) {\n"
       "body = graph b(i: int64[], c: bool[], v: float32[3]) -> (d, w, u) {\n"
       "d = onnx.Identity(c)\n w = onnx.Add(v, x)\n u = onnx.Relu(w) } }",
       "y, z = loop(n, _, x) {\n"
       "body = graph b(i: int64[], c: bool[], v: float32[3]) -> (d, w, u) {\n"
       "d = identity(c)\n w = add(v, x)\n u = relu(w) } }"},
      {9, "s: float32[2], x: float32[3,2]) -> (y, z)",
       "y, z = onnx.Scan(s, x) {\n"
       "body = graph b(p: float32[2], q: float32[2]) -> (t, u) {\n"
       "t = onnx.Add(p, q)\n u = onnx.Relu(t) }, num_scan_inputs = 1 }",
       "y, z = scan(s, x) {\n"
       "body = graph b(p: float32[2], q: float32[2]) -> (t, u) {\n"
       "t = add(p, q)\n u = relu(t) }, num_scan_inputs = 1, scan_input_axes = [0],\n"
       "scan_input_directions = [0], scan_output_axes = [0], scan_output_directions = [0] }"},
      {11, "s: float32[2], x: float32[2,3]) -> (y, z)",
       "y, z = onnx.Scan(s, x) {\n"
       "body = graph b(p: float32[2], q: float32[2]) -> (t, u) {\n"
       "t = onnx.Add(p, q)\n u = onnx.Relu(t) }, num_scan_inputs = 1,\n"
       "scan_input_axes = [-1], scan_output_directions = [1] }",
       "y, z = scan(s, x) {\n"
       "body = graph b(p: float32[2], q: float32[2]) -> (t, u) {\n"
       "t = add(p, q)\n u = relu(t) }, num_scan_inputs = 1, scan_input_axes = [-1],\n"
       "scan_input_directions = [0], scan_output_axes = [0], scan_output_directions = [1] }"},
      {17, "s: sequence(float32[n]), x: float32[n]) -> (y)",
       "y = onnx.SequenceMap(s, x) {\n"
       "body = graph b(p: float32[n], q: float32[n]) -> (t) { t = onnx.Add(p, q) } }",
       "y = sequence_map(s, x) {\n"
       "body = graph b(p: float32[n], q: float32[n]) -> (t) { t = add(p, q) } }"},
      {15, "x: float32[n]) -> (y, z)",
       "o = onnx.Optional(x)\n y = onnx.OptionalHasElement(o)\n z = onnx.OptionalGetElement(o)",
       "o = optional(x)\n y = optional_has_element(o)\n z = optional_get_element(o)"},
      {11, "x: float32[n]) -> (y)",
       "e = onnx.SequenceEmpty() { dtype = 1 }\n s = onnx.SequenceInsert(e, x)\n"
       "y = onnx.SequenceLength(s)",
       "e = sequence_empty() { dtype = \"float32\" }\n s = sequence_insert(e, x)\n"
       "y = sequence_length(s)"},
  };
  for (const BothWays& row : rows) {
    const std::string onnx = GraphText(row.header, row.onnx);
    const std::string ir = GraphText(row.header, row.ir);
    EXPECT_EQ(Body(ToIrText(onnx, row.opset)), Body(Canonical(ir))) << row.opset;
    EXPECT_EQ(Body(FromIrText(ir, row.opset)), Body(Canonical(onnx))) << row.opset;
  }
}

// What goes one way only: ONNX in, IR out.
TEST(ControlFlowHandlers, Imports) {
  struct Row {
    int opset;
    std::string_view header, onnx, want;  // a part of the text
    bool types = false;
  };
  const Row rows[] = {
      // The types of a body's inputs come from the operands; those of the results from the body.
      {11, "n: int64[], x: float32[k,3]) -> (y, z)",
       "y, z = onnx.Loop(n, _, x) { body = graph b(i, c, v) -> (d, w, i) {\n"
       "d = onnx.Identity(c)\n w = onnx.Transpose(v) } }",
       "y, z: float32[?,?], int64[?] = loop(n, _, x)", true},
      {11, "n: int64[], x: float32[k,3]) -> (y)",
       "y = onnx.Loop(n, _, x) { body = graph b(i, c, v) -> (d, w) {\n"
       "d = onnx.Identity(c)\n w = onnx.Relu(v) } }",
       "body = graph b(i: int64[], c: bool[], v: float32[k,3])", true},
      // Declared shapes of one round are not believed of all.
      {11, "n: int64[], x: float32[1]) -> (y)",
       "y = onnx.Loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: float32[1]) -> (d, w) {\n"
       "d = onnx.Identity(c)\n w: float32[1] = onnx.Concat(v, x) { axis = 0 } } }",
       "y: float32[?] = loop", true},
      {8, "s: float32[2,4], x: float32[2,3,4]) -> (y, z)",
       "y, z = onnx.Scan(_, s, x) { body = graph b(p: float32[4], q: float32[4]) -> (t, u) {\n"
       "t = onnx.Add(p, q)\n u = onnx.Relu(t) }, directions = [1], num_scan_inputs = 1 }",
       "y, z: float32[2,4], float32[2,3,4] = scan(s, x)", true},
      {8, "s: float32[2,4], x: float32[2,3,4], l: int64[2]) -> (y, z)",
       "y, z = onnx.Scan(l, s, x) { body = graph b(p: float32[4], q: float32[4]) -> (t, u) {\n"
       "t = onnx.Add(p, q)\n u = onnx.Relu(t) }, num_scan_inputs = 1 }",
       "sequence_lens"},
      {9, "s: float32[2,4]) -> (y)",
       "y = onnx.Scan(s) { body = graph b(p: float32[4]) -> (p) { }, num_scan_inputs = 3 }",
       "num_scan_inputs is 3"},
      {11, "n: int64[], x: float32[1]) -> (y)",
       "y = onnx.Loop(n, _, x) { body = graph b(i: int64[], c: bool[]) -> (c) { } }",
       "has 2 inputs; expected 3"},
      {11, "c: bool[], x: float32[1]) -> (y: int64[1])",
       "y = onnx.If(c) { else_branch = graph e() -> (x) { },\n"
       "then_branch = graph t() -> (p) { p = onnx.Neg(x) } }",
       "'y' is declared as int64, but the op gives float32"},
      // An inner name hides an outer one: it gets another.
      {11, "c: bool[], x: float32[1]) -> (y)",
       "y = onnx.If(c) { else_branch = graph e() -> (x) { x = float32[1]{1} },\n"
       "then_branch = graph t() -> (y) { y = onnx.Neg(x) } }",
       "then_branch = graph t() -> (y_1) {\n      y_1 = neg(x)"},
      {15, "x: float32[n]) -> (y)", "y = onnx.OptionalGetElement(x)", "may not be float32"},
      {13, "x: optional(float32[n])) -> (y)", "y = onnx.Identity(x)", "may not be optional"},
      {18, "x: float32[n]) -> (y)", "y = onnx.OptionalGetElement(x)", "optional_get_element(x)"},
      {11, "x: float32[4], k: int64[]) -> (y)", "y = onnx.SplitToSequence(x, k) { keepdims = 0 }",
       "keepdims = 1"},
  };
  for (const Row& row : rows) {
    ConvertTextOptions options;
    options.types = row.types;
    EXPECT_THAT(ToIrText(GraphText(row.header, row.onnx), row.opset, options),
                HasSubstr(std::string(row.want)))
        << row.onnx;
  }
}

TEST(ControlFlowHandlers, Exports) {
  struct Row {
    int opset;
    std::string_view header, ir, want;  // a part of the text
  };
  const Row rows[] = {
      // A branch gives values of its own.
      {11, "c: bool[], x: float32[1]) -> (y)",
       "y = if(c) { then_branch = graph t() -> (x) { }, else_branch = graph e() -> (x) { } }",
       "graph t() -> (x_2) {\n      x_2 = onnx.Identity(x)"},
      {11, "n: int64[]) -> (y)",
       "y = loop(n) { body = graph b(i: int64[], c: bool[]) -> (c, i) { } }", "onnx.Loop(n, _)"},
      {10, "c: bool[], x: float32[2], z: float32[3]) -> (y)",
       "y = if(c) { then_branch = graph t() -> (x) { }, else_branch = graph e() -> (z) { } }",
       "which opset 11 allows"},
      {12, "c: bool[], x: sequence(float32[2])) -> (y)",
       "y = if(c) { then_branch = graph t() -> (x) { }, else_branch = graph e() -> (x) { } }",
       "opset 13 allows it"},
      {9, "s: float32[2], x: float32[2,3]) -> (y, z)",
       "y, z = scan(s, x) { body = graph b(p: float32[2], q: float32[2]) -> (t, u) {\n"
       "t = add(p, q)\n u = relu(t) }, num_scan_inputs = 1, scan_input_axes = [-1],\n"
       "scan_input_directions = [0], scan_output_axes = [-2], scan_output_directions = [0] }",
       "scan_input_axes = [1]"},
      {8, "s: float32[2], x: float32[3,2]) -> (y, z)",
       "y, z = scan(s, x) { body = graph b(p: float32[2], q: float32[2]) -> (t, u) {\n"
       "t = add(p, q)\n u = relu(t) }, num_scan_inputs = 1, scan_input_axes = [0],\n"
       "scan_input_directions = [0], scan_output_axes = [0], scan_output_directions = [1] }",
       "= onnx.Loop("},
      // Sequences that are put together and taken apart are not needed.
      {7, "a: float32[2], b: float32[3]) -> (y)",
       "p = int64[]{-1}\n s = sequence_construct(a, b)\n t = sequence_insert(s, a)\n"
       "u = sequence_erase(t, p)\n v = sequence_at(u, p)\n y = relu(v)",
       "y = onnx.Relu(b)\n}"},
      {7, "a: float32[2], b: float32[2]) -> (y)",
       "s = sequence_construct(a, b)\n y = concat_from_sequence(s) { axis = 0, new_axis = 1 }",
       "onnx.Concat("},
      {7, "a: float32[2]) -> (y)", "s = sequence_construct(a, a)\n y = sequence_length(s)",
       "= int64[]{2}"},
      {7, "a: float32[2]) -> (y)",
       "o = optional(a)\n h = optional_has_element(o)\n g = optional_get_element(o)\n y = relu(g)",
       "y = onnx.Relu(a)"},
      {7, "s: sequence(float32[2])) -> (y)", "y = sequence_length(s)", "error: "},
      // Nor is one that nothing uses.
      {7, "a: float32[2]) -> (y)", "s = sequence_construct(a, a)\n y = relu(a)",
       "y = onnx.Relu(a)"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(FromIrText(GraphText(row.header, row.ir), row.opset),
                HasSubstr(std::string(row.want)))
        << row.ir;
  }
}

// A branch is put in the place of an if that the target has not for such values.
TEST(ControlFlowHandlers, KnownConditionAtAnOldOpset) {
  const std::string text = FromIrText(
      "graph g(x: float32[2]) -> (y, z) {\n"
      "o = optional(x)\n c = optional_has_element(o)\n"
      "s, z = if(c) {\n"
      "then_branch = graph t() -> (q, x) { k = float32[1]{3}\n p = mul(x, k)\n"
      "q = sequence_construct(p, k) },\n"
      "else_branch = graph e() -> (q, x) { q = sequence_empty() { dtype = \"float32\" } } }\n"
      "i = int64[]{0}\n y = sequence_at(s, i) }",
      7);
  EXPECT_THAT(text, HasSubstr("onnx.Mul(x, "));
  EXPECT_THAT(text, HasSubstr("onnx.Identity(x)"));
}

TEST(ControlFlowHandlers, SequenceMapAsLoop) {
  const std::string text = FromIrText(
      "graph g(s: sequence(float32[n]), x: float32[n]) -> (y) {\n"
      "y = sequence_map(s, x) {\n"
      "body = graph b(p: float32[n], q: float32[n]) -> (t) { r = add(p, q)\n t = mul(r, x) } } }",
      13);
  EXPECT_THAT(text, HasSubstr("onnx.SequenceLength(s)"));
  EXPECT_THAT(text, HasSubstr("onnx.Loop("));
  EXPECT_THAT(text, HasSubstr("onnx.SequenceAt(s, "));
  EXPECT_THAT(text, HasSubstr("onnx.SequenceInsert("));
}

// Every way through an ONNX file that keeps the meaning: evaluated before and after.
TEST(ControlFlowHandlers, ThereAndBackMeansTheSame) {
  const std::string_view rows[] = {
      // Names that hide outer ones two levels down, values of every level.
      "graph g(x: float32[2]) -> (y) {\n t = bool[]{true}\n n = int64[]{3}\n"
      "y = loop(n, t, x) { body = graph b(i: int64[], t: bool[], v: float32[...]) -> (t, w) {\n"
      "f = bool[]{false}\n h = add(v, x)\n w = if(f) {\n"
      "then_branch = graph p() -> (v) { },\n"
      "else_branch = graph q() -> (y) { x2 = neg(x)\n y = sub(h, x2) } } } } }",
      "graph g(x: float32[3,2]) -> (y, z) {\n s = float32[2]{1, 2}\n"
      "y, z = scan(s, x) { num_scan_inputs = 1, scan_input_axes = [0],\n"
      "scan_input_directions = [1], scan_output_axes = [-1], scan_output_directions = [0],\n"
      "body = graph b(p: float32[2], q: float32[2]) -> (r, r) { r = mul(p, q) } } }",
      "graph g(x: float32[2,3]) -> (y, z) {\n s = float32[2]{1, 2}\n"
      "y, z = scan(s, x) { num_scan_inputs = 1, scan_input_axes = [1],\n"
      "scan_input_directions = [0], scan_output_axes = [1], scan_output_directions = [1],\n"
      "body = graph b(p: float32[2], q: float32[2]) -> (r, p) { r = add(p, q) } } }",
      "graph g(x: float32[2]) -> (y, z) {\n n = int64[]{2}\n"
      "y, z = loop(n) { body = graph b(i: int64[], c: bool[]) -> (c, x, r) {\n"
      "r = neg(x) } } }",
      "graph g(x: float32[2]) -> (y, z) {\n n = int64[]{2}\n"
      "y, z = loop(n, _, x) { body = graph b(i: int64[], c: bool[], v: float32[2]) -> (c, x, v) {\n"
      "} } }",
  };
  for (const std::string_view row : rows) {
    const auto graph = ParseGraph(row);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto run = [&](const Graph& g) {
      std::vector<int64_t> dims = *g.inputs()[0]->shape()->Static();
      std::vector<float> values(*CheckedProduct(dims));
      for (size_t i = 0; i < values.size(); ++i) values[i] = 0.5f + static_cast<float>(i);
      auto results = RunGraph(g, {Tensor::Of<float>(dims, values)});
      std::string text = results.ok() ? "" : results.status().ToString();
      for (size_t i = 0; results.ok() && i < results->size(); ++i) {
        text += Attribute(*(*results)[i].tensor()).ToString() + "\n";
      }
      return text;
    };
    Model model;
    model.graph = *graph;
    ExportOptions options;
    ASSERT_TRUE(graph.value()->Validate().empty());
    const std::string want = run(**graph);
    EXPECT_THAT(want, HasSubstr("float32"));
    for (const int opset : {7, 8, 9, 11, 13, 17, 28}) {
      Model copy;
      copy.graph = model.graph->Clone();
      options.opset = opset;
      const absl::Status exported = FromIr(copy, "onnx", options);
      ASSERT_TRUE(exported.ok()) << opset << exported << row;
      EXPECT_THAT(copy.graph->Validate(), ::testing::IsEmpty());
      const absl::Status imported = ToIr(copy);
      ASSERT_TRUE(imported.ok()) << opset << imported << ToText(*copy.graph);
      EXPECT_EQ(run(*copy.graph), want) << opset << ToText(*copy.graph);
    }
  }
}

// Passes see uses in nested graphs.
TEST(ControlFlowHandlers, PassesSeeNestedUses) {
  const auto graph = ParseGraph(
      "graph g(c: bool[], x: float32[2]) -> (y) {\n a = neg(x)\n b = identity(a)\n d = relu(x)\n"
      "k = float32[2]{1, 2}\n u = float32[2]{3, 4}\n"
      "y = if(c) { then_branch = graph t() -> (p) { q = identity(b)\n p = add(q, k) },\n"
      "else_branch = graph e() -> (b) { r = relu(d) } } }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(RunPasses(**graph, {"simplify", "dead_code"}).ok());
  EXPECT_THAT((*graph)->Validate(), ::testing::IsEmpty());
  TextOptions options;
  options.types = false;
  EXPECT_EQ(Body(ToText(**graph, options)),
            Body(Canonical("graph g(c: bool[], x: float32[2]) -> (y) {\n"
                           "k = float32[2]{1, 2}\n b = neg(x)\n"
                           "y = if(c) { then_branch = graph t() -> (p) { p = add(b, k) },\n"
                           "else_branch = graph e() -> (b) { } } }")));
}

TEST(ControlFlowHandlers, KnownIfsGo) {
  const auto graph = ParseGraph(
      "graph g(x: float32[2]) -> (y, z, w) {\n c = bool[]{false}\n t = bool[]{true}\n"
      "y, z = if(c) { then_branch = graph t() -> (x, x) { },\n"
      "else_branch = graph e() -> (p, x) { k = float32[1]{3}\n p = if(t) {\n"
      "then_branch = graph t() -> (q) { q = mul(x, k) }, else_branch = graph e() -> (k) { } } } }\n"
      "n = int64[]{20}\n w = loop(n, _, x) { body = graph b(i, d, v) -> (d, u) {\n"
      "u = if(d) { then_branch = graph t() -> (v) { }, else_branch = graph e() -> (x) { } } } } }");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(RunPasses(**graph, {"inline_control_flow", "dead_code"}).ok());
  EXPECT_THAT((*graph)->Validate(), ::testing::IsEmpty());
  TextOptions options;
  options.types = false;
  EXPECT_EQ(
      Body(ToText(**graph, options)),
      Body(Canonical("graph g(x: float32[2]) -> (y, z, w) {\n y_k = float32[1]{3}\n"
                     "n = int64[]{20}\n y = mul(x, y_k)\n z = identity(x)\n"
                     "w = loop(n, _, x) { body = graph b(i: int64[], d: bool[], v: float32[2]) "
                     "-> (d, u) {\n"
                     "u = if(d) { then_branch = graph t() -> (v) { },\n"
                     "else_branch = graph e() -> (x) { } } } } }")));
}

}  // namespace
}  // namespace x2ir
