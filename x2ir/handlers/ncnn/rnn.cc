// ncnn: recurrent layers over the rows of a blob.

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/loop.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// One bias for each gate; of a GRU, another one for the candidate's product with the state.
int64_t GatesOf(const RecurrentCell& cell) { return static_cast<int64_t>(cell.gates.size()); }

int64_t BiasesOf(const RecurrentCell& cell) {
  return GatesOf(cell) + (cell.linear_before_reset ? 1 : 0);
}

// The product of rows [n, in] with weights [out, in]: of floats, or of both in steps.
Expr Product(const Expr& x, const Expr& weights, const Expr& scales) {
  if (!scales.value()) return MatMul(x, SwapLast(weights));
  const NcnnSteps rows = NcnnQuantizedOver(x, {1});
  return MatMul(rows.steps, SwapLast(weights)) / (rows.scale * scales);
}

struct StepWeights {
  Expr x = nullptr, h = nullptr;                                // [gates * hidden, in]
  Expr projection = nullptr;                                    // [out, hidden]
  Expr bias = nullptr, x_scales = nullptr, h_scales = nullptr;  // [1, ...]
  int64_t hidden = 0;
};

// The states after a step, the first one is its result. x: the gates' part of the operand, biases
// among it.
std::vector<Expr> StepOf(const RecurrentCell& cell, const StepWeights& w, const Expr& x,
                         const std::vector<Expr>& before) {
  const Expr h = Product(before[0], w.h, w.h_scales);
  if (cell.op == "rnn") return {(x + h).Op("tanh")};
  if (cell.op == "gru") {
    const GateSlices of_x = {x, cell.gates, 1, w.hidden}, of_h = {h, cell.gates, 1, w.hidden};
    const Expr reset = (of_x['r'] + of_h['r']).Op("sigmoid"),
               update = (of_x['z'] + of_h['z']).Op("sigmoid");
    const auto own_bias = [&] { return Slice(w.bias, 1, Size(3 * w.hidden), Size(4 * w.hidden)); };
    const Expr fresh = (of_x['n'] + reset * (of_h['n'] + own_bias())).Op("tanh");
    return {(1.0 - update) * fresh + update * before[0]};
  }
  const GateSlices sums = {x + h, cell.gates, 1, w.hidden};
  const auto [y, state] = LstmStep([&](char gate) { return sums.Open(gate); }, before[1]);
  return {w.projection.value() ? MatMul(y, SwapLast(w.projection)) : y, state};
}

// Step by step: what no op of the IR does.
Values ByStep(NcnnArgs& a, const RecurrentCell& cell, int64_t out, int64_t hidden, int64_t way,
              bool quantized) {
  const int64_t ways = way == 2 ? 2 : 1, all = GatesOf(cell) * hidden;
  const size_t states = cell.states(), behind = hidden != out ? 4 : 3;
  const Expr rows = Squeeze(a.in(0), {0});
  const auto own = [&](const Expr& of, int64_t i) {
    return Squeeze(Slice(of, 0, Size(i), Size(i + 1)), {0});
  };
  std::vector<Value*> results;
  std::vector<std::vector<Value*>> last(states);
  for (int64_t i = 0; i < ways; ++i) {
    const auto list = [&](size_t at, int64_t count) {
      return Unsqueeze(own(Reshape(a.weights(at), {ways, count}), i), {0});
    };
    StepWeights w;
    w.hidden = hidden;
    w.x = own(Reshape(a.weights(0), {ways, all, -1}), i);
    w.bias = list(1, BiasesOf(cell) * hidden);
    w.h = own(Reshape(a.weights(2), {ways, all, out}), i);
    if (hidden != out) w.projection = own(Reshape(a.weights(3), {ways, out, hidden}), i);
    if (quantized) {
      w.x_scales = list(behind, all);
      w.h_scales = list(behind + 1, all);
    }
    // Of all steps at once.
    const Expr gates = Product(rows, w.x, w.x_scales) + Slice(w.bias, 1, Size(0), Size(all));
    const bool reversed = way == 1 || i == 1;
    const Expr in_order = reversed ? Flipped(gates, {0}) : gates;
    std::vector<Expr> first;
    for (size_t k = 0; k < states; ++k) {
      const int64_t size = k == 0 ? out : hidden;
      first.push_back(a.num_bottoms() > 1
                          ? Unsqueeze(own(Reshape(a.in(k + 1), {ways, size}), i), {0})
                          : Filled(a, DType::kFloat32, {Size(1), Size(size)}, 0));
    }
    std::vector<Expr> made =
        Rounds(SizeOf(in_order, 0), first, [&](const Expr& n, const std::vector<Expr>& before) {
          const Expr x = Unsqueeze(Gather(in_order, n, 0), {0});
          std::vector<Expr> after = StepOf(cell, w, x, before);
          after.push_back(Squeeze(after[0], {0}));
          return after;
        });
    results.push_back(reversed ? Flipped(made[states], {0}) : made[states]);
    for (size_t k = 0; k < states; ++k) last[k].push_back(made[k]);
  }
  Values values = {Unsqueeze(Concat(a, results, 1), {0})};
  for (size_t k = 1; k < a.num_outputs(); ++k) {
    values.push_back(Unsqueeze(Concat(a, last[k - 1], 0), {0}));
  }
  return values;
}

// The operands after the rows are states, and so are the results after the first.
absl::StatusOr<Values> Net(NcnnArgs& a, const RecurrentCell& cell) {
  const int64_t out = a.Int(0, 0), way = a.Int(2, 0), hidden = a.Int(3, out);
  a.Drop({1});
  const bool quantized = a.Int(8, 0) != 0;
  const size_t states = cell.states();
  a.Require(a.num_bottoms() == 1 || a.num_bottoms() == states + 1, "only some of its states");
  if (a.num_outputs() > states + 1) return Invalid(a.num_outputs(), " results");
  if (out < 1 || hidden < 1 || way < 0 || way > 2) return Invalid("direction ", way, " of ", out);
  if (a.RankOf() != 3) return Invalid("rows of an operand of ", a.RankOf() - 1, " axes");
  if (quantized || hidden != out) return ByStep(a, cell, out, hidden, way, quantized);
  const int64_t ways = way == 2 ? 2 : 1, gates = GatesOf(cell);
  RecurrentLayer layer{.cell = cell};
  layer.direction = way == 0 ? "forward" : way == 1 ? "reverse" : "bidirectional";
  const auto in_order = [&](const Expr& all) {
    return GateSlices{all, cell.gates, 1, out}.InOrder(IrOrder(cell.op));
  };
  layer.w = in_order(Reshape(a.weights(0), {ways, gates * out, -1}));
  layer.r = in_order(Reshape(a.weights(2), {ways, gates * out, out}));
  const Expr own = Reshape(a.weights(1), {ways, BiasesOf(cell) * out});
  std::vector<Value*> biases = {in_order(Slice(own, 1, Size(0), Size(gates * out)))};
  const Expr zeros = Filled(a, own.dtype(), {Size(ways), Size(out)}, 0);
  for (int64_t i = 0; i + 1 < gates; ++i) biases.push_back(zeros);
  // The last one is the hidden state's own, where there is one.
  biases.push_back(cell.linear_before_reset
                       ? Slice(own, 1, Size(gates * out), Size(BiasesOf(cell) * out))
                       : zeros);
  const Expr x = Transpose(a.in(0), {1, 0, 2});
  layer.x = x;
  layer.biases = Concat(a, biases, 1);
  Value** const given[] = {&layer.h, &layer.c};
  for (size_t i = 1; i < a.num_bottoms(); ++i) *given[i - 1] = Reshape(a.in(i), {ways, 1, out});
  std::vector<bool> wanted = {true};
  for (size_t i = 1; i < a.num_outputs(); ++i) wanted.push_back(a.wants(i));
  Values results = RunRecurrent(a, layer, std::move(wanted));
  // [length, ways, 1, out] as rows of both ways; states [ways, 1, out] as [1, ways, out].
  const Expr y = Transpose(Expr(a, results[0]), {2, 0, 1, 3});
  results[0] = ReshapeTo(y, {Size(1), SizeAt(x, 0), Size(ways * out)});
  for (size_t i = 1; i < results.size(); ++i) {
    if (results[i]) results[i] = Reshape({a, results[i]}, {1, ways, out});
  }
  return results;
}

absl::StatusOr<Values> Lstm(NcnnArgs& a) { return Net(a, UsualLstm("ifog")); }
absl::StatusOr<Values> Gru(NcnnArgs& a) { return Net(a, *CudnnCell("gru")); }
absl::StatusOr<Values> Rnn(NcnnArgs& a) { return Net(a, *CudnnCell("rnn_tanh")); }

}  // namespace

X2IR_NCNN(lstm).From("LSTM", Lstm);
X2IR_NCNN(gru).From("GRU", Gru);
X2IR_NCNN(rnn).From("RNN", Rnn);

}  // namespace x2ir
