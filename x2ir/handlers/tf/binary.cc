// TensorFlow: arithmetic, comparison and logic of two operands, broadcast.
#include "x2ir/handlers/tf/binary.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* Zero(TfArgs& a) { return a.in(0).Number(0); }
Value* IsZero(TfArgs& a, size_t i) { return a.Op("equal", {a.in(i), a.in(i).Number(0)}); }
Value* IsNegative(TfArgs& a, Value* v) { return a.Op("less", {v, Expr(a, v).Number(0)}); }

// By the sign bit: -0 is negative.
Value* HasSign(TfArgs& a, Value* v) {
  Value* zero = Expr(a, v).Number(0);
  Value* inverse = a.Op("div", {Expr(a, v).Number(1), v});
  Value* negative_zero = a.Op("and", {a.Op("equal", {v, zero}), a.Op("less", {inverse, zero})});
  return a.Op("or", {a.Op("less", {v, zero}), negative_zero});
}

Value* Add(TfArgs& a) {
  const bool strings = a.in(0)->dtype() == DType::kString;
  return a.Op(strings ? "string_concat" : "add", {a.in(0), a.in(1)});
}

Value* SquaredDifference(TfArgs& a) {
  Value* d = a.Op("sub", {a.in(0), a.in(1)});
  return a.Op("mul", {d, d});
}

// Differing signs and a remainder: the quotient that went towards zero is one too large.
Value* FloorDivide(TfArgs& a) {
  Value* x = a.in(0);
  Value* y = a.in(1);
  Value* quotient = a.Op("div", {x, y});
  if (IsFloating(x->dtype())) return a.Op("floor", {quotient});
  if (IsUnsignedInt(x->dtype())) return quotient;
  Value* inexact = a.Op("not", {a.Op("equal", {a.Op("mod", {x, y}), Expr(a, x).Number(0)})});
  Value* differ = a.Op("xor", {IsNegative(a, x), IsNegative(a, y)});
  Value* less = a.Op("sub", {quotient, Expr(a, x).Number(1)});
  return a.Op("where", {a.Op("and", {inexact, differ}), less, quotient});
}

Value* TruncateMod(TfArgs& a) { return a.Op("mod", {a.in(0), a.in(1)}, {{"fmod", 1}}); }

Value* FloorMod(TfArgs& a) {
  if (!IsFloating(a.in(0)->dtype())) return a.Op("mod", {a.in(0), a.in(1)});
  Value* m = TruncateMod(a);
  Value* y = a.in(1);
  Value* nonzero = a.Op("not", {a.Op("equal", {m, Expr(a, m).Number(0)})});
  Value* differ = a.Op("xor", {IsNegative(a, m), IsNegative(a, y)});
  return a.Op("where", {a.Op("and", {nonzero, differ}), a.Op("add", {m, y}), m});
}

// f(x, y), but 0 wherever operand `which` is 0.
Value* UnlessZero(TfArgs& a, size_t which, Value* result) {
  return a.Op("where", {IsZero(a, which), Zero(a), result});
}

Value* DivNoNan(TfArgs& a) { return UnlessZero(a, 1, a.Op("div", {a.in(0), a.in(1)})); }
Value* MulNoNan(TfArgs& a) { return UnlessZero(a, 1, a.Op("mul", {a.in(0), a.in(1)})); }
Value* Xdivy(TfArgs& a) { return UnlessZero(a, 0, a.Op("div", {a.in(0), a.in(1)})); }
Value* Xlogy(TfArgs& a) { return UnlessZero(a, 0, a.Op("mul", {a.in(0), a.Op("log", {a.in(1)})})); }

Value* Xlog1py(TfArgs& a) {
  return UnlessZero(a, 0, a.Op("mul", {a.in(0), Log1p(Expr(a.b(), a.in(1))).value()}));
}

}  // namespace

Value* AngleOf(TfArgs& a, Value* y, Value* x) {
  const auto both = [&](Value* p, Value* q) { return a.Op("and", {p, q}); };
  // 0/0 and inf/inf are directions all the same.
  Value* ratio = a.Op("div", {y, x});
  Value* signs = a.Op("mul", {a.Op("sign", {y}), a.Op("sign", {x})});
  ratio = a.Op("where", {both(a.Op("is_inf", {x}), a.Op("is_inf", {y})), signs, ratio});
  Value* zero = Expr(a, x).Number(0);
  Value* x_zero = a.Op("equal", {x, zero});
  Value* x_signed = HasSign(a, x);
  Value* quotient_zero = a.Op("where", {x_signed, a.Op("neg", {y}), y});
  ratio = a.Op("where", {both(x_zero, a.Op("equal", {y, zero})), quotient_zero, ratio});
  Value* angle = a.Op("atan", {ratio});
  Value* turn = a.Op("where", {HasSign(a, y), Expr(a, x).Number(-std::numbers::pi),
                               Expr(a, x).Number(std::numbers::pi)});
  return a.Op("where", {x_signed, a.Op("add", {angle, turn}), angle});
}

namespace {

Value* Atan2(TfArgs& a) { return AngleOf(a, a.in(0), a.in(1)); }

// The op must say that shapes which do not broadcast are errors.
void RequireBroadcast(TfArgs& a) {
  a.Require(a.Bool("incompatible_shape_error", true), "comparison of shapes that do not broadcast");
}

Value* Equal(TfArgs& a) {
  RequireBroadcast(a);
  return a.Op("equal", {a.in(0), a.in(1)});
}

Value* NotEqual(TfArgs& a) {
  RequireBroadcast(a);
  return a.Op("not", {a.Op("equal", {a.in(0), a.in(1)})});
}

Value* ApproximateEqual(TfArgs& a) {
  Value* distance = a.Op("abs", {a.Op("sub", {a.in(0), a.in(1)})});
  return a.Op("less", {distance, Expr(a, distance).Number(a.Float("tolerance", 1e-5f))});
}

DType Unsigned(DType t) {
  switch (BitWidth(t)) {
    case 8: return DType::kUInt8;
    case 16: return DType::kUInt16;
    case 32: return DType::kUInt32;
    default: return DType::kUInt64;
  }
}

Value* Shift(TfArgs& a, bool left) {
  Value* x = a.in(0);
  const DType type = x->dtype();
  const DType bits = Unsigned(type);
  const AttributeMap direction = {{"direction", left ? "LEFT" : "RIGHT"}};
  Value* n = a.Cast(a.in(1), bits);
  if (!IsSignedInt(type)) return a.Op("bit_shift", {x, n}, direction);
  if (left) {
    Value* shifted = a.Op("bit_shift", {a.Op("bit_cast", {x}, {{"to", Name(bits)}}), n}, direction);
    return a.Op("bit_cast", {shifted}, {{"to", Name(type)}});
  }
  // The sign is shifted in: of negative numbers the complement is shifted.
  Value* negative = IsNegative(a, x);
  Value* magnitude = a.Op("where", {negative, a.Op("bitwise_not", {x}), x});
  Value* shifted = a.Cast(a.Op("bit_shift", {a.Cast(magnitude, bits), n}, direction), type);
  return a.Op("where", {negative, a.Op("bitwise_not", {shifted}), shifted});
}

Value* LeftShift(TfArgs& a) { return Shift(a, true); }
Value* RightShift(TfArgs& a) { return Shift(a, false); }

Value* AddN(TfArgs& a) {
  a.ShapeAttr("shape");
  return a.num_inputs() == 1 ? a.Op("identity", {a.in(0)}) : a.Op("sum", a.inputs());
}

Value* ClipByValue(TfArgs& a) { return a.Op("max", {a.Op("min", {a.in(0), a.in(2)}), a.in(1)}); }
Value* SelectV2(TfArgs& a) { return a.Op("where", {a.in(0), a.in(1), a.in(2)}); }

// The condition of one axis is that of the first one.
absl::StatusOr<Value*> FromSelect(TfArgs& a) {
  Value* condition = a.in(0);
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t of_values, a.Rank(1));
  if (rank == 1 && of_values > 1) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < of_values; ++i) axes.push_back(i);
    condition = a.Op("unsqueeze", {condition, a.b().Ints(axes)});
  }
  return a.Op("where", {condition, a.in(1), a.in(2)});
}

Value* BiasAdd(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  Value* bias = a.in(1);
  if (!layout.channels_last) {
    const int64_t rank = a.rank(0);
    a.Require(rank >= 0, "the operand's rank is not known");
    std::vector<int64_t> axes;
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i - 1);
    if (!axes.empty()) bias = a.Op("unsqueeze", {bias, a.b().Ints(axes)});
  }
  return a.Op("add", {a.in(0), bias});
}

// Of vectors in the last axis, which has 3 elements.
absl::StatusOr<Value*> Cross(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  if (rank < 1) return Invalid("expected rank 1 or more");
  const auto turned = [&](size_t i, std::vector<int64_t> order) {
    return Gather(a.in(i), a.b().Ints(order), rank - 1);
  };
  const std::vector<int64_t> next = {1, 2, 0}, last = {2, 0, 1};
  return a.Op("sub", {a.Op("mul", {turned(0, next), turned(1, last)}),
                      a.Op("mul", {turned(0, last), turned(1, next)})});
}

// Sizes of two shapes broadcast together.
absl::StatusOr<Value*> BroadcastArgs(TfArgs& a) {
  const DType type = a.in(0)->dtype();
  int64_t lengths[2];
  for (size_t i : {0, 1}) {
    const Shape* shape = (a.in(i), a.shape(i));
    if (!shape || shape->rank() != 1 || !(*shape)[0].is_static()) {
      return Unimplemented("the length of operand ", i, " is not known");
    }
    lengths[i] = (*shape)[0].value();
  }
  const int64_t length = std::max(lengths[0], lengths[1]);
  Value* sizes[2];
  for (size_t i : {0, 1}) {
    Value* pads = a.b().Ints({length - lengths[i], 0});
    sizes[i] = a.Op("pad", {a.AsInt64(a.in(i)), pads, a.b().Int(1)});
  }
  Value* is_one = a.Op("equal", {sizes[0], a.b().Int(1)});
  return a.Cast(a.Op("where", {is_one, sizes[1], sizes[0]}), type);
}

Value* StringToNumber(TfArgs& a) { return a.Cast(a.in(0), a.Type("out_type", DType::kFloat32)); }

absl::StatusOr<Value*> ToTfCast(TfWriter& w) {
  const DType to = w.DTypeAttr("to");
  if (to == DType::kString || w.dtype() == DType::kString) return CannotExpress("casts of strings");
  if (IsFloating(to) && BitWidth(to) <= 8) return CannotExpress("casts to ", Name(to));
  return w.Tf("Cast", {w.in(0)}, {{"DstT", Type::Tensor(to)}});
}

Value* ToTfBitcast(TfWriter& w) {
  return w.Tf("Bitcast", {w.in(0)}, {{"type", Type::Tensor(w.DTypeAttr("to"))}});
}

Value* ToTfDiv(TfWriter& w) {
  return w.Tf(IsFloating(w.dtype()) ? "RealDiv" : "TruncateDiv", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToTfMod(TfWriter& w) {
  const bool fmod = w.Int("fmod") != 0;
  if (!fmod && IsFloating(w.dtype())) {
    return CannotExpress("remainders of floats that have the divisor's sign");
  }
  return w.Tf(fmod ? "TruncateMod" : "FloorMod", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToTfPow(TfWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return w.Tf("Pow", {w.in(0), w.in(1)});
}

// Two at a time.
auto ToTfFold(Symbol ir, std::string_view op) {
  return [=](TfWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
    return w.Tf(op, {w.FoldedButLast(ir), w.in(w.num_inputs() - 1)});
  };
}

Value* ToTfShift(TfWriter& w) {
  return w.Tf(w.String("direction") == "LEFT" ? "LeftShift" : "RightShift", {w.in(0), w.in(1)});
}

}  // namespace

X2IR_TF(add).To("AddV2").From(
    {{"Add", Add}, {"AddV2", Add}, {"BiasAdd", BiasAdd}, {"BiasAddV1", BiasAdd}});
X2IR_TF(sum).To("AddV2", ToTfFold("add", "AddV2")).From({{"AddN", AddN}, {"AccumulateNV2", AddN}});
X2IR_TF(sub).Is("Sub").From("SquaredDifference", SquaredDifference);
X2IR_TF(mul).Is("Mul").From(
    {{"MulNoNan", MulNoNan}, {"Xlogy", Xlogy}, {"Xlog1py", Xlog1py}, {"Cross", Cross}});
X2IR_TF(div)
    .To("RealDiv", ToTfDiv)
    .From("RealDiv")
    .From("Div")
    .From("TruncateDiv")
    .From({{"FloorDiv", FloorDivide}, {"DivNoNan", DivNoNan}, {"Xdivy", Xdivy}});
X2IR_TF(mod)
    .To("FloorMod", ToTfMod)
    .From({{"FloorMod", FloorMod}, {"Mod", TruncateMod}, {"TruncateMod", TruncateMod}});
X2IR_TF(pow).To("Pow", ToTfPow).From("Pow");
X2IR_TF(max)
    .To("Maximum", ToTfFold("max", "Maximum"))
    .From("Maximum")
    .From("ClipByValue", ClipByValue);
X2IR_TF(min).To("Minimum", ToTfFold("min", "Minimum")).From("Minimum");
X2IR_TF(atan).From("Atan2", Atan2);
X2IR_TF(equal).To("Equal").From({{"Equal", Equal}, {"NotEqual", NotEqual}});
X2IR_TF(less).Is("Less").From("ApproximateEqual", ApproximateEqual);
X2IR_TF(less_or_equal).Is("LessEqual");
X2IR_TF(greater).Is("Greater");
X2IR_TF(greater_or_equal).Is("GreaterEqual");
X2IR_TF(and).Is("LogicalAnd");
X2IR_TF(or).Is("LogicalOr");
X2IR_TF(bitwise_and).Is("BitwiseAnd");
X2IR_TF(bitwise_or).Is("BitwiseOr");
X2IR_TF(bitwise_xor).Is("BitwiseXor");
X2IR_TF(bit_shift)
    .To("LeftShift", ToTfShift)
    .From({{"LeftShift", LeftShift}, {"RightShift", RightShift}});
X2IR_TF(where)
    .To("SelectV2")
    .From({{"SelectV2", SelectV2}, {"Select", FromSelect}, {"BroadcastArgs", BroadcastArgs}});
X2IR_TF(cast).To("Cast", ToTfCast).From("StringToNumber", StringToNumber);
X2IR_TF(bit_cast).To("Bitcast", ToTfBitcast);
X2IR_TF(xor).To("NotEqual");

}  // namespace x2ir
