// See weights.h.
#include "x2ir/builder/weights.h"

#include <utility>

#include "x2ir/builder/relaid.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

Value* ReshapedWeight(Builder& b, Value* x, std::vector<int64_t> dims) {
  const Tensor* constant = x->fixed_constant();
  if (constant && !constant->is_sparse() && CheckedProduct(dims) == constant->num_elements()) {
    return RelaidConstant(b, x, constant->Reshaped(std::move(dims)));
  }
  return Reshape({b, x}, dims);
}

}  // namespace x2ir
