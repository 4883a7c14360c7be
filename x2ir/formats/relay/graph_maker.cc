#include "x2ir/formats/relay/graph_maker.h"

#include <algorithm>
#include <utility>

#include "x2ir/formats/relay/attr_table.h"
#include "x2ir/formats/relay/graph_maker_internal.h"
#include "x2ir/formats/relay/relay.h"

namespace x2ir {
namespace relay {
namespace {

using Kind = RunValue::Kind;

// Functions of TVM's prelude that modules name without their definitions.
constexpr std::string_view kPrelude[] = {"hd",    "tl",    "nth", "length", "map",
                                         "foldl", "foldr", "rev", "concat", "update"};

std::string_view KindName(const RunValue& value) {
  switch (value.kind) {
    case Kind::kTensor: return "a tensor";
    case Kind::kTuple: return "a tuple";
    case Kind::kData: return "data";
    default: return "a function";
  }
}

// What must be known before an expression is.
void AddNeeds(const RelayExpr& e, std::vector<const RelayExpr*>* to) {
  switch (e.kind) {
    case ExprKind::kCall:
    case ExprKind::kTuple:
    case ExprKind::kGetItem: to->insert(to->end(), e.args.begin(), e.args.end()); return;
    case ExprKind::kIf:
    case ExprKind::kMatch: to->push_back(e.args[0]); return;
    default: return;
  }
}

}  // namespace

absl::Status MakeGraph(const Program& program, const StringMap<Tensor>& params, Graph* graph) {
  return GraphMaker(program, params, graph).Make();
}

absl::Status GraphMaker::Make() {
  Frame* frame = NewFrame(nullptr);
  const RelayExpr* body = program_.main;
  std::vector<const RelayExpr*> inputs = program_.free;
  if (body->kind == ExprKind::kFunction) {
    inputs.insert(inputs.end(), body->args.begin(), body->args.end());
    body = body->body;
  }
  for (const RelayExpr* var : inputs) {
    X2IR_ASSIGN_OR_RETURN(frame->known[var], Parameter(*var));
  }
  X2IR_ASSIGN_OR_RETURN(const RunValue result, Run(body, frame));
  Values outputs;
  X2IR_RETURN_IF_ERROR(Annotate(Flatten(result, &outputs), "the result of the program"));
  for (Value* output : outputs) graph_->AddOutput(output);
  // The parts of tuples that nobody looks at.
  for (Node* node : of_tuples_) {
    size_t used = 0;
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      if (node->output(i)->is_unused()) {
        node->graph()->RemoveUnusedOutput(node, i);
      } else {
        ++used;
      }
    }
    if (used == 0) node->graph()->EraseUnused(node);
  }
  return absl::OkStatus();
}

absl::StatusOr<RunValue> GraphMaker::Parameter(const RelayExpr& var) {
  const auto known = params_.find(var.name);
  if (known != params_.end()) {
    return Tensor_(graph_->AddConstant(graph_->UniqueName(var.name), known->second));
  }
  return InputOf(var.type, var.span.empty() ? var.name : var.span, 0);
}

absl::StatusOr<RunValue> GraphMaker::InputOf(const RelayType& type, const std::string& name,
                                             int depth) {
  X2IR_RETURN_IF_ERROR(Spend(1));
  if (type.kind != RelayType::Kind::kTuple) {
    return Tensor_(graph_->AddInput(graph_->UniqueName(name), type.tensor));
  }
  if (depth > kMaxStructure) return Invalid("tuples are nested too deep");
  std::vector<RunValue> fields;
  for (size_t i = 0; i < type.fields.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(RunValue field, InputOf(type.fields[i], StrCat(name, ".", i), depth + 1));
    fields.push_back(field);
  }
  return Tuple(std::move(fields));
}

// Expressions that others need come first. The stack is here, and not that of the process: chains
// of calls are as long as a network is deep.
GraphMaker::ValueOr GraphMaker::Run(const RelayExpr* e, Frame* frame) {
  if (const RunValue* known = frame->Find(e)) return *known;
  if (nesting_ >= kMaxNesting) {
    return Unimplemented("functions or branches more than ", kMaxNesting,
                         " deep: a recursion that is no loop, or a long list");
  }
  ++nesting_;
  struct Step {
    const RelayExpr* e;
    bool open;
  };
  std::vector<Step> stack = {{e, false}};
  absl::flat_hash_set<const RelayExpr*> open;
  std::vector<const RelayExpr*> needs;
  absl::Status status;
  while (!stack.empty() && status.ok()) {
    Step& top = stack.back();
    const RelayExpr* current = top.e;
    if (!top.open) {
      if (frame->Find(current)) {
        stack.pop_back();
        continue;
      }
      status = Spend(1 + static_cast<int64_t>(current->args.size()));
      if (!open.insert(current).second) status = Invalid("an expression that needs itself");
      top.open = true;
      needs.clear();
      AddNeeds(*current, &needs);
      for (size_t i = needs.size(); i-- > 0;) stack.push_back({needs[i], false});
      continue;
    }
    ValueOr value = RunOne(current, frame);
    if (!value.ok()) {
      status = value.status();
      break;
    }
    open.erase(current);
    frame->known[current] = *std::move(value);
    stack.pop_back();
  }
  --nesting_;
  if (!status.ok()) return status;
  return *frame->Find(e);
}

GraphMaker::ValueOr GraphMaker::Get(const RelayExpr* e, const Frame& frame) const {
  const RunValue* value = frame.Find(e);
  if (!value) return Internal("an expression that was not run");
  return *value;
}

GraphMaker::ValueOr GraphMaker::RunOne(const RelayExpr* e, Frame* frame) {
  switch (e->kind) {
    case ExprKind::kVar: return Invalid("variable %", e->name, " is not bound");
    case ExprKind::kGlobal: {
      const auto it = program_.functions.find(e->name);
      if (it != program_.functions.end()) {
        if (it->second->kind != ExprKind::kFunction) {
          return Unimplemented("@", e->name, ", which is no function");
        }
        return RunValue{.kind = Kind::kFunction, .name = e->name, .function = it->second};
      }
      const auto* known = std::find(std::begin(kPrelude), std::end(kPrelude), e->name);
      if (known == std::end(kPrelude)) return Invalid("there is no function @", e->name);
      return RunValue{.kind = Kind::kBuiltIn, .name = *known};
    }
    case ExprKind::kConstant: return Constant(e);
    case ExprKind::kOp: return RunValue{.kind = Kind::kOp, .name = e->name};
    case ExprKind::kConstructor:
      // A constructor without fields is data by itself.
      if (e->name == "Nil" || e->name == "None") return Tuple({}, e->name);
      return RunValue{.kind = Kind::kConstructor, .name = e->name};
    case ExprKind::kTuple: {
      std::vector<RunValue> fields;
      for (const RelayExpr* arg : e->args) {
        X2IR_ASSIGN_OR_RETURN(RunValue field, Get(arg, *frame));
        fields.push_back(field);
      }
      return Tuple(std::move(fields));
    }
    case ExprKind::kGetItem: {
      X2IR_ASSIGN_OR_RETURN(const RunValue tuple, Get(e->args[0], *frame));
      if (tuple.kind != Kind::kTuple) return Invalid("field ", e->index, " of ", KindName(tuple));
      if (e->index < 0 || static_cast<size_t>(e->index) >= tuple.fields->size()) {
        return Invalid("field ", e->index, " of a tuple of ", tuple.fields->size());
      }
      return (*tuple.fields)[static_cast<size_t>(e->index)];
    }
    case ExprKind::kFunction:
      return RunValue{.kind = Kind::kFunction, .function = e, .around = frame};
    case ExprKind::kCall: {
      X2IR_ASSIGN_OR_RETURN(const RunValue callee, Get(e->args[0], *frame));
      std::vector<RunValue> args;
      for (size_t i = 1; i < e->args.size(); ++i) {
        X2IR_ASSIGN_OR_RETURN(RunValue arg, Get(e->args[i], *frame));
        args.push_back(arg);
      }
      return Call(callee, std::move(args), e);
    }
    case ExprKind::kLet: return RunLet(e, frame);
    case ExprKind::kIf: return RunIf(*e, frame);
    case ExprKind::kMatch: return RunMatch(*e, frame);
  }
  return Internal("an expression of no kind");
}

RunValue GraphMaker::Constant(const RelayExpr* e) {
  Value*& value = constants_[e];
  if (!value) value = root_->AddConstant(root_->UniqueName("constant"), *e->constant);
  return Tensor_(value);
}

absl::StatusOr<const RelayExpr*> GraphMaker::RunLets(const RelayExpr* e, Frame* frame) {
  absl::flat_hash_set<const RelayExpr*> seen;
  while (e->kind == ExprKind::kLet) {
    if (!seen.insert(e).second) return Invalid("a let that contains itself");
    X2IR_RETURN_IF_ERROR(Spend(1));
    const RelayExpr *var = e->args[0], *value = e->args[1];
    X2IR_ASSIGN_OR_RETURN(RunValue bound, Run(value, frame));
    if (bound.kind == Kind::kFunction && bound.function == value) bound.self = var;
    // A value without a name of its own has that of its variable.
    if (bound.kind == Kind::kTensor && bound.tensor->producer() && value->kind == ExprKind::kCall &&
        value->span.empty() && bound.tensor->graph() == graph_) {
      const std::string name = graph_->UniqueName(var->name);
      graph_->Rename(bound.tensor, name);
    }
    frame->known[var] = bound;
    e = e->args[2];
  }
  return e;
}

GraphMaker::ValueOr GraphMaker::RunLet(const RelayExpr* e, Frame* frame) {
  X2IR_ASSIGN_OR_RETURN(const RelayExpr* body, RunLets(e, frame));
  return Run(body, frame);
}

GraphMaker::ValueOr GraphMaker::Call(const RunValue& callee, std::vector<RunValue> args,
                                     const RelayExpr* call) {
  switch (callee.kind) {
    case Kind::kOp: return CallOp(*call, args);
    case Kind::kConstructor: return Tuple(std::move(args), callee.name);
    case Kind::kData:
      if (args.empty()) return callee;  // "Nil()"
      break;
    case Kind::kBuiltIn: return BuiltIn(callee.name, args);
    case Kind::kFunction: {
      const RelayExpr& function = *callee.function;
      if (function.args.size() != args.size()) {
        return Invalid("a function of ", function.args.size(), " parameters is called with ",
                       args.size());
      }
      if (CallsItself(callee)) return RunLoop(callee, args);
      Frame* frame = NewFrame(callee.around);
      for (size_t i = 0; i < args.size(); ++i) frame->known[function.args[i]] = args[i];
      return Run(function.body, frame);
    }
    default: break;
  }
  return Invalid(KindName(callee), " is called");
}

GraphMaker::ValueOr GraphMaker::CallOp(const RelayExpr& call, const std::vector<RunValue>& args) {
  const RelayExpr* callee = call.args[0];
  const std::string_view op =
      callee->kind == ExprKind::kOp ? std::string_view(callee->name) : std::string_view();
  if (op.empty()) return Unimplemented("an operator as a value");
  Values operands;
  for (const RunValue& arg : args) {
    absl::Status flat = Flatten(arg, &operands);
    if (!flat.ok()) return Annotate(flat, StrCat("an operand of ", op));
  }
  X2IR_RETURN_IF_ERROR(Spend(static_cast<int64_t>(operands.size())));
  const int64_t fields = TupleSizeOf(op, call.attrs, operands.size());
  if (fields < 0) return Invalid(op, ": its attributes do not say how many parts it has");
  X2IR_RETURN_IF_ERROR(Spend(fields));
  Node* node = AddNode(op, operands);
  for (const auto& [name, text] : call.attrs) node->SetAttr(name, text);
  const size_t dot = op.rfind('.');
  const std::string_view name = !call.span.empty() ? call.span
                                : dot == op.npos   ? op
                                                   : op.substr(dot + 1);
  if (!call.span.empty()) node->set_name(call.span);
  if (fields == 0) return Tensor_(AddResult(node, name));
  of_tuples_.push_back(node);
  std::vector<RunValue> parts;
  for (int64_t i = 0; i < fields; ++i) {
    parts.push_back(
        Tensor_(AddResult(node, fields == 1 || i == 0 ? std::string(name) : StrCat(name, "_", i))));
  }
  return Tuple(std::move(parts));
}

GraphMaker::ValueOr GraphMaker::RunIf(const RelayExpr& e, Frame* frame) {
  X2IR_ASSIGN_OR_RETURN(const RunValue condition, Get(e.args[0], *frame));
  if (condition.kind != Kind::kTensor) return Invalid("a condition that is ", KindName(condition));
  Graph* const outside = graph_;
  std::shared_ptr<Graph> graphs[2];
  Values results[2];
  RunValue like;
  absl::Status status;
  // Names in nested graphs are apart from those around them: the node comes first.
  Node* node = AddNode(kIf, {condition.tensor});
  for (int i = 0; i < 2 && status.ok(); ++i) {
    graphs[i] = std::make_shared<Graph>();
    node->SetAttr(i == 0 ? "then_branch" : "else_branch", graphs[i]);
    graph_ = graphs[i].get();
    ValueOr value = Run(e.args[static_cast<size_t>(i) + 1], NewFrame(frame));
    status = value.status();
    if (status.ok()) status = Flatten(*value, &results[i]);
    if (status.ok()) {
      AddOutputs(graph_, results[i]);
      like = *value;
    }
  }
  graph_ = outside;
  X2IR_RETURN_IF_ERROR(status);
  if (results[0].size() != results[1].size()) {
    return Invalid("branches with ", results[0].size(), " and ", results[1].size(), " results");
  }
  Values values;
  for (size_t i = 0; i < results[0].size(); ++i) values.push_back(AddResult(node, "if"));
  size_t at = 0;
  return Rebuilt(like, values, &at);
}

GraphMaker::ValueOr GraphMaker::RunMatch(const RelayExpr& e, Frame* frame) {
  X2IR_ASSIGN_OR_RETURN(const RunValue data, Get(e.args[0], *frame));
  for (const Clause& clause : e.clauses) {
    Frame* inner = NewFrame(frame);
    X2IR_ASSIGN_OR_RETURN(const bool matches, Matches(clause.pattern, data, inner));
    if (matches) return Run(clause.value, inner);
  }
  return Invalid("no clause matches ", data.name);
}

absl::StatusOr<bool> GraphMaker::Matches(const Pattern& pattern, const RunValue& value,
                                         Frame* frame) {
  X2IR_RETURN_IF_ERROR(Spend(1));
  switch (pattern.kind) {
    case Pattern::Kind::kAny: return true;
    case Pattern::Kind::kVar: frame->known[pattern.var] = value; return true;
    case Pattern::Kind::kConstructor:
      if (value.kind != Kind::kData) {
        return Unimplemented("a match of ", KindName(value), ", which is not known to be ",
                             pattern.constructor);
      }
      if (value.name != pattern.constructor) return false;
      break;
    case Pattern::Kind::kTuple:
      if (value.kind != Kind::kTuple) return Invalid("a match of ", KindName(value));
      break;
  }
  if (value.fields->size() != pattern.parts.size()) {
    return Invalid("a pattern of ", pattern.parts.size(), " parts for ", value.fields->size());
  }
  for (size_t i = 0; i < pattern.parts.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const bool matches, Matches(pattern.parts[i], (*value.fields)[i], frame));
    if (!matches) return false;
  }
  return true;
}

// --- Values --------------------------------------------------------------------------------------

absl::Status GraphMaker::Flatten(const RunValue& value, Values* to, int depth) {
  X2IR_RETURN_IF_ERROR(Spend(1));
  if (value.kind == Kind::kTensor) {
    to->push_back(value.tensor);
    return absl::OkStatus();
  }
  if (value.kind != Kind::kTuple) {
    return Unimplemented(KindName(value), value.name.empty() ? "" : " (", value.name,
                         value.name.empty() ? "" : ")", " where a tensor is expected");
  }
  if (depth > kMaxStructure) return Invalid("tuples are nested too deep");
  for (const RunValue& field : *value.fields) {
    X2IR_RETURN_IF_ERROR(Flatten(field, to, depth + 1));
  }
  return absl::OkStatus();
}

RunValue GraphMaker::Rebuilt(const RunValue& like, const Values& from, size_t* at) {
  if (like.kind == Kind::kTensor) return Tensor_(from[(*at)++]);
  std::vector<RunValue> fields;
  for (const RunValue& field : *like.fields) fields.push_back(Rebuilt(field, from, at));
  return Tuple(std::move(fields));
}

Node* GraphMaker::AddNode(std::string_view op, const Values& operands) {
  return graph_->AppendNode(kDialect, Symbol(op), operands);
}

Value* GraphMaker::AddResult(Node* node, std::string_view name) {
  return node->graph()->AddNodeOutput(node, node->graph()->UniqueName(name));
}

void GraphMaker::AddOutputs(Graph* graph, const Values& values) {
  absl::flat_hash_set<const Value*> taken;
  Graph* const before = graph_;
  graph_ = graph;
  for (Value* value : values) {
    const bool own = value->graph() == graph && value->producer() && taken.insert(value).second;
    graph->AddOutput(own ? value : AddResult(AddNode("copy", {value}), "copy"));
  }
  graph_ = before;
}

}  // namespace relay
}  // namespace x2ir
