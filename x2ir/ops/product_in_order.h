// Matrix products with the same bits on every processor. Constants are folded with them, so that a
// converted file does not depend on the machine.
#ifndef X2IR_OPS_PRODUCT_IN_ORDER_H_
#define X2IR_OPS_PRODUCT_IN_ORDER_H_

#include <cstdint>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// c = a * b as MatrixProduct (matmul.h) has it, for float and double. Each sum is taken one
// operand after the other, from 0, and never contracted.
template <typename T>
void ProductInOrder(const T* a, const T* b, T* c, int64_t m, int64_t k, int64_t n, bool transpose_a,
                    bool transpose_b);

}  // namespace x2ir

#endif  // X2IR_OPS_PRODUCT_IN_ORDER_H_
