// Relay: functions of each element, casts and comparisons.
#include "x2ir/handlers/nnvm/elementwise.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/division.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {
namespace {

using namespace symbol;

// Operands of two are of one type there; bools stay bools.
std::function<Value*(SymbolArgs&)> OfTwo(BinaryFn fn) {
  return [fn](SymbolArgs& a) -> Value* {
    Expr x = a.in(0), y = a.in(1);
    // What shape arithmetic makes here is int64.
    if (x.dtype() != y.dtype() && x.dtype() != DType::kUndefined &&
        y.dtype() != DType::kUndefined) {
      const DType wide = IsFloating(y.dtype()) && !IsFloating(x.dtype()) ? y.dtype()
                         : BitWidth(y.dtype()) > BitWidth(x.dtype()) &&
                                 IsFloating(x.dtype()) == IsFloating(y.dtype())
                             ? y.dtype()
                             : x.dtype();
      x = x.To(wide);
      y = y.To(wide);
    }
    return fn(x, y);
  };
}
std::function<Value*(SymbolArgs&)> OfOne(UnaryFn fn) {
  return [fn](SymbolArgs& a) -> Value* { return fn(a.in(0)); };
}

bool IsBoolean(const Expr& x) { return x.dtype() == DType::kBool; }

Expr Both(const Expr& x, const Expr& y) { return IsTrue(x) & IsTrue(y); }
Expr Either(const Expr& x, const Expr& y) { return IsTrue(x) | IsTrue(y); }
Expr OneOf(const Expr& x, const Expr& y) { return IsTrue(x) ^ IsTrue(y); }
Expr BitAnd(const Expr& x, const Expr& y) {
  return IsBoolean(x) ? x & y : x.Op("bitwise_and", {y});
}
Expr BitOr(const Expr& x, const Expr& y) { return IsBoolean(x) ? x | y : x.Op("bitwise_or", {y}); }
Expr BitXor(const Expr& x, const Expr& y) {
  return IsBoolean(x) ? x ^ y : x.Op("bitwise_xor", {y});
}
Expr BitNot(const Expr& x) { return IsBoolean(x) ? Not(x) : x.Op("bitwise_not"); }

// IR shifts unsigned integers. Signed ones are shifted by products and floored quotients.
Expr LeftShift(const Expr& x, const Expr& n) {
  if (IsUnsignedInt(x.dtype())) return x.Op("bit_shift", {n}, {{"direction", "LEFT"}});
  return (x.To(DType::kInt64) * Pow(Int(x.builder(), 2), n.To(DType::kInt64))).To(x.dtype());
}
Expr RightShift(const Expr& x, const Expr& n) {
  if (IsUnsignedInt(x.dtype())) return x.Op("bit_shift", {n}, {{"direction", "RIGHT"}});
  return FloorQuotient(x.To(DType::kInt64), Pow(Int(x.builder(), 2), n.To(DType::kInt64)))
      .To(x.dtype());
}

Expr Log2Of(const Expr& x) { return Log(x) * 1.4426950408889634; }
Expr Log10Of(const Expr& x) { return Log(x) * 0.43429448190325182; }
Expr Rsqrt(const Expr& x) { return Reciprocal(Sqrt(x)); }
Expr IsFinite(const Expr& x) {
  if (!IsFloating(x.dtype())) return x == x;
  return Not(IsNan(x) | IsInf(x));
}
Expr NanOf(const Expr& x) { return IsFloating(x.dtype()) ? IsNan(x) : Not(x == x); }
Expr InfOf(const Expr& x) { return IsFloating(x.dtype()) ? IsInf(x) : Not(x == x); }
Expr TruncOf(const Expr& x) { return IsFloating(x.dtype()) ? Trunc(x) : x.Op("identity"); }
Expr RoundOf(const Expr& x) { return IsFloating(x.dtype()) ? RoundAway(x) : x.Op("identity"); }

Value* BiasAddRow(SymbolArgs& a) {
  const int64_t rank = a.RankOf(0), axis = a.AxisOf(a.Integer("axis", 1));
  const Expr bias = a.in(1);
  if (bias.rank() != 1) return a.in(0) + bias;
  return a.in(0) + (axis == rank - 1 ? bias : AlongAxis(bias, axis, rank));
}

Value* CastRow(SymbolArgs& a) {
  const DType to = a.ElementType("dtype", DType::kUndefined);
  a.Require(to != DType::kUndefined, "a cast without a type");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}
Value* CastLikeRow(SymbolArgs& a) {
  a.Require(a.dtype(1) != DType::kUndefined, "a cast to a type that is not known");
  return a.Op("cast", {a.in(0)}, {{"to", Name(a.dtype(1))}});
}

Value* WhereOp(SymbolArgs& a) { return Select(IsTrue(a.in(0)), a.in(1), a.in(2)); }

// Steps after the length of their sequence; steps are axis 0 or 1, sequences the other one.
Value* SequenceMaskOp(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", 0), rank = a.RankOf(0);
  const double value = a.Number("mask_value", 0);
  a.Require((axis == 0 || axis == 1) && rank >= 2, "steps along another axis than 0 or 1");
  const Expr steps = AlongAxis(Iota(SizeOf(a.in(0), axis)), axis, rank);
  const Expr lengths = AlongAxis(a.AsInt64(a.in(1)), 1 - axis, rank);
  return Where(steps < lengths, a.in(0), a.in(0).Number(value));
}

// An annotation of a compiler, on which results do not depend.
Value* Unmarked(SymbolArgs& a) {
  for (const char* attr : {"compiler", "dtype", "device_type", "virtual_device", "constrain_result",
                           "constrain_body", "se_scope"}) {
    a.Ignore(attr);
  }
  return SameValue(a);
}

Value* DropoutRow(SymbolArgs& a) {
  a.Ignore("rate");
  return SameValue(a);
}

bool HasRelayType(DType t) {
  return t == DType::kBool || (IsFloating(t) && BitWidth(t) >= 16) ||
         (IsInteger(t) && BitWidth(t) >= 8);
}

absl::StatusOr<Value*> ToReinterpret(RelayWriter& w) {
  const DType to = w.DTypeAttr("to");
  if (!HasRelayType(to) || !HasRelayType(w.dtype(0)) || BitWidth(to) != BitWidth(w.dtype(0))) {
    return CannotExpress("bits of ", Name(w.dtype(0)), " as ", Name(to));
  }
  return w.Call("reinterpret", {w.in(0)}, {{"dtype", w.String("to")}});
}

Value* ToCastOfLike(RelayWriter& w) {
  return w.Op("cast", {w.in(0)},
              {{"to", Name(w.dtype(1))},
               {"saturate", w.Int("saturate")},
               {"round_mode", w.String("round_mode")}});
}

// The C cast that Relay has leaves it open what becomes of numbers that the type does not hold.
absl::StatusOr<Value*> ToCastOp(RelayWriter& w) {
  for (const DType t : {w.dtype(0), w.DTypeAttr("to")}) {
    if (!HasRelayType(t)) return CannotExpress("casts of ", Name(t));
  }
  return w.Call("cast", {w.in(0)}, {{"dtype", w.String("to")}});
}

// Two operands of one type.
std::function<absl::StatusOr<Value*>(RelayWriter&)> ToTwo(std::string_view op) {
  return [op](RelayWriter& w) -> absl::StatusOr<Value*> {
    if (w.dtype(0) != w.dtype(1)) return CannotExpress("operands of two types");
    return w.Call(op, {w.in(0), w.in(1)});
  };
}
std::function<Value*(RelayWriter&)> ToMany(std::string_view op, Symbol ir) {
  return [op, ir](RelayWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Call("copy", {w.in(0)});
    return w.Call(op, {w.FoldedButLast(ir), w.in(w.num_inputs() - 1)});
  };
}
std::function<absl::StatusOr<Value*>(RelayWriter&)> ToFloats(std::string_view op) {
  return [op](RelayWriter& w) -> absl::StatusOr<Value*> {
    if (!IsFloating(w.dtype(0))) return CannotExpress("elements of type ", Name(w.dtype(0)));
    return w.Call(op, {w.in(0)});
  };
}

absl::StatusOr<Value*> ToMod(RelayWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("operands of two types");
  const bool truncated = w.Int("fmod") != 0;
  if (IsFloating(w.dtype(0)) && !truncated) return CannotExpress("a floored remainder of floats");
  return w.Call(truncated ? "mod" : "floor_mod", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToPower(RelayWriter& w) {
  if (!IsFloating(w.dtype(0))) return CannotExpress("powers of integers");
  return w.Call("power", {w.in(0), w.Cast(w.in(1), w.dtype(0))});
}

absl::StatusOr<Value*> ToInf(RelayWriter& w) {
  if (w.Int("detect_negative") == 0 || w.Int("detect_positive") == 0) {
    return CannotExpress("infinities of one sign");
  }
  if (!IsFloating(w.dtype(0))) return CannotExpress("infinities of integers");
  return w.Call("isinf", {w.in(0)});
}

Value* ToReciprocalOf(RelayWriter& w) {
  return w.Call("divide", {w.Number(w.dtype(0), 1), w.in(0)});
}

absl::StatusOr<Value*> ToShift(RelayWriter& w) {
  return w.Call(w.String("direction") == "LEFT" ? "left_shift" : "right_shift", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToMean(RelayWriter& w) {
  if (!IsFloating(w.dtype(0))) return CannotExpress("a mean of integers");
  if (w.num_inputs() == 1) return w.Call("copy", {w.in(0)});
  Value* sum = w.Call("add", {w.FoldedButLast("add"), w.in(w.num_inputs() - 1)});
  return w.Call("divide", {sum, w.Number(w.dtype(0), static_cast<double>(w.num_inputs()))});
}

absl::StatusOr<Value*> ToWhereOp(RelayWriter& w) {
  if (w.dtype(1) != w.dtype(2)) return CannotExpress("a choice of two types");
  return w.Call("where", {w.in(0), w.in(1), w.in(2)});
}

Value* ToXor(RelayWriter& w) { return w.Call("logical_xor", {w.in(0), w.in(1)}); }

}  // namespace

X2IR_RELAY(abs).Is("abs");
X2IR_RELAY(acos).Is("acos");
X2IR_RELAY(acosh).Is("acosh");
X2IR_RELAY(asin).Is("asin");
X2IR_RELAY(asinh).Is("asinh");
X2IR_RELAY(atan).Is("atan");
X2IR_RELAY(atanh).Is("atanh");
X2IR_RELAY(ceil).Is("ceil");
X2IR_RELAY(cos).Is("cos");
X2IR_RELAY(cosh).Is("cosh");
X2IR_RELAY(erf).Is("erf").From("fast_erf");
X2IR_RELAY(exp).Is("exp").From("fast_exp");
X2IR_RELAY(floor).Is("floor");
X2IR_RELAY(log).Is("log").From({{"log2", OfOne(Log2Of)}, {"log10", OfOne(Log10Of)}});
X2IR_RELAY(neg).Is("negative");
X2IR_RELAY(round).From({{"round", OfOne(RoundOf)}, {"trunc", OfOne(TruncOf)}});
X2IR_RELAY(sign).Is("sign");
X2IR_RELAY(sin).Is("sin");
X2IR_RELAY(sinh).Is("sinh");
X2IR_RELAY(sqrt).Is("sqrt").From("rsqrt", OfOne(Rsqrt));
X2IR_RELAY(tan).Is("tan");
X2IR_RELAY(tanh).Is("tanh").From("fast_tanh");
X2IR_RELAY(bitwise_not).To("bitwise_not").From("bitwise_not", OfOne(BitNot));
X2IR_RELAY(reciprocal).To("divide", ToReciprocalOf);
X2IR_RELAY(identity)
    .Is("copy")
    .From({"annotation.on_device", "on_device", "annotation.stop_fusion", "annotation.cast_hint",
           "annotation.force_cast", "annotation.bitpack_start", "annotation.bitpack_end",
           "annotation.checkpoint", "annotation.compiler_begin", "annotation.compiler_end"},
          Unmarked)
    .From("nn.dropout", DropoutRow);
X2IR_RELAY(cast).From({{"cast", CastRow}, {"cast_like", CastLikeRow}}).To("cast", ToCastOp);
X2IR_RELAY(cast_like).To("cast", ToCastOfLike);
X2IR_RELAY(bit_cast)
    .To("reinterpret", ToReinterpret)
    .From("reinterpret", [](SymbolArgs& a) -> Value* {
      return a.Op("bit_cast", {a.in(0)}, {{"to", Name(a.ElementType("dtype", DType::kFloat32))}});
    });

X2IR_RELAY(add).From({{"add", OfTwo(Plus)}, {"nn.bias_add", BiasAddRow}}).To("add", ToTwo("add"));
X2IR_RELAY(sub).From("subtract", OfTwo(Minus)).To("subtract", ToTwo("subtract"));
X2IR_RELAY(mul).From("multiply", OfTwo(Times)).To("multiply", ToTwo("multiply"));
X2IR_RELAY(div)
    .From({{"divide", OfTwo(Divide)},
           {"floor_divide", OfTwo(FloorQuotient)},
           {"trunc_divide", OfTwo(Divide)}})
    .To("divide", ToTwo("divide"));
X2IR_RELAY(mod)
    .From({{"mod", OfTwo(TruncatedMod)},
           {"trunc_mod", OfTwo(TruncatedMod)},
           {"floor_mod", OfTwo(x2ir::FloorMod)}})
    .To("floor_mod", ToMod);
X2IR_RELAY(pow).From("power", OfTwo(Power)).To("power", ToPower);
X2IR_RELAY(max).From("maximum", OfTwo(Maximum)).To("maximum", ToMany("maximum", "max"));
X2IR_RELAY(min).From("minimum", OfTwo(Minimum)).To("minimum", ToMany("minimum", "min"));
X2IR_RELAY(sum).To("add", ToMany("add", "add"));
X2IR_RELAY(mean).To("divide", ToMean);
X2IR_RELAY(bitwise_and).From("bitwise_and", OfTwo(BitAnd)).To("bitwise_and");
X2IR_RELAY(bitwise_or).From("bitwise_or", OfTwo(BitOr)).To("bitwise_or");
X2IR_RELAY(bitwise_xor).From("bitwise_xor", OfTwo(BitXor)).To("bitwise_xor");
X2IR_RELAY(bit_shift)
    .From({{"left_shift", OfTwo(LeftShift)}, {"right_shift", OfTwo(RightShift)}})
    .To("left_shift", ToShift);

X2IR_RELAY(equal).From("equal", OfTwo(Equal)).To("equal", ToTwo("equal"));
X2IR_RELAY(greater).From("greater", OfTwo(Greater)).To("greater", ToTwo("greater"));
X2IR_RELAY(greater_or_equal)
    .From("greater_equal", OfTwo(GreaterEqual))
    .To("greater_equal", ToTwo("greater_equal"));
X2IR_RELAY(less).From("less", OfTwo(Less)).To("less", ToTwo("less"));
X2IR_RELAY(less_or_equal)
    .From("less_equal", OfTwo(LessEqual))
    .To("less_equal", ToTwo("less_equal"));
X2IR_RELAY(and).From("logical_and", OfTwo(Both)).To("logical_and");
X2IR_RELAY(or).From("logical_or", OfTwo(Either)).To("logical_or");
X2IR_RELAY(xor).From("logical_xor", OfTwo(OneOf)).To("logical_xor", ToXor);
X2IR_RELAY(not )
    .From({{"logical_not", OfOne(LogicalNot)}, {"not_equal", OfTwo(NotEqual)}})
    .To("logical_not");
X2IR_RELAY(is_nan)
    .From({{"isnan", OfOne(NanOf)}, {"isfinite", OfOne(IsFinite)}})
    .To("isnan", ToFloats("isnan"));
X2IR_RELAY(is_inf).From("isinf", OfOne(InfOf)).To("isinf", ToInf);

X2IR_RELAY(where)
    .From({{"where", WhereOp}, {"sequence_mask", SequenceMaskOp}})
    .To("where", ToWhereOp);

}  // namespace x2ir
