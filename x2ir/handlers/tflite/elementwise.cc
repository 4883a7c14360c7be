// TFLite: functions of each element, comparisons, logic, casts, and what hands its operand on.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* FromRsqrt(TfliteArgs& a) { return 1 / Sqrt(a.in(0)); }
Value* FromSquare(TfliteArgs& a) { return Square(a.in(0)); }
Value* SquaredDifference(TfliteArgs& a) { return Square(a.in(0) - a.in(1)); }

// Floats are rounded to the nearest integer; of what is no float it is the operand.
Value* FromRound(TfliteArgs& a) {
  return a.Op(IsFloating(a.in(0)->dtype()) ? "round" : "identity", {a.in(0)});
}

Value* Cast(TfliteArgs& a) {
  a.Ignore("out_data_type");
  const DType to = a.out_dtype();
  a.Require(to != DType::kUndefined && to != DType::kString && a.dtype() != DType::kString,
            "casts of these types");
  a.Require(!IsComplex(to) && !IsComplex(a.dtype()), "casts of complex numbers");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}

// By now what is quantized is floats on both sides.
Value* Requantized(TfliteArgs& a) {
  const DType to = a.out_dtype();
  return IsFloating(to) && to != a.dtype() ? a.Op("cast", {a.in(0)}, {{"to", Name(to)}})
                                           : a.Op("identity", {a.in(0)});
}

Value* AddN(TfliteArgs& a) {
  Expr sum = a.in(0);
  for (size_t i = 1; i < a.num_inputs(); ++i) sum = sum + a.in(i);
  return a.num_inputs() == 1 ? a.Op("identity", {sum}) : sum;
}

Value* FakeQuant(TfliteArgs& a) {
  return AsTf(a, "FakeQuantWithMinMaxArgs", {a.in(0)},
              {{"min", a.Float("min", 0)},
               {"max", a.Float("max", 0)},
               {"num_bits", a.Int("num_bits", 0)},
               {"narrow_range", a.Bool("narrow_range", false)}})[0];
}

Value* Bitcast(TfliteArgs& a) {
  return AsTf(a, "Bitcast", {a.in(0)}, {{"type", Type::Tensor(a.out_dtype())}})[0];
}

// Kernels broadcast few axes: adjacent axes that are broadcast alike are merged into one.
// Null: the kernel takes the operands as they are, or merging does not help.
Value* WithMergedAxes(TfliteWriter& w, std::string_view op) {
  const Shape* out = w.out_type().shape();
  const auto dims = out ? out->Static() : std::nullopt;
  if (!dims || static_cast<int64_t>(dims->size()) <= MostBroadcastAxes(op)) return nullptr;
  const size_t rank = dims->size();
  std::vector<std::vector<int64_t>> operands;
  bool alike = true;
  for (size_t i = 0; i < w.num_inputs(); ++i) {
    const auto own = w.shape(i) ? w.shape(i)->Static() : std::nullopt;
    if (!own || own->size() > rank) return nullptr;
    operands.emplace_back(rank - own->size(), 1);
    operands.back().insert(operands.back().end(), own->begin(), own->end());
    alike &= *own == *dims;
  }
  if (alike) return nullptr;
  const auto same = [&](size_t a, size_t b) {
    return std::all_of(operands.begin(), operands.end(), [&](const std::vector<int64_t>& each) {
      return (each[a] == (*dims)[a]) == (each[b] == (*dims)[b]);
    });
  };
  std::vector<std::vector<int64_t>> merged(operands.size());
  std::optional<size_t> last;
  for (size_t axis = 0; axis < rank; ++axis) {
    if ((*dims)[axis] == 0) return nullptr;
    if ((*dims)[axis] == 1) continue;
    const bool joins = last && same(*last, axis);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (joins) {
        merged[i].back() *= operands[i][axis];
      } else {
        merged[i].push_back(operands[i][axis]);
      }
    }
    last = axis;
  }
  if (merged[0].size() >= rank) return nullptr;
  std::vector<Value*> reshaped;
  for (size_t i = 0; i < operands.size(); ++i) {
    reshaped.push_back(operands[i] == merged[i] ? w.in(i) : w.Reshape(w.in(i), merged[i]));
  }
  return w.Reshape(w.Op(w.node().op(), std::move(reshaped), w.attrs()), *dims);
}

// Of any number of operands, two at a time.
auto ToBroadcast(std::string_view op) {
  return [=](TfliteWriter& w) -> absl::StatusOr<Value*> {
    if (w.num_inputs() == 1) return w.Op("identity", {w.in(0)});
    if (w.num_inputs() > 2) {
      Value* folded = w.FoldedButLast(w.node().op());
      return w.Op(w.node().op(), {folded, w.in(w.num_inputs() - 1)}, w.attrs());
    }
    if (Value* y = WithMergedAxes(w, op)) return y;
    return w.Tflite(op, {w.in(0), w.in(1)});
  };
}

// The least and the largest that integers can be, as far as sizes and constants say: nullopt where
// they may be anything. What is exported already is of TFLite.
struct IntRange {
  __int128 low, high;
};

constexpr IntRange kIntSizes = {0, INT32_MAX};

std::optional<IntRange> RangeOfInts(const Value* v, int depth = 0) {
  constexpr int kMaxNodes = 24;
  if (const auto known = KnownTensor(*v); known && IsInteger(known->dtype())) {
    if (known->num_elements() == 0 || known->num_elements() > 4096 || known->is_sparse()) {
      return std::nullopt;
    }
    IntRange range{known->AsInt(0), known->AsInt(0)};
    for (int64_t i = 1; i < known->num_elements(); ++i) {
      range.low = std::min<__int128>(range.low, known->AsInt(i));
      range.high = std::max<__int128>(range.high, known->AsInt(i));
    }
    return range;
  }
  const Node* node = v->producer();
  if (!node || depth > kMaxNodes) return std::nullopt;
  const std::string_view op = node->op().view();
  const auto is = [&](std::string_view ir, std::string_view lite) {
    return op == (node->is_ir() ? ir : lite);
  };
  if (is("shape", "SHAPE") || is("size", "")) return kIntSizes;
  const auto operand = [&](size_t i) { return RangeOfInts(node->input(i), depth + 1); };
  if (is("cast", "CAST")) {
    const DType from = node->input(0)->dtype();
    return IsInteger(from) && BitWidth(from) >= 32 ? operand(0) : std::nullopt;
  }
  // What moves elements.
  if (is("gather", "GATHER") || is("slice", "STRIDED_SLICE") || is("reshape", "RESHAPE") ||
      is("unsqueeze", "EXPAND_DIMS") || is("squeeze", "SQUEEZE") || is("identity", "") ||
      is("expand", "BROADCAST_TO") || is("transpose", "TRANSPOSE")) {
    return operand(0);
  }
  const bool joins = is("concat", "CONCATENATION") || is("", "PACK");
  const bool add = is("add", "ADD"), sub = is("sub", "SUB"), mul = is("mul", "MUL"),
             min = is("min", "MINIMUM"), max = is("max", "MAXIMUM"), div = is("div", "DIV");
  if ((!joins && !add && !sub && !mul && !min && !max && !div) || node->num_inputs() == 0) {
    return std::nullopt;
  }
  if (!joins && node->num_inputs() != 2) return std::nullopt;
  std::optional<IntRange> all = operand(0);
  for (size_t i = 1; all && i < node->num_inputs(); ++i) {
    const auto next = operand(i);
    if (!next) return std::nullopt;
    const IntRange a = *all, b = *next;
    if (joins) all = IntRange{std::min(a.low, b.low), std::max(a.high, b.high)};
    if (add) all = IntRange{a.low + b.low, a.high + b.high};
    if (sub) all = IntRange{a.low - b.high, a.high - b.low};
    if (min) all = IntRange{std::min(a.low, b.low), std::min(a.high, b.high)};
    if (max) all = IntRange{std::max(a.low, b.low), std::max(a.high, b.high)};
    // Quotients are not larger than what is divided.
    if (div) all = IntRange{std::min(a.low, -a.high), std::max(a.high, -a.low)};
    if (mul) {
      const auto corners = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      all = IntRange{std::min(corners), std::max(corners)};
    }
    // What may wrap around is not known.
    if (all->low < INT64_MIN || all->high > INT64_MAX) return std::nullopt;
  }
  return all;
}

bool AreInts32(const Value* v) {
  const auto range = RangeOfInts(v);
  return range && range->low > INT32_MIN && range->high <= INT32_MAX;
}

// DIV has no kernel for int64. Of sizes, which fit, it is that of int32; else the quotient of
// floats is subtracted until the rest is less than the divisor. Each round leaves 2^-22 of it.
// The result is rounded towards zero.
Value* LongQuotient(TfliteWriter& w) {
  const Expr a = X(w, 0), b = X(w, 1);
  if (AreInts32(w.in(0)) && AreInts32(w.in(1))) {
    return (a.To(DType::kInt32) / b.To(DType::kInt32)).To(DType::kInt64);
  }
  constexpr double kLimit = 9223371487098961920.0;  // of float32, below 2^63
  constexpr int kRounds = 4;
  const Expr divisor = b.To(DType::kFloat32);
  Expr quotient = nullptr, left = a;
  for (int i = 0; i < kRounds; ++i) {
    const Expr part =
        Min(Max(left.To(DType::kFloat32) / divisor, -kLimit), kLimit).To(DType::kInt64);
    quotient = quotient.value() ? quotient + part : part;
    left = left - part * b;
  }
  const Expr one = Where(b < 0, -1.0, Expr(w.b(), w.Number(DType::kInt64, 1)));
  const Expr too_far = (a > 0) & (left < 0), too_near = (a < 0) & (left > 0);
  return Where(too_far, quotient - one, Where(too_near, quotient + one, quotient));
}

absl::StatusOr<Value*> ToDiv(TfliteWriter& w) {
  if (w.dtype() == DType::kInt64) return LongQuotient(w);
  return ToBroadcast("DIV")(w);
}

absl::StatusOr<Value*> ToCast(TfliteWriter& w) {
  const DType to = w.DTypeAttr("to"), from = w.dtype();
  for (const DType t : {from, to}) {
    const bool plain = (IsFloating(t) && BitWidth(t) >= 16) || t == DType::kBool ||
                       (IsInteger(t) && BitWidth(t) >= 8 && t != DType::kUInt64);
    if (!plain) return CannotExpress("casts of ", Name(from), " to ", Name(to));
  }
  return w.Tflite("CAST", {w.in(0)}, {}, w.out_type());
}

absl::StatusOr<Value*> ToPow(TfliteWriter& w) {
  const DType t = w.dtype();
  if (t != w.dtype(1)) return CannotExpress("an exponent of another type");
  if (const auto exponent = KnownTensor(*w.in(1)); exponent && exponent->num_elements() == 1) {
    const double e = exponent->AsDouble(0);
    if (e == 2) return w.Op("mul", {w.in(0), w.in(0)});
    if (e == 0.5 && t == DType::kFloat32) return w.Op("sqrt", {w.in(0)});
  }
  // Of integers the kernel refuses negative exponents.
  if (t != DType::kFloat32) return CannotExpress("powers of ", Name(t));
  return ToBroadcast("POW")(w);
}

absl::StatusOr<Value*> ToMod(TfliteWriter& w) {
  const bool fmod = w.Int("fmod") != 0;
  if (fmod && IsFloating(w.dtype())) {
    // a - trunc(a / b) * b is not exact; the remainder of sizes is.
    Expr rest = {w.b(), w.Tflite("FLOOR_MOD", {Abs(X(w, 0)), Abs(X(w, 1))}, {}, w.out_type())};
    return Where(X(w, 0) < 0, -rest, rest);
  }
  if (fmod || IsFloating(w.dtype())) return CannotExpress("that remainder of ", Name(w.dtype()));
  return ToBroadcast("FLOOR_MOD")(w);
}

Value* ToReciprocal(TfliteWriter& w) { return 1 / X(w); }
Value* ToTan(TfliteWriter& w) { return Sin(X(w)) / Cos(X(w)); }
Value* ToIsNan(TfliteWriter& w) { return w.Tflite("NOT_EQUAL", {w.in(0), w.in(0)}); }

absl::StatusOr<Value*> ToAtan(TfliteWriter& w) {
  return w.Tflite("ATAN2", {w.in(0), w.Op("add", {w.Op("mul", {w.in(0), w.Number(w.dtype(), 0)}),
                                                  w.Number(w.dtype(), 1)})});
}

Expr Angle(TfliteWriter& w, const Expr& y, const Expr& x) {
  return {w.b(), w.Tflite("ATAN2", {y, x}, {}, w.out_type())};
}

Expr FromUnit(const Expr& x) { return Sqrt((1 - x) * (x + 1)); }
Value* ToAsin(TfliteWriter& w) { return Angle(w, X(w), FromUnit(X(w))); }
Value* ToAcos(TfliteWriter& w) { return Angle(w, FromUnit(X(w)), X(w)); }

Value* ToSinh(TfliteWriter& w) {
  // Near 0 the two exponentials take each other's digits; the series is exact there.
  const Expr x = X(w), square = x * x;
  const Expr series = x * (((square * (1.0 / 5040) + 1.0 / 120) * square + 1.0 / 6) * square + 1);
  const Expr half = x * 0.5;
  const Expr root = Exp(Abs(half));
  const Expr large = (root * root - 1 / (root * root)) * 0.5;
  return Where(Abs(x) < 1, series, Where(x < 0, -large, large));
}

Value* ToCosh(TfliteWriter& w) {
  const Expr e = Exp(Abs(X(w)));
  return (e + 1 / e) * 0.5;
}

// log1p by its correction: u = 1 + x is rounded, and (u - 1) says how.
Expr LogOnePlus(const Expr& x) {
  const Expr u = x + 1;
  return Where(u == 1.0, x, Log(u) * (x / Where(u == 1.0, 1.0, u - 1)));
}

Value* ToAsinh(TfliteWriter& w) {
  const Expr x = X(w), size = Abs(x);
  const Expr result = LogOnePlus(size + size * size / (Sqrt(size * size + 1) + 1));
  return Where(x < 0, -result, result);
}

Value* ToAcosh(TfliteWriter& w) {
  const Expr x = X(w);
  return Log(x + Sqrt((x - 1) * (x + 1)));
}

Value* ToAtanh(TfliteWriter& w) {
  const Expr x = X(w);
  return LogOnePlus(x * 2 / (1 - x)) * 0.5;
}

// exp(-x^2) times a polynomial of 1 / (1 + p x) (Abramowitz and Stegun, 7.1.26) is off by 1.5e-7;
// near 0 its series.
Value* ToErf(TfliteWriter& w) {
  const Expr x = X(w), size = Abs(x), square = x * x;
  const Expr t = 1 / (size * 0.3275911 + 1);
  const Expr sum =
      ((((t * 1.061405429 - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) *
      t;
  const Expr far = 1 - sum * Exp(-square);
  const double scale = 2 / std::sqrt(std::numbers::pi);
  const Expr near =
      x * ((((square * (scale / 216) - scale / 42) * square + scale / 10) * square - scale / 3) *
               square +
           scale);
  return Where(size < 0.5, near, Where(x < 0, -far, far));
}

Value* ToWhere(TfliteWriter& w) {
  if (Value* y = WithMergedAxes(w, "SELECT_V2")) return y;
  return w.Tflite("SELECT_V2", {w.in(0), w.in(1), w.in(2)});
}

absl::StatusOr<Value*> ToRound(TfliteWriter& w) { return w.Tflite("ROUND", {w.in(0)}); }

absl::StatusOr<Value*> ToBitcast(TfliteWriter& w) {
  return w.Tflite("BITCAST", {w.in(0)}, {}, w.out_type());
}

absl::StatusOr<Value*> ToShift(TfliteWriter& w) {
  if (w.String("direction") == "LEFT") return CannotExpress("shifts to the left");
  return w.Tflite("RIGHT_SHIFT", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToLiteIdentity(TfliteWriter& w) {
  if (!w.out_type().is_tensor()) return CannotExpress("what is no tensor");
  if (Value* sizes = SizesOf(w, w.out_type())) return w.Tflite("RESHAPE", {w.in(0), sizes});
  return Reshaped(w, w.Op("shape", {w.in(0)}));
}

}  // namespace

X2IR_TFLITE(abs).Is("ABS");
X2IR_TFLITE(add).To("ADD", ToBroadcast("ADD")).From("ADD").From("ADD_N", AddN);
X2IR_TFLITE(and).To("LOGICAL_AND", ToBroadcast("LOGICAL_AND")).From("LOGICAL_AND");
X2IR_TFLITE(atan).To("ATAN2", ToAtan).From("ATAN2", SameAsTf("Atan2"));
X2IR_TFLITE(bit_cast).To("BITCAST", ToBitcast).From("BITCAST", Bitcast);
X2IR_TFLITE(bitwise_xor).Is("BITWISE_XOR");
X2IR_TFLITE(cast).To("CAST", ToCast).From("CAST", Cast);
X2IR_TFLITE(ceil).Is("CEIL");
X2IR_TFLITE(cos).Is("COS");
X2IR_TFLITE(div)
    .To("DIV", ToDiv)
    .From("DIV")
    .From({{"RSQRT", FromRsqrt}, {"FLOOR_DIV", SameAsTf("FloorDiv")}});
X2IR_TFLITE(equal).To("EQUAL", ToBroadcast("EQUAL")).From("EQUAL");
X2IR_TFLITE(exp).Is("EXP");
X2IR_TFLITE(floor).Is("FLOOR");
X2IR_TFLITE(greater).To("GREATER", ToBroadcast("GREATER")).From("GREATER");
X2IR_TFLITE(greater_or_equal)
    .To("GREATER_EQUAL", ToBroadcast("GREATER_EQUAL"))
    .From("GREATER_EQUAL")
    .From("BUCKETIZE", SameAsTf("Bucketize", {"boundaries"}));
X2IR_TFLITE(identity)
    .To("RESHAPE", ToLiteIdentity)
    .From("DENSIFY")
    .From({{"DEQUANTIZE", Requantized},
           {"QUANTIZE", Requantized},
           {"FAKE_QUANT", FakeQuant},
           {"HASHTABLE_SIZE", SameAsTf("LookupTableSizeV2")}});
X2IR_TFLITE(less).To("LESS", ToBroadcast("LESS")).From("LESS");
X2IR_TFLITE(less_or_equal).To("LESS_EQUAL", ToBroadcast("LESS_EQUAL")).From("LESS_EQUAL");
X2IR_TFLITE(log).Is("LOG");
X2IR_TFLITE(max).To("MAXIMUM", ToBroadcast("MAXIMUM")).From("MAXIMUM");
X2IR_TFLITE(min).To("MINIMUM", ToBroadcast("MINIMUM")).From("MINIMUM");
X2IR_TFLITE(mod).To("FLOOR_MOD", ToMod).From("FLOOR_MOD", SameAsTf("FloorMod"));
X2IR_TFLITE(mul)
    .To("MUL", ToBroadcast("MUL"))
    .From("MUL")
    .From({{"SQUARE", FromSquare}, {"SQUARED_DIFFERENCE", SquaredDifference}});
X2IR_TFLITE(neg).Is("NEG");
X2IR_TFLITE(not ).Is("LOGICAL_NOT").From("NOT_EQUAL", SameAsTf("NotEqual"));
X2IR_TFLITE(or).To("LOGICAL_OR", ToBroadcast("LOGICAL_OR")).From("LOGICAL_OR");
X2IR_TFLITE(pow).To("POW", ToPow).From("POW", SameAsTf("Pow"));
X2IR_TFLITE(bit_shift).To("RIGHT_SHIFT", ToShift).From("RIGHT_SHIFT", SameAsTf("RightShift"));
X2IR_TFLITE(round).To("ROUND", ToRound).From("ROUND", FromRound);
X2IR_TFLITE(sign).Is("SIGN");
X2IR_TFLITE(sin).Is("SIN");
X2IR_TFLITE(sqrt).Is("SQRT");
X2IR_TFLITE(sub).To("SUB", ToBroadcast("SUB")).From("SUB");
X2IR_TFLITE(tanh).Is("TANH");
X2IR_TFLITE(where)
    .To("SELECT_V2", ToWhere)
    .From({{"SELECT", SameAsTf("Select")},
           {"SELECT_V2", SameAsTf("SelectV2")},
           {"MATRIX_DIAG", SameAsTf("MatrixDiag")},
           {"MATRIX_SET_DIAG", SameAsTf("MatrixSetDiag")}});
X2IR_TFLITE(acos).To("ATAN2", ToAcos);
X2IR_TFLITE(acosh).To("LOG", ToAcosh);
X2IR_TFLITE(asin).To("ATAN2", ToAsin);
X2IR_TFLITE(asinh).To("LOG", ToAsinh);
X2IR_TFLITE(atanh).To("LOG", ToAtanh);
X2IR_TFLITE(cosh).To("EXP", ToCosh);
X2IR_TFLITE(erf).To("EXP", ToErf);
X2IR_TFLITE(is_nan).To("NOT_EQUAL", ToIsNan);
X2IR_TFLITE(reciprocal).To("DIV", ToReciprocal);
X2IR_TFLITE(sinh).To("EXP", ToSinh);
X2IR_TFLITE(tan).To("SIN", ToTan);
X2IR_TFLITE(xor).To("NOT_EQUAL", ToBroadcast("NOT_EQUAL"));

}  // namespace x2ir
