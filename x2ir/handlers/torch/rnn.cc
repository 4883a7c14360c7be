// Recurrent networks, over sequences and one step at a time.
#include <string>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

struct Kind {
  std::string_view op;
  std::vector<size_t> gates;  // PyTorch's, in our order
  std::vector<std::string> activations;
  bool lstm = false;
};
const Kind kLstm = {"lstm", {0, 3, 1, 2}, {"Sigmoid", "Tanh", "Tanh"}, true};
const Kind kGru = {"gru", {1, 0, 2}, {"Sigmoid", "Tanh"}};
const Kind kTanh = {"rnn", {0}, {"Tanh"}};
const Kind kRelu = {"rnn", {0}, {"Relu"}};

// x w^T + b
Value* GateLinear(TorchCall& c, Value* x, Value* w, Value* b) {
  Value* y = c.Op("matmul", {x, Transpose({c, w}, {1, 0})});
  return b ? c.Op("add", {y, b}) : y;
}

std::vector<Value*> SplitGates(TorchCall& c, Value* all, int64_t axis, size_t gates) {
  if (gates == 1) return {all};
  return c.b().Ops("split", {all, nullptr},
                   {{"axis", axis}, {"num_outputs", static_cast<int64_t>(gates)}}, gates);
}

// Rows of gates in our order.
Value* Reordered(TorchCall& c, Value* w, const Kind& kind) {
  if (kind.gates.size() == 1) return w;
  const std::vector<Value*> parts = SplitGates(c, w, 0, kind.gates.size());
  std::vector<Value*> ours;
  for (const size_t gate : kind.gates) ours.push_back(parts[gate]);
  return c.Op("concat", ours, {{"axis", 0}});
}

// --- One step -------------------------------------------------------------------------------

struct State {
  Value *h, *c = nullptr;
};

State LstmStep(TorchCall& c, Value* gates, Value* cell) {
  const auto op = [&](std::string_view name, Value* x) { return c.Op(name, {x}); };
  const std::vector<Value*> g = SplitGates(c, gates, c.Rank(gates) - 1, 4);
  Value* kept = c.Op("mul", {op("sigmoid", g[1]), cell});
  Value* added = c.Op("mul", {op("sigmoid", g[0]), op("tanh", g[2])});
  State next;
  next.c = c.Op("add", {kept, added});
  next.h = c.Op("mul", {op("sigmoid", g[3]), op("tanh", next.c)});
  return next;
}

Value* GruStep(TorchCall& c, Value* of_input, Value* of_state, Value* h) {
  const int64_t axis = c.Rank(of_input) - 1;
  const std::vector<Value*> x = SplitGates(c, of_input, axis, 3);
  const std::vector<Value*> s = SplitGates(c, of_state, axis, 3);
  Value* reset = c.Op("sigmoid", {c.Op("add", {x[0], s[0]})});
  Value* update = c.Op("sigmoid", {c.Op("add", {x[1], s[1]})});
  Value* fresh = c.Op("tanh", {c.Op("add", {x[2], c.Op("mul", {reset, s[2]})})});
  // fresh + update (h - fresh)
  return c.Op("add", {fresh, c.Op("mul", {update, c.Op("sub", {h, fresh})})});
}

struct CellWeights {
  Value *w_ih, *w_hh, *b_ih, *b_hh;
};
CellWeights ReadCell(TorchCall& c) {
  return {c.Tensor("w_ih"), c.Tensor("w_hh"), c.OptTensor("b_ih"), c.OptTensor("b_hh")};
}

Values LstmCell(TorchCall& c) {
  Value* x = c.Tensor("input");
  const std::vector<Value*> hx = c.Tensors("hx");
  const CellWeights w = ReadCell(c);
  if (hx.size() != 2) return c.Fail(Invalid("hx: expected 2 tensors, got ", hx.size()));
  RequireFloat(c, x);
  Value* gates =
      c.Op("add", {GateLinear(c, x, w.w_ih, w.b_ih), GateLinear(c, hx[0], w.w_hh, w.b_hh)});
  const State next = LstmStep(c, gates, hx[1]);
  return {next.h, next.c};
}
X2IR_TORCH(lstm).From("aten::lstm_cell.default", LstmCell);

Values GruCell(TorchCall& c) {
  Value* x = c.Tensor("input");
  Value* h = c.Tensor("hx");
  const CellWeights w = ReadCell(c);
  RequireFloat(c, x);
  return {GruStep(c, GateLinear(c, x, w.w_ih, w.b_ih), GateLinear(c, h, w.w_hh, w.b_hh), h)};
}
X2IR_TORCH(gru).From("aten::gru_cell.default", GruCell);

TorchHandler PlainCell(std::string_view activation) {
  return [activation](TorchCall& c) -> Values {
    Value* x = c.Tensor("input");
    Value* h = c.Tensor("hx");
    const CellWeights w = ReadCell(c);
    RequireFloat(c, x);
    Value* sum = c.Op("add", {GateLinear(c, x, w.w_ih, w.b_ih), GateLinear(c, h, w.w_hh, w.b_hh)});
    return {c.Op(activation, {sum})};
  };
}
X2IR_TORCH(rnn)
    .From("aten::rnn_tanh_cell.default", PlainCell("tanh"))
    .From("aten::rnn_relu_cell.default", PlainCell("relu"));

// --- Sequences ------------------------------------------------------------------------------

struct Weights {
  std::vector<Value*> w, r, b, projection;  // of each direction
};

// One layer, projected or not: what comes out of each direction, side by side.
struct Layer {
  Value *y, *h, *c = nullptr;  // y: length, batch, features; states: directions, batch, hidden
};

Layer PlainLayer(TorchCall& c, const Kind& kind, Value* x, const Weights& all, Value* h0,
                 Value* c0) {
  const int64_t directions = static_cast<int64_t>(all.w.size());
  const auto stacked = [&](const std::vector<Value*>& each) -> Value* {
    if (each.empty()) return nullptr;
    std::vector<Value*> parts;
    for (Value* v : each) parts.push_back(Unsqueeze({c, v}, {0}));
    return parts.size() == 1 ? parts[0] : c.Op("concat", parts, {{"axis", 0}});
  };
  std::vector<std::string> activations;
  for (int64_t d = 0; d < directions; ++d) {
    activations.insert(activations.end(), kind.activations.begin(), kind.activations.end());
  }
  const auto hidden = KnownSizes(all.r[0], 1, 2);
  AttributeMap attrs = {{"activations", Attribute::Strings(activations)},
                        {"direction", directions == 2 ? "bidirectional" : "forward"}};
  if (hidden) attrs.Set("hidden_size", (*hidden)[0]);
  // The reset gate goes after the product with the state.
  if (kind.op == "gru") attrs.Set("linear_before_reset", 1);
  std::vector<Value*> operands = {x, stacked(all.w), stacked(all.r), stacked(all.b), nullptr, h0};
  if (kind.lstm) operands.push_back(c0);
  const std::vector<Value*> out = c.b().Ops(kind.op, operands, attrs, kind.lstm ? 3 : 2);
  // length, directions, batch, hidden
  Layer layer;
  if (directions == 1) {
    layer.y = Squeeze({c, out[0]}, {1});
  } else {
    const Size width = Times(c, SizeAt({c, all.r[0]}, 1), directions);
    Value* y = Transpose({c, out[0]}, {0, 2, 1, 3});
    // 0: as it was.
    layer.y = width.number && *width.number > 0
                  ? c.Op("reshape", {y, Ints(c, {0, 0, *width.number})})
                  : ReshapeTo({c, y}, {SizeAt({c, x}, 0), SizeAt({c, x}, 1), width});
  }
  layer.h = out[1];
  if (kind.lstm) layer.c = out[2];
  return layer;
}

// Step by step: the state is projected before it is used again, which no op does.
Layer ProjectedLayer(TorchCall& c, Value* x, const Weights& all, Value* h0, Value* c0) {
  constexpr int64_t kMaxSteps = 512;
  const auto length = KnownSizes(x, 0, 1);
  Layer layer{x, h0, c0};
  if (!length || (*length)[0] < 1 || (*length)[0] > kMaxSteps) {
    c.Fail(Unimplemented("projections over sequences of unknown length, or of over ", kMaxSteps));
    return layer;
  }
  const int64_t steps = (*length)[0];
  std::vector<Value*> ys, hs, cs;
  for (size_t d = 0; d < all.w.size(); ++d) {
    const auto pick = [&](Value* v, int64_t at) {
      return c.Op("gather", {v, Int(c, at)}, {{"axis", 0}});
    };
    State state{pick(h0, static_cast<int64_t>(d)), pick(c0, static_cast<int64_t>(d))};
    std::vector<Value*> outputs(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t at = d == 0 ? i : steps - 1 - i;
      Value* bias = all.b.empty() ? nullptr : all.b[d];
      Value* gates = c.Op("add", {GateLinear(c, pick(x, at), all.w[d], bias),
                                  GateLinear(c, state.h, all.r[d], nullptr)});
      state = LstmStep(c, gates, state.c);
      state.h = GateLinear(c, state.h, all.projection[d], nullptr);
      outputs[static_cast<size_t>(at)] = Unsqueeze({c, state.h}, {0});
    }
    ys.push_back(c.Op("concat", outputs, {{"axis", 0}}));
    hs.push_back(Unsqueeze({c, state.h}, {0}));
    cs.push_back(Unsqueeze({c, state.c}, {0}));
  }
  layer.y = c.Op("concat", ys, {{"axis", 2}});
  layer.h = c.Op("concat", hs, {{"axis", 0}});
  layer.c = c.Op("concat", cs, {{"axis", 0}});
  return layer;
}

Values Recurrent(TorchCall& c, const Kind& kind) {
  Value* x = c.Tensor("input");
  std::vector<Value*> hx = kind.lstm ? c.Tensors("hx") : std::vector<Value*>{c.Tensor("hx")};
  const std::vector<Value*> params = c.Tensors("params");
  const bool biases = c.Bool("has_biases"), bidirectional = c.Bool("bidirectional");
  const int64_t layers = c.Int("num_layers");
  const double dropout = c.Float("dropout");
  const bool train = c.Bool("train"), batch_first = c.Bool("batch_first");
  RequireFloat(c, x);
  if (c.Rank(x) != 3) return c.Fail(Invalid("expected an input of rank 3, got ", c.Rank(x)));
  if (train && dropout != 0 && layers > 1) {
    return c.Fail(
        Unimplemented("dropout in training, which is random; export the model in eval()"));
  }
  const size_t directions = bidirectional ? 2 : 1;
  if (hx.size() != (kind.lstm ? 2 : 1) || layers < 1 ||
      layers > static_cast<int64_t>(params.size())) {
    return c.Fail(Invalid("parameters of another number of layers"));
  }
  const size_t cells = static_cast<size_t>(layers) * directions, usual = biases ? 4 : 2;
  const bool projected = kind.lstm && params.size() == cells * (usual + 1);
  const size_t each = usual + (projected ? 1 : 0);
  if (params.size() != cells * each) {
    return c.Fail(Invalid("expected ", cells * each, " parameters, got ", params.size()));
  }
  if (batch_first) x = Transpose({c, x}, {1, 0, 2});
  std::vector<Value*> hs, cs;
  for (size_t layer = 0; layer < static_cast<size_t>(layers); ++layer) {
    Weights all;
    for (size_t d = 0; d < directions; ++d) {
      Value* const* p = params.data() + (layer * directions + d) * each;
      if (projected) {
        all.w.push_back(p[0]);
        all.r.push_back(p[1]);
        if (biases) all.b.push_back(c.Op("add", {p[2], p[3]}));
        all.projection.push_back(p[each - 1]);
        continue;
      }
      all.w.push_back(Reordered(c, p[0], kind));
      all.r.push_back(Reordered(c, p[1], kind));
      if (biases) {
        all.b.push_back(
            c.Op("concat", {Reordered(c, p[2], kind), Reordered(c, p[3], kind)}, {{"axis", 0}}));
      }
    }
    const auto state = [&](size_t i) -> Value* {
      const auto first = static_cast<int64_t>(layer * directions);
      if (layers == 1) return hx[i];
      return c.Op("slice", {hx[i], Ints(c, {first}),
                            Ints(c, {first + static_cast<int64_t>(directions)}), Ints(c, {0})});
    };
    Value* h0 = state(0);
    Value* c0 = kind.lstm ? state(1) : nullptr;
    const Layer out =
        projected ? ProjectedLayer(c, x, all, h0, c0) : PlainLayer(c, kind, x, all, h0, c0);
    x = out.y;
    hs.push_back(out.h);
    if (kind.lstm) cs.push_back(out.c);
  }
  const auto joined = [&](const std::vector<Value*>& states) {
    return states.size() == 1 ? states[0] : c.Op("concat", states, {{"axis", 0}});
  };
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = batch_first ? Transpose({c, x}, {1, 0, 2}) : x;
  if (c.wants(1)) values[1] = joined(hs);
  if (c.wants(2) && kind.lstm) values[2] = joined(cs);
  return values;
}

TorchHandler Of(const Kind& kind) {
  return [&kind](TorchCall& c) { return Recurrent(c, kind); };
}
X2IR_TORCH(lstm).From("aten::lstm.input", Of(kLstm));
X2IR_TORCH(gru).From("aten::gru.input", Of(kGru));
X2IR_TORCH(rnn)
    .From("aten::rnn_tanh.input", Of(kTanh))
    .From("aten::rnn_relu.input", Of(kRelu))
    .From({"aten::lstm.data", "aten::gru.data", "aten::rnn_tanh.data", "aten::rnn_relu.data"},
          [](TorchCall& c) {
            return c.Fail(Unimplemented("of packed sequences; give padded ones"));
          });

}  // namespace
}  // namespace x2ir
