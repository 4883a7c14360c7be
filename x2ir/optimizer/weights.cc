#include "x2ir/optimizer/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

template <typename T>
bool AllFinite(const Tensor& tensor) {
  const Numbers<T> numbers(tensor);
  return std::all_of(numbers.span().begin(), numbers.span().end(),
                     [](T n) { return std::isfinite(n); });
}

// What is scaled: so many elements, by one factor each, or all by the first. Returns the largest
// magnitude; NaN where one is none.
template <typename T>
double Scale(const T* old, T* out, int64_t size, const double* factors, bool one_each) {
  double largest = 0, none = 0;
  for (int64_t i = 0; i < size; ++i) {
    const double scaled = static_cast<double>(old[i]) * factors[one_each ? i : 0];
    largest = std::max(largest, std::abs(scaled));
    none += scaled - scaled;  // 0; NaN for NaN and infinities
    out[i] = static_cast<T>(scaled);
  }
  return largest + none;
}

}  // namespace

bool StaysInFile(const Tensor& tensor, const PassContext& context) {
  constexpr size_t kLarge = size_t{1} << 20;
  return context.refers_to_weights && tensor.nbytes() >= kLarge && tensor.file_range();
}

std::optional<Tensor> ScaleWeights(const Tensor& weights, const std::vector<double>& scale,
                                   const ChannelLayout& channels) {
  constexpr double kSmallestNormalHalf = 1.0 / 16384;
  const int64_t groups = channels.groups, repeat = channels.repeat;
  const int64_t per_group = channels.per_group, inner = channels.inner;
  if (groups * repeat * per_group * inner != weights.num_elements() ||
      groups * per_group != static_cast<int64_t>(scale.size())) {
    return std::nullopt;
  }
  for (double factor : scale) {
    if (!std::isfinite(factor)) return std::nullopt;
  }
  // Where channels alternate from element to element, a run has all of a group, one factor each.
  const bool one_each = inner == 1;
  const int64_t run = one_each ? per_group : inner;
  std::optional<Tensor> result;
  const absl::Status status = DispatchFloat(weights.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const bool half = weights.dtype() == DType::kFloat16;
    const Numbers<T> old(weights);
    NumbersOut<T> out(weights.dtype(), weights.dims());
    std::vector<double> largest(half ? scale.size() : 0, 0.0);
    for (int64_t at = 0; at < old.size(); at += run) {
      const int64_t row = at / inner;  // of [groups, repeat, per_group]
      const int64_t channel = row / per_group / repeat * per_group + row % per_group;
      const double most = Scale(old.data() + at, out.data() + at, run, &scale[channel], one_each);
      if (!(most <= static_cast<double>(std::numeric_limits<T>::max()))) return absl::OkStatus();
      for (int64_t i = 0; half && i < (one_each ? run : 1); ++i) {
        const double n =
            one_each ? std::abs(static_cast<double>(old[at + i]) * scale[channel + i]) : most;
        largest[channel + i] = std::max(largest[channel + i], n);
      }
    }
    for (double n : largest) {
      if (n != 0 && n < kSmallestNormalHalf) return absl::OkStatus();
    }
    Tensor tensor = out.Finish();
    // Smaller floats are computed as float, and may overflow only now.
    if (tensor.dtype() != DTypeOf<T>::value && !AllFinite<T>(tensor)) return absl::OkStatus();
    result = std::move(tensor);
    return absl::OkStatus();
  });
  DropPages(weights);
  if (!status.ok() || !result) return std::nullopt;
  return Spilled(*std::move(result));
}

double LargestSummand(DType type) {
  switch (type) {
    case DType::kFloat64: return std::ldexp(1.0, 26);
    case DType::kFloat32: return std::ldexp(1.0, 11);
    case DType::kFloat16: return std::ldexp(1.0, 5);
    default: return 0;
  }
}

bool RoundsWhatItIsAddedTo(DType type, double a, double b) {
  const double most = std::max(std::abs(a), std::abs(b));
  return most > LargestSummand(type) && std::abs(a + b) < most / 2;
}

std::optional<Tensor> FiniteNumbers(DType type, const std::vector<double>& numbers) {
  const double most = type == DType::kFloat64 ? std::numeric_limits<double>::max()
                                              : std::numeric_limits<float>::max();
  for (double n : numbers) {
    if (!(std::abs(n) <= most)) return std::nullopt;
  }
  Tensor tensor = FromNumbers<double>(type, {static_cast<int64_t>(numbers.size())}, numbers);
  return AllFinite<double>(tensor) ? std::optional<Tensor>(std::move(tensor)) : std::nullopt;
}

bool IsShared(const Value* weights) {
  constexpr int64_t kSmall = 1024;
  return weights->uses().size() > 1 && weights->constant()->num_elements() > kSmall;
}

bool IsPerChannel(const Tensor& tensor, int64_t rank, int64_t axis, int64_t channels) {
  if (tensor.rank() > rank) return false;
  for (int64_t i = 0; i < tensor.rank(); ++i) {
    const bool own = rank - tensor.rank() + i == axis && tensor.dim(i) == channels;
    if (tensor.dim(i) != 1 && !own) return false;
  }
  return true;
}

std::vector<double> SpreadOver(const Tensor& numbers, int64_t channels) {
  const Numbers<double> all(numbers);
  if (all.size() == 1) return std::vector<double>(static_cast<size_t>(channels), all[0]);
  return std::vector<double>(all.span().begin(), all.span().end());
}

}  // namespace x2ir
