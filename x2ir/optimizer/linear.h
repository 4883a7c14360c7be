// Linear ops whose weights are constants (conv, gemm, matmul, ...). A multiplication and an
// addition by channel that follow such an op can be folded into its weights and bias.
#ifndef X2IR_OPTIMIZER_LINEAR_H_
#define X2IR_OPTIMIZER_LINEAR_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/weights.h"

namespace X2IR_API x2ir {

enum class LinearKind { kConv, kConvTranspose, kGemm, kMatMul, kNorm };

// A linear op: its channels, and their axis in its result.
struct Linear {
  Node* node;
  LinearKind kind;
  const Tensor* weight;
  const Tensor* bias = nullptr;  // constant; absent where there is none
  int64_t channels = 0, axis = 0, rank = 0;
  // A matmul has no bias of its own: the add node that follows it, and which operand of that node
  // is the bias.
  Node* sum = nullptr;
  size_t bias_at = 2;

  Value* result() const { return (sum ? sum : node)->output(0); }
};

// The axis of the channels by the op's layout; nullopt below rank 2.
std::optional<int64_t> ChannelsAt(const AttributeMap& attrs, int64_t rank);
// The linear op that produces the value, if the value has no other use and scales and shifts can be
// folded into the op: conv, conv_transpose, gemm, matmul, batch_normalization,
// instance_normalization.
std::optional<Linear> ReadLinear(const Pattern& pattern, const Value* result);
// The ops that may produce such a value: these, and the add that follows a matmul.
std::vector<std::string_view> LinearOps();
// Whether a constant holds one number, or one for each channel of the result.
bool IsPerChannel(const Tensor& t, const Linear& l);
// The axes of the result's channels in the weights.
ChannelLayout ChannelsOf(const Linear& l);
// The bias after channel = scale * channel + shift, for an op whose beta is 1; nullopt where it
// overflows.
std::optional<Tensor> ShiftedBias(const Linear& l, const std::vector<double>& scale,
                                  const std::vector<double>& shift);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_LINEAR_H_
