// The order of what a builder made.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/splice.h"

namespace x2ir {
namespace {

// Which of a few or many things were met, by their addresses.
template <typename T>
class Unmet {
 public:
  explicit Unmet(const std::vector<T*>& all) {
    if (all.size() > kFew) {
      many_.insert(all.begin(), all.end());
    } else {
      few_ = all;
    }
  }
  // Whether it is one of them, and is met for the first time.
  bool Meet(T* one) {
    if (few_.empty()) return many_.erase(one) != 0;
    const auto it = std::find(few_.begin(), few_.end(), one);
    if (it == few_.end()) return false;
    *it = nullptr;
    return true;
  }

 private:
  static constexpr size_t kFew = 16;
  std::vector<T*> few_;
  absl::flat_hash_set<T*> many_;
};

// What a node reads: its operands, then what its nested graphs read of graphs around them.
void AppendReads(Node& node, const Graph* around, std::vector<Value*>& reads) {
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    Value* const value = node.input(i);
    if (value && value->graph() == around) reads.push_back(value);
  }
  if (!node.has_subgraphs()) return;
  for (Graph* inner : node.subgraphs()) {
    for (Node* each = inner->first(); each; each = each->next()) {
      AppendReads(*each, around, reads);
    }
    for (Value* output : inner->outputs()) {
      if (output && output->graph() == around) reads.push_back(output);
    }
  }
}

// A name without the number that made it unique, and the number.
struct Numbered {
  explicit Numbered(std::string_view name) : base(name) {
    const size_t last = name.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == name.size() || name[last] != '_') return;
    uint64_t read = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data() + last + 1, end, read).ec != std::errc()) return;
    base = name.substr(0, last);
    number = read;
  }
  std::string_view base;
  uint64_t number = 0;
};

// Of names that begin with `start` and differ in their number alone, the first value has the least
// number, and so on. Other names are of the source.
void NumberInOrder(Graph& graph, const std::vector<Value*>& constants, std::string_view start) {
  StringMap<std::vector<Value*>> alike;
  for (Value* constant : constants) {
    if (!constant->name().starts_with(start)) continue;
    alike[std::string(Numbered(constant->name()).base)].push_back(constant);
  }
  const auto less = [](const Value* a, const Value* b) {
    return Numbered(a->name()).number < Numbered(b->name()).number;
  };
  for (auto& [base, values] : alike) {
    if (std::is_sorted(values.begin(), values.end(), less)) continue;
    std::vector<Value*> holders = values;  // of the names in order
    std::sort(holders.begin(), holders.end(), less);
    absl::flat_hash_map<const Value*, size_t> place;
    for (size_t i = 0; i < holders.size(); ++i) place[holders[i]] = i;
    for (size_t i = 0; i < values.size(); ++i) {
      Value* const holder = holders[i];
      if (holder == values[i]) continue;
      graph.SwapNames(holder, values[i]);
      const size_t from = place[values[i]];
      holders[from] = holder;
      place[holder] = from;
    }
  }
}

// Takes constants out and puts them back as the last ones, in that order.
void PutLast(Graph& graph, const std::vector<Value*>& constants) {
  const size_t inputs = graph.inputs().size();
  for (Value* constant : constants) graph.ThawConstant(constant);
  graph.FreezeInputs(inputs);
}

// Orders nodes and constants of one graph.
class ByUse {
 public:
  // `start`: what names that were made for constants begin with.
  ByUse(Graph& graph, const std::vector<Node*>& nodes, const std::vector<Value*>& constants,
        std::string start)
      : graph_(graph),
        nodes_(nodes),
        constants_(constants),
        start_(std::move(start)),
        unmet_nodes_(nodes),
        unmet_constants_(constants) {}

  // The nodes in the order of their use by `results`, before `before`.
  std::vector<Node*> Order(absl::Span<Value* const> results, Node* before) {
    for (Value* result : results) {
      if (!result) continue;
      Read(result);
      Follow();
    }
    for (Node* node : nodes_) {
      Enter(node);
      Follow();
    }
    if (node_order_ != nodes_) {
      for (Node* node : node_order_) graph_.MoveBefore(node, before);
    }
    OrderConstants();
    return std::move(node_order_);
  }

 private:
  struct Step {
    Node* node;
    std::vector<Value*> reads = {};
    size_t next = 0;
  };

  // Constants that nothing reads stay where they are.
  void OrderConstants() {
    if (constant_order_.size() < 2) return;
    const absl::flat_hash_set<const Value*> read(constant_order_.begin(), constant_order_.end());
    std::vector<Value*> as_made;
    std::copy_if(constants_.begin(), constants_.end(), std::back_inserter(as_made),
                 [&](const Value* constant) { return read.contains(constant); });
    if (constant_order_ == as_made) return;
    PutLast(graph_, constant_order_);
    NumberInOrder(graph_, constant_order_, start_);
  }

  void Enter(Node* node) {
    if (!node || !unmet_nodes_.Meet(node)) return;
    path_.push_back({node});
    AppendReads(*node, &graph_, path_.back().reads);
  }

  void Read(Value* value) {
    if (unmet_constants_.Meet(value)) {
      constant_order_.push_back(value);
    } else {
      Enter(value->producer());
    }
  }

  void Follow() {
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next < step.reads.size()) {
        Read(step.reads[step.next++]);
      } else {
        node_order_.push_back(step.node);
        path_.pop_back();
      }
    }
  }

  Graph& graph_;
  const std::vector<Node*>& nodes_;
  const std::vector<Value*>& constants_;
  const std::string start_;
  Unmet<Node> unmet_nodes_;
  Unmet<Value> unmet_constants_;
  std::vector<Node*> node_order_;
  std::vector<Value*> constant_order_;
  std::vector<Step> path_;
};

// Nested graphs that were made with the node: values of source files and of earlier rewrites have
// names.
void OrderNewBodies(Node& node) {
  if (!node.has_subgraphs()) return;
  for (Graph* body : node.subgraphs()) {
    std::vector<Node*> nodes;
    bool is_new = true;
    for (Node* each = body->first(); each && is_new; each = each->next()) {
      nodes.push_back(each);
      for (const Value* output : each->outputs())
        is_new = is_new && (!output || output->name().empty());
    }
    if (!is_new || nodes.empty()) continue;
    for (Node* each : nodes) OrderNewBodies(*each);
    const std::vector<Value*> constants = body->constants();
    ByUse(*body, nodes, constants, "").Order(body->outputs(), nullptr);
  }
}

}  // namespace

void Builder::PutInOrderOfUse(absl::Span<Value* const> results) {
  for (x2ir::Node* node : at_.made) OrderNewBodies(*node);
  if (at_.made.size() + at_.constants.size() < 2) return;
  // As Constant makes names.
  std::string start = at_.name_hint.empty() && at_.hint_of ? HintOf(*at_.hint_of) : at_.name_hint;
  if (!start.empty()) start += "_";
  std::vector<x2ir::Node*> order =
      ByUse(*at_.graph, at_.made, at_.constants, std::move(start)).Order(results, at_.before);
  at_.made = std::move(order);
}

}  // namespace x2ir
