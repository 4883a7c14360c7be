// Weights of a model from checkpoints: for a program that was saved without weights, or with
// others.
#ifndef X2IR_CORE_EDIT_WEIGHTS_FROM_H_
#define X2IR_CORE_EDIT_WEIGHTS_FROM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Gives the weights of a model, as its file has it, the tensors of the same names of checkpoints
// (files or folders, formats/safetensors/checkpoint.h), which stay mapped: nothing of them is read.
//
// A prefix that the names of one side lack ("model.") is found for each checkpoint: the prefix with
// which most names are found. The report names the prefix, the shared (tied) weights, the unused
// tensors, and the constants that did not change.
//
// Parameters must all be there, and the element type and shape of each must be the model's. Where a
// format does not tell parameters from other constants (ONNX, IR), those constants stay that no
// checkpoint has. On failure the model is as it was, and one error lists all: NotFound for a file
// that is not there, DataLoss for a broken one, an option error ("weights_from") for a checkpoint
// that does not suit the model.
absl::Status TakeWeights(Model& model, absl::Span<const std::string> checkpoints, Report& report);

// DataLoss that lists the weights that the model's file names but does not hold.
absl::Status CheckHasWeights(const Model& model);

}  // namespace x2ir

#endif  // X2IR_CORE_EDIT_WEIGHTS_FROM_H_
