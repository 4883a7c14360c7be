#include "x2ir/handlers/coreml/rnn.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/nested.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/layout.h"

namespace x2ir {

namespace {

Expr Activated(NodeReader& a, const RecurrentActivation& function, const Expr& x) {
  const std::string& name = function.name;
  const float alpha = function.alpha.value_or(1), beta = function.beta.value_or(0);
  if (name == "Sigmoid") return x.Op("sigmoid");
  if (name == "Tanh") return x.Op("tanh");
  if (name == "Relu") return x.Op("relu");
  if (name == "Affine") return Shifted(Scaled(x, alpha), beta);
  if (name == "ScaledTanh") return Scaled(Scaled(x, beta).Op("tanh"), alpha);
  if (name == "HardSigmoid") return x.Op("hard_sigmoid", {}, {{"alpha", alpha}, {"beta", beta}});
  a.Require(false, StrCat("activation ", name, " of a cell that is clipped"));
  return x;
}

// Whether a cell that starts at zero stays within the bound: gates are at most 1, and each step
// adds at most 1.
bool NeverClipped(const MilLayer& layer) {
  const Shape* x = layer.x->shape();
  return !layer.c && layer.cell.activations[0].name == "Sigmoid" &&
         layer.cell.activations[1].name == "Tanh" && x && (*x)[0].is_static() &&
         static_cast<double>((*x)[0].value()) <= *layer.clip;
}

// Weights of each direction along a new first axis, zeros where one direction has none. Null where
// all have none.
Value* EachDirectionOrZeros(Builder& b, std::vector<Value*> weights) {
  const auto given = std::find_if(weights.begin(), weights.end(), [](Value* v) { return v; });
  if (given == weights.end()) return nullptr;
  const Expr like = {b, *given};
  for (Value*& each : weights) {
    if (!each) each = Filled(b, like.dtype(), {SizeAt(like, 0)}, 0);
  }
  return EachDirection(b, weights);
}

// Step by step, since the IR's LSTM clips the operands of its gates and not its cell.
RecurrentResults ClippedLstm(NodeReader& a, const MilLayer& layer) {
  Builder& b = a.b();
  const int64_t hidden = DimAt(layer.directions[0].r, 1).value();
  const Attribute* coupled = layer.attrs.Find("input_forget");
  const bool couples = coupled && coupled->get<int64_t>() && *coupled->get<int64_t>() != 0;
  const Expr x = {b, layer.x};
  std::vector<Value*> all_y, all_h, all_c;
  for (size_t d = 0; d < layer.directions.size(); ++d) {
    const DirectionWeights& weights = layer.directions[d];
    const bool back = layer.direction == "reverse" || d == 1;
    const auto turned = [&](const Expr& v) {
      return back ? Slice(v, 0, Size(-1), Size(INT64_MIN), Size(-1)) : v;
    };
    // [length, batch, 4 * hidden] of all steps at once.
    Expr gates = MatMul(turned(x), SwapLast({b, weights.w}));
    if (weights.bias) gates = gates + Expr(b, weights.bias);
    if (weights.state_bias) gates = gates + Expr(b, weights.state_bias);
    const auto from = static_cast<int64_t>(d) * hidden;
    const auto state = [&](Value* given) {
      if (given) return Slice({b, given}, 1, Size(from), Size(from + hidden));
      return Filled(b, x.dtype(), {SizeAt(x, 1), Size(hidden)}, 0);
    };
    LoopBody body;
    const Expr h = {body.b(), body.Carry(state(layer.h), "h")},
               c = {body.b(), body.Carry(state(layer.c), "c")};
    const Expr step =
        Gather({body.b(), gates}, body.iteration(), 0) + MatMul(h, SwapLast({body.b(), weights.r}));
    const GateSlices sums = {step, "iofg", 1, hidden};
    const auto seen = [&](char gate, const Expr& cell) {
      const Expr sum = sums[gate];
      if (!weights.peephole) return sum;
      return sum + GateSlices{{body.b(), weights.peephole}, "iof", 0, hidden}[gate] * cell;
    };
    const auto act = [&](size_t k, const Expr& v) {
      return Activated(a, layer.cell.activations[k], v);
    };
    const Expr in = act(0, seen('i', c));
    const Expr kept = couples ? 1.0 - in : act(0, seen('f', c));
    const Expr sum = kept * c + in * act(1, sums['g']);
    const Expr cell = Clip(sum, sum.Number(-*layer.clip), sum.Number(*layer.clip));
    const Expr out = act(0, seen('o', cell)) * act(2, cell);
    const Expr more = {body.b(), body.condition()};
    const auto made = body.Loop(b, SizeOf(x, 0), nullptr, more, {out, cell, out});
    if (!made.ok()) {
      a.Fail(made.status());
      return {nullptr, nullptr, nullptr};
    }
    all_h.push_back((*made)[0]);
    all_c.push_back((*made)[1]);
    // The results of both directions for the same element have the same index.
    all_y.push_back(d == 1 ? turned({b, (*made)[2]}).value() : (*made)[2]);
  }
  return {Concat(b, all_y, 2), Concat(b, all_h, 1), Concat(b, all_c, 1)};
}

}  // namespace

RecurrentResults RunMilLayer(NodeReader& a, const MilLayer& layer) {
  Builder& b = a.b();
  const auto count = static_cast<int64_t>(layer.directions.size());
  const Expr r0 = {b, layer.directions[0].r};
  const Dim hidden = DimAt(r0, 1);
  if (!hidden.is_static()) {
    a.Fail(Unimplemented("recurrent weights of unknown size"));
    return {nullptr, nullptr, nullptr};
  }
  const auto stacked = [&](Value* DirectionWeights::*part) {
    std::vector<Value*> parts;
    for (const DirectionWeights& each : layer.directions) parts.push_back(each.*part);
    return EachDirectionOrZeros(b, std::move(parts));
  };
  // [batch, directions * hidden] as [directions, batch, hidden].
  const auto state = [&](Value* value) -> Value* {
    if (!value) return nullptr;
    const Expr v = {b, value};
    if (count == 1) return Unsqueeze(v, {0});
    return Transpose(ReshapeTo(v, {SizeAt(v, 0), count, hidden.value()}), {1, 0, 2});
  };
  const bool lstm = layer.cell.lstm();
  if (lstm && layer.clip && !NeverClipped(layer)) return ClippedLstm(a, layer);
  RecurrentLayer plain{.cell = layer.cell, .direction = layer.direction, .x = layer.x};
  plain.attrs = layer.attrs;
  plain.w = stacked(&DirectionWeights::w);
  plain.r = stacked(&DirectionWeights::r);
  std::vector<Value*> biases;
  for (const DirectionWeights& each : layer.directions) {
    biases.push_back(BothBiases(b, each.bias, each.state_bias));
  }
  plain.biases = EachDirectionOrZeros(b, std::move(biases));
  plain.h = state(layer.h);
  if (lstm) {
    plain.c = state(layer.c);
    plain.peepholes = stacked(&DirectionWeights::peephole);
  }
  const Values made = RunRecurrent(b, plain);
  // [length, directions, batch, hidden] and [directions, batch, hidden], directions side by side.
  const Expr y = {b, made[0]};
  const auto beside = [&](Value* value) -> Expr {
    const Expr v = {b, value};
    if (count == 1) return Squeeze(v, {0});
    const Expr turned = Transpose(v, {1, 0, 2});
    return ReshapeTo(turned, {SizeAt(turned, 0), count * hidden.value()});
  };
  RecurrentResults results{nullptr, beside(made[1]), nullptr};
  if (count == 1) {
    results.y = Squeeze(y, {1});
    if (layer.direction == "reverse") results.y = Reversed(results.y, {0});
  } else {
    const Expr turned = Transpose(y, {0, 2, 1, 3});
    results.y = ReshapeTo(turned, {SizeAt(turned, 0), SizeAt(turned, 1), count * hidden.value()});
  }
  if (lstm) results.c = beside(made[2]);
  return results;
}

namespace {

// With the numbers that functions have where none are said.
RecurrentActivation ActivationOf(NodeReader& a, std::string_view name) {
  static const std::pair<std::string_view, RecurrentActivation> kFunctions[] = {
      {"relu", {"Relu"}},
      {"sigmoid", {"Sigmoid"}},
      {"tanh", {"Tanh"}},
      {"softsign", {"Softsign"}},
      {"softplus", {"Softplus"}},
      {"scaled_tanh", {"Tanh"}},
      {"linear", {"Affine", 1.0f, 0.0f}},
      {"hard_sigmoid", {"HardSigmoid", 0.2f, 0.5f}},
      {"sigmoid_hard", {"HardSigmoid", 0.2f, 0.5f}},
  };
  for (const auto& [mil, ours] : kFunctions) {
    if (mil == name) return ours;
  }
  a.Fail(Unimplemented("the activation ", name));
  return {};
}

// All of the sequence, or its end.
Values MilResults(MilArgs& a, const RecurrentResults& results) {
  const Expr y = a.Bool("output_sequence") ? results.y : Unsqueeze(results.h, {0});
  Values values = {y, results.h};
  if (results.c.value()) values.push_back(results.c);
  return values;
}

Values MilRecurrent(MilArgs& a, std::string_view op, std::string_view gates) {
  MilLayer layer{.cell = {op, gates, {}}};
  RecurrentCell& cell = layer.cell;
  layer.x = a.X();
  layer.h = a.X("initial_h");
  layer.direction = a.Text("direction");
  const bool lstm = cell.lstm(), both = layer.direction == "bidirectional";
  a.Require(layer.direction == "forward" || layer.direction == "reverse" || (lstm && both),
            StrCat("direction ", layer.direction));
  const auto weights = [&](std::string_view behind) {
    const auto named = [&](std::string_view name) {
      return IrGates(a, a.Opt(StrCat(name, behind)), cell);
    };
    DirectionWeights each;
    a.X(StrCat("weight_ih", behind));
    a.X(StrCat("weight_hh", behind));
    each.w = named("weight_ih");
    each.r = named("weight_hh");
    each.bias = named("bias");
    if (lstm) {
      each.peephole = GatesInOrder(a, a.Opt(StrCat("peephole", behind)), "ifo", "iof");
    }
    return each;
  };
  layer.directions.push_back(weights(""));
  if (both) layer.directions.push_back(weights("_back"));
  const std::string activation = a.Text("activation");
  if (op != "rnn") cell.activations.push_back(ActivationOf(a, a.Text("recurrent_activation")));
  if (lstm) {
    layer.c = a.X("initial_c");
    cell.activations.push_back(ActivationOf(a, a.Text("cell_activation")));
    if (a.HasAttr("clip")) layer.clip = a.Number("clip");
  }
  cell.activations.push_back(ActivationOf(a, activation));
  if (op == "gru") {
    // The state goes through the reset gate before it is multiplied, or after that and its bias.
    cell.linear_before_reset = a.Bool("reset_after");
    DirectionWeights& own = layer.directions[0];
    own.state_bias = own.bias;
    own.bias = IrGates(a, a.Opt("input_bias"), cell);
  }
  return MilResults(a, RunMilLayer(a, layer));
}

constexpr std::string_view kLstmGates = "ifog", kGruGates = "rnz";
Values MilLstm(MilArgs& a) { return MilRecurrent(a, "lstm", kLstmGates); }
Values MilGru(MilArgs& a) { return MilRecurrent(a, "gru", kGruGates); }
Values MilRnn(MilArgs& a) { return MilRecurrent(a, "rnn", "n"); }

// --- Written ------------------------------------------------------------------------------------

std::string_view WrittenActivation(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"Relu", "relu"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}};
  for (const auto& [ours, mil] : kNames) {
    if (ours == name) return mil;
  }
  return "";
}

// A constant's slice of the first axis, which is removed; gates in MIL's order, at `places`.
absl::StatusOr<Value*> WrittenRows(MilWriter& w, size_t operand, int64_t direction,
                                   const std::vector<int64_t>& places) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* all, w.Constant(operand, "weights"));
  const auto count = static_cast<size_t>(all->dim(0));
  const size_t size = all->nbytes() / count, part = size / places.size();
  std::vector<int64_t> dims(all->dims().begin() + 1, all->dims().end());
  Tensor rows = Tensor::Zeros(all->dtype(), dims);
  const auto out = rows.mutable_bytes();
  const std::byte* from = all->bytes().data() + static_cast<size_t>(direction) * size;
  for (size_t i = 0; i < places.size(); ++i) {
    std::copy_n(from + static_cast<size_t>(places[i]) * part, part, out.data() + i * part);
  }
  return w.b().Constant(std::move(rows), w.in(operand)->name());
}

// The two biases of the IR as one, or one of them.
enum class Biases { kBoth, kOfOperand, kOfState };
absl::StatusOr<Value*> WrittenBias(MilWriter& w, int64_t direction,
                                   const std::vector<int64_t>& places,
                                   Biases which = Biases::kBoth) {
  X2IR_ASSIGN_OR_RETURN(const Tensor* all, w.Constant(3, "biases"));
  const int64_t half = all->dim(1) / 2, part = half / static_cast<int64_t>(places.size());
  std::vector<double> sum;
  for (const int64_t gate : places) {
    for (int64_t i = 0; i < part; ++i) {
      const int64_t at = direction * 2 * half + gate * part + i;
      sum.push_back((which == Biases::kOfState ? 0 : all->AsDouble(at)) +
                    (which == Biases::kOfOperand ? 0 : all->AsDouble(at + half)));
    }
  }
  return NumbersAs(w.b(), all->dtype(), {half}, sum, w.in(3)->name()).value();
}

struct WrittenLayer {
  int64_t count, hidden;  // directions
  Attribute::Strings activations;
};
absl::StatusOr<WrittenLayer> LayerOf(MilWriter& w, size_t functions, std::string_view form) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> of_w, w.Sizes(w.in(1)));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> of_r, w.Sizes(w.in(2)));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank != 3 || w.has(4)) return CannotExpress("sequences of different lengths");
  if (w.Int("batch_first") != 0 || w.attrs().Int("input_forget", 0) != 0 || w.attrs().Has("clip") ||
      w.attrs().Has("activation_alpha") || w.attrs().Has("activation_beta")) {
    return CannotExpress(form);
  }
  const auto* names = w.attrs().Find("activations")->get<Attribute::Strings>();
  if (!names || names->size() != functions * static_cast<size_t>(of_w[0])) {
    return CannotExpress("activations");
  }
  return WrittenLayer{of_w[0], of_r[2], *names};
}

// A GRU or a plain layer: one node for each direction.
absl::StatusOr<Values> ToOneWay(MilWriter& w, const std::string& op,
                                const std::vector<int64_t>& places) {
  const bool gru = op == "gru";
  const size_t functions = gru ? 2 : 1;
  X2IR_ASSIGN_OR_RETURN(const WrittenLayer layer, LayerOf(w, functions, "that form"));
  const int64_t count = layer.count, hidden = layer.hidden;
  const Attribute::Strings& names = layer.activations;
  const bool after = gru && w.Int("linear_before_reset") != 0;
  const Expr x = w.X();
  const Dim length = (*w.shape())[0], batch = (*w.shape())[1];
  std::vector<Value*> ys, hs;
  for (int64_t d = 0; d < count; ++d) {
    const bool back = w.String("direction") == "reverse" || d == 1;
    AttributeMap attrs = {{"direction", back ? "reverse" : "forward"},
                          {"output_sequence", w.wants(0) ? 1 : 0}};
    for (size_t i = 0; i < functions; ++i) {
      const std::string& name = names[static_cast<size_t>(d) * functions + i];
      const std::string_view mil = WrittenActivation(name);
      if (mil.empty()) return CannotExpress("the activation ", name);
      attrs.Set(gru && i == 0 ? "recurrent_activation" : "activation", mil);
    }
    Value* h = w.has(5) ? Squeeze(Slice(w.X(5), 0, Size(d), Size(d + 1)), {0}).value()
                        : Filled(w.b(), w.dtype(), {SizeAt(x, 1), Size(hidden)}, 0).value();
    std::vector<Value*> operands = {x, h};
    X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), WrittenRows(w, 1, d, places));
    X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), WrittenRows(w, 2, d, places));
    if (w.has(3)) {
      const Biases own = after ? Biases::kOfState : Biases::kBoth;
      X2IR_ASSIGN_OR_RETURN(operands.emplace_back(), WrittenBias(w, d, places, own));
    }
    if (after) {
      attrs.Set("reset_after", 1);
      if (w.has(3)) {
        X2IR_ASSIGN_OR_RETURN(operands.emplace_back(),
                              WrittenBias(w, d, places, Biases::kOfOperand));
      }
    }
    const Type of_y =
        Type::Tensor(w.dtype(), Shape({w.wants(0) ? length : Dim(1), batch, Dim(hidden)}));
    const Type of_h = Type::Tensor(w.dtype(), Shape({batch, Dim(hidden)}));
    const Values made =
        w.MilAll(op, std::move(operands), std::move(attrs), {true, true}, {of_y, of_h});
    const Expr y = {w.b(), made[0]};
    ys.push_back(Unsqueeze(back && w.wants(0) ? Reversed(y, {0}) : y, {1}));
    hs.push_back(Unsqueeze({w.b(), made[1]}, {0}));
  }
  Values values(w.node().num_outputs(), nullptr);
  if (w.wants(0)) values[0] = Concat(w.b(), ys, 1);
  if (w.wants(1)) values[1] = Concat(w.b(), hs, 0);
  return values;
}

absl::StatusOr<Values> ToGru(MilWriter& w) {
  return ToOneWay(w, "gru", GatePlaces("zrn", kGruGates));
}
absl::StatusOr<Values> ToRnn(MilWriter& w) { return ToOneWay(w, "rnn", {0}); }

absl::StatusOr<Values> ToLstm(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const WrittenLayer layer, LayerOf(w, 3, "that form of an LSTM"));
  const int64_t count = layer.count, hidden = layer.hidden;
  const Attribute::Strings& names = layer.activations;
  const std::string& direction = w.String("direction");
  AttributeMap attrs = {{"direction", direction}, {"output_sequence", w.wants(0) ? 1 : 0}};
  static constexpr const char* kActivations[] = {"recurrent_activation", "cell_activation",
                                                 "activation"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string_view mil = WrittenActivation(names[i]);
    if (mil.empty() || (count == 2 && names[i] != names[i + 3])) {
      return CannotExpress("the activation ", names[i]);
    }
    attrs.Set(kActivations[i], mil);
  }
  const DType t = w.dtype();
  // [directions, batch, hidden] as [batch, directions * hidden].
  const Expr x = w.X();
  const Size batch = SizeAt(x, 1);
  const auto state = [&](size_t i) -> Value* {
    if (!w.has(i)) return Filled(w.b(), t, {batch, count * hidden}, 0);
    if (count == 1) return Squeeze(w.X(i), {0});
    return ReshapeTo(Transpose(w.X(i), {1, 0, 2}), {batch, count * hidden});
  };
  const std::vector<int64_t> places = GatePlaces("iofg", kLstmGates);
  std::vector<Value*> operands = {x, state(5), state(6)};
  std::vector<Value*> behind;
  for (int64_t d = 0; d < count; ++d) {
    std::vector<Value*>& to = d == 0 ? operands : behind;
    X2IR_ASSIGN_OR_RETURN(to.emplace_back(), WrittenRows(w, 1, d, places));
    X2IR_ASSIGN_OR_RETURN(to.emplace_back(), WrittenRows(w, 2, d, places));
    to.push_back(nullptr);
    if (w.has(3)) {
      X2IR_ASSIGN_OR_RETURN(to.back(), WrittenBias(w, d, places));
    }
    to.push_back(nullptr);
    if (w.has(7)) {
      X2IR_ASSIGN_OR_RETURN(to.back(), WrittenRows(w, 7, d, GatePlaces("iof", "ifo")));
    }
  }
  operands.insert(operands.end(), behind.begin(), behind.end());
  const Shape* dims = w.shape();
  const Dim wide(count * hidden);
  const Type of_y = Type::Tensor(t, Shape({w.wants(0) ? (*dims)[0] : Dim(1), (*dims)[1], wide}));
  const Type of_state = Type::Tensor(t, Shape({(*dims)[1], wide}));
  const Values made = w.MilAll("lstm", std::move(operands), std::move(attrs), {true, true, true},
                               {of_y, of_state, of_state});
  const auto apart = [&](Value* value) -> Value* {
    const Expr v = {w.b(), value};
    if (count == 1) return Unsqueeze(v, {0});
    return Transpose(ReshapeTo(v, {batch, count, hidden}), {1, 0, 2});
  };
  Values values(w.node().num_outputs(), nullptr);
  if (w.wants(0)) {
    Expr y = {w.b(), made[0]};
    if (direction == "reverse") y = Reversed(y, {0});
    values[0] =
        count == 1
            ? Unsqueeze(y, {1}).value()
            : Transpose(ReshapeTo(y, {SizeAt(y, 0), batch, count, hidden}), {0, 2, 1, 3}).value();
  }
  if (w.wants(1)) values[1] = apart(made[1]);
  if (w.wants(2)) values[2] = apart(made[2]);
  return values;
}

}  // namespace

X2IR_MIL(lstm).To("lstm", ToLstm).From("lstm", MilLstm);
X2IR_MIL(gru).To("gru", ToGru).From("gru", MilGru);
X2IR_MIL(rnn).To("rnn", ToRnn).From("rnn", MilRnn);

}  // namespace x2ir
