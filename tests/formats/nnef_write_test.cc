// Models of NNEF as they are written: what the standard has, what tract alone reads, and stored
// integers. What is written is read again, and computes the same in the same types.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/run_text_util.h"
#include "tests/formats/nnef_files_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A graph of the IR, its inputs, and lines of the text that it becomes. `by_standard`: it does not
// need tract.
struct WrittenRow {
  std::string_view graph;
  std::vector<std::string> inputs;
  std::vector<std::string_view> lines;
  bool by_standard = false;
};

// Of ONNX's operators at opset 21.
absl::StatusOr<Model> IrOf(std::string_view graph) {
  X2IR_ASSIGN_OR_RETURN(Model model, ModelFromText(graph, "onnx", 21));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  return model;
}
absl::Status WriteText(std::string_view graph, bool standard,
                       const std::shared_ptr<NnefFileMap>& files) {
  X2IR_ASSIGN_OR_RETURN(Model model, IrOf(graph));
  return Export(std::move(model), IntoMemory("m.nnef", files),
                {.format = "nnef", .format_options = {{"nnef_standard", standard}}});
}

void ExpectWritten(const WrittenRow& row) {
  SCOPED_TRACE(row.graph);
  const auto files = std::make_shared<NnefFileMap>();
  const absl::Status written = WriteText(row.graph, row.by_standard, files);
  ASSERT_TRUE(written.ok()) << written;
  std::string text;
  for (const auto& [name, bytes] : *files) {
    if (name.ends_with("graph.nnef") || name.ends_with("graph.quant")) text += bytes;
  }
  for (const std::string_view line : row.lines) EXPECT_THAT(text, HasSubstr(std::string(line)));
  if (row.by_standard) {
    EXPECT_THAT(text, Not(HasSubstr("tract")));
  } else {
    EXPECT_THAT(text, HasSubstr("extension tract_registry tract_core;\n"));
    const absl::Status refused = WriteText(row.graph, true, std::make_shared<NnefFileMap>());
    EXPECT_THAT(std::string(refused.message()),
                testing::ContainsRegex("the standard does not have, and tract has|cannot express"));
  }
  const auto original = IrOf(row.graph);
  ASSERT_TRUE(original.ok()) << original.status();
  const auto again = Import(FromMemory("m.nnef/", "graph.nnef", files), {.format = "nnef"});
  ASSERT_TRUE(again.ok()) << again.status() << text;
  for (size_t i = 0; i < original->graph->inputs().size(); ++i) {
    EXPECT_EQ(again->graph->inputs()[i]->type(), original->graph->inputs()[i]->type());
  }
  EXPECT_EQ(ResultsText(again->Clone(), row.inputs), ResultsText(original->Clone(), row.inputs))
      << text;
}

TEST(NnefWrite, InputsOfAllTypes) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"float16", "f16"}, {"float64", "f64"}, {"int8", "i8"},    {"int16", "i16"}, {"int32", "i32"},
      {"uint8", "u8"},    {"uint16", "u16"},  {"uint32", "u32"}, {"uint64", "u64"}};
  for (const auto& [type, name] : kTypes) {
    const std::string graph =
        StrCat("graph g(x: ", type, "[2]) -> (y, z) {\n w = ", type,
               "[2]{3, 4}\n y = onnx.Add(x, w)\n z = onnx.Cast(y) { to = 1 } }");
    const std::string external = StrCat("tract_core_external(shape = [2], datum_type = '", name);
    ExpectWritten({graph, {StrCat(type, "[2]{1, 2}")}, {external, "to = 'f32'"}});
  }
  const auto files = std::make_shared<NnefFileMap>();
  const absl::Status refused =
      WriteText("graph g(x: bfloat16[2]) -> (y) { y = onnx.Identity(x) }", false, files);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("bfloat16"));
}

TEST(NnefWrite, StandardAndTract) {
  const WrittenRow rows[] = {
      // What the standard has needs no extension.
      {"graph g(x: float32[2]) -> (y) { y = onnx.Cast(x) { to = 7 } }",
       {"float32[2]{1.5, -1.5}"},
       {"cast<integer>(x)"},
       true},
      {"graph g(x: float32[4]) -> (a, b) { n = int64[2]{1, 3}\n a, b = onnx.Split(x, n) { axis = 0 "
       "} }",
       {"float32[4]{1, 2, 3, 4}"},
       {"[a, b] = split(x, axis = 0, ratios = [1, 3])"},
       true},
      {"graph g(x: float32[2]) -> (y) { c = float32[]{1e+20}\n y = onnx.Mul(x, c) }",
       {"float32[2]{1, 2}"},
       {"mul(x, 1e20)"},
       true},
      // The standard's numbers are finite: others are in files.
      {"graph g(x: float32[2]) -> (y) { y = onnx.IsInf(x) }",
       {"float32[2]{-inf, 2}"},
       {"variable<scalar>(shape = [], label"},
       true},
      {"graph g(x: bool[2,2]) -> (y) { a = int64[1]{1}\n y = onnx.ReduceMax(x, a) }",
       {"bool[2,2]{true, false, false, false}"},
       {"max_reduce"},
       true},
      {"graph g(x: bool[2], z: int64[2]) -> (y) { c = int64[]{-9223372036854775808}\n y = "
       "onnx.Where(x, z, c) }",
       {"bool[2]{true, false}", "int64[2]{1, 2}"},
       {"c = variable<integer>(shape = [], label"},
       true},
      // tract has no split, no cast and no gather under these names.
      {"graph g(x: int32[4]) -> (a, b) { n = int64[2]{1, 3}\n a, b = onnx.Split(x, n) { axis = 0 } "
       "}",
       {"int32[4]{1, 2, 3, 4}"},
       {"a = slice(x, axes = [0], begin = [0], end = [1]);",
        "b = slice(x, axes = [0], begin = [1], end = [4]);"}},
      {"graph g(x: int64[2]) -> (y) { z = onnx.Add(x, x)\n y = onnx.Cast(z) { to = 1 } }",
       {"int64[2]{1, -2}"},
       {"tract_core_cast(z, to = 'f32')"}},
      {"graph g(x: int32[3], i: int64[2]) -> (y) { y = onnx.Gather(x, i) { axis = 0 } }",
       {"int32[3]{5, 6, 7}", "int64[2]{2, 0}"},
       {"tract_core_gather(x, i, axis = 0)"}},
      {"graph g(x: float16[2]) -> (y, z) { y = onnx.Identity(x)\n z = onnx.Reciprocal(x) }",
       {"float16[2]{0.5, -2}"},
       {"y = x;", "z = div(1.0, x);"}},
      // Quotients towards zero, by zero 0; the least number by -1 is itself.
      {"graph g(x: int8[4], y: int8[4]) -> (z) { z = onnx.Div(x, y) }",
       {"int8[4]{-7, 7, -128, 5}", "int8[4]{2, -2, -1, 0}"},
       {"div("}},
      {"graph g(x: uint8[3]) -> (z) { y = uint8[]{4}\n z = onnx.Div(x, y) }",
       {"uint8[3]{3, 4, 255}"},
       {"z = div(x, y)"}},
      {"graph g(x: int32[4], y: int32[4]) -> (z) { z = onnx.Mod(x, y) }",
       {"int32[4]{-7, 7, -7, 7}", "int32[4]{3, -3, -3, 3}"},
       {"div("}},
      {"graph g(x: uint8[3], y: uint8[3]) -> (z) { z = onnx.BitShift(x, y) { direction = \"LEFT\" "
       "} }",
       {"uint8[3]{3, 3, 3}", "uint8[3]{1, 7, 8}"},
       {"tract_shl(x, "}},
      {"graph g(x: int16[2], y: int16[2]) -> (z) { z = onnx.BitwiseXor(x, y) }",
       {"int16[2]{3, -1}", "int16[2]{5, 7}"},
       {"tract_core_bitxor(x, y)"}},
      // Functions of several steps are computed in float32.
      {"graph g(x: float16[2]) -> (y) { y = onnx.Erf(x) }",
       {"float16[2]{0.5, -2}"},
       {"to = 'f32'", "to = 'f16'"}},
      {"graph g(x: float64[2]) -> (y) { y = onnx.Abs(x) }", {"float64[2]{-0.5, 2}"}, {"select("}},
      {"graph g(x: int64[]) -> (y) { a = int64[]{0}\n d = int64[]{1}\n y = onnx.Range(a, x, d) }",
       {"int64[]{3}"},
       {"tract_core_range("}},
      {"graph g(x: float32[2,3]) -> (v, i) { k = int64[1]{2}\n v, i = onnx.TopK(x, k) { axis = 1 } "
       "}",
       {"float32[2,3]{1, 3, 3, -1, -2, -3}"},
       {"v, i = tract_core_topk(x, 2, axis = 1, largest = true)"}},
      {"graph g(x: float32[3], u: float32[2]) -> (y) { i = int64[2]{-1, 0}\n y = "
       "onnx.ScatterElements(x, i, u) { axis = 0 } }",
       {"float32[3]{1, 2, 3}", "float32[2]{8, 9}"},
       {"tract_core_scatter_elements(x, "}},
      // Indices of tuples count from the front.
      {"graph g(x: float32[3], i: int64[2,1], u: float32[2]) -> (y) { y = onnx.ScatterND(x, i, u) "
       "}",
       {"float32[3]{1, 2, 3}", "int64[2,1]{-1, 0}", "float32[2]{8, 9}"},
       {"tract_core_scatter_nd(x, ", "select("}},
      {"graph g(x: float32[1,4,1]) -> (y) { y = onnx.DFT(x) { onesided = 1 } }",
       {"float32[1,4,1]{1, 0, 0, 0}"},
       {"tract_core_fft(", "axis = 1, inverse = false"}},
      {"graph g(x: float32[1,2,2]) -> (y) { y = onnx.DFT(x) { inverse = 1 } }",
       {"float32[1,2,2]{3, 0, -1, 0}"},
       {"inverse = true", "0.5"}},
      {"graph g(b: float32[1,2,4], s: float32[1,1,2]) -> (y) { n = int64[1]{1}\n t = "
       "float32[1]{0.5}\n y = onnx.NonMaxSuppression(b, s, n, t) }",
       {"float32[1,2,4]{0, 0, 1, 1, 0, 0, 2, 2}", "float32[1,1,2]{0.5, 0.75}"},
       {"extension tract_registry tract_onnx;",
        "tract_onnx_non_max_suppression(b, s, 1, 0.5, "
        "center_point_box = 0)"}},
  };
  for (const WrittenRow& row : rows) ExpectWritten(row);
}

// Networks of quantized numbers, in the standard: stored integers of one step are in graph.quant,
// those of more are numbers, and pairs on what is computed are arithmetic.
TEST(NnefWrite, Quantized) {
  const auto weight = [](std::string_view type, std::string_view numbers, std::string_view scale,
                         std::string_view offset) {
    return StrCat("graph g(x: float32[2,2]) -> (y) { q = ", type, "[2,2]{", numbers,
                  "}\n s = ", scale, "\n z = ", offset,
                  "\n w = onnx.DequantizeLinear(q, s, z) { axis = 0 }\n y = onnx.Add(x, w) }");
  };
  const auto pair = [](std::string_view scale, std::string_view offset) {
    return StrCat(
        "graph g(x: float32[2,2]) -> (y) { s = ", scale, "\n z = ", offset,
        "\n q = onnx.QuantizeLinear(x, s, z) { axis = 0 }\n y = onnx.DequantizeLinear(q, s, "
        "z) { axis = 0 } }");
  };
  const std::vector<std::string> zeros = {"float32[2,2]{0, 0, 0, 0}"};
  // Halves are rounded to even, and what is out of range is clamped.
  const std::vector<std::string> halves = {"float32[2,2]{0.25, 0.75, -0.25, 1000}"};
  const std::pair<std::string, WrittenRow> rows[] = {
      {weight("int8", "-128, 0, 1, 127", "float32[]{0.25}", "int8[]{0}"),
       {"", zeros, {"zero_point = 0, scale = 0.25, bits = 8, signed = true, symmetric = false"}}},
      {weight("uint8", "0, 3, 128, 255", "float32[]{0.1}", "uint8[]{128}"),
       {"", zeros, {"zero_point = 128, scale = 0.1, bits = 8, signed = false"}}},
      {weight("int16", "-32768, 0, 1, 3", "float32[]{0.5}", "int16[]{-7}"),
       {"", zeros, {"zero_point = -7, scale = 0.5, bits = 16, signed = true"}}},
      {weight("uint16", "0, 1, 2, 65535", "float32[]{0.5}", "uint16[]{9}"),
       {"", zeros, {"zero_point = 9, scale = 0.5, bits = 16, signed = false"}}},
      {weight("int32", "-70000, 0, 1, 70000", "float32[]{0.5}", "int32[]{0}"),
       {"", zeros, {"zero_point = 0, scale = 0.5, bits = 32, signed = true"}}},
      {weight("int8", "1, 2, 3, 4", "float32[2]{0.5, 0.25}", "int8[2]{1, -1}"),
       {"", zeros, {"variable<scalar>(shape = [2, 2]"}}},
      {pair("float32[]{0.5}", "uint8[]{1}"), {"", halves, {"div(x, 0.5)", "255.0", "mul("}}},
      {pair("float32[]{0.5}", "int8[]{0}"), {"", halves, {"127.0", "-128.0"}}},
      {pair("float32[]{0.5}", "int16[]{-3}"), {"", halves, {"32767.0", "-32768.0"}}},
      {pair("float32[2]{0.5, 0.1}", "int8[2]{0, 3}"), {"", halves, {"shape = [2, 1]"}}},
  };
  for (const auto& [graph, row] : rows) {
    WrittenRow of = row;
    of.graph = graph;
    of.by_standard = true;
    ExpectWritten(of);
  }
}

// The integers of a variable stay what they are, through the file and back.
TEST(NnefWrite, StoredIntegersStay) {
  const auto files = std::make_shared<NnefFileMap>();
  ASSERT_TRUE(
      WriteText("graph g(x: float32[2]) -> (y) { q = int8[2]{-3, 5}\n s = float32[]{0.5}\n z = "
                "int8[]{1}\n w = onnx.DequantizeLinear(q, s, z)\n y = onnx.Mul(x, w) }",
                true, files)
          .ok());
  const auto again = Import(FromMemory("m.nnef/", "graph.nnef", files), {.format = "nnef"});
  ASSERT_TRUE(again.ok()) << again.status();
  size_t units = 0;
  for (const Node* node : again->graph->nodes()) {
    if (node->op() != Symbol("dequantize_linear")) continue;
    ++units;
    EXPECT_EQ(TensorText(*node->input(0)->constant()), "int8[2]{-3, 5}");
  }
  EXPECT_EQ(units, 1u);
}

// A variable has a file of its own, whose name systems take; names in the graph stay.
TEST(NnefWrite, LongNames) {
  const std::string a(300, 'a'), b = a + "b";
  const std::string graph =
      StrCat("graph g(x: float32[2]) -> (y) {\n ", a, " = float32[2]{1, 2}\n ", b,
             " = float32[2]{3, 4}\n s = onnx.Add(x, ", a, ")\n y = onnx.Mul(s, ", b, ") }");
  ExpectWritten(
      {graph, {"float32[2]{5, 6}"}, {" = variable<scalar>(shape = [2], label = 'a"}, true});
  const auto files = std::make_shared<NnefFileMap>();
  ASSERT_TRUE(WriteText(graph, true, files).ok());
  EXPECT_EQ(files->size(), 3u);
  for (const auto& [name, bytes] : *files) {
    EXPECT_LE(name.size() - (name.rfind('/') + 1), 255u) << name;
  }
}

}  // namespace
}  // namespace x2ir
