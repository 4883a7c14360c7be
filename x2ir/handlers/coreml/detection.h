// Boxes (x and y of the center, width, height) of which the best are left: the model, MIL's
// operation and the layer.
#ifndef X2IR_HANDLERS_COREML_DETECTION_H_
#define X2IR_HANDLERS_COREML_DETECTION_H_

#include "absl/status/statusor.h"
#include "x2ir/handlers/coreml/nn.h"

namespace X2IR_API x2ir {

// Operands are the features that the fields name; results are those of "outputs#".
absl::StatusOr<Values> BestBoxes(NnArgs& a);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_DETECTION_H_
