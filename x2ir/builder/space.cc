#include "x2ir/builder/space.h"

#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

absl::Status CheckPlane(NodeWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (w.String("layout") != "channels_first") return CannotExpress("channels that are last");
  return rank == 4 ? absl::OkStatus() : Invalid("expected rank 4, got ", rank);
}

}  // namespace

absl::StatusOr<Value*> DepthToSpaceByTranspose(NodeWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlane(w));
  const Expr x(w, w.in(0));
  const int64_t block = w.Int("blocksize");
  const std::vector<Size> s = AllSizes(x);
  const Size depth = DividedBy(w, s[1], block * block);
  const bool blocks_first = w.String("mode") == "DCR";
  const Expr apart = blocks_first
                         ? ReshapeTo(x, Vector(w, {s[0], block, block, depth, s[2], s[3]}))
                         : ReshapeTo(x, Vector(w, {s[0], depth, block, block, s[2], s[3]}));
  const Expr moved =
      blocks_first ? Transpose(apart, {0, 3, 4, 1, 5, 2}) : Transpose(apart, {0, 1, 4, 2, 5, 3});
  return ReshapeTo(moved, Vector(w, {s[0], depth, Times(w, s[2], block), Times(w, s[3], block)}))
      .value();
}

absl::StatusOr<Value*> SpaceToDepthByTranspose(NodeWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlane(w));
  const Expr x(w, w.in(0));
  const int64_t block = w.Int("blocksize");
  const std::vector<Size> s = AllSizes(x);
  const Size height = DividedBy(w, s[2], block), width = DividedBy(w, s[3], block);
  const Expr apart = ReshapeTo(x, Vector(w, {s[0], s[1], height, block, width, block}));
  return ReshapeTo(Transpose(apart, {0, 3, 5, 1, 2, 4}),
                   Vector(w, {s[0], Times(w, s[1], block * block), height, width}))
      .value();
}

}  // namespace x2ir
