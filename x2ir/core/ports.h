// Inputs and outputs of a model: what a caller says of them, and what a file declares.
#ifndef X2IR_CORE_PORTS_H_
#define X2IR_CORE_PORTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// Gives inputs other shapes and element types; what is known of all other values is forgotten, for
// inference to find it again. An option error ("shapes", "dtypes") where an input does not suit.
absl::Status OverrideInputs(Graph& graph, const std::vector<std::pair<std::string, Shape>>& shapes,
                            const std::vector<std::pair<std::string, DType>>& dtypes);

// Runtimes need the element type of every input: an option error ("dtypes") where one is unknown.
absl::Status CheckInputTypes(const Graph& graph);

std::vector<Type> OutputTypes(const Graph& graph);
// What the model declared of its outputs against what they turned out to be. Another element type
// is InvalidArgument; another shape is a stale annotation, which happens, and a warning.
absl::Status CompareOutputs(const std::vector<Type>& declared, const Graph& graph, Report& report);

// A warning about inputs of which a dim, or all, is not known.
void WarnUnknownDims(const Graph& graph, Report& report);

}  // namespace x2ir

#endif  // X2IR_CORE_PORTS_H_
