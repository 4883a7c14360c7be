// Writes a graph of dialect "onnx" as ONNX Runtime has it in memory: nodes with the versions of
// their operators, the edges between them, the values that nested graphs take from around them, and
// the names by which kernels ask for types.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/flat/flat_file_internal.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/ort/ort_internal.h"
#include "x2ir/formats/ort/tables_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace ort_format {
namespace {

using flat::FlatFile;
using flat::FlatRef;
using flat::FlatTable;
using onnx_format::AttrType;

constexpr uint64_t kMaxSize = (uint64_t{1} << 31) - (1 << 20);
// ONNX Runtime's verifier follows tables 64 deep: 3 above the first graph, 4 below the last, and 3
// from a graph to one that a node of it has.
constexpr int kMaxNesting = 18;

class Writer {
 public:
  explicit Writer(const Model& model) : model_(model), tables_(&file_) {}

  absl::Status Write(const Sink& sink) {
    if (!model_.functions.empty()) {
      return CannotExpress("local functions are not in ONNX Runtime's format; '",
                           model_.functions[0]->name, "' is one; without ",
                           OptionText("keep_functions"), " calls are inlined");
    }
    X2IR_RETURN_IF_ERROR(model_.graph->CheckNames());
    Values outer;
    X2IR_ASSIGN_OR_RETURN(const FlatRef graph, WriteGraph(*model_.graph, 0, &outer));
    if (!outer.all.empty()) return Internal("'", outer.all[0]->name(), "' is not in the graph");
    const FlatRef model = WriteModel(graph);
    FlatTable session;
    session.Add(fb::InferenceSession::VT_ORT_VERSION,
                file_.String(tables_.needs_version_6() ? "6" : "5"));
    session.Add(fb::InferenceSession::VT_MODEL, model);
    session.Add(fb::InferenceSession::VT_KERNEL_TYPE_STR_RESOLVER, WriteResolver());
    const FlatRef root = file_.Table(std::move(session));
    if (file_.size() + tables_.bytes_of_tensors() > kMaxSize) {
      return CannotExpress("a file of ONNX Runtime holds at most 2 GB; the weights take ",
                           tables_.bytes_of_tensors(), " bytes");
    }
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
    X2IR_RETURN_IF_ERROR(file_.Write(root, fb::InferenceSessionIdentifier(), file));
    return file.Commit();
  }

 private:
  // In the order in which they were met.
  struct Values {
    void Add(const Value* value) {
      if (seen.insert(value).second) all.push_back(value);
    }
    std::vector<const Value*> all;
    absl::flat_hash_set<const Value*> seen;
  };
  // Of a graph that is written: a node, and the values that its nested graphs take.
  struct Written {
    const Node* node;
    std::vector<const Value*> implicit;
  };

  FlatRef NamesOf(absl::Span<const Value* const> values) {
    std::vector<FlatRef> names;
    for (const Value* value : values) {
      names.push_back(file_.String(value ? std::string_view(value->name()) : ""));
    }
    return file_.Vector(names);
  }

  // --- Nodes -------------------------------------------------------------------------------------

  // `outer`: values of outer graphs that the node's nested graphs use.
  absl::StatusOr<FlatRef> WriteAttribute(std::string_view name, const Attribute& attr, int depth,
                                         Values* outer) {
    FlatTable table;
    table.Add(fb::Attribute::VT_NAME, file_.String(name));
    AttrType type = AttrType::kUndefined;
    switch (attr.kind()) {
      case AttrKind::kInt:
        type = AttrType::kInt;
        table.Add(fb::Attribute::VT_I, *attr.get<int64_t>());
        break;
      case AttrKind::kFloat:
        type = AttrType::kFloat;
        table.Add(fb::Attribute::VT_F, *attr.get<float>());
        break;
      case AttrKind::kString:
        type = AttrType::kString;
        table.Add(fb::Attribute::VT_S, file_.String(*attr.get<std::string>()));
        break;
      case AttrKind::kInts:
        type = AttrType::kInts;
        table.Add(fb::Attribute::VT_INTS, file_.Vector(*attr.get<Attribute::Ints>()));
        break;
      case AttrKind::kFloats:
        type = AttrType::kFloats;
        table.Add(fb::Attribute::VT_FLOATS, file_.Vector(*attr.get<Attribute::Floats>()));
        break;
      case AttrKind::kStrings:
        type = AttrType::kStrings;
        table.Add(fb::Attribute::VT_STRINGS, tables_.Strings(*attr.get<Attribute::Strings>()));
        break;
      case AttrKind::kTensor: {
        const Tensor& tensor = *attr.get<Tensor>();
        if (tensor.is_sparse()) return CannotExpress("a sparse tensor as attribute");
        X2IR_RETURN_IF_ERROR(Tables::CheckConstant(tensor));
        type = AttrType::kTensor;
        table.Add(fb::Attribute::VT_T, tables_.Dense(tensor, ""));
        break;
      }
      case AttrKind::kTensors: {
        type = AttrType::kTensors;
        std::vector<FlatRef> tensors;
        for (const Tensor& tensor : *attr.get<std::vector<Tensor>>()) {
          if (tensor.is_sparse()) return CannotExpress("a sparse tensor as attribute");
          X2IR_RETURN_IF_ERROR(Tables::CheckConstant(tensor));
          tensors.push_back(tables_.Dense(tensor, ""));
        }
        table.Add(fb::Attribute::VT_TENSORS, file_.Vector(tensors));
        break;
      }
      case AttrKind::kGraph: {
        type = AttrType::kGraph;
        const auto& graph = *attr.get<Attribute::GraphPtr>();
        if (!graph) return Internal("attribute '", name, "' has no graph");
        X2IR_ASSIGN_OR_RETURN(const FlatRef written, WriteGraph(*graph, depth + 1, outer));
        table.Add(fb::Attribute::VT_G, written);
        break;
      }
      default:
        return CannotExpress("ONNX Runtime's format has no attributes of the kind ",
                             Name(attr.kind()));
    }
    table.Add(fb::Attribute::VT_TYPE, static_cast<int32_t>(type));
    return file_.Table(std::move(table));
  }

  // The operator's parameters; of a custom operator one for each argument, with the names that
  // ONNX Runtime gives them.
  absl::StatusOr<OrtOperator> OperatorOf(const Node& node, std::string_view domain,
                                         std::string_view op) {
    const int64_t opset = model_.Opset(domain);
    X2IR_ASSIGN_OR_RETURN(const std::optional<OrtOperator> found,
                          Operators().find(domain, op, opset));
    if (found) return *found;
    OrtOperator custom{std::max<int64_t>(opset, 1), {}, {}};
    for (size_t i = 0; i < node.num_inputs(); ++i) custom.inputs.push_back(StrCat("Input", i));
    for (size_t i = 0; i < node.num_outputs(); ++i) custom.outputs.push_back(StrCat("Output", i));
    return custom;
  }

  // How many arguments each parameter has; the last one has those that are left.
  static std::vector<int32_t> ArgCounts(const Node& node, size_t num_parameters) {
    std::vector<int32_t> counts(num_parameters, 0);
    size_t left = node.num_inputs();
    for (size_t i = 0; i < num_parameters; ++i) {
      const size_t count = i + 1 == num_parameters ? left : std::min<size_t>(left, 1);
      counts[i] = static_cast<int32_t>(count);
      left -= count;
    }
    return counts;
  }

  absl::StatusOr<FlatRef> WriteNode(const Node& node, uint32_t index, int depth,
                                    std::vector<const Value*>* implicit) {
    if (node.dialect() != onnx_format::kDialect) {
      return CannotExpress("an op of ",
                           node.is_ir() ? "the IR" : StrCat("dialect '", node.dialect().str(), "'"),
                           " cannot be written to a file of ONNX Runtime");
    }
    auto [domain, op] = onnx_format::DomainAndOp(node);
    if (domain == onnx_format::kDefaultDomain) domain = "";
    X2IR_ASSIGN_OR_RETURN(const OrtOperator known, OperatorOf(node, domain, op));
    Values outer;
    std::vector<FlatRef> attributes;
    for (const auto& [name, attr] : node.attrs()) {
      const absl::StatusOr<FlatRef> written = WriteAttribute(name.view(), attr, depth, &outer);
      if (!written.ok()) {
        return Annotate(written.status(), StrCat("attribute '", name.view(), "'"));
      }
      attributes.push_back(*written);
    }
    *implicit = std::move(outer.all);
    FlatTable table;
    table.Add(fb::Node::VT_NAME, file_.String(node.name()));
    if (const Annotations* notes = node.annotations().get(); notes && !notes->doc_string.empty()) {
      table.Add(fb::Node::VT_DOC_STRING, file_.String(notes->doc_string));
    }
    table.Add(fb::Node::VT_DOMAIN, file_.String(domain));
    table.Add(fb::Node::VT_SINCE_VERSION, static_cast<int32_t>(known.since_version));
    table.Add(fb::Node::VT_INDEX, index);
    table.Add(fb::Node::VT_OP_TYPE, file_.String(op));
    table.Add(fb::Node::VT_INPUTS, NamesOf(node.inputs()));
    table.Add(fb::Node::VT_OUTPUTS, NamesOf(node.outputs()));
    table.Add(fb::Node::VT_ATTRIBUTES, file_.Vector(attributes));
    table.Add(fb::Node::VT_INPUT_ARG_COUNTS, file_.Vector(ArgCounts(node, known.inputs.size())));
    table.Add(fb::Node::VT_IMPLICIT_INPUTS, NamesOf(*implicit));
    used_.try_emplace(StrCat(domain, ":", op, ":", known.since_version), known);
    return file_.Table(std::move(table));
  }

  // --- Graphs ------------------------------------------------------------------------------------

  // `outer` gets the values of outer graphs that the graph uses.
  absl::StatusOr<FlatRef> WriteGraph(const Graph& graph, int depth, Values* outer) {
    if (depth > kMaxNesting) {
      return CannotExpress("graphs are nested more than ", kMaxNesting,
                           " deep, which ONNX Runtime does not load");
    }
    std::vector<FlatRef> nodes, infos;
    std::vector<Written> written;
    Values borrowed;
    bool any_missing = false;
    for (const Node* node = graph.first(); node; node = node->next()) {
      Written& own = written.emplace_back(Written{node, {}});
      const auto index = static_cast<uint32_t>(nodes.size());
      absl::StatusOr<FlatRef> table = WriteNode(*node, index, depth, &own.implicit);
      if (!table.ok()) return Annotate(table.status(), onnx_format::Label(*node));
      nodes.push_back(*table);
      for (const Value* value : node->inputs()) {
        any_missing |= value == nullptr;
        if (value && value->graph() != &graph) borrowed.Add(value);
      }
      for (const Value* value : node->outputs()) any_missing |= value == nullptr;
      for (const Value* value : own.implicit) {
        if (value->graph() != &graph) borrowed.Add(value);
      }
    }
    X2IR_RETURN_IF_ERROR(WriteInfos(graph, borrowed, any_missing, &infos));
    for (const Value* value : borrowed.all) outer->Add(value);

    std::vector<FlatRef> dense, sparse;
    const auto add_initializer = [&](const Value& value) -> absl::Status {
      const Tensor& tensor = *value.constant();
      if (const absl::Status status = Tables::CheckConstant(tensor); !status.ok()) {
        return Annotate(status, StrCat("initializer '", value.name(), "'"));
      }
      if (tensor.is_sparse()) {
        sparse.push_back(tables_.Sparse(tensor, value.name()));
        return absl::OkStatus();
      }
      const Annotations* notes = value.annotations().get();
      const bool described = notes && !value.is_input();
      dense.push_back(tables_.Dense(tensor, value.name(),
                                    described ? std::string_view(notes->doc_string) : ""));
      return absl::OkStatus();
    };
    for (const Value* input : graph.inputs()) {
      if (input->constant()) X2IR_RETURN_IF_ERROR(add_initializer(*input));
    }
    for (const Value* constant : graph.constants()) {
      X2IR_RETURN_IF_ERROR(add_initializer(*constant));
    }

    FlatTable table;
    table.Add(fb::Graph::VT_INITIALIZERS, file_.Vector(dense));
    table.Add(fb::Graph::VT_NODE_ARGS, file_.Vector(infos));
    table.Add(fb::Graph::VT_NODES, file_.Vector(nodes));
    table.Add(fb::Graph::VT_MAX_NODE_INDEX, static_cast<uint32_t>(nodes.size()));
    table.Add(fb::Graph::VT_NODE_EDGES, WriteEdges(graph, written));
    table.Add(fb::Graph::VT_INPUTS, NamesOf(graph.inputs()));
    table.Add(fb::Graph::VT_OUTPUTS, NamesOf(graph.outputs()));
    if (!sparse.empty()) table.Add(fb::Graph::VT_SPARSE_INITIALIZERS, file_.Vector(sparse));
    return file_.Table(std::move(table));
  }

  // All values of the graph, and those of outer graphs that it uses.
  absl::Status WriteInfos(const Graph& graph, const Values& borrowed, bool any_missing,
                          std::vector<FlatRef>* infos) {
    const auto add = [&](const Value* value) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const FlatRef info, tables_.Info(value));
      infos->push_back(info);
      return absl::OkStatus();
    };
    for (const Value* input : graph.inputs()) X2IR_RETURN_IF_ERROR(add(input));
    for (const Value* constant : graph.constants()) X2IR_RETURN_IF_ERROR(add(constant));
    for (const Node* node = graph.first(); node; node = node->next()) {
      for (const Value* value : node->outputs()) {
        if (value) X2IR_RETURN_IF_ERROR(add(value));
      }
    }
    for (const Value* value : borrowed.all) X2IR_RETURN_IF_ERROR(add(value));
    return any_missing ? add(nullptr) : absl::OkStatus();
  }

  // From each node to the nodes that use its outputs, and back. The arguments of a node are its
  // inputs, and then what its nested graphs take.
  FlatRef WriteEdges(const Graph& graph, const std::vector<Written>& nodes) {
    struct Edges {
      std::vector<fb::EdgeEnd> inputs, outputs;
    };
    std::vector<Edges> edges(nodes.size());
    absl::flat_hash_map<const Node*, uint32_t> index;
    for (const Written& each : nodes) index.emplace(each.node, static_cast<uint32_t>(index.size()));
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      int32_t argument = 0;
      const auto add = [&](const Value* value) {
        const int32_t to = argument++;
        if (!value || !value->producer() || value->graph() != &graph) return;
        const uint32_t from = index.at(value->producer());
        const auto output = static_cast<int32_t>(value->output_index());
        edges[i].inputs.emplace_back(from, output, to);
        edges[from].outputs.emplace_back(i, output, to);
      };
      for (const Value* value : nodes[i].node->inputs()) add(value);
      for (const Value* value : nodes[i].implicit) add(value);
    }
    std::vector<FlatRef> tables;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      FlatTable table;
      table.Add(fb::NodeEdge::VT_NODE_INDEX, i);
      table.Add(fb::NodeEdge::VT_INPUT_EDGES, file_.Vector(edges[i].inputs));
      table.Add(fb::NodeEdge::VT_OUTPUT_EDGES, file_.Vector(edges[i].outputs));
      tables.push_back(file_.Table(std::move(table)));
    }
    return file_.Vector(tables);
  }

  // --- Model -------------------------------------------------------------------------------------

  FlatRef WriteModel(FlatRef graph) {
    FlatTable table;
    table.Add(fb::Model::VT_IR_VERSION, model_.ir_version);
    std::vector<FlatRef> opsets, metadata;
    for (const OpsetImport& import : model_.opset_imports) {
      FlatTable opset;
      opset.Add(fb::OperatorSetId::VT_DOMAIN, file_.String(import.domain));
      opset.Add(fb::OperatorSetId::VT_VERSION, import.version);
      opsets.push_back(file_.Table(std::move(opset)));
    }
    table.Add(fb::Model::VT_OPSET_IMPORT, file_.Vector(opsets));
    const auto add_text = [&](FlatTable::At at, const std::string& text) {
      if (!text.empty()) table.Add(at, file_.String(text));
    };
    add_text(fb::Model::VT_PRODUCER_NAME, model_.producer_name);
    add_text(fb::Model::VT_PRODUCER_VERSION, model_.producer_version);
    add_text(fb::Model::VT_DOMAIN, model_.domain);
    table.Add(fb::Model::VT_MODEL_VERSION, model_.model_version);
    if (const Annotations* notes = model_.annotations.get()) {
      add_text(fb::Model::VT_DOC_STRING, notes->doc_string);
      for (const auto& [key, value] : notes->metadata) {
        FlatTable entry;
        entry.Add(fb::StringStringEntry::VT_KEY, file_.String(key));
        entry.Add(fb::StringStringEntry::VT_VALUE, file_.String(value));
        metadata.push_back(file_.Table(std::move(entry)));
      }
    }
    table.Add(fb::Model::VT_GRAPH, graph);
    if (const Annotations* notes = model_.graph->annotations().get()) {
      add_text(fb::Model::VT_GRAPH_DOC_STRING, notes->doc_string);
    }
    if (!metadata.empty()) table.Add(fb::Model::VT_METADATA_PROPS, file_.Vector(metadata));
    return file_.Table(std::move(table));
  }

  // For each operator the arguments that a kernel means by the name of a type.
  FlatRef WriteResolver() {
    std::vector<FlatRef> operators;
    for (const auto& [id, known] : used_) {
      std::map<std::string, std::vector<FlatRef>> by_name;
      const auto add = [&](fb::ArgType kind, const std::vector<std::string>& parameters) {
        for (uint32_t i = 0; i < parameters.size(); ++i) {
          FlatTable arg;
          arg.Add(fb::ArgTypeAndIndex::VT_ARG_TYPE, kind);
          arg.Add(fb::ArgTypeAndIndex::VT_INDEX, i);
          by_name[parameters[i]].push_back(file_.Table(std::move(arg)));
        }
      };
      add(fb::ArgType::INPUT, known.inputs);
      add(fb::ArgType::OUTPUT, known.outputs);
      std::vector<FlatRef> names;
      for (const auto& [name, args] : by_name) {
        FlatTable entry;
        entry.Add(fb::KernelTypeStrArgsEntry::VT_KERNEL_TYPE_STR, file_.String(name));
        entry.Add(fb::KernelTypeStrArgsEntry::VT_ARGS, file_.Vector(args));
        names.push_back(file_.Table(std::move(entry)));
      }
      FlatTable entry;
      entry.Add(fb::OpIdKernelTypeStrArgsEntry::VT_OP_ID, file_.String(id));
      entry.Add(fb::OpIdKernelTypeStrArgsEntry::VT_KERNEL_TYPE_STR_ARGS, file_.Vector(names));
      operators.push_back(file_.Table(std::move(entry)));
    }
    FlatTable table;
    table.Add(fb::KernelTypeStrResolver::VT_OP_KERNEL_TYPE_STR_ARGS, file_.Vector(operators));
    return file_.Table(std::move(table));
  }

  const Model& model_;
  FlatFile file_;
  Tables tables_;
  std::map<std::string, OrtOperator> used_;  // by "domain:op:version"
};

}  // namespace
}  // namespace ort_format

absl::Status WriteOrt(const Model& model, const Sink& sink) {
  return ort_format::Writer(model).Write(sink);
}

}  // namespace x2ir
