// StableHLO: the IR's ops on blocks of space, diagonals and single hot elements, written as
// reshapes and comparisons.
#include "x2ir/builder/space.h"

#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> WriteEyeLike(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 2) return Invalid("expected rank 2, got ", rank);
  const Expr rows = Unsqueeze(Iota(SizeOf(X(w), 0)), {1}), columns = Iota(SizeOf(X(w), 1));
  const DType t = w.attrs().Has("dtype") ? w.DTypeAttr("dtype") : w.dtype();
  const Expr diagonal = columns - rows == static_cast<double>(w.Int("k"));
  return t == DType::kBool ? diagonal.Op("identity").value() : diagonal.To(t).value();
}

// Negative indices count from the end.
absl::StatusOr<Value*> WriteOneHot(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  const int64_t named = w.Int("axis"), axis = named < 0 ? named + rank + 1 : named;
  const Expr depth = Reshape(X(w, 1).To(DType::kInt64), {});
  const Expr index = X(w).To(DType::kInt64);
  const Expr place = Unsqueeze(Where(index < 0, index + depth, index), {axis});
  const Expr hot = place == AlongAxis(Iota(depth), axis, rank + 1);
  const auto value = [&](int64_t i) { return ElementAt(X(w, 2), 0, i); };
  return Where(hot, value(1), value(0)).value();
}

}  // namespace

X2IR_STABLEHLO(depth_to_space).To("transpose", [](StablehloWriter& w) {
  return DepthToSpaceByTranspose(w);
});
X2IR_STABLEHLO(eye_like).To("iota", WriteEyeLike);
X2IR_STABLEHLO(one_hot).To("select", WriteOneHot);
X2IR_STABLEHLO(space_to_depth).To("transpose", [](StablehloWriter& w) {
  return SpaceToDepthByTranspose(w);
});

}  // namespace x2ir
