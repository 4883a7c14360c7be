// What happens to a model of StableHLO before its nodes are converted one by one.
#ifndef X2IR_HANDLERS_STABLEHLO_PREPARE_H_
#define X2IR_HANDLERS_STABLEHLO_PREPARE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Attributes without a meaning for results are removed, and quantized operations become units.
absl::Status PrepareStablehlo(Model& model, std::vector<std::string>& warnings);

// Every quantized tensor that an operation computes with is dequantized before it, and what it
// gives is quantized.
absl::Status MakeStablehloUnits(Graph& graph);

// Calls of functions in regions that are run on whole tensors (regions.h) are written out.
absl::Status InlineCallsInRegions(Model& model);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_STABLEHLO_PREPARE_H_
