// TFLite: functions of elements, arithmetic and choices, written. Those that are the same on both
// sides are rows of elementwise.cc.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Expr X(TfliteWriter& w, size_t i = 0) { return {w.b(), w.in(i)}; }

// --- Broadcasting -------------------------------------------------------------------------------

// Kernels broadcast few axes: those that stand side by side and are broadcast alike become one.
// Null: they take the operands as they are, or nothing helps.
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
// floats is taken off until what is left is less than the divisor. Each round leaves 2^-22 of it.
// The result is rounded towards zero.
Value* LongQuotient(TfliteWriter& w) {
  const Expr a = X(w, 0), b = X(w, 1);
  if (AreInts32(w.in(0)) && AreInts32(w.in(1))) {
    return (a.To(DType::kInt32) / b.To(DType::kInt32)).To(DType::kInt64);
  }
  constexpr double kMost = 9223371487098961920.0;  // of float32, below 2^63
  constexpr int kRounds = 4;
  const Expr divisor = b.To(DType::kFloat32);
  Expr quotient = nullptr, left = a;
  for (int i = 0; i < kRounds; ++i) {
    const Expr part = Min(Max(left.To(DType::kFloat32) / divisor, -kMost), kMost).To(DType::kInt64);
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

absl::StatusOr<Value*> ToClip(TfliteWriter& w) {
  const auto bound = [&](size_t i) -> std::optional<double> {
    if (!w.has(i)) return std::nullopt;
    const auto known = KnownTensor(*w.in(i));
    return known && known->num_elements() == 1 ? std::optional(known->AsDouble(0))
                                               : std::numeric_limits<double>::quiet_NaN();
  };
  const auto low = bound(1), high = bound(2);
  if (w.dtype() == DType::kFloat32) {
    if (low == 0.0 && high == 6.0) return w.Tflite("RELU6", {w.in(0)});
    if (low == -1.0 && high == 1.0) return w.Tflite("RELU_N1_TO_1", {w.in(0)});
    if (low == 0.0 && !high) return w.Op("relu", {w.in(0)});
  }
  return ClipByBounds(w);
}

absl::StatusOr<Value*> ToPrelu(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const int64_t of_slope, w.Rank(1));
  if (w.dtype() != DType::kFloat32 || rank > 4 || of_slope > rank) {
    const Expr x = X(w);
    return Where(x < 0, x * X(w, 1), x);
  }
  return w.Tflite("PRELU", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToElu(TfliteWriter& w) {
  const double alpha = w.attrs().Float("alpha");
  if (alpha == 1) return w.Tflite("ELU", {w.in(0)});
  const Expr x = X(w);
  return Where(x < 0, (Exp(Min(x, 0)) - 1) * alpha, x);
}

Value* ToGelu(TfliteWriter& w) {
  return w.Tflite("GELU", {w.in(0)}, {{"approximate", w.String("approximate") == "tanh"}});
}

Value* ToHardSigmoid(TfliteWriter& w) {
  return Min(Max(Shifted(Scaled(X(w), w.attrs().Float("alpha")), w.attrs().Float("beta")), 0), 1);
}
Value* ToHardSwish(TfliteWriter& w) { return w.Tflite("HARD_SWISH", {w.in(0)}); }
Value* ToSwish(TfliteWriter& w) {
  return X(w) * Scaled(X(w), w.attrs().Float("alpha", 1)).Op("sigmoid");
}
// log(1 + exp(x)) so that nothing is too large.
Expr Softplus(const Expr& x) { return Max(x, 0) + Log(Exp(-Abs(x)) + 1); }
Value* ToSoftsign(TfliteWriter& w) { return X(w) / (Abs(X(w)) + 1); }
Value* ToSoftplus(TfliteWriter& w) { return Softplus(X(w)); }
Value* ToMish(TfliteWriter& w) { return X(w) * Softplus(X(w)).Op("tanh"); }
Value* ToSelu(TfliteWriter& w) {
  const double alpha = w.attrs().Float("alpha"), gamma = w.attrs().Float("gamma");
  const Expr x = X(w);
  return Where(x < 0, (Exp(Min(x, 0)) - 1) * (alpha * gamma), x * gamma);
}

// --- What formulas say --------------------------------------------------------------------------

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

// Along the last axis.
auto ToAlongLast(std::string_view op) {
  return [=](TfliteWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    if (rank == 0) return CannotExpress("rank 0");
    if (axis == rank - 1) {
      AttributeMap attrs;
      if (op == "SOFTMAX") attrs.Set("beta", 1.0f);
      return w.Tflite(op, {w.in(0)}, std::move(attrs));
    }
    return AlongLastAxis(w, axis, rank);
  };
}

Value* ToWhere(TfliteWriter& w) {
  if (Value* y = WithMergedAxes(w, "SELECT_V2")) return y;
  return w.Tflite("SELECT_V2", {w.in(0), w.in(1), w.in(2)});
}

// x over its norm; what has none stays 0.
absl::StatusOr<Value*> ToLpNormalization(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const int64_t p = w.Int("p");
  if (p != 1 && p != 2) return CannotExpress("norm ", p);
  const Expr norm =
      X(w).Op(p == 1 ? "reduce_l1" : "reduce_l2", {w.Ints({axis})}, {{"keepdims", 1}});
  return Where(norm == 0, 0, X(w) / norm);
}

absl::StatusOr<Value*> ToRound(TfliteWriter& w) { return w.Tflite("ROUND", {w.in(0)}); }

absl::StatusOr<Value*> ToBitcast(TfliteWriter& w) {
  return w.Tflite("BITCAST", {w.in(0)}, {}, w.out_type());
}

absl::StatusOr<Value*> ToShift(TfliteWriter& w) {
  if (w.String("direction") == "LEFT") return CannotExpress("shifts to the left");
  return w.Tflite("RIGHT_SHIFT", {w.in(0), w.in(1)});
}

}  // namespace

X2IR_TFLITE(add).To("ADD", ToBroadcast("ADD"));
X2IR_TFLITE(and).To("LOGICAL_AND", ToBroadcast("LOGICAL_AND"));
X2IR_TFLITE(div).To("DIV", ToDiv);
X2IR_TFLITE(equal).To("EQUAL", ToBroadcast("EQUAL"));
X2IR_TFLITE(greater).To("GREATER", ToBroadcast("GREATER"));
X2IR_TFLITE(greater_or_equal).To("GREATER_EQUAL", ToBroadcast("GREATER_EQUAL"));
X2IR_TFLITE(less).To("LESS", ToBroadcast("LESS"));
X2IR_TFLITE(less_or_equal).To("LESS_EQUAL", ToBroadcast("LESS_EQUAL"));
X2IR_TFLITE(max).To("MAXIMUM", ToBroadcast("MAXIMUM"));
X2IR_TFLITE(min).To("MINIMUM", ToBroadcast("MINIMUM"));
X2IR_TFLITE(mul).To("MUL", ToBroadcast("MUL"));
X2IR_TFLITE(or).To("LOGICAL_OR", ToBroadcast("LOGICAL_OR"));
X2IR_TFLITE(sub).To("SUB", ToBroadcast("SUB"));
X2IR_TFLITE(acos).To("ATAN2", ToAcos);
X2IR_TFLITE(acosh).To("LOG", ToAcosh);
X2IR_TFLITE(asin).To("ATAN2", ToAsin);
X2IR_TFLITE(asinh).To("LOG", ToAsinh);
X2IR_TFLITE(atan).To("ATAN2", ToAtan);
X2IR_TFLITE(atanh).To("LOG", ToAtanh);
X2IR_TFLITE(bit_cast).To("BITCAST", ToBitcast);
X2IR_TFLITE(bit_shift).To("RIGHT_SHIFT", ToShift);
X2IR_TFLITE(cast).To("CAST", ToCast);
X2IR_TFLITE(clip).To("MAXIMUM", ToClip);
X2IR_TFLITE(cosh).To("EXP", ToCosh);
X2IR_TFLITE(elu).To("ELU", ToElu);
X2IR_TFLITE(erf).To("EXP", ToErf);
X2IR_TFLITE(gelu).To("GELU", ToGelu);
X2IR_TFLITE(hard_sigmoid).To("MAXIMUM", ToHardSigmoid);
X2IR_TFLITE(hard_swish).To("HARD_SWISH", ToHardSwish);
X2IR_TFLITE(is_nan).To("NOT_EQUAL", ToIsNan);
X2IR_TFLITE(log_softmax).To("LOG_SOFTMAX", ToAlongLast("LOG_SOFTMAX"));
X2IR_TFLITE(lp_normalization).To("DIV", ToLpNormalization);
X2IR_TFLITE(mish).To("TANH", ToMish);
X2IR_TFLITE(mod).To("FLOOR_MOD", ToMod);
X2IR_TFLITE(pow).To("POW", ToPow);
X2IR_TFLITE(prelu).To("PRELU", ToPrelu);
X2IR_TFLITE(reciprocal).To("DIV", ToReciprocal);
X2IR_TFLITE(round).To("ROUND", ToRound);
X2IR_TFLITE(selu).To("SELECT_V2", ToSelu);
X2IR_TFLITE(sinh).To("EXP", ToSinh);
X2IR_TFLITE(softmax).To("SOFTMAX", ToAlongLast("SOFTMAX"));
X2IR_TFLITE(softplus).To("LOG", ToSoftplus);
X2IR_TFLITE(softsign).To("DIV", ToSoftsign);
X2IR_TFLITE(swish).To("LOGISTIC", ToSwish);
X2IR_TFLITE(tan).To("SIN", ToTan);
X2IR_TFLITE(where).To("SELECT_V2", ToWhere);
X2IR_TFLITE(xor).To("NOT_EQUAL", ToBroadcast("NOT_EQUAL"));

}  // namespace x2ir
