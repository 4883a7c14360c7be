// Functions that MIL and layers of networks both have.
#ifndef X2IR_HANDLERS_COREML_ACTIVATIONS_H_
#define X2IR_HANDLERS_COREML_ACTIVATIONS_H_

#include <string>
#include <string_view>

#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

// min(beta, x), or min(beta, alpha x) where x is negative.
Expr ClampedRelu(const Expr& x, double alpha, double beta);
// x where it is at least alpha, else 0.
Expr ThresholdedRelu(const Expr& x, double alpha);
// EXACT, TANH_APPROXIMATION or SIGMOID_APPROXIMATION.
Expr GeluOfMode(NodeReader& a, const Expr& x, std::string_view mode);
// A vector (or one number) along an axis of a tensor of that rank.
Expr OfChannels(const Expr& vector, int64_t rank, int64_t axis);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_ACTIVATIONS_H_
