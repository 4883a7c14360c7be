// The operators that nodes of dialect "nnef" may be of, as NNEF itself declares them: their
// parameters in order, which of them are tensors, and defaults.
#ifndef X2IR_FORMATS_NNEF_OPERATORS_H_
#define X2IR_FORMATS_NNEF_OPERATORS_H_

#include <string_view>

#include "x2ir/formats/nnef/syntax.h"

namespace X2IR_API x2ir {
namespace nnef {

// The declaration of an operator of the standard, or of tract's registries; null: there is none.
const Fragment* FindOperator(std::string_view name);
// Whether it is one of tract's, which a file must name the registry of.
bool IsTracts(std::string_view name);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_OPERATORS_H_
