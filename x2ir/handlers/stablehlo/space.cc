// StableHLO: the IR's ops on blocks of space, diagonals and single hot elements, written as
// reshapes and comparisons.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

absl::Status CheckPlane(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (w.String("layout") != "channels_first") return CannotExpress("channels that are last");
  return rank == 4 ? absl::OkStatus() : Invalid("expected rank 4, got ", rank);
}

absl::StatusOr<Value*> WriteDepthToSpace(StablehloWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlane(w));
  const int64_t block = w.Int("blocksize");
  const std::vector<Size> s = AllSizes(X(w));
  const Size depth = DividedBy(w, s[1], block * block);
  const bool blocks_first = w.String("mode") == "DCR";
  const Expr apart = blocks_first
                         ? ReshapeTo(X(w), Vector(w, {s[0], block, block, depth, s[2], s[3]}))
                         : ReshapeTo(X(w), Vector(w, {s[0], depth, block, block, s[2], s[3]}));
  const Expr moved =
      blocks_first ? Transpose(apart, {0, 3, 4, 1, 5, 2}) : Transpose(apart, {0, 1, 4, 2, 5, 3});
  return ReshapeTo(moved, Vector(w, {s[0], depth, Times(w, s[2], block), Times(w, s[3], block)}))
      .value();
}

absl::StatusOr<Value*> WriteSpaceToDepth(StablehloWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlane(w));
  const int64_t block = w.Int("blocksize");
  const std::vector<Size> s = AllSizes(X(w));
  const Size height = DividedBy(w, s[2], block), width = DividedBy(w, s[3], block);
  const Expr apart = ReshapeTo(X(w), Vector(w, {s[0], s[1], height, block, width, block}));
  return ReshapeTo(Transpose(apart, {0, 3, 5, 1, 2, 4}),
                   Vector(w, {s[0], Times(w, s[1], block * block), height, width}))
      .value();
}

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

X2IR_STABLEHLO(depth_to_space).To("transpose", WriteDepthToSpace);
X2IR_STABLEHLO(eye_like).To("iota", WriteEyeLike);
X2IR_STABLEHLO(one_hot).To("select", WriteOneHot);
X2IR_STABLEHLO(space_to_depth).To("transpose", WriteSpaceToDepth);

}  // namespace x2ir
