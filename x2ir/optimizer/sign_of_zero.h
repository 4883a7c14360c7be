// Whether the sign of a zero matters.
#ifndef X2IR_OPTIMIZER_SIGN_OF_ZERO_H_
#define X2IR_OPTIMIZER_SIGN_OF_ZERO_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Whether a result of the graph may be another number if zeros among the value's elements had the
// other sign. 0 and -0 are the same number: it takes a division, a power or text to tell them
// apart. Looks at a bounded number of nodes after the value, and is true if that is not enough.
bool SignOfZeroMatters(const Value& value);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_SIGN_OF_ZERO_H_
