// CudnnRNN against the equations, written out for one unit after another.
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using Vec = std::vector<double>;

struct Net {
  std::string mode;
  int gates;
  int directions, layers, units, features, length, batch;
  bool time_major = true;
  std::vector<int> lengths = {};  // of V3
};

// Numbers that are all different, and neither large nor small.
Vec Numbers(size_t count, int seed) {
  Vec values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<double>((i * 37 + 11 * seed + i * i % 13) % 101) / 64 - 0.75;
  }
  return values;
}

std::string Text(const std::vector<int>& dims, const Vec& values) {
  std::string text = "float32[", separator;
  for (const int dim : dims) text += std::exchange(separator, ",") + std::to_string(dim);
  text += "]{";
  separator.clear();
  for (const double v : values) text += std::exchange(separator, ", ") + StrCat(v);
  return text + "}";
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Results {
  Vec y, h, c;  // [length, batch, directions units], [layers directions, batch, units]
};

// All as time-major.
Results Expected(const Net& n, const Vec& x, const Vec& h0, const Vec& c0, const Vec& params) {
  Results out{.y = x, .h = h0, .c = c0};
  size_t matrix = 0, bias = 0;
  int width = n.features;
  for (int l = 0; l < n.layers; ++l, width = n.directions * n.units) {
    bias += n.directions * n.gates * n.units * (width + n.units);
  }
  width = n.features;
  for (int l = 0; l < n.layers; ++l, width = n.directions * n.units) {
    const Vec in = out.y;
    out.y.assign(n.length * n.batch * n.directions * n.units, 0);
    for (int d = 0; d < n.directions; ++d) {
      const double* w = &params[matrix];
      const double* r = w + n.gates * n.units * width;
      const double *bw = &params[bias], *br = bw + n.gates * n.units;
      matrix += n.gates * n.units * (width + n.units);
      bias += 2 * n.gates * n.units;
      for (int b = 0; b < n.batch; ++b) {
        double* h = &out.h[((l * n.directions + d) * n.batch + b) * n.units];
        double* c = &out.c[((l * n.directions + d) * n.batch + b) * n.units];
        const int steps = n.lengths.empty() ? n.length : n.lengths[b];
        for (int s = 0; s < steps; ++s) {
          const int t = d == 0 ? s : steps - 1 - s;
          const double* xt = &in[(t * n.batch + b) * width];
          const Vec before(h, h + n.units);
          for (int u = 0; u < n.units; ++u) {
            const auto of_input = [&](int gate) {
              double sum = bw[gate * n.units + u];
              for (int k = 0; k < width; ++k) sum += w[(gate * n.units + u) * width + k] * xt[k];
              return sum;
            };
            const auto of_state = [&](int gate) {
              double sum = br[gate * n.units + u];
              for (int k = 0; k < n.units; ++k) {
                sum += r[(gate * n.units + u) * n.units + k] * before[k];
              }
              return sum;
            };
            const auto both = [&](int gate) { return of_input(gate) + of_state(gate); };
            if (n.mode == "lstm") {
              c[u] = Sigmoid(both(1)) * c[u] + Sigmoid(both(0)) * std::tanh(both(2));
              h[u] = Sigmoid(both(3)) * std::tanh(c[u]);
            } else if (n.mode == "gru") {
              const double reset = Sigmoid(both(0)), update = Sigmoid(both(1));
              const double fresh = std::tanh(of_input(2) + reset * of_state(2));
              h[u] = (1 - update) * fresh + update * before[u];
            } else {
              h[u] = n.mode == "rnn_tanh" ? std::tanh(both(0)) : std::max(both(0), 0.0);
            }
          }
          for (int u = 0; u < n.units; ++u) {
            out.y[((t * n.batch + b) * n.directions + d) * n.units + u] = h[u];
          }
        }
      }
    }
  }
  return out;
}

// The first two axes change places.
Vec Turned(const Vec& v, int rows, int columns) {
  const size_t width = v.size() / (rows * columns);
  Vec out(v.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      for (size_t k = 0; k < width; ++k) {
        out[(j * rows + i) * width + k] = v[(i * columns + j) * width + k];
      }
    }
  }
  return out;
}

absl::StatusOr<std::vector<Datum>> RunText(const std::string& lines, const std::string& outputs) {
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      ModelFromText(StrCat("graph g() -> (", outputs, ") {\n", lines, "\n}"), "tf", 1));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  return RunGraph(*model.graph, {});
}

size_t CountParams(const Net& n) {
  size_t count = 0;
  for (int l = 0, width = n.features; l < n.layers; ++l, width = n.directions * n.units) {
    count += n.directions * n.gates * n.units * (width + n.units + 2);
  }
  return count;
}

TEST(TfCudnnRnn, Nets) {
  const Net nets[] = {
      {"lstm", 4, 1, 1, 2, 3, 3, 2},
      {"lstm", 4, 2, 2, 2, 3, 3, 2},
      {"lstm", 4, 2, 1, 2, 1, 4, 3, true, {4, 2, 1}},
      {"lstm", 4, 1, 3, 1, 2, 3, 2, false, {1, 3}},
      {"gru", 3, 1, 1, 3, 2, 4, 1},
      {"gru", 3, 2, 2, 2, 3, 3, 2, false, {3, 2}},
      {"rnn_tanh", 1, 2, 2, 3, 2, 3, 2},
      {"rnn_relu", 1, 1, 2, 2, 3, 3, 2, true, {2, 3}},
  };
  for (const Net& n : nets) {
    SCOPED_TRACE(StrCat(n.mode, " ", n.directions, " ", n.layers));
    const int states = n.layers * n.directions;
    const bool lstm = n.mode == "lstm", v3 = !n.lengths.empty();
    const Vec x = Numbers(n.length * n.batch * n.features, 1);
    const Vec h0 = Numbers(states * n.batch * n.units, 2);
    const Vec c0 = Numbers(states * n.batch * n.units, 3);
    const Vec params = Numbers(CountParams(n), 4);
    Results want = Expected(n, x, h0, c0, params);
    std::string lines = "p = " + Text({static_cast<int>(params.size())}, params);
    const auto add = [&](const char* name, int rows, int columns, int width, const Vec& v) {
      lines += StrCat("\n", name, " = ");
      lines += n.time_major ? Text({rows, columns, width}, v)
                            : Text({columns, rows, width}, Turned(v, rows, columns));
    };
    add("x", n.length, n.batch, n.features, x);
    add("h", states, n.batch, n.units, h0);
    if (lstm) {
      add("c", states, n.batch, n.units, c0);
    } else {
      lines += "\nc = float32[0]{}";
    }
    std::string lengths;
    for (const int length : n.lengths) lengths += (lengths.empty() ? "" : ", ") + StrCat(length);
    if (v3) lines += StrCat("\nl = int32[", n.batch, "]{", lengths, "}");
    lines += StrCat("\ny, yh, yc = tf.CudnnRNN", v3 ? "V3" : "", "(x, h, c, p", v3 ? ", l" : "",
                    ") { rnn_mode = \"", n.mode, "\", direction = \"",
                    n.directions == 2 ? "bidirectional" : "unidirectional", "\"",
                    n.time_major ? "" : ", time_major = 0", " }");
    // A name without a value would be an output that has none.
    if (!lstm) lines.replace(lines.find("y, yh, yc"), 9, "y, yh");
    const auto got = RunText(lines, lstm ? "y, yh, yc" : "y, yh");
    ASSERT_TRUE(got.ok()) << got.status() << "\n" << lines;
    if (!n.time_major) {
      want.y = Turned(want.y, n.length, n.batch);
      for (Vec* v : {&want.h, &want.c}) *v = Turned(*v, states, n.batch);
    }
    const Vec* all[] = {&want.y, &want.h, &want.c};
    for (size_t i = 0; i < got->size(); ++i) {
      const Tensor& tensor = *(*got)[i].tensor();
      ASSERT_EQ(tensor.num_elements(), static_cast<int64_t>(all[i]->size()));
      for (size_t k = 0; k < all[i]->size(); ++k) {
        EXPECT_NEAR(tensor.AsDouble(static_cast<int64_t>(k)), (*all[i])[k], 1e-5)
            << "result " << i << ", element " << k;
      }
    }
  }
}

TEST(TfCudnnRnn, Buffers) {
  const std::string sizes = "l = int32[]{2}\n u = int32[]{2}\n f = int32[]{3}\n";
  const auto numbers = [](const absl::StatusOr<std::vector<Datum>>& got) {
    if (!got.ok()) return got.status().ToString();
    std::string text;
    for (const Datum& datum : *got) {
      for (int64_t i = 0; i < datum.tensor()->num_elements(); ++i) {
        StrAppend(&text, text.empty() ? "" : " ", datum.tensor()->AsDouble(i));
      }
    }
    return text;
  };
  // 4 2 (3 + 2) + 4 2 (2 + 2) matrices, 2 2 4 2 biases; three directions' worth of layers.
  EXPECT_EQ(numbers(RunText(sizes + "y = tf.CudnnRNNParamsSize(l, u, f)", "y")), "104");
  EXPECT_EQ(numbers(RunText(sizes + "y = tf.CudnnRNNParamsSize(l, u, f) { rnn_mode = \"gru\", "
                                    "direction = \"bidirectional\", S = type(int64[...]) }",
                            "y")),
            "180");
  EXPECT_THAT(numbers(RunText(sizes + "y = tf.CudnnRNNParamsSize(l, u, f) { num_proj = 1 }", "y")),
              HasSubstr("projection"));
  const std::string one = "l = int32[]{1}\n u = int32[]{1}\n f = int32[]{2}\n ";
  const std::string canonical =
      one +
      "a = float32[1,2]{1, 2}\n b = float32[1,1]{3}\n c = float32[1]{4}\n "
      "d = float32[1]{5}\n p = tf.CudnnRNNCanonicalToParams(l, u, f, a, b, c, d) "
      "{ rnn_mode = \"rnn_tanh\", num_params = 2 }\n ";
  EXPECT_EQ(numbers(RunText(canonical, "p")), "1 2 3 4 5");
  EXPECT_EQ(numbers(RunText(canonical + "e, g, h, i = tf.CudnnRNNParamsToCanonicalV2(l, u, f, p) "
                                        "{ rnn_mode = \"rnn_tanh\" }",
                            "i, h, g, e")),
            "5 4 3 1 2");
  EXPECT_THAT(numbers(RunText(one + "p = float32[4]{1, 2, 3, 4}\n e, g, h, i = "
                                    "tf.CudnnRNNParamsToCanonical(l, u, f, p) "
                                    "{ rnn_mode = \"rnn_tanh\" }",
                              "i, h, g, e")),
              HasSubstr("4 parameters, where cuDNN needs 5"));
}

TEST(TfCudnnRnn, Refused) {
  const std::string net =
      "x = float32[1,1,1]{1}\n h = float32[1,1,1]{1}\n p = float32[4]{1, 2, 3, 4}\n "
      "y = tf.CudnnRNN(x, h, h, p) { rnn_mode = \"rnn_tanh\"";
  const std::pair<std::string, std::string> rows[] = {
      {", dropout = 0.5 }", "dropout"},
      {", input_mode = \"skip_input\" }", "input_mode 'skip_input'"},
      {", direction = \"up\" }", "direction 'up'"},
      {", rnn_mode2 = \"up\" }", "rnn_mode2"},
      {", direction = \"bidirectional\" }", "1 states of two directions"},
  };
  for (const auto& [attrs, error] : rows) {
    EXPECT_THAT(RunText(net + attrs, "y").status().ToString(), HasSubstr(error));
  }
  EXPECT_EQ(RunText(net + ", dropout = 0.5, is_training = 0 }", "y").status(), absl::OkStatus());
}

}  // namespace
}  // namespace x2ir
