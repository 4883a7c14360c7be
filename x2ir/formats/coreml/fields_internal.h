// The numbers of the fields of Core ML's messages (facts/coreml-proto-fields.json).
#ifndef X2IR_FORMATS_COREML_FIELDS_INTERNAL_H_
#define X2IR_FORMATS_COREML_FIELDS_INTERNAL_H_

#include <cstdint>

namespace x2ir::coreml {

#include "x2ir_coreml_fields.inc"

}  // namespace x2ir::coreml

#endif  // X2IR_FORMATS_COREML_FIELDS_INTERNAL_H_
