// Constant weights multiplied by a number for each channel, computed in float64 and rounded once.
#ifndef X2IR_OPTIMIZER_WEIGHTS_H_
#define X2IR_OPTIMIZER_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/optimizer/pass.h"

namespace X2IR_API x2ir {

// How channels lie in weights, seen as [groups, repeat, per_group, inner]: an element belongs to
// channel group * per_group + place in per_group, of groups * per_group.
struct ChannelLayout {
  int64_t groups = 1, repeat = 1, per_group = 1, inner = 1;
};

// Weights of more bytes are not rewritten to save a node. Rewritten weights take memory, which
// weights that are mapped from a file do not, and must be read, where others are only copied from
// file to file.
inline constexpr int64_t kMaxRewrittenBytes = int64_t{64} << 20;

// Whether passes leave that tensor alone because the model will refer to it.
bool StaysInFile(const Tensor& tensor, const PassContext& context);

// nullopt where the weights' type cannot hold the result: a number overflows or is NaN, or in
// float16 the largest number of a channel becomes subnormal and loses digits.
std::optional<Tensor> ScaleWeights(const Tensor& weights, const std::vector<double>& scale,
                                   const ChannelLayout& channels);
// Numbers up to this have half of their type's digits after the point; 0 for other types. Adding a
// larger number rounds the other operand.
double LargestSummand(DType type);
// Whether to add a + b at once gives other digits than to add first one and then the other: a large
// number that is taken away again rounds, and is often meant to.
bool RoundsWhatItIsAddedTo(DType type, double a, double b);
// The numbers as a tensor of rank 1; nullopt where the type cannot hold one.
std::optional<Tensor> FiniteNumbers(DType type, const std::vector<double>& numbers);
// Whether the weights are large and have several uses: a changed copy would make the file larger.
bool IsShared(const Value* weights);
// Whether broadcasting the tensor to that rank gives each of `channels` along `axis` one number, or
// all of them one, and leaves a shape of these channels as it is.
bool IsPerChannel(const Tensor& tensor, int64_t rank, int64_t axis, int64_t channels);
// The elements of a constant of floats: one for all `channels`, or one each. The caller checks.
std::vector<double> SpreadOver(const Tensor& numbers, int64_t channels);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_WEIGHTS_H_
