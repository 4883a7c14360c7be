// Reads a model.json and its weights.
#include <deque>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
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

// A side of a signature: its tensors, without resources. `graph`: the names of its nodes; what a
// signature gives that the graph does not have is left out, as TensorFlow.js does.
class Ports {
 public:
  explicit Ports(const Json& graph) {
    for (const Json& node : graph["node"].items()) nodes_.insert(node["name"].text());
  }

  std::vector<tf_format::PortProto> Of(const Json& ports) {
    std::vector<tf_format::PortProto> all;
    for (const auto& [name, port] : ports.members()) {
      if (port.Has("resourceId")) continue;
      const std::string& tensor = names_.emplace_back(PortTensor(name, port));
      const std::string_view node = std::string_view(tensor).substr(0, tensor.find(':'));
      if (!nodes_.contains(node)) continue;
      const Json& dtype = port["dtype"];
      const auto number =
          dtype.is_string() ? tf_format::TypeNumber(dtype.text()) : std::optional(dtype.Int());
      // A signature may call a port like its tensor: then it is called like the node.
      all.push_back({name == tensor && tensor.ends_with(":0") ? node : std::string_view(name),
                     tensor, number.value_or(0), ShapeOf(port["tensorShape"])});
    }
    return all;
  }

 private:
  static std::optional<Shape> ShapeOf(const Json& shape) {
    if (!shape.is_object() || shape["unknownRank"].Flag()) return std::nullopt;
    std::vector<Dim> dims;
    for (const Json& dim : shape["dim"].items()) {
      const Json& size = dim["size"];
      const int64_t known =
          size.is_string() ? ParseNumber<int64_t>(size.text()).value_or(-1) : size.Int();
      dims.push_back(known < 0 ? Dim() : Dim(known));
    }
    return Shape(std::move(dims));
  }

  absl::flat_hash_set<std::string_view> nodes_;
  std::deque<std::string> names_;
};

absl::StatusOr<Model> ReadGraph(const Json& root, const std::vector<StoredWeight>& weights,
                                const TfjsOptions& options) {
  X2IR_ASSIGN_OR_RETURN(std::string wire, GraphToWire(root, weights));
  absl::flat_hash_map<std::string_view, const Tensor*> stored;
  for (const StoredWeight& weight : weights) stored.emplace(weight.name, &weight.tensor);
  absl::flat_hash_set<std::string> used;
  const auto elsewhere = [&](std::string_view name,
                             DType dtype) -> absl::StatusOr<std::optional<Tensor>> {
    const auto it = stored.find(name);
    if (it == stored.end()) return std::nullopt;
    absl::StatusOr<Tensor> tensor = OfType(*it->second, dtype);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("weight '", name, "'"));
    used.emplace(name);
    return *std::move(tensor);
  };
  Ports ports(root["modelTopology"]);
  const Json& told = SignatureOf(root);
  const tf_format::SignatureProto signature{"", ports.Of(told["inputs"]),
                                            ports.Of(told["outputs"])};
  X2IR_ASSIGN_OR_RETURN(
      Model model,
      tf_format::ReadGraphDef(std::move(wire), signature.outputs.empty() ? nullptr : &signature,
                              options.outputs, elsewhere));
  for (const StoredWeight& weight : weights) {
    const Value* value = used.contains(weight.name) ? model.graph->Find(weight.name) : nullptr;
    if (value && value->constant()) model.weights.push_back({weight.name, {weight.name}, true});
  }
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
  if (topology["node"].is_array()) return ReadGraph(root, weights, options);
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
