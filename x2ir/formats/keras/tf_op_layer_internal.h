// TensorFlowOpLayer: an operator of TensorFlow in a model of tf.keras 2.0 to 2.3.
#ifndef X2IR_FORMATS_KERAS_TF_OP_LAYER_INTERNAL_H_
#define X2IR_FORMATS_KERAS_TF_OP_LAYER_INTERNAL_H_

#include "absl/status/statusor.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace x2ir::keras {

// Its configuration as a node has it.
absl::StatusOr<AttributeMap> TfOpAttributes(const Json& config);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_TF_OP_LAYER_INTERNAL_H_
