// TFLite: activations.
#include <limits>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Expr Between(TfliteArgs& a, double low, double high) { return Min(Max(a.in(0), low), high); }
Value* Relu6(TfliteArgs& a) { return Between(a, 0, 6); }
Value* ReluN1To1(TfliteArgs& a) { return Between(a, -1, 1); }
Value* Relu0To1(TfliteArgs& a) { return Between(a, 0, 1); }

Value* Gelu(TfliteArgs& a) {
  return a.Op("gelu", {a.in(0)}, {{"approximate", a.Bool("approximate", false) ? "tanh" : "none"}});
}

// x * relu6(x + 3) / 6.
Value* HardSwish(TfliteArgs& a) { return a.Op("hard_swish", {a.in(0)}); }

// A slope for each element of the last axes.
Value* Prelu(TfliteArgs& a) { return a.Op("prelu", {a.in(0), a.in(1)}); }

Value* Softmax(TfliteArgs& a) {
  return a.Op("softmax", {Scaled(a.in(0), a.Float("beta", 0))}, {{"axis", -1}});
}

Value* LogSoftmax(TfliteArgs& a) { return a.Op("log_softmax", {a.in(0)}, {{"axis", -1}}); }

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

// 1 at the first of the largest elements.
absl::StatusOr<Value*> ToHardmax(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  if (w.dtype() != DType::kFloat32) return CannotExpress("elements of ", Name(w.dtype()));
  const Dim& size = (*w.shape())[axis];
  if (!size.is_static()) return CannotExpress("an axis of unknown size");
  Value* first =
      w.Op("arg_max", {w.in(0)}, {{"axis", axis}, {"keepdims", 0}, {"select_last_index", 0}});
  return w.Tflite("ONE_HOT",
                  {first, w.Int32(size.value()), w.Number(w.dtype(), 1), w.Number(w.dtype(), 0)},
                  {{"axis", axis}});
}

}  // namespace

X2IR_TFLITE(clip)
    .To("MAXIMUM", ToClip)
    .From({{"RELU6", Relu6}, {"RELU_N1_TO_1", ReluN1To1}, {"RELU_0_TO_1", Relu0To1}});
X2IR_TFLITE(elu).To("ELU", ToElu).From("ELU", Fixed("alpha", 1.0f));
X2IR_TFLITE(gelu).To("GELU", ToGelu).From("GELU", Gelu);
X2IR_TFLITE(hard_swish).To("HARD_SWISH", ToHardSwish).From("HARD_SWISH", HardSwish);
X2IR_TFLITE(leaky_relu).Is("LEAKY_RELU");
X2IR_TFLITE(prelu).To("PRELU", ToPrelu).From("PRELU", Prelu);
X2IR_TFLITE(relu).Is("RELU");
X2IR_TFLITE(sigmoid).Is("LOGISTIC");
X2IR_TFLITE(softmax).To("SOFTMAX", ToAlongLast("SOFTMAX")).From("SOFTMAX", Softmax);
X2IR_TFLITE(log_softmax)
    .To("LOG_SOFTMAX", ToAlongLast("LOG_SOFTMAX"))
    .From("LOG_SOFTMAX", LogSoftmax);
X2IR_TFLITE(hard_sigmoid).To("MAXIMUM", ToHardSigmoid);
X2IR_TFLITE(mish).To("TANH", ToMish);
X2IR_TFLITE(selu).To("SELECT_V2", ToSelu);
X2IR_TFLITE(softplus).To("LOG", ToSoftplus);
X2IR_TFLITE(softsign).To("DIV", ToSoftsign);
X2IR_TFLITE(swish).To("LOGISTIC", ToSwish);
X2IR_TFLITE(hardmax).To("ONE_HOT", ToHardmax);

}  // namespace x2ir
