// The layout of ops that have one (attribute `layout`): channels_first or channels_last.
#ifndef X2IR_OPTIMIZER_LAYOUT_H_
#define X2IR_OPTIMIZER_LAYOUT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// Whether the node is of an IR op with a layout, and has another layout.
bool HasOtherLayout(const Node& node, std::string_view layout);
// The node's result, computed by a node of that layout between transposes. FailedPrecondition where
// the rank is not known.
absl::StatusOr<Values> InLayout(Builder& b, const Node& node, std::string_view layout);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LAYOUT_H_
