// common_subexpressions: what is there twice is there once.
//  1. Of two nodes of the same op with the same attributes and operands the later one is removed.
//     Ops that are no function of their operands stay, and those with graphs, and
//     dequantize_linear, which belongs to the op that uses it.
//  2. Of two constants of the same type with the same bytes, of which no format says different
//     things (Annotations::extra), one goes. Weights are compared only where type, size and a
//     sample of their bytes agree, and then each is read once.
//  3. Two values that inference knows to have the same elements, symbolic ones included, are one
//     (the shape of two tensors of the same shape).
// Where modules of the source are kept (PassContext), nodes of different modules are not merged.
// Nodes of outer graphs count as earlier. Where two outputs of the graph are the same, both stay,
// since both have a name.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/pass.h"
#include "x2ir/optimizer/weights.h"

namespace x2ir {
namespace {

// --- Keys -----------------------------------------------------------------------------------

size_t HashOfTensor(const Tensor& tensor) {
  return absl::HashOf(static_cast<int>(tensor.dtype()), tensor.dims(), tensor.nbytes());
}

// Equal attributes have equal hashes; what is costly to look into counts by its kind alone.
size_t HashOfAttribute(const Attribute& attr) {
  if (auto* v = attr.get<int64_t>()) return absl::HashOf(*v);
  if (auto* v = attr.get<float>()) return absl::HashOf(absl::bit_cast<uint32_t>(*v));
  if (auto* v = attr.get<std::string>()) return absl::HashOf(*v);
  if (auto* v = attr.get<Attribute::Ints>()) return absl::HashOf(*v);
  if (auto* v = attr.get<Tensor>()) return HashOfTensor(*v);
  return static_cast<size_t>(attr.kind());
}

size_t HashOfNode(const Node& node) {
  size_t hash = absl::HashOf(node.op(), node.num_inputs());
  for (size_t i = 0; i < node.num_inputs(); ++i) hash = absl::HashOf(hash, node.input(i));
  // Attributes count in any order.
  size_t attrs = 0;
  for (const auto& [name, attr] : node.attrs()) attrs += absl::HashOf(name, HashOfAttribute(attr));
  return absl::HashOf(hash, attrs);
}

// "/layers.0/attention" of "/layers.0/attention/MatMul".
std::string_view ScopeOf(std::string_view name) {
  const size_t slash = name.rfind('/');
  return name.substr(0, slash == name.npos ? 0 : slash);
}

bool EqualNodes(const Node& a, const Node& b) {
  if (a.op() != b.op() || a.num_inputs() != b.num_inputs()) return false;
  for (size_t i = 0; i < a.num_inputs(); ++i) {
    if (a.input(i) != b.input(i)) return false;
  }
  if (a.attrs().size() != b.attrs().size()) return false;
  return std::all_of(a.attrs().begin(), a.attrs().end(), [&](const auto& entry) {
    const Attribute* other = b.attrs().Find(entry.first);
    return other && *other == entry.second;
  });
}

bool MayMerge(const Node& node) {
  if (!node.is_ir() || node.has_subgraphs()) return false;
  // Each quantized op has its own dequantize_linear, or runtimes do not see that it is one.
  const OpDef* def = FindOp(node.op());
  return def && !def->impure() && !def->quantized_unit();
}

// The ends and the middle of the bytes.
size_t Sample(const Tensor& tensor) {
  if (tensor.is_string()) return absl::HashOf(tensor.strings());
  constexpr size_t kPart = 64;
  const size_t size = tensor.nbytes();
  const auto part = [&](size_t at) {
    std::array<std::byte, kPart> bytes = {};
    tensor.Read(at, absl::MakeSpan(bytes.data(), std::min(kPart, size - at)));
    return absl::HashOf(bytes);
  };
  if (size == 0) return 0;
  const SparseReads reads(tensor);
  return absl::HashOf(part(0), part(size / 2), part(size - std::min(kPart, size)));
}

size_t HashOfBytes(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  const size_t hash =
      absl::HashOf(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  DropPages(tensor);
  return hash;
}

bool HasKnownElements(const Node& node) {
  const Value* value = node.num_outputs() == 1 ? node.output(0) : nullptr;
  return value && value->elements() && value->shape() &&
         std::none_of(value->elements()->begin(), value->elements()->end(),
                      [](const Dim& dim) { return dim.is_unknown(); });
}

size_t HashOfElements(const Value& value) {
  size_t hash = absl::HashOf(static_cast<int>(value.dtype()), value.elements()->size());
  for (const Dim& dim : *value.elements()) {
    hash = dim.is_static() ? absl::HashOf(hash, dim.value()) : absl::HashOf(hash, dim.ToString());
  }
  return hash;
}

bool EqualElements(const Value& a, const Value& b) {
  return a.dtype() == b.dtype() && a.shape()->rank() == b.shape()->rank() &&
         std::equal(a.elements()->begin(), a.elements()->end(), b.elements()->begin(),
                    b.elements()->end(),
                    [](const Dim& x, const Dim& y) { return ProvablyEqual(x, y); });
}

// --- Scopes ---------------------------------------------------------------------------------

// What was seen so far in this graph and in those around it, by hash. Entries of a nested graph
// go when it ends.
template <typename T>
class Seen {
 public:
  // One of that hash that is equal, or null.
  template <typename Equal>
  T* Find(size_t hash, const Equal& equal) const {
    const auto it = last_.find(Key(hash));
    for (uint32_t i = it == last_.end() ? kNone : it->second; i != kNone; i = items_[i].before) {
      if (equal(*items_[i].item)) return items_[i].item;
    }
    return nullptr;
  }
  void Add(size_t hash, T* item) {
    const auto [it, fresh] = last_.try_emplace(Key(hash), kNone);
    items_.push_back({item, Key(hash), it->second});
    it->second = static_cast<uint32_t>(items_.size() - 1);
  }
  size_t size() const { return items_.size(); }
  void Shrink(size_t size) {
    for (; items_.size() > size; items_.pop_back()) last_[items_.back().key] = items_.back().before;
  }

 private:
  // Half of the hash makes half of a table, which in large graphs is more than what a comparison
  // in vain now and then costs.
  static uint32_t Key(uint64_t hash) { return static_cast<uint32_t>(hash ^ (hash >> 32)); }
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Item {
    T* item;
    uint32_t key;
    uint32_t before;  // the one before of the same key
  };
  absl::flat_hash_map<uint32_t, uint32_t> last_;  // of each key
  std::vector<Item> items_;
};

class Merger {
 public:
  explicit Merger(const PassContext& context) : context_(context) {}

  int64_t Merge(Graph& graph) {
    const size_t nodes = nodes_.size(), constants = constants_.size(), values = values_.size();
    int64_t changes = MergeConstants(graph);
    Lookahead ahead(graph);
    for (Node* node : graph.nodes()) {
      ahead.Step();
      for (Graph* inner : node->subgraphs()) changes += Merge(*inner);
      node->set_scratch(static_cast<uint32_t>(visited_.size()));
      visited_.push_back(node);
      if (MayMerge(*node)) changes += MergeNode(graph, node);
    }
    nodes_.Shrink(nodes);
    constants_.Shrink(constants);
    values_.Shrink(values);
    return changes;
  }

 private:
  // Whether `from` may be removed and `to` get its uses.
  static bool MayReplace(const Value& from, const Value& to) {
    return !from.is_graph_output() ||
           (to.producer() && to.graph() == from.graph() && !to.is_graph_output());
  }

  int64_t MergeConstants(Graph& graph) {
    int64_t changes = 0;
    for (Value* value : graph.constants()) {
      const Tensor& tensor = *value->constant();
      if (tensor.is_sparse() || value->is_graph_output() || value->is_unused()) continue;
      const size_t hash = StaysInFile(tensor, context_)
                              ? absl::HashOf(tensor.data_id())
                              : absl::HashOf(HashOfTensor(tensor), Sample(tensor));
      Value* first =
          constants_.Find(hash, [&](const Value& other) { return EqualConstants(other, *value); });
      if (!first) {
        constants_.Add(hash, value);
        continue;
      }
      graph.ReplaceAllUses(value, first);
      graph.RemoveConstant(value);
      ++changes;
    }
    return changes;
  }

  bool EqualConstants(const Value& a, const Value& b) {
    const Tensor &x = *a.constant(), &y = *b.constant();
    if (x.dtype() != y.dtype() || x.dims() != y.dims()) return false;
    if (!SameExtra(a, b)) return false;
    if (x.is_string()) return x.strings() == y.strings();
    if (x.nbytes() != y.nbytes()) return false;
    if (x.data_id() == y.data_id()) return true;
    if (StaysInFile(x, context_) || StaysInFile(y, context_)) return false;
    constexpr size_t kSmall = 4096;
    if (x.nbytes() > kSmall && Content(a) != Content(b)) return false;
    const bool equal =
        x.nbytes() == 0 || std::memcmp(x.bytes().data(), y.bytes().data(), x.nbytes()) == 0;
    DropPages(x);
    DropPages(y);
    return equal;
  }

  static bool SameExtra(const Value& a, const Value& b) {
    static const auto* const none = new Annotations;
    const Annotations *x = a.annotations().get(), *y = b.annotations().get();
    return (x ? x : none)->extra == (y ? y : none)->extra;
  }

  size_t Content(const Value& value) {
    const auto [it, fresh] = contents_.try_emplace(&value, 0);
    if (fresh) it->second = HashOfBytes(*value.constant());
    return it->second;
  }

  // Whether one module of the source has both.
  bool MayBeOne(const Node& a, const Node& b) const {
    return !context_.keeps_modules || ScopeOf(a.name()) == ScopeOf(b.name());
  }

  // Two nodes on the same operands both use them: one that alone uses an operand is the only one.
  // Most are, and are not kept.
  static bool MayHaveTwin(const Node& node) {
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (node.input(i) && node.input(i)->uses().size() == 1) return false;
    }
    return true;
  }
  // A visited node's scratch number is its place.
  bool WasVisited(const Node& node) const {
    return node.scratch() < visited_.size() && visited_[node.scratch()] == &node;
  }

  // What alone used the older value is no longer alone, and is kept from now on if it came before.
  void Replace(Graph& graph, Value* value, Value* older) {
    Node* user = older->uses().size() == 1 ? older->uses()[0].node : nullptr;
    ReplaceUsesByOlder(graph, value, older);
    if (!user || user == value->producer() || user->graph() != &graph) return;
    if (WasVisited(*user) && MayMerge(*user) && MayHaveTwin(*user)) {
      nodes_.Add(HashOfNode(*user), user);
    }
  }

  void Erase(Graph& graph, Node* node) {
    visited_[node->scratch()] = nullptr;
    graph.EraseUnused(node);
  }

  // Removed values must not be in the table. Constants stay, and are dead code then.
  int64_t MergeNode(Graph& graph, Node* node) {
    const bool known = HasKnownElements(*node);
    const size_t elements = known ? HashOfElements(*node->output(0)) : 0;
    if (known) {
      Value* value = node->output(0);
      Value* first =
          values_.Find(elements, [&](const Value& other) { return EqualElements(other, *value); });
      if (first && MayReplace(*value, *first)) {
        Replace(graph, value, first);
        Erase(graph, node);
        return 1;
      }
    }
    if (MayHaveTwin(*node)) {
      const size_t hash = HashOfNode(*node);
      const Node* first = nodes_.Find(hash, [&](const Node& other) {
        return EqualNodes(other, *node) && MayBeOne(other, *node);
      });
      if (first && MayReplaceAll(*node, *first)) {
        for (size_t i = 0; i < node->num_outputs(); ++i) {
          if (node->output(i)) Replace(graph, node->output(i), first->output(i));
        }
        Erase(graph, node);
        return 1;
      }
      nodes_.Add(hash, node);
    }
    if (known) values_.Add(elements, node->output(0));
    return 0;
  }

  static bool MayReplaceAll(const Node& from, const Node& to) {
    for (size_t i = 0; i < from.num_outputs(); ++i) {
      if (from.output(i) && (!to.output(i) || !MayReplace(*from.output(i), *to.output(i)))) {
        return false;
      }
    }
    return true;
  }

  Seen<Node> nodes_;  // that may have twins
  Seen<Value> constants_, values_;
  std::vector<const Node*> visited_;  // null: gone
  const PassContext& context_;
  absl::flat_hash_map<const Value*, size_t> contents_;
};

absl::StatusOr<int64_t> MergeAll(Graph& graph, const PassContext& context) {
  return Merger(context).Merge(graph);
}

X2IR_PASS(common_subexpressions, "Merges nodes that compute the same, and equal constants.",
          MergeAll);

}  // namespace
}  // namespace x2ir
