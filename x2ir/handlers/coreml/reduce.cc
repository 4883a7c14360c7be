// MIL: reductions, orders, sums along an axis, both ways.

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The type of places: int32, or as it is asked for.
DType PlacesType(MilArgs& a, Symbol attr) {
  const std::string name = a.Text(attr);
  const DType type = name.empty() ? DType::kInt32 : coreml::ParseMilTypeName(name);
  a.Require(IsInteger(type), StrCat("places of type ", name));
  return type;
}

Value* MilArg(MilArgs& a, std::string_view op) {
  const DType type = PlacesType(a, "output_dtype");
  const int64_t axis = a.Int("axis"), keep = a.Int("keep_dims");
  return a.Cast(a.Op(op, {a.X()}, {{"axis", axis}, {"keepdims", keep}}), type);
}

Value* MilArgMax(MilArgs& a) { return MilArg(a, "arg_max"); }
Value* MilArgMin(MilArgs& a) { return MilArg(a, "arg_min"); }

Value* MilArgSort(MilArgs& a) {
  const DType type = PlacesType(a, "output_dtype");
  const int64_t axis = a.Int("axis");
  return a.Cast(Sort(a.X(), axis, !a.Bool("ascending")).indices, type);
}

Values MilTopK(MilArgs& a) {
  const DType type = PlacesType(a, "output_indices_dtype");
  const Expr x = a.X();
  const int64_t axis = a.Int("axis"), k = a.Int("k");
  const bool ascending = a.Bool("ascending"), sorted = a.Bool("sort");
  a.Require(a.Bool("return_indices") || !a.wants(1), "places that are not returned");
  const Expr count = k == -1 ? Reshape(SizeOf(x, axis), {1}) : Ints(a.b(), {k});
  const Values both =
      a.b().Ops("top_k", {x, count},
                {{"axis", axis}, {"largest", ascending ? 0 : 1}, {"sorted", sorted ? 1 : 0}},
                {true, a.wants(1)});
  return {both[0], both[1] ? a.Cast(both[1], type).value() : nullptr};
}

// --- Written ------------------------------------------------------------------------------------

auto ToReduce(std::string_view op) {
  return [op](MilWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
    AttributeMap attrs = {{"keep_dims", w.Int("keepdims")}};
    const bool all = !given || given->empty();
    if (all && w.Int("noop_with_empty_axes") != 0) {
      return CannotExpress("a reduction of each element alone");
    }
    if (rank == 0) return CannotExpress("a reduction of one number");
    std::vector<int64_t> axes = all ? CountedFrom(0, rank) : *given;
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    attrs.Set("axes", std::move(axes));
    if (op == "reduce_mean" && !IsFloating(w.dtype())) return CannotExpress("means of integers");
    return w.Mil(op, {w.in(0)}, std::move(attrs));
  };
}

auto ToArg(std::string_view op) {
  return [op](MilWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    return w.Mil(op, {w.in(0)}, {{"axis", w.Int("axis")}, {"keep_dims", w.Int("keepdims")}});
  };
}

absl::StatusOr<Values> ToTopK(MilWriter& w) {
  const auto k = KnownInts(w.in(1));
  if (!k || k->size() != 1) return CannotExpress("a computed k");
  const Value* one = w.node().output(w.wants(0) ? 0 : 1);
  Type values = one->type(), places = one->type();
  values.set_dtype(w.dtype());
  places.set_dtype(DType::kInt64);
  Values made = w.MilAll(
      "topk", {w.in(0)},
      {{"k", (*k)[0]}, {"axis", w.Int("axis")}, {"ascending", w.Int("largest") == 0 ? 1 : 0}},
      {true, true}, {values, places});
  for (size_t i = 0; i < 2; ++i) {
    if (!w.wants(i)) made[i] = nullptr;
  }
  return made;
}

Expr MilReverseSequence(MilArgs& a) {
  const int64_t time = a.Int("seq_axis"), batch = a.Int("batch_axis");
  return a.X().Op("reverse_sequence", {a.AsInt64(a.X("lengths"))},
                  {{"time_axis", time}, {"batch_axis", batch}});
}

Value* ToReverseSequence(MilWriter& w) {
  return w.Mil("reverse_sequence", {w.in(0), w.in(1)},
               {{"seq_axis", w.Int("time_axis")}, {"batch_axis", w.Int("batch_axis")}});
}

}  // namespace

#define X2IR_MIL_REDUCTION(ir, mil)                                        \
  X2IR_MIL(ir)                                                             \
      .To(#mil, ToReduce(#mil))                                            \
      .From(#mil, OperandAsAttr("axes"), Renamed("keepdims", "keep_dims"), \
            Fixed("noop_with_empty_axes", 0))

X2IR_MIL_REDUCTION(reduce_l1, reduce_l1_norm);
X2IR_MIL_REDUCTION(reduce_l2, reduce_l2_norm);
X2IR_MIL_REDUCTION(reduce_log_sum, reduce_log_sum);
X2IR_MIL_REDUCTION(reduce_log_sum_exp, reduce_log_sum_exp);
X2IR_MIL_REDUCTION(reduce_max, reduce_max);
X2IR_MIL_REDUCTION(reduce_mean, reduce_mean);
X2IR_MIL_REDUCTION(reduce_min, reduce_min);
X2IR_MIL_REDUCTION(reduce_prod, reduce_prod);
X2IR_MIL_REDUCTION(reduce_sum, reduce_sum);
X2IR_MIL_REDUCTION(reduce_sum_square, reduce_sum_square);
X2IR_MIL(arg_max).To("reduce_argmax", ToArg("reduce_argmax")).From("reduce_argmax", MilArgMax);
X2IR_MIL(arg_min).To("reduce_argmin", ToArg("reduce_argmin")).From("reduce_argmin", MilArgMin);
X2IR_MIL(cum_sum).Is("cumsum", OperandAsAttr("axis"));
X2IR_MIL(top_k).To("topk", ToTopK).From({{"topk", MilTopK}, {"argsort", MilArgSort}});
X2IR_MIL(reverse_sequence)
    .To("reverse_sequence", ToReverseSequence)
    .From("reverse_sequence", MilReverseSequence);
#undef X2IR_MIL_REDUCTION

}  // namespace x2ir
