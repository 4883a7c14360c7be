// Forms of ops that ONNX's node tests do not have: what is written of graphs of the IR gives what
// these give, in LiteRT and when it is read again.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char *name, *graph;
  bool in_litert = true;  // its binding has no results whose sizes are found in the run
};

constexpr char kWeights[] =
    "w = float32[4,1,2,3]{1, -2, 3, 0.5, 0.25, -1, 2, 2, -1, 4, 0, 1, -3, 1, 1, 0.5, 2, -2, 1, 3, "
    "-1, 0.25, 1, 2} ";

const Row kRows[] = {
    {"conv_transpose_of_groups",
     "graph g(x: float32[1,4,3,4]) -> (y) { WEIGHTS b = float32[2]{1, -1} y = conv_transpose(x, w, "
     "b) { group = 2, strides = [2, 2], pads = [0, 1, 1, 0], dilations = [1, 1], output_padding = "
     "[0, 0], layout = \"channels_first\", auto_pad = \"NOTSET\" } }"},
    {"conv_transpose_of_each_channel",
     "graph g(x: float32[1,3,4,4]) -> (y) { WEIGHTS y = conv_transpose(x, w) { group = 4, strides "
     "= [1, 2], pads = [0, 0, 0, 0], dilations = [1, 1], output_padding = [0, 0], layout = "
     "\"channels_last\", auto_pad = \"NOTSET\" } }"},
    {"conv_transpose_dilated",
     "graph g(x: float32[1,4,3,4]) -> (y) { WEIGHTS y = conv_transpose(x, w) { group = 1, strides "
     "= [2, 1], pads = [1, 0, 0, 2], dilations = [3, 2], output_padding = [0, 0], layout = "
     "\"channels_first\", auto_pad = \"NOTSET\" } }"},
    {"conv_transpose_of_three_axes",
     "graph g(x: float32[1,1,2,3,2]) -> (y) { w = float32[1,2,2,1,2]{1, 2, -1, 3, 0.5, 1, 2, -2} y "
     "= conv_transpose(x, w) { group = 1, strides = [1, 2, 1], pads = [0, 0, 0, 0, 0, 1], "
     "dilations = [1, 1, 1], output_padding = [0, 0, 0], layout = \"channels_first\", auto_pad = "
     "\"NOTSET\" } }"},
    {"average_of_three_axes",
     "graph g(x: float32[2,3,4,5,6]) -> (y) { y = average_pool(x) { kernel_shape = [2, 3, 2], "
     "strides = [1, 2, 2], pads = [1, 1, 0, 0, 1, 1], dilations = [1, 1, 1], ceil_mode = 0, "
     "count_include_pad = 0, layout = \"channels_first\", auto_pad = \"NOTSET\" } }"},
    {"average_of_three_axes_with_pads",
     "graph g(x: float32[1,4,5,6,2]) -> (y) { y = average_pool(x) { kernel_shape = [2, 3, 2], "
     "strides = [2, 2, 2], pads = [1, 1, 0, 0, 1, 1], dilations = [1, 1, 1], ceil_mode = 0, "
     "count_include_pad = 1, layout = \"channels_last\", auto_pad = \"NOTSET\" } }"},
    {"maximum_of_three_axes",
     "graph g(x: float32[1,2,4,5,6]) -> (y) { y = max_pool(x) { storage_order = 0, kernel_shape = "
     "[2, 3, 2], strides = [1, 1, 2], pads = [0, 1, 0, 1, 1, 0], dilations = [1, 1, 1], ceil_mode "
     "= 0, layout = \"channels_first\", auto_pad = \"NOTSET\" } }"},
    // CONV_3D is not dilated and has no groups; CONV_3D_TRANSPOSE goes wrong with SAME.
    {"conv_of_three_axes_dilated",
     "graph g(x: float32[2,2,5,6,7]) -> (y) { w = float32[2,2,2,1,2]{1, -2, 3, 0.5, 0.25, -1, 2, "
     "2, "
     "-1, 4, 0, 1, -3, 1, 1, 0.5} b = float32[2]{1, -1} y = conv(x, w, b) { group = 1, strides = "
     "[2, 1, 2], pads = [1, 0, 1, 2, 0, 0], dilations = [2, 1, 3], layout = \"channels_first\", "
     "auto_pad = \"NOTSET\" } }"},
    {"conv_of_three_axes_of_groups",
     "graph g(x: float32[1,4,3,4,5]) -> (y) { w = float32[2,2,2,1,2]{1, -2, 3, 0.5, 0.25, -1, 2, "
     "2, "
     "-1, 4, 0, 1, -3, 1, 1, 0.5} y = conv(x, w) { group = 2, strides = [1, 1, 1], pads = [0, 0, "
     "0, 0, 0, 0], dilations = [1, 1, 1], layout = \"channels_first\", auto_pad = \"NOTSET\" } }"},
    {"conv_of_three_axes_dilated_same",
     "graph g(x: float32[1,3,4,5,2], w: float32[2,2,2,1,2]) -> (y) { y = conv(x, w) { group = 1, "
     "strides = [1, 1, 1], pads = [0, 0, 0, 0, 0, 0], dilations = [2, 2, 3], layout = "
     "\"channels_last\", auto_pad = \"SAME_LOWER\" } }"},
    {"conv_transpose_of_three_axes_same",
     "graph g(x: float32[1,1,2,3,2]) -> (y) { w = float32[1,2,3,1,2]{1, 2, -1, 3, 0.5, 1, 2, -2, "
     "4, 5, -3, 1} y = conv_transpose(x, w) { group = 1, strides = [1, 1, 1], pads = [1, 0, 0, 1, "
     "0, 1], dilations = [1, 1, 1], output_padding = [0, 0, 0], layout = \"channels_first\", "
     "auto_pad = \"NOTSET\" } }"},
    // Tables of options that differ in the width of a field alone; sums that run.
    {"options_of_other_widths",
     "graph g(z: float32[1,12], x: float32[2,3,4], q: float32[2,5,3]) -> (y, h, c) { s = "
     "int64[1]{3} e = int64[1]{9} a = int64[1]{1} n = int64[]{1} y = slice(z, s, e, a) t = "
     "transpose(x) { perm = [0, 2, 1] } u = transpose(q) { perm = [0, 2, 1] } h = matmul(t, u) c = "
     "cum_sum(x, n) { exclusive = 1, reverse = 1 } }"},
    {"scalar", "graph g(x: float32[]) -> (y) { y = identity(x) }"},
    {"scalar_of_one_element",
     "graph g(x: float32[1,1]) -> (y) { a = int64[2]{0, 1} y = squeeze(x, a) }"},
    {"scalar_twice",
     "graph g(x: float32[3]) -> (y, z) { a = int64[1]{0} y = reduce_sum(x, a) { keepdims = 0, "
     "noop_with_empty_axes = 0 } z = "
     "identity(y) }"},
    // The same integers in other steps.
    {"transposed_between_scales",
     "graph g(x: float32[8,2]) -> (y) { s = float32[]{0.02} z = int8[]{3} t = float32[]{0.022} q = "
     "quantize_linear(x, s, z) QUANTIZE r = transpose(q) { perm = [1, 0] } y = "
     "dequantize_linear(r, t, "
     "z) DEQUANTIZE }"},
    {"joined_between_scales",
     "graph g(x: float32[3,2], w: float32[2,2]) -> (y) { s = float32[]{0.02} z = int8[]{3} t = "
     "float32[]{0.022} o = int8[]{-4} q = quantize_linear(x, s, z) QUANTIZE p = quantize_linear(w, "
     "t, "
     "o) QUANTIZE r = concat(q, p) { axis = 0 } y = dequantize_linear(r, s, o) DEQUANTIZE }"},
    {"integers_padded_with_0",
     "graph g(x: float32[3,2]) -> (y) { s = float32[]{0.02} z = int8[]{3} p = int64[4]{1, 0, 0, 2} "
     "q = quantize_linear(x, s, z) QUANTIZE r = pad(q, p) { mode = \"constant\" } y = "
     "dequantize_linear(r, s, z) DEQUANTIZE }"},
    // No kernel divides int64.
    {"quotients_of_large_integers",
     "graph g(x: float32[6,8], w: float32[6,8]) -> (y) { l = float32[]{9e18} m = "
     "float32[6,1]{9e18, "
     "1e14, 2e9, 1e6, 70, 1} k = int64[]{2} o = int64[]{1} d = mul(x, l) e = mul(w, m) a = cast(d) "
     "INT64 f = cast(e) INT64 h = mul(f, k) i = add(h, o) y = div(a, i) }"},
    {"quotients_of_sizes",
     "graph g(x: float32[6,8]) -> (y) { k = int64[]{-3} s = shape(x) { start = 0 } p = sub(s, k) y "
     "= div(p, k) }"},
    {"updates_that_multiply",
     "graph g(x: float32[4,3], u: float32[2,3]) -> (y) { i = int64[2,3]{0, 0, 2, 2, 0, 0} y = "
     "scatter_elements(x, i, u) { axis = 0, reduction = \"mul\" } }"},
    {"tuples_that_multiply",
     "graph g(x: float32[4,3], u: float32[2,3]) -> (y) { i = int64[2,1]{3, 3} y = scatter_nd(x, i, "
     "u) { reduction = \"mul\" } }"},
    {"boxes",
     "graph g(b: float32[2,9,4], s: float32[2,3,9]) -> (y) { n = int64[1]{4} t = float32[1]{0.1} l "
     "= float32[1]{0.2} y = non_max_suppression(b, s, n, t, l) { center_point_box = 0 } }",
     false},
    {"boxes_by_centers",
     "graph g(b: float32[1,9,4], s: float32[1,1,9]) -> (y) { n = int64[1]{100} t = float32[1]{0.1} "
     "y = non_max_suppression(b, s, n, t) { center_point_box = 1 } }",
     false},
};

// Numbers that differ, of -1 to 1.
Tensor Numbers(std::vector<int64_t> dims, int* seed) {
  Tensor tensor = Tensor::Zeros(DType::kFloat32, std::move(dims));
  for (float& number : tensor.mutable_span<float>()) {
    const int at = ++*seed;
    number = static_cast<float>(std::sin(1.7 * at) * std::cos(0.3 * at));
  }
  return tensor;
}

TEST(TfliteForms, GiveTheSame) {
  const auto judge = OrtJudge::Start("litert.mjs");
  const TempDir dir;
  std::vector<std::string> asked;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    std::string text = row.graph;
    text = absl::StrReplaceAll(text,
                               {{"WEIGHTS", kWeights},
                                {"INT64", "{ to = \"int64\", saturate = 1, round_mode = \"up\" }"},
                                {"DEQUANTIZE", "{ axis = 1, block_size = 0 }"},
                                {"QUANTIZE", "{ axis = 1, block_size = 0, saturate = 1 }"}});
    absl::StatusOr<Model> ir = ModelFromText(text, kIrDialect, 0);
    ASSERT_TRUE(ir.ok()) << ir.status();
    IoCase io;
    int seed = 0;
    for (const Value* input : ir->graph->inputs()) {
      io.inputs.emplace_back(Numbers(*input->shape()->Static(), &seed));
    }
    const auto run = [&](const Graph& graph) {
      const auto got = RunCase(graph, io, nullptr);
      EXPECT_TRUE(got.ok()) << got.status();
      std::vector<Tensor> results;
      for (size_t i = 0; got.ok() && i < got->size(); ++i) {
        results.push_back((*got)[i].tensor() ? *(*got)[i].tensor() : Tensor());
      }
      return results;
    };
    const std::vector<Tensor> wanted = run(*ir->graph);
    for (const Tensor& each : wanted) io.outputs.emplace_back(each);
    const std::string base = dir.Path(row.name);
    ASSERT_TRUE(WriteIoFile(base + ".safetensors", {io}, *ir->graph).ok());
    const absl::Status written = Export(*std::move(ir), base + ".tflite");
    EXPECT_TRUE(written.ok()) << written;
    if (!written.ok()) continue;
    const absl::StatusOr<Model> again = Import(base + ".tflite");
    ASSERT_TRUE(again.ok()) << again.status();
    const std::vector<Tensor> got = run(*again->graph);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t k = 0; k < got.size(); ++k) {
      EXPECT_EQ(got[k].dims(), wanted[k].dims());
      for (int64_t i = 0; i < std::min(got[k].num_elements(), wanted[k].num_elements()); ++i) {
        EXPECT_NEAR(got[k].AsDouble(i), wanted[k].AsDouble(i), 1e-5) << i;
      }
      EXPECT_GT(wanted[k].num_elements(), 0);
    }
    if (!judge || !row.in_litert) continue;
    judge->Ask({base + ".tflite", base + ".safetensors", 1e-4, 1e-5});
    asked.push_back(row.name);
  }
  if (judge) ExpectAgreement(*judge, asked);
  if (!judge) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
}

// Files that random graphs and hostile ones found (tests/data/tflite/found), with what ONNX Runtime
// gives for them.
TEST(TfliteForms, FoundFiles) {
  const fs::path folder = X2IR_SOURCE_DIR "/tests/data/tflite/found";
  const auto judge = OrtJudge::Start("litert.mjs");
  const TempDir dir;
  std::vector<std::string> asked;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    const std::string name = entry.path().stem().string();
    SCOPED_TRACE(name);
    absl::StatusOr<Model> ir = Import(entry.path().string());
    ASSERT_TRUE(ir.ok()) << ir.status();
    const std::string made = dir.Path(name + ".tflite");
    const absl::Status written = Export(*std::move(ir), made);
    if (name == "large_scan") {
      EXPECT_FALSE(written.ok()) << "sizes of 41 bits";
      continue;
    }
    EXPECT_TRUE(written.ok()) << written;
    if (!written.ok()) continue;
    EXPECT_TRUE(Import(made).ok());
    // Files say the sizes of zeros, not the zeros.
    EXPECT_LT(fs::file_size(made), 16u << 10);
    if (!judge || name.starts_with("large_")) continue;
    judge->Ask({made, (folder / (name + ".safetensors")).string(), 1e-4, 1e-5});
    asked.push_back(name);
  }
  if (judge) ExpectAgreement(*judge, asked);
  if (!judge) GTEST_SKIP() << "*** ORACLE NOT RUN: tests/oracle/setup.sh installs it";
}

}  // namespace
}  // namespace x2ir
