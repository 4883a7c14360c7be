// TFLite: TFLite_Detection_PostProcess, what a single shot detector ends with: boxes out of
// anchors, the best ones that do not overlap much, with their classes.
#include "x2ir/builder/layers/detection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

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

// Boxes that are left, filled up to the number that is asked for: results are so long.
Values Nms(TfliteArgs& a, const char* op, size_t filled) {
  Values results = AsTf(a, op, a.inputs(), {{"pad_to_max_output_size", 1}});
  const Tensor* most = a.in(2)->fixed_constant();
  for (size_t i = 0; most && most->num_elements() == 1 && i < filled && i < results.size(); ++i) {
    if (!results[i] || most->AsInt(0) < 0) continue;
    results[i] = a.Op("reshape", {results[i], Ints(a, {most->AsInt(0)})}, {{"allowzero", 1}});
  }
  return results;
}

Values Nms4(TfliteArgs& a) { return Nms(a, "NonMaxSuppressionV4", 1); }
Values Nms5(TfliteArgs& a) { return Nms(a, "NonMaxSuppressionV5", 2); }

// Corners of boxes [n, 4] that say their centers, widths and heights.
Expr CornersOf(const Expr& boxes) {
  Builder& b = boxes.builder();
  const auto column = [&](int64_t i) {
    return boxes.Op("slice", {b.Ints({i}), b.Ints({i + 1}), b.Ints({1})});
  };
  const Expr x = column(0), y = column(1), width = column(2) * 0.5, height = column(3) * 0.5;
  return {b, b.Op("concat",
                  {(y - height).value(), (x - width).value(), (y + height).value(),
                   (x + width).value()},
                  {{"axis", 1}})};
}

absl::StatusOr<Value*> ToNonMaxSuppression(TfliteWriter& w) {
  constexpr int64_t kMaxRuns = 128;
  const Shape *of_boxes = w.shape(0), *of_scores = w.shape(1);
  if (!of_boxes || !of_scores || of_boxes->rank() != 3 || of_scores->rank() != 3 ||
      !(*of_scores)[0].is_static() || !(*of_scores)[1].is_static()) {
    return CannotExpress("an unknown number of batches or classes");
  }
  const int64_t batches = (*of_scores)[0].value(), classes = (*of_scores)[1].value();
  if (batches * classes < 1 || batches * classes > kMaxRuns) {
    return CannotExpress(batches * classes, " batches of classes");
  }
  if (w.dtype(0) != DType::kFloat32 || w.dtype(1) != DType::kFloat32) {
    return CannotExpress("boxes of ", Name(w.dtype(0)));
  }
  if (!w.has(2)) return CannotExpress("no boxes to select");
  // A larger number means all boxes.
  const auto known = KnownInts(w.in(2));
  const Dim& count = (*of_boxes)[1];
  Value* most = nullptr;
  Dim rows;
  if (known && known->size() == 1 && count.is_static()) {
    rows = Dim(std::clamp<int64_t>((*known)[0], 0, count.value()));
    most = w.Int32(rows.value());
  } else {
    Value* all = w.Op("shape", {w.in(0)}, {{"start", 1}, {"end", 2}});
    Value* asked = w.Op("reshape", {w.in(2), w.Ints({1})}, {{"allowzero", 0}});
    most = w.Cast(w.Reshape(w.Op("min", {asked, all}), {}), DType::kInt32);
  }
  const auto number = [&](size_t i, float fallback) {
    return w.has(i) ? w.Reshape(w.in(i), {}) : w.Number(DType::kFloat32, fallback);
  };
  Value *overlap = number(3, 0), *least = number(4, std::numeric_limits<float>::lowest());
  const auto at = [&](Value* x, int64_t i) {
    return w.Op("gather", {x, w.b().Int(i)}, {{"axis", 0}});
  };
  std::vector<Value*> all;
  for (int64_t batch = 0; batch < batches; ++batch) {
    Value *boxes = at(w.in(0), batch), *scores = at(w.in(1), batch);
    if (w.Int("center_point_box") != 0) boxes = CornersOf({w.b(), boxes});
    for (int64_t c = 0; c < classes; ++c) {
      const Values found = w.TfliteAll(
          "NON_MAX_SUPPRESSION_V4", {boxes, at(scores, c), most, overlap, least}, {}, {true, true},
          {Type::Tensor(DType::kInt32, Shape({rows})), Type::Tensor(DType::kInt32, Shape())});
      Value* end = w.Cast(w.Op("unsqueeze", {found[1], w.Ints({0})}), DType::kInt64);
      Value* kept = w.Op("slice", {found[0], w.Ints({0}), end, w.Ints({0})});
      Value* places = w.Op("unsqueeze", {w.Cast(kept, DType::kInt64), w.Ints({1})});
      Value* none = w.Op("mul", {places, w.b().Int(0)});
      all.push_back(
          w.Op("concat",
               {w.Op("add", {none, w.b().Int(batch)}), w.Op("add", {none, w.b().Int(c)}), places},
               {{"axis", 1}}));
    }
  }
  return all.size() == 1 ? all[0] : w.Op("concat", std::move(all), {{"axis", 0}});
}

}  // namespace

X2IR_TFLITE(non_max_suppression)
    .To("NON_MAX_SUPPRESSION_V4", ToNonMaxSuppression)
    .From({{"custom::TFLite_Detection_PostProcess", DetectionPostProcess},
           {"NON_MAX_SUPPRESSION_V4", Nms4},
           {"NON_MAX_SUPPRESSION_V5", Nms5}});

}  // namespace x2ir
