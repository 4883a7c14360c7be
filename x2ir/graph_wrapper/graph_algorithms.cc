// Whole-graph operations: stable topological sort, validation, deep copies. All linear.
#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/op_name.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

std::string NodeText(const Node& node) { return StrCat(QualifiedOp(node), " '", node.name(), "'"); }

// Calls f for every value that `node` needs before it runs: its operands, and what its
// nested graphs use from outside of themselves.
template <typename F>
void ForEachDependency(const Node& node, F f) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (node.input(i)) f(node.input(i));
  }
  if (!node.has_subgraphs()) return;
  std::vector<const Graph*> todo;
  for (const Graph* graph : node.subgraphs()) todo.push_back(graph);
  while (!todo.empty()) {
    const Graph* graph = todo.back();
    todo.pop_back();
    for (const Value* output : graph->outputs()) {
      if (output && output->graph() != graph) f(output);
    }
    for (const Node* inner = graph->first(); inner; inner = inner->next()) {
      for (size_t i = 0; i < inner->num_inputs(); ++i) {
        if (inner->input(i) && inner->input(i)->graph() != graph) f(inner->input(i));
      }
      if (inner->has_subgraphs()) {
        for (const Graph* g : inner->subgraphs()) todo.push_back(g);
      }
    }
  }
}

}  // namespace

// Whether every node comes after the producers of its operands. This is true of most graphs and
// takes one walk.
bool Graph::IsSorted() {
  std::vector<const Node*> seen;
  seen.reserve(num_nodes_);
  // A node's scratch number is its place among those seen, or left over from another algorithm.
  const auto was_seen = [&](const Node* node) {
    return node->scratch_ < seen.size() && seen[node->scratch_] == node;
  };
  bool sorted = true;
  Lookahead ahead(*this);
  for (Node* node = first_; node && sorted; node = node->next_) {
    ahead.Step();
    ForEachDependency(*node, [&](const Value* value) {
      const Node* producer = value->producer();
      if (producer && producer->graph_ == this && !was_seen(producer)) sorted = false;
    });
    node->scratch_ = static_cast<uint32_t>(seen.size());
    seen.push_back(node);
  }
  return sorted;
}

absl::Status Graph::Sort() {
  // What nested graphs use is not counted.
  if (num_parents_ == 0 && sorted_at_ == order_changes_) return absl::OkStatus();
  if (!IsSorted()) X2IR_RETURN_IF_ERROR(Reorder());
  sorted_at_ = order_changes_;
  for (Graph* inner : NestedGraphs()) X2IR_RETURN_IF_ERROR(inner->Sort());
  return absl::OkStatus();
}

// A depth-first search from each node in today's order puts every node right after what it needs.
absl::Status Graph::Reorder() {
  enum : uint32_t { kNew = 0, kOpen = 1, kDone = 2 };
  std::vector<Node*> order;
  order.reserve(num_nodes_);
  for (Node* node = first_; node; node = node->next_) node->scratch_ = kNew;

  struct Frame {
    Node* node;
    std::vector<Node*> needs;
    size_t next = 0;
  };
  auto needs_of = [this](Node* node) {
    std::vector<Node*> needs;
    ForEachDependency(*node, [&](const Value* value) {
      Node* producer = value->producer();
      if (producer && value->graph() == this && producer->scratch_ != kDone) {
        needs.push_back(producer);
      }
    });
    return needs;
  };
  std::vector<Frame> stack;
  Lookahead ahead(*this);
  for (Node* start = first_; start; start = start->next_) {
    ahead.Step();
    if (start->scratch_ == kDone) continue;
    start->scratch_ = kOpen;
    stack.push_back({start, needs_of(start)});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.needs.size()) {
        frame.node->scratch_ = kDone;
        order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      Node* need = frame.needs[frame.next++];
      if (need->scratch_ == kDone) continue;
      if (need->scratch_ == kOpen) {
        std::string cycle;
        size_t from = 0;
        while (stack[from].node != need) ++from;
        constexpr size_t kShown = 8;
        for (size_t i = from; i < stack.size() && i < from + kShown; ++i) {
          StrAppend(&cycle, NodeText(*stack[i].node), " <- ");
        }
        if (stack.size() > from + kShown) cycle += "... <- ";
        StrAppend(&cycle, NodeText(*need));
        return Invalid("the graph has a cycle: ", cycle);
      }
      need->scratch_ = kOpen;
      stack.push_back({need, needs_of(need)});
    }
  }

  first_ = last_ = nullptr;
  for (Node* node : order) {
    node->prev_ = last_;
    node->next_ = nullptr;
    (last_ ? last_->next_ : first_) = node;
    last_ = node;
  }
  return absl::OkStatus();
}

std::vector<std::string> Graph::Validate() const {
  std::vector<std::string> problems;
  absl::flat_hash_set<const Value*> visible;  // defined so far, here and in outer graphs
  absl::flat_hash_map<const Value*, uint32_t> output_counts;
  std::vector<const Value*> counted;  // those that say they are outputs

  std::function<void(const Graph&)> visit = [&](const Graph& graph) {
    auto problem = [&](auto&&... parts) {
      problems.push_back(StrCat("graph '", graph.name(), "': ", parts...));
    };
    std::vector<const Value*> mine;
    auto define = [&](const Value* value, std::string_view what) {
      if (!visible.insert(value).second) problem("value '", value->name(), "' is defined twice");
      mine.push_back(value);
      if (value->graph_output_count() != 0) counted.push_back(value);
      if (value->graph() != &graph) problem(what, " '", value->name(), "' is of another graph");
      for (const Use& use : value->uses()) {
        if (use.node->input(use.index) != value) {
          problem(what, " '", value->name(), "' knows a use that is none");
        }
      }
      if (value->name().empty()) {
        problem(what, " has no name");
      } else if (graph.Find(value->name()) != value) {
        problem("another value is named as ", what, " '", value->name(), "'");
      }
    };
    for (const Value* input : graph.inputs()) {
      define(input, "input");
      if (!input->is_input()) problem("input '", input->name(), "' is not marked as one");
      if (input->producer()) problem("input '", input->name(), "' has a producer");
    }
    for (const Value* constant : graph.constants()) {
      define(constant, "constant");
      if (!constant->constant()) problem("constant '", constant->name(), "' has no tensor");
      if (constant->producer()) problem("constant '", constant->name(), "' has a producer");
    }
    size_t count = 0, parents = 0;
    const Node* previous = nullptr;
    Lookahead ahead(graph, Lookahead::kNames);
    for (const Node* node = graph.first(); node; node = node->next()) {
      ahead.Step();
      ++count;
      if (node->has_subgraphs()) ++parents;
      if (node->prev() != previous) problem(NodeText(*node), ": broken node list");
      previous = node;
      if (node->graph() != &graph) problem(NodeText(*node), " is of another graph");
      if (node->op().empty()) problem(NodeText(*node), " has no op type");
      for (size_t i = 0; i < node->num_inputs(); ++i) {
        const Value* value = node->input(i);
        if (!value) continue;
        if (!visible.contains(value)) {
          problem(NodeText(*node), ": input ", i, " '", value->name(),
                  "' is not defined before it");
        }
        const uint32_t at = node->inputs_[i].use;
        if (at >= value->uses().size() || value->uses()[at].node != node ||
            value->uses()[at].index != i) {
          problem(NodeText(*node), ": input ", i, " '", value->name(), "' does not know this use");
        }
      }
      for (const Graph* inner : node->subgraphs()) {
        if (inner->parent_node() != node)
          problem(NodeText(*node), ": nested graph has another parent");
        visit(*inner);
      }
      for (size_t i = 0; i < node->num_outputs(); ++i) {
        const Value* value = node->output(i);
        if (!value) continue;
        define(value, "output");
        if (value->producer() != node || value->output_index() != i) {
          problem(NodeText(*node), ": output '", value->name(), "' has another producer");
        }
      }
    }
    if (parents != graph.num_parents_) {
      problem("count of nodes with nested graphs is ", graph.num_parents_, ", not ", parents);
    }
    if (count != graph.num_nodes()) problem("node count is ", graph.num_nodes(), ", not ", count);
    for (const Value* output : graph.outputs()) {
      if (!output) {
        problem("an output is missing");
        continue;
      }
      ++output_counts[output];
      if (output->graph_output_count() == 0)
        problem("output '", output->name(), "' is not counted");
      if (!visible.contains(output)) problem("output '", output->name(), "' is not defined");
    }
    if (graph.parent_node() && &graph != this) {
      // What a nested graph defines is not seen outside of it.
      for (const Value* value : mine) visible.erase(value);
    }
  };
  // Values of outer graphs are taken as defined when a nested graph is validated alone.
  for (const Graph* outer = parent(); outer; outer = outer->parent()) {
    for (const auto& entry : outer->names_) {
      if (!entry.value->is_gone_) visible.insert(entry.value);
    }
  }
  visit(*this);
  // Values of outer graphs may be outputs of graphs that were not looked at.
  for (const Value* value : counted) {
    auto it = output_counts.find(value);
    const uint32_t count = it == output_counts.end() ? 0 : it->second;
    if (value->graph_output_count() != count) {
      problems.push_back(StrCat("value '", value->name(), "' counts ", value->graph_output_count(),
                                " graph outputs, not ", count));
    }
  }
  return problems;
}

std::shared_ptr<Graph> Graph::Clone(absl::flat_hash_map<const Value*, Value*>* map) const {
  absl::flat_hash_map<const Value*, Value*> local;
  absl::flat_hash_map<const Value*, Value*>& values = map ? *map : local;
  auto copy = std::make_shared<Graph>(name_);
  copy->annotations_.CopyFrom(annotations_);
  auto mapped = [&](Value* value) -> Value* {
    if (!value) return nullptr;
    auto it = values.find(value);
    return it == values.end() ? value : it->second;
  };
  auto remember = [&](const Value* from, Value* to) {
    to->annotations_.CopyFrom(from->annotations_);
    if (from->elements_) to->set_elements(*from->elements_);
    values[from] = to;
  };
  for (const Value* input : inputs_) {
    Value* value = copy->AddInput(input->name(), input->type());
    if (input->constant()) copy->SetDefault(value, *input->constant());
    remember(input, value);
  }
  for (const Value* constant : constants_) {
    if (constant) remember(constant, copy->AddConstant(constant->name(), *constant->constant()));
  }
  // Outputs first: an unsorted graph refers forward.
  for (const Node* node = first_; node; node = node->next_) {
    Node* clone = copy->AppendNode(node->dialect_, node->op_, {});
    clone->name_ = node->name_;
    clone->annotations_.CopyFrom(node->annotations_);
    for (const Value* output : node->outputs_) {
      if (output) {
        remember(output, copy->AddNodeOutput(clone, output->name(), output->type()));
      } else {
        copy->AddMissingOutput(clone);
      }
    }
  }
  Node* clone = copy->first_;
  for (const Node* node = first_; node; node = node->next_, clone = clone->next_) {
    clone->inputs_.reserve(node->inputs_.size());
    for (const Node::Slot& slot : node->inputs_) clone->AddInput(mapped(slot.value));
    for (const auto& [name, attr] : node->attrs_) {
      if (auto* graph = attr.get<Attribute::GraphPtr>(); graph && *graph) {
        clone->SetAttr(name, (*graph)->Clone(&values));
      } else if (auto* graphs = attr.get<std::vector<Attribute::GraphPtr>>()) {
        std::vector<Attribute::GraphPtr> copies;
        for (const auto& g : *graphs) copies.push_back(g ? g->Clone(&values) : nullptr);
        clone->SetAttr(name, std::move(copies));
      } else {
        clone->SetAttr(name, attr);
      }
    }
  }
  for (Value* output : outputs_) copy->AddOutput(mapped(output));
  return copy;
}

}  // namespace x2ir
