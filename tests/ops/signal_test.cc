// dft, stft, window functions, mel_weight_matrix: values checked by hand, inference.
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"

namespace x2ir {
namespace {

TEST(Signal, Eval) {
  struct {
    std::string_view lines, want;
  } const rows[] = {
      {"x = float32[1,2,1]{1, 3}\n y = dft(x)", "float32[1,2,2]{4, 0, -2, 0}"},
      {"x = float32[1,1]{5}\n y = dft(x)", "float32[1,2]{5, 0}"},
      {"x = float16[4,1]{1, 2, 3, 4}\n y = dft(x) { onesided = 1 }",
       "float16[3,2]{10, 0, -2, 2, -2, 0}"},
      {"x = float64[2,2]{4, 0, -2, 0}\n y = dft(x) { inverse = 1 }", "float64[2,2]{1, 0, 3, 0}"},
      {"x = float32[3,2]{10, 0, -2, 2, -2, 0}\n y = dft(x) { inverse = 1, onesided = 1 }",
       "float32[4,1]{1, 2, 3, 4}"},
      {"x = float32[2,2,1]{1, 3, 2, 5}\n a = int64[]{0}\n y = dft(x, _, a)",
       "float32[2,2,2]{3, 0, 8, 0, -1, 0, -2, 0}"},
      {"x = float32[2,1]{1, 3}\n n = int64[]{1}\n y = dft(x, n)", "float32[1,2]{1, 0}"},
      {"x = float32[1,1]{3}\n n = int64[]{4}\n y = dft(x, n) { onesided = 1 }",
       "float32[3,2]{3, 0, 3, 0, 3, 0}"},
      // A length that is no power of two goes another way.
      {"x = float32[3,1]{1, 2, 6}\n a = dft(x)\n z = dft(a) { inverse = 1 }\n r = round(z)\n "
       "y = abs(r)",
       "float32[3,2]{1, 0, 2, 0, 6, 0}"},
      {"x = float32[0,2,1]{}\n y = dft(x)", "float32[0,2,2]{}"},
      {"x = float32[2,1]{1, 3}\n n = int64[]{0}\n y = dft(x, n)", "error expected from 1"},
      {"x = float32[2,1]{1, 3}\n a = int64[]{-1}\n y = dft(x, _, a)", "error axis"},
      {"x = float32[1,2]{1, 3}\n y = dft(x) { onesided = 1 }", "error real"},
      {"x = float32[1,3]{1, 2, 3}\n y = dft(x)", "error 1 or 2"},

      {"x = float32[1,4,1]{1, 3, 5, 9}\n s = int64[]{2}\n w = float32[2]{1, 2}\n y = stft(x, s, w)",
       "float32[1,2,2,2]{7, 0, -5, 0, 23, 0, -13, 0}"},
      {"x = float32[1,4,1]{1, 3, 5, 9}\n s = int64[]{3}\n f = int64[]{2}\n "
       "y = stft(x, s, _, f) { onesided = 0 }",
       "float32[1,1,2,2]{4, 0, -2, 0}"},
      {"x = float32[1,1,1]{1}\n s = int64[]{1}\n f = int64[]{2}\n y = stft(x, s, _, f)",
       "float32[1,0,2,2]{}"},
      // A length that is no power of two, and no window: all is one frame.
      {"x = float32[1,3,1]{1, 1, 1}\n s = int64[]{1}\n z = stft(x, s)\n r = round(z)\n y = abs(r)",
       "float32[1,1,2,2]{3, 0, 0, 0}"},
      {"x = float32[1,2,2]{1, 0, 3, 0}\n s = int64[]{1}\n y = stft(x, s)", "error real"},
      {"x = float32[1,1,1]{1}\n s = int64[]{0}\n y = stft(x, s)", "error frame_step"},

      {"n = int64[]{2}\n y = blackman_window(n) { periodic = 0, dtype = \"int8\" }",
       "int8[2]{0, 0}"},
      {"n = int64[]{4}\n y = hann_window(n)", "float32[4]{0, 0.5, 1, 0.5}"},
      {"n = int32[]{3}\n y = hann_window(n) { periodic = 0, dtype = \"float16\" }",
       "float16[3]{0, 1, 0}"},
      {"n = int64[]{2}\n y = hamming_window(n)", "float32[2]{0.08695652, 1}"},
      {"n = int64[]{2}\n y = hann_window(n) { dtype = \"int8\" }", "int8[2]{0, 1}"},
      {"n = int64[]{0}\n y = hann_window(n)", "float32[0]{}"},
      {"n = int64[]{-1}\n y = hann_window(n)", "error negative"},

      {"m = int64[]{2}\n d = int64[]{8}\n r = int64[]{80}\n l = float32[]{0}\n h = float32[]{40}\n "
       "y = mel_weight_matrix(m, d, r, l, h)",
       "float32[5,2]{0, 0, 1, 0, 0, 1, 0, 0, 0, 0}"},
      {"m = int64[]{2}\n d = int64[]{8}\n r = int64[]{80}\n l = float32[]{0}\n h = "
       "float32[]{4e4}\n "
       "y = mel_weight_matrix(m, d, r, l, h)",
       "error outside"},
  };
  for (const auto& row : rows) ExpectText(EvalText(row.lines), row.want, row.lines);
}

TEST(Signal, Infer) {
  struct {
    std::string_view inputs, lines, want;
  } const rows[] = {
      {"x: float32[n,l,1]", "y = dft(x)", "float32[n,l,2]"},
      {"x: float32[n,8,1]", "y = dft(x) { onesided = 1 }", "float32[n,5,2]"},
      {"x: float32[n,5,2]", "y = dft(x) { inverse = 1, onesided = 1 }", "float32[n,8,1]"},
      {"x: float32[n,l,1], a: int64[]", "y = dft(x, _, a)", "float32[?,?,2]"},
      {"x: float32[n,l,1]", "a = int64[]{0}\n k = int64[]{6}\n y = dft(x, k, a)", "float32[6,l,2]"},
      {"x: float32[n,l,2]", "y = dft(x) { onesided = 1 }", "error real"},
      {"x: float32[n,10,1], w: float32[4]", "s = int64[]{3}\n y = stft(x, s, w)",
       "float32[n,3,3,2]"},
      {"x: float32[n,10,1], s: int64[], f: int64[]", "y = stft(x, s, _, f)", "float32[n,?,?,2]"},
      {"s: int64[]", "y = hann_window(s) { dtype = \"float64\" }", "float64[?]"},
      {"s: int64[]", "y = hann_window(s) { dtype = \"string\" }", "error dtype"},
      {"r: int64[], l: float32[]",
       "m = int64[]{4}\n d = int64[]{9}\n y = mel_weight_matrix(m, d, r, l, l)", "float32[5,4]"},
  };
  for (const auto& row : rows) ExpectText(InferText(row.inputs, row.lines), row.want, row.lines);
}

}  // namespace
}  // namespace x2ir
