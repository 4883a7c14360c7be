// Keras: layers that join several tensors.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// Tensors of smaller rank get axes of size 1 after the batch, so that all ranks are equal.
std::vector<Expr> OfOneRank(KerasArgs& a) {
  std::vector<Expr> all = a.tensors();
  a.Require(!all.empty(), "a merge of nothing");
  int64_t most = -1;
  bool known = true;
  for (const Expr& x : all) {
    known = known && x->shape();
    if (x->shape()) most = std::max(most, x->shape()->rank());
  }
  for (Expr& x : all) {
    if (!known || x->shape()->rank() == most) continue;
    x = Unsqueeze(x, CountedFrom(1, most - x->shape()->rank()));
  }
  return all;
}

template <typename Join>
Expr Folded(KerasArgs& a, const Join& join) {
  const std::vector<Expr> all = OfOneRank(a);
  Expr y = all[0];
  for (size_t i = 1; i < all.size(); ++i) y = join(y, all[i]);
  return y;
}

Expr SumOf(KerasArgs& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return x + y; });
}
Expr ProductOf(KerasArgs& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return x * y; });
}
Expr LargestOf(KerasArgs& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return Max(x, y); });
}
Expr SmallestOf(KerasArgs& a) {
  return Folded(a, [](const Expr& x, const Expr& y) { return Min(x, y); });
}
Expr MeanOf(KerasArgs& a) { return SumOf(a) / static_cast<double>(a.num_tensors()); }

Value* Add(KerasArgs& a) { return SumOf(a); }
Value* Multiply(KerasArgs& a) { return ProductOf(a); }
Value* Maximum(KerasArgs& a) { return LargestOf(a); }
Value* Minimum(KerasArgs& a) { return SmallestOf(a); }
Value* Average(KerasArgs& a) { return MeanOf(a); }
Value* Subtract(KerasArgs& a) {
  a.Require(a.num_tensors() == 2, "a difference of other than two");
  return Folded(a, [](const Expr& x, const Expr& y) { return x - y; });
}

Expr ConcatOf(KerasArgs& a, int64_t axis) {
  std::vector<Value*> parts;
  for (const Expr& x : a.tensors()) parts.push_back(x);
  a.Require(!parts.empty(), "a concatenation of nothing");
  return Concat(a, parts, axis);
}
Value* Concatenate(KerasArgs& a) { return ConcatOf(a, a.Integer("axis", -1)); }

Expr NormalizedAlong(const Expr& x, int64_t axis) {
  const Expr sum = Reduce(Square(x), "reduce_sum", {axis}, true);
  return x / Sqrt(Max(sum, x.Number(1e-12)));
}

// Sums of products along an axis of each, for each element of the batch.
Expr DotOf(KerasArgs& a, std::vector<int64_t> axes, bool normalize) {
  a.Require(a.num_tensors() == 2, "a product of other than two");
  Expr x = a.tensor(0), y = a.tensor(1);
  const int64_t rx = a.RankOf(x), ry = a.RankOf(y);
  if (axes.size() == 1) axes = {axes[0], axes[0]};
  a.Require(axes.size() == 2, "a product along several axes");
  const int64_t ax = a.Axis(axes[0], rx), ay = a.Axis(axes[1], ry);
  a.Require(ax > 0 && ay > 0, "a product along the batch");
  if (normalize) {
    x = NormalizedAlong(x, ax);
    y = NormalizedAlong(y, ay);
  }
  // [batch, others of x, K] by [batch, K, others of y].
  x = MoveAxis(x, ax, rx - 1);
  y = MoveAxis(y, ay, 1);
  const std::vector<Size> of_x = AllSizes(x), of_y = AllSizes(y);
  std::vector<Size> sizes = {of_x[0]};
  for (int64_t i = 1; i + 1 < rx; ++i) sizes.push_back(of_x[static_cast<size_t>(i)]);
  for (int64_t i = 2; i < ry; ++i) sizes.push_back(of_y[static_cast<size_t>(i)]);
  if (sizes.size() == 1) sizes.emplace_back(1);
  x = ReshapeTo(x, {of_x[0], Size(-1), of_x.back()});
  y = ReshapeTo(y, {of_y[0], of_y[1], Size(-1)});
  return ReshapeTo(MatMul(x, y), sizes);
}
Value* Dot(KerasArgs& a) { return DotOf(a, a.Integers("axes"), a.Flag("normalize", false)); }

// Keras 1: all of them in one class.
Value* Merge(KerasArgs& a) {
  for (const char* name : {"mode_type", "output_shape_type", "output_mask_type", "arguments",
                           "output_mask", "layers", "output_shape"}) {
    a.Ignore(name);
  }
  const std::string mode = a.Text("mode", "sum");
  const int64_t axis = a.Integer("concat_axis", -1);
  std::vector<int64_t> axes = a.Integers("dot_axes");
  if (axes.empty() || axes == std::vector<int64_t>{-1}) axes = {-1, -1};
  if (mode == "sum") return SumOf(a);
  if (mode == "mul") return ProductOf(a);
  if (mode == "ave") return MeanOf(a);
  if (mode == "max") return LargestOf(a);
  if (mode == "concat") return ConcatOf(a, axis);
  a.Require(mode == "dot" || mode == "cos", StrCat("mode '", mode, "'"));
  return DotOf(a, axes, mode == "cos");
}

}  // namespace

X2IR_KERAS(add).From({{"Add", Add}, {"Merge", Merge}});
X2IR_KERAS(sub).From("Subtract", Subtract);
X2IR_KERAS(mul).From("Multiply", Multiply);
X2IR_KERAS(max).From("Maximum", Maximum);
X2IR_KERAS(min).From("Minimum", Minimum);
X2IR_KERAS(mean).From("Average", Average);
X2IR_KERAS(concat).From("Concatenate", Concatenate);
X2IR_KERAS(matmul).From("Dot", Dot);

}  // namespace x2ir
