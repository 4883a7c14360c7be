// grid_sample, affine_grid, roi_align, max_roi_pool, center_crop_pad, col2im, deform_conv: values
// checked by hand, inference.
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

// A region of whole pixels; that all rules are those of ONNX Runtime was seen on random models.
TEST(MaxRoiPool, Eval) {
#define X2IR_IMAGE "x = float32[1,1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9}\n "
  const EvalRow rows[] = {
      // Both corners belong to the region.
      {X2IR_IMAGE
       "r = float32[1,5]{0, 0, 0, 1, 1}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "float32[1,1,1,1]{5}"},
      // Three rows in two cells: they overlap.
      {X2IR_IMAGE
       "r = float32[1,5]{0, 0, 0, 2, 2}\n y = max_roi_pool(x, r) { pooled_shape = [2, 3] }",
       "float32[1,1,2,3]{4, 5, 6, 7, 8, 9}"},
      // Half a pixel is rounded away from zero.
      {X2IR_IMAGE "r = float32[1,5]{0, 1, 1, 1, 3}\n "
                  "y = max_roi_pool(x, r) { pooled_shape = [1, 1], spatial_scale = 0.5 }",
       "float32[1,1,1,1]{8}"},
      // What is outside of the image counts for nothing; a cell that is wholly outside is 0.
      {X2IR_IMAGE
       "r = float32[1,5]{0, 2, 0, 3, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 2] }",
       "float32[1,1,1,2]{3, 0}"},
      {"x = float32[1,1,1,1]{-7}\n r = float32[1,5]{0, 0, 0, 0, 0}\n "
       "y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "float32[1,1,1,1]{-7}"},
      // At least one pixel.
      {X2IR_IMAGE
       "r = float32[1,5]{0, 2, 2, 0, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "float32[1,1,1,1]{9}"},
      {X2IR_IMAGE "r = float32[0,5]{}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "float32[0,1,1,1]{}"},
      {"x = float16[2,1,1,1]{1, 2}\n r = float16[2,5]{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}\n "
       "y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "float16[2,1,1,1]{2, 1}"},
      {X2IR_IMAGE
       "r = float32[1,5]{1, 0, 0, 0, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "error image"},
      {X2IR_IMAGE
       "r = float32[1,5]{0, nan, 0, 0, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "error corner"},
      {X2IR_IMAGE
       "r = float32[1,5]{0, 0, 0, 1e30, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "error corner"},
      {X2IR_IMAGE "r = float32[1,4]{0, 0, 0, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 1] }",
       "error [n,5]"},
      {X2IR_IMAGE
       "r = float32[1,5]{0, 0, 0, 0, 0}\n y = max_roi_pool(x, r) { pooled_shape = [1, 0] }",
       "error pooled_shape"},
  };
  ExpectRows(rows);
}

TEST(Images, Eval) {
  const EvalRow rows[] = {
      // With aligned corners, -1 and 1 are the centres of the outer pixels.
      {"x = float32[1,1,3]{1, 2, 4}\n g = float32[1,4,1]{-1, 0, 0.5, 1}\n "
       "y = grid_sample(x, g) { align_corners = 1 }",
       "float32[1,1,4]{1, 2, 3, 4}"},
      // Else they are the edges: half of what is there is zero.
      {"x = float32[1,1,2]{2, 6}\n g = float32[1,4,1]{-1, 0, 1, 9}\n y = grid_sample(x, g)",
       "float32[1,1,4]{1, 4, 3, 0}"},
      {"x = float32[1,1,2]{2, 6}\n g = float32[1,4,1]{-1, 0, 1, 9}\n "
       "y = grid_sample(x, g) { padding_mode = \"border\" }",
       "float32[1,1,4]{2, 4, 6, 6}"},
      {"x = string[1,1,2]{\"a\", \"b\"}\n g = float64[1,5,1]{-9, -0.5, 0.5, 9, nan}\n "
       "y = grid_sample(x, g) { mode = \"nearest\" }",
       "string[1,1,5]{\"\", \"a\", \"b\", \"\", \"\"}"},
      {"x = int8[1,1,3]{1, 2, 3}\n g = float32[1,6,1]{-2, -1, 0, 1, 2, 3}\n "
       "y = grid_sample(x, g) { align_corners = 1, mode = \"nearest\", padding_mode = "
       "\"reflection\" }",
       "int8[1,1,6]{2, 1, 2, 3, 2, 1}"},
      {"x = int8[1,1,2]{1, 2}\n g = float32[1,3,1]{-1.5, 1.5, 2.5}\n "
       "y = grid_sample(x, g) { mode = \"nearest\", padding_mode = \"reflection\" }",
       "int8[1,1,3]{1, 2, 1}"},
      // The last axis comes first in the grid.
      {"x = uint8[1,1,2,2]{1, 2, 3, 4}\n g = float16[1,1,2,2]{1, -1, -1, 1}\n "
       "y = grid_sample(x, g) { align_corners = 1, mode = \"nearest\" }",
       "uint8[1,1,1,2]{2, 3}"},
      {"x = float32[1,1,4]{1, 2, 4, 8}\n g = float32[1,2,1]{-1, 0}\n "
       "y = grid_sample(x, g) { align_corners = 1, mode = \"cubic\" }",
       "float32[1,1,2]{1, 2.71875}"},
      {"x = int32[1,1,2]{1, 4}\n g = float32[1,1,1]{0}\n y = grid_sample(x, g)", "int32[1,1,1]{2}"},
      {"x = complex64[1,1,2]{(1, 2), (3, 4)}\n g = float32[1,1,1]{0}\n y = grid_sample(x, g)",
       "complex64[1,1,1]{(2, 3)}"},
      {"x = bool[1,1,2]{true, false}\n g = float32[1,2,1]{0, 5}\n y = grid_sample(x, g)",
       "bool[1,1,2]{true, false}"},
      {"x = float32[1,1,0]{}\n g = float32[1,2,1]{0, 1}\n "
       "y = grid_sample(x, g) { padding_mode = \"border\" }",
       "float32[1,1,2]{0, 0}"},
      {"x = float32[0,1,2]{}\n g = float32[0,2,1]{}\n y = grid_sample(x, g)", "float32[0,1,2]{}"},
      {"x = string[1,1,1]{\"a\"}\n g = float32[1,1,1]{0}\n y = grid_sample(x, g)",
       "error interpolated"},
      {"x = float32[1,1,2]{1, 2}\n g = float32[1,1,2]{0, 0}\n y = grid_sample(x, g)",
       "error coordinates"},
      {"x = float32[1,1,2]{1, 2}\n g = float32[1,1,1]{0}\n y = grid_sample(x, g) "
       "{ mode = \"bilinear\" }",
       "error mode"},

      {"t = float32[1,2,3]{1, 0, 0, 0, 1, 0}\n s = int64[4]{1, 1, 2, 2}\n y = affine_grid(t, s)",
       "float32[1,2,2,2]{-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5}"},
      {"t = float16[1,2,3]{2, 0, 1, 0, 1, 0}\n s = int64[4]{1, 1, 1, 2}\n "
       "y = affine_grid(t, s) { align_corners = 1 }",
       "float16[1,1,2,2]{-1, 0, 3, 0}"},
      {"t = float64[1,3,4]{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 7}\n s = int64[5]{1, 1, 1, 1, 2}\n "
       "y = affine_grid(t, s)",
       "float64[1,1,1,2,3]{-0.5, 0, 7, 0.5, 0, 7}"},
      {"t = float32[1,2,3]{1, 0, 0, 0, 1, 0}\n s = int64[4]{2, 1, 2, 2}\n y = affine_grid(t, s)",
       "error "},
      {"t = float32[1,2,3]{1, 0, 0, 0, 1, 0}\n s = int64[3]{1, 1, 2}\n y = affine_grid(t, s)",
       "error 4 or 5"},

      {"x = float32[1,1,2,2]{1, 2, 3, 4}\n r = float32[1,4]{0, 0, 2, 2}\n b = int64[1]{0}\n "
       "y = roi_align(x, r, b) { output_height = 2, output_width = 2, sampling_ratio = 1 }",
       "float32[1,1,2,2]{1, 2, 3, 4}"},
      {"x = float64[1,1,2,2]{1, 2, 3, 4}\n r = float64[1,4]{0, 0, 1, 1}\n b = int64[1]{0}\n "
       "y = roi_align(x, r, b) { coordinate_transformation_mode = \"output_half_pixel\" }",
       "float64[1,1,1,1]{2.5}"},
      {"x = float16[1,1,2,2]{1, 2, 3, 4}\n r = float16[1,4]{0, 0, 1, 1}\n b = int64[1]{0}\n "
       "y = roi_align(x, r, b) { coordinate_transformation_mode = \"output_half_pixel\", "
       "mode = \"max\" }",
       "float16[1,1,1,1]{1}"},
      {"x = float32[1,1,2,2]{1, 2, 3, 4}\n r = float32[0,4]{}\n b = int64[0]{}\n "
       "y = roi_align(x, r, b)",
       "float32[0,1,1,1]{}"},
      {"x = float32[1,1,2,2]{1, 2, 3, 4}\n r = float32[1,4]{0, 0, 1, 1}\n b = int64[1]{1}\n "
       "y = roi_align(x, r, b)",
       "error out of range"},
      {"x = float32[1,1,2,2]{1, 2, 3, 4}\n r = float32[1,4]{0, 0, 1e30, 1}\n b = int64[1]{0}\n "
       "y = roi_align(x, r, b)",
       "error too many"},
      {"x = float32[1,1,2,2]{1, 2, 3, 4}\n r = float32[1,4]{0, 0, nan, 1}\n b = int64[1]{0}\n "
       "y = roi_align(x, r, b)",
       "error too many"},

      {"x = int8[4]{1, 2, 3, 4}\n s = int64[1]{1}\n y = center_crop_pad(x, s)", "int8[1]{2}"},
      {"x = int8[2]{1, 2}\n s = int32[1]{5}\n y = center_crop_pad(x, s)", "int8[5]{0, 1, 2, 0, 0}"},
      {"x = string[2,2]{\"a\", \"b\", \"c\", \"d\"}\n s = int64[2]{1, 3}\n "
       "y = center_crop_pad(x, s)",
       "string[1,3]{\"a\", \"b\", \"\"}"},
      {"x = uint4[2,2]{1, 2, 3, 4}\n s = int64[1]{3}\n y = center_crop_pad(x, s) { axes = [-2] }",
       "uint4[3,2]{1, 2, 3, 4, 0, 0}"},
      {"x = int8[]{7}\n s = int64[0]{}\n y = center_crop_pad(x, s)", "int8[]{7}"},
      {"x = int8[0]{}\n s = int64[1]{2}\n y = center_crop_pad(x, s)", "int8[2]{0, 0}"},
      {"x = int8[2]{1, 2}\n s = int64[1]{0}\n y = center_crop_pad(x, s)", "int8[0]{}"},
      {"x = int8[2]{1, 2}\n s = int64[1]{-1}\n y = center_crop_pad(x, s)", "error negative"},
      {"x = int8[2]{1, 2}\n s = int64[2]{1, 1}\n y = center_crop_pad(x, s)", "error 1 size"},

      {"x = float32[1,2,2]{1, 2, 3, 4}\n i = int64[1]{3}\n b = int64[1]{2}\n y = col2im(x, i, b)",
       "float32[1,1,3]{1, 5, 4}"},
      {"x = int8[1,2,2]{1, 2, 3, 4}\n i = int64[1]{4}\n b = int64[1]{2}\n "
       "y = col2im(x, i, b) { strides = [2] }",
       "int8[1,1,4]{1, 3, 2, 4}"},
      {"x = bool[1,2,2]{true, true, true, false}\n i = int64[1]{4}\n b = int64[1]{2}\n "
       "y = col2im(x, i, b) { dilations = [2] }",
       "bool[1,1,4]{true, true, true, false}"},
      {"x = complex64[1,2,2]{(1, 1), (2, 0), (3, 0), (4, 0)}\n i = int64[1]{1}\n b = int64[1]{2}\n "
       "y = col2im(x, i, b) { pads = [1, 1] }",
       "complex64[1,1,1]{(5, 0)}"},
      {"x = float32[1,3,2]{1, 2, 3, 4, 5, 6}\n i = int64[1]{3}\n b = int64[1]{2}\n "
       "y = col2im(x, i, b)",
       "error do not divide"},
      {"x = float32[1,2,3]{1, 2, 3, 4, 5, 6}\n i = int64[1]{3}\n b = int64[1]{2}\n "
       "y = col2im(x, i, b)",
       "error columns"},

      // Without offsets it is a convolution.
      {"x = float32[1,1,3]{1, 2, 4}\n w = float32[1,1,2]{1, 10}\n o = float32[1,2,2]{0, 0, 0, 0}\n "
       "y = deform_conv(x, w, o)",
       "float32[1,1,2]{21, 42}"},
      // Offsets of a kernel element stand together, one for each position.
      {"x = float64[1,1,3]{1, 2, 4}\n w = float64[1,1,2]{1, 10}\n "
       "o = float64[1,2,2]{0.5, -0.5, 1, 9}\n b = float64[1]{100}\n y = deform_conv(x, w, o, b)",
       "float64[1,1,2]{141.5, 101.5}"},
      {"x = float32[1,1,3]{1, 2, 4}\n w = float32[1,1,2]{1, 10}\n o = float32[1,2,2]{0, 0, 0, 0}\n "
       "m = float32[1,2,2]{1, 0, 0.5, 1}\n y = deform_conv(x, w, o, _, m)",
       "float32[1,1,2]{11, 40}"},
      {"x = float16[1,2,1]{1, 2}\n w = float16[2,1,1]{3, 5}\n o = float16[1,2,1]{0, 0.5}\n "
       "y = deform_conv(x, w, o) { group = 2, offset_group = 2 }",
       "float16[1,2,1]{3, 5}"},
      {"x = float32[1,1,1]{4}\n w = float32[1,1,1]{1}\n o = float32[1,1,3]{0, 0, nan}\n "
       "y = deform_conv(x, w, o) { pads = [1, 1] }",
       "float32[1,1,3]{0, 4, 0}"},
      {"x = float32[1,1,3]{1, 2, 4}\n w = float32[1,1,2]{1, 10}\n o = float32[1,1,2]{0, 0}\n "
       "y = deform_conv(x, w, o)",
       "error offset"},
  };
  ExpectRows(rows);
}

TEST(Images, Infer) {
  const InferRow rows[] = {
      {"x: int8[n,c,h,w], g: float32[n,a,b,2]", "y = grid_sample(x, g)", "int8[n,c,a,b]"},
      {"x: int8[...], g: float32[n,a,b,2]", "y = grid_sample(x, g)", "int8[n,?,a,b]"},
      {"x: int8[n,c,h,w], g: float32[n,a,b,3]", "y = grid_sample(x, g)", "error 2 coordinates"},
      {"x: int8[n,c,h,w], g: float32[n,a,2]", "y = grid_sample(x, g)", "error rank 4"},
      {"t: float32[n,2,3], x: int8[n,c,h,w]", "s = shape(x)\n y = affine_grid(t, s)",
       "float32[n,h,w,2]"},
      {"t: float32[n,3,4], s: int64[5]", "y = affine_grid(t, s)", "float32[n,?,?,?,3]"},
      {"t: float32[n,3,4], s: int64[4]", "y = affine_grid(t, s)", "error matrices"},
      {"x: float32[n,c,h,w], r: float32[k,4], b: int64[k]",
       "y = roi_align(x, r, b) { output_height = 3 }", "float32[k,c,3,1]"},
      {"x: float32[n,c,h,w], r: float32[k,5], b: int64[k]", "y = roi_align(x, r, b)",
       "error [n,4]"},
      {"x: float32[n,c,h]", "s = int64[1]{5}\n y = center_crop_pad(x, s) { axes = [1] }",
       "float32[n,5,h]"},
      {"x: float32[n,c], z: int8[a,b]", "s = shape(z)\n y = center_crop_pad(x, s)", "float32[a,b]"},
      {"x: float32[n,12,l], i: int64[2]", "b = int64[2]{2, 3}\n y = col2im(x, i, b)",
       "float32[n,2,?,?]"},
      {"x: float32[n,5,l], i: int64[2]", "b = int64[2]{2, 3}\n y = col2im(x, i, b)",
       "error do not divide"},
      {"x: float32[n,4,h,w], k: float32[6,2,3,3], o: float32[n,18,a,b]",
       "y = deform_conv(x, k, o) { group = 2, strides = [2, 1] }",
       "float32[n,6,floordiv(h+1, 2)-1,w-2]"},
      {"x: float32[n,4,h,w], k: float32[6,2,3,3], o: float32[n,9,a,b]",
       "y = deform_conv(x, k, o) { group = 2 }", "error offset"},
      {"x: float32[n,4,h,w], k: float32[6,2,3,3], o: float32[n,18,a,b]", "y = deform_conv(x, k, o)",
       "error channels"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
