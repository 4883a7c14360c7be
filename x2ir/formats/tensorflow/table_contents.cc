// See table_contents.h.
#include "x2ir/formats/tensorflow/table_contents.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Each element as its bytes.
std::vector<std::string> ElementBytes(const Tensor& tensor) {
  if (tensor.is_string()) return tensor.strings();
  const size_t width = static_cast<size_t>(BitWidth(tensor.dtype()) / 8);
  const auto* data = reinterpret_cast<const char*>(tensor.bytes().data());
  std::vector<std::string> all;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) all.emplace_back(data + i * width, width);
  return all;
}

}  // namespace

absl::StatusOr<Tensor> PackTfTable(const Tensor& keys, const Tensor& values, bool first_counts) {
  if (keys.num_elements() != values.num_elements()) {
    return Invalid(keys.num_elements(), " keys for ", values.num_elements(), " values");
  }
  const std::vector<std::string> from = ElementBytes(keys), to = ElementBytes(values);
  absl::flat_hash_map<std::string_view, std::string_view> seen;
  std::vector<std::string> all, others;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto [it, fresh] = seen.emplace(from[i], to[i]);
    if (!fresh && !first_counts && it->second != to[i]) {
      return Invalid("the ", i, "th key occurs earlier with another value");
    }
    if (!fresh) continue;
    all.push_back(from[i]);
    others.push_back(to[i]);
  }
  const auto count = static_cast<int64_t>(all.size());
  all.insert(all.end(), others.begin(), others.end());
  return Tensor::Strings({2, count}, std::move(all));
}

absl::StatusOr<Tensor> TfTableRow(const Tensor& table, int64_t row, DType dtype) {
  if (!table.is_string() || table.rank() != 2 || table.dim(0) != 2) return Invalid("not a table");
  const int64_t count = table.dim(1);
  const auto begin = table.strings().begin() + row * count;
  if (dtype == DType::kString) return Tensor::Strings({count}, {begin, begin + count});
  if (BitWidth(dtype) % 8 != 0) return Invalid("a table of ", Name(dtype));
  Tensor out = Tensor::Zeros(dtype, {count});
  const size_t width = static_cast<size_t>(BitWidth(dtype) / 8);
  std::byte* bytes = out.mutable_bytes().data();
  for (int64_t i = 0; i < count; ++i) {
    if (begin[i].size() != width) return Invalid("the table is of another type than ", Name(dtype));
    std::memcpy(bytes + i * width, begin[i].data(), width);
  }
  return out;
}

bool ReadsTfTable(std::string_view op) {
  return op == "LookupTableFind" || op == "LookupTableFindV2" || op == "LookupTableSize" ||
         op == "LookupTableSizeV2";
}

}  // namespace x2ir
