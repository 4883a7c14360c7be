// Operators that put an axis in order: sorting, order statistics.
#include <string>
#include <utility>

#include "x2ir/handlers/torch/pieces.h"

namespace x2ir {
namespace {

Values SortOperator(TorchCall& c) {
  c.Ignore({"stable"});  // it always is
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self, -1);
  const bool descending = c.Bool("descending", false);
  if (c.Rank(self) == 0) return {c.Op("identity", {self}), c.Int64(0)};
  return Sort(c, self, axis, descending);
}
Values ArgSort(TorchCall& c) { return {SortOperator(c)[1]}; }
Values MSort(TorchCall& c) {
  Value* self = c.Tensor("self");
  return {c.Rank(self) == 0 ? c.Op("identity", {self}) : Sort(c, self, 0, false)[0]};
}

Values TopK(TorchCall& c) {
  Value* self = c.Tensor("self");
  if (!ExpectReal(c, self)) return {self, self};
  const int64_t axis = c.Axis("dim", self, -1);
  const bool largest = c.Bool("largest", true);
  c.Ignore({"sorted"});
  Value* k = c.Unsqueeze(c.SymInt("k"), {0});
  Values found = c.b().Ops("top_k", {AtLeast1d(c, self), k},
                           {{"axis", axis}, {"largest", largest}, {"sorted", 1}}, 2);
  if (c.Rank(self) > 0) return found;
  // k may be 0 or 1 of a single element; only 1 leaves rank 0.
  return {LikeRank(c, found[0], self), LikeRank(c, found[1], self)};
}

// One of the sorted axis: {values, indices} with the axis kept.
Values KthSmallest(TorchCall& c, Value* x, int64_t axis, Value* position) {
  Values sorted = Sort(c, x, axis, false);
  return {PickAt(c, sorted[0], axis, position), PickAt(c, sorted[1], axis, position)};
}

Values WithoutAxis(TorchCall& c, Values values, int64_t axis, bool keepdim, const Value* self) {
  for (Value*& v : values) {
    v = keepdim ? LikeRank(c, v, self) : c.Squeeze(v, {axis});
  }
  return values;
}

Values KthValue(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self, -1);
  Value* position = c.Op("sub", {c.SymInt("k"), c.Int64(1)});
  const bool keepdim = c.Bool("keepdim", false);
  return WithoutAxis(c, KthSmallest(c, AtLeast1d(c, self), axis, position), axis, keepdim, self);
}

// The lower median. With `ignore_nan` of the elements that are none, else NaN if there is one.
Values Median(TorchCall& c, bool ignore_nan) {
  Value* self = c.Tensor("self");
  if (!ExpectReal(c, self)) return Values(c.num_outputs(), self);
  const bool whole = c.num_outputs() == 1 && !c.Has("dim");
  const int64_t axis = whole ? 0 : c.Axis("dim", self);
  const bool keepdim = c.Bool("keepdim", false);
  Value* x = whole ? Flat(c, self) : AtLeast1d(c, self);
  Value* size = c.SizeOf(x, axis);
  Value *one = c.Int64(1), *two = c.Int64(2);
  Value* nan = WhereNaN(c, x);
  Values found;
  if (!nan || !ignore_nan) {
    found = KthSmallest(c, x, axis, c.Op("div", {c.Op("sub", {size, one}), two}));
  }
  if (nan) {
    const DType t = x->dtype();
    Value* none = c.Op("sub", {Extreme(c, t, true), Extreme(c, t, true)});  // inf - inf
    Value* flags = c.Cast(nan, DType::kInt32);
    Value* first = c.Op("arg_max", {flags}, {{"axis", axis}, {"keepdims", 1}});
    if (ignore_nan) {
      Values sorted = Sort(c, Where(c, nan, Extreme(c, t, true), x), axis, false);
      Value* count = Reduce(c, "reduce_sum", c.Cast(Not(c, nan), DType::kInt64), {axis}, true);
      Value* at = c.Op("div", {c.Op("max", {c.Op("sub", {count, one}), c.Int64(0)}), two});
      for (Value* v : sorted) {
        found.push_back(c.Op("gather_elements", {v, at}, {{"axis", axis}}));
      }
      Value* nothing = c.Op("equal", {count, c.Int64(0)});
      found = {Where(c, nothing, none, found[0]), Where(c, nothing, first, found[1])};
    } else {
      Value* any = Any(c, nan, {axis}, true);
      found = {Where(c, any, none, found[0]), Where(c, any, first, found[1])};
    }
  }
  found = whole ? Values{c.Squeeze(found[0], {0})} : WithoutAxis(c, found, axis, keepdim, self);
  return found;
}

// The most frequent value, of equally frequent ones the smallest, and where it stands last.
Values ModeOf(TorchCall& c) {
  Value* self = c.Tensor("self");
  if (!ExpectReal(c, self)) return Values(c.num_outputs(), self);
  const int64_t axis = c.Axis("dim", self, -1);
  const bool keepdim = c.Bool("keepdim", false);
  if (c.Rank(self) == 0) return {c.Op("identity", {self}), c.Int64(0)};
  Value* at1 = AtLeast1d(c, self);
  const int64_t last = c.Rank(at1) - 1;
  Value* x = MoveAxis(c, at1, axis, last);
  Value* same = c.Op("equal", {c.Unsqueeze(x, {last + 1}), c.Unsqueeze(x, {last})});
  Value* counts = Reduce(c, "reduce_sum", c.Cast(same, DType::kInt64), {last + 1}, false);
  Value* nan = WhereNaN(c, x);
  if (nan) counts = c.Op("max", {counts, c.Int64(1)});  // each NaN is another
  Value* best = c.Op("equal", {counts, Reduce(c, "reduce_max", counts, {last}, true)});
  if (nan) best = c.Op("and", {best, Not(c, nan)});
  Value* values =
      Reduce(c, "reduce_min", Where(c, best, x, Extreme(c, x->dtype(), true)), {last}, true);
  Value* met = c.Op("equal", {x, values});
  Value* indices = c.Op("arg_max", {c.Cast(met, DType::kInt32)},
                        {{"axis", last}, {"keepdims", 1}, {"select_last_index", 1}});
  if (nan) {  // nothing but NaN
    Value* none = Not(c, Any(c, Not(c, nan), {last}, true));
    indices = Where(c, none, c.Int64(0), indices);
    values = c.Op("gather_elements", {x, indices}, {{"axis", last}});
  }
  return WithoutAxis(c, {MoveAxis(c, values, last, axis), MoveAxis(c, indices, last, axis)}, axis,
                     keepdim, self);
}

// --- Quantiles ------------------------------------------------------------------------------

Values Quantile(TorchCall& c, bool ignore_nan) {
  Value* self = c.Tensor("self");
  const DType t = self->dtype();
  if (t != DType::kFloat32 && t != DType::kFloat64) {
    return c.Fail(Invalid("expected float32 or float64"));
  }
  const bool whole = !c.Has("dim");
  if (whole) c.Ignore({"dim"});
  const int64_t rank = c.Rank(self), axis = whole ? 0 : c.Axis("dim", self);
  const bool keepdim = c.Bool("keepdim", false);
  const std::string how = c.String("interpolation", "linear");
  Value* q = c.Operand("q", t);
  const int64_t q_rank = c.Rank(q);
  const auto number = [&](double v) { return c.Constant(t, v); };

  // The axis last and in order; what is NaN goes to the end and is not looked at.
  Value* x = whole ? Flat(c, self) : AtLeast1d(c, self);
  const int64_t last = c.Rank(x) - 1;
  x = MoveAxis(c, x, axis, last);
  Value* nan = WhereNaN(c, x);
  Value* sorted = Sort(c, Where(c, nan, Extreme(c, t, true), x), last, false)[0];
  Value* count = ignore_nan
                     ? Reduce(c, "reduce_sum", c.Cast(Not(c, nan), DType::kInt64), {last}, true)
                     : c.SizeOf(x, last);
  Value* most = c.Op("max", {c.Op("sub", {count, c.Int64(1)}), c.Int64(0)});
  // One rank for every q: [.., q].
  Value* ranks = c.Op("mul", {q_rank == 0 ? c.Unsqueeze(q, {0}) : q, c.Cast(most, t)});
  if (how == "lower") ranks = c.Op("floor", {ranks});
  if (how == "higher") ranks = c.Op("ceil", {ranks});
  if (how == "nearest") ranks = c.Op("round", {ranks});
  const bool between = how == "linear" || how == "midpoint";
  if (!between && how != "lower" && how != "higher" && how != "nearest") {
    return c.Fail(Invalid("interpolation: '", how, "'"));
  }
  const auto pick = [&](Value* place) -> Value* {
    place = c.Cast(place, DType::kInt64);
    if (c.Rank(place) == 1 && last > 0) {
      return c.Op("gather", {sorted, place}, {{"axis", last}});
    }
    return c.Op("gather_elements", {sorted, place}, {{"axis", last}});
  };
  Value* below_at = c.Op("floor", {ranks});
  Value* result = pick(below_at);
  if (between) {
    Value* above = pick(c.Op("ceil", {ranks}));
    Value* weight = how == "midpoint" ? number(0.5) : c.Op("sub", {ranks, below_at});
    Value* span = c.Op("sub", {above, result});
    // The nearer end is where it starts from, so that both ends come out exactly.
    Value* near = c.Op("add", {result, c.Op("mul", {weight, span})});
    Value* far = c.Op("sub", {above, c.Op("mul", {span, c.Op("sub", {number(1), weight})})});
    Value* same = c.Op("equal", {above, result});  // of infinities the span is NaN
    Value* moved = Where(c, c.Op("less", {weight, number(0.5)}), near, far);
    result = Where(c, same, result, moved);
  }
  Value* none = c.Op("sub", {Extreme(c, t, true), Extreme(c, t, true)});
  Value* invalid = ignore_nan ? c.Op("equal", {count, c.Int64(0)}) : Any(c, nan, {last}, true);
  result = Where(c, invalid, none, result);

  // [.., q] to [q, ..], with the axis of size 1 where it was.
  result = MoveAxis(c, result, last, 0);
  if (keepdim && whole) {
    std::vector<int64_t> ones;
    for (int64_t i = 0; i < rank; ++i) ones.push_back(i + 1);
    result = c.Unsqueeze(result, ones);
  } else if (keepdim && rank > 0) {
    result = c.Unsqueeze(result, {axis + 1});
  }
  return {q_rank == 0 ? c.Squeeze(result, {0}) : result};
}

X2IR_TORCH(top_k)
    .Is({"aten::sort.default", "aten::sort.stable"}, SortOperator)
    .Is({"aten::argsort.default", "aten::argsort.stable"}, ArgSort)
    .Is("aten::msort.default", MSort)
    .Is("aten::topk.default", TopK)
    .Is("aten::kthvalue.default", KthValue)
    .Is({"aten::median.default", "aten::median.dim"}, [](TorchCall& c) { return Median(c, false); })
    .Is({"aten::nanmedian.default", "aten::nanmedian.dim"},
        [](TorchCall& c) { return Median(c, true); })
    .Is("aten::mode.default", ModeOf)
    .Is({"aten::quantile.default", "aten::quantile.scalar"},
        [](TorchCall& c) { return Quantile(c, false); })
    .Is({"aten::nanquantile.default", "aten::nanquantile.scalar"},
        [](TorchCall& c) { return Quantile(c, true); });

}  // namespace
}  // namespace x2ir
