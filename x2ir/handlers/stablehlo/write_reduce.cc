// StableHLO, written: reductions, positions of extremes, running sums, the largest elements.
#include <algorithm>
#include <limits>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/handlers/stablehlo/write_regions.h"
#include "x2ir/ops/constants.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The axes of a reduction, counted from the front, in order; nullopt where the operand itself is
// the result.
absl::StatusOr<std::optional<std::vector<int64_t>>> AxesOf(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  if (axes.empty()) {
    if (w.Int("noop_with_empty_axes") != 0) return std::optional<std::vector<int64_t>>();
    axes = CountedFrom(0, rank);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return std::optional(axes);
}

// With the reduced axes back, of size 1, where the node keeps them.
Value* Kept(StablehloWriter& w, Value* reduced, const std::vector<int64_t>& axes) {
  if (w.Int("keepdims") == 0 || axes.empty()) return reduced;
  return w.Op("unsqueeze", {reduced, w.Ints(axes)});
}

auto ToReduce(const char* op) {
  return [op](StablehloWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axes, AxesOf(w));
    if (!axes) return w.Op("identity", {w.in(0)});
    X2IR_ASSIGN_OR_RETURN(Value * reduced, ReduceHlo(w, w.in(0), op, *axes));
    return Kept(w, reduced, *axes);
  };
}

absl::StatusOr<Value*> ToMean(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, AxesOf(w));
  if (!axes) return w.Op("identity", {w.in(0)});
  const DType t = w.dtype();
  // Halves are added up in float32.
  const DType sum_type = IsFloating(t) && BitWidth(t) < 32 ? DType::kFloat32 : t;
  X2IR_ASSIGN_OR_RETURN(Value * sum, ReduceHlo(w, w.Cast(w.in(0), sum_type), "add", *axes));
  const Expr x = X(w);
  std::vector<Size> sizes;
  for (const int64_t axis : *axes) sizes.push_back(SizeAt(x, axis));
  const Expr count = Scalar(w.b(), Product(w.b(), sizes)).To(sum_type);
  return Kept(w, w.Cast(w.Op("div", {sum, count}), t), *axes);
}

// --- Positions of extremes
// ------------------------------------------------------------------------

// As JAX has it: (x, i) goes before (y, j) where x is larger (or smaller) or NaN, or where both are
// equal and i is less.
auto ToArg(bool greatest) {
  return [greatest](StablehloWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last one of equal elements");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    Value* x = w.in(0);
    const DType t = x->dtype();
    Value* places = IotaHlo(w, DType::kInt64, X(w), axis);
    const Type number = Type::Tensor(t, Shape()), place = Type::Tensor(DType::kInt64, Shape());
    const auto body = [&](const std::vector<Expr>& a) {
      const Expr &u = a[0], &i = a[1], &v = a[2], &j = a[3];
      Expr first = greatest ? u > v : u < v;
      if (IsFloating(t)) first = first | IsNan(u);
      const Expr equal = u == v, earlier = i < j;
      const Expr wanted = first | (equal & earlier);
      return std::vector<Expr>{Where(first, u, v), Where(wanted, i, j)};
    };
    X2IR_ASSIGN_OR_RETURN(auto region, RegionOf({number, place, number, place}, body));
    const Expr init = NeutralOf(w.b(), greatest ? "maximum" : "minimum", t);
    const Type values = WithoutAxes(x->type(), {axis});
    const Type indices = Type::Tensor(DType::kInt64, *values.shape());
    const Values both = w.HloAll("reduce", {x, places, init, w.b().Int(0)},
                                 {{"dimensions", std::vector<int64_t>{axis}}, {"body", region}},
                                 {true, true}, {values, indices});
    return Kept(w, both[1], {axis});
  };
}

// --- Running sums
// ---------------------------------------------------------------------------------

auto ToRunning(const char* op) {
  return [op](StablehloWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axis"));
    if (!given || given->size() != 1 || rank == 0) return CannotExpress("a computed axis");
    const int64_t axis = (*given)[0] + ((*given)[0] < 0 ? rank : 0);
    const Dim size = DimAt(w.in(0), axis);
    if (!size.is_static()) return CannotExpress("an axis of unknown size");
    const int64_t n = size.value();
    if (n == 0) return w.Op("identity", {w.in(0)});
    const bool reverse = w.Int("reverse") != 0, exclusive = w.Int("exclusive") != 0;
    const auto r = static_cast<size_t>(rank), k = static_cast<size_t>(axis);
    std::vector<int64_t> window(r, 1), padding(2 * r, 0);
    window[k] = n;
    padding[2 * k + (reverse ? 1 : 0)] = n - 1;
    const Expr init = InitOf(w.b(), op, w.dtype());
    X2IR_ASSIGN_OR_RETURN(Value * y, SlideHlo(w, w.in(0), init, op, window, padding));
    if (!exclusive) return y;
    // Each result goes to the next place; the first one has nothing before it.
    std::vector<Size> sizes = AllSizes(X(w));
    sizes[k] = 1;
    const Expr sums(w.b(), y), none = Expand(init, Vector(w.b(), sizes));
    const Expr rest = reverse ? Slice(sums, axis, 1, n) : Slice(sums, axis, 0, n - 1);
    return Concat(w.b(), reverse ? Values{rest, none} : Values{none, rest}, axis).value();
  };
}

// --- The largest elements ------------------------------------------------------------------------

// A float as JAX compares it to sort: zeros of both signs are alike, and all NaNs.
Expr SortedAs(const Expr& x) {
  Builder& b = x.builder();
  const Expr zero = {b, b.Scalar(x.dtype(), 0)};
  const Expr nan = {b, b.Scalar(x.dtype(), std::numeric_limits<double>::quiet_NaN())};
  return Where(IsNan(x), nan, Where(x == zero, zero, x));
}

// Sorted with their positions, all of them, of which the first k stay. A NaN is larger than every
// number.
absl::StatusOr<Values> ToTopK(StablehloWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const auto known = KnownInts(w.in(1));
  const Size k = known && known->size() == 1 ? Size((*known)[0]) : Size(w.in(1));
  Value* x = w.in(0);
  const DType t = x->dtype();
  const bool largest = w.Int("largest") != 0;
  Value* places = IotaHlo(w, DType::kInt64, X(w), axis);
  const Type number = Type::Tensor(t, Shape()), place = Type::Tensor(DType::kInt64, Shape());
  const auto before = [&](const std::vector<Expr>& a) {
    const Expr &u = a[0], &v = a[1];
    if (!IsFloating(t)) return std::vector<Expr>{largest ? u > v : u < v};
    // In the order of bits, which has a place for NaN.
    Builder& b = u.builder();
    const Expr first = SortedAs(u), second = SortedAs(v);
    Value* less =
        b.Node(StablehloDialect::kName, "compare", {first, second},
               {{"comparison_direction", largest ? "GT" : "LT"}, {"compare_type", "TOTALORDER"}},
               {true})[0];
    less->set_type(Type::Tensor(DType::kBool, Shape()));
    return std::vector<Expr>{{b, less}};
  };
  X2IR_ASSIGN_OR_RETURN(auto comparator, RegionOf({number, number, place, place}, before));
  const Type indices = Type::Tensor(DType::kInt64, *x->shape());
  const Values sorted = w.HloAll(
      "sort", {x, places}, {{"dimension", axis}, {"is_stable", 1}, {"comparator", comparator}},
      {true, true}, {x->type(), indices});
  const auto first = [&](Value* v) { return Slice({w.b(), v}, axis, 0, k).value(); };
  return Values{first(sorted[0]), first(sorted[1])};
}

Value* WriteL1(StablehloWriter& w) { return L1BySum(w); }
Value* WriteL2(StablehloWriter& w) { return L2BySum(w); }
Value* WriteSumSquare(StablehloWriter& w) { return SumSquareBySum(w); }
Value* WriteLogSum(StablehloWriter& w) { return LogSumBySum(w); }
Value* WriteLogSumExp(StablehloWriter& w) { return LogSumExpBySum(w); }

}  // namespace

X2IR_STABLEHLO(reduce_sum).To("reduce", ToReduce("add"));
X2IR_STABLEHLO(reduce_prod).To("reduce", ToReduce("multiply"));
X2IR_STABLEHLO(reduce_max).To("reduce", ToReduce("maximum"));
X2IR_STABLEHLO(reduce_min).To("reduce", ToReduce("minimum"));
X2IR_STABLEHLO(reduce_mean).To("reduce", ToMean);
X2IR_STABLEHLO(reduce_l1).To("reduce", WriteL1);
X2IR_STABLEHLO(reduce_l2).To("reduce", WriteL2);
X2IR_STABLEHLO(reduce_sum_square).To("reduce", WriteSumSquare);
X2IR_STABLEHLO(reduce_log_sum).To("reduce", WriteLogSum);
X2IR_STABLEHLO(reduce_log_sum_exp).To("reduce", WriteLogSumExp);
X2IR_STABLEHLO(arg_max).To("reduce", ToArg(true));
X2IR_STABLEHLO(arg_min).To("reduce", ToArg(false));
X2IR_STABLEHLO(cum_sum).To("reduce_window", ToRunning("add"));
X2IR_STABLEHLO(cum_prod).To("reduce_window", ToRunning("multiply"));
X2IR_STABLEHLO(top_k).To("sort", ToTopK);

}  // namespace x2ir
