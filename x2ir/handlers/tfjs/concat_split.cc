// TensorFlow.js: tensors that are broadcast.
#include "x2ir/handlers/tf/concat_split.h"

#include "x2ir/builder/expr.h"
#include "x2ir/handlers/tfjs/tfjs.h"

namespace x2ir {

bool MayStayLarger(const Value& x, const Type& result) {
  const Shape *own = x.shape(), *shape = result.shape();
  if (!own || !shape) return true;
  const int64_t added = shape->rank() - own->rank();
  for (int64_t axis = 0; axis < shape->rank(); ++axis) {
    const Dim& size = (*shape)[axis];
    if (size.is_static() && size.value() > 0) continue;
    if (axis < added || !ProvablyEqual((*own)[axis - added], size)) return true;
  }
  return false;
}

namespace {

// Arithmetic broadcasts to sizes of 0, too.
absl::StatusOr<Value*> ToTfjsExpand(TfWriter& w) {
  const DType t = w.dtype();
  const Shape* own = w.shape();
  if ((own && own->rank() == 0) || !MayStayLarger(*w.in(0), w.out_type())) return ToTfExpand(w);
  const bool is_bool = t == DType::kBool;
  if (!is_bool && !IsFloating(t) && !IsInteger(t)) {
    return CannotExpress("elements of ", Name(t), " that are broadcast to sizes that may be 0");
  }
  const Expr neutral = {w.b(), is_bool ? w.b().Constant(Tensor::Scalar(false)) : w.Number(t, 1)};
  return w.Op(is_bool ? "or" : "mul", {w.in(0), neutral.Op("expand", {w.in(1)})});
}

}  // namespace

X2IR_TFJS(expand).To("BroadcastTo", ToTfjsExpand);

}  // namespace x2ir
