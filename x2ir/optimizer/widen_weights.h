// Weights that a file stores in fewer digits than the graph computes in: float16 and bfloat16 as
// float32. Every number of theirs is one of float32, so that nothing is rounded, and no cast is
// left that each run would repeat and that hides weights from passes and readers.
#ifndef X2IR_OPTIMIZER_WIDEN_WEIGHTS_H_
#define X2IR_OPTIMIZER_WIDEN_WEIGHTS_H_

#include <cstdint>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/optimizer/pass.h"

namespace X2IR_API x2ir {

struct Widened {
  int64_t weights = 0;  // that became float32
  int64_t in_file = 0;  // that stay, because the model will refer to them (StaysInFile)
};

// Constants of these types whose uses are all casts to float32, or gathers whose results are all
// cast, in nested graphs too, become float32, and take the casts' place. One that something else
// uses as well stays: the file would hold it twice. Large ones are made in parts
// (graph_wrapper/residency.h). What the file grows by does not count as growth in passes that limit
// it (room.h). The graph is of inferred IR.
absl::StatusOr<Widened> WidenWeights(Graph& graph, const PassContext& context);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_WIDEN_WEIGHTS_H_
