// Calls with complex tensors: results by hand, and what is refused. What PyTorch itself gives is in
// tests/torch (torch-complex-cases).
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/handlers/torch/calls_util.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/handlers/torch/prepare.h"

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
      {kZ, "y: complex64[2] = torch.aten::tanh.default(a) { operands = [\"self\"] }", "y",
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
