// Recurrent layers written as calls.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

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

// --- Written out ----------------------------------------------------------------------------

// What PyTorch's layers do not have: other activations, lengths of sequences, peepholes, one
// direction backwards, a reset before the product. A scan over time does it.

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
  X2IR_RETURN_IF_ERROR(b.status());
  for (Node* node : body->nodes()) body->NameValues(node, "step");
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

X2IR_TORCH(lstm).To("aten::lstm.input", [](TorchWriter& w) { return WriteLayer(w, "lstm"); });
X2IR_TORCH(gru).To("aten::gru.input", [](TorchWriter& w) { return WriteLayer(w, "gru"); });

absl::StatusOr<Values> WriteRnn(TorchWriter& w) {
  const Attribute* attr = w.attrs().Find("activations");
  const auto* given = attr ? attr->get<Attribute::Strings>() : nullptr;
  if (!given || given->empty()) return CannotExpress("no activation");
  return WriteLayer(w, (*given)[0] == "Relu" ? "rnn_relu" : "rnn_tanh");
}
X2IR_TORCH(rnn).To("aten::rnn_tanh.input", WriteRnn);

}  // namespace
}  // namespace x2ir
