// Loops and scans of a known number of rounds as these rounds, one after the other.
#ifndef X2IR_OPTIMIZER_ROUNDS_H_
#define X2IR_OPTIMIZER_ROUNDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

inline constexpr size_t kLoopCarriedFrom = 2;  // the operands of a loop that are carried

// How often a loop runs; nullopt where that is not known. Of a condition it is known that it ends
// the loop when a number that is counted reaches a bound.
std::optional<int64_t> RoundsOf(const Node& node);
// Where a value that the loop carries is one more in each round: its first number.
std::optional<int64_t> CountedFromNumber(const Node& loop, size_t carried);
// The same as a size, which may be symbolic; unknown where nothing is known.
Dim CountOfRounds(const Node& node);

// An integer of one element that is computed of the number of a loop's round: factor * round +
// offset, which is from `low` to `high` in every round, in every type on the way.
struct RoundNumber {
  int64_t factor = 1;  // or -1
  int64_t offset = 0;
  int64_t low = 0, high = 0;

  bool is_round() const { return factor == 1 && offset == 0; }
  // Whether it counts from the last round, of that many, down to 0.
  bool counts_down(const Dim& rounds) const {
    return factor == -1 && rounds.is_static() && offset == rounds.value() - 1;
  }
};
// nullopt where the value, of a body's nodes, is none.
std::optional<RoundNumber> RoundNumberOf(const Graph& body, const Value* value);

// Whether the types are sufficient. The operands that are carried from round to round start at
// `first`; the outputs after them are stacks of what the body's outputs, which start at `from` for
// all of them, are in each round.
bool MayBeRounds(const Node& node, int64_t rounds, size_t first, size_t carried, size_t from);

// One round of the body; nullopt where it cannot be.
std::optional<Values> AppendRound(Builder& b, const Graph& body, const Values& inputs);
// Constants of a body, and of all graphs in it, become constants beside the loop, so that its
// rounds share them.
void ShareConstants(Builder& b, Graph& body);
// One output of all rounds, stacked along a new axis.
Value* Stacked(Builder& b, const Values& rounds, int64_t axis);

// How many nodes the rounds of a body are, with those of the loops in it whose number is known.
// Saturates.
int64_t NodesOfRounds(const Graph& body, int64_t rounds);

// For a target without loops, loops are unrolled. The size of all unrolled loops of a model is
// bounded, because nested loops are few bytes in a file but may be any number of nodes. Targets
// that are not a RoundsBudget have no limit.
class RoundsBudget {
 public:
  static constexpr int64_t kMaxNodes = 100'000;
  static constexpr int64_t kMaxBytes = int64_t{64} << 20;  // of nodes, with names and attributes

  virtual ~RoundsBudget() = default;
  // CannotExpress if the budget is exceeded.
  absl::Status Take(const Graph& body, int64_t rounds) const;

 private:
  mutable int64_t nodes_ = kMaxNodes, bytes_ = kMaxBytes;
};
absl::Status TakeRounds(const Target& target, const Graph& body, int64_t rounds);

// All rounds of a loop of that many; nullopt where one cannot be.
std::optional<Values> LoopInRounds(Builder& b, const Node& node, int64_t rounds);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_ROUNDS_H_
