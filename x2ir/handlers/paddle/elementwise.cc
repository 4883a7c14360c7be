// Functions by element, of one operand and of two.
#include "x2ir/handlers/paddle/elementwise.h"

#include "x2ir/builder/complex.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/paddle/nn.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {

Expr AlignedAt(PaddleArgs& a, const Expr& x, const Expr& y, int64_t axis) {
  if (axis == -1) return y;
  const int64_t rank = a.Rank(x), own = a.Rank(y);
  if (own >= rank) return y;
  if (axis < 0 || axis > rank) a.Fail(Invalid("there is no axis ", axis));
  const int64_t behind = rank - axis - own;
  if (behind > 0) return Unsqueeze(y, CountedFrom(own, behind));
  // Sizes of 1 at the end do not count.
  return behind < 0 ? Squeeze(y, CountedFrom(own + behind, -behind)) : y;
}

Pair Operands(PaddleArgs& a, std::string_view first, std::string_view second) {
  Expr x = a.X(first), y = a.X(second);
  const int64_t axis = a.Int("axis", -1);
  if (axis != -1 && a.Rank(x) >= a.Rank(y)) {
    y = AlignedAt(a, x, y, axis);
  } else if (axis != -1) {
    x = AlignedAt(a, y, x, axis);
  }
  const DType type = PaddlePromote(x.dtype(), y.dtype());
  return {x.To(type), y.To(type)};
}

Expr FloorDivided(const Expr& x, const Expr& y) {
  if (IsFloating(x.dtype())) return Floor(x / y);
  // Towards minus infinity, as Python's.
  const Expr q = x / y;
  if (IsUnsignedInt(x.dtype())) return q;
  const Expr zero = x.Number(0);
  const Expr rest = x - q * y;
  const Expr below = Not(rest == zero) & ((rest < zero) ^ (y < zero));
  return Where(below, q - x.Number(1), q);
}

Expr FloorRemainder(const Expr& x, const Expr& y) {
  if (!IsFloating(x.dtype())) return Mod(x, y);
  const Expr rest = Mod(x, y);
  const Expr zero = x.Number(0);
  return Where(Not(rest == zero) & ((rest < zero) ^ (y < zero)), rest + y, rest);
}

namespace {

template <typename F>
auto Binary(F f, const char* first = "X", const char* second = "Y") {
  return [=](PaddleArgs& a) -> Expr {
    const Pair p = Operands(a, first, second);
    return f(a, p.x, p.y);
  };
}

auto BinaryOp(const char* op) {
  return Binary([op](PaddleArgs&, const Expr& x, const Expr& y) { return x.Op(op, {y}); });
}

auto Bits(const char* logical, const char* bitwise) {
  return Binary([=](PaddleArgs&, const Expr& x, const Expr& y) {
    return x.Op(x.dtype() == DType::kBool ? logical : bitwise, {y});
  });
}

// Operands of any type, true where they are not 0.
auto Logical(const char* op) {
  return Binary(
      [op](PaddleArgs&, const Expr& x, const Expr& y) { return IsTrue(x).Op(op, {IsTrue(y)}); });
}

// NaN gives the other operand.
auto Extremum(const char* op) {
  return Binary([op](PaddleArgs&, const Expr& x, const Expr& y) -> Expr {
    if (!IsFloating(x.dtype())) return x.Op(op, {y});
    return Where(IsNan(x), y, Where(IsNan(y), x, x.Op(op, {y})));
  });
}

Expr Divide(PaddleArgs&, const Expr& x, const Expr& y) { return x / y; }
Expr NotEqual(PaddleArgs&, const Expr& x, const Expr& y) { return Not(x == y); }

Expr Heaviside(PaddleArgs&, const Expr& x, const Expr& y) {
  const Expr zero = x.Number(0);
  return Where(x == zero, y, Where(x < zero, zero, x.Number(1)));
}

Expr CopySign(PaddleArgs&, const Expr& x, const Expr& y) {
  return Where(SignBit(y), -Abs(x), Abs(x));
}

// |x - y| <= atol + rtol |y|.
Expr IsClose(PaddleArgs& a) {
  const Pair p = Operands(a, "Input", "Other");
  const bool equal_nan = a.Bool("equal_nan", false);
  const Expr rtol = a.Scalar("rtol", {"Rtol"}, 1e-5, p.x.dtype());
  const Expr atol = a.Scalar("atol", {"Atol"}, 1e-8, p.x.dtype());
  Expr close = (p.x == p.y) |
               (Not(IsInf(p.x)) & Not(IsInf(p.y)) & (Abs(p.x - p.y) <= atol + rtol * Abs(p.y)));
  const Expr both = IsNan(p.x) & IsNan(p.y);
  return equal_nan ? close | both : close & Not(IsNan(p.x) | IsNan(p.y));
}

Expr AllClose(PaddleArgs& a) { return All(IsClose(a), {}); }

Expr EqualAll(PaddleArgs& a) {
  const Pair p = Operands(a, "X", "Y");
  return All(p.x == p.y, {});
}

Expr Lerp(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  return x + a.X("Weight") * (y - x);
}

// x to the power of a number that is an attribute, or given.
Expr PowNumber(PaddleArgs& a) {
  const Expr x = a.X();
  if (!a.HasOperandFor("factor", {"FactorTensor"})) {
    const double factor = a.Number("factor", 1);
    if (factor == 2) return x * x;
    if (factor == 1) return x.Op("identity");
    if (factor == 0.5 && IsFloating(x.dtype())) return Sqrt(x);
    return Pow(x, factor);
  }
  return Pow(x, a.Scalar("factor", {"FactorTensor"}, 1, x.dtype()));
}

Expr Shift(PaddleArgs& a, const char* direction) {
  const Pair p = Operands(a, "X", "Y");
  const bool arithmetic = a.Bool("is_arithmetic", true);
  const bool left = std::string_view(direction) == "LEFT";
  if (IsUnsignedInt(p.x.dtype())) {
    return p.x.Op("bit_shift", {p.y}, {{"direction", direction}});
  }
  a.Require(arithmetic, "logical shifts of signed integers");
  return AsTorch(a, left ? "aten::bitwise_left_shift.Tensor" : "aten::bitwise_right_shift.Tensor",
                 {{"self", p.x}, {"other", p.y}}, p.x.dtype());
}

Expr ShiftLeft(PaddleArgs& a) { return Shift(a, "LEFT"); }
Expr ShiftRight(PaddleArgs& a) { return Shift(a, "RIGHT"); }

auto TorchBinary(const char* op, const char* first = "X", const char* second = "Y",
                 const char* self = "self", const char* other = "other") {
  return Binary(
      [=](PaddleArgs& a, const Expr& x, const Expr& y) {
        return AsTorch(a, op, {{self, x}, {other, y}}, x.dtype());
      },
      first, second);
}

// The sum of all, of one type.
Expr AddN(PaddleArgs& a) {
  const std::vector<Value*> parts = a.List("X");
  a.Require(!parts.empty(), "a sum of nothing");
  Expr sum(a.b(), parts[0]);
  if (parts.size() == 1) return sum.Op("identity");
  for (size_t i = 1; i < parts.size(); ++i) sum = sum + Expr(a.b(), parts[i]);
  return sum;
}

auto Unary(Expr (*f)(const Expr&)) {
  return [f](PaddleArgs& a) { return f(a.X()); };
}

// Complex numbers are PyTorch's.
Expr OfComplex(PaddleArgs& a, std::string_view name) {
  const Expr x = a.X();
  return AsTorch(a, StrCat("aten::", name, ".default"), {{"self", x}}, x.dtype());
}

auto UnaryOrComplex(Expr (*f)(const Expr&), const char* name) {
  return [f, name](PaddleArgs& a) {
    const Expr x = a.X();
    return IsComplex(x.dtype()) ? OfComplex(a, name) : f(x);
  };
}

// Integers are computed as floats.
auto FloatUnary(const char* op) {
  return [op](PaddleArgs& a) {
    const Expr x = a.X();
    if (IsComplex(x.dtype())) return OfComplex(a, op);
    return (IsFloating(x.dtype()) ? x : x.To(DType::kFloat32)).Op(op);
  };
}

Expr IncompleteGamma(PaddleArgs& a) {
  const Expr x = a.X("x"), y = a.X("y");
  const bool upper = a.op() == "gammaincc";
  return AsTorch(a, upper ? "aten::igammac.default" : "aten::igamma.default",
                 {{"self", x}, {"other", y}}, x.dtype());
}

auto TorchUnary(const char* op) {
  return [op](PaddleArgs& a) {
    const Expr x = a.X();
    return AsTorch(a, op, {{"self", x}}, x.dtype());
  };
}

Expr Rsqrt(const Expr& x) { return Reciprocal(Sqrt(x)); }
Expr LogTo(const Expr& x, double base) { return Log(x) * (1 / portable::log(base)); }
Expr Log2(const Expr& x) { return LogTo(x, 2); }
Expr Log10(const Expr& x) { return LogTo(x, 10); }
Expr LogicalNot(const Expr& x) { return Not(IsTrue(x)); }
Expr BitwiseNot(const Expr& x) { return x.dtype() == DType::kBool ? Not(x) : x.Op("bitwise_not"); }

Expr Trunc(const Expr& x) {
  if (!IsFloating(x.dtype())) return x.Op("identity");
  return Where(x < 0.0, Ceil(x), Floor(x));
}

Expr IsFinite(const Expr& x) {
  if (!IsFloating(x.dtype())) return Expr(x.builder(), x.Op("equal", {x}));
  return Not(IsNan(x) | IsInf(x));
}

Expr IsNanOrNever(const Expr& x) {
  return IsFloating(x.dtype()) ? IsNan(x) : Not(x.Op("equal", {x}));
}

Expr IsInfOrNever(const Expr& x) {
  return IsFloating(x.dtype()) ? IsInf(x) : Not(x.Op("equal", {x}));
}

// Of a complex number: whether it holds of one of its parts.
template <Expr (*kTest)(const Expr&)>
Expr EitherPart(PaddleArgs& a) {
  const Expr x = a.X();
  return IsComplex(x.dtype()) ? kTest(x.Op("real")) | kTest(x.Op("imag")) : kTest(x);
}

// Halves away from zero, as C's round; with decimals 10^d times as fine.
Expr RoundAway(const Expr& x) {
  if (!IsFloating(x.dtype())) return x.Op("identity");
  return Sign(x) * RoundHalfUp(Abs(x));
}

Expr RoundDecimals(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t decimals = a.Int("decimals", 0);
  a.Require(decimals > -30 && decimals < 30, "as many decimals");
  if (decimals == 0) return RoundAway(x);
  const double factor =
      portable::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals));
  return decimals < 0 ? RoundAway(x / factor) * factor : RoundAway(x * factor) / factor;
}

// scale * x + bias, or scale * (x + bias).
Expr Scale(PaddleArgs& a) {
  const Expr x = a.X();
  const double bias = a.Number("bias", 0);
  const bool after = a.Bool("bias_after_scale", true);
  if (IsComplex(x.dtype())) {
    const Expr re = x.Op("real"), im = x.Op("imag");
    const Expr factor = a.Scalar("scale", {"ScaleTensor"}, 1, re.dtype());
    const Expr real = after ? Shifted(re * factor, bias) : Shifted(re, bias) * factor;
    return real.Op("complex", {im * factor});
  }
  // Integers are scaled by integers.
  const Expr scale = a.Scalar("scale", {"ScaleTensor"}, 1, x.dtype());
  const Tensor* known = scale.value()->constant();
  const bool is_one = known && known->num_elements() == 1 && known->AsDouble(0) == 1;
  const Expr shift = x.Number(bias);
  const auto scaled = [&](const Expr& y) { return is_one ? y : y * scale; };
  if (bias == 0) return is_one ? x.Op("identity") : scaled(x);
  return after ? scaled(x) + shift : scaled(x + shift);
}

Expr CastTo(PaddleArgs& a) {
  const DType to = a.Dtype("out_dtype", a.Dtype("dtype", DType::kUndefined));
  a.Require(to != DType::kUndefined, "no element type is said");
  return a.X().Op("cast", {}, {{"to", std::string(Name(to))}});
}

Expr Increment(PaddleArgs& a) {
  const Expr x = a.X();
  const double step = a.Number(a.HasAttr("value") ? "value" : "step", 1);
  return x + step;
}

Expr Logit(PaddleArgs& a) {
  const Expr x = a.X();
  const double eps = a.Number("eps", 1e-6);
  if (eps == 0) return Log(x / (1.0 - x));
  const Expr z = Clip(x, x.Number(eps), x.Number(1 - eps));
  return Log(z / (1.0 - z));
}

Expr Polygamma(PaddleArgs& a) {
  const Expr x = a.X();
  return AsTorch(a, "aten::polygamma.default", {{"n", a.Int("n", 0)}, {"self", x}}, x.dtype());
}

// Complex numbers.
Expr MakeComplex(PaddleArgs& a) {
  const Pair p = Operands(a, "X", "Y");
  return p.x.Op("complex", {p.y});
}

DType PartOf(DType t) {
  return t == DType::kComplex64 ? DType::kFloat32 : t == DType::kComplex128 ? DType::kFloat64 : t;
}

auto ComplexUnary(const char* op) {
  return [op](PaddleArgs& a) {
    const Expr x = a.X();
    return AsTorch(a, op, {{"self", x}}, PartOf(x.dtype()));
  };
}

Expr AsComplex(PaddleArgs& a) {
  const Expr x = a.X();
  return AsTorch(a, "aten::view_as_complex.default", {{"self", x}}, ComplexType(x.dtype()));
}

PaddleResults Dropout(PaddleArgs& a) {
  const Expr x = a.X();
  a.Drop({"Seed"});
  const bool upscale =
      a.String("dropout_implementation", "downgrade_in_infer") == "upscale_in_train";
  // Programs that were saved before they were made ones of inference say nothing else.
  a.Require(a.Bool("is_test", true), "dropout in training, which is random");
  const Expr p = a.Scalar("dropout_prob", {}, 0.5, x.dtype());
  PaddleResults results = {{"Out", {upscale ? x.Op("identity") : x * (1.0 - p)}}};
  return results;
}

Expr MaskedFill(PaddleArgs& a) {
  const Expr x = a.X(), mask = a.X("Mask");
  return Where(mask, a.X("Value").To(x.dtype()), x);
}

Expr WhereLike(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  const DType type = PaddlePromote(x.dtype(), y.dtype());
  return Select(a.X("Condition"), x.To(type), y.To(type));
}

// Ids of a shard, counted from its begin; those of others are ignore_value.
Expr ShardIndex(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t count = a.Int("index_num", 0), shards = a.Int("nshards", 1),
                shard = a.Int("shard_id", 0), ignore = a.Int("ignore_value", -1);
  a.Require(shards > 0 && count >= 0, "shards of a number");
  const int64_t size = (count + shards - 1) / shards;
  const Expr low = x.Number(static_cast<double>(shard * size));
  const Expr high = x.Number(static_cast<double>((shard + 1) * size));
  return Where((x >= low) & (x < high), x - low, static_cast<double>(ignore));
}

Expr SearchSorted(PaddleArgs& a) {
  const Expr sorted = a.X("SortedSequence"), values = a.X("Values");
  const bool narrow = a.Bool("out_int32", false), right = a.Bool("right", false);
  return AsTorch(
      a, "aten::searchsorted.Tensor",
      {{"sorted_sequence", sorted}, {"self", values}, {"out_int32", narrow}, {"right", right}},
      narrow ? DType::kInt32 : DType::kInt64);
}

Expr Kron(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  return AsTorch(a, "aten::kron.default", {{"self", x}, {"other", y}}, x.dtype());
}

// Vectors of three along an axis; by default the first axis of size 3.
Expr Cross(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  int64_t axis = a.Int("dim", 9);
  if (axis == 9) {
    for (int64_t i = 0; i < a.Rank(x) && axis == 9; ++i) {
      const Dim dim = DimAt(x, i);
      a.Require(dim.is_static(), "axes of unknown size");
      if (dim.value() == 3) axis = i;
    }
  }
  return AsTorch(a, "aten::linalg_cross.default", {{"self", x}, {"other", y}, {"dim", axis}},
                 x.dtype());
}

Expr AffineChannel(PaddleArgs& a) {
  const Expr x = a.X();
  const bool last = ChannelsLast(a, "data_layout");
  const int64_t rank = a.Rank(x);
  return x * PerChannel(a, a.X("Scale"), rank, last) + PerChannel(a, a.X("Bias"), rank, last);
}

// The weight divided by its largest singular value, as power_iters steps find it.
Expr SpectralNorm(PaddleArgs& a) {
  const Expr w = a.X("Weight");
  Expr u = a.X("U"), v = a.X("V");
  const int64_t dim = a.Axis(a.Int("dim", 0), w), steps = a.Int("power_iters", 1);
  a.Require(steps >= 0 && steps <= 64, "as many steps");
  const double eps = a.Number("eps", 1e-12);
  const Expr moved = MoveAxis(w, dim, 0);
  const Expr matrix = ReshapeTo(moved, {SizeAt(moved, 0), Size(-1)});
  const Expr columns = Transpose(matrix, {1, 0});
  const auto unit = [&](const Expr& x) {
    return x / (Sqrt(Reduce(Square(x), "reduce_sum", {})) + eps);
  };
  for (int64_t i = 0; i < steps; ++i) {
    v = unit(MatMul(columns, u));
    u = unit(MatMul(matrix, v));
  }
  return w / Reduce(u * MatMul(matrix, v), "reduce_sum", {});
}

// Slices of an axis whose norm is greater are scaled to it.
Expr Renorm(PaddleArgs& a) {
  const Expr x = a.X();
  const double p = a.Number("p", 2), most = a.Number("max_norm", 1);
  const int64_t axis = a.Int("axis", 0);
  return AsTorch(a, "aten::renorm.default",
                 {{"self", x}, {"p", p}, {"dim", axis}, {"maxnorm", most}}, x.dtype());
}

// What several devices exchange, where there is one.
Expr OfOneDevice(PaddleArgs& a) {
  a.Int("rank", 0);
  a.Require(a.Int("nranks", 1) == 1, "more than one device");
  return a.X().Op("identity");
}

Expr AsItIs(PaddleArgs& a) {
  for (const char* name : {"reduce_type", "root"}) a.Ignore(name);  // of several devices
  return a.X().Op("identity");
}

Expr Print(PaddleArgs& a) {
  for (const auto& [name, attr] : a.attrs()) a.Ignore(name);
  return a.X("In").Op("identity");
}

}  // namespace

X2IR_PADDLE(add).From({"elementwise_add", "grad_add"}, BinaryOp("add")).From("sum", AddN);
X2IR_PADDLE(sub).From({"elementwise_sub", "minus"}, BinaryOp("sub"));
X2IR_PADDLE(mul).From({{"elementwise_mul", BinaryOp("mul")}, {"scale", Scale}});
X2IR_PADDLE(div).From("elementwise_div", Binary(Divide));
X2IR_PADDLE(max).From({{"elementwise_max", BinaryOp("max")},
                       {"elementwise_fmax", Extremum("max")}});
X2IR_PADDLE(min).From({{"elementwise_min", BinaryOp("min")},
                       {"elementwise_fmin", Extremum("min")}});
X2IR_PADDLE(pow).From({{"elementwise_pow", BinaryOp("pow")}, {"pow", PowNumber}});
X2IR_PADDLE(mod).From("elementwise_mod", Binary([](PaddleArgs&, const Expr& x, const Expr& y) {
                        return FloorRemainder(x, y);
                      }));
X2IR_PADDLE(floor)
    .From("elementwise_floordiv",
          Binary([](PaddleArgs&, const Expr& x, const Expr& y) { return FloorDivided(x, y); }))
    .From("floor");
X2IR_PADDLE(where)
    .From("elementwise_heaviside", Binary(Heaviside))
    .From("copysign", Binary(CopySign));
X2IR_PADDLE(equal)
    .From("equal", BinaryOp("equal"))
    .From("not_equal", Binary(NotEqual))
    .From({{"equal_all", EqualAll}, {"isclose", IsClose}, {"allclose", AllClose}});
X2IR_PADDLE(less).From("less_than", BinaryOp("less"));
X2IR_PADDLE(less_or_equal).From("less_equal", BinaryOp("less_or_equal"));
X2IR_PADDLE(greater).From("greater_than", BinaryOp("greater"));
X2IR_PADDLE(greater_or_equal).From("greater_equal", BinaryOp("greater_or_equal"));
X2IR_PADDLE(and).From("logical_and", Logical("and"));
X2IR_PADDLE(or).From("logical_or", Logical("or"));
X2IR_PADDLE(xor).From("logical_xor", Logical("xor"));
X2IR_PADDLE(not ).From("logical_not", Unary(LogicalNot));
X2IR_PADDLE(bitwise_and).From("bitwise_and", Bits("and", "bitwise_and"));
X2IR_PADDLE(bitwise_or).From("bitwise_or", Bits("or", "bitwise_or"));
X2IR_PADDLE(bitwise_xor).From("bitwise_xor", Bits("xor", "bitwise_xor"));
X2IR_PADDLE(bitwise_not).From("bitwise_not", Unary(BitwiseNot));
X2IR_PADDLE(bit_shift).From({{"bitwise_left_shift", ShiftLeft},
                             {"bitwise_right_shift", ShiftRight}});
X2IR_PADDLE(atan).From("atan2", [](PaddleArgs& a) {
  const Pair p = Operands(a, "X1", "X2");
  return Atan2(p.x, p.y);
});
X2IR_PADDLE(add).From("lerp", Lerp);
X2IR_PADDLE(mod).From({{"gcd", TorchBinary("aten::gcd.default")},
                       {"lcm", TorchBinary("aten::lcm.default")}});
X2IR_PADDLE(bit_cast).From("nextafter", TorchBinary("aten::nextafter.default"));
X2IR_PADDLE(sqrt).From("hypot", Binary([](PaddleArgs&, const Expr& x, const Expr& y) {
                         return Hypot(x, y);
                       }));
X2IR_PADDLE(mul).From("ldexp", Binary([](PaddleArgs&, const Expr& x, const Expr& y) {
                        return x * Pow(y.Number(2), y);
                      }));
X2IR_PADDLE(abs).From("abs", [](PaddleArgs& a) {
  const Expr x = a.X();
  return IsComplex(x.dtype()) ? ComplexUnary("aten::abs.default")(a) : Abs(x);
});
X2IR_PADDLE(acos).From("acos");
X2IR_PADDLE(acosh).From("acosh");
X2IR_PADDLE(asin).From("asin");
X2IR_PADDLE(asinh).From("asinh");
X2IR_PADDLE(atan).From("atan");
X2IR_PADDLE(atanh).From("atanh");
X2IR_PADDLE(ceil).From("ceil");
X2IR_PADDLE(cos).From("cos");
X2IR_PADDLE(cosh).From("cosh");
X2IR_PADDLE(erf).From("erf");
X2IR_PADDLE(exp).From("exp", FloatUnary("exp")).From("expm1", Unary(Expm1));
X2IR_PADDLE(log)
    .From("log", FloatUnary("log"))
    .From("log2", UnaryOrComplex(Log2, "log2"))
    .From("log10", UnaryOrComplex(Log10, "log10"))
    .From("log1p", Unary(Log1p))
    .From("logit", Logit);
X2IR_PADDLE(reciprocal).From("reciprocal").From("rsqrt", UnaryOrComplex(Rsqrt, "rsqrt"));
X2IR_PADDLE(round).From("round", RoundDecimals);
X2IR_PADDLE(sign).From("sign", UnaryOrComplex(Sign, "sgn"));
X2IR_PADDLE(sin).From("sin");
X2IR_PADDLE(sinh).From("sinh");
X2IR_PADDLE(sqrt).From("sqrt", FloatUnary("sqrt"));
X2IR_PADDLE(mul).From("square", UnaryOrComplex(Square, "square"));
X2IR_PADDLE(tan).From("tan");
X2IR_PADDLE(tanh).From("tanh");
X2IR_PADDLE(floor).From("trunc", Unary(Trunc));
X2IR_PADDLE(is_nan)
    .From("isnan_v2", EitherPart<IsNanOrNever>)
    .From("isfinite_v2", [](PaddleArgs& a) {
      const Expr x = a.X();
      return IsComplex(x.dtype()) ? IsFinite(x.Op("real")) & IsFinite(x.Op("imag")) : IsFinite(x);
    });
X2IR_PADDLE(is_inf).From("isinf_v2", EitherPart<IsInfOrNever>);
// In programs before 2.0 one answer for the whole tensor.
X2IR_PADDLE(is_nan)
    .From("isnan", [](PaddleArgs& a) { return Reshape(Any(IsNanOrNever(a.X()), {}), {1}); })
    .From("isinf", [](PaddleArgs& a) { return Reshape(Any(IsInfOrNever(a.X()), {}), {1}); });
X2IR_PADDLE(is_inf).From("isfinite",
                         [](PaddleArgs& a) { return Reshape(All(IsFinite(a.X()), {}), {1}); });
X2IR_PADDLE(cast).From("cast", CastTo);
X2IR_PADDLE(add).From("increment", Increment);
X2IR_PADDLE(erf)
    .From({{"erfinv", TorchUnary("aten::erfinv.default")},
           {"digamma", TorchUnary("aten::digamma.default")}})
    .From({"lgamma", "gammaln"}, TorchUnary("aten::lgamma.default"))
    .From("polygamma", Polygamma)
    .From({"gammaincc", "gammainc"}, IncompleteGamma)
    .From({{"i0", TorchUnary("aten::i0.default")},
           {"i0e", TorchUnary("aten::special_i0e.default")},
           {"i1", TorchUnary("aten::special_i1.default")},
           {"i1e", TorchUnary("aten::special_i1e.default")}});
X2IR_PADDLE(complex).From({{"complex", MakeComplex}, {"as_complex", AsComplex}});
X2IR_PADDLE(real).From({{"real", ComplexUnary("aten::real.default")},
                        {"imag", ComplexUnary("aten::imag.default")},
                        {"as_real", ComplexUnary("aten::view_as_real.default")},
                        {"angle", ComplexUnary("aten::angle.default")}});
X2IR_PADDLE(identity).From("conj", [](PaddleArgs& a) -> Expr {
  const Expr x = a.X();
  if (!IsComplex(x.dtype())) return x.Op("identity");
  return AsTorch(a, "aten::_conj.default", {{"self", x}}, x.dtype());
});
X2IR_PADDLE(identity).From("dropout", Dropout);
X2IR_PADDLE(where).From({{"where", WhereLike},
                         {"masked_fill", MaskedFill},
                         {"shard_index", ShardIndex}});
X2IR_PADDLE(less).From("searchsorted", SearchSorted);
X2IR_PADDLE(mul).From({{"kron", Kron}, {"cross", Cross}});
X2IR_PADDLE(mul).From({{"affine_channel", AffineChannel}, {"renorm", Renorm}});
X2IR_PADDLE(div).From("spectral_norm", SpectralNorm);
X2IR_PADDLE(identity)
    .From({"assign",
           "share_data",
           "memcpy",
           "memcpy_d2h",
           "memcpy_h2d",
           "c_identity",
           "c_allreduce_sum",
           "c_allreduce_max",
           "c_allreduce_min",
           "c_allreduce_prod",
           "c_allreduce_avg",
           "all_reduce",
           "c_broadcast",
           "broadcast",
           "mp_allreduce_sum",
           "c_sync_calc_stream",
           "c_sync_comm_stream",
           "shadow_feed",
           "nop",
           "npu_identity"},
          AsItIs)
    .From({"c_allgather", "all_gather", "c_concat", "c_split", "partial_allgather"}, OfOneDevice);
X2IR_PADDLE(identity).From("depend", [](PaddleArgs& a) {
  a.Drop({"Dep"});
  return a.X().Op("identity");
});
X2IR_PADDLE(identity).From("print", Print);

}  // namespace x2ir
