// Metrics: what decides, in place of a tolerance, whether a lossy conversion is near enough.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

constexpr std::array<Metric, 4> kMetrics = {{
    {"cosine", "the cosine of the angle between result and expected output, as vectors; 1: equal",
     true, [](const OutputVerdict& v) { return v.comparison.cosine; }},
    {"snr",
     "the ratio of the expected output to the difference, in decibels; 20 dB: a tenth, 40 dB: a "
     "hundredth",
     true, [](const OutputVerdict& v) { return v.comparison.snr; }},
    {"max-abs", "the largest difference", false,
     [](const OutputVerdict& v) { return v.comparison.max_abs; }},
    {"steps", "the largest difference in steps of the output's quantization", false,
     [](const OutputVerdict& v) {
       return v.step > 0 ? v.comparison.max_abs / v.step : std::numeric_limits<double>::quiet_NaN();
     }},
}};

}  // namespace

absl::Span<const Metric> Metrics() { return kMetrics; }

const Metric* FindMetric(std::string_view name) {
  const auto it = std::find_if(kMetrics.begin(), kMetrics.end(),
                               [&](const Metric& metric) { return metric.name == name; });
  return it == kMetrics.end() ? nullptr : &*it;
}

std::string Criterion::ToString() const {
  char number[40];
  std::snprintf(number, sizeof number, "%.7g", bound);
  return StrCat(metric->name, metric->more_is_better ? " at least " : " at most ", number);
}

double StepOf(const Value& value) {
  for (const Value* at = &value; at && at->producer();) {
    const Node& node = *at->producer();
    if (node.Is("quantize_linear")) return IsFloating(at->dtype()) ? 0 : 1;
    if (node.Is("dequantize_linear")) {
      const Tensor* scale = node.input(1) ? node.input(1)->fixed_constant() : nullptr;
      if (!scale || scale->is_sparse()) return 0;
      const Numbers<double> scales(*scale);
      double step = 0;
      for (const double s : scales.span()) step = std::max(step, std::fabs(s));
      return std::isfinite(step) ? step : 0;
    }
    const OpDef* op = node.is_ir() ? FindOp(node.op()) : nullptr;
    const bool passes =
        op && (op->moves() != MoveUse::kNone || (node.Is("cast") && IsFloating(at->dtype())));
    at = passes ? node.input(0) : nullptr;
  }
  return 0;
}

}  // namespace x2ir
