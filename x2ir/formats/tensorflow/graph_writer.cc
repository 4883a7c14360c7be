#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/made_names.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/table_contents.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

// The version of GraphDefs that is written: that of TensorFlow 2.4, which has all ops that are.
constexpr int64_t kWrittenProducer = 561;
constexpr int64_t kWrittenMinConsumer = 12;
bool IsLoop(const Node& node) {
  return node.op().view() == "While" || node.op().view() == "StatelessWhile";
}
bool IsBranch(const Node& node) {
  return node.op().view() == "If" || node.op().view() == "StatelessIf";
}

bool IsSmall(const Tensor& tensor) {
  return tensor.is_string() || tensor.nbytes() <= kSmallConstant;
}

// A value that a function is given rather than making it itself.
bool IsOuter(const Value& value, const Graph& graph) {
  if (const Tensor* constant = value.fixed_constant()) return !IsSmall(*constant);
  return value.graph() != &graph;
}

// What a constant is called before it gets a number. A small one that a conversion made has the
// name of the node that it was made for ("y_const_2"), which may be another the second time: it is
// called after the first node that reads it.
std::string BaseName(const Value& constant, std::string_view user) {
  const std::string_view name = constant.name();
  if (name.empty()) return "Const";
  const std::string_view made = MadeConstantName(name);
  if (made.empty() || !IsSmall(*constant.fixed_constant())) return std::string(name);
  return user.empty() ? std::string(made) : StrCat(user, "_const");
}

void BeginNode(WireWriter& out, uint32_t field, std::string_view name, std::string_view op) {
  out.Begin(field);
  out.Bytes(node_def_field::kName, name);
  out.Bytes(node_def_field::kOp, op);
}

void WriteFunctionAttr(WireWriter& out, std::string_view name, std::string_view function) {
  out.Begin(node_def_field::kAttr);
  out.Bytes(node_def_attr_entry_field::kKey, name);
  out.Begin(node_def_attr_entry_field::kValue);
  out.Begin(attr_value_field::kFunc);
  out.Bytes(name_attr_list_field::kName, function);
  out.End();
  out.End();
  out.End();
}

// An element type without a shape, as attributes have it.
Type WithoutShape(const Type& type) { return type.is_tensor() ? Type::Tensor(type.dtype()) : type; }

std::vector<Type> ElementTypes(const std::vector<const Value*>& values) {
  std::vector<Type> types;
  for (const Value* value : values) types.push_back(WithoutShape(value->type()));
  return types;
}

// The element types and shapes of an If's or While's results.
std::vector<Type> ShapesOf(const std::vector<Type>& types) {
  std::vector<Type> shapes;
  for (const Type& type : types) {
    shapes.push_back(type.is_tensor() && type.shape()
                         ? Type::Tensor(DType::kUndefined, *type.shape())
                         : Type::Tensor(DType::kUndefined));
  }
  return shapes;
}

bool IsInputOf(const Graph& graph, const Value* value) {
  return value && value->is_input() && value->graph() == &graph;
}

// Users of a graph have no lists to give it, and can do nothing with one.
absl::Status CheckIsNoList(std::string_view what, const Value& value) {
  if (value.type().kind() != Type::kSequence) return absl::OkStatus();
  return CannotExpress(what, " '", value.name(), "' is ", value.type().ToString(),
                       "; inputs and outputs of TensorFlow's graphs are tensors");
}

}  // namespace

// A graph while it is written: the model's, or a function's body.
struct GraphWriter::Scope {
  const Graph& graph;
  StringMap<int>& names;
  const bool is_function;
  WireWriter out{};
  std::string_view user{};  // the node at hand
  absl::flat_hash_map<const Value*, std::string> refs{};
  // Nodes whose output 0 is an output of the model: they are called like it, and come last.
  absl::flat_hash_map<const Node*, std::string> results{};
  // Results of a function that are no node's of its own: the values that they are.
  absl::flat_hash_map<const Value*, const Value*> handed_on{};

  uint32_t node_field() const {
    return is_function ? uint32_t{function_def_field::kNodeDef} : uint32_t{graph_def_field::kNode};
  }
};

GraphWriter::GraphWriter(const Model& model, PlaceFn place)
    : model_(model), place_(std::move(place)) {}

std::string GraphWriter::Unique(StringMap<int>& taken, std::string_view base) {
  std::string name = LegalNodeName(base);
  const auto [it, fresh] = taken.try_emplace(name, 0);
  if (fresh) return name;
  while (true) {
    // `taken` may move its entries when one is added.
    std::string next = StrCat(name, "_", ++taken[name]);
    if (taken.try_emplace(next, 0).second) return next;
  }
}

const GraphWriter::Needs& GraphWriter::NeedsOf(const Graph& graph) {
  if (const auto it = needs_.find(&graph); it != needs_.end()) return *it->second;
  auto needs = std::make_unique<Needs>();
  std::vector<const Node*> todo;
  const auto need = [&](const Value* value) {
    const Node* made = value ? value->producer() : nullptr;
    if (made && made->graph() == &graph && needs->nodes.insert(made).second) todo.push_back(made);
  };
  for (const Value* output : graph.outputs()) need(output);
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (size_t i = 0; i < node->num_inputs(); ++i) need(node->input(i));
    for (const Graph* inner : node->subgraphs()) {
      for (const Value* value : NeedsOf(*inner).outer) need(value);
    }
  }
  absl::flat_hash_set<const Value*> seen;
  const auto add = [&](const Value* value) {
    if (value && IsOuter(*value, graph) && seen.insert(value).second) needs->outer.push_back(value);
  };
  for (const Node* node : graph.nodes()) {
    if (!needs->nodes.contains(node)) continue;
    for (size_t i = 0; i < node->num_inputs(); ++i) add(node->input(i));
    for (const Graph* inner : node->subgraphs()) {
      for (const Value* value : NeedsOf(*inner).outer) add(value);
    }
  }
  for (const Value* output : graph.outputs()) add(output);
  return *(needs_[&graph] = std::move(needs));
}

// --- Values -------------------------------------------------------------------------------------

// Whether a node hands on a handle (of a variable, of a table).
static bool HandsOnHandle(const Node& node) {
  const Attribute* attr = node.op().view() == "Identity" ? node.attrs().Find("T") : nullptr;
  const Type* type = attr ? attr->get<Type>() : nullptr;
  return type && type->kind() == Type::kOpaque && type->opaque_name() == "DT_RESOURCE" &&
         node.num_inputs() == 1 && node.input(0);
}

// In the place of a handle: the constant that the reader found behind it; null where there is none.
static const Value* ContentsOf(const Value* handle) {
  while (handle && handle->producer() && HandsOnHandle(*handle->producer())) {
    handle = handle->producer()->input(0);
  }
  return handle && handle->fixed_constant() ? handle : nullptr;
}

// The weight that a node reads, as the graph of a SavedModel has it: it is written with a variable.
static const Value* WeightThatIsRead(const Node* node) {
  const bool reads = node && node->op().view() == "ReadVariableOp" && node->num_inputs() == 1;
  return reads ? ContentsOf(node->input(0)) : nullptr;
}

// The results of a nested graph are values of its own. Those of a function may also be arguments,
// constants, or one value several times: they need no Identity there, and readers add it again.
absl::flat_hash_map<const Value*, const Value*> GraphWriter::HandedOn(const Graph& graph) {
  absl::flat_hash_map<const Value*, const Value*> handed_on;
  absl::flat_hash_set<const Value*> own;
  for (const Value* output : graph.outputs()) {
    own.insert(output);
    const Node* node = output->producer();
    if (!node || node->graph() != &graph || node->op().view() != "Identity" ||
        node->num_inputs() != 1 || !output->uses().empty() || output->graph_output_count() != 1) {
      continue;
    }
    const Value* value = node->input(0);
    if (!value->producer() || value->graph() != &graph || own.contains(value)) {
      handed_on[output] = value;
    }
  }
  return handed_on;
}

absl::StatusOr<std::string> GraphWriter::RefOf(Scope& scope, const Value& value) {
  if (const auto it = scope.handed_on.find(&value); it != scope.handed_on.end()) {
    return RefOf(scope, *it->second);
  }
  if (const Value* weight = WeightThatIsRead(value.producer())) return RefOf(scope, *weight);
  if (const auto it = scope.refs.find(&value); it != scope.refs.end()) return it->second;
  if (value.fixed_constant()) return WriteConstant(scope, value);
  return Internal("value '", value.name(), "' is used before it is made");
}

absl::StatusOr<std::string> GraphWriter::WriteConstant(Scope& scope, const Value& value) {
  const Tensor& tensor = *value.fixed_constant();
  const std::string base = BaseName(value, scope.user);
  ConstantPlace place = place_ ? place_(tensor) : ConstantPlace::kInside;
  // A function has no variables of its own.
  if (scope.is_function && place == ConstantPlace::kVariable) place = ConstantPlace::kInside;
  std::string node;
  if (scope.is_function && place == ConstantPlace::kApart) {
    // What is apart is found by a name that only one node has, in whatever graph.
    do node = UniqueNode(base);
    while (!scope.names.try_emplace(node, 0).second);
  } else {
    node = Unique(scope.names, base);
  }
  if (place != ConstantPlace::kInside) apart_.push_back({node, tensor});
  WireWriter& out = scope.out;
  const Type type = Type::Tensor(tensor.dtype());
  const std::string handle =
      place == ConstantPlace::kVariable ? node : std::string();  // of the variable
  if (!handle.empty()) {
    BeginNode(out, scope.node_field(), handle, "VarHandleOp");
    const Shape shape(std::vector<Dim>(tensor.dims().begin(), tensor.dims().end()));
    const std::pair<const char*, Attribute> attrs[] = {
        {"container", std::string()},
        {"shared_name", handle},
        {"dtype", type},
        {"shape", Type::Tensor(DType::kUndefined, shape)}};
    for (const auto& [name, attr] : attrs) X2IR_RETURN_IF_ERROR(WriteNodeAttr(out, name, attr));
    out.End();
    node = Unique(scope.names, StrCat(node, "/ReadVariableOp"));
    apart_.back().read = node;
  }
  BeginNode(out, scope.node_field(), node, handle.empty() ? "Const" : "ReadVariableOp");
  if (!handle.empty()) out.Bytes(node_def_field::kInput, handle);
  absl::Status written = WriteNodeAttr(out, "dtype", type);
  if (written.ok() && handle.empty()) {
    out.Begin(node_def_field::kAttr);
    out.Bytes(node_def_attr_entry_field::kKey, "value");
    out.Begin(node_def_attr_entry_field::kValue);
    written =
        WriteTensorProto(out, attr_value_field::kTensor, tensor, place == ConstantPlace::kInside);
    out.End();
    out.End();
  }
  if (!written.ok()) return Annotate(written, StrCat("constant '", value.name(), "'"));
  out.End();
  std::string ref = node;
  if (scope.is_function) {
    X2IR_ASSIGN_OR_RETURN(ref, OutputInFunction(node, "Const", 0));
  }
  return scope.refs[&value] = ref;
}

// The table whose contents are operand 0.
absl::StatusOr<std::string> GraphWriter::RefOfTable(Scope& scope, const Node& lookup) {
  const auto type_of = [&](const char* attr) {
    const Attribute* found = lookup.attrs().Find(attr);
    const Type* type = found ? found->get<Type>() : nullptr;
    return type && type->is_tensor() ? type->dtype() : DType::kUndefined;
  };
  const Value& contents = *ContentsOf(lookup.input(0));
  const std::string_view version = lookup.op().view().ends_with("V2") ? "V2" : "";
  const DType key = type_of("Tin"), value = type_of("Tout");
  if (scope.is_function) return CannotExpress("a lookup in a table, in a branch or a loop");
  if (const auto it = table_of_.find(&contents); it != table_of_.end()) {
    const Table& table = tables_[it->second];
    if (table.version != version || (key != DType::kUndefined && table.key != key) ||
        (value != DType::kUndefined && table.value != value)) {
      return CannotExpress("two lookups in table '", contents.name(), "' of other types");
    }
    return table.node;
  }
  if (key == DType::kUndefined || value == DType::kUndefined) {
    return CannotExpress("table '", contents.name(), "' of unknown element types");
  }
  const std::string node =
      Unique(scope.names, contents.name().empty() ? "table" : std::string_view(contents.name()));
  BeginNode(scope.out, scope.node_field(), node, StrCat("HashTable", version));
  for (const auto& [name, attr] :
       {std::pair<const char*, Attribute>{"container", std::string()},
        std::pair<const char*, Attribute>{"shared_name", node},
        std::pair<const char*, Attribute>{"key_dtype", Type::Tensor(key)},
        std::pair<const char*, Attribute>{"value_dtype", Type::Tensor(value)}}) {
    X2IR_RETURN_IF_ERROR(WriteNodeAttr(scope.out, name, attr));
  }
  scope.out.End();
  table_of_.emplace(&contents, tables_.size());
  tables_.push_back({node, version, key, value, *contents.fixed_constant()});
  return node;
}

// --- Nodes --------------------------------------------------------------------------------------

absl::Status GraphWriter::WriteNodes(Scope& scope) {
  const absl::flat_hash_set<const Node*>& needed = NeedsOf(scope.graph).nodes;
  const auto write = [&](const Node& node, const std::string& name) -> absl::Status {
    scope.user = name;
    const absl::Status status = WriteNode(scope, node, name);
    scope.user = {};
    return status.ok() ? status : Annotate(status, StrCat(node.op().view(), " '", name, "'"));
  };
  for (const Node* node : scope.graph.nodes()) {
    if (!needed.contains(node) || scope.results.contains(node)) continue;
    if (WeightThatIsRead(node)) continue;
    if (HandsOnHandle(*node) && ContentsOf(node->output(0))) continue;
    const Value* first = nullptr;
    for (const Value* output : node->outputs()) first = first ? first : output;
    if (scope.handed_on.contains(first)) continue;
    // Output k of node "n" may be called "n:k".
    std::string_view base = first->name();
    if (first->output_index() != 0) base = base.substr(0, base.find(':'));
    if (base.empty()) base = node->name().empty() ? node->op().view() : node->name();
    X2IR_RETURN_IF_ERROR(write(*node, Unique(scope.names, base)));
  }
  if (scope.results.empty()) return absl::OkStatus();
  for (const Value* output : scope.graph.outputs()) {
    const auto it = scope.results.find(output->producer());
    if (it != scope.results.end()) X2IR_RETURN_IF_ERROR(write(*output->producer(), it->second));
  }
  return absl::OkStatus();
}

absl::Status GraphWriter::WriteNode(Scope& scope, const Node& node, const std::string& name) {
  if (node.dialect() != kDialect) {
    return CannotExpress("an op of ",
                         node.is_ir() ? "the IR" : StrCat("dialect '", node.dialect().str(), "'"),
                         " cannot be written to a TensorFlow graph");
  }
  for (size_t k = 0; k < node.num_outputs(); ++k) {
    if (!node.output(k)) continue;
    std::string ref = k == 0 ? name : StrCat(name, ":", k);
    if (scope.is_function) {
      X2IR_ASSIGN_OR_RETURN(ref, OutputInFunction(name, node.op().view(), k));
    }
    scope.refs[node.output(k)] = std::move(ref);
  }
  if (node.has_subgraphs()) return WriteControlFlow(scope, node, name);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (!node.input(i)) return Internal("operand ", i, " is left out");
    const bool is_table = i == 0 && ReadsTfTable(node.op().view()) && ContentsOf(node.input(0));
    X2IR_ASSIGN_OR_RETURN(std::string ref,
                          is_table ? RefOfTable(scope, node) : RefOf(scope, *node.input(i)));
    inputs.push_back(std::move(ref));
  }
  BeginNode(scope.out, scope.node_field(), name, node.op().view());
  for (const std::string& input : inputs) scope.out.Bytes(node_def_field::kInput, input);
  for (const auto& [attr, value] : node.attrs()) {
    const absl::Status status = WriteNodeAttr(scope.out, attr.view(), value);
    if (!status.ok()) return Annotate(status, StrCat("attribute '", attr.view(), "'"));
  }
  scope.out.End();
  return absl::OkStatus();
}

// Functions see nothing of the graph around them: what they use is handed to them.
absl::Status GraphWriter::WriteControlFlow(Scope& scope, const Node& node,
                                           const std::string& name) {
  const bool loop = IsLoop(node);
  if (!loop && !IsBranch(node)) return CannotExpress("an op with graphs as attributes");
  const std::pair<const char*, const Graph*> graphs[2] = {
      {loop ? "cond" : "then_branch", &node.attrs().SubGraph(loop ? "cond" : "then_branch")},
      {loop ? "body" : "else_branch", &node.attrs().SubGraph(loop ? "body" : "else_branch")}};
  std::vector<const Value*> given, captured;
  for (size_t i = loop ? 0 : 1; i < node.num_inputs(); ++i) given.push_back(node.input(i));
  absl::flat_hash_set<const Value*> seen;
  for (const auto& [attr, graph] : graphs) {
    for (const Value* value : NeedsOf(*graph).outer) {
      if (seen.insert(value).second) captured.push_back(value);
    }
  }
  std::vector<Type> results;
  for (size_t i = 0; i < graphs[1].second->outputs().size(); ++i) {
    const Value* output = node.output(i);
    results.push_back(output ? output->type() : graphs[1].second->outputs()[i]->type());
    if (!results.back().is_known()) results.back() = graphs[1].second->outputs()[i]->type();
  }
  std::string functions[2];
  for (int i = 0; i < 2; ++i) {
    X2IR_ASSIGN_OR_RETURN(functions[i], WriteFunction(StrCat(name, "_", graphs[i].first),
                                                      *graphs[i].second, captured, loop && i == 1));
  }
  if (loop) {
    for (const Value* value : captured) results.push_back(value->type());
  }
  std::vector<const Value*> operands = given;
  operands.insert(operands.end(), captured.begin(), captured.end());
  std::vector<std::string> inputs;
  if (!loop) {
    X2IR_ASSIGN_OR_RETURN(std::string ref, RefOf(scope, *node.input(0)));
    inputs.push_back(std::move(ref));
  }
  for (const Value* value : operands) {
    X2IR_ASSIGN_OR_RETURN(std::string ref, RefOf(scope, *value));
    inputs.push_back(std::move(ref));
  }
  WireWriter& out = scope.out;
  BeginNode(out, scope.node_field(), name, node.op().view());
  for (const std::string& input : inputs) out.Bytes(node_def_field::kInput, input);
  std::vector<Type> given_types = ElementTypes(operands), result_types;
  for (const Type& type : results) result_types.push_back(WithoutShape(type));
  if (loop) {
    X2IR_RETURN_IF_ERROR(WriteNodeAttr(out, "T", std::move(given_types)));
  } else {
    X2IR_RETURN_IF_ERROR(WriteNodeAttr(out, "Tcond", WithoutShape(node.input(0)->type())));
    X2IR_RETURN_IF_ERROR(WriteNodeAttr(out, "Tin", std::move(given_types)));
    X2IR_RETURN_IF_ERROR(WriteNodeAttr(out, "Tout", std::move(result_types)));
  }
  for (int i = 0; i < 2; ++i) WriteFunctionAttr(out, graphs[i].first, functions[i]);
  // What was read says it; what was made has types.
  const Attribute* shapes = node.attrs().Find("output_shapes");
  const auto* read = shapes ? shapes->get<std::vector<Type>>() : nullptr;
  X2IR_RETURN_IF_ERROR(WriteNodeAttr(
      out, "output_shapes", read && read->size() == results.size() ? *read : ShapesOf(results)));
  out.End();
  return absl::OkStatus();
}

absl::StatusOr<std::string> GraphWriter::WriteFunction(std::string_view base, const Graph& graph,
                                                       const std::vector<const Value*>& captured,
                                                       bool returns_captured) {
  // As TensorFlow itself calls functions: without the separators of nodes.
  std::string plain(base);
  for (char& c : plain) {
    if (c == '/' || c == '.' || c == '-') c = '_';
  }
  const std::string name = Unique(functions_, plain);
  StringMap<int> names;
  Scope scope{graph, names, true};
  scope.handed_on = HandedOn(graph);
  WireWriter signature;
  signature.Bytes(op_def_field::kName, name);
  const auto argument = [&](uint32_t field, std::string_view arg,
                            const Type& type) -> absl::Status {
    absl::StatusOr<int64_t> number = NumberOfType(type);
    if (!number.ok()) return Annotate(number.status(), StrCat("argument '", arg, "'"));
    signature.Begin(field);
    signature.Bytes(op_def_arg_def_field::kName, arg);
    signature.Int(op_def_arg_def_field::kType, *number);
    signature.End();
    return absl::OkStatus();
  };
  // Arguments are called by their numbers, so that no name has a character that they may not have.
  std::vector<const Value*> args(graph.inputs().begin(), graph.inputs().end());
  args.insert(args.end(), captured.begin(), captured.end());
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string arg = Unique(names, StrCat("arg_", i));
    X2IR_RETURN_IF_ERROR(argument(op_def_field::kInputArg, arg, args[i]->type()));
    scope.refs[args[i]] = arg;
  }
  X2IR_RETURN_IF_ERROR(WriteNodes(scope));
  std::vector<const Value*> results(graph.outputs().begin(), graph.outputs().end());
  if (returns_captured) results.insert(results.end(), captured.begin(), captured.end());
  std::vector<std::string> refs;
  for (size_t i = 0; i < results.size(); ++i) {
    X2IR_RETURN_IF_ERROR(
        argument(op_def_field::kOutputArg, StrCat("result_", i), results[i]->type()));
    X2IR_ASSIGN_OR_RETURN(std::string ref, RefOf(scope, *results[i]));
    refs.push_back(std::move(ref));
  }
  library_.Begin(function_def_library_field::kFunction);
  library_.Begin(function_def_field::kSignature);
  library_.Append(signature);
  library_.End();
  library_.Append(scope.out);
  for (size_t i = 0; i < refs.size(); ++i) {
    library_.Begin(function_def_field::kRet);
    library_.Bytes(function_def_ret_entry_field::kKey, StrCat("result_", i));
    library_.Bytes(function_def_ret_entry_field::kValue, refs[i]);
    library_.End();
  }
  library_.End();
  return name;
}

std::string NameInSignature(const Value& input) {
  const Annotations* notes = input.annotations().get();
  if (!notes) return input.name();
  const auto note = notes->extra.find(kInputNameNote);
  if (note == notes->extra.end()) return input.name();
  const std::string own = StrCat(input.name(), "\n");
  const bool holds = note->second.starts_with(own) && note->second.size() > own.size();
  return holds ? note->second.substr(own.size()) : input.name();
}

// --- The graph ----------------------------------------------------------------------------------

absl::Status GraphWriter::WriteInputs(Scope& scope) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Value& input = *scope.graph.inputs()[i];
    if (input.constant()) return CannotExpress("input '", input.name(), "' has a default");
    const Type& type = input.type();
    BeginNode(scope.out, graph_def_field::kNode, inputs_[i].node, "Placeholder");
    const Type shape = type.is_tensor() && type.shape()
                           ? Type::Tensor(DType::kUndefined, *type.shape())
                           : Type::Tensor(DType::kUndefined);
    for (const auto& [name, attr] : {std::pair<const char*, Attribute>{"dtype", WithoutShape(type)},
                                     std::pair<const char*, Attribute>{"shape", shape}}) {
      if (absl::Status s = WriteNodeAttr(scope.out, name, attr); !s.ok()) {
        return Annotate(s, StrCat("input '", input.name(), "'"));
      }
    }
    scope.out.End();
    scope.refs[&input] = inputs_[i].node;
  }
  return absl::OkStatus();
}

// Outputs that are no node's own.
absl::Status GraphWriter::WriteOutputs(Scope& scope) {
  absl::flat_hash_set<const Node*> done;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Value& output = *scope.graph.outputs()[i];
    if (scope.results.contains(output.producer())) continue;
    X2IR_ASSIGN_OR_RETURN(const std::string ref, RefOf(scope, output));
    BeginNode(scope.out, graph_def_field::kNode, outputs_[i].node, "Identity");
    scope.out.Bytes(node_def_field::kInput, ref);
    const absl::Status status = WriteNodeAttr(scope.out, "T", WithoutShape(output.type()));
    if (!status.ok()) return Annotate(status, StrCat("output '", output.name(), "'"));
    scope.out.End();
  }
  return absl::OkStatus();
}

absl::Status GraphWriter::Write(WireWriter& out) {
  const Graph& graph = *model_.graph;
  if (!model_.functions.empty()) return CannotExpress("functions of the model's own");
  Scope scope{graph, nodes_, false};
  for (const Value* input : graph.inputs()) {
    X2IR_RETURN_IF_ERROR(CheckIsNoList("input", *input));
    std::string name = NameInSignature(*input);
    if (name != input->name() && IsInputOf(graph, graph.Find(name))) name = input->name();
    inputs_.push_back({std::move(name), UniqueNode(input->name()), input->type()});
  }
  // In the order of the graph's outputs, which a GraphDef has no other place for.
  bool all_own = true;
  for (const Value* output : graph.outputs()) {
    if (!output) return Internal("an output is missing");
    X2IR_RETURN_IF_ERROR(CheckIsNoList("output", *output));
    outputs_.push_back({output->name(), UniqueNode(output->name()), output->type()});
    const Node* made = output->producer();
    all_own &= made && made->num_outputs() == 1 && !FindOutputArgs(made->op().view()) &&
               !made->has_subgraphs() && output->uses().empty() &&
               output->graph_output_count() == 1;
  }
  for (size_t i = 0; all_own && i < outputs_.size(); ++i) {
    scope.results[graph.outputs()[i]->producer()] = outputs_[i].node;
  }
  X2IR_RETURN_IF_ERROR(WriteInputs(scope));
  X2IR_RETURN_IF_ERROR(WriteNodes(scope));
  X2IR_RETURN_IF_ERROR(WriteOutputs(scope));
  out.Append(scope.out);
  if (library_.size() != 0) {
    out.Begin(graph_def_field::kLibrary);
    out.Append(library_);
    out.End();
  }
  out.Begin(graph_def_field::kVersions);
  out.Int(version_def_field::kProducer, kWrittenProducer);
  out.Int(version_def_field::kMinConsumer, kWrittenMinConsumer);
  out.End();
  return absl::OkStatus();
}

}  // namespace x2ir::tf_format
