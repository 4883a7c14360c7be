// What torch.save writes: a zip archive of a pickle and storages. Only tensors, and dicts of
// them, are read; a pickle is a program, and every other thing that it may do is refused.
#ifndef X2IR_FORMATS_TORCH_PICKLE_H_
#define X2IR_FORMATS_TORCH_PICKLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/torch/strided.h"

namespace X2IR_API x2ir {

// The tensors of a dict by name, in its order; a lone tensor has the name "". What else a dict
// holds is left out.
absl::StatusOr<std::vector<std::pair<std::string, TorchTensor>>> ReadTorchSave(ZipArchive& zip);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_PICKLE_H_
