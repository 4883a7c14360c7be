// What runtimes want of a model in a file, and a graph does without: names of nodes that are unique
// over the whole model, and names of results that nobody uses but that the operator always has.
#ifndef X2IR_CORE_COMPLETION_H_
#define X2IR_CORE_COMPLETION_H_

#include "x2ir/core/dialect.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Completes a model of one dialect, nested graphs included. The first node of a name keeps it,
// others get a suffix. `known` may be null: then nothing is known of the operators' results.
void CompleteForFiles(Model& model, const Dialect* known);

}  // namespace x2ir

#endif  // X2IR_CORE_COMPLETION_H_
