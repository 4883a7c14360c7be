// Long text on lines of a given width.
#ifndef X2IR_INSPECT_WRAP_H_
#define X2IR_INSPECT_WRAP_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// The words of a text in lines of at most `width` letters; one that is longer has a line of its
// own. At least one line.
std::vector<std::string> Wrapped(std::string_view text, size_t width);

// Text of a graph (text.h) with its long lines broken after commas, braces and spaces that are not
// in quotes; what follows is indented. ParseGraph reads the same graph from it.
std::string WrapGraphText(std::string_view text, size_t width);

}  // namespace x2ir

#endif  // X2IR_INSPECT_WRAP_H_
