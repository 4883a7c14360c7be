// Sizes as torch.export writes them: sympy expressions, in the form of srepr
// ("Mul(Integer(8), Symbol('s0', integer=True))") or as printed ("8*s0").
#ifndef X2IR_FORMATS_TORCH_SYMBOLS_H_
#define X2IR_FORMATS_TORCH_SYMBOLS_H_

#include <string_view>

#include "x2ir/graph_wrapper/shape.h"

namespace X2IR_API x2ir {

// Unknown if x2ir's expressions cannot represent it, or the text is not an expression.
Dim ParseTorchSize(std::string_view text);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_SYMBOLS_H_
