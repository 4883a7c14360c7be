// Recurrent networks over sequences, time first.
#include <array>

#include "absl/strings/ascii.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/loop.h"
#include "x2ir/handlers/paddle/activation.h"
#include "x2ir/handlers/paddle/paddle.h"
#include "x2ir/handlers/paddle/sequence.h"

namespace x2ir {
namespace {

// Weights of all layers and directions, then biases: [weight_ih, weight_hh] for each of them.
// In PyTorch the biases of a direction follow its weights. Gates of both are in cuDNN's order.
PaddleResults Recurrent(PaddleArgs& a) {
  const Expr x = a.X("Input");
  const std::vector<Value*> states = a.List("PreState"), weights = a.List("WeightList");
  Expr lengths = a.Opt("SequenceLength");
  a.Drop({"DropoutStateIn"});
  const std::string mode = a.String("mode", "RNN_TANH");
  const int64_t layers = a.Int("num_layers", 1);
  const bool bidirectional = a.Bool("is_bidirec", false);
  a.Int("hidden_size", 100);
  a.Int("input_size", 10);
  a.Number("dropout_prob", 0);
  a.Require(a.Bool("is_test", true), "dropout in training, which is random");
  const std::string name = absl::AsciiStrToLower(mode);
  const RecurrentCell* cell = name == mode ? nullptr : CudnnCell(name);
  a.Require(cell, StrCat("a mode ", mode));
  const bool lstm = cell->lstm();
  const int64_t cells = layers * (bidirectional ? 2 : 1);
  const auto count = static_cast<size_t>(cells);
  if (cells < 1 || weights.size() != 4 * count || states.size() != cell->states()) {
    a.Fail(Invalid("weights or states of another number of layers"));
  }
  const auto cell_weights = [&](size_t i) {
    return std::vector<Value*>{weights[2 * i], weights[2 * i + 1], weights[2 * count + 2 * i],
                               weights[2 * count + 2 * i + 1]};
  };
  if (!lengths.value()) {
    std::vector<Value*> params;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<Value*> each = cell_weights(i);
      params.insert(params.end(), each.begin(), each.end());
    }
    std::vector<AsTorchArgument> arguments = {
        {"input", x},           {"params", params},    {"has_biases", true},
        {"dropout", 0.0},       {"train", false},      {"bidirectional", bidirectional},
        {"batch_first", false}, {"num_layers", layers}};
    if (lstm) {
      arguments.emplace_back("hx", states);
    } else {
      arguments.emplace_back("hx", Expr(a.b(), states[0]));
    }
    const Values out = AsTorch(a, StrCat("aten::", name, ".input"), arguments,
                               std::vector<DType>(1 + states.size(), x.dtype()));
    return {{"Out", {out[0]}}, {"State", {out.begin() + 1, out.end()}}};
  }
  // Steps after a sequence's end are zeros in the result and do not change the states, as in
  // the ops of IR: each cell is one, the backward one over reversed sequences.
  lengths = lengths.To(DType::kInt32);
  Expr input = x;
  std::vector<Value*> last[2];
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<Value*> sides;
    for (int64_t d = 0; d < (bidirectional ? 2 : 1); ++d) {
      const int64_t at = layer * (bidirectional ? 2 : 1) + d;
      std::vector<Value*> own;
      for (Value* each : cell_weights(static_cast<size_t>(at))) {
        own.push_back(Unsqueeze({a, IrGates(a, each, *cell)}, {0}));
      }
      std::vector<Value*> operands = {input, own[0], own[1], Concat(a, {own[2], own[3]}, 1),
                                      lengths};
      for (Value* state : states) operands.push_back(Slice(Expr(a.b(), state), 0, at, at + 1));
      const RecurrentLayer side = {.cell = *cell, .direction = d == 1 ? "reverse" : "forward"};
      const Values out =
          a.b().Ops(cell->op, std::move(operands), RecurrentAttributes(side), 1 + states.size());
      sides.push_back(Squeeze(Expr(a.b(), out[0]), {1}));
      for (size_t i = 0; i < states.size(); ++i) last[i].push_back(out[1 + i]);
    }
    input = Concat(a, sides, 2);
  }
  Values state;
  for (size_t i = 0; i < states.size(); ++i) state.push_back(Concat(a, last[i], 0));
  return {{"Out", {input.Op("identity")}}, {"State", state}};
}

// `count` columns of gate `i`.
Expr Gate(PaddleArgs& a, const Expr& x, int64_t i, const Size& width, int64_t count = 1) {
  return Slice(x, 1, Times(a, width, i), Times(a, width, i + count));
}

Size WidthOf(PaddleArgs& a, const Expr& weight) {
  const Dim width = DimAt(weight, 0);
  a.Require(width.is_static(), "weights of unknown size");
  return width.value();
}

// Rows of x one after the other: what `step` makes of each and of what is carried, which is the
// result, too. Gives all results of all rows.
using CellStep =
    std::function<std::vector<Expr>(const Expr& row, const std::vector<Expr>& carried)>;

std::vector<Expr> OverRows(const Expr& x, const std::vector<Expr>& first, bool backwards,
                           const CellStep& step) {
  const Expr rows = backwards ? RowsReversed(x) : x;
  const std::vector<Expr> all =
      Rounds(SizeOf(rows, 0), first, [&](const Expr& i, const std::vector<Expr>& carried) {
        std::vector<Expr> next = step(Gather(rows, Unsqueeze(i, {0}), 0), carried);
        const size_t count = next.size();
        for (size_t k = 0; k < count; ++k) next.push_back(next[k].Op("identity"));
        return next;
      });
  std::vector<Expr> results;
  for (size_t k = first.size(); k < all.size(); ++k) {
    const Expr y = Squeeze(all[k], {1});
    results.push_back(backwards ? RowsReversed(y) : y);
  }
  return results;
}

// The weights of the state: update and reset beside each other, then those of the candidate, one
// matrix after the other in memory.
struct GruWeights {
  Expr gates, candidate;
  Size width;
};

GruWeights WeightsOfGru(PaddleArgs& a, const Expr& weight) {
  const Size width = WidthOf(a, weight);
  const Size square = Times(a, width, width), two = Times(a, square, 2);
  const Expr flat = Flat(weight);
  return {ReshapeTo(Slice(flat, 0, 0, two), {width, Times(a, width, 2)}),
          ReshapeTo(Slice(flat, 0, two, kToEnd), {width, width}), width};
}

struct GruKind {
  std::string gate, candidate;
  bool origin;  // the update gate is the share of the old state, not of the new one
};

Expr GruStep(PaddleArgs& a, const GruWeights& w, const GruKind& kind, const Expr& x,
             const Expr& h) {
  const Expr gates = Activated(a, Gate(a, x, 0, w.width, 2) + MatMul(h, w.gates), kind.gate);
  const Expr update = Gate(a, gates, 0, w.width), reset = Gate(a, gates, 1, w.width);
  const Expr fresh =
      Activated(a, Gate(a, x, 2, w.width) + MatMul(reset * h, w.candidate), kind.candidate);
  return kind.origin ? fresh + update * (h - fresh) : h + update * (fresh - h);
}

GruKind KindOfGru(PaddleArgs& a) {
  return {a.String("gate_activation", "sigmoid"), a.String("activation", "tanh"),
          a.Bool("origin_mode", false)};
}

PaddleResults GruOver(PaddleArgs& a, const Expr& x, const Expr& weight) {
  const GruWeights w = WeightsOfGru(a, weight);
  const GruKind kind = KindOfGru(a);
  Expr first = a.Opt("H0");
  if (!first.value()) first = Filled(a, x.dtype(), {Size(1), w.width}, 0);
  const bool backwards = a.Bool("is_reverse", false);
  const std::vector<Expr> all =
      OverRows(x, {first}, backwards, [&](const Expr& row, const std::vector<Expr>& carried) {
        return std::vector<Expr>{GruStep(a, w, kind, row, carried[0])};
      });
  return {{"Hidden", {all[0]}}};
}

// Whether steps of several sequences are computed together, and what oneDNN's kernels quantize by.
void IgnoreKernels(PaddleArgs& a) {
  for (const char* name : {"use_seq", "scale_data", "shift_data", "Scale_data", "Shift_data"}) {
    a.Ignore(name);
  }
}

Expr WithBias(PaddleArgs& a, const Expr& x) {
  const Expr bias = a.Opt("Bias");
  return bias.value() ? x + bias : x;
}

PaddleResults Gru(PaddleArgs& a) {
  const Expr x = WithBias(a, Sequence(a, "Input"));
  return GruOver(a, x, a.X("Weight"));
}

PaddleResults FusionGru(PaddleArgs& a) {
  const Expr x = WithBias(a, MatMul(Sequence(a), a.X("WeightX")));
  IgnoreKernels(a);
  return GruOver(a, x, a.X("WeightH"));
}

std::string ActivationOf(PaddleArgs& a, Symbol name, int64_t fallback) {
  static constexpr std::array kNames = {"identity", "sigmoid", "tanh", "relu"};
  const int64_t number = a.Int(name, fallback);
  if (number < 0 || number >= static_cast<int64_t>(kNames.size())) {
    a.Fail(Invalid("there is no activation ", number));
  }
  return kNames[static_cast<size_t>(number)];
}

PaddleResults GruUnit(PaddleArgs& a) {
  const Expr x = WithBias(a, a.X("Input")), h = a.X("HiddenPrev");
  const GruKind kind = {ActivationOf(a, "gate_activation", 1), ActivationOf(a, "activation", 2),
                        a.Bool("origin_mode", false)};
  return {{"Hidden", {GruStep(a, WeightsOfGru(a, a.X("Weight")), kind, x, h)}}};
}

// Gates: candidate, input, forget, output. The last three may read the cell, too.
PaddleResults LstmOver(PaddleArgs& a, Expr x, const Expr& weight) {
  const Size width = WidthOf(a, weight);
  const Expr bias = a.Opt("Bias");
  const bool peepholes = a.Bool("use_peepholes", true);
  const std::string gate = a.String("gate_activation", "sigmoid"),
                    cell = a.String("cell_activation", "tanh"),
                    candidate = a.String("candidate_activation", "tanh");
  a.Require(bias.value() || !peepholes, "peepholes without weights");
  if (bias.value()) x = x + Gate(a, bias, 0, width, 4);
  const auto seen = [&](const Expr& state, int64_t i) {
    return peepholes ? state * Gate(a, bias, 4 + i, width) : Expr(nullptr);
  };
  const auto plus = [](const Expr& y, const Expr& more) { return more.value() ? y + more : y; };
  std::vector<Expr> first = {a.Opt("H0"), a.Opt("C0")};
  for (Expr& state : first) {
    if (!state.value()) state = Filled(a, x.dtype(), {Size(1), width}, 0);
  }
  const bool backwards = a.Bool("is_reverse", false);
  const std::vector<Expr> all =
      OverRows(x, first, backwards, [&](const Expr& row, const std::vector<Expr>& carried) {
        const Expr y = row + MatMul(carried[0], weight);
        const Expr& old = carried[1];
        const Expr fresh = Activated(a, Gate(a, y, 0, width), candidate);
        const Expr in = Activated(a, plus(Gate(a, y, 1, width), seen(old, 0)), gate);
        const Expr kept = Activated(a, plus(Gate(a, y, 2, width), seen(old, 1)), gate);
        const Expr state = fresh * in + old * kept;
        const Expr out = Activated(a, plus(Gate(a, y, 3, width), seen(state, 2)), gate);
        return std::vector<Expr>{out * Activated(a, state, cell), state};
      });
  return {{"Hidden", {all[0]}}, {"Cell", {all[1]}}};
}

PaddleResults Lstm(PaddleArgs& a) {
  const Expr x = Sequence(a, "Input");
  return LstmOver(a, x, a.X("Weight"));
}

PaddleResults FusionLstm(PaddleArgs& a) {
  const Expr x = MatMul(Sequence(a), a.X("WeightX"));
  IgnoreKernels(a);
  return LstmOver(a, x, a.X("WeightH"));
}

// Gates: input, forget, output, candidate.
PaddleResults LstmUnit(PaddleArgs& a) {
  const Expr x = a.X(), old = a.X("C_prev");
  const Size width = SizeAt(old, 1);
  const auto sigmoid = [](const Expr& y) { return y.Op("sigmoid"); };
  const double bias = a.Number("forget_bias", 0);
  const Expr in = sigmoid(Gate(a, x, 0, width)),
             kept = sigmoid(Shifted(Gate(a, x, 1, width), bias)),
             out = sigmoid(Gate(a, x, 2, width));
  const Expr state = old * kept + in * Gate(a, x, 3, width).Op("tanh");
  return {{"C", {state}}, {"H", {out * state.Op("tanh")}}};
}

}  // namespace

X2IR_PADDLE(lstm).From(
    {{"rnn", Recurrent}, {"lstm", Lstm}, {"fusion_lstm", FusionLstm}, {"lstm_unit", LstmUnit}});
X2IR_PADDLE(gru).From({{"gru", Gru}, {"fusion_gru", FusionGru}, {"gru_unit", GruUnit}});

}  // namespace x2ir
