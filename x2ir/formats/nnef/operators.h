// The operators that nodes of dialect "nnef" may be of, as NNEF itself declares them: their
// parameters in order, which of them are tensors, and defaults.
#ifndef X2IR_FORMATS_NNEF_OPERATORS_H_
#define X2IR_FORMATS_NNEF_OPERATORS_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/nnef/syntax.h"

namespace X2IR_API x2ir {
namespace nnef {

// The declaration of an operator of the standard, or of tract's registries; null: there is none.
const Fragment* FindOperator(std::string_view name);
// Whether it is one of tract's, which a file must name the registry of.
bool IsTracts(std::string_view name);
// Why an operator that tract or the standard has is refused; "" for others.
std::string_view RefusalOf(std::string_view name);
// All of tract's operators that are declared or refused, in the order of their names. For docs.
std::vector<std::string> TractOperators();
// Which registry one of tract's is of: "tract_core", "tract_onnx".
std::string_view RegistryOf(std::string_view name);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_OPERATORS_H_
