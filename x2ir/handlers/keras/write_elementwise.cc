// Keras, written: functions of elements. Tables of rows where an operation of Keras 3 is an op of
// the IR, and activations.
#include <array>
#include <cmath>
#include <string_view>

#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

enum class Elements { kAny, kNumbers, kFloats, kBools };

struct ElementRow {
  std::string_view ir, keras;
  size_t operands;
  Elements elements = Elements::kAny;
};

constexpr ElementRow kElementRows[] = {
    {"abs", "Absolute", 1},
    {"neg", "Negative", 1},
    {"sign", "Sign", 1},
    {"ceil", "Ceil", 1, Elements::kFloats},
    {"floor", "Floor", 1, Elements::kFloats},
    {"exp", "Exp", 1, Elements::kFloats},
    {"log", "Log", 1, Elements::kFloats},
    {"sqrt", "Sqrt", 1, Elements::kFloats},
    {"reciprocal", "Reciprocal", 1, Elements::kFloats},
    {"erf", "Erf", 1, Elements::kFloats},
    {"sin", "Sin", 1, Elements::kFloats},
    {"cos", "Cos", 1, Elements::kFloats},
    {"tan", "Tan", 1, Elements::kFloats},
    {"asin", "Arcsin", 1, Elements::kFloats},
    {"acos", "Arccos", 1, Elements::kFloats},
    {"atan", "Arctan", 1, Elements::kFloats},
    {"sinh", "Sinh", 1, Elements::kFloats},
    {"cosh", "Cosh", 1, Elements::kFloats},
    {"asinh", "Arcsinh", 1, Elements::kFloats},
    {"acosh", "Arccosh", 1, Elements::kFloats},
    {"atanh", "Arctanh", 1, Elements::kFloats},
    {"is_nan", "Isnan", 1, Elements::kFloats},
    {"not", "LogicalNot", 1, Elements::kBools},
    {"hard_swish", "HardSilu", 1, Elements::kFloats},
    {"div", "Divide", 2, Elements::kFloats},
    {"pow", "Power", 2, Elements::kFloats},
    {"equal", "Equal", 2},
    {"less", "Less", 2, Elements::kNumbers},
    {"less_or_equal", "LessEqual", 2, Elements::kNumbers},
    {"greater", "Greater", 2, Elements::kNumbers},
    {"greater_or_equal", "GreaterEqual", 2, Elements::kNumbers},
    {"and", "LogicalAnd", 2, Elements::kBools},
    {"or", "LogicalOr", 2, Elements::kBools},
    {"xor", "LogicalXor", 2, Elements::kBools},
};

absl::Status CheckElements(KerasWriter& w, Elements elements) {
  for (size_t i = 0; i < w.num_inputs(); ++i) {
    const DType type = w.dtype(i);
    const bool fits = elements == Elements::kFloats    ? IsFloating(type)
                      : elements == Elements::kBools   ? type == DType::kBool
                      : elements == Elements::kNumbers ? IsFloating(type) || IsInteger(type)
                                                       : type != DType::kString && !IsComplex(type);
    if (!fits || type != w.dtype(0)) return CannotExpress("elements of ", Name(type));
  }
  return absl::OkStatus();
}

[[maybe_unused]] const bool kElementRowsRegistered = [] {
  for (const ElementRow& row : kElementRows) {
    DialectSpec<KerasDialect>(Symbol(row.ir))
        .To(StrCat("ops.", row.keras), [row](KerasWriter& w) -> absl::StatusOr<Value*> {
          X2IR_RETURN_IF_ERROR(CheckElements(w, row.elements));
          return w.Function(row.keras, w.node().inputs());
        });
  }
  return true;
}();

// --- Of several tensors: layers where all are computed and of one rank ---------------------------

bool AreLayerOperands(KerasWriter& w) {
  if (w.num_inputs() < 2) return false;
  for (size_t i = 0; i < w.num_inputs(); ++i) {
    if (!w.has(i) || w.in(i)->constant() || !w.shape(i) || !w.shape(0) || w.shape(i)->rank() < 1 ||
        w.shape(i)->rank() != w.shape(0)->rank() || w.in(i) == w.in((i + 1) % w.num_inputs())) {
      return false;
    }
  }
  return true;
}

// Layers broadcast as functions do, but want batches of one size.
bool HaveOneShape(KerasWriter& w) {
  for (size_t i = 1; i < w.num_inputs(); ++i) {
    if (!AreLayerOperands(w) || *w.shape(i) != *w.shape(0)) return false;
  }
  return w.num_inputs() > 1;
}

auto ToMerge(std::string_view layer, std::string_view function) {
  return [layer, function](KerasWriter& w) -> absl::StatusOr<Value*> {
    X2IR_RETURN_IF_ERROR(CheckElements(w, Elements::kNumbers));
    if (HaveOneShape(w)) return w.Layer(layer, w.node().inputs());
    if (w.num_inputs() == 1) return w.Layer("Identity", {w.in(0)});
    return w.Function(function, w.num_inputs() == 2
                                    ? w.node().inputs()
                                    : std::vector<Value*>{w.FoldedButLast(w.node().op()),
                                                          w.in(w.num_inputs() - 1)});
  };
}

absl::StatusOr<Value*> ToWhere(KerasWriter& w) {
  if (w.dtype(1) == DType::kString) return CannotExpress("elements of string");
  return w.Function("Where", {w.in(0), w.in(1), w.in(2)});
}

absl::StatusOr<Value*> ToMod(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckElements(w, Elements::kNumbers));
  if (w.Int("fmod") != 0) return CannotExpress("a remainder of the dividend's sign");
  return w.Function("Mod", {w.in(0), w.in(1)});
}

absl::StatusOr<Value*> ToCast(KerasWriter& w) {
  const DType to = w.DTypeAttr("to"), from = w.dtype();
  for (const DType type : {to, from}) {
    if (type == DType::kString || BitWidth(type) < 8 || IsComplex(type) ||
        (BitWidth(type) == 8 && IsFloating(type))) {
      return CannotExpress("a cast of ", Name(from), " to ", Name(to));
    }
  }
  return w.Function("Cast", {w.in(0)}, KerasArguments({{"dtype", Json(std::string(Name(to)))}}));
}

absl::StatusOr<Value*> ToRound(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return w.Function("Round", {w.in(0)});
}

absl::StatusOr<Value*> ToIsInf(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (w.Int("detect_positive") == 0 || w.Int("detect_negative") == 0) {
    return CannotExpress("one of the infinities");
  }
  return w.Function("Isinf", {w.in(0)});
}

Value* ToIdentity(KerasWriter& w) { return w.Layer("Identity", {w.in(0)}); }

// --- Activations ---------------------------------------------------------------------------------

Value* Activated(KerasWriter& w, const char* name) {
  return w.Layer("Activation", {w.in(0)}, {{"activation", name}});
}

auto ToActivation(const char* name) {
  return [name](KerasWriter& w) -> absl::StatusOr<Value*> {
    X2IR_RETURN_IF_ERROR(w.WantFloats());
    return Activated(w, name);
  };
}

absl::StatusOr<Value*> ToClip(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckElements(w, Elements::kNumbers));
  const Tensor *least = w.Weight(1), *most = w.Weight(2);
  if (IsFloating(w.dtype()) && least && most && least->num_elements() == 1 &&
      most->num_elements() == 1 && least->AsDouble(0) == 0 && most->AsDouble(0) == 6) {
    return Activated(w, "relu6");
  }
  return ClipByBounds(w);
}

absl::StatusOr<Value*> ToElu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const double alpha = w.attrs().Float("alpha");
  if (alpha == 1) return Activated(w, "elu");
  return w.Layer("ELU", {w.in(0)}, {{"alpha", alpha}});
}

absl::StatusOr<Value*> ToLeakyRelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const double slope = w.attrs().Float("alpha");
  return w.Layer("LeakyReLU", {w.in(0)}, {{"negative_slope", slope}});
}

absl::StatusOr<Value*> ToSelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const float alpha = w.attrs().Float("alpha"), gamma = w.attrs().Float("gamma");
  if (std::fabs(alpha - 1.6732632f) > 1e-5f || std::fabs(gamma - 1.0507010f) > 1e-5f) {
    return CannotExpress("an alpha of ", alpha, " and a gamma of ", gamma);
  }
  return Activated(w, "selu");
}

absl::StatusOr<Value*> ToHardSigmoid(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  const float alpha = w.attrs().Float("alpha"), beta = w.attrs().Float("beta");
  if (std::fabs(alpha - 1.0f / 6) < 1e-6f && beta == 0.5f) return Activated(w, "hard_sigmoid");
  Value* x = w.in(0);
  x = w.Op("mul", {x, w.Number(w.dtype(), alpha)});
  x = w.Op("add", {x, w.Number(w.dtype(), beta)});
  return w.Op("clip", {x, w.Number(w.dtype(), 0), w.Number(w.dtype(), 1)});
}

absl::StatusOr<Value*> ToSwish(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  if (w.attrs().Float("alpha") != 1) return CannotExpress("an alpha that is not 1");
  return Activated(w, "silu");
}

absl::StatusOr<Value*> ToGelu(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return w.Function(
      "Gelu", {w.in(0)},
      KerasArguments({{"approximate", Json::Bool(w.String("approximate") == "tanh")}}));
}

template <bool kLog>
absl::StatusOr<Value*> ToSoftmax(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank > 1 && axis == rank - 1) return Activated(w, kLog ? "log_softmax" : "softmax");
  return w.Function(kLog ? "LogSoftmax" : "Softmax", {w.in(0)},
                    KerasArguments({{"axis", Json(axis)}}));
}

}  // namespace

X2IR_KERAS(add).To("Add", ToMerge("Add", "Add"));
X2IR_KERAS(sub).To("Subtract", ToMerge("Subtract", "Subtract"));
X2IR_KERAS(mul).To("Multiply", ToMerge("Multiply", "Multiply"));
X2IR_KERAS(max).To("Maximum", ToMerge("Maximum", "Maximum"));
X2IR_KERAS(min).To("Minimum", ToMerge("Minimum", "Minimum"));
X2IR_KERAS(sum).To("Add", ToMerge("Add", "Add"));
X2IR_KERAS(where).To("ops.Where", ToWhere);
X2IR_KERAS(mod).To("ops.Mod", ToMod);
X2IR_KERAS(cast).To("ops.Cast", ToCast);
X2IR_KERAS(round).To("ops.Round", ToRound);
X2IR_KERAS(is_inf).To("ops.Isinf", ToIsInf);
X2IR_KERAS(identity).To("Identity", ToIdentity);
X2IR_KERAS(relu).To("Activation", ToActivation("relu"));
X2IR_KERAS(sigmoid).To("Activation", ToActivation("sigmoid"));
X2IR_KERAS(tanh).To("Activation", ToActivation("tanh"));
X2IR_KERAS(softplus).To("Activation", ToActivation("softplus"));
X2IR_KERAS(softsign).To("Activation", ToActivation("softsign"));
X2IR_KERAS(mish).To("Activation", ToActivation("mish"));
X2IR_KERAS(clip).To("Activation", ToClip);
X2IR_KERAS(elu).To("ELU", ToElu);
X2IR_KERAS(leaky_relu).To("LeakyReLU", ToLeakyRelu);
X2IR_KERAS(selu).To("Activation", ToSelu);
X2IR_KERAS(hard_sigmoid).To("Activation", ToHardSigmoid);
X2IR_KERAS(swish).To("Activation", ToSwish);
X2IR_KERAS(gelu).To("ops.Gelu", ToGelu);
X2IR_KERAS(softmax).To("Activation", ToSoftmax<false>);
X2IR_KERAS(log_softmax).To("Activation", ToSoftmax<true>);

}  // namespace x2ir
