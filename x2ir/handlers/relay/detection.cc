// Relay: boxes of detectors, and regions of images. Most are MXNet's operators, which NNVM had too.
#include "x2ir/builder/layers/detection.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/images.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/read_through.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

// Attributes of one name in both, as far as they are given.
AttributeMap Taken(SymbolArgs& a, std::initializer_list<std::string_view> names) {
  AttributeMap attrs;
  for (const std::string_view name : names) {
    if (a.Given(name)) attrs.Set(name, a.Text(name));
  }
  return attrs;
}

Value* MultiBoxPriorOp(SymbolArgs& a) {
  return ReadThrough(a, "mxnet", 1, "_contrib_MultiBoxPrior", {a.in(0)},
                     Taken(a, {"sizes", "ratios", "steps", "offsets", "clip"}), {{}})[0];
}

// Classes, scores and boxes, those that count first, and how many these are.
Values MultiBoxTransform(SymbolArgs& a) {
  a.Require(!a.Flag("keep_background", false), "a background that is kept");
  AttributeMap attrs = Taken(a, {"clip", "threshold", "variances"});
  attrs.Set("nms_threshold", "-1");
  const Expr rows(a, ReadThrough(a, "mxnet", 1, "_contrib_MultiBoxDetection",
                                 {a.in(0), a.in(1), a.in(2)}, std::move(attrs), {{}})[0]);
  const Expr there = (ElementAt(rows, -1, 0) >= 0.0).To(DType::kInt32);
  return {rows, Reduce(there, "reduce_sum", {1})};
}

Expr ScoreOf(const Expr& rows, int64_t column) { return ElementAt(rows, -1, column); }

// Rows [batch, n, width] with a score above the threshold come first, in their order.
Values ValidCounts(SymbolArgs& a) {
  const double least = a.Number("score_threshold", 0);
  const int64_t id = a.Integer("id_index", 0), score = a.Integer("score_index", 1);
  const Expr rows = a.in(0);
  a.RankOf(0);
  Expr threshold = rows.Number(least);
  if (a.num_inputs() > 1) threshold = Reshape(a.in(1).To(rows.dtype()), {});
  Expr valid = ScoreOf(rows, score) > threshold;
  if (id >= 0) valid = valid & (ScoreOf(rows, id) >= 0.0);
  const Expr n = SizeOf(rows, 1), places = Iota(n);
  const Expr order = Sort(Where(valid, places, places + n), 1, false).indices;
  const Expr count = Reduce(valid.To(DType::kInt32), "reduce_sum", {1});
  const Expr there = places < Unsqueeze(count.To(DType::kInt64), {1});
  const Expr moved = GatherElements(rows, Expand(Unsqueeze(order, {-1}), ShapeOf(rows)), 1);
  return {count, Where(Unsqueeze(there, {-1}), moved, -1.0),
          Where(there, order, -1.0).To(DType::kInt32)};
}

// As MXNet's box_nms; rows after the first valid_count do not count. Gives the rows, or the places
// that those which are left have in a list of indices, and how many they are.
Values SuppressRows(SymbolArgs& a) {
  const bool gives_places = a.Flag("return_indices", true);
  const bool to_bottom = a.Flag("invalid_to_bottom", false);
  a.Require(gives_places || to_bottom, "suppressed boxes that stay in their places");
  const Expr rows = a.in(0), places = Iota(SizeOf(rows, 1));
  const Expr there = places < Unsqueeze(a.AsInt64(a.in(1)), {1});
  Expr valid = Where(Unsqueeze(there, {-1}), rows, -1.0);
  // Once attributes, they are operands after the indices since.
  double overlap = a.Number("iou_threshold", 0.5);
  const auto number = [&](size_t i) {
    const auto known = OneNumber(a.in(i));
    a.Require(known.has_value(), "bounds that are computed");
    return *known;
  };
  int64_t most = a.Integer("max_output_size", -1);
  if (a.num_inputs() > 3) most = static_cast<int64_t>(number(3));
  if (a.num_inputs() > 4) overlap = number(4);
  AttributeMap attrs = {{"overlap_thresh", NumberText(overlap)},
                        {"valid_thresh", "-1"},
                        {"topk", StrCat(a.Integer("top_k", -1))},
                        {"coord_start", StrCat(a.Integer("coord_start", 2))},
                        {"score_index", StrCat(a.Integer("score_index", 1))},
                        {"id_index", StrCat(a.Integer("id_index", 0))},
                        {"force_suppress", FlagText(a.Flag("force_suppress", false))}};
  if (gives_places) {
    // The place of a row goes with it, as a column.
    const Expr column = Unsqueeze(places.To(rows.dtype()), {0, 2});
    const Expr shape = Concat(a, {ShapeOf(rows, 0, 2), Ints(a, {1})}, 0);
    valid = Concat(a, {valid, Expand(column, shape)}, -1);
  }
  Expr kept(a, ReadThrough(a, "mxnet", 1, "_contrib_box_nms", {valid}, std::move(attrs), {{}})[0]);
  if (most >= 0) kept = Where(Unsqueeze(places < static_cast<double>(most), {-1}), kept, -1.0);
  if (!gives_places) {
    if (a.num_inputs() > 2) a.in(2);
    return {kept};
  }
  const Expr place = a.AsInt64(ElementAt(kept, -1, -1));
  const Expr left = place >= 0.0;
  const Expr index = GatherElements(a.in(2), Where(left, place, 0.0), 1);
  return {Where(left, index, -1.0).To(DType::kInt32),
          Reduce(left.To(DType::kInt32), "reduce_sum", {1}, true)};
}

// Rows of batch, class and box, as many as there are boxes of all classes, and how many count.
Values SuppressAllClasses(SymbolArgs& a) {
  const std::string format = a.Text("output_format", "onnx");
  a.Require(format == "onnx", StrCat("output_format ", format));
  const Expr boxes = a.in(0), scores = a.in(1);
  const auto vector = [&](size_t i, DType t) { return Reshape(a.in(i).To(t), {1}); };
  const Expr rows = a.Op("non_max_suppression",
                         {boxes, scores, vector(2, DType::kInt64), vector(3, DType::kFloat32),
                          vector(4, DType::kFloat32)},
                         {{"center_point_box", 0}});
  std::vector<Size> sizes = SizesAt(scores, 0, 3);
  const Size all = Product(a, sizes);
  const Expr zeros = Filled(a, DType::kInt64, {all, Size(3)}, 0);
  const Expr padded = Slice(Concat(a, {rows, zeros}, 0), 0, Size(0), all);
  return {padded, ShapeOf(rows, 0, 1)};
}

Value* RoiAlignOp(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW"), mode = a.Text("mode", "avg");
  a.Require(layout == "NCHW", StrCat("layout ", layout));
  a.Require(mode == "avg", StrCat("mode ", mode));
  AttributeMap attrs = Taken(a, {"pooled_size", "spatial_scale", "sample_ratio"});
  return ReadThrough(a, "mxnet", 1, "_contrib_ROIAlign", {a.in(0), a.in(1)}, std::move(attrs),
                     {{}})[0];
}
Value* RoiPoolOp(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW");
  a.Require(layout == "NCHW", StrCat("layout ", layout));
  return ReadThrough(a, "mxnet", 1, "ROIPooling", {a.in(0), a.in(1)},
                     Taken(a, {"pooled_size", "spatial_scale"}), {{}})[0];
}
Value* ProposalOp(SymbolArgs& a) {
  return ReadThrough(
      a, "mxnet", 1, "_contrib_Proposal", {a.in(0), a.in(1), a.in(2)},
      Taken(a, {"scales", "ratios", "feature_stride", "threshold", "rpn_pre_nms_top_n",
                "rpn_post_nms_top_n", "rpn_min_size", "iou_loss"}),
      {{}})[0];
}
absl::StatusOr<Value*> YoloReorgOp(SymbolArgs& a) {
  return Reorganized(a, a.in(0), a.Integer("stride", 1), false);
}

// --- Written -------------------------------------------------------------------------------------

absl::StatusOr<Value*> ToAllClassNms(RelayWriter& w) {
  if (w.Int("center_point_box") != 0) return CannotExpress("boxes by their middles");
  if (!w.in(2)) return CannotExpress("suppression that keeps nothing");
  const auto number = [&](size_t i, DType t, double fallback) {
    if (!w.in(i)) return w.Number(t, fallback);
    return w.Cast(w.Reshape(w.in(i), {}), t);
  };
  constexpr double kLowest = -3.4028234663852886e38;
  const Values found =
      w.CallAll("vision.all_class_non_max_suppression",
                {w.in(0), w.in(1), number(2, DType::kInt64, 0), number(3, DType::kFloat32, 0),
                 number(4, DType::kFloat32, kLowest)},
                {{"output_format", "onnx"}}, 2);
  // The rows that count.
  Value* end = w.Op("concat", {found[1], w.Ints({3})}, {{"axis", 0}});
  return w.Call("dyn.strided_slice", {found[0], w.Ints({0, 0}), end, w.Ints({1, 1})});
}

absl::StatusOr<Value*> ToRoiAlign(RelayWriter& w) {
  if (w.String("coordinate_transformation_mode") != "output_half_pixel") {
    return CannotExpress("regions by the middles of pixels");
  }
  if (w.String("mode") != "avg") return CannotExpress("the greatest samples");
  const DType t = w.dtype(0);
  Value* batch = w.Op("unsqueeze", {w.Cast(w.in(2), t), w.Ints({1})});
  Value* rois = w.Op("concat", {batch, w.in(1)}, {{"axis", 1}});
  return w.Call(
      "vision.roi_align", {w.in(0), rois},
      {{"pooled_size", TupleText({w.Int("output_height"), w.Int("output_width")})},
       {"spatial_scale", NumberText(w.attrs().Float("spatial_scale"))},
       {"sample_ratio", StrCat(w.Int("sampling_ratio") == 0 ? -1 : w.Int("sampling_ratio"))}});
}

}  // namespace

X2IR_RELAY(non_max_suppression)
    .From({{"vision.non_max_suppression", SuppressRows},
           {"vision.get_valid_counts", ValidCounts},
           {"vision.all_class_non_max_suppression", SuppressAllClasses}})
    .To("vision.all_class_non_max_suppression", ToAllClassNms);
X2IR_RELAY(concat).From({{"vision.multibox_prior", MultiBoxPriorOp},
                         {"vision.multibox_transform_loc", MultiBoxTransform},
                         {"vision.proposal", ProposalOp}});
X2IR_RELAY(roi_align).From("vision.roi_align", RoiAlignOp).To("vision.roi_align", ToRoiAlign);
X2IR_RELAY(max_roi_pool).From("vision.roi_pool", RoiPoolOp);
X2IR_RELAY(space_to_depth).From("vision.yolo_reorg", YoloReorgOp);

}  // namespace x2ir
