// TensorFlow: the best boxes of all classes, among which no two of a class overlap too much.
#include "x2ir/builder/layers/detection.h"

#include <limits>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// Operands: boxes [batch, n, 1 or classes, 4], scores [batch, n, classes], the most of a class, the
// most at all, the thresholds of overlap and of scores. Gives boxes, scores and classes, best first
// and then zeros, and how many there are.
absl::StatusOr<Values> CombinedNonMaxSuppression(TfArgs& a) {
  const bool pads = a.Bool("pad_per_class", false), clips = a.Bool("clip_boxes", true);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_scores, a.Rank(1));
  if (rank != 4 || of_scores != 3)
    return Invalid("boxes of rank ", rank, ", scores of ", of_scores);
  const Dim& of_boxes = (*a.shape(0))[2];
  if (!of_boxes.is_static()) return Unimplemented("whether classes share their boxes is not known");
  const bool shared = of_boxes.value() == 1;

  const auto number = [&](Value* v) { return Expr(a.b(), a.AsInt64(v)); };
  const auto vector = [&](const Expr& v) { return ReshapeTo(v, Ints(a, {1})); };
  const Expr batch(a.b(), SizeAt(a, a.in(1), 0)), count(a.b(), SizeAt(a, a.in(1), 1)),
      classes(a.b(), SizeAt(a, a.in(1), 2));
  const Expr per_class = number(ReshapeTo(a.in(2), Ints(a, {}))),
             most = number(ReshapeTo(a.in(3), Ints(a, {})));
  // A row of boxes is what classes share, or a class of an image.
  Value* scores = Transpose(a.in(1), {0, 2, 1});
  Value* boxes = Transpose(a.in(0), {0, 2, 1, 3});
  Value* four = a.b().Ints({4});
  const Expr rows = shared ? batch : batch * classes;
  boxes = ReshapeTo({a, boxes}, Concat(a, {vector(rows), vector(count), four}, 0));
  const Expr each = shared ? classes : Expr(a.b(), a.b().Int(1));
  Value* table = ReshapeTo({a, scores}, Concat(a, {vector(rows), vector(each), vector(count)}, 0));
  const auto threshold = [&](size_t i) { return ReshapeTo(a.in(i), Ints(a, {1})); };
  const Expr found =
      SelectBoxes({{a, boxes}, {a, table}, vector(per_class), threshold(4), threshold(5)});

  // The scores of the boxes that were found, at their indices in the table; else minus infinity.
  const auto column = [&](int64_t i) { return Gather(found, a.b().Int(i), 1); };
  const Expr places = (column(0) * each + column(1)) * count + column(2);
  constexpr double kOut = -std::numeric_limits<double>::infinity();
  Value* flat = ReshapeTo({a, table}, Ints(a, {-1}));
  Value* none = a.Op("expand", {a.b().Scalar(DType::kFloat32, kOut), a.Op("shape", {flat})});
  Value* left =
      ScatterNd({a, none}, Unsqueeze(places, {1}), Gather({a, flat}, places.value(), 0), "none");
  const Expr candidates = classes * count;
  left = ReshapeTo({a, left}, Concat(a, {vector(batch), vector(candidates)}, 0));
  const Expr total = pads ? Min(most, per_class * classes) : most;
  const Expr taken = Min(total, candidates);
  const auto [best, place] = TopOf({a, left}, vector(taken), 1);
  const Expr valid = best > kOut;

  const Expr image(a.b(), Unsqueeze(Iota(batch), {1}));
  const Expr row = shared ? image * count + Mod(place, count) : image * candidates + place;
  Expr box(a.b(), Gather(ReshapeTo({a, boxes}, Ints(a, {-1, 4})), row.value(), 0));
  if (clips) box = Max(Min(box, 1.0), 0.0);
  box = Where(Expr(a.b(), Unsqueeze(valid, {2})), box, 0.0);
  const Expr score = Where(valid, best, 0.0);
  const Expr class_ = Where(valid, (place / count).To(DType::kFloat32), 0.0);
  const Expr valid_count = Reduce(valid.To(DType::kInt32), "reduce_sum", {1});
  const auto padded = [&](const Expr& x) {
    Value* lack = vector(total - taken);
    Value* pad = a.Op("concat", {a.b().Ints({0}), lack}, {{"axis", 0}});
    return a.Op("pad", {x.value(), pad, nullptr, a.b().Ints({1})}, {{"mode", "constant"}});
  };
  return Values{padded(box), padded(score), padded(class_), valid_count.value()};
}

}  // namespace

X2IR_TF(non_max_suppression).From("CombinedNonMaxSuppression", CombinedNonMaxSuppression);

}  // namespace x2ir
