// Inputs and outputs of a model: what a caller says of them, and what a file declares.
#ifndef X2IR_CORE_EDIT_INPUTS_OUTPUTS_H_
#define X2IR_CORE_EDIT_INPUTS_OUTPUTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/report.h"
#include "x2ir/core/tracing/traced_sizes.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// Axis `axis` of input `input` has a size of that name, in every run another one.
struct DynamicAxis {
  std::string input;
  int64_t axis;  // from the back where it is negative
  std::string name;
};

// What a caller says of inputs. An option error ("shapes", "dtypes", "dynamic") where an input does
// not suit.
struct InputOverrides {
  const std::vector<std::pair<std::string, Shape>>& shapes;
  const std::vector<std::pair<std::string, DType>>& dtypes;
  const std::vector<DynamicAxis>& dynamic;
};
// Gives inputs other shapes and element types; what is known of all other values is forgotten, for
// inference to find it again. Names for sizes that were numbers are returned: the graph was made
// for these numbers, so they stay until it is inferred (MakeSymbolic of traced_sizes.h).
absl::StatusOr<std::vector<TracedSize>> OverrideInputs(Graph& graph,
                                                       const InputOverrides& overrides);

// An option error about a name that no input has, with those that there are, and the nearest.
absl::Status NoSuchInput(std::string_view option, const std::string& name, const Graph& graph);

// Of inputs, weights and results of nodes, in the outermost graph.
std::vector<std::string> NamesOfValues(const Graph& graph);

// Shapes (and, if `dtypes`, element types) of everything but inputs and constants are no longer
// what the file says; inference finds them again.
void ForgetTypes(Graph& graph, bool dtypes);

// Runtimes need the element type of every input: an option error ("dtypes") where one is unknown.
absl::Status CheckInputTypes(const Graph& graph);

std::vector<Type> OutputTypes(const Graph& graph);
// What the model declared of its outputs against what they turned out to be. Another element type
// is InvalidArgument; another shape is a stale annotation, which happens, and a warning.
absl::Status CompareOutputs(const std::vector<Type>& declared, const Graph& graph, Report& report);

// A warning about inputs of which a dim, or all, is not known.
void WarnUnknownDims(const Graph& graph, Report& report);

}  // namespace x2ir

#endif  // X2IR_CORE_EDIT_INPUTS_OUTPUTS_H_
