// Blocks of space and channels, as export forms of several dialects have them.
#ifndef X2IR_BUILDER_SPACE_H_
#define X2IR_BUILDER_SPACE_H_

#include "absl/status/statusor.h"
#include "x2ir/builder/node_writer.h"

namespace X2IR_API x2ir {

// depth_to_space and space_to_depth as transposes of more axes. FailedPrecondition where channels
// are last.
absl::StatusOr<Value*> DepthToSpaceByTranspose(NodeWriter& w);
absl::StatusOr<Value*> SpaceToDepthByTranspose(NodeWriter& w);

}  // namespace x2ir

#endif  // X2IR_BUILDER_SPACE_H_
