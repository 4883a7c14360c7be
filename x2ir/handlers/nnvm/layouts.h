// Layouts of NNVM's tensors as texts: "NCHW", "NCHW8c", "OIHW8i8o". A capital is an axis. A number
// and a small letter are the inner part of the axis of that letter, with that many elements.
#ifndef X2IR_HANDLERS_NNVM_LAYOUTS_H_
#define X2IR_HANDLERS_NNVM_LAYOUTS_H_

#include <string>
#include <string_view>

#include "x2ir/builder/expr.h"
#include "x2ir/handlers/nnvm/symbol.h"

namespace X2IR_API x2ir {

// Whether an axis has an inner part.
bool IsBlockedLayout(std::string_view layout);

// x of one layout in another one of the same axes. Fails the form for texts that are none, for axes
// that differ, and for sizes that inner parts do not divide.
Expr InLayout(SymbolArgs& a, const Expr& x, const std::string& from, const std::string& to);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNVM_LAYOUTS_H_
