// Where an error is in a text, as its reader counts.
#ifndef X2IR_GRAPH_WRAPPER_TEXT_PLACE_H_
#define X2IR_GRAPH_WRAPPER_TEXT_PLACE_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

// "line 3, column 7" of the byte at `at`; both count from 1.
inline std::string PlaceInText(std::string_view text, size_t at) {
  at = std::min(at, text.size());
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
  return StrCat("line ", line, ", column ", column);
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_TEXT_PLACE_H_
