// Flips: a node with operands and results in another order of axes; the elements are the same, at
// other positions. An op's AxisRule (traits.h) says how its nodes are flipped; this file has the
// parts of such rules. A rule that only one op uses is beside the definition of the op.
#ifndef X2IR_OPS_AXES_H_
#define X2IR_OPS_AXES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/perm.h"
#include "x2ir/ops/traits.h"

namespace X2IR_API x2ir {

// An operand or a result of a node.
struct Slot {
  bool output;
  size_t index;
};

struct Flip {
  // One for each operand and result; empty: as it was. An order of more axes than an operand has
  // is that of the operand after axes of size 1 were put before its own (broadcast).
  std::vector<Perm> in, out;
  int cost = 0;  // additional nodes that the flipped node needs (below 0: saves)

  explicit Flip(const Node& node) : in(node.num_inputs()), out(node.num_outputs()) {}
  const Perm& at(Slot s) const { return s.output ? out[s.index] : in[s.index]; }
};

// --- Spreading ------------------------------------------------------------------------------

// Operands [0, n) and all results have one rank and one order.
std::optional<Flip> FlipSame(const Node& node, Slot slot, const Perm& p, size_t operands);
// Operands [0, n) are broadcast to the results' rank.
std::optional<Flip> FlipBroadcast(const Node& node, Slot slot, const Perm& p, size_t operands);
// Operand 0 and the results may change the order of all axes but [from, to).
std::optional<Flip> FlipAllBut(const Node& node, Slot slot, const Perm& p, int64_t from,
                               int64_t to);
// Output 0 is without the dropped axes of operand 0.
std::optional<Flip> FlipDropping(const Node& node, Slot slot, const Perm& p,
                                 const std::vector<bool>& dropped);
// Operand 0 alone and all results have one rank and one order.
inline std::optional<Flip> FlipFirst(const Node& node, Slot slot, const Perm& p) {
  return FlipSame(node, slot, p, 1);
}
// All operands and results have one rank and one order.
inline std::optional<Flip> FlipAll(const Node& node, Slot slot, const Perm& p) {
  return FlipSame(node, slot, p, node.num_inputs());
}
std::optional<Flip> FlipElementwise(const Node& node, Slot slot, const Perm& p);
std::optional<Flip> FlipFirstBroadcast(const Node& node, Slot slot, const Perm& p);
std::optional<Flip> FlipReduction(const Node& node, Slot slot, const Perm& p);
std::optional<Flip> FlipReshape(const Node& node, Slot slot, const Perm& p);

// --- Changing -------------------------------------------------------------------------------

// Attribute `axis`, of operand 0.
void MoveAxisAttr(Node& node, const Flip& flip, Builder& b);
// The axes of a reduction: attribute `axis`, or operand 1.
void MoveReducedAxes(Node& node, const Flip& flip, Builder& b);
void ChangeReshape(Node& node, const Flip& flip, Builder& b);

// --- Rules ----------------------------------------------------------------------------------

// One element of each operand, broadcast, makes one of each result.
inline constexpr AxisRule kElementwiseAxes{FlipElementwise, nullptr};
// The same for operand 0; the others are of rank 0, or do not refer to axes.
inline constexpr AxisRule kFirstElementwiseAxes{FlipFirstBroadcast, nullptr};
// Something along the axis that attribute `axis` names, of operand 0 or of all operands.
inline constexpr AxisRule kAlongAxis{FlipFirst, MoveAxisAttr};
inline constexpr AxisRule kAllAlongAxis{FlipAll, MoveAxisAttr};
// Reductions over attribute `axis` or over the axes of operand 1, kept if attribute `keepdims`.
inline constexpr AxisRule kReductionAxes{FlipReduction, MoveReducedAxes};
// The same elements in another shape: reshape, flatten.
inline constexpr AxisRule kReshapeAxes{FlipReshape, ChangeReshape};

// --- Building blocks of rules -----------------------------------------------------------------

// The rank of the value, -1 where it is not known.
int64_t RankOf(const Value* value);
// The order of an operand that is broadcast to rank p.size(), so that the result has order p.
Perm OperandOrder(const Value& operand, const Perm& p);
// The order of a result that is without some axes of the operand ("dropped"), and the other way
// round, where the dropped axes may be at any position.
Perm WithoutAxes(const Perm& p, const std::vector<bool>& dropped);
Perm WithAxes(const Perm& p, const std::vector<bool>& dropped);
// Which of `rank` axes a list names; nullopt for an axis out of range.
std::optional<std::vector<bool>> AxisMask(const std::vector<int64_t>& axes, int64_t rank);
// Where the axes of a list go, in the list's order.
std::vector<int64_t> NewAxes(const std::vector<int64_t>& axes, const Perm& p);
// Whether the channels stay where the node's attribute `layout` has them.
bool FixesChannels(const Node& node, const Perm& p);

// Replaces an operand; nodes with fewer operands get more. The caller must remove constants that
// are unused then.
void SetOperand(Node& node, size_t i, Value* value);
// Elements of a rank-1 value in another order: element i is element order[i].
Value* Reordered(Builder& b, Value* value, const std::vector<int64_t>& order);
// The number of nodes that this takes: none if the numbers are known in every run, or left out.
int CostOfOrdering(const Value* numbers);

}  // namespace x2ir

#endif  // X2IR_OPS_AXES_H_
