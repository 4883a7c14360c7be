#include "x2ir/builder/layers/recurrent.h"

#include <array>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

RecurrentCell UsualLstm(std::string_view gates) {
  return {"lstm", gates, {{"Sigmoid"}, {"Tanh"}, {"Tanh"}}};
}
const RecurrentCell* CudnnCell(std::string_view mode) {
  static const auto* cells = new std::array<std::pair<std::string_view, RecurrentCell>, 4>{{
      {"lstm", UsualLstm("ifgo")},
      {"gru", {"gru", "rzn", {{"Sigmoid"}, {"Tanh"}}, true}},
      {"rnn_tanh", {"rnn", "n", {{"Tanh"}}}},
      {"rnn_relu", {"rnn", "n", {{"Relu"}}}},
  }};
  for (const auto& [name, cell] : *cells) {
    if (name == mode) return &cell;
  }
  return nullptr;
}

// --- Weights ------------------------------------------------------------------------------------

std::vector<int64_t> GatePlaces(std::string_view from, std::string_view to) {
  std::vector<int64_t> places;
  for (const char gate : to) places.push_back(static_cast<int64_t>(from.find(gate)));
  return places;
}

Values GateParts(Builder& b, Value* all, size_t count, int64_t axis) {
  return b.Ops("split", {all}, {{"axis", axis}, {"num_outputs", static_cast<int64_t>(count)}},
               count);
}
Value* GatesInOrder(Builder& b, Value* rows, std::string_view from, std::string_view to) {
  if (!rows || from == to) return rows;
  const Values parts = GateParts(b, rows, from.size());
  std::vector<Value*> ordered;
  for (const char gate : to) ordered.push_back(parts[from.find(gate)]);
  return Concat(b, std::move(ordered), 0);
}
std::string_view IrOrder(std::string_view op) {
  return op == "lstm" ? "iofg" : op == "gru" ? "zrn" : "n";
}
Value* IrGates(Builder& b, Value* rows, const RecurrentCell& cell) {
  return GatesInOrder(b, rows, cell.gates, IrOrder(cell.op));
}

Expr GateSlices::operator[](char gate) const {
  const auto place = static_cast<int64_t>(order.find(gate));
  return Slice(all, axis, Size(place * width), Size((place + 1) * width));
}
Expr GateSlices::InOrder(std::string_view to) const {
  std::vector<Value*> parts;
  for (const char gate : to) parts.push_back((*this)[gate]);
  return Concat(all.builder(), std::move(parts), axis);
}
Expr GateSlices::Open(char gate) const {
  return (*this)[gate].Op(gate == 'g' || gate == 'n' ? "tanh" : "sigmoid");
}

Value* BothBiases(Builder& b, Value* of_input, Value* of_state) {
  if (!of_input && !of_state) return nullptr;
  const auto or_zeros = [&](Value* own, Value* other) {
    return own ? own : (Expr(b, other) * 0.0).value();
  };
  return Concat(b, {or_zeros(of_input, of_state), or_zeros(of_state, of_input)}, 0);
}

Value* EachDirection(Builder& b, const std::vector<Value*>& weights) {
  std::vector<Value*> parts;
  for (Value* each : weights) {
    if (!each) return nullptr;
    parts.push_back(Unsqueeze({b, each}, {0}));
  }
  return parts.empty() ? nullptr : Concat(b, std::move(parts), 0).value();
}

// --- Layers -------------------------------------------------------------------------------------

AttributeMap RecurrentAttributes(const RecurrentLayer& layer) {
  std::vector<std::string> names;
  std::vector<float> alphas, betas;
  for (int d = 0; d < (layer.direction == "bidirectional" ? 2 : 1); ++d) {
    for (const RecurrentActivation& each : layer.cell.activations) {
      names.push_back(each.name);
      if (each.alpha) alphas.push_back(*each.alpha);
      if (each.beta) betas.push_back(*each.beta);
    }
  }
  AttributeMap attrs = layer.attrs;
  attrs.Set("activations", std::move(names));
  if (!alphas.empty()) attrs.Set("activation_alpha", std::move(alphas));
  if (!betas.empty()) attrs.Set("activation_beta", std::move(betas));
  attrs.Set("direction", layer.direction);
  if (layer.cell.op == "gru") attrs.Set("linear_before_reset", layer.cell.linear_before_reset);
  return attrs;
}

Values RunRecurrent(Builder& b, const RecurrentLayer& layer, std::vector<bool> wanted) {
  AttributeMap attrs = RecurrentAttributes(layer);
  if (const Dim hidden = DimAt(layer.r, 2); hidden.is_static()) {
    attrs.Set("hidden_size", hidden.value());
  }
  std::vector<Value*> operands = {layer.x,       layer.w, layer.r, layer.biases,
                                  layer.lengths, layer.h, layer.c, layer.peepholes};
  if (wanted.empty()) wanted.assign(1 + layer.cell.states(), true);
  return b.Ops(layer.cell.op, std::move(operands), std::move(attrs), wanted);
}

// --- Networks in one buffer ---------------------------------------------------------------------

int64_t CudnnNet::matrices() const {
  int64_t sum = 0;
  for (int64_t i = 0; i < layers; ++i) sum += units * (width(i) + units);
  return sum * gates() * directions;
}

absl::Status CheckSizes(const CudnnNet& net) {
  constexpr int64_t kLimit = int64_t{1} << 20, kMaxLayers = int64_t{1} << 10;
  if (net.units >= 1 && net.units <= kLimit && net.layers >= 1 && net.layers <= kMaxLayers &&
      net.features >= 0 && net.features <= kLimit) {
    return absl::OkStatus();
  }
  return Invalid(net.layers, " layers of ", net.units, " units for ", net.features, " features");
}

absl::Status CheckBuffer(const CudnnNet& net, const Value* buffer, size_t operand) {
  const Shape* shape = buffer->shape();
  if (shape && shape->rank() != 1) {
    return Invalid("operand ", operand, ": expected rank 1, got ", shape->rank());
  }
  const int64_t expected = net.matrices() + net.biases();
  if (shape && (*shape)[0].is_static() && (*shape)[0].value() != expected) {
    return Unimplemented((*shape)[0].value(), " parameters, where cuDNN needs ", expected);
  }
  return absl::OkStatus();
}

Value* CudnnParams::Next(std::vector<int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  const int64_t begin = std::exchange(at_, at_ + count);
  Builder& b = buffer_.builder();
  const Expr piece = buffer_.Op("slice", {b.Ints({begin}), b.Ints({at_}), b.Ints({0})});
  return ReshapeTo(piece, Ints(b, dims));
}

namespace {

absl::StatusOr<int64_t> StaticDim(const Value* x, size_t operand, int64_t axis,
                                  std::string_view what) {
  const Shape* shape = x->shape();
  if (shape && shape->rank() != 3) {
    return Invalid("operand ", operand, ": expected rank 3, got ", shape->rank());
  }
  if (!shape || !(*shape)[axis].is_static()) return Unimplemented(what, " must be known");
  return (*shape)[axis].value();
}

}  // namespace

absl::StatusOr<Values> RunCudnn(Builder& b, CudnnNet net, const RecurrentLayer& in,
                                bool time_major) {
  X2IR_ASSIGN_OR_RETURN(net.features, StaticDim(in.x, 0, 2, "the number of features"));
  X2IR_ASSIGN_OR_RETURN(net.units, StaticDim(in.h, 1, 2, "the number of units"));
  X2IR_ASSIGN_OR_RETURN(net.layers, StaticDim(in.h, 1, time_major ? 0 : 1, "the number of layers"));
  if (net.layers % net.directions != 0) return Invalid(net.layers, " states of two directions");
  net.layers /= net.directions;
  X2IR_RETURN_IF_ERROR(CheckSizes(net));
  X2IR_RETURN_IF_ERROR(CheckBuffer(net, in.w, 3));
  const int64_t gates = net.gates(), units = net.units, directions = net.directions;

  // A transpose is its own inverse.
  const auto turned = [&](Value* v) { return time_major ? v : Transpose({b, v}, {1, 0, 2}); };
  const auto joined = [&](const Values& parts) { return Concat(b, parts, 0).value(); };
  const std::vector<int64_t> order = GatePlaces(net.cell->gates, IrOrder(net.cell->op));
  const auto reordered = [&](Value* v, int64_t axis) {
    return gates == 1 ? v : b.Op("gather", {v, Ints(b, order)}, {{"axis", axis}});
  };
  RecurrentLayer one = in;
  one.cell = *net.cell;
  if (directions == 2) one.direction = "bidirectional";
  Value* initial_h = turned(in.h);
  Value* initial_c = in.c ? turned(in.c) : nullptr;
  CudnnParams matrices({b, in.w}, 0), biases({b, in.w}, net.matrices());
  one.x = turned(in.x);
  Values last_h, last_c;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    Values w, r, biases_of;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t width = net.width(layer);
      Value* of_input = reordered(matrices.Next({gates, units, width}), 0);
      Value* of_state = reordered(matrices.Next({gates, units, units}), 0);
      Value* of_both = reordered(biases.Next({2, gates, units}), 1);
      w.push_back(ReshapeTo({b, of_input}, Ints(b, {1, gates * units, width})));
      r.push_back(ReshapeTo({b, of_state}, Ints(b, {1, gates * units, units})));
      biases_of.push_back(ReshapeTo({b, of_both}, Ints(b, {1, 2 * gates * units})));
    }
    const auto first = [&](Value* all) {
      return Slice({b, all}, 0, layer * directions, (layer + 1) * directions);
    };
    one.w = joined(w);
    one.r = joined(r);
    one.biases = joined(biases_of);
    one.h = first(initial_h);
    if (in.c) one.c = first(initial_c);
    // length, directions, batch, units
    const Values out = RunRecurrent(b, one);
    one.x = b.Op("reshape",
                 {Transpose({b, out[0]}, {0, 2, 1, 3}), Ints(b, {0, 0, directions * units})});
    last_h.push_back(out[1]);
    if (in.c) last_c.push_back(out[2]);
  }
  Values results = {turned(one.x), turned(joined(last_h))};
  if (in.c) results.push_back(turned(joined(last_c)));
  return results;
}

// --- Steps --------------------------------------------------------------------------------------

// Nodes are named and written in the order in which they are made, which is this one.
LstmState LstmStep(const std::function<Expr(char gate)>& gate, const Expr& c) {
  const Expr candidate = gate('g');
  const Expr added = gate('i') * candidate;
  const Expr cell = gate('f') * c + added;
  const Expr seen = cell.Op("tanh");
  return {gate('o') * seen, cell};
}

Expr GruStep(const Values& of_x, const Values& of_h, const Expr& h) {
  Builder& b = h.builder();
  const auto sum = [&](size_t i) { return Expr(b, of_x[i]) + Expr(b, of_h[i]); };
  const Expr reset = sum(0).Op("sigmoid"), update = sum(1).Op("sigmoid");
  const Expr fresh = (Expr(b, of_x[2]) + reset * Expr(b, of_h[2])).Op("tanh");
  return fresh + update * (h - fresh);
}

}  // namespace x2ir
