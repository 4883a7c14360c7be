// Recurrent layers whose weights are quantized, and whose inputs and states are as they come: both
// products of a cell round what they multiply, each by its own scale. The layers of a sequence are
// loops, since the scale of a state is known with the state.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/quantized.h"

namespace x2ir::torch_script {
namespace {

// One product of a cell: weights that stand for floats, and whether x is rounded.
struct GateProduct {
  Value* weight = nullptr;
  Value* bias = nullptr;
  bool dynamic = true, reduce_range = false;
};
struct CellWeights {
  GateProduct of_input, of_state;
};

Value* ValueOrNull(Machine& m, const Val& v) {
  return v.kind == Val::kTensor ? m.Read(FloatsOf(m, v)) : nullptr;
}
GateProduct ProductOf(const QuantizedCall& c, const Val& packed, bool dynamic, bool reduce_range) {
  const LinearWeights w = LinearWeightsOf(c, packed);
  return {ValueOrNull(c.m, w.weight), ValueOrNull(c.m, w.bias), dynamic, reduce_range};
}
GateProduct ProductOfIntegers(Machine& m, const Val& weight, const Val& scale,
                              const Val& zero_point, const Val& bias) {
  const QuantizationPtr q = MakeQuantization(m, scale, zero_point, DType::kInt8);
  return {ValueOrNull(m, Marked(m.Fresh(m.Read(weight)), q)), ValueOrNull(m, bias), true, false};
}

// (kind, tensors, floats, ints, packed weights)
CellWeights CellWeightsOf(const QuantizedCall& c, const Val& object) {
  Machine& m = c.m;
  if (object.kind != Val::kObject || object.object().cls) {
    m.Refuse(c.op, " with weights in tensors: only newer versions of PyTorch's form are read");
  }
  const Val& state = object.object().state;
  if (state.kind != Val::kTuple || state.tuple().size() < 5) {
    m.Refuse(c.op, ": cell weights of an unknown form");
  }
  const std::string_view kind = state.tuple()[0].str();
  const auto items = [&](size_t i, size_t least) -> const std::vector<Val>& {
    const auto& list = m.Items(state.tuple()[i], "cell weights");
    if (list.size() < least) m.Refuse(c.op, ": cell weights '", kind, "' with too few items");
    return list;
  };
  if (kind == "quantized") {
    const auto &t = items(1, 4), &scales = items(2, 2), &points = items(3, 2);
    return {ProductOfIntegers(m, t[0], scales[0], points[0], t[2]),
            ProductOfIntegers(m, t[1], scales[1], points[1], t[3])};
  }
  if (kind != "quantized_dynamic" && kind != "quantized_fp16") {
    m.Refuse(c.op, ": cell weights of kind '", kind, "'");
  }
  const bool dynamic = kind == "quantized_dynamic";
  const auto &ints = items(3, 0), &packed = items(4, 2);
  const bool reduce = dynamic && !ints.empty() && m.KnownInt(ints[0], "reduce_range") != 0;
  return {ProductOf(c, packed[0], dynamic, reduce), ProductOf(c, packed[1], dynamic, reduce)};
}

Formula ProductWith(const Formula& x, const GateProduct& p) {
  Builder& b = x.builder();
  const Formula rounded = p.dynamic ? DynamicallyRounded(x, p.reduce_range) : x;
  return Dense(rounded, {b, p.weight}, p.bias);
}

// --- Cells ---------------------------------------------------------------------------------------

enum class CellKind : uint8_t { kLstm, kGru, kTanh, kRelu };
using States = std::vector<Formula>;  // h, and c of an LSTM

// The next states of [batch, gates] of the input and of the states. The gates of an LSTM are
// i, f, g and o, those of a GRU r, z and n.
States NextStates(CellKind kind, const Formula& of_input, const States& states,
                  const GateProduct& product) {
  Builder& b = of_input.builder();
  const Formula of_state = ProductWith(states[0], product);
  if (kind == CellKind::kTanh) return {(of_state + of_input).Op("tanh")};
  if (kind == CellKind::kRelu) return {(of_state + of_input).Op("relu")};
  const auto gate = [&](const Values& parts, size_t i) { return Formula(b, parts[i]); };
  if (kind == CellKind::kLstm) {
    const Values parts = GateParts(b, of_state + of_input, 4, 1);
    const Formula i = gate(parts, 0).Op("sigmoid"), f = gate(parts, 1).Op("sigmoid");
    const Formula g = gate(parts, 2).Op("tanh"), o = gate(parts, 3).Op("sigmoid");
    const Formula cell = f * states[1] + i * g;
    return {o * cell.Op("tanh"), cell};
  }
  const Values x = GateParts(b, of_input, 3, 1), h = GateParts(b, of_state, 3, 1);
  const Formula reset = (gate(h, 0) + gate(x, 0)).Op("sigmoid");
  const Formula update = (gate(h, 1) + gate(x, 1)).Op("sigmoid");
  const Formula candidate = (gate(x, 2) + gate(h, 2) * reset).Op("tanh");
  return {(states[0] - candidate) * update + candidate};
}

// x [time, batch, features]. The input's products are of all times at once: they have one scale.
struct LayerRun {
  Formula output = nullptr;
  States states;
};
LayerRun RunLayer(CellKind kind, const Formula& x, const States& first, const CellWeights& w,
                  bool backwards) {
  const Formula of_input = ProductWith(x, w.of_input);
  const Formula steps = SizeOf(x, 0), last = steps - 1.0;
  const auto round = [&](const Formula& i, const States& states) {
    const Formula at = backwards ? last - i : i;
    States next = NextStates(kind, Gather(of_input, at, 0), states, w.of_state);
    next.push_back(next[0]);
    return next;
  };
  States results = Rounds(steps, first, round);
  LayerRun run;
  run.output = results.back();
  results.pop_back();
  run.states = std::move(results);
  if (backwards) run.output = Gather(run.output, last - Iota(steps), 0);
  return run;
}

// --- Whole layers --------------------------------------------------------------------------------

struct StackOf {
  CellKind kind = CellKind::kLstm;
  std::vector<CellWeights> cells;  // of each layer: forwards, and backwards where it has both
  size_t directions = 1;
  bool batch_first = false;
};
// The output, and the last states of all cells.
std::vector<Val> RunStack(Machine& m, const StackOf& stack, const Val& input,
                          const std::vector<Val>& states) {
  Value* in = m.Read(input);
  std::vector<Value*> first, results;
  for (const Val& v : states) first.push_back(m.Read(v));
  m.Build("rnn", [&](Builder& b) {
    Formula x(b, in);
    if (stack.batch_first) x = Transpose(x, {1, 0, 2});
    std::vector<std::vector<Value*>> last(first.size());
    for (size_t cell = 0; cell < stack.cells.size(); cell += stack.directions) {
      std::vector<Value*> outputs;
      for (size_t d = 0; d < stack.directions; ++d) {
        States start;
        for (Value* v : first) {
          start.push_back(Gather({b, v}, Int(b, static_cast<int64_t>(cell + d)), 0));
        }
        const LayerRun run = RunLayer(stack.kind, x, start, stack.cells[cell + d], d == 1);
        outputs.push_back(run.output);
        for (size_t i = 0; i < last.size(); ++i) last[i].push_back(run.states[i]);
      }
      x = Concat(b, outputs, 2);
    }
    if (stack.batch_first) x = Transpose(x, {1, 0, 2});
    results.push_back(x);
    for (const auto& of_cells : last) results.push_back(Stack(b, of_cells, 0));
  });
  std::vector<Val> vals;
  for (Value* v : results) vals.push_back(m.Fresh(v));
  return vals;
}

// (input, states, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first)
Val RunLayers(const QuantizedCall& c, CellKind kind) {
  Machine& m = c.m;
  const Val &input = c.At(0, "input"), &hx = c.At(1, "hx");
  const bool lstm = kind == CellKind::kLstm;
  const bool packed = lstm ? hx.kind == Val::kTensor : c.At(2, "params").kind == Val::kTensor;
  if (packed) m.Refuse(c.op, " of a packed sequence");
  StackOf stack;
  stack.kind = kind;
  for (const Val& cell : m.Items(c.At(2, "params"), "cell weights")) {
    stack.cells.push_back(CellWeightsOf(c, cell));
  }
  const Val& dropout = c.At(5, "dropout");
  const bool drops = !dropout.is_known_number() || dropout.d != 0;
  if (c.Flag(6, "train") && drops) m.Refuse(c.op, " with dropout, in training");
  stack.directions = c.Flag(7, "bidirectional") ? 2 : 1;
  stack.batch_first = c.Flag(8, "batch_first");
  const int64_t layers = m.KnownInt(c.At(4, "num_layers"), "num_layers");
  if (layers < 1 || stack.cells.size() != static_cast<size_t>(layers) * stack.directions) {
    m.Stop(Invalid(c.op, ": ", layers, " layers with the weights of ", stack.cells.size()));
  }
  const std::vector<Val> states = lstm ? m.Items(hx, "states") : std::vector<Val>{hx};
  if (states.size() != (lstm ? 2 : 1)) m.Refuse(c.op, " with ", states.size(), " states");
  return Val::Tuple(RunStack(m, stack, input, states));
}
Val QuantizedLstm(const QuantizedCall& c) { return RunLayers(c, CellKind::kLstm); }
Val QuantizedGru(const QuantizedCall& c) { return RunLayers(c, CellKind::kGru); }

// --- One cell ------------------------------------------------------------------------------------

Val RunCell(const QuantizedCall& c, CellKind kind, const CellWeights& w) {
  Machine& m = c.m;
  const Val& hx = c.At(1, "hx");
  const bool lstm = kind == CellKind::kLstm;
  const std::vector<Val> states = lstm ? m.Items(hx, "states") : std::vector<Val>{hx};
  if (states.size() != (lstm ? 2 : 1)) m.Refuse(c.op, " with ", states.size(), " states");
  Value* input = m.Read(c.At(0, "input"));
  std::vector<Value*> first, next;
  for (const Val& v : states) first.push_back(m.Read(v));
  m.Build("cell", [&](Builder& b) {
    States start;
    for (Value* v : first) start.emplace_back(b, v);
    for (const Formula& v :
         NextStates(kind, ProductWith({b, input}, w.of_input), start, w.of_state)) {
      next.push_back(v);
    }
  });
  return lstm ? Val::Tuple({m.Fresh(next[0]), m.Fresh(next[1])}) : m.Fresh(next[0]);
}
// (input, states, packed weights of the input, and of the states, biases that these have, too)
template <CellKind kind>
Val DynamicCell(const QuantizedCall& c) {
  return RunCell(
      c, kind,
      {ProductOf(c, c.At(2, "w_ih"), true, true), ProductOf(c, c.At(3, "w_hh"), true, true)});
}
// (input, states, 2 weights, 2 biases, 2 packed, 2 of offsets, 2 scales, 2 zero points)
template <CellKind kind>
Val IntegerCell(const QuantizedCall& c) {
  const auto at = [&](size_t i, std::string_view name) { return c.At(i, name); };
  return RunCell(c, kind,
                 {ProductOfIntegers(c.m, at(2, "w_ih"), at(10, "scale_ih"), at(12, "zero_point_ih"),
                                    at(4, "b_ih")),
                  ProductOfIntegers(c.m, at(3, "w_hh"), at(11, "scale_hh"), at(13, "zero_point_hh"),
                                    at(5, "b_hh"))});
}

// --- Weights that code makes ---------------------------------------------------------------------

Val CellObject(std::string_view kind, std::vector<Val> tensors, std::vector<Val> ints,
               std::vector<Val> packed) {
  auto object = std::make_shared<ObjectHeap>();
  object->class_name = "__torch__.torch.classes.rnn.CellParamsBase";
  object->state =
      Val::Tuple({Val::String(std::string(kind)), Val::List(std::move(tensors)), Val::List({}),
                  Val::List(std::move(ints)), Val::List(std::move(packed))});
  return Val::Of(Val::kObject, std::move(object));
}
Val MakeDynamicCell(const QuantizedCall& c) {
  return CellObject("quantized_dynamic", {c.At(2, "bias_ih"), c.At(3, "bias_hh")},
                    {Val::Int(c.Flag(4, "reduce_range"))}, {c.At(0, "w_ih"), c.At(1, "w_hh")});
}
Val MakeHalvesCell(const QuantizedCall& c) {
  return CellObject("quantized_fp16", {}, {}, {c.At(0, "w_ih"), c.At(1, "w_hh")});
}

}  // namespace

const QuantizedTable& QuantizedRecurrences() {
  static const auto* table = new QuantizedTable{
      {"aten::quantized_lstm", QuantizedLstm},
      {"aten::quantized_gru", QuantizedGru},
      {"aten::quantized_lstm_cell", IntegerCell<CellKind::kLstm>},
      {"aten::quantized_gru_cell", IntegerCell<CellKind::kGru>},
      {"aten::quantized_rnn_tanh_cell", IntegerCell<CellKind::kTanh>},
      {"aten::quantized_rnn_relu_cell", IntegerCell<CellKind::kRelu>},
      {"quantized::quantized_lstm_cell_dynamic", DynamicCell<CellKind::kLstm>},
      {"quantized::quantized_gru_cell_dynamic", DynamicCell<CellKind::kGru>},
      {"quantized::quantized_rnn_tanh_cell_dynamic", DynamicCell<CellKind::kTanh>},
      {"quantized::quantized_rnn_relu_cell_dynamic", DynamicCell<CellKind::kRelu>},
      {"quantized::make_quantized_cell_params_dynamic", MakeDynamicCell},
      {"quantized::make_quantized_cell_params_fp16", MakeHalvesCell},
  };
  return *table;
}

}  // namespace x2ir::torch_script
