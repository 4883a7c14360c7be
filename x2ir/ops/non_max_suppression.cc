// The op non_max_suppression: of boxes that overlap, keeps those with the best scores.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

struct Box {
  float y1, x1, y2, x2;  // y1 <= y2, x1 <= x2
  float area() const { return (y2 - y1) * (x2 - x1); }
};

Box ReadBox(const float* b, bool center) {
  if (center) {  // x, y, width, height
    return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  }
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

// Area of the intersection over that of the union; 0 where a box has no area.
float Overlap(const Box& a, const Box& b) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0) || !(a.area() > 0) || !(b.area() > 0)) return 0;
  const float common = height * width;
  return common / (a.area() + b.area() - common);
}

absl::Status InferNms(InferContext& ctx) {
  for (size_t i : {0, 1}) {
    if (ctx.rank(i) >= 0 && ctx.rank(i) != 3) {
      return Invalid(OperandName(ctx, i), ": expected rank 3, got ", ctx.rank(i));
    }
  }
  return ctx.Return(DType::kInt64, Shape{Dim(), 3});
}

// The number that an optional operand holds.
absl::StatusOr<double> NumberOr(const EvalContext& ctx, size_t i, double fallback) {
  if (!ctx.has(i)) return fallback;
  const Tensor& t = ctx.input(i);
  if (t.num_elements() != 1 || t.is_string())
    return Invalid("operand ", i, ": expected one number");
  return t.AsDouble(0);
}

absl::Status EvalNms(EvalContext& ctx) {
  const Tensor &boxes = ctx.input(0), &scores = ctx.input(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 ||
      boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(2) ||
      boxes.dtype() != DType::kFloat32 || scores.dtype() != DType::kFloat32) {
    return Invalid("expected boxes float32[batch,n,4] and scores float32[batch,classes,n], got ",
                   boxes.type().ToString(), " and ", scores.type().ToString());
  }
  X2IR_ASSIGN_OR_RETURN(const double most, NumberOr(ctx, 2, 0));
  X2IR_ASSIGN_OR_RETURN(const double iou_threshold, NumberOr(ctx, 3, 0));
  X2IR_ASSIGN_OR_RETURN(const double score_threshold, NumberOr(ctx, 4, 0));
  if (!(iou_threshold >= 0 && iou_threshold <= 1)) {
    return Invalid("iou_threshold: expected 0 to 1, got ", iou_threshold);
  }
  const bool center = ctx.attrs().Int("center_point_box") != 0;
  const int64_t n = boxes.dim(1), classes = scores.dim(1);
  const auto box_numbers = boxes.span<float>(), score_numbers = scores.span<float>();
  std::vector<int64_t> selected;
  std::vector<int64_t> order;
  const int64_t groups = scores.num_elements() > 0 ? scores.dim(0) * classes : 0;
  for (int64_t g = 0; g < groups; ++g) {
    const float* score = score_numbers.data() + g * n;
    const float* box = box_numbers.data() + g / classes * n * 4;
    order.clear();
    for (int64_t i = 0; i < n; ++i) {
      if (ctx.has(4) ? score[i] > score_threshold : !std::isnan(score[i])) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return score[a] > score[b]; });
    std::vector<Box> kept;
    for (int64_t i : order) {
      if (!(static_cast<double>(kept.size()) < most)) break;
      const Box candidate = ReadBox(box + i * 4, center);
      const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Box& k) {
        return Overlap(k, candidate) > iou_threshold;
      });
      if (covered) continue;
      kept.push_back(candidate);
      selected.insert(selected.end(), {g / classes, g % classes, i});
    }
  }
  return ctx.Return(Tensor::Of<int64_t>({static_cast<int64_t>(selected.size()) / 3, 3}, selected));
}

X2IR_OP(non_max_suppression)
    .Signature(
        "boxes, scores, max_output_boxes_per_class?, iou_threshold?, score_threshold? -> "
        "selected_indices")
    .Attrs("center_point_box = 0")
    .Functions(InferNms, EvalNms)
    .Opaque()
    .Heavy()
    .BoundedResults()
    .Doc(
        "Per batch entry and class, the boxes with the best scores above score_threshold, at most "
        "max_output_boxes_per_class (left out: none), none of which overlaps a better one by "
        "more than iou_threshold (left out: 0). Rows of batch, class, box.")
    .NeedsFloat32(float32_for::kPlaces);

}  // namespace
}  // namespace x2ir
