// Operators with a condition for every element: where, masked_*, nonzero, closeness.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

Values WhereOf(TorchCall& c) {
  const DType t = c.ResultType({"self", "other"});
  return {Select(IsTrue(c.Tensor("condition")), c.Operand("self", t), c.Operand("other", t))};
}

Values MaskedFill(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value* mask = IsTrue(c.Tensor("mask"));
  return {Select({c, mask}, c.Operand("value", self->dtype()), {c, self})};
}

// Both flat, in the shape that they broadcast to.
std::pair<Value*, Value*> Together(TorchCall& c, Value* x, Value* mask) {
  Value* full = Expand({c, x}, ShapeOf({c, mask}));
  return {Reshape({c, full}, {-1}), Reshape(Expand({c, mask}, ShapeOf({c, x})), {-1})};
}

Values MaskedSelect(TorchCall& c) {
  Value* self = c.Tensor("self");
  const auto [x, mask] = Together(c, self, IsTrue(c.Tensor("mask")));
  return {c.Op("compress", {x, mask}, {{"axis", 0}})};
}

// The elements of source, one after the other, where the mask is true.
Values MaskedScatter(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value* mask = IsTrue(c.Tensor("mask"));
  Value* source = Flat(c.Tensor("source"));
  const auto [x, flags] = Together(c, self, mask);
  // A source without elements serves a mask that is nowhere true.
  source = Concat(c, {source, Unsqueeze(c.Constant(source->dtype(), 0), {0})}, 0);
  Value* order = c.Op("sub", {CumSum(c.Cast(flags, DType::kInt64), 0), Int(c, 1)});
  Value* found = c.Op("gather", {source, Select({c, flags}, {c, order}, Int(c, 0))}, {{"axis", 0}});
  Value* shape = ShapeOf(Expand({c, self}, ShapeOf({c, mask})));
  return {ReshapeTo(Select({c, flags}, {c, found}, {c, x}), shape)};
}

// One row of positions for each element that is not zero.
Value* Positions(TorchCall& c, Value* x) {
  x = IsTrue({c, x});
  const int64_t rank = c.Rank(x);
  if (rank > 0) return Transpose(c.Op("non_zero", {x}), {1, 0});
  Value* count = Reshape(c.Cast(x, DType::kInt64), {1});
  return c.Op("constant_of_shape", {Concat(c, {count, Ints(c, {0})}, 0)},
              {{"value", Tensor::Of<int64_t>({1}, {0})}});
}
Values Nonzero(TorchCall& c) { return {Positions(c, c.Tensor("self"))}; }

Values NonzeroStatic(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t rank = c.Rank(self);
  Value* size = c.SymInt("size");
  Value* fill = Int(c, c.Int("fill_value", -1));
  Value* shape = Concat(c, {Unsqueeze({c, size}, {0}), Ints(c, {rank})}, 0);
  Value* rows = Concat(c, {Positions(c, self), Expand({c, fill}, shape)}, 0);
  return {Slice({c, rows}, 0, Int(c, 0), size, Int(c, 1))};
}

// One tensor for each axis.
Values NonzeroOfEachAxis(TorchCall& c, std::string_view name) {
  Value* x = IsTrue(c.Tensor(name));
  if (c.Rank(x) == 0) x = Unsqueeze({c, x}, {0});
  Value* places = c.Op("non_zero", {x});
  Values results;
  for (int64_t i = 0; i < c.Rank(x); ++i) {
    results.push_back(c.Op("gather", {places, Int(c, i)}, {{"axis", 0}}));
  }
  return results;
}

// --- Closeness ------------------------------------------------------------------------------

Value* Close(TorchCall& c) {
  Value *x = c.Tensor("self"), *y = c.Tensor("other");
  const double rtol = c.Float("rtol", 1e-5), atol = c.Float("atol", 1e-8);
  const bool equal_nan = c.Bool("equal_nan", false);
  RequireReal({c, x});
  RequireReal({c, y});
  if (x->dtype() != y->dtype()) {
    c.Fail(Invalid("other: expected ", Name(x->dtype()), ", got ", Name(y->dtype())));
    return x;
  }
  Value* close = c.Op("equal", {x, y});
  if (equal_nan && IsFloating(x->dtype())) {
    close = c.Op("or", {close, c.Op("and", {WhereNan({c, x}), WhereNan({c, y})})});
  }
  if (rtol == 0 && atol == 0) return close;
  // Of integers the tolerance is a float.
  const DType t = IsFloating(x->dtype()) ? x->dtype() : DType::kFloat32;
  x = c.Cast(x, t);
  y = c.Cast(y, t);
  Value* allowed =
      c.Op("add", {c.Constant(t, atol), c.Op("abs", {c.Op("mul", {c.Constant(t, rtol), y})})});
  Value* actual = c.Op("abs", {c.Op("sub", {x, y})});
  Value* finite = c.Op("less", {actual, Extreme(c, t, true)});
  Value* within = c.Op("and", {finite, c.Op("less_or_equal", {actual, allowed})});
  return c.Op("or", {close, within});
}
Values IsClose(TorchCall& c) { return {Close(c)}; }
Values AllClose(TorchCall& c) {
  Value* close = Close(c);
  return {All({c, close}, AllAxes({c, close}), false)};
}

Values Equal(TorchCall& c) {
  Value *x = c.Tensor("self"), *y = c.Tensor("other");
  const Shape *a = x->shape(), *b = y->shape();
  if (!a || !b) return c.Fail(Unimplemented("needs operands of known rank"));
  Value* no = c.Constant(DType::kBool, 0);
  if (a->rank() != b->rank()) return {no};
  for (int64_t i = 0; i < a->rank(); ++i) {
    if ((*a)[i] == (*b)[i]) continue;
    if ((*a)[i].is_static() && (*b)[i].is_static()) return {no};
    return c.Fail(Unimplemented("of sizes that may differ"));
  }
  Value* same = c.Op("equal", {x, y});
  return {All({c, same}, AllAxes({c, same}), false)};
}

X2IR_TORCH(where)
    .From({"aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther",
           "aten::where.Scalar"},
          WhereOf)
    .From({"aten::masked_fill.Scalar", "aten::masked_fill.Tensor"}, MaskedFill)
    .From("aten::masked_scatter.default", MaskedScatter);
X2IR_TORCH(compress).From("aten::masked_select.default", MaskedSelect);
X2IR_TORCH(non_zero)
    .From({"aten::nonzero.default", "aten::argwhere.default"}, Nonzero)
    .From("aten::nonzero_static.default", NonzeroStatic)
    .From("aten::nonzero_numpy.default", [](TorchCall& c) { return NonzeroOfEachAxis(c, "self"); })
    .From("aten::where.default", [](TorchCall& c) { return NonzeroOfEachAxis(c, "condition"); });
X2IR_TORCH(equal)
    .From("aten::isclose.default", IsClose)
    .From("aten::allclose.default", AllClose)
    .From("aten::equal.default", Equal);

}  // namespace
}  // namespace x2ir
