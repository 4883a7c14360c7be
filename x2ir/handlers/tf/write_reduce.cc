// Reductions, places of extremes, sorting and running sums, written as TensorFlow's.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// `of_bools`: the op for bools, if there is one.
auto ToTfReduce(std::string_view op, std::string_view of_bools = "") {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(Value * axes, ReducedAxes(w));
    if (!axes) return w.Op("identity", {w.in(0)});
    const bool bools = w.dtype() == DType::kBool;
    if (bools && of_bools.empty()) return CannotExpress("bools");
    return w.Tf(bools ? of_bools : op, {w.in(0), axes}, {{"keep_dims", w.Int("keepdims")}});
  };
}
X2IR_TF(reduce_sum).To("Sum", ToTfReduce("Sum"));
X2IR_TF(reduce_mean).To("Mean", ToTfReduce("Mean"));
X2IR_TF(reduce_max).To("Max", ToTfReduce("Max", "Any"));
X2IR_TF(reduce_min).To("Min", ToTfReduce("Min", "All"));
X2IR_TF(reduce_prod).To("Prod", ToTfReduce("Prod"));

X2IR_TF(reduce_l1).To("Sum", L1BySum);
X2IR_TF(reduce_l2).To("Sum", L2BySum);
X2IR_TF(reduce_log_sum).To("Sum", LogSumBySum);
X2IR_TF(reduce_sum_square).To("Sum", SumSquareBySum);
X2IR_TF(reduce_log_sum_exp).To("Sum", LogSumExpBySum);

auto ToTfArg(std::string_view op) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    Type places = w.out_type();
    if (w.Int("keepdims") == 0) {
      return w.Tf(op, {w.in(0), w.Int32(axis)}, {{"output_type", Type::Tensor(DType::kInt64)}});
    }
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    Value* found =
        w.Tf(op, {w.in(0), w.Int32(axis)}, {{"output_type", Type::Tensor(DType::kInt64)}},
             Type::Tensor(DType::kInt64, Shape::UnknownDims(rank - 1)));
    return w.Op("unsqueeze", {found, w.Ints({axis})});
  };
}
X2IR_TF(arg_max).To("ArgMax", ToTfArg("ArgMax"));
X2IR_TF(arg_min).To("ArgMin", ToTfArg("ArgMin"));

// Along the last axis; places are int32.
absl::StatusOr<Values> ToTfTopK(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.Int("largest") == 0) return CannotExpress("the least elements");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  Value* x = w.Transpose(w.in(0), perm);
  const auto known = KnownInts(w.in(1));
  Value* k = known && known->size() == 1 ? w.Int32((*known)[0])
                                         : w.Cast(w.Reshape(w.in(1), {}), DType::kInt32);
  const auto of = [&](DType t) { return Type::Tensor(t, Shape::UnknownDims(rank)); };
  const Values found = w.TfAll("TopKV2", {x, k}, {{"sorted", w.Int("sorted")}},
                               {w.wants(0), w.wants(1)}, {of(w.dtype()), of(DType::kInt32)});
  Values values(w.node().num_outputs(), nullptr);
  if (found[0]) values[0] = w.Transpose(found[0], perm);
  if (found[1]) values[1] = w.Transpose(w.Cast(found[1], DType::kInt64), perm);
  return values;
}
X2IR_TF(top_k).To("TopKV2", ToTfTopK);

auto ToTfRunning(std::string_view op) {
  return [=](TfWriter& w) -> Value* {
    const auto known = KnownInts(w.in(1));
    Value* axis = known && known->size() == 1 ? w.Int32((*known)[0]) : w.Reshape(w.in(1), {});
    return w.Tf(op, {w.in(0), axis},
                {{"exclusive", w.Int("exclusive")}, {"reverse", w.Int("reverse")}});
  };
}
X2IR_TF(cum_sum).To("Cumsum", ToTfRunning("Cumsum"));
X2IR_TF(cum_prod).To("Cumprod", ToTfRunning("Cumprod"));

}  // namespace
}  // namespace x2ir
