// Texts for people, safe for any bytes that a file may contain.
#ifndef X2IR_GRAPH_WRAPPER_READABLE_H_
#define X2IR_GRAPH_WRAPPER_READABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// The length of the well-formed UTF-8 sequence at the front of `text`, which is not empty; 0 where
// there is none.
size_t Utf8Length(std::string_view text);
// The character of a well-formed sequence.
uint32_t Utf8Character(std::string_view sequence);

// Whether a character tells a terminal what to do instead of being seen: control characters of both
// sets (C0 and C1, with newline and tab), those that turn the direction of text, and
// separators of lines.
bool IsControl(uint32_t character);

// `text` for a terminal: control characters other than newline and tab are written as \x1b and
// \u202e, and bytes that are no UTF-8 as \x9b.
std::string Printable(std::string_view text);

// A message for people: of a line that is very long only its two ends, and of very many lines
// those that come first. What a model is called may be as long as its file.
std::string ShortMessage(std::string_view message);
// The same for a status, which keeps its code and payloads.
absl::Status WithShortMessage(const absl::Status& status);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_READABLE_H_
