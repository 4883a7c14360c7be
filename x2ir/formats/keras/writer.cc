// Writes a graph of dialect "keras" as an archive of Keras 3: a Functional model.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/formats/keras/hdf5_writer_internal.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/network.h"
#include "x2ir/formats/keras/network_order_internal.h"
#include "x2ir/formats/keras/operations_internal.h"
#include "x2ir/formats/keras/settings_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace keras {
namespace {

// The oldest version that reads all that is written.
constexpr char kWrittenVersion[] = "3.5.0";
// A constant that no layer has as a weight is text in the configuration.
constexpr int64_t kMaxNumbersInText = 1 << 16;

Json ObjectOf(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json object = Json::Object();
  for (const auto& [name, value] : members) object.Set(name, value);
  return object;
}

std::optional<Json> ShapeJson(const Value& value) {
  const Shape* shape = value.type().is_tensor() ? value.shape() : nullptr;
  if (!shape) return std::nullopt;
  std::vector<Json> dims;
  for (const Dim& dim : *shape) dims.push_back(dim.is_static() ? Json(dim.value()) : Json());
  return Json::Array(std::move(dims));
}

// Where the weights of a layer are, for classes whose layers have layers in them: of each, the same
// number of them.
struct WeightPaths {
  std::string_view layer;
  std::vector<std::string_view> paths;
};
const std::vector<std::string_view>& WeightPathsOf(std::string_view layer) {
  static const WeightPaths kPaths[] = {
      {"Bidirectional", {"forward_layer/cell", "backward_layer/cell"}},
      {"GRU", {"cell"}},
      {"GroupQueryAttention", {"_query_dense", "_key_dense", "_value_dense", "_output_dense"}},
      {"LSTM", {"cell"}},
      {"MultiHeadAttention", {"query_dense", "key_dense", "value_dense", "output_dense"}},
      {"SimpleRNN", {"cell"}}};
  static const std::vector<std::string_view> kItself = {""};
  const auto* found = std::ranges::find(kPaths, layer, &WeightPaths::layer);
  return found == std::end(kPaths) ? kItself : found->paths;
}

// Elements from `at` on as nested lists of the dims from `axis` on.
Json NestedNumbers(const Tensor& tensor, size_t axis, int64_t* at) {
  if (axis == tensor.dims().size()) {
    const int64_t i = (*at)++;
    if (tensor.dtype() == DType::kBool) return Json::Bool(tensor.AsInt(i) != 0);
    return IsInteger(tensor.dtype()) ? Json(tensor.AsInt(i)) : Json(tensor.AsDouble(i));
  }
  std::vector<Json> items;
  for (int64_t k = 0; k < tensor.dims()[axis]; ++k) {
    items.push_back(NestedNumbers(tensor, axis + 1, at));
  }
  return Json::Array(std::move(items));
}

absl::StatusOr<Json> ConstantJson(const Value& value) {
  const Tensor& tensor = *value.constant();
  if (tensor.is_string() || tensor.is_sparse() || BitWidth(tensor.dtype()) < 8 ||
      IsComplex(tensor.dtype())) {
    return CannotExpress("the constant '", value.name(), "' of ", Name(tensor.dtype()));
  }
  if (tensor.num_elements() > kMaxNumbersInText) {
    return CannotExpress("the constant '", value.name(), "' of ", tensor.num_elements(),
                         " elements, which is no weight of a layer; a configuration holds up to ",
                         kMaxNumbersInText);
  }
  // Lists of nothing do not say the other axes.
  if (tensor.num_elements() == 0 && tensor.rank() > 1) {
    return CannotExpress("the constant '", value.name(), "' of no elements");
  }
  int64_t at = 0;
  Json numbers = NestedNumbers(tensor, 0, &at);
  // Numbers without a type of their own take that of the tensors beside them.
  const bool usual = tensor.dtype() == DType::kFloat32 || tensor.dtype() == DType::kInt32;
  if (tensor.rank() == 0 && usual) return numbers;
  return ObjectOf({{"class_name", Json("__numpy__")},
                   {"config", ObjectOf({{"value", std::move(numbers)},
                                        {"dtype", Json(std::string(Name(tensor.dtype())))}})}});
}

// What Keras and TensorFlow allow in the name of a layer.
std::string LegalName(std::string_view name) {
  std::string legal;
  for (const char c : name) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ||
                         (c == '.' && !legal.empty());
    legal += allowed ? c : '_';
  }
  while (!legal.empty() && (legal[0] == '_' || legal[0] == '-')) legal.erase(0, 1);
  return legal.empty() ? "layer" : legal;
}

bool IsFunction(const Node& node) { return node.op().view().starts_with("ops."); }

class ModelWriter {
 public:
  explicit ModelWriter(const Model& model) : graph_(*model.graph) {}

  absl::Status Write(const Sink& sink) {
    NameLayers();
    X2IR_RETURN_IF_ERROR(OrderLayers());
    std::vector<Json> layers;
    for (const int i : order_) {
      absl::StatusOr<Json> layer = LayerJson(i);
      if (!layer.ok()) {
        problems_.insert(std::string(layer.status().message()));
        continue;
      }
      layers.push_back(*std::move(layer));
    }
    if (!problems_.empty()) {
      std::string all;
      for (const std::string& problem : problems_)
        StrAppend(&all, all.empty() ? "" : "; ", problem);
      return CannotExpress(all);
    }
    Json config =
        ObjectOf({{"name", Json(LegalName(graph_.name().empty() ? "functional" : graph_.name()))},
                  {"trainable", Json::Bool(true)},
                  {"layers", Json::Array(std::move(layers))},
                  {"input_layers", Ports(graph_.inputs())},
                  {"output_layers", Ports(graph_.outputs())}});
    const Json root = ObjectOf({{"module", Json("keras.src.models.functional")},
                                {"class_name", Json("Functional")},
                                {"config", std::move(config)},
                                {"registered_name", Json("Functional")}});
    X2IR_ASSIGN_OR_RETURN(const std::vector<ZipWriter::Part> weights, weights_.Finish());
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
    ZipWriter zip(file);
    const Json metadata = ObjectOf({{"keras_version", Json(kWrittenVersion)}});
    X2IR_RETURN_IF_ERROR(zip.Add("metadata.json", metadata.ToString()));
    X2IR_RETURN_IF_ERROR(zip.Add("config.json", root.ToString()));
    X2IR_RETURN_IF_ERROR(zip.Add("model.weights.h5", weights));
    X2IR_RETURN_IF_ERROR(zip.Finish());
    return file.Commit();
  }

 private:
  struct Layer {
    const Value* input = nullptr;  // of the model; null: a node
    const Node* node = nullptr;
    std::string name;
    const Value* result() const { return input ? input : node->output(0); }
  };

  // Inputs and outputs keep their names where they can.
  void NameLayers() {
    absl::flat_hash_map<const Node*, std::string> of_outputs;
    for (const Value* output : graph_.outputs()) {
      if (output->producer() && output->producer()->output(0) == output) {
        of_outputs.emplace(output->producer(), output->name());
      }
    }
    std::set<std::string> taken;
    const auto unique = [&](std::string_view wanted) {
      const std::string legal = LegalName(wanted);
      std::string name = legal;
      int& number = numbers_[legal];
      while (!taken.insert(name).second) name = StrCat(legal, "_", ++number);
      return name;
    };
    for (const Value* input : graph_.inputs()) {
      numbers_of_[input] = static_cast<int>(layers_.size());
      layers_.push_back({.input = input, .name = unique(input->name())});
    }
    std::vector<const Node*> nodes;
    for (const Node* node : graph_.nodes()) nodes.push_back(node);
    absl::flat_hash_map<const Node*, std::string> names;
    for (const Node* node : nodes) {
      const auto output = of_outputs.find(node);
      if (output != of_outputs.end()) names[node] = unique(output->second);
    }
    for (const Node* node : nodes) {
      if (!names.contains(node)) {
        const Value* first = node->output(0);
        names[node] = unique(!node->name().empty() ? node->name()
                             : first               ? first->name()
                                                   : node->op().view());
      }
      for (const Value* output : node->outputs()) {
        if (output) numbers_of_[output] = static_cast<int>(layers_.size());
      }
      layers_.push_back({.node = node, .name = names[node]});
    }
  }

  absl::Status OrderLayers() {
    std::vector<std::vector<int>> inputs(layers_.size());
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].node) continue;
      for (const Value* value : TensorsOf(*layers_[i].node)) {
        const auto found = numbers_of_.find(value);
        if (found != numbers_of_.end()) inputs[i].push_back(found->second);
      }
    }
    std::vector<int> outputs, ports;
    for (const Value* input : graph_.inputs()) ports.push_back(numbers_of_.at(input));
    for (const Value* output : graph_.outputs()) {
      const auto found = numbers_of_.find(output);
      if (found == numbers_of_.end()) {
        return CannotExpress("output '", output->name(),
                             "' is a constant; outputs of a Keras model are results of layers");
      }
      outputs.push_back(found->second);
    }
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].node || !inputs[i].empty()) continue;
      problems_.insert(StrCat("'", layers_[i].name, "' (", layers_[i].node->op().view(),
                              "), which is computed of constants alone"));
    }
    order_ = OrderOfLayers(inputs, outputs, ports);
    std::map<std::string, int> counts;
    for (const int i : order_) {
      const Layer& layer = layers_[static_cast<size_t>(i)];
      if (layer.node && IsFunction(*layer.node)) continue;
      const std::string stored =
          StoredName(layer.node ? std::string(layer.node->op().view()) : "InputLayer");
      const int number = counts[stored]++;
      paths_[i] = StrCat("layers/", stored, number == 0 ? "" : StrCat("_", number));
    }
    return absl::OkStatus();
  }

  static int64_t CountOf(const Node& node, const char* name) { return node.attrs().Int(name, 0); }

  // The tensors that a call has, in the order of its arguments.
  static std::vector<const Value*> TensorsOf(const Node& node) {
    std::vector<const Value*> tensors;
    const auto weights = static_cast<size_t>(CountOf(node, kCallWeights));
    for (size_t i = 0; i + weights < node.num_inputs(); ++i) tensors.push_back(node.input(i));
    return tensors;
  }

  absl::StatusOr<Json> TensorJson(const Value& value) const {
    const auto found = numbers_of_.find(&value);
    if (found == numbers_of_.end()) return ConstantJson(value);
    const Layer& layer = layers_[static_cast<size_t>(found->second)];
    auto shape = ShapeJson(value);
    if (!shape) return CannotExpress("'", value.name(), "', whose rank is not known");
    return ObjectOf({{"class_name", Json("__keras_tensor__")},
                     {"config", ObjectOf({{"shape", *std::move(shape)},
                                          {"dtype", Json(std::string(Name(value.dtype())))},
                                          {"keras_history", History(layer, value)}})}});
  }

  static Json History(const Layer& layer, const Value& value) {
    int64_t index = 0;
    if (layer.node) {
      const auto outputs = layer.node->outputs();
      index = std::find(outputs.begin(), outputs.end(), &value) - outputs.begin();
    }
    return Json::Array({Json(layer.name), Json(int64_t{0}), Json(index)});
  }

  template <typename Values>
  Json Ports(const Values& values) const {
    std::vector<Json> ports;
    for (const Value* value : values) {
      ports.push_back(History(layers_[static_cast<size_t>(numbers_of_.at(value))], *value));
    }
    return Json::Array(std::move(ports));
  }

  absl::StatusOr<Json> LayerJson(int i) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    if (layer.input) return InputJson(i, layer);
    return Annotate(IsFunction(*layer.node) ? FunctionJson(layer) : CallJson(i, layer),
                    StrCat("layer '", layer.name, "'"));
  }
  static absl::StatusOr<Json> Annotate(absl::StatusOr<Json> json, const std::string& where) {
    if (json.ok()) return json;
    return x2ir::Annotate(json.status(), where);
  }

  absl::StatusOr<Json> InputJson(int i, const Layer& layer) {
    auto shape = ShapeJson(*layer.input);
    if (!shape) {
      return CannotExpress("the input '", layer.input->name(),
                           "', whose rank is not known; the option shapes gives it");
    }
    const DType type = layer.input->dtype();
    if (BitWidth(type) < 8 || IsComplex(type)) {
      if (type != DType::kString) return CannotExpress("an input of ", Name(type));
    }
    weights_.AddGroup(StrCat(paths_.at(i), "/vars"));
    return ObjectOf({{"module", Json("keras.layers")},
                     {"class_name", Json("InputLayer")},
                     {"config", ObjectOf({{"batch_shape", *std::move(shape)},
                                          {"dtype", Json(std::string(Name(type)))},
                                          {"sparse", Json::Bool(false)},
                                          {"name", Json(layer.name)}})},
                     {"registered_name", Json()},
                     {"name", Json(layer.name)},
                     {"inbound_nodes", Json::Array({})}});
  }

  static Json Call(std::vector<Json> args, Json kwargs) {
    return Json::Array(
        {ObjectOf({{"args", Json::Array(std::move(args))}, {"kwargs", std::move(kwargs)}})});
  }

  absl::StatusOr<Json> CallJson(int i, const Layer& layer) {
    const Node& node = *layer.node;
    Json config = ObjectOf({{"name", Json(layer.name)}, {"trainable", Json::Bool(true)}});
    if (!node.attrs().Has("dtype")) config.Set("dtype", Json(PolicyOf(node)));
    for (const auto& [name, attr] : node.attrs()) {
      if (!name.view().starts_with(kCallPrefix))
        config.Set(name.view(), SettingJson(name.view(), attr));
    }
    const auto tensors = static_cast<size_t>(CountOf(node, kCallInputs));
    std::vector<Json> args, shapes;
    Json kwargs = Json::Object();
    for (size_t k = 0; k < tensors; ++k) {
      X2IR_ASSIGN_OR_RETURN(Json tensor, TensorJson(*node.input(k)));
      args.push_back(std::move(tensor));
      shapes.push_back(ShapeJson(*node.input(k)).value_or(Json()));
    }
    // Sizes of a layer that is built of several tensors by name.
    Json build = Json::Object();
    if (const Attribute* names = node.attrs().Find(kCallNames)) {
      size_t k = tensors;
      std::map<std::string, std::vector<Json>> named;
      for (const std::string& name : *names->get<Attribute::Strings>()) {
        const Value& value = *node.input(k++);
        X2IR_ASSIGN_OR_RETURN(Json tensor, TensorJson(value));
        named[name].push_back(std::move(tensor));
        if (name != "value" && name != "key") continue;
        if (name == "value") build.Set("query_shape", shapes[0]);
        build.Set(StrCat(name, "_shape"), ShapeJson(value).value_or(Json()));
      }
      for (auto& [name, list] : named) {
        kwargs.Set(name, list.size() == 1 && name != "initial_state"
                             ? list[0]
                             : Json::Array(std::move(list)));
      }
    }
    if (node.attrs().Has(kCausalMask)) kwargs.Set("use_causal_mask", Json::Bool(true));
    const bool one = tensors == 1;
    if (!one) args = {Json::Array(std::move(args))};
    if (build.members().empty()) {
      build = ObjectOf({{"input_shape", one ? shapes[0] : Json::Array(std::move(shapes))}});
    } else {
      build = ObjectOf({{"shapes_dict", std::move(build)}});
    }
    X2IR_RETURN_IF_ERROR(AddWeights(i, node));
    return ObjectOf({{"module", Json("keras.layers")},
                     {"class_name", Json(std::string(node.op().view()))},
                     {"config", std::move(config)},
                     {"registered_name", Json()},
                     {"build_config", std::move(build)},
                     {"name", Json(layer.name)},
                     {"inbound_nodes", Call(std::move(args), std::move(kwargs))}});
  }

  // The type that a layer computes in: that of its tensors.
  static std::string PolicyOf(const Node& node) {
    for (const Value* value : node.inputs()) {
      if (value && IsFloating(value->dtype())) return std::string(Name(value->dtype()));
    }
    const Value* result = node.output(0);
    return std::string(
        Name(result && IsFloating(result->dtype()) ? result->dtype() : DType::kFloat32));
  }

  absl::Status AddWeights(int i, const Node& node) {
    const std::string& path = paths_.at(i);
    weights_.AddGroup(StrCat(path, "/vars"));
    const auto count = static_cast<size_t>(CountOf(node, kCallWeights));
    const std::vector<std::string_view>& parts = WeightPathsOf(node.op().view());
    const size_t of_each = count / parts.size();
    for (size_t k = 0; k < of_each * parts.size(); ++k) {
      const std::string_view part = parts[k / of_each];
      const Value* weight = node.input(node.num_inputs() - count + k);
      if (!weight || !weight->constant()) return CannotExpress("a weight that is computed");
      X2IR_RETURN_IF_ERROR(weights_.AddDataset(StrCat(path, part.empty() ? "" : "/", part, "/vars"),
                                               StrCat(k % of_each), *weight->constant()));
    }
    return absl::OkStatus();
  }

  // The arguments of a call, with the tensors in their places.
  absl::StatusOr<Json> Resolved(const Json& json, const Node& node) const {
    if (json.is_array()) {
      std::vector<Json> items;
      for (const Json& item : json.items()) {
        X2IR_ASSIGN_OR_RETURN(Json resolved, Resolved(item, node));
        items.push_back(std::move(resolved));
      }
      return Json::Array(std::move(items));
    }
    if (!json.is_object()) return json;
    if (json["tensor"].kind() == Json::Kind::kInt) {
      const auto i = static_cast<size_t>(json["tensor"].Int());
      if (i >= node.num_inputs() || !node.input(i)) return Invalid("there is no operand ", i);
      return TensorJson(*node.input(i));
    }
    Json object = Json::Object();
    for (const auto& [name, value] : json.members()) {
      X2IR_ASSIGN_OR_RETURN(Json resolved, Resolved(value, node));
      object.Set(name, std::move(resolved));
    }
    return object;
  }

  absl::StatusOr<Json> FunctionJson(const Layer& layer) const {
    const Node& node = *layer.node;
    const Operation* operation = FindOperation(node.op().view());
    if (!operation) return CannotExpress("the function '", node.op().view(), "'");
    const Attribute* text = node.attrs().Find(kCallArguments);
    X2IR_ASSIGN_OR_RETURN(const Json all, Json::Parse(text ? *text->get<std::string>() : "{}"));
    Json config = Json::Object(), kwargs = Json::Object();
    for (const auto& [name, value] : all["kwargs"].members()) {
      if (operation->Constructs(name)) {
        config.Set(name, value);
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(Json resolved, Resolved(value, node));
      kwargs.Set(name, std::move(resolved));
    }
    X2IR_ASSIGN_OR_RETURN(const Json args, Resolved(all["args"], node));
    return ObjectOf({{"module", Json(StrCat("keras.src.ops.", operation->module))},
                     {"class_name", Json(std::string(operation->name))},
                     {"config", std::move(config)},
                     {"registered_name", Json(std::string(operation->name))},
                     {"name", Json(layer.name)},
                     {"inbound_nodes", Call(args.items(), std::move(kwargs))}});
  }

  const Graph& graph_;
  std::vector<Layer> layers_;
  std::vector<int> order_;
  std::map<int, std::string> paths_;  // of layers in the file of weights
  std::map<std::string, int> numbers_;
  absl::flat_hash_map<const Value*, int> numbers_of_;  // the layer whose result a value is
  Hdf5Writer weights_;
  std::set<std::string> problems_;
};

}  // namespace
}  // namespace keras

absl::Status WriteKeras(const Model& model, const Sink& sink) {
  return keras::ModelWriter(model).Write(sink);
}

}  // namespace x2ir
