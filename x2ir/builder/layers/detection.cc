#include "x2ir/builder/layers/detection.h"

#include <algorithm>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

CenterBox Decoded(const AnchorBox& anchor, absl::FunctionRef<Expr(int64_t)> part) {
  const auto middle = [&](int64_t i, const Expr& from, const Expr& size) {
    return part(i) * size + from + size * 0.5;
  };
  const auto half = [&](int64_t i, const Expr& size) { return Exp(part(i)) * size * 0.5; };
  const Expr x = middle(0, anchor.x, anchor.width), y = middle(1, anchor.y, anchor.height);
  const Expr half_width = half(2, anchor.width), half_height = half(3, anchor.height);
  return {x, y, half_width, half_height};
}

Expr SelectBoxes(const Suppression& s) {
  Builder& b = s.boxes.builder();
  std::vector<Value*> others = {s.scores, s.most};
  for (const NmsThreshold& t : {s.overlap, s.above}) {
    others.push_back(t.number ? NumbersAs(b, DType::kFloat32, {1}, {*t.number}) : t.value);
  }
  AttributeMap attrs;
  if (s.by_middle) attrs.Set("center_point_box", 1);
  return s.boxes.Op("non_max_suppression", std::move(others), std::move(attrs));
}

Expr WithPixels(const Expr& boxes, double pixel) {
  if (pixel == 0) return boxes;
  const auto part = [&](int64_t i) { return SliceAt(boxes, -1, i); };
  return Concat(boxes.builder(), {part(0), part(1), part(2) + pixel, part(3) + pixel}, -1);
}

namespace {

Expr ColumnOf(const Expr& rows, int64_t i) { return Gather(rows, Int(rows.builder(), i), 1); }

// The first `top` scores of each class; the others are what no threshold lets through.
Expr BestScores(const Expr& scores, int64_t top) {
  const Size boxes = SizeAt(scores, 2);
  if (top < 0 || (boxes.number && *boxes.number <= top)) return scores;
  Builder& b = scores.builder();
  const Sorted best = TopOf(scores, Min(Vector(b, boxes), Ints(b, {top})), 2);
  const Expr none = Expand(Extreme(b, scores.dtype(), false), ShapeOf(scores));
  return ScatterElements(none, 2, best.indices, best.values, "none");
}

// Without those of the background and of what is not among the best.
Expr CountingScores(const Expr& scores, const ClassSuppression& rules) {
  const Expr best = BestScores(scores, rules.top);
  if (rules.background < 0) return best;
  Builder& b = scores.builder();
  const auto classes = KnownSizes(scores, 1, 2);
  if (!classes) b.Fail(Unimplemented("an unknown number of classes"));
  if (!classes || rules.background >= (*classes)[0]) return best;
  std::vector<double> keeps(static_cast<size_t>((*classes)[0]), 1);
  keeps[static_cast<size_t>(rules.background)] = 0;
  const Expr counts = NumbersAs(b, DType::kFloat32, {(*classes)[0], 1}, keeps) > 0.5;
  return Where(counts, best, Extreme(b, best.dtype(), false));
}

}  // namespace

Expr CountByImage(const Expr& image, const Expr& images) {
  const Expr of = (Unsqueeze(image, {0}) == Unsqueeze(Iota(images), {1})).To(DType::kInt32);
  return Reduce(of, "reduce_sum", {1});
}

Found KeepBest(const Found& found, const Expr& images, int64_t keep) {
  if (keep < 0) return found;
  const auto pick = [](const Found& f, const Expr& order) {
    return Found{Gather(f.rows, order, 0), Gather(f.score, order, 0)};
  };
  const auto image_of = [](const Found& f) { return ColumnOf(f.rows, 0); };
  // By scores, then stably by images.
  const Found by_score = pick(found, Sort(found.score, 0, true).indices);
  const Expr image = image_of(by_score), count = SizeOf(image, 0);
  const Expr key = image * count + Iota(count);
  const Found by_image = pick(by_score, Sort(key, 0, false).indices);
  // Each one's place among those of its image.
  const Expr sorted = image_of(by_image);
  const Expr of = (Unsqueeze(sorted, {0}) == Unsqueeze(Iota(images), {1})).To(DType::kInt64);
  const Expr number = CumSum(of, 1);
  const Expr place =
      Gather(Reshape(number, {-1}), sorted * SizeOf(sorted, 0) + Iota(SizeOf(sorted, 0)), 0);
  const Expr stays = place <= static_cast<double>(keep);
  const auto kept = [&](const Expr& v) { return v.Op("compress", {stays}, {{"axis", 0}}); };
  return {kept(by_image.rows), kept(by_image.score)};
}

Expr OrderOfGroups(const Expr& group, const Expr& by) {
  const Expr count = SizeOf(by, 0);
  const Expr sorted = Gather(group, by, 0);
  return Gather(by, Sort(sorted * count + Iota(count), 0, false).indices, 0);
}

ClassBoxes SuppressByClass(const Expr& boxes, const Expr& scores, const Expr& images, bool of_class,
                           const ClassSuppression& rules) {
  Builder& b = boxes.builder();
  const Expr best = CountingScores(scores, rules);
  const Size each = SizeAt(scores, 2), classes = SizeAt(scores, 1);
  const Expr most = Vector(b, each), wide = WithPixels(boxes, rules.pixel);
  Expr rows = nullptr;
  if (!of_class) {
    rows = SelectBoxes({wide, best, most, rules.overlap, rules.threshold});
  } else {
    // Each class is an image to the op.
    const Expr by_class = Unsqueeze(Transpose(wide, {1, 0, 2}), {0});
    const std::vector<Size> all = {Size(images), Size(1), Size(1), Size(1)};
    const Expr spread = ReshapeTo(Expand(by_class, Vector(b, all)), {Size(-1), each, Size(4)});
    const Expr found = SelectBoxes(
        {spread, ReshapeTo(best, {Size(-1), Size(1), each}), most, rules.overlap, rules.threshold});
    const Expr both = ColumnOf(found, 0), count = Scalar(b, classes);
    rows = Stack(b, {both / count, Mod(both, count), ColumnOf(found, 2)}, 1);
  }
  const Found kept = KeepBest({rows, scores.Op("gather_nd", {rows})}, images, rules.keep);
  // The best first, or in the order of the list.
  const Expr by =
      of_class ? Sort(ColumnOf(kept.rows, 2), 0, false).indices : Sort(kept.score, 0, true).indices;
  const Expr order =
      OrderOfGroups(ColumnOf(kept.rows, 0) * Scalar(b, classes) + ColumnOf(kept.rows, 1), by);
  const Expr last = Gather(kept.rows, order, 0);
  const Expr image = ColumnOf(last, 0), own = ColumnOf(last, 1), box = ColumnOf(last, 2);
  const Expr at = of_class ? Stack(b, {box, own}, 1) : Stack(b, {image, box}, 1);
  const Expr out =
      Concat(b,
             {Unsqueeze(own, {1}).To(boxes.dtype()), Unsqueeze(Gather(kept.score, order, 0), {1}),
              boxes.Op("gather_nd", {at})},
             -1);
  const Expr index = of_class ? box * Scalar(b, classes) + own : image * Scalar(b, each) + box;
  return {out, Unsqueeze(index, {1}).To(DType::kInt32), CountByImage(image, images)};
}

Proposed BestProposals(const Candidates& all, const ProposalLimits& limits) {
  Builder& b = all.chance.builder();
  const Sorted best = TopOf(all.chance, b.Ints({limits.before}), 0);
  const Expr boxes = Gather(Stack(b, {all.x1, all.y1, all.x2, all.y2}, 1), best.indices, 0);
  const double pixel = limits.pixel;
  const Expr wide =
      pixel == 0 ? boxes : boxes + NumbersAs(b, DType::kFloat32, {4}, {0, 0, pixel, pixel});
  const Expr rows = SelectBoxes({.boxes = Unsqueeze(wide, {0}),
                                 .scores = Unsqueeze(best.values, {0, 1}),
                                 .most = Ints(b, {limits.after}),
                                 .overlap = limits.overlap,
                                 .above = -1e29});
  return {boxes, best.values, ElementAt(rows, -1, 2)};
}

Expr AlignedRegions(const Expr& images, const Expr& rois, const Expr& batch,
                    const RegionSamples& how) {
  return images.Op(
      "roi_align", {rois, batch},
      {{"coordinate_transformation_mode", how.aligned ? "half_pixel" : "output_half_pixel"},
       {"mode", "avg"},
       {"output_height", how.height},
       {"output_width", how.width},
       {"sampling_ratio", std::max<int64_t>(how.samples, 0)},
       {"spatial_scale", static_cast<float>(how.scale)}});
}

}  // namespace x2ir
