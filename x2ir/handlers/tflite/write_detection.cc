// TFLite: boxes that no better one overlaps too much, written: an operator for each batch and
// class.
#include <algorithm>
#include <limits>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

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
  // As many as there are is what a larger number means.
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

X2IR_TFLITE(non_max_suppression).To("NON_MAX_SUPPRESSION_V4", ToNonMaxSuppression);

}  // namespace x2ir
