// negative_log_likelihood_loss, softmax_cross_entropy_loss: values checked by hand, inference.
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"

namespace x2ir {
namespace {

TEST(Losses, Eval) {
  struct {
    std::string_view lines, want, outputs = "y";
  } const rows[] = {
      {"x = float32[2,3]{-1, -2, -3, -4, -5, -6}\n t = int64[2]{0, 2}\n "
       "y = negative_log_likelihood_loss(x, t)",
       "float32[]{3.5}"},
      {"x = float32[2,3]{-1, -2, -3, -4, -5, -6}\n t = int32[2]{0, 2}\n w = float32[3]{2, 7, 3}\n "
       "y = negative_log_likelihood_loss(x, t, w) { reduction = \"none\" }",
       "float32[2]{2, 18}"},
      {"x = float64[2,3]{-1, -2, -3, -4, -5, -6}\n t = int64[2]{0, 2}\n w = float64[3]{2, 7, 3}\n "
       "y = negative_log_likelihood_loss(x, t, w)",
       "float64[]{4}"},
      {"x = float16[2,3]{-1, -2, -3, -4, -5, -6}\n t = int64[2]{-7, 2}\n "
       "y = negative_log_likelihood_loss(x, t) { ignore_index = -7 }",
       "float16[]{6}"},
      {"x = float32[1,2,2]{-1, -2, -3, -4}\n t = int64[1,2]{1, 0}\n "
       "y = negative_log_likelihood_loss(x, t) { reduction = \"sum\" }",
       "float32[]{5}"},
      {"x = bfloat16[0,2]{}\n t = int64[0]{}\n "
       "y = negative_log_likelihood_loss(x, t) { reduction = \"sum\" }",
       "bfloat16[]{0}"},
      {"x = float32[1,2]{-1, -2}\n t = int64[1]{0}\n "
       "y = negative_log_likelihood_loss(x, t) { ignore_index = 0 }",
       "float32[]{nan}"},
      {"x = float32[1,2]{-1, -2}\n t = int64[1]{2}\n y = negative_log_likelihood_loss(x, t)",
       "error out of range"},
      {"x = float32[1,2]{-1, -2}\n t = int64[1]{-1}\n y = negative_log_likelihood_loss(x, t)",
       "error out of range"},
      {"x = float32[1,2]{-1, -2}\n t = int64[1]{1}\n "
       "y = negative_log_likelihood_loss(x, t) { reduction = \"max\" }",
       "error reduction"},
      {"x = float32[1,2]{3, 3}\n t = int64[1]{0}\n "
       "z, y = softmax_cross_entropy_loss(x, t)",
       "float32[]{0.6931472}; float32[1,2]{-0.6931472, -0.6931472}", "z, y"},
      {"x = float32[2,2]{3, 3, 1e30, 0}\n t = int64[2]{0, 0}\n "
       "y = softmax_cross_entropy_loss(x, t) { reduction = \"none\" }",
       "float32[2]{0.6931472, -0}"},
      {"x = float32[2,2]{3, 3, 1, 1}\n t = int64[2]{0, 1}\n w = float32[2]{1, 3}\n "
       "y = softmax_cross_entropy_loss(x, t, w) { reduction = \"sum\" }",
       "float32[]{2.7725887}"},
  };
  for (const auto& row : rows) ExpectText(EvalText(row.lines, row.outputs), row.want, row.lines);
}

TEST(Losses, Infer) {
  struct {
    std::string_view inputs, lines, want, outputs = "y";
  } const rows[] = {
      {"x: float32[n,c,h,w], t: int64[n,h,w]", "y = negative_log_likelihood_loss(x, t)",
       "float32[]"},
      {"x: float32[n,c,h,w], t: int64[...]",
       "y = negative_log_likelihood_loss(x, t) { reduction = \"none\" }", "float32[n,h,w]"},
      {"x: float32[...], t: int64[n,4]",
       "y = negative_log_likelihood_loss(x, t) { reduction = \"none\" }", "float32[n,4]"},
      {"x: float32[n,c,5], t: int64[n,4]", "y = negative_log_likelihood_loss(x, t)", "error 4"},
      {"x: float32[n,c], t: int64[n,4]", "y = negative_log_likelihood_loss(x, t)", "error rank 1"},
      {"x: float32[n,3], t: int64[n], w: float32[4]", "y = negative_log_likelihood_loss(x, t, w)",
       "error one number a class"},
      {"x: float32[n,3], t: float32[n]", "y = negative_log_likelihood_loss(x, t)", "error integer"},
      {"x: float32[n,c,h], t: int64[n,h]", "y, z = softmax_cross_entropy_loss(x, t)",
       "float32[]; float32[n,c,h]", "y, z"},
  };
  for (const auto& row : rows) {
    ExpectText(InferText(row.inputs, row.lines, row.outputs), row.want, row.lines);
  }
}

}  // namespace
}  // namespace x2ir
