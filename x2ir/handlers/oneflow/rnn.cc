// OneFlow: cells of recurrent layers.
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

// Operands input_gates, hidden_gates, state, input_bias, hidden_bias.
Expr Gates(OneflowArgs& a, size_t gates, size_t bias) {
  return a.has(bias) ? a.in(gates) + a.in(bias) : a.in(gates);
}
Values LstmCell(OneflowArgs& a) {
  a.Require(!a.wants(2), "the gates besides");
  constexpr std::string_view kGates = "ifgo";
  const Values parts = GateParts(a, Gates(a, 0, 3) + Gates(a, 1, 4), kGates.size(), 1);
  const auto gate = [&](char name) {
    return a.Op(name == 'g' ? "tanh" : "sigmoid", {parts[kGates.find(name)]});
  };
  const auto [h, c] = LstmStep(gate, a.in(2));
  return {h, c, nullptr};
}
Values GruCell(OneflowArgs& a) {
  a.Require(!a.wants(1), "the gates besides");
  const Values of_x = GateParts(a, Gates(a, 0, 3), 3, 1), of_h = GateParts(a, Gates(a, 1, 4), 3, 1);
  return {GruStep(of_x, of_h, a.in(2)), nullptr};
}

}  // namespace

X2IR_ONEFLOW(lstm).From("fused_lstm_cell", LstmCell);
X2IR_ONEFLOW(gru).From("fused_gru_cell", GruCell);

}  // namespace x2ir
