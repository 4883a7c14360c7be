#include "x2ir/core/usual_inputs.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

enum class Usual { kNone, kOnes, kZeros, kCounted, kPast };

Usual UsualOf(std::string_view name) {
  if (name == "attention_mask" || name == "encoder_attention_mask" ||
      name == "decoder_attention_mask") {
    return Usual::kOnes;
  }
  if (name == "token_type_ids") return Usual::kZeros;
  if (name == "position_ids") return Usual::kCounted;
  for (const char* start : {"past_key_values.", "past_conv.", "past_ssm."}) {
    if (name.starts_with(start)) return Usual::kPast;
  }
  return Usual::kNone;
}

using Sizes = StringMap<int64_t>;  // of symbolic names

// Elements of more than this are not made up.
constexpr int64_t kMaxElements = int64_t{1} << 28;

// The dims of a shape; nothing where a size is not known. Of a past the lengths that nobody gives
// are 0.
std::optional<std::vector<int64_t>> DimsBy(const Shape& shape, const Sizes& sizes, bool no_past) {
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (const Dim& dim : shape) {
    const Dim known = dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto it = sizes.find(name);
      if (it != sizes.end()) return Dim(it->second);
      if (no_past && name.find("past") != name.npos) return Dim(0);
      return std::nullopt;
    });
    if (!known.is_static() || known.value() < 0 || known.value() > kMaxElements) return {};
    dims.push_back(known.value());
    elements *= std::max<int64_t>(known.value(), 1);
    if (elements > kMaxElements) return {};
  }
  return dims;
}

void NoteSizes(const Shape& shape, const Tensor& tensor, Sizes& sizes) {
  if (shape.rank() != tensor.rank()) return;
  for (int64_t d = 0; d < tensor.rank(); ++d) {
    if (!shape[d].is_symbolic()) continue;
    const std::vector<std::string> names = shape[d].SymbolNames();
    if (names.size() == 1 && shape[d] == Dim::Symbol(names[0])) {
      sizes.try_emplace(names[0], tensor.dim(d));
    }
  }
}

template <typename F>
Tensor Counts(std::vector<int64_t> dims, F&& number) {
  Tensor tensor = Tensor::Zeros(DType::kInt64, std::move(dims));
  const int64_t last = std::max<int64_t>(tensor.rank() ? tensor.dim(tensor.rank() - 1) : 1, 1);
  int64_t i = 0;
  for (int64_t& x : tensor.mutable_span<int64_t>()) x = number(i++ % last);
  return tensor;
}

}  // namespace

bool IsModelState(std::string_view output) {
  return output.starts_with("present.") || output.starts_with("present_");
}

std::vector<std::optional<Tensor>> WithUsualInputs(const Graph& graph,
                                                   absl::Span<const std::optional<Tensor>> inputs) {
  std::vector<std::optional<Tensor>> all(inputs.begin(), inputs.end());
  const auto declared = graph.inputs();
  if (all.size() != declared.size()) return all;
  Sizes sizes;
  bool past_given = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    if (const Shape* shape = declared[i]->shape()) NoteSizes(*shape, *all[i], sizes);
    past_given = past_given || UsualOf(declared[i]->name()) == Usual::kPast;
  }
  int64_t past = 0;
  for (const auto& [name, size] : sizes) {
    if (name.find("past") != name.npos) past = size;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Usual usual = UsualOf(declared[i]->name());
    const Shape* shape = declared[i]->shape();
    if (all[i] || usual == Usual::kNone || !shape || declared[i]->constant()) continue;
    const auto dims = DimsBy(*shape, sizes, !past_given);
    const DType dtype = declared[i]->dtype();
    if (!dims || (usual != Usual::kPast && dtype != DType::kInt64) || !IsNumeric(dtype)) continue;
    if (usual == Usual::kOnes) {
      all[i] = Counts(*dims, [](int64_t) { return 1; });
    } else if (usual == Usual::kCounted) {
      all[i] = Counts(*dims, [&](int64_t at) { return past + at; });
    } else {
      all[i] = Tensor::Zeros(dtype, *dims);
    }
  }
  return all;
}

}  // namespace x2ir
