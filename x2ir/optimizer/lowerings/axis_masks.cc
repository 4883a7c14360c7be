// See axis_masks.h.
#include "x2ir/optimizer/lowerings/axis_masks.h"

#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {

Value* AxisMatrix(Rewrite& r, Value* axes, int64_t rank) {
  IntegerMath math(r);
  axes = math.FromFront(math.Get(math.Read(axes)), math.Of({rank}));
  Value* column = r.b.Op("unsqueeze", {axes, r.b.Ints({1}, "column")});
  return r.b.Op("equal", {column, math.Get(math.Positions(math.Of({rank})), "all_axes")});
}

Value* AxisMask(Rewrite& r, Value* axes, int64_t rank) {
  Value* matrix = Expr(r.b, AxisMatrix(r, axes, rank)).To(DType::kInt32);
  Value* count = r.b.Op("reduce_sum", {matrix, r.b.Ints({0}, "first")}, {{"keepdims", 0}});
  return Expr(r.b, count).To(DType::kBool);
}

Value* ByAxis(Rewrite& r, Value* matrix, Value* values, Value* otherwise) {
  Builder& b = r.b;
  Value* first = b.Ints({0}, "first");
  Value* column = b.Op("unsqueeze", {values, b.Ints({1}, "column")});
  const AttributeMap drop = {{"keepdims", 0}};
  Value* placed =
      b.Op("reduce_sum", {b.Op("where", {matrix, column, b.Int(0, "zero")}), first}, drop);
  Value* count = b.Op("reduce_sum", {Expr(b, matrix).To(DType::kInt32), first}, drop);
  return b.Op("where", {Expr(b, count).To(DType::kBool), placed, otherwise});
}

Value* ReshapeTo(Rewrite& r, Value* x, Value* sizes) {
  return r.b.Op("reshape", {x, sizes}, {{"allowzero", r.target.Holds(ReshapesToZero())}});
}

absl::StatusOr<Value*> SizesToReshape(Rewrite& r, Value* x) {
  if (r.target.Holds(ReshapesToZero())) return r.b.Op("shape", {x});
  std::vector<int64_t> sizes;
  for (const Dim& size : *x->shape()) {
    if (size == Dim(0)) {
      return CannotExpress("a size of 0 cannot be reshaped", r.target.Later(ReshapesToZero()));
    }
    if (size.is_static()) sizes.push_back(size.value());
  }
  const size_t unknown = x->shape()->rank() - sizes.size();
  if (unknown == 0) return r.b.Ints(sizes, "sizes");
  if (unknown > 1) {
    return CannotExpress(unknown, " sizes are not known, any of which may be 0",
                         r.target.Later(ReshapesToZero()));
  }
  // Not -1 in any case: what does not fit is to fail.
  Value* shape = r.b.Op("shape", {x});
  return r.b.Op("where",
                {r.b.Op("equal", {shape, r.b.Int(0, "zero")}), r.b.Int(-1, "open"), shape});
}

}  // namespace x2ir
