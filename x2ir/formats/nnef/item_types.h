// The names of element types in texts of NNEF: the standard's (scalar, integer, logical) and
// tract's ("f16", "i32", "bool"), as its datum types print.
#ifndef X2IR_FORMATS_NNEF_ITEM_TYPES_H_
#define X2IR_FORMATS_NNEF_ITEM_TYPES_H_

#include <string_view>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace X2IR_API x2ir {
namespace nnef {

// kUndefined for a name that is none. tract's sizes ("TDim") are int64.
DType ItemTypeNamed(std::string_view name);
// tract's name of a type; "" for one that it does not have.
std::string_view TractTypeName(DType dtype);

}  // namespace nnef
}  // namespace x2ir

#endif  // X2IR_FORMATS_NNEF_ITEM_TYPES_H_
