// Convolutions and transposed convolutions as simpler ones, for runtimes whose kernels have no
// groups or no dilations. Weights are [out, in of a group, kernel...], those of a transposed one
// [in, out of a group, kernel...].
#ifndef X2IR_BUILDER_LAYERS_SPLIT_CONV_H_
#define X2IR_BUILDER_LAYERS_SPLIT_CONV_H_

#include "absl/status/statusor.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/node_writer.h"

namespace X2IR_API x2ir {

// A node for each group, whose results are concatenated along the channels. Parts of a constant
// share its memory. FailedPrecondition for more than 256 groups.
absl::StatusOr<Values> ConvOfGroups(NodeWriter& w);

// A dilated kernel as a larger one with zeros between its elements. FailedPrecondition for a
// kernel that is no dense constant, or that would have more than 2^24 elements.
absl::StatusOr<Values> ConvWithZerosBetween(NodeWriter& w);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_SPLIT_CONV_H_
