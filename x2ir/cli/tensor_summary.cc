// Summaries of tensors for people and for programs.
#include "x2ir/cli/tensor_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir::cli {
namespace {

constexpr int64_t kTextElements = 6;
constexpr int64_t kJsonElements = 64;

std::string Quoted(std::string_view text) {
  std::string quoted;
  AppendJsonString(&quoted, text);
  return quoted;
}

std::string Number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.7g", v);
  return text;
}
// JSON has neither NaN nor infinity.
std::string JsonNumber(double v) { return std::isfinite(v) ? Number(v) : Quoted(Number(v)); }

bool IsReal(const Tensor& t) {
  return !t.is_string() && !IsComplex(t.dtype()) && t.dtype() != DType::kUndefined;
}

std::string Element(const Tensor& t, int64_t i, bool json) {
  if (t.is_string()) return Quoted(t.strings()[i]);
  if (IsComplex(t.dtype())) {
    const std::complex<double> v = Numbers<std::complex<double>>(t)[i];
    return json ? StrCat("[", JsonNumber(v.real()), ", ", JsonNumber(v.imag()), "]")
                : StrCat(Number(v.real()), v.imag() < 0 ? "" : "+", Number(v.imag()), "i");
  }
  if (t.dtype() == DType::kBool) return t.AsInt(i) ? "true" : "false";
  if (IsUnsignedInt(t.dtype())) return StrCat(static_cast<uint64_t>(t.AsInt(i)));
  if (IsSignedInt(t.dtype())) return StrCat(t.AsInt(i));
  return json ? JsonNumber(t.AsDouble(i)) : Number(t.AsDouble(i));
}

std::string Elements(const Tensor& t, int64_t max, bool json) {
  std::string text;
  const int64_t n = std::min(max, t.num_elements());
  // Complex elements are converted all at once: a view of the first ones only would save that.
  for (int64_t i = 0; i < n; ++i) StrAppend(&text, i ? ", " : "", Element(t, i, json));
  return text;
}

struct Statistics {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0;
  int64_t nans = 0;
  bool any = false;  // a number that is none of them
};

Statistics StatisticsOf(const Tensor& t) {
  Statistics s;
  const Numbers<double> values(t);
  int64_t count = 0;
  double sum = 0;
  for (const double v : values.span()) {
    if (std::isnan(v)) {
      ++s.nans;
      continue;
    }
    s.min = std::min(s.min, v);
    s.max = std::max(s.max, v);
    sum += v;
    ++count;
  }
  s.any = count != 0;
  if (s.any) s.mean = sum / static_cast<double>(count);
  return s;
}

}  // namespace

std::string SummaryText(const Datum& datum) {
  if (const DatumSequence* sequence = datum.sequence()) {
    std::string text = StrCat("sequence of ", sequence->size());
    for (size_t i = 0; i < sequence->size(); ++i) {
      StrAppend(&text, "\n  [", i, "] ", SummaryText((*sequence)[i]));
    }
    return text;
  }
  if (const DatumMap* map = datum.map()) return StrCat("map of ", map->size());
  const Tensor* sparse = datum.tensor();
  if (!sparse) return "nothing";
  const absl::StatusOr<Tensor> dense = sparse->ToDense();
  if (!dense.ok()) return sparse->type().ToString();
  const Tensor& t = *dense;
  std::string text = t.type().ToString();
  if (IsReal(t) && t.dtype() != DType::kBool && t.num_elements() > kTextElements) {
    const Statistics s = StatisticsOf(t);
    if (s.any) {
      StrAppend(&text, "  min ", Number(s.min), ", max ", Number(s.max), ", mean ", Number(s.mean));
    }
    if (s.nans != 0) StrAppend(&text, s.any ? ", " : "  ", s.nans, " NaN");
  }
  return StrCat(text, "  {", Elements(t, kTextElements, false),
                t.num_elements() > kTextElements ? ", ..." : "", "}");
}

std::string SummaryJson(const Datum& datum) {
  if (const DatumSequence* sequence = datum.sequence()) {
    std::string text = "\"type\": \"sequence\", \"elements\": [";
    for (size_t i = 0; i < sequence->size(); ++i) {
      StrAppend(&text, i ? ", " : "", "{", SummaryJson((*sequence)[i]), "}");
    }
    return text + "]";
  }
  if (datum.map()) return "\"type\": \"map\"";
  const Tensor* sparse = datum.tensor();
  if (!sparse) return "\"type\": \"nothing\"";
  const absl::StatusOr<Tensor> dense = sparse->ToDense();
  if (!dense.ok()) return StrCat("\"type\": ", Quoted(sparse->type().ToString()));
  const Tensor& t = *dense;
  std::string text = StrCat("\"type\": ", Quoted(t.type().ToString()),
                            ", \"dtype\": ", Quoted(Name(t.dtype())), ", \"shape\": [");
  for (int64_t d = 0; d < t.rank(); ++d) StrAppend(&text, d ? ", " : "", t.dim(d));
  text += "]";
  if (IsReal(t)) {
    const Statistics s = StatisticsOf(t);
    if (s.any) {
      StrAppend(&text, ", \"min\": ", JsonNumber(s.min), ", \"max\": ", JsonNumber(s.max),
                ", \"mean\": ", JsonNumber(s.mean));
    }
    StrAppend(&text, ", \"nans\": ", s.nans);
  }
  return StrCat(text, ", \"values\": [", Elements(t, kJsonElements, true), "]");
}

}  // namespace x2ir::cli
