// Recurrent networks over sequences, time first.
#include "absl/strings/ascii.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// Weights of all layers and directions, then biases: [weight_ih, weight_hh] for each of them.
// PyTorch has the biases of a direction behind its weights. Gates of both are in cuDNN's order.
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
  // Steps behind a sequence's end are zeros in the result and leave the states as they were, as in
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

}  // namespace

X2IR_PADDLE(lstm).From("rnn", Recurrent);

}  // namespace x2ir
