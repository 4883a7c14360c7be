// TensorFlow: activations.

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

template <const char* kOp>
Value* AlongLast(TfArgs& a) {
  return a.Op(kOp, {a.in(0)}, {{"axis", -1}});
}

constexpr char kSoftmax[] = "softmax", kLogSoftmax[] = "log_softmax";

Value* Relu6(TfArgs& a) {
  Value* x = a.in(0);
  return a.Op("min", {a.Op("max", {x, Expr(a, x).Number(0)}), Expr(a, x).Number(6)});
}

Value* ToTfHardSigmoid(TfWriter& w) {
  const DType t = w.dtype();
  Value* line = w.Op("mul", {w.in(0), w.Number(t, w.Float("alpha"))});
  line = w.Op("add", {line, w.Number(t, w.Float("beta"))});
  return w.Op("min", {w.Op("max", {line, w.Number(t, 0)}), w.Number(t, 1)});
}

Value* ToTfPRelu(TfWriter& w) {
  Value* negative = w.Op("less", {w.in(0), w.Number(w.dtype(), 0)});
  return w.Op("where", {negative, w.Op("mul", {w.in(1), w.in(0)}), w.in(0)});
}

Expr OperandOf(TfWriter& w) { return {w.b(), w.in(0)}; }

Value* ToTfElu(TfWriter& w) {
  const double alpha = w.attrs().Float("alpha");
  if (alpha == 1) return w.Tf("Elu", {w.in(0)});
  const Expr x = OperandOf(w);
  return Where(x < 0, x.Op("elu", {}, {{"alpha", 1.0f}}) * alpha, x);
}

// TensorFlow's is that of these two numbers.
Value* ToTfSelu(TfWriter& w) {
  const double a = w.attrs().Float("alpha"), g = w.attrs().Float("gamma");
  if (a == 1.67326319218681884765625 && g == 1.05070102214813232421875) {
    return w.Tf("Selu", {w.in(0)});
  }
  const Expr x = OperandOf(w);
  return Where(x < 0, x.Op("elu", {}, {{"alpha", 1.0f}}) * a, x) * g;
}

// Along the last axis.
auto ToTfAlongLast(std::string_view op) {
  return [=](TfWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    if (axis == rank - 1) return w.Tf(op, {w.in(0)});
    return AlongLastAxis(w, axis, rank);
  };
}

}  // namespace

X2IR_TF(softmax).From("Softmax", AlongLast<kSoftmax>);
X2IR_TF(log_softmax).From("LogSoftmax", AlongLast<kLogSoftmax>);
X2IR_TF(elu).To("Elu", ToTfElu).From("Elu", Fixed("alpha", 1.0f));
X2IR_TF(leaky_relu).Is("LeakyRelu", Attr("alpha", 0.2f));
X2IR_TF(relu).Is("Relu").From("Relu6", Relu6);
X2IR_TF(selu).To("Selu", ToTfSelu).From("Selu");
X2IR_TF(hardmax).To("OneHot", [](TfWriter& w) { return HardmaxByOneHot(w); });
X2IR_TF(prelu).From("Prelu");  // TensorFlow.js's
X2IR_TF(sigmoid).Is("Sigmoid");
X2IR_TF(softplus).Is("Softplus");
X2IR_TF(softsign).Is("Softsign");
X2IR_TF(hard_sigmoid).To("Maximum", ToTfHardSigmoid);
X2IR_TF(prelu).To("SelectV2", ToTfPRelu);
X2IR_TF(softmax).To("Softmax", ToTfAlongLast("Softmax"));
X2IR_TF(log_softmax).To("LogSoftmax", ToTfAlongLast("LogSoftmax"));

}  // namespace x2ir
