// Tensors as the code that makes them.
#include <cmath>
#include <cstring>

#include "absl/strings/str_join.h"
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {
namespace {

constexpr int64_t kMaxListed = 16;                       // elements that are spelled out
constexpr size_t kMaxRead = 1 << 22;                     // bytes in which a pattern is looked for
constexpr int64_t kLeastUniform = 3, kLeastCounted = 5;  // elements

size_t Width(const Tensor& tensor) { return static_cast<size_t>(BitWidth(tensor.dtype())) / 8; }

bool IsUniform(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return std::memcmp(bytes.data(), bytes.data() + Width(tensor), bytes.size() - Width(tensor)) == 0;
}

// 0, 1, 2, ... along one axis, the others being of one element.
bool Counts(const Tensor& tensor) {
  const DType type = tensor.dtype();
  if (type != DType::kInt64 && type != DType::kInt32 && type != DType::kInt16) return false;
  int axes = 0;
  for (const int64_t dim : tensor.dims()) axes += dim != 1;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (axes != 1 || tensor.AsInt(i) != tensor.AsInt(0) + i) return false;
  }
  return true;
}

// True on the diagonal and below it, in every matrix.
bool IsLowerTriangle(const Tensor& tensor) {
  if (tensor.dtype() != DType::kBool || tensor.rank() < 2) return false;
  const int64_t n = tensor.dims().back();
  if (n < 2 || tensor.dim(tensor.rank() - 2) != n) return false;
  const auto bytes = tensor.bytes();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const bool below = i % n <= i / n % n;
    if ((bytes[static_cast<size_t>(i)] != std::byte{0}) != below) return false;
  }
  return true;
}

}  // namespace

std::string TensorCode(const Tensor& tensor, const Framework& framework, bool is_given) {
  const int64_t count = tensor.num_elements();
  const bool is_bool = tensor.dtype() == DType::kBool;
  if (count == 0 || IsComplex(tensor.dtype()) || (BitWidth(tensor.dtype()) < 16 && !is_bool)) {
    return "";
  }
  const std::string package(framework.package);
  const std::string typed = StrCat(", dtype=", framework.TypeName(tensor.dtype()));
  // What numbers in the code are by themselves.
  const bool plain =
      is_bool || tensor.dtype() == DType::kInt64 || tensor.dtype() == DType::kFloat32;
  const auto made = [&](std::string_view function, std::string_view arguments, bool is_typed) {
    return StrCat(package, ".", function, "(", arguments, is_typed ? "" : typed, ")");
  };
  if (tensor.rank() > 0 && tensor.nbytes() <= kMaxRead) {
    const std::string dims = absl::StrJoin(tensor.dims(), ", ");
    const bool is_float32 = tensor.dtype() == DType::kFloat32;
    if (count >= kLeastUniform && IsUniform(tensor)) {
      const Tensor one = tensor.Reshaped({count});
      const std::string number = ElementLiteral(tensor, 0);
      if (number == "0" || number == "0.0" || number == "False")
        return made("zeros", dims, is_float32);
      if (number == "1" || number == "1.0" || number == "True")
        return made("ones", dims, is_float32);
      std::vector<std::string> sizes;
      for (const int64_t dim : tensor.dims()) sizes.push_back(StrCat(dim));
      // torch.full looks at the number before it is rounded.
      const bool largest = IsFloating(tensor.dtype()) && std::abs(tensor.AsDouble(0)) > 1e38;
      const std::string exact = largest ? FloatLiteral(tensor.AsDouble(0), false) : number;
      return made("full", StrCat(Tuple(sizes), ", ", exact), plain);
    }
    if (count >= kLeastCounted && Counts(tensor)) {
      const int64_t first = tensor.AsInt(0);
      const std::string range =
          made("arange", StrCat(first == 0 ? "" : StrCat(first, ", "), first + count), plain);
      return tensor.rank() == 1 ? range : StrCat(range, ".reshape(", dims, ")");
    }
    // OneFlow's takes no bools.
    if (!is_given && !framework.find && IsLowerTriangle(tensor))
      return StrCat(made("ones", dims, false), ".tril()");
  }
  // A list of bools is short where it is one.
  if (count > (is_bool ? 1 : kMaxListed)) return "";
  return made("tensor", TensorLiteral(tensor), plain);
}

}  // namespace x2ir::python
