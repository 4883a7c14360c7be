// What ONNX Runtime GenAI needs beside a decoder's ONNX file: genai_config.json, and the
// tokenizer's files of the checkpoint.
#ifndef X2IR_FORMATS_CHECKPOINT_GENAI_H_
#define X2IR_FORMATS_CHECKPOINT_GENAI_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// The text of genai_config.json for a decoder whose file has that name (without a folder).
// Unimplemented: the checkpoint is no decoder with a cache.
absl::StatusOr<std::string> GenaiConfig(const Program& program, const std::string& file_name);

// Writes genai_config.json into the folder of `out`, which is the ONNX file, and copies the
// tokenizer's files there. Returns what was written. FailedPrecondition: a file is there already
// and says something else, unless `force`.
absl::StatusOr<std::vector<std::string>> WriteGenaiFiles(const Program& program,
                                                         const std::string& out, bool force);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GENAI_H_
