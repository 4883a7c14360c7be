// Reads nodes in three steps: which are needed, which values they produce, and their operands. So
// nodes may be in any order.
#include <algorithm>
#include <utility>

#include "x2ir/formats/tensorflow/body_internal.h"
#include "x2ir/formats/tensorflow/control_flow_internal.h"
#include "x2ir/formats/tensorflow/tables_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr int kMaxDepth = 100;            // of functions as graphs in each other
constexpr int64_t kMaxOutputs = 1 << 16;  // of one node
constexpr int64_t kFewOutputs = 64;       // more of them count as nodes do
constexpr size_t kMaxAttributes = 1000;   // of one node; they are a list
constexpr int64_t kSmallSplat = 1 << 20;  // bytes that are written out without a thought
// Placeholders of older files say "rank 0" where they mean that nothing is known.
constexpr int64_t kFirstProducerWithScalars = 24;

bool IsControl(std::string_view input) { return input.starts_with('^'); }

bool IsIf(std::string_view op) { return op == "If" || op == "StatelessIf"; }
bool IsCase(std::string_view op) { return op == "Case" || op == "StatelessCase"; }
bool IsWhile(std::string_view op) { return op == "While" || op == "StatelessWhile"; }

bool Matches(const Shape& shape, const std::vector<int64_t>& dims) {
  bool same = shape.rank() == static_cast<int64_t>(dims.size());
  for (size_t i = 0; same && i < dims.size(); ++i) {
    const Dim& dim = shape.dims()[i];
    same = !dim.is_static() || dim.value() == dims[i];
  }
  return same;
}

// The kind that an attribute of a function's signature has.
std::optional<AttrKind> KindOf(std::string_view kind) {
  static constexpr std::pair<std::string_view, AttrKind> kKinds[] = {
      {"type", AttrKind::kType},
      {"shape", AttrKind::kType},
      {"int", AttrKind::kInt},
      {"bool", AttrKind::kInt},
      {"float", AttrKind::kFloat},
      {"string", AttrKind::kString},
      {"tensor", AttrKind::kTensor},
      {"list(type)", AttrKind::kTypes},
      {"list(shape)", AttrKind::kTypes},
      {"list(int)", AttrKind::kInts},
      {"list(bool)", AttrKind::kInts},
      {"list(float)", AttrKind::kFloats},
      {"list(string)", AttrKind::kStrings},
  };
  for (const auto& [name, value] : kKinds) {
    if (name == kind) return value;
  }
  return std::nullopt;
}

// The type of a function's argument, without a shape. A variable is its value, whose type is not
// said.
Type TypeOfArg(int64_t type) {
  const bool known = ToDType(type) != DType::kUndefined || TypeName(type) == "DT_VARIANT";
  return known ? ToType(type) : Type();
}
// The element type that a function's signature gives, of a value of which none is known.
void DeclareElements(Value* value, int64_t type) {
  if (!value->type().is_known()) value->set_type(TypeOfArg(type));
}

}  // namespace

bool IsVariable(std::string_view op) {
  return op == "VarHandleOp" || op == "VariableV2" || op == "Variable";
}

std::string ValueName(std::string_view node, int64_t index) {
  return index == 0 ? std::string(node) : StrCat(node, ":", index);
}

// --- Body: names --------------------------------------------------------------------------------

absl::Status Body::Index() {
  states_.resize(nodes_.size());
  by_name_.reserve(nodes_.size());
  for (const NodeProto& node : nodes_) {
    // The marks of references cannot be in names.
    if (node.name.empty() || node.name.find_first_of(":^") != std::string_view::npos) {
      return Invalid("a node of op ", node.op, " has the name '", node.name, "'");
    }
    if (node.op.empty()) return Invalid("node '", node.name, "' has no op");
    if (node.attrs.size() > kMaxAttributes) {
      return At(node, Invalid("it has ", node.attrs.size(), " attributes"));
    }
    if (!by_name_.emplace(node.name, &node).second) {
      return Invalid("two nodes have the name '", node.name, "'");
    }
  }
  if (!function_) return absl::OkStatus();
  for (const ArgProto& arg : function_->inputs) {
    if (arg.is_list) return Unimplemented("argument '", arg.name, "' is a list");
    const auto index = static_cast<int64_t>(args_by_name_.size());
    if (!args_by_name_.emplace(arg.name, index).second || by_name_.contains(arg.name)) {
      return Invalid("two arguments or nodes have the name '", arg.name, "'");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Ref> Body::Resolve(std::string_view text) const {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const auto it = by_name_.find(name);
  if (!function_) {
    if (it == by_name_.end()) return Invalid("there is no node '", name, "'");
    const auto index = rest.empty() && colon == std::string_view::npos ? 0 : ParseIndex(rest);
    if (!index || *index >= kMaxOutputs) return Invalid("'", text, "' is not an output of a node");
    return Ref{it->second, *index};
  }
  if (const auto arg = args_by_name_.find(name); arg != args_by_name_.end()) {
    if (colon != std::string_view::npos && rest != "0") {
      return Invalid("'", text, "' is not an argument of the function");
    }
    return Ref{nullptr, arg->second};
  }
  if (it == by_name_.end()) return Invalid("there is no node '", name, "'");
  const NodeProto& node = *it->second;
  // "node:argument:i"; the arguments of an op are counted through.
  const size_t second = rest.find(':');
  const std::string_view argument = rest.substr(0, second);
  const auto index =
      second == std::string_view::npos ? std::nullopt : ParseIndex(rest.substr(second + 1));
  if (argument.empty() || !index || *index >= kMaxOutputs) {
    return Invalid("'", text, "' is not an output of a node");
  }
  std::vector<std::string_view> names;
  if (const FunctionProto* callee = library_.Find(node.op)) {
    for (const ArgProto& out : callee->outputs) names.push_back(out.name);
  } else if (const OutputArgs* args = FindOutputArgs(node.op)) {
    names = args->names;
  } else {
    return Ref{&node, *index};
  }
  const auto found = std::find(names.begin(), names.end(), argument);
  if (found == names.end() || (*index != 0 && found + 1 != names.end())) {
    return Invalid("'", text, "' is not an output of a ", node.op);
  }
  return Ref{&node, found - names.begin() + *index};
}

Value* Body::ValueOf(const Ref& ref) const {
  if (!ref.node) return args_[ref.index];
  const State& state = StateOf(*ref.node);
  return ref.index < static_cast<int64_t>(state.values.size()) ? state.values[ref.index] : nullptr;
}

// --- Body: what is needed -----------------------------------------------------------------------

absl::Status Body::Visit(std::vector<const NodeProto*> todo, bool data) {
  std::vector<std::pair<const NodeProto*, bool>> stack;
  for (const NodeProto* node : todo) stack.emplace_back(node, data);
  while (!stack.empty()) {
    const auto [node, live] = stack.back();
    stack.pop_back();
    State& state = StateOf(*node);
    if (live ? state.live : state.visited) continue;
    state.visited = true;
    state.live |= live;
    if (live && needed_by_merge_) {
      if (const NodeProto* needed = needed_by_merge_(*node)) stack.emplace_back(needed, true);
    }
    for (const std::string_view input : node->inputs) {
      if (IsControl(input)) {
        const auto it = by_name_.find(input.substr(1));
        if (it == by_name_.end()) {
          // What an argument of a function waits for is the caller's business.
          if (args_by_name_.contains(input.substr(1))) continue;
          return At(*node, Invalid("there is no node '", input.substr(1), "'"));
        }
        stack.emplace_back(it->second, false);
        continue;
      }
      absl::StatusOr<Ref> ref = Resolve(input);
      if (!ref.ok()) return At(*node, ref.status());
      if (!ref->node) continue;
      if (live) {
        int64_t& outputs = StateOf(*ref->node).outputs;
        outputs = std::max(outputs, ref->index + 1);
      }
      stack.emplace_back(ref->node, live);
    }
  }
  return absl::OkStatus();
}

absl::Status Body::Fill(const std::vector<Ref>& roots, const std::vector<std::string_view>& control,
                        std::vector<Value*> args, Graph* graph) {
  args_ = std::move(args);
  std::vector<const NodeProto*> live, ordered;
  for (const Ref& ref : roots) {
    if (!ref.node) continue;
    int64_t& outputs = StateOf(*ref.node).outputs;
    outputs = std::max(outputs, ref.index + 1);
    live.push_back(ref.node);
  }
  for (const std::string_view name : control) {
    const auto it = by_name_.find(name);
    if (it != by_name_.end()) ordered.push_back(it->second);
  }
  X2IR_RETURN_IF_ERROR(Visit(std::move(live), true));
  X2IR_RETURN_IF_ERROR(Visit(std::move(ordered), false));
  // What would run before a result and changes state cannot be left out.
  std::vector<const NodeProto*> writers;
  for (const NodeProto& node : nodes_) {
    const State& state = StateOf(node);
    if (state.visited && !state.live && library_.Writes(node)) writers.push_back(&node);
  }
  X2IR_RETURN_IF_ERROR(Visit(std::move(writers), true));
  if (ControlFlow::IsIn(*this)) return ControlFlow(*this, graph).Fill(roots);

  for (const NodeProto& node : nodes_) {
    const State& state = StateOf(node);
    if (!state.live) continue;
    if (state.outputs > kFewOutputs) X2IR_RETURN_IF_ERROR(library_.Spend(state.outputs));
    if (absl::Status s = Declare(node, graph); !s.ok()) return At(node, s);
  }
  for (const NodeProto& node : nodes_) {
    if (!StateOf(node).node) continue;
    if (absl::Status s = Connect(node); !s.ok()) return At(node, s);
  }
  return absl::OkStatus();
}

// --- Body: values -------------------------------------------------------------------------------

absl::Status Body::DeclareConst(const NodeProto& proto, Graph* graph) {
  const std::string_view bytes = proto.attr("value");
  std::optional<std::string_view> tensor_bytes;
  WireReader in = library_.source().Fields(bytes);
  while (in.Next()) {
    if (in.field() == attr_value_field::kTensor) tensor_bytes = in.Bytes();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (!tensor_bytes) return Invalid("attribute 'value' is not a tensor");
  State& state = StateOf(proto);
  X2IR_ASSIGN_OR_RETURN(const TensorProto head, ReadTensorProto(library_.source(), *tensor_bytes));
  const int64_t width = head.dtype == DType::kString ? 64 : BitWidth(head.dtype) / 8;
  if (!head.repeats || head.values.num_elements() != 1 || head.count <= kSmallSplat / width) {
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(library_.source(), *tensor_bytes));
    state.values = {graph->AddConstant(proto.name, std::move(tensor))};
    return absl::OkStatus();
  }
  // One value many times: what says so, instead of all of them. No node's name has a colon.
  Value* dims = graph->AddConstant(StrCat(proto.name, ":dims"), Tensor::Vector(head.dims));
  Value* value = graph->AddConstant(StrCat(proto.name, ":value"), head.values.Reshaped({}));
  Node* node = graph->AppendNode(kDialect, "Fill", {dims, value});
  node->set_name(std::string(proto.name));
  state.values = {graph->AddNodeOutput(node, proto.name)};
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Body::VariableValue(const NodeProto& proto) const {
  const Variables& variables = *library_.variables();
  X2IR_RETURN_IF_ERROR(variables.checkpoint.status());
  const Checkpoint& checkpoint = **variables.checkpoint;
  if (const auto it = variables.restored.find(&proto); it != variables.restored.end()) {
    if (it->second.key.empty())
      return Invalid("two tensors of the checkpoint are restored into it");
    return checkpoint.At(it->second);
  }
  std::string name(proto.name);
  if (const std::string_view bytes = proto.attr("shared_name"); !bytes.empty()) {
    X2IR_ASSIGN_OR_RETURN(const AttrProto attr, ReadAttr(library_.source(), bytes));
    const auto* shared = attr.value.get<std::string>();
    if (shared && !shared->empty()) name = *shared;
  }
  return checkpoint.Variable(name);
}

// Its type as the node has it.
absl::StatusOr<Type> Body::DeclaredType(const NodeProto& proto) const {
  Type type;
  if (const std::string_view bytes = proto.attr("dtype"); !bytes.empty()) {
    X2IR_ASSIGN_OR_RETURN(const AttrProto attr, ReadAttr(library_.source(), bytes));
    const Type* dtype = attr.value.get<Type>();
    if (!dtype || dtype->has_shape()) return Invalid("attribute 'dtype' is not a type");
    type = *dtype;
  }
  if (const std::string_view bytes = proto.attr("shape"); type.is_tensor() && !bytes.empty()) {
    X2IR_ASSIGN_OR_RETURN(const AttrProto attr, ReadAttr(library_.source(), bytes));
    const Type* shape = attr.value.get<Type>();
    if (!shape || !shape->is_tensor() || shape->dtype() != DType::kUndefined) {
      return Invalid("attribute 'shape' is not a shape");
    }
    if (shape->has_shape() &&
        (shape->shape()->rank() != 0 || library_.producer() >= kFirstProducerWithScalars)) {
      type.set_shape(*shape->shape());
    }
  }
  return type;
}

absl::Status Body::Declare(const NodeProto& proto, Graph* graph) {
  State& state = StateOf(proto);
  if (state.outputs > 1 && (proto.op == "Const" || proto.op == "Placeholder")) {
    return Invalid("it has no output ", state.outputs - 1);
  }
  if (proto.op == "Const") return DeclareConst(proto, graph);
  if (IsVariable(proto.op) && library_.variables() && state.outputs <= 1) {
    X2IR_ASSIGN_OR_RETURN(const Type type, DeclaredType(proto));
    X2IR_ASSIGN_OR_RETURN(Tensor value, VariableValue(proto));
    const bool other_shape =
        type.is_tensor() && type.shape() && !Matches(*type.shape(), value.dims());
    if (type.is_tensor() && (type.dtype() != value.dtype() || other_shape)) {
      return Invalid("its type is ", type.ToString(), ", but its value in the checkpoint has type ",
                     value.type().ToString());
    }
    state.values = {graph->AddConstant(proto.name, std::move(value))};
    return absl::OkStatus();
  }
  std::string why;  // what a table holds is not known
  if (IsTable(proto.op) && library_.tables() && state.outputs <= 1) {
    const absl::StatusOr<Tensor> contents = library_.tables()->Contents(proto);
    if (contents.ok()) {
      state.values = {graph->AddConstant(proto.name, *contents)};
      return absl::OkStatus();
    }
    if (!absl::IsUnimplemented(contents.status())) return contents.status();
    why = std::string(contents.status().message());
  }
  if (proto.op == "Placeholder" && !function_) {
    X2IR_ASSIGN_OR_RETURN(Type type, DeclaredType(proto));
    if (library_.elsewhere()) {
      X2IR_ASSIGN_OR_RETURN(std::optional<Tensor> value,
                            library_.elsewhere()(proto.name, type.dtype()));
      if (value) {
        state.values = {graph->AddConstant(proto.name, *std::move(value))};
        return absl::OkStatus();
      }
    }
    state.values = {graph->AddInput(proto.name, std::move(type))};
    return absl::OkStatus();
  }
  const FunctionProto* callee = library_.Called(proto);
  state.node = graph->AppendNode(kDialect, callee ? callee->name : proto.op, {});
  state.node->set_name(std::string(proto.name));
  if (!why.empty()) state.node->SetAttr("unknown", why);
  if (callee) {
    library_.Need(*callee);
    const auto outputs = static_cast<int64_t>(callee->outputs.size());
    if (state.outputs > outputs) return Invalid("the function has no output ", state.outputs - 1);
  }
  for (int64_t i = 0; i < state.outputs; ++i) {
    state.values.push_back(graph->AddNodeOutput(state.node, ValueName(proto.name, i)));
  }
  return absl::OkStatus();
}

// --- Body: operands and attributes --------------------------------------------------------------

absl::Status Body::Connect(const NodeProto& proto) {
  State& state = StateOf(proto);
  std::vector<Value*> inputs;
  for (const std::string_view input : proto.inputs) {
    if (IsControl(input)) continue;
    X2IR_ASSIGN_OR_RETURN(const Ref ref, Resolve(input));
    Value* value = ValueOf(ref);
    if (!value) return Invalid("'", input, "' does not exist");
    if (inputs.empty() && ref.node && ref.node->op != "VarHandleOp" && IsVariable(ref.node->op) &&
        value->constant() && proto.op != "Assign" && ChangesState(proto.op)) {
      return Unimplemented("it changes '", input, "', whose value is kept from run to run");
    }
    inputs.push_back(value);
  }
  Node* const node = state.node;
  const bool branches = IsIf(proto.op) || IsCase(proto.op);
  if (branches && inputs.empty()) return Invalid("it has no condition");
  // Branches are given what they use directly; loops carry it.
  const std::vector<Value*> given(inputs.begin() + branches, inputs.end());
  node->SetInputs(branches ? absl::MakeConstSpan(inputs).first(1) : absl::MakeConstSpan(inputs));
  X2IR_RETURN_IF_ERROR(SetAttrs(proto, node));
  if (!branches && !IsWhile(proto.op)) return absl::OkStatus();
  const Attribute* condition = node->attrs().Find("Tcond");
  const Type* type = branches && condition ? condition->get<Type>() : nullptr;
  if (type && type->is_tensor() && !inputs[0]->type().is_known()) inputs[0]->set_type(*type);
  for (const Symbol key : {Symbol("then_branch"), Symbol("else_branch"), Symbol("cond"),
                           Symbol("body"), Symbol("branches")}) {
    const Attribute* attr = node->attrs().Find(key);
    if (!attr) continue;
    Attribute::Strings names;
    if (const auto* one = attr->get<std::string>()) names = {*one};
    if (const auto* list = attr->get<Attribute::Strings>()) names = *list;
    std::vector<std::shared_ptr<Graph>> graphs;
    for (const std::string& name : names) {
      X2IR_ASSIGN_OR_RETURN(std::shared_ptr<Graph> body, Nested(name, branches ? &given : nullptr));
      for (size_t i = 0; !branches && i < std::min(given.size(), body->inputs().size()); ++i) {
        const Type& type = body->inputs()[i]->type();
        if (!given[i]->type().is_known() && type.is_known()) given[i]->set_type(type);
      }
      graphs.push_back(std::move(body));
    }
    if (attr->kind() == AttrKind::kStrings) {
      node->SetAttr(key, std::move(graphs));
    } else if (graphs.size() == 1) {
      node->SetAttr(key, std::move(graphs[0]));
    }
  }
  return absl::OkStatus();
}

absl::Status Body::SetAttrs(const NodeProto& proto, Node* node) {
  const FunctionProto* callee = library_.Called(proto);
  for (const auto& [name, bytes] : proto.attrs) {
    if (name.starts_with('_')) continue;
    if (callee && std::none_of(callee->attrs.begin(), callee->attrs.end(),
                               [&, key = name](const auto& attr) { return attr.first == key; })) {
      continue;  // of the call, not of the function
    }
    absl::StatusOr<AttrProto> attr = ReadAttr(library_.source(), bytes);
    if (!attr.ok()) return Annotate(attr.status(), StrCat("attribute '", name, "'"));
    if (!attr->placeholder.empty()) {
      std::optional<AttrKind> kind;
      if (function_) {
        for (const auto& [own, text] : function_->attrs) {
          if (own == attr->placeholder) kind = KindOf(text);
        }
      }
      if (!kind) return Invalid("attribute '", name, "' refers to '", attr->placeholder, "'");
      attr->value = AttrRef{std::string(attr->placeholder), *kind};
    }
    node->SetAttr(name, std::move(attr->value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Graph>> Body::Nested(const std::string& function,
                                                    const std::vector<Value*>* bound) {
  const FunctionProto* proto = library_.Find(function);
  if (!proto) return Invalid("there is no function '", function, "'");
  if (depth_ >= kMaxDepth) return Invalid("functions are nested more than ", kMaxDepth, " deep");
  auto graph = std::make_shared<Graph>(function);
  absl::Status s = ReadFunctionBody(library_, *proto, bound, depth_ + 1, graph.get());
  if (!s.ok()) return Annotate(s, StrCat("function '", function, "'"));
  return graph;
}

absl::Status ReadFunctionBody(Library& library, const FunctionProto& function,
                              const std::vector<Value*>* bound, int depth, Graph* graph) {
  // Nodes that are not needed are looked at too.
  const size_t size = function.nodes.size() + function.inputs.size() + function.outputs.size();
  if (depth > 0) X2IR_RETURN_IF_ERROR(library.Spend(1 + static_cast<int64_t>(size)));
  Body body(library, function.nodes, &function, depth);
  X2IR_RETURN_IF_ERROR(body.Index());
  std::vector<Value*> args;
  if (bound) {
    if (bound->size() != function.inputs.size()) {
      return Invalid("it gets ", bound->size(), " arguments; expected ", function.inputs.size());
    }
    args = *bound;
    for (size_t i = 0; i < args.size(); ++i) DeclareElements(args[i], function.inputs[i].type);
  } else {
    for (const ArgProto& arg : function.inputs) {
      args.push_back(graph->AddInput(arg.name, TypeOfArg(arg.type)));
    }
  }
  std::vector<Ref> roots;
  const absl::flat_hash_map<std::string_view, std::string_view> rets(function.rets.begin(),
                                                                     function.rets.end());
  for (const ArgProto& out : function.outputs) {
    if (out.is_list) return Unimplemented("output '", out.name, "' is a list");
    const auto ret = rets.find(out.name);
    if (ret == rets.end()) return Invalid("output '", out.name, "' is not given");
    X2IR_ASSIGN_OR_RETURN(Ref ref, body.Resolve(ret->second));
    roots.push_back(ref);
  }
  X2IR_RETURN_IF_ERROR(body.Fill(roots, function.control_rets, std::move(args), graph));
  absl::flat_hash_set<const Value*> given;
  for (size_t i = 0; i < roots.size(); ++i) {
    Value* value = body.ValueOf(roots[i]);
    if (!value) return Invalid("an output does not exist");
    // Every output is a value of its own, made by a node.
    if (!value->producer() || value->graph() != graph || !given.insert(value).second) {
      Node* identity = graph->AppendNode(kDialect, "Identity", {value});
      value = graph->AddNodeOutput(identity, graph->UniqueName("output"));
    }
    DeclareElements(value, function.outputs[i].type);
    graph->AddOutput(value);
  }
  return absl::OkStatus();
}

}  // namespace x2ir::tf_format
