// Names of what a builder made where no driver gives them: bodies of nodes, and steps on whole
// graphs.
#ifndef X2IR_OPS_NAME_MADE_H_
#define X2IR_OPS_NAME_MADE_H_

#include <string_view>

#include "absl/status/status.h"
#include "x2ir/ops/builder.h"

namespace X2IR_API x2ir {

// Values without a name get unique ones that are made from `base`; "": from the op of their node.
// Gives the builder's failure, and names nothing then.
absl::Status NameMade(Builder& b, std::string_view base);
// The same, after the nodes were put in the order in which `results` use them: what C++ expressions
// with several calls made has no other order of its own (Builder::PutInOrderOfUse).
absl::Status NameMade(Builder& b, std::string_view base, Builder::Operands results);
// Names that begin with that of the node's first output, then have the op.
void NameMadeFor(const Node& node, Builder& b);

}  // namespace x2ir

#endif  // X2IR_OPS_NAME_MADE_H_
