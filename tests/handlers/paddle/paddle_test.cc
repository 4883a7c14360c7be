// PaddlePaddle's operators on small constants (tests/data/paddle/rows.txt, which rows.py
// makes with NumPy and PyTorch by Paddle's documentation).
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/handlers/constant_rows_util.h"
#include "tests/handlers/rows_file_util.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/paddle/names.h"

namespace x2ir {
namespace {

TEST(PaddleOps, DialectIsValid) { EXPECT_THAT(ValidateDialect("paddle"), ::testing::IsEmpty()); }

TEST(PaddleOps, Values) {
  ExpectRowsOfAll("paddle",
                  {
                      {"bernoulli", "gives numbers by chance"},
                      {"gaussian_random", "gives numbers by chance"},
                      {"multinomial", "gives numbers by chance"},
                      {"randint", "gives numbers by chance"},
                      {"randperm", "gives numbers by chance"},
                      {"uniform_random", "gives numbers by chance"},
                      {"conditional_block", "has blocks of its own"},
                      {"create_array", "of tensor arrays, which are no tensors"},
                      {"if", "has blocks of its own"},
                      {"lod_array_length", "of tensor arrays, which are no tensors"},
                      {"read_from_array", "of tensor arrays, which are no tensors"},
                      {"select_input", "has blocks of its own"},
                      {"tensor_array_to_tensor", "of tensor arrays, which are no tensors"},
                      {"while", "has blocks of its own"},
                      {"write_to_array", "of tensor arrays, which are no tensors"},
                      {"c_allreduce_max", "of several devices"},
                      {"c_allreduce_sum", "of several devices"},
                      {"c_sync_calc_stream", "of several devices"},
                      {"c_sync_comm_stream", "of several devices"},
                      {"mp_allreduce_sum", "of several devices"},
                      {"empty", "gives whatever stands in memory"},
                      {"as_complex", "below"},
                      {"as_real", "below"},
                      {"complex", "below"},
                      {"imag", "below"},
                      {"angle", "below"},
                      {"fft_c2c", "below"},
                      {"fft_c2r", "below"},
                      {"fft_r2c", "below"},
                      {"qr", "below"},
                      {"stft", "below"},
                  },
                  SlotsOfRow);
}

// Operators whose results are not the only ones, or are complex: several of them in a row.
TEST(PaddleOps, Together) {
  const ConstantRow rows[] = {
      {"a = float32[2]{1, 2}\nb = float32[2]{3, 4}\n"
       "z = paddle.complex(a, b) { operand_slots = [\"X\", \"Y\"], result_slots = [\"Out\"] }\n"
       "c = paddle.conj(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "r = paddle.real(c) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "i = paddle.imag(c) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "r, i", "float32[2]{1, 2}; float32[2]{-3, -4}"},
      {"a = float32[1,2]{3, 4}\n"
       "z = paddle.as_complex(a) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "m = paddle.abs(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "p = paddle.as_real(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "m, p", "float32[1]{5}; float32[1,2]{3, 4}"},
      {"a = float32[4]{1, 2, 3, 4}\n"
       "z = paddle.fft_r2c(a) { operand_slots = [\"X\"], result_slots = [\"Out\"], axes = [0], "
       "normalization = \"backward\", forward = 1, onesided = 1 }\n"
       "p = paddle.as_real(z) { operand_slots = [\"X\"], result_slots = [\"Out\"] }\n"
       "b = paddle.fft_c2r(z) { operand_slots = [\"X\"], result_slots = [\"Out\"], axes = [0], "
       "normalization = \"backward\", forward = 0, last_dim_size = 4 }\n"
       "q = paddle.round(b) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "p, q", "float32[3,2]{10, 0, -2, 2, -2, 0}; float32[4]{1, 2, 3, 4}"},
      {"a = float32[2,2]{3, 0, 4, 5}\n"
       "q, t = paddle.qr(a) { operand_slots = [\"X\"], result_slots = [\"Q\", \"R\"], mode = "
       "\"reduced\" }\n"
       "m = paddle.matmul_v2(q, t) { operand_slots = [\"X\", \"Y\"], result_slots = [\"Out\"] }\n"
       "p = paddle.round(m) { operand_slots = [\"X\"], result_slots = [\"Out\"] }",
       "p", "float32[2,2]{3, 0, 4, 5}"},
  };
  ExpectConstantRows(rows, "paddle");
}

// Of 3 + 4i.
TEST(PaddleOps, ComplexNumbers) {
  struct Case {
    std::string op, attrs, real, imag;
  };
  std::vector<ConstantRow> rows;
  const std::string z =
      "a = float32[1]{3}\nb = float32[1]{4}\n"
      "z = paddle.complex(a, b) { operand_slots = [\"X\", \"Y\"], result_slots = [\"Out\"] }\n";
  const std::string slots = " { operand_slots = [\"X\"], result_slots = [\"Out\"]";
  for (const auto& [op, attrs, real, imag] : std::vector<Case>{
           {"sign", "", "0.6", "0.8"},
           {"square", "", "-7", "24"},
           {"sqrt", "", "2", "1"},
           {"rsqrt", "", "0.4", "-0.2"},
           {"reciprocal", "", "0.12", "-0.16"},
           {"pow", ", factor = 2.0", "-7", "24"},
           {"scale", ", scale = 2.0, bias = 1.0", "7", "8"},
           {"scale", ", scale = 2.0, bias = 1.0, bias_after_scale = 0", "8", "8"},
           {"log", "", "1.609438", "0.92729527"},
           {"log2", "", "2.321928", "1.3378043"},
           {"log10", "", "0.69897", "0.4027192"},
           {"exp", "", "-13.128783", "-15.200785"},
           {"reduce_sum", ", reduce_all = 1, keep_dim = 1", "3", "4"},
       }) {
    rows.push_back({z + "y = paddle." + op + "(z)" + slots + attrs + " }\nr = paddle.real(y)" +
                        slots + " }\ni = paddle.imag(y)" + slots + " }",
                    "r, i", "float32[1]{" + real + "}; float32[1]{" + imag + "}"});
  }
  rows.push_back({z + "y = paddle.isfinite_v2(z)" + slots + " }", "y", "bool[1]{true}"});
  rows.push_back({z + "y = paddle.isnan_v2(z)" + slots + " }", "y", "bool[1]{false}"});
  for (const std::string op : {"tan", "atan", "relu", "cumprod", "sequence_pool"}) {
    rows.push_back(
        {z + "y = paddle." + op + "(z)" + slots + " }", "y", "error of complex numbers"});
  }
  ExpectConstantRows(rows, "paddle");
}

// Numbers of a file that no program has: an error, whatever they are.
TEST(PaddleOps, NumbersThatCannotBe) {
  const std::string image = "x = float32[1,4,4,4]{" + [] {
    std::string zeros = "0";
    for (int i = 1; i < 64; ++i) zeros += ", 0";
    return zeros;
  }() + "}\n";
  const std::string slots = "operand_slots = [\"X\"], result_slots = [\"Out\"], ";
  const std::string map =
      "operand_slots = [\"Input\", \"Image\"], result_slots = [\"Boxes\", "
      "\"Variances\"], ";
  std::vector<ConstantRow> rows;
  for (const std::string& line : std::vector<std::string>{
           "pool2d(x) { " + slots + "ksize = [2, 2], strides = []:ints, ceil_mode = 1 }",
           "pool2d(x) { " + slots + "ksize = [2, 2], strides = [0, 1], ceil_mode = 1 }",
           "pool2d(x) { " + slots +
               "ksize = [2], strides = [1, 1], paddings = [9223372036854775807] }",
           "max_pool2d_with_index(x) { " + slots + "ksize = [2, 2], strides = [1] }",
           "split(x) { " + slots + "num = 2147483648 }",
           "frame(x) { " + slots + "frame_length = 1099511627776, hop_length = 1 }",
           "matrix_power(x) { " + slots + "n = -9223372036854775808 }",
           "temporal_shift(x) { " + slots + "seg_num = 0 }",
           "temporal_shift(x) { " + slots + "seg_num = 1, shift_ratio = nan }",
           "shuffle_channel(x) { " + slots + "group = 0 }",
           "space_to_depth(x) { " + slots + "blocksize = 0 }",
           "prior_box(x, x) { " + map + "min_sizes = [4.0], variances = []:floats }",
           "density_prior_box(x, x) { " + map +
               "fixed_sizes = [4.0], fixed_ratios = [1.0], densities = [1], variances = []:floats "
               "}",
           std::string(
               "set_value(x) { operand_slots = [\"Input\"], result_slots = [\"Out\"], axes = [1], "
               "starts = [1], ends = [3], steps = [1], shape = [1, -7], fp32_values = [7.0] }"),
       }) {
    const bool two = line.find("(x, x)") != line.npos;
    rows.push_back({image + (two ? "y, v" : "y") + " = paddle." + line, two ? "y, v" : "y",
                    "error cannot convert"});
  }
  ExpectConstantRows(rows, "paddle");
}

// The numbers of images, whatever axes they have.
TEST(PaddleOps, SlopesOfElements) {
  std::vector<ConstantRow> rows;
  for (const std::string axes : {"1,2,2", "2,2", "4", "1,4", "4,1,1,1"}) {
    rows.push_back({"x = float32[2,2,2]{-1, -1, -1, -1, 5, -2, 6, -2}\ns = float32[" + axes +
                        "]{1, 2, 3, 4}\n"
                        "y = paddle.prelu(x, s) { operand_slots = [\"X\", \"Alpha\"], "
                        "result_slots = [\"Out\"], mode = \"element\" }",
                    "y", "float32[2,2,2]{-1, -2, -3, -4, 5, -4, 6, -8}"});
  }
  ExpectConstantRows(rows, "paddle");
}

// SAME says how many windows there are: ceil_mode adds none, unless it is beyond the input.
TEST(PaddleOps, RoundedUpPoolsOfSame) {
  const std::string odd = "x = float32[1,1,3,3]{9, 18, 27, 36, 45, 54, 63, 72, 81}\n";
  const std::string even = "x = float32[1,1,2,2]{1, 2, 3, 4}\n";
  std::vector<ConstantRow> rows;
  struct Row {
    std::string x, type, window, want;
  };
  for (const auto& [x, type, window, want] : std::vector<Row>{
           {odd, "avg", "ksize = [3, 3], exclusive = 0", "float32[1,1,2,2]{12, 16, 24, 28}"},
           {odd, "avg", "ksize = [3, 3], exclusive = 1", "float32[1,1,2,2]{27, 36, 54, 63}"},
           {odd, "max", "ksize = [3, 3], exclusive = 1", "float32[1,1,2,2]{45, 54, 72, 81}"},
           {odd, "avg", "ksize = [1, 1], exclusive = 0", "float32[1,1,2,2]{9, 27, 63, 81}"},
           {odd, "max", "ksize = [1, 1], exclusive = 1", "float32[1,1,2,2]{9, 27, 63, 81}"},
           {even, "avg", "ksize = [2, 2], exclusive = 0", "float32[1,1,1,1]{2.5}"},
           {even, "avg", "ksize = [2, 1], exclusive = 0", "error ceil_mode of SAME"},
           {even, "max", "ksize = [1, 1], exclusive = 1", "error ceil_mode of SAME"},
       }) {
    rows.push_back({x +
                        "y = paddle.pool2d(x) { operand_slots = [\"X\"], result_slots = [\"Out\"], "
                        "padding_algorithm = \"SAME\", ceil_mode = 1, strides = [2, 2], "
                        "pooling_type = \"" +
                        type + "\", " + window + " }",
                    "y", want});
  }
  ExpectConstantRows(rows, "paddle");
}

TEST(PaddleOps, RotaryPositionsThatCannotBe) {
  const std::string q = "q = float32[1,2,1,2]{1, 2, 3, 4}\n", odd = "q = float32[1,1,1,1]{1}\n";
  const std::string flat = "q = float32[2]{1, 2}\n";
  const std::string table = "s = float32[2,2]{1, 2, 3, 4}\n";
  const std::string three = "s = float32[3,2]{1, 2, 3, 4, 5, 6}\n", ids = "i = int64[1,2]{0, 1}\n";
  const auto call = [](const std::string& operands, const std::string& slots,
                       const std::string& attrs = "") {
    return "y = paddle.fused_rotary_position_embedding(" + operands + ") { operand_slots = [" +
           slots + "], result_slots = [\"out_q\"]" + attrs + " }";
  };
  ExpectConstantRows(
      {
          {q + ids + call("q, i", R"("q", "position_ids")"), "y",
           "error position_ids without sin and cos"},
          {q + table + call("q, s", R"("q", "sin")"), "y", "error sines without cosines"},
          {q + table + call("q, s", R"("q", "cos")"), "y", "error sines without cosines"},
          {q + three + call("q, s, s", R"("q", "sin", "cos")"), "y",
           "error sines of other positions"},
          {odd + call("q", R"("q")"), "y", "error heads of an odd size"},
          {flat + call("q", R"("q")"), "y", "error queries of other axes"},
          {q + "k = float32[2]{1, 2}\n" + call("q, k", R"("q", "k")"), "y",
           "error keys or values of other axes"},
          {q + call("q", R"("q")", ", rotary_emb_base = -1.0"), "y", "error rotary_emb_base"},
      },
      "paddle");
}

TEST(PaddleOps, NamesAreInOrder) {
  const auto names = AllPirNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end(),
                             [](const auto& a, const auto& b) { return a.pir < b.pir; }));
  EXPECT_EQ(FindPirName("relu_"), FindPirName("relu"));
  EXPECT_EQ(FindPirName("add")->program, "elementwise_add");
  EXPECT_EQ(FindPirName("no_such"), nullptr);
}

}  // namespace
}  // namespace x2ir
