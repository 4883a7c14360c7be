// Images whose pixels or channels are repeated and reordered, channels first.
#ifndef X2IR_BUILDER_LAYERS_IMAGES_H_
#define X2IR_BUILDER_LAYERS_IMAGES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

// Each pixel as a rectangle of so many.
Expr RepeatedPixels(NodeReader& a, const Expr& x, int64_t rows, int64_t columns);
// Channels of groups, one of each group after the other.
absl::StatusOr<Value*> ShuffledChannels(NodeReader& a, const Expr& x, int64_t groups);
// Darknet's reorg: it takes blocks of an image of fewer channels and larger planes that has the
// same numbers in the same order, and gives the shape of the usual space to depth; or the way back.
absl::StatusOr<Value*> Reorganized(NodeReader& a, const Expr& x, int64_t stride, bool reverse);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_IMAGES_H_
