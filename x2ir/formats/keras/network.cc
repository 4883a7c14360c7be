#include "x2ir/formats/keras/network.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "x2ir/formats/keras/calls_internal.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/keras1_internal.h"
#include "x2ir/formats/keras/tf_op_layer_internal.h"
#include "x2ir/graph_wrapper/name_pair.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace keras {
namespace {

constexpr int kMaxModelDepth = 100;
constexpr int64_t kMaxCalls = 1 << 20;
constexpr int64_t kMaxResults = 1 << 16;  // of a layer
constexpr int64_t kMaxValues = 1 << 24;   // of the configurations of all calls

// --- Layers --------------------------------------------------------------------------------------

struct Layer {
  std::string class_name, name;
  Json config;
  LayerPlace place;
  bool is_function = false;
  std::optional<std::vector<Value*>> weights;  // once they were read
};

// A list of inputs, or a dictionary.
bool SaysInputs(const Json& config) {
  return config["input_layers"].is_array() || config["input_layers"].is_object();
}

bool IsModel(const std::string& class_name, const Json& config) {
  return ((class_name == "Sequential" || class_name == "Pipeline") &&
          (config.is_array() || config["layers"].is_array())) ||
         (config["layers"].is_array() && SaysInputs(config));
}

// "MyDense" of "MyDense", "dense_1" of several.
std::string SnakeCase(std::string_view name) {
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const auto upper = [&](size_t k) {
      return k < name.size() && name[k] >= 'A' && name[k] <= 'Z';
    };
    const auto lower = [&](size_t k) {
      return k < name.size() && name[k] >= 'a' && name[k] <= 'z';
    };
    if (upper(i)) {
      const bool starts = i > 0 && (!upper(i - 1) || lower(i + 1));
      if (starts && !snake.empty() && snake.back() != '_') snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else if (c != '_' || !snake.empty()) {
      snake += c;
    }
  }
  return snake;
}

int64_t ValuesIn(const Json& json) {
  int64_t count = 1 + static_cast<int64_t>(json.text().size() / 64);
  for (const Json& item : json.items()) count += ValuesIn(item);
  for (const auto& [name, item] : json.members()) count += ValuesIn(item);
  return count;
}

std::string LeafOf(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash != name.npos) name.remove_prefix(slash + 1);
  if (name.ends_with(":0")) name.remove_suffix(2);
  return std::string(name);
}

constexpr NamePair kCells[] = {
    {"LSTMCell", "LSTM"},
    {"GRUCell", "GRU"},
    {"SimpleRNNCell", "SimpleRNN"},
    {"ConvLSTM1DCell", "ConvLSTM1D"},
    {"ConvLSTM2DCell", "ConvLSTM2D"},
    {"ConvLSTM3DCell", "ConvLSTM3D"},
};

class NetworkBuilder {
 public:
  NetworkBuilder(const NetworkSource& source, Model* model)
      : source_(source), model_(*model), graph_(*model->graph) {}

  absl::Status Build() {
    const Json& root = source_.model;
    const std::string& class_name = root["class_name"].text();
    const Json& config = root["config"];
    if (!IsModel(class_name, config)) {
      return Unimplemented("a model of class '", class_name,
                           "', which is defined by code: the file has no list of its layers");
    }
    graph_.set_name(config["name"].text());
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> outputs,
                          Inline(class_name, config, {}, "", nullptr, 0));
    if (outputs.empty()) return Invalid("the model has no outputs");
    for (Value* output : outputs) graph_.AddOutput(output);
    return absl::OkStatus();
  }

 private:
  // --- Models ------------------------------------------------------------------------------------

  // `inputs`: null for the model itself, which makes its inputs.
  absl::StatusOr<std::vector<Value*>> Inline(const std::string& class_name, const Json& config,
                                             const std::vector<std::string>& names,
                                             const std::string& path,
                                             const std::vector<Value*>* inputs, int depth) {
    if (depth > kMaxModelDepth) return Invalid("models are nested too deeply");
    const std::string key = StrCat(path, "|", Joined(names));
    std::vector<Layer>& layers = models_[key];
    const Json& list = config.is_array() ? config : config["layers"];
    if (layers.empty()) {
      X2IR_ASSIGN_OR_RETURN(layers, LayersOf(list, names, path));
    }
    if (SaysInputs(config) && class_name != "Sequential") {
      return Functional(config, list, layers, inputs, depth);
    }
    return Sequential(config, layers, inputs, depth);
  }

  static std::string Joined(const std::vector<std::string>& names) {
    std::string joined;
    for (const std::string& name : names) StrAppend(&joined, joined.empty() ? "" : "/", name);
    return joined;
  }

  absl::StatusOr<std::vector<Layer>> LayersOf(const Json& list,
                                              const std::vector<std::string>& names,
                                              const std::string& path) const {
    std::vector<Layer> layers;
    std::map<std::string, int> counts;
    for (const Json& entry : list.items()) {
      Layer layer;
      layer.class_name = entry["class_name"].text();
      layer.config = entry["config"];
      layer.name = entry["name"].text();
      if (layer.name.empty()) layer.name = layer.config["name"].text();
      if (layer.class_name.empty()) return Invalid("a layer without a class");
      const std::string function = FunctionOf(entry, source_.version);
      const std::string stored = StoredName(layer.class_name);
      // Functions are not stored.
      const int number = function.empty() ? counts[stored]++ : 0;
      if (layer.name.empty()) layer.name = number == 0 ? stored : StrCat(stored, "_", number);
      layer.place.names = names;
      layer.place.names.push_back(layer.name);
      layer.place.path = StrCat(path, path.empty() ? "" : "/", "layers/", stored,
                                number == 0 ? "" : StrCat("_", number));
      if (!function.empty()) {
        layer.class_name = function;
        layer.is_function = true;
      } else if (const std::string custom = CustomClassOf(entry); !custom.empty()) {
        layer.class_name = custom;
      }
      if (source_.version == 1) {
        X2IR_RETURN_IF_ERROR(Annotate(UpgradeLayer(&layer.class_name, &layer.config),
                                      StrCat("layer '", layer.name, "'")));
      }
      layers.push_back(std::move(layer));
    }
    return layers;
  }

  Type InputType(const Json& config, const std::string& name, const Json& other_shape) const {
    const Json* shape = nullptr;
    for (const char* key : {"batch_input_shape", "batch_shape"}) {
      if (config[key].is_array()) shape = &config[key];
    }
    bool with_batch = shape != nullptr;
    if (!shape && config["shape"].is_array()) shape = &config["shape"];
    if (!shape && config["input_shape"].is_array()) shape = &config["input_shape"];
    if (!shape && other_shape.is_array()) {
      shape = &other_shape;
      with_batch = true;
    }
    const std::string policy =
        PolicyName(config.Has("input_dtype") ? config["input_dtype"] : config["dtype"]);
    DType dtype = DType::kFloat32;
    if (policy == "bool") {
      dtype = DType::kBool;
    } else if (policy == "string") {
      dtype = DType::kString;
    } else if (const auto known = ParseDType(policy)) {
      dtype = *known;
    }
    if (!shape) return Type::Tensor(dtype);
    std::vector<Dim> dims;
    if (!with_batch) dims.push_back(Dim::Symbol("batch"));
    for (size_t i = 0; i < shape->size(); ++i) {
      const Json& size = shape->at(i);
      if (size.is_number() && size.Int() >= 0) {
        dims.emplace_back(size.Int());
      } else {
        dims.push_back(Dim::Symbol(dims.empty() ? "batch" : StrCat(name, "_", dims.size())));
      }
    }
    return Type::Tensor(dtype, Shape(std::move(dims)));
  }

  absl::StatusOr<std::vector<Value*>> Sequential(const Json& config, std::vector<Layer>& layers,
                                                 const std::vector<Value*>* inputs, int depth) {
    std::vector<Value*> values;
    if (inputs) {
      values = *inputs;
    } else if (!layers.empty()) {
      Json first = FirstConfig(layers[0], 0);
      const bool is_input = layers[0].class_name == "InputLayer";
      std::string name = is_input ? layers[0].name : layers[0].name + "_input";
      const Json& built = config["build_input_shape"];
      if (first["ragged"].Flag()) return Unimplemented("the input '", name, "', which is ragged");
      values.push_back(graph_.AddInput(graph_.UniqueName(name), InputType(first, name, built)));
    }
    for (Layer& layer : layers) {
      if (layer.class_name == "InputLayer") continue;
      CallSite site;
      X2IR_ASSIGN_OR_RETURN(values, Call(layer, site, values, {}, 1, depth));
    }
    return values;
  }

  // Of the first layer that is not a model.
  static Json FirstConfig(const Layer& layer, int depth) {
    Json config = layer.config;
    std::string class_name = layer.class_name;
    while (depth++ < kMaxModelDepth && IsModel(class_name, config)) {
      const Json first = (config.is_array() ? config : config["layers"]).at(0);
      class_name = first["class_name"].text();
      config = first["config"];
    }
    // A layer that wraps another may leave the shape to it.
    return config;
  }

  struct Entry {
    Layer* layer = nullptr;
    std::vector<CallSite> sites;
    std::vector<std::vector<Value*>> results;  // of each call; empty: not yet
    std::vector<int> state;                    // 0: not looked at, 1: waits for others, 2: done
    std::vector<int64_t> counts;               // the number of results, up to the last used one
  };
  using Entries = std::map<std::string, Entry>;

  absl::StatusOr<std::vector<Value*>> Functional(const Json& config, const Json& list,
                                                 std::vector<Layer>& layers,
                                                 const std::vector<Value*>* inputs, int depth) {
    Entries entries;
    for (size_t i = 0; i < layers.size(); ++i) {
      Entry entry;
      entry.layer = &layers[i];
      const Json& inbound = list.at(i)["inbound_nodes"];
      entry.sites =
          layers[i].is_function ? FunctionCallsOf(inbound, layers[i].config) : CallSitesOf(inbound);
      if (layers[i].class_name == "InputLayer") entry.sites = {CallSite()};
      entry.results.resize(entry.sites.size());
      entry.state.resize(entry.sites.size());
      entry.counts.assign(entry.sites.size(), 1);
      const std::string& name = layers[i].name;
      if (!entries.emplace(name, std::move(entry)).second) {
        return Invalid("two layers are called '", name, "'");
      }
    }
    std::vector<TensorRef> in, out;
    CollectRefs(config["input_layers"], &in);
    CollectRefs(config["output_layers"], &out);
    CountFromModels(&entries, &in, &out);
    const auto note = [&](const TensorRef& ref) -> absl::Status {
      const auto found = entries.find(ref.layer);
      if (found == entries.end()) return Invalid("there is no layer '", ref.layer, "'");
      if (ref.call < 0 || static_cast<size_t>(ref.call) >= found->second.sites.size()) {
        return Invalid("layer '", ref.layer, "' is not called ", ref.call + 1, " times");
      }
      if (ref.index < 0 || ref.index >= kMaxResults) {
        return Invalid("layer '", ref.layer, "' has no result ", ref.index);
      }
      int64_t& count = found->second.counts[static_cast<size_t>(ref.call)];
      count = std::max(count, ref.index + 1);
      return absl::OkStatus();
    };
    for (const TensorRef& ref : in) X2IR_RETURN_IF_ERROR(note(ref));
    for (const TensorRef& ref : out) X2IR_RETURN_IF_ERROR(note(ref));
    for (const auto& [name, entry] : entries) {
      for (const CallSite& site : entry.sites) {
        for (const TensorRef& ref : site.inputs) X2IR_RETURN_IF_ERROR(note(ref));
        for (const auto& [key, ref] : site.named) X2IR_RETURN_IF_ERROR(note(ref));
      }
    }
    if (inputs && in.size() != inputs->size()) {
      return Invalid("a model of ", in.size(), " inputs is called with ", inputs->size());
    }
    for (size_t i = 0; i < in.size(); ++i) {
      Entry& entry = entries.at(in[i].layer);
      const auto call = static_cast<size_t>(in[i].call);
      Value* value = nullptr;
      if (inputs) {
        value = (*inputs)[i];
      } else if (!entry.results[call].empty()) {
        return Invalid("'", in[i].layer, "' is an input twice");
      } else if (entry.layer->config["ragged"].Flag()) {
        return Unimplemented("the input '", in[i].layer, "', which is ragged");
      } else {
        value = graph_.AddInput(graph_.UniqueName(in[i].layer),
                                InputType(entry.layer->config, in[i].layer, Json()));
      }
      entry.results[call] = {value};
      entry.state[call] = 2;
    }
    std::vector<Value*> outputs;
    for (const TensorRef& ref : out) {
      X2IR_RETURN_IF_ERROR(Make(entries, ref, depth));
      outputs.push_back(ResultOf(entries, ref));
      if (!outputs.back()) return Invalid("layer '", ref.layer, "' has no result ", ref.index);
    }
    return outputs;
  }

  // A model has a call before all others, that of its own inputs: where calls of one are counted
  // from 1, they are counted from 0 here.
  static void CountFromModels(Entries* entries, std::vector<TensorRef>* in,
                              std::vector<TensorRef>* out) {
    std::set<std::string> from_one;
    const auto each = [&](const auto& fn) {
      for (auto* list : {in, out}) std::for_each(list->begin(), list->end(), fn);
      for (auto& [name, entry] : *entries) {
        for (CallSite& site : entry.sites) {
          std::for_each(site.inputs.begin(), site.inputs.end(), fn);
          for (auto& [key, ref] : site.named) fn(ref);
        }
      }
    };
    each([&](TensorRef& ref) {
      const auto found = entries->find(ref.layer);
      if (found == entries->end()) return;
      const Entry& entry = found->second;
      if (IsModel(entry.layer->class_name, entry.layer->config) &&
          ref.call == static_cast<int64_t>(entry.sites.size())) {
        from_one.insert(ref.layer);
      }
    });
    if (from_one.empty()) return;
    each([&](TensorRef& ref) { ref.call -= from_one.contains(ref.layer) ? 1 : 0; });
  }

  static Value* ResultOf(const Entries& entries, const TensorRef& ref) {
    const auto& results = entries.at(ref.layer).results[static_cast<size_t>(ref.call)];
    return static_cast<size_t>(ref.index) < results.size() ? results[static_cast<size_t>(ref.index)]
                                                           : nullptr;
  }

  // A call and all that it needs, what is needed first.
  absl::Status Make(Entries& entries, const TensorRef& root, int depth) {
    std::vector<std::pair<Entry*, size_t>> todo = {
        {&entries.at(root.layer), static_cast<size_t>(root.call)}};
    while (!todo.empty()) {
      Entry& entry = *todo.back().first;
      const size_t call = todo.back().second;
      if (entry.state[call] == 2) {
        todo.pop_back();
        continue;
      }
      const CallSite& site = entry.sites[call];
      if (entry.layer->class_name == "InputLayer") {
        return Invalid("input '", entry.layer->name, "' is not an input of the model");
      }
      if (entry.state[call] == 0) {
        entry.state[call] = 1;
        const auto need = [&](const TensorRef& ref) -> absl::Status {
          Entry& other = entries.at(ref.layer);
          const auto at = static_cast<size_t>(ref.call);
          if (other.state[at] == 1)
            return Invalid("layer '", ref.layer, "' depends on its own result");
          if (other.state[at] == 0) todo.emplace_back(&other, at);
          return absl::OkStatus();
        };
        for (const auto& [name, ref] : site.named) X2IR_RETURN_IF_ERROR(need(ref));
        for (size_t i = site.inputs.size(); i-- > 0;) {
          X2IR_RETURN_IF_ERROR(need(site.inputs[i]));
        }
        if (todo.size() > static_cast<size_t>(kMaxCalls)) return Invalid("too many calls");
        continue;
      }
      std::vector<Value*> values;
      std::vector<std::pair<std::string, Value*>> named;
      for (const TensorRef& ref : site.inputs) values.push_back(ResultOf(entries, ref));
      for (const auto& [name, ref] : site.named) named.emplace_back(name, ResultOf(entries, ref));
      for (const Value* value : values) {
        if (!value) return Invalid("layer '", entry.layer->name, "' is called without a tensor");
      }
      X2IR_ASSIGN_OR_RETURN(entry.results[call],
                            Call(*entry.layer, site, values, named, entry.counts[call], depth));
      entry.state[call] = 2;
      todo.pop_back();
    }
    return absl::OkStatus();
  }

  // --- Calls -------------------------------------------------------------------------------------

  using Named = std::vector<std::pair<std::string, Value*>>;

  absl::StatusOr<std::vector<Value*>> Call(Layer& layer, const CallSite& site,
                                           const std::vector<Value*>& inputs, const Named& named,
                                           int64_t count, int depth) {
    if (++calls_ > kMaxCalls) return Invalid("the model has more than ", kMaxCalls, " layers");
    if (depth > kMaxModelDepth) return Invalid("layers are nested too deeply");
    const auto at = [&](absl::StatusOr<std::vector<Value*>> made) {
      if (made.ok()) return made;
      return absl::StatusOr<std::vector<Value*>>(
          Annotate(made.status(), StrCat("layer '", layer.name, "'")));
    };
    if (layer.is_function) {
      Layer call = layer;
      call.config = Json::Object();
      return Append(call, site, inputs, named, {}, count);
    }
    const std::string training = StrCat(kCallPrefix, "training");
    if (site.attrs.Has(training) && !IsBatchNormalization(layer)) {
      if (!IsSameInTraining(layer)) {
        return Unimplemented("layer '", layer.name, "' is called with training=True");
      }
      CallSite plain = site;
      plain.attrs.Erase(training);
      return Call(layer, plain, inputs, named, count, depth);
    }
    if (IsModel(layer.class_name, layer.config)) {
      // A mask that is handed to a model goes with its tensors anyway.
      for (const auto& [name, value] : named) {
        if (name != "mask")
          return Unimplemented("a model called with the keyword argument '", name, "'");
      }
      absl::StatusOr<std::vector<Value*>> ordered = ByInputs(layer.config, site, inputs);
      if (!ordered.ok()) return at(std::move(ordered));
      return at(Inline(layer.class_name, layer.config, layer.place.names, layer.place.path,
                       &*ordered, depth + 1));
    }
    const std::string& c = layer.class_name;
    if (c == "Bidirectional") return at(Bidirectional(layer, site, inputs, named, count, depth));
    if (c == "TimeDistributed") {
      for (const auto& [name, value] : named) {
        // A mask of the steps changes nothing in a step.
        if (name != "mask") return at(Unimplemented("argument '", name, "'"));
      }
      return at(TimeDistributed(layer, inputs, depth));
    }
    if (c == "RNN") return at(Rnn(layer, site, inputs, named, count, depth));
    if (c == "SpectralNormalization") {
      if (!named.empty()) return at(Unimplemented("argument '", named[0].first, "'"));
      return at(SpectralNormalization(layer, site, inputs, depth));
    }
    if (c == "TensorFlowOpLayer") return at(TfOp(layer, site, inputs, named, count));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> weights, WeightsOf(layer));
    X2IR_RETURN_IF_ERROR(AddVocabulary(layer));
    return Append(layer, site, inputs, named, weights, count);
  }

  // A model whose inputs are a list takes a dictionary by their names.
  static absl::StatusOr<std::vector<Value*>> ByInputs(const Json& config, const CallSite& site,
                                                      const std::vector<Value*>& inputs) {
    if (site.keys.empty() || config["input_layers"].is_object()) return inputs;
    std::vector<TensorRef> in;
    CollectRefs(config["input_layers"], &in);
    std::vector<Value*> ordered;
    for (const TensorRef& ref : in) {
      const auto found = std::ranges::find(site.keys, ref.layer);
      const auto at = static_cast<size_t>(found - site.keys.begin());
      if (at >= inputs.size()) return Unimplemented("its input '", ref.layer, "' is not given");
      ordered.push_back(inputs[at]);
    }
    return ordered;
  }

  static bool IsBatchNormalization(const Layer& layer) {
    return layer.class_name.starts_with("BatchNormalization") ||
           layer.class_name == "SyncBatchNormalization";
  }
  // Whether a layer does the same in training as in inference. Not used for layers of layers.
  static bool IsSameInTraining(const Layer& layer) {
    const std::string& c = layer.class_name;
    static constexpr std::string_view kOthers[] = {
        "Bidirectional", "TimeDistributed", "RNN",         "SpectralNormalization", "AugMix",
        "CutMix",        "MixUp",           "RandAugment", "StochasticDepth"};
    if (std::ranges::find(kOthers, c) != std::end(kOthers)) return false;
    if (IsModel(c, layer.config) || c.find("Dropout") != c.npos || c.starts_with("Random") ||
        c.starts_with("Gaussian")) {
      return false;
    }
    for (const char* rate : {"dropout", "recurrent_dropout"}) {
      if (layer.config[rate].Number() != 0) return false;
    }
    return true;
  }

  // The words that a layer was adapted to are stored beside the weights.
  absl::Status AddVocabulary(Layer& layer) {
    const std::string& c = layer.class_name;
    if ((c != "StringLookup" && c != "IntegerLookup" && c != "TextVectorization") ||
        layer.config.Has("vocabulary")) {
      return absl::OkStatus();
    }
    X2IR_ASSIGN_OR_RETURN(const std::string text,
                          source_.weights.Asset(layer.place, "vocabulary.txt"));
    std::vector<Json> words;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      words.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    if (!words.empty()) layer.config.Set("vocabulary", Json::Array(std::move(words)));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Value*>> Append(const Layer& layer, const CallSite& site,
                                             const std::vector<Value*>& inputs, const Named& named,
                                             const std::vector<Value*>& weights, int64_t count) {
    values_ += ValuesIn(layer.config);
    if (const Attribute* arguments = site.attrs.Find(kCallArguments)) {
      values_ += static_cast<int64_t>(arguments->get<std::string>()->size() / 8);
    }
    if (values_ > kMaxValues) return Invalid("configurations are too large when written out");
    std::vector<Value*> operands = inputs;
    Attribute::Strings names;
    for (const auto& [name, value] : named) {
      names.push_back(name);
      operands.push_back(value);
    }
    operands.insert(operands.end(), weights.begin(), weights.end());
    const std::string name = Joined(layer.place.names);
    Node* node = graph_.AppendNode(kDialect, layer.class_name, operands);
    node->set_name(name);
    for (auto& [key, attr] : AttributesOf(layer.config)) node->SetAttr(key, attr);
    for (const auto& [key, attr] : site.attrs) node->SetAttr(key, attr);
    node->SetAttr(kCallInputs, static_cast<int64_t>(inputs.size()));
    if (!names.empty()) node->SetAttr(kCallNames, names);
    node->SetAttr(kCallWeights, static_cast<int64_t>(weights.size()));
    node->SetAttr(kVersion, static_cast<int64_t>(source_.version));
    std::vector<Value*> results;
    for (int64_t i = 0; i < count; ++i) {
      const std::string result = i == 0 ? name : StrCat(name, ":", i);
      results.push_back(graph_.AddNodeOutput(node, graph_.UniqueName(result)));
    }
    return results;
  }

  absl::StatusOr<std::vector<Value*>> WeightsOf(Layer& layer) {
    if (layer.weights) return *layer.weights;
    X2IR_ASSIGN_OR_RETURN(std::vector<StoredWeight> stored, source_.weights.Of(layer.place));
    if (source_.version == 1) {
      X2IR_RETURN_IF_ERROR(Annotate(UpgradeWeights(layer.class_name, layer.config, &stored),
                                    StrCat("layer '", layer.name, "'")));
    }
    if (source_.backend == "theano" && HasTheanoKernel(layer.class_name) && !stored.empty()) {
      stored[0].tensor = FlippedKernel(stored[0].tensor);
    }
    std::vector<Value*> values;
    for (StoredWeight& weight : stored) {
      if (LeafOf(weight.name).starts_with("seed_generator")) continue;
      const std::string name =
          graph_.UniqueName(StrCat(Joined(layer.place.names), "/", LeafOf(weight.name)));
      values.push_back(graph_.AddConstant(name, std::move(weight.tensor)));
      model_.weights.push_back({name, {weight.name}, true});
    }
    layer.weights = values;
    return values;
  }

  absl::StatusOr<std::vector<Value*>> TfOp(const Layer& layer, const CallSite& site,
                                           const std::vector<Value*>& inputs, const Named& named,
                                           int64_t count) {
    values_ += ValuesIn(layer.config);
    Layer call = layer;
    CallSite with = site;
    X2IR_ASSIGN_OR_RETURN(with.attrs, TfOpAttributes(layer.config));
    call.config = Json::Object();
    return Append(call, with, inputs, named, {}, count);
  }

  // --- Layers of layers --------------------------------------------------------------------------

  absl::StatusOr<Layer> Inner(const Layer& outer, const Json& of, const std::string& stored) const {
    Layer layer;
    layer.class_name = of["class_name"].text();
    layer.config = of["config"];
    if (layer.class_name.empty()) return Invalid("it does not wrap a layer");
    if (source_.version == 1) X2IR_RETURN_IF_ERROR(UpgradeLayer(&layer.class_name, &layer.config));
    layer.name = layer.config["name"].text();
    if (layer.name.empty()) layer.name = stored;
    layer.place = outer.place;
    layer.place.names.push_back(layer.name);
    StrAppend(&layer.place.path, "/", stored);
    return layer;
  }

  // The same layer on values reversed in time, and what it gives merged.
  absl::StatusOr<std::vector<Value*>> Bidirectional(Layer& layer, const CallSite& site,
                                                    const std::vector<Value*>& inputs,
                                                    const Named& named, int64_t count, int depth) {
    const Json& config = layer.config;
    X2IR_ASSIGN_OR_RETURN(Layer forward, Inner(layer, config["layer"], "forward_layer"));
    if (forward.class_name == "Bidirectional" || forward.class_name == "TimeDistributed" ||
        IsModel(forward.class_name, forward.config)) {
      return Unimplemented("two directions of '", forward.class_name, "'");
    }
    const bool own = config["backward_layer"].is_object();
    X2IR_ASSIGN_OR_RETURN(Layer backward,
                          Inner(layer, config[own ? "backward_layer" : "layer"], "backward_layer"));
    if (!own) {
      backward.config.Set("go_backwards",
                          Json::Bool(!config["layer"]["config"]["go_backwards"].Flag()));
    }
    X2IR_ASSIGN_OR_RETURN(std::vector<Value*> weights, WeightsOf(layer));
    if (source_.version == 1 && !weights.empty()) {
      // Of Keras 1 each direction has its gates apart.
      X2IR_ASSIGN_OR_RETURN(weights, UpgradedHalves(layer, forward));
    }
    if (weights.size() % 2 != 0) return Invalid("an odd number of weights for two directions");
    const auto half = static_cast<ptrdiff_t>(weights.size() / 2);
    forward.weights = std::vector<Value*>(weights.begin(), weights.begin() + half);
    backward.weights = std::vector<Value*>(weights.begin() + half, weights.end());
    const bool sequences = forward.config["return_sequences"].Flag();
    for (Layer* one : {&forward, &backward}) {
      one->place.names.back() = StrCat(one == &forward ? "forward_" : "backward_", one->name);
      one->config.Set("zero_output_for_mask", Json::Bool(sequences));
    }
    if (sequences) backward.config.Set(kReverseOutput, Json::Bool(true));
    // Initial states: those of one direction, then those of the other.
    std::vector<Value*> states(inputs.begin() + (inputs.empty() ? 0 : 1), inputs.end());
    Named masks;
    for (const auto& [name, value] : named) {
      if (name == "initial_state") {
        states.push_back(value);
      } else if (name == "mask") {
        masks.emplace_back(name, value);
      } else {
        return Unimplemented("argument '", name, "'");
      }
    }
    if (inputs.empty() || states.size() % 2 != 0) return Invalid("an odd number of initial states");
    const bool states_too = forward.config["return_state"].Flag();
    const int64_t of_each = states_too ? 1 + StatesOf(forward) : 1;
    std::vector<std::vector<Value*>> results;
    for (Layer* one : {&forward, &backward}) {
      std::vector<Value*> given = {inputs[0]};
      const auto from =
          states.begin() + (one == &forward ? 0 : static_cast<ptrdiff_t>(states.size() / 2));
      given.insert(given.end(), from, from + static_cast<ptrdiff_t>(states.size() / 2));
      X2IR_ASSIGN_OR_RETURN(std::vector<Value*> made,
                            Call(*one, site, given, masks, of_each, depth + 1));
      results.push_back(std::move(made));
    }
    const std::string& mode = config["merge_mode"].text();
    std::vector<Value*> all;
    if (mode.empty()) {
      all = {results[0][0], results[1][0]};
    } else {
      Layer merge;
      merge.name = layer.name;
      merge.place = layer.place;
      merge.class_name = mode == "sum"   ? "Add"
                         : mode == "mul" ? "Multiply"
                         : mode == "ave" ? "Average"
                                         : "Concatenate";
      if (merge.class_name == "Concatenate" && mode != "concat") {
        return Unimplemented("merge_mode '", mode, "'");
      }
      if (mode == "concat") merge.config.Set("axis", Json(int64_t{-1}));
      X2IR_ASSIGN_OR_RETURN(all,
                            Append(merge, CallSite(), {results[0][0], results[1][0]}, {}, {}, 1));
    }
    for (const auto& result : results) all.insert(all.end(), result.begin() + 1, result.end());
    if (static_cast<int64_t>(all.size()) < count) return Invalid("it has no result ", count - 1);
    return all;
  }

  absl::StatusOr<std::vector<Value*>> UpgradedHalves(Layer& layer, const Layer& forward) {
    X2IR_ASSIGN_OR_RETURN(std::vector<StoredWeight> stored, source_.weights.Of(layer.place));
    std::vector<Value*> values;
    const size_t half = stored.size() / 2;
    for (size_t side = 0; side < 2; ++side) {
      std::vector<StoredWeight> part(stored.begin() + static_cast<ptrdiff_t>(side * half),
                                     stored.begin() + static_cast<ptrdiff_t>((side + 1) * half));
      X2IR_RETURN_IF_ERROR(UpgradeWeights(forward.class_name, forward.config, &part));
      for (StoredWeight& weight : part) {
        values.push_back(graph_.AddConstant(
            graph_.UniqueName(StrCat(Joined(layer.place.names), "/",
                                     side == 0 ? "forward_" : "backward_", LeafOf(weight.name))),
            std::move(weight.tensor)));
      }
    }
    return values;
  }

  static int64_t StatesOf(const Layer& layer) {
    const Json& cell = layer.config["cell"];
    if (cell["class_name"].text() == "StackedRNNCells") {
      int64_t count = 0;
      for (const Json& one : cell["config"]["cells"].items()) {
        count += one["class_name"].text().find("LSTM") == std::string::npos ? 1 : 2;
      }
      return count;
    }
    const std::string& c = cell.is_object() ? cell["class_name"].text() : layer.class_name;
    return c.find("LSTM") == c.npos ? 1 : 2;
  }

  absl::StatusOr<std::vector<Value*>> TimeDistributed(Layer& layer,
                                                      const std::vector<Value*>& inputs,
                                                      int depth) {
    X2IR_ASSIGN_OR_RETURN(Layer inner, Inner(layer, layer.config["layer"], "layer"));
    if (inputs.size() != 1) return Unimplemented("several inputs");
    if (!IsModel(inner.class_name, inner.config)) {
      // Its weights are those of the wrapper, whatever they are called.
      inner.place.names.pop_back();
      inner.place.path = layer.place.path;
      inner.weights = layer.weights;
    }
    Layer fold = layer, unfold = layer;
    fold.config = unfold.config = Json::Object();
    fold.class_name = kFold;
    fold.place.names.back() += "/fold";
    unfold.class_name = kUnfold;
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> steps,
                          Append(fold, CallSite(), inputs, {}, {}, 1));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> results,
                          Call(inner, CallSite(), steps, {}, 1, depth + 1));
    layer.weights = inner.weights;
    if (results.size() != 1) return Unimplemented("several results");
    return Append(unfold, CallSite(), {results[0], inputs[0]}, {}, {}, 1);
  }

  // A layer that applies its kernel as it was last divided by its norm.
  absl::StatusOr<std::vector<Value*>> SpectralNormalization(Layer& layer, const CallSite& site,
                                                            const std::vector<Value*>& inputs,
                                                            int depth) {
    X2IR_ASSIGN_OR_RETURN(Layer inner, Inner(layer, layer.config["layer"], "layer"));
    if (!layer.weights) {
      X2IR_ASSIGN_OR_RETURN(std::vector<StoredWeight> stored, source_.weights.Of(layer.place));
      std::erase_if(stored, [](const StoredWeight& weight) {
        const std::string leaf = LeafOf(weight.name);
        return leaf == "vector_u" || leaf == "sn_u" || weight.name == "vars/0";
      });
      std::vector<Value*> values;
      for (StoredWeight& weight : stored) {
        values.push_back(graph_.AddConstant(
            graph_.UniqueName(StrCat(Joined(layer.place.names), "/", LeafOf(weight.name))),
            std::move(weight.tensor)));
      }
      layer.weights = values;
    }
    inner.weights = layer.weights;
    inner.place.names.pop_back();
    return Call(inner, site, inputs, {}, 1, depth + 1);
  }

  // A layer of cells: layers of one cell each, one after the other.
  absl::StatusOr<std::vector<Value*>> Rnn(Layer& layer, const CallSite& site,
                                          const std::vector<Value*>& inputs, const Named& named,
                                          int64_t count, int depth) {
    const Json& cell = layer.config["cell"];
    std::vector<Json> cells = {cell};
    if (cell["class_name"].text() == "StackedRNNCells") cells = cell["config"]["cells"].items();
    if (cells.empty()) return Invalid("it has no cells");
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> weights, WeightsOf(layer));
    std::vector<Value*> states(inputs.begin() + (inputs.empty() ? 0 : 1), inputs.end());
    Named rest;
    for (const auto& [name, value] : named) {
      if (name == "initial_state") {
        states.push_back(value);
      } else {
        rest.emplace_back(name, value);
      }
    }
    if (inputs.empty()) return Invalid("it is called without a tensor");
    std::vector<Value*> results, last = {inputs[0]};
    size_t next_weight = 0, next_state = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      Layer one;
      const std::string& c = cells[i]["class_name"].text();
      const auto* known = std::find_if(std::begin(kCells), std::end(kCells),
                                       [&](const NamePair& row) { return row.from == c; });
      one.class_name = known == std::end(kCells) ? c : std::string(known->to);
      if (one.class_name.empty()) return Invalid("a cell without a class");
      one.config = cells[i]["config"];
      for (const char* key : {"go_backwards", "stateful", "unroll", "time_major",
                              "zero_output_for_mask", "return_state", kReverseOutput}) {
        if (layer.config.Has(key)) one.config.Set(key, layer.config[key]);
      }
      const bool is_last = i + 1 == cells.size();
      one.config.Set("return_sequences",
                     Json::Bool(!is_last || layer.config["return_sequences"].Flag()));
      if (i > 0) one.config.Set("go_backwards", Json::Bool(false));
      if (!is_last) one.config.Erase(kReverseOutput);
      one.name = StrCat(layer.name, cells.size() > 1 ? StrCat("/cell_", i) : "");
      one.place = layer.place;
      one.place.names.back() = one.name;
      size_t of_cell = weights.size();
      if (cells.size() > 1) of_cell = one.config["use_bias"].Flag(true) ? 3 : 2;
      of_cell = std::min(of_cell, weights.size() - next_weight);
      const auto from = weights.begin() + static_cast<ptrdiff_t>(next_weight);
      one.weights = std::vector<Value*>(from, from + static_cast<ptrdiff_t>(of_cell));
      next_weight += of_cell;
      std::vector<Value*> given = {last[0]};
      const auto of_states = static_cast<size_t>(StatesOf(one));
      for (size_t k = 0; k < of_states && next_state < states.size(); ++k) {
        given.push_back(states[next_state++]);
      }
      const bool returns = layer.config["return_state"].Flag();
      X2IR_ASSIGN_OR_RETURN(
          last, Call(one, site, given, rest, returns ? 1 + StatesOf(one) : 1, depth + 1));
      results.insert(results.end(), last.begin() + 1, last.end());
    }
    if (next_weight != weights.size()) return Invalid("it has more weights than its cells need");
    results.insert(results.begin(), last[0]);
    if (static_cast<int64_t>(results.size()) < count) {
      return Invalid("it has no result ", count - 1);
    }
    return results;
  }

  const NetworkSource& source_;
  Model& model_;
  Graph& graph_;
  std::map<std::string, std::vector<Layer>> models_;  // of each nested model, once
  int64_t calls_ = 0;
  int64_t values_ = 0;
};

std::vector<std::string_view> PartsOf(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = name.find('/');
    if (slash == name.npos) return parts;
    parts.push_back(name.substr(0, slash));
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::vector<size_t> FindByName(const std::vector<std::string>& names, const LayerPlace& place) {
  // The weights with the most of the names around them, in their order.
  std::vector<size_t> best;
  size_t most = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::vector<std::string_view> parts = PartsOf(names[i]);
    const auto has = [&](const std::string& name) {
      return std::find(parts.begin(), parts.end(), name) != parts.end();
    };
    if (!has(place.names.back())) continue;
    size_t score = 1;
    for (size_t k = 0; k + 1 < place.names.size(); ++k) score += has(place.names[k]) ? 1 : 0;
    if (score > most) best.clear();
    if (score >= most) best.push_back(i);
    most = std::max(most, score);
  }
  return best;
}

std::string StoredName(const std::string& class_name) {
  // It is published under another name than it has.
  if (class_name == "GroupQueryAttention") return "grouped_query_attention";
  std::string snake = SnakeCase(class_name);
  for (const char* d : {"1_d", "2_d", "3_d"}) {
    for (size_t at = snake.find(d); at != snake.npos; at = snake.find(d)) snake.erase(at + 1, 1);
  }
  return snake;
}

std::string PolicyName(const Json& dtype) {
  if (dtype.is_string()) return dtype.text();
  if (dtype.is_object()) return dtype["config"]["name"].text();
  return "";
}

absl::Status BuildNetwork(const NetworkSource& source, Model* model) {
  model->source_dialect = kDialect;
  model->SetOpset("", source.version);
  model->producer_name = "Keras";
  return NetworkBuilder(source, model).Build();
}

}  // namespace keras
}  // namespace x2ir
