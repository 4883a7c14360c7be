// Elementwise arithmetic of two or more broadcast operands: add .. mod, min .. mean, and
// bitwise operations. Integers wrap, as two's complement does.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

template <typename T>
inline constexpr bool kIsInt = std::is_integral_v<T>;

// Signed integers go through unsigned ones, where overflow is defined.
template <typename T, typename F>
T Wrapping(T a, T b, F f) {
  return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInt<T>) return Wrapping(a, b, [](uint64_t x, uint64_t y) { return x + y; });
    return a + b;
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInt<T>) return Wrapping(a, b, [](uint64_t x, uint64_t y) { return x - y; });
    return a - b;
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInt<T>) return Wrapping(a, b, [](uint64_t x, uint64_t y) { return x * y; });
    return a * b;
  }
};
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInt<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Sub()(T{0}, a);  // the least one has no counterpart: it wraps
      }
    }
    return a / b;
  }
};

// Remainder with the sign of the dividend.
struct Fmod {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInt<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return a % b;
    } else {
      return std::fmod(a, b);
    }
  }
};
// Remainder with the sign of the divisor.
struct FloorMod {
  template <typename T>
  T operator()(T a, T b) const {
    const T r = Fmod()(a, b);
    if constexpr (std::is_same_v<T, uint64_t>) {
      return r;
    } else {
      if (r == 0) {
        if constexpr (std::is_floating_point_v<T>) return std::copysign(r, b);
        return r;
      }
      return (r < 0) != (b < 0) ? r + b : r;
    }
  }
};

struct Least {
  template <typename T>
  T operator()(T a, T b) const {
    if (a != a) return a;  // NaN
    return b < a || b != b ? b : a;
  }
};
struct Greatest {
  template <typename T>
  T operator()(T a, T b) const {
    if (a != a) return a;
    return b > a || b != b ? b : a;
  }
};

struct BitAnd {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a & b; }
};
struct BitOr {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a | b; }
};
struct BitXor {
  uint64_t operator()(uint64_t a, uint64_t b) const { return a ^ b; }
};

template <typename F>
absl::Status Zip(EvalContext& ctx, F f) {
  X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
  return DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    return ZipElements<T, T>(ctx, ctx.dtype(0), f);
  });
}

// Also for complex numbers.
template <typename F>
EvalFn ZipAny(F f) {
  return [f](EvalContext& ctx) -> absl::Status {
    using Float = std::complex<float>;
    using Double = std::complex<double>;
    if (!IsComplex(ctx.dtype(0))) return Zip(ctx, f);
    X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
    return ctx.dtype(0) == DType::kComplex64
               ? ZipElements<Float, Float>(ctx, DType::kComplex64, f)
               : ZipElements<Double, Double>(ctx, DType::kComplex128, f);
  };
}

absl::Status EvalMod(EvalContext& ctx) {
  return ctx.attrs().Int("fmod") != 0 ? Zip(ctx, Fmod()) : Zip(ctx, FloorMod());
}

// --- pow ------------------------------------------------------------------------------------

// By squaring, exact modulo 2^64.
int64_t IntPow(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    // The true power is a fraction unless the base is 1 or -1; it goes towards zero.
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

// The exponent may be of another type than the base, whose type the result has.
absl::Status EvalPow(EvalContext& ctx) {
  const DType base = ctx.dtype(0), exponent = ctx.dtype(1);
  if (ComputeTypeOf(base) == ComputeType::kNone || IsComplex(base) ||
      ComputeTypeOf(exponent) == ComputeType::kNone || IsComplex(exponent)) {
    return Unimplemented("evaluation of pow of ", Name(base), " and ", Name(exponent));
  }
  if (!IsFloating(base) && !IsFloating(exponent)) {
    if (exponent == DType::kUInt64) {
      // An exponent of 2^63 or more: as good as any even or odd one of that size.
      const Numbers<uint64_t> e(ctx.input(1));
      for (const uint64_t v : e.span()) {
        if (v >> 63) return Invalid("the exponent ", v, " is too large");
      }
    }
    // Also for uint64 bases: the product is the same modulo 2^64.
    return ZipElements<int64_t, int64_t>(ctx, base, IntPow);
  }
  if (ComputeTypeOf(base) == ComputeType::kFloat &&
      ComputeTypeOf(exponent) == ComputeType::kFloat) {
    return ZipElements<float, float>(ctx, base,
                                     [](float b, float e) { return portable::pow(b, e); });
  }
  return ZipElements<double, double>(ctx, base,
                                     [](double b, double e) { return portable::pow(b, e); });
}

absl::Status InferPow(InferContext& ctx) { return BroadcastAllAs(ctx, ctx.dtype(0)); }

// --- bit_shift ------------------------------------------------------------------------------

absl::Status EvalBitShift(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
  const std::string& direction = ctx.attrs().String("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    return Invalid("attribute 'direction' is '", direction, "'; expected LEFT or RIGHT");
  }
  if (!IsUnsignedInt(ctx.dtype(0))) {
    return Invalid("expected unsigned integers, got ", Name(ctx.dtype(0)));
  }
  // A shift by the width or more leaves nothing.
  const bool left = direction == "LEFT";
  return ZipElements<uint64_t, uint64_t>(ctx, ctx.dtype(0), [left](uint64_t a, uint64_t n) {
    if (n >= 64) return uint64_t{0};
    return left ? a << n : a >> n;
  });
}

template <typename F>
EvalFn ZipBits(F f) {
  return [f](EvalContext& ctx) -> absl::Status {
    if (!IsInteger(ctx.dtype(0))) return Invalid("expected integers, got ", Name(ctx.dtype(0)));
    X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
    return ZipElements<uint64_t, uint64_t>(ctx, ctx.dtype(0), f);
  };
}

// --- Any number of operands -----------------------------------------------------------------

// The operands folded by f, in the compute type; then finish(value, number of operands).
template <typename F, typename Finish>
EvalFn Fold(F f, Finish finish) {
  return [f, finish](EvalContext& ctx) -> absl::Status {
    X2IR_RETURN_IF_ERROR(CheckSameDType(ctx, 0));
    const DType dtype = ctx.dtype(0);
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, BroadcastOperandDims(ctx, dtype));
    return DispatchReal(dtype, [&](auto zero) {
      using T = decltype(zero);
      NumbersOut<T> out(dtype, dims);
      for (size_t k = 0; k < ctx.num_inputs(); ++k) {
        const Numbers<T> in(ctx.input(k));
        const std::vector<int64_t> strides[] = {BroadcastStrides(ctx.dims(k), dims)};
        ForEachBroadcast(dims, strides, [&](int64_t i, const int64_t* at) {
          out[i] = k == 0 ? in[at[0]] : f(out[i], in[at[0]]);
        });
      }
      const auto n = static_cast<T>(ctx.num_inputs());
      for (int64_t i = 0; i < out.size(); ++i) out[i] = finish(out[i], n);
      return ctx.Return(out.Finish());
    });
  };
}

template <typename F>
EvalFn Fold(F f) {
  return Fold(f, [](auto x, auto) { return x; });
}

// Elements only in the common case of two operands.
InferFn FoldWithElements(std::function<Dim(const Dim&, const Dim&)> f) {
  return [f = std::move(f)](InferContext& ctx) {
    X2IR_RETURN_IF_ERROR(BroadcastAll(ctx));
    if (!IsInteger(ctx.dtype(0)) || BitWidth(ctx.dtype(0)) < 32) return absl::OkStatus();
    if (ctx.num_inputs() == 2) PropagateElements(ctx, f);
    if (ctx.num_inputs() == 1) {
      if (auto elements = ctx.Elements(0)) ctx.SetElements(0, *std::move(elements));
    }
    return absl::OkStatus();
  };
}

// --- Elements -------------------------------------------------------------------------------

Dim AddDims(const Dim& a, const Dim& b) { return a + b; }
Dim SubDims(const Dim& a, const Dim& b) { return a - b; }
Dim MulDims(const Dim& a, const Dim& b) { return a * b; }

// Towards zero. That is floordiv where no operand is negative, and where it leaves nothing.
Dim DivDims(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    return b.value() == 0 ? Dim() : Dim(Div()(a.value(), b.value()));
  }
  const Dim quotient = FloorDiv(a, b);
  const bool exact = ProvablyEqual(quotient * b, a);
  return exact || (ProvablyNonNegative(a) && ProvablyNonNegative(b)) ? quotient : Dim();
}

// Of sizes: where no operand is negative, both kinds of remainder are one.
Dim ModDims(const Dim& a, const Dim& b) {
  return ProvablyNonNegative(a) && ProvablyNonNegative(b) ? Mod(a, b) : Dim();
}

Dim MinDims(const Dim& a, const Dim& b) { return Min(a, b); }
Dim MaxDims(const Dim& a, const Dim& b) { return Max(a, b); }

// y of any number of operands, broadcast, whatever their order.
void FoldFunction(OpDef& op, InferFn infer, EvalFn eval, NumberUse use) {
  op.Signature("x+ -> y").Functions(std::move(infer), std::move(eval)).Elementwise(use).Commutes();
}

}  // namespace

X2IR_OP(add)
    .With(BinaryFunction, BroadcastWithElements(AddDims), ZipAny(Add()), NumberUse::kWraps)
    .Rows(RowUse::kElementwise)
    .Doc("a + b, broadcast. Integers wrap.")
    .Commutes()
    .Zeros(ZeroUse::kForgetsInSum)
    .Neutral(0);

X2IR_OP(sub)
    .With(BinaryFunction, BroadcastWithElements(SubDims), ZipAny(Sub()), NumberUse::kWraps)
    .Rows(RowUse::kElementwise)
    .Doc("a - b, broadcast. Integers wrap.")
    .Zeros(ZeroUse::kForgetsInSum)
    .Neutral(0);

X2IR_OP(mul)
    .With(BinaryFunction, BroadcastWithElements(MulDims), ZipAny(Mul()), NumberUse::kWraps)
    .Rows(RowUse::kElementwise)
    .Doc("a * b, broadcast. Integers wrap.")
    .Commutes()
    .Neutral(1);

X2IR_OP(div)
    .With(BinaryFunction, BroadcastWithElements(DivDims), ZipAny(Div()), NumberUse::kComputes)
    .Rows(RowUse::kElementwise)
    .Doc("a / b, broadcast. Integers go towards zero, and by zero give 0.")
    .Zeros(ZeroUse::kTellsOfOperand1)
    .Neutral(1);

X2IR_OP(mod)
    .Attrs("fmod = 0")
    .With(BinaryFunction, BroadcastWithElements(ModDims), EvalMod, NumberUse::kComputes)
    .Doc(
        "Remainder of a / b, broadcast, with the sign of b, or of a if fmod is 1. Integers by "
        "zero give 0.");

X2IR_OP(pow)
    .Signature("base, exponent -> y")
    .Functions(InferPow, EvalPow)
    .Elementwise(NumberUse::kFloatOnly, RowUse::kElementwise)
    .Doc(
        "base to the power of exponent, broadcast, in the base's element type. Integers wrap; "
        "negative powers of integers go towards zero, and those of 0 are 0.")
    .AllowsFloat16()
    .Zeros(ZeroUse::kTells)
    .Neutral(1);

X2IR_OP(min)
    .With(FoldFunction, FoldWithElements(MinDims), Fold(Least()), NumberUse::kCompares)
    .Rows(RowUse::kElementwise)
    .Doc("The least of all operands, broadcast. NaN where one is NaN.")
    .Obeys(kOfSameIsIt | kOfOneIsIt);

X2IR_OP(max)
    .With(FoldFunction, FoldWithElements(MaxDims), Fold(Greatest()), NumberUse::kCompares)
    .Rows(RowUse::kElementwise)
    .Doc("The greatest of all operands, broadcast. NaN where one is NaN.")
    .Obeys(kOfSameIsIt | kOfOneIsIt);

X2IR_OP(sum)
    .With(FoldFunction, FoldWithElements(AddDims), Fold(Add()), NumberUse::kWraps)
    .Doc("The sum of all operands, broadcast.")
    .AllowsFloat16()
    .Obeys(kOfOneIsIt);

X2IR_OP(mean)
    .With(FoldFunction, BroadcastAll, Fold(Add(), Div()), NumberUse::kFloatOnly)
    .Doc("The mean of all operands, broadcast.")
    .AllowsFloat16()
    .Obeys(kOfOneIsIt);

X2IR_OP(bit_shift)
    .Signature("a, n -> c")
    .Attrs("direction: string")
    .Functions(BroadcastAll, EvalBitShift)
    .Elementwise(NumberUse::kFixed)
    .Doc("The unsigned integer a shifted by n bits to the LEFT or RIGHT, broadcast.")
    .AllowsFloat16()
    .Neutral(0);

X2IR_OP(bitwise_and)
    .With(BitFunction, BroadcastAll, ZipBits(BitAnd()),
          "The bits that both a and b have, broadcast.");

X2IR_OP(bitwise_or)
    .With(BitFunction, BroadcastAll, ZipBits(BitOr()), "The bits that a or b has, broadcast.")
    .Neutral(0);

X2IR_OP(bitwise_xor)
    .With(BitFunction, BroadcastAll, ZipBits(BitXor()),
          "The bits that one of a and b has, broadcast.")
    .Neutral(0);

}  // namespace x2ir
