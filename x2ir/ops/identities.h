// Copies: an `identity` gives its operand another name, and nothing else.
#ifndef X2IR_OPS_IDENTITIES_H_
#define X2IR_OPS_IDENTITIES_H_

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// The value of which `value` is a copy, over any number of identities; itself where it is none.
// Null for null.
inline Value* WithoutIdentities(Value* value) {
  while (value && value->producer() && value->producer()->Is("identity")) {
    value = value->producer()->input(0);
  }
  return value;
}
inline const Value* WithoutIdentities(const Value* value) {
  return WithoutIdentities(const_cast<Value*>(value));
}

}  // namespace x2ir

#endif  // X2IR_OPS_IDENTITIES_H_
