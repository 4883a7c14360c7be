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
  // Targets write other signs for the dots.
  for (const char* start : {"past_key_values", "past_conv", "past_ssm"}) {
    if (name.starts_with(start)) return Usual::kPast;
  }
  return Usual::kNone;
}

using Sizes = StringMap<int64_t>;  // of symbolic names

// Elements of more than this are not made up.
constexpr int64_t kMaxElements = int64_t{1} << 28;

// What the given inputs tell: sizes of names, and those of the tokens for files that lost the
// names.
struct Known {
  Sizes sizes{};
  std::optional<int64_t> batch{}, length{};
  int64_t past = 0;
  bool past_given = false;
};

// The dims of an input that is made up; nothing where a size is not known.
std::optional<std::vector<int64_t>> DimsBy(const Shape& shape, Usual usual, const Known& known) {
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim dim = shape[axis].Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto it = known.sizes.find(name);
      if (it != known.sizes.end()) return Dim(it->second);
      if (!known.past_given && name == "past_sequence_length") return Dim(0);
      return std::nullopt;
    });
    std::optional<int64_t> size;
    if (dim.is_static()) {
      size = dim.value();
    } else if (axis == 0) {
      size = known.batch;
    } else if (usual == Usual::kPast) {
      size = known.past;
    } else if (known.length && axis == 1) {
      size = *known.length + (usual == Usual::kOnes ? known.past : 0);
    }
    if (!size || *size < 0 || *size > kMaxElements) return {};
    dims.push_back(*size);
    elements *= std::max<int64_t>(*size, 1);
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
  Known known;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    const std::string_view name = declared[i]->name();
    if (const Shape* shape = declared[i]->shape()) NoteSizes(*shape, *all[i], known.sizes);
    if (name == "input_ids" && all[i]->rank() == 2) {
      known.batch = all[i]->dim(0), known.length = all[i]->dim(1);
    }
    if (UsualOf(name) == Usual::kPast && name.ends_with("key") && all[i]->rank() == 4) {
      known.past = all[i]->dim(2), known.past_given = true;
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Usual usual = UsualOf(declared[i]->name());
    const Shape* shape = declared[i]->shape();
    if (all[i] || usual == Usual::kNone || !shape || declared[i]->constant()) continue;
    const auto dims = DimsBy(*shape, usual, known);
    const DType dtype = declared[i]->dtype();
    if (!dims || (usual != Usual::kPast && dtype != DType::kInt64) || !IsNumeric(dtype)) continue;
    if (usual == Usual::kOnes) {
      all[i] = Counts(*dims, [](int64_t) { return 1; });
    } else if (usual == Usual::kCounted) {
      all[i] = Counts(*dims, [&](int64_t at) { return known.past + at; });
    } else {
      all[i] = Tensor::Zeros(dtype, *dims);
    }
  }
  return all;
}

}  // namespace x2ir
