// TFLite's operators on constants, and the numbers that LiteRT's kernels give by their text. Those
// that have cases with outputs of TensorFlow Lite are in tests/conformance/tflite_test.cc.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/core/validate.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(Tflite, DialectIsValid) { EXPECT_THAT(ValidateDialect("tflite"), ::testing::IsEmpty()); }

TEST(Tflite, Elementwise) {
  const ConstantRow rows[] = {
      {"x = float32[3]{-1, 3, 7}\ny = tflite.RELU6(x)", "y", "float32[3]{0, 3, 6}"},
      {"x = float32[3]{-1, 0.5, 7}\ny = tflite.RELU_0_TO_1(x)", "y", "float32[3]{0, 0.5, 1}"},
      {"x = float32[3]{-2, 0.5, 7}\ny = tflite.RELU_N1_TO_1(x)", "y", "float32[3]{-1, 0.5, 1}"},
      {"x = float32[2]{-2, 3}\ny = tflite.SQUARE(x)", "y", "float32[2]{4, 9}"},
      {"x = float32[1]{0}\ny = tflite.EXP(x)", "y", "float32[1]{1}"},
      {"a = bool[2]{1, 1}\nb = bool[2]{0, 1}\ny = tflite.LOGICAL_AND(a, b)", "y",
       "bool[2]{false, true}"},
      {"a = int32[2]{1, 2}\nb = int32[]{2}\ny = tflite.NOT_EQUAL(a, b)", "y",
       "bool[2]{true, false}"},
      {"x = float32[2]{3, 4}\ny = tflite.L2_NORMALIZATION(x)", "y", "float32[2]{0.6, 0.8}"},
      {"x = float32[2]{0, 0}\ny = tflite.L2_NORMALIZATION(x)", "y", "float32[2]{0, 0}"},
      {"x = float32[2]{-8, 27}\ny = tflite.STABLEHLO_CBRT(x)\nr = tflite.ROUND(y)", "r",
       "float32[2]{-2, 3}"},
      {"l = float32[]{0}\nx = float32[3]{-1, 1, 3}\nh = float32[]{2}\ny = "
       "tflite.STABLEHLO_CLAMP(l, x, h)",
       "y", "float32[3]{0, 1, 2}"},
      {"x = int32[2]{1, 3}\nn = int32[2]{2, 1}\ny = tflite.STABLEHLO_SHIFT_LEFT(x, n)", "y",
       "int32[2]{4, 6}"},
      {"x = float32[2]{1, 2}\ny = tflite.ADD(x, x) { fused_activation_function = \"RELU_N1_TO_1\", "
       "pot_scale_int16 = 0 }",
       "y", "float32[2]{1, 1}"},
      {"x = float32[2]{1, 2}\ny = tflite.ADD(x, x) { fused_activation_function = \"SIGN_BIT\" }",
       "y", "float32[2]{2, 4}"},
      {"x = float32[2]{1, 2}\ny = tflite.MUL(x, x) { fused_activation_function = \"TANH\" }", "y",
       "float32[2]{1, 4}"},
      {"x = float32[1,2]{1, 2}\ny = tflite.FULLY_CONNECTED(x, x, _) { fused_activation_function = "
       "\"TANH\" }",
       "y", "error TANH"},
      {"x = float32[2]{1, 2}\ny = tflite.ABS(x) { unknown = 1 }", "y", "error unknown"},
  };
  ExpectConstantRows(rows, "tflite");
}

// A transposed convolution whose sizes are found in the run gives what one of known sizes gives.
TEST(Tflite, TransposedConvolutionOfComputedSizes) {
  const auto run = [](const std::string& padding, int64_t stride, std::vector<int64_t> sizes,
                      bool known) -> absl::StatusOr<Tensor> {
    const std::string numbers = StrCat("{1, ", sizes[0], ", ", sizes[1], ", 2}");
    absl::StatusOr<Model> model = ModelFromText(
        StrCat(
            "graph g(", known ? "" : "s: int32[4], ", "x: float32[1,3,4,1]) -> (y) { ",
            known ? StrCat("s = int32[4]", numbers) : "",
            " w = float32[2,2,3,1]{1, 2, 3, 4, 5, 6, -1, 0, 1, 0.5, 2, -3} b = float32[2]{1, -1} "
            "y = tflite.TRANSPOSE_CONV(s, w, x, b) { padding = \"",
            padding, "\", stride_w = ", stride, ", stride_h = ", stride, " } }"),
        "tflite", 1);
    if (!model.ok()) return model.status();
    X2IR_RETURN_IF_ERROR(ToIr(*model));
    IoCase io;
    if (!known) {
      io.inputs.emplace_back(Tensor::Of<int32_t>(
          {4}, {1, static_cast<int32_t>(sizes[0]), static_cast<int32_t>(sizes[1]), 2}));
    }
    io.inputs.emplace_back(
        Tensor::Of<float>({1, 3, 4, 1}, {1, -2, 3, 0.5, 4, 0, 1, 2, -1, 3, 0.25, -4}));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*model->graph, io, nullptr));
    return *got[0].tensor();
  };
  const struct {
    const char* padding;
    int64_t stride, height, width;
  } rows[] = {{"SAME", 2, 6, 8},   {"SAME", 2, 5, 7},   {"SAME", 1, 3, 4},
              {"SAME", 4, 9, 16},  {"SAME", 4, 12, 13}, {"VALID", 2, 6, 9},
              {"VALID", 2, 7, 10}, {"VALID", 1, 4, 6},  {"VALID", 3, 10, 14}};
  for (const auto& row : rows) {
    SCOPED_TRACE(StrCat(row.padding, " ", row.stride, " ", row.height, " ", row.width));
    const auto wanted = run(row.padding, row.stride, {row.height, row.width}, true),
               got = run(row.padding, row.stride, {row.height, row.width}, false);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*wanted, *got);
    EXPECT_EQ(wanted->dims(), (std::vector<int64_t>{1, row.height, row.width, 2}));
  }
}

TEST(Tflite, Movement) {
  const std::string x = "x = float32[6]{0, 1, 2, 3, 4, 5}\n";
  const std::string m = "x = float32[2,3]{0, 1, 2, 3, 4, 5}\n";
  const ConstantRow rows[] = {
      {"i = int32[3,1]{4, 1, 4}\nu = bool[3,2]{1, 0, 0, 1, 1, 0}\ns = int32[2]{5, 2}\n"
       "y = tflite.SCATTER_ND(i, u, s)",
       "y", "bool[5,2]{false, false, false, true, false, false, false, false, true, false}"},
      // Ends that count from the begins.
      {x + "b = int32[1]{1}\ne = int32[1]{3}\ns = int32[1]{1}\n"
           "y = tflite.STRIDED_SLICE(x, b, e, s) { begin_mask = 0, offset = 1 }",
       "y", "float32[3]{1, 2, 3}"},
      {x + "b = int32[1]{1}\ne = int32[1]{3}\ns = int32[1]{1}\n"
           "y = tflite.STRIDED_SLICE(x, b, e, s) { begin_mask = 0, offset = 0 }",
       "y", "float32[2]{1, 2}"},
      {m + "b = int32[2]{0, 1}\ns = int32[2]{-1, 2}\ny = tflite.SLICE(x, b, s)", "y",
       "float32[2,2]{1, 2, 4, 5}"},
      {x + "y = tflite.RESHAPE(x) { new_shape = [3, -1] }", "y", "float32[3,2]{0, 1, 2, 3, 4, 5}"},
      // Old files say a scalar with a size of 0.
      {"x = float32[1]{7}\ny = tflite.RESHAPE(x) { new_shape = [0] }", "y", "float32[]{7}"},
      {"x = float32[1,2,1]{7, 8}\ny = tflite.SQUEEZE(x)", "y", "float32[2]{7, 8}"},
      {"x = float32[1,2,1]{7, 8}\ny = tflite.SQUEEZE(x) { squeeze_dims = [0] }", "y",
       "float32[2,1]{7, 8}"},
      {"x = float32[2]{1, 2}\nn = int32[1]{2}\ny = tflite.TILE(x, n)", "y",
       "float32[4]{1, 2, 1, 2}"},
      {"x = float32[2]{1, 2}\nn = int32[2]{2, 2}\ny = tflite.BROADCAST_TO(x, n)", "y",
       "float32[2,2]{1, 2, 1, 2}"},
      {"a = int32[2]{2, 1}\nb = int32[1]{3}\ny = tflite.BROADCAST_ARGS(a, b)", "y",
       "int32[2]{2, 3}"},
      {m + "y: int32[...] = tflite.RANK(x)", "y", "int32[]{2}"},
      {m + "i = int32[2,2]{0, 1, 1, 2}\ny = tflite.GATHER_ND(x, i)", "y", "float32[2]{1, 5}"},
      {"x = float32[3]{1, 2, 3}\np = int32[1,2]{1, 1}\ny = tflite.MIRROR_PAD(x, p) { mode = "
       "\"REFLECT\" }",
       "y", "float32[5]{2, 1, 2, 3, 2}"},
      {"x = float32[3]{1, 2, 3}\np = int32[1,2]{1, 1}\ny = tflite.MIRROR_PAD(x, p) { mode = "
       "\"SYMMETRIC\" }",
       "y", "float32[5]{1, 1, 2, 3, 3}"},
      {"c = bool[2]{1, 0}\na = float32[2]{1, 2}\nb = float32[]{9}\ny = tflite.SELECT_V2(c, a, b)",
       "y", "float32[2]{1, 9}"},
      {"x = int32[4]{5, 7, 5, 1}\ny, i: int32[...], int32[...] = tflite.UNIQUE(x) { idx_out_type = "
       "\"INT32\" }",
       "y, i", "int32[3]{5, 7, 1}; int32[4]{0, 1, 0, 2}"},
      {"c = bool[3]{1, 0, 1}\ny: int64[...] = tflite.WHERE(c)", "y", "int64[2,1]{0, 2}"},
      {"i = int32[2]{0, 2}\nn = int32[1]{3}\nv = float32[2]{5, 6}\nd = float32[]{-1}\n"
       "y = tflite.SPARSE_TO_DENSE(i, n, v, d) { validate_indices = 0 }",
       "y", "float32[3]{5, -1, 6}"},
      // A slice that would stand out is moved inside.
      {x + "u = float32[2]{8, 9}\ni = int32[1]{5}\ny = tflite.DYNAMIC_UPDATE_SLICE(x, u, i)", "y",
       "float32[6]{0, 1, 2, 3, 8, 9}"},
      {"x = int8[1,2,2,1]{1, 2, 3, 4}\ny = tflite.SPACE_TO_DEPTH(x) { block_size = 2 }", "y",
       "int8[1,1,1,4]{1, 2, 3, 4}"},
      {"x = int8[1,1,1,4]{1, 2, 3, 4}\ny = tflite.DEPTH_TO_SPACE(x) { block_size = 2 }", "y",
       "int8[1,2,2,1]{1, 2, 3, 4}"},
      {"x = float32[1,1,1,4]{1, 2, 3, 4}\ny = tflite.DEPTH_TO_SPACE(x) { block_size = 2 }", "y",
       "float32[1,2,2,1]{1, 2, 3, 4}"},
      {"k = int32[3]{1, 4, 9}\nv = float32[3,2]{1, 2, 3, 4, 5, 6}\nq = int32[2]{9, 2}\n"
       "y, h = tflite.HASHTABLE_LOOKUP(q, k, v)",
       "y, h", "float32[2,2]{5, 6, 0, 0}; uint8[2]{1, 0}"},
      {"x = float32[4]{-1, 0, 3, 9}\ny: int32[...] = tflite.BUCKETIZE(x) { boundaries = [0.0, 3.0, "
       "8.0] }",
       "y", "int32[4]{0, 1, 2, 3}"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, Padding) {
  const ConstantRow rows[] = {
      {"x = float32[2,2]{1, 2, 3, 4}\nd = int32[2]{1, 3}\nv = float32[]{9}\ny = tflite.DILATE(x, "
       "d, "
       "v)",
       "y", "float32[2,4]{1, 9, 9, 2, 3, 9, 9, 4}"},
      {"x = float32[3]{1, 2, 3}\nv = float32[]{9}\ny = tflite.STABLEHLO_PAD(x, v) { "
       "edge_padding_low "
       "= [1], edge_padding_high = [-1], interior_padding = [1] }",
       "y", "float32[5]{9, 1, 9, 2, 9}"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, WindowsAndSparseRows) {
  const std::string ids =
      "i = int32[3]{1, 0, 1}\np = int32[3,2]{0, 0, 0, 1, 2, 0}\ns = int32[2]{3, 2}\n"
      "w = float32[3]{1, 3, 2}\nt = float32[2,2]{1, 2, 3, 4}\n";
  const auto lookup = [&](const std::string& combiner) {
    return ids + "y = tflite.EMBEDDING_LOOKUP_SPARSE(i, p, s, w, t) { combiner = \"" + combiner +
           "\" }";
  };
  const ConstantRow rows[] = {
      {lookup("SUM"), "y", "float32[3,2]{6, 10, 0, 0, 6, 8}"},
      {lookup("MEAN"), "y", "float32[3,2]{1.5, 2.5, 0, 0, 3, 4}"},
      {"x = float32[1,4]{1, 5, 2, 3}\nf = float32[]{0}\nw = int64[2]{1, 2}\ns = int64[2]{1, 2}\n"
       "d = int64[2]{1, 1}\ny = tflite.REDUCE_WINDOW(x, f, w, s, d, d) { reduce_function = \"ADD\" "
       "}",
       "y", "float32[1,2]{6, 5}"},
      {"x = float32[3]{1, 5, 2}\nf = float32[]{-9}\ny = tflite.STABLEHLO_REDUCE_WINDOW(x, f) { "
       "window_dimensions = [2], window_strides = [1], padding = [1, 0], body_subgraph = graph "
       "f(a: "
       "float32[], b: float32[]) -> (c) { c = tflite.STABLEHLO_MAXIMUM(a, b) } }",
       "y", "float32[3]{1, 5, 5}"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, SegmentsAndNorms) {
  const std::string x = "x = float32[3]{1, 2, 3}\ni = int32[3]{0, 1, 1}\n";
  const ConstantRow rows[] = {
      {x + "y = tflite.SEGMENT_SUM(x, i)", "y", "float32[2]{1, 5}"},
      {x + "n = int32[]{2}\ny = tflite.UNSORTED_SEGMENT_SUM(x, i, n)", "y", "float32[2]{1, 5}"},
      {x + "n = int32[]{2}\ny = tflite.UNSORTED_SEGMENT_PROD(x, i, n)", "y", "float32[2]{1, 6}"},
      {x + "n = int32[]{2}\ny = tflite.UNSORTED_SEGMENT_MAX(x, i, n)", "y", "float32[2]{1, 3}"},
      {x + "n = int32[]{2}\ny = tflite.UNSORTED_SEGMENT_MIN(x, i, n)", "y", "float32[2]{1, 2}"},
      // x / (bias + alpha * (sum of squares of neighbors))^beta.
      {"x = float32[1,1,1,3]{1, 2, 2}\ny = tflite.LOCAL_RESPONSE_NORMALIZATION(x) { radius = 1, "
       "bias "
       "= 0.0, alpha = 1.0, beta = 1.0 }\nz = float32[]{90}\nw = tflite.MUL(y, z)\nr = "
       "tflite.ROUND(w)",
       "r", "float32[1,1,1,3]{18, 20, 22}"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, Layers) {
  const std::string x = "x = float32[1,2,2]{1, 2, 3, 4}\nw = float32[1,2]{1, 2}\n";
  const ConstantRow rows[] = {
      {x + "y = tflite.FULLY_CONNECTED(x, w, _) { keep_num_dims = 0 }", "y", "float32[2,1]{5, 11}"},
      {x + "y = tflite.FULLY_CONNECTED(x, w, _) { keep_num_dims = 1 }", "y",
       "float32[1,2,1]{5, 11}"},
      {x + "b = float32[1]{1}\ny = tflite.FULLY_CONNECTED(x, w, b) { keep_num_dims = 1 }", "y",
       "float32[1,2,1]{6, 12}"},
      {x + "y = tflite.FULLY_CONNECTED(x, w) { weights_format = \"SHUFFLED4x16INT8\" }", "y",
       "error SHUFFLED4x16INT8"},
      // Weights [out, height, width, in of a group]: two groups.
      {"x = float32[1,1,1,2]{3, 5}\nw = float32[2,1,1,1]{1, 2}\ny = tflite.CONV_2D(x, w, _) { "
       "padding "
       "= \"VALID\", stride_w = 1, stride_h = 1, dilation_w_factor = 1, dilation_h_factor = 1 }",
       "y", "float32[1,1,1,2]{3, 10}"},
      {"x = float32[1,1,1,2]{3, 5}\nw = float32[1,1,1,4]{1, 2, 3, 4}\ny = "
       "tflite.DEPTHWISE_CONV_2D(x, w, _) { padding = \"SAME\", stride_w = 1, stride_h = 1, "
       "depth_multiplier = 2, dilation_w_factor = 1, dilation_h_factor = 1 }",
       "y", "float32[1,1,1,4]{3, 6, 15, 20}"},
      {"x = float32[1,2,2,1]{1, 3, 5, 7}\ny = tflite.L2_POOL_2D(x) { padding = \"VALID\", stride_w "
       "= "
       "2, stride_h = 2, filter_width = 2, filter_height = 2 }\nz = tflite.SQUARE(y)\nr = "
       "tflite.ROUND(z)",
       "r", "float32[1,1,1,1]{21}"},
      {"x = float32[1,2,2,1]{1, 3, 5, 7}\ny = tflite.MAX_POOL_2D(x) { padding = \"VALID\", "
       "stride_w = "
       "0, stride_h = 2, filter_width = 2, filter_height = 2 }",
       "y", "error without a size or a step"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, Recurrent) {
  // One unit, weights of one: forward 1, 1 + 2, ...; the other way round from the end.
  const ConstantRow rows[] = {
      {"x = float32[1,3,1]{1, 2, 4}\nw = float32[1,1]{1}\nb = float32[1]{0}\nh = float32[1,1]{0}\n"
       "y = tflite.BIDIRECTIONAL_SEQUENCE_RNN(x, w, w, b, h, w, w, b, h) { time_major = 0, "
       "fused_activation_function = \"NONE\", merge_outputs = 1 }",
       "y", "float32[1,3,2]{1, 7, 3, 6, 7, 4}"},
      {"x = float32[3,1,1]{1, 2, 4}\nw = float32[1,1]{1}\nb = float32[1]{0}\nh = float32[1,1]{0}\n"
       "y, z = tflite.BIDIRECTIONAL_SEQUENCE_RNN(x, w, w, b, h, w, w, b, h) { time_major = 1, "
       "fused_activation_function = \"RELU6\", merge_outputs = 0 }",
       "y, z", "float32[3,1,1]{1, 3, 6}; float32[3,1,1]{6, 6, 4}"},
      // The newest number has the last weight.
      {"x = float32[1,1]{3}\nf = float32[1,1]{2}\nt = float32[1,2]{10, 1}\ns = float32[1,2]{7, 5}\n"
       "y = tflite.SVDF(x, f, t, _, s) { rank = 1, fused_activation_function = \"NONE\" }",
       "y", "float32[1,1]{56}"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, Complex) {
  const ConstantRow rows[] = {
      {"x = float32[1,4]{1, 2, 3, 4}\nn = int32[2]{1, 4}\nz: complex64[...] = tflite.RFFT2D(x, n)\n"
       "r = tflite.REAL(z)\ni = tflite.IMAG(z)",
       "r, i", "float32[1,3]{10, -2, -2}; float32[1,3]{0, 2, 0}"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, ControlFlow) {
  const ConstantRow rows[] = {
      {"x = float32[2]{-1, 2}\ny = tflite.CALL(x) { subgraph = graph f(a: float32[2]) -> (b) { b = "
       "tflite.ABS(a) } }",
       "y", "float32[2]{1, 2}"},
      {"x = float32[2]{-1, 2}\ny = tflite.STABLEHLO_COMPOSITE(x) { name = \"mine\", "
       "decomposition_subgraph = graph f(a: float32[2]) -> (b) { b = tflite.ABS(a) }, version = 1 "
       "}",
       "y", "float32[2]{1, 2}"},
      {"x = float32[2]{-1, 2}\ny = tflite.CALL(x, x) { subgraph = graph f(a: float32[2]) -> (b) { "
       "b = "
       "tflite.ABS(a) } }",
       "y", "error a subgraph has 1 inputs"},
      {"i = int32[]{7}\nx = float32[1]{-2}\ny = tflite.STABLEHLO_CASE(i, x) { branch_subgraphs = "
       "[graph f(a: float32[1]) -> (b) { b = tflite.NEG(a) }, graph h(a: float32[1]) -> (b) "
       "{ b = "
       "tflite.SQUARE(a) }] }",
       "y", "float32[1]{4}"},
  };
  ExpectConstantRows(rows, "tflite");
}

// Tables are what they are filled with, wherever that is; variables what was set last.
TEST(Tflite, Resources) {
  const std::string fill =
      "() = tflite.CALL_ONCE() { init_subgraph = graph init() -> () { t = "
      "tflite.HASHTABLE() { table_id = 4, key_dtype = \"INT64\", value_dtype = \"STRING\" }\n"
      "k = int64[2]{7, 9}\nv = string[2]{\"a\", \"b\"}\n() = tflite.HASHTABLE_IMPORT(t, k, v) } "
      "}\n";
  const std::string table =
      "t = tflite.HASHTABLE() { table_id = 4, key_dtype = \"INT64\", value_dtype = \"STRING\" }\n";
  const std::string set =
      "() = tflite.CALL_ONCE() { init_subgraph = graph init() -> () { h = tflite.VAR_HANDLE() { "
      "shared_name = \"v\" }\nz = float32[1]{5}\n() = tflite.ASSIGN_VARIABLE(h, z) } }\n";
  const std::string handle = "h = tflite.VAR_HANDLE() { shared_name = \"v\" }\n";
  const ConstantRow rows[] = {
      {fill + table +
           "q = int64[3]{9, 1, 7}\nd = string[]{\"-\"}\ny: string[...] = "
           "tflite.HASHTABLE_FIND(t, q, d)\nn = tflite.HASHTABLE_SIZE(t)",
       "y, n", "string[3]{\"b\", \"-\", \"a\"}; int64[]{2}"},
      {set + handle +
           "y = tflite.READ_VARIABLE(h)\nz = tflite.ADD(y, y)\n"
           "() = tflite.ASSIGN_VARIABLE(h, z)\nw = tflite.READ_VARIABLE(h)",
       "y, w", "float32[1]{5}; float32[1]{10}"},
      {handle + "y = tflite.READ_VARIABLE(h)", "y", "error read before it is set"},
  };
  ExpectConstantRows(rows, "tflite");
}

TEST(Tflite, MediaPipe) {
  // padding, stride_width, stride_height, filter_width, filter_height, activation.
  const auto options = [](const std::string& padding) {
    std::string text = "\\u000" + padding + "\\u0000\\u0000\\u0000";
    for (int i = 0; i < 4; ++i) text += "\\u0002\\u0000\\u0000\\u0000";
    return "custom_options = \"" + text + "\\u0000\\u0000\\u0000\\u0000\" }";
  };
  const ConstantRow rows[] = {
      {"x = float32[1,2,4,1]{1, 2, 3, 4, 9, 6, 7, 5}\n"
       "y, i = tflite.custom::MaxPoolingWithArgmax2D(x) { " +
           options("2"),
       "y, i", "float32[1,1,2,1]{9, 7}; float32[1,1,2,1]{2.1, 2.1}"},
      // SAME: the last window reaches out by one.
      {"x = float32[1,2,3,1]{1, 2, 3, 4, 9, 6}\n"
       "y, i = tflite.custom::MaxPoolingWithArgmax2D(x) { " +
           options("1"),
       "y, i", "float32[1,1,2,1]{9, 6}; float32[1,1,2,1]{3.1, 2.1}"},
      {"x = float32[1,1,2,1]{9, 7}\ni = float32[1,1,2,1]{2.1, 5.1}\n"
       "y = tflite.custom::MaxUnpooling2D(x, i) { " +
           options("1"),
       "y", "float32[1,2,4,1]{0, 0, 0, 0, 9, 0, 0, 0}"},
      {"x = float32[1,1,2,1]{1, 2}\nw = float32[1,2,2,1]{1, 2, 3, 4}\nb = float32[1]{10}\n"
       "y = tflite.custom::Convolution2DTransposeBias(x, w, b) { " +
           options("2"),
       "y", "float32[1,2,4,1]{11, 12, 12, 14, 13, 14, 16, 18}"},
  };
  ExpectConstantRows(rows, "tflite");
}

// Numbers of mediapipe_rows.py, which does what MediaPipe's kernels do.
TEST(Tflite, MediaPipeLandmarks) {
  const std::string matrix =
      "m = float32[1,4,4]{0.75, -0.25, 0, 0.5, 0.125, 0.5, 0, 0.25, 0, 0, 1, 0, 0, 0, 0, 1}\n";
  const std::string image =
      matrix +
      "x = "
      "float32[1,3,4,2]{1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, "
      "289, 324, 361, 400, 441, 484, 529, 576}"
      "\n";
  const std::string points = "{3, 5, 1, 20, 9, 2, 12, 30, 3, 25, 28, 4}\n";
  const std::string rounded = "k = float32[1]{1000}\np = tflite.MUL(t, k)\ny = tflite.ROUND(p)";
  const ConstantRow rows[] = {
      {image + "y = tflite.custom::TransformTensorBilinear(x, m) { mode = \"bilinear\", "
               "output_size = [4, 5] }",
       "y",
       "float32[1,4,5,2]{29, 38, 58, 72, 97, 116, 148, 172, 0, 0, 69, 85, 107, 128, 157, "
       "183, 233, 264, 0, 0, 133, 156, 198, 226, 273, 306, 358, 396, 453, 496, 0, 0, 297, "
       "332, 381, 421, 0, 0, 0, 0}"},
      {image + "y = tflite.custom::TransformTensorBilinear(x, m) { custom_version = 2, output_size "
               "= [4, 5] }",
       "y",
       "float32[1,4,5,2]{8.5, 13.5, 30, 40, 63.5, 78.5, 107, 127, 0, 0, 46, 58, 78.5, 95.5, "
       "121, 143, 173.5, 200.5, 244, 276, 0, 0, 143, 167, 210.5, 239.5, 288, 322, 377.5, "
       "416.5, 0, 0, 239.5, 270.5, 316, 352, 404.5, 445.5, 0, 0}"},
      {image + "y = tflite.custom::TransformTensorBilinear(x, m) { mode = \"nearest\", output_size "
               "= [4, 5] }",
       "y", "error another mode than bilinear"},
      {matrix + "x = float32[1,1,1,12]" + points +
           "y = tflite.custom::TransformLandmarks(x, m) { dimensions = 3, scale = 4.0 }",
       "y", "float32[1,1,1,12]{3, 3.875, 1, 14.75, 8, 2, 3.5, 17.5, 3, 13.75, 18.125, 4}"},
      {matrix + "x = float32[1,1,1,12]" + points +
           "y = tflite.custom::TransformLandmarks(x, m) { dimensions = 2 }",
       "y",
       "float32[1,1,1,12]{1.5, 3.125, -3.75, 10.375, 6.75, 2.375, 2, 16.75, -3.5, 13.125, 20.5, "
       "5.75}"},
      {matrix + "x = float32[1,4,3]" + points +
           "y = tflite.custom::TransformLandmarks(x, m) { custom_version = 2 }",
       "y", "float32[1,4,3]{1.5, 3.125, 1, 13.25, 7.25, 2, 2, 16.75, 3, 12.25, 17.375, 4}"},
      {"x = float32[1,1,1,12]" + points +
           "t = tflite.custom::Landmarks2TransformMatrix(x) { dimensions = 3, landmarks_range = "
           "32, left_rotation_idx = 0, right_rotation_idx = 1, bbox_size_multiplier = 1.5, "
           "input_hw = [48, 64], output_hw = [8, 16], subset = [0, 1, 2, 3] }\n" +
           rounded,
       "y",
       "float32[1,4,4]{5114, -2152, 0, -4367, 898, 6824, 0, -2862, 0, 0, 1000, 0, 0, 0, 0, 1000}"},
      {"x = float32[1,4,3]" + points +
           "t = tflite.custom::Landmarks2TransformMatrix(x) { custom_version = 2, "
           "target_rotation_radians = 0.5, left_rotation_idx = 0, right_rotation_idx = 1, "
           "subset_idxs = [0, 1, 2, 3], output_width = 16, output_height = 8, scale_x = 1.5, "
           "scale_y = 2.0 }\n" +
           rounded,
       "y",
       "float32[1,4,4]{1385, 1861, 0, -4416, -382, 6753, 0, -7488, 0, 0, 1000, 0, 0, 0, 0, 1000}"},
  };
  ExpectConstantRows(rows, "tflite");
}

// Three anchors, of which the first two are nearly one; two classes and a background.
TEST(Tflite, DetectionPostProcess) {
  const std::string model =
      "b = float32[1,3,4]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\n"
      "s = float32[1,3,3]{0, 0.5, 0.25, 0, 0.75, 0.125, 0, 0.25, 0.5}\n"
      "a = float32[3,4]{1, 1, 2, 2, 1, 1, 2, 2, 5, 5, 2, 2}\n"
      "x, c, p, n = tflite.custom::TFLite_Detection_PostProcess(b, s, a) { max_detections = 3, "
      "max_classes_per_detection = 1, num_classes = 2, nms_score_threshold = 0.25, "
      "nms_iou_threshold = 0.5, y_scale = 10.0, x_scale = 10.0, h_scale = 5.0, w_scale = 5.0, ";
  const ConstantRow rows[] = {
      {model + "use_regular_nms = 0 }", "x, c, p, n",
       "float32[1,3,4]{0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 0, 0}; float32[1,3]{0, 1, 0}; "
       "float32[1,3]{0.75, 0.5, 0}; float32[1]{2}"},
      // Each class for itself: a score at the threshold counts.
      {model + "use_regular_nms = 1, detections_per_class = 2 }", "x, c, p, n",
       "float32[1,3,4]{0, 0, 2, 2, 4, 4, 6, 6, 4, 4, 6, 6}; float32[1,3]{0, 1, 0}; "
       "float32[1,3]{0.75, 0.5, 0.25}; float32[1]{3}"},
  };
  ExpectConstantRows(rows, "tflite");
}

// --- Quantized ----------------------------------------------------------------------------------

struct Quantized {
  std::string name;
  tflite::Quantization q;
};

std::string UnitsOf(const std::string& graph, const std::vector<Quantized>& quantized,
                    bool dequantize = false) {
  auto model = ModelFromText(graph, "tflite", 1);
  if (!model.ok()) return std::string(model.status().message());
  for (const Quantized& each : quantized) {
    tflite::SetQuantization(*model->graph->Find(each.name), each.q);
  }
  if (dequantize) model->annotations.GetOrMake().extra["tflite.dequantize"] = "1";
  if (const absl::Status s = ToIr(*model); !s.ok()) return std::string(s.message());
  return ToText(*model->graph);
}

TEST(TfliteQuantized, Units) {
  const std::string graph =
      "graph g(x: int8[2]) -> (y) { y: int8[...] = tflite.ADD(x, x) { fused_activation_function = "
      "\"RELU\" } }";
  const std::vector<Quantized> both = {{"x", {{0.5f}, {3}}}, {"y", {{0.25f}, {-1}}}};
  const std::string units = UnitsOf(graph, both);
  EXPECT_THAT(units, HasSubstr("x_scale = float32[]{0.5}"));
  EXPECT_THAT(units, HasSubstr("x_zero_point = int8[]{3}"));
  EXPECT_THAT(units, HasSubstr("= add(x_float, x_float)"));
  EXPECT_THAT(units, HasSubstr("= relu("));
  EXPECT_THAT(units, HasSubstr("quantize_linear(y_float, y_scale, y_zero_point)"));
  const std::string floats = UnitsOf(graph, both, true);
  EXPECT_THAT(floats, HasSubstr("(x: float32[2]) -> (y: float32[2])"));
  EXPECT_THAT(floats, ::testing::Not(HasSubstr("quantize_linear")));
}

TEST(TfliteQuantized, WhatIsNoInteger) {
  EXPECT_THAT(UnitsOf("graph g(x: float32[2]) -> (y) { y: float32[...] = tflite.ADD(x, x) }",
                      {{"x", {{0.5f}, {3}}}}),
              HasSubstr("a zero point of float32"));
}

// What only moves numbers does it with integers; what stands for 0 fills up.
TEST(TfliteQuantized, Movement) {
  const std::string pad = UnitsOf(
      "graph g(x: int8[2]) -> (y) { p = int32[1,2]{1, 0}\ny: int8[...] = tflite.PAD(x, p) }",
      {{"x", {{0.5f}, {3}}}, {"y", {{0.5f}, {3}}}});
  EXPECT_THAT(pad, HasSubstr("zero_point = int8[]{3}"));
  EXPECT_THAT(pad, ::testing::Not(HasSubstr("quantize_linear")));
  const std::string other = UnitsOf(
      "graph g(x: int8[2], z: int8[2]) -> (y) { y: int8[...] = tflite.CONCATENATION(x, z) { axis = "
      "0 "
      "} }",
      {{"x", {{0.5f}, {3}}}, {"z", {{0.25f}, {3}}}, {"y", {{0.5f}, {3}}}});
  EXPECT_THAT(other, HasSubstr("quantize_linear"));
}

// Kernels that do not look at scales.
TEST(TfliteQuantized, IgnoredScales) {
  const auto of = [](const char* type, const char* op) {
    return UnitsOf(StrCat("graph g(x: ", type, "[2], z: ", type, "[2]) -> (y) { y: ", type,
                          "[...] = tflite.", op, "(x, z) }"),
                   {{"x", {{0.5f}, {0}}}, {"z", {{0.25f}, {0}}}, {"y", {{0.5f}, {0}}}});
  };
  for (const char* op : {"MAXIMUM", "MINIMUM", "FLOOR_DIV", "FLOOR_MOD"}) {
    EXPECT_THAT(of("int8", op), ::testing::Not(HasSubstr("quantize_linear"))) << op;
  }
  EXPECT_THAT(of("int8", "ADD"), HasSubstr("quantize_linear"));
  const auto less = [](const char* type) {
    return UnitsOf(StrCat("graph g(x: ", type, "[2], z: ", type,
                          "[2]) -> (y) { y: bool[...] = tflite.LESS(x, z) }"),
                   {{"x", {{0.5f}, {0}}}, {"z", {{0.25f}, {0}}}});
  };
  EXPECT_THAT(less("int16"), ::testing::Not(HasSubstr("quantize_linear")));
  EXPECT_THAT(less("int8"), HasSubstr("dequantize_linear"));
}

// Scales of channels follow the weights when these are relaid; a bias has the product's scale.
TEST(TfliteQuantized, Convolution) {
  const std::string conv = UnitsOf(
      "graph g(x: int8[1,2,2,3]) -> (y) { w = int8[2,1,1,3]{1, 2, 3, 4, 5, 6}\nb = int32[2]{1, "
      "2}\ny: "
      "int8[...] = tflite.CONV_2D(x, w, b) { padding = \"SAME\", stride_w = 1, stride_h = 1, "
      "dilation_w_factor = 1, dilation_h_factor = 1 } }",
      {{"x", {{0.5f}, {3}}},
       {"w", {{0.25f, 0.5f}, {0, 0}, 0}},
       {"b", {{9}, {0}}},
       {"y", {{1}, {0}}}});
  EXPECT_THAT(conv, HasSubstr("float32[2]{0.125, 0.25}"));
  EXPECT_THAT(conv, HasSubstr("y_float_w = int8[2,3,1,1]{"));
  EXPECT_THAT(conv, HasSubstr("{ axis = 0, block_size = 0 }"));
}

}  // namespace
}  // namespace x2ir
