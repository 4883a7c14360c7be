// MXNet: boxes: those that a detector begins with, and those that are left of its results.
#include "x2ir/builder/layers/detection.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/anchors.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/region_cells.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// Sides of boxes [..., 4], each [...].
struct Sides {
  Expr left, top, right, bottom;
};

Expr ColumnOf(const Expr& x, int64_t k) { return ElementAt(x, -1, k); }

// By corners, or (center) by middles and sizes.
Sides SidesOf(const Expr& boxes, int64_t from, bool center) {
  const Expr p = ColumnOf(boxes, from), q = ColumnOf(boxes, from + 1),
             r = ColumnOf(boxes, from + 2), s = ColumnOf(boxes, from + 3);
  if (!center) return {p, q, r, s};
  return {p - r / 2, q - s / 2, p + r / 2, q + s / 2};
}

Expr AreaOf(const Sides& b) { return Max(b.right - b.left, 0.0) * Max(b.bottom - b.top, 0.0); }

// The area of the overlap over that of both together; 0 where there is none.
Expr OverlapOf(const Sides& b, const Sides& c) {
  const Expr width = Max(Min(b.right, c.right) - Max(b.left, c.left), 0.0);
  const Expr height = Max(Min(b.bottom, c.bottom) - Max(b.top, c.top), 0.0);
  const Expr common = width * height, whole = AreaOf(b) + AreaOf(c) - common;
  return Where(whole > 0.0, common / Where(whole > 0.0, whole, 1.0), 0.0);
}

// Boxes [batch, n] in order, best first: each that is still there takes away later ones that
// overlap it too much (`stronger`: more than the threshold, else as much too), of its own class
// where there are classes. Gives who is there at last.
Expr Suppressed(SymbolArgs& a, const Sides& boxes, const Expr& alive, const Expr* classes,
                double threshold, bool more, const Expr& rounds) {
  const Expr places = Iota(SizeOf(alive, 1));
  const auto at = [&](const Expr& x, const Expr& i) { return Gather(x, Reshape(i, {1}), 1); };
  const RoundBody body = [&](const Expr& i, const std::vector<Expr>& carried) {
    const Sides one = {at(boxes.left, i), at(boxes.top, i), at(boxes.right, i),
                       at(boxes.bottom, i)};
    const Expr overlap = OverlapOf(one, boxes);
    Expr goes = more ? overlap > threshold : overlap >= threshold;
    goes = goes & (places > i);
    if (classes) goes = goes & (at(*classes, i) == *classes);
    // Bools are not picked by every runtime.
    const Expr there = at(carried[0].To(DType::kInt32), i) > 0.0;
    return std::vector<Expr>{carried[0] & Not(goes & there)};
  };
  (void)a;
  return Rounds(rounds, {alive}, body)[0];
}

// --- Boxes to begin with -------------------------------------------------------------------------

// For every pixel a box of each size, and of the first size with each other ratio.
absl::StatusOr<Value*> MultiBoxPrior(SymbolArgs& a) {
  const std::vector<double> sizes = a.Numbers("sizes", {1}), ratios = a.Numbers("ratios", {1}),
                            steps = a.Numbers("steps", {-1, -1}),
                            offsets = a.Numbers("offsets", {0.5, 0.5});
  const bool clip = a.Flag("clip", false);
  if (sizes.empty() || ratios.empty() || steps.size() != 2 || offsets.size() != 2) {
    return Invalid("boxes without sizes");
  }
  const Dim rows = DimAt(a.in(0), 2), columns = DimAt(a.in(0), 3);
  if (!rows.is_static() || !columns.is_static())
    return Unimplemented("boxes of images of unknown size");
  const int64_t height = rows.value(), width = columns.value();
  const size_t each = sizes.size() + ratios.size() - 1;
  if (height < 1 || width < 1 || height * width > 10'000'000 / static_cast<int64_t>(each)) {
    return Unimplemented("boxes of an image of ", height, " x ", width);
  }
  const double step_y = steps[0] > 0 ? steps[0] : 1.0 / static_cast<double>(height);
  const double step_x = steps[1] > 0 ? steps[1] : 1.0 / static_cast<double>(width);
  const double shape = static_cast<double>(height) / static_cast<double>(width);
  AnchorGrid grid{height, width, {}, step_x, step_y, offsets[1], offsets[0]};
  grid.clip = clip;
  for (size_t k = 0; k < each; ++k) {
    const double size = k < sizes.size() ? sizes[k] : sizes[0];
    const double ratio = std::sqrt(k < sizes.size() ? ratios[0] : ratios[k - sizes.size() + 1]);
    grid.anchors.push_back({size * shape * ratio / 2, size / ratio / 2});
  }
  const std::vector<double> numbers = AnchorCorners(grid);
  const auto count = static_cast<int64_t>(numbers.size() / 4);
  return NumbersAs(a, a.dtype(), {1, count, 4}, numbers).value();
}

// --- Results -------------------------------------------------------------------------------------

Expr Decoded(const Expr& offsets, const Expr& anchors, const std::vector<double>& v, bool clip) {
  const Sides s = SidesOf(anchors, 0, false);
  const Expr width = s.right - s.left, height = s.bottom - s.top;
  const Expr x = (s.left + s.right) / 2, y = (s.top + s.bottom) / 2;
  const Expr cx = ColumnOf(offsets, 0) * v[0] * width + x;
  const Expr cy = ColumnOf(offsets, 1) * v[1] * height + y;
  const Expr w = Exp(ColumnOf(offsets, 2) * v[2]) * width / 2;
  const Expr h = Exp(ColumnOf(offsets, 3) * v[3]) * height / 2;
  const Expr boxes = Stack(x.builder(), {cx - w, cy - h, cx + w, cy + h}, -1);
  return clip ? Min(Max(boxes, 0.0), 1.0) : boxes;
}

// The places of [batch, n], the largest first.
Expr OrderOf(const Expr& key) {
  return TopOf(key, ReshapeTo(SizeOf(key, 1), key.builder().Ints({1})), 1).indices;
}

// Rows [batch, n, width] by places [batch, n].
Expr RowsAt(const Expr& x, const Expr& places) {
  const Expr index = Expand(Unsqueeze(places, {-1}), ShapeOf(x));
  return GatherElements(x, index, 1);
}

// Operands: probabilities [batch, classes, n], offsets [batch, n * 4], anchors [1, n, 4]. Rows:
// class, score and box, best first; -1 as the class of a box that was removed, then rows of -1.
absl::StatusOr<Value*> MultiBoxDetection(SymbolArgs& a) {
  const bool clip = a.Flag("clip", true), force = a.Flag("force_suppress", false);
  const double threshold = a.Number("threshold", 0.01), overlap = a.Number("nms_threshold", 0.5);
  const int64_t background = a.Integer("background_id", 0), most = a.Integer("nms_topk", -1);
  const std::vector<double> variances = a.Numbers("variances", {0.1, 0.1, 0.2, 0.2});
  a.Require(background == 0, "a background that is not the first class");
  if (variances.size() != 4) return Invalid("it needs four variances");
  const Expr classes = Slice(a.in(0), 1, Size(1), Size(kToEnd));
  const Expr score = Reduce(classes, "reduce_max", {1});
  const Expr id = classes.Op("arg_max", {}, {{"axis", 1}, {"keepdims", 0}}).To(score.dtype());
  const Expr boxes = Decoded(ReshapeTo(a.in(1), {SizeAt(a.in(0), 0), Size(-1), Size(4)}), a.in(2),
                             variances, clip);
  const Expr valid = score >= threshold;
  // Those that count first, in the order of their scores; without suppression in their own.
  const bool suppresses = overlap > 0 && overlap <= 1;
  const Expr key = Where(valid, suppresses ? score : score.Number(1), -1.0);
  const Expr order = OrderOf(key);
  const Expr rows =
      RowsAt(Concat(a, {Unsqueeze(id, {-1}), Unsqueeze(score, {-1}), boxes}, -1), order);
  const Expr counts = GatherElements(valid.To(DType::kInt32), order, 1) > 0.0;
  Expr alive = counts;
  if (suppresses) {
    const Expr all = Reduce(counts.To(DType::kInt64), "reduce_sum", {1});
    Expr rounds = Reduce(all, "reduce_max", {});
    if (most > 0) {
      alive = alive & (Iota(SizeOf(counts, 1)) < static_cast<double>(most));
      rounds = Min(rounds, static_cast<double>(most));
    }
    const Expr ids = ColumnOf(rows, 0);
    alive = Suppressed(a, SidesOf(rows, 2, false), alive, force ? nullptr : &ids, overlap, false,
                       rounds);
  }
  const Expr kept = Where(alive, ColumnOf(rows, 0), -1.0);
  const Expr result = Concat(a, {Unsqueeze(kept, {-1}), Slice(rows, -1, Size(1), Size(6))}, -1);
  return Where(Unsqueeze(counts, {-1}), result, -1.0).value();
}

// Boxes by corners as middles and sizes, or (center) the other way round. A box whose first number
// is below 0 stays as it is.
Expr InOtherFormat(SymbolArgs& a, const Expr& rows, int64_t from, bool center) {
  const Sides s = SidesOf(rows, from, center);
  const Expr boxes = Stack(a,
                           center ? Values{s.left, s.top, s.right, s.bottom}
                                  : Values{(s.left + s.right) / 2, (s.top + s.bottom) / 2,
                                           s.right - s.left, s.bottom - s.top},
                           -1);
  const Expr turned = Concat(
      a,
      {Slice(rows, -1, Size(0), Size(from)), boxes, Slice(rows, -1, Size(from + 4), Size(kToEnd))},
      -1);
  return Where(Unsqueeze(ColumnOf(rows, from) < 0.0, {-1}), rows, turned);
}

// Rows with a score and a box each, [..., n, width]: those that are left first, in the order of
// their scores, then rows of -1.
absl::StatusOr<Value*> BoxNms(SymbolArgs& a) {
  const double overlap = a.Number("overlap_thresh", 0.5), least = a.Number("valid_thresh", 0);
  const int64_t most = a.Integer("topk", -1), coords = a.Integer("coord_start", 2),
                scores = a.Integer("score_index", 1), ids = a.Integer("id_index", -1),
                background = a.Integer("background_id", -1);
  const bool force = a.Flag("force_suppress", false);
  const std::string in = a.Text("in_format", "corner"), out = a.Text("out_format", "corner");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 2) return Invalid("boxes of ", rank, " axes");
  const Expr x = a.in(0);
  const Expr data =
      rank == 3 ? x : ReshapeTo(x, {Size(-1), SizeAt(x, rank - 2), SizeAt(x, rank - 1)});
  const Expr score = ColumnOf(data, scores);
  Expr valid = score > least;
  if (ids >= 0 && background >= 0) {
    valid = valid & Not(ColumnOf(data, ids) == static_cast<double>(background));
  }
  const Expr lowest = FiniteExtreme(a, score.dtype(), false);
  const Expr order = OrderOf(Where(valid, score, lowest));
  const Expr rows = RowsAt(data, order);
  const Expr places = Iota(SizeOf(score, 1));
  Expr alive = GatherElements(valid.To(DType::kInt32), order, 1) > 0.0;
  if (most > 0) alive = alive & (places < static_cast<double>(most));
  const Expr rounds = Reduce(Reduce(alive.To(DType::kInt64), "reduce_sum", {1}), "reduce_max", {});
  const Expr classes = ids >= 0 ? ColumnOf(rows, ids) : score;
  alive = Suppressed(a, SidesOf(rows, coords, in == "center"), alive,
                     ids >= 0 && !force ? &classes : nullptr, overlap, true, rounds);
  // Boxes that are left come first.
  const Expr first = OrderOf(Where(alive, -places.To(DType::kFloat32), -1e9));
  const Expr kept = RowsAt(rows, first);
  const Expr result = in == out ? kept : InOtherFormat(a, kept, coords, in == "center");
  const Expr there = GatherElements(alive.To(DType::kInt32), first, 1) > 0.0;
  return ReshapeTo(Where(Unsqueeze(there, {-1}), result, -1.0), ShapeOf(x)).value();
}

// The overlap of each box with each other one: [left..., right...].
absl::StatusOr<Value*> BoxIou(SymbolArgs& a) {
  const bool center = a.Text("format", "corner") == "center";
  X2IR_ASSIGN_OR_RETURN(const int64_t m, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t n, a.Rank(1));
  const Expr left = n > 1 ? Unsqueeze(a.in(0), CountedFrom(m - 1, n - 1)) : a.in(0);
  const Expr right = a.in(1);
  return OverlapOf(SidesOf(left, 0, center), SidesOf(right, 0, center)).value();
}

// Operands: offsets [batch, n, 4], anchors [1, n, 4].
Value* BoxDecode(SymbolArgs& a) {
  const std::vector<double> v = {a.Number("std0", 1), a.Number("std1", 1), a.Number("std2", 1),
                                 a.Number("std3", 1)};
  const double clip = a.Number("clip", -1);
  const bool center = a.Text("format", "center") == "center";
  const Sides s = SidesOf(a.in(1), 0, center);
  const Expr anchors = Stack(a, {s.left, s.top, s.right, s.bottom}, -1);
  Expr offsets = a.in(0);
  if (clip > 0) {
    // Of sizes alone.
    const Expr sizes =
        Min(Slice(offsets, -1, Size(2), Size(4)) * NumbersAs(a, offsets.dtype(), {2}, {v[2], v[3]}),
            clip);
    const Expr places = Slice(offsets, -1, Size(0), Size(2));
    offsets = Concat(a, {places, sizes}, -1);
    return Decoded(offsets, anchors, {v[0], v[1], 1, 1}, false);
  }
  return Decoded(offsets, anchors, v, false);
}

// --- Regions of a network that proposes them -----------------------------------------------------

// [batch, parts * anchors, height, width] as [batch, height * width * anchors, parts].
Expr ByCells(const Expr& x, int64_t anchors, int64_t parts, int64_t height, int64_t width) {
  const Expr split = Reshape(x, {-1, anchors, parts, height, width});
  return Reshape(Transpose(split, {0, 3, 4, 1, 2}), {-1, height * width * anchors, parts});
}

// Operands: scores [batch, 2 * anchors, height, width], of which the second half counts, offsets
// [batch, 4 * anchors, height, width], sizes of the images and their scale [batch, 3]. Rows: the
// image and a box, as many as are asked for: where there are fewer, they begin again.
absl::StatusOr<Values> Proposal(SymbolArgs& a) {
  const int64_t before = a.Integer("rpn_pre_nms_top_n", 6000),
                after = a.Integer("rpn_post_nms_top_n", 300),
                stride = a.Integer("feature_stride", 16), least = a.Integer("rpn_min_size", 16);
  const double threshold = a.Number("threshold", 0.7);
  const std::vector<double> scales = a.Numbers("scales", {4, 8, 16, 32}),
                            ratios = a.Numbers("ratios", {0.5, 1, 2});
  const bool plain = a.Flag("iou_loss", false);
  a.Flag("output_score", false);
  const Dim rows = DimAt(a.in(0), 2), columns = DimAt(a.in(0), 3);
  if (!rows.is_static() || !columns.is_static())
    return Unimplemented("regions of images of unknown size");
  const int64_t height = rows.value(), width = columns.value();
  const auto anchors = static_cast<int64_t>(scales.size() * ratios.size());
  constexpr int64_t kMaxCells = 10'000'000;
  if (anchors < 1 || stride < 1 || stride > 65536 || after < 1 || after > kMaxCells || height < 1 ||
      width < 1 || height > kMaxCells || width > kMaxCells ||
      height * width > kMaxCells / anchors ||
      *std::min_element(ratios.begin(), ratios.end()) <= 0) {
    return Invalid("regions of an image of ", height, " x ", width);
  }
  const int64_t count = height * width * anchors;
  const int64_t kept = before > 0 ? std::min(before, count) : count;
  const auto step = static_cast<double>(stride);
  AnchorGrid grid{height, width, {}, step, step};
  for (const BoxSize& size :
       AnchorSizes({step * step, ratios, scales, false, /*whole_area=*/true})) {
    grid.anchors.push_back(PixelAnchor(size, (step - 1) / 2, (step - 1) / 2));
  }
  std::vector<double> at_row, at_column;
  for (int64_t i = 0; i < count; ++i) {
    at_row.push_back(static_cast<double>(i / anchors / width));
    at_column.push_back(static_cast<double>(i / anchors % width));
  }
  const DType t = a.dtype();
  const Expr given = NumbersAs(a, t, {1, count, 4}, AnchorCorners(grid), "anchors");
  const Expr deltas = ByCells(a.in(1), anchors, 4, height, width);
  const Expr all_scores =
      ByCells(Slice(a.in(0), 1, Size(anchors), Size(2 * anchors)), anchors, 1, height, width);
  // Sizes of the images, [batch, 1].
  const auto info = [&](int64_t k) { return SliceAt(a.in(2), 1, k); };
  const Expr bottom = info(0), right = info(1);
  const Sides s = SidesOf(given, 0, false);
  Sides moved = {s.left + ColumnOf(deltas, 0), s.top + ColumnOf(deltas, 1),
                 s.right + ColumnOf(deltas, 2), s.bottom + ColumnOf(deltas, 3)};
  if (!plain) {
    const Expr w = s.right - s.left + 1, h = s.bottom - s.top + 1;
    const Expr x = ColumnOf(deltas, 0) * w + s.left + (w - 1) * 0.5;
    const Expr y = ColumnOf(deltas, 1) * h + s.top + (h - 1) * 0.5;
    const Expr half_w = (Exp(ColumnOf(deltas, 2)) * w - 1) * 0.5,
               half_h = (Exp(ColumnOf(deltas, 3)) * h - 1) * 0.5;
    moved = {x - half_w, y - half_h, x + half_w, y + half_h};
  }
  const auto inside = [&](const Expr& v, const Expr& size) { return Max(Min(v, size - 1), 0.0); };
  moved = {inside(moved.left, right), inside(moved.top, bottom), inside(moved.right, right),
           inside(moved.bottom, bottom)};
  // Cells outside of the image, and boxes that are too small, come last.
  const auto cells = [&](const Expr& size) { return Floor(size / static_cast<double>(stride)); };
  const Expr outside = (NumbersAs(a, t, {1, count}, at_row, "rows") >= cells(bottom)) |
                       (NumbersAs(a, t, {1, count}, at_column, "columns") >= cells(right));
  const Expr size = info(2) * static_cast<double>(least);
  const Expr small = (moved.right - moved.left + 1 < size) | (moved.bottom - moved.top + 1 < size);
  const Expr grow = Where(small, size * 0.5, 0.0);
  const Expr score = Where(outside | small, -1.0, ColumnOf(all_scores, 0));
  const Expr table = Stack(
      a, {moved.left - grow, moved.top - grow, moved.right + grow, moved.bottom + grow, score}, -1);

  const auto first_of = [&](const Expr& key, int64_t n) {
    return TopOf(key, Ints(a, {n}), 1).indices;
  };
  const auto rows_at = [&](const Expr& x, const Expr& places) {
    return GatherElements(x, Expand(Unsqueeze(places, {-1}), Ints(a, {1, 1, 5})), 1);
  };
  const Expr ordered = rows_at(table, first_of(score, kept));
  // Pixels count, so that a box ends after its last one.
  Sides pixels = SidesOf(ordered, 0, false);
  pixels.right = pixels.right + 1;
  pixels.bottom = pixels.bottom + 1;
  const Expr every = ColumnOf(ordered, 4) == ColumnOf(ordered, 4);
  const Expr alive = Suppressed(a, pixels, every, nullptr, threshold, true, Int(a, kept));
  const Expr front = first_of(Where(alive, -Iota(Int(a, kept)).To(DType::kFloat32), -1e9), kept);
  const Expr found = Min(Reduce(alive.To(DType::kInt64), "reduce_sum", {1}, true),
                         static_cast<double>(std::min(after, kept)));
  // Again from the first one where there are too few.
  const Expr turn = Mod(Iota(Int(a, after)), Max(found, 1.0));
  const Expr result = rows_at(ordered, GatherElements(front, turn, 1));
  const Expr image = Expand(AlongAxis(Iota(SizeOf(result, 0)).To(t), 0, 3), Ints(a, {1, after, 1}));
  const Expr regions = Concat(a, {image, Slice(result, -1, Size(0), Size(4))}, -1);
  return Values{Reshape(regions, {-1, 5}), Reshape(Slice(result, -1, Size(4), Size(5)), {-1, 1})};
}

Value* RoiPooling(SymbolArgs& a) {
  return a.Op("max_roi_pool", {a.in(0), a.in(1)},
              {{"pooled_shape", a.TupleOf("pooled_size", 2, 1)},
               {"spatial_scale", static_cast<float>(a.Number("spatial_scale", 1))}});
}

// Regions [image, x1, y1, x2, y2]. With channels of positions each cell of the result has channels
// of its own.
absl::StatusOr<Value*> RoiAlign(SymbolArgs& a) {
  const std::vector<int64_t> size = a.TupleOf("pooled_size", 2, 1);
  const int64_t samples = a.Integer("sample_ratio", -1);
  const bool spread = a.Flag("position_sensitive", false), aligned = a.Flag("aligned", false);
  if (size[0] < 1 || size[1] < 1 || size[0] > 4096 || size[1] > 4096) {
    return Invalid("regions of ", size[0], " x ", size[1]);
  }
  const Expr rois = a.in(1);
  const Expr image = a.AsInt64(Squeeze(Slice(rois, 1, Size(0), Size(1)), {1}));
  Expr y = AlignedRegions(a.in(0), Slice(rois, 1, Size(1), Size(5)), image,
                          {size[0], size[1], a.Number("spatial_scale", 1), samples, aligned});
  if (spread) y = OwnChannels(y, size[0], size[1]);
  return y.value();
}

// Channels of positions, means over whole pixels.
absl::StatusOr<Value*> PsRoiPooling(SymbolArgs& a) {
  const int64_t cells = a.Integer("pooled_size", 0), group = a.Integer("group_size", 0);
  const double scale = a.Number("spatial_scale", 1);
  a.Ignore("output_dim");
  if (cells < 1 || cells > 4096) return Invalid("regions of ", cells, " cells");
  a.Require(group == 0 || group == cells, "groups that are not the cells");
  const Expr x = a.in(0), rois = a.in(1);
  const auto column = [&](int64_t i) { return Gather(rois, Int(a, i), 1); };
  const CellBounds rows = RfcnCells(column(2), column(4), scale, cells, SizeOf(x, 2));
  const CellBounds columns = RfcnCells(column(1), column(3), scale, cells, SizeOf(x, 3));
  return OwnChannels(CellMeans(x, a.AsInt64(column(0)), rows, columns), cells, cells).value();
}

}  // namespace

X2IR_MXNET(roi_align)
    .From({"_contrib_Proposal", "_contrib_MultiProposal", "Proposal"}, Proposal)
    .From({"_contrib_ROIAlign", "_npx_roi_align"}, RoiAlign)
    .From("_contrib_PSROIPooling", PsRoiPooling);
X2IR_MXNET(non_max_suppression)
    .From({"_contrib_MultiBoxDetection", "MultiBoxDetection", "_npx_multibox_detection"},
          MultiBoxDetection)
    .From({"_contrib_box_nms", "_contrib_box_non_maximum_suppression", "_npx_box_nms"}, BoxNms);
X2IR_MXNET(div).From({"_contrib_box_iou", "_npx_box_iou"}, BoxIou);
X2IR_MXNET(concat)
    .From({"_contrib_MultiBoxPrior", "MultiBoxPrior", "_npx_multibox_prior"}, MultiBoxPrior)
    .From({"_contrib_box_decode", "_npx_box_decode"}, BoxDecode);
X2IR_MXNET(max_roi_pool).From({"ROIPooling", "_npx_roi_pooling"}, RoiPooling);

}  // namespace x2ir
