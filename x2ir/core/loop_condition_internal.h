// The condition of a `loop` of the IR as a function of what the rounds carry. Of a while loop that
// was read, the body has the condition of the next round at its end, and a copy stands before the
// loop; this finds that both are one condition, which a while loop then asks before each round.
#ifndef X2IR_CORE_LOOP_CONDITION_INTERNAL_H_
#define X2IR_CORE_LOOP_CONDITION_INTERNAL_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/rewrite.h"

namespace x2ir {

class LoopCondition {
 public:
  // nullopt where the condition needs more than the carried values and those outside of the loop,
  // and where its nodes serve the rounds, too.
  static std::optional<LoopCondition> Of(const Node& loop);

  // Whether the first condition is this one of the first values: by the nodes that make it, as long
  // as these are ops of the IR.
  bool IsFirst() const;

  // A copy that asks for a round with these carried values.
  Value* Copy(Builder& b, const Values& carried) const;

 private:
  explicit LoopCondition(const Node& loop);
  bool Collect();
  // WithoutIdentities, of which each is passed once.
  const Value* Source(const Value* v) const;
  // The number of the carried value that `v`, of the body, is for the next round.
  std::optional<size_t> CarriedAs(const Value* v) const;
  // Whether `v` is `first` before the first round.
  bool IsFirst(const Value* v, const Value* first) const;
  static bool GivesFew(const Node& node);
  // What `v` is before the first round, where that is known.
  std::optional<Tensor> KnownFirst(const Value* v) const;

  const Node& loop_;
  const Graph& body_;
  const Value* result_;
  absl::flat_hash_map<const Value*, size_t> carried_;
  std::vector<const Node*> nodes_;  // in the order in which they run
  mutable absl::flat_hash_map<const Value*, const Value*> sources_;  // of copies
};

}  // namespace x2ir

#endif  // X2IR_CORE_LOOP_CONDITION_INTERNAL_H_
