// The matrix product that matmul, gemm, einsum (and others) evaluate with.
#ifndef X2IR_OPS_MATMUL_H_
#define X2IR_OPS_MATMUL_H_

#include <cstdint>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// c = a * b, all row-major: a is [m, k] (with transpose_a: [k, m] as stored), b is [k, n]
// (with transpose_b: [n, k]). T is float, double, int64_t or uint64_t; integers wrap.
template <typename T>
void MatrixProduct(const T* a, const T* b, T* c, int64_t m, int64_t k, int64_t n,
                   bool transpose_a = false, bool transpose_b = false);

}  // namespace x2ir

#endif  // X2IR_OPS_MATMUL_H_
