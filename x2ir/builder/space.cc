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

Expr DepthToSpace(const Expr& x, int64_t block, bool blocks_first) {
  Builder& b = x.builder();
  const std::vector<Size> s = AllSizes(x);
  const Size depth = DividedBy(b, s[1], block * block);
  const Expr apart =
      ReshapeTo(x, blocks_first ? std::vector<Size>{s[0], block, block, depth, s[2], s[3]}
                                : std::vector<Size>{s[0], depth, block, block, s[2], s[3]});
  const Expr moved =
      blocks_first ? Transpose(apart, {0, 3, 4, 1, 5, 2}) : Transpose(apart, {0, 1, 4, 2, 5, 3});
  return ReshapeTo(moved, {s[0], depth, Times(b, s[2], block), Times(b, s[3], block)});
}

Expr SpaceToDepth(const Expr& x, int64_t block) {
  Builder& b = x.builder();
  const std::vector<Size> s = AllSizes(x);
  const Size height = DividedBy(b, s[2], block), width = DividedBy(b, s[3], block);
  const Expr apart = ReshapeTo(x, {s[0], s[1], height, block, width, block});
  return ReshapeTo(Transpose(apart, {0, 3, 5, 1, 2, 4}),
                   {s[0], Times(b, s[1], block * block), height, width});
}

absl::StatusOr<Value*> DepthToSpaceByTranspose(NodeWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlane(w));
  return DepthToSpace({w, w.in(0)}, w.Int("blocksize"), w.String("mode") == "DCR").value();
}

absl::StatusOr<Value*> SpaceToDepthByTranspose(NodeWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlane(w));
  return SpaceToDepth({w, w.in(0)}, w.Int("blocksize")).value();
}

}  // namespace x2ir
