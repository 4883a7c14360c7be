// OneFlow: boxes and regions of detectors.

#include "x2ir/builder/layers/detection.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

// Rows of rois are the number of an image and two corners.
Value* RoiAlign(OneflowArgs& a) {
  const Expr rois = a.in(1);
  const int64_t height = a.Int("pooled_h"), width = a.Int("pooled_w");
  const double scale = a.Number("spatial_scale");
  const int64_t ratio = a.Int("sampling_ratio");
  const bool aligned = a.Bool("aligned");
  const auto columns = [&](int64_t from, int64_t to) {
    return Expr(a, a.Op("slice", {rois, a.b().Ints({from}), a.b().Ints({to}), a.b().Ints({1})}));
  };
  const Expr images = Squeeze(columns(0, 1), {1}).To(DType::kInt64);
  return AlignedRegions(a.in(0), columns(1, 5), images, {height, width, scale, ratio, aligned});
}

absl::StatusOr<Value*> ToRoiAlign(OneflowWriter& w) {
  const std::string& mode = w.String("coordinate_transformation_mode");
  if (w.String("mode") != "avg") return CannotExpress("maxima of regions");
  Value* images = w.Op("unsqueeze", {w.Cast(w.in(2), w.dtype(1)), w.Ints({1})});
  return w.Oneflow("roi_align", {w.in(0), w.Op("concat", {images, w.in(1)}, {{"axis", 1}})},
                   {{"pooled_h", w.Int("output_height")},
                    {"pooled_w", w.Int("output_width")},
                    {"spatial_scale", w.Float("spatial_scale")},
                    {"sampling_ratio", w.Int("sampling_ratio")},
                    {"aligned", mode == "half_pixel"}});
}

// Boxes come by their scores; 1 says that one stays.
Value* FromNms(OneflowArgs& a) {
  const double threshold = a.Number("iou_threshold");
  const int64_t keep = a.Int("keep_n");
  const Expr boxes = a.in(0), count = SizeOf(boxes, 0);
  const Expr scores = -Iota(count).To(DType::kFloat32);
  const Expr most = keep > 0 ? Expr(a, a.b().Ints({keep})) : Reshape(count, {1});
  const Expr chosen = SelectBoxes(
      {Unsqueeze(boxes.To(DType::kFloat32), {0}), Unsqueeze(scores, {0, 1}), most, threshold});
  const Expr places = Gather(chosen, a.b().Int(2), 1);
  const Expr none = Expand({a, a.b().Scalar(DType::kInt32, 0)}, Reshape(count, {1}));
  const Expr ones = Expand({a, a.b().Scalar(DType::kInt32, 1)}, ShapeOf(places));
  return ScatterElements(none, 0, places, ones, "none").To(DType::kInt8);
}

}  // namespace

X2IR_ONEFLOW(roi_align).To("roi_align", ToRoiAlign).From("roi_align", RoiAlign);
X2IR_ONEFLOW(non_max_suppression).From("nms", FromNms);

}  // namespace x2ir
