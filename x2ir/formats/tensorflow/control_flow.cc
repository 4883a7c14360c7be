// See control_flow_internal.h.
#include <algorithm>
#include <memory>
#include <string>

#include "x2ir/formats/tensorflow/attributes.h"
#include "x2ir/formats/tensorflow/control_flow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr int kMaxNesting = 100;  // of branches and loops in each other

// What belongs to no branch even where it waits for one.
bool IsConstant(const NodeProto& node) {
  return node.op == "Const" || node.op == "Placeholder" || node.op == "VarHandleOp" ||
         node.op == "VariableV2" || node.op == "Variable";
}

Value* AddResult(Graph* graph, Value* value, const std::string& name) {
  Node* identity = graph->AppendNode(kDialect, "Identity", {value});
  Value* result = graph->AddNodeOutput(identity, name);
  graph->AddOutput(result);
  return result;
}

}  // namespace

ControlFlow::Kind ControlFlow::KindOf(const NodeProto& node) {
  std::string_view op = node.op;
  if (op.starts_with("Ref")) op.remove_prefix(3);
  if (op == "Switch") return Kind::kSwitch;
  if (op == "Merge") return Kind::kMerge;
  if (op == "Enter") return Kind::kEnter;
  if (op == "Exit") return Kind::kExit;
  if (op == "NextIteration") return Kind::kNextIteration;
  return op == "LoopCond" ? Kind::kLoopCond : Kind::kPlain;
}

bool ControlFlow::IsIn(const Body& body) {
  return std::any_of(body.nodes_.begin(), body.nodes_.end(), [&](const NodeProto& node) {
    return body.StateOf(node).live && KindOf(node) != Kind::kPlain;
  });
}

absl::Status ControlFlow::Fill(const std::vector<Ref>& roots) {
  infos_.resize(body_.nodes_.size());
  X2IR_RETURN_IF_ERROR(ReadInputs());
  X2IR_RETURN_IF_ERROR(FindContexts());
  X2IR_RETURN_IF_ERROR(NeedConditions());
  return Place(roots);
}

// --- Contexts -----------------------------------------------------------------------------------

absl::Status ControlFlow::ReadInputs() {
  for (const NodeProto& node : body_.nodes_) {
    if (!body_.StateOf(node).visited) continue;
    Info& info = InfoOf(node);
    info.kind = KindOf(node);
    for (const std::string_view input : node.inputs) {
      if (input.starts_with('^')) {
        const auto it = body_.by_name_.find(input.substr(1));
        if (it != body_.by_name_.end()) info.waits_for.push_back(it->second);
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(const Ref ref, body_.Resolve(input));
      info.inputs.push_back(ref);
      if (info.kind == Kind::kMerge && ref.node && KindOf(*ref.node) == Kind::kNextIteration) {
        info.loop_merge = true;
      }
    }
    const size_t expected = info.kind == Kind::kPlain    ? info.inputs.size()
                            : info.kind == Kind::kMerge  ? 2
                            : info.kind == Kind::kSwitch ? 2
                                                         : 1;
    if (info.inputs.size() == expected) continue;
    const auto status =
        info.kind == Kind::kMerge && info.inputs.size() > 2
            ? Unimplemented("it merges more than two values")
            : Invalid("it has ", info.inputs.size(), " operands; expected ", expected);
    return At(node, status);
  }
  return absl::OkStatus();
}

ControlFlow::Context* ControlFlow::ContextOf(const Ref& ref) {
  if (!ref.node) return &root_;
  const Info& info = InfoOf(*ref.node);
  return info.contexts[info.kind == Kind::kSwitch ? std::min<int64_t>(ref.index, 2) : 0];
}

ControlFlow::Context* ControlFlow::Join(Context* a, Context* b) {
  if (!a || !b) return nullptr;
  if (a->depth < b->depth) std::swap(a, b);
  const Context* outer = a;
  while (outer->depth > b->depth) outer = outer->parent;
  return outer == b ? a : nullptr;
}

Ref ControlFlow::Canonical(const Ref& ref) {
  if (!ref.node) return ref;
  return InfoOf(*ref.node).canonical.value_or(ref);
}

absl::Status ControlFlow::FindContexts() {
  // Each after what it uses; a loop's variable does not wait for its next value.
  std::vector<const NodeProto*> todo;
  size_t left = 0;
  for (const NodeProto& node : body_.nodes_) {
    if (!body_.StateOf(node).visited) continue;
    ++left;
    Info& info = InfoOf(node);
    const auto add = [&](const NodeProto* source) {
      if (!source) return;
      if (info.loop_merge && InfoOf(*source).kind == Kind::kNextIteration) return;
      ++info.missing;
      InfoOf(*source).users.push_back(&node);
    };
    for (const Ref& ref : info.inputs) add(ref.node);
    for (const NodeProto* source : info.waits_for) add(source);
    if (info.missing == 0) todo.push_back(&node);
  }
  while (!todo.empty()) {
    const NodeProto& node = *todo.back();
    todo.pop_back();
    --left;
    Info& info = InfoOf(node);
    if (absl::Status s = FindContext(node, info); !s.ok()) return At(node, s);
    for (const NodeProto* user : info.users) {
      if (--InfoOf(*user).missing == 0) todo.push_back(user);
    }
  }
  for (Info& info : infos_) info.users.clear();
  return left == 0 ? absl::OkStatus() : Invalid("the graph has a cycle");
}

absl::Status ControlFlow::FindContext(const NodeProto& node, Info& info) {
  if (info.loop_merge || info.kind == Kind::kMerge) return FindMerge(info);
  Context* context = &root_;
  for (const Ref& ref : info.inputs) context = Join(context, ContextOf(ref));
  for (const NodeProto* source : info.waits_for) context = Join(context, ContextOf({source, 2}));
  info.contexts[0] = info.contexts[1] = info.contexts[2] = context;
  if (node.op == "Identity" && info.inputs.size() == 1) info.canonical = Canonical(info.inputs[0]);
  if (!context) return absl::OkStatus();
  switch (info.kind) {
    case Kind::kSwitch: return FindSwitch(context, info);
    case Kind::kEnter: {
      X2IR_ASSIGN_OR_RETURN(Frame * frame, FrameOf(context, node));
      info.contexts[0] = info.contexts[1] = info.contexts[2] = &frame->context;
      return absl::OkStatus();
    }
    case Kind::kLoopCond:
      if (context->kind != Context::kFrame) return Unimplemented("it is not in a loop");
      return absl::OkStatus();
    case Kind::kExit:
      if (context->kind != Context::kExit) return Unimplemented("it is not the end of a loop");
      info.frame = context->frame;
      info.contexts[0] = info.contexts[1] = info.contexts[2] = info.frame->context.parent;
      return absl::OkStatus();
    default: return absl::OkStatus();
  }
}

absl::Status ControlFlow::FindSwitch(Context* context, Info& info) {
  const Ref pred = Canonical(info.inputs[1]);
  if (pred.node && InfoOf(*pred.node).kind == Kind::kLoopCond) {
    if (context->kind != Context::kFrame) {
      return Unimplemented("it is not part of the loop of its condition");
    }
    info.contexts[0] = &context->frame->exit;
    info.contexts[1] = &context->frame->body;
    return absl::OkStatus();
  }
  info.canonical = Canonical(info.inputs[0]);
  // Where the condition has decided already, nothing is left to decide.
  for (Context* c = context; c->kind == Context::kBranch; c = c->parent) {
    if (c->cond->pred.node != pred.node || c->cond->pred.index != pred.index) continue;
    info.contexts[1 - c->branch] = nullptr;
    return absl::OkStatus();
  }
  X2IR_ASSIGN_OR_RETURN(Cond * cond, CondOf(context, pred));
  for (int branch = 0; branch < 2; ++branch) info.contexts[branch] = &cond->branches[branch];
  return absl::OkStatus();
}

absl::Status ControlFlow::FindMerge(Info& info) {
  if (info.loop_merge) {
    // The first value, then the next ones.
    if (info.inputs[0].node && InfoOf(*info.inputs[0].node).kind == Kind::kNextIteration) {
      std::swap(info.inputs[0], info.inputs[1]);
    }
    const NodeProto* enter = info.inputs[0].node;
    if (!enter || InfoOf(*enter).kind != Kind::kEnter) {
      return Unimplemented("a loop's variable does not come from an Enter");
    }
    info.contexts[0] = info.contexts[1] = info.contexts[2] = InfoOf(*enter).contexts[0];
    return absl::OkStatus();
  }
  // A condition's two results. It waits for nothing in them: what is only waited for is dead or
  // not in the branch too.
  Context* a = ContextOf(info.inputs[0]);
  Context* b = ContextOf(info.inputs[1]);
  if (!a || !b || a->kind != Context::kBranch || a->cond != b->cond || a->branch == b->branch) {
    return absl::OkStatus();  // refused if it is needed
  }
  if (a->branch == 0) std::swap(info.inputs[0], info.inputs[1]);  // then, else
  Context* context = a->parent;
  for (const NodeProto* source : info.waits_for) context = Join(context, ContextOf({source, 2}));
  info.contexts[0] = info.contexts[1] = info.contexts[2] = context;
  info.cond = a->cond;
  // The index that it gives is that of the operand in the file.
  info.variable = a->branch == 0 ? 1 : 0;
  return absl::OkStatus();
}

absl::StatusOr<ControlFlow::Cond*> ControlFlow::CondOf(Context* context, const Ref& pred) {
  Cond*& cond = conds_by_pred_[{context, {pred.node, pred.index}}];
  if (cond) return cond;
  if (context->depth >= kMaxNesting) return Unimplemented("branches in more than ", kMaxNesting);
  cond = &conds_.emplace_back();
  cond->pred = pred;
  for (int branch = 0; branch < 2; ++branch) {
    cond->branches[branch] = {Context::kBranch, context, context->depth + 1, cond, branch, nullptr};
  }
  return cond;
}

absl::StatusOr<ControlFlow::Frame*> ControlFlow::FrameOf(Context* context, const NodeProto& enter) {
  const std::string_view bytes = enter.attr("frame_name");
  if (bytes.empty()) return Invalid("attribute 'frame_name' is missing");
  X2IR_ASSIGN_OR_RETURN(const AttrProto attr, ReadAttr(body_.library_.source(), bytes));
  const auto* name = attr.value.get<std::string>();
  if (!name) return Invalid("attribute 'frame_name' is not a string");
  Frame*& frame = frames_by_name_[{context, *name}];
  if (frame) return frame;
  if (context->depth >= kMaxNesting) return Unimplemented("loops in more than ", kMaxNesting);
  frame = &frames_.emplace_back();
  const int depth = context->depth + 1;
  frame->context = {Context::kFrame, context, depth, nullptr, 0, frame};
  frame->body = {Context::kBody, &frame->context, depth + 1, nullptr, 0, frame};
  frame->exit = {Context::kExit, &frame->context, depth + 1, nullptr, 0, frame};
  return frame;
}

// --- What is needed -----------------------------------------------------------------------------

absl::Status ControlFlow::NeedConditions() {
  std::vector<const NodeProto*> conditions;
  const auto need = [&](const NodeProto& merge) -> const NodeProto* {
    const Cond* cond = InfoOf(merge).cond;
    if (!cond || !cond->pred.node) return nullptr;
    int64_t& outputs = body_.StateOf(*cond->pred.node).outputs;
    outputs = std::max(outputs, cond->pred.index + 1);
    return cond->pred.node;
  };
  body_.needed_by_merge_ = need;
  for (const NodeProto& node : body_.nodes_) {
    if (!body_.StateOf(node).live) continue;
    if (const NodeProto* condition = need(node)) conditions.push_back(condition);
  }
  absl::Status status = body_.Visit(std::move(conditions), true);
  body_.needed_by_merge_ = nullptr;
  return status;
}

// --- Placing nodes ------------------------------------------------------------------------------

absl::Status ControlFlow::Place(const std::vector<Ref>& roots) {
  size_t left = 0;
  for (const NodeProto& node : body_.nodes_) {
    const Body::State& state = body_.StateOf(node);
    if (!state.live) continue;
    ++left;
    Info& info = InfoOf(node);
    if (!info.contexts[0] && !info.contexts[1]) {
      return At(node, Unimplemented(
                          info.kind == Kind::kMerge
                              ? "its operands do not come from the two branches of one condition"
                              : "its operands come from branches that are never taken together"));
    }
    if (state.outputs > 64) X2IR_RETURN_IF_ERROR(body_.library_.Spend(state.outputs));
    if (state.outputs > (info.kind == Kind::kSwitch || info.kind == Kind::kMerge ? 2 : 1) &&
        info.kind != Kind::kPlain) {
      return At(node, Invalid("it has no output ", state.outputs - 1));
    }
    const auto add = [&](const NodeProto* source) {
      if (!source) return;
      ++info.missing;
      InfoOf(*source).users.push_back(&node);
    };
    for (const Ref& ref : info.inputs) {
      if (!(info.loop_merge && ref.node && InfoOf(*ref.node).kind == Kind::kNextIteration)) {
        add(ref.node);
      }
    }
    if (info.cond) add(info.cond->pred.node);
    if (info.missing == 0) ready_.push_back(&node);  // no Exit: those have an operand
    Frame* frame = info.kind == Kind::kSwitch ? nullptr : info.contexts[0]->frame;
    if (info.loop_merge) {
      info.variable = static_cast<int64_t>(frame->merges.size());
      frame->merges.push_back(&node);
      ++frame->missing;
    } else if (info.kind == Kind::kLoopCond) {
      if (frame->loop_cond) return At(node, Unimplemented("the loop has two conditions"));
      frame->loop_cond = &node;
      ++frame->missing;
    } else if (info.kind == Kind::kExit) {
      info.frame->exits.push_back(&node);
      ++info.missing;  // it waits for the end of the loop
    }
  }
  for (const Ref& ref : roots) {
    if (ContextOf(ref) == &root_) continue;
    return Unimplemented("'", ref.node->name, "' is a result, but some runs do not compute it");
  }
  std::reverse(ready_.begin(), ready_.end());
  while (true) {
    while (!ready_.empty()) {
      const NodeProto& node = *ready_.back();
      ready_.pop_back();
      --left;
      if (absl::Status s = Run(node); !s.ok()) return At(node, s);
    }
    while (!closable_.empty() && closable_.back().empty()) closable_.pop_back();
    if (closable_.empty()) break;
    const auto [cond, frame] = closable_.back().front();
    closable_.back().pop_front();
    X2IR_RETURN_IF_ERROR(cond ? Close(*cond) : Close(*frame));
  }
  if (left != 0) return Unimplemented("loops and branches are not properly nested");
  for (const Cond& cond : conds_) {
    if (cond.node) return Unimplemented("a branch has effects, but no results");
  }
  for (const Frame& frame : frames_) {
    if (frame.node) return Unimplemented("a loop has no condition, or does not end");
  }
  return absl::OkStatus();
}

absl::StatusOr<Value*> ControlFlow::ValueIn(const Ref& ref, const Graph* graph) {
  Value* value = body_.ValueOf(ref);
  if (!value) return Invalid("operand '", ref.node ? ref.node->name : "", "' does not exist");
  // Of a graph around it; what a function is given may be of a graph around them all.
  const auto is_in = [](const Graph* inner, const Graph* outer) {
    while (inner && inner != outer) inner = inner->parent();
    return inner != nullptr;
  };
  if (is_in(graph, value->graph()) || !is_in(value->graph(), root_graph_)) return value;
  return Unimplemented("it uses '", ref.node ? ref.node->name : "", "' of another branch or loop");
}

void ControlFlow::Done(const NodeProto& node) {
  for (const NodeProto* user : InfoOf(node).users) {
    if (--InfoOf(*user).missing == 0) ready_.push_back(user);
  }
}

absl::Status ControlFlow::Run(const NodeProto& node) {
  Info& info = InfoOf(node);
  Body::State& state = body_.StateOf(node);
  const auto closable = [&](const Context& context, Cond* cond, Frame* frame) {
    const auto depth = static_cast<size_t>(context.depth);
    if (closable_.size() <= depth) closable_.resize(depth + 1);
    closable_[depth].emplace_back(cond, frame);
  };
  const auto count_down = [&](Frame& frame) {
    if (--frame.missing == 0) closable(frame.context, nullptr, &frame);
  };
  switch (info.kind) {
    case Kind::kPlain: X2IR_RETURN_IF_ERROR(RunPlain(node)); break;
    case Kind::kSwitch: {
      Value* value = body_.ValueOf(info.inputs[0]);
      state.values = {value, value};
      const NodeProto* data = info.inputs[0].node;
      Context* inside = info.contexts[1];
      if (inside && inside->kind == Context::kBody && data && InfoOf(*data).loop_merge &&
          InfoOf(*data).contexts[0] == &inside->frame->context) {
        state.values[1] = inside->frame->body_graph->inputs()[InfoOf(*data).variable];
      }
      break;
    }
    case Kind::kMerge:
      if (info.loop_merge) {
        if (state.outputs > 1) return Unimplemented("the index of a loop's variable is used");
        Frame& frame = *info.contexts[0]->frame;
        if (!frame.node) X2IR_RETURN_IF_ERROR(OpenFrame(frame));
        state.values = {frame.cond_graph->inputs()[info.variable]};
        break;
      }
      if (info.cond->merges.empty()) closable(info.cond->branches[0], info.cond, nullptr);
      info.cond->merges.push_back(&node);
      return absl::OkStatus();  // done when it is closed
    case Kind::kNextIteration: {
      state.values = {body_.ValueOf(info.inputs[0])};
      Context* context = info.contexts[0];
      while (context->kind == Context::kBranch) context = context->parent;
      if (context->kind != Context::kBody && context->kind != Context::kFrame) {
        return Unimplemented("it is not in a loop");
      }
      count_down(*context->frame);
      break;
    }
    case Kind::kLoopCond:
      state.values = {body_.ValueOf(info.inputs[0])};
      count_down(*info.contexts[0]->frame);
      break;
    case Kind::kEnter: state.values = {body_.ValueOf(info.inputs[0])}; break;
    case Kind::kExit: {
      const NodeProto* variable = VariableOf(node);
      if (!variable) return Unimplemented("it is not the last value of a loop's variable");
      state.values = {body_.StateOf(*variable).values.back()};
      break;
    }
  }
  Done(node);
  return absl::OkStatus();
}

const NodeProto* ControlFlow::VariableOf(const NodeProto& exit) {
  const Info& info = InfoOf(exit);
  const NodeProto* end = info.inputs[0].node;
  if (!end || InfoOf(*end).kind != Kind::kSwitch) return nullptr;
  const NodeProto* variable = InfoOf(*end).inputs[0].node;
  if (!variable || !InfoOf(*variable).loop_merge) return nullptr;
  return InfoOf(*variable).contexts[0] == &info.frame->context ? variable : nullptr;
}

absl::Status ControlFlow::RunPlain(const NodeProto& node) {
  Graph* graph = root_graph_;
  if (!IsConstant(node)) {
    X2IR_ASSIGN_OR_RETURN(graph, GraphOf(InfoOf(node).contexts[0]));
    for (const Ref& ref : InfoOf(node).inputs) {
      X2IR_RETURN_IF_ERROR(ValueIn(ref, graph).status());
    }
  }
  X2IR_RETURN_IF_ERROR(body_.Declare(node, graph));
  return body_.StateOf(node).node ? body_.Connect(node) : absl::OkStatus();
}

absl::StatusOr<Graph*> ControlFlow::GraphOf(Context* context) {
  switch (context->kind) {
    case Context::kRoot: return root_graph_;
    case Context::kBranch: {
      Cond& cond = *context->cond;
      if (!cond.node) {
        X2IR_ASSIGN_OR_RETURN(Graph * outer, GraphOf(context->parent));
        cond.node = outer->AppendNode(kDialect, "StatelessIf", {});
        cond.node->SetAttr(kTfScalarCondition, 1);
        for (const int branch : {1, 0}) {
          auto graph = std::make_shared<Graph>(branch == 1 ? "then_branch" : "else_branch");
          cond.graphs[branch] = graph.get();
          cond.node->SetAttr(branch == 1 ? "then_branch" : "else_branch", std::move(graph));
        }
      }
      return cond.graphs[context->branch];
    }
    case Context::kFrame:
    case Context::kBody: {
      Frame& frame = *context->frame;
      if (!frame.cond_graph) X2IR_RETURN_IF_ERROR(OpenFrame(frame));
      return context->kind == Context::kFrame ? frame.cond_graph : frame.body_graph;
    }
    case Context::kExit: break;
  }
  return Unimplemented("it is between a loop and its Exit");
}

absl::Status ControlFlow::OpenFrame(Frame& frame) {
  if (frame.cond_graph) return Unimplemented("the loop has already ended");
  X2IR_ASSIGN_OR_RETURN(Graph * outer, GraphOf(frame.context.parent));
  frame.node = outer->AppendNode(kDialect, "StatelessWhile", {});
  frame.node->SetAttr(kTfScalarCondition, 1);
  auto cond = std::make_shared<Graph>("cond");
  auto body = std::make_shared<Graph>("body");
  frame.cond_graph = cond.get();
  frame.body_graph = body.get();
  frame.node->SetAttr("cond", std::move(cond));
  frame.node->SetAttr("body", std::move(body));
  for (const NodeProto* merge : frame.merges) {
    for (Graph* graph : {frame.cond_graph, frame.body_graph}) graph->AddInput(merge->name, Type());
  }
  return absl::OkStatus();
}

absl::Status ControlFlow::Close(Cond& cond) {
  X2IR_RETURN_IF_ERROR(GraphOf(&cond.branches[0]).status());  // it may hold nothing but constants
  Node* const node = cond.node;
  Graph* const outer = node->graph();
  const std::vector<const NodeProto*> merges = std::move(cond.merges);
  X2IR_ASSIGN_OR_RETURN(Value * pred, ValueIn(cond.pred, outer));
  node->SetInputs({pred});
  node->set_name(std::string(merges[0]->name));
  for (const NodeProto* merge : merges) {
    const Info& info = InfoOf(*merge);
    Body::State& state = body_.StateOf(*merge);
    for (const int branch : {1, 0}) {
      absl::StatusOr<Value*> value = ValueIn(info.inputs[1 - branch], cond.graphs[branch]);
      if (!value.ok()) return At(*merge, value.status());
      AddResult(cond.graphs[branch], *value,
                StrCat(merge->name, ":", branch == 1 ? "then" : "else"));
    }
    state.values = {outer->AddNodeOutput(node, merge->name)};
    if (state.outputs > 1) {
      for (const int branch : {1, 0}) {
        Graph* graph = cond.graphs[branch];
        const auto index = static_cast<int32_t>(branch == 1 ? info.variable : 1 - info.variable);
        Value* value =
            graph->AddConstant(StrCat(merge->name, ":index"), Tensor::Scalar<int32_t>(index));
        AddResult(graph, value, StrCat(merge->name, ":value_index"));
      }
      state.values.push_back(outer->AddNodeOutput(node, ValueName(merge->name, 1)));
    }
  }
  cond.node = nullptr;
  cond.merges.clear();
  for (const NodeProto* merge : merges) Done(*merge);
  return absl::OkStatus();
}

absl::Status ControlFlow::Close(Frame& frame) {
  if (!frame.node || !frame.loop_cond) return Unimplemented("a loop has no condition");
  Node* const node = frame.node;
  Graph* const outer = node->graph();
  node->set_name(std::string(frame.loop_cond->name));
  absl::StatusOr<Value*> cond = ValueIn({frame.loop_cond, 0}, frame.cond_graph);
  if (!cond.ok()) return At(*frame.loop_cond, cond.status());
  AddResult(frame.cond_graph, *cond, StrCat(frame.loop_cond->name, ":cond"));
  absl::flat_hash_map<const NodeProto*, const NodeProto*> exits;
  for (const NodeProto* exit : frame.exits) {
    exits.emplace(VariableOf(*exit), exit);
  }
  std::vector<Value*> first;
  for (const NodeProto* merge : frame.merges) {
    const Info& info = InfoOf(*merge);
    absl::StatusOr<Value*> enter = ValueIn(info.inputs[0], outer);
    absl::StatusOr<Value*> next = ValueIn(info.inputs[1], frame.body_graph);
    if (!enter.ok()) return At(*merge, enter.status());
    if (!next.ok()) return At(*merge, next.status());
    first.push_back(*enter);
    AddResult(frame.body_graph, *next, StrCat(merge->name, ":next"));
    // The second value of a loop's variable is what it is after the loop.
    const auto exit = exits.find(merge);
    const std::string name =
        exit == exits.end() ? StrCat(merge->name, ":exit") : std::string(exit->second->name);
    body_.StateOf(*merge).values.push_back(outer->AddNodeOutput(node, name));
  }
  node->SetInputs(first);
  frame.node = nullptr;
  for (const NodeProto* exit : frame.exits) {
    if (--InfoOf(*exit).missing == 0) ready_.push_back(exit);
  }
  return absl::OkStatus();
}

}  // namespace x2ir::tf_format
