// Boxes that no better one overlaps too much, as TensorFlow writes them.
#ifndef X2IR_HANDLERS_TF_NON_MAX_SUPPRESSION_H_
#define X2IR_HANDLERS_TF_NON_MAX_SUPPRESSION_H_

#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

// non_max_suppression of `boxes`, of the type and the shape of the operand, as NonMaxSuppressionV3.
// `overlap`, float32 of rank 0, is its threshold: boxes that overlap a better one by more than that
// are left out. FailedPrecondition where the number of images or classes is not known, or larger
// than 1024 together.
absl::StatusOr<Value*> ToTfNonMaxSuppression(TfWriter& w, Value* boxes, Value* overlap);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_NON_MAX_SUPPRESSION_H_
