// The worklist of rules.h.
#include "x2ir/optimizer/rules.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/ops/splice.h"
#include "x2ir/ops/whole_attrs.h"
#include "x2ir/optimizer/knowledge.h"
#include "x2ir/optimizer/source_order.h"

namespace x2ir {
namespace {

struct RulesOfOp {
  struct Rule {
    RuleFn run;
    SourcePlace place;
  };
  std::vector<Rule> rules;   // in their order in the source, by file and line
  bool everywhere = false;   // one of them has no restriction on the producer
  ProducerOps producer_ops;  // what the others say
};
using Rules = absl::flat_hash_map<Symbol, RulesOfOp>;  // by op

struct RuleEntry {
  std::string_view pass;
  Symbol op;
  OpTest which;  // of all such ops, instead of the one
  RuleFn rule;
  Producers producers;
  SourcePlace place;
};

// `ops`: all that there are, if the producers are those of a kind.
void AddRule(Rules& rules, Symbol op, const RuleEntry& entry,
             absl::Span<const OpDef* const> ops = {}) {
  RulesOfOp& of_op = rules[op];
  const Producers& producers = entry.producers;
  InsertInSourceOrder(of_op.rules, {entry.rule, entry.place});
  of_op.everywhere |= producers.names.empty() && !producers.which;
  of_op.producer_ops.insert(of_op.producer_ops.end(), producers.names.begin(),
                            producers.names.end());
  for (const OpDef* producer : ops) {
    if (producers.which && producers.which(*producer)) {
      of_op.producer_ops.push_back(producer->name());
    }
  }
}

struct AllRules {
  using Entry = RuleEntry;
  std::map<std::string_view, Rules> by_pass;
  std::vector<RuleEntry> of_ops;  // those about ops, or producers, of a kind

  void Add(const RuleEntry& entry) {
    if (entry.which || entry.producers.which) {
      of_ops.push_back(entry);
    } else {
      AddRule(by_pass[entry.pass], entry.op, entry);
    }
  }
};

Registry<AllRules>& RuleTable() {
  static auto* table = new Registry<AllRules>;
  return *table;
}

// Of one pass, by all ops that are registered now.
Rules RulesOf(std::string_view pass) {
  const AllRules& all = RuleTable().Get();
  const auto it = all.by_pass.find(pass);
  Rules rules = it == all.by_pass.end() ? Rules() : it->second;
  std::vector<const OpDef*> ops;
  for (const RuleEntry& entry : all.of_ops) {
    if (entry.pass != pass) continue;
    if (ops.empty()) ops = AllOps();
    for (const OpDef* op : ops) {
      if (entry.which ? entry.which(*op) : op->name() == entry.op) {
        AddRule(rules, op->name(), entry, ops);
      }
    }
  }
  return rules;
}

// Rules that undo each other stop here: so many changes for each node that there was.
constexpr int64_t kMaxChangesPerNode = 32;

}  // namespace

bool RegisterRule(std::string_view pass, std::string_view op, RuleFn rule,
                  const Producers& producers, SourcePlace place) {
  RuleTable().Add({pass, op, nullptr, rule, producers, place});
  return true;
}

bool RegisterRuleOfOps(std::string_view pass, OpTest which, RuleFn rule, const Producers& producers,
                       SourcePlace place) {
  RuleTable().Add({pass, Symbol(), which, rule, producers, place});
  return true;
}

bool HasRules(std::string_view pass, Symbol op) { return RulesOf(pass).contains(op); }

// The nodes that are to be looked at, each once, oldest first.
class Worklist {
 public:
  // Without an index all nodes of the rules' ops.
  Worklist(Graph& root, const Rules& rules, NodeIndex* index) : rules_(rules), names_(root) {
    static const auto* anywhere = new ProducerOps;
    NodeIndex own;
    const auto wants = [&](Symbol op) -> const ProducerOps* {
      const auto it = rules.find(op);
      if (it == rules.end()) return nullptr;
      return index && !it->second.everywhere ? &it->second.producer_ops : anywhere;
    };
    NodeIndex& nodes = index ? *index : own;
    const std::vector<Node*> found = nodes.Find(root, wants);
    nodes_ = static_cast<int64_t>(nodes.num_nodes());
    for (size_t i = 0; i < found.size(); ++i) {
      constexpr size_t kAhead = 16;
      if (i + kAhead < found.size()) __builtin_prefetch(found[i + kAhead]);
      Push(found[i]);
    }
  }

  void Add(Node* node) {
    if (!node || !node->is_ir()) return;
    if (!rules_.contains(node->op())) return;
    if (!Waits(node)) Push(node);
  }
  void AddUsers(const Value* value) {
    for (const Use& use : value->uses()) Add(use.node);
  }
  void AddAround(Node& node) {
    Add(&node);
    for (Value* input : node.inputs()) {
      if (input) Add(input->producer());
    }
    for (const Value* output : node.outputs()) {
      if (output) AddUsers(output);
    }
  }
  // Null at the end.
  Node* Next() {
    while (!queue_.empty()) {
      // See lookahead.h.
      if (const Node* later = Ahead(12)) Prefetch(later);
      if (const Node* later = Ahead(8)) PrefetchOperands(*later);
      if (const Node* later = Ahead(4)) PrefetchProducers(*later);
      Node* node = queue_.front();
      queue_.pop_front();
      ++first_;
      if (node) return node;
    }
    return nullptr;
  }
  void AddAll(Graph& graph) {
    for (Node* node : graph.nodes()) AddWithin(node);
  }
  // The node and those in its graphs.
  void AddWithin(Node* node) {
    ++nodes_;
    Add(node);
    for (Graph* inner : node->subgraphs()) AddAll(*inner);
  }

  // The node will be erased.
  void Forget(Node* node) {
    if (Waits(node)) queue_[node->scratch() - first_] = nullptr;
    for (Graph* inner : node->subgraphs()) {
      for (Node* nested : inner->nodes()) Forget(nested);
    }
  }
  // Erases unused nodes, then the values that only they used.
  void EraseUnused(std::vector<Node*> todo) {
    while (!todo.empty()) {
      Node* next = todo.back();
      todo.pop_back();
      if (!next || gone_.contains(next) || IsUsed(*next)) continue;
      std::vector<Node*> producers = ProducersAround(*next);
      for (Node* user : UsersLeftBy(*next)) Add(user);
      Forget(next);
      gone_.insert(next);
      EraseWithConstants(next);
      for (Node* producer : producers) {
        Add(producer);
        todo.push_back(producer);
      }
    }
    gone_.clear();
  }
  // Those whose values the node uses, nested graphs included.
  static std::vector<Node*> ProducersAround(const Node& node) {
    std::vector<Node*> producers;
    for (const Value* input : node.inputs()) {
      if (input && input->producer()) producers.push_back(input->producer());
    }
    for (const Graph* inner : node.subgraphs()) {
      for (const Node* nested : inner->nodes()) {
        for (Node* producer : ProducersAround(*nested)) {
          if (producer->graph() == node.graph()) producers.push_back(producer);
        }
      }
      for (const Value* output : inner->outputs()) {
        if (output && output->producer() && output->graph() == node.graph()) {
          producers.push_back(output->producer());
        }
      }
    }
    return producers;
  }
  // Those of its graph that alone will use what the node uses, too, once it is gone.
  static std::vector<Node*> UsersLeftBy(const Node& node) {
    std::vector<Node*> users;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (!node.input(i) || node.input(i)->uses().size() != 2) continue;
      for (const Use& use : node.input(i)->uses()) {
        if (use.node != &node && use.node->graph() == node.graph()) users.push_back(use.node);
      }
    }
    return users;
  }
  static bool IsUsed(const Node& node) {
    if (node.num_outputs() == 0) return true;  // a node for its effect alone
    for (const Value* output : node.outputs()) {
      if (output && !output->is_unused()) return true;
    }
    return false;
  }

  // The nodes that use it, and the one that gives it on as a result of its graph.
  static std::vector<Node*> WhatSees(const Value& value) {
    std::vector<Node*> nodes;
    for (const Use& use : value.uses()) nodes.push_back(use.node);
    if (value.is_graph_output() && value.graph()->parent_node()) {
      nodes.push_back(value.graph()->parent_node());
    }
    return nodes;
  }

  // Types anew, from this node on as far as they change.
  void Reinfer(Node* node) {
    std::vector<Node*> todo = {node};
    std::vector<const Value*> changed;
    while (!todo.empty()) {
      Node* next = todo.back();
      todo.pop_back();
      changed.clear();
      // A rule's own result was inferred already, so an error does not matter.
      const bool more = InferAgain(*next, &changed);
      if (more && next->has_subgraphs()) AddInside(*next);
      for (const Value* output : changed) {
        for (Node* user : WhatSees(*output)) {
          Add(user);
          todo.push_back(user);
        }
      }
    }
  }
  // The same for all that sees a value of which something else is known now.
  void ReinferAllThatSee(const Value& value) {
    for (Node* user : WhatSees(value)) {
      Reinfer(user);
      Add(user);
    }
  }

  NodeNames& names() { return names_; }
  // That there were, and that were made since.
  int64_t nodes() const { return nodes_; }

 private:
  // Other algorithms leave other numbers.
  bool Waits(const Node* node) const {
    const uint32_t place = node->scratch() - first_;  // wraps around where it is not a place
    return place < queue_.size() && queue_[place] == node;
  }
  void Push(Node* node) {
    queue_.push_back(node);
    node->set_scratch(first_ + static_cast<uint32_t>(queue_.size() - 1));
  }
  Node* Ahead(size_t i) const { return i < queue_.size() ? queue_[i] : nullptr; }
  void AddInside(Node& node) {
    for (Graph* inner : node.subgraphs()) {
      for (Node* nested : inner->nodes()) {
        Add(nested);
        AddInside(*nested);
      }
    }
  }

  const Rules& rules_;
  NodeNames names_;
  int64_t nodes_ = 0;
  // A waiting node's scratch number is its place in the queue, counted from the first that was ever
  // there. The place of a node that was removed is null.
  std::deque<Node*> queue_;
  uint32_t first_ = 0;
  absl::flat_hash_set<Node*> gone_;  // in the sweep at hand
};

Rewriter::Rewriter(Node& node, Worklist& work, const PassContext& context)
    : node_(node), work_(work), context_(context), builder_(*node.graph(), &node) {}

Builder& Rewriter::b() {
  // Most nodes are only looked at.
  if (!std::exchange(hinted_, true)) builder_.set_name_hint(node_);
  return builder_;
}

Node* Rewriter::Producer(size_t i, Symbol op) const {
  const Value* value = node_.input(i);
  Node* producer = value ? value->producer() : nullptr;
  return producer && producer->Is(op) && producer->graph() == node_.graph() ? producer : nullptr;
}

bool Rewriter::UsedOnce(const Value* value) {
  return value->uses().size() == 1 && !value->is_graph_output();
}

namespace {
// Whether inference can read elements of the one that it cannot read of the other.
bool TellsMore(const Value& result, const Value& than) {
  if (result.fixed_constant()) return !than.elements();
  return result.elements() && (!than.elements() || *result.elements() != *than.elements());
}
}  // namespace

bool Rewriter::Replace(const Values& results) {
  if (!builder_.status().ok()) return false;
  const std::vector<Node*> producers = Worklist::ProducersAround(node_);
  const std::vector<Node*> beside = Worklist::UsersLeftBy(node_);
  std::vector<Node*> users;
  bool news = false;  // whether the users can know more than before
  std::vector<std::pair<const Value*, Knowledge>> older;
  for (size_t i = 0; i < node_.num_outputs(); ++i) {
    const Value* output = node_.output(i);
    if (!output) continue;
    const Value* result = results[i];
    for (Node* user : Worklist::WhatSees(*output)) users.push_back(user);
    news |= result->type() != output->type() || TellsMore(*result, *output);
    if (!result->name().empty() && result->producer()) {
      older.emplace_back(result, KnowledgeOf(result));
    }
  }
  Graph& graph = *node_.graph();
  work_.Forget(&node_);
  Splice(&node_, results, builder_, work_.names());
  finished_ = true;
  work_.Add(graph.parent_node());  // what it may do can depend on how large its graph is
  for (Node* made : builder_.made()) work_.AddWithin(made);
  for (Node* user : beside) work_.Add(user);
  for (Node* user : users) {
    if (news) work_.Reinfer(user);
    work_.Add(user);
  }
  // What was known of the node's output is known of the value in its place.
  for (const auto& [value, before] : older) {
    if (!(KnowledgeOf(value) == before)) work_.ReinferAllThatSee(*value);
  }
  for (Node* producer : producers) work_.Add(producer);
  work_.EraseUnused(producers);
  return true;
}

bool Rewriter::Become(Symbol op, const Values& operands, AttributeMap attrs) {
  const std::vector<Node*> producers = Worklist::ProducersAround(node_);
  const std::vector<Node*> beside = Worklist::UsersLeftBy(node_);
  const std::vector<Value*> before = node_.inputs();
  while (node_.attrs().size() != 0) node_.EraseAttr(node_.attrs().begin()->first);
  node_.set_op(kIrDialect, op);
  node_.SetInputs(operands);
  for (auto& [name, attr] : WholeAttrs(*FindOp(op), std::move(attrs))) {
    node_.SetAttr(name, std::move(attr));
  }
  for (Value* value : before) {
    if (value && value->fixed_constant() && value->is_unused()) {
      value->graph()->RemoveConstant(value);
    }
  }
  work_.AddAround(node_);
  for (Node* user : beside) work_.Add(user);
  for (Node* producer : producers) work_.Add(producer);
  work_.EraseUnused(producers);
  return true;
}

bool Rewriter::TakeBack() {
  if (!hinted_) return false;
  const bool touched = !builder_.made().empty() || !builder_.status().ok();
  builder_.Rollback();
  return touched;
}

void Rewriter::Finish() {
  if (finished_) return;
  NameMadeFor(node_, builder_);
  for (Node* made : builder_.made()) {
    work_.names().NameMade(*made, node_);
    CopyMetadata(node_, *made);
    work_.AddWithin(made);
  }
}

void Rewriter::SetInput(Node& node, size_t i, Value* value) {
  Node* old = node.input(i) ? node.input(i)->producer() : nullptr;
  node.SetInput(i, value);
  if (old) work_.Add(old);
  Touch(node);
}

void Rewriter::ReplaceUses(Value* from, Value* to) {
  std::vector<Node*> users;
  for (const Use& use : from->uses()) users.push_back(use.node);
  const Knowledge before = KnowledgeOf(to);
  ReplaceUsesByOlder(*from->graph(), from, to);
  for (Node* user : users) Touch(*user);
  if (!(KnowledgeOf(to) == before)) work_.ReinferAllThatSee(*to);
  if (from->producer()) work_.AddAround(*from->producer());
}

void Rewriter::Touch(Node& node) {
  work_.Reinfer(&node);
  work_.AddAround(node);
}

absl::StatusOr<int64_t> RunRules(std::string_view pass, Graph& graph, const PassContext& context) {
  const Rules rules = RulesOf(pass);
  if (rules.empty()) return 0;
  Worklist work(graph, rules, context.index);
  const int64_t most = kMaxChangesPerNode * (work.nodes() + 16);
  int64_t changes = 0;
  while (Node* node = work.Next()) {
    const auto rules_of_op = rules.find(node->op());
    if (rules_of_op == rules.end()) continue;
    std::optional<Rewriter> rewriter;
    for (const auto& [rule, place] : rules_of_op->second.rules) {
      if (!rewriter) rewriter.emplace(*node, work, context);
      const auto changed = rule(*rewriter);
      if (changed.ok() && *changed) {
        rewriter->Finish();
        ++changes;
        // It may have taken the node away; the node is in the list again if not.
        break;
      }
      if (rewriter->TakeBack()) rewriter.reset();
      if (!changed.ok()) return changed.status();
    }
    if (changes >= most) break;
  }
  return changes;
}

}  // namespace x2ir
