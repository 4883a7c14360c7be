// Operators that put an axis in order: sorting, order statistics.
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

Values SortOperator(TorchCall& c) {
  c.Ignore({"stable"});  // it always is
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self, -1);
  const bool descending = c.Bool("descending", false);
  if (c.Rank(self) == 0) return {c.Op("identity", {self}), Int(c, 0)};
  const Sorted sorted = Sort({c, self}, axis, descending);
  return {sorted.values, sorted.indices};
}
Values ArgSort(TorchCall& c) { return {SortOperator(c)[1]}; }
Values MSort(TorchCall& c) {
  Value* self = c.Tensor("self");
  return {c.Rank(self) == 0 ? c.Op("identity", {self}) : Sort({c, self}, 0, false).values};
}

Values TopK(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireReal({c, self});
  const int64_t axis = c.Axis("dim", self, -1);
  const bool largest = c.Bool("largest", true);
  c.Ignore({"sorted"});
  Value* k = Unsqueeze(c.SymInt("k"), {0});
  Values found = c.b().Ops("top_k", {AtLeast1d({c, self}), k},
                           {{"axis", axis}, {"largest", largest}, {"sorted", 1}}, 2);
  if (c.Rank(self) > 0) return found;
  // k may be 0 or 1 of a single element; only 1 leaves rank 0.
  return {LikeRank({c, found[0]}, self), LikeRank({c, found[1]}, self)};
}

// One of the sorted axis: {values, indices} with the axis kept.
Values KthSmallest(TorchCall& c, Value* x, int64_t axis, Value* position) {
  const Sorted sorted = Sort({c, x}, axis, false);
  const auto picked = [&](const Expr& y) { return Gather(y, Unsqueeze({c, position}, {0}), axis); };
  return {picked(sorted.values), picked(sorted.indices)};
}

Values WithoutAxis(TorchCall& c, Values values, int64_t axis, bool keepdim, const Value* self) {
  for (Value*& v : values) {
    v = keepdim ? LikeRank({c, v}, self) : Squeeze({c, v}, {axis});
  }
  return values;
}

Values KthValue(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t axis = c.Axis("dim", self, -1);
  Value* position = c.Op("sub", {c.SymInt("k"), Int(c, 1)});
  const bool keepdim = c.Bool("keepdim", false);
  return WithoutAxis(c, KthSmallest(c, AtLeast1d({c, self}), axis, position), axis, keepdim, self);
}

// The lower median. With `ignore_nan` of the elements that are none, else NaN if there is one.
Values Median(TorchCall& c, bool ignore_nan) {
  Value* self = c.Tensor("self");
  RequireReal({c, self});
  const bool whole = c.num_outputs() == 1 && !c.Has("dim");
  const int64_t axis = whole ? 0 : c.Axis("dim", self);
  const bool keepdim = c.Bool("keepdim", false);
  Value* x = whole ? Flat({c, self}) : AtLeast1d({c, self});
  Value* size = SizeOf({c, x}, axis);
  Value *one = Int(c, 1), *two = Int(c, 2);
  Value* nan = WhereNan({c, x});
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
      const Sorted sorted = Sort(Select({c, nan}, Extreme(c, t, true), {c, x}), axis, false);
      Value* count = Reduce(c.Cast(Not(Expr(c, nan)), DType::kInt64), "reduce_sum", {axis}, true);
      Value* at = c.Op("div", {c.Op("max", {c.Op("sub", {count, one}), Int(c, 0)}), two});
      for (const Expr& v : {sorted.values, sorted.indices}) {
        found.push_back(GatherElements(v, at, axis));
      }
      Value* nothing = c.Op("equal", {count, Int(c, 0)});
      found = {Select({c, nothing}, {c, none}, {c, found[0]}),
               Select({c, nothing}, {c, first}, {c, found[1]})};
    } else {
      Value* any = Any({c, nan}, {axis}, true);
      found = {Select({c, any}, {c, none}, {c, found[0]}),
               Select({c, any}, {c, first}, {c, found[1]})};
    }
  }
  found = whole ? Values{Squeeze({c, found[0]}, {0})} : WithoutAxis(c, found, axis, keepdim, self);
  return found;
}

// The most frequent value (of equally frequent ones the smallest), and its last index.
Values ModeOf(TorchCall& c) {
  Value* self = c.Tensor("self");
  RequireReal({c, self});
  const int64_t axis = c.Axis("dim", self, -1);
  const bool keepdim = c.Bool("keepdim", false);
  if (c.Rank(self) == 0) return {c.Op("identity", {self}), Int(c, 0)};
  Value* at1 = AtLeast1d({c, self});
  const int64_t last = c.Rank(at1) - 1;
  Value* x = MoveAxis({c, at1}, axis, last);
  Value* same = c.Op("equal", {Unsqueeze({c, x}, {last + 1}), Unsqueeze({c, x}, {last})});
  Value* counts = Reduce(c.Cast(same, DType::kInt64), "reduce_sum", {last + 1}, false);
  Value* nan = WhereNan({c, x});
  if (nan) counts = c.Op("max", {counts, Int(c, 1)});  // each NaN is another
  Value* best = c.Op("equal", {counts, Reduce({c, counts}, "reduce_max", {last}, true)});
  if (nan) best = c.Op("and", {best, Not(Expr(c, nan))});
  Value* values =
      Reduce(Select({c, best}, {c, x}, Extreme(c, x->dtype(), true)), "reduce_min", {last}, true);
  Value* met = c.Op("equal", {x, values});
  Value* indices = c.Op("arg_max", {c.Cast(met, DType::kInt32)},
                        {{"axis", last}, {"keepdims", 1}, {"select_last_index", 1}});
  if (nan) {  // nothing but NaN
    Value* none = Not(Any({c, Not(Expr(c, nan))}, {last}, true));
    indices = Select({c, none}, Int(c, 0), {c, indices});
    values = c.Op("gather_elements", {x, indices}, {{"axis", last}});
  }
  return WithoutAxis(c, {MoveAxis({c, values}, last, axis), MoveAxis({c, indices}, last, axis)},
                     axis, keepdim, self);
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

  // The axis becomes the last and is sorted; NaNs come last and are not counted.
  Value* x = whole ? Flat({c, self}) : AtLeast1d({c, self});
  const int64_t last = c.Rank(x) - 1;
  x = MoveAxis({c, x}, axis, last);
  Value* nan = WhereNan({c, x});
  Value* sorted = Sort(Select({c, nan}, Extreme(c, t, true), {c, x}), last, false).values;
  Value* count = ignore_nan
                     ? Reduce(c.Cast(Not(Expr(c, nan)), DType::kInt64), "reduce_sum", {last}, true)
                     : SizeOf({c, x}, last);
  Value* most = c.Op("max", {c.Op("sub", {count, Int(c, 1)}), Int(c, 0)});
  // One rank for every q: [.., q].
  Value* ranks = c.Op("mul", {q_rank == 0 ? Unsqueeze({c, q}, {0}) : q, c.Cast(most, t)});
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
    Value* moved = Select(c.Op("less", {weight, number(0.5)}), {c, near}, {c, far});
    result = Select({c, same}, {c, result}, {c, moved});
  }
  Value* none = c.Op("sub", {Extreme(c, t, true), Extreme(c, t, true)});
  Value* invalid = ignore_nan ? c.Op("equal", {count, Int(c, 0)}) : Any({c, nan}, {last}, true);
  result = Select({c, invalid}, {c, none}, {c, result});

  // [.., q] to [q, ..], with the axis of size 1 where it was.
  result = MoveAxis({c, result}, last, 0);
  if (keepdim && whole) {
    std::vector<int64_t> ones;
    for (int64_t i = 0; i < rank; ++i) ones.push_back(i + 1);
    result = Unsqueeze({c, result}, ones);
  } else if (keepdim && rank > 0) {
    result = Unsqueeze({c, result}, {axis + 1});
  }
  return {q_rank == 0 ? Squeeze({c, result}, {0}) : result};
}

X2IR_TORCH(top_k)
    .From({"aten::sort.default", "aten::sort.stable"}, SortOperator)
    .From({"aten::argsort.default", "aten::argsort.stable"}, ArgSort)
    .From("aten::msort.default", MSort)
    .From("aten::topk.default", TopK)
    .From("aten::kthvalue.default", KthValue)
    .From({"aten::median.default", "aten::median.dim"},
          [](TorchCall& c) { return Median(c, false); })
    .From({"aten::nanmedian.default", "aten::nanmedian.dim"},
          [](TorchCall& c) { return Median(c, true); })
    .From("aten::mode.default", ModeOf)
    .From({"aten::quantile.default", "aten::quantile.scalar"},
          [](TorchCall& c) { return Quantile(c, false); })
    .From({"aten::nanquantile.default", "aten::nanquantile.scalar"},
          [](TorchCall& c) { return Quantile(c, true); });

}  // namespace
}  // namespace x2ir
