// Caffe2: operators of detectors, as Detectron writes them. Boxes are [boxes, 4], their corners.
// Where a file does not say whether a pixel has a size (`legacy_plus_one`), it has, as in Caffe2's
// last release.
#include "x2ir/builder/layers/detection.h"

#include <algorithm>

#include "x2ir/builder/layers/anchors.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

Expr Column(const Expr& x, int64_t i) { return SliceAt(x, 1, i); }

// How much a box is larger than the difference of its corners: 1 or 0.
double PixelSize(Caffe2Args& a) {
  const bool said = a.HasAttr("legacy_plus_one"), plus = a.Bool("legacy_plus_one", true);
  const bool corrected = a.Bool("correct_transform_coords", true);
  a.Require(corrected || said, "correct_transform_coords=0, which releases read differently");
  return plus ? 1 : 0;
}

void RequireUpright(Caffe2Args& a) {
  a.Require(!a.Bool("rotated", false), "rotated boxes");
  a.Drop({"angle_bound_on", "angle_bound_lo", "angle_bound_hi", "clip_angle_thresh"});
}

// Boxes [n, 4] moved by offsets [n, 4], which count in parts of `weights`.
Expr MovedBoxes(Caffe2Args& a, const Expr& boxes, const Expr& by, const std::vector<float>& weights,
                double pixel) {
  const double most = portable::log(1000.0 / 16.0);
  std::vector<Value*> begins, ends;
  for (int64_t k = 0; k < 2; ++k) {
    const auto i = static_cast<size_t>(k);
    const Expr from = Column(boxes, k), size = Shifted(Column(boxes, k + 2) - from, pixel);
    const Expr part = Column(by, k) / static_cast<double>(weights[i]),
               growth = Min(Column(by, k + 2) / static_cast<double>(weights[i + 2]), most);
    const Expr middle = part * size + (from + size * 0.5), half = Exp(growth) * size * 0.5;
    begins.push_back(middle - half);
    ends.push_back(Shifted(middle + half, -pixel));
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  return Concat(a, begins, 1);
}

// Inside of an image; height, width: of rank 0, or a column of one for each box.
Expr Inside(Caffe2Args& a, const Expr& boxes, const Expr& height, const Expr& width, double pixel) {
  std::vector<Value*> edges;
  for (int64_t k = 0; k < 4; ++k) {
    edges.push_back(Max(Min(Column(boxes, k), Shifted(k % 2 == 0 ? width : height, -pixel)), 0.0));
  }
  return Concat(a, edges, 1);
}

// The boxes [groups, n, 4] with chances [groups, n] over a threshold that are kept: rows
// [group, number] (int64), group after group, the best first.
struct Kept {
  Expr group, number;
};

Kept WithoutOverlaps(Caffe2Args& a, const Expr& boxes, const Expr& chances, const Expr& most,
                     double overlap, double above, double pixel) {
  // A pixel has a size: one more at the end is what the overlap is of.
  const Expr wide = boxes + NumbersAs(a, DType::kFloat32, {4}, {0, 0, pixel, pixel});
  const Expr rows = SelectBoxes({wide, Unsqueeze(chances, {1}), most, overlap, above});
  const auto column = [&](int64_t i) { return Squeeze(Column(rows, i), {1}); };
  return {column(0), column(2)};
}

// Operands: chances [images, anchors, h, w], offsets [images, 4 * anchors, h, w], sizes of images
// [images, 3] (height, width, scale), anchors [anchors, 4]. Results: [n, 5], image and corners, and
// the chances.
absl::StatusOr<Values> GenerateProposals(Caffe2Args& a) {
  const double stride = 1 / a.Number("spatial_scale", 1.0 / 16),
               overlap = a.Number("nms_thresh", 0.7), least = a.Number("min_size", 16);
  const int64_t before = a.Int("pre_nms_topN", 6000), after = a.Int("post_nms_topN", 300);
  const double pixel = PixelSize(a);
  RequireUpright(a);
  const auto sizes = KnownSizes(a.in(0));
  a.Require(sizes && sizes->size() == 4, "chances of unknown size");
  const int64_t images = (*sizes)[0], each = (*sizes)[1], height = (*sizes)[2], width = (*sizes)[3];
  const auto count = CheckedProduct({each, height, width});
  if (!count || *count < 1 || *count > kMaxAnchors || images < 1 || images > 64) {
    return Invalid("boxes of ", images, " images with ", each, " anchors");
  }
  a.Require(DimAt(a.in(3), 1) == Dim(4) && DimAt(a.in(3), 0) == Dim(each), "rotated anchors");
  // In the order of rows, columns and anchors.
  const std::vector<double> corners = AnchorCorners({height, width, {{0, 0}}, stride, stride});
  const Expr places = NumbersAs(a, DType::kFloat32, {height * width, 1, 4}, corners, "places");
  const Expr anchors = Reshape(Unsqueeze(a.in(3), {0}) + places, {*count, 4});
  const int64_t kept = before > 0 ? std::min(before, *count) : *count;
  std::vector<Value*> regions, chances;
  for (int64_t i = 0; i < images; ++i) {
    const auto own = [&](const Expr& x) { return SliceAt(x, 0, i); };
    const Expr chance = Reshape(Transpose(own(a.in(0)), {0, 2, 3, 1}), {*count});
    const Expr by = Reshape(
        Transpose(Reshape(own(a.in(1)), {each, 4, height, width}), {2, 3, 0, 1}), {*count, 4});
    const auto [top, index] = TopOf(chance, a.b().Ints({kept}), 0);
    const Expr info = own(a.in(2));
    const auto of_image = [&](int64_t k) { return Column(info, k); };
    // Whole numbers.
    const Expr rows = Floor(of_image(0)), columns = Floor(of_image(1));
    const Expr boxes = Inside(
        a, MovedBoxes(a, Gather(anchors, index, 0), Gather(by, index, 0), {1, 1, 1, 1}, pixel),
        rows, columns, pixel);
    const auto side = [&](int64_t k) {
      return Shifted(Column(boxes, k + 2) - Column(boxes, k), pixel);
    };
    const Expr w = side(0), h = side(1), small = of_image(2) * least;
    const Expr counts = (w >= small) & (h >= small) & (Column(boxes, 0) + w / 2 < of_image(1)) &
                        (Column(boxes, 1) + h / 2 < of_image(0));
    // Those that do not count are below what counts.
    const Expr ranked = Where(Squeeze(counts, {1}), top, -1e30);
    const Kept left = WithoutOverlaps(a, Unsqueeze(boxes, {0}), Unsqueeze(ranked, {0}),
                                      Ints(a, {after > 0 ? after : kept}), overlap, -1e29, pixel);
    const Expr chosen = Gather(boxes, left.number, 0);
    regions.push_back(Concat(a, {Column(chosen, 0) * 0.0 + static_cast<double>(i), chosen}, 1));
    chances.push_back(Gather(top, left.number, 0));
  }
  return Values{Concat(a, regions, 0), Concat(a, chances, 0)};
}

// Operands: boxes [n, 4], or with the number of their image before them; offsets [n, 4 * classes];
// sizes of images. Boxes are of the scaled image. Results: boxes, and how many each image has.
absl::StatusOr<Values> BBoxTransform(Caffe2Args& a) {
  std::vector<float> weights = a.FloatList("weights", {1, 1, 1, 1});
  const bool scaled = a.Bool("apply_scale", true);
  const double pixel = PixelSize(a);
  RequireUpright(a);
  const Dim columns = DimAt(a.in(0), 1), all = DimAt(a.in(1), 1), images = DimAt(a.in(2), 0);
  a.Require(columns.is_static() && all.is_static() && images.is_static(), "boxes of unknown size");
  if (weights.size() != 4 || columns.value() < 4 || columns.value() > 5 || all.value() % 4 != 0 ||
      (columns.value() == 4 && images.value() != 1)) {
    return Invalid("boxes of ", columns.value(), " numbers and offsets of ", all.value());
  }
  const bool numbered = columns.value() == 5;
  const Expr image = numbered ? a.AsInt64(Squeeze(Column(a.in(0), 0), {1})) : nullptr;
  const Expr info = numbered ? Gather(a.in(2), image, 0) : a.in(2);
  const auto whole = [&](int64_t k) { return Floor(Column(info, k) / Column(info, 2) + 0.5); };
  const Expr boxes = Slice(a.in(0), 1, Size(numbered ? 1 : 0), Size(kToEnd)) / Column(info, 2);
  std::vector<Value*> parts;
  for (int64_t k = 0; k < all.value(); k += 4) {
    const Expr by = Slice(a.in(1), 1, Size(k), Size(k + 4));
    const Expr moved =
        Inside(a, MovedBoxes(a, boxes, by, weights, pixel), whole(0), whole(1), pixel);
    parts.push_back(scaled ? moved * Column(info, 2) : moved);
  }
  Values results = {Concat(a, parts, 1)};
  if (!a.wants(1)) return results;
  if (!numbered) {
    results.push_back(Vector(a, SizeAt(a.in(0), 0)).To(DType::kFloat32));
  } else {
    const Expr places = Unsqueeze(Iota(Int(a, images.value())), {1});
    results.push_back(Sum((places == Unsqueeze(image, {0})).To(DType::kFloat32), 1));
  }
  return results;
}

// Operands: chances [n, classes], boxes [n, 4 * classes]. Of each class but the background those
// that overlap no better one, and of all of them the best. Results: chances, boxes, classes, how
// many, which rows, and how many of each class.
absl::StatusOr<Values> BoxWithNmsLimit(Caffe2Args& a) {
  const double above = a.Number("score_thresh", 0.05), overlap = a.Number("nms", 0.3);
  const int64_t most = a.Int("detections_per_im", 100);
  a.Require(!a.Bool("soft_nms_enabled", false), "soft suppression");
  a.Drop({"soft_nms_method", "soft_nms_sigma", "soft_nms_min_score_thres"});
  const bool alike = a.Bool("cls_agnostic_bbox_reg", false),
             boxes_first = a.Bool("input_boxes_include_bg_cls", true),
             scores_first = a.Bool("input_scores_include_bg_cls", true),
             first = a.Bool("output_classes_include_bg_cls", true);
  const double pixel = PixelSize(a);
  RequireUpright(a);
  a.Require(a.num_inputs() < 3 || DimAt(a.in(2), 0) == Dim(1), "boxes of several images");
  const auto flat = [&](size_t i) { return a.RankOf(i) == 4 ? Squeeze(a.in(i), {2, 3}) : a.in(i); };
  const Expr scores = flat(0), boxes = flat(1);
  const Dim columns = DimAt(scores, 1), all = DimAt(boxes, 1);
  a.Require(columns.is_static() && all.is_static(), "an unknown number of classes");
  // The background is class 0, whether it has a column or not.
  const int64_t skipped = scores_first ? 1 : 0, classes = columns.value() - skipped;
  const int64_t boxed = alike ? 1 : classes, before = boxes_first ? 1 : 0;
  if (classes < 1 || all.value() != 4 * (boxed + before)) {
    return Invalid(all.value(), " numbers of boxes for ", classes, " classes");
  }
  const Expr own = Transpose(Slice(scores, 1, Size(skipped), Size(kToEnd)), {1, 0});
  Expr corners = Transpose(ReshapeTo(Slice(boxes, 1, Size(4 * before), Size(kToEnd)),
                                     {SizeAt(boxes, 0), Size(boxed), Size(4)}),
                           {1, 0, 2});
  if (alike) corners = corners.Op("tile", {a.b().Ints({classes, 1, 1})});
  const Kept left =
      WithoutOverlaps(a, corners, own, Vector(a, SizeAt(scores, 0)), overlap, above, pixel);
  const Expr count = SizeOf(scores, 0);
  Expr place = left.group * count + left.number;
  if (most > 0) {
    // The best of all, in their order.
    const Expr found = Gather(Flat(own), place, 0);
    const Expr limit = Reshape(Min(SizeOf(place, 0), Int(a, most)), {1});
    const Expr best = TopOf(found, limit, 0).indices;
    place = Gather(place, TopOf(best, limit, 0, /*largest=*/false).values, 0);
  }
  const Expr of = place / count;
  Values results = {Gather(Flat(own), place, 0),
                    Gather(ReshapeTo(corners, {Size(-1), Size(4)}), place, 0),
                    Shifted(of.To(DType::kFloat32), first ? 1 : 0)};
  if (a.num_outputs() > 3) results.push_back(Vector(a, SizeAt(place, 0)).To(DType::kFloat32));
  if (a.num_outputs() > 4) {
    results.push_back((place - of * count).To(DType::kInt32));
    const Expr numbers = Unsqueeze(Iota(Int(a, classes + 1)), {1});
    const Expr is = (numbers == Unsqueeze(of + Int(a, 1), {0})).To(DType::kInt32);
    results.push_back(Unsqueeze(Sum(is, 1), {0}));
  }
  return results;
}

// --- Pyramids ------------------------------------------------------------------------------------

// The best of boxes [n, 5] of several levels, by their chances [n].
Expr Collected(Caffe2Args& a, int64_t levels, int64_t most) {
  std::vector<Value*> boxes, chances;
  for (int64_t i = 0; i < levels; ++i) {
    boxes.push_back(a.in(static_cast<size_t>(i)));
    chances.push_back(Flat(a.in(static_cast<size_t>(levels + i))));
  }
  const Expr all = Concat(a, boxes, 0), chance = Concat(a, chances, 0);
  const Expr count = SizeOf(chance, 0);
  const Expr kept = Reshape(most > 0 ? Min(count, Int(a, most)) : count, {1});
  return Gather(all, TopOf(chance, kept, 0).indices, 0);
}

// Boxes level by level, by their size; at last where each of the boxes went.
absl::StatusOr<Values> Distributed(Caffe2Args& a, const Expr& boxes) {
  const int64_t scale = a.Int("roi_canonical_scale", 224), level = a.Int("roi_canonical_level", 4),
                last = a.Int("roi_max_level", 5), first = a.Int("roi_min_level", 2);
  const double pixel = PixelSize(a);
  if (last < first || last - first > 32 || scale < 1)
    return Invalid("levels ", first, " to ", last);
  const auto side = [&](int64_t k) {
    return Shifted(Column(boxes, k + 2) - Column(boxes, k), pixel);
  };
  const Expr size = Sqrt(Squeeze(side(1) * side(2), {1}));
  const Expr own = Floor(Log(size / static_cast<double>(scale) + 1e-6) / portable::log(2.0) +
                         static_cast<double>(level));
  const Expr at = Max(Min(own, static_cast<double>(last)), static_cast<double>(first));
  Values results;
  std::vector<Value*> order;
  for (int64_t i = first; i <= last; ++i) {
    const Expr is = at == static_cast<double>(i);
    const Expr places = Squeeze(is.Op("non_zero"), {0});
    results.push_back(Gather(boxes, places, 0));
    order.push_back(places);
  }
  // The place of each box in the order of levels.
  const Expr went = Concat(a, order, 0), numbers = Iota(SizeOf(went, 0));
  results.push_back(ScatterElements(went * Int(a, 0), 0, went, numbers, "none").To(DType::kInt32));
  return results;
}

int64_t LevelsOf(Caffe2Args& a) {
  const int64_t last = a.Int("rpn_max_level", 6), first = a.Int("rpn_min_level", 2);
  const int64_t levels = last < first ? 0 : last - first + 1;
  if (levels < 1 || a.num_inputs() != static_cast<size_t>(2 * levels)) {
    a.Fail(Invalid(a.num_inputs(), " operands of levels ", first, " to ", last));
  }
  return levels;
}

absl::StatusOr<Values> CollectAndDistribute(Caffe2Args& a) {
  const Expr boxes = Collected(a, LevelsOf(a), a.Int("rpn_post_nms_topN", 2000));
  X2IR_ASSIGN_OR_RETURN(Values results, Distributed(a, boxes));
  results.insert(results.begin(), boxes);
  return results;
}

absl::StatusOr<Value*> Collect(Caffe2Args& a) {
  return Collected(a, LevelsOf(a), a.Int("rpn_post_nms_topN", 2000)).value();
}

absl::StatusOr<Values> Distribute(Caffe2Args& a) {
  a.Require(a.num_inputs() == 1, "a limit of each image");
  return Distributed(a, a.in(0));
}

Value* RoiPool(Caffe2Args& a) {
  a.Require(!a.ChannelsLast(), "channels last");
  return a.Op("max_roi_pool", {a.in(0), a.in(1)},
              {{"pooled_shape", {a.Int("pooled_h", 1), a.Int("pooled_w", 1)}},
               {"spatial_scale", static_cast<float>(a.Number("spatial_scale", 1))}});
}

// --- Keypoints -----------------------------------------------------------------------------------

// The largest place of each map [boxes, points, size, size], made finer by the quadratic that its
// neighbours give, and where it is in the image: [boxes, 4, points] of x, y, score, chance.
Expr HeatmapMaxKeypoint(Caffe2Args& a) {
  const bool chances = a.Bool("should_output_softmax", false);
  const Expr maps = a.in(0), boxes = a.in(1);
  const Dim known = DimAt(maps, 2);
  a.Require(known.is_static() && known.value() >= 2, "maps of unknown size");
  const int64_t size = known.value();
  const Expr flat = ReshapeTo(maps, {SizeAt(maps, 0), SizeAt(maps, 1), Size(size * size)});
  const Expr best = flat.Op("arg_max", {}, {{"axis", 2}, {"keepdims", 1}});
  const Expr row = best / static_cast<double>(size),
             column = best - row * static_cast<double>(size);
  // Neighbours by -1, 0, 1, those outside mirrored at the middle.
  const auto beside = [&](const Expr& place, double by) {
    const Expr at = place + by;
    if (by < 0) return Where(at < 0, place + 1, at);
    return by > 0 ? Where(at >= static_cast<double>(size), place - 1, at) : at;
  };
  std::vector<Value*> places;
  for (const double y : {-1.0, 0.0, 1.0}) {
    for (const double x : {-1.0, 0.0, 1.0}) {
      places.push_back(beside(row, y) * static_cast<double>(size) + beside(column, x));
    }
  }
  const Expr around = GatherElements(flat, Concat(a, places, 2), 2);
  const auto f = [&](int64_t y, int64_t x) {
    const int64_t i = (y + 1) * 3 + x + 1;
    return ElementAt(around, 2, i);
  };
  const Expr score = f(0, 0);
  const Expr gx = (f(0, -1) - f(0, 1)) * 0.5, gy = (f(-1, 0) - f(1, 0)) * 0.5;
  const Expr xx = f(0, -1) - score * 2 + f(0, 1), yy = f(-1, 0) - score * 2 + f(1, 0),
             xy = (f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1)) * 0.25;
  const Expr det = xx * yy - xy * xy, flat_there = Abs(det) < 1e-4;
  const Expr divisor = Where(flat_there, det.Number(1), det);
  constexpr double kMaxMoved = 1.5;
  const auto moved = [&](const Expr& by) { return Where(flat_there, by.Number(0), by / divisor); };
  const Expr dx = moved(yy * gx - xy * gy), dy = moved(xx * gy - xy * gx);
  const Expr shrink = Max(Max(Abs(dx), Abs(dy)) / kMaxMoved, 1.0);
  const Expr x = dx / shrink, y = dy / shrink;
  const Expr finer = score - (gx * x + gy * y) + (xx * x * x + xy * x * y * 2 + yy * y * y) * 0.5;
  const auto in_image = [&](const Expr& place, const Expr& by, int64_t axis) {
    const Expr from = Column(boxes, axis), length = Max(Column(boxes, axis + 2) - from, 1.0);
    return from + (Squeeze(place, {2}).To(DType::kFloat32) + 0.5 + by) * length /
                      static_cast<double>(size);
  };
  const Expr share = 1 / Sum(Exp(flat - Unsqueeze(score, {2})), 2);
  return Stack(a, {in_image(column, x, 0), in_image(row, y, 1), finer, chances ? share : share * 0},
               1);
}

absl::StatusOr<Value*> RoiAlign(Caffe2Args& a) {
  a.Require(!a.ChannelsLast(), "channels last");
  const int64_t samples = a.Int("sampling_ratio", -1);
  const bool aligned = a.Bool("aligned", false);
  const Expr rois = a.in(1);
  const Dim columns = DimAt(rois, 1);
  // Of one image they need not say which.
  a.Require(columns == Dim(5) || columns == Dim(4), "regions of unknown size");
  const bool numbered = columns == Dim(5);
  const Expr image = numbered ? a.AsInt64(Squeeze(Slice(rois, 1, Size(0), Size(1)), {1}))
                              : Filled(a, DType::kInt64, {SizeAt(rois, 0)}, 0);
  const Expr regions = numbered ? Slice(rois, 1, Size(1), Size(5)) : rois;
  return AlignedRegions(a.in(0), regions, image,
                        {a.Int("pooled_h", 1), a.Int("pooled_w", 1), a.Number("spatial_scale", 1),
                         samples, aligned})
      .value();
}

}  // namespace

X2IR_CAFFE2(non_max_suppression)
    .From({"GenerateProposals", "GenerateProposalsCPP"}, GenerateProposals)
    .From("BoxWithNMSLimit", BoxWithNmsLimit);
X2IR_CAFFE2(concat).From("BBoxTransform", BBoxTransform);
X2IR_CAFFE2(top_k).From({{"CollectAndDistributeFpnRpnProposals", CollectAndDistribute},
                         {"CollectRpnProposals", Collect}});
X2IR_CAFFE2(non_zero).From("DistributeFpnProposals", Distribute);
X2IR_CAFFE2(arg_max).From("HeatmapMaxKeypoint", HeatmapMaxKeypoint);
X2IR_CAFFE2(max_roi_pool).From("RoIPool", RoiPool);
X2IR_CAFFE2(roi_align).From("RoIAlign", RoiAlign);

}  // namespace x2ir
