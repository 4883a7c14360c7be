// Sequences of the IR as TensorFlow's TensorLists, for rows that write; lists.h is for those that
// read. A list is made with elements of unknown shape (-1), since those of a sequence may differ.
// Ops that want a shape of elements get what is known of it: the kernels need it only for elements
// that were never written, of which there are none (tensorflow/core/kernels/list_kernels.h).
#ifndef X2IR_HANDLERS_TF_WRITTEN_LISTS_H_
#define X2IR_HANDLERS_TF_WRITTEN_LISTS_H_

#include "absl/status/status.h"
#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

// The sizes of an element, int32: -1 for one that is not known, -1 alone for an unknown rank.
Value* TfElementSizes(Builder& b, const Type& element);

// The attribute of list ops that says of which element type the list is.
AttributeMap TfElementType(const Type& element);

// An element at a place that is not negative (int64, rank 0), in any graph.
Value* TfListElement(Builder& b, Value* list, Value* place);

// OK where the sequences that are operands of the node are lists of known element type, and its
// result is not one whose users work on the tensors directly (FailedPrecondition).
absl::Status CheckTfLists(TfWriter& w);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_WRITTEN_LISTS_H_
