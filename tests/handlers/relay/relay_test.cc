// Relay's operators on constants, and what the IR becomes of them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/symbol_rows_util.h"
#include "x2ir/core/validate.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;

TEST(Relay, DialectIsValid) { EXPECT_THAT(ValidateDialect("relay"), ::testing::IsEmpty()); }

TEST(Relay, Elementwise) {
  const SymbolRow rows[] = {
      {"nn.relu", "", "float32[2]{-1, 2}", "float32[2]{0, 2}"},
      {"nn.leaky_relu", "alpha = \"0.5\"", "float32[2]{-4, 2}", "float32[2]{-2, 2}"},
      {"nn.prelu", "axis = \"1\"", "float32[1,2,1]{-4, -2};float32[2]{0.5, 2}",
       "float32[1,2,1]{-2, -4}"},
      {"nn.bias_add", "axis = \"1\"", "float32[1,2,1]{1, 2};float32[2]{10, 20}",
       "float32[1,2,1]{11, 22}"},
      {"nn.bias_add", "axis = \"-1\"", "float32[1,2]{1, 2};float32[2]{10, 20}",
       "float32[1,2]{11, 22}"},
      {"add", "", "float32[2,1]{1, 2};float32[2]{10, 20}", "float32[2,2]{11, 21, 12, 22}"},
      {"divide", "", "int32[2]{7, -7};int32[1]{2}", "int32[2]{3, -3}"},
      {"floor_divide", "", "int32[2]{7, -7};int32[1]{2}", "int32[2]{3, -4}"},
      {"floor_divide", "", "float32[2]{7, -7};float32[1]{2}", "float32[2]{3, -4}"},
      {"mod", "", "int32[2]{7, -7};int32[1]{3}", "int32[2]{1, -1}"},
      {"mod", "", "float32[2]{5, -5};float32[1]{3}", "float32[2]{2, -2}"},
      {"floor_mod", "", "int32[2]{7, -7};int32[1]{3}", "int32[2]{1, 2}"},
      {"floor_mod", "", "float32[2]{5, -5};float32[1]{3}", "float32[2]{2, 1}"},
      {"power", "", "float32[2]{2, 3};float32[1]{2}", "float32[2]{4, 9}"},
      {"maximum", "", "float32[2]{2, 3};float32[1]{2.5}", "float32[2]{2.5, 3}"},
      {"not_equal", "", "int32[2]{2, 3};int32[1]{2}", "bool[2]{false, true}"},
      {"less_equal", "", "float32[2]{2, 3};float32[1]{2}", "bool[2]{true, false}"},
      {"logical_xor", "", "bool[2]{true, false};bool[1]{true}", "bool[2]{false, true}"},
      {"bitwise_and", "", "int32[2]{6, 3};int32[1]{2}", "int32[2]{2, 2}"},
      {"left_shift", "", "int32[2]{1, -3};int32[1]{2}", "int32[2]{4, -12}"},
      {"right_shift", "", "int32[2]{5, -5};int32[1]{1}", "int32[2]{2, -3}"},
      {"right_shift", "", "uint8[2]{5, 255};uint8[1]{1}", "uint8[2]{2, 127}"},
      {"rsqrt", "", "float32[2]{4, 16}", "float32[2]{0.5, 0.25}"},
      {"log2", "", "float32[2]{4, 16}", "float32[2]{2, 4}"},
      {"round", "", "float32[4]{0.5, -0.5, 1.5, 2.4}", "float32[4]{1, -1, 2, 2}"},
      {"trunc", "", "float32[2]{1.7, -1.7}", "float32[2]{1, -1}"},
      {"isfinite", "", "float32[3]{1, inf, nan}", "bool[3]{true, false, false}"},
      {"clip", "a_min = \"0\", a_max = \"1\"", "float32[3]{-1, 0.5, 2}", "float32[3]{0, 0.5, 1}"},
      {"clip", "a_min = \"-200\", a_max = \"6.5\"", "int8[3]{-128, 7, 2}", "int8[3]{-128, 6, 2}"},
      {"cast", "dtype = \"int32\"", "float32[2]{1.5, -1.5}", "int32[2]{1, -1}"},
      {"cast_like", "", "float32[2]{1.5, -1.5};int8[1]{0}", "int8[2]{1, -1}"},
      {"where", "", "bool[2]{true, false};float32[2]{5, 6};float32[1]{7}", "float32[2]{5, 7}"},
      {"sequence_mask", "mask_value = \"9\", axis = \"1\"",
       "float32[2,3]{1, 2, 3, 4, 5, 6};int32[2]{1, 3}", "float32[2,3]{1, 9, 9, 4, 5, 6}"},
      {"annotation.stop_fusion", "", "float32[1]{1}", "float32[1]{1}"},
      {"nn.dropout", "rate = \"0.5\"", "float32[1]{1}", "float32[1]{1}"},
      {"device_copy", "", "float32[1]{1}", "error relay.device_copy"},
      {"nn.relu", "slope = \"1\"", "float32[2]{-1, 2}", "error slope"},
  };
  ExpectSymbolRows(rows, "relay");
}

TEST(Relay, Layers) {
  const SymbolRow rows[] = {
      {"nn.conv1d", "kernel_size = \"[2]\"", "float32[1,1,3]{1, 2, 3};float32[1,1,2]{1, 10}",
       "float32[1,1,2]{21, 32}"},
      {"nn.conv2d", "kernel_size = \"(1, 2)\", padding = \"[0, 1, 0, 0]\", strides = \"[1, 2]\"",
       "float32[1,1,1,3]{1, 2, 3};float32[1,1,1,2]{1, 10}", "float32[1,1,1,2]{10, 32}"},
      {"nn.conv2d", "kernel_size = \"[1, 1]\", data_layout = \"NHWC\", kernel_layout = \"HWIO\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,2,1]{10, 100}", "float32[1,1,1,1]{210}"},
      {"nn.conv2d",
       "kernel_size = \"[1, 1]\", data_layout = \"NHWC\", kernel_layout = \"HWOI\", groups = \"2\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,2,1]{10, 100}", "float32[1,1,1,2]{10, 200}"},
      {"nn.conv2d", "", "float32[1,1,1,2]{1, 2};float32[1,1,1,2]{1, 10}", "float32[1,1,1,1]{21}"},
      {"nn.conv2d", "kernel_size = \"[1, 1]\", out_dtype = \"int32\"",
       "int8[1,1,1,2]{100, 2};int8[1,1,1,1]{100}", "int32[1,1,1,2]{10000, 200}"},
      {"nn.conv2d_transpose", "kernel_size = \"[1, 2]\", strides = \"[1, 2]\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,1,2]{1, 3}", "float32[1,1,1,4]{1, 3, 2, 6}"},
      {"nn.conv2d_transpose", "kernel_size = \"[1, 1]\", kernel_layout = \"OIHW\"",
       "float32[1,1,1,1]{2};float32[2,1,1,1]{1, 3}", "float32[1,2,1,1]{2, 6}"},
      {"nn.max_pool1d", "pool_size = \"[2]\", strides = \"[2]\"", "float32[1,1,4]{1, 2, 4, 3}",
       "float32[1,1,2]{2, 4}"},
      {"nn.max_pool2d", "pool_size = \"[1, 2]\", strides = \"[1, 2]\", layout = \"NHWC\"",
       "float32[1,1,4,1]{1, 2, 4, 3}", "float32[1,1,2,1]{2, 4}"},
      {"nn.avg_pool2d", "pool_size = \"[1, 2]\", padding = \"[0, 1]\"", "float32[1,1,1,2]{1, 3}",
       "float32[1,1,1,3]{1, 2, 3}"},
      {"nn.avg_pool2d",
       "pool_size = \"[1, 2]\", padding = \"[0, 1, 0, 1]\", count_include_pad = \"1\"",
       "float32[1,1,1,2]{1, 3}", "float32[1,1,1,3]{0.5, 2, 1.5}"},
      {"nn.global_avg_pool2d", "", "float32[1,1,1,2]{1, 3}", "float32[1,1,1,1]{2}"},
      {"nn.adaptive_avg_pool2d", "output_size = \"[1, 2]\"", "float32[1,1,1,4]{1, 3, 5, 7}",
       "float32[1,1,1,2]{2, 6}"},
      {"nn.adaptive_max_pool1d", "output_size = \"[1]\"", "float32[1,1,4]{1, 3, 7, 5}",
       "float32[1,1,1]{7}"},
      {"nn.dense", "units = \"1\"", "float32[1,2]{1, 2};float32[1,2]{3, 4}", "float32[1,1]{11}"},
      {"nn.dense", "out_dtype = \"int32\"", "int8[1,2]{100, 2};int8[1,2]{100, 4}",
       "int32[1,1]{10008}"},
      {"nn.batch_matmul", "", "float32[1,1,2]{1, 2};float32[1,1,2]{3, 4}", "float32[1,1,1]{11}"},
      {"nn.matmul", "transpose_a = \"True\"", "float32[2,1]{1, 2};float32[2,1]{3, 4}",
       "float32[1,1]{11}"},
      {"einsum", "equation = \"ij,j->i\"", "float32[1,2]{1, 2};float32[2]{3, 4}", "float32[1]{11}"},
      {"nn.batch_norm", "epsilon = \"0\", scale = \"False\", center = \"False\"",
       "float32[1,1]{5};float32[1]{10};float32[1]{1};float32[1]{1};float32[1]{4}",
       "float32[1,1]{2}"},
      {"nn.layer_norm", "epsilon = \"0\"", "float32[1,2]{1, 3};float32[2]{2, 2};float32[2]{1, 1}",
       "float32[1,2]{-1, 3}"},
      {"nn.instance_norm", "epsilon = \"0\", axis = \"2\"",
       "float32[1,2,1]{1, 3};float32[1]{2};float32[1]{1}", "float32[1,2,1]{-1, 3}"},
      {"nn.group_norm", "num_groups = \"1\", epsilon = \"0\"",
       "float32[1,2,1]{1, 3};float32[2]{2, 2};float32[2]{1, 1}", "float32[1,2,1]{-1, 3}"},
      {"nn.softmax", "", "float32[1,2]{0, 0}", "float32[1,2]{0.5, 0.5}"},
      {"nn.l2_normalize", "eps = \"0\", axis = \"[1]\"", "float32[1,2]{3, 4}",
       "float32[1,2]{0.6, 0.8}"},
      {"nn.lrn", "size = \"1\", bias = \"0\", alpha = \"1\", beta = \"0.5\"",
       "float32[1,2,1,1]{3, 4}", "float32[1,2,1,1]{1, 1}"},
      {"nn.upsampling", "scale_h = \"2\", scale_w = \"1\"", "float32[1,1,1,1]{3}",
       "float32[1,1,2,1]{3, 3}"},
      {"image.resize2d",
       "size = \"[1, 3]\", method = \"linear\", coordinate_transformation_mode = "
       "\"align_corners\"",
       "float32[1,1,1,2]{1, 2}", "float32[1,1,1,3]{1, 1.5, 2}"},
      {"image.resize", "size = \"[1, 3]\", method = \"bilinear\", align_corners = \"1\"",
       "float32[1,1,1,2]{1, 2}", "float32[1,1,1,3]{1, 1.5, 2}"},
      {"image.resize1d",
       "size = \"[4]\", method = \"nearest_neighbor\", coordinate_transformation_mode = "
       "\"asymmetric\"",
       "float32[1,1,2]{1, 2}", "float32[1,1,4]{1, 1, 2, 2}"},
      {"image.grid_sample", "method = \"nearest\"",
       "float32[1,1,1,2]{1, 2};float32[1,2,1,2]{1, -1, 0, 0}", "float32[1,1,1,2]{2, 1}"},
      {"image.affine_grid", "target_shape = \"[1, 2]\"", "float32[1,2,3]{1, 0, 0, 0, 1, 0}",
       "float32[1,2,1,2]{-1, 1, 0, 0}"},
      {"image.crop_and_resize", "crop_size = \"[1, 1]\", layout = \"NCHW\"",
       "float32[1,1,1,2]{1, 2};float32[1,4]{0, 0, 0, 1};int32[1]{0}", "float32[1,1,1,1]{1.5}"},
  };
  ExpectSymbolRows(rows, "relay");
}

TEST(Relay, Movement) {
  const char* const m = "float32[2,3]{0, 1, 2, 3, 4, 5}";
  const SymbolRow rows[] = {
      {"reshape", "newshape = \"[0, -1, 1]\"", m, "float32[2,3,1]{0, 1, 2, 3, 4, 5}"},
      {"reshape", "newshape = \"[-3]\"", m, "float32[6]{0, 1, 2, 3, 4, 5}"},
      {"reshape", "newshape = \"[-4, 1, 2, -2]\"", m, "float32[1,2,3]{0, 1, 2, 3, 4, 5}"},
      {"contrib_reverse_reshape", "newshape = \"[-1, 0]\"", m, "float32[2,3]{0, 1, 2, 3, 4, 5}"},
      {"dyn.reshape", "newshape = \"[]\"", "float32[2]{1, 2};int64[2]{2, 1}", "float32[2,1]{1, 2}"},
      {"reshape_like", "lhs_begin = \"0\", lhs_end = \"2\", rhs_begin = \"1\"",
       "float32[2,2,1]{1, 2, 3, 4};float32[1,4]{0, 0, 0, 0}", "float32[4,1]{1, 2, 3, 4}"},
      {"nn.batch_flatten", "", "float32[1,2,1]{1, 2}", "float32[1,2]{1, 2}"},
      {"transpose", "", m, "float32[3,2]{0, 3, 1, 4, 2, 5}"},
      {"transpose", "axes = \"[1, 0]\"", m, "float32[3,2]{0, 3, 1, 4, 2, 5}"},
      {"layout_transform", "src_layout = \"NC\", dst_layout = \"CN\"", m,
       "float32[3,2]{0, 3, 1, 4, 2, 5}"},
      {"concatenate", "axis = \"-1\"", "float32[1,1]{1};float32[1,1]{2}", "float32[1,2]{1, 2}"},
      {"stack", "axis = \"1\"", "float32[2]{1, 2};float32[2]{3, 4}", "float32[2,2]{1, 3, 2, 4}"},
      {"expand_dims", "axis = \"0\", num_newaxis = \"2\"", "float32[1]{1}", "float32[1,1,1]{1}"},
      {"expand_dims", "axis = \"-1\"", "float32[2]{1, 2}", "float32[2,1]{1, 2}"},
      {"squeeze", "axis = \"[0]\"", "float32[1,1]{1}", "float32[1]{1}"},
      {"squeeze", "", "float32[1,1]{1}", "float32[]{1}"},
      {"split", "indices_or_sections = \"3\", axis = \"1\"", m,
       "float32[2,1]{0, 3}; float32[2,1]{1, 4}; float32[2,1]{2, 5}"},
      {"split", "indices_or_sections = \"[1]\", axis = \"1\"", m,
       "float32[2,1]{0, 3}; float32[2,2]{1, 2, 4, 5}"},
      {"strided_slice", "begin = \"[0, 1]\", end = \"[2, 3]\", strides = \"[1]\"", m,
       "float32[2,2]{1, 2, 4, 5}"},
      {"strided_slice", "begin = \"[1]\", end = \"[-1]\", axes = \"[1]\", slice_mode = \"size\"", m,
       "float32[2,2]{1, 2, 4, 5}"},
      {"strided_slice", "begin = \"[-1]\", end = \"[-4]\", strides = \"[-1]\", axes = \"[1]\"", m,
       "float32[2,3]{2, 1, 0, 5, 4, 3}"},
      {"dyn.strided_slice", "", "float32[3]{1, 2, 3};int64[1]{1};int64[1]{3};int64[1]{1}",
       "float32[2]{2, 3}"},
      {"slice_like", "axes = \"[1]\"", "float32[2,3]{0, 1, 2, 3, 4, 5};float32[1,2]{0, 0}",
       "float32[2,2]{0, 1, 3, 4}"},
      {"reverse", "axis = \"1\"", m, "float32[2,3]{2, 1, 0, 5, 4, 3}"},
      {"nn.pad", "pad_width = \"[[0, 0], [1, 2]]\"", "float32[1,1]{1};float32[]{9}",
       "float32[1,4]{9, 1, 9, 9}"},
      {"nn.pad", "pad_width = \"[[1, 1]]\", pad_mode = \"reflect\"",
       "float32[2]{1, 2};float32[]{0}", "float32[4]{2, 1, 2, 1}"},
      {"nn.mirror_pad", "pad_width = \"[[1, 2]]\", mode = \"SYMMETRIC\"", "float32[2]{1, 2}",
       "float32[5]{1, 1, 2, 2, 1}"},
      {"full", "shape = \"[2]\", dtype = \"int32\"", "int32[]{3}", "int32[2]{3, 3}"},
      {"zeros", "shape = \"[2]\", dtype = \"float32\"", "", "float32[2]{0, 0}"},
      {"full_like", "", "float32[2]{0, 0};float32[]{4}", "float32[2]{4, 4}"},
      {"ones_like", "", "int32[2]{0, 0}", "int32[2]{1, 1}"},
      {"arange", "dtype = \"int32\"", "int32[]{0};int32[]{5};int32[]{2}", "int32[3]{0, 2, 4}"},
      {"tile", "reps = \"[2, 1]\"", "float32[2]{1, 2}", "float32[2,2]{1, 2, 1, 2}"},
      {"repeat", "repeats = \"2\", axis = \"0\"", "float32[2]{1, 2}", "float32[4]{1, 1, 2, 2}"},
      {"broadcast_to", "shape = \"[2, 2]\"", "float32[2]{1, 2}", "float32[2,2]{1, 2, 1, 2}"},
      {"collapse_sum_like", "", "float32[2,2]{1, 2, 3, 4};float32[1]{0}", "float32[1]{10}"},
      {"shape_of", "dtype = \"int32\"", m, "int32[2]{2, 3}"},
      {"ndarray_size", "dtype = \"int64\"", m, "int64[]{6}"},
      {"one_hot", "depth = \"3\", axis = \"-1\", dtype = \"float32\"",
       "int32[2]{2, -1};float32[]{5};float32[]{1}", "float32[2,3]{1, 1, 5, 1, 1, 1}"},
      {"trilu", "upper = \"False\"", "float32[2,2]{1, 2, 3, 4};int32[]{0}",
       "float32[2,2]{1, 0, 3, 4}"},
      {"meshgrid", "indexing = \"ij\"", "float32[2]{1, 2};float32[1]{3}",
       "float32[2,1]{1, 2}; float32[2,1]{3, 3}"},
      {"nn.space_to_depth", "block_size = \"2\"", "float32[1,1,2,2]{1, 2, 3, 4}",
       "float32[1,4,1,1]{1, 2, 3, 4}"},
      {"nn.depth_to_space", "block_size = \"2\"", "float32[1,4,1,1]{1, 2, 3, 4}",
       "float32[1,1,2,2]{1, 2, 3, 4}"},
      {"nn.space_to_batch_nd", "block_shape = \"[2, 2]\", paddings = \"[[0, 0], [0, 0]]\"",
       "float32[1,2,2,1]{1, 2, 3, 4}", "float32[4,1,1,1]{1, 2, 3, 4}"},
      {"nn.space_to_batch_nd", "block_shape = \"[2]\", paddings = \"[[1, 0]]\"",
       "float32[1,3,1]{1, 2, 3}", "float32[2,2,1]{0, 2, 1, 3}"},
      {"nn.batch_to_space_nd", "block_shape = \"[2]\", crops = \"[[1, 0]]\"",
       "float32[2,2,1]{0, 2, 1, 3}", "float32[1,3,1]{1, 2, 3}"},
      {"vision.yolo_reorg", "stride = \"1\"", "float32[1,1,1,2]{1, 2}", "float32[1,1,1,2]{1, 2}"},
  };
  ExpectSymbolRows(rows, "relay");
}

TEST(Relay, Indexing) {
  const char* const m = "float32[2,3]{0, 1, 2, 3, 4, 5}";
  const SymbolRow rows[] = {
      {"take", "axis = \"0\"", "float32[3]{1, 2, 3};int32[2]{2, 9}", "float32[2]{3, 3}"},
      {"take", "mode = \"wrap\"", "float32[3]{1, 2, 3};int32[2]{-1, 4}", "float32[2]{3, 2}"},
      {"gather", "axis = \"1\"", "float32[2,2]{1, 2, 3, 4};int64[2,1]{1, 0}", "float32[2,1]{2, 3}"},
      {"gather_nd", "", "float32[2,2]{0, 1, 2, 3};int32[2,1]{1, 0}", "float32[1]{2}"},
      {"scatter_add", "axis = \"0\"", "float32[2]{1, 2};int64[2]{1, 1};float32[2]{10, 20}",
       "float32[2]{1, 32}"},
      {"scatter_elements", "axis = \"0\", reduction = \"update\"",
       "float32[2]{1, 2};int64[1]{1};float32[1]{10}", "float32[2]{1, 10}"},
      {"scatter_elements", "reduction = \"mean\"", "float32[2]{1, 2};int64[1]{1};float32[1]{10}",
       "error reduction mean"},
      {"scatter_nd", "mode = \"add\"", "float32[2,2]{0, 0, 0, 0};int32[2,1]{1, 0};float32[1]{5}",
       "float32[2,2]{0, 0, 5, 0}"},
      {"argwhere", "", "bool[3]{true, false, true}", "int32[2,1]{0, 2}"},
      {"reverse_sequence", "seq_axis = \"1\", batch_axis = \"0\"",
       "float32[2,3]{1, 2, 3, 4, 5, 6};int32[2]{2, 3}", "float32[2,3]{2, 1, 3, 6, 5, 4}"},
      {"adv_index", "", "float32[2,2]{0, 1, 2, 3};int32[2,1]{0, 1};int32[1]{1}",
       "float32[2,1]{1, 3}"},
      {"invert_permutation", "", "int32[3]{2, 0, 1}", "int32[3]{1, 2, 0}"},
      {"unravel_index", "", "int32[2]{3, 5};int32[2]{2, 3}", "int32[2,2]{1, 1, 0, 2}"},
      {"topk", "k = \"2\", ret_type = \"values\"", "float32[3]{1, 3, 2}", "float32[2]{3, 2}"},
      {"topk", "k = \"1\", is_ascend = \"True\", dtype = \"int64\"", "float32[3]{1, 3, 2}",
       "float32[1]{1}; int64[1]{0}"},
      {"argsort", "is_ascend = \"1\"", "float32[3]{1, 3, 2}", "int32[3]{0, 2, 1}"},
      {"sort", "is_ascend = \"0\"", "float32[3]{1, 3, 2}", "float32[3]{3, 2, 1}"},
      {"sum", "axis = \"[1]\", exclude = \"True\"", m, "float32[3]{3, 5, 7}"},
      {"sum", "", m, "float32[]{15}"},
      {"mean", "axis = \"[-1]\", keepdims = \"True\"", m, "float32[2,1]{1, 4}"},
      {"variance", "axis = \"[1]\"", "float32[1,2]{1, 3};float32[1,1]{2}", "float32[1]{1}"},
      {"all", "axis = \"[0]\"", "bool[2]{true, false}", "bool[]{false}"},
      {"logsumexp", "axis = \"[0]\"", "float32[1]{2}", "float32[]{2}"},
      {"argmax", "axis = \"[1]\"", m, "int32[2]{2, 2}"},
      {"cumsum", "axis = \"1\", exclusive = \"1\"", m, "float32[2,3]{0, 0, 1, 0, 3, 7}"},
      {"cumprod", "axis = \"0\", dtype = \"int32\"", "int8[2]{100, 2}", "int32[2]{100, 200}"},
  };
  ExpectSymbolRows(rows, "relay");
}

TEST(Relay, Detection) {
  const SymbolRow rows[] = {
      {"vision.multibox_prior", "sizes = \"[1]\", ratios = \"[1]\"", "float32[1,1,1,1]{0}",
       "float32[1,1,4]{0, 0, 1, 1}"},
      {"vision.get_valid_counts",
       "score_threshold = \"0.5\", id_index = \"-1\", score_index = \"0\"",
       "float32[1,3,1]{0.1, 0.9, 0.6}",
       "int32[1]{2}; float32[1,3,1]{0.9, 0.6, -1}; int32[1,3]{1, 2, -1}"},
      {"vision.non_max_suppression",
       "return_indices = \"False\", invalid_to_bottom = \"True\", coord_start = \"1\", score_index "
       "= "
       "\"0\", id_index = \"-1\"",
       "float32[1,2,5]{0.5, 0, 0, 1, 1, 0.9, 0, 0, 1, 1};int32[1]{2};int32[1,2]{0, 1};int32[]{-1};"
       "float32[]{0.5}",
       "float32[1,2,5]{0.9, 0, 0, 1, 1, -1, -1, -1, -1, -1}"},
      {"vision.non_max_suppression",
       "return_indices = \"True\", coord_start = \"1\", score_index = \"0\", id_index = \"-1\"",
       "float32[1,2,5]{0.5, 0, 0, 1, 1, 0.9, 0, 0, 1, 1};int32[1]{2};int32[1,2]{7, 8};int32[]{-1};"
       "float32[]{0.5}",
       "int32[1,2]{8, -1}; int32[1,1]{1}"},
      {"vision.all_class_non_max_suppression", "output_format = \"onnx\"",
       "float32[1,2,4]{0, 0, 1, 1, 0, 0, 1, 1};float32[1,1,2]{0.5, 0.9};int64[]{2};float32[]{0.5};"
       "float32[]{0}",
       "int64[2,3]{0, 0, 1, 0, 0, 0}; int64[1]{1}"},
      {"vision.roi_align", "pooled_size = \"[1, 1]\", spatial_scale = \"1\", sample_ratio = \"1\"",
       "float32[1,1,2,2]{1, 2, 3, 4};float32[1,5]{0, 0, 0, 1, 1}", "float32[1,1,1,1]{2.5}"},
      {"vision.roi_pool", "pooled_size = \"[1, 1]\", spatial_scale = \"1\"",
       "float32[1,1,2,2]{1, 2, 3, 4};float32[1,5]{0, 0, 0, 1, 1}", "float32[1,1,1,1]{4}"},
  };
  ExpectSymbolRows(rows, "relay");
}

TEST(Relay, Quantized) {
  const SymbolRow rows[] = {
      {"qnn.quantize", "out_dtype = \"uint8\"", "float32[3]{-1, 0, 1000};float32[]{0.5};int32[]{3}",
       "uint8[3]{1, 3, 255}"},
      {"qnn.quantize", "out_dtype = \"int8\", axis = \"0\"",
       "float32[2]{1, 1};float32[2]{0.5, 0.25};int32[2]{0, 1}", "int8[2]{2, 5}"},
      {"qnn.dequantize", "", "uint8[2]{3, 5};float32[]{0.5};int32[]{3}", "float32[2]{0, 1}"},
      {"qnn.requantize", "out_dtype = \"int8\"",
       "int32[2]{10, 1000};float32[]{0.5};int32[]{0};float32[]{1};int32[]{1}", "int8[2]{6, 127}"},
      {"qnn.conv2d", "kernel_size = \"[1, 1]\", out_dtype = \"int32\"",
       "uint8[1,1,1,2]{3, 5};int8[1,1,1,1]{4};int32[]{1};int32[]{0};float32[]{1};float32[]{1}",
       "int32[1,1,1,2]{8, 16}"},
      {"qnn.dense", "units = \"1\", out_dtype = \"int32\"",
       "uint8[1,2]{3, 5};int8[1,2]{4, 1};int32[]{1};int32[]{0};float32[]{1};float32[]{1}",
       "int32[1,1]{12}"},
      {"qnn.add", "",
       "uint8[1]{3};uint8[1]{5};float32[]{1};int32[]{1};float32[]{2};int32[]{1};float32[]{1};"
       "int32[]{10}",
       "uint8[1]{20}"},
      {"qnn.mul", "",
       "uint8[1]{3};uint8[1]{5};float32[]{1};int32[]{1};float32[]{2};int32[]{1};float32[]{1};"
       "int32[]{10}",
       "uint8[1]{26}"},
      {"qnn.concatenate", "axis = \"0\"",
       "uint8[1]{3};uint8[1]{5};float32[]{1};float32[]{2};int32[]{1};int32[]{1};float32[]{1};"
       "int32[]{0}",
       "uint8[2]{2, 8}"},
  };
  ExpectSymbolRows(rows, "relay");
}

// What a node of the IR becomes.
std::string ToRelay(const std::string& inputs, const std::string& line) {
  ConvertTextOptions options;
  options.dialect = "relay";
  return FromIrText("graph g(" + inputs + ") -> (y) { " + line + " }", 1, options);
}

TEST(Relay, Written) {
  EXPECT_THAT(
      ToRelay("x: float32[1,2,4,4], w: float32[2,2,3,3], b: float32[2]",
              "y = conv(x, w, b) { auto_pad = \"SAME_UPPER\", group = 1, layout = "
              "\"channels_first\" }"),
      ::testing::AllOf(HasSubstr("relay.nn.conv2d"), HasSubstr("padding = \"(1, 1, 1, 1)\""),
                       HasSubstr("relay.nn.bias_add")));
  EXPECT_THAT(ToRelay("x: float32[2,3,4], z: float32[2,4,5]", "y = matmul(x, z)"),
              HasSubstr("relay.nn.batch_matmul(x, z) { transpose_b = \"False\" }"));
  EXPECT_THAT(ToRelay("x: float32[n,4]", "s = shape(x) { start = 0 }\n y = expand(x, s)"),
              HasSubstr("relay.dyn.broadcast_to"));
  EXPECT_THAT(ToRelay("x: float32[2]", "y = swish(x) { alpha = 1.0 }"), HasSubstr("relay.sigmoid"));
}

}  // namespace
}  // namespace x2ir
