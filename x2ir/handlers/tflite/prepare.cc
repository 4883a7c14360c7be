// Fused activations as nodes, and the order of what is done to a model.
#include "x2ir/handlers/tflite/prepare.h"

#include <algorithm>
#include <iterator>

#include "x2ir/builder/complex_ports.h"
#include "x2ir/builder/node_marks.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tflite/recall.h"
#include "x2ir/handlers/tflite/weights.h"

namespace x2ir {
namespace {

const Symbol kActivation("fused_activation_function");

// Those whose activation is inside of the operator, and those whose kernels have none though the
// options do.
bool KeepsActivation(std::string_view op) {
  return op.ends_with("LSTM") || op.ends_with("RNN") || op == "SVDF" || op == "L2_NORMALIZATION";
}

// The operator of an activation: its name, but for the sign.
absl::Status SplitActivation(Graph& graph, Node* node, std::vector<std::string>& warnings) {
  const Attribute* attr = node->attrs().Find(kActivation);
  const auto* name = attr ? attr->get<std::string>() : nullptr;
  if (!attr || KeepsActivation(node->op().view()) || !tflite::OptionsOf(node->op().view())) {
    return absl::OkStatus();
  }
  if (!name) return Invalid("an activation that is not known");
  if (*name == "NONE") return absl::OkStatus();
  if (*name == "TANH" || *name == "SIGN_BIT") {
    // Kernels know activations as bounds, and these two have none. Products of floats with integers
    // are the only ones that compute them.
    const Annotations* notes = node->annotations().get();
    const bool product = node->op().view() == "FULLY_CONNECTED";
    const bool computes = product && notes && notes->extra.contains(kHybrid) && *name == "TANH";
    if (product && !computes) return Unimplemented("no kernel has activation ", *name);
    if (!computes) {
      warnings.push_back(StrCat(node->op().view(), ": kernels leave activation ", *name,
                                " out, and so does what was read"));
      node->SetAttr(kActivation, "NONE");
      return absl::OkStatus();
    }
  }
  if (node->num_outputs() != 1 || !node->output(0)) {
    return Invalid("an operator with an activation has one result");
  }
  Node* act = graph.InsertNode(node->next(), tflite::kDialect, *name, {});
  node->SetAttr(kActivation, "NONE");
  Value* result = node->output(0);
  Value* fresh = graph.AddNodeOutput(act, "");
  graph.AdoptOutput(fresh, result);
  act->AddInput(graph.FillOutput(node, 0, graph.UniqueName(result->name() + "_linear"),
                                 Type::Tensor(result->dtype())));
  return absl::OkStatus();
}

absl::Status SplitActivations(Graph& graph, std::vector<std::string>& warnings) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) X2IR_RETURN_IF_ERROR(SplitActivations(*inner, warnings));
    X2IR_RETURN_IF_ERROR(Annotate(SplitActivation(graph, node, warnings), node->op().view()));
  }
  return absl::OkStatus();
}

bool HasHalfWeights(Graph& graph) {
  for (Node* node : graph.nodes()) {
    const Value* x = node->op().view() == "DEQUANTIZE" ? node->input(0) : nullptr;
    if (x && x->fixed_constant() && x->dtype() == DType::kFloat16) return true;
    for (Graph* inner : node->subgraphs()) {
      if (HasHalfWeights(*inner)) return true;
    }
  }
  return false;
}

// Operators whose indices never count from the end.
constexpr std::string_view kFromTheFront[] = {"EMBEDDING_LOOKUP", "GATHER", "GATHER_ND",
                                              "SCATTER_ND"};

}  // namespace

absl::Status PrepareTflite(Model& model, std::vector<std::string>& warnings) {
  X2IR_RETURN_IF_ERROR(ResolveResources(*model.graph, warnings));
  MarkNodes(*model.graph, tflite::kDialect, kFromTheFront, NodeMark::kFromTheFront);
  if (HasHalfWeights(*model.graph)) {
    model.graph->annotations().GetOrMake().extra[kHalfWeights] = "1";
  }
  bool floats = false;
  if (Annotations* own = model.annotations.get() ? &model.annotations.GetOrMake() : nullptr) {
    floats = own->extra.erase("tflite.dequantize") != 0;
  }
  if (!floats) RememberOperators(*model.graph);
  X2IR_RETURN_IF_ERROR(MakeQuantizedUnits(*model.graph, floats));
  X2IR_RETURN_IF_ERROR(SplitActivations(*model.graph, warnings));
  return ComplexPortsAsPairs(*model.graph, warnings);
}

}  // namespace x2ir
