// Slices that take nothing, for runtimes that read some of their bounds otherwise.
#ifndef X2IR_BUILDER_EMPTY_SLICES_H_
#define X2IR_BUILDER_EMPTY_SLICES_H_

#include "x2ir/builder/write_forms.h"

namespace X2IR_API x2ir {

// Begins and ends at `place` along each axis of which the node, a slice, takes no elements though
// there may be some. Bounds that are not known stay as they are.
void PutEmptyAt(NodeWriter& w, int64_t place, StridedBounds* bounds);

}  // namespace x2ir

#endif  // X2IR_BUILDER_EMPTY_SLICES_H_
