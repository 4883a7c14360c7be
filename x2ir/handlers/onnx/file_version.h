// Which version of the file format (ONNX's IR version) a model needs.
#ifndef X2IR_HANDLERS_ONNX_FILE_VERSION_H_
#define X2IR_HANDLERS_ONNX_FILE_VERSION_H_

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

// Sets the file version of a model that is about to be written: the model's own where it has one,
// else the oldest that will do; newer where what the model holds needs it. The option "ir_version"
// overrides both, and is an option error where the model cannot have it.
absl::Status SetOnnxFileVersion(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_FILE_VERSION_H_
