// Recurrent networks, over sequences and one step at a time.
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"

namespace x2ir {
namespace {

// x w^T + b
Value* GateLinear(TorchCall& c, Value* x, Value* w, Value* b) {
  Value* y = c.Op("matmul", {x, Transpose({c, w}, {1, 0})});
  return b ? c.Op("add", {y, b}) : y;
}

// --- One step -------------------------------------------------------------------------------

LstmState LstmStep(TorchCall& c, Value* gates, const Expr& cell) {
  const Values g = GateParts(c, gates, 4, c.Rank(gates) - 1);
  const auto open = [&](size_t i) { return Expr(c, g[i]).Op("sigmoid"); };
  const Expr kept = open(1) * cell, in = open(0), next = kept + in * Expr(c, g[2]).Op("tanh");
  const Expr out = open(3);
  return {out * next.Op("tanh"), next};
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
  const LstmState next = LstmStep(c, gates, {c, hx[1]});
  return {next.h, next.c};
}
X2IR_TORCH(lstm).From("aten::lstm_cell.default", LstmCell);

Values GruCell(TorchCall& c) {
  Value* x = c.Tensor("input");
  Value* h = c.Tensor("hx");
  const CellWeights w = ReadCell(c);
  RequireFloat(c, x);
  Value *of_h = GateLinear(c, h, w.w_hh, w.b_hh), *of_x = GateLinear(c, x, w.w_ih, w.b_ih);
  const int64_t axis = c.Rank(of_x) - 1;
  const Values x_parts = GateParts(c, of_x, 3, axis), h_parts = GateParts(c, of_h, 3, axis);
  return {GruStep(x_parts, h_parts, {c, h})};
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

Layer PlainLayer(TorchCall& c, const RecurrentCell& cell, Value* x, const Weights& all, Value* h0,
                 Value* c0) {
  const auto directions = static_cast<int64_t>(all.w.size());
  RecurrentLayer plain{.cell = cell, .x = x, .h = h0, .c = c0};
  if (directions == 2) plain.direction = "bidirectional";
  plain.w = EachDirection(c, all.w);
  plain.r = EachDirection(c, all.r);
  plain.biases = EachDirection(c, all.b);
  const Values out = RunRecurrent(c, plain);
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
  if (cell.lstm()) layer.c = out[2];
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
    const auto pick = [&](Value* v, int64_t at) { return Gather({c, v}, Int(c, at), 0); };
    const auto direction = static_cast<int64_t>(d);
    LstmState state{pick(h0, direction), pick(c0, direction)};
    std::vector<Value*> outputs(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t at = d == 0 ? i : steps - 1 - i;
      Value* bias = all.b.empty() ? nullptr : all.b[d];
      Value* gates = c.Op("add", {GateLinear(c, pick(x, at), all.w[d], bias),
                                  GateLinear(c, state.h, all.r[d], nullptr)});
      state = LstmStep(c, gates, state.c);
      state.h = {c, GateLinear(c, state.h, all.projection[d], nullptr)};
      outputs[static_cast<size_t>(at)] = Unsqueeze(state.h, {0});
    }
    ys.push_back(c.Op("concat", outputs, {{"axis", 0}}));
    hs.push_back(Unsqueeze(state.h, {0}));
    cs.push_back(Unsqueeze(state.c, {0}));
  }
  layer.y = c.Op("concat", ys, {{"axis", 2}});
  layer.h = c.Op("concat", hs, {{"axis", 0}});
  layer.c = c.Op("concat", cs, {{"axis", 0}});
  return layer;
}

Values Net(TorchCall& c, const RecurrentCell& cell) {
  Value* x = c.Tensor("input");
  std::vector<Value*> hx = cell.lstm() ? c.Tensors("hx") : std::vector<Value*>{c.Tensor("hx")};
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
  if (hx.size() != cell.states() || layers < 1 || layers > static_cast<int64_t>(params.size())) {
    return c.Fail(Invalid("parameters of another number of layers"));
  }
  const size_t cells = static_cast<size_t>(layers) * directions, usual = biases ? 4 : 2;
  const bool projected = cell.lstm() && params.size() == cells * (usual + 1);
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
      all.w.push_back(IrGates(c, p[0], cell));
      all.r.push_back(IrGates(c, p[1], cell));
      if (!biases) continue;
      Value* of_input = IrGates(c, p[2], cell);
      all.b.push_back(BothBiases(c, of_input, IrGates(c, p[3], cell)));
    }
    const auto state = [&](size_t i) -> Value* {
      if (layers == 1) return hx[i];
      const auto first = static_cast<int64_t>(layer * directions);
      return Slice({c, hx[i]}, 0, first, first + static_cast<int64_t>(directions));
    };
    Value* h0 = state(0);
    Value* c0 = cell.lstm() ? state(1) : nullptr;
    const Layer out =
        projected ? ProjectedLayer(c, x, all, h0, c0) : PlainLayer(c, cell, x, all, h0, c0);
    x = out.y;
    hs.push_back(out.h);
    if (cell.lstm()) cs.push_back(out.c);
  }
  Values values(c.num_outputs(), nullptr);
  if (c.wants(0)) values[0] = batch_first ? Transpose({c, x}, {1, 0, 2}) : x;
  if (c.wants(1)) values[1] = Concat(c, hs, 0);
  if (c.wants(2) && cell.lstm()) values[2] = Concat(c, cs, 0);
  return values;
}

TorchHandler Of(std::string_view mode) {
  return [mode](TorchCall& c) { return Net(c, *CudnnCell(mode)); };
}
X2IR_TORCH(lstm).From("aten::lstm.input", Of("lstm"));
X2IR_TORCH(gru).From("aten::gru.input", Of("gru"));
X2IR_TORCH(rnn)
    .From("aten::rnn_tanh.input", Of("rnn_tanh"))
    .From("aten::rnn_relu.input", Of("rnn_relu"))
    .From({"aten::lstm.data", "aten::gru.data", "aten::rnn_tanh.data", "aten::rnn_relu.data"},
          [](TorchCall& c) {
            return c.Fail(Unimplemented("of packed sequences; give padded ones"));
          });

}  // namespace
}  // namespace x2ir
