// Places of extremes put to use: hardmax, unpooling, boxes that are kept; and matrices of ones.
#include <algorithm>
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> WriteHardmax(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.shape() && (*w.shape())[axis] == Dim(0)) return CannotExpress("the largest of nothing");
  Value* x = w.in(0);
  Value* first = w.Op("arg_max", {x}, {{"axis", axis}, {"keepdims", 1}});
  Value* zeros = w.Call("aten::zeros_like.default", {{"self", x}}, x->type());
  return w.Call("aten::scatter.value",
                {{"self", zeros}, {"dim", axis}, {"index", first}, {"value", 1}});
}
X2IR_TORCH(hardmax).To("aten::scatter.value", WriteHardmax);

// What has no norm stays 0.
absl::StatusOr<Value*> WriteLpNormalization(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const int64_t p = w.Int("p");
  if (p != 1 && p != 2) return CannotExpress("norm ", p);
  const Expr x{w, w.in(0)};
  const Expr norm =
      x.Op(p == 1 ? "reduce_l1" : "reduce_l2", {w.b().Ints({axis})}, {{"keepdims", 1}});
  return Where(norm == 0, 0, x / norm);
}
X2IR_TORCH(lp_normalization).To("aten::where.self", WriteLpNormalization);

// Ones where the column is k behind the row.
absl::StatusOr<Value*> WriteEyeLike(TorchWriter& w) {
  const Expr x{w, w.in(0)};
  if (x.rank() != 2) return CannotExpress("another rank than 2");
  const Expr row = Unsqueeze(Iota(SizeOf(x, 0)), {1}), column = Unsqueeze(Iota(SizeOf(x, 1)), {0});
  const Expr shifted = w.Int("k") == 0 ? row : row + static_cast<double>(w.Int("k"));
  return (column == shifted).To(w.out_type().dtype());
}
X2IR_TORCH(eye_like).To("aten::eq.Tensor", WriteEyeLike);

// Elements go to where they were in the tensor that was pooled, all its axes flattened.
absl::StatusOr<Value*> WriteMaxUnpool(TorchWriter& w) {
  const Expr x{w, w.in(0)};
  const auto sizes = KnownSizes(x);
  if (!sizes || sizes->size() < 3) return CannotExpress("an image of unknown size");
  const size_t n = sizes->size() - 2;
  const std::vector<int64_t> kernel = w.attrs().Ints("kernel_shape");
  const std::vector<int64_t> strides = w.attrs().Ints("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pads = w.attrs().Ints("pads", std::vector<int64_t>(2 * n, 0));
  std::vector<int64_t> pooled = *sizes;
  for (size_t i = 0; i < n; ++i) {
    pooled[2 + i] = ((*sizes)[2 + i] - 1) * strides[i] - pads[i] - pads[n + i] + kernel[i];
  }
  const auto count = CheckedProduct(pooled);
  if (!count) return CannotExpress("an image that is too large");
  const Expr zeros = Filled(w, x.dtype(), {Size(*count)}, 0);
  const Expr put = ScatterElements(zeros, 0, Flat({w, w.in(1)}), Flat(x), "none");
  Value* image = w.Reshape(put, pooled);
  if (!w.has(2)) return image;
  const Expr zeros_behind = Concat(w,
                                   {w.b().Ints(std::vector<int64_t>(pooled.size(), 0)),
                                    Expr{w, w.in(2)} - Expr{w, w.b().Ints(pooled)}},
                                   0);
  return w.Op("pad", {image, zeros_behind});
}
X2IR_TORCH(max_unpool).To("aten::scatter.src", WriteMaxUnpool);

// --- Boxes ----------------------------------------------------------------------------------

struct Corners {
  Expr low, high;  // of both axes
};
Corners CornersOf(const Expr& boxes, bool center) {
  const Expr a = Slice(boxes, -1, Size(0), Size(2)), b = Slice(boxes, -1, Size(2), Size(4));
  if (!center) return {Min(a, b), Max(a, b)};
  return {a - b * 0.5, a + b * 0.5};
}

// Boxes of each class in the order of their scores; round by round, the box that comes next, if it
// is still there, drops those behind it that it covers.
absl::StatusOr<Value*> WriteNms(TorchWriter& w) {
  const auto number = [&](size_t i) { return Expr{w, OneElement(w, w.in(i))}; };
  const Expr boxes{w, w.in(0)}, scores{w, w.in(1)};
  if (boxes.rank() != 3 || scores.rank() != 3) return CannotExpress("operands of another rank");
  if (!w.has(2)) {
    return w.b().Constant(Tensor::Zeros(DType::kInt64, {0, 3}));
  }
  const Sorted order = Sort(scores, 2, /*descending=*/true);
  const Expr threshold = w.has(3) ? number(3) : Expr{w, w.Number(DType::kFloat32, 0)};
  Expr there = w.has(4) ? order.values > number(4) : Not(IsNan(order.values));
  // [batch, classes, n, 2]
  const Corners corners = CornersOf(boxes, w.Int("center_point_box") != 0);
  const Expr n = SizeOf(scores, 2);
  const auto sorted = [&](const Expr& corner) {
    const Expr index = Unsqueeze(order.indices, {3});
    const Expr full = Expand(index, Concat(w, {ShapeOf(scores), w.b().Ints({2})}, 0));
    const Expr wide =
        Expand(Unsqueeze(corner, {1}), Concat(w, {ShapeOf(scores), w.b().Ints({2})}, 0));
    return GatherElements(wide, full, 2);
  };
  const Expr low = sorted(corners.low), high = sorted(corners.high);
  const Expr sides = high - low;
  const auto area_of = [](const Expr& s) {
    return Squeeze(Slice(s, 3, Size(0), Size(1)) * Slice(s, 3, Size(1), Size(2)), {3});
  };
  const Expr area = area_of(sides);
  const Expr position = Iota(n);

  auto round = std::make_shared<Graph>("boxes");
  Builder b(*round, nullptr);
  const Type flag = Type::Tensor(DType::kBool, Shape());
  const Expr i{b, round->AddInput("i", Type::Tensor(DType::kInt64, Shape()))};
  Value* again = round->AddInput("again", flag);
  const Expr kept{b, round->AddInput("kept", there->type())};
  const auto at = [&](const Expr& x) {
    return Expr{b, b.Op("gather", {x, b.Op("unsqueeze", {i, b.Ints({0})})}, {{"axis", 2}})};
  };
  const auto inside = [&](const Expr& x) { return Expr{b, x.value()}; };
  const Expr common = Max(Min(at(high), inside(high)) - Max(at(low), inside(low)), 0);
  const Expr overlap = area_of(common);
  const Expr both = at(area) + inside(area) - overlap;
  const Expr real = (overlap > 0) & (at(area) > 0) & (inside(area) > 0);
  const Expr covered =
      real & (overlap / both > inside(threshold)) & at(kept) & (inside(position) > i);
  round->AddOutput(b.Op("identity", {again}));
  round->AddOutput(kept & Not(covered));
  X2IR_RETURN_IF_ERROR(b.status());
  for (Node* node : round->nodes()) round->NameValues(node, "box");
  const Expr left{w, w.b().Ops("loop", {n, w.b().Scalar(DType::kBool, 1), there},
                               {{"body", std::move(round)}}, 1)[0]};
  const Expr rank = CumSum(left.To(DType::kInt64), 2);
  const Expr most = number(2).To(DType::kInt64);
  const Expr chosen = left & (rank <= most);
  const Expr rows = Transpose({w, w.Op("non_zero", {chosen})}, {1, 0});
  const Expr box = Expr{w, w.Op("gather_nd", {order.indices, rows})};
  return Concat(w, {Slice(rows, 1, Size(0), Size(2)), Unsqueeze(box, {1})}, 1);
}
X2IR_TORCH(non_max_suppression).To("higher_order::while_loop", WriteNms);

}  // namespace
}  // namespace x2ir
