// Writes a graph of NNVM with its parameters.
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/nnvm/nnvm.h"
#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

class NnvmWriter {
 public:
  explicit NnvmWriter(const Graph& graph) : graph_(graph) {}

  absl::Status Make() {
    for (const Value* input : graph_.inputs()) AddVariable(input);
    for (const Node* node : graph_.nodes()) {
      X2IR_RETURN_IF_ERROR(Annotate(AddNode(*node), node->op().view()));
    }
    for (const Value* output : graph_.outputs()) {
      AddConstant(output);
      X2IR_ASSIGN_OR_RETURN(const std::string entry, EntryOf(output));
      StrAppend(&heads_, heads_.empty() ? "" : ", ", entry);
    }
    return absl::OkStatus();
  }

  std::string Json() const {
    std::string text =
        StrCat("{\n  \"nodes\": [\n", nodes_, "\n  ],\n  \"arg_nodes\": [", arg_nodes_,
               "],\n  \"node_row_ptr\": [", row_ptr_, row_ptr_.empty() ? "" : ", ", entries_,
               "],\n  \"heads\": [", heads_, "]");
    if (all_known_ && entries_ > 0) {
      StrAppend(&text, ",\n  \"attrs\": {\n    \"dltype\": [\"list_str\", [", dtypes_,
                "]],\n    \"shape\": [\"list_shape\", [", shapes_, "]]\n  }");
    }
    return text + "\n}\n";
  }

  const std::vector<NamedTensor>& params() const { return params_; }

 private:
  // The number of the node's first entry, and what is known of its entries.
  void StartNode() {
    StrAppend(&row_ptr_, row_ptr_.empty() ? "" : ", ", entries_);
    StrAppend(&nodes_, nodes_.empty() ? "" : ",\n", "    {");
  }
  void AddEntry(const Type& type) {
    ++entries_;
    std::string dims;
    bool known = type.is_tensor() && type.shape() && type.dtype() != DType::kUndefined;
    if (known) {
      for (const Dim& dim : *type.shape()) {
        known = known && dim.is_static();
        if (known) StrAppend(&dims, dims.empty() ? "" : ", ", dim.value());
      }
    }
    all_known_ = all_known_ && known;
    StrAppend(&shapes_, shapes_.empty() ? "" : ", ", "[", dims, "]");
    StrAppend(&dtypes_, dtypes_.empty() ? "" : ", ", "\"", Name(type.dtype()), "\"");
  }

  void AddVariable(const Value* value) {
    StartNode();
    StrAppend(&nodes_, "\"op\": \"null\", \"name\": ", JsonString(value->name()),
              ", \"inputs\": []");
    // Symbols of MXNet look the same: the first node says whose file it is (HasNnvmMarks).
    std::string attrs;
    if (count_ == 0) attrs = "\"__dialect__\": \"nnvm\"";
    if (value->is_input()) {
      if (value->shape()) {
        std::string dims;
        for (const Dim& dim : *value->shape()) {
          StrAppend(&dims, dims.empty() ? "" : ", ", dim.is_static() ? dim.value() : 0);
        }
        if (value->shape()->rank() == 1) dims += ",";
        StrAppend(&attrs, attrs.empty() ? "" : ", ", "\"__shape__\": \"(", dims, ")\"");
      }
      if (value->dtype() != DType::kUndefined && value->dtype() != DType::kFloat32) {
        StrAppend(&attrs, attrs.empty() ? "" : ", ", "\"__dtype__\": \"", Name(value->dtype()),
                  "\"");
      }
    }
    if (!attrs.empty()) StrAppend(&nodes_, ", \"attrs\": {", attrs, "}");
    nodes_ += "}";
    StrAppend(&arg_nodes_, arg_nodes_.empty() ? "" : ", ", count_);
    places_[value] = {count_++, 0};
    AddEntry(value->type());
  }

  absl::StatusOr<std::string> EntryOf(const Value* value) {
    if (!value) return CannotExpress("an operand that is left out");
    if (value->fixed_constant() && !places_.contains(value)) {
      return Internal("a constant without a node");
    }
    const auto place = places_.find(value);
    if (place == places_.end()) return Internal("'", value->name(), "' comes after its use");
    return StrCat("[", place->second.first, ", ", place->second.second, ", 0]");
  }

  void AddConstant(const Value* value) {
    if (!value || !value->fixed_constant() || places_.contains(value)) return;
    AddVariable(value);
    params_.push_back({value->name(), *value->fixed_constant()});
  }

  absl::Status AddNode(const Node& node) {
    if (node.dialect() != Symbol(nnvm::kDialect)) {
      return CannotExpress("it is not an operator of NNVM");
    }
    std::string inputs, attrs;
    for (const Value* operand : node.inputs()) {
      AddConstant(operand);
      X2IR_ASSIGN_OR_RETURN(const std::string entry, EntryOf(operand));
      StrAppend(&inputs, inputs.empty() ? "" : ", ", entry);
    }
    for (const auto& [name, attr] : node.attrs()) {
      const auto* text = attr.get<std::string>();
      if (!text) return CannotExpress("attribute '", name.str(), "' is not a string");
      StrAppend(&attrs, attrs.empty() ? "" : ", ", JsonString(name.view()), ": ",
                JsonString(*text));
    }
    if (node.num_outputs() == 0 || !NameOf(node)) return CannotExpress("it has no result");
    StartNode();
    StrAppend(&nodes_, "\"op\": ", JsonString(node.op().view()),
              ", \"name\": ", JsonString(NameOf(node)->name()));
    if (!attrs.empty()) StrAppend(&nodes_, ", \"attrs\": {", attrs, "}");
    StrAppend(&nodes_, ", \"inputs\": [", inputs, "]}");
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      if (const Value* out = node.output(i)) places_[out] = {count_, static_cast<int64_t>(i)};
      AddEntry(node.output(i) ? node.output(i)->type() : Type());
    }
    ++count_;
    return absl::OkStatus();
  }

  // The first used result.
  static const Value* NameOf(const Node& node) {
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      if (node.output(i)) return node.output(i);
    }
    return nullptr;
  }

  const Graph& graph_;
  std::string nodes_, arg_nodes_, row_ptr_, heads_, shapes_, dtypes_;
  int64_t count_ = 0, entries_ = 0;
  bool all_known_ = true;
  absl::flat_hash_map<const Value*, std::pair<int64_t, int64_t>> places_;
  std::vector<NamedTensor> params_;
};

}  // namespace

std::string NnvmParamsOf(const std::string& path) {
  constexpr std::string_view kEnding = ".json";
  const bool ends = path.size() > kEnding.size() && path.ends_with(kEnding);
  return path.substr(0, ends ? path.size() - kEnding.size() : path.size()) + ".params";
}

absl::Status WriteNnvm(const Model& model, const Sink& sink) {
  NnvmWriter writer(*model.graph);
  X2IR_RETURN_IF_ERROR(writer.Make());
  X2IR_ASSIGN_OR_RETURN(AtomicFile graph, sink.Create(sink.name()));
  X2IR_RETURN_IF_ERROR(graph.Append(writer.Json()));
  // An empty list, too: one of another time would be taken for this graph's.
  if (writer.params().empty() && !sink.is_path()) return graph.Commit();
  X2IR_ASSIGN_OR_RETURN(AtomicFile params, sink.Create(NnvmParamsOf(sink.name())));
  X2IR_RETURN_IF_ERROR(nnvm::WriteParamList(writer.params(), params));
  AtomicFile* const files[] = {&params, &graph};
  return AtomicFile::CommitAll(files);
}

}  // namespace x2ir
