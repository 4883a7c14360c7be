// Compiled with -ffp-contract=off, and so that the inner loops are vectorized: they go over the
// columns, so each element has its own sum.
#include "x2ir/ops/product_in_order.h"

#include <algorithm>
#include <vector>

namespace x2ir {
namespace {

// The numbers of one row of `a` are `step` apart.
template <typename T>
void OneRow(const T* __restrict a, int64_t step, const T* __restrict b, T* __restrict c, int64_t k,
            int64_t n) {
  for (int64_t p = 0; p < k; ++p, b += n) {
    const T x = a[p * step];
    for (int64_t j = 0; j < n; ++j) c[j] += x * b[j];
  }
}

// Four rows at once, which are `next` apart in `a`, read `b` once.
template <typename T>
void FourRows(const T* __restrict a, int64_t step, int64_t next, const T* __restrict b,
              T* __restrict c, int64_t k, int64_t n) {
  T* __restrict c1 = c + n, * __restrict c2 = c1 + n, * __restrict c3 = c2 + n;
  for (int64_t p = 0; p < k; ++p, b += n) {
    const T* at = a + p * step;
    const T x0 = at[0], x1 = at[next], x2 = at[2 * next], x3 = at[3 * next];
    for (int64_t j = 0; j < n; ++j) {
      const T y = b[j];
      c[j] += x0 * y;
      c1[j] += x1 * y;
      c2[j] += x2 * y;
      c3[j] += x3 * y;
    }
  }
}

// One row, where `b` is transposed. Eight sums at once do not wait for each other.
template <typename T>
void OneRowByColumns(const T* __restrict a, int64_t step, const T* __restrict b, T* __restrict c,
                     int64_t k, int64_t n) {
  constexpr int64_t kAtOnce = 8;
  int64_t j = 0;
  for (; j + kAtOnce <= n; j += kAtOnce, b += kAtOnce * k) {
    T sums[kAtOnce] = {};
    for (int64_t p = 0; p < k; ++p) {
      const T x = a[p * step];
      for (int64_t i = 0; i < kAtOnce; ++i) sums[i] += x * b[i * k + p];
    }
    std::copy(sums, sums + kAtOnce, c + j);
  }
  for (; j < n; ++j, b += k) {
    T sum{0};
    for (int64_t p = 0; p < k; ++p) sum += a[p * step] * b[p];
    c[j] = sum;
  }
}

}  // namespace

template <typename T>
void ProductInOrder(const T* a, const T* b, T* c, int64_t m, int64_t k, int64_t n, bool transpose_a,
                    bool transpose_b) {
  const int64_t step = transpose_a ? m : 1, next = transpose_a ? 1 : k;
  if (transpose_b && m < 4) {  // else `b` is worth being transposed
    for (int64_t i = 0; i < m; ++i) OneRowByColumns(a + i * next, step, b, c + i * n, k, n);
    return;
  }
  std::vector<T> turned;
  if (transpose_b) {
    turned.resize(static_cast<size_t>(k * n));
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t p = 0; p < k; ++p) turned[static_cast<size_t>(p * n + j)] = b[j * k + p];
    }
    b = turned.data();
  }
  std::fill(c, c + m * n, T{0});
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) FourRows(a + i * next, step, next, b, c + i * n, k, n);
  for (; i < m; ++i) OneRow(a + i * next, step, b, c + i * n, k, n);
}

template void ProductInOrder(const float*, const float*, float*, int64_t, int64_t, int64_t, bool,
                             bool);
template void ProductInOrder(const double*, const double*, double*, int64_t, int64_t, int64_t, bool,
                             bool);

}  // namespace x2ir
