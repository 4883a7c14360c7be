// Fused activations, biases and transposes: what LiteRT's operators do besides.
#include "x2ir/handlers/tflite/finish.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tflite/fold_quantized.h"
#include "x2ir/handlers/tflite/fuse.h"
#include "x2ir/handlers/tflite/kernels.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/handlers/tflite/weights.h"

namespace x2ir {
namespace {

const Symbol kFusedActivation("fused_activation_function");

bool IsLite(const Node* node, std::string_view op) {
  return node && node->dialect() == Symbol(tflite::kDialect) && node->op().view() == op;
}

// The node that makes the value, if the value has one use and is no output of the graph.
Node* OnlyMaker(const Value* v) {
  return v && v->producer() && v->uses().size() == 1 && !v->is_graph_output() ? v->producer()
                                                                              : nullptr;
}

// `node` is erased, and `before`, its producer, gets its result.
void TakeUp(Graph& graph, Node* before, Node* node) {
  Value* result = node->output(0);
  const Type type = result->type();
  for (size_t i = 0; i < node->num_inputs(); ++i) node->SetInput(i, nullptr);
  graph.RemoveUnusedOutput(before, 0);
  graph.AdoptOutput(graph.AddNodeOutput(before, ""), result);
  result->set_type(type);
  graph.EraseUnused(node);
}

bool HasFusedActivation(std::string_view op) {
  static constexpr std::string_view kOps[] = {
      "ADD", "AVERAGE_POOL_2D", "CONV_2D",     "CONV_3D", "DEPTHWISE_CONV_2D",
      "DIV", "FULLY_CONNECTED", "MAX_POOL_2D", "MUL",     "SUB"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

bool TakeActivation(Graph& graph, Node* node) {
  const std::string_view op = node->op().view();
  if (op != "RELU" && op != "RELU6" && op != "RELU_N1_TO_1") return false;
  Node* before = OnlyMaker(node->input(0));
  if (!before || before->dialect() != Symbol(tflite::kDialect) || before->graph() != &graph ||
      !HasFusedActivation(before->op().view()) ||
      before->attrs().String(kFusedActivation, "NONE") != "NONE") {
    return false;
  }
  before->SetAttr(kFusedActivation, std::string(op));
  TakeUp(graph, before, node);
  return true;
}

// A constant, or the integers that one is dequantized from.
const Tensor* NumbersBehind(const Value* v) {
  if (!v) return nullptr;
  return IsLite(v->producer(), "DEQUANTIZE") ? v->producer()->input(0)->fixed_constant()
                                             : v->fixed_constant();
}

// A vector of as many numbers as there are columns, along the last axis.
const Tensor* ColumnNumbers(const Value* v, int64_t columns) {
  const Tensor* t = NumbersBehind(v);
  if (!t || v->dtype() != DType::kFloat32 || t->num_elements() != columns || t->rank() == 0 ||
      t->dim(t->rank() - 1) != columns) {
    return nullptr;
  }
  return t;
}

bool IsZeros(const Value* v) {
  const Tensor* t = v ? v->fixed_constant() : nullptr;
  if (!t || t->is_sparse()) return false;
  const auto bytes = t->bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// What a constant adds to each column is the bias.
bool TakeBias(Graph& graph, Node* node) {
  if (node->op().view() != "ADD") return false;
  for (size_t i = 0; i < 2; ++i) {
    Node* before = OnlyMaker(node->input(i));
    if (!before || before->graph() != &graph) continue;
    const bool product = IsLite(before, "FULLY_CONNECTED"), conv = IsLite(before, "CONV_2D"),
               depthwise = IsLite(before, "DEPTHWISE_CONV_2D");
    if (!product && !conv && !depthwise) continue;
    if (before->attrs().String(kFusedActivation, "NONE") != "NONE") continue;
    if (before->input(2) && !IsZeros(before->input(2))) continue;
    const Tensor* weights = NumbersBehind(before->input(1));
    const Shape* out = before->output(0)->shape();
    if (!weights || !out) continue;
    const int64_t columns = weights->dim(depthwise ? 3 : 0);
    const Tensor* bias = ColumnNumbers(node->input(1 - i), columns);
    if (!bias || bias->rank() > out->rank()) continue;
    const bool integers = !node->input(1 - i)->fixed_constant();
    if (integers && bias->rank() != 1) continue;
    Value* added = bias->rank() == 1
                       ? node->input(1 - i)
                       : graph.AddConstant(graph.UniqueName(node->input(1 - i)->name()),
                                           bias->Reshaped({columns}));
    if (const Attribute* act = node->attrs().Find(kFusedActivation))
      before->SetAttr(kFusedActivation, *act);
    while (before->num_inputs() < 3) before->AddInput(nullptr);
    before->SetInput(2, added);
    TakeUp(graph, before, node);
    return true;
  }
  return false;
}

// Matrices that are transposed before a product.
bool TakeTransposes(Graph& graph, Node* node) {
  if (node->op().view() != "BATCH_MATMUL") return false;
  bool any = false;
  for (size_t i = 0; i < 2; ++i) {
    Node* before = node->input(i) ? node->input(i)->producer() : nullptr;
    if (!IsLite(before, "TRANSPOSE") || before->graph() != &graph) continue;
    const Tensor* perm = before->input(1) ? before->input(1)->fixed_constant() : nullptr;
    if (!perm || perm->num_elements() < 2) continue;
    const int64_t n = perm->num_elements();
    bool swaps = perm->AsInt(n - 1) == n - 2 && perm->AsInt(n - 2) == n - 1;
    for (int64_t k = 0; k + 2 < n; ++k) swaps &= perm->AsInt(k) == k;
    if (!swaps) continue;
    const Symbol attr(i == 0 ? "adj_x" : "adj_y");
    node->SetAttr(attr, node->attrs().Int(attr, 0) == 0 ? 1 : 0);
    Value* turned = node->input(i);
    node->SetInput(i, before->input(0));
    if (turned->is_unused()) graph.EraseUnused(before);
    any = true;
  }
  return any;
}

// LiteRT (XNNPACK) gives another product of what TRANSPOSE made with itself: each operand gets a
// TRANSPOSE of its own.
void PartOperands(Graph& graph, Node* node) {
  const Value* x = node->input(0);
  const Node* maker = x ? x->producer() : nullptr;
  if (!IsLite(node, "BATCH_MATMUL") || node->input(1) != x || !IsLite(maker, "TRANSPOSE")) return;
  Node* again = graph.InsertNode(node, tflite::kDialect, "TRANSPOSE", maker->inputs());
  node->SetInput(1, graph.AddNodeOutput(again, graph.UniqueName(x->name()), x->type()));
}

void Finish(Graph& graph) {
  absl::flat_hash_set<const Node*> reshapes;
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) Finish(*inner);
    if (node->dialect() != Symbol(tflite::kDialect)) continue;
    if (FuseLite(graph, node)) continue;
    if (ShareReshape(graph, node, reshapes)) continue;
    if (IsLite(node, "RESHAPE")) reshapes.insert(node);
    TakeTransposes(graph, node);
    if (!TakeBias(graph, node)) TakeActivation(graph, node);
  }
  // One that was several operators has only just been made.
  for (Node* node : graph.nodes()) {
    PartOperands(graph, node);
    if (IsLite(node, "RELU_N1_TO_1")) TakeActivation(graph, node);
  }
}

// The shape of a scalar is an option: LiteRT takes an operand without bytes for a computed one,
// and gives a result that is not used.
void ReshapeToScalars(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) ReshapeToScalars(*inner);
    const Shape* shape = IsLite(node, "RESHAPE") ? node->output(0)->shape() : nullptr;
    if (!shape || shape->rank() != 0) continue;
    node->SetInputs({node->input(0)});
    node->SetAttr("new_shape", Attribute::Ints());
  }
}

// What hangs on constants and on the shapes of tensors alone.
absl::flat_hash_set<const Value*> MadeBeforeTheRun(const Graph& graph) {
  absl::flat_hash_set<const Value*> made;
  for (const Node* node : graph.nodes()) {
    const std::vector<Value*> inputs = node->inputs();
    const bool all = std::all_of(inputs.begin(), inputs.end(), [&](const Value* v) {
      return !v || v->fixed_constant() || made.contains(v);
    });
    if (!all && !IsLite(node, "SHAPE") && !IsLite(node, "RANK")) continue;
    for (const Value* v : node->outputs()) made.insert(v);
  }
  return made;
}

// What LiteRT gives is what operators make: inputs and constants that are results are copied, and
// so is what is a result twice.
absl::Status CopyResults(Graph& graph) {
  const std::vector<Value*> outputs = graph.outputs();
  const absl::flat_hash_set<const Value*> before = MadeBeforeTheRun(graph);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value* v = outputs[i];
    const bool again = std::find(outputs.begin(), outputs.begin() + static_cast<ptrdiff_t>(i), v) !=
                       outputs.begin() + static_cast<ptrdiff_t>(i);
    // WHILE writes tensors of its own, not the output tensors that the caller has bound.
    if (v->producer() && !again && !IsLite(v->producer(), "WHILE") && !before.contains(v)) {
      continue;
    }
    // A result that is made before the run is not in the tensor where the caller reads it.
    // The copy is the maximum of two equal scalars: SELECT_V2 gives 0, or a vector.
    Node* node = nullptr;
    if (v->shape() && v->shape()->rank() == 0) {
      node = graph.AppendNode(tflite::kDialect,
                              v->dtype() == DType::kBool ? "LOGICAL_OR" : "MAXIMUM", {v, v});
    } else {
      Value* always = graph.AddConstant(graph.UniqueName("always"), Tensor::Of<bool>({1}, {true}));
      node = graph.AppendNode(tflite::kDialect, "SELECT_V2", {always, v, v});
    }
    if (const auto problems = CheckTfliteNode(*node); !problems.empty()) {
      return CannotExpress(
          "'", v->name(),
          "' is an output that no node makes in a run, and cannot be copied: ", problems[0]);
    }
    Value* copy = graph.AddNodeOutput(node, graph.UniqueName(v->name() + "_copy"), v->type());
    // It is the same numbers by the same scale.
    if (tflite::IsQuantized(*v)) {
      copy->annotations().GetOrMake().extra[tflite::kQuantizationKey] =
          v->annotations().get()->extra.at(tflite::kQuantizationKey);
    }
    if (!v->is_input() && !again) graph.SwapNames(v, copy);
    graph.SetOutput(i, copy);
  }
  return absl::OkStatus();
}

// Constants that were named after their users, "y_const", keep the rest of that name: files are
// smaller, and weights have their old names.
void ShortenNames(Graph& graph) {
  for (Value* v : graph.constants()) {
    std::string_view rest = v->name();
    for (size_t at = rest.find('_'); at != rest.npos; at = rest.find('_', at + 1)) {
      if (at == 0 || at + 1 == rest.size() || !graph.Find(rest.substr(0, at))) continue;
      rest = rest.substr(at + 1);
      at = 0;
    }
    if (rest.size() < v->name().size() && !v->is_graph_output()) {
      graph.Rename(v, graph.UniqueName(std::string(rest)));
    }
  }
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) ShortenNames(*inner);
  }
}

}  // namespace

absl::Status FinishTflite(Model& model, const FormatOptions& options) {
  Graph& graph = *model.graph;
  Finish(graph);
  X2IR_RETURN_IF_ERROR(FoldQuantized(graph));
  if (options.Flag("dynamic_range")) UseDynamicRange(graph);
  FoldHybrid(graph);
  const Annotations* notes = graph.annotations().get();
  if (options.Flag("float16")) {
    UseFloat16(graph);
  } else if (notes && notes->extra.contains(kHalfWeights)) {
    UseFloat16(graph, /*exact=*/true);
  }
  X2IR_RETURN_IF_ERROR(SetIoType(graph, options.Text("io_type")));
  ReshapeToScalars(graph);
  EraseDeadNodes(graph);
  ShortenNames(graph);
  return CopyResults(graph);
}

}  // namespace x2ir
