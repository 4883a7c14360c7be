// See bfloat16_islands.h.
#include "x2ir/handlers/onnx/bfloat16_islands.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// Of ONNX's enum of types.
constexpr int64_t kFloat = 1, kBFloat16 = 16;

bool IsBFloat16(const Value* value) {
  return value && value->type().kind() == Type::kTensor && value->dtype() == DType::kBFloat16;
}

// What ONNX Runtime 1.23 does to bfloat16 on CPUs.
constexpr std::array<std::string_view, 20> kHasKernel = {
    "Cast",    "CastLike",        "Concat",   "Constant",  "ConstantOfShape",
    "Flatten", "Gather",          "GatherND", "Identity",  "GatherElements",
    "Reshape", "ScatterElements", "Shape",    "ScatterND", "Size",
    "Slice",   "Split",           "Squeeze",  "Transpose", "Unsqueeze"};
// Attributes that name the type of a result.
constexpr std::array<std::string_view, 3> kTypes = {"dtype", "output_dtype", "output_datatype"};

bool ComputesInBFloat16(const Node& node) {
  const std::string_view op = node.op().view();
  if (node.dialect() != "onnx" || op.find("::") != op.npos || node.has_subgraphs()) return false;
  if (std::find(kHasKernel.begin(), kHasKernel.end(), op) != kHasKernel.end()) return false;
  for (const std::string_view attr : kTypes) {
    if (node.attrs().Has(attr)) return false;
  }
  bool any = false;
  for (size_t i = 0; i < node.num_inputs() + node.num_outputs(); ++i) {
    const Value* x = i < node.num_inputs() ? node.input(i) : node.output(i - node.num_inputs());
    if (x && x->type().kind() != Type::kTensor) return false;  // a sequence keeps its type
    any = any || IsBFloat16(x);
  }
  return any;
}

// Weights of bfloat16, and of all floats, by their elements.
void CountWeights(const Graph& graph, int64_t& of_bfloat16, int64_t& all) {
  for (const Value* constant : graph.constants()) {
    if (!IsFloating(constant->dtype())) continue;
    const int64_t n = constant->constant()->num_elements();
    all += n;
    if (IsBFloat16(constant)) of_bfloat16 += n;
  }
  for (const Graph* inner : graph.NestedGraphs()) CountWeights(*inner, of_bfloat16, all);
}

bool IsOfBFloat16(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    if (IsBFloat16(input)) return true;
  }
  for (const Value* output : graph.outputs()) {
    if (IsBFloat16(output)) return true;
  }
  constexpr int64_t kLittle = 16;  // one in so many
  int64_t of_bfloat16 = 0, all = 0;
  CountWeights(graph, of_bfloat16, all);
  return of_bfloat16 * kLittle > all;
}

// A Cast of `x` before that node.
Node* CastBefore(Node& node, Value* x, int64_t to) {
  Graph& graph = *node.graph();
  Node* cast = graph.InsertNode(&node, "onnx", "Cast", {x});
  cast->set_name(
      graph.UniqueName(StrCat(x->name(), to == kFloat ? "_as_float32" : "_as_bfloat16")));
  cast->SetAttr("to", to);
  return cast;
}

void ComputeInFloat32(Node& node) {
  Graph& graph = *node.graph();
  std::vector<Value*> operands = node.inputs();
  for (Value*& x : operands) {
    if (!IsBFloat16(x)) continue;
    Node* cast = CastBefore(node, x, kFloat);
    Type type = x->type();
    type.set_dtype(DType::kFloat32);
    x = graph.AddNodeOutput(cast, cast->name(), std::move(type));
  }
  Node* wide = graph.InsertNode(&node, "onnx", node.op(), std::move(operands));
  wide->set_name(node.name());
  for (const auto& [name, value] : node.attrs()) wide->SetAttr(name, value);
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    Value* output = node.output(i);
    if (!output) {
      graph.AddMissingOutput(wide);
      continue;
    }
    Type type = output->type();
    Node* maker = wide;
    if (IsBFloat16(output)) {
      Type wider = type;
      wider.set_dtype(DType::kFloat32);
      Value* y = graph.AddNodeOutput(wide, graph.UniqueName(StrCat(output->name(), "_wide")),
                                     std::move(wider));
      maker = CastBefore(node, y, kBFloat16);
    }
    graph.AdoptOutput(graph.AddNodeOutput(maker, "", type), output);
    output->set_type(std::move(type));
  }
  EraseWithConstants(&node);
}

void Widen(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) Widen(*inner);
    if (ComputesInBFloat16(*node)) ComputeInFloat32(*node);
  }
}

}  // namespace

void ComputeIslandsInFloat32(Graph& graph) {
  if (!IsOfBFloat16(graph)) Widen(graph);
}

}  // namespace x2ir
