// StrCat and string-keyed hash tables that take std::string_view everywhere. Debian's
// Abseil is built with its own absl::string_view; these bridge the two and cost nothing
// where they are the same type.
#ifndef X2IR_GRAPH_WRAPPER_STRINGS_H_
#define X2IR_GRAPH_WRAPPER_STRINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

template <typename T>
decltype(auto) ForAbsl(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return absl::string_view(value.data(), value.size());
  } else {
    return (value);
  }
}

template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(ForAbsl(args)...);
}
template <typename... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, ForAbsl(args)...);
}

// Adds the UTF-8 of a code point.
inline void AppendUtf8(std::string* out, uint32_t c) {
  const auto put = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

struct StringViewHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return absl::Hash<std::string_view>{}(text); }
};
struct StringViewEq {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};
template <typename V>
using StringMap = absl::flat_hash_map<std::string, V, StringViewHash, StringViewEq>;
using StringSet = absl::flat_hash_set<std::string, StringViewHash, StringViewEq>;

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_STRINGS_H_
