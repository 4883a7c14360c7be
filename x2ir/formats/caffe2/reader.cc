// Makes a graph of the two nets, and registers the format "caffe2".
#include <algorithm>
#include <map>
#include <set>

#include "x2ir/formats/caffe2/caffe2.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace caffe2 {
namespace {

class GraphReader {
 public:
  explicit GraphReader(NetDesc net) : net_(std::move(net)) {}

  absl::Status TakeWeights(const NetDesc& init) {
    has_weights_ = true;
    for (const OperatorDesc& op : init.ops) {
      if (op.outputs.empty()) continue;
      auto filled = FilledBy(op);
      if (!filled.ok()) return Annotate(filled.status(), StrCat("blob '", op.outputs[0], "'"));
      if (*filled) {
        weights_.insert_or_assign(op.outputs[0], **filled);
      } else {
        unfilled_.insert_or_assign(op.outputs[0], op.type);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Model> Read() {
    Model model;
    model.source_dialect = kDialect;
    model.SetOpset("", 1);
    model.producer_name = "Caffe2";
    graph_ = model.graph.get();
    graph_->set_name(net_.name);
    if (!has_weights_) X2IR_RETURN_IF_ERROR(CheckNeedsNone());
    DropPlaceholder();
    X2IR_RETURN_IF_ERROR(AddInputs(&model));
    for (size_t i = 0; i < net_.ops.size(); ++i) {
      for (const std::string& output : net_.ops[i].outputs) last_maker_[output] = i;
    }
    for (size_t i = 0; i < net_.ops.size(); ++i) {
      const absl::Status added = AddOperator(net_.ops[i], i, &model);
      if (!added.ok()) return Annotate(added, StrCat("operator ", i, " (", net_.ops[i].type, ")"));
    }
    for (const std::string& output : net_.outputs) {
      // PyTorch's name of results that nobody asked for.
      if (output.starts_with("OC2_DUMMY_")) continue;
      const auto found = values_.find(output);
      if (found == values_.end()) return Invalid("no operator makes the output '", output, "'");
      graph_->AddOutput(found->second);
    }
    if (graph_->outputs().empty()) return Invalid("the net says no outputs");
    return model;
  }

 private:
  absl::Status CheckNeedsNone() const {
    std::set<std::string> made;
    int count = 0;
    for (const OperatorDesc& op : net_.ops) {
      const bool learned = op.type == "Conv" || op.type == "FC" || op.type == "ConvTranspose" ||
                           op.type == "SpatialBN";
      count += learned && op.inputs.size() > 1 && !made.contains(op.inputs[1]);
      made.insert(op.outputs.begin(), op.outputs.end());
    }
    if (count == 0) return absl::OkStatus();
    return OptionError("params", "a net alone has no weights for its ", count,
                       " operators that need some; name the net that fills them (init_net.pb)");
  }

  // Where init_net fills everything, the data are among it, with a sample or a single constant in
  // their place: the first input that an operator reads as its own first one.
  void DropPlaceholder() {
    std::set<std::string> first;
    for (const OperatorDesc& op : net_.ops) {
      if (!op.inputs.empty()) first.insert(op.inputs[0]);
    }
    for (const std::string& input : net_.inputs) {
      if (!weights_.contains(input) && !unfilled_.contains(input)) return;
    }
    for (const std::string& input : net_.inputs) {
      const auto sample = weights_.find(input);
      if (sample == weights_.end() || !first.contains(input)) continue;
      const Tensor& tensor = sample->second;
      if (tensor.num_elements() > 1) {
        sample_types_.emplace(input, Type::Tensor(tensor.dtype(), tensor.shape()));
      }
      weights_.erase(sample);
      return;
    }
  }

  absl::Status AddInputs(Model* model) {
    std::set<std::string> made;
    std::vector<std::string> names = net_.inputs;
    // Old nets do not say all of their inputs.
    for (const OperatorDesc& op : net_.ops) {
      for (const std::string& input : op.inputs) {
        if (!made.contains(input)) names.push_back(input);
      }
      made.insert(op.outputs.begin(), op.outputs.end());
    }
    for (const std::string& name : names) {
      if (values_.contains(name)) continue;
      if (const auto random = unfilled_.find(name); random != unfilled_.end()) {
        return Unimplemented("weights '", name, "' are filled by ", random->second,
                             ", not with given numbers");
      }
      const std::string own = graph_->UniqueName(name);
      if (const auto tensor = weights_.find(name); tensor != weights_.end()) {
        values_[name] = graph_->AddConstant(own, tensor->second);
        model->weights.push_back({own, {name}, true});
      } else {
        const auto sample = sample_types_.find(name);
        values_[name] = graph_->AddInput(
            own, sample == sample_types_.end() ? Type::Tensor(DType::kFloat32) : sample->second);
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddOperator(const OperatorDesc& op, size_t number, Model* model) {
    X2IR_ASSIGN_OR_RETURN(std::optional<Tensor> filled, FilledBy(op));
    if (filled && op.outputs.size() == 1) {
      const std::string name = graph_->UniqueName(op.outputs[0]);
      values_[op.outputs[0]] = graph_->AddConstant(name, *std::move(filled));
      model->weights.push_back({name, {op.outputs[0]}, false});
      return absl::OkStatus();
    }
    if (!op.other_args.empty()) {
      return Unimplemented("argument '", op.other_args[0], "' is a net or a tensor");
    }
    std::vector<Value*> operands;
    for (const std::string& input : op.inputs) {
      const auto found = values_.find(input);
      if (found == values_.end()) return Invalid("nothing before it makes blob '", input, "'");
      operands.push_back(found->second);
    }
    Node* node = graph_->AppendNode(kDialect, op.type, operands);
    node->set_name(op.name);
    for (const auto& [name, value] : op.args) node->SetAttr(name, value);
    for (const std::string& output : op.outputs) {
      const bool last = last_maker_.at(output) == number;
      const std::string name = last ? output : StrCat(output, "_", number);
      values_[output] = graph_->AddNodeOutput(node, graph_->UniqueName(name));
    }
    return absl::OkStatus();
  }

  const NetDesc net_;
  Graph* graph_ = nullptr;
  bool has_weights_ = false;
  std::map<std::string, Tensor> weights_;
  std::map<std::string, std::string> unfilled_;  // blobs of init_net that no numbers fill
  std::map<std::string, Type> sample_types_;     // of inputs that init_net fills
  std::map<std::string, Value*> values_;
  std::map<std::string, size_t> last_maker_;
};

std::string PrefixOf(std::string name) {
  for (const std::string_view part : {"predict_net", "init_net"}) {
    const size_t at = name.rfind(part);
    if (at != name.npos) return name.substr(0, at);
  }
  return name;
}
std::string FileNameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}
bool IsNet(const Blob& file) {
  const std::string_view head = file.view().substr(0, 4096);
  return LooksLikeNet(head) || LooksLikeNetText(head);
}

}  // namespace

const nnvm::ModelFileNames& Caffe2FileNames() {
  static const auto& names = *new nnvm::ModelFileNames{
      .params =
          [](const std::string& stem, const std::vector<std::string>&) {
            const std::string prefix = PrefixOf(stem);
            return std::vector<std::string>{prefix + "init_net.pb", prefix + "init_net.pbtxt"};
          },
      .graphs =
          [](const std::string& params) {
            const std::string prefix = PrefixOf(params);
            return std::vector<std::string>{prefix + "predict_net.pb",
                                            prefix + "predict_net.pbtxt"};
          },
      .graph_endings = {"predict_net.pb", "predict_net.pbtxt"},
      .is_params =
          [](const Blob& file) {
            return FileNameOf(file.path()).find("init_net") != std::string::npos;
          },
      .is_graph = IsNet};
  return names;
}

}  // namespace caffe2

absl::StatusOr<Model> ReadCaffe2(const Source& source, const Caffe2Options& options) {
  const auto read = [&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(const nnvm::ModelFiles files,
                          nnvm::OpenModelFiles(source, options.params, caffe2::Caffe2FileNames()));
    X2IR_ASSIGN_OR_RETURN(caffe2::NetDesc net, caffe2::ReadNet(files.graph->view()));
    caffe2::GraphReader reader(std::move(net));
    if (files.params) {
      const auto init = caffe2::ReadNet(files.params->view());
      const absl::Status taken = init.ok() ? reader.TakeWeights(*init) : init.status();
      if (!taken.ok()) return Annotate(taken, StrCat("'", files.params->path(), "'"));
    }
    return reader.Read();
  };
  absl::StatusOr<Model> model = read();
  if (!model.ok()) return AnnotateOption(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

namespace {

Match RecognizeCaffe2(const Candidate& file) {
  if (file.is_folder) {
    const auto files = nnvm::OpenModelFiles(Source(file.path), "", caffe2::Caffe2FileNames());
    return files.ok() || absl::IsInvalidArgument(files.status()) ? Match::kCertain : Match::kNo;
  }
  const std::string_view head(reinterpret_cast<const char*>(file.head.data()), file.head.size());
  if (caffe2::LooksLikeNetText(head)) return Match::kCertain;
  if (!caffe2::LooksLikeNet(head)) return Match::kNo;
  const bool named = file.path.find("predict_net") != std::string::npos ||
                     file.path.find("init_net") != std::string::npos;
  return named ? Match::kCertain : Match::kPossible;
}

[[maybe_unused]] const bool kRegistered = RegisterFormat({
    .name = "caffe2",
    .dialect = caffe2::kDialect,
    .extensions = {"_net.pb"},
    .doc = "Networks of Caffe2: a net that computes and one that fills weights",
    .recognize = RecognizeCaffe2,
    .read_options = {ParamsOption()},
    .read =
        [](const Source& source, const ReadRequest& request) {
          return ReadCaffe2(source, {.params = request.options.Text("params")});
        },
});

}  // namespace
}  // namespace x2ir
