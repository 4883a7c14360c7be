// TFLite: TFLite_Detection_PostProcess, what a single shot detector ends with: boxes out of
// anchors, the best ones that do not overlap much, with their classes.
#include "x2ir/builder/layers/detection.h"

#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

// [y, x, height, width] from anchors of the same kind, as corners: [count, 4].
Expr DecodedBoxes(TfliteArgs& a, const Expr& encoded, const Expr& anchors) {
  const auto column = [&](const Expr& x, int64_t i) {
    return x.Op("slice", {Ints(a, {i}), Ints(a, {i + 1}), Ints(a, {1})});
  };
  const auto scale = [&](const char* name) {
    const Attribute* attr = a.attrs().Find(name);
    a.Ignore(name);
    if (!attr) return 1.0;
    const auto* whole = attr->get<int64_t>();
    return whole ? static_cast<double>(*whole) : a.attrs().Float(name);
  };
  const Expr height = column(anchors, 2), width = column(anchors, 3);
  const Expr y = column(encoded, 0) / scale("y_scale") * height + column(anchors, 0);
  const Expr x = column(encoded, 1) / scale("x_scale") * width + column(anchors, 1);
  const Expr h = Exp(column(encoded, 2) / scale("h_scale")) * height * 0.5;
  const Expr w = Exp(column(encoded, 3) / scale("w_scale")) * width * 0.5;
  return Concat(a, {y - h, x - w, y + h, x + w}, 1);
}

// Results: boxes [1, n, 4], classes [1, n], scores [1, n], how many there are [1]; the rest is
// zeros.
absl::StatusOr<Values> DetectionPostProcess(TfliteArgs& a) {
  const int64_t most = a.Int("max_detections", 0);
  const int64_t most_classes = a.Int("max_classes_per_detection", 1);
  const int64_t of_class = a.Int("detections_per_class", 100);
  const int64_t classes = a.Int("num_classes", 0);
  const bool regular = a.Bool("use_regular_nms", false);
  const auto threshold = [&](const char* name) {
    a.Ignore(name);
    return static_cast<float>(a.attrs().Float(name, 0.0));
  };
  const float score_threshold = threshold("nms_score_threshold");
  const float overlap = threshold("nms_iou_threshold");
  a.Ignore("_output_quantized");
  a.Ignore("_output_types");
  a.Ignore("_support_output_type_float_in_quantized_op");
  const Shape* shape = a.shape(1);
  if (!shape || shape->rank() != 3 || !(*shape)[2].is_static()) {
    return Unimplemented("the number of classes is not known");
  }
  const int64_t background = (*shape)[2].value() - classes;
  if (most < 1 || most_classes < 1 || classes < 1 || background < 0 || most > (1 << 20)) {
    return Invalid(most, " detections of ", classes, " classes");
  }
  const Expr boxes = DecodedBoxes(a, Squeeze(a.in(0), {0}), a.in(2));
  const Expr scores = Squeeze(a.in(1), {0})
                          .Op("slice", {Ints(a, {background}), Ints(a, {INT64_MAX}), Ints(a, {1})});
  // What has the threshold itself counts.
  const float below = std::nextafter(score_threshold, -std::numeric_limits<float>::infinity());
  const auto selected = [&](const Expr& of, int64_t count) {
    return SelectBoxes({Unsqueeze(boxes, {0}), of, Ints(a, {count}), overlap, below});
  };
  // n rows, zeros where there are fewer.
  const auto filled = [&](const Expr& rows, int64_t n, std::vector<int64_t> dims) {
    dims.insert(dims.begin(), n);
    const Expr all = Concat(a, {rows, Zeros(a, DType::kFloat32, dims)}, 0);
    return Unsqueeze(all.Op("slice", {Ints(a, {0}), Ints(a, {n}), Ints(a, {0})}), {0});
  };
  if (!regular) {
    // Boxes by their best class, and the best classes of each.
    const Expr best = Reduce(scores, "reduce_max", {1});
    const Expr rows = Gather(selected(Unsqueeze(best, {0, 1}), most), a.b().Int(2), 1);
    const int64_t each = std::min(most_classes, classes);
    const Sorted top = TopOf(scores, Ints(a, {each}), 1);
    const Expr kept = Gather(boxes, rows, 0);
    const Expr repeated =
        Reshape(Concat(a, std::vector<Value*>(static_cast<size_t>(each), kept), 1), {-1, 4});
    const Expr values = Flat(Gather(top.values, rows, 0));
    const Expr names = Flat(Gather(top.indices, rows, 0)).To(DType::kFloat32);
    const int64_t n = most * most_classes;
    return Values{filled(repeated, n, {4}), filled(names, n, {}), filled(values, n, {}),
                  ShapeOf(values).To(DType::kFloat32)};
  }
  // Class by class, then the best of all.
  const Expr by_class = Transpose(scores, {1, 0});
  const Expr picked = selected(Unsqueeze(by_class, {0}), of_class);
  const Expr class_of = Gather(picked, a.b().Int(1), 1), row_of = Gather(picked, a.b().Int(2), 1);
  const Expr values = a.Op(
      "gather_nd", {by_class, Concat(a, {Unsqueeze(class_of, {1}), Unsqueeze(row_of, {1})}, 1)});
  const Expr count = Min(ShapeOf(values), Ints(a, {most}));
  const auto [best, order] = TopOf(values, count, 0);
  return Values{filled(Gather(boxes, Gather(row_of, order, 0), 0), most, {4}),
                filled(Gather(class_of, order, 0).To(DType::kFloat32), most, {}),
                filled(best, most, {}), count.To(DType::kFloat32)};
}

}  // namespace

X2IR_TFLITE(non_max_suppression).From("custom::TFLite_Detection_PostProcess", DetectionPostProcess);

}  // namespace x2ir
