// Models of NNEF: what texts compute, tensors and archives, what is refused.
#include "x2ir/formats/nnef/nnef.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/run_text_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/nnef_files_util.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/tar.h"
#include "x2ir/formats/nnef/tensor_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

// Results follow from the formulas of the operators, by hand.
const NnefRow kNnefRows[] = {
    // Tensors of fewer axes broadcast from the first axis.
    {"[2,2]", "b = constant(shape = [2], value = [10.0, 20.0]); y = x + b;",
     "float32[2,2]{1, 2, 3, 4}", "float32[2,2]{11, 12, 23, 24}"},
    {"[2]", "y = -x * 2.0 ^ 3.0;", "float32[2]{1, 2}", "float32[2]{-8, -16}"},
    {"[3]", "y = round(x);", "float32[3]{0.5, -2.5, 1.4}", "float32[3]{1, -3, 1}"},
    {"[2]", "y = rsqr(x);", "float32[2]{1, 2}", "float32[2]{1, 0.25}"},
    {"[3]", "y = clamp(x, 0.0, 1.0);", "float32[3]{-1, 0.5, 2}", "float32[3]{0, 0.5, 1}"},
    {"[2]", "y = select(x < 1.5, x, 9.0);", "float32[2]{1, 2}", "float32[2]{1, 9}"},
    {"[1,1,3]", "y = softmax(x, axes = [2]);", "float32[1,1,3]{0, 0, 0}",
     "float32[1,1,3]{0.33333334, 0.33333334, 0.33333334}"},
    // Padding that is left out: a result for each step, an odd element at the end.
    {"[1,1,4]", "w = constant(shape = [1,1,2], value = [1.0, 1.0]); y = conv(x, w);",
     "float32[1,1,4]{1, 2, 3, 4}", "float32[1,1,4]{3, 5, 7, 4}"},
    {"[1,1,3]",
     "w = constant(shape = [1,1,3], value = [1.0, 1.0, 1.0]); y = conv(x, w, border = "
     "'replicate');",
     "float32[1,1,3]{1, 2, 3}", "float32[1,1,3]{4, 6, 8}"},
    {"[1,1,3]",
     "w = constant(shape = [1,1,3], value = [1.0, 1.0, 1.0]); y = conv(x, w, border = 'reflect');",
     "float32[1,1,3]{1, 2, 3}", "float32[1,1,3]{5, 6, 7}"},
    {"[1,2,2]",
     "w = constant(shape = [2,1,1], value = [2.0, 3.0]); y = conv(x, w, 1.0, groups = 0);",
     "float32[1,2,2]{1, 2, 3, 4}", "float32[1,2,2]{3, 5, 10, 13}"},
    {"[1,1,2]",
     "w = constant(shape = [1,1,2], value = [1.0, 2.0]); y = deconv(x, w, stride = [2]);",
     "float32[1,1,2]{1, 10}", "float32[1,1,4]{1, 2, 10, 20}"},
    {"[1,1,2]",
     "w = constant(shape = [1,1,2], value = [1.0, 2.0]); y = deconv(x, w, padding = [(0,0)], "
     "stride = [2], output_shape = [1,1,5]);",
     "float32[1,1,2]{1, 10}", "float32[1,1,5]{1, 2, 10, 20, 0}"},
    // A border of zeros takes part in a pool, unless it is ignored.
    {"[1,1,2]",
     "y = max_pool(x, size = [1,1,2], padding = [(0,0),(0,0),(0,1)], border = 'constant');",
     "float32[1,1,2]{-1, -2}", "float32[1,1,2]{-1, 0}"},
    {"[1,1,2]",
     "y = max_pool(x, size = [1,1,2], padding = [(0,0),(0,0),(0,1)], border = 'ignore');",
     "float32[1,1,2]{-1, -2}", "float32[1,1,2]{-1, -2}"},
    // Of a pool, the places; an odd element of the padding is at the end.
    {"[1,1,4]",
     "m, i = max_pool_with_index(x, size = [1,1,2], stride = [1,1,2], padding = "
     "[(0,0),(0,0),(0,0)]); y = desample(m, i, size = [1,1,2], stride = [1,1,2], padding = "
     "[(0,0),(0,0),(0,0)]);",
     "float32[1,1,4]{1, 3, 5, 5}", "float32[1,1,4]{0, 3, 5, 0}"},
    {"[1,1,4]",
     "i = argmax_pool(x, size = [1,1,2], stride = [1,1,2], border = 'ignore'); y = sample(x, i, "
     "size = [1,1,2], stride = [1,1,2], border = 'ignore');",
     "float32[1,1,4]{1, 3, 5, 4}", "float32[1,1,2]{3, 5}"},
    {"[1,1,4]",
     "i = argmax_pool(x, size = [1,1,3], border = 'ignore'); y = sample(-x, i, size = [1,1,3], "
     "border = 'ignore');",
     "float32[1,1,4]{1, 3, 5, 4}", "float32[1,1,4]{-3, -5, -5, -5}"},
    {"[1,1,5]",
     "m, i = max_pool_with_index(x, size = [1,1,2], stride = [1,1,2], border = 'ignore'); y = "
     "desample(m, i, size = [1,1,2], stride = [1,1,2], border = 'ignore', output_shape = "
     "[1,1,5]);",
     "float32[1,1,5]{1, 3, 5, 4, 7}", "float32[1,1,5]{0, 3, 5, 0, 7}"},
    // A window over all axes.
    {"[2,2]",
     "m, i = max_pool_with_index(x, size = [2,1], stride = [2,1], padding = [(0,0),(0,0)]); y = "
     "desample(2.0 * m, i, size = [2,1], stride = [2,1], padding = [(0,0),(0,0)]);",
     "float32[2,2]{1, 4, 3, 2}", "float32[2,2]{0, 8, 6, 0}"},
    {"[1,1,2]", "y = box(x, size = [1,1,2], padding = [(0,0),(0,0),(0,1)], normalize = true);",
     "float32[1,1,2]{2, 4}", "float32[1,1,2]{3, 2}"},
    {"[1,1,2]",
     "y = box(x, size = [1,1,2], padding = [(0,0),(0,0),(0,1)], border = 'ignore', normalize = "
     "true);",
     "float32[1,1,2]{2, 4}", "float32[1,1,2]{3, 4}"},
    {"[1,3,1]", "y = box(x, size = [1,3,1]);", "float32[1,3,1]{1, 2, 4}",
     "float32[1,3,1]{3, 7, 6}"},
    {"[1,1,2]", "y = debox(x, size = [1,1,3], stride = [1,1,2], padding = [(0,0),(0,0),(0,0)]);",
     "float32[1,1,2]{1, 10}", "float32[1,1,5]{1, 1, 11, 10, 10}"},
    {"[1,1,2]",
     "y = debox(x, size = [1,1,2], stride = [1,1,2], padding = [(0,0),(0,0),(0,0)], output_shape "
     "= [1,1,5]);",
     "float32[1,1,2]{1, 10}", "float32[1,1,5]{1, 1, 10, 10, 0}"},
    {"[1,1,2]", "y = debox(x, size = [1,1,3], stride = [1,1,2], output_shape = [1,1,3]);",
     "float32[1,1,2]{1, 10}", "float32[1,1,3]{1, 11, 10}"},
    {"[1,1,4]", "y = nearest_downsample(x, factor = [2]);", "float32[1,1,4]{1, 2, 3, 4}",
     "float32[1,1,2]{1, 3}"},
    {"[1,1,4]", "y = area_downsample(x, factor = [2]);", "float32[1,1,4]{1, 2, 3, 4}",
     "float32[1,1,2]{1.5, 3.5}"},
    {"[1,1,2]", "y = multilinear_upsample(x, factor = [2], method = 'asymmetric');",
     "float32[1,1,2]{1, 3}", "float32[1,1,4]{1, 2, 3, 3}"},
    {"[1,1,2]", "y = multilinear_upsample(x, factor = [2], method = 'symmetric');",
     "float32[1,1,2]{1, 3}", "float32[1,1,4]{1, 1.5, 2.5, 3}"},
    {"[2,2]", "m, v = moments(x, axes = [1]); y = m + v;", "float32[2,2]{1, 3, 2, 2}",
     "float32[2,1]{3, 2}"},
    {"[2,2]", "y = l1_normalization(x, axes = [1]);", "float32[2,2]{1, -3, 2, 2}",
     "float32[2,2]{0.25, -0.75, 0.5, 0.5}"},
    {"[1,3,1]", "y = local_response_normalization(x, size = [1,3,1], beta = 1.0, alpha = 3.0);",
     "float32[1,3,1]{1, 1, 1}", "float32[1,3,1]{0.33333334, 0.25, 0.33333334}"},
    {"[1,2]",
     "m = constant(shape = [1,2], value = [1.0]); y = batch_normalization(x, m, m, m, m, epsilon "
     "= 3.0);",
     "float32[1,2]{3, 5}", "float32[1,2]{2, 3}"},
    // An end of 0 is the end; a size of 0 stays, -1 is what is left.
    {"[4]", "y = slice(x, axes = [0], begin = [1], end = [0]);", "float32[4]{1, 2, 3, 4}",
     "float32[3]{2, 3, 4}"},
    {"[4]", "y = slice(x, axes = [0], begin = [-3], end = [-1], stride = [2]);",
     "float32[4]{1, 2, 3, 4}", "float32[1]{2}"},
    {"[2,4]", "y = reshape(x, shape = [2, -1], axis_start = 1, axis_count = 1);",
     "float32[2,4]{1, 2, 3, 4, 5, 6, 7, 8}", "float32[2,2,2]{1, 2, 3, 4, 5, 6, 7, 8}"},
    {"[2,2]", "y = reshape(x, shape = [0, 1, -1]);", "float32[2,2]{1, 2, 3, 4}",
     "float32[2,1,2]{1, 2, 3, 4}"},
    {"[3]", "[a, b] = split(x, axis = 0, ratios = [1, 2]); y = concat([b, a], axis = 0);",
     "float32[3]{1, 2, 3}", "float32[3]{2, 3, 1}"},
    {"[2]", "[a, b] = unstack(x, axis = 0); y = stack([b, a], axis = 0);", "float32[2]{1, 2}",
     "float32[2]{2, 1}"},
    {"[2]", "y = pad(x, padding = [(1, 1)], border = 'replicate');", "float32[2]{1, 2}",
     "float32[4]{1, 1, 2, 2}"},
    {"[1,3]", "y = pad(x, padding = [(0,0),(2, 3)], border = 'reflect-even');",
     "float32[1,3]{1, 2, 3}", "float32[1,8]{2, 1, 1, 2, 3, 3, 2, 1}"},
    {"[1,1,3]", "y = box(x, size = [1,1,3], border = 'reflect-even');", "float32[1,1,3]{1, 2, 3}",
     "float32[1,1,3]{4, 6, 8}"},
    {"[2,1]", "y = tile(x, repeats = [1, 2]);", "float32[2,1]{1, 2}", "float32[2,2]{1, 1, 2, 2}"},
    {"[2,2]", "y = matmul(x, x, transposeA = true);", "float32[2,2]{1, 2, 3, 4}",
     "float32[2,2]{10, 14, 14, 20}"},
    {"[3]", "y = argmax_reduce(x, axes = [0]);", "float32[3]{1, 3, 2}", "int64[1]{1}"},
    // Steps of a quarter between 0 and 0.75.
    {"[3]", "y = linear_quantize(x, 0.0, 0.75, bits = 2);", "float32[3]{0.3, 0.4, 2}",
     "float32[3]{0.25, 0.5, 0.75}"},
    {"[3]",
     "y = zero_point_linear_quantize(x, 1, 0.5, bits = 8, signed = false, symmetric = false);",
     "float32[3]{-2, 0.3, 1000}", "float32[3]{-0.5, 0.5, 127}"},
    {"[2]", "y = logarithmic_quantize(x, 4.0, bits = 2);", "float32[2]{3, -0.3}",
     "float32[2]{4, -0.5}"},
    // Fragments, lists and conditions of the compositional syntax.
    {"[2]", "y = twice(x, shift = 1.0);", "float32[2]{1, 2}", "float32[2]{3, 5}",
     "fragment twice(a: tensor<scalar>, shift: scalar = 0.0) -> (b: tensor<scalar>) { b = a * 2.0 "
     "+ shift; }\n"},
    {"[1,1,4]", "y = part(x, factor = [2]);", "float32[1,1,4]{1, 2, 3, 4}", "float32[1,1,2]{2, 4}",
     "fragment part(a: tensor<scalar>, factor: integer[]) -> (b: tensor<scalar>) {\n"
     "  n = 2 + length_of(factor);\n"
     "  s = [for i in range_of(factor) yield factor[i] * 1 if i >= 0 else 7];\n"
     "  b = max_pool(a, size = [1,1] + s, stride = [1,1] + s, padding = [(0,0)] * n);\n}\n"},
};

TEST(Nnef, TextsCompute) { ExpectNnefRows({std::begin(kNnefRows), std::end(kNnefRows)}); }

TEST(Nnef, WrongTextsAreErrors) {
  const std::string head = "version 1.0;\ngraph g(x) -> (y) { x = external(shape = [2]); ";
  const std::string image = "version 1.0;\ngraph g(x) -> (y) { x = external(shape = [1,1,4]); ";
  ExpectNnefRefusals({
      {"version 1.0;", "expected 'graph'"},
      {"version 1.0;\ngraph g(x) -> (y) { y = x; }", "'x' is not defined"},
      {head + "}", "'y' is not defined"},
      {head + "y = nonsense(x); }", "operator 'nonsense'"},
      {head + "y = relu(x, z = 1); }", "'relu' has no parameter 'z'"},
      {head + "y = squeeze(x); }", "'squeeze': 'axes' is missing"},
      {head + "y = x; y = x; }", "'y' is defined twice"},
      {head + "y = update(x, x); }", "an update of a tensor that is no variable"},
      {image + "y = max_pool(x, size = [1,1,2], border = 'wrapped'); }", "border 'wrapped'"},
      {image + "y = pad(x, padding = [(0,0),(0,0),(0,5)], border = 'reflect-even'); }",
       "of more elements than there are"},
      // Numbers of places are not the same in all runtimes.
      {image + "y = argmax_pool(x, size = [1,1,2], border = 'ignore'); }",
       "indices of maxima that other operators than sample and desample use"},
      {image + "i = argmax_pool(x, size = [1,1,3], border = 'constant'); y = sample(x, i, size = "
               "[1,1,3], border = 'constant'); }",
       "indices of maxima among the elements of a border"},
      {image + "i = argmax_pool(x, size = [1,1,2], border = 'ignore'); y = sample(x, i, size = "
               "[1,1,3], border = 'ignore'); }",
       "another window than that of the pool"},
      {image + "m, i = max_pool_with_index(x, size = [1,1,2], border = 'ignore'); y = desample(m, "
               "i, size = [1,1,2], border = 'ignore'); }",
       "windows that overlap"},
      {image + "i = constant<integer>(shape = [1,1,1], value = [0]); y = sample(x, i, size = "
               "[1,1,2]); }",
       "an index that is not of a pool of the graph"},
      {image + "r = constant(shape = [1,4], value = [0.0]); i = constant<integer>(shape = [1], "
               "value = [0]); y = max_roi_pool(x, r, i, output_size = [1]); }",
       "max_roi_pool"},
  });
}

TEST(Nnef, TensorFilesOfAllTypes) {
  struct DatRow {
    uint16_t type;
    uint32_t bits;
    std::string_view items;
    std::string_view want;
  };
  using namespace std::string_view_literals;
  const DatRow rows[] = {
      {0, 16, "\x00\x3c\x00\x40"sv, "float16[2]{1, 2}"},
      {0, 32, "\x00\x00\x80\x3f\x00\x00\x00\x40"sv, "float32[2]{1, 2}"},
      {1, 8, "\x01\xff"sv, "uint8[2]{1, 255}"},
      {3, 8, "\x01\xff"sv, "int8[2]{1, -1}"},
      {4, 16, "\x01\x00\xff\xff"sv, "int16[2]{1, -1}"},
      {5, 1, "\x40"sv, "bool[2]{false, true}"},
      {5, 8, "\x00\x07"sv, "bool[2]{false, true}"},
      {1, 4, "\x01"sv, "error"},
      {0, 32, "\x00\x00\x80\x3f"sv, "error"},
  };
  for (const DatRow& row : rows) {
    const std::string file = NnefDat(row.type, row.bits, {2}, row.items);
    const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(file.data()),
                                            file.size());
    const auto tensor = nnef::ReadTensorFile(Blob::InMemory(bytes, nullptr, "w.dat"));
    EXPECT_EQ(tensor.ok() ? TensorText(tensor->tensor) : "error", row.want);
  }
}

// A variable that runs change is an input and an output; others see what it was before.
TEST(Nnef, UpdatedVariablesAreInputsAndOutputs) {
  const NnefFileMap files = {
      {"graph.nnef",
       NnefText("[2]",
                "h = variable(shape = [2], label = 'state/h'); n = update(h, h + x); y = n * 2.0 + "
                "h;")},
      {"state/h.dat", NnefDat(0, 32, {2}, std::string(8, '\0'))}};
  const auto model = ReadNnefFiles(files);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->graph->inputs().size(), 2u);
  EXPECT_EQ(model->graph->inputs()[1]->name(), "state/h");
  EXPECT_EQ(model->graph->outputs()[1]->name(), "state/h_out");
  EXPECT_EQ(ResultsText(model->Clone(), {"float32[2]{1, 2}", "float32[2]{10, 20}"}),
            "float32[2]{32, 64}; float32[2]{11, 22}");
}

// Stored integers of a quantization are the numbers that they stand for, by the formulas of the
// standard's fragments.
TEST(Nnef, QuantizedVariables) {
  struct QuantRow {
    uint16_t type;
    uint32_t bits;
    std::string_view items, quantization, want;
  };
  using namespace std::string_view_literals;
  const QuantRow rows[] = {
      {2, 8, "\x03\x05\x00\xff"sv,
       "zero_point_linear_quantize(zero_point = 1, scale = 0.5, bits = 8, signed = false, "
       "symmetric = false)",
       "1, 2, -0.5, 127"},
      {3, 8, "\x03\xfd\x00\x80"sv,
       "zero_point_linear_quantize(zero_point = -1, scale = 2.0, bits = 8, signed = true, "
       "symmetric = false)",
       "8, -4, 2, -254"},
      {3, 16, "\x03\x00\xff\xff\x00\x01\x00\x80"sv,
       "zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 16, signed = true, "
       "symmetric = true)",
       "1.5, -0.5, 128, -16384"},
      {3, 32, "\x03\x00\x00\x00\xff\xff\xff\xff\x00\x00\x01\x00\x00\x00\x00\x00"sv,
       "zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 32, signed = true, "
       "symmetric = true)",
       "1.5, -0.5, 32768, 0"},
      // Four bits of eight, and one step for each row.
      {2, 8, "\x03\x05\x00\x0f"sv,
       "zero_point_linear_quantize(zero_point = 8, scale = 1.0, bits = 4, signed = false, "
       "symmetric = false)",
       "-5, -3, -8, 7"},
      {3, 8, "\x03\xfd\x00\x80"sv,
       "zero_point_linear_quantize(zero_point = 0, scale = [[1.0], [0.5]], bits = 8, signed = "
       "true, symmetric = false)",
       "3, -3, 0, -64"},
      {3, 8, "\x03\xfd\x00\x80"sv,
       "zero_point_linear_quantize(zero_point = [1, 2], scale = [1.0, 0.5], bits = 8, signed = "
       "true, symmetric = false)",
       "2, -4, -1, -65"},
      // 255 steps between -1 and 254; of signed ones the least is the minimum.
      {2, 8, "\x00\x01\x05\xff"sv, "linear_quantize(min = -1.0, max = 254.0, bits = 8)",
       "-1, 0, 4, 254"},
      {2, 8, "\x00\x01\x05\xff"sv,
       "min_max_linear_quantize(min = -1.0, max = 254.0, bits = 8, signed = false, symmetric = "
       "false)",
       "-1, 0, 4, 254"},
      {3, 8, "\x80\x00\x01\x7f"sv,
       "min_max_linear_quantize(min = 0.0, max = 255.0, bits = 8, signed = true, symmetric = "
       "false)",
       "0, 128, 129, 255"},
      // 254 steps, from -127 on.
      {3, 8, "\x81\x00\x01\x7f"sv,
       "min_max_linear_quantize(min = -127.0, max = 127.0, bits = 8, signed = true, symmetric = "
       "true)",
       "-127, 0, 1, 127"},
  };
  for (const QuantRow& row : rows) {
    const NnefFileMap files = {
        {"graph.nnef", NnefText("[2,2]", "w = variable(shape = [2,2], label = 'w'); y = x + w;")},
        {"w.dat", NnefDat(row.type, row.bits, {2, 2}, row.items)},
        {"graph.quant", StrCat("\"w\": ", row.quantization, ";\n")}};
    EXPECT_EQ(ResultsText(ReadNnefFiles(files), {"float32[2,2]{0, 0, 0, 0}"}),
              StrCat("float32[2,2]{", row.want, "}"))
        << row.quantization;
  }
}

// Other tensors are rounded as their quantization says: halves away from zero, clamped to what the
// bits hold.
TEST(Nnef, QuantizedActivations) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"zero_point_linear_quantize(zero_point = 1, scale = 0.5, bits = 8, signed = false, "
       "symmetric = false)",
       "0.5, -0.5, -0.5, 127"},
      {"zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 8, signed = true, symmetric "
       "= false)",
       "0.5, -0.5, -64, 63.5"},
      {"zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 8, signed = true, symmetric "
       "= true)",
       "0.5, -0.5, -63.5, 63.5"},
      {"zero_point_linear_quantize(zero_point = 0, scale = 0.5, bits = 4, signed = true, symmetric "
       "= false)",
       "0.5, -0.5, -4, 3.5"},
      {"linear_quantize(min = -1.0, max = 2.0, bits = 2)", "0, 0, -1, 2"},
      {"min_max_linear_quantize(min = -1.0, max = 1.0, bits = 2, signed = true, symmetric = true)",
       "0, 0, -1, 1"},
      {"logarithmic_quantize(max = 4.0, bits = 2)", "0.5, -0.5, -4, 4"},
  };
  for (const auto& [quantization, want] : rows) {
    const NnefFileMap files = {{"graph.nnef", NnefText("[2,2]", "t = x + 0.0; y = t + 0.0;")},
                               {"graph.quant", StrCat("\"t\": ", quantization, ";\n")}};
    EXPECT_EQ(ResultsText(ReadNnefFiles(files), {"float32[2,2]{0.25, -0.25, -1000, 1000}"}),
              StrCat("float32[2,2]{", want, "}"))
        << quantization;
  }
}

// Written as a folder and as archives; the same bytes when it is written again.
TEST(Nnef, WrittenFilesAreReadAgain) {
  const NnefFileMap files = {
      {"graph.nnef",
       NnefText("[2, 2]",
                "w = variable(shape = [2, 2], label = 'w'); t = matmul(x, w); y = relu(t) + 0.5;")},
      {"w.dat",
       NnefDat(0, 32, {2, 2}, std::string_view("\0\0\x80\x3f\0\0\0\x40\0\0\0\0\0\0\x80\x3f", 16))}};
  for (const std::string name : {"m.nnef", "m.nnef.tar", "m.nnef.tgz"}) {
    auto model = ReadNnefFiles(files);
    std::shared_ptr<NnefFileMap> written[2];
    for (auto& round : written) {
      ASSERT_TRUE(model.ok()) << model.status();
      round = std::make_shared<NnefFileMap>();
      ASSERT_TRUE(Export(*std::move(model), IntoMemory(name, round), {.format = "nnef"}).ok());
      const bool folder = name == "m.nnef";
      model = Import(FromMemory(folder ? "m.nnef/" : "", folder ? "graph.nnef" : name, round),
                     {.format = "nnef"});
      ASSERT_TRUE(model.ok()) << model.status();
      EXPECT_EQ(ResultsText(model->Clone(), {"float32[2,2]{1, 2, -3, -4}"}),
                "float32[2,2]{1.5, 4.5, 0.5, 0.5}");
    }
    EXPECT_EQ(*written[0], *written[1]) << name;
  }
}

// A folder that is a model is replaced whole; one with a file of somebody else keeps all it has.
TEST(Nnef, FoldersAreReplacedWhole) {
  namespace fs = std::filesystem;
  const TempDir dir;
  const auto write = [&](std::string_view lines) {
    absl::StatusOr<Model> model = ReadNnefFiles({{"graph.nnef", NnefText("[2]", lines)}});
    EXPECT_TRUE(model.ok()) << model.status();
    return Export(*std::move(model), dir.Path("m.nnef"), {.format = "nnef"});
  };
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir.Path("m.nnef"))) {
      names.insert(entry.path().filename().string());
    }
    return names.size();
  };
  ASSERT_TRUE(write("a = constant(shape = [2], value = [1.0, 2.0]); y = x + a;").ok());
  EXPECT_EQ(files(), 2u);
  fs::create_directory_symlink("m.nnef", dir.Path("link.nnef"));
  ASSERT_TRUE(write("y = x + 1.0;").ok());
  EXPECT_EQ(files(), 1u);
  dir.Put("m.nnef/notes.txt", "mine");
  const absl::Status refused = write("y = x + 2.0;");
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has another file, 'notes.txt'"));
  EXPECT_EQ(files(), 2u);
  const absl::StatusOr<Model> there = Import(dir.Path("link.nnef"), {.format = "nnef"});
  EXPECT_EQ(ResultsText(there, {"float32[2]{1, 2}"}), "float32[2]{2, 3}");
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator()), 2);
}

TEST(Nnef, BrokenArchivesAreErrors) {
  const std::string text = NnefText("[1]", "y = x;");
  std::string tar = TarHeader("graph.nnef", text.size()) + text;
  tar.resize((tar.size() + 511) / 512 * 512 + 1024);
  const auto read = [](const std::string& bytes) {
    return Import(Source::Bytes(bytes, {}, "m.nnef.tar"), {.format = "nnef"}).status();
  };
  EXPECT_TRUE(read(tar).ok()) << read(tar);
  EXPECT_FALSE(read(tar.substr(0, 520)).ok());
  std::string damaged = tar;
  damaged[3] ^= 1;
  EXPECT_FALSE(read(damaged).ok());
  std::string packed;
  GzipWriter gzip([&](std::string_view bytes) {
    packed.append(bytes);
    return absl::OkStatus();
  });
  ASSERT_TRUE(gzip.Append(tar).ok());
  // Zeros that unpack to more than an archive may.
  ASSERT_TRUE(gzip.Append(std::string(size_t{64} << 20, '\0')).ok());
  ASSERT_TRUE(gzip.Finish().ok());
  EXPECT_THAT(std::string(read(packed).message()), HasSubstr("unpacks to more"));
  EXPECT_FALSE(read(packed.substr(0, packed.size() / 2)).ok());
}

}  // namespace
}  // namespace x2ir
