// OneFlow: reductions, orders, sums along an axis.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

Expr Reduced(OneflowArgs& a, const Expr& x, Symbol op) {
  const std::vector<int64_t> axes = a.Ints("axis");
  a.Require(!axes.empty() || x.rank() == 0, "a reduction along no axis");
  return Reduce(x, op, axes, a.Bool("keepdims"));
}
template <int which>
Value* FromReduce(OneflowArgs& a) {
  static constexpr std::string_view kOps[] = {"reduce_sum", "reduce_max", "reduce_min",
                                              "reduce_prod"};
  const Expr x = a.in(0);
  // Sums of bools count.
  const bool counts = x.dtype() == DType::kBool && (which == 0 || which == 3);
  return Reduced(a, counts ? x.To(DType::kInt64) : x, kOps[which]);
}
Value* FromReduceMean(OneflowArgs& a) { return Reduced(a, a.in(0), "reduce_mean"); }
Value* NanSum(OneflowArgs& a) {
  const Expr x = a.in(0);
  return Reduced(a, IsFloating(x.dtype()) ? Where(IsNan(x), 0.0, x) : x, "reduce_sum");
}
template <bool all>
Value* ReduceBools(OneflowArgs& a) {
  const Expr x = a.dtype() == DType::kBool ? a.in(0) : IsTrue(a.in(0));
  const std::vector<int64_t> axes = a.Ints("axis");
  a.Require(!axes.empty() || x.rank() == 0, "a reduction along no axis");
  const bool keep = a.Bool("keepdims");
  return all ? All(x, axes, keep) : Any(x, axes, keep);
}
// To the shape of the other.
Value* ReduceSumLike(OneflowArgs& a) {
  const std::vector<int64_t> axes = a.Ints("axis");
  Expr x = a.in(0);
  if (!axes.empty()) x = Reduce(x, "reduce_sum", axes, true);
  return ReshapeTo(x, ShapeOf(a.in(1)));
}
// Squares from the mean over their number, or one less.
Value* Var(OneflowArgs& a) {
  const Expr x = a.in(0);
  std::vector<int64_t> axes = a.Ints("dim");
  if (axes.empty()) axes = AllAxes(x);
  const bool unbiased = a.Bool("unbiased"), keep = a.Bool("keepdim");
  a.Ignore("dtype");
  const Expr mean = Reduce(x, "reduce_mean", axes, true);
  const Expr squares = Reduce(Square(x - mean), "reduce_sum", axes, keep);
  const Expr count = CountOf(x, axes).To(x.dtype());
  return squares / (unbiased ? count - 1.0 : count);
}

// Sums of squares of tensors have an axis; the root of one has none.
Value* SquareSum(OneflowArgs& a) { return Reshape(SumAll(Square(a.in(0))), {1}); }
Value* SqrtSquareSum(OneflowArgs& a) { return Sqrt(SumAll(Square(a.in(0)))); }
Value* MultiSquareSum(OneflowArgs& a) {
  Expr sum = SumAll(Square(a.in(0)));
  for (size_t i = 1; i < a.num_inputs(); ++i) sum = sum + SumAll(Square(a.in(i)));
  return Reshape(sum, {1});
}

// The axes of a reduction that must be known.
absl::StatusOr<std::vector<int64_t>> AxesOf(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
  std::vector<int64_t> axes;
  if (given && !given->empty()) {
    for (const int64_t axis : *given) axes.push_back(axis < 0 ? axis + rank : axis);
  } else if (w.Int("noop_with_empty_axes") == 0) {
    axes = CountedFrom(0, rank);
  }
  return axes;
}
absl::StatusOr<Value*> ReduceWith(OneflowWriter& w, std::string_view op) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesOf(w));
  if (axes.empty()) return w.Op("identity", {w.in(0)});
  // OneFlow counts bools.
  if (w.dtype() == DType::kBool && op == "reduce_prod") op = "reduce_min";
  if (w.dtype() == DType::kBool && op == "reduce_sum") return CannotExpress("sums of bools");
  return w.Oneflow(op, {w.in(0)}, {{"axis", axes}, {"keepdims", w.Int("keepdims")}});
}
auto ToReduce(std::string_view op) {
  return [op](OneflowWriter& w) { return ReduceWith(w, op); };
}
absl::StatusOr<Value*> ToReduceMean(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, AxesOf(w));
  if (axes.empty()) return w.Op("identity", {w.in(0)});
  if (!IsFloating(w.dtype())) return CannotExpress("means of integers");
  double count = 1;
  for (const int64_t axis : axes) {
    const Dim& dim = (*w.shape())[axis];
    if (!dim.is_static()) return CannotExpress("sizes that are not known");
    count *= static_cast<double>(dim.value());
  }
  Value* sum = w.Oneflow("reduce_sum", {w.in(0)}, {{"axis", axes}, {"keepdims", w.Int("keepdims")}},
                         w.out_type());
  return w.Op("div", {sum, w.Number(w.dtype(), count)});
}

// --- Orders -------------------------------------------------------------------------------------

// Along the last axis.
bool Descending(OneflowArgs& a) {
  const std::string direction = a.String("direction");
  a.Require(direction == "ASCENDING" || direction == "DESCENDING", StrCat("direction ", direction));
  return direction == "DESCENDING";
}
Value* FromSort(OneflowArgs& a) { return Sort(a.in(0), -1, Descending(a)).values; }
// Places are int32 or int64: versions differ, and the file says it.
Expr AsPlaces(OneflowArgs& a, const Expr& places, DType fallback) {
  const Value* result = a.node().output(0);
  const DType said = result ? result->dtype() : DType::kUndefined;
  return places.To(said == DType::kInt32 || said == DType::kInt64 ? said : fallback);
}
Value* ArgSort(OneflowArgs& a) {
  return AsPlaces(a, Sort(a.in(0), -1, Descending(a)).indices, DType::kInt32);
}
Value* FromArgMax(OneflowArgs& a) {
  return AsPlaces(a, a.Op("arg_max", {a.in(0)}, {{"axis", -1}, {"keepdims", 0}}), DType::kInt64);
}
Value* FromArgMin(OneflowArgs& a) {
  return AsPlaces(a, a.Op("arg_min", {a.in(0)}, {{"axis", -1}, {"keepdims", 0}}), DType::kInt64);
}
// The places alone.
Value* FromTopK(OneflowArgs& a) {
  const bool sorted = a.Bool("sorted");
  const Values both = a.b().Ops("top_k", {a.in(0), a.b().Ints({a.Int("k")})},
                                {{"axis", -1}, {"sorted", sorted}}, {true, true});
  return AsPlaces(a, {a, both[1]}, DType::kInt64);
}
Value* InTopK(OneflowArgs& a) {
  const Expr targets = a.AsInt64(a.in(0)), predictions = a.in(1);
  const Expr at = GatherElements(predictions, Unsqueeze(targets, {-1}), 1);
  const Expr greater = Expr(predictions > at).To(DType::kInt64);
  return Sum(greater, 1) < static_cast<double>(a.Int("k"));
}
Value* FromCumSum(OneflowArgs& a) { return CumSum(a.in(0), a.Int("dim")); }
Value* FromCumProd(OneflowArgs& a) { return a.Op("cum_prod", {a.in(0), a.b().Int(a.Int("dim"))}); }
template <bool product>
absl::StatusOr<Value*> ToCumulated(OneflowWriter& w) {
  const auto axis = OneflowWriter::NumberOf(w.in(1));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (!axis || w.Int("exclusive") != 0) return CannotExpress("sums without the last");
  const int64_t dim = *axis < 0 ? static_cast<int64_t>(*axis) + rank : static_cast<int64_t>(*axis);
  const std::string_view op = product ? "cumprod" : "cumsum";
  if (w.Int("reverse") == 0) return w.Oneflow(op, {w.in(0)}, {{"dim", dim}});
  const AttributeMap turn = {{"dims", std::vector<int64_t>{dim}}};
  Value* x = w.Oneflow("flip", {w.in(0)}, turn, w.in(0)->type());
  x = w.Oneflow(op, {x}, {{"dim", dim}}, w.out_type());
  return w.Oneflow("flip", {x}, turn);
}
absl::StatusOr<Value*> ToArgExtreme(OneflowWriter& w, bool greatest) {
  if (w.Int("select_last_index") != 0) return CannotExpress("the last of several");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  Value* x = w.in(0);
  if (!greatest) x = w.Op("neg", {x});
  if (axis != rank - 1) {
    std::vector<int64_t> perm;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis) perm.push_back(i);
    }
    perm.push_back(axis);
    x = w.Op("transpose", {x}, {{"perm", perm}});
  }
  if (w.Int("keepdims") == 0) return w.Oneflow("argmax", {x});
  const Type& out = w.out_type();
  if (!out.shape()) return CannotExpress("sizes that are not known");
  std::vector<Dim> dims = out.shape()->dims();
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  Value* places = w.Oneflow("argmax", {x}, {}, Type::Tensor(DType::kInt64, Shape(dims)));
  return w.Op("unsqueeze", {places, w.Ints({axis})});
}
absl::StatusOr<Value*> ToArgMax(OneflowWriter& w) { return ToArgExtreme(w, true); }
absl::StatusOr<Value*> ToArgMin(OneflowWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("the least of integers");
  return ToArgExtreme(w, false);
}
// Indices along the last axis, and the elements at them.
absl::StatusOr<Values> ToTopK(OneflowWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const auto k = OneflowWriter::NumberOf(w.in(1));
  if (axis != rank - 1 || !k) return CannotExpress("another axis than the last, or a computed k");
  const bool least = w.Int("largest") == 0;
  if (least && !IsFloating(w.dtype())) return CannotExpress("the least of integers");
  Value* x = least ? w.Op("neg", {w.in(0)}) : w.in(0);
  const Value* result = w.node().output(w.wants(0) ? 0 : 1);
  if (!result || !result->shape()) return CannotExpress("sizes that are not known");
  const Type type = Type::Tensor(DType::kInt64, *result->shape());
  Value* places = w.Oneflow("top_k", {x}, {{"k", static_cast<int64_t>(*k)}, {"sorted", 1}}, type);
  Value* values = w.wants(0)
                      ? w.Oneflow("dim_gather", {w.in(0), places}, {{"dim", axis}}, w.out_type(0))
                      : nullptr;
  return Values{values, w.wants(1) ? places : nullptr};
}

}  // namespace

X2IR_ONEFLOW(reduce_sum)
    .To("reduce_sum", ToReduce("reduce_sum"))
    .From({{"reduce_sum", FromReduce<0>},
           {"reduce_nansum", NanSum},
           {"reduce_sum_like", ReduceSumLike},
           {"var", Var},
           {"square_sum", SquareSum},
           {"multi_square_sum", MultiSquareSum},
           {"sqrt_square_sum", SqrtSquareSum}});
X2IR_ONEFLOW(reduce_max)
    .To("reduce_max", ToReduce("reduce_max"))
    .From({{"reduce_max", FromReduce<1>}, {"reduce_any", ReduceBools<false>}});
X2IR_ONEFLOW(reduce_min)
    .To("reduce_min", ToReduce("reduce_min"))
    .From({{"reduce_min", FromReduce<2>}, {"reduce_all", ReduceBools<true>}});
X2IR_ONEFLOW(reduce_prod)
    .To("reduce_prod", ToReduce("reduce_prod"))
    .From("reduce_prod", FromReduce<3>);
X2IR_ONEFLOW(reduce_mean).To("reduce_sum", ToReduceMean).From("reduce_mean", FromReduceMean);
X2IR_ONEFLOW(reduce_sum_square).To("reduce_sum", SumSquareBySum);
X2IR_ONEFLOW(reduce_l1).To("reduce_sum", L1BySum);
X2IR_ONEFLOW(reduce_l2).To("reduce_sum", L2BySum);
X2IR_ONEFLOW(reduce_log_sum).To("reduce_sum", LogSumBySum);
X2IR_ONEFLOW(reduce_log_sum_exp).To("reduce_sum", LogSumExpBySum);
X2IR_ONEFLOW(top_k)
    .To("top_k", ToTopK)
    .From({{"top_k", FromTopK}, {"sort", FromSort}, {"arg_sort", ArgSort}, {"in_top_k", InTopK}});
X2IR_ONEFLOW(arg_max).To("argmax", ToArgMax).From("argmax", FromArgMax);
X2IR_ONEFLOW(arg_min).To("argmax", ToArgMin).From("argmin", FromArgMin);
X2IR_ONEFLOW(cum_sum).To("cumsum", ToCumulated<false>).From("cumsum", FromCumSum);
X2IR_ONEFLOW(cum_prod).To("cumprod", ToCumulated<true>).From("cumprod", FromCumProd);

}  // namespace x2ir
