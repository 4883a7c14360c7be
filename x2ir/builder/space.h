// Blocks of space and channels, as export forms of several dialects have them.
#ifndef X2IR_BUILDER_SPACE_H_
#define X2IR_BUILDER_SPACE_H_

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_writer.h"

namespace X2IR_API x2ir {

// x: [batch, channels, rows, columns]. Blocks of block * block channels become pixels, or pixels
// become channels, by a transpose of more axes. `blocks_first`: the mode DCR of depth_to_space,
// else CRD.
Expr DepthToSpace(const Expr& x, int64_t block, bool blocks_first);
Expr SpaceToDepth(const Expr& x, int64_t block);

// The same as export forms of depth_to_space and space_to_depth. FailedPrecondition where channels
// are last.
absl::StatusOr<Value*> DepthToSpaceByTranspose(NodeWriter& w);
absl::StatusOr<Value*> SpaceToDepthByTranspose(NodeWriter& w);

}  // namespace x2ir

#endif  // X2IR_BUILDER_SPACE_H_
