// What all formats that hold ONNX's messages share: the options of writing, and the files beside.
#ifndef X2IR_FORMATS_ONNX_FILES_INTERNAL_H_
#define X2IR_FORMATS_ONNX_FILES_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/options.h"

namespace x2ir::onnx_format {

// Of the model; with those of files beside it.
std::vector<OptionDef> ModelOptionDefs();
std::vector<OptionDef> WriteOptionDefs();
// An option error for what cannot be.
absl::StatusOr<OnnxWriteOptions> WriteOptionsOf(const FormatOptions& options, const Sink& sink);
// Format::companions.
std::vector<std::string> Companions(const std::string& path);

}  // namespace x2ir::onnx_format

#endif  // X2IR_FORMATS_ONNX_FILES_INTERNAL_H_
