// Sizes of a traced program made symbolic.
//
// A program that was traced (by torch.export, say) holds numbers where its source had sizes: a
// Reshape to [1, 12, 64] has the batch that it was traced with. Where an input is given a name for
// such a size, the numbers that stand for it must become that name too, as if the program had been
// traced with any other size.
//
// The walk is in order, with the name's sizes beside those of the trace. A Reshape is solved by its
// element counts. Where operands must have the same size, and one has that of the trace, what gave
// it this size is changed: the size of an expand or of a filled tensor, the limit of a range, the
// end of a slice, a constant whose rows are all the same. All else is an error that names the node,
// the constant and the reason: nothing is left behind that fails, or means something else, at
// another size.
#ifndef X2IR_CORE_TRACING_TRACED_SIZES_H_
#define X2IR_CORE_TRACING_TRACED_SIZES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Axis `axis` of an input has that size instead of the number that it has.
struct TracedSize {
  Value* input;
  int64_t axis;
  std::string name;
};

// `graph` is of the IR, sorted, and inferred with the numbers. A name stands for one number.
// FailedPrecondition where the program is made for that number. What counts cannot tell is added to
// `warnings`: an integer that is computed with and is the same number (the position of a word,
// say).
absl::Status MakeSymbolic(Graph& graph, const std::vector<TracedSize>& sizes,
                          std::vector<std::string>* warnings);

}  // namespace x2ir

#endif  // X2IR_CORE_TRACING_TRACED_SIZES_H_
