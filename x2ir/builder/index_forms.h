// Indices that a written model counts from the front, as they were before.
#ifndef X2IR_BUILDER_INDEX_FORMS_H_
#define X2IR_BUILDER_INDEX_FORMS_H_

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// i of where(i < 0, i + size, i), as NodeWriter::FromTheFront and TuplesFromTheFront write it; else
// `index` itself. `sizes`: of the axes that the index is of, one for an index of one axis; sizes
// that are not known are never found. For operators that refuse negative indices: there the two
// give the same, and the IR's operators count negative ones from the end.
Value* BeforeFromTheFront(Value* index, absl::Span<const Dim> sizes);

}  // namespace x2ir

#endif  // X2IR_BUILDER_INDEX_FORMS_H_
