// tract's operators in models of NNEF. Results follow from its kernels' formulas, by hand.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/formats/nnef_files_util.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr std::string_view kRegistry = "extension tract_registry tract_core;\n";

TEST(NnefTract, OperatorsCompute) {
  std::vector<NnefRow> rows = {
      {"[3]", "y = tract_core_pow_const(x, exponent = 3.0);", "float32[3]{-1, 2, 3}",
       "float32[3]{-1, 8, 27}"},
      {"[3]", "y = tract_core_cbrt(x);", "float32[3]{-1, 0, 1}", "float32[3]{-1, 0, 1}"},
      {"[1]", "y = tract_core_cot(x);", "float32[1]{0.5}", "float32[1]{1.8304877}"},
      {"[1]", "y = tract_transformers_silu(x);", "float32[1]{1}", "float32[1]{0.7310586}"},
      {"[2]", "y = tract_core_gelu_approx(x, fast_impl = false);", "float32[2]{0, 1}",
       "float32[2]{0, 0.841192}"},
      {"[1,2]", "y = tract_core_softmax(x, axes = [1], exp = 'fast_compact');",
       "float32[1,2]{3, 3}", "float32[1,2]{0.5, 0.5}"},
      {"[1,2]", "y = tract_transformers_rms_norm(x, axis = 1, eps = 0.0);", "float32[1,2]{3, 3}",
       "float32[1,2]{1, 1}"},
      // The gate is limited from above alone.
      {"[2]",
       "u = constant(shape = [2], value = [-5.0, 1.0]); y = tract_core_clamped_swiglu(x, u, alpha "
       "= 1.0, limit = 2.0);",
       "float32[2]{3, 0}", "float32[2]{-1.761594, 0}"},
      {"[2]",
       "a = constant<integer>(shape = [2], value = [6, 3]); b = constant<integer>(shape = [2], "
       "value = [3, 5]); y = x + tract_core_cast(tract_core_bitand(a, b), to = 'f32');",
       "float32[2]{0, 0}", "float32[2]{2, 1}"},
      {"[2]",
       "a = constant<integer>(shape = [2], value = [6, 3]); b = constant<integer>(shape = [2], "
       "value = [3, 5]); y = x + tract_core_cast(tract_core_bitor(a, b), to = 'f32');",
       "float32[2]{0, 0}", "float32[2]{7, 7}"},
      {"[2]",
       "a = constant<integer>(shape = [2], value = [6, 3]); b = constant<integer>(shape = [2], "
       "value = [3, 5]); y = x + tract_core_cast(tract_core_bitxor(a, b), to = 'f32');",
       "float32[2]{0, 0}", "float32[2]{5, 6}"},
      {"[2]",
       "a = constant<integer>(shape = [2], value = [6, -1]); y = x + "
       "tract_core_cast(tract_core_bitnot(a), to = 'f32');",
       "float32[2]{0, 0}", "float32[2]{-7, 0}"},
      {"[2]", "y = select(tract_core_bitxor(x > 0.0, x > 1.0), x, 9.0);", "float32[2]{1, 2}",
       "float32[2]{1, 9}"},
      {"[2]",
       "a = tract_core_cast(x, to = 'u32'); y = tract_core_cast(tract_shr(tract_shl(a, 3), 1), to "
       "= 'f32');",
       "float32[2]{1, 5}", "float32[2]{4, 20}"},
      {"[3]", "y = tract_core_argmax_reduce_last(x, axes = [0]);", "float32[3]{3, 1, 3}",
       "int64[1]{2}"},
      {"[3]", "y = tract_core_argmin_reduce_last(x, axes = [0]);", "float32[3]{1, 1, 3}",
       "int64[1]{1}"},
      {"[2]", "y = tract_core_one_hot(x, axis = 0, dim = 3, value_off = 0.5, value_on = 2.0);",
       "float32[2]{0, -1}", "float32[3,2]{2, 0.5, 0.5, 0.5, 0.5, 2}"},
      {"[4]", "y = tract_core_downsample(x, axis = 0, stride = 2, modulo = 1);",
       "float32[4]{1, 2, 3, 4}", "float32[2]{2, 4}"},
      {"[4]", "y = tract_core_dyn_slice(x, 1, 3, axis = 0, len = 2);", "float32[4]{1, 2, 3, 4}",
       "float32[2]{2, 3}"},
      {"[4]",
       "n = tract_core_shape_of(x); y = tract_core_dyn_slice(x, 1, n[0], axis = 0, len = 3);",
       "float32[4]{1, 2, 3, 4}", "float32[3]{2, 3, 4}"},
      // x first, then y; corners are the middles of the first and last elements.
      {"[1,1,1,2]",
       "g = constant(shape = [1,1,3,2], value = [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]); y = "
       "tract_core_grid_sample(x, g, align_corners = true);",
       "float32[1,1,1,2]{1, 3}", "float32[1,1,1,3]{1, 2, 3}"},
      // c = 0.5 * 2 + 0.5 * tanh(1), h = 0.5 * tanh(c): gates are in, out, forget, candidate.
      {"[1,4]",
       "c = constant(shape = [1,1], value = [2.0]); h, n = tract_core_lstm_epilogue(x, c, hidden "
       "= 1); y = concat([h, n], axis = 1);",
       "float32[1,4]{0, 0, 0, 1}", "float32[1,2]{0.4405648, 1.3807971}"},
      // n = tanh(1 + 0.5 * 2), h = n + 0.5 * (4 - n): gates are update, reset, candidate.
      {"[1,3]",
       "r = constant(shape = [1,3], value = [0.0, 0.0, 2.0]); h = constant(shape = [1,1], value = "
       "[4.0]); y = tract_core_gru_epilogue(x, r, h, hidden = 1);",
       "float32[1,3]{0, 0, 1}", "float32[1,1]{2.4820137}"},
      // The same step; then backwards, with biases of the input and of the state.
      {"[1,1,1]",
       "w = constant(shape = [3,1], value = [0.0, 0.0, 1.0]); r = constant(shape = [3,1], value = "
       "[0.0, 0.0, 0.5]); h = constant(shape = [1,1,1], value = [4.0]); s, y = "
       "tract_core_gru_seq(x = x, w = w, r = r, initial_h = h, hidden = 1, chunk = 1);",
       "float32[1,1,1]{1}", "float32[1,1,1]{2.4820137}"},
      {"[1,2,1]",
       "w = constant(shape = [3,1], value = [0.0, 0.0, 1.0]); r = constant(shape = [3,1], value = "
       "[0.0, 0.0, 0.5]); h = constant(shape = [1,1,1], value = [4.0]); b = constant(shape = "
       "[1,6], value = [0.0, 0.0, 1.0, 0.0, 0.0, 2.0]); y, n = tract_core_gru_seq(x = x, w = w, r "
       "= r, b = b, has_bias = 1, initial_h = h, hidden = 1, chunk = -1);",
       "float32[1,2,1]{3, -1}", "float32[1,2,1]{1.7409937, 2.4820137}"},
      // The discrete Fourier transform of 1, 2 (real); an inverse one is not divided by its length.
      {"[2,2]", "y = tract_core_fft(x, axis = 0, inverse = false);", "float32[2,2]{1, 0, 2, 0}",
       "float32[2,2]{3, 0, -1, 0}"},
      {"[2,2]", "y = tract_core_fft(x, axis = 0, inverse = true);", "float32[2,2]{3, 0, -1, 0}",
       "float32[2,2]{2, 0, 4, 0}"},
      // Frames 1, 2 and 3, 4.
      {"[1,4,2]", "y = tract_core_stft(x, axis = 1, frame = 2, stride = 2);",
       "float32[1,4,2]{1, 0, 2, 0, 3, 0, 4, 0}", "float32[1,2,2,2]{3, 0, -1, 0, 7, 0, -1, 0}"},
      {"[3,2]",
       "w = constant(shape = [2], value = [1.0, 0.5]); y = tract_core_stft(x, axis = 0, frame = 2, "
       "stride = 1, window = w);",
       "float32[3,2]{1, 0, 2, 0, 4, 0}", "float32[2,2,2]{2, 0, 0, 0, 4, 0, 0, 0}"},
      {"[3]", "y = select(tract_core_is_inf(x, detect_negative = false), 1.0, x);",
       "float32[3]{inf, -inf, 2}", "float32[3]{1, -inf, 2}"},
      {"[3]", "y = select(tract_onnx_isinf(x), 1.0, x);", "float32[3]{inf, -inf, 2}",
       "float32[3]{1, 1, 2}"},
      {"[2]", "y = select(tract_onnx_is_nan(x), 1.0, x);", "float32[2]{nan, 2}",
       "float32[2]{1, 2}"},
      {"[2]", "y = recip(square(tract_core_tan(tract_core_atan(x))));", "float32[2]{0, 1}",
       "float32[2]{inf, 1}"},
      // 3 / (1 + 2 / 2 * (3 * 3 + 1))
      {"[1,2,1]", "y = tract_onnx_lrn(x, alpha = 2.0, beta = 1.0, bias = 1.0, size = 2);",
       "float32[1,2,1]{3, 1}", "float32[1,2,1]{0.27272728, 0.5}"},
      // The second box covers half of the first one; no number of them is no limit.
      {"[1,2,4]",
       "s = constant(shape = [1,1,2], value = [0.5, 0.75]); y = "
       "tract_onnx_non_max_suppression(x, s, 0, 0.6, 0.1);",
       "float32[1,2,4]{0, 0, 1, 1, 0, 0, 1, 2}", "int64[2,3]{0, 0, 1, 0, 0, 0}"},
      {"[1,2,4]",
       "s = constant(shape = [1,1,2], value = [0.5, 0.75]); y = "
       "tract_onnx_non_max_suppression(x, s, 0, 0.4);",
       "float32[1,2,4]{0, 0, 1, 1, 0, 0, 1, 2}", "int64[1,3]{0, 0, 1}"},
      {"[1,4]",
       "c = constant(shape = [1,4], value = [1.0, 0.0, 1.0, 0.0]); s = constant(shape = [1,4], "
       "value = [0.0, 1.0, 0.0, 1.0]); y = tract_transformers_apply_rope(x, c, s);",
       "float32[1,4]{1, 2, 3, 4}", "float32[1,4]{1, -4, 3, 2}"},
  };
  for (NnefRow& row : rows) row.before = kRegistry;
  ExpectNnefRows(rows);
}

// Every operator that is not read stands in the table of docs/nnef.md, and no other.
TEST(NnefTract, TheTableOfRefusalsIsComplete) {
  const std::string page = ReadFile(std::filesystem::path(X2IR_SOURCE_DIR) / "docs/nnef.md");
  const size_t begin = page.find("| operators | why |"), end = page.find("\n\n", begin);
  ASSERT_NE(begin, page.npos);
  const std::string table = page.substr(begin, end - begin);
  size_t refused = 0;
  for (const std::string& name : nnef::TractOperators()) {
    const std::string_view why = nnef::RefusalOf(name);
    EXPECT_NE(why.empty(), nnef::FindOperator(name) == nullptr) << name;
    EXPECT_EQ(table.find(StrCat("`", name, "`")) != table.npos, !why.empty()) << name;
    if (why.empty()) continue;
    ++refused;
    NnefRefusal row;
    row.text = NnefText("[2]", StrCat("y = ", name, "(x);"), kRegistry);
    row.want = StrCat("operator '", name, "': ", why);
    ExpectNnefRefusals({row});
  }
  EXPECT_EQ(std::count(table.begin(), table.end(), '`') / 2, static_cast<int64_t>(refused));
}

TEST(NnefTract, OthersAreRefusedByName) {
  const auto text = [](std::string_view lines) { return NnefText("[2]", lines, kRegistry); };
  ExpectNnefRefusals({
      {text("y = tract_core_gelu_approx(x, fast_impl = true);"), "fast_impl"},
      {text("y = tract_shl(tract_core_cast(x, to = 'i32'), 1);"), "bits of int32 shifted"},
      {text("y = tract_core_fft(x, axis = 0, inverse = false);"), "no real and imaginary parts"},
      {text("y = avg_roi_align(x, x, x);"), "what the coordinates of regions mean"},
      {text("y = tract_core_lstm_epilogue(x, x, hidden = 3);"), "gates of another size"},
      {text("y = tract_transformers_apply_rope(x[0:1], x, x);"), "a range of no list"},
  });
}

}  // namespace
}  // namespace x2ir
