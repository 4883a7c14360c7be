// Element types that tract's kernels have where the standard has real numbers (float32), integers
// (int64) and flags alone. Sources: the lists of types in sonos/tract's core/src/ops (math/mod.rs,
// logic, nn/reduce.rs, array/) and nnef/src/ops/nnef/deser.rs.
//
// Left out on purpose: quotients of signed integers, since tract divides by powers of two by a
// shift, which rounds down; powers of integers, whose exponents it takes as unsigned; sums of
// float16, which it adds in float16.

#include <algorithm>
#include <initializer_list>

#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

constexpr uint32_t Types(std::initializer_list<DType> types) {
  uint32_t mask = 0;
  for (const DType t : types) mask |= uint32_t{1} << static_cast<int>(t);
  return mask;
}
constexpr uint32_t kReals = Types({DType::kFloat16, DType::kFloat32, DType::kFloat64});
constexpr uint32_t kHalf = Types({DType::kFloat16});
constexpr uint32_t kHalves = Types({DType::kFloat16, DType::kFloat32});
constexpr uint32_t kSignedInts = Types({DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64});
constexpr uint32_t kUnsignedInts =
    Types({DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64});
constexpr uint32_t kNumbers = kReals | kSignedInts | kUnsignedInts;
constexpr uint32_t kItems = kNumbers | Types({DType::kBool});

struct KernelRow {
  std::string_view ops;
  uint32_t types;
};
constexpr KernelRow kKernels[] = {
    {"copy reshape transpose squeeze unsqueeze concat stack split slice tile gather select "
     "tract_core_cast tract_core_gather tract_core_gather_nd tract_core_scatter_nd "
     "tract_core_scatter_elements",
     kItems},
    {"x2ir.dequantize", kSignedInts | kUnsignedInts},
    {"add sub mul min max lt gt le ge eq ne max_reduce min_reduce argmax_reduce "
     "argmin_reduce max_pool tract_core_product_reduce tract_core_topk tract_core_range",
     kNumbers},
    {"sum_reduce", kNumbers & ~kHalf},
    {"mean_reduce", kReals & ~kHalf},
    {"div", kReals | kUnsignedInts},
    {"neg", kReals | kSignedInts},
    {"abs", kHalves | kSignedInts},
    {"floor ceil", kReals | kSignedInts | kUnsignedInts},
    {"exp log sqrt rcp sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sign pow "
     "relu prelu selu softplus linear batch_normalization avg_pool box "
     "tract_core_fft",
     kReals},
    {"sigmoid softmax leaky_relu conv", kHalves},
    {"matmul", kReals | Types({DType::kInt32})},
    {"tract_core_bitand tract_core_bitor tract_core_bitxor tract_core_bitnot tract_shl tract_shr",
     kSignedInts | kUnsignedInts},
};

}  // namespace

bool TractHasKernel(std::string_view op, DType t) {
  for (const KernelRow& row : kKernels) {
    std::string_view names = row.ops;
    while (!names.empty()) {
      const size_t end = std::min(names.find(' '), names.size());
      if (names.substr(0, end) == op) return row.types >> static_cast<int>(t) & 1;
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return false;
}

}  // namespace x2ir
