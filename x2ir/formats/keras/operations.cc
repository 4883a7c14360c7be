#include <algorithm>
#include <iterator>

#include "x2ir/formats/keras/operations_internal.h"

namespace x2ir::keras {
namespace {

// In the order of their names.
constexpr Operation kOperations[] = {
    {"Absolute", "numpy", ""},
    {"Add", "numpy", ""},
    {"All", "numpy", "axis keepdims"},
    {"Any", "numpy", "axis keepdims"},
    {"Arccos", "numpy", ""},
    {"Arccosh", "numpy", ""},
    {"Arcsin", "numpy", ""},
    {"Arcsinh", "numpy", ""},
    {"Arctan", "numpy", ""},
    {"Arctanh", "numpy", ""},
    {"Argmax", "numpy", "axis keepdims"},
    {"Argmin", "numpy", "axis keepdims"},
    {"BroadcastTo", "numpy", "shape"},
    {"Cast", "core", "dtype"},
    {"Ceil", "numpy", ""},
    {"Clip", "numpy", "x_min x_max"},
    {"Concatenate", "numpy", "axis"},
    {"Cos", "numpy", ""},
    {"Cosh", "numpy", ""},
    {"Cumsum", "numpy", "axis dtype"},
    {"Divide", "numpy", ""},
    {"Einsum", "numpy", "subscripts"},
    {"Elu", "nn", "alpha"},
    {"Equal", "numpy", ""},
    {"Erf", "math", ""},
    {"Exp", "numpy", ""},
    {"ExpandDims", "numpy", "axis"},
    {"Flip", "numpy", "axis"},
    {"Floor", "numpy", ""},
    {"FloorDivide", "numpy", ""},
    {"Gelu", "nn", "approximate"},
    {"GetItem", "numpy", ""},
    {"Greater", "numpy", ""},
    {"GreaterEqual", "numpy", ""},
    {"HardSigmoid", "nn", ""},
    {"HardSilu", "nn", ""},
    {"Isinf", "numpy", ""},
    {"Isnan", "numpy", ""},
    {"LeakyRelu", "nn", "negative_slope"},
    {"Less", "numpy", ""},
    {"LessEqual", "numpy", ""},
    {"Log", "numpy", ""},
    {"LogSoftmax", "nn", "axis"},
    {"LogicalAnd", "numpy", ""},
    {"LogicalNot", "numpy", ""},
    {"LogicalOr", "numpy", ""},
    {"LogicalXor", "numpy", ""},
    {"Matmul", "numpy", ""},
    {"Max", "numpy", "axis keepdims initial"},
    {"Maximum", "numpy", ""},
    {"Mean", "numpy", "axis keepdims"},
    {"Min", "numpy", "axis keepdims initial"},
    {"Minimum", "numpy", ""},
    {"Mod", "numpy", ""},
    {"Multiply", "numpy", ""},
    {"Negative", "numpy", ""},
    {"NotEqual", "numpy", ""},
    {"OneHot", "nn", "num_classes axis dtype sparse"},
    {"Pad", "numpy", "pad_width mode"},
    {"Power", "numpy", ""},
    {"Prod", "numpy", "axis keepdims dtype"},
    {"Reciprocal", "numpy", ""},
    {"Relu", "nn", ""},
    {"Relu6", "nn", ""},
    {"Reshape", "numpy", "newshape"},
    {"Round", "numpy", "decimals"},
    {"Rsqrt", "math", ""},
    {"ScatterUpdate", "core", ""},
    {"Selu", "nn", ""},
    {"Sigmoid", "nn", ""},
    {"Sign", "numpy", ""},
    {"Silu", "nn", ""},
    {"Sin", "numpy", ""},
    {"Sinh", "numpy", ""},
    {"Softmax", "nn", "axis"},
    {"Softplus", "nn", ""},
    {"Softsign", "nn", ""},
    {"Split", "numpy", "indices_or_sections axis"},
    {"Sqrt", "numpy", ""},
    {"Square", "numpy", ""},
    {"Squeeze", "numpy", "axis"},
    {"Stack", "numpy", "axis"},
    {"Subtract", "numpy", ""},
    {"Sum", "numpy", "axis keepdims"},
    {"Take", "numpy", "axis"},
    {"TakeAlongAxis", "numpy", "axis"},
    {"Tan", "numpy", ""},
    {"Tanh", "numpy", ""},
    {"Tile", "numpy", "repeats"},
    {"TopK", "math", "k sorted"},
    {"Transpose", "numpy", "axes"},
    {"Tril", "numpy", "k"},
    {"Triu", "numpy", "k"},
    {"Where", "numpy", ""},
};

}  // namespace

bool Operation::Constructs(std::string_view argument) const {
  std::string_view rest = constructor;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word == argument) return true;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return false;
}

const Operation* FindOperation(std::string_view name) {
  if (name.starts_with("ops.")) name.remove_prefix(4);
  const auto* found = std::ranges::lower_bound(kOperations, name, {}, &Operation::name);
  return found != std::end(kOperations) && found->name == name ? found : nullptr;
}

}  // namespace x2ir::keras
