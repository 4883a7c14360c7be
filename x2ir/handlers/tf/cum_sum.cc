// TensorFlow: running sums and products, and numbers in a row.
#include <algorithm>
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

Value* Running(TfArgs& a, Symbol op) {
  const bool exclusive = a.Bool("exclusive", false), reverse = a.Bool("reverse", false);
  a.Require(!IsComplex(a.in(0)->dtype()), "complex numbers");
  Value* axis = ReshapeTo(a.AsInt64(a.in(1)), Ints(a, {}));
  return a.Op(op, {a.in(0), axis}, {{"exclusive", exclusive}, {"reverse", reverse}});
}
Value* FromCumSum(TfArgs& a) { return Running(a, "cum_sum"); }
Value* CumProd(TfArgs& a) { return Running(a, "cum_prod"); }

// log(sum(exp)) of those up to each one. Of none of them it is the least finite number, which
// TensorFlow takes for log(0).
absl::StatusOr<Value*> CumLogSumExp(TfArgs& a) {
  const bool exclusive = a.Bool("exclusive", false), reverse = a.Bool("reverse", false);
  X2IR_ASSIGN_OR_RETURN(int64_t axis, a.KnownInt(1, "axis"));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return Invalid("axis of an operand of rank ", rank);
  Value* x = a.in(0);
  const DType t = x->dtype();
  if (!IsFloating(t)) return Invalid("expected floats, got ", Name(t));
  x = a.Cast(x, AtLeastFloat32(t));
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) perm.push_back(i);
  }
  perm.push_back(axis);
  Value* rows = Unsqueeze(Transpose({a, x}, perm), {-2});  // [.., 1, n]
  Value* places = Iota({a, SizeAt(a, x, axis)});
  Value* of_result = Unsqueeze({a, places}, {1});
  Value* seen = reverse ? a.Op(exclusive ? "greater" : "greater_or_equal", {places, of_result})
                        : a.Op(exclusive ? "less" : "less_or_equal", {places, of_result});
  Value* masked = Where({a, seen}, {a, rows},
                        {a, a.b().Scalar(x->dtype(), -std::numeric_limits<double>::infinity())});
  Value* sums = Reduce({a, masked}, "reduce_log_sum_exp", {-1});
  if (exclusive) {
    Value* none = Not(Any({a, seen}, {1}));
    sums = Where({a, none}, a.Cast(FiniteExtreme(a, t, false), x->dtype()), {a, sums});
  }
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
  return a.Cast(Transpose({a, sums}, back), t);
}

// Both ends come out exactly.
Value* LinSpace(TfArgs& a) {
  Value* start = a.in(0);
  Value* stop = a.in(1);
  const DType t = start->dtype();
  Value* count = a.AsInt64(a.in(2));
  Value* last = a.Op("sub", {count, a.b().Int(1)});
  Value* steps = a.Cast(a.Op("max", {last, a.b().Int(1)}), t);
  Value* step = a.Op("div", {a.Op("sub", {stop, start}), steps});
  Value* places = Iota({a, count});
  Value* between = a.Op("add", {start, a.Op("mul", {step, a.Cast(places, t)})});
  Value* at_end =
      a.Op("and", {a.Op("equal", {places, last}), a.Op("greater", {last, a.b().Int(0)})});
  return Where({a, at_end}, {a, stop}, {a, between});
}

// Of vectors in the last axis, which has 3 elements.
absl::StatusOr<Value*> Cross(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 1) return Invalid("expected rank 1 or more");
  const auto turned = [&](size_t i, std::vector<int64_t> order) {
    return Gather(a.in(i), a.b().Ints(order), rank - 1);
  };
  const std::vector<int64_t> next = {1, 2, 0}, last = {2, 0, 1};
  return a.Op("sub", {a.Op("mul", {turned(0, next), turned(1, last)}),
                      a.Op("mul", {turned(0, last), turned(1, next)})});
}

// Nothing says what the elements are; TensorFlow's, too, are zeros if it is asked to.
Value* Empty(TfArgs& a) {
  a.Bool("init", false);
  const DType t = a.Type("dtype", DType::kFloat32);
  Tensor zero = t == DType::kString ? Tensor::Strings({}, {""}) : Tensor::Zeros(t, {});
  return a.Op("expand", {a.b().Constant(std::move(zero)), a.AsInt64(a.in(0))});
}

// The axes along which either shape is spread to the other's.
absl::StatusOr<Values> BroadcastGradientArgs(TfArgs& a) {
  const DType t = a.in(0)->dtype();
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> x, a.KnownInts(0, "s0"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> y, a.KnownInts(1, "s1"));
  const size_t rank = std::max(x.size(), y.size());
  std::vector<int64_t> of_x, of_y;
  if (x == y) return Values{a.Cast(a.b().Ints(of_x), t), a.Cast(a.b().Ints(of_y), t)};
  for (size_t i = 0; i < rank; ++i) {
    const auto size = [&](const std::vector<int64_t>& dims) {
      return i + dims.size() < rank ? 1 : dims[i + dims.size() - rank];
    };
    const auto axis = static_cast<int64_t>(i);
    if (size(x) != size(y) && size(x) != 1 && size(y) != 1) {
      return Invalid("sizes ", size(x), " and ", size(y), " do not broadcast");
    }
    if (size(x) == 1 && size(y) == 1) return Unimplemented("an axis of size 1 in both shapes");
    if (size(x) == 1) of_x.push_back(axis);
    if (size(y) == 1) of_y.push_back(axis);
  }
  return Values{a.Cast(a.b().Ints(of_x), t), a.Cast(a.b().Ints(of_y), t)};
}

}  // namespace

X2IR_TF(cum_sum).From("Cumsum", FromCumSum);
X2IR_TF(cum_prod).From("Cumprod", CumProd);
X2IR_TF(reduce_log_sum_exp).From("CumulativeLogsumexp", CumLogSumExp);
X2IR_TF(range).From("LinSpace", LinSpace);
X2IR_TF(mul).From("Cross", Cross);
X2IR_TF(expand).From("Empty", Empty);
X2IR_TF(shape).From("BroadcastGradientArgs", BroadcastGradientArgs);

}  // namespace x2ir
