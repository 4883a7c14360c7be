// TensorFlow.js: activations that it has no op for.
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {
namespace {

// x / (1 + |x|).
Value* ToTfjsSoftsign(TfWriter& w) {
  Value* size = w.Op("add", {w.Op("abs", {w.in(0)}), w.Number(w.dtype(), 1)});
  return w.Op("div", {w.in(0), size});
}

}  // namespace

X2IR_TFJS(softsign).To("RealDiv", ToTfjsSoftsign);

}  // namespace x2ir
