// A program of a graph of dialect "relay", for writers.
#ifndef X2IR_FORMATS_RELAY_PROGRAM_OF_GRAPH_H_
#define X2IR_FORMATS_RELAY_PROGRAM_OF_GRAPH_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/named_tensor.h"
#include "x2ir/formats/relay/ast.h"
#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {
namespace relay {

// Values that nested graphs use are bound by lets, so that they are computed once. With `params`
// constants, except single numbers, become parameters of the main function, and are put there.
// FailedPrecondition for nodes and types that Relay does not have.
absl::StatusOr<std::unique_ptr<Program>> ProgramOfGraph(const Graph& graph,
                                                        std::vector<NamedTensor>* params);

// "Tensor[(1, ?), float32]"; empty where it is not known.
std::string TypeText(const RelayType& type);

}  // namespace relay
}  // namespace x2ir

#endif  // X2IR_FORMATS_RELAY_PROGRAM_OF_GRAPH_H_
