// The layer of a recurrent step (recurrent_step.h): weights of its gates, in the IR's order.
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/optimizer/recurrent_step.h"

namespace x2ir {
namespace {

// From a constant of a nested graph to one of the builder's.
Expr FromOutside(Builder& b, Value* value) {
  const Tensor* constant = value->fixed_constant();
  return {b,
          constant && value->graph() != &b.graph() ? b.Constant(*constant, value->name()) : value};
}
Expr Part(const Expr& x, int64_t axis, int64_t from, int64_t to) {
  const Dim all = DimAt(x, axis);
  return from == 0 && all == Dim(to) ? x : Slice(x, axis, from, to);
}

}  // namespace

Value* RecurrentStep::Matrix(Builder& b, bool of_input) const {
  std::vector<Value*> parts;
  for (const char letter : IrOrder(cell_.op)) {
    const Gate& gate = gates_.at(letter);
    const Weights& w = of_input ? gate.of_input[0]
                                : (gate.of_state.empty() ? gate.of_reset_state : gate.of_state)[0];
    Expr part = FromOutside(b, w.matrix);
    part = Part(part, w.transposed ? 1 : 0, w.first, w.last);
    part = Part(part, w.transposed ? 0 : 1, w.from, w.to);
    if (!w.transposed) part = Transpose(part, {1, 0});
    parts.push_back(w.negative ? -part : part);
  }
  return Unsqueeze(Concat(b, parts, 0), {0});
}

Value* RecurrentStep::Biases(Builder& b, bool of_input) const {
  std::vector<Value*> parts;
  bool any = false;
  for (const char letter : IrOrder(cell_.op)) {
    const Gate& gate = gates_.at(letter);
    Expr sum = Zeros(b, DType::kFloat32, {units_});
    for (const Bias& bias : of_input ? gate.biases : gate.state_biases) {
      Expr vector = FromOutside(b, bias.vector);
      vector =
          bias.from == bias.to ? Reshape(vector, {1}) : Part(Flat(vector), 0, bias.from, bias.to);
      sum = bias.negative ? sum - vector : sum + vector;
      any = true;
    }
    parts.push_back(sum);
  }
  return any ? Concat(b, parts, 0).value() : nullptr;
}

RecurrentLayer RecurrentStep::Layer(Builder& b) const {
  RecurrentLayer layer;
  layer.cell = cell_;
  layer.w = Matrix(b, true);
  layer.r = Matrix(b, false);
  Value* of_input = Biases(b, true);
  Value* of_state = Biases(b, false);
  if (Value* both = BothBiases(b, of_input, of_state)) layer.biases = Unsqueeze({b, both}, {0});
  return layer;
}

}  // namespace x2ir
