#include "x2ir/handlers/tf/fused.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/shapes.h"

namespace x2ir {
namespace {

constexpr NamedActivation kActivations[] = {
    {"Relu", "relu"},
    {"Relu6", "", [](const Expr& x) { return Min(Max(x, 0), 6); }},
    {"Elu", "elu"},
    {"Tanh", "tanh"},
    {"Sigmoid", "sigmoid"},
    {"GeluExact", "gelu"},
    {"GeluApproximate", "", activation::GeluTanh},
};

}  // namespace

absl::StatusOr<Value*> FusedOps(TfArgs& a, Value* y, TfLayout layout) {
  const float epsilon = a.Float("epsilon", 1e-4f), slope = a.Float("leakyrelu_alpha", 0.2f);
  for (const char* name :
       {"TArgs", "num_args", "num_host_args", "filter_format", "use_cudnn_on_gpu"}) {
    a.Ignore(name);
  }
  size_t next = 2;
  for (const std::string& name : a.StringList("fused_ops")) {
    if (const std::optional<Expr> activated = Activated("", kActivations, name, {a, y})) {
      y = *activated;
    } else if (name == "LeakyRelu") {
      y = activation::LeakyRelu({a, y}, slope);
    } else if (name == "BiasAdd") {
      Value* bias = a.in(next++);
      std::vector<int64_t> behind;
      for (int64_t i = 2; !layout.channels_last && i < Expr(a, y).rank(); ++i)
        behind.push_back(i - 1);
      y = a.Op("add", {y, Unsqueeze({a, bias}, behind)});
    } else if (name == "Prelu") {  // TensorFlow.js's
      y = a.Op("prelu", {y, a.in(next++)});
    } else if (name == "Add") {
      y = a.Op("add", {y, a.in(next++)});
    } else if (name == "FusedBatchNorm") {
      y = a.Op("batch_normalization",
               {y, a.in(next), a.in(next + 1), a.in(next + 2), a.in(next + 3)},
               {{"layout", layout.name()}, {"epsilon", epsilon}});
      next += 4;
    } else {
      return Unimplemented("the fused op ", name);
    }
  }
  if (next != a.num_inputs()) {
    return Invalid(a.num_inputs(), " operands, of which fused ops use ", next);
  }
  return y;
}

}  // namespace x2ir
