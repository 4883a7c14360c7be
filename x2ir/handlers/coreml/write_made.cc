// Written: what MIL has no operation for, of others.
#include <algorithm>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> ToHardmax(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const Dim& size = (*w.shape())[axis];
  if (!size.is_static()) return CannotExpress("an axis of unknown size");
  const Expr first =
      w.X().Op("arg_max", {}, {{"axis", axis}, {"keepdims", 0}, {"select_last_index", 0}});
  return w.Op("one_hot", {first, w.b().Int(size.value()), NumbersAs(w.b(), w.dtype(), {2}, {0, 1})},
              {{"axis", axis}});
}

Value* ToSelu(MilWriter& w) {
  const Expr x = w.X();
  return Scaled(x.Op("elu", {}, {{"alpha", w.Float("alpha")}}), w.Float("gamma"));
}

// log(|x| + sqrt(x^2 + 1)), of which no part is too large; near 0 as atanh(x / sqrt(x^2 + 1)).
Value* ToAsinh(MilWriter& w) {
  const Expr x = w.X(), size = Abs(x), near = Min(size, size.Number(1));
  const Expr far = Max(size, size.Number(1)), inverse = 1.0 / far;
  const Expr small = (near / Sqrt(Square(near) + 1.0)).Op("atanh");
  const Expr large = Log(far) + Log(Sqrt(Square(inverse) + 1.0) + 1.0);
  return Where(size < size.Number(1), small, large) * x.Op("sign");
}

Value* ToAcosh(MilWriter& w) {
  const Expr x = w.X(), inverse = 1.0 / x;
  return Log(x) + Log(Sqrt((1.0 - inverse) * (inverse + 1.0)) + 1.0);
}

absl::StatusOr<Value*> ToLpNormalization(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const int64_t p = w.Int("p");
  if (p != 1 && p != 2) return CannotExpress("norm ", p);
  const Expr x = w.X(), norm = Reduce(x, p == 1 ? "reduce_l1" : "reduce_l2", {axis}, true);
  const Expr none = norm.Op("equal", {norm.Number(0)});
  return Where(none, 0, x / Where(none, 1, norm)).value();
}

absl::StatusOr<Value*> ToEyeLike(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, w.Sizes(w.in(0)));
  const auto numbers = [&](int64_t count, int64_t from) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(from + i);
    return Ints(w.b(), all);
  };
  const Expr rows = Unsqueeze(numbers(dims[0], w.Int("k")), {1}),
             columns = Unsqueeze(numbers(dims[1], 0), {0});
  return w.Cast(rows.Op("equal", {columns}), w.out_type().dtype());
}

template <typename... Attrs>
Value* DrawnLike(MilWriter& w, Symbol op, const Attrs&... names) {
  AttributeMap attrs = {{"dtype", Name(w.out_type().dtype())}};
  for (const Symbol name : {Symbol(names)...}) {
    if (const Attribute* attr = w.attrs().Find(name)) attrs.Set(name, *attr);
  }
  return w.Op(op, {ShapeOf(w.X())}, std::move(attrs));
}
Value* ToNormalLike(MilWriter& w) { return DrawnLike(w, "random_normal", "mean", "scale", "seed"); }
Value* ToUniformLike(MilWriter& w) { return DrawnLike(w, "random_uniform", "low", "high", "seed"); }

// As many numbers from 0 to 1 as chances: which of them are below.
Value* ToBernoulli(MilWriter& w) {
  const Expr x = w.X();
  AttributeMap attrs = {{"low", 0.0f}, {"high", 1.0f}, {"dtype", Name(x.dtype())}};
  if (const Attribute* seed = w.attrs().Find("seed")) attrs.Set("seed", *seed);
  const Expr drawn = {w.b(), w.Op("random_uniform", {ShapeOf(x)}, std::move(attrs))};
  return w.Cast(drawn.Op("less", {x}), w.out_type().dtype());
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

X2IR_MIL(acosh).To("log", ToAcosh);
X2IR_MIL(asinh).To("log", ToAsinh);
X2IR_MIL(bernoulli).To("random_uniform", ToBernoulli);
X2IR_MIL(eye_like).To("equal", ToEyeLike);
X2IR_MIL(hardmax).To("one_hot", ToHardmax);
X2IR_MIL(lp_normalization).To("real_div", ToLpNormalization);
X2IR_MIL(non_max_suppression).To("non_maximum_suppression", ToBoxes);
X2IR_MIL(random_normal_like).To("random_normal", ToNormalLike);
X2IR_MIL(random_uniform_like).To("random_uniform", ToUniformLike);
X2IR_MIL(selu).To("elu", ToSelu);

}  // namespace x2ir
