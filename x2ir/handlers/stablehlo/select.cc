// StableHLO: elements of one tensor or of another.
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

Value* Chosen(StablehloArgs& a) { return Where(a.in(0), a.in(1), a.in(2)); }

absl::StatusOr<Value*> ToSelect(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const Values all, w.Broadcast({w.in(0), w.in(1), w.in(2)}));
  return w.Hlo("select", {all[0], all[1], all[2]});
}

}  // namespace

X2IR_STABLEHLO(where).From("select", Chosen).To("select", ToSelect);

}  // namespace x2ir
