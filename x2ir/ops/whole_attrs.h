// The attributes of a node in the form of its definition.
#ifndef X2IR_OPS_WHOLE_ATTRS_H_
#define X2IR_OPS_WHOLE_ATTRS_H_

#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

// In the definition's order, those with defaults written out: equal nodes look equal. Attributes
// that the op does not have come last (OpDef::Check refuses them).
AttributeMap WholeAttrs(const OpDef& def, AttributeMap attrs);

}  // namespace x2ir

#endif  // X2IR_OPS_WHOLE_ATTRS_H_
