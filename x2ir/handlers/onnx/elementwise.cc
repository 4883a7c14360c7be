// ONNX: arithmetic and functions of single numbers, conversions of element types.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Before opset 8, Max, Min, Mean and Sum did not broadcast.
class SameShapes : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const Node& node = draft.node();
    for (size_t i = 1; i < node.num_inputs(); ++i) {
      X2IR_RETURN_IF_ERROR(ExpectSameShape(node.input(0), node.input(i)));
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    const Node& node = draft.node();
    for (size_t i = 1; i < node.num_inputs(); ++i) {
      const Shape* a = node.input(0) ? node.input(0)->shape() : nullptr;
      const Shape* b = node.input(i) ? node.input(i)->shape() : nullptr;
      bool same = a && b && a->rank() == b->rank();
      for (int64_t k = 0; same && k < a->rank(); ++k) same = ProvablyEqual((*a)[k], (*b)[k]);
      if (!same) {
        return CannotExpress("operands must be of one shape at opset ", draft.opset(),
                             "; opset 8 broadcasts them");
      }
    }
    return absl::OkStatus();
  }
};
Lens OfSameShapes() { return std::make_shared<SameShapes>(); }

// ONNX has no remainder of floats with the sign of the divisor. ONNX Runtime computes one of
// integers with the sign of the dividend in float64, which has 53 digits: 64 bits are written as a
// quotient.
class ExactRemainders : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* a = draft.node().input(0);
    if (!a) return absl::OkStatus();
    const bool fmod = draft.node().attrs().Int("fmod", 0) != 0;
    if (IsFloating(a->dtype()) && !fmod) {
      return CannotExpress("Mod of ", Name(a->dtype()), " needs fmod = 1");
    }
    if (fmod && IsInteger(a->dtype()) && BitWidth(a->dtype()) == 64) {
      return CannotExpress("Mod of ", Name(a->dtype()),
                           " with fmod = 1, which runtimes compute in float64");
    }
    return absl::OkStatus();
  }
};
Lens OfExactRemainders() { return std::make_shared<ExactRemainders>(); }

// Before opset 12 base and exponent were of one type.
class SameTypes : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value *base = draft.node().input(0), *exponent = draft.node().input(1);
    if (base && exponent && base->dtype() != exponent->dtype()) {
      return CannotExpress("Pow of ", Name(base->dtype()), " and ", Name(exponent->dtype()),
                           " exists from opset 12 on");
    }
    return absl::OkStatus();
  }
};
Lens OfSameTypes() { return std::make_shared<SameTypes>(); }

// ONNX Runtime computes powers of integers in float64, which has 53 digits and does not wrap.
// Products say the same, but for exponents that it computes as products itself.
class IntegerPowers : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value *base = draft.node().input(0), *exponent = draft.node().input(1);
    if (!base || !exponent || !IsInteger(base->dtype()) || !IsInteger(exponent->dtype())) {
      return absl::OkStatus();
    }
    const auto known = KnownInts(exponent);
    if (known && known->size() == 1 && ((*known)[0] == 0 || (*known)[0] == 2 || (*known)[0] == 3)) {
      return absl::OkStatus();
    }
    return CannotExpress("a power of integers, which runtimes round as a float64");
  }
};
Lens ExactIntegerPowers() { return std::make_shared<IntegerPowers>(); }

// Before opset 6, Cast named the element type as TensorProto.DataType does.
std::vector<std::pair<Attribute, Attribute>> TypesByName() {
  return {{"float32", "FLOAT"},   {"uint8", "UINT8"},         {"int8", "INT8"},
          {"uint16", "UINT16"},   {"int16", "INT16"},         {"int32", "INT32"},
          {"int64", "INT64"},     {"string", "STRING"},       {"bool", "BOOL"},
          {"float16", "FLOAT16"}, {"float64", "DOUBLE"},      {"uint32", "UINT32"},
          {"uint64", "UINT64"},   {"complex64", "COMPLEX64"}, {"complex128", "COMPLEX128"}};
}

// `saturate` means something of floats of 8 bits alone; ONNX Runtime refuses a 0 elsewhere.
class SaturateOfFloat8Lens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr("saturate");
    if (attr && Counts(draft)) draft.SetAttr("saturate", *std::move(attr));
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr("saturate");
    const int64_t* saturate = attr ? attr->get<int64_t>() : nullptr;
    if (saturate && *saturate != 1 && Counts(draft)) draft.SetAttr("saturate", *attr);
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {"saturate"}; }
  std::vector<std::string> ForeignAttrs() const override { return {"saturate"}; }

 private:
  // Whether the result may be of 8 bits, by its own type, or by what the node says of it (Cast's
  // `to`, CastLike's second operand) where types are not inferred yet.
  static bool Counts(const Draft& draft) {
    const Node& node = draft.node();
    DType type = node.output(0) ? node.output(0)->dtype() : DType::kUndefined;
    if (type == DType::kUndefined && node.num_inputs() > 1) type = node.input(1)->dtype();
    if (const Attribute* to = node.attrs().Find("to"); type == DType::kUndefined && to) {
      if (const int64_t* code = to->get<int64_t>(); code && *code > 0 && *code < kNumDTypes) {
        type = static_cast<DType>(*code);  // numbered as ONNX numbers them
      }
    }
    return type == DType::kUndefined || (IsFloating(type) && BitWidth(type) == 8);
  }
};
// ONNX Runtime puts casts of its own around nodes that it has no float16 kernel of, and then
// refuses the file where such a node's result is cast to float16.
class ChangesHalfLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value *x = draft.node().input(0), *y = draft.node().output(0);
    const bool same = x && y && x->dtype() == DType::kFloat16 && y->dtype() == DType::kFloat16;
    return same ? CannotExpress("a cast of float16 to float16") : absl::OkStatus();
  }
};
Lens ChangesHalf() { return std::make_shared<ChangesHalfLens>(); }

Lens SaturateOfFloat8() { return std::make_shared<SaturateOfFloat8Lens>(); }

}  // namespace

// --- One operand ----------------------------------------------------------------------------

X2IR_ONNX(abs).Is("Abs", Since(1), InPlaceHint());
X2IR_ONNX(acos).Is("Acos", Since(7));
X2IR_ONNX(acosh).Is("Acosh", Since(9));
X2IR_ONNX(asin).Is("Asin", Since(7));
X2IR_ONNX(asinh).Is("Asinh", Since(9));
X2IR_ONNX(atan).Is("Atan", Since(7), NotOf(DType::kFloat64));
X2IR_ONNX(atanh).Is("Atanh", Since(9));
X2IR_ONNX(bitwise_not).Is("BitwiseNot", Since(18));
X2IR_ONNX(ceil).Is("Ceil", Since(1), InPlaceHint());
X2IR_ONNX(cos).Is("Cos", Since(7));
X2IR_ONNX(cosh).Is("Cosh", Since(9));
X2IR_ONNX(erf).Is("Erf", Since(9));
X2IR_ONNX(exp).Is("Exp", Since(1), InPlaceHint());
X2IR_ONNX(floor).Is("Floor", Since(1), InPlaceHint());
X2IR_ONNX(identity).Is("Identity", Since(1));
X2IR_ONNX(is_inf).Is("IsInf", Since(10));
X2IR_ONNX(is_nan).Is("IsNaN", Since(9));
X2IR_ONNX(log).Is("Log", Since(1), InPlaceHint());
X2IR_ONNX(neg).Is("Neg", Since(1), InPlaceHint());
X2IR_ONNX(not ).Is("Not", Since(1));
X2IR_ONNX(reciprocal).Is("Reciprocal", Since(1), InPlaceHint());
X2IR_ONNX(round).Is("Round", Since(11));
X2IR_ONNX(sign).Is("Sign", Since(9));
X2IR_ONNX(sin).Is("Sin", Since(7));
X2IR_ONNX(sinh).Is("Sinh", Since(9));
X2IR_ONNX(sqrt).Is("Sqrt", Since(1), InPlaceHint());
X2IR_ONNX(tan).Is("Tan", Since(7));
X2IR_ONNX(tanh).Is("Tanh", Since(1), InPlaceHint());

// --- Element types --------------------------------------------------------------------------

X2IR_ONNX(bit_cast).Is("BitCast", Since(26), DTypeAttr("to"));
X2IR_ONNX(cast)
    .Is("Cast", In(1, 5), EnumMap("to", "to", TypesByName()), ImportOnly())
    .Is("Cast", Since(6), DTypeAttr("to"), SaturateOfFloat8(), ChangesHalf());
X2IR_ONNX(cast_like).Is("CastLike", Since(15), SaturateOfFloat8(), ChangesHalf());

// --- Two and more ---------------------------------------------------------------------------

X2IR_ONNX(add)
    .Is("Add", In(1, 6), AxisBroadcast(), InPlaceHint(), ImportOnly())
    .Is("Add", Since(7));
X2IR_ONNX(sub)
    .Is("Sub", In(1, 6), AxisBroadcast(), InPlaceHint(), ImportOnly())
    .Is("Sub", Since(7));
X2IR_ONNX(mul)
    .Is("Mul", In(1, 6), AxisBroadcast(), InPlaceHint(), ImportOnly())
    .Is("Mul", Since(7));
X2IR_ONNX(div)
    .Is("Div", In(1, 6), AxisBroadcast(), InPlaceHint(), ImportOnly())
    .Is("Div", Since(7));
X2IR_ONNX(mod).Is("Mod", Since(10), OfExactRemainders());
X2IR_ONNX(pow)
    .Is("Pow", In(1, 6), AxisBroadcast(), ImportOnly())
    .Is("Pow", In(7, 11), OfSameTypes())
    .Is("Pow", Since(12), ExactIntegerPowers());
X2IR_ONNX(max).Is("Max", In(1, 7), OfSameShapes(), InPlaceHint()).Is("Max", Since(8));
X2IR_ONNX(min).Is("Min", In(1, 7), OfSameShapes(), InPlaceHint()).Is("Min", Since(8));
X2IR_ONNX(mean)
    .Is("Mean", In(1, 7), OfSameShapes(), InPlaceHint(), NotOf(DType::kFloat64))
    .Is("Mean", Since(8), NotOf(DType::kFloat64));
X2IR_ONNX(sum).Is("Sum", In(1, 7), OfSameShapes(), InPlaceHint()).Is("Sum", Since(8));
X2IR_ONNX(bit_shift).Is("BitShift", Since(11));
X2IR_ONNX(bitwise_and).Is("BitwiseAnd", Since(18));
X2IR_ONNX(bitwise_or).Is("BitwiseOr", Since(18));
X2IR_ONNX(bitwise_xor).Is("BitwiseXor", Since(18));

}  // namespace x2ir
