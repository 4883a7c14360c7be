// Recurrent networks over sequences, time first.
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

// Weights of all layers and directions, then biases: [weight_ih, weight_hh] for each of them.
// PyTorch has the biases of a direction behind its weights. Gates of both are in one order but for
// GRU's, which in both begin with reset.
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
  const bool lstm = mode == "LSTM";
  const char* op = lstm                 ? "aten::lstm.input"
                   : mode == "GRU"      ? "aten::gru.input"
                   : mode == "RNN_RELU" ? "aten::rnn_relu.input"
                   : mode == "RNN_TANH" ? "aten::rnn_tanh.input"
                                        : "";
  a.Require(*op, StrCat("a mode ", mode));
  const int64_t cells = layers * (bidirectional ? 2 : 1);
  const auto count = static_cast<size_t>(cells);
  if (cells < 1 || weights.size() != 4 * count || states.size() != (lstm ? 2 : 1)) {
    a.Fail(Invalid("weights or states of another number of layers"));
  }
  const auto cell_weights = [&](size_t cell) {
    return std::vector<Value*>{weights[2 * cell], weights[2 * cell + 1],
                               weights[2 * count + 2 * cell], weights[2 * count + 2 * cell + 1]};
  };
  const auto run = [&](const Expr& input, const std::vector<Value*>& first,
                       const std::vector<Value*>& params, int64_t depth, bool both_ways) {
    std::vector<AsTorchArgument> arguments = {
        {"input", input}, {"params", params}, {"has_biases", true},         {"num_layers", depth},
        {"dropout", 0.0}, {"train", false},   {"bidirectional", both_ways}, {"batch_first", false}};
    if (lstm) {
      arguments.emplace_back("hx", first);
    } else {
      arguments.emplace_back("hx", Expr(a.b(), first[0]));
    }
    return AsTorch(a, op, arguments, std::vector<DType>(lstm ? 3 : 2, x.dtype()));
  };
  if (!lengths.value()) {
    std::vector<Value*> params;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<Value*> each = cell_weights(i);
      params.insert(params.end(), each.begin(), each.end());
    }
    const Values out = run(x, states, params, layers, bidirectional);
    return {{"Out", {out[0]}}, {"State", {out.begin() + 1, out.end()}}};
  }
  // Steps behind a sequence's end are zeros in the result and leave the state as it was: each
  // direction runs on its own, the backward one over reversed sequences, and the state is that of
  // the last step.
  lengths = lengths.To(DType::kInt64);
  const auto reversed = [&](const Expr& v) {
    return v.Op("reverse_sequence", {lengths}, {{"time_axis", 0}, {"batch_axis", 1}});
  };
  const Expr steps = Iota(SizeOf(x, 0));
  const Expr inside = Unsqueeze(Unsqueeze(steps, {1}) < Unsqueeze(lengths, {0}), {2});
  Expr input = x;
  std::vector<Value*> last_h, last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<Value*> sides;
    for (int64_t d = 0; d < (bidirectional ? 2 : 1); ++d) {
      const int64_t cell = layer * (bidirectional ? 2 : 1) + d;
      std::vector<Value*> first;
      for (Value* state : states) first.push_back(Slice(Expr(a.b(), state), 0, cell, cell + 1));
      a.Require(!lstm, "lengths of sequences in an LSTM");
      const Values out = run(d == 1 ? reversed(input) : input, first,
                             cell_weights(static_cast<size_t>(cell)), 1, false);
      const Expr y = Where(inside, Expr(a.b(), out[0]), 0.0);
      // Row length - 1 of each sequence.
      const Expr at = Unsqueeze(Unsqueeze(lengths - 1.0, {0}), {2});
      const Expr h =
          GatherElements(y, Expand(at, ShapeOf(first[0] ? Expr(a.b(), first[0]) : y)), 0);
      last_h.push_back(h);
      sides.push_back(d == 1 ? reversed(y) : y);
    }
    input = sides.size() == 1 ? Expr(a.b(), sides[0]) : Concat(a, sides, 2);
  }
  return {{"Out", {input}}, {"State", {Concat(a, last_h, 0)}}};
}

}  // namespace

X2IR_PADDLE(lstm).From("rnn", Recurrent);

}  // namespace x2ir
