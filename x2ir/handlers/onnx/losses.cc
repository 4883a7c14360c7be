// ONNX losses.
#include "x2ir/core/spec.h"

namespace x2ir {

X2IR_ONNX(negative_log_likelihood_loss).Is("NegativeLogLikelihoodLoss", Since(12));
X2IR_ONNX(softmax_cross_entropy_loss).Is("SoftmaxCrossEntropyLoss", Since(12));

}  // namespace x2ir
