// TFLite: recurrent operators. What IR's lstm and rnn say becomes one of these; the rest
// (projections, layer norms, bounds of the cell) a loop over the steps. States are operands: zeros
// where they are variables.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tflite/tflite.h"

namespace x2ir {
namespace {

Expr Activated(TfliteArgs& a, const std::string& name, const Expr& x) {
  if (name == "NONE") return x;
  if (name == "RELU") return x.Op("relu");
  if (name == "RELU6") return Min(Max(x, 0), 6);
  if (name == "RELU_N1_TO_1") return Min(Max(x, -1), 1);
  if (name == "TANH") return x.Op("tanh");
  a.Require(name == "SIGMOID", StrCat("activation ", name));
  return x.Op("sigmoid");
}

// What a sequence is run through: [time, batch, features] and the states before, to results of the
// same length.
using StepFn = std::function<std::vector<Expr>(const Expr& x, const std::vector<Expr>& state)>;

// The first state at every step: [time, batch, units]. `step` gives the states after it.
Expr RunSteps(TfliteArgs& a, const Expr& sequence, const std::vector<Expr>& first,
              const StepFn& step) {
  auto body = std::make_shared<Graph>("step");
  Builder& b = a.b();
  {
    const Builder::Nested inside(b, *body);
    Value* i = body->AddInput("step", Type::Tensor(DType::kInt64, Shape()));
    Value* go_on = body->AddInput("condition", Type::Tensor(DType::kBool, Shape()));
    std::vector<Expr> state;
    for (size_t k = 0; k < first.size(); ++k) {
      state.emplace_back(b, body->AddInput(StrCat("state_", k), first[k]->type()));
    }
    const std::vector<Expr> next = step(Gather(sequence, i, 0), state);
    std::vector<Value*> results = {go_on};
    results.insert(results.end(), next.begin(), next.end());
    results.push_back(next[0]);
    for (Value* value : results) body->AddOutput(b.Op("identity", {value}));
  }
  std::vector<Value*> operands = {SizeOf(sequence, 0), nullptr};
  operands.insert(operands.end(), first.begin(), first.end());
  const std::vector<Value*> all =
      b.Ops("loop", std::move(operands), {{"body", body}}, first.size() + 1);
  return {b, all.back()};
}

Expr Reversed(const Expr& sequence) {
  return sequence.Op("slice",
                     {Ints(sequence.builder(), {-1}), Ints(sequence.builder(), {INT64_MIN + 1}),
                      Ints(sequence.builder(), {0}), Ints(sequence.builder(), {-1})});
}

// x w'.
Expr Times(const Expr& x, const Expr& weights) { return MatMul(x, SwapLast(weights)); }

// --- LSTM ------------------------------------------------------------------------------------

enum Gate { kInput, kForget, kCell, kOutput };

// Operands of an LSTM; null: left out. TakeLstm gets the index of the first one of each group.
struct LstmCell {
  Value* w[4] = {};
  Value* aux_w[4] = {};
  Value* r[4] = {};
  Value* peephole[4] = {};  // none of the cell
  Value* bias[4] = {};
  Value* norm[4] = {};
  Value *projection = nullptr, *projection_bias = nullptr;
  Value *h = nullptr, *c = nullptr;
  std::string activation;
  float cell_clip = 0, projection_clip = 0;
  // If quantized: the scales before the layer norms of gates, and of the projected; 0: floats.
  std::vector<float> scales;
  std::vector<int64_t> zero_points;

  bool simple() const {
    return !projection && !norm[kForget] && cell_clip == 0 && !aux_w[kForget] &&
           activation == "TANH";
  }
};

// norm: 0: there are no layer norms.
LstmCell TakeLstm(TfliteArgs& a, size_t w, size_t h, size_t c, size_t norm = 0) {
  LstmCell cell;
  const auto at = [&](size_t i) -> Value* { return a.has(i) ? a.in(i).value() : nullptr; };
  for (size_t g = 0; g < 4; ++g) {
    cell.w[g] = at(w + g);
    cell.r[g] = at(w + 4 + g);
    cell.bias[g] = at(w + 11 + g);
    if (norm > 0) cell.norm[g] = at(norm + g);
  }
  cell.peephole[kInput] = at(w + 8);
  cell.peephole[kForget] = at(w + 9);
  cell.peephole[kOutput] = at(w + 10);
  cell.projection = at(w + 15);
  cell.projection_bias = at(w + 16);
  cell.h = at(h);
  cell.c = at(c);
  cell.activation = a.String("fused_activation_function", "NONE");
  cell.cell_clip = a.Float("cell_clip", 0);
  cell.projection_clip = a.Float("proj_clip", 0);
  cell.scales = a.FloatList("intermediate_scales", {});
  cell.zero_points = a.IntList("intermediate_zero_points", {});
  for (const size_t g : {kForget, kCell, kOutput}) {
    a.Require(cell.w[g] && cell.r[g] && cell.bias[g], "an LSTM without weights or biases");
  }
  a.Require(!cell.w[kInput] == !cell.r[kInput] && !cell.w[kInput] == !cell.bias[kInput],
            "an input gate with some of its weights");
  a.Require(!cell.peephole[kForget] == !cell.peephole[kOutput] &&
                (!cell.w[kInput] || !cell.peephole[kForget] == !cell.peephole[kInput]),
            "some of the weights from cells to gates");
  a.Require(cell.h && cell.c, "an LSTM without states");
  return cell;
}

// Mean 0 and deviation 1 along the last axis, then scaled.
Expr Normalized(const Expr& x, const Expr& scale) {
  const auto mean = [](const Expr& v) { return Reduce(v, "reduce_mean", {-1}, true); };
  const Expr centered = x - mean(x);
  return centered / Sqrt(mean(Square(centered)) + 1e-8) * scale;
}

// x quantized with this scale and zero point, and dequantized; x itself if the scale is 0.
Expr AsIntegers(TfliteArgs& a, const Expr& x, DType type, float scale, int64_t zero_point) {
  if (scale <= 0) return x;
  Tensor zero = Tensor::Zeros(type, {});
  if (type == DType::kInt8) zero = Tensor::Scalar<int8_t>(static_cast<int8_t>(zero_point));
  Value *s = a.b().Scalar(DType::kFloat32, scale), *z = a.b().Constant(std::move(zero));
  return {a, a.Op("dequantize_linear", {a.Op("quantize_linear", {x, s, z}), s, z})};
}
Expr AsState(const Expr& x, const Value* state) {
  const Node* made_by = state->producer();
  if (!made_by || !made_by->Is("dequantize_linear") || made_by->attrs().Has("axis")) return x;
  Value *s = made_by->input(1), *z = made_by->input(2);
  return x.Op("quantize_linear", {s, z}).Op("dequantize_linear", {s, z});
}

std::vector<Expr> LstmStep(TfliteArgs& a, const LstmCell& p, const Expr& x, const Expr* aux,
                           const Expr& h, const Expr& c) {
  const auto gate = [&](Gate g, const Expr& state) {
    Expr sum = Times(x, {a, p.w[g]}) + Times(h, {a, p.r[g]});
    if (aux && p.aux_w[g]) sum = sum + Times(*aux, {a, p.aux_w[g]});
    if (p.peephole[g]) sum = sum + state * Expr(a, p.peephole[g]);
    if (p.norm[g]) {
      if (g < p.scales.size()) sum = AsIntegers(a, sum, DType::kInt16, p.scales[g], 0);
      sum = Normalized(sum, {a, p.norm[g]});
    }
    if (p.bias[g]) sum = sum + Expr(a, p.bias[g]);
    return sum;
  };
  const auto bounded = [&](const Expr& v, float bound) {
    return bound > 0 ? Min(Max(v, -bound), bound) : v;
  };
  const Expr f = gate(kForget, c).Op("sigmoid");
  const Expr i = p.w[kInput] ? gate(kInput, c).Op("sigmoid") : 1 - f;
  const Expr g = Activated(a, p.activation, gate(kCell, c));
  const Expr cell = AsState(bounded(f * c + i * g, p.cell_clip), p.c);
  const Expr o = gate(kOutput, cell).Op("sigmoid");
  Expr out = o * Activated(a, p.activation, cell);
  if (p.projection) {
    if (p.scales.size() == 5) out = AsIntegers(a, out, DType::kInt8, p.scales[4], p.zero_points[4]);
    out = Times(out, {a, p.projection});
    if (p.projection_bias) out = out + Expr(a, p.projection_bias);
    out = bounded(out, p.projection_clip);
  }
  return {AsState(out, p.h), cell};
}

// An input gate that is 1 minus the forget gate has its weights, negative.
Expr LstmOp(TfliteArgs& a, const LstmCell& p, const Expr& sequence) {
  constexpr Gate kOrder[] = {kInput, kOutput, kForget, kCell};  // the IR's
  const auto joined = [&](Value* const* parts) {
    std::vector<Value*> all;
    for (const Gate g : kOrder)
      all.push_back(p.w[g] ? Expr(a, parts[g]) : -Expr(a, parts[kForget]));
    return Unsqueeze(Concat(a, all, 0), {0});
  };
  const Expr bias = joined(p.bias);
  RecurrentLayer layer{.cell = *CudnnCell("lstm"), .x = sequence};
  layer.w = joined(p.w);
  layer.r = joined(p.r);
  layer.biases = Concat(a, {bias, bias * 0.0}, 1);
  layer.h = Unsqueeze({a, p.h}, {0});
  layer.c = Unsqueeze({a, p.c}, {0});
  if (const Expr forget{a, p.peephole[kForget]}; forget.value()) {
    Value* of_input = p.w[kInput] ? Expr(a, p.peephole[kInput]) : -forget;
    layer.peepholes = Unsqueeze(Concat(a, {of_input, p.peephole[kOutput], forget}, 0), {0});
  }
  return Squeeze({a, RunRecurrent(a, layer, {true})[0]}, {1});
}

// A sequence [time, batch, features] through an LSTM.
Expr Lstm(TfliteArgs& a, const LstmCell& p, const Expr& sequence, const Expr* aux) {
  if (p.simple()) return LstmOp(a, p, sequence);
  if (!aux || !p.aux_w[kForget]) {
    return RunSteps(a, sequence, {{a, p.h}, {a, p.c}},
                    [&](const Expr& x, const std::vector<Expr>& s) {
                      return LstmStep(a, p, x, nullptr, s[0], s[1]);
                    });
  }
  // Both sequences side by side.
  const Expr both = Concat(a, {sequence, *aux}, 2);
  const Expr split = SizeOf(sequence, 2);
  return RunSteps(a, both, {{a, p.h}, {a, p.c}}, [&](const Expr& x, const std::vector<Expr>& s) {
    const Expr at = Unsqueeze(split, {0}), axis = Ints(a, {1});
    const Expr own = x.Op("slice", {Ints(a, {0}), at, axis});
    const Expr other = x.Op("slice", {at, Ints(a, {INT64_MAX}), axis});
    return LstmStep(a, p, own, &other, s[0], s[1]);
  });
}

Expr TimeFirst(const Expr& x, bool time_major) { return time_major ? x : Transpose(x, {1, 0, 2}); }

Value* UnidirectionalLstm(TfliteArgs& a) {
  const bool time_major = a.Bool("time_major", false);
  a.Require(!a.Bool("diagonal_recurrent_tensors", false), "diagonal recurrent weights");
  const LstmCell p = TakeLstm(a, 1, 18, 19, 20);
  return TimeFirst(Lstm(a, p, TimeFirst(a.in(0), time_major), nullptr), time_major);
}

// One step.
absl::StatusOr<Values> LstmOnce(TfliteArgs& a) {
  if (a.String("kernel_type", "FULL") == "FULL") {
    const LstmCell p = TakeLstm(a, 1, 18, 19, 20);
    const std::vector<Expr> next = LstmStep(a, p, a.in(0), nullptr, {a, p.h}, {a, p.c});
    // Before it, old files have scratch memory.
    Values results(a.num_outputs(), nullptr);
    results[0] = next[0];
    return results;
  }
  // BASIC: operands x, h, weights of both, biases, c; gates in the order input, cell, forget,
  // output.
  a.Ignore("cell_clip");
  a.Ignore("proj_clip");
  a.Ignore("fused_activation_function");
  const Expr both = Concat(a, {a.in(0), a.in(1)}, 1);
  const Expr gates = Times(both, a.in(2)) + a.in(3);
  const std::vector<Value*> parts = a.b().Ops("split", {gates}, {{"axis", 1}}, 4);
  const auto gate = [&](size_t i) { return Expr(a, parts[i]).Op("sigmoid"); };
  const Expr c = gate(0) * Expr(a, parts[1]).Op("tanh") + gate(2) * a.in(4);
  const Expr h = gate(3) * c.Op("tanh");
  return Values{h, c, both, gates};
}

// Both directions, with results side by side or apart. aux: the operand that is another sequence,
// `weighted` where cells have weights for it; without, it is what the backward cell sees.
template <typename Cell, typename Run>
Values BothWays(TfliteArgs& a, const Cell& forward, const Cell& backward, size_t aux_at,
                bool weighted, bool time_major, const Run& run) {
  const bool has_aux = a.has(aux_at), merge = a.Bool("merge_outputs", false);
  const Expr x = TimeFirst(a.in(0), time_major);
  const Expr aux = has_aux ? TimeFirst(a.in(aux_at), time_major) : x;
  const Expr back = Reversed(has_aux && !weighted ? aux : x), back_aux = Reversed(aux);
  const Expr second = Reversed(run(a, backward, back, &back_aux)), first = run(a, forward, x, &aux);
  if (merge) return {TimeFirst(Concat(a, {first, second}, 2), time_major)};
  return {TimeFirst(first, time_major), TimeFirst(second, time_major)};
}

Values BidirectionalLstm(TfliteArgs& a) {
  const bool time_major = a.Bool("time_major", true), weighted = a.has(41);
  LstmCell forward = TakeLstm(a, 1, 35, 36), backward = TakeLstm(a, 18, 37, 38);
  for (size_t g = 0; weighted && g < 4; ++g) {
    if (a.has(40 + g)) forward.aux_w[g] = a.in(40 + g);
    if (a.has(44 + g)) backward.aux_w[g] = a.in(44 + g);
  }
  return BothWays(a, forward, backward, 39, weighted, time_major, Lstm);
}

// --- RNN -------------------------------------------------------------------------------------

struct RnnCell {
  Expr w, r, bias, h;
  Value* aux_w = nullptr;
  std::string activation;
};
RnnCell TakeRnn(TfliteArgs& a, size_t first) {
  return {a.in(first),     a.in(first + 1), a.in(first + 2),
          a.in(first + 3), nullptr,         a.String("fused_activation_function", "NONE")};
}

Expr RnnStep(TfliteArgs& a, const RnnCell& p, const Expr& from_x, const Expr& h) {
  return Activated(a, p.activation, from_x + Times(h, p.r));
}

// The product with x is that of all steps at once.
Expr Rnn(TfliteArgs& a, const RnnCell& p, const Expr& sequence, const Expr* aux) {
  const RecurrentCell* cell = p.activation == "TANH"   ? CudnnCell("rnn_tanh")
                              : p.activation == "RELU" ? CudnnCell("rnn_relu")
                                                       : nullptr;
  if (cell && !p.aux_w) {
    const Expr bias = Unsqueeze(p.bias, {0});
    RecurrentLayer layer{.cell = *cell, .x = sequence};
    layer.w = Unsqueeze(p.w, {0});
    layer.r = Unsqueeze(p.r, {0});
    layer.biases = Concat(a, {bias, bias * 0.0}, 1);
    layer.h = Unsqueeze(p.h, {0});
    return Squeeze({a, RunRecurrent(a, layer, {true})[0]}, {1});
  }
  Expr from_x = Times(sequence, p.w) + p.bias;
  if (aux && p.aux_w) from_x = from_x + Times(*aux, {a, p.aux_w});
  return RunSteps(a, from_x, {p.h}, [&](const Expr& x, const std::vector<Expr>& state) {
    return std::vector<Expr>{RnnStep(a, p, x, state[0])};
  });
}

Value* RnnOnce(TfliteArgs& a) {
  const RnnCell p = TakeRnn(a, 1);
  return RnnStep(a, p, Times(a.in(0), p.w) + p.bias, p.h);
}

Value* UnidirectionalRnn(TfliteArgs& a) {
  const bool time_major = a.Bool("time_major", false);
  return TimeFirst(Rnn(a, TakeRnn(a, 1), TimeFirst(a.in(0), time_major), nullptr), time_major);
}

Values BidirectionalRnn(TfliteArgs& a) {
  const bool time_major = a.Bool("time_major", false), weighted = a.has(10) && a.has(11);
  RnnCell forward = TakeRnn(a, 1), backward = TakeRnn(a, 5);
  if (weighted) {
    forward.aux_w = a.in(10);
    backward.aux_w = a.in(11);
  }
  return BothWays(a, forward, backward, 9, weighted, time_major, Rnn);
}

// --- SVDF ------------------------------------------------------------------------------------

// Filters [filters, features] give a number each; the last `memory` of them are weighted, and
// `rank` filters make a unit. The state has [batch, filters * memory].
absl::StatusOr<Value*> Svdf(TfliteArgs& a) {
  const int64_t rank = a.Int("rank", 0);
  const Shape* of_time = a.shape(2);
  if (!of_time || of_time->rank() != 2 || !of_time->is_static() || rank < 1 ||
      (*of_time)[0].value() % rank != 0) {
    return Invalid("weights in time do not fit rank ", rank);
  }
  const int64_t filters = (*of_time)[0].value(), memory = (*of_time)[1].value();
  const Expr now = Unsqueeze(Times(a.in(0), a.in(1)), {2});
  Expr all = now;
  if (memory > 1) {
    const Expr before = Reshape(a.in(4), {-1, filters, memory});
    const Expr kept = before.Op("slice", {Ints(a, {1}), Ints(a, {memory}), Ints(a, {2})});
    all = Concat(a, {kept, now}, 2);
  }
  const Expr weighted = Sum(all * a.in(2), 2);
  Expr y = Sum(Reshape(weighted, {-1, filters / rank, rank}), 2);
  if (a.has(3)) y = y + a.in(3);
  return Activated(a, a.String("fused_activation_function", "NONE"), y);
}

}  // namespace

X2IR_TFLITE(lstm).From({{"LSTM", LstmOnce},
                        {"UNIDIRECTIONAL_SEQUENCE_LSTM", UnidirectionalLstm},
                        {"BIDIRECTIONAL_SEQUENCE_LSTM", BidirectionalLstm}});
X2IR_TFLITE(rnn).From({{"RNN", RnnOnce},
                       {"UNIDIRECTIONAL_SEQUENCE_RNN", UnidirectionalRnn},
                       {"BIDIRECTIONAL_SEQUENCE_RNN", BidirectionalRnn},
                       {"SVDF", Svdf}});

}  // namespace x2ir
