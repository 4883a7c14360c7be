// Nested graphs that readers write: what a loop of another world does in a round, and the results
// of any nested graph. Loops as formulas are in loop.h.
#ifndef X2IR_BUILDER_NESTED_H_
#define X2IR_BUILDER_NESTED_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// Makes values the outputs of the builder's graph: as values of their own, made in it.
void AddResults(Builder& b, const Values& values);

// What branch `index` (int64, rank 0) gives; the last one where there is none of that number. All
// branches, two at least, give as many results.
Values BranchOf(Builder& b, Value* index, const std::vector<std::shared_ptr<Graph>>& branches);

// The body of a `loop` while it is written: inputs are the number of the round (int64, rank 0), the
// condition (bool, rank 0) and what is carried.
class LoopBody {
 public:
  LoopBody();
  LoopBody(const LoopBody&) = delete;
  LoopBody& operator=(const LoopBody&) = delete;

  Builder& b() { return b_; }
  Value* iteration() const { return graph_->inputs()[0]; }
  Value* condition() const { return graph_->inputs()[1]; }
  // A value of the body that is `first` in the first round. A type that is not known is inferred.
  Value* Carry(Value* first, std::string_view name, Type type = {});

  // Adds the loop to `outside`. There are `rounds` rounds at most (null: any number), as long as
  // `starts` and then each round's `goes_on` holds. Where `starts` is null the rounds alone count,
  // and `goes_on` is not read. `results` are what is carried on,
  // then what each round adds to a stack. Gives the last of what is carried, then the stacks; the
  // error of the body where it has one.
  absl::StatusOr<Values> Loop(Builder& outside, Value* rounds, Value* starts, Value* goes_on,
                              const Values& results);

 private:
  std::shared_ptr<Graph> graph_;
  Builder b_;
  Values first_;
};

}  // namespace x2ir

#endif  // X2IR_BUILDER_NESTED_H_
