// What messages say of schemas.
#ifndef X2IR_CORE_SCHEMA_TEXT_INTERNAL_H_
#define X2IR_CORE_SCHEMA_TEXT_INTERNAL_H_

#include <string>

#include "x2ir/core/dialect.h"

namespace x2ir {

// That the op has no such attribute, and which it has.
std::string UnknownAttribute(Symbol name, const OpSchema& schema);

}  // namespace x2ir

#endif  // X2IR_CORE_SCHEMA_TEXT_INTERNAL_H_
