// Weights whose axes get another order at once.
#ifndef X2IR_BUILDER_RELAID_H_
#define X2IR_BUILDER_RELAID_H_

#include <utility>

#include "x2ir/ops/builder.h"

namespace X2IR_API x2ir {

// `elements`, those of the constant `x` in another order: a constant that takes the name of `x`.
inline Value* RelaidConstant(Builder& b, Value* x, Tensor elements) {
  Value* made = b.Constant(std::move(elements), x->name());
  if (x->graph() == &b.graph()) b.SwapNames(x, made);
  return made;
}

}  // namespace x2ir

#endif  // X2IR_BUILDER_RELAID_H_
