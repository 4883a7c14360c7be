// Numbers out of text and out of bytes.
#ifndef X2IR_GRAPH_WRAPPER_NUMBERS_H_
#define X2IR_GRAPH_WRAPPER_NUMBERS_H_

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// All of `text` as a number, decimal as std::from_chars reads it: no spaces, no plus sign; nullopt
// where it is none, or T cannot hold it.
template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The same for what may be an index: no number below 0.
inline std::optional<int64_t> ParseIndex(std::string_view text) {
  const auto value = ParseNumber<int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// A number as it lies in memory, aligned or not. The caller knows that its bytes are there.
template <typename T>
T LoadNumber(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_NUMBERS_H_
