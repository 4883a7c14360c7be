// Normalizations.
#ifndef X2IR_BUILDER_LAYERS_NORM_H_
#define X2IR_BUILDER_LAYERS_NORM_H_

#include <cstdint>
#include <vector>

#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/size.h"

namespace X2IR_API x2ir {

// Normalized along an axis by the mean and variance that training counted. Null scale: 1; null
// shift: 0.
Expr BatchNormalize(NodeReader& a, const Expr& x, Value* scale, Value* shift, const Expr& mean,
                    const Expr& variance, int64_t axis, double epsilon);

// Over groups of channels, or each channel of each image. Null scale: 1; null shift: 0. Both are
// made of the type of x.
Expr GroupNormalize(const Expr& x, Value* scale, Value* shift, int64_t groups, double epsilon,
                    bool channels_last = false);
Expr InstanceNormalize(const Expr& x, Value* scale, Value* shift, double epsilon,
                       bool channels_last = false);
// A vector of channels in that type; null: `channels` times a number.
Expr OrFilled(Builder& b, Value* given, DType t, const Size& channels, double number);

// (x - mean) / sqrt(variance + epsilon) over axes.
Expr Standardized(const Expr& x, const std::vector<int64_t>& axes, double epsilon);
// Caffe's MVN: x - mean, and with `scales` over the deviation + epsilon.
Expr MeanVarianceNorm(const Expr& x, const std::vector<int64_t>& axes, bool scales, double epsilon);
// x over the root of the sum of squares of these axes and epsilon.
Expr L2Normalized(const Expr& x, const std::vector<int64_t>& axes, double epsilon);

// Over `size` neighboring channels: x / (bias + alpha * mean of squares)^beta.
Expr LocalResponseNorm(const Expr& x, int64_t size, double alpha, double beta, double bias,
                       bool channels_last = false);
// The same over `size` x `size` pixels of a channel, an odd number; channels first.
Expr LocalResponseNormWithin(const Expr& x, int64_t size, double alpha, double beta, double bias);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_NORM_H_
