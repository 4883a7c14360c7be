// Quantized types as text: what a value's annotation holds.
#include <sstream>

#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

template <typename T>
void Put(std::ostringstream& out, const std::vector<T>& list) {
  out << ' ' << list.size();
  for (const T& item : list) out << ' ' << item;
}

template <typename T>
bool Get(std::istringstream& in, std::vector<T>* list) {
  size_t count = 0;
  if (!(in >> count)) return false;
  for (size_t i = 0; i < count; ++i) {
    T item{};
    if (!(in >> item)) return false;
    list->push_back(item);
  }
  return true;
}

}  // namespace

std::string QuantizationText(const mlir::Quantization& q) {
  std::ostringstream out;
  out.precision(17);
  out << Name(q.storage) << ' ' << Name(q.expressed) << ' ' << q.storage_min << ' '
      << q.storage_max;
  Put(out, q.scales);
  Put(out, q.zero_points);
  Put(out, q.axes);
  Put(out, q.block_sizes);
  return out.str();
}

absl::StatusOr<mlir::Quantization> ParseQuantization(std::string_view text) {
  std::istringstream in{std::string(text)};
  mlir::Quantization q;
  std::string storage, expressed;
  const bool good = in >> storage >> expressed >> q.storage_min >> q.storage_max &&
                    Get(in, &q.scales) && Get(in, &q.zero_points) && Get(in, &q.axes) &&
                    Get(in, &q.block_sizes);
  const auto storage_type = ParseDType(storage), expressed_type = ParseDType(expressed);
  if (!good || !storage_type || !expressed_type) return Invalid("not a quantized type: ", text);
  q.storage = *storage_type;
  q.expressed = *expressed_type;
  return q;
}

}  // namespace stablehlo
}  // namespace x2ir
