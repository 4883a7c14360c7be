// The dialect "mxnet", and what happens to a symbol before its nodes are converted: operands that
// that only training reads are removed, and inputs get the ranks and
// types that their layers say.
#include "x2ir/core/dialect.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "x2ir/formats/mxnet/mxnet.h"
#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// Layers at the end that compare with labels, which they do not use to compute.
bool ComparesWithLabels(std::string_view op) {
  return IsOneOf(op, {"SoftmaxOutput", "Softmax", "LinearRegressionOutput", "MAERegressionOutput",
                      "LogisticRegressionOutput", "SVMOutput"});
}

void EraseUnusedNodes(Graph& graph) {
  for (Node* node = graph.last(); node;) {
    Node* before = node->prev();
    bool used = false;
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      used = used || (node->output(i) && !node->output(i)->is_unused());
    }
    if (!used) graph.EraseUnused(node);
    node = before;
  }
}

void DropLabels(Graph& graph) {
  std::vector<Value*> used;  // inputs with uses so far
  for (Value* input : graph.inputs()) {
    if (!input->is_unused()) used.push_back(input);
  }
  bool any = false;
  for (Node* node : graph.nodes()) {
    if (!ComparesWithLabels(node->op().view())) continue;
    for (size_t i = 1; i < node->num_inputs(); ++i) node->SetInput(i, nullptr);
    any = true;
  }
  if (!any) return;
  EraseUnusedNodes(graph);
  for (Value* input : used) {
    if (input->is_unused()) graph.RemoveInput(input);
  }
}

// --- Shapes of inputs ----------------------------------------------------------------------------

constexpr int kMaxSteps = 16;  // from an input to its layer

// Its result has the shape of its first operand.
bool KeepsShape(std::string_view op) {
  return IsOneOf(
      op, {"BatchNorm",   "_copy",      "identity",      "Cast",         "cast",
           "amp_cast",    "Activation", "_minus_scalar", "_mul_scalar",  "_plus_scalar",
           "_div_scalar", "clip",       "BlockGrad",     "Dropout",      "_contrib_quantize_v2",
           "relu",        "LeakyReLU",  "_MulScalar",    "_MinusScalar", "_PlusScalar",
           "_DivScalar"});
}

const std::string* TextAttrOf(const Node* node, Symbol name) {
  const Attribute* attr = node->attrs().Find(name);
  return attr ? attr->get<std::string>() : nullptr;
}

// What a layer says of its operand; nullopt where it says nothing.
std::optional<Shape> ShapeAsked(const Node* node, const std::string& name) {
  const auto symbols = [&](size_t rank) {
    std::vector<Dim> dims;
    for (size_t i = 0; i < rank; ++i) dims.push_back(Dim::Symbol(StrCat(name, "_", i)));
    return dims;
  };
  const std::string_view op = node->op().view();
  if (op == "RNN") return Shape(symbols(3));
  if (!IsOneOf(op, {"Convolution", "Deconvolution", "Convolution_v1"})) return std::nullopt;
  const std::string* kernel = TextAttrOf(node, "kernel");
  const auto sizes = kernel ? nnvm::ParseTuple(*kernel) : std::nullopt;
  if (!sizes || sizes->empty() || sizes->size() > 3) return std::nullopt;
  std::vector<Dim> dims = symbols(sizes->size() + 2);
  const std::string* layout = TextAttrOf(node, "layout");
  const std::string* group = TextAttrOf(node, "num_group");
  const Value* w = node->input(1);
  const bool plain = !layout || *layout == "None" || layout->starts_with("NC");
  if (plain && (!group || *group == "1") && w && w->constant() && w->constant()->rank() > 1) {
    dims[1] = Dim(w->constant()->dim(op == "Deconvolution" ? 0 : 1));
  }
  return Shape(std::move(dims));
}

// Layers compute in one type: the type of the weights is also that of an operand without a known
// type. Operators that keep the type pass it on.
bool SaysType(std::string_view op) {
  return IsOneOf(op, {"Convolution", "Deconvolution", "FullyConnected", "RNN", "_npx_convolution",
                      "_npx_fully_connected"});
}
bool KeepsType(std::string_view op) {
  const bool casts =
      op == "Cast" || op == "cast" || op == "amp_cast" || op == "_contrib_quantize_v2";
  return !casts && (KeepsShape(op) || op == "Pooling" || op == "Flatten");
}
void SayTypesOfInputs(Graph& graph) {
  for (Value* input : graph.inputs()) {
    if (!input->type().is_tensor() || input->dtype() != DType::kFloat32) continue;
    const Value* at = input;
    for (int step = 0; step < kMaxSteps && at; ++step) {
      const Value* next = nullptr;
      for (const Use& use : at->uses()) {
        const std::string_view op = use.node->op().view();
        const Value* weights = use.node->input(1);
        const Tensor* known = weights ? weights->constant() : nullptr;
        if (use.index != 0) continue;
        if (SaysType(op) && known && IsFloating(known->dtype())) {
          Type type = Type::Tensor(known->dtype());
          if (input->shape()) type.set_shape(*input->shape());
          input->set_type(std::move(type));
          next = nullptr;
          break;
        }
        if (!next && KeepsType(op)) next = use.node->output(0);
      }
      at = next;
    }
  }
}

void WriteInputShapes(Graph& graph) {
  for (Value* input : graph.inputs()) {
    if (!input->type().is_tensor() || input->shape()) continue;
    const Value* at = input;
    for (int step = 0; step < kMaxSteps && at; ++step) {
      const Value* next = nullptr;
      for (const Use& use : at->uses()) {
        if (use.index != 0) continue;
        if (const auto shape = ShapeAsked(use.node, input->name())) {
          Type type = input->type();
          type.set_shape(*shape);
          input->set_type(std::move(type));
          next = nullptr;
          break;
        }
        if (!next && KeepsShape(use.node->op().view())) next = use.node->output(0);
      }
      at = input->shape() ? nullptr : next;
    }
  }
}

absl::Status PrepareMxnet(Model& model, std::vector<std::string>&) {
  DropLabels(*model.graph);
  WriteInputShapes(*model.graph);
  SayTypesOfInputs(*model.graph);
  return absl::OkStatus();
}

[[maybe_unused]] const bool kRegistered = RegisterDialect(
    {.name = mxnet::kDialect, .layout = "channels_first", .after_read = PrepareMxnet});

}  // namespace
}  // namespace x2ir
