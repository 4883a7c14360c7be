// tract's loop over an axis, whose fragment the reader made a nested graph of.
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> ScanRow(NnefArgs& a) {
  const auto body = a.SubGraph("body");
  std::vector<Value*> operands = a.Tensors("state");
  for (Value* scanned : a.Tensors("scan")) operands.push_back(scanned);
  AttributeMap attrs = {{"body", body}, {"num_scan_inputs", a.Int("num_scan_inputs", 0)}};
  for (const char* name :
       {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"}) {
    attrs.Set(name, a.IntList(name, {}));
  }
  return a.b().Ops("scan", operands, std::move(attrs), a.num_outputs());
}

}  // namespace

X2IR_NNEF(scan).From("tract_core_scan", ScanRow);

}  // namespace x2ir
