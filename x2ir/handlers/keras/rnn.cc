// Keras: recurrent layers.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/handlers/keras/activation.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/handlers/keras/scan.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

struct Recurrence {
  std::string_view op, gates;  // of the IR; as Keras has them
  int64_t units = 0;
  bool reset_after = false;  // GRU: the reset gate applies after the product
  Expr kernel = nullptr, recurrent = nullptr;
  Expr bias = nullptr, recurrent_bias = nullptr;  // null: none
  Json activation, gate_activation;

  bool plain() const { return op == "rnn"; }
  bool lstm() const { return op == "lstm"; }
  int64_t columns() const { return static_cast<int64_t>(gates.size()) * units; }
};

Expr PartOf(const Expr& x, int64_t axis, int64_t i, int64_t units) {
  return Slice(x, axis, Size(i * units), Size((i + 1) * units));
}

// --- With ONNX's activations and no mask: the IR's own ops --------------------------------------

std::optional<RecurrentCell> CellOf(KerasArgs& a, const Recurrence& r) {
  const auto own = GateActivationOf(a, r.activation), gate = GateActivationOf(a, r.gate_activation);
  if (!own || (!gate && !r.plain())) return std::nullopt;
  RecurrentCell cell = {r.op, r.gates, {*own}, r.reset_after};
  if (!r.plain()) cell.activations.insert(cell.activations.begin(), *gate);
  if (r.lstm()) cell.activations.push_back(*own);
  return cell;
}

Values AsRecurrentOp(KerasArgs& a, const Recurrence& r, const Expr& x,
                     const std::vector<Expr>& states, const RecurrentSettings& s,
                     const RecurrentCell& cell) {
  const auto ordered = [&](const Expr& v) {
    return r.lstm() ? GateSlices{v, r.gates, 0, r.units}.InOrder(IrOrder(r.op)) : v;
  };
  const auto turned = [&](const Expr& v) {
    return Unsqueeze(ordered({a, Relaid(a, v, {1, 0})}), {0});
  };
  RecurrentLayer layer{.cell = cell, .direction = s.backwards ? "reverse" : "forward"};
  layer.x = Transpose(x, {1, 0, 2});  // runtimes want the steps as the first axis
  layer.w = turned(r.kernel);
  layer.r = turned(r.recurrent);
  if (r.bias.value()) {
    const Expr other =
        r.recurrent_bias.value() ? r.recurrent_bias : Zeros(a, r.bias.dtype(), {r.columns()});
    layer.biases = Unsqueeze(Concat(a, {ordered(r.bias), other}, 0), {0});
  }
  if (!states.empty()) layer.h = Unsqueeze(states[0], {0});
  if (states.size() > 1) layer.c = Unsqueeze(states[1], {0});
  const Values made = RunRecurrent(a, layer);
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
  const auto sums = [&](const Expr& v) { return GateSlices{v, r.gates, -1, r.units}; };
  const auto act = [&](const Expr& v) { return Activated(a, r.activation, v); };
  const auto open = [&](const Expr& v) { return Activated(a, r.gate_activation, v); };
  if (r.plain()) return {act(x + MatMul(h, r.recurrent))};
  if (r.lstm()) {
    const GateSlices z = sums(x + MatMul(h, r.recurrent));
    return KerasLstmStep(a, z, r.gate_activation, r.activation, states[1]);
  }
  Expr inner = MatMul(h, r.recurrent);
  if (r.recurrent_bias.value()) inner = inner + r.recurrent_bias;
  const GateSlices of_x = sums(x), of_h = sums(inner);
  const Expr z = open(of_x['z'] + of_h['z']), reset = open(of_x['r'] + of_h['r']);
  const Expr own = r.reset_after ? reset * of_h['n'] : MatMul(reset * h, sums(r.recurrent)['n']);
  const Expr next = act(of_x['n'] + own);
  return {z * h + (1.0 - z) * next};
}

Values RunRecurrence(KerasArgs& a, const Recurrence& r) {
  const RecurrentSettings s = TakeRecurrentSettings(a);
  const bool time_first = a.Flag("time_major", false);
  std::vector<Expr> states = GivenStates(a);
  const size_t count = r.lstm() ? 2 : 1;
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
  const auto cell = mask.value() ? std::nullopt : CellOf(a, r);
  if (cell) {
    values = AsRecurrentOp(a, r, x, states, s, *cell);
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

// The kernels' sizes are known, and say the number of units.
void SetKernels(KerasArgs& a, const Expr& kernel, const Expr& recurrent, Recurrence* r) {
  const auto sizes = KnownSizes(recurrent), of_kernel = KnownSizes(kernel);
  if (sizes && sizes->size() == 2) r->units = (*sizes)[0];
  if (!sizes || sizes->size() != 2 || (*sizes)[1] != r->columns() || !of_kernel ||
      of_kernel->size() != 2 || (*of_kernel)[1] != (*sizes)[1]) {
    a.Fail(Invalid("kernels that do not fit"));
  }
  r->kernel = kernel;
  r->recurrent = recurrent;
}

Recurrence RecurrenceOf(std::string_view op) {
  Recurrence r;
  r.op = op;
  r.gates = op == "lstm" ? "ifgo" : IrOrder(op);
  return r;
}

Recurrence TakeRecurrence(KerasArgs& a, std::string_view op) {
  Recurrence r = RecurrenceOf(op);
  a.Ignore("units");
  const bool biased = a.Flag("use_bias", true);
  r.activation = a.Given("activation") ? a.Nested("activation") : Json();
  if (!r.plain()) r.gate_activation = a.Nested("recurrent_activation");
  if (op == "gru") r.reset_after = a.Flag("reset_after", false);
  const std::vector<Expr> w = biased ? a.Weights({"kernel", "recurrent kernel", "bias"})
                                     : a.Weights({"kernel", "recurrent kernel"});
  SetKernels(a, w[0], w[1], &r);
  if (biased) {
    r.bias = w[2];
    if (r.reset_after) {
      const Expr both = ReshapeTo(w[2], {Size(2), Size(r.columns())});
      r.bias = Squeeze(Slice(both, 0, Size(0), Size(1)), {0});
      r.recurrent_bias = Squeeze(Slice(both, 0, Size(1), Size(2)), {0});
    }
  }
  return r;
}

// Weights as cuDNN has them, of Keras 2: each gate's kernel is stored column by column, its
// recurrent kernel transposed, and there are two biases.
Values CuDnn(KerasArgs& a, std::string_view op) {
  Recurrence r = RecurrenceOf(op);
  const bool gru = op == "gru";
  a.Ignore("units");
  r.activation = Json(std::string("tanh"));
  r.gate_activation = Json(std::string("sigmoid"));
  r.reset_after = gru;
  const std::vector<Expr> w = a.Weights({"kernel", "recurrent kernel", "bias"});
  SetKernels(a, w[0], w[1], &r);
  const Size features = SizeAt(r.kernel, 0);
  std::vector<Value*> kernels, recurrents;
  for (int64_t i = 0; i < static_cast<int64_t>(r.gates.size()); ++i) {
    const Expr part = PartOf(w[0], 1, i, r.units);
    kernels.push_back(Transpose(ReshapeTo(part, {Size(r.units), features}), {1, 0}));
    recurrents.push_back(Transpose(PartOf(w[1], 1, i, r.units), {1, 0}));
  }
  r.kernel = Concat(a, kernels, 1);
  r.recurrent = Concat(a, recurrents, 1);
  const Expr first = PartOf(w[2], 0, 0, r.columns()), second = PartOf(w[2], 0, 1, r.columns());
  r.bias = gru ? first : first + second;
  if (gru) r.recurrent_bias = second;
  return RunRecurrence(a, r);
}

auto RecurrentForm(std::string_view op) {
  return [op](KerasArgs& a) { return RunRecurrence(a, TakeRecurrence(a, op)); };
}
auto CuDnnForm(std::string_view op) {
  return [op](KerasArgs& a) { return CuDnn(a, op); };
}

}  // namespace

X2IR_KERAS(gru).From({{"CuDNNGRU", CuDnnForm("gru")}, {"GRU", RecurrentForm("gru")}});
X2IR_KERAS(lstm).From({{"CuDNNLSTM", CuDnnForm("lstm")}, {"LSTM", RecurrentForm("lstm")}});
X2IR_KERAS(rnn).From("SimpleRNN", RecurrentForm("rnn"));

}  // namespace x2ir
