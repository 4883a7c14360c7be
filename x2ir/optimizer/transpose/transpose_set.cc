#include "x2ir/optimizer/transpose/transpose_set.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

// A constant of more elements is not kept in two orders.
constexpr int64_t kMaxCopiedElements = 4096;
// Nodes that are on their way from memory (lookahead.h). They may be gone by then, which is no
// harm.
constexpr size_t kAhead = 4;

// The order that a reshape makes if it only moves axes of size 1, and could be made again.
std::optional<Perm> OrderOfReshape(const Node& node) {
  if (!node.Is("reshape") || !node.input(0) || !node.output(0)) return std::nullopt;
  const Shape* from = node.input(0)->shape();
  const Shape* to = node.output(0)->shape();
  if (!from || !to || from->rank() != to->rank()) return std::nullopt;
  std::vector<int64_t> ones, others;
  for (int64_t i = 0; i < from->rank(); ++i) {
    ((*from)[i] == Dim(1) ? ones : others).push_back(i);
  }
  Perm p;
  size_t one = 0, other = 0;
  for (const Dim& d : *to) {
    if (d == Dim(1)) {
      if (one == ones.size()) return std::nullopt;
      p.push_back(ones[one++]);
    } else {
      if (other == others.size() || !ProvablyEqual(d, (*from)[others[other]])) return std::nullopt;
      p.push_back(others[other++]);
    }
  }
  if (IsIdentity(p) || !ReshapeTarget(*from, *to)) return std::nullopt;
  return p;
}

// Written out, empty or not.
void SetPerm(Node* node, Perm p) {
  if (p.empty()) {
    p.resize(node->input(0)->shape()->rank());
    std::iota(p.begin(), p.end(), 0);
  }
  node->SetAttr("perm", AsInts(p));
}

}  // namespace

TransposeSet::TransposeSet(Graph& graph, const PassContext& context,
                           const std::vector<Node*>* candidates)
    : graph_(graph), context_(context) {
  const auto look_at = [&](Node* node) {
    if (PermOf(*node)) {
      Add(node);
    } else if (const auto p = OrderOfReshape(*node)) {
      AddReshape(node, *p);
    }
  };
  if (!candidates) {
    for (Node* node : graph.nodes()) look_at(node);
    return;
  }
  for (Node* node : *candidates) {
    if (node->graph() == &graph) look_at(node);
  }
}

void TransposeSet::Add(Node* node) {
  live_[node];
  Wait(node);
}

void TransposeSet::AddReshape(Node* node, const Perm& p) {
  Value* shape = node->input(1);
  node->set_op(kIrDialect, "transpose");
  node->SetInputs({node->input(0)});
  node->EraseAttr("allowzero");
  node->SetAttr("perm", AsInts(p));
  State& state = live_[node];
  state.was_reshape = true;
  if (shape && shape->fixed_constant()) {
    state.shape = shape->name();
    shapes_.push_back(shape->name());
  }
  Wait(node);
}

void TransposeSet::Wait(Node* node) {
  State& state = live_[node];
  if (!std::exchange(state.waiting, true)) waiting_.push_back(node);
  if (!std::exchange(state.changed, true)) changed_.push_back(node);
  state.time = time_;
}

void TransposeSet::WaitForUsers(const Value* value) {
  for (const Use& use : value->uses()) {
    if (Contains(use.node)) Wait(use.node);
  }
}

void TransposeSet::Erase(Node* node) {
  Node* operand = node->input(0)->producer();
  live_.erase(node);
  gone_.push_back(node->output(0));
  EraseWithConstants(node);
  if (operand && Contains(operand)) Wait(operand);
}

// An output of the graph keeps the type that it declares (names of sizes, say).
void TransposeSet::ReplaceBy(Node* node, Value* value) {
  const bool output = node->output(0)->is_graph_output() && !value->is_graph_output();
  Type type = node->output(0)->type();
  graph_.ReplaceAllUsesKeepingOutputNames(node->output(0), value);
  TakeShorterName(*node->output(0), *value);
  if (output && value->is_graph_output()) value->set_type(std::move(type));
  Erase(node);
}

Value* TransposeSet::ShapeOf(const std::string& name) {
  Value* value = name.empty() ? nullptr : graph_.FindInScope(name);
  return value && value->fixed_constant() ? value : nullptr;
}

Node* TransposeSet::NodeBehind(const Value* value) {
  Node* producer = value->graph() == &graph_ ? value->producer() : nullptr;
  return producer ? producer->next() : graph_.first();
}

void TransposeSet::PlaceBehindOperand(Node* node) {
  Node* before = NodeBehind(node->input(0));
  if (before != node) graph_.MoveBefore(node, before);
}

Value* TransposeSet::Make(Value* value, const Perm& p) {
  // None that Tidy would take away again at once.
  if (Node* before = value->producer(); before && Contains(before)) {
    if (Compose(*PermOf(*before), p).empty()) {
      Wait(before);
      return before->input(0);
    }
  }
  if (auto it = of_.find({value, p}); it != of_.end() && Contains(it->second) &&
                                      it->second->input(0) == value && PermOf(*it->second) == p) {
    PlaceBehindOperand(it->second);
    return it->second->output(0);
  }
  Node* node = graph_.InsertNode(NodeBehind(value), kIrDialect, "transpose", {value});
  node->SetAttr("perm", AsInts(p));
  Type type = value->type();
  type.set_shape(Permuted(*value->shape(), p));
  Value* result = graph_.AddNodeOutput(node, "", std::move(type));
  graph_.NameValues(node, StrCat(value->name(), "_transpose"));
  of_[{value, p}] = node;
  Add(node);
  return result;
}

void TransposeSet::Insulate(Value* value, const Perm& undo) {
  // Transposes take it up themselves, as Merge would have it.
  const bool taken =
      !value->is_graph_output() && std::all_of(value->uses().begin(), value->uses().end(),
                                               [&](const Use& use) { return Contains(use.node); });
  if (taken) {
    for (const Use& use : value->uses()) {
      SetPerm(use.node, Compose(undo, *PermOf(*use.node)));
      WaitForUsers(use.node->output(0));
      Wait(use.node);
    }
    return;
  }
  Node* node =
      graph_.InsertNode(NodeBehind(value), kIrDialect, "transpose", std::vector<Value*>{nullptr});
  node->SetAttr("perm", AsInts(undo));
  Value* result = graph_.AddNodeOutput(node, "", value->type());
  const std::string base = value->name();
  graph_.ReplaceAllUsesKeepingOutputNames(value, result);
  graph_.NameValues(node, StrCat(base, "_transpose"));
  if (value->name().empty()) graph_.Rename(value, graph_.UniqueName(StrCat(base, "_inner")));
  node->SetInput(0, value);
  Add(node);
  WaitForUsers(result);
}

int64_t TransposeSet::Tidy() {
  int64_t changes = 0;
  while (!waiting_.empty()) {
    Node* node = waiting_.front();
    waiting_.pop_front();
    if (waiting_.size() > kAhead) Prefetch(waiting_[kAhead]);
    auto it = live_.find(node);
    if (it == live_.end() || !std::exchange(it->second.waiting, false)) continue;
    if (node->output(0)->is_unused()) {
      Erase(node);
      ++changes;
      continue;
    }
    changes += Merge(node);
    const Perm p = *PermOf(*node);
    if (IsIdentity(p)) {
      WaitForUsers(node->output(0));
      ReplaceBy(node, node->input(0));
      ++changes;
    } else if (Fold(node, p) || Share(node, p)) {
      ++changes;
    }
  }
  return changes;
}

bool TransposeSet::Merge(Node* node) {
  bool merged = false;
  for (;;) {
    Node* before = node->input(0)->producer();
    if (!before || !Contains(before)) return merged;
    Perm p = Compose(*PermOf(*before), *PermOf(*node));
    node->SetInput(0, before->input(0));
    SetPerm(node, std::move(p));
    if (before->output(0)->is_unused()) Wait(before);
    WaitForUsers(node->output(0));
    Wait(node);
    merged = true;
  }
}

bool TransposeSet::Fold(Node* node, const Perm& p) {
  Value* operand = node->input(0);
  const Tensor* tensor = operand->fixed_constant();
  if (!tensor || tensor->is_sparse() || node->output(0)->is_graph_output()) return false;
  if (StaysInFile(*tensor, context_)) return false;
  if (tensor->num_elements() > kMaxCopiedElements) {
    for (const Use& use : operand->uses()) {
      if (!Contains(use.node)) return false;
    }
  }
  WaitForUsers(node->output(0));
  Value* folded = graph_.AddConstant(graph_.UniqueName(StrCat(operand->name(), "_transposed")),
                                     TransposeTensor(tensor->AlignedCopyIfNeeded(), p));
  graph_.ReplaceAllUses(node->output(0), folded);
  Erase(node);
  return true;
}

bool TransposeSet::Share(Node* node, const Perm& p) {
  const auto [it, fresh] = of_.try_emplace({node->input(0), p}, node);
  if (fresh || it->second == node) return false;
  Node* other = it->second;
  if (!Contains(other) || other->input(0) != node->input(0) || PermOf(*other) != p) {
    it->second = node;
    return false;
  }
  if (other->output(0)->is_graph_output() && node->output(0)->is_graph_output()) return false;
  PlaceBehindOperand(other);
  WaitForUsers(node->output(0));
  ReplaceBy(node, other->output(0));
  Wait(other);
  return true;
}

TransposeSet::Changed TransposeSet::NextChanged() {
  while (!changed_.empty()) {
    Node* node = changed_.front();
    changed_.pop_front();
    if (changed_.size() > kAhead) Prefetch(changed_[kAhead]);
    auto it = live_.find(node);
    if (it != live_.end() && std::exchange(it->second.changed, false)) {
      return {node, it->second.time};
    }
  }
  return {};
}

int64_t TransposeSet::Close() {
  int64_t changes = 0;
  for (Node* node : graph_.nodes()) {
    if (live_.empty()) break;
    auto it = live_.find(node);
    if (it == live_.end()) continue;
    const Shape& from = *node->input(0)->shape();
    const Perm p = *PermOf(*node);
    if (!MovesOnlyOnes(from, p)) continue;
    const auto target = ReshapeTarget(from, Permuted(from, p));
    if (!target) continue;
    Value* result = node->output(0);
    // What comes back as it was must not look like something new.
    Value* shape = ShapeOf(it->second.shape);
    if (!shape || *shape->constant() != Tensor::Vector(*target)) {
      shape = graph_.AddConstant(graph_.UniqueName(StrCat(result->name(), "_shape")),
                                 Tensor::Vector(*target));
    }
    node->set_op(kIrDialect, "reshape");
    node->EraseAttr("perm");
    node->SetAttr("allowzero", 0);
    node->SetInputs({node->input(0), shape});
    changes += !it->second.was_reshape;
  }
  for (const std::string& name : shapes_) {
    Value* shape = ShapeOf(name);
    if (shape && shape->is_unused()) shape->graph()->RemoveConstant(shape);
  }
  return changes;
}

}  // namespace x2ir
