// TensorFlow.js: updates at indices. It has no TensorScatterAdd, and its TensorScatterUpdate for
// CPUs (4.22) writes into the memory of its operand, which others may use.
#include <string>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

// Others are lowered to masks.
absl::Status CheckReduction(TfWriter& w) {
  const std::string& how = w.String("reduction");
  return how == "none" || how == "add" ? absl::OkStatus() : CannotExpress("reduction ", how);
}

absl::StatusOr<Value*> ToTfjsScatterElements(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckReduction(w));
  return ScatterElementsByTuples(w);
}

absl::StatusOr<Value*> ToTfjsScatterNd(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckReduction(w));
  const std::string& how = w.String("reduction");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const TfUpdates to_put, UpdatesFromTheFront(w));
  Value* x = w.in(0);
  if (how == "none") {
    Value* ones = w.Int32s(std::vector<int64_t>(static_cast<size_t>(rank), 1));
    Value* copy = w.Tf("Tile", {x, ones}, {}, x->type());
    return w.Tf("TensorScatterUpdate", {copy, to_put.tuples, to_put.updates});
  }
  // Updates of one place add up in zeros.
  Value* sizes = w.Cast(w.Op("shape", {x}), to_put.tuples->dtype());
  Value* sum = w.Tf("ScatterNd", {to_put.tuples, to_put.updates, w.Known(sizes)}, {}, x->type());
  return w.Tf("AddV2", {x, sum});
}

}  // namespace

X2IR_TFJS(scatter_elements).To("TensorScatterUpdate", ToTfjsScatterElements);
X2IR_TFJS(scatter_nd).To("TensorScatterUpdate", ToTfjsScatterNd);

}  // namespace x2ir
