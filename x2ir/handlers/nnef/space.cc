// NNEF: blocks of space that become channels, and back.
#include "x2ir/builder/space.h"

#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {

X2IR_NNEF(depth_to_space).To("transpose", [](NnefWriter& w) { return DepthToSpaceByTranspose(w); });
X2IR_NNEF(space_to_depth).To("transpose", [](NnefWriter& w) { return SpaceToDepthByTranspose(w); });

}  // namespace x2ir
