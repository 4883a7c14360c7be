// MXNet: recurrent networks.
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"

namespace x2ir {
namespace {

// Operands: x [time, batch, features], parameters, states [layers and directions, batch, units], of
// LSTMs cells too, lengths. Parameters lie as cuDNN has them.
absl::StatusOr<Values> Rnn(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "");
  const int64_t units = a.Integer("state_size", 0), layers = a.Integer("num_layers", 1);
  const bool both = a.Flag("bidirectional", false), lengths = a.Flag("use_sequence_length", false);
  a.Number("p", 0);
  a.Flag("state_outputs", false);
  a.Require(!a.Given("projection_size"), "a projection of the state");
  a.Require(!a.Given("lstm_state_clip_min") && !a.Given("lstm_state_clip_max"),
            "bounds of the state");
  for (const char* name : {"projection_size", "lstm_state_clip_min", "lstm_state_clip_max",
                           "lstm_state_clip_nan", "num_dirs"}) {
    a.Ignore(name);
  }
  a.Require(!lengths, "sequences of several lengths");
  constexpr int64_t kLimit = int64_t{1} << 20;
  if (units < 1 || layers < 1 || units > kLimit || layers > kLimit)
    return Invalid("a network of ", layers, " layers of ", units, " units");
  const Expr x = a.in(0), parameters = Reshape(a.in(1), {-1});
  // A state of zeros may say nothing of the batch.
  const auto state = [&](const Expr& s) {
    return Expand(s, Concat(a,
                            {a.b().Ints({layers * (both ? 2 : 1)}), AtLeast1d(SizeOf(x, 1)),
                             a.b().Ints({units})},
                            0));
  };
  const auto grown = [&](const Expr& s) {
    const bool fits = ProvablyEqual(DimAt(s, 1), DimAt(x, 1)) && DimAt(s, 0).is_static() &&
                      DimAt(s, 2).is_static();
    return fits ? s : state(s);
  };
  const CudnnNet net = {.cell = CudnnCell(mode), .directions = both ? 2 : 1};
  if (!net.cell) return Invalid("rnn_mode '", mode, "'");
  RecurrentLayer in{.cell = *net.cell, .x = x, .w = parameters, .h = grown(a.in(2))};
  if (net.cell->lstm()) in.c = grown(a.in(3));
  return RunCudnn(a, net, in);
}

}  // namespace

X2IR_MXNET(lstm).From({"RNN", "_npx_rnn"}, Rnn);

}  // namespace x2ir
