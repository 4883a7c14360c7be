// Ops that walk along one axis: arg_max, arg_min, cum_sum, cum_prod, reverse_sequence.
#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- arg_max, arg_min -----------------------------------------------------------------------

absl::Status InferArg(InferContext& ctx) {
  const Shape* in = ctx.shape(0);
  ctx.Set(0, DType::kInt64);
  if (!in) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in->rank()));
  Shape out;
  for (int64_t i = 0; i < in->rank(); ++i) {
    if (i != axis) {
      out.Append((*in)[i]);
    } else if (ctx.attrs().Int("keepdims") != 0) {
      out.Append(1);
    }
  }
  return ctx.Return(DType::kInt64, std::move(out));
}

absl::Status EvalArg(EvalContext& ctx, bool largest) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in.rank()));
  const bool last = ctx.attrs().Int("select_last_index") != 0;
  std::vector<int64_t> dims = in.dims();
  dims[axis] = 1;
  const AxisView view = ViewAt(in.dims(), axis);
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kInt64, dims));
  std::vector<int64_t> out(Count(dims));
  if (view.size == 0 && !out.empty()) return Invalid("axis ", axis, " has no elements");
  if (ctx.attrs().Int("keepdims") == 0) dims.erase(dims.begin() + axis);
  return DispatchReal(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> numbers(in);
    for (size_t line = 0; line < out.size(); ++line) {
      const int64_t o = static_cast<int64_t>(line) / view.inner;
      const int64_t i = static_cast<int64_t>(line) % view.inner;
      const T* x = numbers.data() + o * view.size * view.inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < view.size; ++k) {
        const T a = x[k * view.inner], b = x[best * view.inner];
        bool better = largest ? a > b : a < b;
        bool equal = a == b;
        if constexpr (std::is_floating_point_v<T>) {
          better = better || (std::isnan(a) && !std::isnan(b));
          equal = equal || (std::isnan(a) && std::isnan(b));
        }
        if (better || (last && equal)) best = k;
      }
      out[line] = best;
    }
    return ctx.Return(Tensor::Of<int64_t>(std::move(dims), out));
  });
}

void DefineArg(OpDef& def, bool largest, std::string_view which) {
  def.Signature("data -> reduced")
      .Attrs("axis = 0, keepdims = 1, select_last_index = 0")
      .Functions(InferArg, [largest](EvalContext& ctx) { return EvalArg(ctx, largest); })
      .Axes(kReductionAxes)
      .Numbers(NumberUse::kCompares, kFirstOfType, kNoneOfType)
      .Doc(StrCat("The index along the axis of the ", which,
                  " element: the first of equal ones, or the last. A NaN wins."));
}
X2IR_OP(arg_max).With(DefineArg, true, "largest");
X2IR_OP(arg_min).With(DefineArg, false, "smallest");

// --- cum_sum, cum_prod ----------------------------------------------------------------------

absl::Status InferCumulative(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "axis"));
  X2IR_RETURN_IF_ERROR(ExpectOneNumber(ctx, 1));
  ctx.Set(0, ctx.type(0));
  const Dim axis = ElementOf(ctx, 1);
  if (axis.is_static() && ctx.rank(0) >= 0)
    return NormalizeAxis(axis.value(), ctx.rank(0)).status();
  return absl::OkStatus();
}

absl::Status EvalCumulative(EvalContext& ctx, bool product) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(int64_t axis, IntOperand(ctx, 1, "axis"));
  X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, in.rank()));
  const bool exclusive = ctx.attrs().Int("exclusive") != 0;
  const bool reverse = ctx.attrs().Int("reverse") != 0;
  const AxisView view = ViewAt(in.dims(), axis);
  return DispatchReal(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    // Unsigned arithmetic wraps where signed must not overflow.
    using W = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
    const Numbers<T> numbers(in);
    std::vector<T> out(in.num_elements());
    const int64_t lines = out.empty() ? 0 : view.outer * view.inner;
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t base = line / view.inner * view.size * view.inner + line % view.inner;
      W acc = product ? W(1) : W(0);
      for (int64_t k = 0; k < view.size; ++k) {
        const int64_t at = base + (reverse ? view.size - 1 - k : k) * view.inner;
        const W next =
            product ? acc * static_cast<W>(numbers[at]) : acc + static_cast<W>(numbers[at]);
        out[at] = static_cast<T>(exclusive ? acc : next);
        acc = next;
      }
    }
    return ctx.Return(FromNumbers<T>(in.dtype(), in.dims(), out));
  });
}

std::optional<Flip> FlipCumulative(const Node& node, Slot slot, const Perm& p) {
  const auto axis = KnownInts(node.input(1));
  if (!axis || axis->size() != 1 || !AxisMask(*axis, static_cast<int64_t>(p.size()))) {
    return std::nullopt;
  }
  return FlipSame(node, slot, p, 1);
}
void MoveAxisOperand(Node& node, const Flip& flip, Builder& b) {
  SetOperand(node, 1, b.Int(NewAxes(*KnownInts(node.input(1)), flip.in[0])[0], "axis"));
}

void DefineCumulative(OpDef& def, bool product, std::string_view what) {
  def.Signature("x, axis -> y")
      .Attrs("exclusive = 0, reverse = 0")
      .Functions(InferCumulative,
                 [product](EvalContext& ctx) { return EvalCumulative(ctx, product); })
      .Axes({FlipCumulative, MoveAxisOperand})
      .Numbers(product ? NumberUse::kFixed : NumberUse::kWraps, kFirstOfType)
      .Doc(StrCat(what,
                  " of the elements up to each one (without it when exclusive) along the "
                  "axis; reverse starts at its end."));
}
X2IR_OP(cum_sum)
    .With(DefineCumulative, false, "Sum")
    .NeedsFloat32(float32_for::kSums)
    .Origins(OriginsOfCumulation)
    .Complex(ComplexUse::kParts);
X2IR_OP(cum_prod)
    .With(DefineCumulative, true, "Product")
    .NeedsFloat32(float32_for::kSums)
    .Origins(OriginsOfCumulation);

// --- reverse_sequence -----------------------------------------------------------------------

absl::Status CheckSequenceAxes(const AttributeMap& attrs, int64_t rank) {
  const int64_t batch = attrs.Int("batch_axis"), time = attrs.Int("time_axis");
  if (std::min(batch, time) != 0 || std::max(batch, time) != 1) {
    return Invalid("batch_axis and time_axis: expected 0 and 1 in either order, got ", batch,
                   " and ", time);
  }
  if (rank >= 0 && rank < 2) return Invalid("expected rank 2 or more, got ", rank);
  return absl::OkStatus();
}

absl::Status InferReverseSequence(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckSequenceAxes(ctx.attrs(), ctx.rank(0)));
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "sequence_lens"));
  return ctx.Return(ctx.type(0));
}

absl::Status EvalReverseSequence(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckSequenceAxes(ctx.attrs(), in.rank()));
  const bool time_first = ctx.attrs().Int("time_axis") == 0;
  const int64_t time = in.dim(time_first ? 0 : 1), batch = in.dim(time_first ? 1 : 0);
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> lens, IntsOperand(ctx, 1, "sequence_lens"));
  if (static_cast<int64_t>(lens.size()) != batch) {
    return Invalid("sequence_lens: expected ", batch, " numbers, got ", lens.size());
  }
  for (int64_t len : lens) {
    if (len < 0 || len > time) return Invalid("sequence_lens: ", len, " of ", time, " steps");
  }
  CellsOut out(in.dtype(), in.dims());
  if (out.num_elements() > 0) {
    const Cells cells(in);
    const int64_t run = Count(absl::MakeConstSpan(in.dims()).subspan(2)) * out.size();
    const auto at = [&](int64_t t, int64_t b) {
      return (time_first ? t * batch + b : b * time + t) * run;
    };
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t t = 0; t < time; ++t) {
        std::copy_n(cells.data() + at(t < lens[b] ? lens[b] - 1 - t : t, b), run,
                    out.data() + at(t, b));
      }
    }
  }
  return ctx.Return(out.Finish());
}

// Its two axes must be the first two.
std::optional<Flip> FlipReverseSequence(const Node& node, Slot slot, const Perm& p) {
  if (p.size() < 2 || p[0] > 1 || p[1] > 1) return std::nullopt;
  return FlipSame(node, slot, p, 1);
}
void MoveTwoAxes(Node& node, const Flip& flip, Builder&) {
  for (const char* name : {"batch_axis", "time_axis"}) {
    node.SetAttr(name, NewAxes({node.attrs().Int(name)}, flip.in[0])[0]);
  }
}

X2IR_OP(reverse_sequence)
    .Signature("input, sequence_lens -> y")
    .Attrs("batch_axis = 1, time_axis = 0")
    .Functions(InferReverseSequence, EvalReverseSequence)
    .Moves({FlipReverseSequence, MoveTwoAxes})
    .Doc(
        "Reverses the first sequence_lens[b] steps along time_axis of each batch entry b; the "
        "rest stays.")
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
