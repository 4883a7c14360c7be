// TensorFlow: functions of each element, tests, casts, and what hands its operands on.

#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tf/written_lists.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

Value* FromReciprocal(TfArgs& a) {
  return IsFloating(a.in(0)->dtype()) ? a.Op("reciprocal", {a.in(0)}) : (1 / a.in(0)).value();
}
Value* Rsqrt(TfArgs& a) { return 1 / Sqrt(a.in(0)); }

// Of integers it is the integer itself.
Value* RoundFloats(TfArgs& a) {
  return a.Op(IsFloating(a.in(0)->dtype()) ? "round" : "identity", {a.in(0)});
}

Value* FromLog1p(TfArgs& a) { return Log1p(a.in(0)); }
Value* FromExpm1(TfArgs& a) { return Expm1(a.in(0)); }
Value* FromSquare(TfArgs& a) { return Square(a.in(0)); }

Value* Conj(TfArgs& a) {
  a.Require(!IsComplex(a.in(0)->dtype()), "complex numbers");
  return a.Op("identity", {a.in(0)});
}

Value* IsFinite(TfArgs& a) {
  return a.Op("not", {a.Op("or", {a.Op("is_nan", {a.in(0)}), a.Op("is_inf", {a.in(0)})})});
}

Value* Cast(TfArgs& a) {
  const DType to = a.Type("DstT", DType::kFloat32);
  a.Require(!a.Bool("Truncate", false), "casts that truncate floats");
  Value* x = a.in(0);
  a.Require(x->dtype() != DType::kString && to != DType::kString, "casts of strings");
  // Complex numbers lose their imaginary part, which no cast of ours does.
  a.Require(!IsComplex(x->dtype()) && !IsComplex(to), "casts of complex numbers");
  return a.Op("cast", {x}, {{"to", Name(to)}});
}

// The result is operand 0; the others, and the attributes, are checked or printed.
Value* First(TfArgs& a) {
  for (const auto& entry : a.node().attrs()) a.Ignore(entry.first);
  return a.Op("identity", {a.in(0)});
}

Values FromAll(TfArgs& a) {
  Values values;
  for (Value* value : a.inputs()) values.push_back(a.Op("identity", {value}));
  return values;
}

Values Nothing(TfArgs& a) {
  for (const auto& entry : a.node().attrs()) a.Ignore(entry.first);
  return {};
}

// A variable has its value from the beginning.
Value* True(TfArgs& a) {
  a.in(0);
  a.Ignore("dtype");
  return a.Op("identity", {a.b().Constant(Tensor::Scalar<bool>(true))});
}

absl::StatusOr<Values> NoValue(TfArgs&) {
  return Invalid(
      "the variable has no value in this file: freeze the graph, or give the SavedModel's folder "
      "with its variables");
}

// Of lists, too.
absl::StatusOr<Value*> ToTfIdentity(TfWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckTfLists(w));
  return w.Tf("Identity", {w.in(0)});
}

Value* ToTfRound(TfWriter& w) { return w.Tf("Round", {w.in(0)}); }

}  // namespace

X2IR_TF(abs).Is("Abs");
X2IR_TF(acos).Is("Acos");
X2IR_TF(acosh).Is("Acosh");
X2IR_TF(asin).Is("Asin");
X2IR_TF(asinh).Is("Asinh");
X2IR_TF(atan).Is("Atan");
X2IR_TF(atanh).Is("Atanh");
X2IR_TF(bitwise_not).Is("Invert");
X2IR_TF(ceil).Is("Ceil");
X2IR_TF(cos).Is("Cos");
X2IR_TF(cosh).Is("Cosh");
X2IR_TF(erf).Is("Erf");
X2IR_TF(exp).Is("Exp").From("Expm1", FromExpm1);
X2IR_TF(floor).Is("Floor");
X2IR_TF(is_inf).Is("IsInf").From("IsFinite", IsFinite);
X2IR_TF(is_nan).Is("IsNan");
X2IR_TF(log).Is("Log").From("Log1p", FromLog1p);
X2IR_TF(neg).Is("Neg");
X2IR_TF(not ).Is("LogicalNot");
X2IR_TF(div).From("Rsqrt", Rsqrt);
X2IR_TF(round).To("Round", ToTfRound).From({{"Rint", RoundFloats}, {"Round", RoundFloats}});
X2IR_TF(sign).Is("Sign");
X2IR_TF(sin).Is("Sin");
X2IR_TF(sinh).Is("Sinh");
X2IR_TF(sqrt).Is("Sqrt");
X2IR_TF(mul).From("Square", FromSquare);
X2IR_TF(tan).Is("Tan");
X2IR_TF(tanh).Is("Tanh");
X2IR_TF(cast).From("Cast", Cast);
X2IR_TF(identity)
    .To("Identity", ToTfIdentity)
    .From("Identity")
    .From("StopGradient")
    .From("PreventGradient", Dropped("message"))
    .From("Snapshot")
    .From("DeepCopy")
    .From("GuaranteeConst")
    .From({{"Conj", Conj}, {"Copy", First}, {"CopyHost", First}, {"DebugIdentity", First}})
    .From("RefIdentity")
    .From({{"ReadVariableOp", Dropped("dtype")},
           {"PlaceholderWithDefault", First},
           {"CheckNumerics", First},
           {"CheckNumericsV2", First},
           {"Print", First},
           {"EnsureShape", First},
           {"IdentityN", FromAll},
           {"Assert", Nothing},
           {"NoOp", Nothing},
           {"PrintV2", Nothing},
           {"VarIsInitializedOp", True},
           {"IsVariableInitialized", True},
           {"VarHandleOp", NoValue}});
X2IR_TF(reciprocal)
    .To("Reciprocal")
    .From({{"Reciprocal", FromReciprocal}, {"Inv", FromReciprocal}});

}  // namespace x2ir
