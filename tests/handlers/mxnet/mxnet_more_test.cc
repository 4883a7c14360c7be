// MXNet's operators on constants, as in mxnet_test.cc: indices, matrices, boxes, images, quantized
// ones, recurrent networks, and loops.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/constant_rows_util.h"
#include "tests/handlers/symbol_rows_util.h"

namespace x2ir {
namespace {

void ExpectRows(absl::Span<const SymbolRow> rows) { ExpectSymbolRows(rows, "mxnet"); }

TEST(Mxnet, Indices) {
  const char* const m = "float32[2,3]{0, 1, 2, 3, 4, 5}";
  const SymbolRow rows[] = {
      {"take", "", "float32[3,2]{1, 2, 3, 4, 5, 6};float32[2]{2, 0}", "float32[2,2]{5, 6, 1, 2}"},
      {"take", "", "float32[2]{1, 2};float32[3]{-1, 0, 9}", "float32[3]{1, 1, 2}"},
      {"take", "mode = \"wrap\", axis = \"0\"", "float32[2]{1, 2};float32[3]{-1, 0, 3}",
       "float32[3]{2, 1, 2}"},
      {"batch_take", "", "float32[3,2]{1, 2, 3, 4, 5, 6};int32[3]{0, 1, 0}", "float32[3]{1, 4, 5}"},
      {"one_hot", "depth = \"3\"", "float32[2]{1, 0}", "float32[2,3]{0, 1, 0, 1, 0, 0}"},
      {"one_hot", "depth = \"2\", on_value = \"8\", off_value = \"1\", dtype = \"int32\"",
       "float32[2]{0, 5}", "int32[2,2]{8, 1, 1, 1}"},
      // Documentation: data [[0, 1], [2, 3]] by [[1, 1, 0], [0, 1, 0]] is [2, 3, 0].
      {"gather_nd", "", "float32[2,2]{0, 1, 2, 3};float32[2,3]{1, 1, 0, 0, 1, 0}",
       "float32[3]{2, 3, 0}"},
      {"gather_nd", "", "float32[2,2]{0, 1, 2, 3};int64[1,1]{1}", "float32[1,2]{2, 3}"},
      {"scatter_nd", "shape = \"(2, 2)\"", "float32[3]{2, 3, 0};int64[2,3]{1, 1, 0, 0, 1, 0}",
       "float32[2,2]{0, 0, 2, 3}"},
      {"_scatter_set_nd", "shape = \"(2, 2)\"",
       "float32[2,2]{7, 7, 7, 7};float32[1]{1};int64[2,1]{0, 1}", "float32[2,2]{7, 1, 7, 7}"},
      {"_contrib_index_copy", "", "float32[3,1]{0, 0, 0};int64[2]{2, 0};float32[2,1]{5, 6}",
       "float32[3,1]{6, 0, 5}"},
      {"fill_element_0index", "", "float32[2,2]{1, 2, 3, 4};float32[2]{8, 9};float32[2]{1, 0}",
       "float32[2,2]{1, 8, 9, 4}"},
      {"_contrib_boolean_mask", "", "float32[3,1]{1, 2, 3};float32[3]{0, 1, 0}", "float32[1,1]{2}"},
      {"_npx_nonzero", "", "float32[3]{0, 5, 6}", "int64[2,1]{1, 2}"},
      {"_contrib_index_array", "", "float32[2,1]{0, 0}", "int64[2,1,2]{0, 0, 1, 0}"},
      {"_contrib_index_array", "axes = \"(0,)\"", "float32[2,1]{0, 0}", "int64[2,1,1]{0, 1}"},
      {"SequenceMask", "use_sequence_length = \"True\", value = \"9\"",
       "float32[2,2]{1, 2, 3, 4};float32[2]{1, 2}", "float32[2,2]{1, 2, 9, 4}"},
      {"SequenceMask", "", m, m},
      {"SequenceLast", "use_sequence_length = \"True\"",
       "float32[2,2]{1, 2, 3, 4};float32[2]{1, 2}", "float32[2]{1, 4}"},
      {"SequenceLast", "", "float32[2,2]{1, 2, 3, 4}", "float32[2]{3, 4}"},
      {"SequenceReverse", "", "float32[2,2]{1, 2, 3, 4}", "float32[2,2]{3, 4, 1, 2}"},
      {"SequenceReverse", "use_sequence_length = \"True\"",
       "float32[2,2]{1, 2, 3, 4};float32[2]{1, 2}", "float32[2,2]{1, 4, 3, 2}"},
      {"_zeros", "shape = \"(2,)\", dtype = \"int32\"", "", "int32[2]{0, 0}"},
      {"_zeros", "shape = \"(0, 2)\"", "", "float32[1,2]{0, 0}"},
      {"_ones", "shape = \"(1, 2)\"", "", "float32[1,2]{1, 1}"},
      {"_full", "shape = \"(2,)\", value = \"2.5\"", "", "float32[2]{2.5, 2.5}"},
      {"_npi_full_like", "fill_value = \"3\"", "int32[2]{1, 2}", "int32[2]{3, 3}"},
      {"_arange", "start = \"3\"", "", "float32[3]{0, 1, 2}"},
      {"_contrib_arange_like", "axis = \"1\", start = \"1\"", m, "float32[3]{1, 2, 3}"},
      {"_contrib_arange_like", "", "float32[2,2]{0, 0, 0, 0}", "float32[2,2]{0, 1, 2, 3}"},
      {"_linspace", "start = \"0\", stop = \"1\", num = \"3\"", "", "float32[3]{0, 0.5, 1}"},
      {"_npi_linspace", "start = \"0\", stop = \"1\", num = \"2\", endpoint = \"False\"", "",
       "float32[2]{0, 0.5}"},
      {"_eye", "N = \"2\"", "", "float32[2,2]{1, 0, 0, 1}"},
      {"_eye", "N = \"2\", M = \"3\", k = \"1\"", "", "float32[2,3]{0, 1, 0, 0, 0, 1}"},
      {"_npi_hanning", "M = \"3\"", "", "float32[3]{0, 1, 0}"},
      {"diag", "", m, "float32[2]{0, 4}"},
      {"diag", "k = \"1\"", m, "float32[2]{1, 5}"},
      {"diag", "k = \"-1\"", m, "float32[1]{3}"},
      {"diag", "", "float32[2]{1, 2}", "float32[2,2]{1, 0, 0, 2}"},
      {"diag", "k = \"-1\"", "float32[1]{7}", "float32[2,2]{0, 0, 7, 0}"},
      {"_npi_tril", "", "float32[2,2]{1, 2, 3, 4}", "float32[2,2]{1, 0, 3, 4}"},
      {"_npi_triu", "k = \"1\"", "float32[2,2]{1, 2, 3, 4}", "float32[2,2]{0, 2, 0, 0}"},
      {"_np_roll", "shift = \"1\"", m, "float32[2,3]{5, 0, 1, 2, 3, 4}"},
      {"_np_roll", "shift = \"(1,)\", axis = \"(1,)\"", m, "float32[2,3]{2, 0, 1, 5, 3, 4}"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, Matrices) {
  const char* const two = "float32[2,2]{1, 2, 3, 4};float32[2,2]{1, 0, 0, 2}";
  const SymbolRow rows[] = {
      {"dot", "", two, "float32[2,2]{1, 4, 3, 8}"},
      {"dot", "transpose_a = \"True\"", two, "float32[2,2]{1, 6, 2, 8}"},
      {"dot", "", "float32[1,2]{1, 2};float32[2,1,2]{1, 2, 3, 4}", "float32[1,1,2]{7, 10}"},
      {"batch_dot", "transpose_b = \"True\"", "float32[1,1,2]{1, 2};float32[1,1,2]{3, 4}",
       "float32[1,1,1]{11}"},
      {"batch_dot", "", "float32[1,1,2]{1, 2};float32[1,2,1]{3, 4}", "float32[1,1,1]{11}"},
      {"_npi_matmul", "", two, "float32[2,2]{1, 4, 3, 8}"},
      {"_npi_tensordot_int_axes", "axes = \"2\"", two, "float32[]{9}"},
      {"_npi_tensordot", "a_axes_summed = \"(1,)\", b_axes_summed = \"(0,)\"", two,
       "float32[2,2]{1, 4, 3, 8}"},
      {"_npi_einsum", "subscripts = \"ij,ij->i\", num_args = \"2\"", two, "float32[2]{1, 8}"},
      {"khatri_rao", "", "float32[2,1]{1, 2};float32[2,1]{3, 4}", "float32[4,1]{3, 4, 6, 8}"},
      {"_linalg_gemm2", "alpha = \"2\"", two, "float32[2,2]{2, 8, 6, 16}"},
      {"_linalg_gemm", "beta = \"10\"", "float32[1,1]{2};float32[1,1]{3};float32[1,1]{1}",
       "float32[1,1]{16}"},
      {"_linalg_syrk", "", "float32[1,2]{1, 2}", "float32[1,1]{5}"},
      {"_linalg_syrk", "transpose = \"True\"", "float32[1,2]{1, 2}", "float32[2,2]{1, 2, 2, 4}"},
      {"_linalg_trmm", "", "float32[2,2]{1, 9, 1, 1};float32[2,1]{1, 2}", "float32[2,1]{1, 3}"},
      {"_linalg_trsm", "", "float32[2,2]{1, 9, 1, 1};float32[2,1]{1, 3}", "float32[2,1]{1, 2}"},
      {"_linalg_trsm", "rightside = \"True\"", "float32[2,2]{2, 9, 1, 1};float32[1,2]{3, 1}",
       "float32[1,2]{1, 1}"},
      {"_linalg_trsm", "transpose = \"True\"", "float32[2,2]{1, 9, 1, 1};float32[2,1]{3, 2}",
       "float32[2,1]{1, 2}"},
      {"_linalg_potrf", "", "float32[1,1]{4}", "float32[1,1]{2}"},
      {"_linalg_potri", "", "float32[1,1]{2}", "float32[1,1]{0.25}"},
      {"_linalg_sumlogdiag", "", "float32[1,2,2]{1, 5, 5, 1}", "float32[1]{0}"},
      {"_linalg_det", "", "float32[2,2]{1, 2, 3, 4}", "float32[1]{-2}"},
      {"_linalg_inverse", "", "float32[2,2]{2, 0, 0, 4}", "float32[2,2]{0.5, 0, 0, 0.25}"},
      {"_linalg_extractdiag", "", "float32[2,2]{1, 2, 3, 4}", "float32[2]{1, 4}"},
      {"_contrib_div_sqrt_dim", "", "float32[1,4]{2, 4, 6, 8}", "float32[1,4]{1, 2, 3, 4}"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, Images) {
  const char* const image = "float32[1,1,2,2]{1, 2, 3, 4}";
  const SymbolRow rows[] = {
      {"UpSampling", "scale = \"2\", sample_type = \"nearest\"", "float32[1,1,1,2]{1, 2}",
       "float32[1,1,2,4]{1, 1, 2, 2, 1, 1, 2, 2}"},
      // Weights of one kernel: 4 x 4, stride 2, pad 1.
      {"UpSampling", "scale = \"1\", sample_type = \"bilinear\", num_filter = \"1\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,1,1]{3}", "float32[1,1,1,2]{3, 6}"},
      {"_contrib_BilinearResize2D", "height = \"2\", width = \"3\"", image,
       "float32[1,1,2,3]{1, 1.5, 2, 3, 3.5, 4}"},
      {"_contrib_BilinearResize2D", "mode = \"like\"",
       "float32[1,1,1,2]{1, 2};float32[1,1,1,3]{0, 0, 0}", "float32[1,1,1,3]{1, 1.5, 2}"},
      {"GridGenerator", "transform_type = \"affine\", target_shape = \"(1, 2)\"",
       "float32[1,6]{1, 0, 0, 0, 1, 0}", "float32[1,2,1,2]{-1, 1, -1, -1}"},
      {"BilinearSampler", "", "float32[1,1,2,2]{1, 2, 3, 4};float32[1,2,1,2]{-1, 0, -1, 0}",
       "float32[1,1,1,2]{1, 2.5}"},
      {"SpatialTransformer",
       "transform_type = \"affine\", sampler_type = \"bilinear\", target_shape = \"(2, 2)\"",
       "float32[1,1,2,2]{1, 2, 3, 4};float32[1,6]{1, 0, 0, 0, 1, 0}", image},
      {"ROIPooling", "pooled_size = \"(1, 1)\", spatial_scale = \"1\"",
       "float32[1,1,2,2]{1, 2, 3, 4};float32[1,5]{0, 0, 0, 1, 0}", "float32[1,1,1,1]{2}"},
      {"_contrib_ROIAlign", "pooled_size = \"(1, 1)\", spatial_scale = \"1\", sample_ratio = \"1\"",
       "float32[1,1,2,2]{1, 2, 3, 4};float32[1,5]{0, 0, 0, 1, 1}", "float32[1,1,1,1]{2.5}"},
      {"_contrib_DeformableConvolution",
       "kernel = \"(1, 1)\", num_filter = \"1\", no_bias = \"True\"",
       "float32[1,1,1,2]{1, 2};float32[1,2,1,2]{0, 0, 1, 0};float32[1,1,1,1]{10}",
       "float32[1,1,1,2]{20, 20}"},
      {"_image_to_tensor", "", "uint8[1,1,2]{255, 0}", "float32[2,1,1]{1, 0}"},
      {"_image_normalize", "mean = \"(1, 2)\", std = \"(2, 1)\"", "float32[2,1,1]{3, 5}",
       "float32[2,1,1]{1, 3}"},
      {"_image_crop", "x = \"1\", y = \"0\", width = \"1\", height = \"1\"", "float32[1,2,1]{3, 5}",
       "float32[1,1,1]{5}"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, Boxes) {
  const SymbolRow rows[] = {
      {"_contrib_MultiBoxPrior", "sizes = \"(1, 0.5)\", ratios = \"(1, 4)\"", "float32[1,1,1,1]{0}",
       "float32[1,3,4]{0, 0, 1, 1, 0.25, 0.25, 0.75, 0.75, -0.5, 0.25, 1.5, 0.75}"},
      {"_contrib_MultiBoxPrior", "sizes = \"(1,)\", ratios = \"(1, 4)\", clip = \"True\"",
       "float32[1,1,1,1]{0}", "float32[1,2,4]{0, 0, 1, 1, 0, 0.25, 1, 0.75}"},
      // Two boxes that are one, and one elsewhere; the second of the same class goes.
      {"_contrib_box_nms", "coord_start = \"2\", score_index = \"1\", id_index = \"0\"",
       "float32[3,6]{0, 0.5, 0, 0, 1, 1, 0, 0.75, 0, 0, 1, 1, 1, 0.25, 0, 0, 1, 1}",
       "float32[3,6]{0, 0.75, 0, 0, 1, 1, 1, 0.25, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1}"},
      {"_contrib_box_nms",
       "coord_start = \"2\", score_index = \"1\", id_index = \"0\", force_suppress = \"True\"",
       "float32[3,6]{0, 0.5, 0, 0, 1, 1, 0, 0.75, 0, 0, 1, 1, 1, 0.25, 0, 0, 1, 1}",
       "float32[3,6]{0, 0.75, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}"},
      {"_contrib_box_nms", "coord_start = \"1\", score_index = \"0\", valid_thresh = \"0.3\"",
       "float32[1,2,5]{0.25, 5, 5, 6, 6, 0.5, 0, 0, 1, 1}",
       "float32[1,2,5]{0.5, 0, 0, 1, 1, -1, -1, -1, -1, -1}"},
      {"_contrib_box_iou", "format = \"corner\"",
       "float32[1,4]{0, 0, 2, 2};float32[2,4]{1, 0, 3, 2, 5, 5, 6, 6}",
       "float32[1,2]{0.33333334, 0}"},
      {"_contrib_box_decode", "format = \"corner\"",
       "float32[1,1,4]{0.5, 0, 0, 0};float32[1,1,4]{0, 0, 2, 2}", "float32[1,1,4]{1, 0, 3, 2}"},
      // One cell: the anchor is its 16 pixels; the only box is given twice.
      {"_contrib_Proposal", "scales = \"(1,)\", ratios = \"(1,)\", rpn_post_nms_top_n = \"2\"",
       "float32[1,2,1,1]{0.25, 0.75};float32[1,4,1,1]{0, 0, 0, 0};float32[1,3]{16, 16, 1}",
       "float32[2,5]{0, 0, 0, 15, 15, 0, 0, 0, 15, 15}; float32[2,1]{0.75, 0.75}"},
      // Two cells, the second of the better score; moved a quarter of its width, it is cut off.
      {"_contrib_MultiProposal",
       "scales = \"(1,)\", ratios = \"(1,)\", rpn_post_nms_top_n = \"2\", rpn_min_size = \"4\"",
       "float32[1,2,1,2]{0, 0, 0.25, 0.75};float32[1,4,1,2]{0, 0.25, 0, 0, 0, 0, 0, "
       "0};float32[1,3]{16, 32, 1}",
       "float32[2,5]{0, 20, 0, 31, 15, 0, 0, 0, 15, 15}; float32[2,1]{0.75, 0.25}"},
      // Anchors of one place; the second is of less score and overlaps, the third is background.
      {"_contrib_MultiBoxDetection", "nms_threshold = \"0.5\", threshold = \"0.3\"",
       "float32[1,2,3]{0.25, 0.5, 1, 0.75, 0.5, 0};float32[1,12]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
       "0};"
       "float32[1,3,4]{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}",
       "float32[1,3,6]{0, 0.75, 0, 0, 1, 1, -1, 0.5, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1}"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, Quantized) {
  const SymbolRow rows[] = {
      // 127 / 2 a unit: 1 is 63.5, which is rounded up.
      {"_contrib_quantize_v2",
       "min_calib_range = \"-2\", max_calib_range = \"1\", out_type = \"int8\"",
       "float32[4]{1, -1, 5, 0}", "int8[4]{64, -64, 127, 0}; float32[1]{-2}; float32[1]{2}"},
      {"_contrib_quantize_v2",
       "min_calib_range = \"0\", max_calib_range = \"2.55\", out_type = \"auto\"",
       "float32[3]{1, 9, 0}", "uint8[3]{100, 255, 0}; float32[1]{0}; float32[1]{2.55}"},
      {"_contrib_quantize", "out_type = \"int8\"",
       "float32[2]{1, -1};float32[1]{-1};float32[1]{0.5}",
       "int8[2]{127, -127}; float32[1]{-1}; float32[1]{1}"},
      {"_contrib_dequantize", "out_type = \"float32\"",
       "int8[2]{127, -127};float32[1]{-2};float32[1]{2}", "float32[2]{2, -2}"},
      {"_contrib_dequantize", "", "uint8[2]{255, 0};float32[1]{1};float32[1]{3}",
       "float32[2]{3, 1}"},
      {"_contrib_requantize", "min_calib_range = \"-1\", max_calib_range = \"1\"",
       "int32[2]{2147483647, 0};float32[1]{-1};float32[1]{1}",
       "int8[2]{127, 0}; float32[1]{-1}; float32[1]{1}"},
      // Steps of 1/127 each: 127 * 127 of a step that is their product.
      {"_contrib_quantized_fully_connected", "num_hidden = \"1\", no_bias = \"True\"",
       "int8[1,1]{127};int8[1,1]{127};float32[1]{-1};float32[1]{1};float32[1]{-1};float32[1]{1}",
       "int32[1,1]{16129}"},
      {"_contrib_quantized_fully_connected", "num_hidden = \"1\"",
       "int8[1,1]{10};int8[1,1]{20};int8[1]{127};float32[1]{-127};float32[1]{127};float32[1]{-127};"
       "float32[1]{127};"
       "float32[1]{-3};float32[1]{3}",
       "int32[1,1]{203}"},
      {"_contrib_quantized_conv", "kernel = \"(1, 1)\", num_filter = \"1\", no_bias = \"True\"",
       "int8[1,1,1,2]{3, "
       "-4};int8[1,1,1,1]{5};float32[1]{-127};float32[1]{127};float32[1]{-127};float32[1]{127}",
       "int32[1,1,1,2]{15, -20}"},
      {"_contrib_quantized_pooling", "kernel = \"(1, 2)\", pool_type = \"max\"",
       "int8[1,1,1,2]{3, -4};float32[1]{-1};float32[1]{1}",
       "int8[1,1,1,1]{3}; float32[1]{-1}; float32[1]{1}"},
      {"_contrib_quantized_act", "act_type = \"relu\"",
       "int8[2]{3, -4};float32[1]{-1};float32[1]{1}",
       "int8[2]{3, 0}; float32[1]{-1}; float32[1]{1}"},
      {"_contrib_quantized_flatten", "", "int8[1,1,2]{3, -4};float32[1]{-1};float32[1]{1}",
       "int8[1,2]{3, -4}; float32[1]{-1}; float32[1]{1}"},
      // The second is of a range half as wide.
      {"_contrib_quantized_concat", "dim = \"0\", num_args = \"2\"",
       "int8[1]{127};int8[1]{127};float32[1]{-2};float32[1]{2};float32[1]{-1};float32[1]{1}",
       "int8[2]{127, 64}; float32[1]{-2}; float32[1]{2}"},
      {"_contrib_quantized_elemwise_add", "min_calib_range = \"-2\", max_calib_range = \"2\"",
       "int8[1]{127};int8[1]{127};float32[1]{-1};float32[1]{1};float32[1]{-1};float32[1]{1}",
       "int8[1]{127}; float32[1]{-2}; float32[1]{2}"},
      {"_contrib_quantized_elemwise_mul", "enable_float_output = \"True\"",
       "int8[1]{127};int8[1]{-127};float32[1]{-1};float32[1]{1};float32[1]{-1};float32[1]{1}",
       "float32[1]{-1}"},
      {"_contrib_quantized_batch_norm",
       "eps = \"0\", min_calib_range = \"-1\", max_calib_range = \"1\"",
       "int8[1,1]{127};float32[1]{1};float32[1]{0};float32[1]{0};float32[1]{4};float32[1]{-1};"
       "float32[1]{1}",
       "int8[1,1]{64}; float32[1]{-1}; float32[1]{1}"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, NumpyFunctions) {
  const SymbolRow rows[] = {
      {"_npi_diff", "", "float32[3]{1, 4, 9}", "float32[2]{3, 5}"},
      {"_npi_diff", "n = \"2\"", "float32[3]{1, 4, 9}", "float32[1]{2}"},
      {"_npi_kron", "", "float32[2]{1, 2};float32[2]{3, 4}", "float32[4]{3, 4, 6, 8}"},
      {"_npi_kron", "", "float32[1,2]{1, 2};float32[2,1]{3, 4}", "float32[2,2]{3, 6, 4, 8}"},
      {"_np_trace", "", "float32[2,2]{1, 2, 3, 4}", "float32[]{5}"},
      {"_npi_tri", "N = \"2\"", "", "float32[2,2]{1, 0, 1, 1}"},
      {"_npi_tri", "N = \"1\", M = \"3\", k = \"1\"", "", "float32[1,3]{1, 1, 0}"},
      {"_npi_indices", "dimensions = \"(1, 2)\"", "", "int64[2,1,2]{0, 0, 0, 1}"},
      {"_npi_logspace", "start = \"0\", stop = \"2\", num = \"3\"", "", "float32[3]{1, 10, 100}"},
      {"_npi_polyval", "", "float32[3]{1, 2, 3};float32[2]{0, 2}", "float32[2]{3, 11}"},
      {"_np_atleast_3d", "", "float32[2]{1, 2}", "float32[1,2,1]{1, 2}"},
      {"_npi_rot90", "", "float32[2,2]{1, 2, 3, 4}", "float32[2,2]{2, 4, 1, 3}"},
      {"_npi_rot90", "k = \"3\"", "float32[2,2]{1, 2, 3, 4}", "float32[2,2]{3, 1, 4, 2}"},
      {"_npi_average", "axis = \"(0,)\"", "float32[2]{1, 3};float32[2]{3, 1}", "float32[]{1.5}"},
      {"_npi_average", "weighted = \"False\"", "float32[2]{1, 3}", "float32[]{2}"},
      {"_npi_cross", "", "float32[3]{1, 2, 3};float32[3]{4, 5, 6}", "float32[3]{-3, 6, -3}"},
      {"_npi_swapaxes", "dim1 = \"0\", dim2 = \"1\"", "float32[1,2]{1, 2}", "float32[2,1]{1, 2}"},
      {"_npi_nan_to_num", "", "float32[1]{1}", "float32[1]{1}"},
      {"_npi_squeeze", "axis = \"0\"", "float32[1]{1}", "float32[]{1}"},
      {"_npi_hsplit", "sections = \"2\"", "float32[1,2]{1, 2}", "float32[1,1]{1}; float32[1,1]{2}"},
      {"_npi_split", "indices = \"(0, 1)\", axis = \"0\"", "float32[3]{1, 2, 3}",
       "float32[1]{1}; float32[2]{2, 3}"},
      {"_npi_heaviside", "", "float32[3]{-1, 0, 2};float32[1]{5}", "float32[3]{0, 5, 1}"},
      {"_npi_fmax", "", "float32[2]{1, 4};float32[2]{2, 3}", "float32[2]{2, 4}"},
      {"_npi_hypot", "", "float32[1]{3};float32[1]{4}", "float32[1]{5}"},
      {"_npi_ldexp", "", "float32[1]{3};float32[1]{2}", "float32[1]{12}"},
      {"_npi_rollaxis", "axis = \"1\"", "float32[1,2]{1, 2}", "float32[2,1]{1, 2}"},
      {"_npi_flip", "axis = \"0\"", "float32[2]{1, 2}", "float32[2]{2, 1}"},
      {"_npi_repeat", "repeats = \"2\"", "float32[2]{1, 2}", "float32[4]{1, 1, 2, 2}"},
      {"_npx_pick", "", "float32[1,2]{1, 2};int32[1]{1}", "float32[1]{2}"},
      {"_npx_topk", "ret_typ = \"value\"", "float32[1,2]{1, 2}", "float32[1,1]{2}"},
      {"_npi_solve", "", "float32[1,1]{2};float32[1,1]{4}", "float32[1,1]{2}"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, FusedLayersAreWhatTheyWere) {
  const std::string graph =
      "subgraphs = [graph f(x: float32[2]) -> (r) {\nn = mxnet._mul_scalar(x) { scalar = \"2\" }\n"
      " r = mxnet.Activation(n) { act_type = \"relu\" } }]";
  const ConstantRow rows[] = {
      {"x = float32[2]{1, -2}\nr = mxnet._sg_mkldnn_conv(x) { with_act = \"true\", " + graph + " }",
       "r", "float32[2]{2, 0}"},
      {"x = float32[2]{1, -2}\nr = mxnet._sg_mkldnn_conv(x) { quantized = \"true\", " + graph +
           " }",
       "r", "error quantized numbers whose range was not counted"},
  };
  ExpectConstantRows(rows, "mxnet");
}

// Numbers of a file that no symbol has.
TEST(Mxnet, NumbersThatCannotBe) {
  const std::string x = "x = float32[2,1,1]{1, 2}\nn = float32[1]{1}\n";
  const ConstantRow rows[] = {
      {x + "r = mxnet.SequenceLast(x, n) { axis = \"-1\", use_sequence_length = \"True\" }", "r",
       "error axis -1"},
      {x + "r = mxnet._np_roll(x) { }", "r", "error shifts"},
      {x + "r = mxnet._npi_rollaxis(x) { axis = \"0\", start = \"-9223372036854775808\" }", "r",
       "error no place"},
      {x + "y, r = mxnet._foreach(x, n) { num_outputs = \"2\", num_out_data = \"0\", in_data_locs "
           "= "
           "\"(0,)\", in_state_locs = \"(0, 0)\", remain_locs = \"(1,)\", subgraphs = [graph f(v: "
           "float32[1,1], w: float32[1]) -> (a, b) {\na = mxnet.elemwise_add(v, w)\nb = "
           "mxnet.elemwise_mul(v, w) }] }",
       "r", "error have the same place"},
      {x + "r = mxnet._np_roll(x) { shift = \"(1, 2, 3)\", axis = \"(0, 1)\" }", "r",
       "error shifts"},
      {x + "i = int64[1,1]{0}\nr = mxnet.scatter_nd(n, i) { shape = \"(-3,)\" }", "r",
       "error a size"},
  };
  ExpectConstantRows(rows, "mxnet");
}

TEST(Mxnet, Recurrent) {
  // One unit: relu(w x + r h + bi + bh) = x + 2 h + 1.
  const SymbolRow rows[] = {
      {"RNN", "mode = \"rnn_relu\", state_size = \"1\", num_layers = \"1\"",
       "float32[2,1,1]{1, 3};float32[4]{1, 2, 1, 0};float32[1,1,1]{0}", "float32[2,1,1]{2, 8}"},
      // Layers after each other: matrices of both, then biases of both.
      {"RNN",
       "mode = \"rnn_relu\", state_size = \"1\", num_layers = \"2\", state_outputs = \"True\"",
       "float32[1,1,1]{1};float32[8]{1, 0, 10, 0, 1, 0, 0, 5};float32[2,1,1]{0, 0}",
       "float32[1,1,1]{25}; float32[2,1,1]{2, 25}"},
      {"RNN",
       "mode = \"rnn_relu\", state_size = \"1\", num_layers = \"1\", bidirectional = \"True\"",
       "float32[2,1,1]{1, 2};float32[8]{1, 1, 1, 1, 0, 0, 0, 0};float32[2,1,1]{0, 0}",
       "float32[2,1,2]{1, 3, 3, 2}"},
      // All gates are a half: c = 0.5 * 0 + 0.5 * tanh(0).
      {"RNN", "mode = \"lstm\", state_size = \"1\", num_layers = \"1\"",
       "float32[1,1,1]{1};float32[16]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
       "0};float32[1,1,1]{5};float32[1,1,1]{0}",
       "float32[1,1,1]{0}"},
      // The new state is nothing; the update gate keeps a half of the old one.
      {"RNN", "mode = \"gru\", state_size = \"1\", num_layers = \"1\"",
       "float32[1,1,1]{1};float32[12]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};float32[1,1,1]{5}",
       "float32[1,1,1]{2.5}"},
      {"RNN", "mode = \"lstm\", state_size = \"1\", num_layers = \"1\", projection_size = \"2\"",
       "float32[1,1,1]{1};float32[1]{0};float32[1,1,1]{5};float32[1,1,1]{0}", "error projection"},
  };
  ExpectRows(rows);
}

TEST(Mxnet, Subgraphs) {
  const std::string sum =
      "subgraphs = [graph f(x: float32[2], s: float32[2]) -> (o, n) {\n"
      "n = mxnet.elemwise_add(x, s)\n o = mxnet._mul_scalar(n) { scalar = \"10\" } }]";
  const std::string loop =
      "subgraphs = [graph c(i: float32[1]) -> (t) { t = mxnet._lesser_scalar(i) { scalar = \"3\" } "
      "},"
      " graph b(i: float32[1]) -> (o, n) {\n o = mxnet._mul_scalar(i) { scalar = \"10\" }\n"
      " n = mxnet._plus_scalar(i) { scalar = \"1\" } }]";
  const std::string branch =
      "subgraphs = [graph c(p: float32[1]) -> (t) { t = mxnet._greater_scalar(p) { scalar = \"0\" "
      "} },"
      " graph y(v: float32[1]) -> (o) { o = mxnet._plus_scalar(v) { scalar = \"1\" } },"
      " graph n(v: float32[1]) -> (o) { o = mxnet._minus_scalar(v) { scalar = \"1\" } }]";
  const ConstantRow rows[] = {
      {"x = float32[2,2]{1, 2, 3, 4}\ns = float32[2]{0, 0}\nr, t = mxnet._foreach(x, s) { num_args "
       "= \"3\", "
       "num_outputs = \"2\", num_out_data = \"1\", in_state_locs = \"(1,)\", in_data_locs = "
       "\"(0,)\", "
       "remain_locs = \"()\", " +
           sum + " }",
       "r, t", "float32[2,2]{10, 20, 40, 60}; float32[2]{4, 6}"},
      // Without the places of others operands are in the order of the subgraph's.
      {"x = float32[1,2]{1, 2}\ns = float32[2]{5, 5}\nr, t = mxnet._foreach(x, s) { num_outputs = "
       "\"2\", "
       "num_out_data = \"1\", in_state_locs = \"(1,)\", in_data_locs = \"(0,)\", " +
           sum + " }",
       "t", "float32[2]{6, 7}"},
      {"i = float32[1]{1}\nr, t = mxnet._while_loop(i) { num_args = \"3\", num_outputs = \"2\", "
       "num_out_data = \"1\", max_iterations = \"4\", cond_input_locs = \"(0,)\", func_input_locs "
       "= \"(0,)\", "
       "func_var_locs = \"(0,)\", " +
           loop + " }",
       "r, t", "float32[4,1]{10, 20, 0, 0}; float32[1]{3}"},
      {"p = float32[1]{2}\nv = float32[1]{7}\nr = mxnet._cond(p, v) { num_args = \"5\", "
       "num_outputs = \"1\", "
       "cond_input_locs = \"(0,)\", then_input_locs = \"(1,)\", else_input_locs = \"(1,)\", " +
           branch + " }",
       "r", "float32[1]{8}"},
      {"p = float32[1]{-2}\nv = float32[1]{7}\nr = mxnet._cond(p, v) { num_args = \"5\", "
       "num_outputs = \"1\", "
       "cond_input_locs = \"(0,)\", then_input_locs = \"(1,)\", else_input_locs = \"(1,)\", " +
           branch + " }",
       "r", "float32[1]{6}"},
      {"p = float32[1]{2}\nr = mxnet._cond(p) { num_outputs = \"1\", cond_input_locs = \"(4,)\", "
       "then_input_locs = \"(1,)\", else_input_locs = \"(1,)\", " +
           branch + " }",
       "r", "error no operand 4"},
  };
  ExpectConstantRows(rows, "mxnet");
}

}  // namespace
}  // namespace x2ir
