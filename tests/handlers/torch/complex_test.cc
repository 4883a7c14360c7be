// Calls with complex tensors: results by hand and of the C++ library, and what is refused. What
// PyTorch itself gives is in tests/torch (torch-complex-cases).
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/torch/calls_util.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/torch/prepare.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

constexpr std::string_view kZ = "a = complex64[2]{(3, 4), (0, -2)}";

// Complex results are handed out as pairs.
TEST(TorchComplex, Calls) {
  const CallRow rows[] = {
      {kZ, "y: float32[2] = torch.aten::abs.default(a) { operands = [\"self\"] }", "y",
       "float32[2]{5, 2}"},
      {kZ, "y: complex64[2] = torch.aten::_conj.default(a) { operands = [\"self\"] }", "y",
       "float32[2,2]{3, -4, 0, 2}"},
      {kZ, "y: float32[2] = torch.aten::imag.default(a) { operands = [\"self\"] }", "y",
       "float32[2]{4, -2}"},
      {kZ, "y: float32[2,2] = torch.aten::view_as_real.default(a) { operands = [\"self\"] }", "y",
       "float32[2,2]{3, 4, 0, -2}"},
      {kZ, "y: complex64[2] = torch.aten::mul.Tensor(a, a) { operands = [\"self\", \"other\"] }",
       "y", "float32[2,2]{-7, 24, -4, -0}"},
      {kZ,
       "y: complex64[2] = torch.aten::add.Tensor(a) { operands = [\"self\"], "
       "other = tensor(complex128[]{(1, 1)}) }",
       "y", "float32[2,2]{4, 5, 1, -1}"},
      {kZ, "y: bool[2] = torch.aten::isreal.default(a) { operands = [\"self\"] }", "y",
       "bool[2]{false, false}"},
      {kZ,
       "y: float32[2] = torch.aten::to.dtype(a) { operands = [\"self\"], "
       "dtype = type(float32[]) }",
       "y", "float32[2]{3, 0}"},
      {"a = complex64[2]{(0, 0), (0, -2)}",
       "y: bool[2] = torch.aten::to.dtype(a) { operands = [\"self\"], dtype = type(bool[]) }", "y",
       "bool[2]{false, true}"},
      {"a = float32[2]{3, 0}",
       "y: complex64[2] = torch.aten::to.dtype(a) { operands = [\"self\"], "
       "dtype = type(complex64[]) }",
       "y", "float32[2,2]{3, 0, 0, 0}"},
      {kZ, "y: complex64[] = torch.aten::vdot.default(a, a) { operands = [\"self\", \"other\"] }",
       "y", "float32[2]{29, 0}"},
      {"a = float32[2,1]{1, 2}\n b = float32[2]{3, 4}",
       "y: complex64[2,2] = torch.aten::complex.default(a, b) "
       "{ operands = [\"real\", \"imag\"] }",
       "y", "float32[2,2,2]{1, 3, 1, 4, 2, 3, 2, 4}"},
      {"a = complex64[0,2]{}",
       "y: complex64[2,0] = torch.aten::mH.default(a) { operands = [\"self\"] }", "y",
       "float32[2,0,2]{}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchComplex, SumsAndNorms) {
  const CallRow rows[] = {
      {"a = complex64[2,2]{(1, 0), (0, 1), (2, 0), (0, 0)}",
       "y: complex64[2,2] = torch.aten::cov.default(a) { operands = [\"self\"] }", "y",
       "float32[2,2,2]{1, 0, 1, -1, 1, 1, 2, 0}"},
      {"a = complex64[2]{(0, 1), (3, 0)}\n b = float32[2]{0, 2}",
       "y: complex64[] = torch.aten::trapz.x(a, b) { operands = [\"y\", \"x\"] }", "y",
       "float32[2]{3, 1}"},
      {"a = complex64[3]{(0, 1), (3, 0), (1, 0)}",
       "y: complex64[2] = torch.aten::cumulative_trapezoid.dx(a) { operands = [\"y\"], dx = 2 }",
       "y", "float32[2,2]{3, 1, 7, 1}"},
      {"a = complex64[2]{(0, 3), (0, 0)}\n b = complex64[2]{(0, 0), (4, 0)}",
       "y: float32[] = torch.aten::dist.default(a, b) { operands = [\"self\", \"other\"] }", "y",
       "float32[]{5}"},
      {"a = complex64[2,2]{(0, 3), (0, 0), (4, 0), (0, 0)}",
       "y: complex64[2,2] = torch.aten::renorm.default(a) { operands = [\"self\"], p = 2, dim = 0, "
       "maxnorm = 16 }",
       "y", "float32[2,2,2]{0, 3, 0, 0, 4, 0, 0, 0}"},
      // By the mean of squares, which are complex.
      {"a = complex64[2]{(0, 3), (1, 0)}",
       "y: complex64[2] = torch.aten::rms_norm.default(a) { operands = [\"input\"], "
       "normalized_shape = [2], eps = 0d }",
       "y", "float32[2,2]{1.5, 0, 0, -0.5}"},
      {"a = complex64[1,1,2,2]{(0, 1), (2, 0), (3, 0), (4, 5)}",
       "y: complex64[1,1,4] = torch.aten::im2col.default(a) { operands = [\"self\"], kernel_size = "
       "[1, 1], dilation = [1, 1], padding = [0, 0], stride = [1, 1] }",
       "y", "float32[1,1,4,2]{0, 1, 2, 0, 3, 0, 4, 5}"},
      {"",
       "y: complex64[3] = torch.aten::logspace.default() { operands = []:strings, start = 0, end = "
       "2, steps = 3, base = 2d, dtype = type(complex64[]) }",
       "y", "float32[3,2]{1, 0, 2, 0, 4, 0}"},
      {"",
       "y: complex64[3] = torch.aten::logspace.default() { operands = []:strings, start = 0, end = "
       "2, steps = 3, base = -2d, dtype = type(complex64[]) }",
       "y", "error complex powers of -2"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchComplex, Matrices) {
  const CallRow rows[] = {
      {"a = complex64[2,2]{(0, 1), (0, 0), (0, 0), (2, 0)}\n b = complex64[2,1]{(1, 0), (0, 4)}",
       "y: complex64[2,1] = torch.aten::linalg_solve.default(a, b) { operands = [\"A\", \"B\"] }",
       "y", "float32[2,1,2]{0, -1, 0, 2}"},
      {"a = complex64[2,2]{(0, 0), (0, 1), (2, 0), (0, 0)}",
       "y: complex64[] = torch.aten::linalg_det.default(a) { operands = [\"A\"] }", "y",
       "float32[2]{-0, -2}"},
      {"a = complex64[2,2]{(0, 0), (0, 1), (1, 0), (0, 0)}",
       "y, z: complex64[], float32[] = torch.aten::linalg_slogdet.default(a) { operands = [\"A\"] "
       "}",
       "y, z", "float32[2]{-0, -1}; float32[]{0}"},
      // The pivot has the largest |re| + |im|, not the largest absolute value.
      {"a = complex64[2,2]{(1.25, 0), (0, 0), (1, 0.5), (1, 0)}",
       "y, z, w: complex64[2,2], int32[2], int32[] = torch.aten::linalg_lu_factor_ex.default(a) { "
       "operands = [\"A\"] }",
       "y, z, w", "float32[2,2,2]{1, 0.5, 1, 0, 1, -0.5, -1, 0.5}; int32[2]{2, 2}; int32[]{0}"},
      {"a = complex64[2,2]{(1, 0), (1, 0), (1, 0), (1, 0)}",
       "y, z: complex64[2,2], int32[] = torch.aten::linalg_inv_ex.default(a) { operands = [\"A\"] "
       "}",
       "z", "int32[]{2}"},
      // Of the lower triangle, or of the upper one.
      {"a = complex64[2,2]{(4, 9), (7, 0), (0, 2), (5, 9)}",
       "y: complex64[2,2] = torch.aten::linalg_cholesky.default(a) { operands = [\"self\"] }", "y",
       "float32[2,2,2]{2, 0, 0, 0, 0, 1, 2, 0}"},
      {"a = complex64[2,2]{(4, 0), (0, 2), (7, 0), (5, 0)}",
       "y: complex64[2,2] = torch.aten::linalg_cholesky.default(a) { operands = [\"self\"], upper "
       "= "
       "tensor(bool[]{true}) }",
       "y", "float32[2,2,2]{2, -0, 0, 1, 0, -0, 2, -0}"},
      {"a = complex64[2,2]{(0, 3), (0, 0), (0, 0), (4, 0)}",
       "y: float32[] = torch.aten::linalg_matrix_norm.str_ord(a) { operands = [\"self\"], ord = "
       "\"nuc\" }",
       "y", "float32[]{7}"},
      {"a = complex64[2,2]{(3, 4), (0, 0), (0, 0), (4, 0)}",
       "y: float32[] = torch.aten::linalg_matrix_norm.default(a) { operands = [\"self\"], ord = 1 "
       "}",
       "y", "float32[]{5}"},
      {"a = complex64[2,2]{(0, 3), (0, 0), (0, 0), (4, 0)}",
       "y: float32[2] = torch.aten::linalg_svdvals.default(a) { operands = [\"A\"] }", "y",
       "float32[2]{4, 3}"},
      {"a = complex64[2,1]{(0, 2), (0, 0)}",
       "y: complex64[1,2] = torch.aten::linalg_pinv.default(a) { operands = [\"self\"] }", "y",
       "float32[1,2,2]{0, -0.5, 0, 0}"},
      {"a = complex64[2,2]{(1, 0), (0, 1), (0, 1), (-1, 0)}",
       "y: int64[] = torch.aten::linalg_matrix_rank.default(a) { operands = [\"self\"], tol = "
       "0.0001d }",
       "y", "int64[]{1}"},
      {kZ, "y: float32[] = torch.aten::linalg_norm.default(a) { operands = [\"self\"], ord = 1 }",
       "y", "float32[]{7}"},
      {"a = complex64[2,2]{(1, 0), (0, 1), (0, 1), (-1, 0)}",
       "y, z: complex64[2,2], complex64[2] = torch.aten::geqrf.default(a) { operands = [\"self\"] "
       "}",
       "y", "error of complex numbers"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

// --- Functions against the C++ library's, in float64
// ----------------------------------------------

using Number = std::complex<double>;

std::vector<Number> CallOfNumbers(const std::string& op, const std::vector<Number>& points) {
  auto model = ModelFromText(
      StrCat("graph g(x: float64[n], y: float64[n]) -> (r) {\n"
             "z: complex128[n] = torch.aten::complex.default(x, y) { operands = [\"real\", "
             "\"imag\"] }\n"
             "w: complex128[n] = torch.aten::",
             op, ".default(z) { operands = [\"self\"] }\n",
             "r: float64[n,2] = torch.aten::view_as_real.default(w) { operands = [\"self\"] }\n}"),
      "torch", 1, {{"aten", 1}});
  EXPECT_TRUE(model.ok()) << model.status();
  const absl::Status converted = ToIr(*model, {});
  EXPECT_TRUE(converted.ok()) << op << ": " << converted;
  if (!converted.ok()) return {};
  const int64_t n = static_cast<int64_t>(points.size());
  Tensor x = Tensor::Zeros(DType::kFloat64, {n}), y = Tensor::Zeros(DType::kFloat64, {n});
  for (size_t i = 0; i < points.size(); ++i) {
    x.mutable_span<double>()[i] = points[i].real();
    y.mutable_span<double>()[i] = points[i].imag();
  }
  auto out = RunGraph(*model->graph, {Datum(x), Datum(y)});
  EXPECT_TRUE(out.ok()) << op << ": " << out.status();
  std::vector<Number> numbers;
  for (int64_t i = 0; out.ok() && i < n; ++i) {
    const Tensor& r = *(*out)[0].tensor();
    numbers.emplace_back(r.AsDouble(2 * i), r.AsDouble(2 * i + 1));
  }
  return numbers;
}

// The signs of zeros choose the side of a cut.
TEST(TorchComplex, Functions) {
  std::vector<Number> points;
  for (const double size : {1e-8, 0.25, 0.99, 1.01, 2.0, 30.0, 250.0}) {
    for (const double angle : {0.1, 0.7, 1.5, 1.6, 2.4, 3.1}) {
      points.push_back(std::polar(size, angle));
      points.push_back(std::polar(size, -angle));
    }
    for (const double zero : {0.0, -0.0}) {
      for (const double x : {size, -size}) {
        points.emplace_back(x, zero);
        points.emplace_back(zero, x);
      }
    }
  }
  points.emplace_back(0, 0);
  const struct {
    std::string op;
    Number (*want)(Number);
  } rows[] = {
      {"tan", [](Number z) { return std::tan(z); }},
      {"tanh", [](Number z) { return std::tanh(z); }},
      {"asin", [](Number z) { return std::asin(z); }},
      {"acos", [](Number z) { return std::acos(z); }},
      {"atan", [](Number z) { return std::atan(z); }},
      {"asinh", [](Number z) { return std::asinh(z); }},
      {"acosh", [](Number z) { return std::acosh(z); }},
      {"atanh", [](Number z) { return std::atanh(z); }},
      {"exp2", [](Number z) { return std::exp(z * std::log(2.0)); }},
      {"expm1", [](Number z) { return std::abs(z) < 1e-6 ? z + z * z / 2.0 : std::exp(z) - 1.0; }},
      {"log1p", [](Number z) { return std::abs(z) < 1e-6 ? z - z * z / 2.0 : std::log(1.0 + z); }},
      {"silu", [](Number z) { return z / (1.0 + std::exp(-z)); }},
  };
  for (const auto& row : rows) {
    const std::vector<Number> got = CallOfNumbers(row.op, points);
    for (size_t i = 0; i < got.size(); ++i) {
      const Number want = row.want(points[i]);
      const double scale = std::max(std::abs(want), 1e-300);
      EXPECT_LT(std::abs(got[i] - want) / scale, 1e-13)
          << row.op << points[i] << ": " << got[i] << ", not " << want;
    }
  }
  // Where exp(-z) has no number: the limit.
  EXPECT_EQ(CallOfNumbers("silu", {{-1000, 1}})[0], Number(0));
}

// The imaginary part is not reduced to one turn: it is that of the larger number and what the
// other one adds.
TEST(TorchComplex, LogAddExp) {
  constexpr std::string_view kCall =
      "y: complex64[3] = torch.aten::logaddexp.default(a, b) { operands = [\"self\", \"other\"] }";
  const CallRow rows[] = {
      {"a = complex64[3]{(100, 7), (0, 0), (-inf, 1)}\n b = complex64[3]{(0, 1), (-900, 9), (2, "
       "3)}",
       kCall, "y", "float32[3,2]{100, 7, 0, 0, 2, 3}"},
      {"a = complex64[3]{(-inf, 1), (inf, 1), (nan, 0)}\n "
       "b = complex64[3]{(-inf, 2), (0, 0), (0, 0)}",
       kCall, "y", "float32[3,2]{-inf, 2, inf, 1, nan, nan}"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchComplex, Transforms) {
  constexpr std::string_view kX = "a = float32[4]{1, 2, 3, 4}";
  const CallRow rows[] = {
      {kX, "y: complex64[3] = torch.aten::fft_rfft.default(a) { operands = [\"self\"] }", "y",
       "float32[3,2]{10, 0, -2, 2, -2, 0}"},
      {kX,
       "y: complex64[3] = torch.aten::fft_ihfft.default(a) "
       "{ operands = [\"self\"], norm = \"forward\" }",
       "y", "float32[3,2]{10, -0, -2, -2, -2, -0}"},
      {kX,
       "y: complex64[2] = torch.aten::fft_fft.default(a) { operands = [\"self\"], n = 2, "
       "norm = \"forward\" }",
       "y", "float32[2,2]{1.5, 0, -0.5, 0}"},
      {"a = complex64[3]{(10, 0), (-2, 2), (-2, 0)}",
       "y: float32[4] = torch.aten::_fft_c2r.default(a) { operands = [\"self\"], dim = [0], "
       "normalization = 2, last_dim_size = 4 }",
       "y", "float32[4]{1, 2, 3, 4}"},
      // The imaginary parts of the first one and the middle one count for nothing.
      {"a = complex64[3]{(10, 5), (-2, 2), (-2, 7)}",
       "y: float32[4] = torch.aten::fft_irfft.default(a) { operands = [\"self\"] }", "y",
       "float32[4]{1, 2, 3, 4}"},
      {kX,
       "y: complex64[2,2] = torch.aten::stft.default(a) { operands = [\"self\"], n_fft = 2, "
       "hop_length = 2, return_complex = tensor(bool[]{true}) }",
       "y", "float32[2,2,2]{3, 0, 7, 0, -1, 0, -1, 0}"},
      {kX, "y: complex64[0] = torch.aten::fft_fft.default(a) { operands = [\"self\"], n = 0 }", "y",
       "error a transform of 0 elements"},
      {"a = float32[]{1}",
       "y: complex64[] = torch.aten::fft_fft.default(a) { operands = [\"self\"] }", "y", "error "},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

TEST(TorchComplex, Refused) {
  const CallRow rows[] = {
      {kZ,
       "e: complex64[2] = torch.aten::empty_like.default(a) { operands = [\"self\"] }\n"
       "y: float32[2,2] = torch.aten::view_as_real.default(e) { operands = [\"self\"] }",
       "y", "error nothing is written to"},
      {kZ, "y: complex64[2] = torch.aten::hardtanh.default(a) { operands = [\"self\"] }", "y",
       "error of complex numbers"},
      {kZ, "y: complex64[] = torch.aten::prod.default(a) { operands = [\"self\"] }", "y",
       "error of complex numbers"},
      {kZ, "y: complex64[2] = torch.aten::nan_to_num.default(a) { operands = [\"self\"] }", "y",
       "error of complex numbers"},
      {"a = float16[2]{1, 2}",
       "y: complex64[] = torch.aten::view_as_complex.default(a) { operands = [\"self\"] }", "y",
       "error complex numbers of float16"},
      {"a = float32[4]{1, 2, 3, 4}",
       "y: complex64[2,2] = torch.aten::stft.default(a) { operands = [\"self\"], n_fft = 2, "
       "hop_length = 2, align_to_window = tensor(bool[]{true}) }",
       "y", "error align_to_window"},
  };
  for (const CallRow& row : rows) ExpectCall(row);
}

// Inputs and outputs keep their names and order; types say that they are pairs.
TEST(TorchComplex, Ports) {
  auto graph = ParseGraph(R"(graph g(x: float32[n], z: complex64[n,3], w: complex128[...]) ->
      (y: complex64[n,3], w: complex128[...], y: complex64[n,3], x: float32[n]) {
         y: complex64[n,3] = torch.aten::exp.default(z) { operands = ["self"] }
       })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  Model model;
  model.graph = *std::move(graph);
  std::vector<std::string> warnings;
  ASSERT_TRUE(ComplexPortsAsPairs(model, warnings).ok());
  EXPECT_TRUE(model.graph->Validate().empty());
  std::string ports;
  for (const Value* v : model.graph->inputs()) ports += v->type().ToString() + " ";
  for (const Value* v : model.graph->outputs()) {
    ports += std::string(v->name()) + ": " + v->type().ToString() + " ";
  }
  EXPECT_EQ(ports,
            "float32[n] float32[n,3,2] float64[...] y: float32[n,3,2] w_complex: float64[...] "
            "y: float32[n,3,2] x: float32[n] ");
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_EQ(warnings[0],
            "input 'z' of the program is complex64[n,3]; of the model it is float32[n,3,2], whose "
            "last axis has the real and the imaginary part");
}

}  // namespace
}  // namespace x2ir
