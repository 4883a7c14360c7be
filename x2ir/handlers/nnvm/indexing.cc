// NNVM: picking and putting elements.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

Value* TakeRow(SymbolArgs& a) {
  const auto axis = a.MaybeInteger("axis");
  const std::string mode = a.Text("mode", "clip");
  a.Require(mode == "clip" || mode == "wrap", StrCat("mode ", mode));
  const Expr x = axis ? a.in(0) : Reshape(a.in(0), {-1});
  const Expr size = SizeOf(x, axis.value_or(0)), index = a.AsInt64(a.in(1));
  return Gather(x, mode == "wrap" ? Mod(index, size) : Clip(index, Int(a, 0), size - 1),
                axis.value_or(0));
}

absl::StatusOr<Value*> GatherNdRow(SymbolArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(1));
  if (rank < 1) return Invalid("indices without an axis");
  return a.Op("gather_nd", {a.in(0), MoveAxis(a.AsInt64(a.in(1)), 0, rank - 1)}).value();
}

absl::StatusOr<Value*> ToTake(SymbolWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* index = w.in(1);
  if (!w.CountsFromTheFront(*index)) {
    const Dim dim = DimAt(w.in(0), axis);
    if (!dim.is_static()) return CannotExpress("indices that may count from the end");
    index = w.FromTheFront(index, w.b().Int(dim.value()));
  }
  return w.Nnvm("take", {w.in(0), w.Cast(index, DType::kInt32)}, {{"axis", StrCat(axis)}});
}

}  // namespace

X2IR_NNVM(gather).From("take", TakeRow).To("take", ToTake);
X2IR_NNVM(gather_nd).From("gather_nd", GatherNdRow);

}  // namespace x2ir
