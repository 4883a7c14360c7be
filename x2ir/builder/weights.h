// Weights in the sizes that an operator takes them in.
#ifndef X2IR_BUILDER_WEIGHTS_H_
#define X2IR_BUILDER_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/builder.h"

namespace X2IR_API x2ir {

// The same elements with other sizes, which are no less than 0 (a 0 is a size of 0): a constant at
// once, without a copy, anything else by a reshape.
Value* ReshapedWeight(Builder& b, Value* x, std::vector<int64_t> dims);

}  // namespace x2ir

#endif  // X2IR_BUILDER_WEIGHTS_H_
