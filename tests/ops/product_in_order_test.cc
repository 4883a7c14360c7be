// Each element of a product is the sum that a plain loop takes, to the last bit.
#include "x2ir/ops/product_in_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace x2ir {
namespace {

TEST(ProductInOrder, IsThatOfAPlainLoop) {
  struct Row {
    int64_t m, k, n;
  };
  const Row rows[] = {{1, 1, 1}, {1, 7, 9},   {2, 5, 16},  {3, 33, 8}, {4, 3, 5},
                      {5, 6, 1}, {9, 17, 31}, {8, 64, 12}, {2, 0, 3}};
  for (const Row& r : rows) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        std::vector<float> a(static_cast<size_t>(r.m * r.k)), b(static_cast<size_t>(r.k * r.n));
        for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(static_cast<float>(i) + 0.1f);
        for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<float>(i) * 1.7f);
        std::vector<float> c(static_cast<size_t>(r.m * r.n), 5);
        ProductInOrder(a.data(), b.data(), c.data(), r.m, r.k, r.n, ta, tb);
        for (int64_t i = 0; i < r.m; ++i) {
          for (int64_t j = 0; j < r.n; ++j) {
            float sum = 0;
            for (int64_t p = 0; p < r.k; ++p) {
              const float x = a[static_cast<size_t>(ta ? p * r.m + i : i * r.k + p)];
              const float y = b[static_cast<size_t>(tb ? j * r.k + p : p * r.n + j)];
              const volatile float product = x * y;  // never one instruction with the sum
              sum += product;
            }
            EXPECT_EQ(c[static_cast<size_t>(i * r.n + j)], sum)
                << r.m << " " << r.k << " " << r.n << " " << ta << tb << " at " << i << ", " << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
