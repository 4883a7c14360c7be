// What a program needs before it is written: 32-bit integers, types of inputs and outputs,
// images, labels.
#ifndef X2IR_HANDLERS_COREML_FINISH_H_
#define X2IR_HANDLERS_COREML_FINISH_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Makes int64 int32 (FailedPrecondition for constants that do not fit), gives inputs and outputs
// types that Core ML has, with casts after and before them, and with the option `float16` makes
// float32 float16. What inputs and outputs were before is an annotation of theirs ("coreml.port",
// as the file has it in its metadata). Images and classifiers become what options say (images.h,
// classifier.h).
absl::Status FinishCoreml(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_FINISH_H_
