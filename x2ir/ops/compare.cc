// Comparisons, logic of bools, and where.
#include <optional>
#include <string>
#include <vector>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// bool results are stored as numbers 0 and 1.
template <typename F>
EvalFn Compare(F f) {
  return [f](EvalContext& ctx) -> absl::Status {
    X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
    return DispatchReal(ctx.dtype(0), [&](auto zero) {
      using T = decltype(zero);
      return ZipElements<T, uint64_t>(ctx, DType::kBool,
                                      [&](T a, T b) { return uint64_t{f(a, b)}; });
    });
  };
}

template <typename F>
EvalFn Logic(F f) {
  return [f](EvalContext& ctx) -> absl::Status {
    for (size_t i = 0; i < 2; ++i) {
      if (ctx.dtype(i) != DType::kBool) return Invalid("expected bool, got ", Name(ctx.dtype(i)));
    }
    return ZipElements<uint64_t, uint64_t>(ctx, DType::kBool, f);
  };
}

absl::Status EvalEqual(EvalContext& ctx) {
  const auto equal = [](const auto& a, const auto& b) { return uint64_t{a == b}; };
  const DType dtype = ctx.dtype(0);
  using Float = std::complex<float>;
  using Double = std::complex<double>;
  X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
  if (dtype == DType::kComplex64) return ZipElements<Float, uint64_t>(ctx, DType::kBool, equal);
  if (dtype == DType::kComplex128) return ZipElements<Double, uint64_t>(ctx, DType::kBool, equal);
  if (dtype != DType::kString) return Compare([](auto a, auto b) { return a == b; })(ctx);
  X2IR_ASSIGN_OR_RETURN(const auto dims, BroadcastOperandDims(ctx, DType::kBool));
  const std::vector<std::string>&a = ctx.input(0).strings(), &b = ctx.input(1).strings();
  Tensor out = Tensor::Zeros(DType::kBool, dims);
  auto bits = out.mutable_span<bool>();
  const std::vector<int64_t> strides[] = {BroadcastStrides(ctx.dims(0), dims),
                                          BroadcastStrides(ctx.dims(1), dims)};
  ForEachBroadcast(dims, strides,
                   [&](int64_t i, const int64_t* at) { bits[i] = a[at[0]] == b[at[1]]; });
  return ctx.Return(std::move(out));
}

// Sizes against numbers, above all "is it -1?", as exported graphs ask for every reshape.
Dim EqualDims(const Dim& a, const Dim& b) {
  if (ProvablyEqual(a, b)) return 1;
  const auto negative = [](const Dim& d) { return d.is_static() && d.value() < 0; };
  if (ProvablyDifferent(a, b) || (negative(a) && ProvablyNonNegative(b)) ||
      (negative(b) && ProvablyNonNegative(a))) {
    return 0;
  }
  return Dim();
}

absl::Status InferEqual(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(BroadcastToBool(ctx));
  if (IsInteger(ctx.dtype(0)) || ctx.dtype(0) == DType::kBool) PropagateElements(ctx, EqualDims);
  return absl::OkStatus();
}

// --- where ----------------------------------------------------------------------------------

absl::Status InferWhere(InferContext& ctx) {
  if (ctx.dtype(0) != DType::kBool && ctx.dtype(0) != DType::kUndefined) {
    return Invalid("the condition must be bool, got ", Name(ctx.dtype(0)));
  }
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 1, 3));
  X2IR_RETURN_IF_ERROR(BroadcastAllAs(ctx, dtype));
  if (!IsInteger(dtype)) return absl::OkStatus();

  std::optional<std::vector<Dim>> operands[3];
  size_t n = 1;
  for (size_t k = 0; k < 3; ++k) {
    if (ctx.rank(k) < 0 || ctx.rank(k) > 1) return absl::OkStatus();
    // A condition that is not known still tells where both choices are the same.
    operands[k] = ctx.Elements(k);
    if (!operands[k] && k == 0 && ctx.rank(0) == 0) operands[k] = std::vector<Dim>(1);
    if (!operands[k]) return absl::OkStatus();
    if (operands[k]->size() != 1) n = operands[k]->size();
  }
  for (const auto& operand : operands) {
    if (operand->size() != n && operand->size() != 1) return absl::OkStatus();
  }
  const auto at = [&](size_t k, size_t i) -> const Dim& {
    return (*operands[k])[operands[k]->size() == 1 ? 0 : i];
  };
  std::vector<Dim> out(n);
  bool known = n == 0;
  for (size_t i = 0; i < n; ++i) {
    const Dim& condition = at(0, i);
    if (condition.is_static()) {
      out[i] = at(condition.value() != 0 ? 1 : 2, i);
    } else if (ProvablyEqual(at(1, i), at(2, i))) {
      out[i] = at(1, i);
    }
    known |= !out[i].is_unknown();
  }
  if (known) ctx.SetElements(0, std::move(out));
  return absl::OkStatus();
}

absl::Status EvalWhere(EvalContext& ctx) {
  if (ctx.dtype(0) != DType::kBool) {
    return Invalid("the condition must be bool, got ", Name(ctx.dtype(0)));
  }
  X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 1));
  X2IR_ASSIGN_OR_RETURN(const auto dims, BroadcastOperandDims(ctx, ctx.dtype(1)));
  const Cells condition(ctx.input(0)), x(ctx.input(1)), y(ctx.input(2));
  CellsOut out(ctx.dtype(1), dims);
  const std::vector<int64_t> strides[] = {BroadcastStrides(ctx.dims(0), dims),
                                          BroadcastStrides(ctx.dims(1), dims),
                                          BroadcastStrides(ctx.dims(2), dims)};
  DispatchCell(out.size(), [&](auto cell) {
    using C = decltype(cell);
    const uint8_t* c = condition.as<uint8_t>();
    const C *from_x = x.as<C>(), *from_y = y.as<C>();
    C* to = out.as<C>();
    ForEachBroadcast(dims, strides, [&](int64_t i, const int64_t* at) {
      to[i] = c[at[0]] != 0 ? from_x[at[1]] : from_y[at[2]];
    });
  });
  return ctx.Return(out.Finish());
}

void DefineComparison(OpDef& op, InferFn infer, EvalFn eval, std::string_view doc) {
  op.Signature("a, b -> c")
      .Functions(std::move(infer), std::move(eval))
      .Axes(kElementwiseAxes)
      .Numbers(NumberUse::kCompares, kAllOfType, kNoneOfType)
      .Doc(doc);
}

}  // namespace

X2IR_OP(equal)
    .With(DefineComparison, InferEqual, EvalEqual, "Whether a = b, broadcast. NaN equals nothing.")
    .Commutes();

X2IR_OP(greater).With(DefineComparison, BroadcastToBool,
                      Compare([](auto a, auto b) { return a > b; }), "Whether a > b, broadcast.");

X2IR_OP(greater_or_equal)
    .With(DefineComparison, BroadcastToBool, Compare([](auto a, auto b) { return a >= b; }),
          "Whether a >= b, broadcast.");

X2IR_OP(less).With(DefineComparison, BroadcastToBool, Compare([](auto a, auto b) { return a < b; }),
                   "Whether a < b, broadcast.");

X2IR_OP(less_or_equal)
    .With(DefineComparison, BroadcastToBool, Compare([](auto a, auto b) { return a <= b; }),
          "Whether a <= b, broadcast.");

X2IR_OP(and)
    .With(BitFunction, BroadcastToBool, Logic([](uint64_t a, uint64_t b) { return a & b; }),
          "Whether both bools are true, broadcast.")
    .Neutral(1)
    .Obeys(kOfSameIsIt);

X2IR_OP(or)
    .With(BitFunction, BroadcastToBool, Logic([](uint64_t a, uint64_t b) { return a | b; }),
          "Whether one of two bools is true, broadcast.")
    .Neutral(0)
    .Obeys(kOfSameIsIt);

X2IR_OP(xor)
    .With(BitFunction, BroadcastToBool, Logic([](uint64_t a, uint64_t b) { return a ^ b; }),
          "Whether two bools differ, broadcast.")
    .Neutral(0);

X2IR_OP(where)
    .Signature("condition, x, y -> z")
    .Functions(InferWhere, EvalWhere)
    .Axes(kElementwiseAxes)
    .Numbers(NumberUse::kMoves, 0b110)
    .Doc("x where the condition holds, else y, broadcast. Of any element type.")
    .Complex(ComplexUse::kParts);

}  // namespace x2ir
