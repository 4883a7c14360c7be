// Pieces of reports: texts, and arrays of anything.
#ifndef X2IR_CORE_JSON_LIST_H_
#define X2IR_CORE_JSON_LIST_H_

#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

// The text in quotes. Bytes that are no UTF-8 become U+FFFD, so that any program can read it.
std::string ReadableJson(std::string_view text);

// "[a, b]" of what item(entry) gives for each entry.
template <typename Range, typename F>
std::string JsonList(const Range& range, F item) {
  std::string text = "[";
  for (const auto& entry : range) StrAppend(&text, text.size() > 1 ? ", " : "", item(entry));
  return text + "]";
}

}  // namespace x2ir

#endif  // X2IR_CORE_JSON_LIST_H_
