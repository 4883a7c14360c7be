// Keras, written: functions of elements. Tables of rows where an operation of Keras 3 is an op of
// the IR.
#include <string_view>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/expr.h"
#include "x2ir/handlers/keras/write_internal.h"

namespace x2ir {
namespace {

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

// Quotients of integers are cut off, those of Keras rounded down: there are steps between them
// where there is a remainder and the signs differ.
absl::StatusOr<Value*> ToDiv(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckElements(w, Elements::kNumbers));
  if (IsFloating(w.dtype())) return w.Function("Divide", {w.in(0), w.in(1)});
  Value* down = w.Function("FloorDivide", {w.in(0), w.in(1)}, Json::Object(), w.out_type());
  if (!IsSignedInt(w.dtype())) return down;
  const Expr x = {w.b(), w.in(0)}, y = {w.b(), w.in(1)}, floor = {w.b(), down};
  const Expr rest = x - floor * y;
  const Expr differ = (x < 0) == (y < 0), none = rest == 0;
  return (floor + Not(none | differ).To(w.dtype())).value();
}

// With the dividend's sign: of numbers that are not negative, both remainders are the same.
absl::StatusOr<Value*> ToMod(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckElements(w, Elements::kNumbers));
  if (w.Int("fmod") == 0 || (!IsFloating(w.dtype()) && !IsSignedInt(w.dtype()))) {
    return w.Function("Mod", {w.in(0), w.in(1)});
  }
  if (!IsFloating(w.dtype())) return CannotExpress("a remainder with the sign of the dividend");
  const Expr x = {w.b(), w.in(0)}, y = {w.b(), w.in(1)};
  const Expr rest = x.Op("abs").Op("mod", {y.Op("abs")}, {{"fmod", 0}});
  return Where(x < 0.0, rest.Op("neg"), rest).value();
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

Value* ToCastLike(KerasWriter& w) {
  return w.Op("cast", {w.in(0)}, {{"to", std::string(Name(w.dtype(1)))}});
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

absl::StatusOr<Value*> ToTanh(KerasWriter& w) {
  X2IR_RETURN_IF_ERROR(w.WantFloats());
  return w.Layer("Activation", {w.in(0)}, {{"activation", "tanh"}});
}

}  // namespace

X2IR_KERAS(add).To("Add", ToMerge("Add", "Add"));
X2IR_KERAS(sub).To("Subtract", ToMerge("Subtract", "Subtract"));
X2IR_KERAS(mul).To("Multiply", ToMerge("Multiply", "Multiply"));
X2IR_KERAS(max).To("Maximum", ToMerge("Maximum", "Maximum"));
X2IR_KERAS(min).To("Minimum", ToMerge("Minimum", "Minimum"));
X2IR_KERAS(sum).To("Add", ToMerge("Add", "Add"));
X2IR_KERAS(where).To("ops.Where", ToWhere);
X2IR_KERAS(div).To("ops.Divide", ToDiv);
X2IR_KERAS(mod).To("ops.Mod", ToMod);
X2IR_KERAS(cast).To("ops.Cast", ToCast);
X2IR_KERAS(cast_like).To("ops.Cast", ToCastLike);
X2IR_KERAS(round).To("ops.Round", ToRound);
X2IR_KERAS(is_inf).To("ops.Isinf", ToIsInf);
X2IR_KERAS(identity).To("Identity", ToIdentity);
X2IR_KERAS(tanh).To("Activation", ToTanh);

}  // namespace x2ir
