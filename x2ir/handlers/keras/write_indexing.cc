// Keras, written: elements by their places.
#include <utility>

#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> ToTake(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Tensor* table = w.Weight(0);
  if (table && table->rank() == 2 && axis == 0 && IsFloating(table->dtype()) &&
      !w.in(1)->constant()) {
    return w.Layer("Embedding", {w.in(1)},
                   {{"input_dim", table->dim(0)},
                    {"output_dim", table->dim(1)},
                    {"mask_zero", int64_t{0}},
                    {"dtype", std::string(Name(table->dtype()))}},
                   {w.in(0)}, w.out_type());
  }
  return w.Function("Take", {w.in(0), w.in(1)}, KerasArguments({{"axis", Json(axis)}}));
}

absl::StatusOr<Value*> ToTakeAlong(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Shape *x = w.shape(0), *index = w.shape(1);
  for (int64_t i = 0; x && index && i < x->rank(); ++i) {
    if (i != axis && !ProvablyEqual((*x)[i], (*index)[i])) {
      return CannotExpress("indices of another shape than the tensor");
    }
  }
  if (!x || !index) return CannotExpress("operands of unknown rank");
  return w.Function("TakeAlongAxis", {w.in(0), w.in(1)}, KerasArguments({{"axis", Json(axis)}}));
}

absl::StatusOr<Values> ToTopK(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto k, w.KnownInts(1, "k"));
  if (!k || k->size() != 1) return CannotExpress("a number that is computed");
  if (w.Int("largest") == 0) return CannotExpress("the smallest elements");
  if (axis != rank - 1) return CannotExpress("an axis that is not the last");
  if (!w.out_type(0).shape()) return CannotExpress("a result of unknown rank");
  const Shape& shape = *w.out_type(0).shape();
  Values all = w.FunctionAll(
      "TopK", {w.in(0)}, KerasArguments({{"k", Json((*k)[0])}, {"sorted", Json::Bool(true)}}),
      {true, true}, {Type::Tensor(w.dtype(), shape), Type::Tensor(DType::kInt32, shape)});
  return Values{all[0], w.Cast(all[1], DType::kInt64)};
}

}  // namespace

X2IR_KERAS(gather).To("ops.Take", ToTake);
X2IR_KERAS(gather_elements).To("ops.TakeAlongAxis", ToTakeAlong);
X2IR_KERAS(top_k).To("ops.TopK", ToTopK);

}  // namespace x2ir
