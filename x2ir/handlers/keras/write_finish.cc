// Keras, written: what is left to do when all nodes are Keras's. What alone reads a layer's result
// becomes a setting of the layer, or a layer of both.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/keras/keras.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/handlers/keras/write_internal.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// Layers that have the function that follows them as a setting.
constexpr std::string_view kActivated[] = {"Conv1D",          "Conv1DTranspose", "Conv2D",
                                           "Conv2DTranspose", "Conv3D",          "Conv3DTranspose",
                                           "Dense",           "DepthwiseConv1D", "DepthwiseConv2D",
                                           "SeparableConv1D", "SeparableConv2D"};

// The layer that makes the value for this use alone; null: it is no layer, or has other uses.
Node* LayerBefore(Value* x) {
  Node* layer = x ? x->producer() : nullptr;
  return layer && !x->is_graph_output() && x->uses().size() == 1 ? layer : nullptr;
}

// What the node made is from now on the result of the layer before it.
void GiveToLayer(Graph& graph, Node* node, Node* layer) {
  Value* x = layer->output(0);
  if (!node->output(0)->is_graph_output()) graph.SwapNames(x, node->output(0));
  layer->set_name(x->name());
  graph.ReplaceAllUsesKeepingOutputNames(node->output(0), x);
  EraseWithConstants(node);
}

// A function that alone reads a layer's result becomes the layer's.
void TakeActivation(Graph& graph, Node* node) {
  Node* layer = LayerBefore(node->input(0));
  if (!layer || std::ranges::find(kActivated, layer->op().view()) == std::end(kActivated) ||
      layer->attrs().String("activation", "") != "linear") {
    return;
  }
  layer->SetAttr("activation", node->attrs().String("activation"));
  GiveToLayer(graph, node, layer);
}

// A vector that alone is added to a product is its bias.
void TakeBias(Graph& graph, Node* node) {
  for (const size_t i : {0, 1}) {
    Node* layer = LayerBefore(node->input(i));
    Value* bias = node->input(1 - i);
    const Tensor* tensor = bias ? bias->fixed_constant() : nullptr;
    if (!layer || layer->op() != "Dense" || layer->attrs().Int("use_bias", 1) != 0 || !tensor ||
        tensor->is_sparse() || tensor->dtype() != layer->output(0)->dtype() ||
        tensor->dims() != std::vector<int64_t>{layer->attrs().Int("units")} ||
        layer->attrs().String("activation", "") != "linear") {
      continue;
    }
    layer->AddInput(bias);
    layer->SetAttr("use_bias", int64_t{1});
    layer->SetAttr(keras::kCallWeights, int64_t{2});
    return GiveToLayer(graph, node, layer);
  }
}

// A convolution of single points, of a depthwise one without a bias, is separable.
void TakeDepthwise(Node* node) {
  const std::string_view axes = node->op() == "Conv1D" ? "1D" : "2D";
  Node* depthwise = LayerBefore(node->input(0));
  const auto ones = [&](const char* name) {
    const std::vector<int64_t> sizes = node->attrs().Ints(name);
    return std::ranges::all_of(sizes, [](int64_t size) { return size == 1; });
  };
  if (!depthwise || depthwise->op() != StrCat("DepthwiseConv", axes) ||
      depthwise->attrs().Int("use_bias", 1) != 0 ||
      depthwise->attrs().String("activation", "") != "linear" || !ones("kernel_size") ||
      !ones("strides") || node->attrs().Int("groups", 1) != 1) {
    return;
  }
  const bool biased = node->attrs().Int("use_bias", 1) != 0;
  std::vector<Value*> operands = {depthwise->input(0), depthwise->input(1), node->input(1)};
  if (biased) operands.push_back(node->input(2));
  for (const char* name :
       {"depth_multiplier", "dilation_rate", "kernel_size", "padding", "strides"}) {
    if (const Attribute* attr = depthwise->attrs().Find(name)) node->SetAttr(name, *attr);
  }
  node->EraseAttr("groups");
  node->SetAttr(keras::kCallWeights, static_cast<int64_t>(operands.size() - 1));
  node->SetInputs(operands);
  node->set_op(keras::kDialect, StrCat("SeparableConv", axes));
  EraseWithConstants(depthwise);
}

// --- Names ---------------------------------------------------------------------------------------

bool IsNameOfOp(std::string_view name) {
  static const auto* const names = [] {
    auto* all = new std::set<std::string, std::less<>>;
    for (const OpDef* def : AllOps()) all->insert(std::string(def->name().view()));
    return all;
  }();
  return names->contains(name);
}

// Whether a text is names of ops, each after a "_". A name may have a "_" itself, so all ends of
// names are tried; `ends` has those that were found.
bool AreMarks(std::string_view text) {
  std::vector<bool> ends(text.size() + 1, false);
  ends[0] = true;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!ends[at] || text[at] != '_') continue;
    for (size_t next = at + 1; next <= text.size(); ++next) {
      next = std::min(text.find('_', next), text.size());
      const std::string_view name = text.substr(at + 1, next - at - 1);
      // Of Keras: "ops.Add", and classes of layers.
      const bool is_class =
          name.starts_with("ops.") || (!name.empty() && name[0] >= 'A' && name[0] <= 'Z');
      if (is_class || IsNameOfOp(name)) ends[next] = true;
    }
  }
  return ends[text.size()];
}

// What is made within a layer or an op has that op's name behind its own. A model that is read and
// written again has the same ones once more: those are left out.
std::string_view WithoutRepeatedMarks(std::string_view name) {
  constexpr size_t kLongest = 1024;
  for (size_t size = name.size() > kLongest ? 0 : name.size() / 2; size > 1; --size) {
    const std::string_view last = name.substr(name.size() - size);
    if (last != name.substr(name.size() - 2 * size, size) || !AreMarks(last)) continue;
    name.remove_suffix(size);
    size = name.size() / 2 + 1;
  }
  return name;
}

}  // namespace

absl::Status FinishKeras(Model& model, const FormatOptions&) {
  Graph& graph = *model.graph;
  const auto is_ours = [](const Node* node) {
    return node->dialect() == Symbol(keras::kDialect) && node->output(0);
  };
  StringSet names;
  for (Node* node : graph.nodes()) {
    if (!is_ours(node)) continue;
    std::string name = node->name().empty() ? node->output(0)->name() : node->name();
    std::ranges::replace(name, '/', '_');  // as in the archive
    names.insert(name);
    node->set_name(std::move(name));
  }
  for (Node* node : graph.nodes()) {
    if (!is_ours(node)) continue;
    if (std::string name(WithoutRepeatedMarks(node->name())); names.insert(name).second) {
      node->set_name(std::move(name));
    }
    if (node->op() == "Activation") TakeActivation(graph, node);
    if (node->op() == "ops.Add") TakeBias(graph, node);
    if (node->op() == "Conv1D" || node->op() == "Conv2D") TakeDepthwise(node);
  }
  return absl::OkStatus();
}

}  // namespace x2ir
