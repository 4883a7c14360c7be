// Handlers of losses, of ops on images and of signal processing: text in, text out.
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/onnx/rows_util.h"

namespace x2ir {
namespace {

TEST(SignalImagesLosses, BothWays) {
  const BothWays rows[] = {
      {12, "x: float32[n,c], t: int64[n]) -> (y)", "y = onnx.NegativeLogLikelihoodLoss(x, t)",
       "y = negative_log_likelihood_loss(x, t) { reduction = \"mean\" }"},
      {22, "x: bfloat16[n,c], t: int64[n], w: bfloat16[c]) -> (y)",
       "y = onnx.NegativeLogLikelihoodLoss(x, t, w) { ignore_index = -1, reduction = \"sum\" }",
       "y = negative_log_likelihood_loss(x, t, w) { ignore_index = -1, reduction = \"sum\" }"},
      {13, "x: float32[n,c], t: int64[n]) -> (y, p)",
       "y, p = onnx.SoftmaxCrossEntropyLoss(x, t) { ignore_index = 0 }",
       "y, p = softmax_cross_entropy_loss(x, t) { ignore_index = 0, reduction = \"mean\" }"},
      {16, "x: float32[n,c,h,w], g: float32[n,a,b,2]) -> (y)", "y = onnx.GridSample(x, g)",
       "y = grid_sample(x, g) { align_corners = 0, mode = \"linear\", padding_mode = \"zeros\" }"},
      {16, "x: float32[n,c,h,w], g: float32[n,a,b,2]) -> (y)",
       "y = onnx.GridSample(x, g) { mode = \"bicubic\", padding_mode = \"border\" }",
       "y = grid_sample(x, g) { align_corners = 0, mode = \"cubic\", padding_mode = \"border\" }"},
      {20, "x: float32[n,c,d,h,w], g: float32[n,a,b,e,3]) -> (y)",
       "y = onnx.GridSample(x, g) { align_corners = 1, mode = \"cubic\" }",
       "y = grid_sample(x, g) { align_corners = 1, mode = \"cubic\", padding_mode = \"zeros\" }"},
      {20, "t: float32[n,2,3], s: int64[4]) -> (y)", "y = onnx.AffineGrid(t, s)",
       "y = affine_grid(t, s) { align_corners = 0 }"},
      {10, "x: float32[n,c,h,w], r: float32[k,4], b: int64[k]) -> (y)",
       "y = onnx.RoiAlign(x, r, b) { output_height = 2 }",
       "y = roi_align(x, r, b) { coordinate_transformation_mode = \"output_half_pixel\", "
       "mode = \"avg\", output_height = 2, output_width = 1, sampling_ratio = 0, "
       "spatial_scale = 1.0 }"},
      {16, "x: float32[n,c,h,w], r: float32[k,4], b: int64[k]) -> (y)",
       "y = onnx.RoiAlign(x, r, b) { mode = \"max\" }",
       "y = roi_align(x, r, b) { coordinate_transformation_mode = \"half_pixel\", "
       "mode = \"max\", output_height = 1, output_width = 1, sampling_ratio = 0, "
       "spatial_scale = 1.0 }"},
      {18, "x: string[n,c], s: int64[1]) -> (y)", "y = onnx.CenterCropPad(x, s) { axes = [-1] }",
       "y = center_crop_pad(x, s) { axes = [-1] }"},
      {18, "x: float32[n,c,l], i: int64[2], b: int64[2]) -> (y)",
       "y = onnx.Col2Im(x, i, b) { strides = [2, 2] }", "y = col2im(x, i, b) { strides = [2, 2] }"},
      {19, "x: float32[n,c,h,w], k: float32[6,c,3,2], o: float32[n,12,a,b]) -> (y)",
       "y = onnx.DeformConv(x, k, o) { kernel_shape = [3, 2], pads = [1, 0, 1, 0] }",
       "y = deform_conv(x, k, o) { dilations = [1, 1], group = 1, offset_group = 1, "
       "pads = [1, 0, 1, 0], strides = [1, 1] }"},
      {17, "x: float32[n,l,1]) -> (y)", "y = onnx.DFT(x) { onesided = 1 }",
       "y_axis = int64[]{1}\n y = dft(x, _, y_axis) { inverse = 0, onesided = 1 }"},
      {17, "x: float32[n,l,1], k: int64[]) -> (y)", "y = onnx.DFT(x, k) { axis = 0, inverse = 1 }",
       "y_axis = int64[]{0}\n y = dft(x, k, y_axis) { inverse = 1, onesided = 0 }"},
      {20, "x: float32[n,l,1], a: int64[]) -> (y)", "y = onnx.DFT(x, _, a)",
       "y = dft(x, _, a) { inverse = 0, onesided = 0 }"},
      {17, "x: float32[n,l,1], s: int64[], w: float32[8]) -> (y)",
       "y = onnx.STFT(x, s, w) { onesided = 1 }", "y = stft(x, s, w) { onesided = 1 }"},
      {17, "s: int64[]) -> (y)", "y = onnx.HannWindow(s)",
       "y = hann_window(s) { dtype = \"float32\", periodic = 1 }"},
      {17, "s: int64[]) -> (y)", "y = onnx.HammingWindow(s) { periodic = 0 }",
       "y = hamming_window(s) { dtype = \"float32\", periodic = 0 }"},
      {17, "s: int64[]) -> (y)", "y = onnx.BlackmanWindow(s) { output_datatype = 11 }",
       "y = blackman_window(s) { dtype = \"float64\", periodic = 1 }"},
      {17, "n: int64[], l: float32[]) -> (y)", "y = onnx.MelWeightMatrix(n, n, n, l, l)",
       "y = mel_weight_matrix(n, n, n, l, l) { dtype = \"float32\" }"},
  };
  for (const BothWays& row : rows) ExpectBothWays(row);
}

TEST(SignalImagesLosses, Export) {
  const OneWay rows[] = {
      {19, "x: string[n,c,d,h,w], g: float32[n,a,b,e,3]) -> (y)",
       "y = grid_sample(x, g) { align_corners = 0, mode = \"nearest\", padding_mode = \"zeros\" }",
       "error opset 20 has it"},
      {15, "x: float32[n,c,h,w], r: float32[k,4], b: int64[k]) -> (y)",
       "y = roi_align(x, r, b) { coordinate_transformation_mode = \"half_pixel\", mode = \"avg\", "
       "output_height = 1, output_width = 1, sampling_ratio = 0, spatial_scale = 1.0 }",
       "error coordinate_transformation_mode"},
      {17, "x: float32[n,l,1]) -> (y)", "y = dft(x) { inverse = 0, onesided = 0 }",
       "y = onnx.DFT(x) { axis = -2 }"},
      {19, "x: float32[n,l,1], d: int64[], a: int64[]) -> (y)",
       "y = dft(x, d, a) { inverse = 0, onesided = 0 }", "error computed from opset 20 on"},
      {20, "x: float32[n,l,2], k: int64[]) -> (y)", "y = dft(x, k) { inverse = 1, onesided = 1 }",
       "error runtimes refuse an inverse one-sided transform"},
  };
  for (const OneWay& row : rows) {
    ExpectOneWay(FromIrText(GraphText(row.header, row.from), row.opset), row);
  }
}

}  // namespace
}  // namespace x2ir
