// NNVM: functions of each element, both ways. Results of comparisons are numbers of the operands'
// type.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnvm/elementwise.h"

namespace x2ir {
namespace {

using namespace symbol;

Expr Log2Of(const Expr& x) { return Log(x) * 1.4426950408889634; }

Value* CastDtype(SymbolArgs& a) {
  const DType to = a.ElementType("dtype", DType::kUndefined);
  a.Require(to != DType::kUndefined, "a cast without a type");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}
Value* ClipBounds(SymbolArgs& a) {
  const Expr x = a.in(0);
  return a.Op("clip", {x, x.Number(a.Number("a_min", 0)), x.Number(a.Number("a_max", 0))});
}
Value* DropoutRate(SymbolArgs& a) {
  a.Ignore("rate");
  return SameValue(a);
}
Value* WhereNumbers(SymbolArgs& a) {
  Expr test = IsTrue(a.in(0));
  if (a.rank(0) == 1 && a.rank(1) > 1) test = AlongAxis(test, 0, a.rank(1));
  return Select(test, a.in(1), a.in(2));
}

// --- Writing -------------------------------------------------------------------------------------

bool SameShapes(const Value* x, const Value* y) {
  const Shape *p = x->shape(), *q = y->shape();
  if (!p || !q || p->rank() != q->rank()) return false;
  for (int64_t i = 0; i < p->rank(); ++i) {
    if (!ProvablyEqual((*p)[i], (*q)[i])) return false;
  }
  return true;
}
// Names of an operator of two tensors of one shape, of two that are broadcast, of a tensor and a
// number, and of a number and a tensor; empty: there is none.
struct OfTwo {
  std::string_view same, broadcast, scalar, reversed;
};
Value* WriteOfTwo(SymbolWriter& w, const OfTwo& names, Value* x, Value* y) {
  const int64_t rank_x = x->shape() ? x->shape()->rank() : -1,
                rank_y = y->shape() ? y->shape()->rank() : -1;
  if (const auto number = OneNumber(y); number && !names.scalar.empty() && rank_x >= rank_y) {
    return w.Nnvm(names.scalar, {x}, {{"scalar", NumberText(*number)}});
  }
  if (const auto number = OneNumber(x); number && !names.reversed.empty() && rank_y >= rank_x) {
    return w.Nnvm(names.reversed, {y}, {{"scalar", NumberText(*number)}});
  }
  return w.Nnvm(!names.same.empty() && SameShapes(x, y) ? names.same : names.broadcast, {x, y});
}
std::function<Value*(SymbolWriter&)> ToOfTwo(OfTwo names) {
  return [names](SymbolWriter& w) { return WriteOfTwo(w, names, w.in(0), w.in(1)); };
}
// Of any number of operands.
std::function<Value*(SymbolWriter&)> ToOfMany(OfTwo names, Symbol op) {
  return [names, op](SymbolWriter& w) -> Value* {
    if (w.num_inputs() == 1) return w.Nnvm("copy", {w.in(0)});
    return WriteOfTwo(w, names, w.FoldedButLast(op), w.in(w.num_inputs() - 1));
  };
}
// Numbers there are bools here.
std::function<absl::StatusOr<Value*>(SymbolWriter&)> ToComparison(std::string_view op) {
  return [op](SymbolWriter& w) -> absl::StatusOr<Value*> {
    if (w.in(0)->dtype() == DType::kBool) return CannotExpress("a comparison of bools");
    Value* numbers = w.Nnvm(op, {w.in(0), w.in(1)});
    return w.Nnvm("cast", {numbers}, {{"dtype", "bool"}});
  };
}
absl::StatusOr<Value*> ToCast(SymbolWriter& w) {
  for (const DType t : {w.dtype(0), w.DTypeAttr("to")}) {
    const bool plain = t == DType::kBool || ((IsFloating(t) || IsInteger(t)) && BitWidth(t) >= 8 &&
                                             t != DType::kBFloat16);
    if (!plain || (IsFloating(t) && BitWidth(t) == 8)) return CannotExpress("casts of ", Name(t));
  }
  return w.Nnvm("cast", {w.in(0)}, {{"dtype", w.String("to")}});
}
absl::StatusOr<Value*> ToClip(SymbolWriter& w) {
  const auto low = OneNumber(w.in(1)), high = OneNumber(w.in(2));
  if ((w.in(1) && !low) || (w.in(2) && !high)) {
    return CannotExpress("bounds that are computed, or that no double holds");
  }
  if (!low && !high) return w.Nnvm("copy", {w.in(0)});
  constexpr double kMost = 3.4028234663852886e38;
  return w.Nnvm(
      "clip", {w.in(0)},
      {{"a_min", NumberText(low.value_or(-kMost))}, {"a_max", NumberText(high.value_or(kMost))}});
}
// NNVM's operators of two have one type.
absl::StatusOr<Value*> ToPow(SymbolWriter& w) {
  if (w.dtype(0) != w.dtype(1)) return CannotExpress("an exponent of another type");
  return WriteOfTwo(w, {"", "broadcast_pow", "__pow_scalar__", "__rpow_scalar__"}, w.in(0),
                    w.in(1));
}
// All three of one shape: NNVM does not broadcast them, and takes a condition of rank 1 for one of
// whole rows.
absl::StatusOr<Value*> ToWhere(SymbolWriter& w) {
  Value* test = w.Cast(w.in(0), DType::kFloat32);
  const Shape* out = w.out_type().shape();
  const auto dims = out ? out->Static() : std::nullopt;
  std::vector<Value*> operands = {test, w.in(1), w.in(2)};
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape* shape = w.shape(i);
    bool same = out && shape && shape->rank() == out->rank();
    for (int64_t k = 0; same && k < out->rank(); ++k) same = ProvablyEqual((*shape)[k], (*out)[k]);
    if (same) continue;
    if (!dims) return CannotExpress("a choice of operands of unknown shapes");
    operands[i] = w.Op("expand", {operands[i], w.Ints(*dims)});
  }
  return w.Nnvm("where", std::move(operands));
}
absl::StatusOr<Value*> ToDropout(SymbolWriter& w) {
  const Tensor* training = w.in(2) ? w.in(2)->fixed_constant() : nullptr;
  if ((w.in(2) && !training) || (training && training->AsInt(0) != 0) || w.wants(1)) {
    return CannotExpress("dropout of a training");
  }
  return w.Nnvm("dropout", {w.in(0)}, {{"rate", "0.5"}});
}
Value* ToReciprocal(SymbolWriter& w) {
  return w.Nnvm("__rdiv_scalar__", {w.in(0)}, {{"scalar", "1"}});
}

}  // namespace

X2IR_NNVM(abs).Is("abs");
X2IR_NNVM(ceil).Is("ceil");
X2IR_NNVM(cos).Is("cos");
X2IR_NNVM(exp).Is("exp");
X2IR_NNVM(floor).Is("floor");
X2IR_NNVM(identity).Is("copy").From("block_grad").From("dropout", DropoutRate);
X2IR_NNVM(dropout).To("dropout", ToDropout);
X2IR_NNVM(log).Is("log").From("log2", Unary(Log2Of));
X2IR_NNVM(neg).Is("negative");
X2IR_NNVM(relu).Is("relu");
X2IR_NNVM(round).From("round", Unary(RoundAway)).From("trunc", Unary(Trunc));
X2IR_NNVM(sigmoid).Is("sigmoid");
X2IR_NNVM(sign).Is("sign");
X2IR_NNVM(sin).Is("sin");
X2IR_NNVM(sqrt).Is("sqrt");
X2IR_NNVM(tan).Is("tan");
X2IR_NNVM(atan).Is("atan");
X2IR_NNVM(tanh).Is("tanh");
X2IR_NNVM(leaky_relu)
    .Is("leaky_relu", TextAttr("alpha", "alpha", AttrKind::kFloat, Attribute(0.25f)));
X2IR_NNVM(softmax).Is("softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)));
X2IR_NNVM(log_softmax).Is("log_softmax", TextAttr("axis", "axis", AttrKind::kInt, Attribute(-1)));
X2IR_NNVM(cast).From("cast", CastDtype).To("cast", ToCast);
X2IR_NNVM(clip).From("clip", ClipBounds).To("clip", ToClip);
X2IR_NNVM(where).From("where", WhereNumbers).To("where", ToWhere);
X2IR_NNVM(reciprocal).To("__rdiv_scalar__", ToReciprocal);

X2IR_NNVM(add)
    .From({"elemwise_add", "broadcast_add", "__add_symbol__"}, Binary(Plus))
    .From("__add_scalar__", WithScalar(Plus))
    .To("broadcast_add",
        ToOfTwo({"elemwise_add", "broadcast_add", "__add_scalar__", "__add_scalar__"}));
X2IR_NNVM(sub)
    .From({"elemwise_sub", "broadcast_sub", "__sub_symbol__"}, Binary(Minus))
    .From("__sub_scalar__", WithScalar(Minus))
    .From("__rsub_scalar__", WithScalar(Minus, true))
    .To("broadcast_sub",
        ToOfTwo({"elemwise_sub", "broadcast_sub", "__sub_scalar__", "__rsub_scalar__"}));
X2IR_NNVM(mul)
    .From({"elemwise_mul", "broadcast_mul", "__mul_symbol__"}, Binary(Times))
    .From("__mul_scalar__", WithScalar(Times))
    .To("broadcast_mul",
        ToOfTwo({"elemwise_mul", "broadcast_mul", "__mul_scalar__", "__mul_scalar__"}));
X2IR_NNVM(div)
    .From({"elemwise_div", "broadcast_div", "__div_symbol__"}, Binary(Divide))
    .From("__div_scalar__", WithScalar(Divide))
    .From("__rdiv_scalar__", WithScalar(Divide, true))
    .To("broadcast_div",
        ToOfTwo({"elemwise_div", "broadcast_div", "__div_scalar__", "__rdiv_scalar__"}));
X2IR_NNVM(pow)
    .From({"elemwise_pow", "broadcast_pow"}, Binary(Power))
    .From("__pow_scalar__", WithScalar(Power))
    .From("__rpow_scalar__", WithScalar(Power, true))
    .To("broadcast_pow", ToPow);
X2IR_NNVM(mod).From({"elemwise_mod", "broadcast_mod"}, Binary(+[](const Expr& x, const Expr& y) {
                      // The sign is that of the first operand.
                      return IsFloating(x.dtype()) ? Mod(x, y) : x.Op("mod", {y}, {{"fmod", 1}});
                    }));
X2IR_NNVM(max)
    .From("broadcast_max", Binary(Maximum))
    .From("__max_scalar__", WithScalar(Maximum))
    .To("broadcast_max", ToOfMany({"", "broadcast_max", "", ""}, "max"));
X2IR_NNVM(min)
    .From("broadcast_min", Binary(Minimum))
    .From("__min_scalar__", WithScalar(Minimum))
    .To("broadcast_min", ToOfMany({"", "broadcast_min", "", ""}, "min"));
X2IR_NNVM(sum)
    .From("elemwise_sum", AddAll)
    .To("broadcast_add", ToOfMany({"elemwise_add", "broadcast_add", "", ""}, "add"));
X2IR_NNVM(equal)
    .From("broadcast_equal", Binary(Equal))
    .To("broadcast_equal", ToComparison("broadcast_equal"));
X2IR_NNVM(not )
    .From("broadcast_not_equal", Binary(NotEqual))
    .From("logical_not", Unary(LogicalNot));
X2IR_NNVM(greater)
    .From({"broadcast_greater", "greater"}, Binary(Greater))
    .To("broadcast_greater", ToComparison("broadcast_greater"));
X2IR_NNVM(greater_or_equal)
    .From("broadcast_greater_equal", Binary(GreaterEqual))
    .To("broadcast_greater_equal", ToComparison("broadcast_greater_equal"));
X2IR_NNVM(less)
    .From({"broadcast_less", "less"}, Binary(Less))
    .To("broadcast_less", ToComparison("broadcast_less"));
X2IR_NNVM(less_or_equal)
    .From("broadcast_less_equal", Binary(LessEqual))
    .To("broadcast_less_equal", ToComparison("broadcast_less_equal"));
X2IR_NNVM(and).From("logical_and", Binary(LogicalAnd));
X2IR_NNVM(or).From("logical_or", Binary(LogicalOr));
X2IR_NNVM(expand)
    .From("zeros_like",
          [](SymbolArgs& a) -> Value* { return Expand(a.in(0).Number(0), ShapeOf(a.in(0))); })
    .From("ones_like",
          [](SymbolArgs& a) -> Value* { return Expand(a.in(0).Number(1), ShapeOf(a.in(0))); })
    .From("full_like", [](SymbolArgs& a) -> Value* {
      return Expand(a.in(0).Number(a.Number("fill_value", 0)), ShapeOf(a.in(0)));
    });

}  // namespace x2ir
