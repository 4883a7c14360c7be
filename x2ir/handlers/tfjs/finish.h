// The last step before a graph model of TensorFlow.js is written.
#ifndef X2IR_HANDLERS_TFJS_FINISH_H_
#define X2IR_HANDLERS_TFJS_FINISH_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// TensorFlow.js computes float64 as float32: inputs and outputs of float64 are FailedPrecondition
// unless the option float64_as_float32 is set, and all float64 becomes float32. Graphs keep int64,
// int8, uint8 and float16, which TensorFlow.js computes as int32 and float32: a constant that int32
// does not have is FailedPrecondition, unless it is only a bound of slices.
absl::Status FinishTfjs(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFJS_FINISH_H_
