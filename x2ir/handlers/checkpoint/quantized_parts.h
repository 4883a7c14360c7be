// What one quantized matrix is stored as, and the forms of each library. See quantized.h.
#ifndef X2IR_HANDLERS_CHECKPOINT_QUANTIZED_PARTS_H_
#define X2IR_HANDLERS_CHECKPOINT_QUANTIZED_PARTS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/formats/safetensors/checkpoint.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/handlers/checkpoint/quantized.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// Tensors whose names begin with that of a layer. Refused where one is missing, of another type or
// of other sizes.
class StoredParts {
 public:
  StoredParts(const Checkpoint& weights, std::string prefix)
      : weights_(weights), prefix_(std::move(prefix)) {}

  const std::string& prefix() const { return prefix_; }
  // The ones that were asked for and are there.
  const std::vector<std::string>& names() const { return names_; }

  const Tensor* Find(std::string_view part);
  const Tensor& At(std::string_view part);
  // int32 of rank 2.
  const Tensor& Words(std::string_view part);
  // Floats.
  const Tensor& Scales(std::string_view part);
  // -1 is any size.
  void Expect(std::string_view part, const Tensor& tensor, const std::vector<int64_t>& dims) const;
  template <typename... Args>
  [[noreturn]] void Wrong(std::string_view part, const Args&... args) const {
    Broken("weight '", prefix_, part, "': ", args...);
  }

 private:
  const Checkpoint& weights_;
  std::string prefix_;
  std::vector<std::string> names_;
};

// What a configuration says of packed integers.
struct Packing {
  int bits = 4;
  int64_t group = 128;         // inputs that have one scale; -1: all
  bool by_layer = false;       // layers may have other bits and groups than these
  bool zero_less_one = false;  // GPTQ: zero points are stored less 1
};
// NAME.qweight, qzeros, scales, g_idx.
QuantizedWeight GptqMatrix(StoredParts& parts, const Packing& packing);
// NAME.qweight, qzeros, scales.
QuantizedWeight AwqMatrix(StoredParts& parts, const Packing& packing);

// compressed-tensors: NAME.weight_packed and weight_shape, or NAME.weight of int8 or float8;
// weight_scale, weight_zero_point, weight_g_idx.
struct Scheme {
  enum Kind : uint8_t { kTensor, kChannel, kGroup, kBlock };
  int bits = 8;
  bool is_float = false;
  Kind kind = kChannel;
  int64_t group = 0;                          // kGroup
  int64_t block_rows = 0, block_columns = 0;  // kBlock
};
QuantizedWeight CompressedMatrix(StoredParts& parts, const std::vector<Scheme>& schemes);

// NAME.weight of float8 by NAME.weight_scale_inv or weight_scale: one for all, for each row, or,
// where a size is given, for each block.
QuantizedWeight Float8Matrix(StoredParts& parts, int64_t block_rows, int64_t block_columns);

// bitsandbytes: NAME.weight, its absmax, quant_map and quant_state, and those of nested scales;
// NAME.weight of int8 and NAME.SCB.
QuantizedWeight TableOf16Matrix(StoredParts& parts, std::string_view state);
QuantizedWeight RowwiseInt8Matrix(StoredParts& parts);

// mxfp4 of stacked experts: the parts NAME_blocks [experts, out, groups, 16] and NAME_scales. One
// weight for each expert, in their order.
std::vector<QuantizedWeight> Mxfp4Matrices(StoredParts& parts, const std::string& name);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_QUANTIZED_PARTS_H_
