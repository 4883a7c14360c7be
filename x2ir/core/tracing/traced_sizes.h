// Sizes of a traced program made symbolic.
//
// A program that was traced (by torch.export, say) holds numbers where its source had sizes: a
// Reshape to [1, 12, 64] has the batch that it was traced with. If an input gets a name for such a
// size, the numbers that came from it must become that name too, as if the program had been traced
// with another size.
//
// The nodes are visited in order, with both the symbolic sizes and those of the trace. A Reshape is
// solved by its element counts. If operands must have the same size, and one has that of the trace,
// the source of this size is changed: the size of an expand or of a filled tensor, the limit of a
// range, the end of a slice, a constant whose rows are all the same. Everything else is an error
// that names the node, the constant and the reason: the result must not fail, or have another
// meaning, at another size.
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

// `graph` is of the IR, sorted, and inferred with the numbers. A name has one number in the trace.
// FailedPrecondition if the program only works for that number. Cases that cannot be decided are
// added to `warnings`: an integer in a computation that is the same number (the position of a word,
// for example).
absl::Status MakeSymbolic(Graph& graph, const std::vector<TracedSize>& sizes,
                          std::vector<std::string>* warnings);

}  // namespace x2ir

#endif  // X2IR_CORE_TRACING_TRACED_SIZES_H_
