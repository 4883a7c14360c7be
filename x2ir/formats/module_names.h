// Names that no part of a PyTorch module can have.
#ifndef X2IR_FORMATS_MODULE_NAMES_H_
#define X2IR_FORMATS_MODULE_NAMES_H_

#include <string_view>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Words that Python has for itself; "match", "case" and "type" are names all the same.
bool IsPythonKeyword(std::string_view name);
// What every torch.nn.Module has under that name, in any release since 1.13.
bool IsModuleMember(std::string_view name);
// What a torch.fx.GraphModule has besides.
bool IsGraphModuleMember(std::string_view name);

}  // namespace x2ir

#endif  // X2IR_FORMATS_MODULE_NAMES_H_
