// Conversion between element types, as ONNX Cast defines it.
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/number_convert_internal.h"

namespace x2ir {
namespace {

template <typename To, typename T>
void StoreNative(absl::Span<const T> values, std::byte* out) {
  auto* to = reinterpret_cast<To*>(out);
  for (size_t i = 0; i < values.size(); ++i) to[i] = ConvertNumber<To>(values[i]);
}

template <typename T>
void StoreSmallFloats(DType dtype, absl::Span<const T> values, const StoreOptions& options,
                      std::byte* out) {
  const int bits = BitWidth(dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t v = 0;
    if constexpr (std::is_same_v<T, float>) {
      if (dtype == DType::kFloat16) {
        v = FloatToHalf(values[i]).bits;
      } else if (dtype == DType::kBFloat16) {
        v = FloatToBFloat16(values[i]).bits;
      } else {
        v = EncodeSmallFloat(dtype, values[i], options.saturate, options.rounding);
      }
    } else if constexpr (std::is_integral_v<T>) {
      v = EncodeSmallFloat(dtype, ToDoubleForRounding(values[i]), options.saturate,
                           options.rounding);
    } else {
      v = EncodeSmallFloat(dtype, ConvertNumber<double>(values[i]), options.saturate,
                           options.rounding);
    }
    if (bits == 16) {
      reinterpret_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(v);
    } else {
      SetPacked(out, static_cast<int64_t>(i), bits, static_cast<uint8_t>(v));
    }
  }
}

// --- Strings --------------------------------------------------------------------------------

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] - 'A' + 'a') : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// from_chars takes no plus sign, and a second sign after one is not a number.
bool StripPlus(std::string_view* text) {
  if (text->empty() || text->front() != '+') return true;
  text->remove_prefix(1);
  return text->empty() || text->front() != '-';
}

template <typename T>
bool ParseSigned(std::string_view text, T* out) {
  text = Trim(text);
  if (!StripPlus(&text) || text.empty()) return false;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *out);
  if (result.ptr != end) return false;
  if (result.ec == std::errc()) return true;
  if constexpr (std::is_floating_point_v<T>) {
    if (result.ec == std::errc::result_out_of_range) {
      // Too large is infinity, too small is zero; the exponent's sign tells which. A number
      // without one is too large if it has digits other than zeros before the point.
      const bool negative = text.front() == '-';
      const size_t e = text.find_first_of("eE");
      bool small = e != std::string_view::npos && e + 1 < text.size() && text[e + 1] == '-';
      if (e == std::string_view::npos) {
        const size_t digit = text.find_first_not_of("-0");
        small = digit != std::string_view::npos && text[digit] == '.';
      }
      *out = small ? T{0} : std::numeric_limits<T>::infinity();
      if (negative) *out = -*out;
      return true;
    }
  }
  return false;
}

template <typename T>
bool ParseFloat(std::string_view text, T* out) {
  // from_chars takes "inf" and "nan", in any case, but also "nan(...)" and "infinity".
  if (ParseSigned(text, out)) return true;
  text = Trim(text);
  if (StripPlus(&text) && EqualsIgnoringCase(text, "inf")) {
    *out = std::numeric_limits<T>::infinity();
    return true;
  }
  return false;
}

// Exactly where the text is an integer, else towards zero.
template <typename T>
bool ParseInt(std::string_view text, T* out) {
  if (ParseSigned(text, out)) return true;
  double v = 0;
  if (!ParseFloat(text, &v)) return false;
  *out = ConvertNumber<T>(v);
  return true;
}

template <typename T, typename Parse>
absl::StatusOr<Tensor> ParseAll(const Tensor& in, DType to, const StoreOptions& options,
                                Parse parse) {
  std::vector<T> values(static_cast<size_t>(in.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& text = in.strings()[i];
    if (!parse(text, &values[i])) {
      return Invalid("cast to ", Name(to), ": '", text.substr(0, 40), "' is no number");
    }
  }
  return StoreNumbers<T>(to, in.dims(), values, options);
}

absl::StatusOr<Tensor> FromStrings(const Tensor& in, DType to, const StoreOptions& options) {
  switch (ComputeTypeOf(to)) {
    case ComputeType::kInt: return ParseAll<int64_t>(in, to, options, ParseInt<int64_t>);
    case ComputeType::kUInt:
      if (to == DType::kBool) break;  // "0.5" is true
      return ParseAll<uint64_t>(in, to, options, ParseInt<uint64_t>);
    case ComputeType::kFloat:
      if (to == DType::kFloat32) return ParseAll<float>(in, to, options, ParseFloat<float>);
      break;
    default: break;
  }
  return ParseAll<double>(in, to, options, ParseFloat<double>);
}

template <typename T>
std::string ToText(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) return "NaN";
    if (std::isinf(v)) return v > 0 ? "INF" : "-INF";
    char buffer[512];  // a double in full has at most 1 + 309 or 2 + 324 + 17 characters
    const auto r = std::to_chars(buffer, buffer + sizeof(buffer), v, std::chars_format::fixed);
    return std::string(buffer, r.ptr);
  } else {
    return std::to_string(v);
  }
}

absl::StatusOr<Tensor> ToStrings(const Tensor& in) {
  std::vector<std::string> text(static_cast<size_t>(in.num_elements()));
  X2IR_RETURN_IF_ERROR(DispatchReal(in.dtype(), [&](auto zero) {
    const Numbers<decltype(zero)> numbers(in);
    for (int64_t i = 0; i < numbers.size(); ++i) text[i] = ToText(numbers[i]);
    return absl::OkStatus();
  }));
  return Tensor::Strings(in.dims(), std::move(text));
}

}  // namespace

int64_t TruncateToInt64(double v) {
  if (v >= -0x1p63 && v < 0x1p63) return static_cast<int64_t>(v);
  return std::numeric_limits<int64_t>::min();
}

template <typename T>
Tensor StoreNumbers(DType dtype, std::vector<int64_t> dims, absl::Span<const T> values,
                    const StoreOptions& options) {
  Tensor out = Tensor::Zeros(dtype, std::move(dims));
  X2IR_CHECK(static_cast<size_t>(out.num_elements()) == values.size(),
             "as many values are needed as the shape has elements");
  std::byte* bytes = out.mutable_bytes().data();
  switch (dtype) {
    case DType::kFloat32: StoreNative<float>(values, bytes); break;
    case DType::kFloat64: StoreNative<double>(values, bytes); break;
    case DType::kInt8: StoreNative<int8_t>(values, bytes); break;
    case DType::kInt16: StoreNative<int16_t>(values, bytes); break;
    case DType::kInt32: StoreNative<int32_t>(values, bytes); break;
    case DType::kInt64: StoreNative<int64_t>(values, bytes); break;
    case DType::kUInt8: StoreNative<uint8_t>(values, bytes); break;
    case DType::kUInt16: StoreNative<uint16_t>(values, bytes); break;
    case DType::kUInt32: StoreNative<uint32_t>(values, bytes); break;
    case DType::kUInt64: StoreNative<uint64_t>(values, bytes); break;
    case DType::kBool: StoreNative<BoolByte>(values, bytes); break;
    case DType::kComplex64: StoreNative<std::complex<float>>(values, bytes); break;
    case DType::kComplex128: StoreNative<std::complex<double>>(values, bytes); break;
    case DType::kInt2:
    case DType::kInt4:
    case DType::kUInt2:
    case DType::kUInt4:
      for (size_t i = 0; i < values.size(); ++i) {
        SetPacked(bytes, static_cast<int64_t>(i), BitWidth(dtype),
                  ConvertNumber<uint8_t>(values[i]));
      }
      break;
    default: StoreSmallFloats(dtype, values, options, bytes); break;
  }
  return out;
}

#define X2IR_INSTANTIATE_(T)                                                        \
  template Tensor StoreNumbers<T>(DType, std::vector<int64_t>, absl::Span<const T>, \
                                  const StoreOptions&);
X2IR_INSTANTIATE_(float)
X2IR_INSTANTIATE_(double)
X2IR_INSTANTIATE_(int64_t)
X2IR_INSTANTIATE_(uint64_t)
X2IR_INSTANTIATE_(std::complex<float>)
X2IR_INSTANTIATE_(std::complex<double>)
#undef X2IR_INSTANTIATE_

absl::StatusOr<Tensor> CastTensor(const Tensor& in, DType to, bool saturate,
                                  std::string_view round_mode) {
  if (in.dtype() == to) return in;
  StoreOptions options;
  options.saturate = saturate;
  if (round_mode == "down") {
    options.rounding = E8M0Rounding::kDown;
  } else if (round_mode == "nearest") {
    options.rounding = E8M0Rounding::kNearest;
  } else if (round_mode != "up") {
    return Invalid("cast: round_mode is '", round_mode, "'; expected up, down or nearest");
  }
  if (in.is_sparse() || in.dtype() == DType::kUndefined || to == DType::kUndefined ||
      IsComplex(in.dtype()) || IsComplex(to)) {
    return Invalid("cast: there is no conversion from ", in.is_sparse() ? "sparse " : "",
                   Name(in.dtype()), " to ", Name(to));
  }
  if (in.is_string()) return FromStrings(in, to, options);
  if (to == DType::kString) return ToStrings(in);
  Tensor out;
  X2IR_RETURN_IF_ERROR(DispatchReal(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> numbers(in);
    out = StoreNumbers<T>(to, in.dims(), numbers.span(), options);
    return absl::OkStatus();
  }));
  return out;
}

}  // namespace x2ir
