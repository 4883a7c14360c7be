// Operators that walk along an axis: running sums and extremes, differences, areas.
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

TorchHandler Running(Symbol op) {
  return [op](TorchCall& c) -> Values {
    c.Dtype("dtype", DType::kUndefined);
    Value* self = c.Operand("self", c.out_dtype());
    const int64_t axis = c.Axis("dim", self);
    if (op != "cum_sum") RequireReal({c, self});
    if (c.Rank(self) == 0) return {c.Op("identity", {self})};
    return {c.Op(op, {self, Int(c, axis)})};
  };
}

// For every element of the last axis a row of all of them, `fill` in place of those after it.
Value* Prefixes(TorchCall& c, Value* x, Value* fill) {
  const int64_t last = c.Rank(x) - 1;
  Value* positions = Iota(SizeOf({c, x}, last));
  Value* seen = c.Op("greater_or_equal", {Unsqueeze({c, positions}, {1}), positions});
  return Select({c, seen}, Unsqueeze({c, x}, {last}), {c, fill});
}

// The running extreme, and the last place where it was met. A NaN stays.
TorchHandler RunningExtreme(bool max) {
  return [max](TorchCall& c) -> Values {
    Value* self = c.Tensor("self");
    const int64_t axis = c.Axis("dim", self), rank = c.Rank(self);
    if (rank == 0) return {c.Op("identity", {self}), Int(c, 0)};
    Value* x = MoveAxis({c, self}, axis, rank - 1);
    // Of bools and small integers: their type's extremes are values like others.
    Value* values = Reduce({c, Prefixes(c, x, Extreme(c, x->dtype(), !max))},
                           max ? "reduce_max" : "reduce_min", {rank}, false);
    Value* met = c.Op("equal", {x, values});
    if (Value* nan = WhereNan({c, x})) met = c.Op("or", {met, nan});
    Value* places = Select({c, met}, Iota(SizeOf({c, x}, rank - 1)), Int(c, 0));
    Value* indices = Reduce({c, Prefixes(c, places, Int(c, 0))}, "reduce_max", {rank}, false);
    return {MoveAxis({c, values}, rank - 1, axis), MoveAxis({c, indices}, rank - 1, axis)};
  };
}

Values LogCumSumExp(TorchCall& c) {
  const DType computed = AtLeastFloat32(c.out_dtype());
  Value* self = c.Tensor("self");
  RequireReal({c, self});
  const int64_t axis = c.Axis("dim", self), rank = c.Rank(self);
  Value* x = c.Cast(self, computed);
  if (rank == 0) return {c.Cast(x, c.out_dtype())};
  x = Prefixes(c, MoveAxis({c, x}, axis, rank - 1), Extreme(c, computed, false));
  Value* sums = Reduce({c, x}, "reduce_log_sum_exp", {rank}, false);
  return {c.Cast(MoveAxis({c, sums}, rank - 1, axis), c.out_dtype())};
}

// --- Differences and areas ------------------------------------------------------------------

Value* TimesCall(TorchCall& c, Value* x, Value* y) {
  const DType t = c.ResultTypeOf({x, y});
  return c.Op("mul", {c.Cast(x, t), c.Cast(y, t)});
}
Value* TimesNumber(TorchCall& c, Value* x, double factor) {
  const bool floats = IsFloating(x->dtype()) || IsComplex(x->dtype());
  const DType t = floats ? x->dtype() : DType::kFloat32;
  TorchNumber number;
  number.kind = TorchNumber::kFloat;
  number.c = factor;
  return c.Op("mul", {c.Cast(x, t), c.Constant(t, number)});
}

// One tensor's neighbours along the axis: all but the last, all but the first.
Value* Left(TorchCall& c, Value* x, int64_t axis) { return Slice({c, x}, axis, 0, -1); }
Value* Right(TorchCall& c, Value* x, int64_t axis) { return Slice({c, x}, axis, 1, kToEnd); }

// sum((left + right) * dx) / 2, or the running sums.
Values Trapezoid(TorchCall& c, bool running) {
  Value* y = c.Tensor("y");
  if (y->dtype() == DType::kBool) return c.Fail(Invalid("expected numbers, got bools"));
  const int64_t axis = c.Axis("dim", y, -1), rank = c.Rank(y);
  if (rank == 0) return c.Fail(Invalid("expected rank 1 or more"));
  Value* x = c.OptTensor("x");
  const double dx = c.Float("dx", 1);
  const auto wide = [&](Value* v) {  // as sums of integers are
    return IsInteger(v->dtype()) ? c.Cast(v, DType::kInt64) : v;
  };
  if (!x && !running) {  // all of them, but for half of both ends
    Value* ends = c.Op("add", {Slice({c, y}, axis, 0, 1), Slice({c, y}, axis, -1, kToEnd)});
    Value* sum = Reduce({c, wide(y)}, "reduce_sum", {axis}, false);
    Value* half = TimesNumber(c, Reduce({c, ends}, "reduce_sum", {axis}, false), 0.5);
    Value* area = c.Op("sub", {c.Cast(sum, half->dtype()), half});
    return {c.Cast(TimesNumber(c, area, dx), c.out_dtype())};
  }
  Value* both = c.Op("add", {Left(c, y, axis), Right(c, y, axis)});
  if (x) {
    const int64_t x_rank = c.Rank(x);
    if (x_rank == 0 || x_rank > rank) return c.Fail(Unimplemented("x of rank ", x_rank));
    // Rank 1 lies along the axis; others are padded with ones in front.
    if (x_rank == 1) x = AlongAxis({c, x}, axis, rank);
    if (x_rank > 1 && x_rank < rank) {
      std::vector<int64_t> front;
      for (int64_t i = 0; i < rank - x_rank; ++i) front.push_back(i);
      x = Unsqueeze({c, x}, front);
    }
    both = TimesCall(c, both, c.Op("sub", {Right(c, x, axis), Left(c, x, axis)}));
  }
  both = wide(both);
  Value* sum = running ? CumSum({c, both}, axis) : Reduce({c, both}, "reduce_sum", {axis}, false);
  return {c.Cast(TimesNumber(c, sum, x ? 0.5 : dx / 2), c.out_dtype())};
}

Values Diff(TorchCall& c) {
  Value* self = c.Tensor("self");
  Value *before = c.OptTensor("prepend"), *after = c.OptTensor("append");
  const int64_t n = c.Int("n", 1), axis = c.Axis("dim", self, -1);
  if (c.Rank(self) == 0) return c.Fail(Invalid("expected rank 1 or more"));
  if (n < 0 || n > 1000) return c.Fail(Unimplemented("order ", n));
  const DType t = c.out_dtype();
  std::vector<Value*> parts;
  if (before) parts.push_back(c.Cast(before, t));
  parts.push_back(c.Cast(self, t));
  if (after) parts.push_back(c.Cast(after, t));
  // If n is 0, nothing is prepended or appended either.
  Value* x = n == 0 ? parts[before ? 1 : 0] : Concat(c, std::move(parts), axis);
  for (int64_t i = 0; i < n; ++i) {
    const Dim& size = (*x->shape())[axis];
    if (size.is_static() && size.value() == 0) break;
    x = c.Op(t == DType::kBool ? "xor" : "sub", {Right(c, x, axis), Left(c, x, axis)});
  }
  return {n == 0 ? c.Op("identity", {x}) : x};
}

// Differences of both neighbours, at the borders of one (or of two more, edge_order 2).
Expr GradientAlong(const Expr& f, int64_t axis, double spacing, int64_t edge_order) {
  const auto at = [&](int64_t from, int64_t to) { return Slice(f, axis, from, to); };
  const Expr inner = (at(2, kToEnd) - at(0, -2)) / (2 * spacing);
  Expr first = at(1, 2) - at(0, 1), last = at(-1, kToEnd) - at(-2, -1);
  if (edge_order == 2) {
    first = at(0, 1) * -1.5 + at(1, 2) * 2 - at(2, 3) * 0.5;
    last = at(-1, kToEnd) * 1.5 + at(-3, -2) * 0.5 - at(-2, -1) * 2;
  }
  return Concat(f.builder(), {first / spacing, inner, last / spacing}, axis);
}

// The same for places that are not equally far apart, which `x` (rank 1) gives.
Expr GradientAlong(const Expr& f, int64_t axis, const Expr& x, int64_t edge_order) {
  const Expr places = AlongAxis(x, axis, f->shape()->rank());
  const Expr h = Slice(places, axis, 1, kToEnd) - Slice(places, axis, 0, -1);
  const auto at = [&](const Expr& v, int64_t from, int64_t to) { return Slice(v, axis, from, to); };
  // f'(x1) of the parabola through three places h1 and h2 apart.
  const Expr h1 = at(h, 0, -1), h2 = at(h, 1, kToEnd);
  const Expr inner = -(h2 / (h1 * (h1 + h2))) * at(f, 0, -2) +
                     (h2 - h1) / (h1 * h2) * at(f, 1, -1) +
                     h1 / (h2 * (h1 + h2)) * at(f, 2, kToEnd);
  if (edge_order == 1) {
    return Concat(f.builder(),
                  {(at(f, 1, 2) - at(f, 0, 1)) / at(h, 0, 1), inner,
                   (at(f, -1, kToEnd) - at(f, -2, -1)) / at(h, -1, kToEnd)},
                  axis);
  }
  // The derivative at f0's end of the parabola, a next to it, then b.
  const auto edge = [&](const Expr& a, const Expr& b, const Expr& f0, const Expr& f1,
                        const Expr& f2) {
    return -((a + a + b) / (a * (a + b))) * f0 + (a + b) / (a * b) * f1 + -(a / (b * (a + b))) * f2;
  };
  const Expr first = edge(at(h, 0, 1), at(h, 1, 2), at(f, 0, 1), at(f, 1, 2), at(f, 2, 3));
  const Expr last =
      -edge(at(h, -1, kToEnd), at(h, -2, -1), at(f, -1, kToEnd), at(f, -2, -1), at(f, -3, -2));
  return Concat(f.builder(), {first, inner, last}, axis);
}

// How far apart the places are: one number for all axes, a number or a tensor of places for each.
enum class Spacing { kNumber, kNumbers, kTensors };

template <Spacing kSpacing>
Values Gradient(TorchCall& c) {
  Value* self = c.Tensor("self");
  const int64_t edge_order = c.Int("edge_order", 1);
  if (edge_order != 1 && edge_order != 2) return c.Fail(Invalid("edge_order: expected 1 or 2"));
  const std::vector<int64_t> axes = c.Axes("dim", self);
  const Expr f{c, c.Cast(self, c.out_dtype())};
  RequireReal(f);
  if (!IsFloating(f->dtype())) return c.Fail(Unimplemented("expected floats"));
  std::vector<Value*> places;
  std::vector<double> spacing;
  if (kSpacing == Spacing::kTensors) places = c.Tensors("spacing");
  if (kSpacing == Spacing::kNumbers) spacing = c.OptFloats("spacing").value_or(spacing);
  if (kSpacing == Spacing::kNumber) spacing = {c.Float("spacing", 1)};
  if (places.empty() && spacing.empty()) spacing = {1};
  if (spacing.size() == 1) spacing.resize(axes.size(), spacing[0]);
  if ((places.empty() ? spacing.size() : places.size()) != axes.size()) {
    return c.Fail(Invalid("spacing: expected one for each axis"));
  }
  Values results;
  for (size_t i = 0; i < axes.size(); ++i) {
    results.push_back(
        places.empty() ? GradientAlong(f, axes[i], spacing[i], edge_order)
                       : GradientAlong(f, axes[i], {c, c.Cast(places[i], f.dtype())}, edge_order));
  }
  return results;
}

X2IR_TORCH(cum_sum)
    .From("aten::cumsum.default", Running("cum_sum"))
    .From({"aten::cumulative_trapezoid.x", "aten::cumulative_trapezoid.dx"},
          [](TorchCall& c) { return Trapezoid(c, true); });
X2IR_TORCH(cum_prod).From("aten::cumprod.default", Running("cum_prod"));
X2IR_TORCH(reduce_max).From("aten::cummax.default", RunningExtreme(true));
X2IR_TORCH(reduce_min).From("aten::cummin.default", RunningExtreme(false));
X2IR_TORCH(reduce_log_sum_exp).From("aten::logcumsumexp.default", LogCumSumExp);
X2IR_TORCH(reduce_sum)
    .From({"aten::trapezoid.x", "aten::trapezoid.dx", "aten::trapz.x", "aten::trapz.dx"},
          [](TorchCall& c) { return Trapezoid(c, false); });
X2IR_TORCH(sub)
    .From("aten::diff.default", Diff)
    .From({"aten::gradient.scalarint", "aten::gradient.scalararray", "aten::gradient.array"},
          Gradient<Spacing::kNumber>)
    .From({"aten::gradient.scalarrayint", "aten::gradient.scalarrayarray"},
          Gradient<Spacing::kNumbers>)
    .From({"aten::gradient.tensorarrayint", "aten::gradient.tensorarray"},
          Gradient<Spacing::kTensors>);

}  // namespace
}  // namespace x2ir
