// Tensors of a GGUF file as weights: views of the file where its bytes are in order.
#ifndef X2IR_FORMATS_CHECKPOINT_GGUF_WEIGHTS_H_
#define X2IR_FORMATS_CHECKPOINT_GGUF_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/checkpoint/gguf_file.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace gguf {

// A tensor of the file: numbers of a plain type, or blocks.
struct Weight {
  std::vector<int64_t> dims;
  const ggml::Type* type = nullptr;
  Tensor bytes;  // plain: of these dims and the type's dtype; else uint8, rank 1

  // Entry i of the first axis, without it. It must be there.
  absl::StatusOr<Weight> Part(int64_t i) const;
  // [n] as [1, n].
  void MakeRow();
  // Adds it to the program. DataLoss if it has a weight of that name.
  absl::Status AddTo(checkpoint::Program& program, std::string name) const;
};

// Unimplemented: a type that is known by name only.
absl::StatusOr<Weight> WeightOf(const File& file, const TensorInfo& tensor);

}  // namespace gguf
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GGUF_WEIGHTS_H_
