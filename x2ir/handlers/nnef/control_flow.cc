// tract's loop over an axis, whose fragment the reader made a nested graph of.
#include <utility>
#include <vector>

#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

absl::StatusOr<Values> ScanRow(NnefArgs& a) {
  const auto body = a.SubGraph("body");
  std::vector<Value*> operands = a.Tensors("state");
  const size_t states = operands.size();
  for (Value* scanned : a.Tensors("scan")) operands.push_back(scanned);
  // A state is of one shape in every round.
  for (size_t i = 0; i < operands.size() && i < body->inputs().size(); ++i) {
    Type type = operands[i]->type();
    if (i >= states) {
      const size_t scanned = i - states;
      const std::vector<int64_t> axes = a.IntList("scan_input_axes", {});
      if (!type.shape() || scanned >= axes.size() || axes[scanned] < 0 ||
          axes[scanned] >= type.shape()->rank()) {
        continue;
      }
      std::vector<Dim> dims = type.shape()->dims();
      dims.erase(dims.begin() + axes[scanned]);
      type.set_shape(Shape(std::move(dims)));
    } else if (i < body->outputs().size()) {
      body->outputs()[i]->set_type(type);
    }
    body->inputs()[i]->set_type(std::move(type));
  }
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
