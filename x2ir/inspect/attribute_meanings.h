// The meanings of the attributes of IR ops, one phrase each, for `x2ir ops NAME` and
// docs/ir_ops.md.
#ifndef X2IR_INSPECT_ATTRIBUTE_MEANINGS_H_
#define X2IR_INSPECT_ATTRIBUTE_MEANINGS_H_

#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// The op's own row, else that of all ops which have an attribute of this name. Empty if there is no
// row, which a law reports.
std::string_view AttributeMeaning(std::string_view op, std::string_view attribute);

}  // namespace x2ir

#endif  // X2IR_INSPECT_ATTRIBUTE_MEANINGS_H_
