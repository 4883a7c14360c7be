// Neural networks: layers that read and write blobs by name, as a graph. A blob that is written
// again is another value; control flow reads and writes the blobs around it.
#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/coreml/reader_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::coreml {
namespace {

constexpr int kMaxNetworkDepth = 32;
constexpr uint32_t kFirstLayerField = 100;

struct LayerFields {
  std::string name;
  std::vector<std::string> inputs, outputs;
  const ProtoField* kind = nullptr;
  std::string_view params;
};

class NetworkReader {
 public:
  NetworkReader(const BlobPtr& file, Graph& graph) : file_(file), root_(graph) {}

  absl::Status Read(std::string_view bytes, Scope* scope) {
    Level level{&root_, nullptr, std::move(*scope)};
    const absl::Status status = ReadNetworkOf(bytes, level, 0);
    *scope = std::move(level.values);
    return status;
  }

 private:
  struct Level {
    Graph* graph;
    Level* outer;
    Scope values;
    bool in_body = false;  // of a loop
  };
  using Layers = std::vector<LayerFields>;

  const char* origin() const { return file_->view().data(); }

  Value* Find(Level& level, const std::string& name) {
    for (Level* at = &level; at; at = at->outer) {
      if (const auto it = at->values.find(name); it != at->values.end()) return it->second;
    }
    return nullptr;
  }
  absl::StatusOr<Value*> Get(Level& level, const std::string& name) {
    if (Value* value = Find(level, name)) return value;
    return Invalid("no layer computes '", name, "'");
  }

  absl::StatusOr<LayerFields> ReadLayer(std::string_view bytes) {
    LayerFields layer;
    WireReader in(bytes, origin());
    while (in.Next()) {
      if (in.field() == neural_network_layer_field::kName) layer.name = in.String();
      if (in.field() == neural_network_layer_field::kInput) layer.inputs.push_back(in.String());
      if (in.field() == neural_network_layer_field::kOutput) layer.outputs.push_back(in.String());
      if (in.field() < kFirstLayerField) continue;
      layer.kind = FindProtoField(NeuralNetworkLayerMessage(), in.field());
      if (!layer.kind) return Unimplemented("layer '", layer.name, "' is of kind ", in.field());
      layer.params = in.Bytes();
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (!layer.kind) return Invalid("layer '", layer.name, "' has no kind");
    return layer;
  }

  // The layers of a network, of whatever kind its message is.
  absl::StatusOr<Layers> LayersOf(std::string_view bytes) {
    Layers layers;
    WireReader in(bytes, origin());
    while (in.Next()) {
      if (in.field() != neural_network_field::kLayers) continue;
      X2IR_ASSIGN_OR_RETURN(layers.emplace_back(), ReadLayer(in.Bytes()));
    }
    X2IR_RETURN_IF_ERROR(in.status());
    return layers;
  }

  absl::Status ReadNetworkOf(std::string_view bytes, Level& level, int depth) {
    X2IR_ASSIGN_OR_RETURN(const Layers layers, LayersOf(bytes));
    return ReadLayers(layers, level, depth);
  }

  // Layers after a layer that leaves the round of a loop do not run: after a branch that may leave
  // it, the remaining layers belong to its arms.
  absl::Status ReadLayers(absl::Span<const LayerFields> layers, Level& level, int depth) {
    if (depth > kMaxNetworkDepth) return DataLoss("networks are nested too deeply");
    for (size_t i = 0; i < layers.size(); ++i) {
      const LayerFields& layer = layers[i];
      const auto said = [&](const absl::Status& status) {
        return Annotate(status, StrCat("layer '", layer.name, "' (", layer.kind->name, ")"));
      };
      if (Leaves(layer)) {
        if (!level.in_body) return said(Invalid("it is not inside a loop"));
        if (layer.kind->name == "loopBreak") {
          level.values[std::string(kBroken)] = root_.AddConstant(
              root_.UniqueName("broken"), Tensor::Of<float>({1}, std::vector<float>{1}));
        }
        return absl::OkStatus();
      }
      if (++layers_ > kMaxLayers) return said(Unimplemented("too many layers in branches"));
      X2IR_ASSIGN_OR_RETURN(const bool leaves, MayLeave(layer, depth));
      if (leaves) return said(AddBranch(layer, layers.subspan(i + 1), level, depth));
      X2IR_RETURN_IF_ERROR(said(AddLayer(layer, level, depth)));
    }
    return absl::OkStatus();
  }

  static bool Leaves(const LayerFields& layer) {
    return layer.kind->name == "loopBreak" || layer.kind->name == "loopContinue";
  }
  // Whether it is a branch with such a layer in it.
  absl::StatusOr<bool> MayLeave(const LayerFields& layer, int depth) {
    if (depth > kMaxNetworkDepth) return DataLoss("networks are nested too deeply");
    if (layer.kind->name != "branch") return false;
    WireReader in(layer.params, origin());
    while (in.Next()) {
      if (in.field() != branch_layer_params_field::kIfBranch &&
          in.field() != branch_layer_params_field::kElseBranch) {
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(const Layers layers, LayersOf(in.Bytes()));
      for (const LayerFields& inner : layers) {
        X2IR_ASSIGN_OR_RETURN(const bool leaves, MayLeave(inner, depth + 1));
        if (leaves || Leaves(inner)) return true;
      }
    }
    X2IR_RETURN_IF_ERROR(in.status());
    return false;
  }

  // The weights of a deconvolution are [in, out / groups, height, width], and what scales they have
  // belong to their second axis.
  absl::Status ReadDeconvolution(const LayerFields& layer, Decoded* decoded) {
    if (layer.kind->name != "convolution") return absl::OkStatus();
    bool transposed = false;
    std::string_view weights;
    WireReader in(layer.params, origin());
    while (in.Next()) {
      if (in.field() == convolution_layer_params_field::kIsDeconvolution)
        transposed = in.Int() != 0;
      if (in.field() == convolution_layer_params_field::kWeights) weights = in.Bytes();
    }
    X2IR_RETURN_IF_ERROR(in.status());
    if (!transposed || weights.empty()) return absl::OkStatus();
    const std::vector<int64_t> kernel = decoded->attrs.Ints("kernelSize", {3, 3});
    uint64_t inner = 1;
    for (const int64_t size : kernel) {
      if (size < 1 || size > (1 << 16)) return Invalid("a kernel of size ", size);
      inner *= static_cast<uint64_t>(size);
      if (inner > (1u << 30)) return Invalid("a kernel of ", inner, " elements");
    }
    for (auto& [path, tensor] : decoded->weights) {
      if (path != "weights") continue;
      X2IR_ASSIGN_OR_RETURN(tensor, DecodeWeights(weights, file_, static_cast<size_t>(inner)));
    }
    return absl::OkStatus();
  }

  absl::Status AddLayer(const LayerFields& layer, Level& level, int depth) {
    X2IR_ASSIGN_OR_RETURN(Decoded decoded,
                          DecodeMessage(layer.params, *layer.kind->message, file_));
    X2IR_RETURN_IF_ERROR(ReadDeconvolution(layer, &decoded));
    if (layer.kind->name == "branch") return AddBranch(layer, {}, level, depth);
    if (layer.kind->name == "loop") return AddLoop(layer, decoded, level, depth);
    std::vector<Value*> operands;
    for (const std::string& name : layer.inputs) {
      X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), Get(level, name));
    }
    std::vector<std::string> weights;
    for (auto& [path, tensor] : decoded.weights) {
      const std::string name = root_.UniqueName(StrCat(layer.name, ".", path));
      operands.push_back(root_.AddConstant(name, std::move(tensor)));
      weights.push_back(path);
    }
    Node* node = level.graph->AppendNode(kDialect, StrCat("nn::", layer.kind->name), operands);
    node->set_name(layer.name);
    for (auto& [name, attr] : decoded.attrs) node->SetAttr(name, std::move(attr));
    if (!weights.empty()) node->SetAttr(kWeightNames, std::move(weights));
    for (const std::string& name : layer.outputs) AddResult(level, node, name);
    return absl::OkStatus();
  }

  void AddResult(Level& level, Node* node, const std::string& name) {
    level.values[name] = level.graph->AddNodeOutput(node, level.graph->UniqueName(name));
  }

  // --- Control flow
  // -------------------------------------------------------------------------------

  // The blobs that a network writes, those of networks in it too, in order.
  absl::Status CollectWritten(absl::Span<const LayerFields> layers, int depth,
                              std::vector<std::string>* names) {
    if (depth > kMaxNetworkDepth) return DataLoss("networks are nested too deeply");
    for (const LayerFields& layer : layers) {
      if (Leaves(layer)) {
        if (layer.kind->name == "loopBreak") names->emplace_back(kBroken);
        return absl::OkStatus();
      }
      names->insert(names->end(), layer.outputs.begin(), layer.outputs.end());
      const bool branch = layer.kind->name == "branch", loop = layer.kind->name == "loop";
      if (!branch && !loop) continue;
      WireReader inner(layer.params, origin());
      while (inner.Next()) {
        const uint32_t field = inner.field();
        if ((branch && (field == branch_layer_params_field::kIfBranch ||
                        field == branch_layer_params_field::kElseBranch)) ||
            (loop && (field == loop_layer_params_field::kConditionNetwork ||
                      field == loop_layer_params_field::kBodyNetwork))) {
          X2IR_ASSIGN_OR_RETURN(const Layers own, LayersOf(inner.Bytes()));
          std::vector<std::string> written;
          X2IR_RETURN_IF_ERROR(CollectWritten(own, depth + 1, &written));
          for (std::string& name : written) {
            // A loop leaves itself only.
            if (branch || name != kBroken) names->push_back(std::move(name));
          }
        }
      }
      X2IR_RETURN_IF_ERROR(inner.status());
    }
    return absl::OkStatus();
  }

  static const std::string_view* NetworkAt(const Decoded& decoded, std::string_view path) {
    for (const auto& [name, bytes] : decoded.networks) {
      if (name == path) return &bytes;
    }
    return nullptr;
  }

  // A result of a nested graph, which is made in it.
  static void AddOwn(Graph& graph, Value* value, std::string_view name) {
    if (value->graph() != &graph || !value->producer() || value->is_graph_output()) {
      value = AddNode(graph, "identity", {value}, {}, graph.UniqueName(name));
    }
    graph.AddOutput(value);
  }

  // `rest`: the layers after it, if it includes them.
  absl::Status AddBranch(const LayerFields& layer, absl::Span<const LayerFields> rest, Level& level,
                         int depth) {
    X2IR_ASSIGN_OR_RETURN(const Decoded decoded,
                          DecodeMessage(layer.params, *layer.kind->message, file_));
    if (layer.inputs.size() != 1) return Invalid("a branch must have exactly one input");
    X2IR_ASSIGN_OR_RETURN(Value * condition, Get(level, layer.inputs[0]));
    const std::string_view* networks[2] = {NetworkAt(decoded, "ifBranch"),
                                           NetworkAt(decoded, "elseBranch")};
    if (!networks[0]) return Invalid("a branch without a network");
    std::vector<std::string> written[2], results;
    Layers arms[2];
    for (size_t i = 0; i < 2; ++i) {
      if (networks[i]) {
        X2IR_ASSIGN_OR_RETURN(arms[i], LayersOf(*networks[i]));
      }
      arms[i].insert(arms[i].end(), rest.begin(), rest.end());
      X2IR_RETURN_IF_ERROR(CollectWritten(arms[i], depth + 1, &written[i]));
    }
    absl::flat_hash_set<std::string> seen;
    const absl::flat_hash_set<std::string> first(written[0].begin(), written[0].end()),
        second(written[1].begin(), written[1].end());
    for (const auto& names : written) {
      for (const std::string& name : names) {
        // A blob that only one branch computes, and that did not exist before, is not used.
        const bool either = Find(level, name) || (first.contains(name) && second.contains(name));
        if (either && seen.insert(name).second) results.push_back(name);
      }
    }
    Node* node = level.graph->AppendNode(kDialect, "nn::branch", std::vector<Value*>{condition});
    node->set_name(layer.name);
    static constexpr const char* kBranches[] = {"ifBranch", "elseBranch"};
    for (size_t i = 0; i < 2; ++i) {
      auto inner = std::make_shared<Graph>(kBranches[i]);
      node->SetAttr(kBranches[i], inner);
      Level nested{inner.get(), &level, {}, level.in_body};
      X2IR_RETURN_IF_ERROR(ReadLayers(arms[i], nested, depth + 1));
      for (const std::string& name : results) {
        X2IR_ASSIGN_OR_RETURN(Value * value, Get(nested, name));
        AddOwn(*inner, value, name);
      }
    }
    for (const std::string& name : results) AddResult(level, node, name);
    return absl::OkStatus();
  }

  absl::Status AddLoop(const LayerFields& layer, Decoded& decoded, Level& level, int depth) {
    const std::string_view *body = NetworkAt(decoded, "bodyNetwork"),
                           *condition = NetworkAt(decoded, "conditionNetwork");
    const Attribute* asked = decoded.attrs.Find("conditionVar");
    const std::string variable =
        asked && asked->get<std::string>() ? *asked->get<std::string>() : "";
    if (!body || layer.inputs.size() > 1) return Invalid("a loop has a body and at most one input");
    if ((condition != nullptr) == variable.empty())
      return Invalid("a condition without a blob, or a blob without a condition");
    std::vector<std::string> written, carried;
    Layers asking;
    if (condition) {
      X2IR_ASSIGN_OR_RETURN(asking, LayersOf(*condition));
      X2IR_RETURN_IF_ERROR(CollectWritten(asking, depth + 1, &written));
    }
    X2IR_ASSIGN_OR_RETURN(const Layers round, LayersOf(*body));
    X2IR_RETURN_IF_ERROR(CollectWritten(round, depth + 1, &written));
    const bool breaks = std::find(written.begin(), written.end(), kBroken) != written.end();
    absl::flat_hash_set<std::string> seen;
    for (const std::string& name : written) {
      if (name != kBroken && Find(level, name) && seen.insert(name).second) carried.push_back(name);
    }
    std::vector<Value*> operands = {nullptr};
    if (!layer.inputs.empty()) {
      X2IR_ASSIGN_OR_RETURN(operands[0], Get(level, layer.inputs[0]));
    }
    for (const std::string& name : carried) operands.push_back(Find(level, name));
    if (breaks) {
      // The last variable: not 0 once it is left.
      carried.emplace_back(kBroken);
      operands.push_back(
          root_.AddConstant(root_.UniqueName("broken"), Tensor::Zeros(DType::kFloat32, {1})));
    }
    Node* node = level.graph->AppendNode(kDialect, "nn::loop", operands);
    node->set_name(layer.name);
    if (const Attribute* most = decoded.attrs.Find("maxLoopIterations")) {
      node->SetAttr("maxLoopIterations", *most);
    }
    if (breaks) node->SetAttr("breaks#", 1);
    const auto nest = [&](const Layers& layers, std::string_view name, bool asks) -> absl::Status {
      auto inner = std::make_shared<Graph>(std::string(name));
      node->SetAttr(name, inner);
      Level nested{inner.get(), &level, {}, !asks};
      for (const std::string& each : carried) {
        nested.values[each] = inner->AddInput(inner->UniqueName(each), Type());
      }
      X2IR_RETURN_IF_ERROR(ReadLayers(layers, nested, depth + 1));
      if (asks) {
        X2IR_ASSIGN_OR_RETURN(Value * value, Get(nested, variable));
        AddOwn(*inner, value, variable);
      }
      for (const std::string& each : carried) AddOwn(*inner, nested.values[each], each);
      return absl::OkStatus();
    };
    if (condition) X2IR_RETURN_IF_ERROR(nest(asking, "conditionNetwork", true));
    X2IR_RETURN_IF_ERROR(nest(round, "bodyNetwork", false));
    for (const std::string& name : carried) {
      if (name != kBroken) AddResult(level, node, name);
    }
    return absl::OkStatus();
  }

  static constexpr std::string_view kBroken = "#broken";  // no layer's result
  static constexpr int kMaxLayers = 1 << 17;

  const BlobPtr& file_;
  Graph& root_;
  int layers_ = 0;
};

// --- Images
// ---------------------------------------------------------------------------------------

struct Preprocessing {
  std::string feature;
  float scale = 0, blue = 0, green = 0, red = 0, gray = 0;
  bool scales = false;
  std::vector<float> mean;
};

absl::StatusOr<Preprocessing> ReadPreprocessing(std::string_view bytes, const char* origin) {
  Preprocessing step;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == neural_network_preprocessing_field::kFeatureName) step.feature = in.String();
    const bool scaler = in.field() == neural_network_preprocessing_field::kScaler;
    if (!scaler && in.field() != neural_network_preprocessing_field::kMeanImage) continue;
    step.scales |= scaler;
    WireReader inner(in.Bytes(), origin);
    while (inner.Next()) {
      if (!scaler) {
        if (inner.field() == neural_network_mean_image_field::kMeanImage) {
          inner.AppendFloats(&step.mean);
        }
        continue;
      }
      switch (inner.field()) {
        case neural_network_image_scaler_field::kChannelScale: step.scale = inner.Float(); break;
        case neural_network_image_scaler_field::kBlueBias: step.blue = inner.Float(); break;
        case neural_network_image_scaler_field::kGreenBias: step.green = inner.Float(); break;
        case neural_network_image_scaler_field::kRedBias: step.red = inner.Float(); break;
        case neural_network_image_scaler_field::kGrayBias: step.gray = inner.Float(); break;
        default: break;
      }
    }
    X2IR_RETURN_IF_ERROR(inner.status());
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return step;
}

// x * scale + bias, or x - mean, of an image [1, channels, height, width].
absl::StatusOr<Value*> Preprocess(Graph& graph, Value* x, const Feature& image,
                                  const Preprocessing& step) {
  const auto channels = static_cast<int64_t>(image.dims[0].value());
  const auto name = [&](std::string_view what) {
    return graph.UniqueName(StrCat(image.name, "_", what));
  };
  const auto with = [&](std::string_view op, Tensor numbers, std::string_view what) {
    Value* constant = graph.AddConstant(name(what), std::move(numbers));
    return AddNode(graph, op, {x, constant}, {}, name(StrCat(what, "d")));
  };
  if (!step.mean.empty()) {
    if (!image.dims[1].is_static() || !image.dims[2].is_static() ||
        channels * image.dims[1].value() * image.dims[2].value() !=
            static_cast<int64_t>(step.mean.size())) {
      return Invalid("the mean image of '", image.name, "' has ", step.mean.size(), " numbers");
    }
    x = with("sub",
             Tensor::Of<float>({channels, image.dims[1].value(), image.dims[2].value()}, step.mean),
             "mean");
  }
  if (!step.scales) return x;
  if (step.scale != 1) x = with("mul", Tensor::Scalar(step.scale), "scale");
  std::vector<float> bias = {step.gray};
  if (channels == 3) bias = {step.red, step.green, step.blue};
  if (channels == 3 && image.layout == "BGR") bias = {step.blue, step.green, step.red};
  const bool none = std::all_of(bias.begin(), bias.end(), [](float b) { return b == 0; });
  return none ? x : with("add", Tensor::Of<float>({channels, 1, 1}, bias), "bias");
}

}  // namespace

absl::StatusOr<NetworkShape> ReadNetworkShape(std::string_view bytes, const char* origin) {
  NetworkShape shape;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == neural_network_field::kArrayInputShapeMapping) {
      shape.exact_arrays = in.Int() == 1;
    } else if (in.field() == neural_network_field::kImageInputShapeMapping) {
      shape.rank4_images = in.Int() == 1;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return shape;
}

absl::StatusOr<NetworkLabels> ReadLabels(std::string_view bytes, const char* origin) {
  NetworkLabels labels;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == neural_network_classifier_field::kLabelProbabilityLayerName) {
      labels.probabilities = in.String();
    }
    const bool text = in.field() == neural_network_classifier_field::kStringClassLabels;
    if (!text && in.field() != neural_network_classifier_field::kInt64ClassLabels) continue;
    WireReader inner(in.Bytes(), origin);
    while (inner.Next()) {
      if (inner.field() != string_vector_field::kVector) continue;
      if (text) {
        labels.strings.push_back(inner.String());
      } else {
        inner.AppendInts(&labels.ints);
      }
    }
    X2IR_RETURN_IF_ERROR(inner.status());
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return labels;
}

absl::Status ReadNetwork(std::string_view bytes, const BlobPtr& file,
                         const Description& description, bool raw_images, Graph& graph,
                         Scope* scope) {
  const char* const origin = file->view().data();
  X2IR_ASSIGN_OR_RETURN(const NetworkShape shape, ReadNetworkShape(bytes, origin));
  std::vector<Preprocessing> steps;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() != neural_network_field::kPreprocessing) continue;
    X2IR_ASSIGN_OR_RETURN(steps.emplace_back(), ReadPreprocessing(in.Bytes(), origin));
  }
  X2IR_RETURN_IF_ERROR(in.status());
  Scope blobs;
  for (const Feature& feature : description.inputs) {
    Value* x = (*scope)[feature.name];
    if (!x) return Invalid("input '", feature.name, "' has no producer");
    x = CastTo(graph, x, DType::kFloat32, graph.UniqueName(StrCat(feature.name, "_float")));
    std::vector<int64_t> axes;
    if (feature.kind == FeatureKind::kImage) {
      for (const Preprocessing& step : steps) {
        if (raw_images || (!step.feature.empty() && step.feature != feature.name)) continue;
        X2IR_ASSIGN_OR_RETURN(x, Preprocess(graph, x, feature, step));
      }
      if (!shape.rank4_images) axes = {0};
    } else if (!shape.exact_arrays && feature.has_dims) {
      switch (feature.dims.size()) {
        case 1: axes = {0, 1, 3, 4}; break;
        case 3: axes = {0, 1}; break;
        case 5: break;
        default:
          return Unimplemented("input '", feature.name, "' of ", feature.dims.size(), " axes");
      }
    }
    if (!axes.empty()) {
      x = AddNode(graph, "expand_dims", {x}, {{"axes", axes}},
                  graph.UniqueName(StrCat(feature.name, "_mapped")));
    }
    blobs[feature.name] = x;
  }
  X2IR_RETURN_IF_ERROR(NetworkReader(file, graph).Read(bytes, &blobs));
  for (const auto& entry : blobs) {
    const bool input = std::any_of(description.inputs.begin(), description.inputs.end(),
                                   [&](const Feature& f) { return f.name == entry.first; });
    if (!input) (*scope)[entry.first] = entry.second;
  }
  return absl::OkStatus();
}

}  // namespace x2ir::coreml
