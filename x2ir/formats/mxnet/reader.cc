// Reads a symbol with its parameters.
#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/io/model_files.h"
#include "x2ir/formats/mxnet/mxnet.h"
#include "x2ir/formats/mxnet/names.h"
#include "x2ir/formats/mxnet/ndarray_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using nnvm::SymbolGraph;
using nnvm::SymbolNode;

// --- Upgrades ------------------------------------------------------------------------------------

// MXNet's version as it counts: 0.9.5 is 905. Files that say none are of 0.8.
constexpr int64_t kFirstVersion = 800, kStatesAreInputs = 900, kAxisMayBeNone = 905;

// Operators with states that were no inputs, and the names of all inputs.
const std::map<std::string_view, std::vector<std::string_view>>& InputsWithStates() {
  static const auto& inputs = *new std::map<std::string_view, std::vector<std::string_view>>{
      {"BatchNorm", {"data", "gamma", "beta", "moving_mean", "moving_var"}},
      {"CuDNNBatchNorm", {"data", "gamma", "beta", "moving_mean", "moving_var"}},
      {"IdentityAttachKLSparseReg", {"data", "moving_avg"}},
  };
  return inputs;
}

SymbolGraph Upgraded(SymbolGraph from) {
  const auto found = from.numbers.find("mxnet_version");
  const int64_t version = found == from.numbers.end() ? kFirstVersion : found->second;
  if (version >= kAxisMayBeNone) return from;
  SymbolGraph to = {.heads = std::move(from.heads), .numbers = std::move(from.numbers)};
  std::vector<int64_t> places;  // of the old nodes
  for (SymbolNode& node : from.nodes) {
    for (nnvm::SymbolEntry& e : node.inputs) e.node = places[static_cast<size_t>(e.node)];
    if (node.op == "argmax" || node.op == "argmin") {
      std::erase_if(node.attrs,
                    [](const auto& attr) { return attr.first == "axis" && attr.second == "-1"; });
    }
    const auto known = InputsWithStates().find(node.op);
    if (version < kStatesAreInputs && known != InputsWithStates().end()) {
      for (size_t i = node.inputs.size(); i < known->second.size(); ++i) {
        node.inputs.push_back({static_cast<int64_t>(to.nodes.size()), 0});
        to.nodes.push_back(
            {.op = "null",
             .name = StrCat(node.name, node.name.empty() ? "" : "_", known->second[i])});
      }
    }
    places.push_back(static_cast<int64_t>(to.nodes.size()));
    to.nodes.push_back(std::move(node));
  }
  for (nnvm::SymbolEntry& e : to.heads) e.node = places[static_cast<size_t>(e.node)];
  return to;
}

// --- Variables -----------------------------------------------------------------------------------

// A variable that is trained or counted, as the layers of MXNet name theirs.
bool IsParameterName(std::string_view name) {
  for (const std::string_view leaf :
       {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "running_mean",
        "running_var", "moving_avg", "parameters"}) {
    if (!name.ends_with(leaf)) continue;
    const size_t before = name.size() - leaf.size();
    if (before == 0 || name[before - 1] == '_' || name[before - 1] == '.') return true;
  }
  return false;
}

class MxnetReader {
 public:
  MxnetReader(SymbolGraph graph, std::vector<NamedTensor> params) : graph_(std::move(graph)) {
    for (NamedTensor& entry : params) {
      std::string_view name = entry.name;
      if (name.starts_with("arg:") || name.starts_with("aux:")) name.remove_prefix(4);
      params_.try_emplace(std::string(name), std::move(entry.tensor));
    }
    const auto np = graph_.numbers.find("is_np_shape");
    np_shape_ = np != graph_.numbers.end() && np->second != 0;
  }

  absl::StatusOr<Model> Read() {
    Model model;
    model.source_dialect = mxnet::kDialect;
    model.SetOpset("", 1);
    model.producer_name = "MXNet";
    const auto version = graph_.numbers.find("mxnet_version");
    if (version != graph_.numbers.end()) {
      const int64_t v = version->second;
      model.producer_version = StrCat(v / 10000, ".", v / 100 % 100, ".", v % 100);
    }
    const nnvm::SymbolBuilder builder = {
        .dialect = mxnet::kDialect,
        .variable = [&](Graph& graph, const SymbolNode& node,
                        int64_t) { return Variable(graph, node, &model); },
        .output_suffix = true};
    X2IR_RETURN_IF_ERROR(builder.Build(graph_, model.graph.get()));
    if (np_shape_) model.graph->annotations().GetOrMake().extra[mxnet::kNumpyShapes] = "1";
    return model;
  }

 private:
  absl::StatusOr<Value*> Variable(Graph& graph, const SymbolNode& node, Model* model) {
    const std::string name = graph.UniqueName(node.name);
    const auto tensor = params_.find(node.name);
    const bool found = tensor != params_.end();
    if (found || IsParameterName(node.name)) model->weights.push_back({name, {node.name}, true});
    if (found) return graph.AddConstant(name, tensor->second);
    DType dtype = DType::kFloat32;
    if (const std::string* flag = node.Find("__dtype__")) {
      const auto numbers = nnvm::ParseTuple(*flag);
      if (numbers && numbers->size() == 1 && (*numbers)[0] >= 0) {
        const auto known = MxnetDType((*numbers)[0]);
        if (!known) return Unimplemented("variable '", node.name, "' of type ", *flag);
        dtype = *known;
      }
    }
    return graph.AddInput(name, TypeOf(node, name, dtype));
  }

  // Sizes that are not known have names.
  Type TypeOf(const SymbolNode& node, const std::string& name, DType dtype) const {
    const std::string* text = node.Find("__shape__");
    const auto dims = text ? nnvm::ParseTuple(*text) : std::nullopt;
    if (!dims || (dims->empty() && !np_shape_)) return Type::Tensor(dtype);
    std::vector<Dim> shape;
    for (size_t i = 0; i < dims->size(); ++i) {
      const int64_t size = (*dims)[i];
      const bool known = size > 0 || (size == 0 && np_shape_);
      shape.push_back(known ? Dim(size) : Dim::Symbol(StrCat(name, "_", i)));
    }
    return Type::Tensor(dtype, Shape(std::move(shape)));
  }

  SymbolGraph graph_;
  absl::flat_hash_map<std::string, Tensor> params_;
  bool np_shape_ = false;
};

}  // namespace

absl::StatusOr<Model> ReadMxnet(const Source& source, const MxnetOptions& options) {
  const auto read = [&](const ModelFiles& files) -> absl::StatusOr<Model> {
    absl::StatusOr<SymbolGraph> graph = nnvm::ParseSymbolJson(files.graph->view());
    if (!graph.ok()) return graph.status();
    std::vector<NamedTensor> params;
    if (files.params) {
      auto list = ReadNdarrayList(files.params);
      if (!list.ok()) return Annotate(list.status(), StrCat("'", files.params->path(), "'"));
      params = *std::move(list);
    }
    return MxnetReader(Upgraded(*std::move(graph)), std::move(params)).Read();
  };
  return ReadModelFiles(source, options.params, MxnetFileNames(), read);
}

}  // namespace x2ir
