// Checkpoints whose matrices are stored quantized, as "quantization_config" of config.json says:
// AWQ, GPTQ, bitsandbytes, compressed-tensors, mxfp4 and float8 with scales. Each matrix is asked
// for by the name that it has without quantization, NAME.weight, and is [out, in].
//
// In the graph it is the float32 product of what is stored and its scales. The libraries round that
// product to float16 or bfloat16 where they compute in such a type; here nothing is rounded.
// Quantization of activations is not applied.
#ifndef X2IR_HANDLERS_CHECKPOINT_QUANTIZED_H_
#define X2IR_HANDLERS_CHECKPOINT_QUANTIZED_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/handlers/checkpoint/settings.h"

namespace X2IR_API x2ir {
namespace checkpoint {

struct QuantizedWeight {
  std::vector<int64_t> dims;       // out, in
  std::vector<std::string> parts;  // names of what it is stored as
  // Column k of what is made is input order[k]; none: they are in order.
  std::vector<int64_t> order = {};
  // float32 [out, in]. `name`: of the constants.
  std::function<Expr(Builder& b, std::string_view name)> make;
};

class Quantized {
 public:
  // Whether there is such a configuration.
  static bool IsIn(const Json& config);

  // Refused for a method, a setting or a form that is not known, and for parts that do not fit each
  // other.
  Quantized(Settings& settings, const Program& program, std::vector<std::string>& warnings);

  // Null where the weight is not quantized.
  const QuantizedWeight* Find(std::string_view name) const;
  // Patterns of names that are stored and not used (Net::IgnoreWeights): scales of activations,
  // and biases of 0 beside quantized matrices, which AutoGPTQ once wrote for layers without any.
  const std::vector<std::string>& unused() const { return unused_; }

 private:
  void ReadStacks(const Checkpoint& checkpoint);

  StringMap<QuantizedWeight> weights_;
  std::vector<std::string> unused_;
};

// The numbers of a weight as the graph would compute them, in the order that it is stored in;
// `type`: float32, or rounded to float16 or bfloat16. In memory, the weight is float32 on the way.
absl::StatusOr<Tensor> DequantizedMatrix(const QuantizedWeight& weight, DType type);

// The rows or columns of a weight that are in their stored order, in that of its inputs.
Expr InOrder(const Expr& weight, const std::vector<int64_t>& order);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_QUANTIZED_H_
