// Conversions of single numbers between C++ types without undefined behaviour, shared by
// eval_util.cc and cast_tensor.cc. Not for other files.
#ifndef X2IR_OPS_NUMBER_CONVERT_INTERNAL_H_
#define X2IR_OPS_NUMBER_CONVERT_INTERNAL_H_

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {

struct BoolByte {
  uint8_t byte;
};

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Integers wrap, floats truncate (see CastTensor), complex numbers lose the imaginary part.
template <typename To, typename From>
To ConvertNumber(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<From, Half>) {
    return ConvertNumber<To>(HalfToFloat(v));
  } else if constexpr (std::is_same_v<From, BFloat16>) {
    return ConvertNumber<To>(BFloat16ToFloat(v));
  } else if constexpr (std::is_same_v<From, BoolByte>) {
    return ConvertNumber<To>(static_cast<int64_t>(v.byte != 0));
  } else if constexpr (std::is_same_v<To, BoolByte>) {
    return BoolByte{v != From{}};
  } else if constexpr (kIsComplex<To>) {
    using R = typename To::value_type;
    if constexpr (kIsComplex<From>) {
      return To(static_cast<R>(v.real()), static_cast<R>(v.imag()));
    } else {
      return To(static_cast<R>(v));
    }
  } else if constexpr (kIsComplex<From>) {
    return ConvertNumber<To>(v.real());
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (v >= static_cast<From>(0x1p63) && v < static_cast<From>(0x1p64)) {
        return static_cast<uint64_t>(v);
      }
    }
    if constexpr (sizeof(To) < 4 || std::is_same_v<To, int32_t>) {
      if (!(v > static_cast<From>(-0x1p31 - 1) && v < static_cast<From>(0x1p31))) {
        return static_cast<To>(std::numeric_limits<int32_t>::min());
      }
    }
    return static_cast<To>(TruncateToInt64(static_cast<double>(v)));
  } else {
    return static_cast<To>(v);
  }
}

struct StoreOptions {
  bool saturate = true;
  E8M0Rounding rounding = E8M0Rounding::kUp;
};

// FromNumbers with the options of Cast. T is a compute type.
template <typename T>
Tensor StoreNumbers(DType dtype, std::vector<int64_t> dims, absl::Span<const T> values,
                    const StoreOptions& options);

}  // namespace x2ir

#endif  // X2IR_OPS_NUMBER_CONVERT_INTERNAL_H_
