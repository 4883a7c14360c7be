// The text of a graph of nodes of NNEF, and the tensors that have files of their own.
#ifndef X2IR_FORMATS_NNEF_GRAPH_TEXT_H_
#define X2IR_FORMATS_NNEF_GRAPH_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace nnef {

struct TensorToWrite {
  std::string label;  // the name of its file without ".dat"
  std::string header;
  Tensor tensor;
};
struct WrittenGraph {
  std::string text;
  std::string quantizations;  // of graph.quant; empty: there is no such file
  std::vector<TensorToWrite> tensors;
};

// FailedPrecondition for what NNEF cannot hold. `standard`: also for all that tract alone has,
// which the error names.
absl::StatusOr<WrittenGraph> GraphText(const Graph& graph, bool standard);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_GRAPH_TEXT_H_
