// dropout that drops nothing.
#include <cstddef>
#include <optional>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

bool IsConstant(const Rewrite& r, size_t i, double value) {
  const Tensor* t = Given(r, i) ? r.in(i)->fixed_constant() : nullptr;
  return t && !t->is_sparse() && t->num_elements() == 1 && t->AsDouble(0) == value;
}

Value* AllKept(Rewrite& r) {
  constexpr int64_t kMaxWritten = 4096;  // elements
  const auto dims = r.in(0)->shape() ? r.in(0)->shape()->Static() : std::nullopt;
  const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
  if (count && *count <= kMaxWritten) {
    Tensor kept = Tensor::Zeros(DType::kBool, *dims);
    for (std::byte& element : kept.mutable_bytes()) element = std::byte{1};
    return r.b.Op("identity", {r.b.Constant(std::move(kept), "kept")});
  }
  Value* all = r.b.Constant(Tensor::Scalar(true), "kept");
  return r.b.Op("expand", {all, r.b.Op("shape", {r.in(0)})});
}

// Outside of training, and with a ratio of 0, a seed means nothing and the mask is true.
absl::StatusOr<Values> DropoutAsIdentity(Rewrite& r) {
  const bool inference = !Given(r, 2) || (r.dtype(2) == DType::kBool && IsConstant(r, 2, 0));
  if (!inference && !IsConstant(r, 1, 0)) {
    return CannotExpress("in training mode, dropout has no other form");
  }
  Values values = {r.b.Op("identity", {r.in(0)})};
  if (r.num_outputs() > 1 && r.node.output(1)) {
    values.push_back(AllKept(r));
  } else {
    values.push_back(nullptr);
  }
  return values;
}
X2IR_LOWERING(dropout, DropoutAsIdentity);

}  // namespace
}  // namespace x2ir
