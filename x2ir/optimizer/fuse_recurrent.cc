// fuse_recurrent: loops that compute a recurrent layer become the layer, where the target has it.
//  1. A `loop` or a `scan` of which a round computes one step of lstm, gru or rnn from slice i of a
//     tensor is that op, forward or, if it takes the last slice first, in reverse.
// The steps are those of recurrent_step.h. Every output of the body must be a state of the step, or
// the stack of its hidden states, or count the rounds: then nothing else that the body computes is
// used. Numbers are
// those of before, but for the order of the summands of a gate.
// Only float32: no other type has kernels in all runtimes.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/identities.h"
#include "x2ir/optimizer/match.h"
#include "x2ir/optimizer/recurrent_step.h"
#include "x2ir/optimizer/rounds.h"
#include "x2ir/optimizer/rules.h"

namespace x2ir {
namespace {

X2IR_RULES_PASS(fuse_recurrent, "Loops that compute a recurrent layer become the layer.");

// What the rounds of a loop and of a scan have in common.
struct RoundsOfBody {
  const Node& node;
  const Graph& body;
  size_t carried;              // the first outputs
  std::vector<size_t> states;  // those that are not the number of the round
  size_t before = 0;           // operands, and inputs of the body, before what is carried
  size_t body_outputs = 0;     // of the body before that
  bool is_loop = false;
  Dim rounds{};  // of a loop

  Value* FirstState(size_t i) const { return node.input(before + i); }
  const Value* StateBefore(size_t i) const { return body.inputs()[before + i]; }
  // Of output i: the state after the round, or what is stacked.
  const Value* Result(size_t i) const { return body.outputs()[body_outputs + i]; }
};

std::optional<RoundsOfBody> ReadRounds(const Node& node) {
  const Graph& body = node.attrs().SubGraph("body");
  if (node.Is("loop")) {
    if (node.num_inputs() <= kLoopCarriedFrom) return std::nullopt;
    const Dim rounds = CountOfRounds(node);
    if (rounds.is_unknown()) return std::nullopt;
    RoundsOfBody rounds_of{.node = node,
                           .body = body,
                           .carried = node.num_inputs() - kLoopCarriedFrom,
                           .states = {},
                           .before = kLoopCarriedFrom,
                           .body_outputs = 1,
                           .is_loop = true,
                           .rounds = rounds};
    for (size_t i = 0; i < rounds_of.carried; ++i) {
      if (!rounds.is_static() || !CountedFromNumber(node, i)) rounds_of.states.push_back(i);
    }
    return rounds_of;
  }
  const auto scanned = static_cast<size_t>(node.attrs().Int("num_scan_inputs"));
  RoundsOfBody scan{
      .node = node, .body = body, .carried = node.num_inputs() - scanned, .states = {}};
  for (size_t i = 0; i < scan.carried; ++i) scan.states.push_back(i);
  return scan;
}

// Slice i of [length, batch, features], or of one with its axes in another order, as [batch,
// features], where the value is one.
std::optional<StepInput> InputOf(const RoundsOfBody& rounds, const Value* value) {
  if (!rounds.is_loop) {
    const auto& inputs = rounds.body.inputs();
    for (size_t i = rounds.carried; i < inputs.size(); ++i) {
      if (inputs[i] != value) continue;
      Value* all = rounds.node.input(i);
      if (RankOf(all) != 3) return std::nullopt;
      const AttributeMap& attrs = rounds.node.attrs();
      const int64_t axis = attrs.Ints("scan_input_axes")[i - rounds.carried];
      return StepInput{all, axis < 0 ? axis + 3 : axis,
                       attrs.Ints("scan_input_directions")[i - rounds.carried] == 1};
    }
    return std::nullopt;
  }
  const Shape* step = value->shape();
  const Node* node = value->producer();
  while (node && (node->Is("reshape") || node->Is("squeeze") || node->Is("unsqueeze"))) {
    node = node->input(0)->producer();
  }
  if (!node || !node->Is("gather") || node->graph() != &rounds.body || !step) return std::nullopt;
  Value* all = node->input(0);
  if (all->graph() == &rounds.body || RankOf(all) != 3 || step->rank() != 2) return std::nullopt;
  const auto round = RoundNumberOf(rounds.body, node->input(1));
  if (!round || !(round->is_round() || round->counts_down(rounds.rounds))) return std::nullopt;
  int64_t axis = node->attrs().Int("axis");
  if (axis < 0) axis += 3;
  const Shape& of_all = *all->shape();
  if (!ProvablyEqual(of_all[axis], rounds.rounds)) return std::nullopt;
  for (int64_t i = 0, from = 0; i < 2; ++i, ++from) {
    from += from == axis;
    if (!ProvablyEqual((*step)[i], of_all[from])) return std::nullopt;
  }
  return StepInput{all, axis, !round->is_round()};
}

// The layer's operands from outside of the body.
RecurrentLayer LayerOf(Builder& b, const RecurrentStep& step, const RoundsOfBody& rounds,
                       const std::vector<size_t>& order) {
  RecurrentLayer layer = step.Layer(b);
  layer.direction = step.input().backwards ? "reverse" : "forward";
  layer.x = step.input().axis == 0 ? step.input().all
                                   : MoveAxis({b, step.input().all}, step.input().axis, 0).value();
  const auto first = [&](size_t i) {
    Value* state = rounds.FirstState(order[i]);
    return IsFilledWith(state, 0) ? nullptr : Unsqueeze({b, state}, {0}).value();
  };
  layer.h = first(0);
  if (layer.cell.lstm()) layer.c = first(1);
  return layer;
}

// The layer in place of the rounds, of which `order` says which states the hidden one and the cell
// are.
bool ReplaceRounds(Rewriter& r, const RoundsOfBody& rounds, const RecurrentStep& step,
                   const std::vector<size_t>& order) {
  Builder& b = r.b();
  const Node& node = r.node();
  const Value* hidden = WithoutIdentities(rounds.Result(order[0]));
  std::vector<bool> wanted(1 + order.size());
  for (size_t i = 0; i < order.size(); ++i) wanted[1 + i] = node.output(order[i]) != nullptr;
  for (size_t i = rounds.carried; i < node.num_outputs(); ++i) {
    if (!node.output(i)) continue;
    if (WithoutIdentities(rounds.Result(i)) != hidden) return false;
    if (!rounds.is_loop && node.attrs().Ints("scan_output_axes")[i - rounds.carried] != 0) {
      return false;
    }
    wanted[0] = true;
  }
  const RecurrentLayer layer = LayerOf(b, step, rounds, order);
  const Values made = RunRecurrent(b, layer, wanted);
  Values results(node.num_outputs());
  for (size_t i = 0; i < order.size(); ++i) {
    if (wanted[1 + i]) results[order[i]] = Squeeze({b, made[1 + i]}, {0});
  }
  for (size_t i = rounds.carried; i < node.num_outputs(); ++i) {
    if (!node.output(i)) continue;
    const Expr y = Squeeze({b, made[0]}, {1});
    const bool backwards =
        !rounds.is_loop && node.attrs().Ints("scan_output_directions")[i - rounds.carried] == 1;
    results[i] = backwards == step.input().backwards ? y : Slice(y, 0, -1, -kToEnd, -1);
  }
  for (size_t i = 0; i < rounds.carried; ++i) {
    if (!node.output(i) || std::find(order.begin(), order.end(), i) != order.end()) continue;
    const int64_t last = *CountedFromNumber(node, i) + rounds.rounds.value();
    const Expr number = IntegerOf(b, node.output(i)->dtype(), last);
    results[i] = Expand(number, b.Ints(std::vector<int64_t>(RankOf(node.output(i)), 1)));
  }
  if (!b.status().ok()) return false;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] && !SameShape(results[i], node.output(i))) return false;
  }
  return r.Replace(results);
}

absl::StatusOr<bool> FuseRounds(Rewriter& r) {
  const auto rounds = ReadRounds(r.node());
  if (!rounds || rounds->states.empty() || rounds->states.size() > 2) return false;
  const auto input_of = [&](const Value* value) { return InputOf(*rounds, value); };
  std::vector<std::vector<size_t>> orders = {rounds->states};
  if (rounds->states.size() == 2) orders.push_back({rounds->states[1], rounds->states[0]});
  for (const std::vector<size_t>& order : orders) {
    std::vector<StepState> states;
    for (const size_t i : order) states.push_back({rounds->StateBefore(i), rounds->Result(i)});
    const auto step = RecurrentStep::Match(rounds->body, states, input_of);
    if (!step || !r.context().Has(step->op(), DType::kFloat32)) continue;
    const Shape &all = *step->input().all->shape(), *first = rounds->FirstState(order[0])->shape();
    // [batch, units]; the batch is the first axis that is not that of the steps.
    if (!first || !ProvablyEqual((*first)[0], all[step->input().axis == 0 ? 1 : 0])) continue;
    if (ReplaceRounds(r, *rounds, *step, order)) return true;
    return false;
  }
  return false;
}
X2IR_RULE(fuse_recurrent, loop, FuseRounds);
X2IR_RULE(fuse_recurrent, scan, FuseRounds);

}  // namespace
}  // namespace x2ir
