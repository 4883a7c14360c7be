// Local functions: look-up, the check for recursion, inlining of one call.
//
// Inlining is bounded: a small file can ask for any number of nodes by functions that call
// functions twice, and for any depth by graphs that are handed from function to function.
#include "x2ir/core/functions.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "x2ir/core/dialect.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/copy_size.h"

namespace x2ir {
namespace {

constexpr int kMaxDepth = 200;  // of calls in calls, of graphs in graphs
// What may be written out, in bytes as BytesOfCopy counts them: so many times what the model has,
// from some 10^4 nodes to 10^6.
constexpr int64_t kMaxOfModel = 256;
constexpr int64_t kLeastInlined = int64_t{1} << 22, kMaxInlined = int64_t{1} << 28;
constexpr size_t kMaxName = 200;
// How ONNX files tell apart functions of one name; the node that calls says which.
constexpr std::string_view kOverload = "onnx.overload";

std::string NameOf(const Function& function) {
  return StrCat("'", OpOf(function).view(), function.overload.empty() ? "" : ":", function.overload,
                "'");
}

void ForEachNode(const Graph& graph, const std::function<void(const Node&)>& visit) {
  std::vector<const Graph*> todo = {&graph};
  while (!todo.empty()) {
    const Graph* next = todo.back();
    todo.pop_back();
    for (const Node* node = next->first(); node; node = node->next()) {
      visit(*node);
      if (!node->has_subgraphs()) continue;
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
    }
  }
}

int DepthOf(const Graph* graph) {
  int depth = 0;
  for (; graph; graph = graph->parent()) ++depth;
  return depth;
}

// --- Attributes of a call ------------------------------------------------------------------------

// The values of the references in a body: the call's attributes and the function's defaults.
struct Bindings {
  std::vector<std::pair<std::string_view, const Attribute*>> of_call;
  std::vector<std::pair<std::string_view, const Attribute*>> defaults;
};

const Attribute* Find(const std::vector<std::pair<std::string_view, const Attribute*>>& list,
                      std::string_view name) {
  for (const auto& [have, attr] : list) {
    if (have == name) return attr;
  }
  return nullptr;
}

absl::StatusOr<Bindings> Bind(const Function& function, const Node& call) {
  Bindings bindings;
  for (const auto& [name, attr] : function.attribute_defaults) {
    bindings.defaults.emplace_back(name, &attr);
  }
  for (const auto& [name, attr] : call.attrs()) {
    const bool known = std::find(function.attributes.begin(), function.attributes.end(),
                                 name.view()) != function.attributes.end() ||
                       Find(bindings.defaults, name.view());
    if (!known) return Invalid("the function has no attribute '", name.view(), "'");
    if (attr.kind() == AttrKind::kRef) {
      return Invalid("attribute '", name.view(),
                     "' refers to an attribute of a function, but is not in a function");
    }
    for (const Graph* graph : GraphsIn(attr)) {
      std::string foreign;
      ForEachNode(*graph, [&](const Node& node) {
        if (!node.is_ir()) foreign = node.op().str();
      });
      // Inside of the function it would be taken for an op of the function's opset.
      if (!foreign.empty()) {
        return Unimplemented("its attribute '", name.view(), "' holds ", foreign,
                             ", which was not converted");
      }
    }
    bindings.of_call.emplace_back(name.view(), &attr);
  }
  return bindings;
}

// --- One instance of a body ----------------------------------------------------------------------

// Copies of nodes in the host graph, made complete: references resolved, and nested graphs copied
// with names that hide nothing.
class Instance {
 public:
  Instance(const Bindings& bindings, Graph& host, int64_t* budget)
      : bindings_(bindings), host_depth_(DepthOf(&host)), budget_(budget) {}

  absl::flat_hash_map<const Value*, Value*>& values() { return values_; }

  // Gives `copy` the attributes of `node`.
  absl::Status CopyAttrs(const Node& node, Node* copy) {
    for (const auto& [name, attr] : node.attrs()) {
      X2IR_RETURN_IF_ERROR(SetAttr(copy, name, attr, host_depth_));
    }
    for (Graph* inner : copy->subgraphs()) RenameHiding(*inner);
    return absl::OkStatus();
  }

 private:
  absl::Status SetAttr(Node* copy, Symbol name, const Attribute& attr, int depth) {
    const AttrRef* ref = attr.get<AttrRef>();
    if (!ref) return SetCopy(copy, name, attr, depth, /*own=*/true);
    const Attribute* value = Find(bindings_.of_call, ref->name);
    const bool own = value == nullptr;  // of the function: nodes in it are at its opsets
    if (own) value = Find(bindings_.defaults, ref->name);
    if (!value) return absl::OkStatus();  // left out by the caller, so left out here
    if (value->kind() == AttrKind::kRef) {
      return Invalid("the default of attribute '", ref->name, "' is a reference itself");
    }
    if (value->kind() != ref->kind) {
      return Invalid("attribute '", ref->name, "' is used as ", x2ir::Name(ref->kind), ", but is ",
                     x2ir::Name(value->kind()));
    }
    *budget_ -= BytesOfCopy(*value);
    if (*budget_ < 0) return absl::OkStatus();  // the caller says so
    return SetCopy(copy, name, *value, depth, own);
  }

  absl::Status SetCopy(Node* copy, Symbol name, const Attribute& attr, int depth, bool own) {
    std::vector<Attribute::GraphPtr> graphs;
    for (const Graph* graph : GraphsIn(attr)) {
      // What the caller hands over uses values of the caller, which stay.
      graphs.push_back(own ? graph->Clone(&values_) : graph->Clone());
    }
    if (attr.kind() == AttrKind::kGraphs) {
      copy->SetAttr(name, graphs);
    } else if (attr.kind() == AttrKind::kGraph) {
      if (graphs.empty()) return Invalid("attribute '", name.view(), "' has no graph");
      copy->SetAttr(name, graphs[0]);
    } else {
      copy->SetAttr(name, attr);
    }
    for (const auto& graph : graphs) X2IR_RETURN_IF_ERROR(Complete(*graph, depth + 1, own));
    return absl::OkStatus();
  }

  // Finishes a copied graph: what it holds refers to the function's attributes too.
  absl::Status Complete(Graph& graph, int depth, bool own) {
    if (depth > kMaxDepth) return Invalid("graphs are nested more than ", kMaxDepth, " deep");
    for (const Value* output : graph.outputs()) {
      if (!output) return Invalid("an output of a nested graph is a missing operand");
    }
    if (own) {
      for (Value* input : graph.inputs()) input->set_type(WithoutSymbols(input->type()));
    }
    for (Node* node = graph.first(); node; node = node->next()) {
      for (Graph* inner : node->subgraphs()) {
        X2IR_RETURN_IF_ERROR(Complete(*inner, depth + 1, own));
      }
      if (!own) continue;
      for (Value* output : node->outputs()) {
        if (output) output->set_type(WithoutSymbols(output->type()));
      }
      std::vector<std::pair<Symbol, Attribute>> refs;
      for (const auto& [name, attr] : node->attrs()) {
        if (attr.kind() == AttrKind::kRef) refs.emplace_back(name, attr);
      }
      for (const auto& [name, attr] : refs) {
        node->EraseAttr(name);
        X2IR_RETURN_IF_ERROR(SetAttr(node, name, attr, depth));
      }
    }
    return absl::OkStatus();
  }

  // A file of ONNX must not hide the names of outer values, and the host has other names than
  // the function had around this graph.
  static void RenameHiding(Graph& graph) {
    const auto visit = [&](Value* value) {
      if (value && !value->name().empty() && graph.parent()->FindInScope(value->name())) {
        graph.Rename(value, graph.UniqueName(value->name()));
      }
    };
    for (Value* input : graph.inputs()) visit(input);
    for (Value* constant : graph.constants()) visit(constant);
    for (Node* node = graph.first(); node; node = node->next()) {
      for (Value* output : node->outputs()) visit(output);
    }
    for (Graph* inner : graph.NestedGraphs()) RenameHiding(*inner);
  }

  const Bindings& bindings_;
  const int host_depth_;
  int64_t* budget_;
  absl::flat_hash_map<const Value*, Value*> values_;  // of the function -> of the host
};

}  // namespace

Type WithoutSymbols(Type type) {
  switch (type.kind()) {
    case Type::kTensor:
    case Type::kSparseTensor: {
      if (!type.shape()) return type;
      std::vector<Dim> dims;
      for (const Dim& dim : *type.shape()) dims.push_back(dim.is_static() ? dim : Dim());
      type.set_shape(Shape(std::move(dims)));
      return type;
    }
    case Type::kSequence: return Type::Sequence(WithoutSymbols(type.element()));
    case Type::kOptional: return Type::Optional(WithoutSymbols(type.element()));
    case Type::kMap: return Type::Map(type.dtype(), WithoutSymbols(type.element()));
    default: return type;
  }
}

Symbol OpOf(const Function& function) {
  const bool is_default = function.domain.empty() || function.domain == "ai.onnx";
  return is_default ? Symbol(function.name) : Symbol(StrCat(function.domain, "::", function.name));
}

std::string NameInside(std::string_view prefix, std::string_view name) {
  if (name.size() > kMaxName) name = "value";
  if (prefix.empty() || prefix.size() + name.size() > kMaxName) return std::string(name);
  return StrCat(prefix, "/", name);
}

Functions::Functions(const Model& model) : root_(model.graph), all_(model.functions) {
  for (const auto& function : all_) by_op_[OpOf(*function)].push_back(function.get());
}

const Function* Functions::Find(Symbol op, std::string_view overload) const {
  const auto it = by_op_.find(op);
  if (it == by_op_.end()) return nullptr;
  for (const Function* function : it->second) {
    if (function->overload == overload) return function;
  }
  return nullptr;
}

const Function* Functions::Called(const Node& node) const {
  if (by_op_.empty() || node.is_ir()) return nullptr;
  std::string_view overload;
  if (const Annotations* annotations = node.annotations().get()) {
    const auto it = annotations->extra.find(std::string(kOverload));
    if (it != annotations->extra.end()) overload = it->second;
  }
  return Find(node.op(), overload);
}

namespace {

// Calls `visit` for what a function calls.
void ForEachCallee(const Functions& functions, const Function& function,
                   const std::function<void(const Function&)>& visit) {
  const auto look = [&](const Node& node) {
    if (const Function* callee = functions.Called(node)) visit(*callee);
  };
  if (function.body) ForEachNode(*function.body, look);
  for (const auto& entry : function.attribute_defaults) {
    for (const Graph* graph : GraphsIn(entry.second)) ForEachNode(*graph, look);
  }
}

}  // namespace

absl::Status Functions::Check(std::vector<const Function*>* callees_first) const {
  struct Mark {
    bool open = true;
    int height = 1;  // of the calls that it makes, when not open
  };
  absl::flat_hash_map<const Function*, Mark> marks;
  std::vector<const Function*> path;
  const std::function<absl::Status(const Function&)> visit =
      [&](const Function& function) -> absl::Status {
    marks[&function] = Mark();
    path.push_back(&function);
    absl::flat_hash_set<const Function*> callees;
    ForEachCallee(*this, function, [&](const Function& callee) { callees.insert(&callee); });
    int height = 1;
    for (const Function* callee : callees) {
      if (const auto it = marks.find(callee); it != marks.end() && it->second.open) {
        std::string cycle;
        for (auto at = std::find(path.begin(), path.end(), callee); at != path.end(); ++at) {
          StrAppend(&cycle, NameOf(**at), " calls ");
        }
        return Invalid("a function must not call itself: ", cycle, NameOf(*callee));
      }
      if (path.size() < kMaxDepth && !marks.contains(callee)) {
        X2IR_RETURN_IF_ERROR(visit(*callee));
      }
      height = std::max(height, path.size() < kMaxDepth ? marks[callee].height + 1 : kMaxDepth + 1);
    }
    if (height > kMaxDepth)
      return Invalid("calls of functions are nested more than ", kMaxDepth, " deep");
    marks[&function] = {false, height};
    path.pop_back();
    if (callees_first) callees_first->push_back(&function);
    return absl::OkStatus();
  };
  for (const auto& function : all_) {
    if (!marks.contains(function.get())) X2IR_RETURN_IF_ERROR(visit(*function));
  }
  return absl::OkStatus();
}

// Saturates.
int64_t Functions::WrittenOut(const Function& function) {
  const auto [it, fresh] = written_out_.try_emplace(&function, kMaxInlined + 1);
  if (!fresh) return it->second;
  int64_t size = function.body ? BytesOfCopy(*function.body) : 0;
  ForEachCallee(*this, function, [&](const Function& callee) {
    if (size <= kMaxInlined) size += WrittenOut(callee);
  });
  return written_out_[&function] = std::min(size, kMaxInlined + 1);
}

absl::StatusOr<std::vector<Node*>> Functions::Inline(const Function& function, Node* call,
                                                     std::string_view prefix) {
  if (!function.body) return Invalid("the function has no body");
  Graph& body = *function.body;
  Graph& host = *call->graph();
  if (call->num_inputs() > body.inputs().size()) {
    return Invalid("the function takes ", body.inputs().size(), " operands, got ",
                   call->num_inputs());
  }
  if (call->num_outputs() > body.outputs().size()) {
    return Invalid("the function gives ", body.outputs().size(), " results, not ",
                   call->num_outputs());
  }
  X2IR_ASSIGN_OR_RETURN(const Bindings bindings, Bind(function, *call));
  auto [size, fresh] = sizes_.try_emplace(&function, 0);
  if (fresh) {
    X2IR_RETURN_IF_ERROR(body.Sort());
    size->second = BytesOfCopy(body);
  }
  if (most_ == 0) {
    int64_t all = BytesOfCopy(*root_);
    for (const auto& each : all_) all += each->body ? BytesOfCopy(*each->body) : 0;
    most_ = std::clamp(all * kMaxOfModel, kLeastInlined, kMaxInlined);
  }
  int64_t budget = most_ - inlined_ - size->second;
  const auto too_much = [&] {
    return Invalid("local functions, inlined, take more than ", most_ >> 20, " MiB of nodes");
  };
  // What it calls is counted before, so that nothing is written out by halves.
  if (budget < 0 || WrittenOut(function) > most_ - inlined_) return too_much();

  Instance instance(bindings, host, &budget);
  auto& values = instance.values();
  for (size_t i = 0; i < body.inputs().size(); ++i) values[body.inputs()[i]] = call->input(i);
  std::vector<Value*> constants;
  for (const Value* constant : body.constants()) {
    const std::string name = host.UniqueName(NameInside(prefix, constant->name()));
    constants.push_back(host.AddConstant(name, *constant->constant()));
    values[constant] = constants.back();
  }
  // Nodes first, then what they hold: nested graphs may use any of their results. The values that
  // replace the call's results have no names yet.
  const absl::flat_hash_set<const Value*> outputs(body.outputs().begin(), body.outputs().end());
  std::vector<Node*> made;
  for (const Node* node = body.first(); node; node = node->next()) {
    std::vector<Value*> operands = node->inputs();
    for (Value*& operand : operands) {
      if (operand) operand = values.at(operand);  // sorted, so it has been met
    }
    Node* copy = host.InsertNode(call, node->dialect(), node->op(), operands);
    copy->set_name(node->name());
    copy->annotations().CopyFrom(node->annotations());
    made.push_back(copy);
    for (const Value* output : node->outputs()) {
      if (!output) {
        host.AddMissingOutput(copy);
        continue;
      }
      const std::string name =
          outputs.contains(output) ? "" : host.UniqueName(NameInside(prefix, output->name()));
      Value* value = host.AddNodeOutput(copy, name, WithoutSymbols(output->type()));
      value->annotations().CopyFrom(output->annotations());
      values[output] = value;
    }
  }
  absl::Status status;
  size_t at = 0;
  for (const Node* node = body.first(); node && status.ok(); node = node->next()) {
    status = instance.CopyAttrs(*node, made[at++]);
    if (status.ok() && budget < 0) status = too_much();
  }
  for (size_t i = 0; i < call->num_outputs() && status.ok(); ++i) {
    if (call->output(i) && !values[body.outputs()[i]]) {
      status = Invalid("result ", i, " is a missing operand");
    }
  }
  if (!status.ok()) {
    for (auto node = made.rbegin(); node != made.rend(); ++node) host.EraseUnused(*node);
    for (Value* constant : constants) host.RemoveConstant(constant);
    return status;
  }
  inlined_ = most_ - budget;

  for (size_t i = 0; i < call->num_outputs(); ++i) {
    Value* result = call->output(i);
    if (!result) continue;
    Value*& replacement = values[body.outputs()[i]];
    if (replacement->producer() && replacement->name().empty()) {
      host.AdoptOutput(replacement, result);
      replacement = result;
    } else if (!result->is_graph_output()) {
      host.ReplaceAllUses(result, replacement);
    } else {
      // An operand, or a result that the call gives twice, cannot bear this name as well.
      made.push_back(host.InsertNode(call, kIrDialect, "identity", {replacement}));
      host.AdoptOutput(host.AddNodeOutput(made.back(), ""), result);
    }
  }
  host.EraseUnused(call);
  for (const Value* output : body.outputs()) {  // those that the call leaves out
    Value* replacement = values[output];
    if (replacement && replacement->name().empty()) {
      host.Rename(replacement, host.UniqueName(NameInside(prefix, output->name())));
    }
  }
  return made;
}

std::vector<std::shared_ptr<Function>> Functions::UsedBy(const Graph& graph) const {
  absl::flat_hash_set<const Function*> used;
  std::vector<const Function*> todo;
  const auto add = [&](const Function& function) {
    if (used.insert(&function).second) todo.push_back(&function);
  };
  ForEachNode(graph, [&](const Node& node) {
    if (const Function* function = Called(node)) add(*function);
  });
  while (!todo.empty()) {
    const Function* next = todo.back();
    todo.pop_back();
    ForEachCallee(*this, *next, add);
  }
  std::vector<std::shared_ptr<Function>> functions;
  for (const auto& function : all_) {
    if (used.contains(function.get())) functions.push_back(function);
  }
  return functions;
}

}  // namespace x2ir
