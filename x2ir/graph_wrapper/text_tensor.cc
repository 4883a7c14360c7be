// Numbers and tensors as text, and back.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "x2ir/graph_wrapper/memory_size_internal.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text_internal.h"

namespace x2ir::text_internal {
namespace {

constexpr int64_t kBytesOfEmptyString = 32;

template <typename T>
std::string Shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr};
}

template <typename T>
std::optional<T> ToFloating(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (negative || text[0] == '+')) text.remove_prefix(1);
  T value;
  if (text == "nan") {
    value = std::numeric_limits<T>::quiet_NaN();
  } else if (text == "inf") {
    value = std::numeric_limits<T>::infinity();
  } else {
    // Only digits may follow the sign: from_chars would also take "-1", "infinity", "nan(x)".
    if (text.empty() || !(IsDigit(text[0]) || text[0] == '.')) return std::nullopt;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  }
  return negative ? -value : value;
}

template <typename T>
T Load(const Tensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, tensor.bytes().data() + i * sizeof(T), sizeof(T));
  return value;
}

// Reads need no saturation: what was printed is in range, and "inf" is meant as such.
uint32_t SmallFloatBits(DType dtype, double value) {
  return EncodeSmallFloat(dtype, value, /*saturate=*/false, E8M0Rounding::kNearest);
}

// The fewest digits that give the same element, or the value itself where that is no longer.
std::string SmallFloatText(DType dtype, double value) {
  const uint32_t bits = SmallFloatBits(dtype, value);
  const std::string exact = Shortest(value);
  for (int digits = 1; digits < 9 && std::isfinite(value); ++digits) {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, digits);
    const std::string text(buffer, end.ptr);
    const auto back = ToDouble(text);
    if (back && SmallFloatBits(dtype, *back) == bits) {
      return text.size() < exact.size() ? text : exact;
    }
  }
  return exact;
}

template <typename T>
std::string ComplexText(const Tensor& tensor, int64_t i) {
  return StrCat("(", Shortest(Load<T>(tensor, 2 * i)), ", ", Shortest(Load<T>(tensor, 2 * i + 1)),
                ")");
}

std::string ElementText(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.dtype();
  switch (dtype) {
    case DType::kString: return Quote(tensor.strings()[i]);
    case DType::kBool: return tensor.AsInt(i) ? "true" : "false";
    case DType::kFloat32: return Shortest(Load<float>(tensor, i));
    case DType::kFloat64: return Shortest(Load<double>(tensor, i));
    case DType::kComplex64: return ComplexText<float>(tensor, i);
    case DType::kComplex128: return ComplexText<double>(tensor, i);
    case DType::kUInt64: return StrCat(Load<uint64_t>(tensor, i));
    default: break;
  }
  if (IsSmallFloat(dtype)) return SmallFloatText(dtype, tensor.AsDouble(i));
  return StrCat(tensor.AsInt(i));
}

absl::Status BadElement(DType dtype) { return Invalid("expected an element of ", Name(dtype)); }

// Appends one element. Elements under 8 bits take a byte each here.
class ElementReader {
 public:
  ElementReader(std::string_view text, size_t* pos, DType dtype)
      : text_(text), pos_(pos), dtype_(dtype) {}

  absl::Status Read() {
    SkipSpace(text_, pos_);
    const size_t start = *pos_;
    if (dtype_ == DType::kString) {
      X2IR_ASSIGN_OR_RETURN(std::string value, ReadQuoted(text_, pos_));
      strings_.push_back(std::move(value));
      return absl::OkStatus();
    }
    const bool ok =
        IsComplex(dtype_) ? ReadComplex() : Append(ReadNumberToken(text_, pos_), dtype_);
    if (ok) return absl::OkStatus();
    *pos_ = start;
    return BadElement(dtype_);
  }

  Tensor Finish(std::vector<int64_t> dims) {
    if (dtype_ == DType::kString) return Tensor::Strings(std::move(dims), std::move(strings_));
    Tensor tensor = Tensor::Zeros(dtype_, std::move(dims));
    const absl::Span<std::byte> out = tensor.mutable_bytes();
    const int bits = BitWidth(dtype_);
    if (bits < 8) {
      for (size_t i = 0; i < bytes_.size(); ++i) {
        SetPacked(out.data(), static_cast<int64_t>(i), bits, static_cast<uint8_t>(bytes_[i]));
      }
    } else if (!bytes_.empty()) {
      std::memcpy(out.data(), bytes_.data(), std::min(out.size(), bytes_.size()));
    }
    return tensor;
  }

 private:
  bool ReadComplex() {
    const DType part = dtype_ == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
    for (const char c : {'(', ','}) {
      if (!Take(c)) return false;
      SkipSpace(text_, pos_);
      if (!Append(ReadNumberToken(text_, pos_), part)) return false;
    }
    return Take(')');
  }

  bool Take(char c) {
    SkipSpace(text_, pos_);
    if (*pos_ >= text_.size() || text_[*pos_] != c) return false;
    ++*pos_;
    return true;
  }

  template <typename T>
  void Put(T value, size_t size = sizeof(T)) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }

  bool Append(std::string_view token, DType dtype) {
    if (dtype == DType::kFloat32) {
      const auto value = ToFloat(token);
      if (value) Put(*value);
      return value.has_value();
    }
    if (IsFloating(dtype)) {
      const auto value = ToDouble(token);
      if (!value) return false;
      if (dtype == DType::kFloat64) {
        Put(*value);
      } else {
        Put(SmallFloatBits(dtype, *value), BitWidth(dtype) == 16 ? 2 : 1);
      }
      return true;
    }
    if (dtype == DType::kBool) {
      const bool yes = token == "true" || token == "1";
      Put(static_cast<uint8_t>(yes));
      return yes || token == "false" || token == "0";
    }
    return AppendInt(token, dtype);
  }

  bool AppendInt(std::string_view token, DType dtype) {
    if (!IsInteger(dtype)) return false;
    const int bits = BitWidth(dtype);
    const char* end = token.data() + token.size();
    uint64_t stored;
    if (IsSignedInt(dtype)) {
      int64_t value;
      const auto result = std::from_chars(token.data(), end, value);
      if (token.empty() || result.ec != std::errc() || result.ptr != end) return false;
      const int64_t max = std::numeric_limits<int64_t>::max() >> (64 - bits);
      if (value > max || value < -max - 1) return false;
      stored = static_cast<uint64_t>(value);
    } else {
      const auto result = std::from_chars(token.data(), end, stored);
      if (token.empty() || result.ec != std::errc() || result.ptr != end) return false;
      if (stored > std::numeric_limits<uint64_t>::max() >> (64 - bits)) return false;
    }
    Put(stored, bits < 8 ? 1 : bits / 8);  // little-endian: the low bytes
    return true;
  }

  std::string_view text_;
  size_t* pos_;
  DType dtype_;
  std::vector<std::byte> bytes_;
  std::vector<std::string> strings_;
};

// The static dims of a tensor type; an error otherwise.
absl::StatusOr<std::vector<int64_t>> StaticDims(const Type& type) {
  const auto dims = type.shape() ? type.shape()->Static() : std::nullopt;
  if (!dims || type.dtype() == DType::kUndefined) {
    return Invalid("a constant needs an element type and numbers as dims, got ", type.ToString());
  }
  return *dims;
}

}  // namespace

std::string NumberText(float value) { return Shortest(value); }
std::string NumberText(double value) { return Shortest(value); }
std::optional<float> ToFloat(std::string_view text) { return ToFloating<float>(text); }
std::optional<double> ToDouble(std::string_view text) { return ToFloating<double>(text); }

std::string_view ReadNumberToken(std::string_view text, size_t* pos) {
  const size_t start = *pos;
  size_t end = start;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (IsAlpha(c) || IsDigit(c) || c == '.') continue;
    const char before = end > start ? text[end - 1] : 'e';
    if ((c == '-' || c == '+') && (before == 'e' || before == 'E')) continue;
    break;
  }
  *pos = end;
  return text.substr(start, end - start);
}

std::string TensorText(const Tensor& tensor, int64_t max_elements) {
  std::string text = tensor.type().ToString();
  const bool elided = tensor.is_sparse() || tensor.num_elements() > max_elements ||
                      tensor.dtype() == DType::kUndefined;
  if (elided) return text;
  text += '{';
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (i != 0) text += ", ";
    text += ElementText(tensor, i);
  }
  text += '}';
  return text;
}

absl::StatusOr<Tensor> ZerosOfType(const Type& type, int64_t* zeros_left) {
  if (!type.is_tensor() && type.kind() != Type::kSparseTensor) {
    return Invalid("a constant is a tensor, got ", type.ToString());
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, StaticDims(type));
  const std::optional<int64_t> n = CheckedProduct(dims);
  if (!n) return Invalid("a tensor cannot be as large as ", type.ToString());
  if (type.kind() == Type::kSparseTensor) {
    if (type.dtype() == DType::kString) return Invalid("a sparse tensor of strings");
    return Tensor::Sparse(std::move(dims), Tensor::Zeros(type.dtype(), {0}),
                          Tensor::Zeros(DType::kInt64, {0}));
  }
  const bool strings = type.dtype() == DType::kString;
  const auto size =
      strings ? (*n <= *zeros_left / kBytesOfEmptyString ? std::optional(*n * kBytesOfEmptyString)
                                                         : std::nullopt)
              : ByteSize(type.dtype(), *n);
  if (!size || *size > *zeros_left) return Invalid("too large to make: ", type.ToString());
  *zeros_left -= *size;
  if (strings) return Tensor::Strings(std::move(dims), std::vector<std::string>(*n));
  // calloc gets large blocks from the system as pages that exist only once written to.
  std::shared_ptr<void> owner(std::calloc(MemorySize(*size + 1), 1), std::free);
  if (!owner) return Invalid("not enough memory for ", type.ToString());
  const auto* data = static_cast<const std::byte*>(owner.get());
  return Tensor::View(type.dtype(), std::move(dims), {data, static_cast<size_t>(*size)}, owner);
}

absl::StatusOr<Tensor> ReadTensor(std::string_view text, size_t* pos, int64_t* zeros_left) {
  const size_t start = *pos;
  X2IR_ASSIGN_OR_RETURN(const Type type, ReadType(text, pos));
  size_t next = *pos;
  SkipSpace(text, &next);
  if (!type.is_tensor() || next >= text.size() || text[next] != '{') {
    auto zeros = ZerosOfType(type, zeros_left);
    if (!zeros.ok()) *pos = start;
    return zeros;
  }
  *pos = next + 1;
  auto fail_at_start = [&](const auto&... message) {
    *pos = start;
    return Invalid(message...);
  };
  const auto dims = StaticDims(type);
  if (!dims.ok()) return fail_at_start(dims.status().message());
  const auto n = CheckedProduct(*dims);
  if (!n) return fail_at_start("a tensor cannot be as large as ", type.ToString());
  ElementReader reader(text, pos, type.dtype());
  int64_t count = 0;
  SkipSpace(text, pos);
  if (*pos < text.size() && text[*pos] == '}') {
    ++*pos;
  } else {
    for (bool more = true; more; ++count) {
      X2IR_RETURN_IF_ERROR(reader.Read());
      SkipSpace(text, pos);
      const char c = *pos < text.size() ? text[*pos] : '\0';
      if (c != ',' && c != '}') return Invalid("expected ',' or '}' after an element");
      ++*pos;
      more = c == ',';
    }
  }
  if (count != *n) {
    return fail_at_start(type.ToString(), ": expected ", *n, " elements, got ", count);
  }
  return reader.Finish(*dims);
}

}  // namespace x2ir::text_internal
