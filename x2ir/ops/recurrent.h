// The functions of recurrent ops (rnn, gru, lstm), as their attributes say them.
#ifndef X2IR_OPS_RECURRENT_H_
#define X2IR_OPS_RECURRENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {

struct RecurrentFunction {
  std::string name;  // as ONNX spells it; names are read in any case
  int parameters;    // 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;
};

// Those of "activations", in order. Their numbers are taken from "activation_alpha" and
// "activation_beta" as they go; the missing ones are the defaults of ONNX's operators of these
// names, 1 and 0 of Affine, and 1 and 1 of ScaledTanh, for which ONNX has none. InvalidArgument for
// an unknown name.
absl::StatusOr<std::vector<RecurrentFunction>> RecurrentFunctions(const AttributeMap& attrs);

// Spells the names as ONNX does, which ONNX Runtime wants of rnn, and sets "activation_alpha" and
// "activation_beta" to the numbers of all functions where fewer are given: its defaults are others
// (0, of Affine, ScaledTanh and ThresholdedRelu). Unknown names stay.
void WriteOutFunctions(AttributeMap& attrs);

}  // namespace x2ir

#endif  // X2IR_OPS_RECURRENT_H_
