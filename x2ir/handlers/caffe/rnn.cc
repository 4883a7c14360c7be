// Caffe: layers over time. Operands are [time, batch, ...], and for each step and item whether it
// continues the one before (1) or begins anew (0). Steps are written out, as Caffe's own layers
// do.
#include <vector>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxSteps = 1000;

struct Sequence {
  int64_t steps = 0, size = 0;
  std::vector<Expr> inputs, goes_on;  // of each step: [batch, gates], [batch, 1]
  std::vector<Expr> states;           // to begin with
  size_t next_blob = 0;
};

// The part of the gates that the operands make, of all steps at once.
absl::StatusOr<Sequence> SequenceOf(CaffeArgs& a, size_t num_states) {
  Sequence s;
  s.size = a.Int("num_output", 0);
  const bool exposed = a.Bool("expose_hidden", false);
  a.Drop({"debug_info"});
  const size_t hidden = exposed ? num_states : 0;
  if (s.size < 1 || a.num_bottoms() < 2 + hidden || a.num_bottoms() > 3 + hidden) {
    return Invalid(a.num_bottoms(), " operands of a recurrent layer of ", s.size);
  }
  const bool has_static = a.num_bottoms() == 3 + hidden;
  const Dim steps = DimAt(a.in(0), 0);
  a.Require(steps.is_static() && steps.value() <= kMaxSteps,
            "an unknown number of steps, or as many");
  s.steps = steps.value();
  if (s.steps < 1) return Invalid("a sequence of no steps");
  const Size batch = SizeAt(a.in(0), 1);
  const auto product = [&](const Expr& x, const Expr& w) { return MatMul(x, SwapLast(w)); };
  const Expr x = ReshapeTo(a.in(0), {Size(s.steps), batch, Size(-1)});
  Expr all = product(x, a.blob(0, 2)) + a.blob(1, 1);
  s.next_blob = 2;
  if (has_static) {
    const Expr fixed = a.in(2).Op("flatten", {}, {{"axis", 1}});
    all = all + Unsqueeze(product(fixed, a.blob(2, 2)), {0});
    s.next_blob = 3;
  }
  for (int64_t i = 0; i < s.steps; ++i) {
    const auto step = [&](const Expr& of) {
      return Squeeze(Slice(of, 0, Size(i), Size(i + 1)), {0});
    };
    s.inputs.push_back(step(all));
    s.goes_on.push_back(Unsqueeze(step(a.in(1)), {1}));
  }
  for (size_t i = 0; i < num_states; ++i) {
    s.states.push_back(exposed ? Squeeze(a.in(2 + (has_static ? 1 : 0) + i), {0})
                               : Filled(a, a.dtype(), {batch, Size(s.size)}, 0));
  }
  return s;
}

// Where a sequence begins anew, the cell before does not count.
LstmState StepOf(const GateSlices& sums, const Expr& goes_on, const Expr& c) {
  const auto gate = [&](char name) {
    return name == 'f' ? goes_on * sums.Open(name) : sums.Open(name);
  };
  return LstmStep(gate, c);
}

absl::StatusOr<Values> Lstm(CaffeArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Sequence s, SequenceOf(a, 2));
  const Expr recurrent = SwapLast(a.blob(s.next_blob, 2));
  LstmState state = {s.states[0], s.states[1]};
  std::vector<Value*> all;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const Expr gates = s.inputs[i] + MatMul(state.h * s.goes_on[i], recurrent);
    state = StepOf({gates, "ifog", 1, s.size}, s.goes_on[i], state.c);
    all.push_back(state.h);
  }
  return Values{Stack(a, all, 0), Unsqueeze(state.h, {0}), Unsqueeze(state.c, {0})};
}

absl::StatusOr<Values> Rnn(CaffeArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Sequence s, SequenceOf(a, 1));
  const Expr recurrent = SwapLast(a.blob(s.next_blob, 2)),
             out = SwapLast(a.blob(s.next_blob + 1, 2)), bias = a.blob(s.next_blob + 2, 1);
  Expr h = s.states[0];
  std::vector<Value*> all;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    h = (s.inputs[i] + MatMul(h * s.goes_on[i], recurrent)).Op("tanh");
    all.push_back((MatMul(h, out) + bias).Op("tanh"));
  }
  return Values{Stack(a, all, 0), Unsqueeze(h, {0})};
}

// A step: earlier cells [1, batch, n], gates [1, batch, 4 n] and whether it continues [1, batch].
absl::StatusOr<Values> LstmUnit(CaffeArgs& a) {
  const Expr before = a.in(0), gates = a.in(1), goes_on = Unsqueeze(a.in(2), {2});
  const Dim size = DimAt(before, 2);
  a.Require(size.is_static(), "cells of unknown size");
  const auto [h, c] = StepOf({gates, "ifog", 2, size.value()}, goes_on, before);
  return Values{c, h};
}

}  // namespace

X2IR_CAFFE(lstm)
    .From("LSTM", "recurrent_param", Lstm)
    .From("LSTMUnit", "lstm_unit_param", LstmUnit);
X2IR_CAFFE(rnn).From("RNN", "recurrent_param", Rnn);

}  // namespace x2ir
