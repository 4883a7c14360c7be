// See contrib_fusions.h. The definitions are those of ONNX Runtime's docs/ContribOperators.md.
#include "x2ir/handlers/onnx/contrib_fusions.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

constexpr std::string_view kContribDomain = "com.microsoft";

bool IsNode(const Node* node, std::string_view op) {
  return node && node->dialect() == "onnx" && node->op() == op;
}

// The node that makes the value, if it is that op, of this graph.
Node* MadeBy(const Value* value, std::string_view op, const Graph& graph) {
  Node* node = value ? value->producer() : nullptr;
  return IsNode(node, op) && node->graph() == &graph ? node : nullptr;
}
bool IsUsedOnce(const Value& value) { return value.uses().size() == 1 && !value.is_graph_output(); }

bool HaveOneShape(const Value* a, const Value* b) {
  const Shape *x = a ? a->shape() : nullptr, *y = b ? b->shape() : nullptr;
  if (!x || !y || x->rank() != y->rank() || a->dtype() != b->dtype()) return false;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (!ProvablyEqual((*x)[i], (*y)[i])) return false;
  }
  return true;
}

// A constant with a number for each element of the last axis of `x`.
bool IsChannelVector(const Value* v, const Value& x) {
  const Tensor* tensor = v ? v->fixed_constant() : nullptr;
  const Shape* shape = x.shape();
  return tensor && !tensor->is_sparse() && tensor->rank() == 1 && shape && shape->rank() > 0 &&
         tensor->dtype() == x.dtype() && shape->dims().back() == Dim(tensor->dim(0));
}

bool HasKernels(const Value& x) {
  return x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat16;
}

// x + bias, the bias along the last axis.
struct Biased {
  Node* add;
  Value *x, *bias;
};
std::optional<Biased> AsBiased(const Value* sum, const Graph& graph) {
  Node* add = MadeBy(sum, "Add", graph);
  if (!add || !IsUsedOnce(*sum)) return std::nullopt;
  for (size_t i : {0, 1}) {
    Value *x = add->input(1 - i), *bias = add->input(i);
    if (IsChannelVector(bias, *sum) && HaveOneShape(x, sum)) return Biased{add, x, bias};
  }
  return std::nullopt;
}

std::optional<float> ScalarOf(const Value* v) {
  const Tensor* tensor = v ? v->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || tensor->num_elements() != 1) return std::nullopt;
  return static_cast<float>(tensor->AsDouble(0));
}

class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph) {}

  // Whether any op of the domain was made.
  bool Run() {
    bool any = false;
    for (Node* node : graph_.nodes()) {
      for (Graph* inner : node->subgraphs()) any = Fusion(*inner).Run() || any;
      if (node->is_erased() || node->dialect() != "onnx") continue;
      any = FuseNorm(*node) || FuseGelu(*node) || FuseSwish(*node) || any;
    }
    return any;
  }

 private:
  // A node in the place of `before`, whose first output is what `result` was.
  Node* Make(Node* before, std::string_view op, std::vector<Value*> operands, Value* result) {
    while (!operands.empty() && !operands.back()) operands.pop_back();
    Node* node =
        graph_.InsertNode(before, "onnx", StrCat(kContribDomain, "::", op), std::move(operands));
    node->set_name(result->producer()->name());
    Take(node, result);
    return node;
  }
  // The next output of the node is that value from now on.
  void Take(Node* node, Value* value) {
    const Type type = value->type();
    graph_.AdoptOutput(graph_.AddNodeOutput(node, "", type), value);
    value->set_type(type);
  }
  void Drop(Node* node) {
    for (const Value* output : node->outputs()) {
      if (output && !output->is_unused()) return;
    }
    EraseWithConstants(node);
  }

  bool FuseNorm(Node& norm) {
    const bool rms = norm.op() == "RMSNormalization";
    if (!rms && norm.op() != "LayerNormalization") return false;
    Value* x = norm.input(0);
    const int64_t rank = x && x->shape() ? x->shape()->rank() : -1;
    const int64_t axis = norm.attrs().Int("axis", -1);
    if (rank < 1 || (axis != -1 && axis != rank - 1) || !HasKernels(*x)) return false;
    if (norm.attrs().Int("stash_type", 1) != 1) return false;
    for (size_t i = 1; i < norm.num_outputs(); ++i) {
      if (norm.output(i) && !norm.output(i)->is_unused()) return false;
    }
    Value *scale = norm.input(1), *shift = norm.input(2);
    if (!IsChannelVector(scale, *x) || (shift && !IsChannelVector(shift, *x))) return false;
    const auto epsilon = static_cast<float>(norm.attrs().Float("epsilon", 1e-5));
    if (FuseSkip(norm, x, scale, shift, rms, epsilon)) return true;
    // An op that ONNX Runtime has in ONNX's own domain.
    if (rms) norm.set_op("onnx", "SimplifiedLayerNormalization");
    return false;
  }

  bool FuseSkip(Node& norm, Value* sum, Value* scale, Value* shift, bool rms, float epsilon) {
    Node* add = MadeBy(sum, "Add", graph_);
    const int64_t rank = sum->shape()->rank();
    if (!add || (rank != 2 && rank != 3)) return false;
    Value *x = add->input(0), *skip = add->input(1);
    if (!HaveOneShape(x, sum) || !HaveOneShape(skip, sum)) return false;
    // (x + bias) + skip, in the order in which the kernel adds.
    std::optional<Biased> biased;
    if (x != skip) {
      biased = AsBiased(x, graph_);
      if (!biased && (biased = AsBiased(skip, graph_))) std::swap(x, skip);
      if (biased) x = biased->x;
    }
    Value* bias = biased ? biased->bias : nullptr;
    const bool keeps_sum = sum->is_graph_output() || sum->uses().size() > 1;
    std::vector<Value*> operands = {x, skip, scale};
    if (!rms) operands.push_back(shift);
    operands.push_back(bias);
    Node* fused = Make(add, rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
                       std::move(operands), norm.output(0));
    fused->SetAttr("epsilon", epsilon);
    Drop(&norm);
    if (keeps_sum) {
      graph_.AddMissingOutput(fused);  // the mean, and the inverse of the deviation
      graph_.AddMissingOutput(fused);
      Take(fused, sum);
    }
    Drop(add);
    if (biased) Drop(biased->add);
    return true;
  }

  bool FuseGelu(Node& gelu) {
    if (gelu.op() != "Gelu" || !HasKernels(*gelu.output(0))) return false;
    const bool tanh = gelu.attrs().String("approximate", "none") == "tanh";
    const auto biased = AsBiased(gelu.input(0), graph_);
    if (!tanh && !biased) return false;
    Make(&gelu, tanh ? "FastGelu" : "BiasGelu",
         {biased ? biased->x : gelu.input(0), biased ? biased->bias : nullptr}, gelu.output(0));
    Drop(&gelu);
    if (biased) Drop(biased->add);
    return true;
  }

  bool FuseSwish(Node& node) {
    if (!node.output(0) || !HasKernels(*node.output(0))) return false;
    if (node.op() == "Swish") {
      const auto alpha = static_cast<float>(node.attrs().Float("alpha", 1));
      Make(&node, "QuickGelu", {node.input(0)}, node.output(0))->SetAttr("alpha", alpha);
      Drop(&node);
      return true;
    }
    if (node.op() != "Mul") return false;
    for (size_t i : {0, 1}) {
      Value* x = node.input(1 - i);
      Node* sigmoid = MadeBy(node.input(i), "Sigmoid", graph_);
      if (!sigmoid || !IsUsedOnce(*node.input(i)) || !HaveOneShape(x, node.output(0))) continue;
      Node* scaled = nullptr;
      float alpha = 1;
      if (sigmoid->input(0) != x) {
        scaled = MadeBy(sigmoid->input(0), "Mul", graph_);
        if (!scaled || !IsUsedOnce(*sigmoid->input(0))) continue;
        const size_t at = scaled->input(0) == x ? 1 : 0;
        const std::optional<float> number = ScalarOf(scaled->input(at));
        if (!number || scaled->input(1 - at) != x) continue;
        alpha = *number;
      }
      Make(&node, "QuickGelu", {x}, node.output(0))->SetAttr("alpha", alpha);
      Drop(&node);
      Drop(sigmoid);
      if (scaled) Drop(scaled);
      return true;
    }
    return false;
  }

  Graph& graph_;
};

}  // namespace

void UseContribOps(Model& model) {
  if (Fusion(*model.graph).Run() && model.Opset(kContribDomain) == 0) {
    model.SetOpset(kContribDomain, 1);
  }
}

}  // namespace x2ir
