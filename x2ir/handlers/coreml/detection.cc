#include "x2ir/handlers/coreml/detection.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Numbers are of rank 1. Boxes of different classes leave each other alone with `per_class`.
struct BoxRules {
  Expr overlap = nullptr, least = nullptr;  // no `least`: all scores will do
  Size most;
  bool per_class = false;
};

// The numbers of boxes [n, 4] that are left by their scores [n, classes], the best first.
Expr Survivors(NodeReader& a, const Expr& boxes, const Expr& scores, const BoxRules& rules) {
  const double none = -std::numeric_limits<double>::infinity();
  const Expr best = Reduce(scores.To(DType::kFloat32), "reduce_max", {1});
  const Expr chances = rules.least.value() ? Where(best >= rules.least, best, none) : best;
  // [1, 1, boxes], or [1, classes, boxes] with each box in the row of its class.
  Expr table = Unsqueeze(chances, {0, 1});
  if (rules.per_class) {
    const Expr own = scores.Op("arg_max", {}, {{"axis", 1}, {"keepdims", 1}});
    const Expr classes = Unsqueeze(Iota(SizeOf(scores, 1)), {0});
    table = Unsqueeze(Transpose(Where(own == classes, Unsqueeze(chances, {1}), none), {1, 0}), {0});
  }
  const Expr lowest = NumbersAs(a.b(), DType::kFloat32, {1},
                                {static_cast<double>(std::numeric_limits<float>::lowest())});
  const std::optional<Tensor> known = KnownTensor(*rules.overlap.value());
  const Expr bound =
      known ? NumbersAs(a.b(), DType::kFloat32, {1}, {std::clamp(known->AsDouble(0), 0.0, 1.0)})
            : Clip(rules.overlap.To(DType::kFloat32), lowest.Number(0), lowest.Number(1));
  const Expr found = SelectBoxes({Unsqueeze(boxes.To(DType::kFloat32), {0}), table,
                                  Vector(a.b(), rules.most), bound, lowest, /*by_middle=*/true});
  const Expr chosen = ElementAt(found, 1, 2);
  if (!rules.per_class) return chosen;
  const Expr own = Gather(chances, chosen, 0);
  return Gather(chosen, TopOf(own, Vector(a.b(), SizeAt(found, 0)), 0).indices, 0);
}

// x padded with rows of `number`; the result has as many rows as `rows` says.
Expr Rows(const Expr& x, int64_t rows, double number) {
  Builder& b = x.builder();
  const auto rank = static_cast<size_t>(x.rank());
  std::vector<int64_t> pads(2 * rank, 0);
  pads[rank] = rows;
  return Slice(x.Op("pad", {b.Ints(pads), x.Number(number)}), 0, Size(0), Size(rows));
}

// Of [batch, n, 4] and [batch, n, classes]: boxes, scores and numbers of those that are left, as
// many rows as `most` says (then zeros and -1), and how many they are. One is always left.
Values PaddedBoxes(NodeReader& a, const Expr& boxes, const Expr& scores, const BoxRules& rules) {
  const Dim batch = DimAt(boxes, 0);
  const int64_t most = rules.most.number.value_or(0);
  a.Require(boxes.rank() == 3 && scores.rank() == 3, "boxes of other axes");
  a.Require(batch.is_static() && batch.value() > 0 && batch.value() <= 256,
            "boxes of an unknown number of images");
  a.Require(most > 0, "a computed number of boxes");
  std::vector<Value*> all[4];
  for (int64_t i = 0; i < batch.value(); ++i) {
    const auto own = [&](const Expr& x) { return ElementAt(x, 0, i); };
    const Expr here = own(boxes), points = own(scores);
    const Expr found = Survivors(a, here, points, rules);
    const Expr best = Reduce(points, "reduce_max", {1}).Op("arg_max", {}, {{"keepdims", 1}});
    const Expr count = Clip(SizeOf(found, 0), found.Number(1), found.Number(most));
    const Expr left = Slice(Concat(a.b(), {found, best}, 0), 0, Size(0), Size(Reshape(count, {1})));
    all[0].push_back(Rows(Gather(here, left, 0), most, 0));
    all[1].push_back(Rows(Gather(points, left, 0), most, 0));
    all[2].push_back(Rows(left, most, -1));
    all[3].push_back(count);
  }
  Values results;
  for (const auto& parts : all) results.push_back(Stack(a.b(), parts, 0));
  return results;
}

// Before iOS17 boxes are rows, from iOS17 on columns.
Values MilBoxes(MilArgs& a) {
  const bool columns = !a.HasAttr("score_threshold");
  const auto turned = [&](const Expr& x) { return columns ? Transpose(x, {0, 2, 1}) : x; };
  const Expr boxes = turned(a.X("boxes")), scores = turned(a.X("scores"));
  BoxRules rules;
  rules.overlap = NumbersAs(a.b(), DType::kFloat32, {1}, {a.Number("iou_threshold")});
  if (!columns) {
    rules.least = NumbersAs(a.b(), DType::kFloat32, {1}, {a.Number("score_threshold")});
  }
  rules.most = a.Int("max_boxes");
  rules.per_class = a.Bool("per_class_suppression");
  Values made = PaddedBoxes(a, boxes, scores, rules);
  for (size_t i = 0; i < 2; ++i) made[i] = turned({a, made[i]});
  for (size_t i = 2; i < 4; ++i) made[i] = a.Cast(made[i], DType::kInt32);
  if (columns) made.pop_back();
  return made;
}

absl::StatusOr<Values> NnBoxes(NnArgs& a) {
  const double overlap = a.Number("iouThreshold"), least = a.Number("scoreThreshold");
  int64_t most = a.Int("maxBoxes");
  const bool per_class = a.Flag("perClassSuppression");
  if (a.count() > 4) {
    X2IR_ASSIGN_OR_RETURN(const auto given, a.Known(4, "number of boxes"));
    a.Require(given.size() == 1, "several numbers of boxes");
    most = given[0];
  }
  const auto number = [&](size_t i, double own) {
    return i < a.count() ? Reshape(a.X(i), {1}) : NumbersAs(a.b(), DType::kFloat32, {1}, {own});
  };
  Values made =
      PaddedBoxes(a, a.X(0), a.X(1), {number(2, overlap), number(3, least), Size(most), per_class});
  for (size_t i = 2; i < 4; ++i) made[i] = AsNumber({a, made[i]});
  return made;
}

// Each class of each image is a batch of its own, as iOS17 has them: corners or centres in columns.
absl::StatusOr<Value*> ToBoxes(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, w.Sizes(w.in(1)));
  if (sizes.size() != 3) return CannotExpress("scores of other axes");
  const int64_t batch = sizes[0], classes = sizes[1], count = sizes[2], groups = batch * classes;
  const auto overlap = w.has(3) ? MilWriter::NumberOf(w.in(3)) : std::optional<double>(0);
  const auto wanted = w.has(2) ? MilWriter::NumberOf(w.in(2)) : std::optional<double>(0);
  if (!overlap) return CannotExpress("a computed threshold of overlaps");
  if ((wanted && *wanted < 1) || groups < 1 || count < 1) return CannotExpress("no boxes at all");
  const double all = static_cast<double>(count);
  const auto most = static_cast<int64_t>(wanted ? std::min(*wanted, all) : all);
  const Expr scores = w.X(1);
  Expr boxes = w.X(0);  // [batch, count, 4]
  if (w.Int("center_point_box") == 0) {
    // Two corners, of which either may be the lower one: y, x and y, x.
    const Expr one = Slice(boxes, 2, Size(0), Size(2)), other = Slice(boxes, 2, Size(2), Size(4));
    const Expr middle = (one + other) * 0.5, size = Abs(other - one);
    const auto column = [](const Expr& x, int64_t i) { return Slice(x, 2, Size(i), Size(i + 1)); };
    boxes =
        Concat(w.b(), {column(middle, 1), column(middle, 0), column(size, 1), column(size, 0)}, 2);
  }
  boxes = Transpose(boxes, {0, 2, 1});
  if (classes > 1) {
    boxes = Reshape(Expand(Unsqueeze(boxes, {1}), w.Ints({batch, classes, 4, count})),
                    {groups, 4, count});
  }
  const DType t = w.dtype();
  const auto type = [&](DType of, const std::vector<int64_t>& dims) {
    return Type::Tensor(of, Shape::FromInts(dims));
  };
  const Values made = w.MilAll(
      "non_maximum_suppression", {boxes, Reshape(scores, {groups, 1, count})},
      {{"iou_threshold", static_cast<float>(*overlap)}, {"max_boxes", most}}, {true, true, true},
      {type(t, {groups, 4, most}), type(t, {groups, 1, most}),
       type(DType::kInt32, {groups, most})});
  const Expr places = Expr(w.b(), made[2]).To(DType::kInt64);
  Expr kept = places.Op("greater_or_equal", {places.Number(0)});
  if (w.has(4)) {
    const Expr points = Reshape({w.b(), made[1]}, {groups, most});
    kept = kept & points.Op("greater", {Reshape({w.b(), w.Cast(w.in(4), t)}, {})});
  }
  if (!wanted) {
    const Expr at = Iota(Int(w.b(), most));
    kept = kept & at.Op("less", {Reshape({w.b(), w.Cast(w.in(2), DType::kInt64)}, {})});
  }
  // Rows of group and place.
  const Expr chosen = Transpose(kept.Op("non_zero"), {1, 0});
  const Expr group = Slice(chosen, 1, Size(0), Size(1)).To(DType::kInt64);
  const Expr box = Unsqueeze(places.Op("gather_nd", {chosen}), {1});
  const Expr image = group.Op("div", {group.Number(static_cast<double>(classes))});
  const Expr of_class = group - image * image.Number(static_cast<double>(classes));
  return Concat(w.b(), {image, of_class, box}, 1).value();
}

}  // namespace

absl::StatusOr<Values> BestBoxes(NnArgs& a) {
  const std::vector<std::string> inputs = a.StringList("inputs#"),
                                 outputs = a.StringList("outputs#");
  const double overlap = a.Number("iouThreshold"), least = a.Number("confidenceThreshold");
  const bool per_class = a.Flag("pickTop.perClass");
  const int64_t rows = a.Int("rows#", -1);
  a.Given("pickTop");
  for (const char* name : {"stringClassLabels.vector", "int64ClassLabels.vector"}) a.Ignore(name);
  // The operand that a field names.
  const auto named = [&](Symbol field) -> Expr {
    const std::string name = a.String(field, "");
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!name.empty() && inputs[i] == name) return a.X(i).To(DType::kFloat32);
    }
    return nullptr;
  };
  const Expr confidences = named("confidenceInputFeatureName"),
             coordinates = named("coordinatesInputFeatureName"),
             given_overlap = named("iouThresholdInputFeatureName"),
             given_least = named("confidenceThresholdInputFeatureName");
  const std::string of_confidences = a.String("confidenceOutputFeatureName", ""),
                    of_coordinates = a.String("coordinatesOutputFeatureName", "");
  if (!confidences.value() || !coordinates.value()) return Invalid("boxes without their inputs");
  a.Require(confidences.rank() == 2 && coordinates.rank() == 2, "boxes of other axes");
  const auto number = [&](const Expr& given, double own) {
    return given.value() ? Reshape(given, {1}) : NumbersAs(a, DType::kFloat32, {1}, {own});
  };
  const Expr chosen = Survivors(a, coordinates, confidences,
                                {number(given_overlap, overlap), number(given_least, least),
                                 SizeAt(confidences, 0), per_class});
  Values results;
  for (const std::string& name : outputs) {
    const bool first = name == of_confidences;
    if (!first && name != of_coordinates) return Invalid("nothing gives the output '", name, "'");
    const Expr y = Gather(first ? confidences : coordinates, chosen, 0);
    // As many rows as the description says: others are zeros.
    results.push_back(rows >= 0 ? Rows(y, rows, 0) : y);
  }
  return results;
}

X2IR_MIL(non_max_suppression)
    .To("non_maximum_suppression", ToBoxes)
    .From("non_maximum_suppression", MilBoxes);
X2IR_NN(non_max_suppression).From("NonMaximumSuppression", NnBoxes);

}  // namespace x2ir
