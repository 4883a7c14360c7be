// Reads a model.json and its weights.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/formats/tfjs/tfjs.h"
#include "x2ir/formats/tfjs/tfjs_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tfjs {
namespace {

using keras::StoredWeight;
namespace fs = std::filesystem;

class ManifestStore : public keras::WeightStore {
 public:
  explicit ManifestStore(std::vector<StoredWeight> weights) : weights_(std::move(weights)) {
    for (const StoredWeight& weight : weights_) names_.push_back(weight.name);
  }
  absl::StatusOr<std::vector<StoredWeight>> Of(const keras::LayerPlace& place) override {
    std::vector<StoredWeight> found;
    for (const size_t i : keras::FindByName(names_, place)) found.push_back(weights_[i]);
    return found;
  }

 private:
  std::vector<StoredWeight> weights_;
  std::vector<std::string> names_;
};

absl::StatusOr<Model> ReadLayers(const Json& topology, std::vector<StoredWeight> weights) {
  const Json& root = topology["model_config"].is_object() ? topology["model_config"] : topology;
  const std::string& version = topology["keras_version"].text();
  ManifestStore store(std::move(weights));
  Model model;
  const bool third = version.starts_with('3') || root.Has("module");
  X2IR_RETURN_IF_ERROR(keras::BuildNetwork(
      {.model = root, .weights = store, .version = third ? 3 : 2, .backend = {}}, &model));
  model.producer_version = version;
  return model;
}

// The tensors of a signature, by their names in the graph; without resources.
std::vector<std::string> PortsOf(const Json& ports) {
  std::vector<std::string> tensors;
  for (const auto& [name, port] : ports.members()) {
    if (!port.Has("resourceId")) tensors.push_back(PortTensor(name, port));
  }
  return tensors;
}

std::string NodeOf(const std::string& tensor) { return tensor.substr(0, tensor.find(':')); }

// The type that a signature says; not known where it says nothing.
Type TypeOfPort(const Json& port) {
  const Json& dtype = port["dtype"];
  const auto number =
      dtype.is_string() ? tf_format::TypeNumber(dtype.text()) : std::optional(dtype.Int());
  const DType type = tf_format::ToDType(number.value_or(0));
  const Json& shape = port["tensorShape"];
  if (!shape.is_object() || shape["unknownRank"].Flag()) return Type::Tensor(type);
  std::vector<Dim> dims;
  for (const Json& dim : shape["dim"].items()) {
    const Json& size = dim["size"];
    const int64_t known =
        size.is_string() ? ParseNumber<int64_t>(size.text()).value_or(-1) : size.Int();
    dims.push_back(known < 0 ? Dim() : Dim(known));
  }
  return Type::Tensor(type, Shape(std::move(dims)));
}

// Inputs that no output needs, which the reader of the graph leaves out, stay inputs.
void AddUnusedInputs(const Json& ports, Graph& graph) {
  for (const auto& [name, port] : ports.members()) {
    if (port.Has("resourceId")) continue;
    const std::string node = NodeOf(PortTensor(name, port));
    const Type type = TypeOfPort(port);
    if (node.empty() || type.dtype() == DType::kUndefined || graph.Find(node)) continue;
    graph.AddInput(node, type);
  }
}

// Inputs in the order of the signature, then the others.
void OrderInputs(const Json& ports, Graph& graph) {
  std::vector<Value*> order;
  const auto add = [&](Value* input) {
    if (input && input->is_input() && std::find(order.begin(), order.end(), input) == order.end()) {
      order.push_back(input);
    }
  };
  for (const std::string& tensor : PortsOf(ports)) {
    add(graph.Find(NodeOf(tensor)));
  }
  for (Value* input : graph.inputs()) add(input);
  for (size_t i = 0; i < order.size(); ++i) graph.ReplaceInputAt(i, order[i]);
}

absl::StatusOr<Model> ReadGraph(const Json& root, std::vector<StoredWeight> weights,
                                const TfjsOptions& options) {
  X2IR_ASSIGN_OR_RETURN(std::string wire, GraphToWire(root, weights));
  TensorFlowOptions how;
  how.outputs = options.outputs;
  if (how.outputs.empty()) how.outputs = PortsOf(SignatureOf(root)["outputs"]);
  X2IR_ASSIGN_OR_RETURN(Model model, ReadTensorFlow(Source::Bytes(std::move(wire)), how));
  Graph& graph = *model.graph;
  for (StoredWeight& weight : weights) {
    Value* input = graph.Find(weight.name);
    if (!input || !input->is_input()) continue;  // nothing that is wanted needs it
    auto tensor = OfType(weight.tensor, input->dtype());
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("weight '", weight.name, "'"));
    graph.Rename(input, graph.UniqueName(weight.name));
    Value* constant = graph.AddConstant(weight.name, *std::move(tensor));
    graph.ReplaceAllUses(input, constant);
    graph.RemoveInput(input);
    model.weights.push_back({weight.name, {weight.name}, true});
  }
  if (options.outputs.empty()) AddUnusedInputs(SignatureOf(root)["inputs"], graph);
  OrderInputs(SignatureOf(root)["inputs"], graph);
  return model;
}

absl::StatusOr<Model> Read(const Source& source, const TfjsOptions& options) {
  std::string path = source.name();
  if (source.is_folder()) path = (fs::path(path) / "model.json").string();
  X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, source.in_memory() ? source.Open() : Blob::Open(path));
  X2IR_ASSIGN_OR_RETURN(const Json root, Json::Parse(blob->view()));
  const Json& topology = root["modelTopology"];
  if (!topology.is_object()) return Invalid("it has no 'modelTopology'");
  X2IR_ASSIGN_OR_RETURN(std::vector<StoredWeight> weights,
                        ReadManifest(root["weightsManifest"], [&](const std::string& name) {
                          return source.OpenBeside(name);
                        }));
  if (topology["node"].is_array()) return ReadGraph(root, std::move(weights), options);
  return ReadLayers(topology, std::move(weights));
}

}  // namespace

const Json& SignatureOf(const Json& model) {
  const Json& own = model["signature"];
  return own.is_object() ? own : model["userDefinedMetadata"]["signature"];
}

std::string PortTensor(const std::string& name, const Json& port) {
  const std::string& tensor = port["name"].text();
  return tensor.empty() ? name : tensor;
}

}  // namespace tfjs

bool LooksLikeTfjs(std::string_view head) {
  const size_t start = head.find_first_not_of(" \t\r\n");
  if (start == head.npos || head[start] != '{') return false;
  return head.find("\"modelTopology\"") != head.npos || head.find("\"graph-model\"") != head.npos ||
         head.find("\"layers-model\"") != head.npos;
}

absl::StatusOr<Model> ReadTfjs(const Source& source, const TfjsOptions& options) {
  absl::StatusOr<Model> model = tfjs::Read(source, options);
  if (!model.ok()) return AnnotateOption(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

}  // namespace x2ir
