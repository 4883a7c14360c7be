#include "x2ir/inspect/match.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/same_meaning.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

// For each value of `b`, which of `a` it is.
absl::StatusOr<std::vector<std::pair<const Value*, const Value*>>> InPairs(
    absl::Span<const Value* const> a, absl::Span<const Value* const> b, std::string_view what) {
  if (a.size() != b.size()) {
    return Invalid("the models have ", a.size(), " and ", b.size(), " ", what, "s");
  }
  std::vector<std::pair<const Value*, const Value*>> by_position, by_name;
  for (size_t i = 0; i < b.size(); ++i) {
    by_position.emplace_back(a[i], b[i]);
    const auto it =
        std::find_if(a.begin(), a.end(), [&](const Value* v) { return v->name() == b[i]->name(); });
    if (it != a.end()) by_name.emplace_back(*it, b[i]);
  }
  return by_name.size() == b.size() ? by_name : by_position;
}

// Those with a default may be left out on either side.
std::vector<const Value*> Required(const Graph& graph) {
  std::vector<const Value*> values;
  for (const Value* input : graph.inputs()) {
    if (!input->constant()) values.push_back(input);
  }
  return values;
}

size_t PositionOf(const Graph& graph, const Value* input) {
  return std::find(graph.inputs().begin(), graph.inputs().end(), input) - graph.inputs().begin();
}

class Matcher {
 public:
  Matcher(const Graph& a, const Graph& b) : a_(a), b_(b) {
    FindConstants(a);
    FindConstants(b);
  }

  GraphMatch Run(const InterfaceMatch& ports, const ValuePairs& known) {
    for (const auto& [x, y] : ports.inputs) Pair(x, y);
    for (const auto& [x, y] : known) {
      Pair(x, y);
      const Node *n = x->producer(), *m = y->producer();
      if (n && m && !match_.nodes.contains(n) && !taken_nodes_.contains(m)) {
        match_.nodes[n] = m;
        taken_nodes_.insert(m);
      }
    }
    Forward();
    FromWeights();
    for (const auto& [x, y] : ports.outputs) Back(x, y);
    Forward();
    ByName();
    Forward();
    return std::move(match_);
  }

 private:
  void Pair(const Value* x, const Value* y) {
    if (match_.values.contains(x) || taken_.contains(y)) return;
    match_.values[x] = y;
    taken_.insert(y);
  }

  void Pair(const Node* x, const Node* y) {
    match_.nodes[x] = y;
    taken_nodes_.insert(y);
    const size_t n = std::min(x->num_outputs(), y->num_outputs());
    for (size_t i = 0; i < n; ++i) {
      if (x->output(i) && y->output(i)) Pair(x->output(i), y->output(i));
    }
  }

  bool MayPair(const Node* x, const Node* y) const {
    const bool same = x->op() == y->op() && x->dialect() == y->dialect();
    return (same || SameReshape(*x, *y)) && !match_.nodes.contains(x) && !taken_nodes_.contains(y);
  }

  // Constants, and what is computed of them alone: one exporter transposes a weight, the other
  // keeps it transposed.
  bool IsConstant(const Value* v) const { return v->fixed_constant() || constants_.contains(v); }

  void FindConstants(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      bool all = node->num_inputs() > 0 && !node->has_subgraphs();
      for (size_t i = 0; all && i < node->num_inputs(); ++i) {
        all = !node->input(i) || IsConstant(node->input(i));
      }
      if (!all) continue;
      for (const Value* output : node->outputs()) {
        if (output) constants_.insert(output);
      }
    }
  }

  const Value* PartnerOf(const Value* x) const {
    const auto it = match_.values.find(x);
    return it == match_.values.end() ? nullptr : it->second;
  }

  // Whether y's operands are x's, one by one, or in another order.
  enum class Operands { kOther, kInOtherOrder, kSame };
  Operands Compare(const Node* x, const Node* y) const {
    if (x->op() != y->op()) {
      return PartnerOf(x->input(0)) == y->input(0) ? Operands::kInOtherOrder : Operands::kOther;
    }
    if (x->num_inputs() != y->num_inputs()) return Operands::kOther;
    std::vector<const Value*> of_x, of_y;
    bool same = true;
    for (size_t i = 0; i < x->num_inputs(); ++i) {
      const Value *p = x->input(i), *q = y->input(i);
      const bool computed_p = p && !IsConstant(p), computed_q = q && !IsConstant(q);
      same = same && !p == !q && computed_p == computed_q;
      if (computed_p) {
        const Value* partner = PartnerOf(p);
        if (!partner) return Operands::kOther;
        of_x.push_back(partner);
        same = same && partner == q;
      }
      if (computed_q) of_y.push_back(q);
    }
    if (of_x.empty() || of_x.size() != of_y.size()) return Operands::kOther;
    if (same) return Operands::kSame;
    std::sort(of_x.begin(), of_x.end());
    std::sort(of_y.begin(), of_y.end());
    return of_x == of_y ? Operands::kInOtherOrder : Operands::kOther;
  }

  // How much speaks for y among several.
  int Score(const Node* x, const Node* y, Operands operands) const {
    int score = operands == Operands::kSame ? 64 : 0;
    for (size_t i = 0; i < std::min(x->num_outputs(), y->num_outputs()); ++i) {
      const Value *p = x->output(i), *q = y->output(i);
      if (p && q && p->name() == q->name()) score += 8;
    }
    for (size_t i = 0; operands == Operands::kSame && i < x->num_inputs(); ++i) {
      const Value *p = x->input(i), *q = y->input(i);
      if (!p || !IsConstant(p)) continue;
      if (!p->name().empty() && p->name() == q->name()) score += 4;
      const Tensor *u = p->fixed_constant(), *v = q->fixed_constant();
      if (u && v && SameBytes(*u, *v)) score += 2;
    }
    if (SameAttributes(*x, *y)) score += 1;
    return score;
  }

  static bool SameAttributes(const Node& x, const Node& y) {
    for (const auto& [name, attr] : x.attrs()) {
      const Attribute* other = y.attrs().Find(name);
      if (!other || *other != attr) return false;
    }
    return true;
  }

  static bool SameBytes(const Tensor& p, const Tensor& q) {
    if (p.dtype() != q.dtype() || p.dims() != q.dims() || p.is_sparse() || q.is_sparse() ||
        p.is_string() || q.is_string()) {
      return false;
    }
    return p.nbytes() == q.nbytes() &&
           std::equal(p.bytes().begin(), p.bytes().end(), q.bytes().begin());
  }

  // Linear nodes whose weights hold the same numbers, in whatever order, are the same, where no
  // others have such weights: what they read is.
  void FromWeights() {
    const std::vector<Linear> of_a = Linears(a_), of_b = Linears(b_);
    const auto alike = [](const std::vector<Linear>& all, const Linear& like) {
      const Linear* found = nullptr;
      for (const Linear& each : all) {
        if (each.count != like.count || !Near(each.sum, like.sum) ||
            !Near(each.squares, like.squares)) {
          continue;
        }
        if (found) return static_cast<const Linear*>(nullptr);
        found = &each;
      }
      return found;
    };
    for (const Linear& x : of_a) {
      const Linear* y = alike(of_b, x);
      if (!y || alike(of_a, *y) != &x) continue;
      Back(x.node->input(x.data), y->node->input(y->data));
      if (MayPair(x.node, y->node)) Pair(x.node, y->node);
    }
  }

  struct Linear {
    const Node* node;
    size_t data;  // the operand that is not a weight
    int64_t count;
    double sum, squares;  // of absolute values
  };

  static bool Near(double p, double q) {
    return std::fabs(p - q) <= 1e-5 * std::max(std::fabs(p), std::fabs(q));
  }

  std::vector<Linear> Linears(const Graph& graph) const {
    constexpr int64_t kLeast = 16;
    std::vector<Linear> linears;
    for (const Node* node : graph.nodes()) {
      if (!node->Is("conv") && !node->Is("matmul") && !node->Is("gemm") &&
          !node->Is("conv_transpose")) {
        continue;
      }
      for (size_t i = 0; i < 2; ++i) {
        const Value *weight = node->input(i), *data = node->input(1 - i);
        if (!weight || !data || IsConstant(data)) continue;
        while (const Node* producer = weight->producer()) {
          if (!producer->Is("transpose") && !producer->Is("reshape")) break;
          weight = producer->input(0);
        }
        const Tensor* tensor = weight->fixed_constant();
        if (!tensor || tensor->dtype() != DType::kFloat32 || tensor->is_sparse() ||
            tensor->num_elements() < kLeast) {
          continue;
        }
        Linear linear{node, 1 - i, tensor->num_elements(), 0, 0};
        const Tensor aligned = tensor->AlignedCopyIfNeeded();
        for (const float v : aligned.span<float>()) {
          linear.sum += std::fabs(v);
          linear.squares += double{v} * v;
        }
        if (linear.squares > 0) linears.push_back(linear);
      }
    }
    return linears;
  }

  void Forward() {
    for (const Node* x : a_.nodes()) {
      if (match_.nodes.contains(x)) continue;
      const Value* first = nullptr;
      for (size_t i = 0; i < x->num_inputs() && !first; ++i) {
        if (x->input(i) && !IsConstant(x->input(i))) first = x->input(i);
      }
      const Value* partner = first ? PartnerOf(first) : nullptr;
      if (!partner) continue;
      const Node* best = nullptr;
      int most = -1;
      size_t looked_at = 0;
      for (const Use& use : partner->uses()) {
        const Node* y = use.node;
        if (y->graph() != &b_ || !MayPair(x, y)) continue;
        if (++looked_at > kMaxCandidates) break;
        const Operands operands = Compare(x, y);
        if (operands == Operands::kOther) continue;
        const int score = Score(x, y, operands);
        // Uses have no order of their own.
        if (score > most || (score == most && Before(y, best))) {
          most = score;
          best = y;
        }
      }
      if (best) Pair(x, best);
    }
  }

  // By the order of nodes in the graph.
  bool Before(const Node* x, const Node* y) {
    if (order_.empty()) {
      size_t i = 0;
      for (const Node* node : b_.nodes()) order_[node] = i++;
    }
    return order_[x] < order_[y];
  }

  void Back(const Value* x, const Value* y) {
    std::vector<std::pair<const Value*, const Value*>> todo = {{x, y}};
    while (!todo.empty()) {
      const auto [p, q] = todo.back();
      todo.pop_back();
      if (PartnerOf(p) && PartnerOf(p) != q) continue;
      Pair(p, q);
      const Node *n = p->producer(), *m = q->producer();
      if (!n || !m || p->output_index() != q->output_index() || !MayPair(n, m)) continue;
      Pair(n, m);
      if (n->num_inputs() != m->num_inputs()) continue;
      for (size_t i = 0; i < n->num_inputs(); ++i) {
        const Value *u = n->input(i), *v = m->input(i);
        if (u && v && !IsConstant(u) && !IsConstant(v) && !PartnerOf(u) && !taken_.contains(v)) {
          todo.emplace_back(u, v);
        }
      }
    }
  }

  void ByName() {
    absl::flat_hash_map<std::string_view, const Value*> named;
    for (const Node* y : b_.nodes()) {
      for (size_t i = 0; i < y->num_outputs(); ++i) {
        const Value* q = y->output(i);
        if (q && !q->name().empty() && !taken_.contains(q)) named[q->name()] = q;
      }
    }
    for (const Node* x : a_.nodes()) {
      for (size_t i = 0; i < x->num_outputs(); ++i) {
        const Value* p = x->output(i);
        if (!p || match_.values.contains(p)) continue;
        const auto it = named.find(p->name());
        if (it == named.end() || p->type().kind() != it->second->type().kind()) continue;
        const Node* y = it->second->producer();
        if (MayPair(x, y) && it->second->output_index() == i) {
          Pair(x, y);
        } else {
          Pair(p, it->second);
        }
      }
    }
  }

  // A value that thousands use is not looked at as often as that.
  static constexpr size_t kMaxCandidates = 256;

  const Graph& a_;
  const Graph& b_;
  GraphMatch match_;
  absl::flat_hash_set<const Value*> taken_, constants_;
  absl::flat_hash_set<const Node*> taken_nodes_;
  absl::flat_hash_map<const Node*, size_t> order_;
};

}  // namespace

absl::StatusOr<InterfaceMatch> MatchInterfaces(const Graph& a, const Graph& b) {
  InterfaceMatch ports;
  X2IR_ASSIGN_OR_RETURN(ports.inputs, InPairs(Required(a), Required(b), "input"));
  X2IR_ASSIGN_OR_RETURN(ports.outputs, InPairs(a.outputs(), b.outputs(), "output"));
  return ports;
}

IoCase CaseOf(const IoCase& io, const InterfaceMatch& ports, const Graph& a, const Graph& b) {
  IoCase translated;
  translated.name = io.name;
  translated.inputs.resize(b.inputs().size());
  for (const auto& [x, y] : ports.inputs) {
    std::optional<Tensor> tensor = io.inputs[PositionOf(a, x)];
    // A model in half precision takes the same numbers in another type.
    const bool numbers = tensor && ComputeTypeOf(tensor->dtype()) != ComputeType::kNone &&
                         ComputeTypeOf(y->dtype()) != ComputeType::kNone;
    if (numbers && y->dtype() != tensor->dtype()) {
      if (auto cast = CastTensor(*tensor, y->dtype()); cast.ok()) tensor = *std::move(cast);
    }
    translated.inputs[PositionOf(b, y)] = std::move(tensor);
  }
  return translated;
}

GraphMatch MatchGraphs(const Graph& a, const Graph& b, const InterfaceMatch& ports,
                       const ValuePairs& known) {
  return Matcher(a, b).Run(ports, known);
}

InterfaceMatch PortsByPosition(const Graph& a, const Graph& b) {
  InterfaceMatch ports;
  const auto pair = [](absl::Span<const Value* const> x, absl::Span<const Value* const> y,
                       ValuePairs& pairs) {
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) pairs.emplace_back(x[i], y[i]);
  };
  pair(a.inputs(), b.inputs(), ports.inputs);
  pair(a.outputs(), b.outputs(), ports.outputs);
  return ports;
}

GraphMatch MatchNested(const Graph& a, const Graph& b, const GraphMatch& around) {
  ValuePairs known;
  absl::flat_hash_set<const Value*> seen;
  const auto use = [&](const Value* value) {
    const auto it = around.values.find(value);
    if (it != around.values.end() && seen.insert(value).second) known.push_back(*it);
  };
  for (std::vector<const Graph*> todo = {&a}; !todo.empty();) {
    const Graph* graph = todo.back();
    todo.pop_back();
    for (const Node* node : graph->nodes()) {
      for (size_t i = 0; i < node->num_inputs(); ++i) use(node->input(i));
      for (const Graph* inner : node->subgraphs()) todo.push_back(inner);
    }
    for (const Value* output : graph->outputs()) use(output);
  }
  GraphMatch match = MatchGraphs(a, b, PortsByPosition(a, b), known);
  absl::erase_if(match.nodes, [&](const auto& pair) { return pair.first->graph() != &a; });
  return match;
}

}  // namespace x2ir
