// The ops of ONNX Runtime's own domain, com.microsoft, that are known here: their operands and
// attributes. ONNX has no schemas of them.
#ifndef X2IR_HANDLERS_ONNX_CONTRIB_SCHEMAS_H_
#define X2IR_HANDLERS_ONNX_CONTRIB_SCHEMAS_H_

#include "x2ir/core/dialect.h"

namespace X2IR_API x2ir {

// Null when not known. There is one version of each.
const OpSchema* ContribSchema(Symbol op);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_ONNX_CONTRIB_SCHEMAS_H_
