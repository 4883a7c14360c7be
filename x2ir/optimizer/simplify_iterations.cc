// Rules of simplify for what loops carry from round to round (see simplify.cc).
// 34. A tensor of which round i replaces row i, and that nothing else reads, is the stack of these
//     rows, if there are as many rounds as rows. Where round i replaces row i from the end, it is
//     the stack in the reverse order.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/rounds.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// --- Stacks ---------------------------------------------------------------------------------

// The row [1, ...] that each round puts into what is carried as that one; null where it does more.
// `down`: from the last row to the first.
struct ReplacedRow {
  const Value* row = nullptr;
  bool down = false;
};
ReplacedRow RowOf(const Graph& body, size_t carried, const Dim& rounds) {
  const Value *before = body.inputs()[kLoopCarriedFrom + carried],
              *after = body.outputs()[1 + carried];
  const Node* put = after->producer();
  if (!put || !put->Is("scatter_nd") || put->graph() != &body || put->input(0) != before ||
      put->attrs().String("reduction", "none") != "none" || before->uses().size() != 1 ||
      before->is_graph_output() || !after->uses().empty() || after->graph_output_count() != 1) {
    return {};
  }
  const Value *place = put->input(1), *row = put->input(2);
  const Shape *all = before->shape(), *one = row->shape();
  if (RankOf(place) != 2 || !all || !one || all->rank() < 1 || one->rank() != all->rank() ||
      (*one)[0] != Dim(1) || !ProvablyEqual((*all)[0], rounds)) {
    return {};
  }
  for (int64_t i = 1; i < all->rank(); ++i) {
    if (!ProvablyEqual((*all)[i], (*one)[i])) return {};
  }
  const auto round = RoundNumberOf(body, place);
  if (!round || !(round->is_round() || round->counts_down(rounds))) return {};
  return {row, !round->is_round()};
}

// The loop again, with the outputs of the body in another order: `kept` of what is carried, then
// all stacks, then `rows` without their first axis.
Values WithStacks(Rewriter& r, const Dim& rounds, const std::vector<size_t>& kept,
                  const std::vector<const Value*>& rows) {
  const Node& node = r.node();
  const size_t carried = node.num_inputs() - kLoopCarriedFrom;
  absl::flat_hash_map<const Value*, Value*> copies;
  const std::shared_ptr<Graph> body = node.attrs().SubGraph("body").Clone(&copies);
  const std::vector<Value*> outputs = body->outputs(), inputs = body->inputs();
  body->ClearOutputs();
  // Whatever ends it, the number of rounds says how many rows there are.
  Value* count = rounds.is_static() ? r.b().Int(rounds.value(), "rounds") : node.input(0);
  body->AddOutput(inputs[1]);
  Values operands = {count, nullptr};
  std::vector<bool> wanted(kept.size(), true), is_kept(carried);
  for (const size_t i : kept) {
    body->AddOutput(outputs[1 + i]);
    operands.push_back(node.input(kLoopCarriedFrom + i));
    is_kept[i] = true;
  }
  for (size_t i = carried; i < node.num_outputs(); ++i) {
    body->AddOutput(outputs[1 + i]);
    wanted.push_back(node.output(i) != nullptr);
  }
  Builder inner(*body, nullptr);
  for (const Value* row : rows) {
    Value* own = copies.contains(row) ? copies.at(row) : const_cast<Value*>(row);
    body->AddOutput(Squeeze({inner, own}, {0}));
    wanted.push_back(true);
  }
  for (Node* made : inner.made()) body->NameValues(made, "row");
  for (size_t i = 0; i < carried; ++i) {
    if (is_kept[i]) continue;
    body->EraseUnused(outputs[1 + i]->producer());
    body->RemoveInput(inputs[kLoopCarriedFrom + i]);
  }
  if (!inner.status().ok()) r.b().Fail(inner.status());
  return r.b().Ops("loop", operands, {{"body", body}}, wanted);
}

absl::StatusOr<bool> StackRows(Rewriter& r) {
  const Node& node = r.node();
  if (node.num_inputs() <= kLoopCarriedFrom) return false;
  const Graph& body = node.attrs().SubGraph("body");
  const size_t carried = node.num_inputs() - kLoopCarriedFrom;
  const Dim rounds = CountOfRounds(node);
  if (rounds.is_unknown()) return false;
  std::vector<size_t> kept;
  std::vector<ReplacedRow> rows(carried);
  std::vector<const Value*> replaced;
  for (size_t i = 0; i < carried; ++i) {
    rows[i] = RowOf(body, i, rounds);
    if (rows[i].row) {
      replaced.push_back(rows[i].row);
    } else {
      kept.push_back(i);
    }
  }
  if (replaced.empty()) return false;
  const Values made = WithStacks(r, rounds, kept, replaced);
  if (!r.b().status().ok()) return false;
  Values results;
  const size_t stacks = node.num_outputs() - carried;
  size_t next_kept = 0, next_row = kept.size() + stacks;
  for (size_t i = 0; i < carried; ++i) {
    if (!rows[i].row) {
      results.push_back(made[next_kept++]);
      continue;
    }
    const Expr stack = {r.b(), made[next_row++]};
    const Expr all = rows[i].down ? Slice(stack, 0, -1, -kToEnd, -1) : stack;
    results.push_back(node.output(i) ? all.value() : nullptr);
  }
  for (size_t i = 0; i < stacks; ++i) results.push_back(made[kept.size() + i]);
  for (size_t i = 0; i < carried; ++i) {
    if (node.output(i) && !SameShape(results[i], node.output(i))) return false;
  }
  return r.Replace(results);
}
X2IR_RULE(simplify, loop, StackRows);

}  // namespace
}  // namespace x2ir
