// Operators on elements that are one IR op, or nearly: rows of tables.

#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/name_pair.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Integers and bools are rounded already.
constexpr NamePair kRounding[] = {
    {"aten::floor.default", "floor"},
    {"aten::ceil.default", "ceil"},
    {"aten::round.default", "round"},
};

// z = op(self, other) in the common type; bools only give bools.
constexpr NamePair kCompare[] = {
    {"aten::eq", "equal"},
    {"aten::lt", "less"},
    {"aten::le", "less_or_equal"},
    {"aten::gt", "greater"},
    {"aten::ge", "greater_or_equal"},
    {"aten::greater", "greater"},
    {"aten::less", "less"},
    {"aten::less_equal", "less_or_equal"},
    {"aten::greater_equal", "greater_or_equal"},
};

constexpr NamePair kLogical[] = {
    {"aten::logical_and.default", "and"},
    {"aten::logical_or.default", "or"},
    {"aten::logical_xor.default", "xor"},
};

// Of integers the first, of bools the second.
struct BitwiseRow {
  std::string_view op, ints, bools;
};

constexpr BitwiseRow kBitwise[] = {
    {"aten::bitwise_and", "bitwise_and", "and"}, {"aten::bitwise_or", "bitwise_or", "or"},
    {"aten::bitwise_xor", "bitwise_xor", "xor"}, {"aten::__and__", "bitwise_and", "and"},
    {"aten::__or__", "bitwise_or", "or"},        {"aten::__xor__", "bitwise_xor", "xor"},
};

Values Rounding(TorchCall& c, Symbol ir) {
  Value* x = c.Tensor("self");
  return {IsFloating(x->dtype()) ? c.Op(ir, {x}) : c.Op("identity", {x})};
}

Values SignCall(TorchCall& c) {
  const Expr x = c.Tensor("self");
  if (IsComplex(x.dtype())) return {ComplexOf(Sign(PartsOf(x)))};
  return {x.Op(x.dtype() == DType::kBool ? "identity" : "sign")};
}

Values Trunc(TorchCall& c) {
  Value* x = c.Tensor("self");
  if (!IsFloating(x->dtype())) return {c.Op("identity", {x})};
  // sign() has no -0, which trunc(-0.5) is; the product has.
  return {c.Op("mul", {c.Op("sign", {x}), c.Op("floor", {c.Op("abs", {x})})})};
}

Values Frac(TorchCall& c) {
  Value* x = c.Tensor("self");
  Value* whole = c.Op("mul", {c.Op("sign", {x}), c.Op("floor", {c.Op("abs", {x})})});
  return {c.Op("sub", {x, whole})};
}

Values Rsqrt(TorchCall& c) {
  return {c.Op("reciprocal", {c.Op("sqrt", {c.Operand("self", c.out_dtype())})})};
}

Values SquareCall(TorchCall& c) {
  Value* x = c.Operand("self", c.out_dtype());
  return {c.Op("mul", {x, x})};
}

// log(x) / log(base), in float64 where the factor would cost float32 its last digits.
Values LogCall(TorchCall& c, double base) {
  const DType t = c.out_dtype();
  const Expr log = c.Operand("self", t).Op("log");
  if (!IsComplex(t)) return {log / c.Constant(t, portable::log(base))};
  const Complex parts = PartsOf(log);
  return {ComplexOf({parts.re / portable::log(base), parts.im / portable::log(base)})};
}

Values Compare(TorchCall& c, Symbol ir, bool negated) {
  DType t = c.ResultType({"self", "other"});
  // ONNX orders no bools.
  const bool order = ir != "equal" && t == DType::kBool;
  Value* a = c.Operand("self", t);
  Value* b = c.Operand("other", t);
  if (order) {
    a = c.Cast(a, DType::kInt32);
    b = c.Cast(b, DType::kInt32);
  }
  Value* result = c.Op(ir, {a, b});
  return {negated ? c.Op("not", {result}) : result};
}

Values Logical(TorchCall& c, Symbol ir) {
  return {c.Op(ir, {c.Operand("self", DType::kBool), c.Operand("other", DType::kBool)})};
}

Values Bitwise(TorchCall& c, Symbol ints, Symbol bools) {
  const DType t = c.out_dtype();
  return {c.Op(t == DType::kBool ? bools : ints, {c.Operand("self", t), c.Operand("other", t)})};
}

Values BitwiseNot(TorchCall& c) {
  Value* x = c.Tensor("self");
  return {c.Op(x->dtype() == DType::kBool ? "not" : "bitwise_not", {x})};
}

// NaN and infinities are of floats alone. A complex number is finite if both parts are.
Values OfFloats(TorchCall& c, const std::function<Value*(TorchCall&, Value*)>& test,
                bool otherwise) {
  Value* x = c.Tensor("self");
  if (IsFloating(x->dtype())) return {test(c, x)};
  if (IsComplex(x->dtype())) {
    const Complex z = PartsOf({c, x});
    return {c.Op(otherwise ? "and" : "or", {test(c, z.re), test(c, z.im)})};
  }
  Value* no = c.Op("not", {c.Op("equal", {x, x})});
  return {otherwise ? c.Op("not", {no}) : no};
}

TorchHandler IsInf(int negative, int positive) {
  return [=](TorchCall& c) {
    return OfFloats(
        c,
        [=](TorchCall& call, Value* x) {
          return call.Op("is_inf", {x},
                         {{"detect_negative", negative}, {"detect_positive", positive}});
        },
        false);
  };
}

Values IsFinite(TorchCall& c) {
  return OfFloats(
      c,
      [](TorchCall& call, Value* x) {
        return call.Op("not", {call.Op("or", {call.Op("is_nan", {x}), call.Op("is_inf", {x})})});
      },
      true);
}

[[maybe_unused]] const bool kElementwiseRows = [] {
  const auto one = [](auto handler, Symbol ir) {
    return [=](TorchCall& c) { return handler(c, ir); };
  };
  for (const NamePair& row : kRounding) TorchSpec(row.to).From(row.from, one(Rounding, row.to));
  for (const NamePair& row : kLogical) TorchSpec(row.to).From(row.from, one(Logical, row.to));
  const auto compare = [](std::string_view op, Symbol ir, bool negated) {
    for (const std::string_view overload : {".Tensor", ".Scalar"}) {
      TorchSpec(ir).From(StrCat(op, overload),
                         [=](TorchCall& c) { return Compare(c, ir, negated); });
    }
  };
  for (const NamePair& row : kCompare) compare(row.from, row.to, false);
  compare("aten::ne", "equal", true);
  compare("aten::not_equal", "equal", true);
  for (const BitwiseRow& row : kBitwise) {
    for (const std::string_view overload : {".Tensor", ".Scalar", ".Scalar_Tensor"}) {
      TorchSpec(row.ints).From(StrCat(row.op, overload),
                               [ints = Symbol(row.ints), bools = Symbol(row.bools)](TorchCall& c) {
                                 return Bitwise(c, ints, bools);
                               });
    }
  }
  return true;
}();

// Computed in the type of the result: integers become floats where it is one.
X2IR_TORCH(acos).Is("aten::acos.default");
X2IR_TORCH(acosh).Is("aten::acosh.default");
X2IR_TORCH(asin).Is("aten::asin.default");
X2IR_TORCH(asinh).Is("aten::asinh.default");
X2IR_TORCH(atan).Is("aten::atan.default");
X2IR_TORCH(atanh).Is("aten::atanh.default");
X2IR_TORCH(cos).Is("aten::cos.default");
X2IR_TORCH(cosh).Is("aten::cosh.default");
X2IR_TORCH(erf).From("aten::erf.default").From("aten::special_erf.default");
X2IR_TORCH(exp).Is("aten::exp.default");
X2IR_TORCH(log).Is("aten::log.default");
X2IR_TORCH(neg).Is("aten::neg.default");
X2IR_TORCH(reciprocal).Is("aten::reciprocal.default");
X2IR_TORCH(sin).Is("aten::sin.default");
X2IR_TORCH(sinh).Is("aten::sinh.default");
X2IR_TORCH(sqrt).Is("aten::sqrt.default");
X2IR_TORCH(tan).Is("aten::tan.default");
X2IR_TORCH(tanh).Is("aten::tanh.default");
X2IR_TORCH(sign).From({"aten::sign.default", "aten::sgn.default"}, SignCall);
X2IR_TORCH(floor)
    .From({"aten::trunc.default", "aten::fix.default"}, Trunc)
    .From("aten::frac.default", Frac);
X2IR_TORCH(reciprocal).From("aten::rsqrt.default", Rsqrt);
X2IR_TORCH(mul).From("aten::square.default", SquareCall);
X2IR_TORCH(log)
    .From("aten::log2.default", [](TorchCall& c) { return LogCall(c, 2); })
    .From("aten::log10.default", [](TorchCall& c) { return LogCall(c, 10); });

[[maybe_unused]] const TorchSpec kNot = TorchSpec("not").From(
    "aten::logical_not.default",
    [](TorchCall& c) -> Values { return {c.Op("not", {c.Operand("self", DType::kBool)})}; });

X2IR_TORCH(bitwise_not).From("aten::bitwise_not.default", BitwiseNot);
X2IR_TORCH(is_nan).From("aten::isnan.default", [](TorchCall& c) {
  return OfFloats(
      c, [](TorchCall& call, Value* x) { return call.Op("is_nan", {x}); }, false);
});
X2IR_TORCH(is_inf)
    .From("aten::isinf.default", IsInf(1, 1))
    .From("aten::isposinf.default", IsInf(0, 1))
    .From("aten::isneginf.default", IsInf(1, 0))
    .From("aten::isfinite.default", IsFinite);

Values Same(TorchCall& c) {
  c.Ignore({"memory_format"});
  return {c.Op("identity", {c.Tensor("self")})};
}

// PyTorch's is a float of integers, too.
absl::StatusOr<Value*> WriteErf(TorchWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("the error function of integers");
  return w.Call("aten::erf.default", {{"self", w.in(0)}});
}

absl::StatusOr<Value*> WriteIsInf(TorchWriter& w) {
  const bool negative = w.Int("detect_negative") != 0, positive = w.Int("detect_positive") != 0;
  if (!negative && !positive) return CannotExpress("a test for neither infinity");
  return w.Call(negative && positive ? "aten::isinf.default"
                : positive           ? "aten::isposinf.default"
                                     : "aten::isneginf.default",
                {{"self", w.in(0)}});
}

}  // namespace

X2IR_TORCH(identity).From({"aten::clone.default", "aten::contiguous.default",
                           "aten::detach.default", "aten::detach_.default",
                           "aten::detach_copy.default", "aten::alias.default",
                           "aten::alias_copy.default", "aten::lift.default",
                           "aten::lift_fresh.default", "aten::lift_fresh_copy.default",
                           "aten::resolve_conj.default", "aten::resolve_neg.default",
                           "aten::positive.default", "aten::pin_memory.default"},
                          [](TorchCall& c) {
                            c.Ignore({"device"});
                            return Same(c);
                          });
X2IR_TORCH(floor).To("aten::floor.default");
X2IR_TORCH(ceil).To("aten::ceil.default");
X2IR_TORCH(round).To("aten::round.default");
X2IR_TORCH(sign).To("aten::sign.default");
X2IR_TORCH(is_nan).To("aten::isnan.default");
X2IR_TORCH(bitwise_not).To("aten::bitwise_not.default");
X2IR_TORCH(erf).To("aten::erf.default", WriteErf);
X2IR_TORCH(is_inf).To("aten::isinf.default", WriteIsInf);

X2IR_TORCH(not ).To("aten::logical_not.default");

}  // namespace x2ir
