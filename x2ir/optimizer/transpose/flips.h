// How each op behaves when the axes of its operands and results change places: one small rule
// an op, in one table (flips_*.cc).
//
//   X2IR_FLIP(softmax, SameRank, MoveAxisAttr);
//
// A node is flipped when it works on operands, and gives results, of another order of axes: the
// numbers are the same, elsewhere. `spread` says, from the order of one operand or result, what
// that of all others is then; `change` makes the node one that does so.
#ifndef X2IR_OPTIMIZER_TRANSPOSE_FLIPS_H_
#define X2IR_OPTIMIZER_TRANSPOSE_FLIPS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/optimizer/pass.h"
#include "x2ir/optimizer/rule_util.h"
#include "x2ir/optimizer/transpose/perm.h"

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
  int cost = 0;  // nodes that it needs beside (or saves, below 0)

  explicit Flip(const Node& node) : in(node.num_inputs()), out(node.num_outputs()) {}
  const Perm& at(Slot s) const { return s.output ? out[s.index] : in[s.index]; }
};

// nullopt: the op does not pass it. Ranks of all tensors that change order must be known.
using SpreadFn = std::optional<Flip> (*)(const Node& node, Slot slot, const Perm& p);
// Changes attributes and those operands that speak of axes; the driver sees to the others. The
// node still stands among the types and operands that it had. Null: nothing to do.
using ChangeFn = void (*)(Node& node, const Flip& flip, Builder& b);

struct FlipRule {
  SpreadFn spread;
  ChangeFn change;
  SourcePlace place{};
};

// Null when the op passes no transpose.
const FlipRule* FindFlipRule(Symbol op);
// In alphabetical order; for tests.
std::vector<Symbol> OpsWithFlipRules();
bool RegisterFlip(std::string_view op, SpreadFn spread, ChangeFn change,
                  SourcePlace place = SourcePlace::Here());

#define X2IR_FLIP(op, spread, change)                                        \
  [[maybe_unused]] static const bool X2IR_CONCAT_(x2ir_flip_, __COUNTER__) = \
      ::x2ir::RegisterFlip(#op, spread, change)

// Whether the target would say the flipped node by transposes again, or not at all: some have
// softmax and its kin over the last axis alone; a resize interpolates over places.
bool NeedsTransposes(const Node& node, const Flip& flip, const PassContext& context);
// Whether a resize that interpolates where runtimes do, over the places of the layout, would not
// any more.
bool InterpolatesElsewhere(const Node& node, const Perm& p, bool channels_last);

// Whether the flipped matmul is a conv: its columns become the axis of channels.
bool BecomesConv(const Node& matmul, const Flip& flip);

// --- What rules share -----------------------------------------------------------------------

// What an operand that is broadcast to rank p.size() has to be for the result to have order p.
Perm OperandOrder(const Value& operand, const Perm& p);
// The order of a result that is without some axes of the operand ("dropped"), and the other way
// round, where the dropped axes may stand anywhere.
Perm WithoutAxes(const Perm& p, const std::vector<bool>& dropped);
Perm WithAxes(const Perm& p, const std::vector<bool>& dropped);
// Which of `rank` axes a list names; nullopt for an axis out of range.
std::optional<std::vector<bool>> AxisMask(const std::vector<int64_t>& axes, int64_t rank);
// Where the axes of a list go, in the list's order.
std::vector<int64_t> NewAxes(const std::vector<int64_t>& axes, const Perm& p);

// Puts another operand there; nodes with fewer operands get more. Constants that nobody uses then
// are the caller's to remove.
void SetOperand(Node& node, size_t i, Value* value);
// Elements of a rank-1 value in another order: element i is element order[i].
Value* Reordered(Builder& b, Value* value, const std::vector<int64_t>& order);

// Spread: operands [0, n) and all results have one rank and one order.
std::optional<Flip> SameOrder(const Node& node, Slot slot, const Perm& p, size_t operands);
// Spread: operands [0, n) are broadcast to the results' rank.
std::optional<Flip> Broadcast(const Node& node, Slot slot, const Perm& p, size_t operands);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_TRANSPOSE_FLIPS_H_
