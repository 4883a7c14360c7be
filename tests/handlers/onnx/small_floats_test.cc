// Ops on small floats, of which ONNX Runtime has no kernel: in float32 between casts.
#include "x2ir/handlers/onnx/small_floats.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/verify.h"

namespace x2ir {
namespace {

std::string OpsAndTypes(const Graph& graph) {
  std::string text;
  for (const Node* node : graph.nodes()) {
    StrAppend(&text, text.empty() ? "" : " ", node->op().view());
    const Value* x = node->num_inputs() ? node->input(0) : nullptr;
    StrAppend(&text, x && x->dtype() == DType::kBFloat16 ? "(b)" : "");
  }
  return text;
}

TEST(SmallFloats, AreComputedInFloat32) {
  const std::string to = " { to = \"bfloat16\" } ", from = " { to = \"float32\" }";
  const struct {
    std::string inputs, lines, ops, outputs = "y";
    bool cpu_kernels = false;
    int opset = 17;
  } rows[] = {
      {"x: float32[2,3]", "a = cast(x)" + to + "b = mul(a, a) y = cast(b)" + from,
       "Cast Cast(b) Mul Cast Cast(b)"},
      // What only moves numbers has kernels.
      {"x: float32[2,3]",
       "a = cast(x)" + to + "b = transpose(a) { perm = [1, 0] } y = cast(b)" + from,
       "Cast Transpose(b) Cast(b)"},
      {"x: float32[2,3]", "a = cast(x)" + to + "y = less(a, a)", "Cast Cast(b) Less"},
      // A graph within.
      {"x: float32[3], c: bool[]",
       "a = cast(x)" + to +
           "b = if(c) { then_branch = graph t() -> (p) { p = neg(a) }, else_branch = graph e() -> "
           "(q) { q = identity(a) } } y = cast(b)" +
           from,
       "Cast If Cast(b)"},
      // A model of bfloat16 stays so: by its inputs, its outputs, or its weights.
      {"x: bfloat16[3]", "a = neg(x) y = cast(a)" + from, "Neg(b) Cast(b)"},
      {"x: float32[3]", "a = cast(x)" + to + "y = neg(a)", "Cast Neg(b)"},
      {"x: float32[3]",
       "a = cast(x)" + to + "w = bfloat16[3]{1, 2, 3} b = mul(a, w) y = cast(b)" + from,
       "Cast Mul(b) Cast(b)"},
      // Few of many.
      {"x: float32[1,32]",
       "f = float32[1,32] z = mul(x, f) a = cast(z)" + to +
           "w = bfloat16[]{0.5} b = mul(a, w) y = cast(b)" + from,
       "Mul Cast Cast(b) Cast(b) Mul Cast Cast(b)"},
      // With the option also in models of bfloat16. Each op rounds, and what is not rounded is not
      // cast in between.
      {"x: bfloat16[3]", "a = mul(x, x) y = add(a, x)", "Cast(b) Mul Cast Cast(b) Add Cast", "y",
       true},
      {"x: bfloat16[3]", "a = neg(x) b = max(a, x) y = exp(b)", "Cast(b) Neg Max Exp Cast", "y",
       true},
      {"x: bfloat16[3]", "a = neg(x) b = abs(a) y = mul(b, b)", "Cast(b) Neg Cast Abs Mul Cast",
       "a, y", true},
      {"x: bfloat16[3], c: bool[3]", "y = where(c, x, x)", "Cast(b) Where Cast", "y", true},
      {"x: bfloat16[3]", "y = identity(x)", "Identity(b)", "y", true},
      // A kernel that moves bfloat16, and does not combine it.
      {"x: bfloat16[3], u: bfloat16[1]",
       "i = int64[1,1]{2} y = scatter_nd(x, i, u) { reduction = \"max\" }",
       "Cast(b) Cast(b) ScatterND Cast", "y", true, 18},
      {"x: bfloat16[3], u: bfloat16[1]",
       "i = int64[1,1]{2} y = scatter_nd(x, i, u) { reduction = \"none\" }", "ScatterND(b)", "y",
       true, 18},
      // Floats of 8 bits, whose infinities stay.
      {"x: float8e5m2[3]", "s = int64[1]{0} y = unsqueeze(x, s)", "Cast Unsqueeze Cast", "y", true,
       21},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.lines);
    auto graph = ParseIr(row.inputs, row.lines, row.outputs);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const std::shared_ptr<Graph> before = (*graph)->Clone();
    Model model;
    model.graph = before->Clone();
    ExportOptions options{.opset = row.opset, .optimize = false, .check = true};
    options.format_options.Set("cpu_kernels", row.cpu_kernels);
    auto onnx = FromIr(std::move(model), "onnx", options);
    ASSERT_TRUE(onnx.ok()) << onnx.status();
    EXPECT_EQ(OpsAndTypes(*std::as_const(*onnx).graph), row.ops);
    EXPECT_TRUE(onnx->graph->Validate().empty());
    const auto back = ToIr(*std::move(onnx));
    ASSERT_TRUE(back.ok()) << back.status();
    const auto io = RandomCase(*before, 5, nullptr);
    ASSERT_TRUE(io.ok()) << io.status();
    const auto want = RunCase(*before, *io), got = RunCase(*back->graph, *io);
    ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
    EXPECT_EQ(*(*got)[0].tensor(), *(*want)[0].tensor());  // the same numbers, each bit
  }
}

}  // namespace
}  // namespace x2ir
