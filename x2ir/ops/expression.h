// Formulas as graph: Expr(b, x) * 2.0 + Log(y). Numbers have the type of what they stand beside.
#ifndef X2IR_OPS_EXPRESSION_H_
#define X2IR_OPS_EXPRESSION_H_

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"

namespace X2IR_API x2ir {

class Expr {
 public:
  Expr(Builder& b, Value* value) : b_(&b), value_(value) {}

  Builder& builder() const { return *b_; }
  Value* value() const { return value_; }
  DType dtype() const { return value_->dtype(); }

  // The same value among the nodes of another graph, one nested in this one's.
  Expr Inside(const Expr& place) const { return {place.builder(), value_}; }

  Expr Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs = {}) const {
    return {*b_, b_->Op(op, std::move(operands), std::move(attrs))};
  }
  Expr Unary(Symbol op) const { return Op(op, {value_}); }
  Expr Binary(Symbol op, const Expr& other) const { return Op(op, {value_, other.value_}); }
  Expr To(DType type) const {
    return type == dtype() ? *this : Op("cast", {value_}, {{"to", Name(type)}});
  }
  // A number of this type.
  Expr Number(double number) const {
    DType type = dtype();
    if (!IsFloating(type) && !IsInteger(type)) {
      b_->Fail(Unimplemented("arithmetic of ", Name(type)));
      type = DType::kFloat32;
    }
    return {*b_, b_->Scalar(type, number)};
  }
  Expr Reduce(Symbol op, std::vector<int64_t> axes, bool keepdims) const {
    return Op(op, {value_, b_->Ints(axes)}, {{"keepdims", keepdims ? 1 : 0}});
  }

 private:
  Builder* b_;
  Value* value_;
};

#define X2IR_EXPR_BINARY_(name, op)                                               \
  inline Expr name(const Expr& a, const Expr& b) { return a.Binary(op, b); }      \
  inline Expr name(const Expr& a, double b) { return a.Binary(op, a.Number(b)); } \
  inline Expr name(double a, const Expr& b) { return b.Number(a).Binary(op, b); }
X2IR_EXPR_BINARY_(operator+, "add")
X2IR_EXPR_BINARY_(operator-, "sub")
X2IR_EXPR_BINARY_(operator*, "mul")
X2IR_EXPR_BINARY_(operator/, "div")
X2IR_EXPR_BINARY_(operator<, "less")
X2IR_EXPR_BINARY_(operator<=, "less_or_equal")
X2IR_EXPR_BINARY_(operator>, "greater")
X2IR_EXPR_BINARY_(operator>=, "greater_or_equal")
X2IR_EXPR_BINARY_(operator==, "equal")
X2IR_EXPR_BINARY_(Min, "min")
X2IR_EXPR_BINARY_(Max, "max")
X2IR_EXPR_BINARY_(Mod, "mod")
X2IR_EXPR_BINARY_(Pow, "pow")
#undef X2IR_EXPR_BINARY_

inline Expr operator-(const Expr& a) { return a.Unary("neg"); }
inline Expr operator!(const Expr& a) { return a.Unary("not"); }
// Not the built-in ones, which look at one side first.
inline Expr And(const Expr& a, const Expr& b) { return a.Binary("and", b); }
inline Expr Or(const Expr& a, const Expr& b) { return a.Binary("or", b); }
inline Expr Abs(const Expr& a) { return a.Unary("abs"); }
inline Expr Exp(const Expr& a) { return a.Unary("exp"); }
inline Expr Log(const Expr& a) { return a.Unary("log"); }
inline Expr Sin(const Expr& a) { return a.Unary("sin"); }
inline Expr Sqrt(const Expr& a) { return a.Unary("sqrt"); }
inline Expr Floor(const Expr& a) { return a.Unary("floor"); }
inline Expr IsNan(const Expr& a) { return a.Unary("is_nan"); }
inline Expr IsInf(const Expr& a) { return a.Unary("is_inf"); }
inline Expr Where(const Expr& test, const Expr& a, const Expr& b) {
  return test.Op("where", {test.value(), a.value(), b.value()});
}
inline Expr Where(const Expr& test, const Expr& a, double b) { return Where(test, a, a.Number(b)); }
inline Expr Where(const Expr& test, double a, const Expr& b) { return Where(test, b.Number(a), b); }
// To the nearest integer, halves away from zero, for what is not negative.
inline Expr RoundHalfUp(const Expr& a) {
  const Expr floor = Floor(a);
  return Where(a - floor >= 0.5, floor + 1.0, floor);
}

}  // namespace x2ir

#endif  // X2IR_OPS_EXPRESSION_H_
