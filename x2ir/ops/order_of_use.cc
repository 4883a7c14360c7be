// The order of what a builder made.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/builder.h"

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

// Of names that differ in their number alone, the first value has the least number, and so on.
void NumberInOrder(Graph& graph, const std::vector<Value*>& constants) {
  StringMap<std::vector<Value*>> alike;
  for (Value* constant : constants) {
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

}  // namespace

void Builder::PutInOrderOfUse(absl::Span<Value* const> results) {
  std::vector<x2ir::Node*>& made = at_.made;
  if (made.size() + at_.constants.size() < 2) return;
  Unmet<x2ir::Node> nodes(made);
  Unmet<Value> constants(at_.constants);
  std::vector<x2ir::Node*> order;
  std::vector<Value*> constants_in_order;
  struct Step {
    x2ir::Node* node;
    std::vector<Value*> reads;
    size_t next = 0;
  };
  std::vector<Step> path;
  const auto enter = [&](x2ir::Node* node) {
    if (!node || !nodes.Meet(node)) return;
    path.push_back({node, {}});
    AppendReads(*node, at_.graph, path.back().reads);
  };
  const auto read = [&](Value* value) {
    if (constants.Meet(value)) {
      constants_in_order.push_back(value);
    } else {
      enter(value->producer());
    }
  };
  const auto follow = [&] {
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next < step.reads.size()) {
        read(step.reads[step.next++]);
      } else {
        order.push_back(step.node);
        path.pop_back();
      }
    }
  };
  for (Value* result : results) {
    if (!result) continue;
    read(result);
    follow();
  }
  for (x2ir::Node* node : made) {
    enter(node);
    follow();
  }
  if (order != made) {
    for (x2ir::Node* node : order) at_.graph->MoveBefore(node, at_.before);
    made = std::move(order);
  }
  if (constants_in_order.size() > 1) NumberInOrder(*at_.graph, constants_in_order);
}

}  // namespace x2ir
