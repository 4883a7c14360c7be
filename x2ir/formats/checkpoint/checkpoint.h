// Readers of checkpoints: folders of Hugging Face, and GGUF files.
#ifndef X2IR_FORMATS_CHECKPOINT_CHECKPOINT_H_
#define X2IR_FORMATS_CHECKPOINT_CHECKPOINT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// DataLoss: a file that is missing or broken.
absl::StatusOr<std::shared_ptr<Program>> ReadFolder(const Source& source);

// The options of both formats, and a model of a program that was read with them.
std::vector<OptionDef> ReadOptions();
Model ModelOf(std::shared_ptr<Program> program, const ReadRequest& request);

// What a folder gets for a checkpoint, each a file of its own: "encoder_model" and "decoder_model"
// of a model that has both (the values of the option "part"), else "model". Empty: not a folder of
// a checkpoint.
struct ModelPart {
  std::string name, part;
};
absl::StatusOr<std::vector<ModelPart>> PartsOf(const Source& source);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_CHECKPOINT_H_
