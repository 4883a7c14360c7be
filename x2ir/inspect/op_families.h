// Families of IR ops, as users look for them: chapters of the reference, and colors of drawings.
#ifndef X2IR_INSPECT_OP_FAMILIES_H_
#define X2IR_INSPECT_OP_FAMILIES_H_

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace X2IR_API x2ir {

struct OpFamily {
  std::string_view title;               // "Convolution and pooling"
  std::string_view color;               // "#rrggbb", light enough for black text
  std::vector<std::string_view> files;  // of x2ir/ops, whose ops are of this family: "conv", "pool"
  std::vector<std::string_view> ops;    // that are in a file of another family
};
// In the order of the reference. Each IR op is in exactly one (a law).
absl::Span<const OpFamily> OpFamilies();
// Null for an op without a family, such as one that a host program registers.
const OpFamily* FamilyOf(Symbol ir_op);

}  // namespace x2ir

#endif  // X2IR_INSPECT_OP_FAMILIES_H_
