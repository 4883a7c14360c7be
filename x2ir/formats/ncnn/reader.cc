// Makes a graph of ncnn's layers and weights.
#include <algorithm>
#include <map>
#include <set>

#include "x2ir/formats/ncnn/ncnn.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace ncnn {
namespace {

// Marks before lists of weights.
constexpr uint32_t kHalf = 0x01306B47, kInt8 = 0x000D4B38, kFloat = 0x0002C056;

class WeightFile {
 public:
  explicit WeightFile(BlobPtr file) : file_(std::move(file)) {}

  absl::StatusOr<Tensor> Take(const WeightPart& part) {
    if (!part.tagged) return Numbers(DType::kFloat32, part.count);
    if (left() < 4) return Ends();
    const auto tag = LoadNumber<uint32_t>(file_->data() + place_);
    place_ += 4;
    if (tag == kHalf) return Numbers(DType::kFloat16, part.count);
    if (tag == kInt8) return Numbers(DType::kInt8, part.count);
    if (tag == kFloat || tag == 0) return Numbers(DType::kFloat32, part.count);
    return FromTable(part.count);
  }
  uint64_t left() const { return file_->size() - place_; }
  const std::string& path() const { return file_->path(); }

 private:
  absl::Status Ends() const {
    return DataLoss("the weights file is too short: ", left(), " bytes are left");
  }
  // Lists begin at multiples of 4.
  absl::StatusOr<Tensor> Numbers(DType dtype, int64_t count) {
    const auto nbytes = ByteSize(dtype, count);
    if (!nbytes || *nbytes < 0 || static_cast<uint64_t>(*nbytes) > left()) return Ends();
    const uint64_t from = place_;
    place_ = std::min<uint64_t>(file_->size(), from + (static_cast<uint64_t>(*nbytes) + 3) / 4 * 4);
    return TensorOf(dtype, {count}, file_, from, static_cast<uint64_t>(*nbytes));
  }
  // 256 floats, and a byte for each number.
  absl::StatusOr<Tensor> FromTable(int64_t count) {
    X2IR_ASSIGN_OR_RETURN(const Tensor table, Numbers(DType::kFloat32, 256));
    X2IR_ASSIGN_OR_RETURN(const Tensor places, Numbers(DType::kUInt8, count));
    std::vector<float> numbers;
    numbers.reserve(static_cast<size_t>(count));
    for (const std::byte place : places.bytes()) {
      numbers.push_back(LoadNumber<float>(table.bytes().data() + 4 * static_cast<size_t>(place)));
    }
    return Tensor::Of<float>({count}, numbers);
  }

  BlobPtr file_;
  uint64_t place_ = 0;
};

class GraphReader {
 public:
  explicit GraphReader(std::vector<Layer> layers) : layers_(std::move(layers)) {}

  absl::StatusOr<Model> Read(WeightFile* weights) {
    Model model;
    model.source_dialect = kDialect;
    model.SetOpset("", 1);
    model.producer_name = "ncnn";
    graph_ = model.graph.get();
    if (!weights) X2IR_RETURN_IF_ERROR(CheckNeedsNone());
    for (size_t i = 0; i < layers_.size(); ++i) {
      const absl::Status added = AddLayer(layers_[i], i, weights, &model);
      if (!added.ok()) {
        return Annotate(added, StrCat("layer '", layers_[i].name, "' (", layers_[i].type, ")"));
      }
    }
    for (const std::string& name : made_) {
      if (unused_.contains(name)) graph_->AddOutput(values_.at(name));
    }
    if (graph_->outputs().empty()) return Invalid("no layer produces a result");
    if (weights && known_ && weights->left() >= 4) {
      return DataLoss("'", weights->path(), "' has ", weights->left(),
                      " bytes more than the layers need: the file belongs to another graph");
    }
    return model;
  }

 private:
  absl::Status CheckNeedsNone() const {
    int count = 0;
    for (const Layer& layer : layers_) {
      X2IR_ASSIGN_OR_RETURN(const auto parts, WeightsOf(layer));
      count += !parts.empty();
    }
    if (count == 0) return absl::OkStatus();
    return OptionError("params", "a graph has no weights, and ", count,
                       " of its layers need them; name the file of the weights (.bin)");
  }

  // Sizes of 0 are not known. Without any, what is read first says how many channels there are.
  Type TypeOfInput(const Layer& layer, size_t number) const {
    const Params& p = layer.params;
    const std::string& name = layer.tops[0];
    std::vector<Dim> dims = {Dim(1)};
    const auto add = [&](int64_t size, std::string_view axis) {
      dims.push_back(size > 0 ? Dim(size) : Dim::Symbol(StrCat(name, "_", axis)));
    };
    const int64_t w = p.Int(0, 0), h = p.Int(1, 0), c = p.Int(2, 0), d = p.Int(11, 0);
    const bool none = w <= 0 && h <= 0 && c <= 0;
    if (none || c > 0) add(c > 0 ? c : ChannelsOf(name, number), "channels");
    if (d > 0) add(d, "depth");
    if (none || c > 0 || h > 0) add(h, "height");
    add(w, "width");
    return Type::Tensor(DType::kFloat32, Shape(std::move(dims)));
  }
  int64_t ChannelsOf(const std::string& blob, size_t number) const {
    for (size_t i = number + 1; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      if (std::ranges::find(layer.bottoms, blob) == layer.bottoms.end()) continue;
      if (layer.type != "Convolution") continue;
      const int64_t kernel = layer.params.Int(1, 0), out = layer.params.Int(0, 0);
      const auto each = CheckedProduct({out, kernel, layer.params.Int(11, kernel)});
      const int64_t size = layer.params.Int(6, 0);
      if (each && *each > 0 && size > 0 && size % *each == 0) return size / *each;
    }
    return 0;
  }

  absl::Status AddLayer(const Layer& layer, size_t number, WeightFile* weights, Model* model) {
    if (layer.type == "Input") {
      if (layer.tops.size() != 1) return Invalid("an input produces exactly one blob");
      return Define(layer.tops[0], [&](const std::string& name) {
        return graph_->AddInput(name, TypeOfInput(layer, number));
      });
    }
    std::vector<Value*> operands;
    for (const std::string& bottom : layer.bottoms) {
      const auto found = values_.find(bottom);
      if (found == values_.end()) return Invalid("no layer before it produces blob '", bottom, "'");
      operands.push_back(found->second);
      unused_.erase(bottom);
    }
    const auto bottoms = static_cast<int64_t>(operands.size());
    // The weights of an unknown layer are not known, and so neither are those of the layers after
    // it.
    known_ = known_ && IsKnownType(layer.type);
    X2IR_ASSIGN_OR_RETURN(const std::vector<WeightPart> parts, WeightsOf(layer));
    for (const WeightPart& part : parts) {
      if (!known_) break;
      X2IR_ASSIGN_OR_RETURN(Tensor tensor, weights->Take(part));
      const std::string own = StrCat(layer.name, ".", part.name), name = graph_->UniqueName(own);
      operands.push_back(graph_->AddConstant(name, std::move(tensor)));
      model->weights.push_back({name, {own}, true});
    }
    if (layer.type == "Noop" && layer.tops.empty()) return absl::OkStatus();
    Node* node = graph_->AppendNode(kDialect, layer.type, operands);
    node->set_name(layer.name);
    node->SetAttr(kBottoms, bottoms);
    if (layer.params.bits) node->SetAttr(kBits, true);
    for (const auto& [id, value] : layer.params.values) node->SetAttr(StrCat(id), value);
    for (const std::string& top : layer.tops) {
      X2IR_RETURN_IF_ERROR(
          Define(top, [&](const std::string& name) { return graph_->AddNodeOutput(node, name); }));
    }
    return absl::OkStatus();
  }

  template <typename Make>
  absl::Status Define(const std::string& blob, const Make& make) {
    if (values_.contains(blob)) return Invalid("blob '", blob, "' is produced twice");
    values_[blob] = make(graph_->UniqueName(blob));
    made_.push_back(blob);
    unused_.insert(blob);
    return absl::OkStatus();
  }

  const std::vector<Layer> layers_;
  Graph* graph_ = nullptr;
  bool known_ = true;  // all layers so far
  std::map<std::string, Value*> values_;
  std::vector<std::string> made_;
  std::set<std::string> unused_;
};

}  // namespace
}  // namespace ncnn

absl::StatusOr<Model> ReadNcnn(const Source& source, const NcnnOptions& options) {
  const auto read = [&](const ModelFiles& files) -> absl::StatusOr<Model> {
    const std::string_view bytes = files.graph->view();
    X2IR_ASSIGN_OR_RETURN(std::vector<ncnn::Layer> layers, ncnn::LooksLikeBinaryParam(bytes)
                                                               ? ncnn::ParseBinaryParam(bytes)
                                                               : ncnn::ParseParam(bytes));
    ncnn::GraphReader reader(std::move(layers));
    if (!files.params) return reader.Read(nullptr);
    ncnn::WeightFile weights(files.params);
    return reader.Read(&weights);
  };
  return ReadModelFiles(source, options.params, ncnn::NcnnFileNames(), read);
}

}  // namespace x2ir
