#include "x2ir/inspect/weight_stats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "x2ir/core/json_list.h"
#include "x2ir/formats/json.h"
#include "x2ir/inspect/columns.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

constexpr double kMaxOfFloat16 = 65504;

// Calls f(Span<const double>) with the elements, some thousands at a time.
template <typename F>
void ForParts(const Tensor& tensor, const F& f) {
  constexpr int64_t kPart = 1 << 16;  // elements; whole bytes of packed types
  const int64_t n = tensor.num_elements();
  for (int64_t at = 0; at < n; at += kPart) {
    const int64_t count = std::min(kPart, n - at);
    const auto first = ByteSize(tensor.dtype(), at), size = ByteSize(tensor.dtype(), count);
    if (!first || !size) return;
    // The tensor outlives the view.
    const auto part = Tensor::View(
        tensor.dtype(), {count},
        tensor.bytes().subspan(static_cast<size_t>(*first), static_cast<size_t>(*size)), nullptr);
    if (!part.ok()) return;
    f(Numbers<double>(*part).span());
  }
}

// As JSON has it; sums of the largest numbers may be infinite.
std::string ExactText(double v) {
  if (!std::isfinite(v)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

void Collect(const Graph& graph, int bins, std::vector<WeightStats>& all) {
  for (const Value* input : graph.inputs()) {
    if (input->constant()) all.push_back(StatsOf(*input->constant(), input->name(), bins));
  }
  for (const Value* constant : graph.constants()) {
    all.push_back(StatsOf(*constant->constant(), constant->name(), bins));
  }
  for (const Node* node : graph.nodes()) {
    for (const Graph* inner : node->subgraphs()) Collect(*inner, bins, all);
  }
}

}  // namespace

bool WeightStats::exceeds_float16() const {
  return has_numbers && std::max(std::fabs(min), std::fabs(max)) > kMaxOfFloat16;
}

WeightStats StatsOf(const Tensor& tensor, std::string name, int bins) {
  WeightStats stats;
  stats.name = std::move(name);
  stats.dtype = tensor.dtype();
  stats.dims = tensor.dims();
  stats.elements = tensor.num_elements();
  if (tensor.is_sparse()) {
    // Those that are not written are zeros.
    const Tensor& values = tensor.sparse().values;
    WeightStats of_values = StatsOf(values, "", bins);
    const int64_t bytes = of_values.bytes + static_cast<int64_t>(tensor.sparse().indices.nbytes());
    of_values.zeros += stats.elements - of_values.elements;
    of_values.name = std::move(stats.name);
    of_values.dims = std::move(stats.dims);
    of_values.elements = stats.elements;
    of_values.bytes = bytes;
    return of_values;
  }
  if (tensor.is_string()) {
    for (const std::string& text : tensor.strings()) {
      stats.bytes += static_cast<int64_t>(text.size());
    }
    return stats;
  }
  stats.bytes = static_cast<int64_t>(tensor.nbytes());
  if (IsComplex(tensor.dtype()) || BitWidth(tensor.dtype()) == 0) return stats;
  stats.has_numbers = true;
  double low = std::numeric_limits<double>::infinity(), high = -low, least = low;
  double sum = 0, squares = 0;
  int64_t finite = 0;
  ForParts(tensor, [&](absl::Span<const double> part) {
    for (const double v : part) {
      if (std::isnan(v)) {
        ++stats.nans;
      } else if (std::isinf(v)) {
        ++stats.infinities;
      } else {
        ++finite;
        low = std::min(low, v);
        high = std::max(high, v);
        sum += v;
        squares += v * v;
        if (v == 0) {
          ++stats.zeros;
        } else {
          least = std::min(least, std::fabs(v));
        }
      }
    }
  });
  if (finite == 0) return stats;
  const auto n = static_cast<double>(finite);
  stats.min = low;
  stats.max = high;
  stats.mean = sum / n;
  stats.deviation = std::sqrt(std::max(0.0, squares / n - stats.mean * stats.mean));
  if (std::isfinite(least)) stats.least = least;
  if (bins <= 0) return stats;
  stats.histogram.assign(static_cast<size_t>(bins), 0);
  // Halves, since the difference of two large numbers may be infinite.
  const double width = high / 2 - low / 2;
  ForParts(tensor, [&](absl::Span<const double> part) {
    for (const double v : part) {
      if (!std::isfinite(v)) continue;
      const double place = width > 0 ? (v / 2 - low / 2) / width * bins : 0;
      ++stats.histogram[static_cast<size_t>(std::clamp(place, 0.0, bins - 1.0))];
    }
  });
  return stats;
}

std::vector<WeightStats> StatsOfWeights(const Graph& graph, int bins) {
  std::vector<WeightStats> all;
  Collect(graph, bins, all);
  return all;
}

std::string WeightsText(const std::vector<WeightStats>& weights) {
  Columns table({{"weight"},
                 {"type"},
                 {"bytes", Columns::kRight},
                 {"min", Columns::kRight},
                 {"max", Columns::kRight},
                 {"mean", Columns::kRight},
                 {"deviation", Columns::kRight},
                 {"zeros", Columns::kRight},
                 {""}});
  int64_t bytes = 0, elements = 0;
  for (const WeightStats& w : weights) {
    std::string note;
    const auto say = [&](const std::string& text) {
      StrAppend(&note, note.empty() ? "" : ", ", text);
    };
    if (w.nans) say(StrCat(Grouped(w.nans), " NaN"));
    if (w.infinities) say(StrCat(Grouped(w.infinities), " infinite"));
    if (w.exceeds_float16() && IsFloating(w.dtype)) say("beyond float16");
    char zeros[16] = "";
    if (w.has_numbers) std::snprintf(zeros, sizeof zeros, "%.1f%%", 100 * w.sparsity());
    const auto number = [&](double v) { return w.has_numbers ? ShortNumber(v) : ""; };
    table.Add({ShortName(w.name), Type::Tensor(w.dtype, Shape::FromInts(w.dims)).ToString(),
               SizeText(w.bytes), number(w.min), number(w.max), number(w.mean), number(w.deviation),
               zeros, note});
    bytes += w.bytes;
    elements += w.elements;
  }
  return StrCat(table.ToText(), Grouped(elements), " in ",
                Grouped(static_cast<int64_t>(weights.size())),
                weights.size() == 1 ? " tensor, " : " tensors, ", SizeText(bytes), "\n");
}

std::string WeightsJson(const std::vector<WeightStats>& weights) {
  return JsonList(weights, [](const WeightStats& w) {
    std::string text =
        StrCat("\n    {\"name\": ", JsonString(w.name),
               ", \"dtype\": ", JsonString(std::string(Name(w.dtype))),
               ", \"dims\": ", JsonList(w.dims, [](int64_t dim) { return StrCat(dim); }),
               ", \"elements\": ", w.elements, ", \"bytes\": ", w.bytes);
    if (w.has_numbers) {
      StrAppend(&text, ", \"min\": ", ExactText(w.min), ", \"max\": ", ExactText(w.max),
                ", \"mean\": ", ExactText(w.mean), ", \"deviation\": ", ExactText(w.deviation),
                ", \"least\": ", ExactText(w.least), ", \"sparsity\": ", ExactText(w.sparsity()),
                ", \"zeros\": ", w.zeros, ", \"nan\": ", w.nans, ", \"infinite\": ", w.infinities);
    }
    if (!w.histogram.empty()) {
      StrAppend(&text, ", \"histogram\": ", JsonList(w.histogram, [](int64_t count) {
        return StrCat(count);
      }));
    }
    return text + "}";
  });
}

}  // namespace x2ir
