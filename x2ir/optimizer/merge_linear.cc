// merge_linear: linear ops that work on the same operand become one, and so do the reshapes and
// transposes after its parts: the queries, keys and values of attention.
//  1. matmul, with or without an add of a constant after it, or gemm, of the same operand and
//     constant matrices: one of all columns, and a split of them, where that is fewer nodes.
//  2. The parts of a split along the last axis that are reshaped alike, but for how many there are
//     of the axis before the last, and transposed:
//       y -> split -> reshape [n, s, h_i, d] -> transpose
//     become y -> reshape [n, s, h, d] -> transpose -> split along h. A part that is wanted in
//     another order of axes is transposed once more.
//  3. Gathers of single indices, which are all that is done with a reshaped (and transposed) value:
//     the gathered axis is merged with the axis after it, and a split divides it.
// Removed values have no other users. Weights are merged if they have no other user and moderate
// size, and mapped weights only up to a limit of memory.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/ops/perm.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/linear.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// Weights in memory, not in a mapped file, up to which more are put there.
constexpr int64_t kMaxBytesInMemory = 4 * kMaxRewrittenBytes;
// No attention has more; a value of very many users is not looked through.
constexpr size_t kMaxLinearUses = 64;

// Rank-2 tensors side by side (axis 1) or below each other (axis 0); of one type and height.
Tensor ConcatMatrices(const std::vector<Tensor>& parts, int64_t axis) {
  const auto size = static_cast<size_t>(BitWidth(parts[0].dtype()) / 8);
  std::vector<int64_t> dims = parts[0].dims();
  for (size_t i = 1; i < parts.size(); ++i) dims[axis] += parts[i].dim(axis);
  Tensor all = Tensor::Zeros(parts[0].dtype(), dims);
  std::byte* to = all.mutable_bytes().data();
  const int64_t runs = axis == 0 ? 1 : dims[0];
  for (int64_t run = 0; run < runs; ++run) {
    for (const Tensor& part : parts) {
      const size_t bytes = size * static_cast<size_t>(part.num_elements() / runs);
      std::memcpy(to, part.bytes().data() + static_cast<size_t>(run) * bytes, bytes);
      to += bytes;
    }
  }
  return all;
}

// The only user of a value, if it is an IR node of that op in the same graph and the value is its
// first operand.
Node* OnlyUser(const Value* value, Symbol op) {
  if (!value || !Rewriter::UsedOnce(value) || value->uses()[0].index != 0) return nullptr;
  Node* user = value->uses()[0].node;
  return user->Is(op) && user->graph() == value->graph() ? user : nullptr;
}

class LinearMerger {
 public:
  LinearMerger(Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  int64_t Run() {
    for (Node* node : graph_.nodes()) {
      if (!node->is_ir()) continue;
      if (node->Is("matmul") || node->Is("gemm")) {
        MergeLinear(node);
      } else if (node->Is("split")) {
        MergeHeads(node);
      } else if (node->Is("reshape") || node->Is("transpose")) {
        SplitInsteadOfGathers(node);
      }
    }
    return changes_;
  }

 private:
  // --- 1 ------------------------------------------------------------------------------------

  struct Branch {
    Node* node;
    Node* sum = nullptr;  // after a matmul
    Tensor weight;
    std::optional<Tensor> bias;  // rank 1
    Value* end() const { return (sum ? sum : node)->output(0); }
  };

  static bool IsPlainGemm(const Node& gemm) {
    return gemm.attrs().Float("alpha") == 1 && gemm.attrs().Int("transA") == 0 &&
           (!gemm.input(2) || gemm.attrs().Float("beta") == 1);
  }
  // The numbers of a bias of one for each column.
  static std::optional<Tensor> BiasOf(const Value* value, int64_t columns, const Value* result) {
    const Tensor* bias = DenseConstant(value);
    const int64_t rank = RankOf(result);
    if (!bias || bias->rank() < 1 || !IsPerChannel(*bias, rank, rank - 1, columns) ||
        bias->num_elements() != columns) {
      return std::nullopt;
    }
    return bias->Reshaped({columns});
  }

  std::optional<Branch> ReadBranch(Node* node) {
    const Tensor* w = DenseConstant(node->input(1));
    if (!w || w->rank() != 2 || w->num_elements() == 0) return std::nullopt;
    if (!IsFloating(w->dtype()) || BitWidth(w->dtype()) % 8 != 0) return std::nullopt;
    if (StaysInFile(*w, context_)) return std::nullopt;
    if (node->input(1)->uses().size() != 1 || node->output(0)->is_graph_output()) {
      return std::nullopt;
    }
    Branch branch{node, nullptr, *w, std::nullopt};
    const int64_t columns = w->dim(ColumnAxis(*node));
    if (node->Is("gemm")) {
      if (!IsPlainGemm(*node)) return std::nullopt;
      if (!node->input(2)) return branch;
      branch.bias = BiasOf(node->input(2), columns, node->output(0));
      return branch.bias ? std::optional(std::move(branch)) : std::nullopt;
    }
    const Value* product = node->output(0);
    if (!Rewriter::UsedOnce(product)) return branch;
    Node* user = product->uses()[0].node;
    if (!user->Is("add") || user->graph() != &graph_) return branch;
    branch.bias = BiasOf(user->input(1 - product->uses()[0].index), columns, product);
    if (!branch.bias) return branch;
    if (user->output(0)->is_graph_output()) return std::nullopt;
    branch.sum = user;
    return branch;
  }

  static int64_t ColumnAxis(const Node& node) {
    return node.Is("gemm") && node.attrs().Int("transB") != 0 ? 0 : 1;
  }

  // `first` is the first of its kind that works on the operand.
  void MergeLinear(Node* first) {
    Value* x = first->input(0);
    const Tensor* w = DenseConstant(first->input(1));
    if (!x || RankOf(x) < 2 || !w || w->rank() != 2 || x->uses().size() > kMaxLinearUses) return;
    if (x->uses().size() < 2 || !seen_.insert(x).second) return;
    const int64_t axis = ColumnAxis(*first);
    std::vector<Branch> branches;
    int64_t bytes = 0, mapped = 0;
    size_t sums = 0;
    bool biased = false;
    for (const Use& use : x->uses()) {
      Node* node = use.node;
      if (use.index != 0 || node->graph() != &graph_ || !node->Is(first->op())) continue;
      if (ColumnAxis(*node) != axis) continue;
      auto branch = ReadBranch(node);
      if (!branch || branch->weight.dtype() != w->dtype() ||
          branch->weight.dim(1 - axis) != w->dim(1 - axis) ||
          (branch->bias && branch->bias->dtype() != w->dtype())) {
        continue;
      }
      const auto size = static_cast<int64_t>(branch->weight.nbytes());
      bytes += size;
      if (branch->weight.file_range()) mapped += size;
      sums += branch->sum != nullptr;
      biased |= branch->bias.has_value();
      branches.push_back(*std::move(branch));
    }
    const size_t before = branches.size() + sums;
    const size_t after = 2 + (biased && first->Is("matmul") ? 1 : 0);
    if (branches.size() < 2 || after >= before) return;
    if (bytes > kMaxRewrittenBytes || (mapped != 0 && bytes > Room())) return;
    room_ = Room() - mapped;
    SortByPlace(first, branches);
    Merge(first, branches, axis, biased);
  }

  // In graph order, as far as that is seen from here: uses have none, and blocks that are alike
  // shall stay so.
  static void SortByPlace(Node* first, std::vector<Branch>& branches) {
    constexpr int kFar = 1000;
    auto next = branches.begin();
    Node* node = first;
    for (int i = 0; i < kFar && node && next != branches.end(); ++i, node = node->next()) {
      const auto it = std::find_if(next, branches.end(),
                                   [&](const Branch& branch) { return branch.node == node; });
      if (it != branches.end()) std::rotate(next++, it, it + 1);
    }
  }

  // How many bytes of mapped weights may still come into memory.
  int64_t Room() {
    if (room_) return *room_;
    int64_t held = 0;
    for (const Value* constant : graph_.constants()) {
      const Tensor& tensor = *constant->constant();
      if (!tensor.is_string() && !tensor.file_range())
        held += static_cast<int64_t>(tensor.nbytes());
    }
    room_ = kMaxBytesInMemory - held;
    return *room_;
  }

  void Merge(Node* first, const std::vector<Branch>& branches, int64_t axis, bool biased) {
    std::vector<Tensor> weights, biases;
    std::vector<int64_t> widths;
    for (const Branch& branch : branches) {
      widths.push_back(branch.weight.dim(axis));
      weights.push_back(branch.weight);
      if (!biased) continue;
      Tensor bias = branch.bias ? *branch.bias : Tensor::Zeros(weights[0].dtype(), {widths.back()});
      biases.push_back(std::move(bias));
    }
    Builder b(graph_, first);
    b.set_name_hint(HintOf(*first));
    std::vector<Value*> operands = {first->input(0),
                                    b.Constant(ConcatMatrices(weights, axis), "weights")};
    Value* bias = biased ? b.Constant(ConcatMatrices(biases, 0), "biases") : nullptr;
    Value* y;
    if (first->Is("gemm")) {
      AttributeMap attrs = first->attrs();
      if (bias) {
        operands.push_back(bias);
        attrs.Set("beta", 1.0f);
      }
      y = b.Op("gemm", operands, std::move(attrs));
    } else {
      y = b.Op("matmul", operands);
      if (bias) y = b.Op("add", {y, bias});
    }
    const std::vector<Value*> parts = b.Ops("split", {y, b.Ints(widths, "widths")}, {{"axis", -1}},
                                            std::vector<bool>(branches.size(), true));
    std::vector<std::pair<Value*, Value*>> ends;
    for (size_t i = 0; i < branches.size(); ++i) ends.emplace_back(branches[i].end(), parts[i]);
    if (!Finish(b, *first, ends)) return;
    // The split may continue.
    if (parts[0]->producer()) MergeHeads(parts[0]->producer());
  }

  // --- 2 ------------------------------------------------------------------------------------

  struct Head {
    Value* end;
    Perm perm;
    int64_t count;  // of the axis before the last
  };

  void MergeHeads(Node* split) {
    Value* y = split->input(0);
    const int64_t rank = RankOf(y);
    int64_t axis = split->attrs().Int("axis");
    if (axis < 0) axis += rank;
    if (rank < 2 || axis != rank - 1 || split->num_outputs() < 2) return;
    std::vector<Head> heads;
    Shape shape;  // of all heads together
    int64_t transposes = 0;
    for (const Value* part : split->outputs()) {
      auto head = ReadHead(part, shape);
      if (!head) return;
      transposes += !head->perm.empty();
      heads.push_back(*std::move(head));
    }
    // The order that most users need.
    std::map<Perm, int64_t> wanted;
    for (const Head& head : heads) ++wanted[head.perm];
    const Perm order =
        std::max_element(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    const auto n = static_cast<int64_t>(heads.size());
    const int64_t others = n - wanted[order];
    if (1 + !order.empty() + others >= n + transposes) return;
    int64_t all = 0;
    std::vector<int64_t> counts;
    for (const Head& head : heads) {
      counts.push_back(head.count);
      all += head.count;
    }
    const int64_t at = shape.rank() - 2;
    shape[at] = all;
    const auto target = ReshapeTarget(*y->shape(), shape);
    if (!target) return;
    Builder b(graph_, split);
    b.set_name_hint(HintOf(*split));
    Value* value = b.Op("reshape", {y, b.Ints(*target, "shape")}, {{"allowzero", 0}});
    if (!order.empty()) value = b.Op("transpose", {value}, {{"perm", AsInts(order)}});
    const std::vector<Value*> parts =
        b.Ops("split", {value, b.Ints(counts, "heads")}, {{"axis", NewAxis(order, at)}},
              std::vector<bool>(heads.size(), true));
    std::vector<std::pair<Value*, Value*>> ends;
    for (size_t i = 0; i < heads.size(); ++i) {
      const Perm more = Compose(Inverse(order), heads[i].perm);
      Value* part = parts[i];
      if (heads[i].perm != order) {
        part = b.Op("transpose", {part}, {{"perm", AsInts(Full(more, shape.rank()))}});
      }
      ends.emplace_back(heads[i].end, part);
    }
    Finish(b, *split, ends);
  }

  static Perm Full(const Perm& p, int64_t rank) {
    if (!p.empty()) return p;
    Perm all;
    for (int64_t i = 0; i < rank; ++i) all.push_back(i);
    return all;
  }

  // `shape` is that of the heads before (empty before the first), but for how many there are.
  static std::optional<Head> ReadHead(const Value* part, Shape& shape) {
    const Node* reshape = OnlyUser(part, "reshape");
    const Shape* from = part ? part->shape() : nullptr;
    if (!reshape || !from) return std::nullopt;
    Value* end = reshape->output(0);
    if (!end->shape() || end->shape()->rank() < 2) return std::nullopt;
    const Shape to = *end->shape();
    const int64_t rank = to.rank();
    const Dim &heads = to[rank - 2], &size = to[rank - 1], &width = (*from)[from->rank() - 1];
    if (!heads.is_static() || !size.is_static() || !width.is_static() || heads.value() < 1 ||
        size.value() < 1 || width != heads * size) {
      return std::nullopt;
    }
    if (shape.rank() == 0) shape = to;
    if (shape.rank() != rank) return std::nullopt;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != rank - 2 && !ProvablyEqual(shape[i], to[i])) return std::nullopt;
    }
    Perm perm;
    if (const Node* transpose = OnlyUser(end, "transpose")) {
      const auto given = PermOf(*transpose);
      if (!given) return std::nullopt;
      perm = Normalized(*given);
      end = transpose->output(0);
    }
    if (end->is_unused() || end->is_graph_output()) return std::nullopt;
    return Head{end, std::move(perm), heads.value()};
  }

  // --- 3 ------------------------------------------------------------------------------------

  void SplitInsteadOfGathers(Node* last) {
    Value* value = last->output(0);
    if (!value->shape() || value->is_graph_output()) return;
    const int64_t rank = value->shape()->rank();
    if (value->uses().size() < 2 || value->uses().size() > kMaxLinearUses) return;
    Perm order;
    const Node* reshape = last;
    if (last->Is("transpose")) {
      const auto perm = PermOf(*last);
      reshape = Rewriter::UsedOnce(last->input(0)) ? last->input(0)->producer() : nullptr;
      if (!perm || !reshape || !reshape->Is("reshape") || reshape->graph() != &graph_) return;
      order = *perm;
    }
    order = Full(order, rank);
    std::vector<std::pair<Value*, int64_t>> gathered;  // the results and their indices
    int64_t axis = -1;
    for (const Use& use : value->uses()) {
      const Node& gather = *use.node;
      if (!gather.Is("gather") || use.index != 0 || gather.graph() != &graph_) return;
      int64_t a = gather.attrs().Int("axis");
      if (a < 0) a += rank;
      const Tensor* index = DenseConstant(gather.input(1));
      if (a < 0 || a >= rank || (axis >= 0 && a != axis) || !index || index->rank() != 0) return;
      axis = a;
      if (gather.output(0)->is_graph_output() || gather.output(0)->is_unused()) return;
      gathered.emplace_back(gather.output(0), index->AsInt(0));
    }
    // Before the transpose: the axis, and the axis after it.
    const Shape& before = *reshape->output(0)->shape();
    const int64_t from = order[axis], next = NextOf(before, from);
    const Value* x = reshape->input(0);
    if (next >= rank || !before[from].is_static() || !before[next].is_static() || !x->shape()) {
      return;
    }
    const int64_t parts = before[from].value(), size = before[next].value();
    if (parts < 2 || parts > static_cast<int64_t>(gathered.size()) || size < 1) return;
    std::vector<bool> wanted(parts, false);
    for (auto& [result, index] : gathered) {
      if (index < 0) index += parts;
      if (index < 0 || index >= parts) return;
      wanted[index] = true;
    }
    if (std::find(wanted.begin(), wanted.end(), false) != wanted.end()) return;
    Split(last, *reshape, gathered, order, axis, parts);
  }

  // Axes of size 1 between do not matter.
  static int64_t NextOf(const Shape& shape, int64_t axis) {
    for (int64_t i = axis + 1; i < shape.rank(); ++i) {
      if (shape[i] != Dim(1)) return i;
    }
    return axis + 1;
  }

  void Split(Node* last, const Node& reshape,
             const std::vector<std::pair<Value*, int64_t>>& gathered, const Perm& order,
             int64_t axis, int64_t parts) {
    const Shape& before = *reshape.output(0)->shape();
    const int64_t from = order[axis], next = NextOf(before, from);
    Shape merged;
    for (int64_t i = 0; i < before.rank(); ++i) {
      if (i != from) merged.Append(i == next ? before[from] * before[next] : before[i]);
    }
    Perm perm;
    for (int64_t i = 0; i < before.rank(); ++i) {
      if (i != axis) perm.push_back(order[i] > from ? order[i] - 1 : order[i]);
    }
    Value* x = reshape.input(0);
    const auto target = ReshapeTarget(*x->shape(), merged);
    if (!target) return;
    Builder b(graph_, last);
    b.set_name_hint(HintOf(*last));
    Value* value = b.Op("reshape", {x, b.Ints(*target, "shape")}, {{"allowzero", 0}});
    perm = Normalized(std::move(perm));
    if (!perm.empty()) value = b.Op("transpose", {value}, {{"perm", AsInts(perm)}});
    const std::vector<int64_t> sizes(parts, before[next].value());
    const std::vector<Value*> results =
        b.Ops("split", {value, b.Ints(sizes, "sizes")}, {{"axis", NewAxis(perm, next - 1)}},
              std::vector<bool>(parts, true));
    std::vector<std::pair<Value*, Value*>> ends;
    for (const auto& [result, index] : gathered) ends.emplace_back(result, results[index]);
    Finish(b, *last, ends);
  }

  // --- Replacing ----------------------------------------------------------------------------

  // The new values replace the old ones, and unused nodes are removed. After a failure the new
  // nodes are removed.
  bool Finish(Builder& b, const Node& named, const std::vector<std::pair<Value*, Value*>>& ends) {
    bool fits = b.status().ok();
    for (const auto& [from, to] : ends) fits = fits && SameShape(from, to);
    if (!fits) {
      b.Rollback();
      return false;
    }
    NameMadeFor(named, b);
    for (const auto& [from, to] : ends) {
      Node* old = from->producer();
      ReplaceUsesByOlder(graph_, from, to);
      EraseChain(old);
    }
    ++changes_;
    return true;
  }

  void EraseChain(Node* node) {
    while (node && node->graph() == &graph_) {
      for (const Value* output : node->outputs()) {
        if (output && !output->is_unused()) return;
      }
      Node* producer = node->input(0) ? node->input(0)->producer() : nullptr;
      // After a matmul the add may have the constant first.
      if (!producer && node->num_inputs() > 1 && node->input(1)) {
        producer = node->input(1)->producer();
      }
      EraseWithConstants(node);
      node = producer;
    }
  }

  Graph& graph_;
  const PassContext& context_;
  absl::flat_hash_set<const Value*> seen_;
  std::optional<int64_t> room_;
  int64_t changes_ = 0;
};

X2IR_PASS(merge_linear, "Linear ops of the same operand become one; so do attention's heads.",
          OnEachGraph<LinearMerger>);

}  // namespace
}  // namespace x2ir
