// Keras: operators of TensorFlow as layers of tf.keras 2.0 to 2.3.
#include <map>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/handlers/keras/functions.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/handlers/tf/signatures.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// The element type of an operand, where the operator says it; else of what kind the numbers are.
DType TypeOfOperand(const TfSignature* signature, size_t i, const AttributeMap& attrs) {
  if (!signature) return DType::kUndefined;
  const std::vector<std::string_view> operands = SplitText(signature->operands, ' ');
  if (i >= operands.size()) return DType::kUndefined;
  if (const auto type = ParseDType(operands[i])) return *type;
  const Attribute* attr = attrs.Find(operands[i]);
  const auto* type = attr ? attr->get<Type>() : nullptr;
  return type ? type->dtype() : DType::kUndefined;
}

// Constant operands are inserted between the others, at their indices.
Values TensorFlowOp(KerasArgs& a) {
  const std::string op = a.Text(keras::kTfOp);
  const int64_t count = a.Integer(keras::kTfOperands, 0);
  AttributeMap attrs;
  for (const auto& [name, attr] : a.attrs()) {
    const std::string_view text = name.view();
    if (!text.starts_with(keras::kTfAttrPrefix)) continue;
    a.Ignore(name);
    attrs.Set(text.substr(std::string_view(keras::kTfAttrPrefix).size()), attr);
  }
  const Json constants = a.Nested(keras::kTfConstants);
  const TfSignature* signature = FindTfSignature(op);
  std::vector<Expr> tensors = a.tensors();
  const size_t all = tensors.size() + constants.members().size();
  if (count != static_cast<int64_t>(all)) {
    a.Fail(Invalid(op, " has ", all, " operands; expected ", count));
  }
  std::vector<Value*> operands;
  size_t next = 0;
  for (size_t i = 0; i < all; ++i) {
    const Json& constant = constants[StrCat(i)];
    if (!constant.is_null()) {
      operands.push_back(ConstantOf(a, constant, TypeOfOperand(signature, i, attrs)));
    } else if (next < tensors.size()) {
      operands.push_back(tensors[next++]);
    } else {
      a.Fail(Invalid("it has no operand ", i));
    }
  }
  return AsTf(a, op, std::move(operands), std::move(attrs));
}

}  // namespace

X2IR_KERAS(identity).From("TensorFlowOpLayer", TensorFlowOp);

}  // namespace x2ir
