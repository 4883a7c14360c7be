// Fuzz targets whose bytes are graphs as text: the printer, the driver, passes, evaluation, and the
// page to look at.
#include <optional>
#include <utility>

#include "tests/conformance/value_util.h"
#include "tests/core/convert_util.h"
#include "tests/fuzz/targets_util.h"
#include "tests/optimizer/kept_util.h"
#include "tests/optimizer/target_util.h"
#include "tests/random/random_graphs_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/ops/infer.h"
#include "x2ir/view/outline.h"
#include "x2ir/view/view.h"

namespace x2ir {
namespace {

// More than this is somebody's honest wish, and not what these targets are to find.
constexpr int64_t kMaxElements = 10000;

std::string WholeText(const Graph& graph) {
  TextOptions options;
  options.max_constant_elements = kMaxElements;
  options.node_names = true;
  return ToText(graph, options);
}

std::vector<std::string> RandomGraphTexts() {
  std::vector<std::string> texts;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::string text = WholeText(*MakeRandomGraph(seed).graph);
    if (text.size() < 2000) texts.push_back(std::move(text));  // small ones change faster
  }
  return texts;
}

void MustBeValid(const Graph& graph, std::string_view after) {
  if (const auto problems = graph.Validate(); !problems.empty()) {
    FuzzFailure(StrCat("after ", after, ": ", problems[0]));
  }
}

// Whether the text is a graph that inference has no objection to.
bool SoundGraph(std::string_view text, std::shared_ptr<Graph>* graph) {
  auto parsed = ParseGraph(text);
  if (!parsed.ok() || !(*parsed)->Validate().empty()) return false;
  *graph = *std::move(parsed);
  return (*graph)->Sort().ok() && InferGraph(**graph).ok();
}

// Any graph prints as text that is read as the same graph, and what the driver makes of it is valid
// and can be converted back.
void Drive(std::string_view bytes) {
  std::shared_ptr<Graph> graph;
  if (auto parsed = ParseGraph(bytes); parsed.ok()) {
    const std::string text = WholeText(**parsed);
    const auto again = ParseGraph(text);
    if (!again.ok()) FuzzFailure(StrCat(text, "\n", again.status().ToString()));
    if (const std::string other = WholeText(**again); other != text) {
      FuzzFailure(StrCat(text, "\nis printed as\n", other));
    }
  }
  if (!SoundGraph(bytes, &graph)) return;
  MustBeValid(*graph, "inference");
  for (const int opset : {13, 21}) {
    Model model;
    model.graph = graph->Clone();
    ExportOptions options;
    options.opset = opset;
    options.optimize = opset == 21;
    options.foreign.all = opset == 13;
    if (!FromIr(model, "onnx", options).ok()) continue;
    MustBeValid(*model.graph, "export");
    const std::string text = WholeText(*model.graph);
    ImportOptions any;
    any.foreign.all = true;  // ops that were foreign before
    const absl::Status back = ToIr(model, any);
    if (!back.ok()) FuzzFailure(StrCat(text, "\n", back.ToString()));
    MustBeValid(*model.graph, "import");
  }
}

// Whether the value's type says that it is a small tensor.
bool IsSmall(const Value& value) {
  const Shape* shape = value.type().is_tensor() ? value.type().shape() : nullptr;
  if (shape == nullptr) return false;
  int64_t elements = 1;
  for (const Dim& dim : shape->dims()) {
    if (dim.is_unknown()) return false;
    const int64_t size = dim.is_static() ? dim.value() : 4;
    if (size > kMaxElements || (elements *= size) > kMaxElements) return false;
  }
  return true;
}

// Whether all values are of the types that the graph says they have. It may be wrong about them,
// and passes may trust it.
bool IsTrue(const Graph& original, const std::vector<Datum>& inputs) {
  const std::shared_ptr<Graph> graph = original.Clone();
  for (const Node* node : graph->nodes()) {
    for (Value* output : node->outputs()) {
      if (output != nullptr) graph->AddOutput(output);
    }
  }
  const auto values = RunGraph(*graph, inputs);
  if (!values.ok()) return false;
  for (size_t i = 0; i < values->size(); ++i) {
    if (!NotOfType((*values)[i], graph->outputs()[i]->type()).empty()) return false;
  }
  return true;
}

// Passes keep what a graph computes. Only graphs all of whose values are known to be small are run.
void Evaluate(std::string_view bytes) {
  std::shared_ptr<Graph> graph;
  if (!SoundGraph(bytes, &graph)) return;
  for (const Node* node : graph->nodes()) {
    if (node->has_subgraphs()) return;
    for (const Value* output : node->outputs()) {
      if (output != nullptr && !IsSmall(*output)) return;
    }
  }
  for (const Value* input : graph->inputs()) {
    if (!IsSmall(*input)) return;
  }
  std::string note;
  const auto random = RandomCase(*graph, 1, &note);
  if (!random.ok()) return;
  std::vector<Datum> inputs;
  for (const std::optional<Tensor>& tensor : random->inputs) {
    inputs.push_back(tensor ? Datum(*tensor) : Datum());
  }
  if (!IsTrue(*graph, inputs)) return;
  PassContext target;
  if (bytes.size() % 2 == 0) target.target = &AllOpsTarget();
  const std::string problem = WhatPassesChange(*graph, inputs, target);
  if (!problem.empty()) FuzzFailure(StrCat(WholeText(*graph), "\n", problem));
}

// Random graphs, half of them with names that say modules.
std::vector<std::string> NamedGraphTexts() {
  std::vector<std::string> texts;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const std::shared_ptr<Graph> graph = MakeRandomGraph(seed).graph;
    size_t i = 0;
    for (Node* node : graph->nodes()) {
      if (seed % 2 == 0) node->set_name(StrCat("m/l.", i++ / 3, "/op"));
    }
    texts.push_back(WholeText(*graph));
  }
  return texts;
}

// What the page gets of a graph is JSON, every group is small, and each stands behind the one that
// it is in.
void View(std::string_view bytes) {
  Model model;
  if (!SoundGraph(bytes, &model.graph)) return;
  for (const Value* constant : model.graph->constants()) {
    if (constant->constant()->num_elements() > kMaxElements) return;
  }
  const Outline outline = OutlineOf(*model.graph);
  std::vector<size_t> children(outline.groups.size());
  for (size_t g = 1; g < outline.groups.size(); ++g) {
    const int parent = outline.groups[g].parent;
    if (parent < 0 || static_cast<size_t>(parent) >= g) FuzzFailure("a group before its parent");
    ++children[static_cast<size_t>(parent)];
  }
  for (const Outline::Item& item : outline.items) ++children.at(static_cast<size_t>(item.group));
  for (const size_t count : children) {
    if (count > Outline::kMaxChildren + 1)
      FuzzFailure("a group is too large");  // and an owner's node
  }
  const Model again = model.Clone();
  for (const size_t models : {1, 2}) {
    const ViewedModel viewed[] = {{"a", "", &model}, {"b", "", &again}};
    const auto data = ViewData(absl::MakeConstSpan(viewed, models), {.weights = true});
    if (!data.ok()) FuzzFailure(data.status().ToString());
    JsonReader reader(*data);
    reader.Skip();
    reader.Finish();
    if (!reader.ok()) FuzzFailure(StrCat(reader.status().ToString(), "\n", *data));
  }
}

}  // namespace

std::vector<FuzzTarget> GraphTargets() {
  return {{"driver", RandomGraphTexts, Drive},
          {"evaluate", RandomGraphTexts, Evaluate},
          {"view", NamedGraphTexts, View}};
}

}  // namespace x2ir
