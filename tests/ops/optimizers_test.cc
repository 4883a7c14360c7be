// adagrad, adam, momentum: values checked by hand (ONNX's own cases check more), inference.
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

// x = 1 and 2, g = 3 and -4, state 7 and 0; the first step.
#define STEP                                                                      \
  "r = float32[]{0.5}\n t = int64[]{0}\n a = float32[]{1}\n b = float64[1]{2}\n " \
  "ga = float32[]{3}\n gb = float64[1]{-4}\n sa = float32[]{7}\n sb = float64[1]{0}\n "

TEST(Optimizers, Eval) {
  const EvalRow rows[] = {
      // 7 + 3 * 3 = 16: 1 - 0.5 * 3 / 4.
      {STEP "y, z, u, w = adagrad(r, t, a, b, ga, gb, sa, sb) { epsilon = 0.0 }",
       "float32[]{0.625}; float64[1]{2.5}; float32[]{16}; float64[1]{16}", "y, z, u, w"},
      // The rate is 0.5 / (1 + 4 * 0.25); the gradient 3 + 1 * 1.
      {"r = float32[1]{0.5}\n t = int64[1]{4}\n x = float32[1]{1}\n g = float32[1]{3}\n "
       "h = float32[1]{9}\n y, z = adagrad(r, t, x, g, h) "
       "{ decay_factor = 0.25, epsilon = 1.0, norm_coefficient = 1.0 }",
       "float32[1]{0.8333333}; float32[1]{25}", "y, z"},
      {STEP "y, z, u, w = momentum(r, t, a, b, ga, gb, sa, sb) "
            "{ alpha = 0.5, beta = 0.25, mode = \"standard\", norm_coefficient = 0.0 }",
       "float32[]{-2.25}; float64[1]{4}; float32[]{6.5}; float64[1]{-4}", "y, z, u, w"},
      // beta counts from the second step on: 0.5 * 7 + 0.25 * 3.
      {"r = float64[]{0.5}\n t = int64[]{1}\n x = float32[]{1}\n g = float32[]{3}\n "
       "v = float32[]{7}\n y, z = momentum(r, t, x, g, v) "
       "{ alpha = 0.5, beta = 0.25, mode = \"nesterov\", norm_coefficient = 0.0 }",
       "float32[]{-1.5625}; float32[]{4.25}", "y, z"},
      // v = 0.5 * 2 + 0.5 * 4, h = 0.75 * 0 + 0.25 * 16, before the first step without correction.
      {"r = float32[]{0.5}\n t = int64[]{0}\n x = float32[]{1}\n g = float32[]{4}\n "
       "v = float32[]{2}\n h = float32[]{0}\n y, z, u = adam(r, t, x, g, v, h) "
       "{ alpha = 0.5, beta = 0.75, epsilon = 1.0, norm_coefficient_post = 0.5 }",
       "float32[]{0.25}; float32[]{3}; float32[]{4}", "y, z, u"},
      // After one step: sqrt(1 - 0.75) / (1 - 0.5) = 1.
      {"r = float32[]{0.5}\n t = int64[]{1}\n x = float32[2]{1, 1}\n g = float32[2]{4, 4}\n "
       "v = float32[2]{2, 2}\n h = float32[2]{0, 0}\n y = adam(r, t, x, g, v, h) "
       "{ alpha = 0.5, beta = 0.75, epsilon = 1.0 }",
       "float32[2]{0.5, 0.5}"},
      {"r = float32[]{0.5}\n t = int64[]{1}\n x = float32[0]{}\n "
       "y, z = adagrad(r, t, x, x, x)",
       "float32[0]{}; float32[0]{}", "y, z"},
      {"r = float32[]{0.5}\n t = int64[]{1}\n x = float32[1]{1}\n y = adagrad(r, t, x, x, x, x)",
       "error for each variable"},
      {"r = float32[]{0.5}\n t = int64[]{1}\n x = float32[1]{1}\n z = float32[2]{1, 2}\n "
       "y = adagrad(r, t, x, z, x)",
       "error "},
      {"r = float32[2]{1, 2}\n t = int64[]{1}\n x = float32[1]{1}\n y = adagrad(r, t, x, x, x)",
       "error one float"},
      {"r = float32[]{1}\n t = float32[]{1}\n x = float32[1]{1}\n y = adagrad(r, t, x, x, x)",
       "error t"},
      {"r = float32[]{1}\n t = int64[]{1}\n x = int32[1]{1}\n y = adagrad(r, t, x, x, x)",
       "error float"},
      {"r = float32[]{1}\n t = int64[]{1}\n x = float32[1]{1}\n y = momentum(r, t, x, x, x) "
       "{ alpha = 0.5, beta = 0.25, mode = \"other\", norm_coefficient = 0.0 }",
       "error mode"},
  };
  ExpectRows(rows);
}

}  // namespace
}  // namespace x2ir
