// TFLite: operators of TensorFlow itself ("Flex"), whose options hold a node of TensorFlow.
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Values Flex(TfliteArgs& a) {
  const std::string op = a.String("op", "");
  AttributeMap attrs;
  for (const auto& [name, value] : a.attrs()) {
    a.Ignore(name);
    if (name != Symbol("op")) attrs.Set(name, value);
  }
  return AsTf(a, op, a.inputs(), std::move(attrs));
}

}  // namespace

X2IR_TFLITE(identity).From("FLEX", Flex);

}  // namespace x2ir
