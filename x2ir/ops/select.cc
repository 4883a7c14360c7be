// Ops that select by what the elements are: non_zero, compress, unique, top_k.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- non_zero -------------------------------------------------------------------------------

absl::Status InferNonZero(InferContext& ctx) {
  const int64_t rank = ctx.rank(0);
  return ctx.Return(DType::kInt64, Shape{rank >= 0 ? Dim(rank) : Dim(), Dim()});
}

template <typename T>
std::vector<bool> FlagsOf(const Tensor& t) {
  std::vector<bool> flags;
  const Numbers<T> numbers(t);
  for (const T& v : numbers.span()) flags.push_back(v != T(0));
  return flags;
}

// Whether each element is not zero; a string is not when it has characters.
std::vector<bool> NonZeroFlags(const Tensor& t) {
  switch (ComputeTypeOf(t.dtype())) {
    case ComputeType::kFloat: return FlagsOf<float>(t);
    case ComputeType::kDouble: return FlagsOf<double>(t);
    case ComputeType::kInt: return FlagsOf<int64_t>(t);
    case ComputeType::kUInt: return FlagsOf<uint64_t>(t);
    case ComputeType::kComplexFloat: return FlagsOf<std::complex<float>>(t);
    case ComputeType::kComplexDouble: return FlagsOf<std::complex<double>>(t);
    case ComputeType::kNone: break;
  }
  std::vector<bool> flags(t.num_elements(), false);
  for (int64_t i = 0; t.is_string() && i < t.num_elements(); ++i)
    flags[i] = !t.strings()[i].empty();
  return flags;
}

absl::Status EvalNonZero(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  const std::vector<bool> flags = NonZeroFlags(in);
  const int64_t n = std::count(flags.begin(), flags.end(), true);
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kInt64, {in.rank(), n}));
  std::vector<int64_t> found(in.rank() * n);
  int64_t column = 0;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    int64_t rest = static_cast<int64_t>(i);
    for (int64_t k = in.rank(); k-- > 0;) {
      found[k * n + column] = rest % in.dim(k);
      rest /= in.dim(k);
    }
    ++column;
  }
  return ctx.Return(Tensor::Of<int64_t>({in.rank(), n}, found));
}

X2IR_OP(non_zero)
    .Signature("x -> y")
    .Functions(InferNonZero, EvalNonZero)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kCompares, kFirstOfType, kNoneOfType)
    .BoundedResults()
    .Doc(
        "The positions of the elements that are not zero, in row-major order: one row for each "
        "axis, one column for each element.");

// The attribute axis; without it 0, and the tensor becomes a vector.
absl::StatusOr<int64_t> AxisOrFlatten(const AttributeMap& attrs, Tensor& in) {
  if (attrs.Has("axis")) return NormalizeAxis(attrs.Int("axis"), in.rank());
  in = in.Reshaped({in.num_elements()});
  return 0;
}

// --- compress -------------------------------------------------------------------------------

absl::Status InferCompress(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, 1));
  (void)length;
  Dim kept;
  if (const auto flags = ctx.ConstInts(1)) {
    kept = static_cast<int64_t>(
        std::count_if(flags->begin(), flags->end(), [](int64_t f) { return f != 0; }));
  }
  if (!ctx.attrs().Has("axis")) {
    return ctx.Return(ctx.dtype(0), Shape{kept});
  }
  const Shape* in = ctx.shape(0);
  ctx.Set(0, ctx.dtype(0));
  if (!in) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in->rank()));
  Shape out = *in;
  out[axis] = kept;
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalCompress(EvalContext& ctx) {
  Tensor in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, AxisOrFlatten(ctx.attrs(), in));
  const Tensor& condition = ctx.input(1);
  if (condition.dtype() != DType::kBool || condition.rank() != 1) {
    return Invalid("condition: expected bools of rank 1, got ", condition.type().ToString());
  }
  const std::vector<bool> flags = NonZeroFlags(condition);
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < condition.num_elements(); ++i) {
    if (!flags[i]) continue;
    if (i >= in.dim(axis)) {
      return Invalid("condition selects element ", i, " of an axis of size ", in.dim(axis));
    }
    kept.push_back(i);
  }
  std::vector<int64_t> dims = in.dims();
  dims[axis] = static_cast<int64_t>(kept.size());
  CellsOut out(in.dtype(), dims);
  if (out.num_elements() > 0) {
    const Cells cells(in);
    const AxisView view = ViewAt(in.dims(), axis);
    const int64_t run = view.inner * out.size();
    std::byte* to = out.data();
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i : kept) to = std::copy_n(cells.data() + (o * view.size + i) * run, run, to);
    }
  }
  return ctx.Return(out.Finish());
}

std::optional<Flip> FlipCompress(const Node& node, Slot slot, const Perm& p) {
  if (!node.attrs().Has("axis")) return std::nullopt;  // of all elements in their order
  return FlipSame(node, slot, p, 1);
}

X2IR_OP(compress)
    .Signature("input, condition -> output")
    .Attrs("axis: int?")
    .Functions(InferCompress, EvalCompress)
    .Moves({FlipCompress, MoveAxisAttr})
    .BoundedResults()
    .Doc(
        "The slices of an axis for which condition is true; without axis, the elements of the "
        "flattened operand.")
    .Complex(ComplexUse::kParts);

// --- unique ---------------------------------------------------------------------------------

// Order of two elements of a tensor by position: negative, 0 or positive. NaNs are equal, and
// larger than numbers.
using Order = std::function<int(int64_t, int64_t)>;

template <typename T>
Order OrderOf(const Tensor& t) {
  return [numbers = std::make_shared<Numbers<T>>(t)](int64_t i, int64_t k) {
    const T a = (*numbers)[i], b = (*numbers)[k];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return int{std::isnan(a)} - int{std::isnan(b)};
    }
    return (a > b) - (a < b);
  };
}

absl::StatusOr<Order> ElementOrder(const Tensor& t) {
  if (t.is_string()) {
    return Order([&t](int64_t i, int64_t k) { return t.strings()[i].compare(t.strings()[k]); });
  }
  Order order;
  X2IR_RETURN_IF_ERROR(DispatchReal(t.dtype(), [&](auto zero) {
    order = OrderOf<decltype(zero)>(t);
    return absl::OkStatus();
  }));
  return order;
}

absl::Status InferUnique(InferContext& ctx) {
  for (size_t i = 1; i < 4; ++i) ctx.Set(i, DType::kInt64, Shape::UnknownDims(1));
  const Shape* in = ctx.shape(0);
  if (!ctx.attrs().Has("axis")) {
    ctx.Set(0, ctx.dtype(0), Shape::UnknownDims(1));
    if (in) ctx.Set(2, DType::kInt64, Shape{in->NumElements()});
    return absl::OkStatus();
  }
  ctx.Set(0, ctx.dtype(0));
  if (!in) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in->rank()));
  Shape out = *in;
  ctx.Set(2, DType::kInt64, Shape{out[axis]});
  out[axis] = Dim();
  return ctx.Return(ctx.dtype(0), std::move(out));
}

absl::Status EvalUnique(EvalContext& ctx) {
  Tensor in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, AxisOrFlatten(ctx.attrs(), in));
  X2IR_ASSIGN_OR_RETURN(const Order order, ElementOrder(in));
  const AxisView view = ViewAt(in.dims(), axis);
  // Slices without elements are equal; no need to store one number for each.
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kInt64, {view.size}));
  const int64_t outer = in.num_elements() > 0 ? view.outer : 0;
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        const int c =
            order((o * view.size + a) * view.inner + i, (o * view.size + b) * view.inner + i);
        if (c != 0) return c;
      }
    }
    return 0;
  };
  std::vector<int64_t> sorted(view.size);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  // Groups of equal slices; the first slice represents its group.
  std::vector<int64_t> firsts, inverse(view.size), counts;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || compare(firsts.back(), sorted[i]) != 0) {
      firsts.push_back(sorted[i]);
      counts.push_back(0);
    }
    inverse[sorted[i]] = static_cast<int64_t>(firsts.size()) - 1;
    ++counts.back();
  }
  if (ctx.attrs().Int("sorted") == 0) {  // in order of first occurrence
    std::vector<int64_t> by_first(firsts.size()), place(firsts.size());
    std::iota(by_first.begin(), by_first.end(), 0);
    std::sort(by_first.begin(), by_first.end(),
              [&](int64_t a, int64_t b) { return firsts[a] < firsts[b]; });
    std::vector<int64_t> new_firsts, new_counts;
    for (size_t i = 0; i < by_first.size(); ++i) {
      place[by_first[i]] = static_cast<int64_t>(i);
      new_firsts.push_back(firsts[by_first[i]]);
      new_counts.push_back(counts[by_first[i]]);
    }
    for (int64_t& i : inverse) i = place[i];
    firsts = std::move(new_firsts);
    counts = std::move(new_counts);
  }
  std::vector<int64_t> dims = in.dims();
  dims[axis] = static_cast<int64_t>(firsts.size());
  CellsOut out(in.dtype(), dims);
  if (out.num_elements() > 0) {
    const Cells cells(in);
    const int64_t run = view.inner * out.size();
    std::byte* to = out.data();
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i : firsts) to = std::copy_n(cells.data() + (o * view.size + i) * run, run, to);
    }
  }
  ctx.Set(0, out.Finish());
  ctx.Set(1, Tensor::Vector(firsts));
  ctx.Set(2, Tensor::Vector(inverse));
  ctx.Set(3, Tensor::Vector(counts));
  return absl::OkStatus();
}

X2IR_OP(unique)
    .Signature("x -> y, indices?, inverse_indices?, counts?")
    .Attrs("sorted = 1, axis: int?")
    .Functions(InferUnique, EvalUnique)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kCompares, kFirstOfType, kFirstOfType)
    .BoundedResults()
    .Doc(
        "The different slices along an axis (absent: elements of the flattened operand), sorted "
        "or in order of first occurrence; where each first occurs, which one each slice is, and "
        "how often each occurs. NaNs are equal and sort last.");

// --- top_k ----------------------------------------------------------------------------------

absl::Status InferTopK(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "k"));
  X2IR_RETURN_IF_ERROR(LengthOf(ctx, 1).status());
  X2IR_RETURN_IF_ERROR(ExpectOneNumber(ctx, 1));
  ctx.Set(0, ctx.dtype(0));
  ctx.Set(1, DType::kInt64);
  const Shape* in = ctx.shape(0);
  if (!in) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in->rank()));
  const Dim k = ElementOf(ctx, 1);
  if (k.is_static() &&
      (k.value() < 0 || ((*in)[axis].is_static() && k.value() > (*in)[axis].value()))) {
    return Invalid("k = ", k.value(), " of an axis of size ", (*in)[axis].ToString());
  }
  Shape out = *in;
  out[axis] = k;
  ctx.Set(0, ctx.dtype(0), out);
  ctx.Set(1, DType::kInt64, std::move(out));
  return absl::OkStatus();
}

// Positions of the k largest (or smallest) of n numbers `stride` apart, best first; equal ones
// in their order. A NaN is larger than every number.
template <typename T>
void BestOf(const T* x, int64_t n, int64_t stride, bool largest, int64_t k,
            std::vector<int64_t>& best) {
  best.resize(n);
  std::iota(best.begin(), best.end(), 0);
  std::partial_sort(best.begin(), best.begin() + k, best.end(), [&](int64_t i, int64_t j) {
    const T a = x[i * stride], b = x[j * stride];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) != std::isnan(b)) return std::isnan(a) == largest;
    }
    if (a < b) return !largest;
    if (b < a) return largest;
    return i < j;
  });
}

absl::Status EvalTopK(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"), in.rank()));
  X2IR_ASSIGN_OR_RETURN(const int64_t k, IntOperand(ctx, 1, "k"));
  if (k < 0 || k > in.dim(axis)) return Invalid("k = ", k, " of an axis of size ", in.dim(axis));
  const bool largest = ctx.attrs().Int("largest") != 0;
  std::vector<int64_t> dims = in.dims();
  dims[axis] = k;
  CellsOut values(in.dtype(), dims);
  std::vector<int64_t> indices(values.num_elements());
  if (values.num_elements() == 0) {
    ctx.Set(0, values.Finish());
    ctx.Set(1, Tensor::Of<int64_t>(dims, indices));
    return absl::OkStatus();
  }
  const Cells cells(in);
  const AxisView view = ViewAt(in.dims(), axis);
  X2IR_RETURN_IF_ERROR(DispatchReal(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> numbers(in);
    std::vector<int64_t> best;
    for (int64_t line = 0; line < view.outer * view.inner; ++line) {
      const int64_t o = line / view.inner, i = line % view.inner;
      const int64_t from = o * view.size * view.inner + i;
      BestOf(numbers.data() + from, view.size, view.inner, largest, k, best);
      for (int64_t j = 0; j < k; ++j) {
        const int64_t to = (o * k + j) * view.inner + i;
        indices[to] = best[j];
        std::copy_n(cells.data() + (from + best[j] * view.inner) * values.size(), values.size(),
                    values.data() + to * values.size());
      }
    }
    return absl::OkStatus();
  }));
  ctx.Set(0, values.Finish());
  ctx.Set(1, Tensor::Of<int64_t>(dims, indices));
  return absl::OkStatus();
}

X2IR_OP(top_k)
    .Signature("x, k -> values, indices")
    .Attrs("axis = -1, largest = 1, sorted = 1")
    .Functions(InferTopK, EvalTopK)
    .Axes(kAlongAxis)
    .Numbers(NumberUse::kCompares, kFirstOfType, kFirstOfType)
    .Doc(
        "The k largest (or smallest) elements along an axis and their indices; of equal ones "
        "the first. sorted 0 allows any order among them. A NaN is larger than every number.")
    .Origins(OriginsButAxis);

}  // namespace
}  // namespace x2ir
