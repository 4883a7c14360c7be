// Reads a graph of NNVM with its parameters.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "x2ir/formats/nnvm/nnvm.h"
#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using nnvm::SymbolGraph;
using nnvm::SymbolNode;

constexpr size_t kNamedFunctions = 3;

// NNVM's numbers of element types.
std::optional<DType> NnvmDType(int64_t flag) {
  static constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                     DType::kUInt8,   DType::kInt32,   DType::kInt8,
                                     DType::kInt64,   DType::kInt16,   DType::kUInt16,
                                     DType::kUInt32,  DType::kUInt64,  DType::kBool};
  if (flag < 0 || flag >= static_cast<int64_t>(std::size(kTypes))) return std::nullopt;
  return kTypes[flag];
}

// What a compiler leaves is functions by their names.
absl::Status CheckNotCompiled(const SymbolGraph& graph) {
  std::set<std::string> functions;
  size_t count = 0;
  for (const SymbolNode& node : graph.nodes) {
    if (node.op != "tvm_op") continue;
    ++count;
    const std::string* name = node.Find("func_name");
    functions.insert(name ? *name : node.name);
  }
  if (count == 0) return absl::OkStatus();
  std::string names;
  for (const std::string& name : functions) {
    if (name == *std::next(functions.begin(), std::min(functions.size(), kNamedFunctions) - 1)) {
      StrAppend(&names, names.empty() ? "" : ", ", name,
                functions.size() > kNamedFunctions ? ", ..." : "");
      break;
    }
    StrAppend(&names, names.empty() ? "" : ", ", name);
  }
  return Unimplemented("it is a compiled graph: ", count, " nodes 'tvm_op' call functions (", names,
                       ") of a library, so it has no operators to convert");
}

class NnvmReader {
 public:
  NnvmReader(SymbolGraph graph, const std::vector<NamedTensor>& params) : graph_(std::move(graph)) {
    for (const NamedTensor& entry : params) params_.try_emplace(entry.name, entry.tensor);
  }

  absl::StatusOr<Model> Read() {
    X2IR_RETURN_IF_ERROR(CheckNotCompiled(graph_));
    Model model;
    model.source_dialect = nnvm::kDialect;
    model.SetOpset("", 1);
    const nnvm::SymbolBuilder builder = {
        .dialect = nnvm::kDialect,
        .variable = [&](Graph& graph, const SymbolNode& node, int64_t number) {
          return Variable(graph, node, number, &model);
        }};
    X2IR_RETURN_IF_ERROR(builder.Build(graph_, model.graph.get()));
    return model;
  }

 private:
  absl::StatusOr<Value*> Variable(Graph& graph, const SymbolNode& node, int64_t number,
                                  Model* model) {
    const std::string name = graph.UniqueName(node.name);
    const auto tensor = params_.find(node.name);
    if (tensor != params_.end()) {
      model->weights.push_back({name, {node.name}, true});
      return graph.AddConstant(name, tensor->second);
    }
    // The number of its entry in the graph's lists.
    size_t entry = static_cast<size_t>(number);
    if (entry < graph_.row_ptr.size()) entry = static_cast<size_t>(graph_.row_ptr[entry]);
    X2IR_ASSIGN_OR_RETURN(const DType dtype, TypeOf(node, entry));
    Type type = Type::Tensor(dtype);
    const std::string* text = node.Find("__shape__");
    if (!text) text = node.Find("shape");
    std::optional<std::vector<int64_t>> dims;
    if (entry < graph_.shapes.size()) {
      dims = graph_.shapes[entry];
    } else if (text) {
      dims = nnvm::ParseTuple(*text);
    }
    if (dims) {
      std::vector<Dim> shape;
      for (size_t i = 0; i < dims->size(); ++i) {
        const int64_t size = (*dims)[i];
        shape.push_back(size > 0 ? Dim(size) : Dim::Symbol(StrCat(name, "_", i)));
      }
      type.set_shape(Shape(std::move(shape)));
    }
    return graph.AddInput(name, std::move(type));
  }

  absl::StatusOr<DType> TypeOf(const SymbolNode& node, size_t entry) const {
    std::string name = "float32";
    const std::string* text = node.Find("__dtype__");
    if (!text) text = node.Find("dtype");
    if (entry < graph_.dtypes.size()) {
      name = graph_.dtypes[entry];
    } else if (text) {
      const auto flag = nnvm::ParseTuple(*text);
      const auto known = flag && flag->size() == 1 ? NnvmDType((*flag)[0]) : ParseDType(*text);
      if (!known) return Unimplemented("variable '", node.name, "' of type ", *text);
      return *known;
    }
    const auto dtype = name == "bool" ? DType::kBool : ParseDType(name);
    if (!dtype) return Unimplemented("variable '", node.name, "' of type ", name);
    return *dtype;
  }

  SymbolGraph graph_;
  std::map<std::string, Tensor> params_;
};

bool HasEnding(const std::string& name, std::string_view ending) { return name.ends_with(ending); }

// The name with `ending` in the place of `old`; empty where it does not end so.
std::string Replaced(const std::string& name, std::string_view old, std::string_view ending) {
  return HasEnding(name, old) ? name.substr(0, name.size() - old.size()) + std::string(ending) : "";
}

}  // namespace

const ModelFileNames& nnvm::NnvmFileNames() {
  static const auto& names = *new ModelFileNames{
      .params =
          [](const std::string& stem, const std::vector<std::string>& folder) {
            std::vector<std::string> names = {stem + ".params"};
            for (const char* ending : {"_graph", "-graph", "graph"}) {
              for (const char* other : {"_param.params", "_params.params", "-param.params",
                                        "-params.params", "param.params", "params.params"}) {
                const std::string name = Replaced(stem, ending, other);
                if (!name.empty()) names.push_back(name);
              }
            }
            // The only list of parameters that there is.
            std::vector<std::string> lists;
            for (const std::string& name : folder) {
              if (name.ends_with(".params")) lists.push_back(name);
            }
            if (lists.size() == 1) names.push_back(lists[0]);
            return names;
          },
      .graphs =
          [](const std::string& params) {
            std::vector<std::string> names = {Replaced(params, ".params", ".json")};
            if (names[0].empty()) names[0] = params + ".json";
            for (const char* ending : {"_param.params", "_params.params"}) {
              const std::string name = Replaced(params, ending, "_graph.json");
              if (!name.empty()) names.push_back(name);
            }
            names.push_back("graph.json");
            return names;
          },
      .graph_endings = {".json"},
      .is_params =
          [](const Blob& file) {
            return LooksLikeParamList(
                absl::Span<const std::byte>(file.data(), std::min<size_t>(file.size(), 64)));
          },
      .is_graph =
          [](const Blob& file) { return LooksLikeSymbolJson(file.view().substr(0, 4096)); }};
  return names;
}

absl::StatusOr<Model> ReadNnvm(const Source& source, const NnvmOptions& options) {
  const auto read = [&](const ModelFiles& files) -> absl::StatusOr<Model> {
    absl::StatusOr<SymbolGraph> graph = nnvm::ParseSymbolJson(files.graph->view());
    if (!graph.ok()) return graph.status();
    std::vector<NamedTensor> params;
    if (files.params) {
      auto list = nnvm::ReadParamList(files.params);
      if (!list.ok()) return Annotate(list.status(), StrCat("'", files.params->path(), "'"));
      params = *std::move(list);
    }
    return NnvmReader(*std::move(graph), params).Read();
  };
  return ReadModelFiles(source, options.params, nnvm::NnvmFileNames(), read);
}

}  // namespace x2ir
