// Recurrent layers of networks, whose sequences are [length, batch, features, 1, 1].
#include "x2ir/handlers/coreml/nn.h"

#include "absl/types/span.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/rnn.h"

namespace x2ir {
namespace {

Expr Sequence(NnArgs& a, size_t i) {
  const Expr x = a.X(i);
  a.Require(x.rank() == 5, "a sequence of another rank");
  return Squeeze(x, {3, 4});
}
Value* State(NnArgs& a, size_t i) {
  return i < a.count() ? Squeeze(Sequence(a, i), {0}).value() : nullptr;
}
Expr AsSequence(const Expr& x, bool state) {
  return Unsqueeze(state ? Unsqueeze(x, {0}) : x, {-2, -1});
}

// In the IR's order, of which peepholes are the first three.
using GateNames = absl::Span<const std::string_view>;
constexpr std::string_view kLstmGateNames[] = {"inputGate", "outputGate", "forgetGate",
                                               "blockInput"};
constexpr std::string_view kGruGateNames[] = {"updateGate", "resetGate", "outputGate"};

Value* OfGates(NnArgs& a, GateNames gates, std::string_view at, std::string_view what,
               const std::vector<int64_t>& dims) {
  std::vector<Value*> parts;
  for (const std::string_view gate : gates) {
    parts.push_back(a.NeedWeights(StrCat(at, gate, what), dims));
  }
  return Concat(a.b(), parts, 0);
}

// The function that an ActivationParams at the path is.
void SetActivation(NnArgs& a, MilLayer* layer, const std::string& path) {
  static constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"ReLU", "Relu"},         {"tanh", "Tanh"},         {"sigmoid", "Sigmoid"},
      {"softsign", "Softsign"}, {"softplus", "Softplus"},
  };
  struct OfNumbers {
    std::string_view core, ours;
    bool both;
  };
  static constexpr OfNumbers kOfNumbers[] = {{"linear", "Affine", true},
                                             {"leakyReLU", "LeakyRelu", false},
                                             {"thresholdedReLU", "ThresholdedRelu", false},
                                             {"scaledTanh", "ScaledTanh", true},
                                             {"sigmoidHard", "HardSigmoid", true},
                                             {"ELU", "Elu", false}};
  for (const auto& [core, ours] : kPlain) {
    if (!a.Given(StrCat(path, ".", core))) continue;
    layer->cell.activations.push_back({std::string(ours)});
    return;
  }
  for (const OfNumbers& each : kOfNumbers) {
    const std::string at = StrCat(path, ".", each.core);
    if (!a.Given(at)) continue;
    RecurrentActivation& function = layer->cell.activations.emplace_back();
    function.name = each.ours;
    function.alpha = static_cast<float>(a.Number(Symbol(StrCat(at, ".alpha"))));
    if (each.both) function.beta = static_cast<float>(a.Number(Symbol(StrCat(at, ".beta"))));
    return;
  }
  a.Require(false, "an activation of another kind in a recurrent layer");
}

// All of the sequence, or its end.
Values ResultsOf(const RecurrentResults& made, bool sequence) {
  Values values = {sequence ? AsSequence(made.y, false) : AsSequence(made.h, true),
                   AsSequence(made.h, true)};
  if (made.c.value()) values.push_back(AsSequence(made.c, true));
  return values;
}

std::pair<int64_t, int64_t> SizesOf(NnArgs& a) {
  const int64_t in = a.Int("inputVectorSize"), out = a.Int("outputVectorSize");
  a.Require(in > 0 && out > 0, "sizes of nothing");
  return {in, out};
}

Values SimpleRecurrent(NnArgs& a) {
  const auto [in, out] = SizesOf(a);
  const bool sequence = a.Flag("sequenceOutput"), biased = a.Flag("hasBiasVector");
  MilLayer layer{.cell = {"rnn", IrOrder("rnn"), {}}};
  if (a.Flag("reverseInput")) layer.direction = "reverse";
  layer.x = Sequence(a, 0);
  layer.h = State(a, 1);
  DirectionWeights& weights = layer.directions.emplace_back();
  weights.w = a.NeedWeights("weightMatrix", {out, in});
  weights.r = a.NeedWeights("recursionMatrix", {out, out});
  if (biased) weights.bias = a.NeedWeights("biasVector", {out});
  SetActivation(a, &layer, "activation");
  a.Given("activation");
  return ResultsOf(RunMilLayer(a, layer), sequence);
}

Values Gru(NnArgs& a) {
  const auto [in, out] = SizesOf(a);
  const bool sequence = a.Flag("sequenceOutput"), biased = a.Flag("hasBiasVectors");
  MilLayer layer{.cell = {"gru", IrOrder("gru"), {}}};
  if (a.Flag("reverseInput")) layer.direction = "reverse";
  layer.x = Sequence(a, 0);
  layer.h = State(a, 1);
  DirectionWeights& weights = layer.directions.emplace_back();
  weights.w = OfGates(a, kGruGateNames, "", "WeightMatrix", {out, in});
  weights.r = OfGates(a, kGruGateNames, "", "RecursionMatrix", {out, out});
  if (biased) weights.bias = OfGates(a, kGruGateNames, "", "BiasVector", {out});
  for (const char* path : {"activations.0", "activations.1"}) SetActivation(a, &layer, path);
  return ResultsOf(RunMilLayer(a, layer), sequence);
}

// The cell is held within bounds, of 50 where the file says none.
Values Lstm(NnArgs& a, bool both) {
  const auto sizes = SizesOf(a);
  const int64_t in = sizes.first, out = sizes.second;
  const bool sequence = a.Flag("params.sequenceOutput"), biased = a.Flag("params.hasBiasVectors"),
             forgets = a.Flag("params.forgetBias"), peeps = a.Flag("params.hasPeepholeVectors"),
             coupled = a.Flag("params.coupledInputAndForgetGate");
  const double bound = a.Number("params.cellClipThreshold");
  a.Given("params");
  MilLayer layer{.cell = {"lstm", IrOrder("lstm"), {}}};
  if (both) {
    layer.direction = "bidirectional";
  } else if (a.Flag("reverseInput")) {
    layer.direction = "reverse";
  }
  layer.x = Sequence(a, 0);
  layer.clip = bound > 0 ? bound : 50;
  if (coupled) layer.attrs.Set("input_forget", 1);
  for (int i = 0; i < (both ? 2 : 1); ++i) {
    const std::string at = both ? StrCat("weightParams.", i, ".") : "weightParams.";
    DirectionWeights& weights = layer.directions.emplace_back();
    weights.w = OfGates(a, kLstmGateNames, at, "WeightMatrix", {out, in});
    weights.r = OfGates(a, kLstmGateNames, at, "RecursionMatrix", {out, out});
    if (biased) weights.bias = OfGates(a, kLstmGateNames, at, "BiasVector", {out});
    if (forgets) {
      std::vector<float> ones(static_cast<size_t>(4 * out), 0.0f);
      std::fill(ones.begin() + 2 * out, ones.begin() + 3 * out, 1.0f);
      const Expr more = {a.b(), a.b().Constant(Tensor::Of<float>({4 * out}, ones))};
      weights.bias = weights.bias ? (more + Expr(a.b(), weights.bias)).value() : more.value();
    }
    if (peeps)
      weights.peephole = OfGates(a, GateNames(kLstmGateNames, 3), at, "PeepholeVector", {out});
  }
  // Gates, cell, result: of the forward direction, and the backward one must have the same.
  const std::string path = both ? "activationsForwardLSTM." : "activations.";
  for (int i = 0; i < 3; ++i) SetActivation(a, &layer, StrCat(path, i));
  if (both) {
    const std::vector<RecurrentActivation> forward = std::move(layer.cell.activations);
    layer.cell.activations.clear();
    for (int i = 0; i < 3; ++i) SetActivation(a, &layer, StrCat("activationsBackwardLSTM.", i));
    a.Require(layer.cell.activations == forward, "directions with different activations");
  }
  if (!both) {
    layer.h = State(a, 1);
    layer.c = State(a, 2);
    return ResultsOf(RunMilLayer(a, layer), sequence);
  }
  // States: forward h and c, backward h and c.
  const auto beside = [&](size_t i, size_t j) -> Value* {
    return a.count() > 4 ? Concat(a.b(), {State(a, i), State(a, j)}, 1).value() : nullptr;
  };
  layer.h = beside(1, 3);
  layer.c = beside(2, 4);
  const RecurrentResults made = RunMilLayer(a, layer);
  const auto half = [&](const Expr& state, int64_t from) {
    return AsSequence(Slice(state, 1, from, from + out), true);
  };
  return {sequence ? AsSequence(made.y, false) : AsSequence(made.h, true), half(made.h, 0),
          half(made.c, 0), half(made.h, out), half(made.c, out)};
}
Values OneLstm(NnArgs& a) { return Lstm(a, false); }
Values BothLstms(NnArgs& a) { return Lstm(a, true); }

}  // namespace

X2IR_NN(rnn).From("simpleRecurrent", SimpleRecurrent);
X2IR_NN(gru).From("gru", Gru);
X2IR_NN(lstm).From({{"uniDirectionalLSTM", OneLstm}, {"biDirectionalLSTM", BothLstms}});

}  // namespace x2ir
