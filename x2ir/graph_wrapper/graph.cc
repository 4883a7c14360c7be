// Graph, Node and Value: ownership, use-lists, names and mutation.
// Sorting, validation and cloning are in graph_algorithms.cc.
#include "x2ir/graph_wrapper/graph.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

void AnnotationsPtr::MergeFrom(const AnnotationsPtr& o) {
  if (!o.p_ || o.p_.get() == p_.get()) return;
  if (!p_) return CopyFrom(o);
  if (p_->doc_string.empty()) p_->doc_string = o.p_->doc_string;
  for (const auto& entry : o.p_->metadata) {
    const bool known = std::any_of(p_->metadata.begin(), p_->metadata.end(),
                                   [&](const auto& have) { return have.first == entry.first; });
    if (!known) p_->metadata.push_back(entry);
  }
  p_->extra.insert(o.p_->extra.begin(), o.p_->extra.end());
}

// --- Node ---------------------------------------------------------------------------------

void Node::Link(Slot& slot, uint32_t index, Value* value) {
  slot.value = value;
  if (!value) return;
  ++graph_->order_changes_;
  slot.use = static_cast<uint32_t>(value->uses_.size());
  value->uses_.push_back({this, index});
}

void Node::Unlink(Slot& slot) {
  Value* value = slot.value;
  slot.value = nullptr;
  if (!value) return;
  // Swap with the last use, whose slot then learns its new position.
  auto& uses = value->uses_;
  const Use last = uses.back();
  uses[slot.use] = last;
  last.node->inputs_[last.index].use = slot.use;
  uses.pop_back();
}

std::vector<Value*> Node::inputs() const {
  std::vector<Value*> values;
  values.reserve(inputs_.size());
  for (const Slot& slot : inputs_) values.push_back(slot.value);
  return values;
}

void Node::SetInput(size_t i, Value* value) {
  X2IR_CHECK(i < inputs_.size(), "no such operand");
  if (inputs_[i].value == value) return;
  Unlink(inputs_[i]);
  Link(inputs_[i], static_cast<uint32_t>(i), value);
}

void Node::AddInput(Value* value) {
  inputs_.push_back({nullptr, 0});
  Link(inputs_.back(), static_cast<uint32_t>(inputs_.size() - 1), value);
}

void Node::SetInputs(absl::Span<Value* const> values) {
  for (Slot& slot : inputs_) Unlink(slot);
  inputs_.clear();
  inputs_.reserve(values.size());
  for (Value* value : values) AddInput(value);
}

void Node::Adopt(const Attribute& attr) {
  auto adopt = [this](const Attribute::GraphPtr& graph) {
    if (!graph) return;
    Graph* root = graph_->Root();
    const bool same_family = graph->parent_ && graph->Root() == root;
    graph->parent_ = this;
    SetHasSubgraphs(true);
    if (same_family) return;
    // Names inside are taken from now on for UniqueName anywhere in the family.
    std::vector<Graph*> todo = {graph.get()};
    while (!todo.empty()) {
      Graph* g = todo.back();
      todo.pop_back();
      g->ForgetGone();
      for (const auto& entry : g->names_) ++root->nested_names_[entry.value->name()];
      if (g != root) g->nested_names_.clear();
      for (Node* node = g->first_; node; node = node->next_) {
        if (node->has_subgraphs_) {
          for (Graph* inner : node->subgraphs()) todo.push_back(inner);
        }
      }
    }
  };
  if (auto* graph = attr.get<Attribute::GraphPtr>()) adopt(*graph);
  if (auto* graphs = attr.get<std::vector<Attribute::GraphPtr>>()) {
    for (const auto& graph : *graphs) adopt(graph);
  }
}

namespace {
template <typename F>
void ForEachGraph(const Attribute& attr, F f) {
  if (auto* graph = attr.get<Attribute::GraphPtr>(); graph && *graph) f(graph->get());
  if (auto* graphs = attr.get<std::vector<Attribute::GraphPtr>>()) {
    for (const auto& graph : *graphs) {
      if (graph) f(graph.get());
    }
  }
}
}  // namespace

void Node::SetHasSubgraphs(bool has) {
  if (has != has_subgraphs_) graph_->num_parents_ += has ? 1 : -1;
  has_subgraphs_ = has;
}

void Node::ReclaimSubgraphs() {
  for (Graph* graph : subgraphs()) graph->parent_ = this;
}

void Node::SetAttr(Symbol name, Attribute value) {
  EraseAttr(name);
  Adopt(value);
  attrs_.Set(name, std::move(value));
}

bool Node::EraseAttr(Symbol name) {
  if (!attrs_.Has(name)) return false;
  TakeAttr(name);
  return true;
}

std::optional<Attribute> Node::TakeAttr(Symbol name) {
  std::optional<Attribute> value = attrs_.Take(name);
  if (value) {
    ForEachGraph(*value, [this](Graph* graph) {
      if (graph->parent_ == this) graph->parent_ = nullptr;
    });
    SetHasSubgraphs(has_subgraphs_ && !subgraphs().empty());
  }
  return value;
}

template <typename G>
static std::vector<G*> SubgraphsOf(const Node& node) {
  std::vector<G*> graphs;
  if (!node.has_subgraphs()) return graphs;
  for (const auto& [name, attr] : node.attrs()) {
    ForEachGraph(attr, [&](Graph* graph) { graphs.push_back(graph); });
  }
  return graphs;
}
std::vector<Graph*> Node::subgraphs() { return SubgraphsOf<Graph>(*this); }
std::vector<const Graph*> Node::subgraphs() const { return SubgraphsOf<const Graph>(*this); }

// Large graphs do not fit into caches; the next nodes are on their way while this one is looked at.
// Most nodes have the same order in the pool and in the graph; a useless prefetch does no harm.
static void PrefetchAfter(const Node& node) {
  constexpr uintptr_t kAhead = 32, kLine = 64;
  __builtin_prefetch(node.next());
  const uintptr_t later = reinterpret_cast<uintptr_t>(&node) + kAhead * sizeof(Node);
  __builtin_prefetch(reinterpret_cast<const void*>(later));
  __builtin_prefetch(reinterpret_cast<const void*>(later + kLine));
}

// --- NodeIterator -------------------------------------------------------------------------

NodeIterator::NodeIterator(Graph* graph, Node* node)
    : graph_(graph), node_(node), walks_(node != nullptr) {
  if (walks_) ++graph_->iterators_;
}

NodeIterator::NodeIterator(NodeIterator&& o) noexcept
    : graph_(o.graph_), node_(o.node_), walks_(o.walks_) {
  if (walks_) ++graph_->iterators_;
}

NodeIterator::~NodeIterator() {
  if (walks_ && --graph_->iterators_ == 0) graph_->FreeGraveyard();
}

NodeIterator& NodeIterator::operator++() {
  // An erased node keeps its `next`, which may have been erased after it, and so on; while
  // an iterator lives no erased node is freed, so the chain is safe to follow.
  do {
    node_ = node_->next_;
  } while (node_ && node_->erased_);
  // The next nodes that are made take the places of these while they are in caches.
  if (graph_->iterators_ == 1) graph_->FreeGraveyard();
  if (node_) PrefetchAfter(*node_);
  return *this;
}

Graph::ConstIterator& Graph::ConstIterator::operator++() {
  node = node->next();
  if (node) PrefetchAfter(*node);
  return *this;
}

// A sparse tensor is a way to store a constant; what uses it sees the dense one.
static Type DenseType(const Tensor& tensor) { return Type::Tensor(tensor.dtype(), tensor.shape()); }

// --- Graph: values ------------------------------------------------------------------------

Graph::Graph() = default;
Graph::Graph(std::string name) : name_(std::move(name)) {}

Graph::~Graph() {
  // Uses inside this graph may be of outer values, and those must forget us first. Where
  // all nested graphs are destroyed too, inner graphs before outer ones by construction.
  for (Node* node = first_; node;) {
    Node* next = node->next_;
    for (Node::Slot& slot : node->inputs_) {
      if (slot.value && slot.value->graph_ != this) node->Unlink(slot);
    }
    node->attrs_ =
        AttributeMap();  // nested graphs, which may use values of this graph, are destroyed first
    node = next;
  }
  for (Value* output : outputs_) {
    if (output && output->graph_ != this) --output->graph_output_count_;
  }
  for (Node* node = first_; node;) {
    Node* next = node->next_;
    for (Value* value : node->outputs_) {
      if (value) value_pool_.Delete(value);
    }
    node_pool_.Delete(node);
    node = next;
  }
  FreeGraveyard();
  for (Value* value : gone_) value_pool_.Delete(value);
  for (Value* value : inputs_) value_pool_.Delete(value);
  for (Value* value : constants_) {
    if (value) value_pool_.Delete(value);
  }
}

Graph* Graph::Root() {
  Graph* graph = this;
  while (graph->parent_) graph = graph->parent_->graph_;
  return graph;
}

Graph::Name::Name(std::string_view name) : hash(absl::HashOf(name)), text(name) {}

bool Graph::InsertName(Value* value) {
  const NamedValue named{Name(value->name_).hash, value};
  const auto [it, fresh] = names_.insert(named);
  if (fresh || !it->value->is_gone_) return fresh;
  ForgetGone();
  return names_.insert(named).second;
}

void Graph::TakeName(Value* value) {
  if (value->name_.empty()) return;
  if (!InsertName(value)) {
    value->shares_name_ = 1;
    sharing_.push_back(value);
  }
  if (parent_) ++Root()->nested_names_[value->name_];
}

void Graph::DropName(Value& value) {
  if (value.name_.empty()) return;
  if (value.shares_name_) {
    value.shares_name_ = 0;
    sharing_.erase(std::find(sharing_.begin(), sharing_.end(), &value));
    return;
  }
  names_.erase(Name(value.name_));
  if (!sharing_.empty()) PassNameOn(value.name_);
}

void Graph::PassNameOn(const std::string& name) {
  for (auto it = sharing_.begin(); it != sharing_.end(); ++it) {
    if ((*it)->name_ != name) continue;
    (*it)->shares_name_ = 0;
    InsertName(*it);
    sharing_.erase(it);
    return;
  }
}

absl::Status Graph::CheckNames() const {
  if (!sharing_.empty()) {
    return Invalid("two values of graph '", name_, "' are named '", sharing_[0]->name_, "'");
  }
  for (const Graph* inner : NestedGraphs()) X2IR_RETURN_IF_ERROR(inner->CheckNames());
  return absl::OkStatus();
}

Value* Graph::NewValue(std::string_view name, Type type) {
  Value* value = value_pool_.New();
  value->name_ = name;
  value->type_ = std::move(type);
  value->graph_ = this;
  TakeName(value);
  return value;
}

// Names and their table entries are spread over memory, so several are prefetched at a time.
void Graph::FreeValue(Value* value) {
#ifdef X2IR_ADDRESS_SANITIZER
  constexpr size_t kAtOnce = 1;
#else
  constexpr size_t kAtOnce = 64;
#endif
  if (!sharing_.empty()) {
    DropName(*value);
    value->name_.clear();
  }
  value->is_gone_ = 1;
  if (!value->producer_) value->constant_.reset();  // which may be large
  gone_.push_back(value);
  if (gone_.size() >= kAtOnce) ForgetGone();
}

void Graph::ForgetGone() {
  for (const Value* value : gone_) __builtin_prefetch(&value->name_);
  for (const Value* value : gone_) __builtin_prefetch(value->name_.data());
  std::vector<Name> names;
  names.reserve(gone_.size());
  for (const Value* value : gone_) {
    if (value->name_.empty()) continue;
    names.emplace_back(value->name_);
    names_.prefetch(names.back());
  }
  for (const Name& name : names) names_.erase(name);
  for (Value* value : gone_) value_pool_.Delete(value);
  gone_.clear();
}

template <typename V>
static std::vector<V*> WithoutHoles(const std::vector<Value*>& with, size_t count) {
  std::vector<V*> values;
  values.reserve(count);
  for (Value* value : with) {
    if (value) values.push_back(value);
  }
  return values;
}
std::vector<Value*> Graph::constants() { return WithoutHoles<Value>(constants_, num_constants_); }
std::vector<const Value*> Graph::constants() const {
  return WithoutHoles<const Value>(constants_, num_constants_);
}

Value* Graph::AddInput(std::string_view name, Type type) {
  Value* value = NewValue(name, std::move(type));
  value->is_input_ = 1;
  inputs_.push_back(value);
  return value;
}

Value* Graph::AddConstant(std::string_view name, Tensor tensor) {
  Value* value = NewValue(name, DenseType(tensor));
  value->constant_ = std::make_unique<Tensor>(std::move(tensor));
  value->index_ = static_cast<uint32_t>(constants_.size());
  constants_.push_back(value);
  ++num_constants_;
  return value;
}

void Graph::SetDefault(Value* input, Tensor tensor) {
  X2IR_CHECK(input->is_input_, "only an input has a default");
  input->constant_ = std::make_unique<Tensor>(std::move(tensor));
}

void Graph::ReplaceConstant(Value* constant, Tensor tensor) {
  X2IR_CHECK(constant->constant_ != nullptr, "not a constant");
  constant->type_ = DenseType(tensor);
  *constant->constant_ = std::move(tensor);
}

void Graph::FreezeInput(Value* input) {
  X2IR_CHECK(input->is_input_ && input->constant_, "only an input with a default freezes");
  inputs_.erase(std::find(inputs_.begin(), inputs_.end(), input));
  BecomeConstant(input);
}

void Graph::FreezeInputs(size_t first) {
  // In one go: old files list every weight as an input.
  std::vector<Value*> rest;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Value* input = inputs_[i];
    if (i >= first && input->constant_) {
      BecomeConstant(input);
    } else {
      rest.push_back(input);
    }
  }
  inputs_ = std::move(rest);
}

void Graph::BecomeConstant(Value* input) {
  input->is_input_ = 0;
  input->type_ = DenseType(*input->constant_);
  input->index_ = static_cast<uint32_t>(constants_.size());
  constants_.push_back(input);
  ++num_constants_;
}

void Graph::RemoveInput(Value* input) {
  X2IR_CHECK(input->is_input_ && input->is_unused(), "only an unused input can be removed");
  inputs_.erase(std::find(inputs_.begin(), inputs_.end(), input));
  FreeValue(input);
}

void Graph::RemoveConstant(Value* constant) {
  X2IR_CHECK(constant->constant_ && !constant->is_input_ && constant->is_unused(),
             "only an unused constant can be removed");
  ForgetConstant(constant);
  FreeValue(constant);
}

void Graph::ThawConstant(Value* constant) {
  X2IR_CHECK(constant->constant_ && !constant->is_input_, "only a constant thaws");
  ForgetConstant(constant);
  constant->is_input_ = 1;
  constant->index_ = 0;
  inputs_.push_back(constant);
}

void Graph::ForgetConstant(Value* constant) {
  constants_[constant->index_] = nullptr;
  --num_constants_;
  if (constants_.size() > 16 && num_constants_ < constants_.size() / 2) {
    size_t n = 0;
    for (Value* value : constants_) {
      if (!value) continue;
      value->index_ = static_cast<uint32_t>(n);
      constants_[n++] = value;
    }
    constants_.resize(n);
  }
}

void Graph::ReplaceInputAt(size_t i, Value* input) {
  X2IR_CHECK(i < inputs_.size() && input->is_input_, "no such input");
  inputs_[i] = input;
}

void Graph::AddOutput(Value* value) {
  outputs_.push_back(value);
  if (value) ++value->graph_output_count_;
}

void Graph::SetOutput(size_t i, Value* value) {
  if (outputs_[i]) --outputs_[i]->graph_output_count_;
  outputs_[i] = value;
  if (value) ++value->graph_output_count_;
}

void Graph::ClearOutputs() {
  for (Value* value : outputs_) {
    if (value) --value->graph_output_count_;
  }
  outputs_.clear();
}

const Value* Graph::Find(std::string_view name) const {
  const auto it = names_.find(Name(name));
  return it == names_.end() || it->value->is_gone_ ? nullptr : it->value;
}
Value* Graph::Find(std::string_view name) {
  return const_cast<Value*>(std::as_const(*this).Find(name));
}

const Value* Graph::FindInScope(std::string_view name) const {
  for (const Graph* graph = this; graph; graph = graph->parent()) {
    if (const Value* value = graph->Find(name)) return value;
  }
  return nullptr;
}
Value* Graph::FindInScope(std::string_view name) {
  return const_cast<Value*>(std::as_const(*this).FindInScope(name));
}

std::string Graph::UniqueName(std::string_view base) {
  Graph* root = Root();
  if (base.empty()) base = "value";
  auto taken = [&](std::string_view name) {
    return FindInScope(name) != nullptr || root->nested_names_.contains(name);
  };
  if (!taken(base)) return std::string(base);
  uint32_t& suffix = root->next_suffix_[std::string(base)];
  std::string name;
  do {
    name = StrCat(base, "_", ++suffix);
  } while (taken(name));
  return name;
}

void Graph::NameValues(Node* node, std::string_view base) {
  for (Value* value : node->outputs_) {
    if (value && value->name_.empty()) Rename(value, UniqueName(base));
  }
}

void Graph::Rename(Value* value, std::string_view name) {
  if (value->name_ == name) return;
  DropName(*value);
  value->name_ = name;
  TakeName(value);
}

void Graph::SwapNames(Value* a, Value* b) {
  DropName(*a);
  DropName(*b);
  std::swap(a->name_, b->name_);
  TakeName(a);
  TakeName(b);
}

// --- Graph: nodes -------------------------------------------------------------------------

Node* Graph::InsertNode(Node* before, Symbol dialect, Symbol op, absl::Span<Value* const> inputs) {
  Node* node = node_pool_.New();
  node->set_op(dialect, op);
  node->graph_ = this;
  node->next_ = before;
  node->prev_ = before ? before->prev_ : last_;
  (node->prev_ ? node->prev_->next_ : first_) = node;
  (before ? before->prev_ : last_) = node;
  ++num_nodes_;
  ++node_changes_;
  ++order_changes_;
  node->inputs_.reserve(inputs.size());
  for (Value* value : inputs) node->AddInput(value);
  return node;
}

Value* Graph::AddNodeOutput(Node* node, std::string_view name, Type type) {
  Value* value = NewValue(name, std::move(type));
  value->producer_ = node;
  value->index_ = static_cast<uint32_t>(node->outputs_.size());
  node->outputs_.push_back(value);
  return value;
}

void Graph::AddMissingOutput(Node* node) { node->outputs_.push_back(nullptr); }

Value* Graph::FillOutput(Node* node, size_t i, std::string_view name, Type type) {
  X2IR_CHECK(i < node->outputs_.size() && !node->outputs_[i], "output is there");
  Value* value = NewValue(name, std::move(type));
  value->producer_ = node;
  value->index_ = static_cast<uint32_t>(i);
  node->outputs_[i] = value;
  return value;
}

void Graph::RemoveUnusedOutput(Node* node, size_t i) {
  Value* value = node->output(i);
  if (!value) return;
  X2IR_CHECK(value->is_unused(), "output is used");
  node->outputs_[i] = nullptr;
  FreeValue(value);
  while (!node->outputs_.empty() && !node->outputs_.back()) node->outputs_.pop_back();
}

void Graph::UnlinkNode(Node* node) {
  (node->prev_ ? node->prev_->next_ : first_) = node->next_;
  (node->next_ ? node->next_->prev_ : last_) = node->prev_;
}

void Graph::MoveBefore(Node* node, Node* before) {
  if (node == before || node->next_ == before) return;
  ++order_changes_;
  UnlinkNode(node);
  node->next_ = before;
  node->prev_ = before ? before->prev_ : last_;
  (node->prev_ ? node->prev_->next_ : first_) = node;
  (before ? before->prev_ : last_) = node;
}

void Graph::ReplaceAllUses(Value* from, Value* to) {
  if (from == to) return;
  while (!from->uses_.empty()) {
    const Use use = from->uses_.back();
    use.node->SetInput(use.index, to);
  }
  if (from->graph_output_count_ == 0) return;
  // Outer values may be outputs of nested graphs, yet those are few: a nested graph's
  // outputs are looked at only when the count says that there are any left.
  auto replace_in = [&](Graph* graph) {
    for (size_t i = 0; i < graph->outputs_.size() && from->graph_output_count_; ++i) {
      if (graph->outputs_[i] == from) graph->SetOutput(i, to);
    }
  };
  replace_in(from->graph_);
  std::vector<Graph*> todo = {from->graph_};
  while (from->graph_output_count_ && !todo.empty()) {
    Graph* graph = todo.back();
    todo.pop_back();
    for (Node* node = graph->first_; node; node = node->next_) {
      if (!node->has_subgraphs_) continue;
      for (Graph* inner : node->subgraphs()) {
        replace_in(inner);
        todo.push_back(inner);
      }
    }
  }
}

void Graph::ReplaceAllUsesKeepingOutputNames(Value* from, Value* to) {
  if (from == to) return;
  if (!from->is_graph_output()) return ReplaceAllUses(from, to);
  const bool can_rename = to->graph_ == from->graph_ && to->producer_ && !to->is_graph_output();
  if (!can_rename) {
    // `to` must keep its own name, so the output becomes a copy of it under the old name.
    Node* at = from->producer_;
    Node* copy = InsertNode(at ? at->next_ : first_, kIrDialect, "identity", {to});
    Value* result = AddNodeOutput(copy, "", from->type_);
    SwapNames(result, from);
    result->annotations_.CopyFrom(from->annotations_);
    ReplaceAllUses(from, result);
    return;
  }
  SwapNames(from, to);
  to->annotations_.MergeFrom(from->annotations_);
  ReplaceAllUses(from, to);
}

void Graph::AdoptOutput(Value* fresh, Value* existing) {
  X2IR_CHECK(fresh->producer_ && fresh->graph_ == this && existing->graph_ == this &&
                 existing->producer_ && fresh->name_.empty(),
             "AdoptOutput takes an unnamed output and a node's output of one graph");
  ++order_changes_;
  existing->producer_->outputs_[existing->index_] = nullptr;
  fresh->producer_->outputs_[fresh->index_] = existing;
  existing->producer_ = fresh->producer_;
  existing->index_ = fresh->index_;
  // What was known of them stays so: it is the same value.
  if (fresh->elements_) existing->elements_ = std::move(fresh->elements_);
  ReplaceAllUses(fresh, existing);
  FreeValue(fresh);
}

absl::Status Graph::Erase(Node* node) {
  for (const Value* value : node->outputs_) {
    if (value && !value->is_unused()) {
      return CannotExpress("cannot erase ", node->op_.str(), " '", node->name_, "': its output '",
                           value->name_, "' is used");
    }
  }
  EraseUnused(node);
  return absl::OkStatus();
}

void Graph::EraseUnused(Node* node) {
  X2IR_CHECK(node->graph_ == this && !node->erased_, "node of another graph");
  for (Node::Slot& slot : node->inputs_) node->Unlink(slot);
  node->inputs_.clear();
  node->attrs_ = AttributeMap();
  node->SetHasSubgraphs(false);
  for (Value* value : node->outputs_) {
    if (!value) continue;
    X2IR_CHECK(value->is_unused(), "output is used");
    FreeValue(value);
  }
  node->outputs_.clear();
  UnlinkNode(node);
  --num_nodes_;
  ++node_changes_;
  node->erased_ = true;
  if (iterators_ == 0) {
    node_pool_.Delete(node);
  } else {
    graveyard_.push_back(node);  // `next` stays valid for the iterators
  }
}

void Graph::FreeGraveyard() {
  for (Node* node : graveyard_) node_pool_.Delete(node);
  graveyard_.clear();
}

template <typename G>
static std::vector<G*> NestedIn(const Node* node, size_t parents) {
  std::vector<G*> graphs;
  for (size_t left = parents; left != 0; node = node->next()) {
    PrefetchAfter(*node);
    if (!node->has_subgraphs()) continue;
    --left;
    for (G* inner : SubgraphsOf<G>(*node)) graphs.push_back(inner);
  }
  return graphs;
}
std::vector<Graph*> Graph::NestedGraphs() { return NestedIn<Graph>(first_, num_parents_); }
std::vector<const Graph*> Graph::NestedGraphs() const {
  return NestedIn<const Graph>(first_, num_parents_);
}

size_t Graph::TotalNodes() const {
  size_t total = 0;
  std::vector<const Graph*> todo = {this};
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    total += graph->num_nodes_;
    for (const Graph* inner : graph->NestedGraphs()) todo.push_back(inner);
  }
  return total;
}

}  // namespace x2ir
