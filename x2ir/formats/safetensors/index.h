// An index of safetensors: which of several files holds which tensor, as Hugging Face's
// model.safetensors.index.json says it:
//
//   {"metadata": {...}, "weight_map": {"layer.weight": "model-00001-of-00002.safetensors", ...}}
#ifndef X2IR_FORMATS_SAFETENSORS_INDEX_H_
#define X2IR_FORMATS_SAFETENSORS_INDEX_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

inline constexpr std::string_view kSafetensorsIndexExtension = ".safetensors.index.json";

struct SafetensorsShard {
  std::string file;                  // relative to the index's folder
  std::vector<std::string> tensors;  // those that the index says it has
};

// In the order in which the index names the files first. DataLoss: no index, or a broken one.
absl::StatusOr<std::vector<SafetensorsShard>> ReadSafetensorsIndex(const Blob& file);

}  // namespace x2ir

#endif  // X2IR_FORMATS_SAFETENSORS_INDEX_H_
