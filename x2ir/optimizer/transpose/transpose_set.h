// The transposes of one graph, simplified among themselves: chains, duplicates and transposes of
// constants. (Moving one past another op is region.h's.)
#ifndef X2IR_OPTIMIZER_TRANSPOSE_TRANSPOSE_SET_H_
#define X2IR_OPTIMIZER_TRANSPOSE_TRANSPOSE_SET_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/perm.h"
#include "x2ir/optimizer/pass.h"

namespace X2IR_API x2ir {

class TransposeSet {
 public:
  // Reshapes that move only axes of size 1 count as transposes until Close. `candidates`: all
  // transposes and reshapes, in order, and maybe some of other graphs; null: not known.
  TransposeSet(Graph& graph, const PassContext& context, const std::vector<Node*>* candidates);

  Graph& graph() { return graph_; }
  bool empty() const { return live_.empty(); }
  bool Contains(const Node* node) const { return live_.contains(node); }
  // The value transposed, by a new node right after the value's producer.
  Value* Make(Value* value, const Perm& p);
  // Puts a transpose between the value and all of its consumers, which keep seeing the type that
  // the value has now. The caller then gives the value the order of axes that the transpose undoes.
  void Insulate(Value* value, const Perm& undo);

  //  1. A transpose that changes nothing is removed.
  //  2. A transpose of a transpose takes the operand of the first; unused nodes are removed.
  //  3. One of a constant is a constant, unless a large one would be there twice then, or stays in
  //     its file.
  //  4. Equal ones of one value become one.
  // Only those that are new or whose surroundings changed are looked at. Gives how many went.
  int64_t Tidy();
  // One that is new or changed since it was last given, and when that was; null when there is none.
  struct Changed {
    Node* node = nullptr;
    int64_t time = 0;
  };
  Changed NextChanged();
  void SetTime(int64_t time) { time_ = time; }
  // Results of transposes that went since this was last called.
  std::vector<const Value*> TakeGone() { return std::exchange(gone_, {}); }
  // Transposes that move only axes of size 1 become reshapes. Gives how many were none before.
  int64_t Close();

 private:
  struct State {
    bool waiting = false;  // for Tidy
    bool changed = false;  // for NextChanged
    int64_t time = 0;
    bool was_reshape = false;
    std::string shape{};  // the name of the constant that the reshape had
  };
  void Add(Node* node);
  void AddReshape(Node* node, const Perm& p);
  void Wait(Node* node);
  void WaitForUsers(const Value* value);
  void Erase(Node* node);
  void ReplaceBy(Node* node, Value* value);
  void PlaceBehindOperand(Node* node);
  Node* NodeBehind(const Value* value);
  // The constant of that name, if it is still there.
  Value* ShapeOf(const std::string& name);
  bool Merge(Node* node);
  bool Fold(Node* node, const Perm& p);
  bool Share(Node* node, const Perm& p);

  Graph& graph_;
  const PassContext& context_;
  absl::flat_hash_map<const Node*, State> live_;
  std::deque<Node*> waiting_, changed_;
  std::vector<const Value*> gone_;
  std::vector<std::string> shapes_;  // of all State::shape
  int64_t time_ = 0;
  absl::flat_hash_map<std::pair<const Value*, Perm>, Node*> of_;  // may be out of date
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_TRANSPOSE_SET_H_
