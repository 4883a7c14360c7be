// See narrow.h.
#include "x2ir/builder/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

absl::StatusOr<Tensor> NarrowedInts(const Tensor& tensor, std::string_view name, bool bounds) {
  Tensor narrow = Tensor::Zeros(DType::kInt32, tensor.dims());
  const absl::Span<int32_t> out = narrow.mutable_span<int32_t>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(),
                      kLimit = std::numeric_limits<int32_t>::max();
    int64_t number = tensor.AsInt(i);
    if (bounds) number = std::clamp(number, kLeast, kLimit);
    if (number < kLeast || number > kLimit) {
      return CannotExpress("constant '", name, "' has ", number, ", which no int32 is");
    }
    out[static_cast<size_t>(i)] = static_cast<int32_t>(number);
  }
  return narrow;
}

Tensor NarrowedDoubles(const Tensor& tensor) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Tensor narrow = Tensor::Zeros(DType::kFloat32, tensor.dims());
  const absl::Span<float> out = narrow.mutable_span<float>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double number = tensor.AsDouble(i);
    out[static_cast<size_t>(i)] = static_cast<float>(
        std::isfinite(number) ? std::clamp(number, -kLargest, kLargest) : number);
  }
  return narrow;
}

Tensor NarrowedFloats(const Tensor& tensor) {
  Tensor half = Tensor::Zeros(DType::kFloat16, tensor.dims());
  const absl::Span<Half> out = half.mutable_span<Half>();
  const Tensor aligned = tensor.AlignedCopyIfNeeded();
  const absl::Span<const float> in = aligned.span<float>();
  // The largest numbers that masks are made of stay the largest, and no infinities.
  constexpr float kLimit = 65504;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool finite = std::isfinite(in[i]);
    out[i] = FloatToHalf(finite ? std::clamp(in[i], -kLimit, kLimit) : in[i]);
  }
  return half;
}

bool AreOnlyBounds(const Value& value, const BoundOps& ops, int* steps) {
  const auto is_one_of = [](const Node* node, absl::Span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), node->op().view()) != names.end();
  };
  if (value.is_graph_output() || --*steps < 0) return false;
  for (const Use& use : value.uses()) {
    if ((use.node->op().view() == ops.slice && use.index >= 1) ||
        is_one_of(use.node, ops.questions)) {
      continue;
    }
    const bool step =
        is_one_of(use.node, ops.steps) || (use.node->op().view() == ops.gather && use.index == 0);
    if (!step || !AreOnlyBounds(*use.node->output(0), ops, steps)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Tensor> Narrowed(const Tensor& tensor, std::string_view name, bool bounds) {
  switch (tensor.dtype()) {
    case DType::kInt64: return NarrowedInts(tensor, name, bounds);
    case DType::kFloat64: return NarrowedDoubles(tensor);
    case DType::kFloat32: return NarrowedFloats(tensor);
    default: return Internal("no narrower type than ", Name(tensor.dtype()));
  }
}

bool OnlyBounds(const Value& value, const BoundOps& ops) {
  int steps = 100;
  return AreOnlyBounds(value, ops, &steps);
}

}  // namespace x2ir
