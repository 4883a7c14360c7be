// Cells of TensorFlow against their equations, one unit of one batch row after another.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using Vec = std::vector<double>;
constexpr int kBatch = 2, kInputs = 2, kUnits = 3;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Vec Numbers(size_t count, int seed) {
  Vec values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<double>((i * 29 + 17 * seed + i * i % 11) % 97) / 32 - 1.5;
  }
  return values;
}

std::string Constant(const std::string& name, const std::string& dims, const Vec& values) {
  std::string text = name + " = float32[" + dims + "]{";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + StrCat(values[i]);
  return text + "}\n";
}

void ExpectNumbers(const std::string& lines, const std::string& outputs,
                   const std::vector<Vec>& want) {
  absl::StatusOr<Model> model =
      ModelFromText(StrCat("graph g() -> (", outputs, ") {\n", lines, "\n}"), "tf", 1);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(ToIr(*model).ok()) << lines;
  const auto got = RunGraph(*model->graph, {});
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const Tensor& tensor = *(*got)[i].tensor();
    ASSERT_EQ(tensor.num_elements(), static_cast<int64_t>(want[i].size()));
    for (size_t k = 0; k < want[i].size(); ++k) {
      EXPECT_NEAR(tensor.AsDouble(static_cast<int64_t>(k)), want[i][k], 1e-5)
          << "result " << i << ", element " << k << "\n"
          << lines;
    }
  }
}

struct Cell {
  int i, c, f, o;  // where the gates stand
  bool peephole;
  double forget_bias, clip;
};

// i, cs, f, o, ci, co, h.
std::vector<Vec> LstmStep(const Cell& cell, const double* x, const Vec& cs0, const Vec& h0,
                          const Vec& w, const Vec& wci, const Vec& wcf, const Vec& wco,
                          const Vec& bias) {
  std::vector<Vec> all(7, Vec(kBatch * kUnits));
  for (int b = 0; b < kBatch; ++b) {
    for (int u = 0; u < kUnits; ++u) {
      const int at = b * kUnits + u;
      const auto gate = [&](int which) {
        const int column = which * kUnits + u;
        double sum = bias[column];
        for (int k = 0; k < kInputs; ++k) sum += x[b * kInputs + k] * w[k * 4 * kUnits + column];
        for (int k = 0; k < kUnits; ++k) {
          sum += h0[b * kUnits + k] * w[(kInputs + k) * 4 * kUnits + column];
        }
        return sum;
      };
      const auto peep = [&](const Vec& weights, double state) {
        return cell.peephole ? weights[u] * state : 0;
      };
      const double in = Sigmoid(gate(cell.i) + peep(wci, cs0[at]));
      const double forget = Sigmoid(gate(cell.f) + cell.forget_bias + peep(wcf, cs0[at]));
      const double fresh = std::tanh(gate(cell.c));
      double cs = fresh * in + cs0[at] * forget;
      if (cell.clip > 0) cs = std::clamp(cs, -cell.clip, cell.clip);
      const double out = Sigmoid(gate(cell.o) + peep(wco, cs));
      const double values[] = {in, cs, forget, out, fresh, std::tanh(cs), std::tanh(cs) * out};
      for (int k = 0; k < 7; ++k) all[k][at] = values[k];
    }
  }
  return all;
}

TEST(TfCells, Lstm) {
  constexpr int kSteps = 3;
  const Vec x = Numbers(kSteps * kBatch * kInputs, 1);
  const Vec cs0 = Numbers(kBatch * kUnits, 2), h0 = Numbers(kBatch * kUnits, 3);
  const Vec w = Numbers((kInputs + kUnits) * 4 * kUnits, 4), bias = Numbers(4 * kUnits, 5);
  const Vec wci = Numbers(kUnits, 6), wcf = Numbers(kUnits, 7), wco = Numbers(kUnits, 8);
  const std::string weights = Constant("cs", "2,3", cs0) + Constant("h", "2,3", h0) +
                              Constant("w", "5,12", w) + Constant("wci", "3", wci) +
                              Constant("wcf", "3", wcf) + Constant("wco", "3", wco) +
                              Constant("b", "12", bias);
  const std::string operands = "cs, h, w, wci, wcf, wco, b)";
  const std::string outputs = "r0, r1, r2, r3, r4, r5, r6";
  const Cell old{0, 1, 2, 3, false, 1, 3}, other{0, 1, 2, 3, true, 0.5, 0.25};
  const std::string given = " { use_peephole = 1, forget_bias = 0.5, cell_clip = 0.25 }";
  const Vec first(x.begin(), x.begin() + kBatch * kInputs);
  for (const bool defaults : {true, false}) {
    ExpectNumbers(weights + Constant("x", "2,2", first) + outputs + " = tf.LSTMBlockCell(x, " +
                      operands + (defaults ? "" : given),
                  outputs,
                  LstmStep(defaults ? old : other, x.data(), cs0, h0, w, wci, wcf, wco, bias));
  }
  struct Row {
    std::string op, attrs;
    Cell cell;
  };
  const Row rows[] = {
      {"BlockLSTM", "", old},
      {"BlockLSTM", given, other},
      {"BlockLSTMV2", "", {0, 2, 1, 3, false, 0, 0}},
      {"BlockLSTMV2", " { use_peephole = 1, cell_clip = 0.5 }", {0, 2, 1, 3, true, 0, 0.5}}};
  for (const Row& row : rows) {
    for (const int length : {2, kSteps}) {
      std::vector<Vec> want(7, Vec());
      Vec cs = cs0, h = h0;
      for (int t = 0; t < kSteps; ++t) {
        const auto step =
            LstmStep(row.cell, &x[t * kBatch * kInputs], cs, h, w, wci, wcf, wco, bias);
        for (int k = 0; k < 7; ++k) {
          // Nothing comes after the end.
          const Vec values = t < length ? step[k] : Vec(kBatch * kUnits);
          want[k].insert(want[k].end(), values.begin(), values.end());
        }
        cs = step[1];
        h = step[6];
      }
      ExpectNumbers(weights + Constant("x", "3,2,2", x) + StrCat("n = int64[]{", length, "}\n") +
                        outputs + " = tf." + row.op + "(n, x, " + operands + row.attrs,
                    outputs, want);
    }
  }
}

TEST(TfCells, Gru) {
  const Vec x = Numbers(kBatch * kInputs, 1), h0 = Numbers(kBatch * kUnits, 2);
  const Vec w_ru = Numbers((kInputs + kUnits) * 2 * kUnits, 3);
  const Vec w_c = Numbers((kInputs + kUnits) * kUnits, 4);
  const Vec b_ru = Numbers(2 * kUnits, 5), b_c = Numbers(kUnits, 6);
  std::vector<Vec> want(4, Vec(kBatch * kUnits));
  for (int b = 0; b < kBatch; ++b) {
    const auto product = [&](const Vec& w, int width, int column, const Vec& h) {
      double sum = 0;
      for (int k = 0; k < kInputs; ++k) sum += x[b * kInputs + k] * w[k * width + column];
      for (int k = 0; k < kUnits; ++k) sum += h[k] * w[(kInputs + k) * width + column];
      return sum;
    };
    const Vec before(h0.begin() + b * kUnits, h0.begin() + (b + 1) * kUnits);
    Vec reset = before;
    for (int u = 0; u < kUnits; ++u) {
      const int at = b * kUnits + u;
      want[0][at] = Sigmoid(product(w_ru, 2 * kUnits, u, before) + b_ru[u]);
      want[1][at] = Sigmoid(product(w_ru, 2 * kUnits, kUnits + u, before) + b_ru[kUnits + u]);
      reset[u] *= want[0][at];
    }
    for (int u = 0; u < kUnits; ++u) {
      const int at = b * kUnits + u;
      want[2][at] = std::tanh(product(w_c, kUnits, u, reset) + b_c[u]);
      want[3][at] = want[1][at] * before[u] + (1 - want[1][at]) * want[2][at];
    }
  }
  ExpectNumbers(Constant("x", "2,2", x) + Constant("h", "2,3", h0) + Constant("w", "5,6", w_ru) +
                    Constant("v", "5,3", w_c) + Constant("b", "6", b_ru) + Constant("c", "3", b_c) +
                    "r, u, f, y = tf.GRUBlockCell(x, h, w, v, b, c)",
                "r, u, f, y", want);
}

}  // namespace
}  // namespace x2ir
