#include "x2ir/view/outline.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "x2ir/formats/module_path.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using Kind = Outline::Kind;

// How long a block may be whose repetition is looked for in a list, and how often one may turn out
// to be none.
constexpr size_t kLongestBlock = 256;
constexpr size_t kMaxFailures = 100;

struct Child {
  bool is_group;
  int id;  // of a group or an item
};

class OutlineBuilder {
 public:
  explicit OutlineBuilder(const Graph& graph) {
    AddGroup(Kind::kModel, graph.name(), -1);
    graphs_.push_back({&graph, 0});
    while (!graphs_.empty()) {
      const auto [next, group] = graphs_.front();
      graphs_.pop_front();
      AddGraph(*next, group);
    }
  }

  Outline Run() {
    // Groups have smaller numbers than those within them.
    for (size_t g = groups_.size(); g-- > 0;) Shorten(static_cast<int>(g));
    for (size_t g = groups_.size(); g-- > 0;) {
      size_of_[g] = CountNodes(children_[g]);
      FoldRepeats(static_cast<int>(g));
    }
    for (size_t g = 0, n = groups_.size(); g < n; ++g) Split(static_cast<int>(g));
    return Numbered();
  }

 private:
  int AddGroup(Kind kind, std::string_view name, int parent) {
    Outline::Group group;
    group.kind = kind;
    group.name = std::string(name);
    group.parent = parent;
    groups_.push_back(std::move(group));
    children_.emplace_back();
    attached_.push_back(false);
    size_of_.push_back(0);
    hash_of_.push_back(0);
    return static_cast<int>(groups_.size()) - 1;
  }

  int AddItem(Outline::Item item) {
    outline_.items.push_back(item);
    return static_cast<int>(outline_.items.size()) - 1;
  }

  // --- The tree as names say it -----------------------------------------------------------------

  void AddGraph(const Graph& graph, int root) {
    modules_.clear();
    types_.clear();
    const auto modules = ModulesOf(graph);
    if (modules) AddTypes(*modules);
    node_names_.clear();
    for (const Node* node : graph.nodes()) {
      if (!node->name().empty()) node_names_.insert(node->name());
    }
    for (const Value* input : graph.inputs()) {
      children_[root].push_back({false, AddItem({Outline::ItemKind::kInput, nullptr, input})});
    }
    absl::flat_hash_map<const Node*, int> places;
    for (const Node* node : graph.nodes()) {
      places[node] = ModuleOf(*node, modules.has_value(), root);
    }
    for (const Node* node : graph.nodes()) {
      int& group = places[node];
      if (group == root) group = PlaceBetween(*node, places, root);
      for (int g = group; g != root && !attached_[g]; g = groups_[g].parent) {
        attached_[g] = true;
        children_[groups_[g].parent].push_back({true, g});
      }
      const int item = AddItem({Outline::ItemKind::kNode, node});
      outline_.item_of[node] = item;
      const std::vector<const Graph*> nested = node->subgraphs();
      if (nested.empty()) {
        children_[group].push_back({false, item});
        continue;
      }
      const int owner = AddGroup(Kind::kOwner, node->name(), group);
      groups_[owner].item = item;
      children_[group].push_back({true, owner});
      for (const Graph* inner : nested) {
        const int below = AddGroup(Kind::kGraph, inner->name(), owner);
        children_[owner].push_back({true, below});
        graphs_.push_back({inner, below});
      }
    }
    for (const Value* output : graph.outputs()) {
      children_[root].push_back({false, AddItem({Outline::ItemKind::kOutput, nullptr, output})});
    }
  }

  static std::string KeyOf(absl::Span<const std::string> path) {
    std::string key;
    for (const std::string& part : path) StrAppend(&key, part, "\n");
    return key;
  }

  void AddTypes(const std::vector<NamedScope>& scopes) {
    for (const NamedScope& scope : scopes) {
      if (!scope.type.empty()) types_.try_emplace(KeyOf(scope.path), scope.type);
    }
  }

  // What a node became that is several ops here is called after it: "block/conv" and
  // "block/conv/pad" (ops/splice.h). Such a name is of no module, but of the node.
  bool IsPartOfNode(const Node& node) const {
    const std::string_view name = node.name();
    const size_t slash = name.rfind('/');
    if (slash == name.npos || !node_names_.contains(name.substr(0, slash))) return false;
    std::string_view last = name.substr(slash + 1);
    const std::string_view op = node.op().view();
    if (!last.starts_with(op)) return false;
    last.remove_prefix(op.size());
    return last.empty() || (last[0] == '_' && last.find_first_not_of("0123456789", 1) == last.npos);
  }

  int ModuleOf(const Node& node, bool of_torch, int root) {
    const std::vector<NamedScope> scopes = ScopesOf(node);
    AddTypes(scopes);
    ModulePath path = scopes.empty() ? ModuleInName(node, of_torch) : scopes.back().path;
    if (scopes.empty() && !path.empty() && IsPartOfNode(node)) path.pop_back();
    if (path.empty() && of_torch) {  // "features.0.1": the node is all of that module
      path = SplitName(node.name());
      if (!path.empty()) path.pop_back();
    }
    int group = root;
    std::string key;
    for (const std::string& part : path) {
      StrAppend(&key, part, "\n");
      int& found = modules_.try_emplace(key, -1).first->second;
      if (found < 0) {
        found = AddGroup(Kind::kModule, part, group);
        if (const auto it = types_.find(key); it != types_.end()) {
          groups_[found].type = it->second.substr(it->second.rfind('.') + 1);
        }
      }
      group = found;
    }
    return group;
  }

  // The group of a node without a name: that of the nodes that it is connected to.
  int PlaceBetween(const Node& node, const absl::flat_hash_map<const Node*, int>& places,
                   int root) const {
    int place = -1;
    const auto add = [&](const Node* other) {
      const auto it = places.find(other);
      int group = it == places.end() ? root : it->second;
      if (place < 0) place = group;
      while (place != group) {  // the smaller number is not within the other
        int& inner = place > group ? place : group;
        inner = groups_[inner].parent;
      }
    };
    for (const Value* operand : node.inputs()) {
      if (operand && !operand->fixed_constant()) add(operand->producer());
    }
    for (const Value* result : node.outputs()) {
      if (!result) continue;
      if (result->is_graph_output()) return root;
      for (const Use& use : result->uses()) {
        if (place == root) return root;
        add(use.node);
      }
    }
    return place < 0 ? root : place;
  }

  // Modules of one child are that child.
  void Shorten(int group) {
    for (Child& child : children_[group]) {
      if (!child.is_group || groups_[child.id].kind != Kind::kModule) continue;
      std::vector<Child>& within = children_[child.id];
      if (within.size() != 1) continue;
      const Child only = within[0];
      if (only.is_group && groups_[only.id].kind == Kind::kModule) {
        groups_[only.id].name = StrCat(groups_[child.id].name, ".", groups_[only.id].name);
      }
      within.clear();
      child = only;
    }
  }

  // --- What repeats -----------------------------------------------------------------------------

  size_t CountNodes(absl::Span<const Child> children) const {
    size_t count = 0;
    for (const Child& child : children) count += child.is_group ? size_of_[child.id] : 1;
    return count;
  }

  // What a node does by itself: all but its name and its operands.
  size_t SignatureOf(int item) {
    const Node* node = outline_.items[item].node;
    if (!node) return absl::HashOf(-1, item);  // no two ports are alike
    if (signature_of_.size() < outline_.items.size()) signature_of_.resize(outline_.items.size());
    size_t& hash = signature_of_[item];
    if (hash != 0) return hash;
    hash = absl::HashOf(node->dialect(), node->op(), node->num_inputs(), node->num_outputs());
    for (const auto& [name, attr] : node->attrs()) {
      hash = absl::HashOf(hash, name, AttributeText(attr));
    }
    for (const Value* output : node->outputs()) {
      hash = absl::HashOf(hash, output ? output->type().ToString() : "");
    }
    return hash;
  }

  void AppendItems(const Child& child, std::vector<int>* items) const {
    std::vector<Child> todo = {child};
    while (!todo.empty()) {
      const Child next = todo.back();
      todo.pop_back();
      if (!next.is_group) {
        items->push_back(next.id);
        continue;
      }
      // A node with nested graphs is like no other.
      if (groups_[next.id].kind == Kind::kOwner) items->push_back(groups_[next.id].item);
      todo.insert(todo.end(), children_[next.id].rbegin(), children_[next.id].rend());
    }
  }

  // The same for two blocks that do the same on other operands and with other weights.
  size_t HashOf(absl::Span<const Child> block) {
    std::vector<int> items;
    for (const Child& child : block) AppendItems(child, &items);
    absl::flat_hash_map<const Value*, size_t> number;  // of what is used or made, as it comes up
    size_t hash = items.size();
    for (const int item : items) {
      const Node* node = outline_.items[item].node;
      hash = absl::HashOf(hash, SignatureOf(item), node && node->has_subgraphs() ? item : 0);
      for (size_t i = 0; node && i < node->num_inputs(); ++i) {
        const Value* operand = node->input(i);
        const Tensor* constant = operand ? operand->fixed_constant() : nullptr;
        hash = constant ? absl::HashOf(hash, constant->type().ToString())
               : operand
                   ? absl::HashOf(hash, number.try_emplace(operand, number.size()).first->second)
                   : absl::HashOf(hash, 'n');
      }
      for (const Value* output : node ? node->outputs() : absl::Span<Value* const>()) {
        number.try_emplace(output, number.size());
      }
    }
    return hash;
  }

  size_t HashOf(const Child& child) {
    if (!child.is_group) return SignatureOf(child.id);
    size_t& hash = hash_of_[child.id];
    if (hash == 0) hash = HashOf(absl::MakeConstSpan(&child, 1));
    return hash;
  }

  struct Repeat {
    size_t period = 0, count = 0;
    size_t length() const { return period * count; }
  };

  // The longest run of equal blocks that begins at each place, as far as hashes of single children
  // tell.
  std::vector<Repeat> FindRuns(const std::vector<Child>& list) {
    const size_t n = list.size();
    std::vector<size_t> hash(n), nodes_before(n + 1);
    for (size_t i = 0; i < n; ++i) {
      hash[i] = HashOf(list[i]);
      nodes_before[i + 1] = nodes_before[i] + CountNodes(absl::MakeConstSpan(&list[i], 1));
    }
    std::vector<Repeat> runs(n);
    for (size_t period = 1; period <= std::min(kLongestBlock, n / 2); ++period) {
      size_t equal = 0;
      for (size_t i = n - period; i-- > 0;) {
        equal = hash[i] == hash[i + period] ? equal + 1 : 0;
        const Repeat run{period, equal / period + 1};
        if (run.count < 2 || run.length() <= runs[i].length()) continue;
        const size_t nodes = nodes_before[i + period] - nodes_before[i];
        const size_t least = period == 1 && list[i].is_group ? 2 : run.count > 2 ? 3 : 6;
        if (nodes >= least) runs[i] = run;
      }
    }
    return runs;
  }

  void FoldRepeats(int group) {
    const std::vector<Child> list = children_[group];
    if (list.size() < 2 || groups_[group].kind == Kind::kOwner) return;
    const std::vector<Repeat> runs = FindRuns(list);
    std::vector<Child> folded;
    size_t failures = 0;
    for (size_t i = 0; i < list.size();) {
      Repeat run = runs[i];
      if (run.count >= 2 && run.period > 1 && failures < kMaxFailures) {
        // Hashes of nodes do not say how these are connected.
        const absl::Span<const Child> all(list);
        const size_t first = HashOf(all.subspan(i, run.period));
        size_t same = 1;
        while (same < run.count &&
               HashOf(all.subspan(i + same * run.period, run.period)) == first) {
          ++same;
        }
        if (same < run.count) ++failures;
        run.count = same;
      }
      if (run.count < 2 || failures == kMaxFailures) {
        folded.push_back(list[i++]);
        continue;
      }
      const absl::Span<const Child> repeated =
          absl::Span<const Child>(list).subspan(i, run.length());
      i += run.length();
      if (run.length() == list.size() && groups_[group].kind == Kind::kModule) {
        MakeRepeat(group, repeated, run);
        return;
      }
      const int repeat = AddGroup(Kind::kRepeat, "", group);
      MakeRepeat(repeat, repeated, run);
      folded.push_back({true, repeat});
    }
    children_[group] = std::move(folded);
  }

  // Makes a group the repeat of blocks.
  void MakeRepeat(int group, absl::Span<const Child> repeated, const Repeat& run) {
    groups_[group].kind = Kind::kRepeat;
    groups_[group].count = static_cast<int>(run.count);
    std::vector<Child> blocks;
    for (size_t k = 0; k < run.count; ++k) {
      const absl::Span<const Child> block = repeated.subspan(k * run.period, run.period);
      if (run.period == 1) {
        blocks.push_back(block[0]);
        continue;
      }
      const int made = AddGroup(Kind::kBlock, StrCat("block ", k + 1), group);
      children_[made].assign(block.begin(), block.end());
      size_of_[made] = CountNodes(block);
      FoldRepeats(made);
      blocks.push_back({true, made});
    }
    if (groups_[group].name.empty()) {
      groups_[group].name = run.period > 1 ? "blocks"
                                           : StrCat(groups_[blocks.front().id].name, " … ",
                                                    groups_[blocks.back().id].name);
      if (run.period == 1) groups_[group].type = groups_[blocks.front().id].type;
    }
    children_[group] = std::move(blocks);
    size_of_[group] = CountNodes(children_[group]);
  }

  // --- Long lists, and the result
  // -----------------------------------------------------------------

  int AddPart(int group, absl::Span<const Child> list, size_t number) {
    const int part = AddGroup(Kind::kPart, StrCat("part ", number), group);
    children_[part].assign(list.begin(), list.end());
    return part;
  }

  // Nodes between modules in parts, and where that is not enough, all of the list, until it is
  // short.
  void Split(int group) {
    if (children_[group].size() <= Outline::kMaxChildren) return;
    const std::vector<Child> whole = std::move(children_[group]);
    std::vector<Child> list;
    size_t parts = 0;
    for (size_t i = 0; i < whole.size();) {
      size_t end = i;
      while (end < whole.size() && !whole[end].is_group && end - i < Outline::kMaxChildren) ++end;
      if (end - i < 2) {
        list.push_back(whole[i++]);
        continue;
      }
      list.push_back(
          {true, AddPart(group, absl::MakeConstSpan(whole).subspan(i, end - i), ++parts)});
      i = end;
    }
    while (list.size() > Outline::kMaxChildren) {
      const size_t count = (list.size() + Outline::kMaxChildren - 1) / Outline::kMaxChildren;
      std::vector<Child> split;
      for (size_t k = 0; k < count; ++k) {
        const size_t begin = k * list.size() / count, end = (k + 1) * list.size() / count;
        split.push_back(
            {true, AddPart(group, absl::MakeConstSpan(list).subspan(begin, end - begin), k + 1)});
      }
      list = std::move(split);
    }
    children_[group] = std::move(list);
  }

  // Without groups that are now empty, in their order.
  Outline Numbered() {
    struct Place {
      Child child;
      int parent;
    };
    std::vector<Place> todo = {{{true, 0}, -1}};
    while (!todo.empty()) {
      const auto [child, parent] = todo.back();
      todo.pop_back();
      if (!child.is_group) {
        outline_.items[child.id].group = parent;
        continue;
      }
      Outline::Group group = std::move(groups_[child.id]);
      group.parent = parent;
      const int number = static_cast<int>(outline_.groups.size());
      if (group.item >= 0) outline_.items[group.item].group = number;
      outline_.groups.push_back(std::move(group));
      const std::vector<Child>& within = children_[child.id];
      for (auto it = within.rbegin(); it != within.rend(); ++it) todo.push_back({*it, number});
    }
    return std::move(outline_);
  }

  Outline outline_;
  std::deque<std::pair<const Graph*, int>> graphs_;  // to be added, each to a group
  std::vector<Outline::Group> groups_;
  std::vector<std::vector<Child>> children_;
  std::vector<bool> attached_;   // modules that are among the children of theirs
  std::vector<size_t> size_of_;  // nodes and ports in a group
  std::vector<size_t> hash_of_;  // of groups; 0: not known yet
  std::vector<size_t> signature_of_;
  absl::flat_hash_set<std::string_view> node_names_;  // of the graph at hand
  StringMap<int> modules_;                            // the same, by path
  StringMap<std::string> types_;                      // the same
};

}  // namespace

Outline OutlineOf(const Graph& graph) { return OutlineBuilder(graph).Run(); }

}  // namespace x2ir
