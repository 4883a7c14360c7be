// Removal of sequences and optionals that are unused after their users were lowered.
#ifndef X2IR_OPTIMIZER_LOWERINGS_SEQUENCES_H_
#define X2IR_OPTIMIZER_LOWERINGS_SEQUENCES_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Whether all that is done with the result of an IR node, a sequence or an optional, is done with
// tensors that are known: a form that writes such a result leaves it to the lowerings then.
bool IsSpelledOut(const Value& value);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LOWERINGS_SEQUENCES_H_
