// Names of constants that conversions make.
#ifndef X2IR_FORMATS_MADE_NAMES_H_
#define X2IR_FORMATS_MADE_NAMES_H_

#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// The name of a constant that was made for the node "conv" ("conv_const", "conv_const_2", or
// "const") without its number; "" where the name is another.
inline std::string_view MadeConstantName(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  if (end != name.npos && end + 1 < name.size() && name[end] == '_') name = name.substr(0, end);
  return name == "const" || name.ends_with("_const") ? name : std::string_view();
}

}  // namespace x2ir

#endif  // X2IR_FORMATS_MADE_NAMES_H_
