// Removal of sequences and optionals that are unused after their users were lowered.
#ifndef X2IR_OPTIMIZER_LOWERINGS_SEQUENCES_H_
#define X2IR_OPTIMIZER_LOWERINGS_SEQUENCES_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Whether all uses of the result of an IR node, a sequence or an optional, can be lowered to known
// tensors: then a form that writes such a result leaves it to the lowerings.
bool IsSpelledOut(const Value& value);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERINGS_SEQUENCES_H_
