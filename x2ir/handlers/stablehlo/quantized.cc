// Quantized operations of StableHLO as units of dequantize_linear, the operation on floats and
// quantize_linear.
#include "x2ir/handlers/stablehlo/prepare.h"

namespace x2ir {

absl::Status MakeStablehloUnits(Graph& graph) {
  (void)graph;
  return absl::OkStatus();
}

}  // namespace x2ir
