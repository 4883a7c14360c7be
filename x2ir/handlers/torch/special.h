// Functions of numbers as formulas, and the handlers that are nothing but one.
#ifndef X2IR_HANDLERS_TORCH_SPECIAL_H_
#define X2IR_HANDLERS_TORCH_SPECIAL_H_

#include <string_view>

#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

// A handler of one operand, computed in float64, and of two.
TorchHandler InDoubles(Expr (*f)(const Expr&), std::string_view operand = "self");
TorchHandler InDoubles2(Expr (*f)(const Expr&, const Expr&), std::string_view first = "self",
                        std::string_view second = "other");
// Says why the call cannot be converted.
TorchHandler Refused(std::string_view why);

Expr XLogY(const Expr& x, const Expr& y);  // x log(y); 0 where x is, unless y is NaN

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_SPECIAL_H_
