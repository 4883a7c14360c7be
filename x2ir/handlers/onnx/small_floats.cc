// See small_floats.h.
#include "x2ir/handlers/onnx/small_floats.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/onnx/kernels.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// Of ONNX's enum of types, as DType.
constexpr int64_t kFloat = static_cast<int64_t>(DType::kFloat32);

bool IsTensorOf(const Value* value, DType dtype) {
  return value && value->type().kind() == Type::kTensor && value->dtype() == dtype;
}

// Float32 holds their numbers, and ONNX casts to and from it.
bool IsSmallFloat(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ: return true;
    default: return false;
  }
}
bool IsSmallFloat(const Value* value) {
  return value && value->type().kind() == Type::kTensor && IsSmallFloat(value->dtype());
}

// Attributes that name the type of a result.
constexpr std::array<std::string_view, 3> kResultTypes = {"dtype", "output_dtype",
                                                          "output_datatype"};

bool HasNoKernel(const Node& node, int opset) {
  const std::string_view op = node.op().view();
  if (node.dialect() != "onnx" || op.find("::") != op.npos || node.has_subgraphs()) return false;
  for (const std::string_view attr : kResultTypes) {
    if (node.attrs().Has(attr)) return false;
  }
  // Kernels that only move such numbers, and refuse to combine them when they run.
  const bool scatters = op == "ScatterND" || op == "ScatterElements";
  const bool combines = scatters && node.attrs().String("reduction", "none") != "none";
  bool lacks = false;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* x = node.input(i);
    if (x && x->type().kind() != Type::kTensor) return false;  // a sequence keeps its type
    if (!IsSmallFloat(x)) continue;
    lacks = lacks || combines || LacksOnnxRuntimeKernel(node.op(), opset, i, x->dtype());
  }
  return lacks && std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* y) {
           return !y || y->type().kind() == Type::kTensor;
         });
}

// Whether the op gives numbers of its operands, their negatives or whole numbers next to them: none
// is rounded to a small float.
bool IsExact(const Node& node) {
  constexpr std::array<std::string_view, 18> kExact = {
      "Abs",       "Ceil", "Clip",    "DepthToSpace", "Expand", "Flatten",
      "Floor",     "Max",  "Min",     "Neg",          "Pad",    "ReduceMax",
      "ReduceMin", "Relu", "Reshape", "SpaceToDepth", "Tile",   "Where"};
  return std::find(kExact.begin(), kExact.end(), node.op().view()) != kExact.end();
}

// The nodes of one graph, in order. A value is cast once, where it is first used.
class SmallFloats {
 public:
  SmallFloats(Graph& graph, int opset) : graph_(graph), opset_(opset) {}

  void Run() {
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) SmallFloats(*inner, opset_).Run();
      if (HasNoKernel(*node, opset_)) ComputeInFloat32(*node);
    }
    for (auto cast = narrow_.rbegin(); cast != narrow_.rend(); ++cast) {
      if ((*cast)->output(0)->is_unused()) EraseWithConstants(*cast);
    }
  }

 private:
  Node* CastBefore(Node& node, Value* x, DType to) {
    Node* cast = graph_.InsertNode(&node, "onnx", "Cast", {x});
    cast->set_name(graph_.UniqueName(StrCat(x->name(), "_as_", Name(to))));
    cast->SetAttr("to", static_cast<int64_t>(to));
    // Saturation would make infinities finite.
    if (BitWidth(to) == 8) cast->SetAttr("saturate", int64_t{0});
    return cast;
  }

  Value* Wide(Node& node, Value* x) {
    Value*& wide = wide_[x];
    if (wide) return wide;
    Node* cast = CastBefore(node, x, DType::kFloat32);
    Type type = x->type();
    type.set_dtype(DType::kFloat32);
    wide = graph_.AddNodeOutput(cast, cast->name(), std::move(type));
    return wide;
  }

  void ComputeInFloat32(Node& node) {
    std::vector<Value*> operands = node.inputs();
    for (Value*& x : operands) {
      if (IsSmallFloat(x)) x = Wide(node, x);
    }
    Node* wide = graph_.InsertNode(&node, "onnx", node.op(), std::move(operands));
    wide->set_name(node.name());
    for (const auto& [name, value] : node.attrs()) wide->SetAttr(name, value);
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      Value* output = node.output(i);
      if (!output) {
        graph_.AddMissingOutput(wide);
        continue;
      }
      Type type = output->type();
      Node* maker = wide;
      if (IsSmallFloat(output)) {
        Type wider = type;
        wider.set_dtype(DType::kFloat32);
        Value* y = graph_.AddNodeOutput(wide, graph_.UniqueName(StrCat(output->name(), "_wide")),
                                        std::move(wider));
        maker = CastBefore(node, y, type.dtype());
        narrow_.push_back(maker);
        if (IsExact(*wide)) wide_[output] = y;
      }
      graph_.AdoptOutput(graph_.AddNodeOutput(maker, "", type), output);
      output->set_type(std::move(type));
    }
    EraseWithConstants(&node);
  }

  Graph& graph_;
  const int opset_;
  absl::flat_hash_map<const Value*, Value*> wide_;  // the same numbers in float32
  std::vector<Node*> narrow_;
};

// Weights of bfloat16, and of all floats, by their elements.
void CountWeights(const Graph& graph, int64_t& of_bfloat16, int64_t& all) {
  for (const Value* constant : graph.constants()) {
    if (!IsFloating(constant->dtype())) continue;
    const int64_t n = constant->constant()->num_elements();
    all += n;
    if (IsTensorOf(constant, DType::kBFloat16)) of_bfloat16 += n;
  }
  for (const Graph* inner : graph.NestedGraphs()) CountWeights(*inner, of_bfloat16, all);
}

}  // namespace

void ComputeSmallFloatsInFloat32(Graph& graph, int opset) { SmallFloats(graph, opset).Run(); }

bool IsOfBFloat16(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    if (IsTensorOf(input, DType::kBFloat16)) return true;
  }
  for (const Value* output : graph.outputs()) {
    if (IsTensorOf(output, DType::kBFloat16)) return true;
  }
  constexpr int64_t kLittle = 16;  // one in so many
  int64_t of_bfloat16 = 0, all = 0;
  CountWeights(graph, of_bfloat16, all);
  return of_bfloat16 * kLittle > all;
}

}  // namespace x2ir
