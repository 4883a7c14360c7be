// PyTorch: boxes and regions of detectors.
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"

namespace x2ir {
namespace {

struct Corners {
  Expr low, high;  // of both axes
};

Corners CornersOf(const Expr& boxes, bool center) {
  const Expr a = Slice(boxes, -1, Size(0), Size(2)), b = Slice(boxes, -1, Size(2), Size(4));
  if (!center) return {Min(a, b), Max(a, b)};
  return {a - b * 0.5, a + b * 0.5};
}

// Boxes of each class in the order of their scores. In each round the next box, if it
// is still there, removes the later boxes that it covers.
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
  X2IR_RETURN_IF_ERROR(NameMade(b, "box", round->outputs()));
  const Expr left{w, w.b().Ops("loop", {n, w.b().Scalar(DType::kBool, 1), there},
                               {{"body", std::move(round)}}, 1)[0]};
  const Expr rank = CumSum(left.To(DType::kInt64), 2);
  const Expr most = number(2).To(DType::kInt64);
  const Expr chosen = left & (rank <= most);
  const Expr rows = Transpose({w, w.Op("non_zero", {chosen})}, {1, 0});
  const Expr box = Expr{w, w.Op("gather_nd", {order.indices, rows})};
  return Concat(w, {Slice(rows, 1, Size(0), Size(2)), Unsqueeze(box, {1})}, 1);
}

}  // namespace

X2IR_TORCH(non_max_suppression).To("higher_order::while_loop", WriteNms);

}  // namespace x2ir
