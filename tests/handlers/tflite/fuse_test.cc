// Operators of TFLite that are several ops of the IR, and forms for sizes that vary: what is
// written of graphs of the IR. That LiteRT computes the same is told by tests/conformance.
#include <string>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// The operators in order, or why there are none.
std::string OperatorsOf(const std::string& graph) {
  absl::StatusOr<Model> model = ModelFromText(graph, kIrDialect, 0);
  if (!model.ok()) return std::string(model.status().message());
  if (const absl::Status s = FromIr(*model, "tflite"); !s.ok()) return std::string(s.message());
  std::string ops;
  for (const Node* node : model->graph->nodes()) {
    StrAppend(&ops, ops.empty() ? "" : " ", node->op().view());
  }
  return ops;
}

struct FusedRow {
  const char *graph, *operators;
};

TEST(TfliteFuse, Operators) {
  const FusedRow rows[] = {
      {"graph g(x: float32[2,3]) -> (y) { o = float32[]{1} s = sqrt(x) y = div(o, s) }", "RSQRT"},
      {"graph g(x: float32[2,3]) -> (y, s) { o = float32[]{1} s = sqrt(x) y = div(o, s) }",
       "SQRT DIV"},
      {"graph g(x: float32[2,3]) -> (y) { o = float32[]{2} s = sqrt(x) y = div(o, s) }",
       "SQRT DIV"},
      {"graph g(a: float32[2,3], b: float32[3]) -> (y) { d = sub(a, b) y = mul(d, d) }",
       "SQUARED_DIFFERENCE"},
      {"graph g(a: float32[2,3], b: float32[3]) -> (y, d) { d = sub(a, b) y = mul(d, d) }",
       "SUB MUL"},
      {"graph g(x: float32[2,3]) -> (y) { l = float32[]{-1} h = float32[]{1} m = max(x, l) "
       "y = min(m, h) }",
       "RELU_N1_TO_1"},
      {"graph g(x: float32[2,3]) -> (y) { l = float32[]{-1} h = float32[]{2} m = max(x, l) "
       "y = min(m, h) }",
       "MAXIMUM MINIMUM"},
      // Places are int32 at once; of what is asked for as int64 they are so.
      {"graph g(x: float32[2,3]) -> (y) { i = arg_max(x) { axis = 1, keepdims = 0, "
       "select_last_index = 0 } "
       "y = cast(i) { to = \"int32\", saturate = 1, round_mode = \"up\" } }",
       "ARG_MAX"},
      {"graph g(x: float32[2,3]) -> (y, i) { i = arg_max(x) { axis = 1, keepdims = 0, "
       "select_last_index = 0 } "
       "y = cast(i) { to = \"int32\", saturate = 1, round_mode = \"up\" } }",
       "ARG_MAX CAST"},
      {"graph g(x: float32[5]) -> (y, i) { k = int64[1]{2} y, p = top_k(x, k) { axis = 0, largest "
       "= 1, sorted = 1 } "
       "i = cast(p) { to = \"int32\", saturate = 1, round_mode = \"up\" } }",
       "TOPK_V2"},
      {"graph g(x: bool[2,3]) -> (y) { a = int64[1]{1} c = cast(x) { to = \"uint8\", saturate = 1, "
       "round_mode = \"up\" } "
       "m = reduce_max(c, a) { keepdims = 0, noop_with_empty_axes = 0 } y = cast(m) { to = "
       "\"bool\", saturate = 1, round_mode = \"up\" } }",
       "REDUCE_ANY"},
      {"graph g(x: float32[2,3]) -> (y) { s = int64[1]{-1} e = int64[1]{-9223372036854775807} "
       "a = int64[1]{1} t = int64[1]{-1} y = slice(x, s, e, a, t) }",
       "REVERSE_V2"},
      {"graph g(x: float32[2,3]) -> (y) { s = int64[1]{-1} e = int64[1]{0} "
       "a = int64[1]{1} t = int64[1]{-1} y = slice(x, s, e, a, t) }",
       "STRIDED_SLICE"},
      {"graph g(a: float32[2,3], b: float32[2,3]) -> (y) { n = int64[1]{1} "
       "u = unsqueeze(a, n) v = unsqueeze(b, n) y = concat(u, v) { axis = 1 } }",
       "PACK"},
      {"graph g(a: float32[2,3], b: float32[2,2,3]) -> (y) { n = int64[1]{1} "
       "u = unsqueeze(a, n) y = concat(u, b) { axis = 1 } }",
       "RESHAPE CONCATENATION"},
      {"graph g(x: float32[2,3]) -> (a, b) { n = int64[1]{0} u, v = split(x) { axis = 0 } "
       "p = squeeze(u, n) q = squeeze(v, n) a = relu(p) b = exp(q) }",
       "UNPACK RELU EXP"},
      {"graph g(x: float32[4,3]) -> (a, b) { u, v = split(x) { axis = 0 } a = relu(u) b = exp(v) }",
       "SPLIT RELU EXP"},
  };
  for (const FusedRow& row : rows) EXPECT_EQ(OperatorsOf(row.graph), row.operators) << row.graph;
}

// Operators for what LiteRT says otherwise.
TEST(TfliteFuse, Forms) {
  const FusedRow rows[] = {
      {"graph g(x: float32[2,3]) -> (y) { y = hardmax(x) { axis = 0 } }", "ARG_MAX ONE_HOT"},
      {"graph g(x: float32[2,3]) -> (y) { y = softsign(x) }", "ABS ADD DIV"},
      {"graph g(a: float32[2,3], b: float32[3], c: float32[2,1]) -> (y) { y = max(a, b, c) }",
       "MAXIMUM MAXIMUM"},
      {"graph g(x: float32[2,3]) -> (y) { y = lp_normalization(x) { axis = 1, p = 1 } }",
       "ABS SUM EQUAL DIV SELECT_V2"},
      // A length of at least 1e-6 is that of LiteRT's own.
      {"graph g(x: float32[2,3]) -> (y) { a = int64[1]{1} e = float32[]{1e-06} s = mul(x, x) "
       "t = reduce_sum(s, a) { keepdims = 1, noop_with_empty_axes = 0 } l = sqrt(t) m = max(l, e) "
       "y = div(x, m) }",
       "L2_NORMALIZATION"},
      {"graph g(x: float32[2,3]) -> (y) { a = int64[1]{1} e = float32[]{1e-12} s = mul(x, x) "
       "t = reduce_sum(s, a) { keepdims = 1, noop_with_empty_axes = 0 } l = sqrt(t) m = max(l, e) "
       "y = div(x, m) }",
       "MUL SUM SQRT MAXIMUM DIV"},
      // Into zeros at once; what is there already is kept where nothing comes.
      {"graph g(u: float32[2]) -> (y) { z = float32[4]{0, 0, 0, 0} i = int64[2,1]{3, 1} "
       "y = scatter_nd(z, i, u) { reduction = \"add\" } }",
       "SCATTER_ND"},
      {"graph g(z: float32[4], u: float32[2]) -> (y) { i = int64[2,1]{3, 1} "
       "y = scatter_nd(z, i, u) { reduction = \"add\" } }",
       "SCATTER_ND ADD"},
      {"graph g(z: float32[4,2], u: float32[2,2], i: int64[2,1]) -> (y) { "
       "y = scatter_nd(z, i, u) { reduction = \"none\" } }",
       "LESS ADD SELECT_V2 CAST SCATTER_ND GREATER RESHAPE SCATTER_ND SELECT_V2"},
      // Five axes that are broadcast alike are fewer.
      {"graph g(a: float32[2,3,2,3,2], b: float32[1,1,2,3,2]) -> (y) { y = less(a, b) }",
       "RESHAPE RESHAPE LESS RESHAPE"},
      {"graph g(a: float32[2,3,2,3,2], b: float32[2,3,2,3,2]) -> (y) { y = less(a, b) }", "LESS"},
      {"graph g(a: float32[2,3,2,3,2], b: float32[2,1,2,1,2]) -> (y) { y = less(a, b) }",
       "cannot express the model in tflite"},
      // Before LiteRT products of integers were broadcast along four axes.
      {"graph g(a: int64[2,3,2,3,2], b: int64[1]) -> (y) { y = mul(a, b) }",
       "RESHAPE RESHAPE MUL RESHAPE"},
      // No axes at all mean all; how many are computed must be known.
      {"graph g(x: float32[2,3], a: int64[0]) -> (y) { y = reduce_sum(x, a) { keepdims = 1, "
       "noop_with_empty_axes = 0 } }",
       "SUM"},
      {"graph g(x: float32[2,3], a: int64[1]) -> (y) { y = reduce_sum(x, a) { keepdims = 1, "
       "noop_with_empty_axes = 0 } }",
       "CAST SUM"},
      {"graph g(x: float32[2,3], a: int64[n]) -> (y) { y = reduce_sum(x, a) { keepdims = 1, "
       "noop_with_empty_axes = 1 } }",
       "CAST SUM"},
      // A reshape of a reshape, and the same one twice.
      {"graph g(x: float32[2,6]) -> (y, z) { a = int64[2]{3, 4} b = int64[1]{12} r = exp(x) "
       "s = reshape(r, a) { allowzero = 0 } t = reshape(s, b) { allowzero = 0 } y = exp(t) "
       "u = reshape(r, b) { allowzero = 0 } z = sqrt(u) }",
       "EXP RESHAPE EXP SQRT"},
  };
  for (const FusedRow& row : rows) {
    EXPECT_EQ(OperatorsOf(row.graph).substr(0, std::string_view(row.operators).size()),
              row.operators)
        << row.graph << "\n"
        << OperatorsOf(row.graph);
  }
}

// Sizes that vary are computed.
TEST(TfliteFuse, SizesThatVary) {
  const FusedRow rows[] = {
      {"graph g(x: float32[n,h,w,4], s: float32[4], b: float32[4]) -> (y) { "
       "y = group_normalization(x, s, b) { num_groups = 2, epsilon = 1e-05, "
       "layout = \"channels_last\", stash_type = \"float32\" } }",
       "SHAPE STRIDED_SLICE CONCATENATION CAST RESHAPE MEAN SUB MUL MEAN ADD SQRT DIV SHAPE "
       "RESHAPE MUL ADD"},
      // Of sizes that are known nothing is left.
      {"graph g(x: float32[2,6,8,4], s: float32[4], b: float32[4]) -> (y) { "
       "y = group_normalization(x, s, b) { num_groups = 2, epsilon = 1e-05, "
       "layout = \"channels_last\", stash_type = \"float32\" } }",
       "RESHAPE MEAN SUB MUL MEAN ADD SQRT DIV RESHAPE MUL ADD"},
      {"graph g(x: float32[1,h,w,1]) -> (y) { w = float32[1,1,2,2]{1, 2, 3, 4} "
       "y = conv_transpose(x, w) { layout = \"channels_last\", auto_pad = \"NOTSET\", group = 1, "
       "strides = [2, 2] } }",
       "SHAPE MUL ADD TRANSPOSE_CONV"},
      {"graph g(x: float32[1,h,w,1]) -> (y) { "
       "w = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9} "
       "y = conv_transpose(x, w) { layout = \"channels_last\", auto_pad = \"NOTSET\", group = 1, "
       "strides = [2, 2], pads = [1, 1, 0, 0] } }",
       "SHAPE MUL ADD TRANSPOSE_CONV STRIDED_SLICE"},
      {"graph g(x: float32[1,h,w,2]) -> (y) { f = float32[2]{2, 3} "
       "y = resize(x, _, f) { mode = \"linear\", axes = [1, 2], antialias = 0, exclude_outside = "
       "0, "
       "keep_aspect_ratio_policy = \"stretch\", coordinate_transformation_mode = \"half_pixel\", "
       "nearest_mode = \"floor\", cubic_coeff_a = -0.75, extrapolation_value = 0.0 } }",
       "SHAPE STRIDED_SLICE CAST MUL RESIZE_BILINEAR"},
      // No axis that becomes larger becomes one element of several.
      {"graph g(x: float32[1,h,w,2]) -> (y) { f = float32[2]{2, 3} "
       "y = resize(x, _, f) { mode = \"linear\", axes = [1, 2], antialias = 0, exclude_outside = "
       "0, "
       "keep_aspect_ratio_policy = \"stretch\", "
       "coordinate_transformation_mode = \"pytorch_half_pixel\", "
       "nearest_mode = \"floor\", cubic_coeff_a = -0.75, extrapolation_value = 0.0 } }",
       "SHAPE STRIDED_SLICE CAST MUL RESIZE_BILINEAR"},
  };
  for (const FusedRow& row : rows) EXPECT_EQ(OperatorsOf(row.graph), row.operators) << row.graph;
}

// TensorFlow Lite 2.14 knows no axis before -1.
TEST(TfliteFuse, AxisOfOneHot) {
  for (const auto& [axis, written] : {std::pair(-3, 0), {-2, 1}, {-1, -1}, {0, 0}, {2, -1}}) {
    absl::StatusOr<Model> model =
        ModelFromText(StrCat("graph g(i: uint8[2,3]) -> (y) { d = int64[]{4} v = float32[2]{0, 1} "
                             "y = one_hot(i, d, v) { axis = ",
                             axis, " } }"),
                      kIrDialect, 0);
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_TRUE(FromIr(*model, "tflite").ok());
    const Node* node = model->graph->Find("y")->producer();
    ASSERT_EQ(node->op().view(), "ONE_HOT");
    EXPECT_EQ(*node->attrs().Find(Symbol("axis"))->get<int64_t>(), written);
  }
}

}  // namespace
}  // namespace x2ir
