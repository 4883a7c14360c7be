// tract's GRU, and steps of recurrent cells after the products with weights. Gates are in ONNX's
// order.
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

int64_t TakeHidden(NnefArgs& a, const Expr& gates, int64_t count) {
  const int64_t hidden = a.Integer("hidden");
  a.Require(gates.rank() > 0 && hidden > 0 && hidden < (int64_t{1} << 40) &&
                DimAt(gates, gates.rank() - 1) == Dim(count * hidden),
            "gates of another size than `hidden` says, or of one that is not known");
  return hidden;
}

absl::StatusOr<Values> LstmStepRow(NnefArgs& a) {
  const Expr sums = a.Tensor("preact"), before = a.Tensor("c_prev");
  const GateSlices gate{sums, "iofg", sums.rank() - 1, TakeHidden(a, sums, 4)};
  const Expr cell = gate.Open('f') * before + gate.Open('i') * gate.Open('g');
  return Values{gate.Open('o') * cell.Op("tanh"), cell};
}

Value* GruStepRow(NnefArgs& a) {
  const Expr of_x = a.Tensor("xh"), of_h = a.Tensor("rh"), before = a.Tensor("h_prev");
  const int64_t hidden = TakeHidden(a, of_x, 3), axis = of_x.rank() - 1;
  const GateSlices x{of_x, "zrn", axis, hidden}, h{of_h, "zrn", axis, hidden};
  const Expr update = (x['z'] + h['z']).Op("sigmoid"), reset = (x['r'] + h['r']).Op("sigmoid");
  const Expr next = (x['n'] + reset * h['n']).Op("tanh");
  return next + update * (before - next);
}

// Batch first; states have an axis of one direction in the middle. Every run begins with initial_h.
absl::StatusOr<Values> GruSeqRow(NnefArgs& a) {
  const int64_t chunk = a.Integer("chunk");
  a.Require(chunk == 1 || chunk == -1, "a step of more than one element");
  a.Require(a.Flag("emit_y") || !a.wants(0), "a sequence that is not given (emit_y)");
  a.Ignore("reset_every_turn"), a.Ignore("hidden");
  RecurrentLayer layer{.cell = {"gru", "zrn", {{"Sigmoid"}, {"Tanh"}}, true},
                       .direction = chunk < 0 ? "reverse" : "forward"};
  layer.x = Transpose(a.Tensor("x"), {1, 0, 2});
  layer.w = Unsqueeze(a.Tensor("w"), {0});
  layer.r = Unsqueeze(a.Tensor("r"), {0});
  if (a.Flag("has_bias")) layer.biases = Reshape(a.Tensor("b"), {1, -1});
  layer.h = Transpose(a.Tensor("initial_h"), {1, 0, 2});
  const Values results = RunRecurrent(a, layer);
  const Expr y(a, results[0]), last(a, results[1]);
  return Values{Transpose(Squeeze(y, {1}), {1, 0, 2}), Transpose(last, {1, 0, 2})};
}

}  // namespace

X2IR_NNEF(lstm).From("tract_core_lstm_epilogue", LstmStepRow);
X2IR_NNEF(gru).From("tract_core_gru_epilogue", GruStepRow).From("tract_core_gru_seq", GruSeqRow);

}  // namespace x2ir
