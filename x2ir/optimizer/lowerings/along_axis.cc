// Lowerings of ops that walk along an axis: cum_sum, cum_prod, arg_max, arg_min; and range.
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// --- cum_sum, cum_prod ----------------------------------------------------------------------

// Each element with the one 1, then 2, 4, ... before it: the ones too near the start keep what they
// have. Nothing is added that is not part of the result, so infinities and NaN stay where they are.
absl::StatusOr<Value*> ByDoubling(Rewrite& r, int64_t axis, int64_t n, Symbol combine,
                                  double nothing) {
  Builder& b = r.b;
  const DType t = r.dtype(0);
  const bool reverse = r.attrs().Int("reverse") != 0;
  Value* axes = b.Ints({axis}, "axis");
  const auto slice = [&](Value* x, int64_t from, int64_t to) {
    return b.Op("slice", {x, b.Ints({from}, "start"), b.Ints({to}, "end"), axes});
  };
  // In the order of `reverse`: what starts at an end starts at the other.
  const auto joined = [&](Value* first, Value* second) {
    return b.Op("concat", {reverse ? second : first, reverse ? first : second}, {{"axis", axis}});
  };
  const auto first = [&](Value* x, int64_t count) {
    return reverse ? slice(x, n - count, n) : slice(x, 0, count);
  };
  const auto last = [&](Value* x, int64_t count) {
    return reverse ? slice(x, 0, count) : slice(x, n - count, n);
  };
  Value* y = r.in(0);
  for (int64_t step = 1; step < n; step *= 2) {
    y = joined(first(y, step), b.Op(combine, {first(y, n - step), last(y, n - step)}));
  }
  if (r.attrs().Int("exclusive") != 0 && n > 0) {
    Value* slab = b.Op("shape", {first(r.in(0), 1)});
    slab = b.Op("expand", {b.Scalar(t, nothing, "nothing"), slab});
    y = n == 1 ? slab : joined(slab, first(y, n - 1));
  }
  return y == r.in(0) ? b.Op("identity", {y}) : y;
}

// By doubling in a loop, where it is not known how many there are.
Value* InRounds(Rewrite& r, int64_t axis, Symbol combine, double nothing) {
  Builder& b = r.b;
  const Expr x = {b, r.in(0)}, count = SizeOf(x, axis), places = Iota(count);
  const bool reverse = r.attrs().Int("reverse") != 0;
  // The elements that are `distance` before each, and which there are.
  struct Shifted {
    Expr elements, exist;
  };
  const auto shifted = [&](const Expr& y, const Expr& distance) {
    Builder& inner = y.builder();
    const Expr own = {inner, places}, all = {inner, count};
    const Expr wanted = reverse ? own + distance : own - distance;
    const Expr exist = reverse ? wanted < all : wanted >= 0.0;
    // Of what is left out anyway, an element that there is.
    return Shifted{Gather(y, Where(exist, wanted, own), axis), AlongAxis(exist, axis, y.rank())};
  };
  // As many as the powers of two that are less than the count.
  std::vector<int64_t> powers;
  for (int k = 0; k < 63; ++k) powers.push_back(int64_t{1} << k);
  const Expr rounds = SumAll((Ints(b, powers) < count).To(DType::kInt64));
  const auto round = [&](const Expr&, const std::vector<Expr>& now) {
    const Shifted before = shifted(now[0], now[1]);
    const Expr both = now[0].Op(combine, {before.elements});
    return std::vector<Expr>{Where(before.exist, both, now[0]), now[1] + now[1]};
  };
  const Expr y = Rounds(rounds, {x, Int(b, 1)}, round)[0];
  if (r.attrs().Int("exclusive") == 0) return y;
  const Shifted before = shifted(y, Int(b, 1));
  return Where(before.exist, before.elements, nothing);
}

absl::StatusOr<Value*> Along(Rewrite& r, int64_t axis, Symbol combine, double nothing) {
  const Dim& size = (*r.in(0)->shape())[axis];
  if (size.is_static()) return ByDoubling(r, axis, size.value(), combine, nothing);
  if (r.target.Has("loop")) return InRounds(r, axis, combine, nothing);
  return CannotExpress("without loops, it needs the size of the axis");
}

absl::StatusOr<Values> Cumulative(Rewrite& r, Symbol combine, double nothing) {
  Builder& b = r.b;
  IntegerMath math(r);
  const int64_t rank = r.rank(0);
  const DType t = r.dtype(0);
  if (rank < 1 || !(IsFloating(t) || IsInteger(t))) {
    return CannotExpress("by doubling, it needs a known rank and element type");
  }
  const auto known = rank == 1 ? std::vector<int64_t>{0} : KnownInts(r.in(1));
  if (known && known->size() == 1) {
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis((*known)[0], rank));
    X2IR_ASSIGN_OR_RETURN(Value * y, Along(r, axis, combine, nothing));
    return Values{y};
  }
  // Along every axis, to choose from.
  Value* chosen = math.FromFront(r.in(1), math.Of({rank}));
  Value* y = nullptr;
  for (int64_t axis = 0; axis < rank; ++axis) {
    X2IR_ASSIGN_OR_RETURN(Value * along, Along(r, axis, combine, nothing));
    y = y ? b.Op("where", {b.Op("equal", {chosen, b.Int(axis, "axis")}), along, y}) : along;
  }
  return Values{y};
}

absl::StatusOr<Values> CumSumByDoubling(Rewrite& r) { return Cumulative(r, "add", 0); }
absl::StatusOr<Values> CumProdByDoubling(Rewrite& r) { return Cumulative(r, "mul", 1); }
X2IR_LOWERING(cum_sum, CumSumByDoubling);
X2IR_LOWERING(cum_prod, CumProdByDoubling);

// --- arg_max, arg_min -----------------------------------------------------------------------

// The last of equal elements is the first when the axis is reversed.
absl::StatusOr<Values> LastAsFirstOfReversed(Rewrite& r) {
  if (r.attrs().Int("select_last_index") == 0) return NothingToDo();
  const int64_t rank = r.rank(0);
  if (rank < 1) return CannotExpress("the rank is not known");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), rank));
  IntegerMath math(r);
  const Integers size = math.Size(r.in(0), axis), end = math.Sub(size, math.Of({1}));
  Value* order = math.Get(math.Sub(end, math.Positions(size)), "reversed");
  Value* x = r.b.Op("gather", {r.in(0), order}, {{"axis", axis}});
  Value* y = r.b.Op(r.node.op(), {x}, {{"axis", axis}, {"keepdims", r.attrs().Int("keepdims")}});
  // A scalar when nothing is kept: `end` has one element, but an axis of its own.
  Value* from = end.known ? r.b.Int((*end.known)[0], "last")
                          : r.b.Op("squeeze", {end.computed, r.b.Ints({0}, "axis")});
  return Values{r.b.Op("sub", {from, y})};
}
X2IR_LOWERING(arg_max, LastAsFirstOfReversed);
X2IR_LOWERING(arg_min, LastAsFirstOfReversed);

// --- range ----------------------------------------------------------------------------------

// 16-bit floats in float32, the numbers of which are rounded once, at the end.
absl::StatusOr<Values> RangeInFloat32(Rewrite& r) {
  const DType t = r.dtype(0);
  if (t != DType::kFloat16 && t != DType::kBFloat16) {
    return CannotExpress("only ranges of 16-bit floats go through float32");
  }
  std::vector<Value*> bounds;
  for (size_t i = 0; i < 3; ++i) bounds.push_back(Expr(r.b, r.in(i)).To(DType::kFloat32));
  return Values{Expr(r.b, r.b.Op("range", std::move(bounds))).To(t)};
}
X2IR_LOWERING(range, RangeInFloat32);

// How many numbers there are from `from` up to `to`, exclusive, in steps of `step` > 0. The
// difference may overflow, so it is taken of the quotients; the remainders r, less than a step
// either way, make the rest: ceil((r_to - r_from) / step), which is one of -1 .. 2. (What overflows
// all the same, in steps of 1, are more numbers than there can be.)
Value* CountSteps(Builder& b, Value* from, Value* to, Value* step) {
  Value* zero = b.Int(0, "zero");
  const auto rest = [&](Value* x, Value* quotient) {
    return b.Op("sub", {x, b.Op("mul", {quotient, step})});
  };
  const auto number = [&](Value* condition) { return Expr(b, condition).To(DType::kInt64); };
  Value *q_to = b.Op("div", {to, step}), *q_from = b.Op("div", {from, step});
  Value *r_to = rest(to, q_to), *r_from = rest(from, q_from);
  Value* above = b.Op("greater", {r_to, r_from});
  Value* far_above = b.Op(
      "and", {b.Op("less", {r_from, zero}), b.Op("greater", {r_to, b.Op("add", {r_from, step})})});
  Value* far_below =
      b.Op("and", {b.Op("less", {r_to, zero}),
                   b.Op("not", {b.Op("greater", {b.Op("add", {r_to, step}), r_from})})});
  Value* begun = b.Op("sub", {b.Op("add", {number(above), number(far_above)}), number(far_below)});
  Value* count = b.Op("add", {b.Op("sub", {q_to, q_from}), begun});
  return b.Op("where", {b.Op("less", {from, to}), count, zero});
}

// start + i * delta, for as many i as there are whole and begun steps up to the limit.
absl::StatusOr<Values> RangeOfPositions(Rewrite& r) {
  Builder& b = r.b;
  IntegerMath math(r);
  const DType t = r.dtype(0);
  const auto bound = [&](size_t i, DType to) {
    return b.Op("reshape", {Expr(b, r.in(i)).To(to), b.Ints({1}, "vector")});
  };
  Value* count;
  DType wide = t;
  if (t == DType::kFloat32 || t == DType::kFloat64) {
    const DType d = DType::kFloat64;
    Value* steps = b.Op("div", {b.Op("sub", {bound(1, d), bound(0, d)}), bound(2, d)});
    steps = b.Op("max", {b.Op("ceil", {steps}), b.Scalar(d, 0, "zero")});
    count = Expr(b, steps).To(DType::kInt64);
  } else if (IsInteger(t) && t != DType::kUInt64) {
    wide = DType::kInt64;
    using Known = std::vector<int64_t>;
    if (KnownInts(r.in(0)) == Known{0} && KnownInts(r.in(2)) == Known{1}) {
      // Positions are ranges where the target has these.
      if (r.target.Has("range") && !KnownInts(r.in(1))) {
        return CannotExpress("it counts from 0 in steps of 1 already");
      }
      const Integers limit = math.Max(math.Read(r.in(1)), math.Of({0}));
      return Values{Expr(b, math.Get(math.Positions(limit))).To(t)};
    }
    Value *start = bound(0, wide), *limit = bound(1, wide), *delta = bound(2, wide);
    // Both directions as one: upwards by |delta|.
    Value* down = b.Op("less", {delta, b.Int(0, "zero")});
    count = CountSteps(b, b.Op("where", {down, limit, start}), b.Op("where", {down, start, limit}),
                       b.Op("abs", {delta}));
  } else {
    return CannotExpress("ranges of ", Name(t), " have no formula");
  }
  Value* i = Expr(b, math.Get(math.Positions({std::nullopt, count}))).To(wide);
  Value* y = b.Op("add", {bound(0, wide), b.Op("mul", {i, bound(2, wide)})});
  return Values{Expr(b, y).To(t)};
}
X2IR_LOWERING(range, RangeOfPositions);

}  // namespace
}  // namespace x2ir
