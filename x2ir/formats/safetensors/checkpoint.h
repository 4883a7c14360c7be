// A checkpoint: the weights of a model without its graph, as Hugging Face keeps them:
// model.safetensors, or model.safetensors.index.json and its shards, or the folder of either.
#ifndef X2IR_FORMATS_SAFETENSORS_CHECKPOINT_H_
#define X2IR_FORMATS_SAFETENSORS_CHECKPOINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

struct Checkpoint {
  StringMap<Tensor> tensors;  // mapped
  // Names of tied weights, which share another tensor of the same file, as
  // safetensors.torch.save_model writes them to the metadata.
  StringMap<std::string> aliases;

  // Null where there is none of that name.
  const Tensor* Find(std::string_view name) const;
};

// Shards are files beside their index, named without a path; links are followed, since Hugging
// Face's cache consists of them. NotFound: no such file, or none in the folder. DataLoss: a broken
// file, or an index that is not true. InvalidArgument: several checkpoints in the folder.
absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_SAFETENSORS_CHECKPOINT_H_
