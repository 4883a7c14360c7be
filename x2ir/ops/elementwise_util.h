// Shared code of the elementwise families: EvalFns made of a function of single numbers, loops over
// broadcast operands, and inference of known elements. Not for other files.
#ifndef X2IR_OPS_ELEMENTWISE_UTIL_H_
#define X2IR_OPS_ELEMENTWISE_UTIL_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

// --- Evaluation of one operand --------------------------------------------------------------

// Output 0, of the operand's dtype, is f(attrs)(x) for each element x (a compute type).
template <typename T, typename F>
absl::Status MapElements(EvalContext& ctx, const F& f) {
  const auto g = f(ctx.attrs());
  const Numbers<T> in(ctx.input(0));
  NumbersOut<T> out(ctx.dtype(0), ctx.dims(0));
  for (int64_t i = 0; i < in.size(); ++i) out[i] = g(in[i]);
  ctx.Set(0, out.Finish());
  return absl::OkStatus();
}

// f takes the attributes and gives a generic function of one number.
template <typename F>
EvalFn FloatMapWith(F f) {
  return [f](EvalContext& ctx) {
    return DispatchFloat(ctx.dtype(0),
                         [&](auto zero) { return MapElements<decltype(zero)>(ctx, f); });
  };
}
template <typename F>
EvalFn RealMapWith(F f) {
  return [f](EvalContext& ctx) {
    return DispatchReal(ctx.dtype(0),
                        [&](auto zero) { return MapElements<decltype(zero)>(ctx, f); });
  };
}
// f is a generic function of one number.
template <typename F>
EvalFn FloatMap(F f) {
  return FloatMapWith([f](const AttributeMap&) { return f; });
}
template <typename F>
EvalFn RealMap(F f) {
  return RealMapWith([f](const AttributeMap&) { return f; });
}

// --- Evaluation of broadcast operands -------------------------------------------------------

// Calls f(i, at) for every element i of a tensor of shape `dims`, in order; at[k] is where
// operand k has it. strides[k] are those of operand k (see BroadcastStrides).
template <size_t N, typename F>
void ForEachBroadcast(absl::Span<const int64_t> dims, const std::vector<int64_t> (&strides)[N],
                      F&& f) {
  int64_t total = 1;
  for (const int64_t d : dims) total *= d;
  if (total == 0) return;
  const size_t rank = dims.size();
  const int64_t inner = rank == 0 ? 1 : dims[rank - 1];
  std::vector<int64_t> index(rank, 0);
  int64_t row[N] = {}, step[N] = {}, at[N] = {};
  for (size_t k = 0; k < N; ++k) step[k] = rank == 0 ? 0 : strides[k][rank - 1];
  for (int64_t i = 0; i < total;) {
    for (size_t k = 0; k < N; ++k) at[k] = row[k];
    for (int64_t end = i + inner; i < end; ++i) {
      f(i, at);
      for (size_t k = 0; k < N; ++k) at[k] += step[k];
    }
    for (size_t axis = rank < 2 ? 0 : rank - 1; axis-- > 0;) {
      for (size_t k = 0; k < N; ++k) row[k] += strides[k][axis];
      if (++index[axis] < dims[axis]) break;
      for (size_t k = 0; k < N; ++k) row[k] -= strides[k][axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

// The shape of all tensor operands from `from` on, broadcast together, if it may be
// allocated as `dtype`.
absl::StatusOr<std::vector<int64_t>> BroadcastOperandDims(const EvalContext& ctx, DType dtype);

// Output 0, of dtype `out_dtype` and compute type R, is f(a, b) for operands 0 and 1, which
// must both be of compute type T.
template <typename T, typename R, typename F>
absl::Status ZipElements(EvalContext& ctx, DType out_dtype, const F& f) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, BroadcastOperandDims(ctx, out_dtype));
  const Numbers<T> a(ctx.input(0)), b(ctx.input(1));
  NumbersOut<R> out(out_dtype, dims);
  if (ctx.dims(0) == ctx.dims(1)) {
    for (int64_t i = 0; i < out.size(); ++i) out[i] = f(a[i], b[i]);
  } else {
    const std::vector<int64_t> strides[] = {BroadcastStrides(ctx.dims(0), dims),
                                            BroadcastStrides(ctx.dims(1), dims)};
    ForEachBroadcast(dims, strides,
                     [&](int64_t i, const int64_t* at) { out[i] = f(a[at[0]], b[at[1]]); });
  }
  ctx.Set(0, out.Finish());
  return absl::OkStatus();
}

// Both operands must have one dtype; InvalidArgument otherwise.
absl::Status CheckSameDType(const EvalContext& ctx, size_t from);

// --- Inference of known elements ------------------------------------------------------------

// Whether a size is 0 or more in every run; names are sizes.
bool ProvablyNonNegative(const Dim& dim);

// Whether an integer type holds that size or number for certain (symbolic sizes are taken to
// fit any type of 32 bits or more).
bool HoldsDim(DType t, const Dim& dim);

// Sets the elements of output 0 from those of operands 0 and 1 by f, where both are known
// and the result is of rank 0 or 1. Does nothing for types that hold no elements.
void PropagateElements(InferContext& ctx, const std::function<Dim(const Dim&, const Dim&)>& f);

// Operands broadcast together; elements by f.
InferFn BroadcastWithElements(std::function<Dim(const Dim&, const Dim&)> f);

// Output 0 is bool of the broadcast shape; the operands must have one dtype.
absl::Status BroadcastToBool(InferContext& ctx);

// --- Parts of definitions (OpDef::With) -----------------------------------------------------

// y = f(x), for floats alone; float16 is sufficient unless the op says otherwise.
void FloatFunction(OpDef& op, EvalFn eval);
// c of a and b broadcast, where float16 is sufficient.
void BinaryFunction(OpDef& op, InferFn infer, EvalFn eval, NumberUse use);
// The same bit by bit, whichever operand comes first.
void BitFunction(OpDef& op, InferFn infer, EvalFn eval, std::string_view doc);

}  // namespace x2ir

#endif  // X2IR_OPS_ELEMENTWISE_UTIL_H_
