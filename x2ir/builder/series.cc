#include "x2ir/builder/series.h"

#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "x2ir/graph_wrapper/portable_math.h"

namespace x2ir {
namespace {

// Zeros of Legendre's polynomials by Newton's method.
using QuadratureRule = std::pair<std::vector<double>, std::vector<double>>;
const QuadratureRule& Gauss(int n) {
  static std::mutex mutex;
  static std::map<int, QuadratureRule> rules;
  const std::lock_guard lock(mutex);
  QuadratureRule& rule = rules[n];
  for (int i = 0; rule.first.size() < static_cast<size_t>(n); ++i) {
    double x = portable::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int round = 0; round < 20; ++round) {
      double p = 1, before = 0;
      for (int k = 1; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = std::exchange(p, next);
      }
      slope = n * (x * p - before) / (x * x - 1);
      x -= p / slope;
    }
    rule.first.push_back((x + 1) / 2);
    rule.second.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

Expr Polynomial(const Expr& x, const std::vector<double>& c) {
  Expr y = x.Number(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) y = y * x + c[i];
  return y;
}

Expr Beside(const Expr& x) { return x.Op("unsqueeze", {Ints(x.builder(), {-1})}); }
Expr Spread(const Expr& x, const std::vector<double>& nodes) {
  return Beside(x) * Doubles(x.builder(), nodes);
}
Expr Weigh(const Expr& y, const std::vector<double>& weights) {
  // No matmul: ONNX Runtime does not support it without elements.
  return Reduce(y * Doubles(y.builder(), weights), "reduce_sum", {-1});
}

const std::vector<double>& GaussNodes(int n) { return Gauss(n).first; }
const std::vector<double>& GaussWeights(int n) { return Gauss(n).second; }

}  // namespace x2ir
