// Activation functions. Each is computed in its operand's compute type, in the form that
// loses the least precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

template <typename T>
T Sigmoid(T x) {
  // Without overflow on either side.
  if (x >= 0) return 1 / (1 + portable::exp(-x));
  const T e = portable::exp(x);
  return e / (1 + e);
}

template <typename T>
T Softplus(T x) {
  return std::max(x, T{0}) + portable::log1p(portable::exp(-std::fabs(x)));
}

// clamp that lets NaN through.
template <typename T>
T Clamp(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}

template <typename T>
T Gelu(T x, bool use_tanh) {
  if (use_tanh) {
    const T c = static_cast<T>(0.79788456080286535588);  // sqrt(2 / pi)
    return T(0.5) * x * (1 + portable::tanh(c * (x + T(0.044715) * x * x * x)));
  }
  // erfc keeps the digits of the far negative side.
  return T(0.5) * x * portable::erfc(-x * static_cast<T>(0.70710678118654752440));
}

absl::StatusOr<bool> UsesTanh(const AttributeMap& attrs) {
  return ChoiceAttr<bool>(attrs, "approximate", {"none", "tanh"});
}

EvalFn EvalGelu() {
  return [](EvalContext& ctx) -> absl::Status {
    X2IR_ASSIGN_OR_RETURN(const bool use_tanh, UsesTanh(ctx.attrs()));
    return DispatchFloat(ctx.dtype(0), [&](auto zero) {
      return MapElements<decltype(zero)>(ctx, [&](const AttributeMap&) {
        return [use_tanh](auto x) { return Gelu(x, use_tanh); };
      });
    });
  };
}

// slope broadcasts to x, not the other way round.
absl::Status EvalPRelu(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const auto dims, BroadcastDims(ctx.dims(0), ctx.dims(1)));
  if (dims != ctx.dims(0)) return Invalid("the slope does not broadcast to the shape of x");
  return DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    return ZipElements<T, T>(ctx, ctx.dtype(0), [](T x, T slope) {
      if constexpr (std::is_integral_v<T>) {
        return x < 0 ? static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(slope)) : x;
      } else {
        return x < 0 ? x * slope : x;
      }
    });
  });
}

absl::Status InferPRelu(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CommonDType(ctx, 0, 2).status());
  if (ctx.shape(0) && ctx.shape(1)) {
    X2IR_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(*ctx.shape(0), *ctx.shape(1)));
    if (both.rank() != ctx.rank(0)) return Invalid("the slope has a higher rank than x");
  }
  return ctx.Return(ctx.type(0));
}

// --- clip -----------------------------------------------------------------------------------

absl::Status EvalClip(EvalContext& ctx) {
  for (size_t i = 1; i < 3; ++i) {
    if (!ctx.has(i)) continue;
    if (ctx.dtype(i) != ctx.dtype(0)) {
      return Invalid("a bound has another element type; expected ", Name(ctx.dtype(0)), ", got ",
                     Name(ctx.dtype(i)));
    }
    if (ctx.input(i).num_elements() != 1) return Invalid("a bound must hold one element");
  }
  return DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    return MapElements<T>(ctx, [&](const AttributeMap&) {
      const bool has_min = ctx.has(1), has_max = ctx.has(2);
      const T min = has_min ? Numbers<T>(ctx.input(1))[0] : T{};
      const T max = has_max ? Numbers<T>(ctx.input(2))[0] : T{};
      // The upper bound wins where they cross. NaN stays.
      return [=](T x) {
        if (has_min && x < min) x = min;
        if (has_max && x > max) x = max;
        return x;
      };
    });
  });
}

absl::Status InferClip(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CommonDType(ctx, 0, 3).status());
  for (size_t i = 1; i < 3; ++i) {
    const Shape* shape = ctx.shape(i);
    if (!shape) continue;
    const Dim n = shape->NumElements();
    if (n.is_static() && n.value() != 1) {
      return Invalid("a bound must hold one element, got shape [", shape->ToString(), "]");
    }
  }
  return ctx.Return(ctx.type(0));
}

// --- shrink ---------------------------------------------------------------------------------

EvalFn EvalShrink() {
  return RealMapWith([](const AttributeMap& attrs) {
    return [lambd = attrs.Float("lambd"), bias = attrs.Float("bias")](auto x) {
      using T = decltype(x);
      if constexpr (std::is_floating_point_v<T>) {
        const auto l = static_cast<T>(lambd), b = static_cast<T>(bias);
        return x < -l ? x + b : x > l ? x - b : x != x ? x : T{0};
      } else {
        // Integers against a fraction: in double, towards zero.
        const auto v = static_cast<double>(x);
        const double y = v < -lambd ? v + bias : v > lambd ? v - bias : 0;
        return static_cast<T>(TruncateToInt64(y));
      }
    };
  });
}

}  // namespace

X2IR_OP(relu)
    .Signature("x -> y")
    .Functions(SameTypeAsFirst, RealMap([](auto x) { return x < 0 ? decltype(x){0} : x; }))
    .Elementwise(NumberUse::kCompares, RowUse::kElementwise)
    .Doc("max(x, 0).")
    .Obeys(kTwiceIsOnce)
    .Gives(ResultUse::kNotNegative);

X2IR_OP(leaky_relu)
    .Attrs("alpha = 0.01")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha")](auto x) {
              return x < 0 ? static_cast<decltype(x)>(alpha) * x : x;
            };
          }))
    .Rows(RowUse::kElementwise)
    .Doc("x, or alpha * x where x is negative.");

X2IR_OP(prelu)
    .Signature("x, slope -> y")
    .Functions(InferPRelu, EvalPRelu)
    .Elementwise(NumberUse::kComputes)
    .Doc("x, or slope * x where x is negative; slope broadcasts to x.")
    .AllowsFloat16();

X2IR_OP(elu)
    .Attrs("alpha = 1.0")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha")](auto x) {
              return x < 0 ? static_cast<decltype(x)>(alpha) * portable::expm1(x) : x;
            };
          }))
    .Rows(RowUse::kElementwise)
    .Doc("x, or alpha * (exp(x) - 1) where x is negative.");

X2IR_OP(selu)
    .Attrs("alpha = 1.67326319217681884765625, gamma = 1.05070102214813232421875")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha"), gamma = attrs.Float("gamma")](auto x) {
              using T = decltype(x);
              return static_cast<T>(gamma) *
                     (x < 0 ? static_cast<T>(alpha) * portable::expm1(x) : x);
            };
          }))
    .Rows(RowUse::kElementwise)
    .Doc("gamma * x, or gamma * alpha * (exp(x) - 1) where x is negative.");

X2IR_OP(celu)
    .Attrs("alpha = 1.0")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha")](auto x) {
              using T = decltype(x);
              const auto a = static_cast<T>(alpha);
              if (x != x) return x;
              return std::max(T{0}, x) + std::min(T{0}, a * portable::expm1(x / a));
            };
          }))
    .Doc("max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).");

X2IR_OP(sigmoid)
    .With(FloatFunction, FloatMap([](auto x) { return Sigmoid(x); }))
    .Rows(RowUse::kElementwise)
    .Doc("1 / (1 + exp(-x)).")
    .Zeros(ZeroUse::kForgets)
    .Gives(ResultUse::kNotNegative);

X2IR_OP(hard_sigmoid)
    .Attrs("alpha = 0.2, beta = 0.5")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha"), beta = attrs.Float("beta")](auto x) {
              using T = decltype(x);
              return Clamp<T>(static_cast<T>(alpha) * x + static_cast<T>(beta), 0, 1);
            };
          }))
    .Rows(RowUse::kElementwise)
    .Doc("alpha * x + beta, kept between 0 and 1.")
    .Gives(ResultUse::kNotNegative);

X2IR_OP(hard_swish)
    .With(FloatFunction, FloatMap([](auto x) {
            using T = decltype(x);
            return x * Clamp<T>(x / 6 + T(0.5), 0, 1);
          }))
    .Rows(RowUse::kElementwise)
    .Doc("x * hard_sigmoid(x) with alpha 1/6 and beta 1/2.");

X2IR_OP(softplus)
    .With(FloatFunction, FloatMap([](auto x) { return Softplus(x); }))
    .Rows(RowUse::kElementwise)
    .Doc("log(exp(x) + 1).")
    .Gives(ResultUse::kNotNegative);

X2IR_OP(softsign)
    .With(FloatFunction, FloatMap([](auto x) { return x / (1 + std::fabs(x)); }))
    .Doc("x / (1 + |x|).");

X2IR_OP(swish)
    .Attrs("alpha = 1.0")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha")](auto x) {
              return x * Sigmoid(static_cast<decltype(x)>(alpha) * x);
            };
          }))
    .Rows(RowUse::kElementwise)
    .Doc("x * sigmoid(alpha * x).");

X2IR_OP(mish)
    .With(FloatFunction, FloatMap([](auto x) { return x * portable::tanh(Softplus(x)); }))
    .Rows(RowUse::kElementwise)
    .Doc("x * tanh(softplus(x)).");

absl::Status InferGelu(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(UsesTanh(ctx.attrs()).status());
  return SameTypeAsFirst(ctx);
}

X2IR_OP(gelu)
    .Signature("x -> y")
    .Attrs("approximate = 'none'")
    .Functions(InferGelu, EvalGelu())
    .Elementwise(NumberUse::kFloatOnly, RowUse::kElementwise)
    .Doc(
        "x/2 * (1 + erf(x / sqrt(2))), or with approximate = tanh "
        "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3))).")
    .AllowsFloat16();

X2IR_OP(thresholded_relu)
    .Attrs("alpha = 1.0")
    .With(FloatFunction, FloatMapWith([](const AttributeMap& attrs) {
            return [alpha = attrs.Float("alpha")](auto x) {
              using T = decltype(x);
              return x > static_cast<T>(alpha) ? x : T{0};
            };
          }))
    .Doc("x where it is greater than alpha, else 0.");

X2IR_OP(shrink)
    .Attrs("lambd = 0.5, bias = 0.0")
    .With(FloatFunction, EvalShrink())
    .Doc("x + bias below -lambd, x - bias above lambd, else 0.");

X2IR_OP(clip)
    .Signature("x, min?, max? -> y")
    .Functions(InferClip, EvalClip)
    .Axes(kFirstElementwiseAxes)
    .Numbers(NumberUse::kCompares)
    .Rows(RowUse::kFirst)
    .Doc(
        "x kept between min and max, each of one element; max wins where they cross. A bound "
        "that is left out does not bound.");

}  // namespace x2ir
