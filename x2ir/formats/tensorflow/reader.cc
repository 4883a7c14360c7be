// Reads a graph with its inputs and outputs, and finds the graph in a SavedModel.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/tensorflow/body_internal.h"
#include "x2ir/formats/tensorflow/tables_internal.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tf_format {
namespace {

// Signatures that are not for users.
constexpr std::string_view kOwnSignatures[] = {"__saved_model_init_op", "__saved_model_train_op"};

// Ops whose results are of no use to anybody who runs the graph.
bool IsNoResult(std::string_view op) {
  static constexpr std::string_view kOps[] = {"NoOp",
                                              "TensorArrayClose",
                                              "TensorArrayCloseV2",
                                              "TensorArrayCloseV3",
                                              "Assert",
                                              "Const",
                                              "Placeholder",
                                              "Print",
                                              "PrintV2",
                                              "VarHandleOp",
                                              "VariableV2",
                                              "SaveV2",
                                              "RestoreV2",
                                              "MergeV2Checkpoints"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps) || ChangesState(op) ||
         IsTable(op) || FillsTable(op);
}

// Unused nodes: the graph's results. If every node is used, the nodes that are used only by control
// dependencies.
std::vector<Ref> FindResults(const Library& library, const Body& body) {
  absl::flat_hash_set<std::string_view> used, waited_for;
  for (const NodeProto& node : body.nodes()) {
    for (const std::string_view input : node.inputs) {
      if (input.starts_with('^')) {
        waited_for.insert(input.substr(1));
      } else {
        used.insert(input.substr(0, input.find(':')));
      }
    }
  }
  for (const bool strict : {true, false}) {
    std::vector<Ref> results;
    for (const NodeProto& node : body.nodes()) {
      if (IsNoResult(node.op) || used.contains(node.name) ||
          (strict && waited_for.contains(node.name))) {
        continue;
      }
      int64_t count = 1;
      if (const FunctionProto* callee = library.Called(node)) {
        count = static_cast<int64_t>(callee->outputs.size());
      } else if (const OutputArgs* args = FindOutputArgs(node.op)) {
        count = args->results;
      } else if (const auto listed = ListOutputs(library.source(), node)) {
        count = std::min<int64_t>(*listed, 1 << 10);
      }
      for (int64_t i = 0; i < count; ++i) results.push_back({&node, i});
    }
    if (!results.empty()) return results;
  }
  return {};
}

absl::StatusOr<const SignatureProto*> FindSignature(const SavedModelProto& model,
                                                    const std::string& name) {
  std::string names;
  std::vector<const SignatureProto*> candidates;
  for (const SignatureProto& signature : model.signatures) {
    if (signature.name == (name.empty() ? kDefaultSignature : std::string_view(name))) {
      return &signature;
    }
    if (std::count(std::begin(kOwnSignatures), std::end(kOwnSignatures), signature.name)) continue;
    candidates.push_back(&signature);
    StrAppend(&names, names.empty() ? "" : ", ", signature.name);
  }
  if (name.empty() && candidates.size() == 1) return candidates[0];
  if (name.empty() && candidates.empty()) return nullptr;
  return OptionError("signature", "the SavedModel has no signature '",
                     name.empty() ? kDefaultSignature : std::string_view(name), "'",
                     names.empty() ? "" : StrCat("; it has ", names));
}

bool HaveSamePorts(const SignatureProto& a, const SignatureProto& b) {
  const auto same = [](const std::vector<PortProto>& x, const std::vector<PortProto>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const PortProto& p, const PortProto& q) {
                        return p.name == q.name && p.tensor == q.tensor;
                      });
  };
  return same(a.inputs, b.inputs) && same(a.outputs, b.outputs);
}

// What the file calls the function that is read, in its order.
std::string NamesOf(const SignatureProto& signature, const SavedModelProto& model) {
  std::string names;
  for (const SignatureProto& other : model.signatures) {
    if (&other != &signature && !HaveSamePorts(other, signature)) continue;
    StrAppend(&names, names.empty() ? "" : "\n", other.name);
  }
  return names;
}

// A name that one of the model's values must have; a value that already has it gets another name.
void GiveName(Graph& graph, Value* value, std::string_view name) {
  if (value->name() == name) return;
  if (Value* other = graph.Find(name)) graph.Rename(other, graph.UniqueName(name));
  graph.Rename(value, name);
}

class Reader {
 public:
  // `files`: those of a SavedModel.
  Reader(const Source& source, const TensorFlowOptions& options, Variables* variables,
         const SavedFiles& files)
      : source_(source), options_(options), variables_(variables), files_(files) {}

  absl::StatusOr<Model> Read(std::string_view bytes, const SavedModelProto* saved) {
    const SignatureProto* signature = nullptr;
    if (saved) {
      X2IR_ASSIGN_OR_RETURN(signature, FindSignature(*saved, options_.signature));
    } else if (!options_.signature.empty()) {
      return OptionError("signature", "only SavedModels have signatures");
    }
    return Read(bytes, saved, signature, nullptr);
  }

  absl::StatusOr<Model> Read(std::string_view bytes, const SavedModelProto* saved,
                             const SignatureProto* signature, const ValueElsewhere& elsewhere) {
    GraphProto proto;
    X2IR_RETURN_IF_ERROR(ReadGraphProto(source_, bytes, &proto));
    Model model;
    model.source_dialect = std::string(kDialect);
    model.producer_name = "tensorflow";
    if (saved) model.producer_version = saved->tensorflow_version;
    model.SetOpset("", std::clamp<int64_t>(proto.producer, 1, 1 << 30));
    if (signature) model.graph->set_name(std::string(signature->name));
    if (signature && saved && options_.inputs.empty() && options_.outputs.empty()) {
      std::string names = NamesOf(*signature, *saved);
      if (names != kDefaultSignature) {
        model.graph->annotations().GetOrMake().extra[kSignaturesNote] = std::move(names);
      }
    }

    Library library(source_, proto, variables_);
    X2IR_RETURN_IF_ERROR(library.Check());
    Body body(library, proto.nodes, nullptr, 0);
    X2IR_RETURN_IF_ERROR(body.Index());
    if (saved && variables_) {
      variables_->restored = FindRestored(library, body, saved->checkpoint_name, saved->restore_op);
    }
    Tables tables(library, files_, saved ? saved->assets : decltype(saved->assets)());
    X2IR_RETURN_IF_ERROR(tables.Scan(proto, body));
    library.set_tables(&tables);
    library.set_elsewhere(elsewhere);
    X2IR_RETURN_IF_ERROR(ReadPorts(library, body, signature, model));
    X2IR_RETURN_IF_ERROR(library.ReadNeeded(&model));
    return model;
  }

 private:
  // What a graph is given or gives: a port of the signature, or (no name) a tensor of the graph.
  struct Port {
    PortProto proto;
    Ref ref;
  };
  static absl::Status Add(const Body& body, const PortProto& proto, std::vector<Port>* ports) {
    if (proto.tensor.empty()) return Invalid("is not a plain tensor");
    X2IR_ASSIGN_OR_RETURN(const Ref ref, body.Resolve(proto.tensor));
    ports->push_back({proto, ref});
    return absl::OkStatus();
  }
  // Those of a signature (null: there is none), or those that an option names: as the signature
  // does, or as tensors of the graph.
  static absl::StatusOr<std::vector<Port>> PortsOf(const Body& body, std::string_view what,
                                                   const char* option,
                                                   const std::vector<std::string>& names,
                                                   const std::vector<PortProto>* signature) {
    std::vector<Port> ports;
    for (const std::string& name : names) {
      PortProto proto;
      proto.tensor = name;
      for (size_t i = 0; signature && i < signature->size(); ++i) {
        if ((*signature)[i].name == name) proto = (*signature)[i];
      }
      if (const absl::Status s = Add(body, proto, &ports); !s.ok()) {
        return OptionError(option, proto.name.empty() ? "" : StrCat("'", proto.name, "': "),
                           s.message());
      }
    }
    for (size_t i = 0; names.empty() && signature && i < signature->size(); ++i) {
      const PortProto& proto = (*signature)[i];
      if (proto.tensor.empty()) return Invalid(what, " '", proto.name, "' is not a plain tensor");
      X2IR_RETURN_IF_ERROR(Annotate(Add(body, proto, &ports), StrCat(what, " '", proto.name, "'")));
    }
    return ports;
  }

  absl::Status ReadPorts(Library& library, Body& body, const SignatureProto* signature,
                         Model& model) {
    Graph& graph = *model.graph;
    X2IR_ASSIGN_OR_RETURN(const std::vector<Port> outputs,
                          PortsOf(body, "output", "outputs", options_.outputs,
                                  signature ? &signature->outputs : nullptr));
    X2IR_ASSIGN_OR_RETURN(const std::vector<Port> inputs,
                          PortsOf(body, "input", "inputs", options_.inputs,
                                  signature ? &signature->inputs : nullptr));
    std::vector<Ref> roots;
    for (const Port& port : outputs) roots.push_back(port.ref);
    if (roots.empty() && !signature) roots = FindResults(library, body);
    if (roots.empty()) {
      return Invalid("no node of the graph is a result; ", OptionText("outputs"),
                     " names the results (NODE,NODE:1)");
    }
    const size_t results = roots.size();
    for (const Port& port : inputs) roots.push_back(port.ref);
    if (!signature && options_.outputs.empty()) {
      for (const NodeProto& node : body.nodes()) {
        if (node.op == "Placeholder") roots.push_back({&node, 0});
      }
    }
    X2IR_RETURN_IF_ERROR(body.Fill(roots, {}, {}, &graph));
    for (size_t i = 0; i < results; ++i) {
      Value* value = body.ValueOf(roots[i]);
      if (!value) return Invalid("an output does not exist");
      graph.AddOutput(value);
    }
    if (signature) X2IR_RETURN_IF_ERROR(NamePorts(body, inputs, outputs, graph));
    return absl::OkStatus();
  }

  // Inputs and outputs of a signature have its names, and its order.
  static absl::Status NamePorts(const Body& body, const std::vector<Port>& inputs,
                                const std::vector<Port>& outputs, Graph& graph) {
    std::vector<Value*> order;
    for (const auto& [port, ref] : inputs) {
      if (port.name.empty()) continue;
      Value* value = body.ValueOf(ref);
      if (!value || value->graph() != &graph) {
        return Unimplemented("input '", port.name, "' is '", port.tensor,
                             "', which is in a branch");
      }
      const DType dtype = ToDType(port.type);
      if (!value->is_input()) {
        // Something on the way: what comes before it is not needed.
        Value* input = graph.AddInput(graph.UniqueName(port.name), Type());
        graph.ReplaceAllUses(value, input);
        value = input;
      }
      if (std::find(order.begin(), order.end(), value) != order.end()) {
        return Invalid("two inputs of the signature are '", port.tensor, "'");
      }
      const bool known = value->type().is_known();
      if (dtype != DType::kUndefined && (!known || value->dtype() == DType::kUndefined)) {
        value->set_type(Type::Tensor(dtype, port.shape));
      } else if (known && value->type().is_tensor() && !value->shape() && port.shape) {
        value->set_type(Type::Tensor(value->dtype(), port.shape));
      }
      order.push_back(value);
    }
    const size_t named = order.size();
    for (Value* input : graph.inputs()) {
      if (std::find(order.begin(), order.end(), input) == order.end()) order.push_back(input);
    }
    for (size_t i = 0; i < order.size(); ++i) graph.ReplaceInputAt(i, order[i]);
    absl::flat_hash_set<const Value*> given;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string_view name = outputs[i].proto.name;
      if (name.empty()) continue;
      const PortProto& port = outputs[i].proto;
      Value* output = graph.outputs()[i];
      // A value may be two outputs, or an input or constant, and has a name of its own.
      if (!output->producer() || !given.insert(output).second) {
        Node* node = graph.AppendNode(kDialect, "Identity", {output});
        node->set_name(StrCat("signature/", name));
        output = graph.AddNodeOutput(node, "");
        graph.SetOutput(i, output);
      }
      GiveName(graph, output, name);
      const DType dtype = ToDType(port.type);
      if (dtype != DType::kUndefined && !output->type().is_known()) {
        output->set_type(Type::Tensor(dtype, port.shape));
      }
    }
    std::vector<std::string_view> names;
    for (const Port& port : inputs) {
      if (!port.proto.name.empty()) names.push_back(port.proto.name);
    }
    for (size_t i = 0; i < named; ++i) {
      // An output may have the same name, and keeps it. The input is called like it and a number,
      // as its node is in files that are written.
      const Value* other = graph.Find(names[i]);
      std::string free(names[i]);
      if (other && other->is_graph_output()) {
        const bool numbered = order[i]->name().starts_with(StrCat(names[i], "_"));
        free = numbered ? order[i]->name() : graph.UniqueName(names[i]);
      }
      GiveName(graph, order[i], free);
      if (free != names[i]) {
        order[i]->annotations().GetOrMake().extra[kInputNameNote] = StrCat(free, "\n", names[i]);
      }
    }
    return absl::OkStatus();
  }

  const Source& source_;
  const TensorFlowOptions& options_;
  Variables* variables_;
  const SavedFiles& files_;
};

absl::StatusOr<Model> ReadSource(Source source, const TensorFlowOptions& options,
                                 const SavedFiles& files) {
  std::string_view root = TextRoot(source.bytes);
  if (!root.empty()) {
    X2IR_ASSIGN_OR_RETURN(std::string wire, TextToWire(source.bytes, root));
    auto owner = std::make_shared<const std::string>(std::move(wire));
    source.file = Blob::InMemory({reinterpret_cast<const std::byte*>(owner->data()), owner->size()},
                                 owner, "");
    source.bytes = source.file->view();
  } else {
    const auto bytes = absl::MakeConstSpan(reinterpret_cast<const std::byte*>(source.bytes.data()),
                                           source.bytes.size());
    WireReader first = source.Fields(source.bytes);
    const bool saved = first.Next() &&
                       first.field() == saved_model_field::kSavedModelSchemaVersion &&
                       first.type() == WireType::kVarint;
    if (bytes.empty()) return DataLoss("an empty file");
    root = saved ? "SavedModel" : "GraphDef";
  }
  if (root == "GraphDef") {
    if (!options.tags.empty()) return OptionError("model", "the file holds one graph");
    return Reader(source, options, nullptr, files).Read(source.bytes, nullptr);
  }
  X2IR_ASSIGN_OR_RETURN(const SavedModelProto saved, ReadSavedModelProto(source, options.tags));
  if (!files.exist()) return Reader(source, options, nullptr, files).Read(saved.graph, &saved);
  Variables variables{Checkpoint::Open(files)};
  return Reader(source, options, &variables, files).Read(saved.graph, &saved);
}

}  // namespace

absl::StatusOr<Model> ReadGraphDef(std::string wire, const SignatureProto* signature,
                                   const std::vector<std::string>& outputs,
                                   const ValueElsewhere& elsewhere) {
  TensorFlowOptions options;
  options.outputs = outputs;
  const x2ir::Source from = x2ir::Source::Bytes(std::move(wire));
  const SavedFiles files(from);
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, from.Open());
  Source source;
  source.bytes = file->view();
  source.file = file;
  return Reader(source, options, nullptr, files).Read(source.bytes, nullptr, signature, elsewhere);
}

}  // namespace tf_format

absl::StatusOr<Model> ReadTensorFlow(const Source& from, const TensorFlowOptions& options) {
  namespace fs = std::filesystem;
  const std::string& path = from.name();
  std::string file_path = path;
  std::error_code error;
  if (from.is_folder()) {
    const fs::path binary = fs::path(path) / "saved_model.pb";
    const fs::path text = fs::path(path) / "saved_model.pbtxt";
    file_path = (fs::exists(binary, error) || !fs::exists(text, error) ? binary : text).string();
  }
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, from.in_memory() ? from.Open() : Blob::Open(file_path));
  tf_format::Source source;
  source.bytes = file->view();
  source.file = file;
  const tf_format::SavedFiles files(from);
  absl::StatusOr<Model> model = tf_format::ReadSource(std::move(source), options, files);
  if (!model.ok()) return AnnotateOption(model.status(), StrCat("'", path, "'"));
  return model;
}

}  // namespace x2ir
