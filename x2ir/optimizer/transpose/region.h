// A region: the nodes that can be flipped together (flips.h), found by growing from one value, and
// the choice of those that are flipped.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_REGION_H_
#define X2IR_OPTIMIZER_TRANSPOSE_REGION_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "x2ir/optimizer/transpose/flips.h"
#include "x2ir/optimizer/transpose/min_cut.h"
#include "x2ir/optimizer/transpose/transpose_set.h"

namespace X2IR_API x2ir {

class Region {
 public:
  Region(TransposeSet& transposes, const PassContext& target)
      : transposes_(transposes), target_(target) {}

  // Forgets the region before it, and finds all nodes that are reached from the value, when it has
  // order p, by producers and consumers. The region ends at transposes, at ops that no order of
  // axes passes, and at values whose order stays.
  void Grow(Value* value, const Perm& p);
  // The values that change their order of axes, each with the new order.
  const std::vector<std::pair<Value*, Perm>>& values() const { return values_; }
  // Chooses the nodes to flip; returns whether that leaves fewer transposes (and other nodes).
  bool Decide();
  // Flips them, and puts transposes between flipped nodes and all others, and between each other
  // too; TransposeSet::Tidy removes most of these.
  void Apply();
  // How much work the last one was: the number of nodes and uses that were visited.
  int64_t work() const { return work_; }

 private:
  struct Vertex {
    Node* node;
    Flip flip;
    bool flipped = false;
  };
  // One order in which a value is wanted, by a node as it is and flipped. No vertex: -1.
  struct Want {
    int vertex;
    Perm now, then;
  };
  struct Root {
    Value* value;  // not made by a transpose
    int vertex;    // its producer, or -1
    Perm held;     // the order that it has when that is flipped
    absl::InlinedVector<Want, 2> wants;
  };
  void Visit(Value* value, const Perm& p);
  void TryNode(Node* node, Slot slot, const Perm& p);
  void AddRoots();
  void AddRoot(Value* value);
  void AddWant(Root& root, const Use& use, const Perm& order);
  int VertexOf(const Node* node) const;
  int64_t OwnCost(const Vertex& vertex) const;
  void AddToCut(MinCut& cut, const Root& root) const;
  // Those that are flipped together.
  void Choose();
  int64_t Cost(const std::function<bool(int)>& flipped) const;
  void FlipNode(Vertex& vertex);
  Value* Adapted(Value* value, const Perm& p, Node* before);

  TransposeSet& transposes_;
  const PassContext& target_;
  std::vector<Vertex> vertices_;
  std::vector<Root> roots_;
  std::vector<std::pair<Value*, Perm>> values_;  // also the queue of Grow
  absl::flat_hash_map<const Node*, int> vertex_of_;
  absl::flat_hash_set<const Value*> seen_, known_;                        // by Visit, by AddRoots
  absl::flat_hash_map<std::pair<const Value*, Perm>, Value*> constants_;  // in other orders
  int64_t work_ = 0;
};

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_REGION_H_
