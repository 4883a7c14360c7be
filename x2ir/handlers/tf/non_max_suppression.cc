// TensorFlow: boxes that no better one overlaps too much.
#include "x2ir/handlers/tf/non_max_suppression.h"

#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// How a version is asked. Operands: boxes [n, 4], scores [n], the most to select, then in turn the
// threshold of overlap (an attribute in version 1), of scores, and sigma.
struct AskedBoxes {
  Expr boxes, scores, most, overlap, least_score;  // all numbers float32 but `most`
};

AskedBoxes Read(TfArgs& a, int version) {
  const auto number = [&](size_t i) { return Expr(a.b(), a.in(i)).To(DType::kFloat32); };
  const auto constant = [&](float value) {
    return Expr(a.b(), a.b().Scalar(DType::kFloat32, value));
  };
  // Without a threshold of scores all numbers are above it, but not minus infinity.
  return {number(0), number(1), Expr(a.b(), a.AsInt64(a.in(2))),
          version == 1 ? constant(a.Float("iou_threshold", 0.5f)) : number(3),
          version >= 3 ? number(4) : constant(std::numeric_limits<float>::lowest())};
}

// The numbers of the boxes selected, best first: int64.
Expr Selected(TfArgs& a, const AskedBoxes& q) {
  const auto vector = [&](const Expr& x) { return ReshapeTo(x, Ints(a, {1})); };
  const Expr rows = SelectBoxes({Unsqueeze(q.boxes, {0}), Unsqueeze(q.scores, {0, 1}),
                                 vector(q.most), vector(q.overlap), vector(q.least_score)});
  return Squeeze(Gather(rows, a.b().Ints({2}), 1), {1});
}

// The area of the overlap over that of both together, of box `i` and every box; 0 where one has no
// area.
Expr Overlaps(const Expr& boxes, const Expr& i) {
  const auto side = [&](int64_t from) {
    Builder& b = boxes.builder();
    const auto column = [&](int64_t k) { return boxes.Op("gather", {b.Int(k)}, {{"axis", 1}}); };
    const Expr p = column(from), q = column(from + 2);
    return std::pair(Min(p, q), Max(p, q));
  };
  const auto [y0, y1] = side(0);
  const auto [x0, x1] = side(1);
  const auto of_i = [&](const Expr& x) { return x.Op("gather", {i.value()}, {{"axis", 0}}); };
  const Expr area = (y1 - y0) * (x1 - x0), area_i = of_i(area);
  const Expr height = Max(Min(y1, of_i(y1)) - Max(y0, of_i(y0)), 0.0);
  const Expr width = Max(Min(x1, of_i(x1)) - Max(x0, of_i(x0)), 0.0);
  const Expr common = height * width;
  const Expr share = common / (area + area_i - common);
  return Where((area > 0.0) & (area_i > 0.0), share, 0.0);
}

// TensorFlow compares overlaps of boxes of float16 in float16.
Expr AsCompared(TfArgs& a, const Expr& overlap) {
  return overlap.To(a.in(1)->dtype()).To(DType::kFloat32);
}

// The same one box a round, where the scores of the others change: sigma makes them less by how
// much they overlap, or, where it is 0, those that overlap too much drop out. Gives the numbers of
// the boxes and their scores.
std::pair<Expr, Expr> SelectedOneByOne(TfArgs& a, const AskedBoxes& q, const Expr& sigma,
                                       const std::function<Expr(const Expr&)>& overlaps) {
  Builder& b = a.b();
  Value* count = a.Op("size", {q.scores.value()});
  const Expr limit = Min(q.most, Expr(b, count));
  constexpr double kOut = -std::numeric_limits<double>::infinity();
  const auto none = [&](DType type) {
    return Expr(b, b.Op("expand", {b.Scalar(type, 0), ReshapeTo(limit, Ints(a, {1}))}));
  };
  const Expr places(b, a.Op("range", {b.Int(0), limit.value(), b.Int(1)}));
  const Expr numbers(b, a.Op("range", {b.Int(0), count, b.Int(1)}));
  const Expr start = Where(q.scores > q.least_score, q.scores, kOut);
  const Step step = [&](const Expr&, const std::vector<Expr>& s) -> Stepped {
    const Expr scores = s[0];
    const Expr best = scores.Op("arg_max", {}, {{"axis", 0}, {"keepdims", 0}});
    const Expr score = scores.Op("gather", {best.value()}, {{"axis", 0}});
    const Expr found = score > kOut;
    const Expr overlap = overlaps(best);
    const Expr soft = sigma > 0.0;
    const Expr divisor = Where(soft, sigma, 1.0);
    const Expr decayed = scores * Exp(overlap * overlap * (-0.5 / divisor));
    const Expr hard = Where(overlap > q.overlap, kOut, scores);
    Expr left = Where(soft, decayed, hard);
    left = Where(left > q.least_score, left, kOut);
    left = Where(numbers == best, kOut, left);
    const Expr place = (places == s[1]) & found;
    return {
        {left, s[1] + found.To(DType::kInt64), Where(place, best, s[2]), Where(place, score, s[3])},
        left > kOut};
  };
  const std::vector<Expr> state =
      Iterate(limit, {start, Expr(b, b.Int(0)), none(DType::kInt64), none(DType::kFloat32)}, step);
  const auto first = [&](const Expr& x) {
    return Expr(
        b, a.Op("slice", {x.value(), b.Ints({0}), ReshapeTo(state[1], Ints(a, {1})), b.Ints({0})}));
  };
  return {first(state[2]), first(state[3])};
}

// Zeros up to the most that could be selected.
Value* Padded(TfArgs& a, Value* x, const Expr& most) {
  Value* lack = (most - Expr(a.b(), a.Op("size", {x}))).value();
  Value* pads =
      a.Op("concat", {a.b().Ints({0}), ReshapeTo({a, lack}, Ints(a, {1}))}, {{"axis", 0}});
  return a.Op("pad", {x, pads}, {{"mode", "constant"}});
}

template <int kVersion>
absl::StatusOr<Values> NonMaxSuppression(TfArgs& a) {
  const AskedBoxes q = Read(a, kVersion);
  const bool narrow = a.in(1)->dtype() != DType::kFloat32;
  const auto overlaps = [&](const Expr& best) { return AsCompared(a, Overlaps(q.boxes, best)); };
  const bool pads = kVersion >= 4 && a.Bool("pad_to_max_output_size", false);
  std::optional<Expr> numbers, scores;
  if (kVersion == 5) {
    const Expr sigma = Expr(a.b(), a.in(5)).To(DType::kFloat32);
    const Tensor* known = a.in(5)->fixed_constant();
    const bool hard = known && known->num_elements() == 1 && known->AsDouble(0) == 0;
    a.Require(hard || !narrow, "scores of float16 that overlaps change");
    if (hard && !narrow) {
      numbers = Selected(a, q);
      scores = q.scores.Op("gather", {numbers->value()}, {{"axis", 0}});
    } else {
      const auto overlaps = [&](const Expr& best) { return Overlaps(q.boxes, best); };
      std::tie(numbers, scores) = SelectedOneByOne(a, q, sigma, overlaps);
    }
  } else if (narrow) {
    numbers = SelectedOneByOne(a, q, Expr(a.b(), a.b().Scalar(DType::kFloat32, 0)), overlaps).first;
  } else {
    numbers = Selected(a, q);
  }
  Value* count = a.Cast(a.Op("size", {numbers->value()}), DType::kInt32);
  Value* selected = numbers->To(DType::kInt32).value();
  if (pads) selected = Padded(a, selected, q.most);
  if (kVersion < 4) return Values{selected};
  if (kVersion == 4) return Values{selected, count};
  Value* best = a.Cast(scores->value(), a.in(1)->dtype());
  if (pads) best = Padded(a, best, q.most);
  return Values{selected, best, count};
}

// Overlaps are given: [n, n].
absl::StatusOr<Values> NonMaxSuppressionWithOverlaps(TfArgs& a) {
  const AskedBoxes q = Read(a, 3);
  const Expr sigma(a.b(), a.b().Scalar(DType::kFloat32, 0));
  const auto overlaps = [&](const Expr& best) { return Gather(q.boxes, best, 0); };
  const auto [numbers, scores] = SelectedOneByOne(a, q, sigma, overlaps);
  return Values{numbers.To(DType::kInt32).value()};
}

absl::StatusOr<Value*> WriteNonMaxSuppression(TfWriter& w) {
  return ToTfNonMaxSuppression(w, w.in(0),
                               w.has(3) ? w.Reshape(w.in(3), {}) : w.Number(DType::kFloat32, 0));
}

}  // namespace

// A NonMaxSuppressionV3 for each class of each image. Where there is no threshold of scores, all
// finite ones are above the least number.
absl::StatusOr<Value*> ToTfNonMaxSuppression(TfWriter& w, Value* given, Value* overlap) {
  constexpr int64_t kMaxNodes = 1024;
  const auto dims = w.shape(1) ? w.shape(1)->Static() : std::nullopt;
  if (!dims || dims->size() != 3) return CannotExpress("classes or images of unknown number");
  const int64_t images = (*dims)[0], classes = (*dims)[1];
  if (images < 1 || classes < 1 || images > kMaxNodes / classes) {
    return CannotExpress(images, " images and ", classes, " classes");
  }
  Expr boxes(w.b(), given);
  if (w.Int("center_point_box") != 0) {
    const auto columns = [&](int64_t from) {
      return Gather(boxes, w.b().Ints({from + 1, from}), 2);
    };
    const Expr middle = columns(0), half = columns(2) / 2.0;
    boxes = Concat(w.b(), {(middle - half).value(), (middle + half).value()}, 2);
  }
  Value* most = w.has(2) ? w.Reshape(w.in(2), {}) : w.b().Int(0);
  most = w.Cast(w.Op("min", {w.Op("max", {most, w.b().Int(0)}),
                             w.b().Int(std::numeric_limits<int32_t>::max())}),
                DType::kInt32);
  Value* least = w.has(4) ? w.Reshape(w.in(4), {})
                          : w.Number(DType::kFloat32, std::numeric_limits<float>::lowest());
  std::vector<Value*> rows;
  for (int64_t image = 0; image < images; ++image) {
    const Expr own = Gather(boxes, w.b().Int(image), 0);
    const Expr all(w.b(), w.Op("gather", {w.in(1), w.b().Int(image)}, {{"axis", 0}}));
    for (int64_t each = 0; each < classes; ++each) {
      Value* scores = Gather(all, w.b().Int(each), 0).value();
      Value* selected = w.Tf("NonMaxSuppressionV3", {own.value(), scores, most, overlap, least}, {},
                             Type::Tensor(DType::kInt32, Shape({Dim()})));
      const Expr numbers = Unsqueeze(Expr(w.b(), w.Cast(selected, DType::kInt64)), {1});
      Value* pads = w.Ints({0, 2, 0, 0});
      Value* row = w.Op("pad", {numbers.value(), pads, w.b().Int(0)}, {{"mode", "constant"}});
      Value* place = w.b().Constant(Tensor::Of<int64_t>({1, 3}, {image, each, 0}));
      rows.push_back(image == 0 && each == 0 ? row : w.Op("add", {row, place}));
    }
  }
  return rows.size() == 1 ? rows[0] : w.Op("concat", std::move(rows), {{"axis", 0}});
}

X2IR_TF(non_max_suppression)
    .To("NonMaxSuppressionV3", WriteNonMaxSuppression)
    .From({{"NonMaxSuppression", NonMaxSuppression<1>},
           {"NonMaxSuppressionV2", NonMaxSuppression<2>},
           {"NonMaxSuppressionV3", NonMaxSuppression<3>},
           {"NonMaxSuppressionV4", NonMaxSuppression<4>},
           {"NonMaxSuppressionV5", NonMaxSuppression<5>},
           {"NonMaxSuppressionWithOverlaps", NonMaxSuppressionWithOverlaps}});

}  // namespace x2ir
