// Reductions: sum, mean, max, min, prod, l1, l2, log_sum, log_sum_exp, sum_square over some axes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/number_convert_internal.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

enum class Reduce { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kLogSum, kLogSumExp, kSumSquare };

// --- Inference ------------------------------------------------------------------------------

// What a reduction makes of symbolic sizes that are all reduced to one; nullopt: not known.
// (Numbers are left to evaluation, which wraps as the type does.)
std::optional<Dim> ReducedElements(Reduce kind, DType dtype, const std::vector<Dim>& elements) {
  if (elements.empty() || (dtype != DType::kInt64 && dtype != DType::kInt32)) return std::nullopt;
  if (std::all_of(elements.begin(), elements.end(), [](const Dim& d) { return d.is_static(); })) {
    return std::nullopt;
  }
  Dim result = elements[0];
  for (size_t i = 1; i < elements.size(); ++i) {
    switch (kind) {
      case Reduce::kSum: result = result + elements[i]; break;
      case Reduce::kProd: result = result * elements[i]; break;
      case Reduce::kMax: result = Max(result, elements[i]); break;
      case Reduce::kMin: result = Min(result, elements[i]); break;
      default: return std::nullopt;
    }
  }
  switch (kind) {
    case Reduce::kSum:
    case Reduce::kProd:
    case Reduce::kMax:
    case Reduce::kMin: return result;
    default: return std::nullopt;
  }
}

absl::Status InferReduce(InferContext& ctx, Reduce kind) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "axes"));
  X2IR_ASSIGN_OR_RETURN(const int64_t length, LengthOf(ctx, 1));
  const bool keepdims = ctx.attrs().Int("keepdims") != 0;
  const bool noop = ctx.attrs().Int("noop_with_empty_axes") != 0;
  const Shape* in = ctx.shape(0);
  ctx.Set(0, ctx.dtype(0));
  std::optional<std::vector<int64_t>> axes = std::vector<int64_t>();
  if (ctx.has(1)) axes = ctx.ConstInts(1);
  const bool empty = axes ? axes->empty() : length == 0;
  if (empty && noop) {
    return ctx.Return(ctx.type(0));
  }
  if (empty && !keepdims) {
    ctx.Set(0, ctx.dtype(0), Shape());
    const auto elements = in && in->rank() <= 1 ? ctx.Elements(0) : std::nullopt;
    if (elements) {
      if (auto result = ReducedElements(kind, ctx.dtype(0), *elements))
        ctx.SetElements(0, {*result});
    }
    return absl::OkStatus();
  }
  if (!in) return absl::OkStatus();
  if (empty) {
    ctx.Set(0, ctx.dtype(0), Shape(std::vector<Dim>(in->rank(), Dim(1))));
  } else if (!axes) {
    if (keepdims) {
      ctx.Set(0, ctx.dtype(0), Shape::UnknownDims(in->rank()));
    } else if (length > 0 && length <= in->rank()) {
      ctx.Set(0, ctx.dtype(0), Shape::UnknownDims(in->rank() - length));
    }
    return absl::OkStatus();
  } else {
    X2IR_ASSIGN_OR_RETURN(*axes, NormalizeAxes(*std::move(axes), in->rank()));
    Shape out;
    for (int64_t i = 0; i < in->rank(); ++i) {
      if (std::find(axes->begin(), axes->end(), i) == axes->end()) {
        out.Append((*in)[i]);
      } else if (keepdims) {
        out.Append(1);
      }
    }
    ctx.Set(0, ctx.dtype(0), std::move(out));
  }
  const auto elements = in->rank() == 1 ? ctx.Elements(0) : std::nullopt;
  if (elements) {
    if (auto result = ReducedElements(kind, ctx.dtype(0), *elements)) ctx.SetElements(0, {*result});
  }
  return absl::OkStatus();
}

// --- Evaluation -----------------------------------------------------------------------------

// The smallest or largest number of an integer type.
template <typename T>
T Limit(DType dtype, bool largest) {
  const int bits = dtype == DType::kBool ? 1 : BitWidth(dtype);
  if constexpr (std::is_unsigned_v<T>) {
    return largest ? std::numeric_limits<T>::max() >> (64 - bits) : T(0);
  } else {
    const T most = std::numeric_limits<T>::max() >> (64 - bits);
    return largest ? most : -most - 1;
  }
}

// log(sum(exp(x))), without overflow on the way.
template <typename T>
double LogSumExp(const T* x, int64_t n) {
  double most = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    if (std::isnan(v)) return v;
    most = std::max(most, v);
  }
  if (std::isinf(most)) return most;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += portable::exp(static_cast<double>(x[i]) - most);
  return most + portable::log(sum);
}

// Floating point: sums are kept in double.
template <typename T>
T ReduceFloats(Reduce kind, const T* x, int64_t n) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  double acc = kind == Reduce::kMax ? -kInf : kind == Reduce::kMin ? kInf : 0;
  if (kind == Reduce::kProd) acc = 1;
  // Of one element both are that element, -0 too.
  if ((kind == Reduce::kSum || kind == Reduce::kMean) && n > 0) acc = -0.0;
  switch (kind) {
    case Reduce::kSum:
    case Reduce::kMean:
    case Reduce::kLogSum:
      for (int64_t i = 0; i < n; ++i) acc += x[i];
      break;
    case Reduce::kProd:
      for (int64_t i = 0; i < n; ++i) acc *= x[i];
      break;
    case Reduce::kMax:
      for (int64_t i = 0; i < n; ++i) acc = x[i] > acc || std::isnan(x[i]) ? x[i] : acc;
      break;
    case Reduce::kMin:
      for (int64_t i = 0; i < n; ++i) acc = x[i] < acc || std::isnan(x[i]) ? x[i] : acc;
      break;
    case Reduce::kL1:
      for (int64_t i = 0; i < n; ++i) acc += std::abs(x[i]);
      break;
    case Reduce::kL2:
    case Reduce::kSumSquare:
      for (int64_t i = 0; i < n; ++i) acc += static_cast<double>(x[i]) * x[i];
      break;
    case Reduce::kLogSumExp: return ConvertNumber<T>(LogSumExp(x, n));
  }
  if (kind == Reduce::kMean) acc /= static_cast<double>(n);
  if (kind == Reduce::kL2) acc = std::sqrt(acc);
  if (kind == Reduce::kLogSum) acc = portable::log(acc);
  return ConvertNumber<T>(acc);
}

// Integers wrap; a mean is rounded towards zero, and is 0 of nothing.
template <typename T>
T ReduceInts(Reduce kind, const T* x, int64_t n, DType dtype) {
  uint64_t acc = kind == Reduce::kProd ? 1 : 0;
  double squares = 0;
  switch (kind) {
    case Reduce::kSum:
    case Reduce::kMean:
    case Reduce::kLogSum:
      for (int64_t i = 0; i < n; ++i) acc += static_cast<uint64_t>(x[i]);
      break;
    case Reduce::kProd:
      for (int64_t i = 0; i < n; ++i) acc *= static_cast<uint64_t>(x[i]);
      break;
    case Reduce::kMax: return n > 0 ? *std::max_element(x, x + n) : Limit<T>(dtype, false);
    case Reduce::kMin: return n > 0 ? *std::min_element(x, x + n) : Limit<T>(dtype, true);
    case Reduce::kL1:
      for (int64_t i = 0; i < n; ++i) {
        acc += x[i] < T(0) ? 0 - static_cast<uint64_t>(x[i]) : static_cast<uint64_t>(x[i]);
      }
      break;
    case Reduce::kSumSquare:
      for (int64_t i = 0; i < n; ++i)
        acc += static_cast<uint64_t>(x[i]) * static_cast<uint64_t>(x[i]);
      break;
    case Reduce::kL2:
      // Exact of one element, whose square may need more digits than a double has.
      if (n == 1 && x[0] >= T(0)) return x[0];
      for (int64_t i = 0; i < n; ++i)
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      return ConvertNumber<T>(std::sqrt(squares));
    case Reduce::kLogSumExp: return ConvertNumber<T>(LogSumExp(x, n));
  }
  const T sum = static_cast<T>(acc);
  if (kind == Reduce::kMean) return n > 0 ? sum / static_cast<T>(n) : T(0);
  return kind == Reduce::kLogSum ? ConvertNumber<T>(portable::log(static_cast<double>(sum))) : sum;
}

absl::Status EvalReduce(EvalContext& ctx, Reduce kind) {
  const Tensor& in = ctx.input(0);
  std::vector<int64_t> axes;
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(axes, IntsOperand(ctx, 1, "axes"));
  }
  X2IR_ASSIGN_OR_RETURN(axes, NormalizeAxes(std::move(axes), in.rank()));
  std::vector<bool> reduced(in.rank(), false);
  for (int64_t axis : axes) reduced[axis] = true;
  if (axes.empty() && ctx.attrs().Int("noop_with_empty_axes") == 0) reduced.assign(in.rank(), true);

  // The reduced axes last, so that what becomes one element lies together.
  std::vector<int64_t> perm, kept, dims;
  for (int64_t i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) perm.push_back(i);
    if (!reduced[i]) kept.push_back(in.dim(i));
    if (!reduced[i] || ctx.attrs().Int("keepdims") != 0) dims.push_back(reduced[i] ? 1 : in.dim(i));
  }
  std::vector<int64_t> row;
  for (int64_t i = 0; i < in.rank(); ++i) {
    if (reduced[i]) perm.push_back(i);
    if (reduced[i]) row.push_back(in.dim(i));
  }
  // Without elements there may be more results than operands.
  X2IR_RETURN_IF_ERROR(CheckAllocation(in.dtype(), dims));
  const int64_t rows = Count(kept), n = Count(row);
  const Tensor together = std::is_sorted(perm.begin(), perm.end()) ? in : TransposeTensor(in, perm);
  return DispatchReal(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> numbers(together);
    std::vector<T> out(rows);
    for (int64_t r = 0; r < rows; ++r) {
      const T* x = numbers.data() + r * n;
      if constexpr (std::is_floating_point_v<T>) {
        out[r] = ReduceFloats(kind, x, n);
      } else {
        out[r] = ReduceInts(kind, x, n, in.dtype());
      }
    }
    return ctx.Return(FromNumbers<T>(in.dtype(), std::move(dims), out));
  });
}

// --- The ops --------------------------------------------------------------------------------

NumberUse NumbersOf(Reduce kind) {
  switch (kind) {
    case Reduce::kMax:
    case Reduce::kMin: return NumberUse::kCompares;
    case Reduce::kSum:
    case Reduce::kProd:
    case Reduce::kSumSquare: return NumberUse::kWraps;
    default: return NumberUse::kFloatOnly;
  }
}

void Define(OpDef& def, Reduce kind, std::string_view doc) {
  const bool limits = kind == Reduce::kMax || kind == Reduce::kMin;
  const bool sums = kind == Reduce::kSum || kind == Reduce::kMean;
  def.Signature("data, axes? -> reduced")
      .Attrs("keepdims = 1, noop_with_empty_axes = 0")
      .Functions([kind](InferContext& ctx) { return InferReduce(ctx, kind); },
                 [kind](EvalContext& ctx) { return EvalReduce(ctx, kind); })
      .Axes(kReductionAxes)
      .Numbers(NumbersOf(kind), kFirstOfType, kAllOfType, limits ? MayReduceNothing : nullptr)
      .Rows(sums ? RowUse::kReduce : RowUse::kNone)
      .Doc(StrCat(doc,
                  " over axes (none or left out: all of them, or with "
                  "noop_with_empty_axes each element alone)."));
}

#define X2IR_REDUCE(name, kind, doc) X2IR_OP(name).With(Define, Reduce::kind, doc)

X2IR_REDUCE(reduce_sum, kSum, "Sum")
    .AllowsFloat16()
    .Origins(OriginsOfReduction)
    .Complex(ComplexUse::kParts);
X2IR_REDUCE(reduce_mean, kMean, "Mean (of integers: rounded towards zero)")
    .AllowsFloat16()
    .Origins(OriginsOfReduction)
    .Complex(ComplexUse::kParts)
    .Gives(ResultUse::kMeans);
X2IR_REDUCE(reduce_max, kMax, "Largest element (of nothing: -inf or the type's smallest)")
    .Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_min, kMin, "Smallest element (of nothing: inf or the type's largest)")
    .Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_prod, kProd, "Product")
    .NeedsFloat32(float32_for::kSums)
    .Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_l1, kL1, "Sum of absolute values").AllowsFloat16().Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_l2, kL2, "Square root of the sum of squares")
    .NeedsFloat32(float32_for::kSquares)
    .Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_log_sum, kLogSum, "Logarithm of the sum")
    .AllowsFloat16()
    .Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_log_sum_exp, kLogSumExp, "Logarithm of the sum of exponentials")
    .NeedsFloat32(float32_for::kSums)
    .Origins(OriginsOfReduction);
X2IR_REDUCE(reduce_sum_square, kSumSquare, "Sum of squares")
    .NeedsFloat32(float32_for::kSquares)
    .Origins(OriginsOfReduction);

}  // namespace
}  // namespace x2ir
