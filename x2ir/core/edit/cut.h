// Cutting a graph at values: they become its inputs or outputs, and unneeded nodes are removed. A
// value is called by its name, or "node:k": output k of the node of that name.
#ifndef X2IR_CORE_EDIT_CUT_H_
#define X2IR_CORE_EDIT_CUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/core/driver.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Makes exactly `inputs` the graph's inputs and `outputs` its outputs, in this order; an empty list
// leaves them. An option error ("inputs", "outputs") where a value does not exist, or the outputs
// need more inputs. The graph is sorted then.
absl::Status Cut(Graph& graph, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs);

// Cutting at a value needs its type, which the file may not say: where it does not, a trial
// conversion of a copy finds it out.
absl::Status FindTypesOf(Model& model, const std::vector<std::string>& names,
                         const ProgressFn& progress);

}  // namespace x2ir

#endif  // X2IR_CORE_EDIT_CUT_H_
