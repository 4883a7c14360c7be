// Changes of a model that people ask for beside a conversion: other names, inputs that become
// constants, constants that become inputs.
#ifndef X2IR_CORE_EDIT_EDIT_H_
#define X2IR_CORE_EDIT_EDIT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

using NamePairs = std::vector<std::pair<std::string, std::string>>;

// Values of the outermost graph get other names: inputs, outputs, weights, results of nodes. All at
// once, so that two may swap theirs. A value that has a new name already gets another one, unless
// it is an input or an output. An option error ("rename") for a name that no value has, for one
// that is given twice, and for one that stays taken.
absl::Status RenameValues(Graph& graph, const NamePairs& names);

// Inputs become constants, by their names: copies of the arrays of .npy files, or of one element
// the number itself ("16000", "0.5", "true"). An option error
// ("fold_inputs") for a name that is not an input; InvalidArgument if element type or shape do not
// match; else the errors of ReadNpy.
absl::Status FoldInputs(Graph& graph, const NamePairs& files);

// Metadata of a model: an existing key gets the new value, new keys are appended.
void SetMetadata(Model& model, const NamePairs& metadata);

// Nodes lose their names, doc strings and metadata; values that are no inputs and no outputs are
// called v0, v1, ...; those of nested graphs too.
void StripNames(Graph& graph);

// Constants of floats of rank 1 or more in the outermost graph become inputs, whose default values
// they are.
void ParamsAsInputs(Graph& graph);

}  // namespace x2ir

#endif  // X2IR_CORE_EDIT_EDIT_H_
