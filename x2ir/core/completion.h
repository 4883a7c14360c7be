// Names that runtimes require in a model file and a graph does not need: unique names of all nodes
// of the model, and names of unused results that the operator always has.
#ifndef X2IR_CORE_COMPLETION_H_
#define X2IR_CORE_COMPLETION_H_

#include "x2ir/core/dialect.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Completes a model of one dialect, nested graphs included. The first node of a name keeps it,
// others get a suffix. `known` may be null: then the results of operators are not known.
void CompleteForFiles(Model& model, const Dialect* known);

}  // namespace x2ir

#endif  // X2IR_CORE_COMPLETION_H_
