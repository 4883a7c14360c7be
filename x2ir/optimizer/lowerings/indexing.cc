// Lowerings of ops that pick elements.
#include <algorithm>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// A scalar has no axes: no rows, and a column where it is not zero.
absl::StatusOr<Values> NonZeroOfScalar(Rewrite& r) {
  if (r.rank(0) != 0) return CannotExpress("its operand has axes");
  Value* row = r.b.Op("non_zero", {r.b.Op("reshape", {r.in(0), r.b.Ints({1}, "row")})});
  Value* zero = r.b.Ints({0}, "zero");
  return Values{r.b.Op("slice", {row, zero, zero, zero})};
}
X2IR_LOWERING(non_zero, NonZeroOfScalar);

// Known indices that count from the end, from the front.
absl::StatusOr<Values> GatherFromFront(Rewrite& r) {
  const auto indices = r.ConstInts(1);
  const int64_t rank = r.rank(0);
  if (!indices || rank < 1) return CannotExpress("the indices or the rank are not known");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  if (std::all_of(indices->begin(), indices->end(), [](int64_t i) { return i >= 0; })) {
    return CannotExpress("no index counts from the end");
  }
  IntegerMath math(r);
  const Integers size = math.Size(r.in(0), axis);
  const Tensor* constant = r.in(1)->fixed_constant();
  std::vector<int64_t> dims;
  if (constant) dims = constant->dims();
  if (!constant && r.rank(1) == 1) dims = {static_cast<int64_t>(indices->size())};
  std::vector<int64_t> numbers = *indices, from_end;
  for (int64_t& i : numbers) {
    from_end.push_back(i < 0 ? 1 : 0);
    if (size.known && i < 0) i += (*size.known)[0];
    if (size.known && i < 0) return Invalid("an index is out of bounds");
  }
  Value* index = r.b.Constant(Tensor::Of<int64_t>(dims, numbers), "indices");
  if (!size.known) {
    Value* scalar = r.b.Op("squeeze", {math.Get(size, "size"), r.b.Ints({0}, "axis")});
    Value* mask = r.b.Constant(Tensor::Of<int64_t>(dims, from_end), "from_end");
    index = r.b.Op("add", {index, r.b.Op("mul", {mask, scalar})});
  }
  return Values{r.b.Op("gather", {r.in(0), index}, {{"axis", axis}})};
}
X2IR_LOWERING(gather, GatherFromFront);

// Index tuples of one number are plain indices.
absl::StatusOr<Values> GatherNdAsGather(Rewrite& r) {
  const int64_t rank = r.rank(1);
  const bool single = rank > 0 && (*r.in(1)->shape())[rank - 1] == Dim(1);
  if (!single || r.attrs().Int("batch_dims") != 0) {
    return CannotExpress("as Gather, it needs indices of one number each and no batch_dims");
  }
  Value* indices = r.b.Op("squeeze", {r.in(1), r.b.Ints({rank - 1}, "axes")});
  return Values{r.b.Op("gather", {r.in(0), indices}, {{"axis", 0}})};
}
X2IR_LOWERING(gather_nd, GatherNdAsGather);

// Index tuples as indices into the data with its indexed axes flattened into one.
absl::StatusOr<Values> GatherNdAsFlatGather(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0), q = r.rank(1), batch = r.attrs().Int("batch_dims");
  const Dim depth = q > 0 ? (*r.in(1)->shape())[q - 1] : Dim();
  if (rank < 0 || !depth.is_static() || depth.value() < 1) {
    return CannotExpress("as Gather, it needs data of known rank and indices of known depth");
  }
  const int64_t end = batch + depth.value();
  if (batch < 0 || batch >= q || end > rank) return Invalid("indices do not fit the data");
  // Element tuples: their offsets, and that of the batch that they are in.
  Value* tuples = math.FromFront(r.in(1), math.Sizes(r.in(0), batch, end));
  Integers strides = math.Of({});
  for (int64_t i = batch; i < end; ++i) {
    strides = math.Concat(strides, math.Product(math.Sizes(r.in(0), i + 1, end)));
  }
  Value* index = b.Op(
      "reduce_sum", {b.Op("mul", {tuples, math.Get(strides, "strides")}), b.Ints({q - 1}, "axis")},
      {{"keepdims", 0}});
  for (int64_t i = 0; i < batch; ++i) {
    const Integers offsets = math.Mul(math.Positions(math.Size(r.in(0), i)),
                                      math.Product(math.Sizes(r.in(0), i + 1, end)));
    index = b.Op("add", {index, AlongAxis({b, math.Get(offsets, "offsets")}, i, q - 1, "axes")});
  }
  // flatten, unlike reshape, is exact for empty tensors at every opset.
  Value* picked =
      b.Op("gather", {b.Op("flatten", {r.in(0)}, {{"axis", end}}), index}, {{"axis", 0}});
  if (end == rank) return Values{b.Op("squeeze", {picked, b.Ints({q - 1}, "axis")})};
  if (end == rank - 1) return Values{picked};
  for (int64_t i = end + 1; i < rank; ++i) {
    const Dim& size = (*r.in(0)->shape())[i];
    if (!size.is_static() || size.value() == 0) {
      return CannotExpress("as Gather, it needs sizes that are known not to be 0");
    }
  }
  const Integers sizes = math.Concat(math.Sizes(r.in(1), 0, q - 1), math.Sizes(r.in(0), end, rank));
  return Values{b.Op("reshape", {picked, math.Get(sizes, "sizes")})};
}
X2IR_LOWERING(gather_nd, GatherNdAsFlatGather);

// Each index becomes the position of its element in the flattened data.
absl::StatusOr<Values> GatherElementsAsGather(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0);
  if (rank < 1 || r.rank(1) != rank) return CannotExpress("as Gather, it needs a known rank");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  Value* index = math.FromFront(r.in(1), math.Size(r.in(0), axis));
  if (rank == 1) return Values{b.Op("gather", {r.in(0), index}, {{"axis", 0}})};
  const auto stride = [&](int64_t i) { return math.Product(math.Sizes(r.in(0), i + 1, rank)); };
  if (axis < rank - 1) index = b.Op("mul", {index, math.Get(stride(axis), "stride")});
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis || (*r.in(1)->shape())[i] == Dim(1)) continue;
    const Integers offsets = math.Mul(math.Positions(math.Size(r.in(1), i)), stride(i));
    index = b.Op("add", {index, AlongAxis({b, math.Get(offsets, "offsets")}, i, rank, "axes")});
  }
  Value* flat = b.Op("reshape", {r.in(0), b.Ints({-1}, "flat")});
  return Values{b.Op("gather", {flat, index}, {{"axis", 0}})};
}
X2IR_LOWERING(gather_elements, GatherElementsAsGather);

// The first steps of each batch entry, up to its length, backwards.
absl::StatusOr<Values> ReverseSequenceAsGather(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0), batch = r.attrs().Int("batch_axis"),
                time = r.attrs().Int("time_axis");
  if (rank < 2) return CannotExpress("as GatherElements, it needs a known rank");
  if (batch < 0 || time < 0 || batch >= rank || time >= rank || batch == time) {
    return Invalid("batch_axis and time_axis: expected two axes");
  }
  Value* steps = AlongAxis({b, math.Get(math.Positions(math.Size(r.in(0), time)), "steps")}, time,
                           rank, "axes");
  Value* length = AlongAxis({b, Expr(b, r.in(1)).To(DType::kInt64)}, batch, rank, "axes");
  Value* last = b.Op("sub", {length, b.Int(1, "one")});
  Value* index = b.Op("where", {b.Op("less", {steps, length}), b.Op("sub", {last, steps}), steps});
  index = b.Op("expand", {index, b.Op("shape", {r.in(0)})});
  return Values{b.Op("gather_elements", {r.in(0), index}, {{"axis", time}})};
}
X2IR_LOWERING(reverse_sequence, ReverseSequenceAsGather);

// In order is one of the orders that sorted = 0 allows; the smallest are the largest of the
// negated numbers. Negation is exact for floats only.
absl::StatusOr<Values> TopKAsLargest(Rewrite& r) {
  const bool largest = r.attrs().Int("largest") != 0;
  if (largest && r.attrs().Int("sorted") != 0) return NothingToDo();
  if (!largest && !IsFloating(r.dtype(0))) {
    return CannotExpress("the smallest of ", Name(r.dtype(0)), " cannot be expressed");
  }
  Value* x = largest ? r.in(0) : r.b.Op("neg", {r.in(0)});
  Values best = r.b.Ops("top_k", {x, r.in(1)},
                        {{"axis", r.attrs().Int("axis")}, {"largest", 1}, {"sorted", 1}}, 2);
  if (!largest) best[0] = r.b.Op("neg", {best[0]});
  return best;
}
X2IR_LOWERING(top_k, TopKAsLargest);

// The first k of all, in order.
absl::StatusOr<Values> TopKOfAll(Rewrite& r) {
  Builder& b = r.b;
  const int64_t rank = r.rank(0);
  if (r.ConstInts(1) || rank < 1) return CannotExpress("only a computed k has another form");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  const Dim& size = (*r.in(0)->shape())[axis];
  if (!size.is_static()) return CannotExpress("the size of axis ", axis, " is not known");
  AttributeMap attrs = r.attrs();
  Values best = b.Ops("top_k", {r.in(0), b.Ints({size.value()}, "all")}, std::move(attrs), 2);
  IntegerMath math(r);
  Value* k = math.Get(math.Read(r.in(1)), "k");
  for (Value*& y : best) y = b.Op("slice", {y, b.Ints({0}, "start"), k, b.Ints({axis}, "axis")});
  return best;
}
X2IR_LOWERING(top_k, TopKOfAll);

// Integers that are exact as floats, in the same order.
absl::StatusOr<Values> TopKInFloat64(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t) || BitWidth(t) > 32) return CannotExpress(Name(t), " is not exact in float64");
  Values best = r.b.Ops("top_k", {Expr(r.b, r.in(0)).To(DType::kFloat64), r.in(1)}, r.attrs(), 2);
  best[0] = Expr(r.b, best[0]).To(t);
  return best;
}
X2IR_LOWERING(top_k, TopKInFloat64);

}  // namespace
}  // namespace x2ir
