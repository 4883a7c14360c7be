#include "x2ir/handlers/coreml/activations.h"

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Expr ClampedRelu(const Expr& x, double alpha, double beta) {
  return Min(Where(x < 0, x * alpha, x), beta);
}

Expr ThresholdedRelu(const Expr& x, double alpha) { return Where(x >= alpha, x, 0.0); }

Expr GeluOfMode(NodeReader& a, const Expr& x, std::string_view mode) {
  if (mode == "EXACT") return x.Op("gelu", {}, {{"approximate", "none"}});
  if (mode == "TANH_APPROXIMATION") return x.Op("gelu", {}, {{"approximate", "tanh"}});
  a.Require(mode == "SIGMOID_APPROXIMATION", StrCat("mode ", mode));
  return x * (x * 1.702).Op("sigmoid");
}

Expr OfChannels(const Expr& vector, int64_t rank, int64_t axis) {
  const Value* value = vector.value();
  const Shape* shape = value->shape();
  if (shape && shape->rank() == 1 && (*shape)[0].is_static() && (*shape)[0].value() == 1) {
    return Reshape(vector, {});
  }
  return AlongAxis(vector, axis, rank);
}

}  // namespace x2ir
