#include "x2ir/optimizer/transpose/region.h"

#include <algorithm>
#include <map>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/transpose/folds.h"

namespace x2ir {
namespace {

// What counts: transposes first, then other nodes.
constexpr int64_t kNodeCost = 2;
constexpr int64_t kTranspose = 16;
// A constant of more elements is not free to change order where others use it as it is.
constexpr int64_t kMaxFreeElements = 4096;
constexpr int kNoVertex = -1;
// Fixed producers with more uses are not asked who else uses them.
constexpr size_t kManyUses = 1000;

bool IsFree(const Value& value) {
  const Tensor* tensor = value.fixed_constant();
  return tensor && (tensor->num_elements() <= kMaxFreeElements || value.uses().size() == 1);
}

// From an operand of lower rank to `p`: whether its own axes keep their order.
bool KeepsOwnOrder(const Perm& p, int64_t before) {
  int64_t last = -1;
  for (int64_t axis : p) {
    if (axis < before) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

int64_t TransposeCost(const Value& value, const Perm& held, const Perm& wanted) {
  if (held == wanted || IsFree(value)) return 0;
  const Shape from = Permuted(*value.shape(), held);
  const Shape to = Permuted(*value.shape(), wanted);
  const Perm p = Compose(held.empty() ? held : Inverse(held), wanted);
  return MovesOnlyOnes(from, p) && ReshapeTarget(from, to) ? kNodeCost : kTranspose;
}

}  // namespace

int Region::VertexOf(const Node* node) const {
  auto it = vertex_of_.find(node);
  return it == vertex_of_.end() ? kNoVertex : it->second;
}

// --- Growing --------------------------------------------------------------------------------

void Region::Grow(Value* value, const Perm& p) {
  vertices_.clear();
  roots_.clear();
  values_.clear();
  vertex_of_.clear();
  seen_.clear();
  known_.clear();
  constants_.clear();
  work_ = 0;
  Visit(value, p);
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto [next, order] = values_[i];
    if (Node* producer = next->producer(); producer && next->graph() == &transposes_.graph()) {
      TryNode(producer, {true, next->output_index()}, order);
    }
    for (const Use& use : next->uses()) TryNode(use.node, {false, use.index}, order);
  }
}

void Region::Visit(Value* value, const Perm& p) {
  // A constant changes order without anyone else.
  if (p.empty() || value->fixed_constant() || RankOf(value) != static_cast<int64_t>(p.size()))
    return;
  if (seen_.insert(value).second) values_.emplace_back(value, p);
}

void Region::TryNode(Node* node, Slot slot, const Perm& p) {
  ++work_;
  if (!node->is_ir() || node->graph() != &transposes_.graph() || transposes_.Contains(node)) return;
  const auto [known, fresh] = vertex_of_.emplace(node, kNoVertex);
  if (!fresh && known->second != kNoVertex) return;
  std::optional<Flip> flip = FlipOf(*node, slot, p, target_);
  if (!flip) return;
  known->second = static_cast<int>(vertices_.size());
  for (size_t i = 0; i < flip->in.size(); ++i) {
    if (node->input(i)) Visit(node->input(i), flip->in[i]);
  }
  for (size_t i = 0; i < flip->out.size(); ++i) {
    if (node->output(i)) Visit(node->output(i), flip->out[i]);
  }
  vertices_.push_back({node, *std::move(flip)});
}

// --- Deciding -------------------------------------------------------------------------------

void Region::AddRoots() {
  const auto add = [&](Value* value) {
    if (Node* producer = value->producer(); producer && transposes_.Contains(producer)) {
      value = producer->input(0);
    }
    if (value->shape() && !IsFree(*value) && known_.insert(value).second) AddRoot(value);
  };
  for (const Vertex& vertex : vertices_) {
    for (Value* input : vertex.node->inputs()) {
      if (input) add(input);
    }
    for (Value* output : vertex.node->outputs()) {
      if (output) add(output);
    }
  }
}

void Region::AddRoot(Value* value) {
  Root root{value, -1, {}, {}};
  if (value->producer() && value->graph() == &transposes_.graph()) {
    root.vertex = VertexOf(value->producer());
    if (root.vertex >= 0) root.held = vertices_[root.vertex].flip.out[value->output_index()];
  }
  const bool few = root.vertex >= 0 || value->uses().size() <= kManyUses;
  for (const Use& use : value->uses()) {
    ++work_;
    if (!transposes_.Contains(use.node)) {
      if (few || VertexOf(use.node) >= 0) AddWant(root, use, {});
      continue;
    }
    const Perm order = Normalized(*PermOf(*use.node));
    const Value* transposed = use.node->output(0);
    for (const Use& user : transposed->uses()) AddWant(root, user, order);
    if (transposed->is_graph_output()) root.wants.push_back({-1, order, order});
  }
  if (value->is_graph_output()) root.wants.push_back({-1, {}, {}});
  roots_.push_back(std::move(root));
}

void Region::AddWant(Root& root, const Use& use, const Perm& order) {
  ++work_;
  Want want{VertexOf(use.node), order, order};
  if (want.vertex >= 0) {
    const Perm& flipped = vertices_[want.vertex].flip.in[use.index];
    if (static_cast<int64_t>(flipped.size()) == RankOf(root.value)) {
      want.then = Compose(order, flipped);
    }
  }
  if (want.now == want.then) want.vertex = -1;
  root.wants.push_back(std::move(want));
}

// Of the nodes that it needs itself, those that bring its operands to its rank, and those that its
// neighbours then take up.
int64_t Region::OwnCost(const Vertex& vertex) const {
  int64_t cost =
      (vertex.flip.cost + NodesLeftBy(*vertex.node, vertex.flip, transposes_)) * kNodeCost;
  for (size_t i = 0; i < vertex.flip.in.size(); ++i) {
    const Perm& p = vertex.flip.in[i];
    const Value* input = vertex.node->input(i);
    if (!input || p.empty()) continue;
    const int64_t rank = RankOf(input);
    if (input->fixed_constant()) {
      if (!IsFree(*input) && rank != static_cast<int64_t>(p.size())) cost += kTranspose / 2;
    } else if (rank != static_cast<int64_t>(p.size())) {
      cost += kNodeCost;
      if (!KeepsOwnOrder(p, static_cast<int64_t>(p.size()) - rank)) cost += kTranspose;
    }
  }
  return cost;
}

// An order that a user needs and the value does not have costs one transpose. The cut can say so
// but for two cases that do not matter: a node that wants, as it is, what its producer would give
// flipped, or the other way round. Cost() counts those too.
void Region::AddToCut(MinCut& cut, const Root& root) const {
  struct Wanted {
    bool always = false;
    std::vector<int> now, then;
  };
  std::map<Perm, Wanted> orders;
  for (const Want& want : root.wants) {
    if (want.vertex < 0) {
      orders[want.now].always = true;
    } else {
      orders[want.now].now.push_back(want.vertex);
      orders[want.then].then.push_back(want.vertex);
    }
  }
  const int producer = root.held.empty() ? MinCut::kNo : root.vertex;
  // `cost` when `a` is yes and any of `some` is no.
  const auto any_no = [&](int a, const std::vector<int>& some, int64_t cost) {
    if (some.empty() || cost == 0 || a == MinCut::kNo) return;
    const int any = cut.AddDecision();
    cut.YesNo(a, any, cost);
    for (int vertex : some) cut.YesNo(any, vertex, MinCut::kNever);
  };
  // `cost` when any of `some` is yes and `b` is no.
  const auto any_yes = [&](const std::vector<int>& some, int b, int64_t cost) {
    if (some.empty() || cost == 0) return;
    const int any = cut.AddDecision();
    for (int vertex : some) cut.YesNo(vertex, any, MinCut::kNever);
    cut.YesNo(any, b, cost);
  };
  for (const auto& [order, wanted] : orders) {
    const int64_t now = TransposeCost(*root.value, {}, order);
    const int64_t then = TransposeCost(*root.value, root.held, order);
    if (order.empty()) {
      if (wanted.always) {
        cut.YesNo(producer, MinCut::kNo, then);
      } else {
        any_no(producer, wanted.now, then);
      }
    } else if (order == root.held) {
      if (wanted.always) {
        cut.YesNo(MinCut::kYes, producer, now);
      } else {
        any_yes(wanted.then, producer, now);
      }
    } else if (!wanted.always) {
      any_no(MinCut::kYes, wanted.now, now);
      any_yes(wanted.then, MinCut::kNo, now);
    }
  }
}

int64_t Region::Cost(const std::function<bool(int)>& flipped) const {
  int64_t cost = 0;
  for (size_t i = 0; i < vertices_.size(); ++i) {
    if (flipped(static_cast<int>(i))) cost += OwnCost(vertices_[i]);
  }
  std::vector<const Perm*> wanted;
  for (const Root& root : roots_) {
    wanted.clear();
    const Perm none;
    const Perm& held = root.vertex >= 0 && flipped(root.vertex) ? root.held : none;
    for (const Want& want : root.wants) {
      const Perm& order = want.vertex >= 0 && flipped(want.vertex) ? want.then : want.now;
      const auto same = [&](const Perm* other) { return *other == order; };
      if (std::any_of(wanted.begin(), wanted.end(), same)) continue;
      wanted.push_back(&order);
      cost += TransposeCost(*root.value, held, order);
    }
  }
  return cost;
}

void Region::Choose() {
  MinCut cut(static_cast<int>(vertices_.size()));
  for (size_t i = 0; i < vertices_.size(); ++i) {
    const int64_t cost = OwnCost(vertices_[i]);
    cut.YesNo(static_cast<int>(i), MinCut::kNo, cost);
    cut.YesNo(MinCut::kYes, static_cast<int>(i), -cost);
  }
  for (const Root& root : roots_) AddToCut(cut, root);
  const std::vector<bool> yes = cut.Solve();
  for (size_t i = 0; i < vertices_.size(); ++i) vertices_[i].flipped = yes[i];
}

bool Region::Decide() {
  if (vertices_.empty()) return false;
  AddRoots();
  if (vertices_.size() == 1) {
    vertices_[0].flipped = true;  // nothing to choose from
  } else {
    Choose();
  }
  return Cost([&](int i) { return vertices_[i].flipped; }) < Cost([](int) { return false; });
}

// --- Applying -------------------------------------------------------------------------------

void Region::Apply() {
  std::vector<Value*> constants;
  for (Vertex& vertex : vertices_) {
    if (!vertex.flipped) continue;
    for (Value* input : vertex.node->inputs()) {
      if (input && input->fixed_constant()) constants.push_back(input);
    }
  }
  std::sort(constants.begin(), constants.end());
  constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
  // No value is removed before all are done, so that an address identifies one value.
  for (Vertex& vertex : vertices_) {
    if (vertex.flipped) FlipNode(vertex);
  }
  for (Value* constant : constants) {
    if (constant->is_unused()) constant->graph()->RemoveConstant(constant);
  }
}

void Region::FlipNode(Vertex& vertex) {
  Node& node = *vertex.node;
  const Flip& flip = vertex.flip;
  ChangeFlipped(node, flip);
  for (size_t i = 0; i < flip.in.size(); ++i) {
    if (node.input(i) && !flip.in[i].empty()) {
      node.SetInput(i, Adapted(node.input(i), flip.in[i], &node));
    }
  }
  for (size_t i = 0; i < flip.out.size(); ++i) {
    Value* output = node.output(i);
    if (!output || flip.out[i].empty()) continue;
    Type type = output->type();
    type.set_shape(Permuted(*output->shape(), flip.out[i]));
    transposes_.Insulate(output, Inverse(flip.out[i]));
    output->set_type(std::move(type));
  }
}

Value* Region::Adapted(Value* value, const Perm& p, Node* before) {
  Graph& graph = transposes_.graph();
  const int64_t rank = RankOf(value), more = static_cast<int64_t>(p.size()) - rank;
  if (const Tensor* tensor = value->fixed_constant(); tensor && !tensor->is_sparse()) {
    Value*& made = constants_[{value, p}];
    if (made) return made;
    std::vector<int64_t> dims(more, 1);
    dims.insert(dims.end(), tensor->dims().begin(), tensor->dims().end());
    Tensor moved = TransposeTensor(tensor->AlignedCopyIfNeeded().Reshaped(std::move(dims)), p);
    // Broadcasting puts ones before by itself.
    dims = moved.dims();
    while (more > 0 && static_cast<int64_t>(dims.size()) > rank && dims[0] == 1) {
      dims.erase(dims.begin());
    }
    made = graph.AddConstant(graph.UniqueName(StrCat(value->name(), "_transposed")),
                             moved.Reshaped(std::move(dims)));
    return made;
  }
  if (more == 0) return transposes_.Make(value, p);
  Builder b(graph, before);
  b.set_name_hint(value->name());
  std::vector<int64_t> axes;
  const bool in_order = KeepsOwnOrder(p, more);
  for (int64_t i = 0, first = -1; i < static_cast<int64_t>(p.size()); ++i) {
    if (!in_order) {
      if (i < more) axes.push_back(i);
    } else if (p[i] >= more) {
      if (first < 0) first = i;
    } else if (first >= 0) {
      axes.push_back(i - first);
    }
  }
  Value* unsqueezed = b.Op("unsqueeze", {value, b.Ints(axes, "axes")});
  for (Node* made : b.made()) graph.NameValues(made, StrCat(value->name(), "_unsqueeze"));
  return in_order ? unsqueezed : transposes_.Make(unsqueezed, p);
}

}  // namespace x2ir
