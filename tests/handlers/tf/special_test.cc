// TensorFlow's special functions: against the C++ library's, and numbers of 17 digits.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "tests/handlers/constant_rows_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void Expect(std::string_view op, const std::vector<double>& points, const std::vector<double>& want,
            double tolerance = 1e-12) {
  const std::string text = StrCat("graph g(x: float64[n]) -> (y) {\n y = tf.", op, "(x)\n}");
  auto model = ModelFromText(text, "tf", 1);
  ASSERT_TRUE(model.ok()) << model.status();
  const absl::Status converted = ToIr(*model);
  ASSERT_TRUE(converted.ok()) << op << converted;
  Tensor x = Tensor::Of<double>({static_cast<int64_t>(points.size())}, points);
  auto results = RunGraph(*model->graph, {Datum(x)});
  ASSERT_TRUE(results.ok()) << op << results.status();
  for (size_t i = 0; i < points.size(); ++i) {
    const double got = (*results)[0].tensor()->AsDouble(static_cast<int64_t>(i));
    if (std::isnan(want[i]) || std::isinf(want[i])) {
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(got) : got == want[i])
          << op << " of " << points[i] << " is " << got;
    } else {
      EXPECT_NEAR(got, want[i], tolerance * std::abs(want[i]) + 1e-300)
          << op << " of " << points[i];
    }
  }
}

TEST(TfSpecial, Integrals) {
  const std::vector<double> points = {0,   1e-3, 0.25, 0.31, 0.99, 1,    1.75,
                                      2.5, 6,    24.9, 25.1, 39.5, 40.5, 1e3};
  Expect("Dawsn", points,
         {0, 0.0009999993333336, 0.23983916356289821, 0.29088225531569786, 0.53879454681449785,
          0.53807950691276842, 0.35943642067174292, 0.22308372216743548, 0.084542688974543852,
          0.020096554167613789, 0.019936166042254346, 0.012662288228429363, 0.0123494458120151,
          0.000500000250000375});
  Expect("FresnelCos", points,
         {0, 0.00099999999999975326, 0.24975915035654318, 0.30929434883546982, 0.77973685710739855,
          0.77989340037682283, 0.32193504614953786, 0.45741300964177705, 0.49953146785550112,
          0.50019423263497044, 0.49980721170158182, 0.50308232680381803, 0.50300629225617698,
          0.49999999989867882},
         1e-11);
  Expect("FresnelSin", points,
         {0, 5.2359877559820659e-10, 0.0081756002357777558, 0.015573160723071125,
          0.42826077993226197, 0.43825914739035477, 0.49938467459067455, 0.61918175581959294,
          0.44696076123693028, 0.48721795452691816, 0.51268019519771191, 0.4925543087794378,
          0.49273818284828258, 0.49968169011381631},
         1e-11);
  Expect("Spence", points,
         {1.6449340668482264, 1.6370226052761177, 0.9784693929303061, 0.87229173264680233,
          0.010025111740139095, 0, -0.64276126883997888, -1.1473806603755708, -2.7492791260608083,
          -6.6402750138295258, -6.6670990657501708, -8.2827795816840766, -8.3773693794041363,
          -25.495564102428909});
  Expect(
      "Expint", points,
      {-kInf, -6.3295393640250382, -0.54254326466191373, -0.25818607590475591, 1.8679345427385854,
       1.8951178163559368, 4.0836536590769574, 7.0737658945786007, 85.989762142439205,
       2731323552.4137855, 3308249491.2482564, 3710918879133970.6, 9831586535606509.9, kInf});
  Expect("Erfc", points,
         {1, 0.99887162120903076, 0.72367360983176307, 0.66109184968920975, 0.1614919304446302,
          0.15729920705028513, 0.013328328780817556, 0.00040695201744495894, 2.1519736712498913e-17,
          1.2244878020838237e-271, 5.5149401896860326e-276, 0, 0, 0});
  const std::vector<double> edges = {-1e-3, -0.31, -6, kInf, -kInf, kNaN, 1e300};
  Expect("Dawsn", edges,
         {-0.0009999993333336, -0.29088225531569786, -0.084542688974543852, 0, 0, kNaN, 0});
  Expect(
      "FresnelCos", edges,
      {-0.00099999999999975326, -0.30929434883546982, -0.49953146785550112, 0.5, -0.5, kNaN, 0.5});
  Expect("Spence", {-1e-3, kNaN}, {kNaN, kNaN});
  Expect("Expint", {-1, -kInf, kNaN}, {kNaN, kNaN, kNaN});
  Expect("Erfc", {-1, kInf, -kInf, kNaN}, {1.8427007929497148, 0, 2, kNaN});
}

// TensorFlow's own are Cephes', whose values left of a pole are those at it.
TEST(TfSpecial, Bessel) {
  struct Row {
    std::string_view op;
    std::function<double(double)> f;
    std::vector<double> edges;  // at -1, 0, NaN
  };
  const Row rows[] = {
      {"BesselJ0", [](double x) { return std::cyl_bessel_j(0, x); }, {std::cyl_bessel_j(0, 1), 1}},
      {"BesselJ1", [](double x) { return std::cyl_bessel_j(1, x); }, {-std::cyl_bessel_j(1, 1), 0}},
      {"BesselY0", [](double x) { return std::cyl_neumann(0, x); }, {-kInf, -kInf}},
      {"BesselY1", [](double x) { return std::cyl_neumann(1, x); }, {-kInf, -kInf}},
      {"BesselI0", [](double x) { return std::cyl_bessel_i(0, x); }, {std::cyl_bessel_i(0, 1), 1}},
      {"BesselI1", [](double x) { return std::cyl_bessel_i(1, x); }, {-std::cyl_bessel_i(1, 1), 0}},
      {"BesselI0e",
       [](double x) { return std::cyl_bessel_i(0, x) * std::exp(-x); },
       {std::cyl_bessel_i(0, 1) / std::exp(1), 1}},
      {"BesselI1e",
       [](double x) { return std::cyl_bessel_i(1, x) * std::exp(-x); },
       {-std::cyl_bessel_i(1, 1) / std::exp(1), 0}},
      {"BesselK0", [](double x) { return std::cyl_bessel_k(0, x); }, {kInf, kInf}},
      {"BesselK1", [](double x) { return std::cyl_bessel_k(1, x); }, {kInf, kInf}},
      {"BesselK0e", [](double x) { return std::cyl_bessel_k(0, x) * std::exp(x); }, {kInf, kInf}},
      {"BesselK1e", [](double x) { return std::cyl_bessel_k(1, x) * std::exp(x); }, {kInf, kInf}},
  };
  for (const Row& row : rows) {
    std::vector<double> points = {1e-3, 0.5, 1.9, 2.1, 7, 24.9, 25.1, 60}, want;
    for (const double x : points) want.push_back(row.f(x));
    Expect(row.op, points, want, 1e-9);
    want = row.edges;
    want.push_back(kNaN);
    Expect(row.op, {-1, 0, kNaN}, want, 1e-12);
  }
}

TEST(TfSpecial, Others) {
  ExpectConstantRows(std::vector<ConstantRow>{
      {"x = float32[3]{0,2,1e-8}\n z = float32[3]{-1,1e-8,0}\n y = tf.Xlog1py(x, z)", "y",
       "float32[3]{0, 2e-08, 0}"},
      {"x = float16[2]{0,inf}\n y = tf.Erfc(x)", "y", "float16[2]{1, 0}"},
  });
}

}  // namespace
}  // namespace x2ir
