// A `loop` of the IR as the while loop of other frameworks: variables, a graph that says whether
// there is another round, and one that gives the next values of all variables. The variables are
// the number of the round (int64, rank 0; only where something asks for it), whether to go on
// (bool, rank 0; only where that does not follow from the others), what the IR's loop carries, and
// one more for each result that the loop stacks.
#ifndef X2IR_CORE_LOOP_AS_WHILE_H_
#define X2IR_CORE_LOOP_AS_WHILE_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_writer.h"

namespace X2IR_API x2ir {

class LoopCondition;

// Marks the loops, in nested graphs too, whose condition follows from what their rounds carry, the
// first one as well. Before the graph is exported: then the nodes that make the first condition are
// still to be seen.
void MarkOwnConditions(Graph& graph);

class LoopAsWhile {
 public:
  // What the target takes, and what is known of the loop.
  struct Allowed {
    bool sequences = false;         // rounds may carry sequences
    bool scalar_condition = false;  // the condition is of rank 0, whatever is known of its type
  };
  // `w` writes the loop and outlives this. FailedPrecondition for a loop without an end, and for
  // one that carries something else than tensors, and sequences where they are allowed.
  static absl::StatusOr<LoopAsWhile> Of(NodeWriter& w, Allowed allowed);

  size_t carried() const { return carried_; }
  size_t stacked() const { return stacked_; }
  // Whether a condition can end the loop. If not, there are as many rounds as operand 0 says.
  bool asks() const { return asks_; }
  // The number of rounds at most, where it is known.
  std::optional<int64_t> rounds() const { return rounds_; }
  // Operand 0 as int64 of rank 0; null where it is left out.
  Value* limit() const { return limit_; }
  // What a round gives to be carried on, or adds to stack i.
  const Value& next(size_t i) const { return *body_->outputs()[1 + i]; }
  const Value& added(size_t i) const { return next(carried_ + i); }

  // The values of the variables before the first round, and their types. A stack is to be added for
  // each result.
  const Values& first() const { return first_; }
  const std::vector<Type>& types() const { return types_; }
  void AddStack(Value* first, Type type) {
    first_.push_back(first);
    types_.push_back(std::move(type));
  }
  // How many variables there are before those that the IR's loop has results of.
  size_t own() const { return (counts_ ? 1u : 0u) + (keeps_condition() ? 1u : 0u); }

  absl::StatusOr<std::shared_ptr<Graph>> Condition() const;
  // `put` gives stack i with what a round adds. `round` is null where nothing counts the rounds,
  // and is there where there is a limit.
  using PutFn =
      std::function<Value*(Builder& b, size_t i, Value* stack, Value* added, Value* round)>;
  absl::StatusOr<std::shared_ptr<Graph>> Body(const PutFn& put) const;

 private:
  LoopAsWhile(NodeWriter& w, bool is_scalar);
  bool keeps_condition() const { return asks_ && !condition_; }
  Values AddInputs(Graph& graph) const;
  Values CarriedOf(const Values& inputs) const;
  Value* Scalar(Builder& b, Value* v) const;

  const Graph* body_;
  size_t carried_, stacked_;
  bool is_scalar_, asks_ = false, counts_ = false;
  std::shared_ptr<const LoopCondition> condition_;  // null: it is a variable, or nothing asks
  std::optional<int64_t> rounds_;
  Value* limit_ = nullptr;
  Values first_;
  std::vector<Type> types_;
};

}  // namespace x2ir

#endif  // X2IR_CORE_LOOP_AS_WHILE_H_
