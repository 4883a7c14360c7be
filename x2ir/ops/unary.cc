// Elementwise functions of one operand: arithmetic, exponentials, trigonometry, tests of
// floats, logical and bitwise not.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// Integers wrap: the negative of the least one is itself.
template <typename T>
T Negate(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  } else {
    return -x;
  }
}

template <typename T>
T Absolute(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else {
    return x < T{0} ? Negate(x) : x;
  }
}

template <typename T>
T Sign(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return x;
  }
  return static_cast<T>(static_cast<int>(x > T{0}) - static_cast<int>(x < T{0}));
}

absl::Status InferNeg(InferContext& ctx) {
  ctx.Set(0, ctx.type(0));
  if (!IsSignedInt(ctx.dtype(0)) || BitWidth(ctx.dtype(0)) < 32) return absl::OkStatus();
  if (auto elements = ctx.Elements(0)) {
    for (Dim& d : *elements) d = Dim(0) - d;
    ctx.SetElements(0, *std::move(elements));
  }
  return absl::OkStatus();
}

absl::Status InferAbs(InferContext& ctx) {
  ctx.Set(0, ctx.type(0));
  if (auto elements = ctx.Elements(0)) {
    for (Dim& d : *elements) {
      if (!ProvablyNonNegative(d)) d = Dim::Unknown();
    }
    ctx.SetElements(0, *std::move(elements));
  }
  return absl::OkStatus();
}

absl::Status InferTest(InferContext& ctx) {
  Type type = ctx.type(0);
  if (type.is_tensor()) {
    type.set_dtype(DType::kBool);
    ctx.Set(0, std::move(type));
  } else {
    ctx.Set(0, DType::kBool);
  }
  return absl::OkStatus();
}

absl::Status InferNot(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(InferTest(ctx));
  if (auto elements = ctx.Elements(0); elements && ctx.dtype(0) == DType::kBool) {
    for (Dim& d : *elements) d = Dim(1) - d;
    ctx.SetElements(0, *std::move(elements));
  }
  return absl::OkStatus();
}

// Output 0 is bool.
template <typename F>
absl::Status Test(EvalContext& ctx, const F& f) {
  return DispatchFloat(ctx.dtype(0), [&](auto zero) {
    const Numbers<decltype(zero)> in(ctx.input(0));
    Tensor out = Tensor::Zeros(DType::kBool, ctx.dims(0));
    auto bits = out.mutable_span<bool>();
    for (int64_t i = 0; i < in.size(); ++i) bits[i] = f(in[i]);
    return ctx.Return(std::move(out));
  });
}

absl::Status EvalIsNaN(EvalContext& ctx) {
  return Test(ctx, [](auto x) { return std::isnan(x); });
}

absl::Status EvalIsInf(EvalContext& ctx) {
  const bool negative = ctx.attrs().Int("detect_negative") != 0;
  const bool positive = ctx.attrs().Int("detect_positive") != 0;
  return Test(ctx, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

absl::Status EvalNot(EvalContext& ctx) {
  if (ctx.dtype(0) != DType::kBool) return Invalid("expected bool, got ", Name(ctx.dtype(0)));
  return MapElements<uint64_t>(
      ctx, [](const AttributeMap&) { return [](uint64_t x) { return uint64_t{x == 0}; }; });
}

absl::Status EvalBitwiseNot(EvalContext& ctx) {
  if (!IsInteger(ctx.dtype(0))) return Invalid("expected integers, got ", Name(ctx.dtype(0)));
  return DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return MapElements<T>(ctx, [](const AttributeMap&) { return [](T x) { return T(~x); }; });
    } else {
      return Internal("unreachable");
    }
  });
}

absl::Status EvalIdentity(EvalContext& ctx) { return ctx.Return(ctx.datum(0)); }

}  // namespace

X2IR_OP(identity)
    .Signature("x -> y")
    .AnyKind()
    .Functions(SameAsFirst, EvalIdentity)
    .Moves(kElementwiseAxes)
    .Doc("The operand itself.")
    .Complex(ComplexUse::kParts);

X2IR_OP(abs)
    .Signature("x -> y")
    .Functions(InferAbs, RealMap([](auto x) { return Absolute(x); }))
    .Elementwise(NumberUse::kComputes, RowUse::kElementwise)
    .Doc("Absolute value. The least signed integer stays itself.")
    .AllowsFloat16()
    .Zeros(ZeroUse::kForgets)
    .Obeys(kTwiceIsOnce)
    .Gives(ResultUse::kNotNegative);

X2IR_OP(neg)
    .Signature("x -> y")
    .Functions(InferNeg, RealMap([](auto x) { return Negate(x); }))
    .Elementwise(NumberUse::kWraps, RowUse::kElementwise)
    .Doc("-x. Integers wrap.")
    .AllowsFloat16()
    .Obeys(kTwiceIsNothing);

X2IR_OP(sign)
    .Signature("x -> y")
    .Functions(SameTypeAsFirst, RealMap([](auto x) { return Sign(x); }))
    .Elementwise(NumberUse::kCompares)
    .Doc("-1, 0 or 1; NaN for NaN.")
    .Obeys(kTwiceIsOnce)
    .Gives(ResultUse::kWhole);

X2IR_OP(erf)
    .Signature("x -> y")
    .Functions(SameTypeAsFirst,
               RealMap([](auto x) { return static_cast<decltype(x)>(portable::erf(x)); }))
    .Elementwise(NumberUse::kFloatOnly, RowUse::kElementwise)
    .Doc("The error function; of integers rounded towards zero.")
    .AllowsFloat16();

// X2IR_FLOAT_FUNCTION(op, expression of x, doc): a function of floats.
#define X2IR_FLOAT_FUNCTION(op, expression, doc) \
  X2IR_OP(op)                                    \
      .With(FloatFunction, FloatMap([](auto x) { \
              using T = decltype(x);             \
              return static_cast<T>(expression); \
            }))                                  \
      .Doc(doc)

X2IR_FLOAT_FUNCTION(acos, portable::acos(x), "Inverse cosine.");
X2IR_FLOAT_FUNCTION(acosh, portable::acosh(x), "Inverse hyperbolic cosine.");
X2IR_FLOAT_FUNCTION(asin, portable::asin(x), "Inverse sine.");
X2IR_FLOAT_FUNCTION(asinh, portable::asinh(x), "Inverse hyperbolic sine.");
X2IR_FLOAT_FUNCTION(atan, portable::atan(x), "Inverse tangent.");
X2IR_FLOAT_FUNCTION(atanh, portable::atanh(x), "Inverse hyperbolic tangent.");
X2IR_FLOAT_FUNCTION(ceil, std::ceil(x), "The least integer that is not less than x.")
    .Obeys(kTwiceIsOnce)
    .Gives(ResultUse::kWhole);
X2IR_FLOAT_FUNCTION(cos, portable::cos(x), "Cosine.")
    .NeedsFloat32(float32_for::kAngles, kAllOfType, true)
    .Zeros(ZeroUse::kForgets);
X2IR_FLOAT_FUNCTION(cosh, portable::cosh(x), "Hyperbolic cosine.").Zeros(ZeroUse::kForgets);
X2IR_FLOAT_FUNCTION(exp, portable::exp(x), "e to the power of x.")
    .Rows(RowUse::kElementwise)
    .Zeros(ZeroUse::kForgets);
X2IR_FLOAT_FUNCTION(floor, std::floor(x), "The greatest integer that is not greater than x.")
    .Gives(ResultUse::kNotNegative)
    .Obeys(kTwiceIsOnce)
    .Gives(ResultUse::kWhole);
X2IR_FLOAT_FUNCTION(log, portable::log(x), "Natural logarithm.")
    .Rows(RowUse::kElementwise)
    .Zeros(ZeroUse::kForgets);
X2IR_FLOAT_FUNCTION(reciprocal, T{1} / x, "1 / x.")
    .Rows(RowUse::kElementwise)
    .Zeros(ZeroUse::kTells);
X2IR_FLOAT_FUNCTION(round, std::nearbyint(x), "The nearest integer; halves go to the even one.")
    .Obeys(kTwiceIsOnce)
    .Gives(ResultUse::kWhole);
X2IR_FLOAT_FUNCTION(sin, portable::sin(x), "Sine.")
    .NeedsFloat32(float32_for::kAngles, kAllOfType, true);
X2IR_FLOAT_FUNCTION(sinh, portable::sinh(x), "Hyperbolic sine.");
X2IR_FLOAT_FUNCTION(sqrt, std::sqrt(x), "Square root; NaN for negative numbers.")
    .Rows(RowUse::kElementwise)
    .Gives(ResultUse::kNotNegative);
X2IR_FLOAT_FUNCTION(tan, portable::tan(x), "Tangent.")
    .NeedsFloat32(float32_for::kAngles, kAllOfType, true);
X2IR_FLOAT_FUNCTION(tanh, portable::tanh(x), "Hyperbolic tangent.").Rows(RowUse::kElementwise);

X2IR_OP(not )
    .Signature("x -> y")
    .Functions(InferNot, EvalNot)
    .Elementwise(NumberUse::kFixed)
    .Doc("Logical not of bools.")
    .AllowsFloat16()
    .Obeys(kTwiceIsNothing);

X2IR_OP(bitwise_not)
    .Signature("x -> y")
    .Functions(SameTypeAsFirst, EvalBitwiseNot)
    .Elementwise(NumberUse::kFixed)
    .Doc("Every bit of an integer inverted.")
    .AllowsFloat16()
    .Obeys(kTwiceIsNothing);

X2IR_OP(is_nan)
    .Signature("x -> y")
    .Functions(InferTest, EvalIsNaN)
    .Axes(kElementwiseAxes)
    .Numbers(NumberUse::kCompares, kFirstOfType, kNoneOfType)
    .Doc("Whether x is NaN.");

X2IR_OP(is_inf)
    .Signature("x -> y")
    .Attrs("detect_negative = 1, detect_positive = 1")
    .Functions(InferTest, EvalIsInf)
    .Axes(kElementwiseAxes)
    .Numbers(NumberUse::kCompares, kFirstOfType, kNoneOfType)
    .Doc("Whether x is an infinity, of the signs that the attributes ask for.");

}  // namespace x2ir
