// Products of groups of rows, each group with a matrix of its own: what mixtures of experts
// compute.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/views.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxGroups = 4096;

// How many matrices there are.
int64_t GroupsOf(TorchCall& c, const Expr& matrices) {
  const auto sizes = KnownSizes(matrices, 0, 1);
  if (!sizes) c.Fail(Unimplemented("a number of groups that is not known"));
  if ((*sizes)[0] > kMaxGroups) c.Fail(Unimplemented("of more than ", kMaxGroups, " groups"));
  return (*sizes)[0];
}

// Where each group ends, as how much each has of the axis; then what is left.
Expr PartSizes(TorchCall& c, const Expr& ends, const Size& whole) {
  const Expr e = ends.To(DType::kInt64);
  const Expr bounds = Concat(c, {Ints(c, {0}), e, Vector(c, whole)}, 0);
  return Slice(bounds, 0, 1, kToEnd) - Slice(bounds, 0, 0, -1);
}

// Parts of `x` along the axis, each multiplied with its matrix; where no group is, zeros. A runtime
// does no work for a group without rows.
Expr InGroups(TorchCall& c, const Expr& x, int64_t axis, const Expr& matrices, const Expr& ends) {
  const int64_t groups = GroupsOf(c, matrices);
  if (ends.rank() != 1) c.Fail(Invalid("offs of rank ", ends.rank()));
  const DType t = x.dtype();
  const Size whole = SizeAt(x, axis);
  const Expr sizes = PartSizes(c, ends, whole);
  const std::vector<Value*> parts =
      c.b().Ops("split", {x, sizes}, {{"axis", axis}},
                std::vector<bool>(static_cast<size_t>(groups) + 1, true));
  std::vector<Value*> products;
  for (int64_t i = 0; i < groups; ++i) {
    const Expr part{c, parts[static_cast<size_t>(i)]}, matrix = Gather(matrices, Int(c, i), 0);
    products.push_back(axis == 0 ? MatMul(part, matrix) : MatMul(matrix, part));
  }
  const Size left = SizeOf({c, parts.back()}, axis);
  const Size other = SizeAt(matrices, axis == 0 ? 2 : 1);
  products.push_back(axis == 0 ? Filled(c, t, {left, other}, 0) : Filled(c, t, {other, left}, 0));
  const Expr y = Concat(c, std::move(products), axis);
  // Whatever the parts are, together they are the whole.
  return axis == 0 ? ReshapeTo(y, {whole, other}) : ReshapeTo(y, {other, whole});
}

Values FallbackGroups(TorchCall& c) {
  const Expr x = c.Tensor("input"), weight = c.Tensor("weight"), ends = c.Tensor("offs");
  if (x.rank() != 2 || weight.rank() != 3) return c.Fail(Invalid("expected rows and matrices"));
  return {InGroups(c, x, 0, weight, ends)};
}

// Rows with the matrices of their groups, matrices with their groups of columns, or matrices one by
// one.
Values Groups(TorchCall& c) {
  const Expr x = c.Tensor("self"), y = c.Tensor("mat2");
  const DType t = OutType(c);
  if (c.Has("bias")) return c.Fail(Unimplemented("a bias"));
  c.Ignore({"bias", "out_dtype"});
  if (t != x.dtype() || t != y.dtype()) return c.Fail(Unimplemented("of several element types"));
  if (!c.Has("offs")) {
    c.Ignore({"offs"});
    if (x.rank() != 3 || y.rank() != 3) return c.Fail(Invalid("groups without offs"));
    return {MatMul(x, y)};
  }
  const Expr ends = c.Tensor("offs");
  if (x.rank() == 2 && y.rank() == 3) return {InGroups(c, x, 0, y, ends)};
  if (x.rank() == 3 && y.rank() == 2) return {InGroups(c, y, 1, x, ends)};
  return c.Fail(Unimplemented("groups of what is summed"));
}

X2IR_TORCH(matmul)
    .From("transformers::grouped_mm_fallback.default", FallbackGroups)
    .From("aten::_grouped_mm.default", Groups);

}  // namespace
}  // namespace x2ir
