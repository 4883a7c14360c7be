// Recurrent networks, over sequences and one step at a time.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"

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
                 Value* c0, Value* lengths) {
  const auto directions = static_cast<int64_t>(all.w.size());
  RecurrentLayer plain{.cell = cell, .x = x, .lengths = lengths, .h = h0, .c = c0};
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
  // Of each sequence, int32: packed sequences of TorchScript are read as padded ones.
  Value* lengths = c.OptTensor("lengths");
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
  if (projected && lengths) return c.Fail(Unimplemented("projections of packed sequences"));
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
    const Layer out = projected ? ProjectedLayer(c, x, all, h0, c0)
                                : PlainLayer(c, cell, x, all, h0, c0, lengths);
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

// Rows of gates in PyTorch's order, of direction d.
Value* GatesOf(TorchWriter& w, Value* weights, int64_t d, const RecurrentCell& cell) {
  Value* own = w.Op("gather", {weights, w.b().Int(d)}, {{"axis", 0}});
  return GatesInOrder(w, own, IrOrder(cell.op), cell.gates);
}

bool HasDefaults(TorchWriter& w, const RecurrentCell& cell) {
  const Attribute* given = w.attrs().Find("activations");
  const AttributeMap usual =
      RecurrentAttributes({.cell = cell, .direction = w.String("direction")});
  return given && *given == *usual.Find("activations") && !w.attrs().Has("clip") &&
         w.attrs().Int("input_forget", 0) == 0;
}

absl::StatusOr<Values> WriteRecurrent(TorchWriter& w, std::string_view op,
                                      const RecurrentCell& cell) {
  const std::string& direction = w.String("direction");
  if (direction == "reverse") return CannotExpress("one direction, backwards");
  const bool both = direction == "bidirectional", lstm = cell.lstm();
  const int64_t directions = both ? 2 : 1;
  if (!HasDefaults(w, cell)) return CannotExpress("other activations, or a clip");
  if (w.has(4) || w.has(7)) return CannotExpress("lengths of sequences, or peepholes");
  if (w.Int("batch_first") != 0) return CannotExpress("the batch first");
  Value* x = w.in(0);
  const Shape *in = x->shape(), *of_r = w.in(2)->shape();
  if (!in || in->rank() != 3 || !of_r || !(*of_r)[2].is_static()) {
    return CannotExpress("operands of unknown sizes");
  }
  const int64_t hidden = (*of_r)[2].value();
  const Type state = Type::Tensor(w.dtype(), Shape({Dim(directions), (*in)[1], Dim(hidden)}));
  const auto initial = [&](size_t i) -> Value* {
    if (w.has(i)) return w.in(i);
    Value* shape = w.Op("concat",
                        {w.b().Ints({directions}), w.Op("shape", {x}, {{"start", 1}, {"end", 2}}),
                         w.b().Ints({hidden})},
                        {{"axis", 0}});
    return w.Op("expand", {w.Number(w.dtype(), 0), shape});
  };
  std::vector<Value*> params;
  for (int64_t d = 0; d < directions; ++d) {
    params.push_back(GatesOf(w, w.in(1), d, cell));
    params.push_back(GatesOf(w, w.in(2), d, cell));
    if (!w.has(3)) continue;
    const Values halves =
        w.b().Ops("split", {w.in(3), nullptr}, {{"axis", 1}, {"num_outputs", 2}}, 2);
    for (Value* half : halves) params.push_back(GatesOf(w, half, d, cell));
  }
  Value* h = initial(5);
  TorchArguments arguments = {{"input", x}};
  if (lstm) {
    arguments.emplace_back("hx", std::vector<Value*>{h, initial(6)});
  } else {
    arguments.emplace_back("hx", h);
  }
  arguments.emplace_back("params", std::move(params));
  arguments.emplace_back("has_biases", w.has(3));
  arguments.emplace_back("num_layers", 1);
  arguments.emplace_back("dropout", 0.0);
  arguments.emplace_back("train", false);
  arguments.emplace_back("bidirectional", both);
  arguments.emplace_back("batch_first", false);
  const Type y = Type::Tensor(w.dtype(), Shape({(*in)[0], (*in)[1], Dim(directions * hidden)}));
  std::vector<bool> wanted = {true, w.wants(1)};
  if (lstm) wanted.push_back(w.wants(2));
  Values values = w.Calls(StrCat(op, ".input"), std::move(arguments), wanted, {y, state, state});
  if (!w.wants(0)) {
    values[0] = nullptr;
  } else if (directions == 1) {
    values[0] = w.Op("unsqueeze", {values[0], w.b().Ints({1})});
  } else {
    Value* apart =
        w.Op("reshape", {values[0], w.b().Ints({0, 0, directions, hidden})}, {{"allowzero", 0}});
    values[0] = w.Op("transpose", {apart}, {{"perm", {0, 2, 1, 3}}});
  }
  values.resize(w.node().num_outputs());
  return values;
}

absl::StatusOr<Expr> Activated(const Expr& x, const std::string& name) {
  static constexpr std::pair<std::string_view, const char*> kOps[] = {
      {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}, {"Relu", "relu"}, {"Softsign", "softsign"}};
  for (const auto& [known, op] : kOps) {
    if (name == known) return x.Op(op);
  }
  return CannotExpress("activation ", name);
}

// One step of one direction. `x` has the products with the weights already, and their bias.
struct StepOperands {
  Expr x = nullptr, h = nullptr, c = nullptr, r = nullptr, bias = nullptr, peepholes = nullptr;
};

absl::StatusOr<LstmState> StepOf(TorchWriter& w, Builder& b, const RecurrentCell& cell,
                                 const StepOperands& in, int64_t hidden,
                                 const std::vector<std::string>& functions) {
  const auto part = [&](const Expr& of, int64_t i) {
    return Slice(of, -1, Size(i * hidden), Size((i + 1) * hidden));
  };
  const auto bounded = [&](const Expr& x) {
    if (!w.attrs().Has("clip")) return x;
    const double most = w.Float("clip");
    return Clip(x, x.Number(-most), x.Number(most));
  };
  const auto inside = [&](const Expr& x) { return Expr{b, x.value()}; };
  const auto product = [&](const Expr& h, int64_t from, int64_t to) {
    const Expr rows = Slice(inside(in.r), 0, Size(from * hidden), Size(to * hidden));
    Expr all = MatMul(h, Transpose(rows, {1, 0}));
    if (in.bias.value()) {
      all = all + Slice(inside(in.bias), 0, Size(from * hidden), Size(to * hidden));
    }
    return all;
  };
  LstmState out;
  if (cell.lstm()) {  // gates i, o, f, c
    const Expr all = in.x + product(in.h, 0, 4);
    const auto peephole = [&](const Expr& gate, int64_t i, const Expr& c) {
      return in.peepholes.value() ? gate + part(inside(in.peepholes), i) * c : gate;
    };
    X2IR_ASSIGN_OR_RETURN(const Expr i,
                          Activated(bounded(peephole(part(all, 0), 0, in.c)), functions[0]));
    Expr f = 1 - i;
    if (w.attrs().Int("input_forget", 0) == 0) {
      X2IR_ASSIGN_OR_RETURN(f, Activated(bounded(peephole(part(all, 2), 2, in.c)), functions[0]));
    }
    X2IR_ASSIGN_OR_RETURN(const Expr g, Activated(bounded(part(all, 3)), functions[1]));
    out.c = f * in.c + i * g;
    X2IR_ASSIGN_OR_RETURN(const Expr o,
                          Activated(bounded(peephole(part(all, 1), 1, out.c)), functions[0]));
    X2IR_ASSIGN_OR_RETURN(const Expr seen, Activated(out.c, functions[2]));
    out.h = o * seen;
  } else if (cell.gates.size() == 3) {  // gates z, r, h
    const Expr two = Slice(in.x, -1, Size(0), Size(2 * hidden)) + product(in.h, 0, 2);
    X2IR_ASSIGN_OR_RETURN(const Expr z, Activated(bounded(part(two, 0)), functions[0]));
    X2IR_ASSIGN_OR_RETURN(const Expr r, Activated(bounded(part(two, 1)), functions[0]));
    const Expr rest =
        w.Int("linear_before_reset") != 0 ? r * product(in.h, 2, 3) : product(r * in.h, 2, 3);
    X2IR_ASSIGN_OR_RETURN(const Expr n, Activated(bounded(part(in.x, 2) + rest), functions[1]));
    out.h = (1 - z) * n + z * in.h;
  } else {
    X2IR_ASSIGN_OR_RETURN(out.h, Activated(bounded(in.x + product(in.h, 0, 1)), functions[0]));
  }
  return out;
}

// All of one direction: y [time, batch, hidden] and the last states.
absl::StatusOr<Values> WriteDirection(TorchWriter& w, const RecurrentCell& cell, int64_t d,
                                      int64_t hidden, bool reverse,
                                      const std::vector<std::string>& functions) {
  const auto of = [&](size_t i) {
    return w.has(i) ? Expr{w, w.Op("gather", {w.in(i), w.b().Int(d)}, {{"axis", 0}})}
                    : Expr(nullptr);
  };
  const int64_t rows = static_cast<int64_t>(cell.gates.size()) * hidden;
  Expr x{w, w.in(0)};
  const Expr lengths = w.has(4) ? Expr{w, w.in(4)}.To(DType::kInt64) : Expr(nullptr);
  const auto turned = [&](const Expr& sequence) {
    if (lengths.value()) {
      return sequence.Op("reverse_sequence", {lengths}, {{"batch_axis", 1}, {"time_axis", 0}});
    }
    return Slice(sequence, 0, Size(-1), Size(std::numeric_limits<int64_t>::min()), -1);
  };
  if (reverse) x = turned(x);
  Expr projected = MatMul(x, Transpose(of(1), {1, 0}));
  Expr bias = of(3);
  if (bias.value()) {
    projected = projected + Slice(bias, 0, Size(0), Size(rows));
    bias = Slice(bias, 0, Size(rows), Size(2 * rows));
  }
  const Expr zeros = Filled(w, w.dtype(), {SizeAt(x, 1), Size(hidden)}, 0);
  const Expr h0 = w.has(5) ? of(5) : zeros;
  const Expr c0 = !cell.lstm() ? Expr(nullptr) : w.has(6) ? of(6) : zeros;

  auto body = std::make_shared<Graph>("step");
  Builder b(*body, nullptr);
  const Expr t = {b, body->AddInput("t", Type::Tensor(DType::kInt64, Shape()))};
  Values operands = {w.b().Int(0)};
  const auto carried = [&](const char* name, const Expr& first) {
    operands.push_back(first);
    return Expr{b, body->AddInput(name, first->type())};
  };
  StepOperands in;
  in.h = carried("h", h0);
  if (cell.lstm()) in.c = carried("c", c0);
  const Shape* shape = projected->shape();
  if (!shape || shape->rank() != 3) return CannotExpress("operands of unknown rank");
  const Type row = Type::Tensor(w.dtype(), Shape({(*shape)[1], (*shape)[2]}));
  in.x = {b, body->AddInput("x", row)};
  operands.push_back(projected);
  in.r = of(2);
  in.bias = bias;
  if (cell.lstm()) in.peepholes = of(7);
  X2IR_ASSIGN_OR_RETURN(LstmState out, StepOf(w, b, cell, in, hidden, functions));
  Expr y = out.h;
  if (lengths.value()) {
    const Expr there = Unsqueeze(t < Expr{b, lengths.value()}, {1});
    y = Where(there, out.h, 0);
    out.h = Where(there, out.h, in.h);
    if (cell.lstm()) out.c = Where(there, out.c, in.c);
  }
  body->AddOutput(t + 1);
  body->AddOutput(out.h);
  if (cell.lstm()) body->AddOutput(out.c);
  body->AddOutput(b.Op("identity", {y}));
  X2IR_RETURN_IF_ERROR(NameMade(b, "step", body->outputs()));
  const size_t states = cell.lstm() ? 3 : 2;
  Values made = w.b().Ops("scan", operands,
                          {{"body", std::move(body)},
                           {"num_scan_inputs", 1},
                           {"scan_input_axes", Attribute::Ints{0}},
                           {"scan_input_directions", Attribute::Ints{0}},
                           {"scan_output_axes", Attribute::Ints{0}},
                           {"scan_output_directions", Attribute::Ints{0}}},
                          states + 1);
  Values values = {made.back(), made[1], cell.lstm() ? made[2] : nullptr};
  if (reverse) values[0] = turned({w, values[0]});
  return values;
}

absl::StatusOr<Values> WriteStepByStep(TorchWriter& w, const RecurrentCell& cell) {
  if (w.Int("batch_first") != 0) return CannotExpress("the batch first");
  const Shape* of_r = w.in(2)->shape();
  if (!of_r || !(*of_r)[2].is_static()) return CannotExpress("operands of unknown sizes");
  if (w.attrs().Has("activation_alpha") || w.attrs().Has("activation_beta")) {
    return CannotExpress("activations with numbers of their own");
  }
  const Attribute* attr = w.attrs().Find("activations");
  const auto* all = attr ? attr->get<Attribute::Strings>() : nullptr;
  const std::string& direction = w.String("direction");
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const size_t each = cell.activations.size();
  if (!all || all->size() != each * static_cast<size_t>(directions)) {
    return CannotExpress("another number of activations");
  }
  Values values(3, nullptr);
  std::vector<Values> parts(3);
  for (int64_t d = 0; d < directions; ++d) {
    const auto first = all->begin() + static_cast<ptrdiff_t>(each) * d;
    const std::vector<std::string> functions(first, first + static_cast<ptrdiff_t>(each));
    X2IR_ASSIGN_OR_RETURN(const Values made,
                          WriteDirection(w, cell, d, (*of_r)[2].value(),
                                         d == 1 || direction == "reverse", functions));
    for (size_t i = 0; i < 3; ++i) {
      if (made[i]) parts[i].push_back(Unsqueeze({w, made[i]}, {i == 0 ? 1 : 0}));
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    if (w.wants(i)) values[i] = Concat(w, parts[i], i == 0 ? 1 : 0);
  }
  values.resize(w.num_outputs());
  return values;
}

// As PyTorch's layer where it is one.
absl::StatusOr<Values> WriteLayer(TorchWriter& w, std::string_view mode) {
  const RecurrentCell& cell = *CudnnCell(mode);
  const bool batch_first = w.Int("batch_first") != 0;
  if (cell.op != "gru" || w.Int("linear_before_reset") != 0 || batch_first) {
    absl::StatusOr<Values> layer = WriteRecurrent(w, StrCat("aten::", mode), cell);
    if (layer.ok() || batch_first) return layer;
  }
  return WriteStepByStep(w, cell);
}

absl::StatusOr<Values> WriteRnn(TorchWriter& w) {
  const Attribute* attr = w.attrs().Find("activations");
  const auto* given = attr ? attr->get<Attribute::Strings>() : nullptr;
  if (!given || given->empty()) return CannotExpress("no activation");
  return WriteLayer(w, (*given)[0] == "Relu" ? "rnn_relu" : "rnn_tanh");
}

}  // namespace

X2IR_TORCH(lstm).To("aten::lstm.input", [](TorchWriter& w) { return WriteLayer(w, "lstm"); });
X2IR_TORCH(gru).To("aten::gru.input", [](TorchWriter& w) { return WriteLayer(w, "gru"); });
X2IR_TORCH(rnn).To("aten::rnn_tanh.input", WriteRnn);

}  // namespace x2ir
