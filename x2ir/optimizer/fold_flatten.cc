// fold_flatten: an image that is transposed, flattened and multiplied by a matrix of constants need
// not be transposed: the rows of the matrix change places instead. Networks with channels last that
// end in dense layers have this after their last convolution.
//  1. matmul or gemm of a reshape (flatten) of a transpose, which has no other user, if all moved
//  axes are among the axes that the matrix sums over.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rules.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fold_flatten, "The order in which images are flattened goes into dense weights.");

// The axis from where on the shape has `size` elements, and before which nothing changes places.
std::optional<size_t> FirstAxis(const Shape& shape, const std::vector<int64_t>& perm,
                                int64_t size) {
  if (perm.size() != shape.dims().size()) return std::nullopt;
  size_t moved = 0;
  while (moved < perm.size() && perm[moved] == static_cast<int64_t>(moved)) ++moved;
  int64_t product = 1;
  for (size_t axis = perm.size(); axis-- > 0;) {
    const Dim& dim = shape.dims()[axis];
    if (!dim.is_static() || dim.value() <= 0 || product > size / dim.value()) return std::nullopt;
    product *= dim.value();
    if (product == size && axis <= moved) return axis;
  }
  return std::nullopt;
}

// Whether the node flattens an operand of either shape in the same way: what it says of sizes
// depends on no axis from `first` on.
bool KeepsItsMeaning(const Node& node, size_t first) {
  if (node.Is("flatten")) return true;
  const auto sizes = KnownInts(node.input(1));
  if (!sizes) return false;
  if (node.attrs().Int("allowzero") != 0) return true;
  const auto zero = [&](size_t i) { return i < sizes->size() && (*sizes)[i] == 0; };
  for (size_t i = first; i < sizes->size(); ++i) {
    if (zero(i)) return false;
  }
  return true;
}

absl::StatusOr<bool> FoldFlatten(Rewriter& r) {
  const bool gemm = r.node().Is("gemm");
  if (gemm && r.attrs().Int("transA") != 0) return false;
  const Tensor* w = DenseConstant(r.in(1));
  if (!w || w->rank() != 2 || w->num_elements() == 0 || BitWidth(w->dtype()) < 8 ||
      w->nbytes() > kMaxRewrittenBytes || StaysInFile(*w, r.context()) || IsShared(r.in(1))) {
    return false;
  }
  const Pattern pattern(r);
  Node* flat = pattern.OnlyBy(r.in(0), "reshape");
  if (!flat) flat = pattern.OnlyBy(r.in(0), "flatten");
  const Node* transpose = flat ? pattern.OnlyBy(flat->input(0), "transpose") : nullptr;
  const Shape* shape = transpose ? transpose->output(0)->shape() : nullptr;
  const Shape* result = flat ? flat->output(0)->shape() : nullptr;
  if (!shape || !result || result->rank() == 0) return false;
  const bool transposed = gemm && r.attrs().Int("transB") != 0;
  const int64_t rows = w->dim(transposed ? 1 : 0);
  const Dim& last = result->dims().back();
  if (!last.is_static() || last.value() != rows) return false;
  const std::vector<int64_t> perm = transpose->attrs().Ints("perm");
  const std::optional<size_t> first = FirstAxis(*shape, perm, rows);
  if (!first || !KeepsItsMeaning(*flat, *first)) return false;
  // The weights with an axis for each axis of the image, in the order that the image has without
  // the transpose.
  const auto axes = static_cast<int64_t>(perm.size() - *first);
  std::vector<int64_t> dims, order(static_cast<size_t>(axes));
  for (int64_t i = 0; i < axes; ++i) {
    const auto from = static_cast<size_t>(i) + *first;
    dims.push_back(shape->dims()[from].value());
    order[static_cast<size_t>(perm[from]) - *first] = i + transposed;
  }
  dims.insert(transposed ? dims.begin() : dims.end(), w->num_elements() / rows);
  order.insert(transposed ? order.begin() : order.end(), transposed ? 0 : axes);
  Tensor weights = TransposeWeight(w->Reshaped(std::move(dims)), order).Reshaped(w->dims());
  std::vector<Value*> sizes = flat->inputs();
  sizes[0] = transpose->input(0);
  std::vector<Value*> operands = r.node().inputs();
  operands[0] = r.b().Op(flat->op(), sizes, flat->attrs());
  operands[1] = r.b().Constant(std::move(weights), "weight");
  Value* y = r.b().Op(r.node().op(), operands, r.attrs());
  return r.b().status().ok() && r.Replace(y);
}
X2IR_RULE(fold_flatten, matmul, FoldFlatten, {"reshape", "flatten"});
X2IR_RULE(fold_flatten, gemm, FoldFlatten, {"reshape", "flatten"});

}  // namespace
}  // namespace x2ir
