// Helpers of the elementwise families.
#include "x2ir/ops/elementwise_util.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace x2ir {

absl::StatusOr<std::vector<int64_t>> BroadcastOperandDims(const EvalContext& ctx, DType dtype) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.has(i)) continue;
    X2IR_ASSIGN_OR_RETURN(dims, BroadcastDims(dims, ctx.dims(i)));
  }
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, dims));
  return dims;
}

absl::Status CheckSameDType(const EvalContext& ctx, size_t from) {
  for (size_t i = from + 1; i < ctx.num_inputs(); ++i) {
    if (ctx.dtype(i) != ctx.dtype(from)) {
      return Invalid("operands of different element types; expected ", Name(ctx.dtype(from)),
                     ", got ", Name(ctx.dtype(i)));
    }
  }
  return absl::OkStatus();
}

bool ProvablyNonNegative(const Dim& dim) {
  if (dim.is_static()) return dim.value() >= 0;
  // Sums, products, floordiv, mod, min and max of sizes; without a minus none is negative.
  return dim.is_symbolic() && dim.ToString().find('-') == std::string::npos;
}

bool HoldsDim(DType t, const Dim& dim) {
  if (!IsInteger(t)) return t == DType::kBool && dim.is_static() && (dim.value() & ~1) == 0;
  const int bits = BitWidth(t);
  if (!dim.is_static()) {
    return dim.is_symbolic() && bits >= 32 && (IsSignedInt(t) || ProvablyNonNegative(dim));
  }
  if (IsUnsignedInt(t)) return dim.value() >= 0 && (bits == 64 || dim.value() >> bits == 0);
  const int64_t max = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return dim.value() >= -max - 1 && dim.value() <= max;
}

void PropagateElements(InferContext& ctx, const std::function<Dim(const Dim&, const Dim&)>& f) {
  const int64_t rank_a = ctx.rank(0), rank_b = ctx.rank(1);
  if (rank_a < 0 || rank_a > 1 || rank_b < 0 || rank_b > 1) return;
  const std::optional<std::vector<Dim>> a = ctx.Elements(0), b = ctx.Elements(1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return;
  // Broadcasting: 1 gives way to any size, 0 among them.
  const size_t n = a->size() == 1 ? b->size() : a->size();
  std::vector<Dim> out(n);
  bool known = n == 0;
  for (size_t i = 0; i < n; ++i) {
    out[i] = f((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    // What the type cannot hold wraps in a run; that is for evaluation to say.
    if (!HoldsDim(ctx.dtype(0), out[i])) out[i] = Dim::Unknown();
    known |= !out[i].is_unknown();
  }
  if (known) ctx.SetElements(0, std::move(out));
}

InferFn BroadcastWithElements(std::function<Dim(const Dim&, const Dim&)> f) {
  return [f = std::move(f)](InferContext& ctx) {
    X2IR_RETURN_IF_ERROR(BroadcastAll(ctx));
    if (IsInteger(ctx.dtype(0)) && BitWidth(ctx.dtype(0)) >= 32) PropagateElements(ctx, f);
    return absl::OkStatus();
  };
}

absl::Status BroadcastToBool(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CommonDType(ctx, 0, ctx.num_inputs()).status());
  return BroadcastAllAs(ctx, DType::kBool);
}

void FloatFunction(OpDef& op, EvalFn eval) {
  op.Signature("x -> y")
      .Functions(SameTypeAsFirst, std::move(eval))
      .Elementwise(NumberUse::kFloatOnly)
      .AllowsFloat16();
}

void BinaryFunction(OpDef& op, InferFn infer, EvalFn eval, NumberUse use) {
  op.Signature("a, b -> c")
      .Functions(std::move(infer), std::move(eval))
      .Elementwise(use)
      .AllowsFloat16();
}

void BitFunction(OpDef& op, InferFn infer, EvalFn eval, std::string_view doc) {
  BinaryFunction(op, std::move(infer), std::move(eval), NumberUse::kFixed);
  op.Doc(doc).Commutes();
}

}  // namespace x2ir
