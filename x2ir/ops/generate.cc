// Ops that make tensors from sizes and bounds: constant_of_shape, range, one_hot, eye_like; and
// trilu, which keeps a triangle.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- constant_of_shape ----------------------------------------------------------------------

absl::StatusOr<Tensor> FillValue(const AttributeMap& attrs) {
  const Attribute* attr = attrs.Find("value");
  const Tensor* value = attr ? attr->get<Tensor>() : nullptr;
  if (!value || value->is_sparse() || value->num_elements() != 1) {
    return Invalid("value: expected a tensor of one element");
  }
  return value->Reshaped({}).AlignedCopyIfNeeded();
}

absl::Status InferConstantOfShape(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Tensor value, FillValue(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(auto sizes, SizesOperand(ctx, 0));
  if (!sizes) {
    return ctx.Return(value.dtype());
  }
  Shape out(*std::move(sizes));
  if (IsInteger(value.dtype()) && out.rank() <= 1 && out.is_static() &&
      out.NumElements().value() <= int64_t{InferContext::kMaxElements}) {
    ctx.SetElements(0, std::vector<Dim>(out.NumElements().value(), Dim(value.AsInt(0))));
  }
  return ctx.Return(value.dtype(), std::move(out));
}

absl::Status EvalConstantOfShape(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Tensor value, FillValue(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, IntsOperand(ctx, 0, "shape"));
  for (int64_t d : dims) {
    if (d < 0) return Invalid("size ", d, " is negative");
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(value.dtype(), dims));
  return ctx.Return(BroadcastTo(value, std::move(dims)));
}

X2IR_OP(constant_of_shape)
    .Signature("shape -> output")
    .Attr("value", Tensor::Of<float>({1}, {0.0f}))
    .Functions(InferConstantOfShape, EvalConstantOfShape)
    .Opaque()
    .Doc("A tensor of that shape, every element being `value` (a tensor of one element).")
    .AllowsFloat16();

// --- range ----------------------------------------------------------------------------------

// ceil((limit - start) / delta), at least 0; InvalidArgument when there is no such number.
absl::StatusOr<int64_t> RangeLength(double start, double limit, double delta) {
  const double n = std::ceil((limit - start) / delta);
  if (!std::isfinite(n) || n > 9e18) {
    return Invalid("range from ", start, " to ", limit, " by ", delta, " has no length");
  }
  return static_cast<int64_t>(std::max(n, 0.0));
}

absl::StatusOr<int64_t> RangeLength(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return Invalid("range: delta is 0");
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  const uint64_t from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
  const uint64_t span = delta > 0 ? to - from : from - to;
  const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
  const uint64_t n = (span - 1) / step + 1;
  if (n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Invalid("range: too many elements");
  }
  return static_cast<int64_t>(n);
}

bool IsOneNumber(const Tensor& t) {
  return t.num_elements() == 1 && !t.is_string() && !IsComplex(t.dtype());
}

absl::Status InferRange(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 3));
  for (size_t i = 0; i < 3; ++i) X2IR_RETURN_IF_ERROR(ExpectOneNumber(ctx, i));
  Dim length;
  const Tensor *start = ctx.constant(0), *limit = ctx.constant(1), *delta = ctx.constant(2);
  if (IsFloating(dtype)) {
    if (start && limit && delta && IsOneNumber(*start) && IsOneNumber(*limit) &&
        IsOneNumber(*delta)) {
      X2IR_ASSIGN_OR_RETURN(
          length, RangeLength(start->AsDouble(0), limit->AsDouble(0), delta->AsDouble(0)));
    }
  } else if (IsInteger(dtype)) {
    const Dim from = ElementOf(ctx, 0), to = ElementOf(ctx, 1), step = ElementOf(ctx, 2);
    if (from.is_static() && to.is_static() && step.is_static()) {
      X2IR_ASSIGN_OR_RETURN(length, RangeLength(from.value(), to.value(), step.value()));
    } else if (step.is_static() && step.value() > 0) {
      length = Max(CeilDiv(to - from, step), 0);
    } else if (step.is_static() && step.value() == -1) {
      length = Max(from - to, 0);
    }
  }
  return ctx.Return(dtype, Shape{length});
}

absl::Status EvalRange(EvalContext& ctx) {
  const DType dtype = ctx.dtype(0);
  for (size_t i = 0; i < 3; ++i) {
    if (ctx.dtype(i) != dtype || ctx.input(i).num_elements() != 1) {
      return Invalid("operand ", i, ": expected one ", Name(dtype), ", got ",
                     ctx.input(i).type().ToString());
    }
  }
  return DispatchReal(dtype, [&](auto zero) {
    using T = decltype(zero);
    // Unsigned numbers of 64 bits are not among the types of range.
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
    const T start = Numbers<T>(ctx.input(0))[0];
    const T delta = Numbers<T>(ctx.input(2))[0];
    X2IR_ASSIGN_OR_RETURN(
        const int64_t n,
        RangeLength(static_cast<Wide>(start), static_cast<Wide>(Numbers<T>(ctx.input(1))[0]),
                    static_cast<Wide>(delta)));
    X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, {n}));
    std::vector<T> values(n);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        values[i] = start + static_cast<T>(i) * delta;
      } else {
        values[i] = static_cast<T>(static_cast<uint64_t>(start) +
                                   static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      }
    }
    return ctx.Return(FromNumbers<T>(dtype, {n}, values));
  });
}

X2IR_OP(range)
    .Signature("start, limit, delta -> output")
    .Functions(InferRange, EvalRange)
    .Opaque()
    .Doc(
        "start, start + delta, ... as long as limit is not reached. Element i is start + i * "
        "delta; 16-bit floats are computed in float32.")
    .NeedsFloat32(float32_for::kCounts, kAllOfType, true);

// --- one_hot --------------------------------------------------------------------------------

// The axis in [-rank - 1, rank] of the result made non-negative; `rank` is that of indices.
absl::StatusOr<int64_t> OneHotAxis(const AttributeMap& attrs, int64_t rank) {
  return NormalizeAxis(attrs.Int("axis"), rank, /*inclusive=*/true);
}

absl::Status InferOneHot(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectOneNumber(ctx, 1));
  const DType dtype = ctx.dtype(2);
  ctx.Set(0, dtype);
  const Shape* indices = ctx.shape(0);
  if (!indices) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, OneHotAxis(ctx.attrs(), indices->rank()));
  Dim depth = ElementOf(ctx, 1);
  if (const Tensor* t = ctx.constant(1); t && IsFloating(t->dtype()) && IsOneNumber(*t)) {
    if (t->AsDouble(0) >= 0 && t->AsDouble(0) < 9e15) depth = static_cast<int64_t>(t->AsDouble(0));
  }
  if (depth.is_static() && depth.value() < 0) return Invalid("depth ", depth.value());
  std::vector<Dim> dims = indices->dims();
  dims.insert(dims.begin() + axis, std::move(depth));
  return ctx.Return(dtype, Shape(std::move(dims)));
}

// Elements of any real tensor as int64: fractions are dropped; what does not fit (as a NaN) is
// the smallest number, which no index is.
absl::StatusOr<std::vector<int64_t>> ToIndices(const Tensor& t) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> indices;
  if (IsFloating(t.dtype())) {
    const Numbers<double> numbers(t);
    for (double d : numbers.span()) {
      indices.push_back(std::abs(d) < 9e18 ? static_cast<int64_t>(d) : kNone);
    }
    return indices;
  }
  X2IR_ASSIGN_OR_RETURN(indices, t.ToInts());
  if (t.dtype() == DType::kUInt64) {
    for (int64_t& i : indices) i = i < 0 ? kNone : i;
  }
  return indices;
}

absl::Status EvalOneHot(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, OneHotAxis(ctx.attrs(), in.rank()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, ToIndices(in));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> depths, ToIndices(ctx.input(1)));
  if (depths.size() != 1 || depths[0] < 0) return Invalid("depth: expected one size");
  const int64_t depth = depths[0];
  const Tensor& values = ctx.input(2);
  if (values.rank() != 1 || values.num_elements() != 2) {
    return Invalid("values: expected two elements, got ", DimsText(values.dims()));
  }
  std::vector<int64_t> dims = in.dims();
  dims.insert(dims.begin() + axis, depth);
  X2IR_RETURN_IF_ERROR(CheckAllocation(values.dtype(), dims));
  CellsOut out(values.dtype(), dims);
  if (out.num_elements() > 0) {
    const Cells cells(values);
    const int64_t inner = ViewAt(dims, axis).inner;
    DispatchCell(out.size(), [&](auto cell) {
      using C = decltype(cell);
      C* to = out.as<C>();
      std::fill_n(to, out.num_elements(), cells.as<C>()[0]);
      for (size_t i = 0; i < indices.size(); ++i) {
        int64_t index = indices[i];
        if (index < -depth || index >= depth) continue;
        if (index < 0) index += depth;
        const int64_t at = static_cast<int64_t>(i);
        to[(at / inner * depth + index) * inner + at % inner] = cells.as<C>()[1];
      }
    });
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(one_hot)
    .Signature("indices, depth, values -> output")
    .Attrs("axis = -1")
    .Functions(InferOneHot, EvalOneHot)
    .Axes(kAxesStay)
    .Numbers(NumberUse::kMoves, 0b100)
    .Doc(
        "Inserts an axis of size depth, which holds values[1] at the index and values[0] "
        "elsewhere. Negative indices count from depth; one out of range has no values[1].");

// --- eye_like -------------------------------------------------------------------------------

absl::StatusOr<DType> EyeDType(const AttributeMap& attrs, DType own) {
  if (!attrs.Has("dtype")) return own;
  const std::optional<DType> dtype = ParseDType(attrs.String("dtype"));
  if (!dtype) return Invalid("dtype: '", attrs.String("dtype"), "' is no element type");
  return *dtype;
}

absl::Status InferEyeLike(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, EyeDType(ctx.attrs(), ctx.dtype(0)));
  if (ctx.rank(0) >= 0 && ctx.rank(0) != 2) return Invalid("expected rank 2, got ", ctx.rank(0));
  return ctx.Return(dtype, ctx.shape(0) ? *ctx.shape(0) : Shape::UnknownDims(2));
}

absl::Status EvalEyeLike(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, EyeDType(ctx.attrs(), ctx.dtype(0)));
  if (ctx.input(0).rank() != 2) return Invalid("expected rank 2, got ", ctx.input(0).rank());
  if (dtype != DType::kBool && !IsFloating(dtype) && !IsInteger(dtype)) {
    return Unimplemented("evaluation of ", Name(dtype));
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, ctx.dims(0)));
  const Tensor one = dtype == DType::kBool ? Tensor::Scalar(true) : Tensor::ScalarOf(dtype, 1.0);
  const Cells cell_of_one(one);
  CellsOut out(dtype, ctx.dims(0));
  const int64_t rows = ctx.dims(0)[0], columns = ctx.dims(0)[1], k = ctx.attrs().Int("k");
  if (k > -rows && k < columns) {
    DispatchCell(out.size(), [&](auto cell) {
      using C = decltype(cell);
      for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < columns; ++i) {
        out.as<C>()[i * columns + i + k] = *cell_of_one.as<C>();
      }
    });
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(eye_like)
    .Signature("input -> output")
    .Attrs("k = 0, dtype: string?")
    .Functions(InferEyeLike, EvalEyeLike)
    .Opaque()
    .Doc(
        "A matrix of the operand's shape with ones on diagonal k (positive: above the main one) "
        "and zeros elsewhere. dtype absent: the operand's.")
    .AllowsFloat16();

// --- trilu ----------------------------------------------------------------------------------

absl::Status InferTrilu(InferContext& ctx) {
  if (ctx.rank(0) == 0 || ctx.rank(0) == 1) {
    return Invalid("expected rank 2 or more, got ", ctx.rank(0));
  }
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "k"));
  return ctx.Return(ctx.type(0));
}

absl::Status EvalTrilu(EvalContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (in.rank() < 2) return Invalid("expected rank 2 or more, got ", in.rank());
  int64_t k = 0;
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(k, IntOperand(ctx, 1, "k"));
  }
  const bool upper = ctx.attrs().Int("upper") != 0;
  const int64_t columns = in.dims().back(), rows = in.dim(in.rank() - 2);
  CellsOut out(in.dtype(), in.dims());
  const Cells data(in);
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    for (int64_t at = 0; at < out.num_elements(); ++at) {
      const int64_t diagonal = at % columns - at / columns % rows;
      if (upper ? diagonal >= k : diagonal <= k) out.as<C>()[at] = data.as<C>()[at];
    }
  });
  return ctx.Return(out.Finish());
}

// The matrices are the last two axes.
std::optional<Flip> FlipMatrices(const Node& node, Slot slot, const Perm& p) {
  const int64_t rank = static_cast<int64_t>(p.size());
  return FlipAllBut(node, slot, p, rank - 2, rank);
}

X2IR_OP(trilu)
    .Signature("input, k? -> output")
    .Attrs("upper = 1")
    .Functions(InferTrilu, EvalTrilu)
    .Moves({FlipMatrices})
    .Doc(
        "The upper (or lower) triangle of the matrices in the last two axes, from (or up to) "
        "diagonal k (left out: 0); zeros elsewhere.")
    .Origins(OriginsInOrder)
    .Complex(ComplexUse::kParts);

}  // namespace
}  // namespace x2ir
