// transposes: as few transposes as moving them allows.
//  1. Transposes of transposes, of constants, of the same value, and those that change nothing
//     are merged, folded, shared, removed (transpose_set.h).
//  2. From each transpose a region is grown: all nodes that could work on operands in another order
//     of axes if their neighbours did (region.h). How an op does so is its rule (flips.h). Those
//     nodes are flipped which together leave the fewest transposes at the borders: a minimum cut.
//     Transposes move up and down by the same rule, and end where something takes them up: in
//     other transposes, constants, reductions, reshapes, sizes that are 1. A transpose between a
//     convolution and its bias, or between a window and its pad, moves on (folds.h).
//  3. A transpose that moves only axes of size 1 becomes a reshape, where constants can say it.
//  4. A node that the target would say by transposes again is not flipped.
//  5. A matmul by constant weights becomes a conv of kernel 1 where its columns become channels:
//  for images this also saves the add after it, for sequences it must save transposes.
// Inputs, outputs, and values that nested graphs use keep their order.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "x2ir/optimizer/node_index.h"
#include "x2ir/optimizer/pass.h"
#include "x2ir/optimizer/transpose/region.h"
#include "x2ir/optimizer/transpose/transpose_set.h"

namespace x2ir {
namespace {

// Regions may be looked at again after a change nearby; so often in all, for each node.
constexpr int64_t kMaxWorkPerNode = 200;

class Elimination {
 public:
  Elimination(Graph& graph, const PassContext& target, const std::vector<Node*>* candidates)
      : transposes_(graph, target, candidates),
        region_(transposes_, target),
        work_(kMaxWorkPerNode * (static_cast<int64_t>(graph.num_nodes()) + 100)) {}

  int64_t Run() {
    changes_ = transposes_.Tidy();
    while (work_ > 0) {
      const auto [node, time] = transposes_.NextChanged();
      if (!node) break;
      const Perm p = *PermOf(*node);
      // Its users work on its operand, or its producer gives its result.
      if (!Improve(node->output(0), Inverse(p), time)) Improve(node->input(0), p, time);
    }
    return changes_ + transposes_.Close();
  }
  bool AllGone() const { return transposes_.empty(); }

 private:
  // Grows the region of a value and flips what should be, unless that was tried after `time`.
  bool Improve(Value* value, const Perm& p, int64_t time) {
    for (const Value* gone : transposes_.TakeGone()) tried_.erase(gone);
    auto& tried = tried_[value];
    const auto last = std::find_if(tried.begin(), tried.end(),
                                   [&](const auto& entry) { return entry.first == p; });
    if (last != tried.end() && last->second > time) return false;
    transposes_.SetTime(++time_);
    region_.Grow(value, p);
    const bool better = region_.Decide();
    work_ -= region_.work() + 1;
    if (!better) {
      for (const auto& [reached, order] : region_.values()) {
        auto& times = tried_[reached];
        const auto known =
            std::find_if(times.begin(), times.end(),
                         [&, perm = order](const auto& t) { return t.first == perm; });
        if (known != times.end()) {
          known->second = time_;
        } else {
          times.emplace_back(order, time_);
        }
      }
      return false;
    }
    region_.Apply();
    transposes_.Tidy();
    ++changes_;
    return true;
  }

  TransposeSet transposes_;
  Region region_;
  // Values whose regions were best as they were, by the order that they would have had, and when.
  using Tried = absl::InlinedVector<std::pair<Perm, int64_t>, 1>;
  absl::flat_hash_map<const Value*, Tried> tried_;
  int64_t work_;
  int64_t time_ = 0;
  int64_t changes_ = 0;
};

constexpr int kMaxRuns = 8;

int64_t EliminateIn(Graph& graph, const PassContext& context,
                    const std::vector<Node*>* candidates = nullptr) {
  // What one run leaves may let a few more regions pay off.
  int64_t changes = 0;
  for (int round = 0; round < kMaxRuns; ++round) {
    Elimination elimination(graph, context, round == 0 ? candidates : nullptr);
    const int64_t made = elimination.Run();
    changes += made;
    if (made == 0 || elimination.AllGone()) break;
  }
  for (Graph* inner : graph.NestedGraphs()) changes += EliminateIn(*inner, context);
  return changes;
}

absl::StatusOr<int64_t> EliminateTransposes(Graph& graph, const PassContext& context) {
  static const auto* anywhere = new ProducerOps;
  const auto candidate = [](Symbol op) {
    return op == "transpose" || op == "reshape" ? anywhere : nullptr;
  };
  if (!context.index) return EliminateIn(graph, context);
  const std::vector<Node*> candidates = context.index->Find(graph, candidate);
  return candidates.empty() ? 0 : EliminateIn(graph, context, &candidates);
}

X2IR_PASS(transposes, "Moves transposes to where they cancel or cost nothing.",
          EliminateTransposes);

}  // namespace
}  // namespace x2ir
