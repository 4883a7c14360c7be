// The best of several classes.
#ifndef X2IR_HANDLERS_COREML_CLASSES_H_
#define X2IR_HANDLERS_COREML_CLASSES_H_

#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

// The label of the highest score, [1], and all scores as a vector, where they are wanted. `classes`
// are strings or integers.
Values ClassesOf(NodeReader& a, const Expr& scores, const Attribute* classes);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_CLASSES_H_
