// Rules of simplify for ops that leave numbers as they are because of what they are given (see
// simplify.cc).
// 19. A reduction over axes of size 1, or over none, is its operand, or abs of it (l1 and l2 of
//     floats), squeezed where the axes go. Not those that compute something of one element too.
// 20. A pool whose window is one element is its operand: kernels and strides of 1 without padding,
//     and global pools over axes of size 1.
// 21. `resize` to the size that there is, where every result is then the element of its own place.
// 22. `gather` of all indices in order; `depth_to_space` and `space_to_depth` with blocks of 1.
// 23. `clip` of `clip`, `relu` counting as one from 0, is one; bounds that every number of the type
//     keeps go, `max` and `min` with such a bound too.
// 24. `floor`, `ceil` and `round` of whole numbers, `abs` of what is not negative, `abs` of `neg`,
//     and `max`, `min`, `and`, `or`, `where` of a value and itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// --- 17 -------------------------------------------------------------------------------------

// The axes that a reduction reduces; nullopt where they are not known, or not all of size 1.
std::optional<std::vector<int64_t>> AxesOfSizeOne(Rewriter& r) {
  const Shape* shape = r.in(0)->shape();
  if (!shape) return std::nullopt;
  std::vector<int64_t> axes;
  if (r.in(1)) {
    const auto known = KnownInts(r.in(1));
    if (!known) return std::nullopt;
    const auto normal = NormalizeAxes(*known, shape->rank());
    if (!normal.ok()) return std::nullopt;
    axes = *normal;
  }
  if (axes.empty() && r.attrs().Int("noop_with_empty_axes") == 0) {
    for (int64_t i = 0; i < shape->rank(); ++i) axes.push_back(i);
  }
  const auto is_one = [&](int64_t axis) { return (*shape)[axis] == Dim(1); };
  if (!std::all_of(axes.begin(), axes.end(), is_one)) return std::nullopt;
  return axes;
}

bool ReplaceReduction(Rewriter& r, std::string_view of_one) {
  const auto axes = AxesOfSizeOne(r);
  if (!axes) return false;
  Value* x = r.in(0);
  if (!of_one.empty()) x = r.b().Op(of_one, {x});
  if (r.attrs().Int("keepdims") == 0 && !axes->empty()) {
    x = r.b().Op("squeeze", {x, r.b().Ints(*axes, "axes")});
  }
  return r.Replace(x);
}

absl::StatusOr<bool> RemoveReduction(Rewriter& r) { return ReplaceReduction(r, ""); }
X2IR_RULE(simplify, reduce_sum, RemoveReduction);
X2IR_RULE(simplify, reduce_mean, RemoveReduction);
X2IR_RULE(simplify, reduce_max, RemoveReduction);
X2IR_RULE(simplify, reduce_min, RemoveReduction);
X2IR_RULE(simplify, reduce_prod, RemoveReduction);

absl::StatusOr<bool> NormAsAbs(Rewriter& r) {
  const DType t = r.in(0)->dtype();
  if (!IsFloating(t) || BitWidth(t) < 16) return false;
  // The square of a float64 may be too large, or too small, for one.
  if (r.node().op() == "reduce_l2" && t == DType::kFloat64) return false;
  return ReplaceReduction(r, "abs");
}
X2IR_RULE(simplify, reduce_l1, NormAsAbs);
X2IR_RULE(simplify, reduce_l2, NormAsAbs);

// --- 18 -------------------------------------------------------------------------------------

bool AreAll(const AttributeMap& attrs, Symbol name, int64_t number) {
  const std::vector<int64_t> numbers = attrs.Ints(name, {});
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t v) { return v == number; });
}

absl::StatusOr<bool> RemovePool(Rewriter& r) {
  if (r.out(1)) return false;
  const AttributeMap& attrs = r.attrs();
  if (!AreAll(attrs, "kernel_shape", 1) || !AreAll(attrs, "strides", 1) ||
      !AreAll(attrs, "pads", 0)) {
    return false;
  }
  return HasTypeOf(r, 0) && r.Replace(r.in(0));
}
X2IR_RULE(simplify, max_pool, RemovePool);
X2IR_RULE(simplify, average_pool, RemovePool);

absl::StatusOr<bool> RemoveGlobalPool(Rewriter& r) { return HasTypeOf(r, 0) && r.Replace(r.in(0)); }
X2IR_RULE(simplify, global_max_pool, RemoveGlobalPool);
X2IR_RULE(simplify, global_average_pool, RemoveGlobalPool);

// --- 19, 20 ---------------------------------------------------------------------------------

absl::StatusOr<bool> RemoveResize(Rewriter& r) {
  // With these another place than its own may be an element's nearest.
  const std::string& coordinates = r.attrs().String("coordinate_transformation_mode");
  if (coordinates == "tf_crop_and_resize" || coordinates == "tf_half_pixel_for_nn") return false;
  if (r.in(2)) {
    const Tensor* scales = DenseConstant(r.in(2));
    if (!scales || !IsFloating(scales->dtype())) return false;
    for (int64_t i = 0; i < scales->num_elements(); ++i) {
      if (scales->AsDouble(i) != 1) return false;
    }
  }
  return HasTypeOf(r, 0) && r.Replace(r.in(0));
}
X2IR_RULE(simplify, resize, RemoveResize);

absl::StatusOr<bool> RemoveGather(Rewriter& r) {
  if (RankOf(r.in(1)) != 1 || !HasTypeOf(r, 0)) return false;
  const auto indices = KnownInts(r.in(1));
  if (!indices) return false;
  const auto size = static_cast<int64_t>(indices->size());
  for (int64_t i = 0; i < size; ++i) {
    if ((*indices)[i] != i && (*indices)[i] != i - size) return false;
  }
  return r.Replace(r.in(0));
}
X2IR_RULE(simplify, gather, RemoveGather);

absl::StatusOr<bool> RemoveBlocks(Rewriter& r) {
  return r.attrs().Int("blocksize") == 1 && HasTypeOf(r, 0) && r.Replace(r.in(0));
}
X2IR_RULE(simplify, depth_to_space, RemoveBlocks);
X2IR_RULE(simplify, space_to_depth, RemoveBlocks);

// --- 21 -------------------------------------------------------------------------------------

// From the type's smallest to its largest number, or to infinity.
std::pair<double, double> RangeOf(DType t) {
  const double inf = std::numeric_limits<double>::infinity();
  if (IsFloating(t)) return {-inf, inf};
  const int bits = BitWidth(t);
  if (IsSignedInt(t)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {0, std::ldexp(1.0, bits) - 1};
}

// Types whose numbers doubles hold.
bool HasExactRange(DType t) {
  return (IsFloating(t) && BitWidth(t) >= 16) || (IsInteger(t) && BitWidth(t) <= 32);
}

// An interval that a value is clipped to: x < min ? min : x, then x > max ? max : x.
struct Interval {
  double min, max;
  double Clip(double x) const { return std::min(x < min ? min : x, max); }
};

std::optional<double> Bound(const Value* value, double fallback) {
  if (!value) return fallback;
  const Tensor* tensor = DenseConstant(value);
  if (!tensor || tensor->num_elements() != 1) return std::nullopt;
  const double v = tensor->AsDouble(0);
  return std::isnan(v) ? std::nullopt : std::optional(v);
}

// Of a clip or relu whose bounds are known and in order.
std::optional<Interval> IntervalOf(const Node& node) {
  if (!node.is_ir() || !node.input(0) || !HasExactRange(node.input(0)->dtype())) {
    return std::nullopt;
  }
  const auto [low, high] = RangeOf(node.input(0)->dtype());
  if (node.op() == "relu") return Interval{0, high};
  if (node.op() != "clip") return std::nullopt;
  const auto min = Bound(node.input(1), low), max = Bound(node.input(2), high);
  return min && max && *min <= *max ? std::optional(Interval{*min, *max}) : std::nullopt;
}

absl::StatusOr<bool> MergeClips(Rewriter& r) {
  const auto own = IntervalOf(r.node());
  if (!own) return false;
  const auto range = RangeOf(r.in(0)->dtype());
  const Node* first = r.in(0)->producer();
  const auto before =
      first && first->graph() == &r.graph() ? IntervalOf(*first) : std::optional<Interval>();
  if (before && own->min <= before->min && before->max <= own->max) return r.Replace(r.in(0));
  Value* x = r.in(0);
  Interval both = *own;
  // Of bounds that leave one number, -0 would come out with another sign.
  if (before && Rewriter::UsedOnce(r.in(0)) && IsFloating(x->dtype()) && own->min < before->max &&
      before->min < own->max) {
    both = {own->Clip(before->min), own->Clip(before->max)};
    x = first->input(0);
  }
  // A bound that every number satisfies has no effect.
  const bool has_min = both.min > range.first, has_max = both.max < range.second;
  if (x == r.in(0) && (r.node().op() == "relu" ||
                       (has_min == (r.in(1) != nullptr) && has_max == (r.in(2) != nullptr)))) {
    return false;
  }
  if (!has_min && !has_max) return r.Replace(x);
  if (has_min && !has_max && both.min == 0 && !std::signbit(both.min)) {
    return r.Replace(r.b().Op("relu", {x}));
  }
  const DType t = x->dtype();
  return r.Replace(r.b().Op("clip", {x, has_min ? r.b().Scalar(t, both.min, "min") : nullptr,
                                     has_max ? r.b().Scalar(t, both.max, "max") : nullptr}));
}
X2IR_RULE(simplify, clip, MergeClips);
X2IR_RULE(simplify, relu, MergeClips, {"clip", "relu"});

// max(x, -inf), min(x, 255) of uint8: a bound for all elements that all numbers keep.
absl::StatusOr<bool> RemoveBound(Rewriter& r) {
  if (r.node().num_inputs() != 2) return false;
  for (const size_t bound : {size_t{1}, size_t{0}}) {
    const Tensor* tensor = DenseConstant(r.in(bound));
    if (!tensor || tensor->num_elements() != 1 || !HasExactRange(tensor->dtype())) continue;
    const auto [low, high] = RangeOf(tensor->dtype());
    if (tensor->AsDouble(0) == (r.node().op() == "max" ? low : high) && HasTypeOf(r, 1 - bound)) {
      return r.Replace(r.in(1 - bound));
    }
  }
  return false;
}
X2IR_RULE(simplify, max, RemoveBound, {kKnownOperand});
X2IR_RULE(simplify, min, RemoveBound, {kKnownOperand});

// --- 22 -------------------------------------------------------------------------------------

bool IsOneOf(const Node* node, std::initializer_list<std::string_view> ops) {
  return node && node->is_ir() && std::find(ops.begin(), ops.end(), node->op()) != ops.end();
}

absl::StatusOr<bool> RemoveRounding(Rewriter& r) {
  const Node* first = r.in(0)->producer();
  const OpDef* op = OpOf(first);
  const bool whole =
      (op && op->gives() == ResultUse::kWhole) ||
      (IsOneOf(first, {"cast"}) && first->input(0) &&
       BitWidth(r.in(0)->dtype()) >= 16 &&  // smaller ones may have no 0
       (IsInteger(first->input(0)->dtype()) || first->input(0)->dtype() == DType::kBool));
  return whole && r.Replace(r.in(0));
}
bool MayGiveWhole(const OpDef& op) {
  return op.gives() == ResultUse::kWhole || op.name() == "cast";
}
X2IR_RULE(simplify, floor, RemoveRounding, MayGiveWhole);
X2IR_RULE(simplify, ceil, RemoveRounding, MayGiveWhole);
X2IR_RULE(simplify, round, RemoveRounding, MayGiveWhole);

absl::StatusOr<bool> SimplifyAbs(Rewriter& r) {
  const Node* first = r.in(0)->producer();
  // Not relu: it keeps the sign of -0.
  if (IsOneOf(first, {"reduce_l1", "reduce_l2"}) && IsFloating(r.in(0)->dtype())) {
    return r.Replace(r.in(0));
  }
  // Of unsigned integers neg goes around.
  if (!r.Producer(0, "neg") || IsUnsignedInt(r.in(0)->dtype())) return false;
  return r.Replace(r.b().Op("abs", {first->input(0)}));
}
X2IR_RULE(simplify, abs, SimplifyAbs, {"reduce_l1", "reduce_l2", "neg"});

absl::StatusOr<bool> RemoveReluOfAbs(Rewriter& r) {
  return IsOneOf(r.in(0)->producer(), {"abs"}) && IsFloating(r.in(0)->dtype()) &&
         r.Replace(r.in(0));
}
X2IR_RULE(simplify, relu, RemoveReluOfAbs, {"abs"});

absl::StatusOr<bool> RemoveOfSame(Rewriter& r) {
  const size_t first = r.node().op() == "where" ? 1 : 0;
  if (r.node().num_inputs() != first + 2 || r.in(first) != r.in(first + 1)) return false;
  return HasTypeOf(r, first) && r.Replace(r.in(first));
}
bool OfSameIsIt(const OpDef& op) { return op.obeys(kOfSameIsIt); }
X2IR_RULE_OF_OPS(simplify, OfSameIsIt, RemoveOfSame);
X2IR_RULE(simplify, where, RemoveOfSame);

}  // namespace
}  // namespace x2ir
