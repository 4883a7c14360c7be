// Of several classes the best, or some that are drawn.
#ifndef X2IR_HANDLERS_COREML_CLASSES_H_
#define X2IR_HANDLERS_COREML_CLASSES_H_

#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

// The label of the highest score, [1], and all scores as a vector, where they are wanted. `classes`
// are strings or integers.
Values ClassesOf(NodeReader& a, const Expr& scores, const Attribute* classes);
// Numbers of `count` classes drawn by the softmax of the last axis, which takes their place, as
// numbers of that type. A seed below 0 is none.
Expr DrawnClasses(NodeReader& a, const Expr& logits, int64_t count, int64_t seed);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_CLASSES_H_
