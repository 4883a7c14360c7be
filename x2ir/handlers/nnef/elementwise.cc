// NNEF: functions of each element, comparisons, casts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/nnef/item_types.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

using NnefUnary = Expr (*)(const Expr& x);
using NnefBinary = Expr (*)(const Expr& x, const Expr& y);

auto OfOne(NnefUnary fn) {
  return [fn](NnefArgs& a) -> Value* { return fn(a.in(0)); };
}
auto OfTwo(NnefBinary fn) {
  return [fn](NnefArgs& a) -> Value* {
    const std::vector<Expr> both = a.Alike({a.in(0), a.in(1)});
    return fn(both[0], both[1]);
  };
}
// An op of the IR by its name.
auto OfOp(std::string_view op) {
  return [op](NnefArgs& a) -> Value* { return a.in(0).Op(op); };
}

Expr Whole(const Expr& x, Symbol op) { return IsFloating(x.dtype()) ? x.Op(op) : x; }
// Halves away from zero.
Expr NnefRound(const Expr& x) { return IsFloating(x.dtype()) ? Sign(x) * RoundHalfUp(Abs(x)) : x; }
Expr NnefMin(const Expr& x, const Expr& y) { return Min(x, y); }
Expr NnefMax(const Expr& x, const Expr& y) { return Max(x, y); }
Expr NnefAdd(const Expr& x, const Expr& y) { return x + y; }
Expr NnefSub(const Expr& x, const Expr& y) { return x - y; }
Expr NnefMul(const Expr& x, const Expr& y) { return x * y; }
Expr NnefDiv(const Expr& x, const Expr& y) { return x / y; }
Expr NnefPow(const Expr& x, const Expr& y) { return Pow(x, y); }
Expr NnefNe(const Expr& x, const Expr& y) { return Not(x == y); }
Expr NnefXor(const Expr& x, const Expr& y) { return x ^ y; }

Value* CastTo(NnefArgs& a) {
  const bool of_tract = a.op() != "cast";
  const std::string name = a.Text(of_tract ? "to" : "type");
  if (of_tract && name.empty()) return a.in(0).Op("identity");
  const DType to = nnef::ItemTypeNamed(name);
  a.Require(to != DType::kUndefined, StrCat("a cast to '", name, "'"));
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}

Value* SelectRow(NnefArgs& a) {
  const Expr test = a.Tensor("condition");
  std::vector<Expr> both = a.Alike({a.Tensor("true_value"), a.Tensor("false_value")});
  const int64_t rank = std::max({test.rank(), both[0].rank(), both[1].rank()});
  const auto placed = [&](const Expr& x) {
    const int64_t own = x.rank();
    return own > 0 && own < rank ? Unsqueeze(x, CountedFrom(own, rank - own)) : x;
  };
  return Select(placed(test), placed(both[0]), placed(both[1]));
}

Value* PowConstRow(NnefArgs& a) { return Pow(a.Tensor("input"), a.Number("exponent")); }
// The gate and the other half are limited, as float32.
Value* ClampedSwigluRow(NnefArgs& a) {
  const Expr gate = a.Tensor("gate").To(DType::kFloat32), up = a.Tensor("up").To(DType::kFloat32);
  const double limit = a.Number("limit");
  const Expr g = Min(gate, limit), u = Max(Min(up, limit), -limit);
  return (u + 1.0) * g * Scaled(g, a.Number("alpha")).Op("sigmoid");
}

Value* SoftabsRow(NnefArgs& a) { return Sqrt(Shifted(Square(a.in(0)), a.Number("epsilon"))); }

// --- Written -------------------------------------------------------------------------------------

auto ToOne(std::string_view op) {
  return [op](NnefWriter& w) { return w.Call(op, {{"x", w.in(0)}}); };
}
auto ToTwo(std::string_view op) {
  return [op](NnefWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> xy, w.Broadcast());
    return w.Call(op, {{"x", xy[0]}, {"y", xy[1]}});
  };
}
auto ToMany(std::string_view op) {
  return [op](NnefWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(std::vector<Value*> all, w.Broadcast());
    Value* y = all[0];
    if (all.size() == 1) return w.Call("copy", {{"x", y}});
    for (size_t i = 1; i < all.size(); ++i) {
      X2IR_ASSIGN_OR_RETURN(y, w.Call(op, {{"x", y}, {"y", all[i]}}));
    }
    return y;
  };
}

// Quotients of integers are those of unsigned ones: tract divides signed ones by a power of two by
// a shift, which rounds down, and stops at a divisor of 0, for which the IR has 0.
absl::StatusOr<Value*> ToDiv(NnefWriter& w) {
  const DType t = w.dtype(0);
  if (!IsInteger(t)) return ToTwo("div")(w);
  const Expr x(w, w.in(0)), y(w, w.in(1));
  if (IsSignedInt(t)) {
    const DType natural = *ParseDType(StrCat("u", Name(t)));
    const Expr size = Abs(x).To(natural) / Abs(y).To(natural);
    const Expr q = size.To(t);
    return Where((x < 0.0) ^ (y < 0.0), -q, q).value();
  }
  const Tensor* divisor = w.in(1)->fixed_constant();
  const auto numbers = divisor ? divisor->ToInts() : absl::NotFoundError("");
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> xy, w.Broadcast());
  if (numbers.ok() && std::find(numbers->begin(), numbers->end(), 0) == numbers->end()) {
    return w.Call("div", {{"x", xy[0]}, {"y", xy[1]}});
  }
  const Expr by(w, xy[1]);
  X2IR_ASSIGN_OR_RETURN(Value * q, w.Call("div", {{"x", xy[0]}, {"y", Max(by, 1.0)}}));
  return w.Call("select",
                {{"condition", by == 0.0}, {"true_value", w.Number(t, 0)}, {"false_value", q}});
}

// The result is of the base's type; exponents of another one are known to fit, or both are real
// numbers, of which the wider type is taken.
absl::StatusOr<Value*> ToPow(NnefWriter& w) {
  const DType base = w.dtype(0), exponent = w.dtype(1);
  if (base == exponent) return ToTwo("pow")(w);
  if (IsFloating(base) && IsFloating(exponent)) {
    const DType wide = BitWidth(base) > BitWidth(exponent) ? base : exponent;
    return w.Cast(w.Op("pow", {w.Cast(w.in(0), wide), w.Cast(w.in(1), wide)}), base);
  }
  const Tensor* numbers = w.in(1)->fixed_constant();
  const auto known = numbers ? numbers->ToInts() : absl::NotFoundError("");
  constexpr int64_t kMost = 2048;  // all whole numbers of float16
  if (!IsFloating(base) || !known.ok() || std::any_of(known->begin(), known->end(), [](int64_t n) {
        return n < -kMost || n > kMost;
      })) {
    return CannotExpress("a power of ", Name(base), " by ", Name(exponent));
  }
  return w.Op("pow",
              {w.in(0), NumbersAs(w, base, numbers->dims(), {known->begin(), known->end()})});
}

// tract has no absolute value of float64.
absl::StatusOr<Value*> ToAbs(NnefWriter& w) {
  if (w.dtype(0) != DType::kFloat64) return ToOne("abs")(w);
  const Expr x(w, w.in(0));
  return Where(x <= 0.0, 0.0 - x, x).value();
}
absl::StatusOr<Value*> ToIsInf(NnefWriter& w) {
  const Expr x(w, w.in(0));
  const bool below = w.Int("detect_negative") != 0, above = w.Int("detect_positive") != 0;
  if (!below && !above) return CannotExpress("a test for infinities of no sign");
  const double infinity = std::numeric_limits<double>::infinity();
  if (below && above) return (Abs(x) == infinity).value();
  return (x == (below ? -infinity : infinity)).value();
}
Value* IsInfRow(NnefArgs& a) {
  return a.in(0).Op("is_inf", {},
                    {{"detect_positive", a.Flag("detect_positive") ? 1 : 0},
                     {"detect_negative", a.Flag("detect_negative") ? 1 : 0}});
}
// Whether rounding the other operand to a real number never takes it past these.
bool ComparesExactly(const Value* bounds) {
  const Tensor* tensor = bounds->fixed_constant();
  const auto numbers = tensor ? tensor->ToInts() : absl::NotFoundError("");
  return numbers.ok() && std::all_of(numbers->begin(), numbers->end(), [](int64_t n) {
           return n >= -NnefWriter::kExact && n <= NnefWriter::kExact;
         });
}
// Of integers where one side is known to be small; flags are equal where not just one holds.
auto ToComparison(std::string_view op) {
  return [op](NnefWriter& w) -> absl::StatusOr<Value*> {
    if (w.dtype(0) == DType::kInt64 && (ComparesExactly(w.in(0)) || ComparesExactly(w.in(1)))) {
      return w.Op(w.node().op(), {w.AsReal(w.in(0)), w.AsReal(w.in(1))});
    }
    if (op == "eq" && w.dtype(0) == DType::kBool) {
      return w.Op("not", {w.Op("xor", {w.in(0), w.in(1)})});
    }
    return ToTwo(op)(w);
  };
}

absl::StatusOr<Value*> ToSelect(NnefWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> all, w.Broadcast());
  return w.Call("select", {{"condition", all[0]}, {"true_value", all[1]}, {"false_value", all[2]}});
}

// Halves to even: NNEF's round has them away from zero.
Value* ToRound(NnefWriter& w) {
  const Expr x(w, w.in(0));
  const Expr low = Floor(x), part = x - low, half = low * 0.5;
  const Expr is_even = Floor(half) == half;
  return Where((part > 0.5) | ((part == 0.5) & Not(is_even)), low + 1.0, low);
}

// NNEF has no error function. Near 0 this is its power series, elsewhere the rational
// approximation 7.1.26 of Abramowitz and Stegun: no more than 4e-7 off, relative to the result.
absl::StatusOr<Value*> ToErf(NnefWriter& w) {
  if (w.dtype(0) != DType::kFloat32) return CannotExpress("erf of elements of another type");
  const Expr x(w, w.in(0));
  const Expr size = Abs(x), near = Max(Min(x, 1.0), -1.0), square = Square(near);
  constexpr int kTerms = 10;
  double factorial = 1;
  std::vector<double> terms;
  for (int n = 0; n <= kTerms; ++n) {
    if (n > 0) factorial *= -n;
    terms.push_back(2 / std::sqrt(std::numbers::pi) / (factorial * (2 * n + 1)));
  }
  Expr series = square * terms.back() + terms[kTerms - 1];
  for (int n = kTerms - 2; n >= 0; --n) series = series * square + terms[static_cast<size_t>(n)];
  const Expr t = 1.0 / (size * 0.3275911 + 1.0);
  Expr poly = t * 1.061405429 - 1.453152027;
  for (const double c : {1.421413741, -0.284496736, 0.254829592}) poly = poly * t + c;
  const Expr far = Sign(x) * (1.0 - poly * t * Exp(-Square(size)));
  return Where(size < 1.0, series * near, far).value();
}

absl::StatusOr<Value*> ToCast(NnefWriter& w) {
  const DType from = w.dtype(0), to = w.DTypeAttr("to");
  if (from == to) return w.Call("copy", {{"x", w.in(0)}});
  if (from == DType::kBool && to == DType::kFloat32) {
    return w.Call("select", {{"condition", w.in(0)},
                             {"true_value", w.Number(to, 1)},
                             {"false_value", w.Number(to, 0)}});
  }
  if (from == DType::kBool && to == DType::kInt64) {
    return w.Call("select", {{"condition", w.in(0)},
                             {"true_value", w.Number(to, 1)},
                             {"false_value", w.Number(to, 0)}});
  }
  if (from == DType::kFloat32 && to == DType::kBool) {
    return w.Call("ne", {{"x", w.in(0)}, {"y", w.Number(from, 0)}});
  }
  if (from == DType::kInt64 && to == DType::kFloat32) {
    return w.Call("cast", {{"input", w.in(0)}}, {{"type", "scalar"}});
  }
  // NNEF's interpreter leaves the fraction out, too.
  if (from == DType::kFloat32 && to == DType::kInt64) {
    return w.Call("cast", {{"input", w.in(0)}}, {{"type", "integer"}});
  }
  if (from == DType::kInt64 && to == DType::kBool) {
    return w.Op("not", {w.Op("equal", {w.in(0), w.b().Int(0)})});
  }
  const std::string_view of_tract = nnef::TractTypeName(to);
  if (!nnef::TractTypeName(from).empty() && !of_tract.empty()) {
    return w.Call("tract_core_cast", {{"input", w.in(0)}}, {{"to", std::string(of_tract)}});
  }
  return CannotExpress("a cast of ", Name(from), " to ", Name(to));
}

Value* ToCastOfLike(NnefWriter& w) { return w.Op("cast", {w.in(0)}, {{"to", Name(w.dtype(1))}}); }

Value* ToXor(NnefWriter& w) {
  const Expr x(w, w.in(0)), y(w, w.in(1));
  return (x | y) & Not(x & y);
}
Value* ToIsNan(NnefWriter& w) {
  const Expr x(w, w.in(0));
  return Not(x == x);
}
absl::StatusOr<Value*> ToMean(NnefWriter& w) {
  if (!IsFloating(w.dtype(0))) return CannotExpress("a mean of integers");
  Expr y(w, w.Op("sum", w.node().inputs()));
  return (y * (1.0 / static_cast<double>(w.num_inputs()))).value();
}

}  // namespace

#define X2IR_NNEF_ONE(ir, name) X2IR_NNEF(ir).From(name, OfOp(#ir)).To(name, ToOne(name))
// tract had these under names of its own, too.
#define X2IR_NNEF_OLD(ir, name) \
  X2IR_NNEF(ir).From({name, "tract_core_" name}, OfOp(#ir)).To(name, ToOne(name))
X2IR_NNEF_ONE(exp, "exp");
X2IR_NNEF_ONE(log, "log");
X2IR_NNEF_ONE(sin, "sin");
X2IR_NNEF_ONE(cos, "cos");
X2IR_NNEF_OLD(tan, "tan");
X2IR_NNEF_OLD(asin, "asin");
X2IR_NNEF_OLD(acos, "acos");
X2IR_NNEF_OLD(atan, "atan");
X2IR_NNEF_OLD(sinh, "sinh");
X2IR_NNEF_OLD(cosh, "cosh");
X2IR_NNEF_OLD(asinh, "asinh");
X2IR_NNEF_OLD(acosh, "acosh");
X2IR_NNEF_OLD(atanh, "atanh");
X2IR_NNEF_ONE(tanh, "tanh");
X2IR_NNEF_ONE(sign, "sign");
X2IR_NNEF_ONE(neg, "neg");
X2IR_NNEF_ONE(not, "not");
#undef X2IR_NNEF_OLD
#undef X2IR_NNEF_ONE
X2IR_NNEF(abs).From("abs", OfOp("abs")).From("softabs", SoftabsRow).To("abs", ToAbs);
X2IR_NNEF(sqrt)
    .From("sqrt", OfOp("sqrt"))
    .From("rsqrt", OfOne([](const Expr& x) { return Reciprocal(Sqrt(x)); }))
    .To("sqrt", ToOne("sqrt"));
X2IR_NNEF(reciprocal)
    .From({"rcp", "recip"}, OfOne([](const Expr& x) { return 1.0 / x; }))
    .From("tract_core_cot", OfOne([](const Expr& x) { return 1.0 / x.Op("tan"); }))
    .To("rcp", ToOne("rcp"));
X2IR_NNEF(identity)
    .From("copy", OfOp("identity"))
    .From("copy_n",
          [](NnefArgs& a) {
            a.Integer("times");
            Values copies;
            for (size_t i = 0; i < a.num_outputs(); ++i) copies.push_back(a.in(0).Op("identity"));
            return copies;
          })
    .To("copy", ToOne("copy"));
X2IR_NNEF(floor)
    .From("floor", OfOne([](const Expr& x) { return Whole(x, "floor"); }))
    .To("floor", ToOne("floor"));
X2IR_NNEF(ceil)
    .From("ceil", OfOne([](const Expr& x) { return Whole(x, "ceil"); }))
    .To("ceil", ToOne("ceil"));
X2IR_NNEF(round)
    .From("round", OfOne(NnefRound))
    .From("tract_core_round_even", OfOne([](const Expr& x) { return Whole(x, "round"); }))
    .To("floor", ToRound);
X2IR_NNEF(erf).From({"tract_core_erf", "tract_onnx_erf"}, OfOp("erf")).To("select", ToErf);
X2IR_NNEF(is_inf)
    .From("tract_core_isinf", OfOne([](const Expr& x) { return IsInf(x); }))
    .From({"tract_core_is_inf", "tract_onnx_isinf", "tract_extra_is_inf"}, IsInfRow)
    .To("eq", ToIsInf);
X2IR_NNEF(is_nan)
    .From({"tract_core_is_nan", "tract_onnx_is_nan", "tract_extra_is_nan"},
          OfOne([](const Expr& x) { return IsNan(x); }))
    .To("eq", ToIsNan);
X2IR_NNEF(pow)
    .From("pow", OfTwo(NnefPow))
    .From("tract_core_pow_const", PowConstRow)
    .From("tract_core_cbrt", OfOne([](const Expr& x) { return Sign(x) * Pow(Abs(x), 1.0 / 3); }))
    .From("rsqr", OfOne([](const Expr& x) { return 1.0 / Square(x); }))
    .To("pow", ToPow);
X2IR_NNEF(mul)
    .From("mul", OfTwo(NnefMul))
    .From({"sqr", "square", "tract_core_square"}, OfOne([](const Expr& x) { return Square(x); }))
    .From("log2", OfOne([](const Expr& x) { return Log(x) * (1 / portable::log(2.0)); }))
    .From("tract_core_clamped_swiglu", ClampedSwigluRow)
    .To("mul", ToTwo("mul"));
X2IR_NNEF(add).From("add", OfTwo(NnefAdd)).To("add", ToTwo("add"));
X2IR_NNEF(sub).From("sub", OfTwo(NnefSub)).To("sub", ToTwo("sub"));
X2IR_NNEF(div).From("div", OfTwo(NnefDiv)).To("div", ToDiv);
X2IR_NNEF(min).From("min", OfTwo(NnefMin)).To("min", ToMany("min"));
X2IR_NNEF(max).From("max", OfTwo(NnefMax)).To("max", ToMany("max"));
X2IR_NNEF(sum)
    .From("add_n",
          [](NnefArgs& a) -> Value* {
            std::vector<Expr> all;
            for (Value* x : a.Tensors("x")) all.emplace_back(a, x);
            if (all.empty()) a.Fail(Unimplemented("a sum of nothing"));
            all = a.Alike(all);
            return a.Op("sum", std::vector<Value*>(all.begin(), all.end()));
          })
    .To("add", ToMany("add"));
X2IR_NNEF(mean).To("mul", ToMean);
X2IR_NNEF(less)
    .From("lt", OfTwo([](const Expr& x, const Expr& y) { return x < y; }))
    .To("lt", ToComparison("lt"));
X2IR_NNEF(greater)
    .From("gt", OfTwo([](const Expr& x, const Expr& y) { return x > y; }))
    .To("gt", ToComparison("gt"));
X2IR_NNEF(less_or_equal)
    .From("le", OfTwo([](const Expr& x, const Expr& y) { return x <= y; }))
    .To("le", ToComparison("le"));
X2IR_NNEF(greater_or_equal)
    .From("ge", OfTwo([](const Expr& x, const Expr& y) { return x >= y; }))
    .To("ge", ToComparison("ge"));
X2IR_NNEF(equal)
    .From("eq", OfTwo([](const Expr& x, const Expr& y) { return x == y; }))
    .From("ne", OfTwo(NnefNe))
    .To("eq", ToComparison("eq"));
X2IR_NNEF(and)
    .From("and", OfTwo([](const Expr& x, const Expr& y) { return x & y; }))
    .To("and", ToTwo("and"));
X2IR_NNEF(or)
    .From("or", OfTwo([](const Expr& x, const Expr& y) { return x | y; }))
    .To("or", ToTwo("or"));
X2IR_NNEF(xor).From("tract_core_xor", OfTwo(NnefXor)).To("and", ToXor);
X2IR_NNEF(where).From("select", SelectRow).To("select", ToSelect);
X2IR_NNEF(cast_like).To("cast", ToCastOfLike);
X2IR_NNEF(cast).From({"cast", "tract_core_cast"}, CastTo).To("cast", ToCast);

}  // namespace x2ir
