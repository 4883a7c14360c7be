// Keras: recurrent layers. Gates of Keras stand in the order i, f, c, o (LSTM) and z, r, h (GRU).
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/keras/json_tree.h"
#include "x2ir/handlers/keras/activations.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/handlers/keras/scan.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

enum class CellKind { kSimple, kLstm, kGru };
constexpr int64_t GatesOf(CellKind kind) {
  return kind == CellKind::kLstm ? 4 : kind == CellKind::kGru ? 3 : 1;
}

struct Recurrence {
  CellKind kind = CellKind::kSimple;
  int64_t units = 0;
  bool reset_after = false;  // GRU: the reset gate applies behind the product
  Expr kernel = nullptr, recurrent = nullptr;
  Expr bias = nullptr, recurrent_bias = nullptr;  // null: none
  keras::Json activation, gate_activation;
};

Expr PartOf(const Expr& x, int64_t axis, int64_t i, int64_t units) {
  return Slice(x, axis, Size(i * units), Size((i + 1) * units));
}

// --- With ONNX's activations and no mask: the IR's own ops --------------------------------------

// Blocks of an axis in another order.
Expr GatesInOrder(const Expr& x, int64_t axis, int64_t units, const std::vector<int64_t>& order) {
  std::vector<Value*> parts;
  for (const int64_t i : order) parts.push_back(PartOf(x, axis, i, units));
  return Concat(x.builder(), parts, axis);
}

std::optional<AttributeMap> GateAttributes(KerasArgs& a, const Recurrence& r) {
  const auto own = GateActivationOf(a, r.activation), gate = GateActivationOf(a, r.gate_activation);
  if (!own || (!gate && r.kind != CellKind::kSimple)) return std::nullopt;
  std::vector<GateActivation> list = {*own};
  if (r.kind == CellKind::kLstm) list = {*gate, *own, *own};
  if (r.kind == CellKind::kGru) list = {*gate, *own};
  Attribute::Strings names;
  Attribute::Floats alphas, betas;
  for (const GateActivation& one : list) {
    names.push_back(one.name);
    alphas.insert(alphas.end(), one.alphas.begin(), one.alphas.end());
    betas.insert(betas.end(), one.betas.begin(), one.betas.end());
  }
  AttributeMap attrs = {{"activations", names}, {"hidden_size", r.units}};
  if (!alphas.empty()) attrs.Set("activation_alpha", alphas);
  if (!betas.empty()) attrs.Set("activation_beta", betas);
  return attrs;
}

Values AsRecurrentOp(KerasArgs& a, const Recurrence& r, const Expr& x,
                     const std::vector<Expr>& states, const RecurrentSettings& s,
                     AttributeMap attrs) {
  const bool lstm = r.kind == CellKind::kLstm, gru = r.kind == CellKind::kGru;
  const int64_t gates = GatesOf(r.kind);
  const auto ordered = [&](const Expr& v, int64_t axis) {
    return lstm ? GatesInOrder(v, axis, r.units, {0, 3, 1, 2}) : v;
  };
  const auto turned = [&](const Expr& v) {
    return Unsqueeze(ordered(Expr(a, Relaid(a, v, {1, 0})), 0), {0});
  };
  // Runtimes want the steps as the first axis.
  std::vector<Value*> operands = {Transpose(x, {1, 0, 2}), turned(r.kernel), turned(r.recurrent)};
  if (r.bias.value()) {
    const Expr other =
        r.recurrent_bias.value() ? r.recurrent_bias : Zeros(a, r.bias.dtype(), {gates * r.units});
    operands.push_back(Unsqueeze(Concat(a, {ordered(r.bias, 0), other}, 0), {0}));
  } else {
    operands.push_back(nullptr);
  }
  operands.push_back(nullptr);
  for (const Expr& state : states) operands.push_back(Unsqueeze(state, {0}));
  attrs.Set("direction", s.backwards ? "reverse" : "forward");
  if (gru) attrs.Set("linear_before_reset", r.reset_after ? 1 : 0);
  const std::vector<Value*> made = a.b().Ops(lstm  ? "lstm"
                                             : gru ? "gru"
                                                   : "rnn",
                                             operands, attrs, lstm ? 3 : 2);
  Values values;
  for (size_t i = 1; i < made.size(); ++i) values.push_back(Squeeze({a, made[i]}, {0}));
  Expr result = {a, values[0]};
  if (s.sequences) {
    result = Transpose(Squeeze({a, made[0]}, {1}), {1, 0, 2});
    if (s.backwards != s.reversed) result = Reversed(result, 1);
  }
  values.insert(values.begin(), result);
  return values;
}

// --- Step by step --------------------------------------------------------------------------------

std::vector<Expr> RecurrentStepOf(KerasArgs& a, const Recurrence& r, const Expr& x,
                                  const std::vector<Expr>& states) {
  const Expr h = states[0];
  const auto gate = [&](const Expr& v, int64_t i) { return PartOf(v, -1, i, r.units); };
  const auto act = [&](const Expr& v) { return Activated(a, r.activation, v); };
  const auto open = [&](const Expr& v) { return Activated(a, r.gate_activation, v); };
  if (r.kind == CellKind::kSimple) return {act(x + MatMul(h, r.recurrent))};
  if (r.kind == CellKind::kLstm) {
    const Expr z = x + MatMul(h, r.recurrent);
    const Expr i = open(gate(z, 0)), f = open(gate(z, 1)), o = open(gate(z, 3));
    const Expr c = f * states[1] + i * act(gate(z, 2));
    return {o * act(c), c};
  }
  Expr inner = MatMul(h, r.recurrent);
  if (r.recurrent_bias.value()) inner = inner + r.recurrent_bias;
  const Expr z = open(gate(x, 0) + gate(inner, 0)), reset = open(gate(x, 1) + gate(inner, 1));
  const Expr own = r.reset_after ? reset * gate(inner, 2) : MatMul(reset * h, gate(r.recurrent, 2));
  const Expr next = act(gate(x, 2) + own);
  return {z * h + (1.0 - z) * next};
}

Values RunRecurrence(KerasArgs& a, const Recurrence& r) {
  const RecurrentSettings s = TakeRecurrentSettings(a);
  const bool time_first = a.Flag("time_major", false);
  std::vector<Expr> states = GivenStates(a);
  const size_t count = r.kind == CellKind::kLstm ? 2 : 1;
  if (!states.empty() && states.size() != count) {
    a.Fail(Invalid(states.size(), " initial states; expected ", count));
  }
  Expr x = a.tensor(), mask = a.mask();
  const std::vector<Expr> given = a.named("mask");
  if (!given.empty()) mask = given[0];
  if (a.RankOf(x) != 3) a.Fail(Invalid("steps of ", a.RankOf(x), " axes; expected 3"));
  if (time_first) {
    x = Transpose(x, {1, 0, 2});
    if (mask.value()) mask = Transpose(mask, {1, 0});
  }
  Values values;
  const auto attrs = mask.value() ? std::nullopt : GateAttributes(a, r);
  if (attrs) {
    values = AsRecurrentOp(a, r, x, states, s, *attrs);
  } else {
    Expr products = MatMul(x, r.kernel);
    if (r.bias.value()) products = products + r.bias;
    while (states.size() < count) {
      states.push_back(Filled(a, x.dtype(), {SizeAt(x, 0), Size(r.units)}, 0));
    }
    for (const Expr& v : ScanSteps(a, products, states, mask, s,
                                   [&](const Expr&now, const std::vector<Expr>&before) {
                                     return RecurrentStepOf(a, r, now, before);
                                   })) {
      values.push_back(v);
    }
  }
  if (time_first && s.sequences) values[0] = Transpose({a, values[0]}, {1, 0, 2});
  return values;
}

// --- Layers --------------------------------------------------------------------------------------

Recurrence TakeRecurrence(KerasArgs& a, CellKind kind) {
  Recurrence r;
  r.kind = kind;
  const int64_t gates = GatesOf(kind);
  a.Ignore("units");
  const bool biased = a.Flag("use_bias", true);
  r.activation = a.Given("activation") ? a.Nested("activation") : keras::Json();
  if (kind != CellKind::kSimple) r.gate_activation = a.Nested("recurrent_activation");
  if (kind == CellKind::kGru) r.reset_after = a.Flag("reset_after", false);
  const std::vector<Expr> w = biased ? a.Weights({"kernel", "recurrent kernel", "bias"})
                                     : a.Weights({"kernel", "recurrent kernel"});
  r.kernel = w[0];
  r.recurrent = w[1];
  const auto sizes = KnownSizes(r.recurrent);
  const auto of_kernel = KnownSizes(r.kernel);
  if (!sizes || sizes->size() != 2 || (*sizes)[1] != gates * (*sizes)[0] || !of_kernel ||
      of_kernel->size() != 2 || (*of_kernel)[1] != (*sizes)[1]) {
    a.Fail(Invalid("kernels that do not fit"));
  }
  r.units = (*sizes)[0];
  if (biased) {
    r.bias = w[2];
    if (r.reset_after) {
      const Expr both = ReshapeTo(w[2], {Size(2), Size(gates * r.units)});
      r.bias = Squeeze(Slice(both, 0, Size(0), Size(1)), {0});
      r.recurrent_bias = Squeeze(Slice(both, 0, Size(1), Size(2)), {0});
    }
  }
  return r;
}

template <CellKind kKind>
Values Recurrent(KerasArgs& a) {
  return RunRecurrence(a, TakeRecurrence(a, kKind));
}

// Weights as cuDNN has them, of Keras 2: each gate's kernel is stored column by column, its
// recurrent kernel transposed, and there are two biases.
template <CellKind kKind>
Values CuDnn(KerasArgs& a) {
  Recurrence r;
  r.kind = kKind;
  constexpr int64_t kGates = GatesOf(kKind);
  a.Ignore("units");
  r.activation = keras::Json(std::string("tanh"));
  r.gate_activation = keras::Json(std::string("sigmoid"));
  r.reset_after = kKind == CellKind::kGru;
  const std::vector<Expr> w = a.Weights({"kernel", "recurrent kernel", "bias"});
  const auto sizes = KnownSizes(w[1]), of_kernel = KnownSizes(w[0]);
  if (!sizes || sizes->size() != 2 || (*sizes)[1] != kGates * (*sizes)[0] || !of_kernel ||
      of_kernel->size() != 2 || (*of_kernel)[1] != (*sizes)[1]) {
    a.Fail(Invalid("kernels that do not fit"));
  }
  r.units = (*sizes)[0];
  std::vector<Value*> kernels, recurrents;
  for (int64_t i = 0; i < kGates; ++i) {
    const Expr part = PartOf(w[0], 1, i, r.units);
    kernels.push_back(Transpose(Reshape(part, {r.units, (*of_kernel)[0]}), {1, 0}));
    recurrents.push_back(Transpose(PartOf(w[1], 1, i, r.units), {1, 0}));
  }
  r.kernel = Concat(a, kernels, 1);
  r.recurrent = Concat(a, recurrents, 1);
  const Expr first = PartOf(w[2], 0, 0, kGates * r.units);
  const Expr second = PartOf(w[2], 0, 1, kGates * r.units);
  r.bias = kKind == CellKind::kGru ? first : first + second;
  if (kKind == CellKind::kGru) r.recurrent_bias = second;
  return RunRecurrence(a, r);
}

}  // namespace

X2IR_KERAS(gru).From("CuDNNGRU", CuDnn<CellKind::kGru>).From("GRU", Recurrent<CellKind::kGru>);
X2IR_KERAS(lstm).From("CuDNNLSTM", CuDnn<CellKind::kLstm>).From("LSTM", Recurrent<CellKind::kLstm>);
X2IR_KERAS(rnn).From("SimpleRNN", Recurrent<CellKind::kSimple>);

}  // namespace x2ir
