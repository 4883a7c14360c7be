// Ops used around attention: rotary_embedding, tensor_scatter, swiglu.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- rotary_embedding -----------------------------------------------------------------------

absl::Status InferRotaryEmbedding(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 3));
  ctx.Set(0, dtype);
  if (ctx.attrs().Int("rotary_embedding_dim") < 0 ||
      ctx.attrs().Int("rotary_embedding_dim") % 2 != 0) {
    return Invalid("rotary_embedding_dim: expected an even number");
  }
  const bool positions = ctx.num_inputs() > 3 && ctx.has(3);
  if (positions) {
    X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 3, "position_ids"));
    if (ctx.shape(3) && ctx.rank(3) != 2) return Invalid("position_ids: expected rank 2");
  }
  for (size_t i = 1; i < 3; ++i) {
    if (ctx.shape(i) && ctx.rank(i) != (positions ? 2 : 3)) {
      return Invalid("expected caches of rank ", positions ? 2 : 3, ", got ", ctx.rank(i));
    }
  }
  const Shape* x = ctx.shape(0);
  if (!x) return absl::OkStatus();
  if (x->rank() != 3 && x->rank() != 4) return Invalid("expected rank 3 or 4, got ", x->rank());
  if (x->rank() == 3 && ctx.attrs().Int("num_heads", 0) < 1) {
    return Invalid("num_heads must be given for an operand of rank 3");
  }
  return ctx.Return(dtype, *x);
}

template <typename T>
absl::Status RotaryEmbeddingAs(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool flat = x.rank() == 3;
  if (!flat && x.rank() != 4) return Invalid("expected rank 3 or 4, got ", x.rank());
  const int64_t batch = x.dim(0), length = flat ? x.dim(1) : x.dim(2);
  const int64_t heads = flat ? ctx.attrs().Int("num_heads", 0) : x.dim(1);
  if (flat && (heads < 1 || x.dim(2) % heads != 0)) {
    return Invalid(x.dim(2), " numbers are not ", heads, " heads");
  }
  const int64_t size = flat ? x.dim(2) / heads : x.dim(3);
  int64_t turned = ctx.attrs().Int("rotary_embedding_dim");
  if (turned == 0) turned = size;
  if (turned < 0 || turned > size || turned % 2 != 0) {
    return Invalid("cannot turn ", turned, " of ", size, " numbers");
  }
  const int64_t half = turned / 2;
  const bool positions = ctx.num_inputs() > 3 && ctx.has(3);
  const Tensor &cos = ctx.input(1), &sin = ctx.input(2);
  if (cos.dims() != sin.dims() || cos.dtype() != x.dtype() || sin.dtype() != x.dtype() ||
      cos.rank() != (positions ? 2 : 3) || cos.dims().back() != half) {
    return Invalid("caches ", DimsText(cos.dims()), " and ", DimsText(sin.dims()), " do not fit ",
                   DimsText(x.dims()));
  }
  std::vector<int64_t> rows;  // of the caches, for each batch and position
  if (positions) {
    if (ctx.dims(3) != std::vector<int64_t>{batch, length}) {
      return Invalid("position_ids: expected [", batch, ",", length, "], got ",
                     DimsText(ctx.dims(3)));
    }
    X2IR_ASSIGN_OR_RETURN(rows, WrapIndices(ctx.input(3), cos.dim(0)));
  } else if ((cos.dim(0) != batch && cos.dim(0) != 1) ||
             (cos.dim(1) != length && cos.dim(1) != 1)) {
    return Invalid("caches ", DimsText(cos.dims()), " do not fit ", DimsText(x.dims()));
  }
  const bool interleaved = ctx.attrs().Int("interleaved") != 0;
  const Numbers<T> in(x), c(cos), s(sin);
  NumbersOut<T> out(x.dtype(), x.dims());
  for (int64_t i = 0; out.size() > 0 && i < out.size() / size; ++i) {
    // Row i is one head at one position.
    const int64_t b = i / (heads * length);
    const int64_t at = flat ? i / heads % length : i % length;
    const int64_t row = positions
                            ? rows[b * length + at]
                            : (cos.dim(0) == 1 ? 0 : b) * cos.dim(1) + (cos.dim(1) == 1 ? 0 : at);
    const T* from = in.data() + i * size;
    T* to = out.data() + i * size;
    for (int64_t j = 0; j < half; ++j) {
      const int64_t first = interleaved ? 2 * j : j, second = interleaved ? 2 * j + 1 : j + half;
      const T cosine = c[row * half + j], sine = s[row * half + j];
      to[first] = cosine * from[first] - sine * from[second];
      to[second] = sine * from[first] + cosine * from[second];
    }
    std::copy(from + turned, from + size, to + turned);
  }
  return ctx.Return(out.Finish());
}

absl::Status EvalRotaryEmbedding(EvalContext& ctx) {
  return DispatchFloat(ctx.dtype(0),
                       [&](auto zero) { return RotaryEmbeddingAs<decltype(zero)>(ctx); });
}

X2IR_OP(rotary_embedding)
    .Signature("x, cos_cache, sin_cache, position_ids? -> y")
    .Attrs("interleaved = 0, num_heads: int?, rotary_embedding_dim = 0")
    .Functions(InferRotaryEmbedding, EvalRotaryEmbedding)
    .Opaque()
    .Doc(
        "Turns pairs of numbers of each head by the angle of their position, whose cosines and "
        "sines the caches hold; the first rotary_embedding_dim numbers, or all for 0.")
    .AllowsFloat16();

// --- tensor_scatter -------------------------------------------------------------------------

absl::StatusOr<int64_t> ScatterAxis(const AttributeMap& attrs, int64_t rank) {
  X2IR_RETURN_IF_ERROR(CheckChoice(attrs, "mode", {"linear", "circular"}));
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(attrs.Int("axis"), rank));
  if (axis == 0) return Invalid("axis: the first axis is the batch");
  return axis;
}

absl::Status InferTensorScatter(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 2));
  ctx.Set(0, dtype);
  const bool has_indices = ctx.num_inputs() > 2 && ctx.has(2);
  if (has_indices) X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 2, "write_indices"));
  const Shape *past = ctx.shape(0), *update = ctx.shape(1);
  if (past && update && past->rank() != update->rank()) {
    return Invalid("update: expected rank ", past->rank(), ", got ", update->rank());
  }
  if (!past && !update) return absl::OkStatus();
  const int64_t rank = past ? past->rank() : update->rank();
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, ScatterAxis(ctx.attrs(), rank));
  Shape out = past ? *past : Shape::UnknownDims(rank);
  for (int64_t i = 0; update && i < rank; ++i) {
    if (i != axis) {
      X2IR_ASSIGN_OR_RETURN(out[i], SameDim(out[i], (*update)[i]));
    } else if (out[i].is_static() && (*update)[i].is_static() &&
               (*update)[i].value() > out[i].value()) {
      return Invalid("update: ", (*update)[i].ToString(), " positions into ", out[i].ToString());
    }
  }
  if (has_indices && ctx.shape(2)) {
    if (ctx.rank(2) != 1) return Invalid("write_indices: expected rank 1, got ", ctx.rank(2));
    X2IR_ASSIGN_OR_RETURN(out[0], SameDim(out[0], (*ctx.shape(2))[0]));
  }
  return ctx.Return(dtype, std::move(out));
}

absl::Status EvalTensorScatter(EvalContext& ctx) {
  const Tensor &past = ctx.input(0), &update = ctx.input(1);
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, ScatterAxis(ctx.attrs(), past.rank()));
  bool fits = past.rank() == update.rank() && past.dtype() == update.dtype();
  for (int64_t i = 0; fits && i < past.rank(); ++i) {
    fits = i == axis ? update.dim(i) <= past.dim(i) : update.dim(i) == past.dim(i);
  }
  if (!fits) {
    return Invalid("update ", update.type().ToString(), " does not fit ", past.type().ToString());
  }
  std::vector<int64_t> starts(past.num_elements() > 0 ? past.dim(0) : 0, 0);
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    X2IR_ASSIGN_OR_RETURN(starts, IntsOperand(ctx, 2, "write_indices"));
    if (static_cast<int64_t>(starts.size()) != past.dim(0)) {
      return Invalid("write_indices: expected ", past.dim(0), " numbers, got ", starts.size());
    }
  }
  const bool circular = ctx.attrs().String("mode") == "circular";
  const AxisView to = ViewAt(past.dims(), axis), from = ViewAt(update.dims(), axis);
  for (int64_t& start : starts) {
    if (circular) {
      if (to.size > 0) start = (start % to.size + to.size) % to.size;
    } else if (start < 0 || start > to.size - from.size) {
      return Invalid("write_indices: ", from.size, " positions from ", start, " on, of ", to.size);
    }
  }
  const Cells in(past), new_cells(update);
  CellsOut out(past.dtype(), past.dims());
  if (out.num_elements() > 0) {
    std::memcpy(out.data(), in.data(), out.num_elements() * out.size());
    const int64_t run = to.inner * out.size();
    const int64_t per_batch = to.outer / past.dim(0);
    for (int64_t o = 0; o < to.outer; ++o) {
      for (int64_t i = 0; i < from.size; ++i) {
        int64_t at = starts[o / per_batch] + i;
        if (at >= to.size) at -= to.size;
        std::memcpy(out.data() + (o * to.size + at) * run,
                    new_cells.data() + (o * from.size + i) * run, run);
      }
    }
  }
  return ctx.Return(out.Finish());
}

X2IR_OP(tensor_scatter)
    .Signature("past_cache, update, write_indices? -> present_cache")
    .Attrs("axis = -2, mode = 'linear'")
    .Functions(InferTensorScatter, EvalTensorScatter)
    .Opaque()
    .Doc(
        "The cache with the update written along the axis, in each batch from its write index on "
        "(0 when left out); mode circular goes on at the start of the axis.")
    .AllowsFloat16();

// --- swiglu ---------------------------------------------------------------------------------

absl::Status InferSwiglu(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 2));
  ctx.Set(0, dtype);
  const Shape *a = ctx.shape(0), *b = ctx.shape(1);
  if (!a && !b) return absl::OkStatus();
  Shape out = a ? *a : *b;
  if (a && b) {
    if (a->rank() != b->rank()) return Invalid("expected two operands of one shape");
    for (int64_t i = 0; i < out.rank(); ++i) {
      X2IR_ASSIGN_OR_RETURN(out[i], SameDim((*a)[i], (*b)[i]));
    }
  }
  return ctx.Return(dtype, std::move(out));
}

absl::Status EvalSwiglu(EvalContext& ctx) {
  if (ctx.dims(0) != ctx.dims(1) || ctx.dtype(0) != ctx.dtype(1)) {
    return Invalid("expected two operands of one type, got ", ctx.input(0).type().ToString(),
                   " and ", ctx.input(1).type().ToString());
  }
  return DispatchFloat(ctx.dtype(0), [&](auto zero) -> absl::Status {
    using T = decltype(zero);
    const Numbers<T> a(ctx.input(0)), b(ctx.input(1));
    const T alpha = static_cast<T>(ctx.attrs().Float("alpha"));
    NumbersOut<T> out(ctx.dtype(0), ctx.dims(0));
    for (int64_t i = 0; i < out.size(); ++i) {
      const T x = alpha * a[i], e = portable::exp(-std::abs(x));  // without overflow on either side
      out[i] = a[i] * ((x < 0 ? e : T{1}) / (1 + e)) * b[i];
    }
    return ctx.Return(out.Finish());
  });
}

X2IR_OP(swiglu)
    .Signature("a, b -> y")
    .Attrs("alpha = 1.0")
    .Functions(InferSwiglu, EvalSwiglu)
    .Elementwise(NumberUse::kFixed)
    .Doc("a * sigmoid(alpha * a) * b, for two tensors of one shape.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
