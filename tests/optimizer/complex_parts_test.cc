// Complex numbers as their parts: what graphs compute, by hand and by std::complex; what is
// refused.
#include "x2ir/optimizer/complex_parts.h"

#include <complex>
#include <string>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using C = std::complex<double>;

bool HasComplexValue(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    for (const Value* output : node->outputs()) {
      if (output && IsComplex(output->dtype())) return true;
    }
  }
  return false;
}

// The two numbers of "y", the parts of one complex number.
absl::StatusOr<C> PartsFrom(std::string_view lines) {
  const std::string text =
      StrCat(lines, "\n re = real(z)\n im = imag(z)\n u = int64[1]{0}\n",
             "a1 = unsqueeze(re, u)\n b1 = unsqueeze(im, u)\n", "y = concat(a1, b1) { axis = 0 }");
  X2IR_ASSIGN_OR_RETURN(const auto graph, ParseIr("", text, "y"));
  X2IR_RETURN_IF_ERROR(SplitComplexNumbers(*graph));
  if (HasComplexValue(*graph)) return Internal("a complex value is left");
  if (!graph->Validate().empty()) return Internal(graph->Validate()[0]);
  X2IR_ASSIGN_OR_RETURN(const auto results, RunGraph(*graph, {}));
  const Tensor& y = *results[0].tensor();
  return C(y.AsDouble(0), y.AsDouble(1));
}

std::string Numbers(std::string_view dtype, C a, C b) {
  const auto number = [&](const char* name, double v) {
    return StrCat(name, " = ", dtype, "[]{", v, "}\n");
  };
  return StrCat(number("ar", a.real()), number("ai", a.imag()), number("br", b.real()),
                number("bi", b.imag()), "a = complex(ar, ai)\n b = complex(br, bi)\n");
}

TEST(ComplexParts, Arithmetic) {
  const struct {
    std::string_view line;
    C (*want)(C, C);
  } rows[] = {
      {"z = add(a, b)", [](C a, C b) { return a + b; }},
      {"z = sub(a, b)", [](C a, C b) { return a - b; }},
      {"z = mul(a, b)", [](C a, C b) { return a * b; }},
      {"z = div(a, b)", [](C a, C b) { return a / b; }},
      {"z = pow(a, b)", [](C a, C b) { return std::pow(a, b); }},
      {"z = neg(a)", [](C a, C) { return -a; }},
      {"z = reciprocal(a)", [](C a, C) { return 1.0 / a; }},
      {"z = exp(a)", [](C a, C) { return std::exp(a); }},
      {"z = log(a)", [](C a, C) { return std::log(a); }},
      {"z = sqrt(a)", [](C a, C) { return std::sqrt(a); }},
      {"z = sin(a)", [](C a, C) { return std::sin(a); }},
      {"z = cos(a)", [](C a, C) { return std::cos(a); }},
      {"z = sinh(a)", [](C a, C) { return std::sinh(a); }},
      {"z = cosh(a)", [](C a, C) { return std::cosh(a); }},
      {"z = sigmoid(a)", [](C a, C) { return 1.0 / (1.0 + std::exp(-a)); }},
      {"w = float64[]{2}\n t = cast(w) { to = \"complex128\" }\n r = cast(a) { to = \"complex128\" "
       "}"
       "\n z = mul(r, t)",
       [](C a, C) { return 2.0 * a; }},
  };
  for (const std::string_view dtype : {"float32", "float64"}) {
    for (const auto& row : rows) {
      for (const C a : {C(1, 2), C(-3, 0.5), C(-0.25, -4), C(0.75, -0.001)}) {
        for (const C b : {C(3, -1), C(-2, 0.5)}) {
          const auto got = PartsFrom(StrCat(Numbers(dtype, a, b), row.line));
          ASSERT_TRUE(got.ok()) << row.line << got.status();
          const C want = row.want(a, b);
          const double off = std::abs(*got - want) / std::abs(want);
          EXPECT_LT(off, dtype == "float32" ? 2e-6 : 1e-13) << row.line << a << b << *got << want;
        }
      }
    }
  }
}

// Where a formula could overflow, cancel, or take the wrong side of a cut.
TEST(ComplexParts, Edges) {
  constexpr double kZero = 0.0;
  const struct {
    std::string_view line;
    C a, b, want;
  } rows[] = {
      {"z = sqrt(a)", C(-4, kZero), 1, C(0, 2)},
      {"z = sqrt(a)", C(-4, -kZero), 1, C(0, -2)},
      {"z = sqrt(a)", 0, 1, 0},
      {"z = sqrt(a)", C(3e38, 3e38), 1, std::sqrt(C(3e38, 3e38))},
      {"z = log(a)", C(-1, kZero), 1, C(0, 3.14159265358979)},
      {"z = log(a)", C(-1, -kZero), 1, C(0, -3.14159265358979)},
      {"z = log(a)", C(1e-30, 1e-30), 1, std::log(C(1e-30, 1e-30))},
      {"z = div(a, b)", C(2e38, 2e38), C(2e38, 2e38), 1},
      {"z = div(a, b)", C(1e-38, 0), C(1e-38, 1e-38), C(0.5, -0.5)},
      {"z = pow(a, b)", 0, 2, 0},
      {"z = pow(a, b)", 0, 0, 1},
      {"z = pow(a, b)", C(0, 2), -1, C(0, -0.5)},
      {"z = pow(a, b)", C(-4, 0), 0.5, C(0, 2)},
      {"z = pow(a, b)", C(1, 1), 4, C(-4, 0)},
  };
  for (const auto& row : rows) {
    const auto got = PartsFrom(StrCat(Numbers("float32", row.a, row.b), row.line));
    ASSERT_TRUE(got.ok()) << row.line << got.status();
    const double scale = std::max(1.0, std::abs(row.want));
    EXPECT_LT(std::abs(*got - row.want) / scale, 1e-6) << row.line << row.a << *got;
  }
}

TEST(ComplexParts, OfTensors) {
  constexpr std::string_view kZ =
      "p = float32[2,2]{1, 2, 3, 4}\n q = float32[2,2]{0, 1, -1, 2}\n z = complex(p, q)\n";
  const struct {
    std::string_view lines, want;  // of y
  } rows[] = {
      {"m = matmul(z, z)\n y = real(m)", "float32[2,2]{8, 8, 17, 19}"},
      {"m = matmul(z, z)\n y = imag(m)", "float32[2,2]{1, 9, 1, 17}"},
      {"m = einsum(z, z) { equation = \"ij,kj->ik\" }\n y = imag(m)", "float32[2,2]{4, 7, 7, 10}"},
      {"t = transpose(z) { perm = [1, 0] }\n y = imag(t)", "float32[2,2]{0, -1, 1, 2}"},
      {"a = int64[1]{0}\n s = reduce_sum(z, a) { keepdims = 0 }\n y = imag(s)",
       "float32[2]{-1, 3}"},
      {"r = cast(p) { to = \"complex64\" }\n c = concat(z, r) { axis = 0 }\n y = imag(c)",
       "float32[4,2]{0, 1, -1, 2, 0, 0, 0, 0}"},
      {"r = cast(p) { to = \"complex64\" }\n c = complex64[]{(0, 1)}\n s = add(r, c)\n y = imag(s)",
       "float32[2,2]{1, 1, 1, 1}"},
      {"c = complex64[]{(2, 1)}\n e = equal(z, c)\n y = identity(e)",
       "bool[2,2]{false, true, false, false}"},
      {"s = shape(z)\n i = imag(z)\n y = identity(s)", "int64[2]{2, 2}"},
      {"a = int64[]{1}\n c = cum_sum(z, a)\n y = imag(c)", "float32[2,2]{0, 1, -1, 1}"},
  };
  for (const auto& row : rows) {
    const auto graph = ParseIr("", StrCat(kZ, row.lines), "y");
    ASSERT_TRUE(graph.ok()) << row.lines << graph.status();
    const absl::Status status = SplitComplexNumbers(**graph);
    ASSERT_TRUE(status.ok()) << row.lines << status;
    EXPECT_FALSE(HasComplexValue(**graph)) << row.lines;
    const auto results = RunGraph(**graph, {});
    ASSERT_TRUE(results.ok()) << row.lines << results.status();
    EXPECT_EQ(TensorText(*(*results)[0].tensor()), row.want) << row.lines;
  }
}

TEST(ComplexParts, Refused) {
  constexpr std::string_view kZ = "p = float32[2]{1, 2}\n z = complex(p, p)\n";
  for (const std::string_view lines : {"r = relu(z)\n y = real(r)", "r = erf(z)\n y = real(r)",
                                       "s = softmax(z) { axis = 0 }\n y = real(s)"}) {
    const auto graph = ParseIr("", StrCat(kZ, lines), "y");
    ASSERT_TRUE(graph.ok()) << lines << graph.status();
    EXPECT_EQ(SplitComplexNumbers(**graph).code(), absl::StatusCode::kUnimplemented) << lines;
  }
}

// Models of others may hand complex tensors around: nothing is to be done for them.
TEST(ComplexParts, LeavesOtherGraphs) {
  const auto graph = ParseIr("x: complex64[2,3]", "y = transpose(x) { perm = [1, 0] }", "y");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(SplitComplexNumbers(**graph).ok());
  EXPECT_EQ((*graph)->outputs()[0]->dtype(), DType::kComplex64);
}

}  // namespace
}  // namespace x2ir
