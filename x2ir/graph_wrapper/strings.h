// StrCat and string-keyed hash tables that take std::string_view everywhere. Debian's
// Abseil is built with its own absl::string_view; these bridge the two and cost nothing
// where they are the same type.
#ifndef X2IR_GRAPH_WRAPPER_STRINGS_H_
#define X2IR_GRAPH_WRAPPER_STRINGS_H_

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
