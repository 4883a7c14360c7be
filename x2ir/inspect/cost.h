// The cost of running a model, from its shapes alone: multiply-adds, parameters, and the memory
// that activations take. Nothing is run.
#ifndef X2IR_INSPECT_COST_H_
#define X2IR_INSPECT_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Multiply-adds are those of convolutions, matrix products, attention and recurrent layers, counted
// by their definitions: a runtime's Winograd does fewer. Those of all other ops are 0. Sums
// saturate at the maximum of int64.
struct NodeCost {
  const Node* node = nullptr;
  bool known = true;       // whether shapes determine the numbers; unknown ones are 0
  bool work_known = true;  // the same of multiply_adds alone
  int64_t multiply_adds = 0;
  int64_t parameters = 0;       // elements of constants that no node before it reads
  int64_t parameter_bytes = 0;  // bytes of these
  int64_t result_bytes = 0;
  // Bytes of all activations that are needed while it runs: those that it or a later node reads,
  // its results, and outputs of the graph. Constants are not among them.
  int64_t live_bytes = 0;
};

// The sums of all nodes of one op.
struct OpCost {
  std::string op;
  int64_t count = 0, unknown = 0, unknown_work = 0;
  int64_t multiply_adds = 0, parameters = 0, parameter_bytes = 0, result_bytes = 0;
  int64_t peak_bytes = 0;  // the largest live_bytes among them
};

struct ModelCost {
  // In the order of the graph; nodes of nested graphs follow the node that has them, once, however
  // often they run.
  std::vector<NodeCost> nodes;
  std::vector<OpCost> ops;             // the most multiply-adds first, then the most parameters
  OpCost total;                        // `op` is empty; its peak_bytes is the peak of the graph
  const Node* peak = nullptr;          // where that is; null in a graph without nodes
  std::vector<std::string> open_dims;  // names of sizes that inputs leave open

  // A table by op, the total, and the `most` most expensive nodes.
  std::string ToText(size_t most = 10) const;
  std::string ToJson() const;
};

// A graph of IR whose types are inferred. Only the constants of foreign nodes are counted; their
// other costs are unknown. The graph must outlive the use of the result's nodes.
ModelCost CostOf(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_INSPECT_COST_H_
