// flatten_rows: where matrices of constant weights work on the rows of larger tensors, the tensors
// become matrices, and a matmul and the add after it can be one gemm.
//  1. From each matmul of [.., n, k] and a constant matrix followed by an add, a region grows:
//     nodes that treat every row alike, so that they could as well work on [.. * n, k]: elementwise
//     ops, norms, reductions and splits of the last axis (RowUse). Those nodes change which
//     together save the most nodes: each matmul with its add is one less, each reshape at a border
//     one more, except where there already is a reshape. A minimum cut says which.
//  2. Reshapes are written with constants only: no more than one dim may be unknown where rows
//     become what they were.
// Nodes between quantize_linear and dequantize_linear do not change. Runs where the target has
// gemm, before the pass of that name.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
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

// A shape, as a matrix too, and what a reshape takes to make the one of the other where one can.
struct Rows {
  Shape shape, flat;
  std::optional<std::vector<int64_t>> flatten, restore;
};

// Large graphs have few shapes, and the product of symbolic dims is expensive.
class RowsOfShapes {
 public:
  // Stays until the next call.
  const Rows& Of(const Shape& shape) {
    for (const Rows& rows : last_) {
      if (rows.shape == shape) return rows;
    }
    Rows rows;
    const int64_t last = shape.rank() - 1;
    rows.shape = shape;
    rows.flat = Shape{shape.NumElements(0, last), shape[last]};
    rows.flatten = ReshapeTarget(shape, rows.flat);
    rows.restore = ReshapeTarget(rows.flat, shape);
    constexpr size_t kLimit = 8;
    if (last_.size() < kLimit) return last_.emplace_back(std::move(rows));
    next_ = (next_ + 1) % kLimit;
    return last_[next_] = std::move(rows);
  }

 private:
  std::vector<Rows> last_;
  size_t next_ = 0;
};

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
  absl::InlinedVector<bool, 4> in;
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
  Vertex vertex{node, absl::InlinedVector<bool, 4>(node->num_inputs(), false)};
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
    places_.assign(1, Place());
    for (Node* node : graph_.nodes()) {
      node->set_scratch(static_cast<uint32_t>(places_.size()));
      places_.emplace_back();
    }
    for (const Node* node : starts) places_[node->scratch()].saves = true;
    int64_t changes = 0;
    for (Node* start : starts) {
      if (places_[start->scratch()].seen) continue;
      Grow(start);
      if (Decide()) {
        Apply();
        ++changes;
      }
      for (const Vertex& vertex : vertices_) places_[vertex.node->scratch()].vertex = -1;
      vertices_.clear();
    }
    return changes;
  }

 private:
  // What is known of a node, at its scratch number; nothing is at 0, where new nodes are.
  struct Place {
    int vertex = -1;     // in the region at hand
    bool seen = false;   // in this region or in one before
    bool saves = false;  // Saves
  };

  // --- Growing ------------------------------------------------------------------------------

  // Whether the node is a matmul that can become one node with the add after it.
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
    Place& place = places_[node->scratch()];
    if (node->scratch() == 0 || place.seen) return;
    auto vertex = ReadVertex(node);
    if (!vertex) return;
    place.seen = true;
    place.vertex = static_cast<int>(vertices_.size());
    vertices_.push_back(*std::move(vertex));
  }

  // --- Deciding -----------------------------------------------------------------------------

  int VertexOf(const Node* node) const {
    return node && node->graph() == &graph_ ? places_[node->scratch()].vertex : -1;
  }
  // Whether the value that is used there is a matrix there.
  bool IsFlat(const Use& use) const {
    const int user = VertexOf(use.node);
    return user >= 0 && vertices_[user].flat && vertices_[user].in[use.index];
  }

  // A value with rows that some vertex makes or uses.
  struct Border {
    int producer = -1;
    absl::InlinedVector<int, 2> users{};  // that use a matrix when they are flat
    bool kept = false;                    // another node needs it unchanged
    int64_t flatten = 1, restore = 1;
  };

  Border BorderOf(const Value& value) {
    Border border;
    border.producer = value.graph() == &graph_ ? VertexOf(value.producer()) : -1;
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
    const Rows& rows = rows_.Of(*value.shape());
    if (!rows.flatten) border.flatten = MinCut::kNever;
    if (!rows.restore) {
      border.restore = MinCut::kNever;
      border.kept |= reshaped;
    }
    // Two reshapes are one.
    if (IsReshape(value.producer()) && value.producer()->graph() == &graph_ && !border.kept) {
      border.flatten = std::min<int64_t>(border.flatten, 0);
    }
    return border;
  }

  std::vector<Border> Borders() {
    std::vector<Border> borders;
    borders.reserve(vertices_.size());
    absl::flat_hash_set<const Value*> seen;  // those that no vertex makes
    for (const Vertex& vertex : vertices_) {
      for (size_t i = 0; i < vertex.in.size(); ++i) {
        const Value* input = vertex.in[i] ? vertex.node->input(i) : nullptr;
        if (!input || input->fixed_constant() || VertexOf(input->producer()) >= 0) continue;
        if (seen.insert(input).second) borders.push_back(BorderOf(*input));
      }
      for (const Value* output : vertex.node->outputs()) {
        if (output) borders.push_back(BorderOf(*output));
      }
    }
    return borders;
  }

  // Each matmul that saves a node, with its add.
  std::vector<std::pair<int, int>> Pairs() const {
    std::vector<std::pair<int, int>> pairs;
    for (size_t i = 0; i < vertices_.size(); ++i) {
      const Node& node = *vertices_[i].node;
      if (!places_[node.scratch()].saves) continue;
      const int sum = VertexOf(node.output(0)->uses()[0].node);
      if (sum >= 0) pairs.emplace_back(static_cast<int>(i), sum);
    }
    return pairs;
  }

  bool Decide() {
    if (vertices_.empty()) return false;
    const std::vector<Border> borders = Borders();
    const std::vector<std::pair<int, int>> pairs = Pairs();
    MinCut cut(static_cast<int>(vertices_.size()));
    for (const auto& [product, sum] : pairs) {
      const int both = cut.AddDecision();
      cut.YesNo(MinCut::kYes, both, 1);
      cut.YesNo(both, product, MinCut::kNever);
      cut.YesNo(both, sum, MinCut::kNever);
    }
    for (const Border& border : borders) AddToCut(cut, border);
    const std::vector<bool> flat = cut.Solve();
    for (size_t i = 0; i < vertices_.size(); ++i) vertices_[i].flat = flat[i];
    return Cost(borders, pairs) < 0;
  }

  static void AddToCut(MinCut& cut, const Border& border) {
    // The value becomes a matrix, but a user needs its old shape.
    if (border.producer >= 0 && border.kept) {
      cut.YesNo(border.producer, MinCut::kNo, border.restore);
    } else if (border.producer >= 0 && border.users.size() == 1) {
      cut.YesNo(border.producer, border.users[0], border.restore);
    } else if (border.producer >= 0 && !border.users.empty()) {
      const int all = cut.AddDecision();
      cut.YesNo(border.producer, all, border.restore);
      for (int user : border.users) cut.YesNo(all, user, MinCut::kNever);
    }
    // A matrix is wanted, and none is made.
    if (border.users.empty() || border.flatten == 0) return;
    const int producer = border.producer >= 0 ? border.producer : MinCut::kNo;
    if (border.users.size() == 1) return cut.YesNo(border.users[0], producer, border.flatten);
    const int any = cut.AddDecision();
    for (int user : border.users) cut.YesNo(user, any, MinCut::kNever);
    cut.YesNo(any, producer, border.flatten);
  }

  // In nodes more than there are.
  int64_t Cost(const std::vector<Border>& borders,
               const std::vector<std::pair<int, int>>& pairs) const {
    int64_t cost = 0;
    for (const auto& [product, sum] : pairs) {
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

  // Nodes stay; their operands and the types of their results change.
  void Apply() {
    std::vector<std::pair<uint32_t, int>> order;
    for (size_t i = 0; i < vertices_.size(); ++i) {
      if (vertices_[i].flat) {
        order.emplace_back(vertices_[i].node->scratch(), static_cast<int>(i));
      }
    }
    std::sort(order.begin(), order.end());
    matrices_.clear();
    for (const auto& [place, i] : order) {
      Flatten(vertices_[i]);
      for (Value* output : vertices_[i].node->outputs()) {
        if (output) FlattenResult(output);
      }
    }
  }

  void Flatten(const Vertex& vertex) {
    Node* node = vertex.node;
    const RowUse kind = RowsOf(*node);
    Builder b(graph_, node);
    for (size_t i = 0; i < node->num_inputs(); ++i) {
      Value* input = node->input(i);
      Value* operand = vertex.in[i] ? MatrixOf(b, input) : AsRow(b, input, kind);
      if (operand != input) {
        node->SetInput(i, operand);
        if (input->fixed_constant() && input->is_unused()) input->graph()->RemoveConstant(input);
      }
    }
    if (kind == RowUse::kLastAxis) node->SetAttr("axis", -1);
    if (kind == RowUse::kReduce) {
      Value* axes = node->input(1);
      node->SetInput(1, b.Ints({-1}, "axes"));
      if (axes->fixed_constant() && axes->is_unused()) axes->graph()->RemoveConstant(axes);
    }
    NameMadeFor(*node, b);
  }

  // The operand, which the node gets for its rows.
  Value* MatrixOf(Builder& b, Value* value) {
    if (value->fixed_constant()) {
      const Rows& rows = rows_.Of(*value->shape());
      return b.Constant(value->constant()->Reshaped(*rows.flat.Static()), "rows");
    }
    const int producer = value->graph() == &graph_ ? VertexOf(value->producer()) : -1;
    if (producer >= 0 && vertices_[producer].flat) return value;
    Value*& matrix = matrices_[value];
    if (!matrix) {
      matrix = b.Op("reshape", {value, b.Ints(*rows_.Of(*value->shape()).flatten, "rows")},
                    {{"allowzero", 0}});
    }
    return matrix;
  }

  // A row that all rows meet has no other axes.
  static Value* AsRow(Builder& b, Value* value, RowUse kind) {
    if (kind != RowUse::kElementwise || !value || RankOf(value) <= 1) return value;
    const Tensor& row = *value->constant();
    return b.Constant(row.Reshaped({row.dim(row.rank() - 1)}), "row");
  }

  // The result is a matrix from now on. Users that need the old shape have a reshape of it.
  void FlattenResult(Value* value) {
    const Rows& rows = rows_.Of(*value->shape());
    Type was = value->type(), flat = was;
    flat.set_shape(rows.flat);
    const bool kept =
        value->is_graph_output() || !std::all_of(value->uses().begin(), value->uses().end(),
                                                 [&](const Use& use) { return IsFlat(use); });
    if (!kept) return value->set_type(std::move(flat));
    Builder b(graph_, value->producer()->next());
    Value* shape = b.Ints(*rows.restore, "shape");
    Node* node =
        graph_.InsertNode(value->producer()->next(), kIrDialect, "reshape", {{nullptr, shape}});
    node->SetAttr("allowzero", 0);
    Value* restored = graph_.AddNodeOutput(node, "", std::move(was));
    const std::string base = value->name();
    std::vector<Use> users;  // of the matrix
    for (const Use& use : value->uses()) {
      if (IsFlat(use)) users.push_back(use);
    }
    graph_.ReplaceAllUsesKeepingOutputNames(value, restored);
    for (const Use& use : users) use.node->SetInput(use.index, value);
    node->SetInput(0, value);
    graph_.NameValues(node, StrCat(base, "_reshape"));
    if (value->name().empty()) graph_.Rename(value, graph_.UniqueName(StrCat(base, "_rows")));
    value->set_type(std::move(flat));
  }

  Graph& graph_;
  const PassContext& target_;
  std::vector<Place> places_;  // of all nodes
  RowsOfShapes rows_;
  std::vector<Vertex> vertices_;
  absl::flat_hash_map<const Value*, Value*> matrices_;  // of values that no flat vertex makes
};

X2IR_PASS(flatten_rows, "Linear ops on rows work on matrices, where gemm saves nodes.",
          OnEachGraph<Flattener>);

}  // namespace
}  // namespace x2ir
