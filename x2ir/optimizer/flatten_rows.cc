// flatten_rows: where matrices of constant weights work on the rows of larger tensors, the tensors
// become matrices, and matmul and the add behind it can be one gemm.
//  1. From each matmul of [.., n, k] and a constant matrix with an add behind it, a region grows:
//     nodes that treat every row alike, so that they could as well work on [.. * n, k]: elementwise
//     ops, norms, reductions and splits of the last axis (RowUse). Those nodes change which
//     together save the most nodes: each matmul with its add is one less, each reshape at a border
//     one more, but where a reshape stands already. A minimum cut says which.
//  2. Reshapes are written with constants only: no more than one dim may be unknown where rows
//     become what they were.
// What stands between quantize_linear and dequantize_linear stays as it is. Runs where the target
// has gemm, before the pass of that name.
#include <algorithm>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/perm.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rule_util.h"
#include "x2ir/optimizer/transpose/min_cut.h"

namespace x2ir {
namespace {

// Regions end there; what is beyond is a region of its own. Cuts of large ones take long.
constexpr size_t kMaxVertices = 1024;
// Values of more users are not asked who they are.
constexpr size_t kMaxUses = 256;

RowUse RowsOf(const Node& node) {
  const OpDef* op = node.is_ir() ? FindOp(node.op()) : nullptr;
  return op ? op->rows() : RowUse::kNone;
}

// As a matrix.
Shape FlatShape(const Shape& shape) {
  const int64_t last = shape.rank() - 1;
  return Shape{shape.NumElements(0, last), shape[last]};
}

bool SameRows(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int64_t i = 0; i + 1 < a.rank(); ++i) {
    if (!ProvablyEqual(a[i], b[i])) return false;
  }
  return true;
}

bool IsReshape(const Node* node) { return node && node->Is("reshape"); }

// Operands and results that are matrices when the node is flat.
struct Vertex {
  Node* node;
  std::vector<bool> in;
  bool flat = false;
};

bool IsLast(int64_t axis, int64_t rank) { return axis == -1 || axis == rank - 1; }

// Whether another output than the first is wanted.
bool GivesMore(const Node& node) {
  for (size_t i = 1; i < node.num_outputs(); ++i) {
    if (node.output(i)) return true;
  }
  return false;
}

// nullopt where the node does not treat rows alike.
std::optional<Vertex> ReadVertex(Node* node) {
  const RowUse kind = RowsOf(*node);
  const Shape* out =
      node->num_outputs() > 0 && node->output(0) ? node->output(0)->shape() : nullptr;
  if (kind == RowUse::kNone || !out || out->rank() < 3) return std::nullopt;
  const int64_t rank = out->rank();
  for (const Value* output : node->outputs()) {
    if (!output && !node->Is("split")) continue;  // one that is left out
    if (!output || !output->shape() || !SameRows(*output->shape(), *out)) return std::nullopt;
    if (output->uses().size() > kMaxUses) return std::nullopt;
    for (const Use& use : output->uses()) {
      if (use.node->Is("quantize_linear")) return std::nullopt;
    }
  }
  Vertex vertex{node, std::vector<bool>(node->num_inputs(), false)};
  bool any = false;
  for (size_t i = 0; i < node->num_inputs(); ++i) {
    const Value* input = node->input(i);
    if (!input) continue;
    const Shape* shape = input->shape();
    if (!shape || (input->producer() && input->producer()->Is("dequantize_linear")) ||
        (input->fixed_constant() && !DenseConstant(input))) {
      return std::nullopt;
    }
    const bool same = shape->rank() == rank && SameRows(*shape, *out);
    if (i == 0 && kind != RowUse::kElementwise && !same) return std::nullopt;
    if (i > 0 && kind != RowUse::kElementwise) continue;
    vertex.in[i] = same;
    any |= same && !input->fixed_constant();
    if (same || shape->rank() <= 1) continue;
    // The same row for all.
    if (!DenseConstant(input) || shape->rank() > rank) return std::nullopt;
    for (int64_t axis = 0; axis + 1 < shape->rank(); ++axis) {
      if ((*shape)[axis] != Dim(1)) return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  switch (kind) {
    case RowUse::kMatMul: {
      const Tensor* w = DenseConstant(node->input(1));
      if (!w || w->rank() != 2) return std::nullopt;
      break;
    }
    case RowUse::kLastAxis:
      if (!IsLast(node->attrs().Int("axis"), rank)) return std::nullopt;
      if (!node->Is("split") && GivesMore(*node)) return std::nullopt;
      break;
    case RowUse::kReduce: {
      const auto axes = KnownInts(node->input(1));
      if (!axes || axes->size() != 1 || !IsLast((*axes)[0], rank)) return std::nullopt;
      if (node->attrs().Int("keepdims") != 1) return std::nullopt;
      break;
    }
    default: break;
  }
  return vertex;
}

class Flattener {
 public:
  Flattener(Graph& graph, const PassContext& target) : graph_(graph), target_(target) {}

  int64_t Run() {
    std::vector<Node*> starts;
    for (Node* node : graph_.nodes()) {
      if (Saves(*node)) starts.push_back(node);
    }
    if (starts.empty()) return 0;
    int64_t changes = 0, count = 0;
    for (Node* node : graph_.nodes()) place_[node] = count++;
    for (Node* start : starts) {
      if (looked_at_.contains(start)) continue;
      Grow(start);
      changes += Decide() && Apply();
      vertices_.clear();
      vertex_of_.clear();
    }
    return changes;
  }

 private:
  // --- Growing ------------------------------------------------------------------------------

  // Whether the node is a matmul that would be one node with the add behind it.
  bool Saves(const Node& node) const {
    if (!node.Is("matmul")) return false;
    const Value* y = node.output(0);
    if (!IsFloating(y->dtype()) || RankOf(y) < 3 || !DenseConstant(node.input(1))) return false;
    if (!Rewriter::UsedOnce(y) || !y->uses()[0].node->Is("add")) return false;
    const Node& sum = *y->uses()[0].node;
    // Of two products one is the gemm's.
    const Value* other = sum.input(0);
    if (other != y && other->producer() && other->producer()->Is("matmul")) return false;
    return sum.graph() == &graph_ && sum.output(0)->shape() &&
           SameShape(sum.output(0)->shape(), y->shape()) && target_.Has("gemm", y->dtype());
  }

  void Grow(Node* start) {
    Add(start);
    for (size_t i = 0; i < vertices_.size(); ++i) {
      const Vertex vertex = vertices_[i];
      for (size_t k = 0; k < vertex.in.size(); ++k) {
        if (vertex.in[k]) Visit(vertex.node->input(k));
      }
      for (Value* output : vertex.node->outputs()) Visit(output);
    }
  }
  void Visit(Value* value) {
    if (!value || value->fixed_constant() || value->graph() != &graph_ ||
        value->uses().size() > kMaxUses)
      return;
    if (value->producer()) Add(value->producer());
    for (const Use& use : value->uses()) Add(use.node);
  }
  void Add(Node* node) {
    if (node->graph() != &graph_ || vertices_.size() >= kMaxVertices) return;
    if (!place_.contains(node) || looked_at_.contains(node)) return;
    auto vertex = ReadVertex(node);
    if (!vertex) return;
    looked_at_[node] = true;
    vertex_of_[node] = static_cast<int>(vertices_.size());
    vertices_.push_back(*std::move(vertex));
  }

  // --- Deciding -----------------------------------------------------------------------------

  int VertexOf(const Node* node) const {
    const auto it = node ? vertex_of_.find(node) : vertex_of_.end();
    return it == vertex_of_.end() ? -1 : it->second;
  }

  // A value with rows that some vertex makes or uses.
  struct Border {
    int producer = -1;
    std::vector<int> users;  // that want a matrix when they are flat
    bool kept = false;       // somebody else wants it as it is
    int64_t flatten = 1, restore = 1;
  };

  Border BorderOf(const Value& value) const {
    Border border;
    border.producer = value.graph() == &graph_ ? VertexOf(value.producer()) : -1;
    const Shape &shape = *value.shape(), flat = FlatShape(shape);
    bool reshaped = false;
    for (const Use& use : value.uses()) {
      const int user = VertexOf(use.node);
      if (user >= 0 && vertices_[user].in[use.index]) {
        border.users.push_back(user);
      } else if (IsReshape(use.node) && use.index == 0 && use.node->graph() == &graph_) {
        reshaped = true;
      } else {
        border.kept = true;
      }
    }
    border.kept |= value.is_graph_output();
    if (!ReshapeTarget(shape, flat)) border.flatten = MinCut::kNever;
    if (!ReshapeTarget(flat, shape)) {
      border.restore = MinCut::kNever;
      border.kept |= reshaped;
    }
    // Two reshapes are one.
    if (IsReshape(value.producer()) && value.producer()->graph() == &graph_ && !border.kept) {
      border.flatten = std::min<int64_t>(border.flatten, 0);
    }
    return border;
  }

  std::vector<Border> Borders() const {
    std::vector<Border> borders;
    absl::flat_hash_map<const Value*, bool> seen;
    const auto add = [&](const Value* value) {
      if (value && !value->fixed_constant() && seen.emplace(value, true).second)
        borders.push_back(BorderOf(*value));
    };
    for (const Vertex& vertex : vertices_) {
      for (size_t i = 0; i < vertex.in.size(); ++i) {
        if (vertex.in[i]) add(vertex.node->input(i));
      }
      for (const Value* output : vertex.node->outputs()) add(output);
    }
    return borders;
  }

  // Each matmul that saves a node, with its add.
  std::vector<std::pair<int, int>> Pairs() const {
    std::vector<std::pair<int, int>> pairs;
    for (size_t i = 0; i < vertices_.size(); ++i) {
      const Node& node = *vertices_[i].node;
      if (!Saves(node)) continue;
      const int sum = VertexOf(node.output(0)->uses()[0].node);
      if (sum >= 0) pairs.emplace_back(static_cast<int>(i), sum);
    }
    return pairs;
  }

  bool Decide() {
    if (vertices_.empty()) return false;
    const std::vector<Border> borders = Borders();
    MinCut cut(static_cast<int>(vertices_.size()));
    for (const auto& [product, sum] : Pairs()) {
      const int both = cut.AddDecision();
      cut.YesNo(MinCut::kYes, both, 1);
      cut.YesNo(both, product, MinCut::kNever);
      cut.YesNo(both, sum, MinCut::kNever);
    }
    for (const Border& border : borders) AddToCut(cut, border);
    const std::vector<bool> flat = cut.Solve();
    for (size_t i = 0; i < vertices_.size(); ++i) vertices_[i].flat = flat[i];
    return Cost(borders) < 0;
  }

  static void AddToCut(MinCut& cut, const Border& border) {
    // A matrix is made, and somebody wants what it was.
    if (border.producer >= 0 && border.kept) {
      cut.YesNo(border.producer, MinCut::kNo, border.restore);
    } else if (border.producer >= 0 && !border.users.empty()) {
      const int all = cut.AddDecision();
      cut.YesNo(border.producer, all, border.restore);
      for (int user : border.users) cut.YesNo(all, user, MinCut::kNever);
    }
    // A matrix is wanted, and none is made.
    if (border.users.empty() || border.flatten == 0) return;
    const int any = cut.AddDecision();
    for (int user : border.users) cut.YesNo(user, any, MinCut::kNever);
    cut.YesNo(any, border.producer >= 0 ? border.producer : MinCut::kNo, border.flatten);
  }

  // In nodes more than there are.
  int64_t Cost(const std::vector<Border>& borders) const {
    int64_t cost = 0;
    for (const auto& [product, sum] : Pairs()) {
      cost -= vertices_[product].flat && vertices_[sum].flat;
    }
    for (const Border& border : borders) {
      const bool made = border.producer >= 0 && vertices_[border.producer].flat;
      int64_t flat = 0;
      for (int user : border.users) flat += vertices_[user].flat;
      if (made && (border.kept || flat < static_cast<int64_t>(border.users.size()))) {
        cost += border.restore;
      }
      if (!made && flat > 0) cost += border.flatten;
    }
    return cost;
  }

  // --- Applying -----------------------------------------------------------------------------

  bool Apply() {
    std::vector<Vertex> flat;
    for (const Vertex& vertex : vertices_) {
      if (vertex.flat) flat.push_back(vertex);
    }
    std::sort(flat.begin(), flat.end(), [&](const Vertex& a, const Vertex& b) {
      return place_.at(a.node) < place_.at(b.node);
    });
    matrices_.clear();
    std::vector<Builder> builders;
    bool ok = true;
    for (const Vertex& vertex : flat) {
      builders.emplace_back(graph_, vertex.node);
      builders.back().set_name_hint(HintOf(*vertex.node));
      ok = ok && Flatten(builders.back(), vertex);
    }
    if (!ok) {
      while (!builders.empty()) {
        builders.back().Rollback();
        builders.pop_back();
      }
      return false;
    }
    for (size_t i = 0; i < flat.size(); ++i) {
      const std::string hint = HintOf(*flat[i].node);
      for (Node* made : builders[i].made()) {
        graph_.NameValues(made, StrCat(hint, "_", made->op().str()));
      }
    }
    for (size_t i = flat.size(); i-- > 0;) Restore(*flat[i].node);
    return true;
  }

  // The node on matrices, before it.
  bool Flatten(Builder& b, const Vertex& vertex) {
    const Node& node = *vertex.node;
    std::vector<Value*> operands;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      Value* input = node.input(i);
      operands.push_back(vertex.in[i] ? MatrixOf(b, input) : AsRow(b, input, RowsOf(node)));
    }
    AttributeMap attrs = node.attrs();
    if (RowsOf(node) == RowUse::kLastAxis) attrs.Set("axis", -1);
    if (RowsOf(node) == RowUse::kReduce) operands[1] = b.Ints({-1}, "axes");
    std::vector<bool> wanted;
    for (const Value* output : node.outputs()) wanted.push_back(output != nullptr);
    const std::vector<Value*> results = b.Ops(node.op(), operands, std::move(attrs), wanted);
    if (!b.status().ok()) return false;
    for (size_t i = 0; i < results.size(); ++i) {
      const Value* old = node.output(i);
      if (!old) continue;
      const Shape want = FlatShape(*old->shape());
      if (results[i]->dtype() != old->dtype() || !SameShape(results[i]->shape(), &want))
        return false;
      matrices_[old] = results[i];
    }
    return true;
  }

  Value* MatrixOf(Builder& b, Value* value) {
    const auto it = matrices_.find(value);
    if (it != matrices_.end()) return it->second;
    const Shape flat = FlatShape(*value->shape());
    const Tensor* constant = DenseConstant(value);
    const auto target = ReshapeTarget(*value->shape(), flat);
    if (!target) {
      b.Fail(Internal("a matrix that cannot be written"));
      return value;
    }
    Value* matrix;
    if (constant) {
      matrix = b.Constant(constant->Reshaped(*flat.Static()), "rows");
    } else {
      matrix = b.Op("reshape", {value, b.Ints(*target, "rows")}, {{"allowzero", 0}});
    }
    return matrices_[value] = matrix;
  }

  // A row that all rows meet has no other axes.
  static Value* AsRow(Builder& b, Value* value, RowUse kind) {
    if (kind != RowUse::kElementwise || !value || RankOf(value) <= 1) return value;
    const Tensor& row = *value->constant();
    return b.Constant(row.Reshaped({row.dim(row.rank() - 1)}), "row");
  }

  // Puts the matrices, as what they were, in the place of the node's results.
  void Restore(Node& node) {
    for (Value* output : node.outputs()) {
      if (!output || output->is_unused()) continue;
      Value* matrix = matrices_.at(output);
      const Shape flat = FlatShape(*output->shape());
      Builder b(graph_, &node);
      b.set_name_hint(HintOf(node));
      const auto target = ReshapeTarget(flat, *output->shape());
      Value* restored = b.Op("reshape", {matrix, b.Ints(*target, "shape")}, {{"allowzero", 0}});
      for (Node* made : b.made()) graph_.NameValues(made, StrCat(HintOf(node), "_reshape"));
      ReplaceUsesByOlder(graph_, output, restored);
    }
    EraseWithConstants(&node);
  }

  Graph& graph_;
  const PassContext& target_;
  absl::flat_hash_map<const Node*, int64_t> place_;
  absl::flat_hash_map<const Node*, bool> looked_at_;
  std::vector<Vertex> vertices_;
  absl::flat_hash_map<const Node*, int> vertex_of_;
  absl::flat_hash_map<const Value*, Value*> matrices_;
};

absl::StatusOr<int64_t> FlattenRows(Graph& graph, const PassContext& context) {
  int64_t changes = Flattener(graph, context).Run();
  for (Graph* inner : graph.NestedGraphs()) {
    X2IR_ASSIGN_OR_RETURN(const int64_t made, FlattenRows(*inner, context));
    changes += made;
  }
  return changes;
}

X2IR_PASS(flatten_rows, "Linear ops on rows work on matrices, where gemm saves nodes.",
          FlattenRows);

}  // namespace
}  // namespace x2ir
