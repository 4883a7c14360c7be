// Keras, written: elements by their places.
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
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

// Along the last axis, between transposes.
Values AlongLast(KerasWriter& w, int64_t axis, int64_t rank) {
  std::vector<int64_t> perm = CountedFrom(0, rank);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  AttributeMap attrs = w.attrs();
  attrs.Set("axis", rank - 1);
  Value* x = w.Op("transpose", {w.in(0)}, {{"perm", perm}});
  Values all = w.b().Ops("top_k", {x, w.in(1)}, std::move(attrs), 2);
  for (Value*& y : all) y = w.Op("transpose", {y}, {{"perm", perm}});
  return all;
}

// In reverse, the smallest are the largest: -x, or -1 - x for integers, which does not overflow.
absl::StatusOr<Values> SmallestByLargest(KerasWriter& w) {
  const DType type = w.dtype();
  if (!IsFloating(type) && !IsSignedInt(type)) return CannotExpress("elements of ", Name(type));
  const auto reversed = [&](Value* x) {
    return IsFloating(type) ? w.Op("neg", {x}) : w.Op("sub", {w.Number(type, -1), x});
  };
  AttributeMap attrs = w.attrs();
  attrs.Set("largest", int64_t{1});
  Values all = w.b().Ops("top_k", {reversed(w.in(0)), w.in(1)}, std::move(attrs), 2);
  all[0] = reversed(all[0]);
  return all;
}

absl::StatusOr<Values> ToTopK(KerasWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const auto k, w.KnownInts(1, "k"));
  if (!k || k->size() != 1) return CannotExpress("a number that is computed");
  if (axis != rank - 1) return AlongLast(w, axis, rank);
  if (w.Int("largest") == 0) return SmallestByLargest(w);
  if (!w.out_type(0).shape()) return CannotExpress("a result of unknown rank");
  const Shape& shape = *w.out_type(0).shape();
  Values all = w.FunctionAll(
      "TopK", {w.in(0)}, KerasArguments({{"k", Json((*k)[0])}, {"sorted", Json::Bool(true)}}),
      {true, true}, {Type::Tensor(w.dtype(), shape), Type::Tensor(DType::kInt32, shape)});
  return Values{all[0], w.Cast(all[1], DType::kInt64)};
}

// Tuples in rows, and what they get.
absl::StatusOr<Value*> ToScatterNd(KerasWriter& w) {
  if (w.String("reduction") != "none") {
    return CannotExpress("the reduction '", w.String("reduction"), "'");
  }
  const Shape *x = w.shape(0), *indices = w.shape(1);
  if (!x || !indices || !indices->rank() || !(*indices)[indices->rank() - 1].is_static()) {
    return CannotExpress("indices of unknown sizes");
  }
  const int64_t width = (*indices)[indices->rank() - 1].value();
  X2IR_ASSIGN_OR_RETURN(Value * tuples, TuplesFromTheFront(w));
  std::vector<Size> rest = {Size(-1)};
  for (int64_t axis = width; axis < x->rank(); ++axis) {
    if (!(*x)[axis].is_static() || (*x)[axis].value() == 0) {
      return CannotExpress("parts of sizes that are not known");
    }
    rest.emplace_back((*x)[axis].value());
  }
  const Expr rows = ReshapeTo({w.b(), tuples}, {Size(-1), Size(width)});
  const Expr updates = ReshapeTo({w.b(), w.in(2)}, rest);
  return w.Function("ScatterUpdate", {w.in(0), rows, updates});
}

}  // namespace

X2IR_KERAS(gather).To("ops.Take", ToTake);
X2IR_KERAS(gather_elements).To("ops.TakeAlongAxis", ToTakeAlong);
X2IR_KERAS(top_k).To("ops.TopK", ToTopK);
X2IR_KERAS(scatter_nd).To("ops.ScatterUpdate", ToScatterNd);
X2IR_KERAS(scatter_elements).To("ops.ScatterUpdate", ScatterElementsByTuples);

}  // namespace x2ir
