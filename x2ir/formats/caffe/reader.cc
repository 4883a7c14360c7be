// Makes a graph of a network's definition and its weights.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "x2ir/formats/caffe/caffe_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace caffe {
namespace {

constexpr size_t kMaxLayers = 1 << 20;

bool IsOneOfTypes(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}
// Where data come from: inputs of the graph.
bool IsData(std::string_view type) {
  return IsOneOfTypes(type, {"Input", "Data", "ImageData", "HDF5Data", "MemoryData", "WindowData",
                             "DummyData", "AnnotatedData", "VideoData"});
}
// How many weights a layer cannot do without.
size_t LeastBlobs(const LayerDesc& layer) {
  if (layer.type == "BatchNorm") {
    const Attribute* global = layer.Find("batch_norm_param.use_global_stats");
    return global && *global == Attribute(false) ? 0 : 2;
  }
  if (IsOneOfTypes(layer.type, {"Scale", "Bias"})) return layer.bottoms.size() == 1 ? 1 : 0;
  if (IsOneOfTypes(layer.type, {"LSTM", "RNN"})) return 3;
  return IsOneOfTypes(
      layer.type, {"Convolution", "Deconvolution", "InnerProduct", "PReLU", "Embed", "Normalize",
                   "DepthwiseConvolution", "ConvolutionDepthwise", "Parameter", "BN"});
}

bool Matches(const StateRule& rule, const NetState& state) {
  const auto has = [&](const std::string& stage) {
    return std::ranges::find(state.stages, stage) != state.stages.end();
  };
  return (!rule.phase || *rule.phase == state.phase) &&
         (!rule.min_level || state.level >= *rule.min_level) &&
         (!rule.max_level || state.level <= *rule.max_level) &&
         std::ranges::all_of(rule.stages, has) && std::ranges::none_of(rule.not_stages, has);
}
bool IsIn(const LayerDesc& layer, const NetState& state) {
  const auto matches = [&](const StateRule& rule) { return Matches(rule, state); };
  if (layer.phase && layer.include.empty() && *layer.phase != state.phase) return false;
  return layer.include.empty() ? std::ranges::none_of(layer.exclude, matches)
                               : std::ranges::any_of(layer.include, matches);
}

class GraphReader {
 public:
  explicit GraphReader(NetDesc net) : net_(std::move(net)) {}

  void TakeWeights(std::vector<LayerDesc> weights, const std::string& file) {
    std::map<std::string, std::vector<Tensor>> by_name;
    for (LayerDesc& layer : weights) {
      if (!layer.blobs.empty()) by_name.try_emplace(layer.name, std::move(layer.blobs));
    }
    for (LayerDesc& layer : net_.layers) {
      const auto found = by_name.find(layer.name);
      if (found != by_name.end()) layer.blobs = found->second;
    }
    file_ = file;
  }

  // Matrices in files of their own, which `open` finds by their names.
  absl::Status TakeMatrices(
      const std::function<absl::StatusOr<BlobPtr>(const std::string& name)>& open) {
    for (LayerDesc& layer : net_.layers) {
      const Attribute* source = layer.Find("infogain_loss_param.source");
      const auto* name = source ? source->get<std::string>() : nullptr;
      if (!name || layer.type != "InfogainLoss" || layer.bottoms.size() > 2 ||
          !IsIn(layer, net_.state)) {
        continue;
      }
      const auto read = [&]() -> absl::Status {
        X2IR_ASSIGN_OR_RETURN(const BlobPtr file,
                              open(name->substr(name->find_last_of("/\\") + 1)));
        X2IR_ASSIGN_OR_RETURN(Tensor matrix, ReadBlobFile(file));
        layer.blobs = {std::move(matrix)};
        return absl::OkStatus();
      };
      const absl::Status taken = read();
      if (!taken.ok()) {
        return Annotate(taken, StrCat("layer '", layer.name, "': its matrix '", *name, "'"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Model> Read() {
    std::erase_if(net_.layers, [&](const LayerDesc& layer) { return !IsIn(layer, net_.state); });
    if (net_.layers.size() > kMaxLayers) return Invalid("there are too many layers");
    X2IR_RETURN_IF_ERROR(CheckWeights());
    for (size_t i = 0; i < net_.layers.size(); ++i) {
      for (const std::string& top : net_.layers[i].tops) last_maker_[top] = i;
    }
    Model model;
    model.source_dialect = kDialect;
    model.SetOpset("", 1);
    model.producer_name = "Caffe";
    graph_ = model.graph.get();
    graph_->set_name(net_.name);
    X2IR_RETURN_IF_ERROR(AddInputs());
    for (size_t i = 0; i < net_.layers.size(); ++i) {
      const absl::Status added = AddLayer(net_.layers[i], i, &model);
      if (!added.ok()) return Annotate(added, StrCat("layer '", net_.layers[i].name, "'"));
    }
    std::map<size_t, Value*> results;
    for (const auto& [name, made] : unused_) results[made] = values_.at(name);
    for (const auto& [made, value] : results) graph_->AddOutput(value);
    if (graph_->outputs().empty()) return Invalid("no layer produces a result");
    return model;
  }

 private:
  absl::Status CheckWeights() const {
    std::vector<std::string> missing;
    for (const LayerDesc& layer : net_.layers) {
      if (layer.blobs.size() < LeastBlobs(layer)) missing.push_back(layer.name);
    }
    if (missing.empty()) return absl::OkStatus();
    std::string names;
    for (size_t i = 0; i < missing.size() && i < 5; ++i) {
      StrAppend(&names, i == 0 ? "'" : ", '", missing[i], "'");
    }
    if (missing.size() > 5) StrAppend(&names, ", ...");
    if (file_.empty()) {
      return OptionError("params", "a definition has no weights, and ", missing.size(),
                         " of its layers need them (", names,
                         "); name the file of the weights (.caffemodel)");
    }
    return Invalid("'", file_, "' has no weights for ", missing.size(), " layers (", names, ")");
  }

  absl::Status AddInput(const std::string& name, const std::vector<int64_t>* dims) {
    if (values_.contains(name)) return Invalid("blob '", name, "' is an input twice");
    Type type = Type::Tensor(DType::kFloat32);
    if (dims) {
      std::vector<Dim> shape;
      for (size_t i = 0; i < dims->size(); ++i) {
        const int64_t size = (*dims)[i];
        shape.push_back(size > 0 ? Dim(size) : Dim::Symbol(StrCat(name, "_", i)));
      }
      type.set_shape(Shape(std::move(shape)));
    }
    Define(name, graph_->AddInput(graph_->UniqueName(name), std::move(type)));
    return absl::OkStatus();
  }

  absl::Status AddInputs() {
    if (!net_.input_dims.empty() && net_.input_dims.size() != 4 * net_.inputs.size()) {
      return Invalid(net_.inputs.size(), " inputs with ", net_.input_dims.size(),
                     " sizes (input_dim)");
    }
    if (!net_.input_shapes.empty() && net_.input_shapes.size() != net_.inputs.size()) {
      return Invalid(net_.inputs.size(), " inputs with ", net_.input_shapes.size(), " shapes");
    }
    for (size_t i = 0; i < net_.inputs.size(); ++i) {
      std::vector<int64_t> dims;
      if (!net_.input_dims.empty()) {
        const auto from = net_.input_dims.begin() + static_cast<std::ptrdiff_t>(4 * i);
        dims.assign(from, from + 4);
      } else if (!net_.input_shapes.empty()) {
        dims = net_.input_shapes[i];
      }
      X2IR_RETURN_IF_ERROR(AddInput(net_.inputs[i], dims.empty() ? nullptr : &dims));
    }
    return absl::OkStatus();
  }

  // Sizes of data, as far as the layer says them; 0: it does not.
  static std::vector<int64_t> DataDims(const LayerDesc& layer, size_t top) {
    if (!layer.shapes.empty()) return layer.shapes[layer.shapes.size() == 1 ? 0 : top];
    const auto number = [&](std::string_view field) -> int64_t {
      for (const auto& [name, value] : layer.attrs) {
        const auto* size = value.get<int64_t>();
        if (size && name.ends_with(field) && name.size() > field.size() &&
            name[name.size() - field.size() - 1] == '.') {
          return *size;
        }
      }
      return 0;
    };
    const int64_t batch = number("batch_size"), crop = number("crop_size");
    if (top > 0) return {batch};  // labels
    const auto or_crop = [&](int64_t size) { return crop > 0 ? crop : size; };
    return {batch, number("channels"), or_crop(number("height")), or_crop(number("width"))};
  }

  absl::Status AddData(const LayerDesc& layer) {
    if (layer.type == "DummyData" && layer.shapes.empty()) {
      return Unimplemented("an input layer whose sizes are not given");
    }
    if (layer.shapes.size() > 1 && layer.shapes.size() != layer.tops.size()) {
      return Invalid(layer.tops.size(), " blobs of ", layer.shapes.size(), " shapes");
    }
    for (size_t i = 0; i < layer.tops.size(); ++i) {
      const std::vector<int64_t> dims = DataDims(layer, i);
      const bool known = layer.type != "Input" || !layer.shapes.empty();
      X2IR_RETURN_IF_ERROR(AddInput(layer.tops[i], known ? &dims : nullptr));
    }
    return absl::OkStatus();
  }

  void Define(const std::string& name, Value* value) {
    values_[name] = value;
    unused_[name] = made_++;
  }

  absl::Status AddLayer(const LayerDesc& layer, size_t number, Model* model) {
    if (layer.type.empty()) return Invalid("it has no type");
    if (IsData(layer.type)) return AddData(layer);
    // What it would write are the network's results.
    if (layer.type == "HDF5Output") return absl::OkStatus();
    std::vector<Value*> operands;
    for (const std::string& bottom : layer.bottoms) {
      const auto found = values_.find(bottom);
      if (found == values_.end()) return Invalid("no layer before it produces blob '", bottom, "'");
      operands.push_back(found->second);
      unused_.erase(bottom);
    }
    // It only says that its bottoms are no results.
    if (layer.type == "Silence") return absl::OkStatus();
    const auto bottoms = static_cast<int64_t>(operands.size());
    for (size_t i = 0; i < layer.blobs.size(); ++i) {
      const std::string file_name = StrCat(layer.name, ".", i);
      const std::string name = graph_->UniqueName(file_name);
      operands.push_back(graph_->AddConstant(name, layer.blobs[i]));
      model->weights.push_back({name, {file_name}, true});
    }
    Node* node = graph_->AppendNode(kDialect, layer.type, operands);
    node->set_name(layer.name);
    node->SetAttr(kBottoms, bottoms);
    for (const auto& [name, value] : layer.attrs) node->SetAttr(name, value);
    // A loss needs no name.
    std::vector<std::string> tops = layer.tops;
    if (tops.empty() && layer.type.ends_with("Loss")) tops.push_back(layer.name);
    for (const std::string& top : tops) {
      // The last one that is called so has the name; those before, that of their layer.
      const auto last = last_maker_.find(top);
      const bool is_last = last == last_maker_.end() || last->second == number;
      const std::string name = is_last ? top : StrCat(top, "_", layer.name);
      Define(top, graph_->AddNodeOutput(node, graph_->UniqueName(name)));
    }
    return absl::OkStatus();
  }

  NetDesc net_;
  std::string file_;  // of the weights
  Graph* graph_ = nullptr;
  std::map<std::string, Value*> values_;  // blobs, as they are now
  std::map<std::string, size_t> last_maker_;
  size_t made_ = 0;                       // how many blobs were made
  std::map<std::string, size_t> unused_;  // those that no layer used yet, and when they were made
};

}  // namespace
}  // namespace caffe

absl::StatusOr<Model> ReadCaffe(const Source& source, const CaffeOptions& options) {
  const auto read = [&](const ModelFiles& files) -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(caffe::NetDesc net, caffe::ReadDefinition(files.graph));
    caffe::GraphReader reader(std::move(net));
    X2IR_RETURN_IF_ERROR(
        reader.TakeMatrices([&](const std::string& name) { return source.OpenBeside(name); }));
    if (files.params) {
      auto weights = caffe::ReadWeights(files.params);
      if (!weights.ok()) return Annotate(weights.status(), StrCat("'", files.params->path(), "'"));
      reader.TakeWeights(*std::move(weights), files.params->path());
    }
    return reader.Read();
  };
  return ReadModelFiles(source, options.params, caffe::CaffeFileNames(), read);
}

}  // namespace x2ir
