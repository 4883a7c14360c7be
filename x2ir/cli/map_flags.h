// --map of the verbs that compare models: the changes of a conversion to inputs and outputs
// (core/edit/interface.h).
#ifndef X2IR_CLI_MAP_FLAGS_H_
#define X2IR_CLI_MAP_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/cli/program.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::cli {

void AddMapFlag(Verb& verb, std::vector<std::string>& map);

// Gives `converted` the inputs and outputs of `source`, and applies the changes of the conversion
// to `source`; without `source`, only to `converted`. Does nothing without --map.
absl::Status ApplyMap(const std::vector<std::string>& map, Model* source, Model& converted);

// A hint which flags to use if inputs or outputs do not match and there was no --map; empty: not
// known.
std::string MapHint(const std::vector<std::string>& map, const Model* source,
                    const Model& converted);
// An error about the model or its inputs, followed by that hint.
absl::Status WithHint(const absl::Status& status, const std::string& hint);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_MAP_FLAGS_H_
