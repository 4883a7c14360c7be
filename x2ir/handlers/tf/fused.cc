#include "x2ir/handlers/tf/fused.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "x2ir/builder/shapes.h"

namespace x2ir {
namespace {

struct Activation {
  std::string_view name;
  Value* (*make)(TfArgs& a, Value* x);
};
const Activation kActivations[] = {
    {"Relu", [](TfArgs& a, Value* x) -> Value* { return a.Op("relu", {x}); }},
    {"Relu6",
     [](TfArgs& a, Value* x) -> Value* {
       return a.Op("min", {a.Op("max", {x, Expr(a, x).Number(0)}), Expr(a, x).Number(6)});
     }},
    {"Elu",
     [](TfArgs& a, Value* x) -> Value* {
       return a.Op("elu", {x}, {{"alpha", 1.0f}});
     }},
    {"LeakyRelu",
     [](TfArgs& a, Value* x) -> Value* {
       return a.Op("leaky_relu", {x}, {{"alpha", a.Float("leakyrelu_alpha", 0.2f)}});
     }},
    {"Tanh", [](TfArgs& a, Value* x) -> Value* { return a.Op("tanh", {x}); }},
    {"Sigmoid", [](TfArgs& a, Value* x) -> Value* { return a.Op("sigmoid", {x}); }},
    {"GeluExact", [](TfArgs& a, Value* x) -> Value* { return a.Op("gelu", {x}); }},
    {"GeluApproximate",
     [](TfArgs& a, Value* x) -> Value* {
       return a.Op("gelu", {x}, {{"approximate", "tanh"}});
     }},
};

}  // namespace

absl::StatusOr<Value*> FusedOps(TfArgs& a, Value* y, TfLayout layout) {
  const float epsilon = a.Float("epsilon", 1e-4f);
  for (const char* name : {"TArgs", "num_args", "num_host_args", "filter_format", "leakyrelu_alpha",
                           "use_cudnn_on_gpu"}) {
    a.Ignore(name);
  }
  size_t next = 2;
  for (const std::string& name : a.StringList("fused_ops")) {
    const auto* activation = std::find_if(std::begin(kActivations), std::end(kActivations),
                                          [&](const Activation& row) { return row.name == name; });
    if (activation != std::end(kActivations)) {
      y = activation->make(a, y);
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
