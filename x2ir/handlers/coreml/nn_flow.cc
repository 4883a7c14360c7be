// Branches and loops of networks, which see what is around them, and recurrent layers.
#include <memory>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/nested.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/rnn.h"
#include "x2ir/optimizer/inline_graph.h"

namespace x2ir {
namespace {

// One number: whether it is not zero.
Expr Question(const Expr& number) {
  return Abs(number)
      .Op("greater", {number.builder().Scalar(DType::kFloat32, 1e-6)})
      .Op("reshape", {number.builder().Ints({})}, {{"allowzero", 1}});
}

absl::StatusOr<Values> Branch(NnArgs& a) {
  const auto branch = [&](Symbol name) -> absl::StatusOr<std::shared_ptr<Graph>> {
    const std::shared_ptr<Graph> block = a.SubGraph(name);
    auto graph = std::make_shared<Graph>(block->name());
    Builder b(*graph, nullptr);
    Values results = InlineGraph(b, *block, {});
    if (results.size() < a.num_outputs()) return Invalid("a branch gives too few results");
    results.resize(a.num_outputs());
    AddResults(b, results);
    X2IR_RETURN_IF_ERROR(b.status());
    return graph;
  };
  X2IR_ASSIGN_OR_RETURN(const auto yes, branch("ifBranch"));
  X2IR_ASSIGN_OR_RETURN(const auto no, branch("elseBranch"));
  return a.b().Ops("if", {Question(a.X())}, {{"then_branch", yes}, {"else_branch", no}},
                   a.num_outputs());
}

// The first operand is how often, or null; others are carried. The condition's network, where there
// is one, runs before each round and may write what is carried, too: what it wrote last stays.
absl::StatusOr<Values> Loop(NnArgs& a) {
  const std::vector<Value*> first = a.inputs(1);
  const size_t count = first.size();
  const int64_t most = a.Int("maxLoopIterations");
  const bool asks = a.HasAttr("conditionNetwork"), breaks = a.Flag("breaks#");
  const std::shared_ptr<Graph> step = a.SubGraph("bodyNetwork"),
                               question = asks ? a.SubGraph("conditionNetwork") : nullptr;
  if (step->inputs().size() != count || a.num_outputs() > count) {
    return Invalid("not as many results as variables");
  }
  // The answer, and the variables behind it.
  const auto asked = [&](Builder& at, const Values& given) {
    if (!asks) {
      Values all = {at.Constant(Tensor::Scalar<bool>(true))};
      all.insert(all.end(), given.begin(), given.end());
      return all;
    }
    Values all = InlineGraph(at, *question, given);
    all[0] = Question({at, all[0]});
    return all;
  };
  const Values start = asked(a.b(), Values(first.begin(), first.end()));
  LoopBody body;
  Values state;
  for (size_t i = 0; i < count; ++i) {
    const Type type = Type::Tensor(DType::kFloat32);
    state.push_back(body.Carry(start[1 + i], StrCat("variable_", i), type));
  }
  Values next = InlineGraph(body.b(), *step, state);
  if (breaks) {
    // The last variable says whether the loop is left, and then nothing is asked.
    const Expr left = Question({body.b(), next.back()});
    if (asks) {
      const auto arm = [&](bool of_left) -> absl::StatusOr<std::shared_ptr<Graph>> {
        auto graph = std::make_shared<Graph>(of_left ? "left" : "asked");
        Builder b(*graph, nullptr);
        Values results = next;
        if (of_left) {
          results.insert(results.begin(), b.Constant(Tensor::Scalar<bool>(false)));
        } else {
          results = asked(b, next);
        }
        AddResults(b, results);
        X2IR_RETURN_IF_ERROR(b.status());
        return graph;
      };
      X2IR_ASSIGN_OR_RETURN(const auto yes, arm(true));
      X2IR_ASSIGN_OR_RETURN(const auto no, arm(false));
      next = body.b().Ops("if", {left}, {{"then_branch", yes}, {"else_branch", no}}, count + 1);
    } else {
      next.insert(next.begin(), Not(left).value());
    }
  } else {
    next = asked(body.b(), next);
  }
  Value* rounds = nullptr;
  if (a.has(0)) {
    rounds = Reshape(a.in(0).To(DType::kInt64), {});
    if (most > 0) rounds = Min({a, rounds}, {a, a.b().Int(most)});
  } else if (most > 0) {
    rounds = a.b().Int(most);
  }
  X2IR_ASSIGN_OR_RETURN(Values last, body.Loop(a.b(), rounds, asks || breaks ? start[0] : nullptr,
                                               next[0], Values(next.begin() + 1, next.end())));
  last.resize(a.num_outputs());
  return last;
}

// --- Recurrent layers: [length, batch, features, 1, 1]
// --------------------------------------------

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

struct Gates {
  std::string_view names[4];  // in the IR's order
  size_t count;
};
constexpr Gates kLstmGates = {{"inputGate", "outputGate", "forgetGate", "blockInput"}, 4};
constexpr Gates kGruGates = {{"updateGate", "resetGate", "outputGate"}, 3};

Value* OfGates(NnArgs& a, const Gates& gates, std::string_view at, std::string_view what,
               const std::vector<int64_t>& dims, size_t count) {
  std::vector<Value*> parts;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(a.NeedWeights(StrCat(at, gates.names[i], what), dims));
  }
  return Concat(a.b(), parts, 0);
}

// The function that an ActivationParams at the path is.
void SetActivation(NnArgs& a, RecurrentLayer* layer, const std::string& path) {
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
    layer->activations.push_back({std::string(ours)});
    return;
  }
  for (const OfNumbers& each : kOfNumbers) {
    const std::string at = StrCat(path, ".", each.core);
    if (!a.Given(at)) continue;
    RecurrentActivation& function = layer->activations.emplace_back();
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

struct RecurrentSizes {
  int64_t in, out;
};
RecurrentSizes SizesOf(NnArgs& a) {
  const RecurrentSizes sizes = {a.Int("inputVectorSize"), a.Int("outputVectorSize")};
  a.Require(sizes.in > 0 && sizes.out > 0, "sizes of nothing");
  return sizes;
}

Values SimpleRecurrent(NnArgs& a) {
  const auto [in, out] = SizesOf(a);
  const bool sequence = a.Flag("sequenceOutput"), biased = a.Flag("hasBiasVector");
  RecurrentLayer layer;
  layer.op = "rnn";
  if (a.Flag("reverseInput")) layer.direction = "reverse";
  layer.x = Sequence(a, 0);
  layer.h = State(a, 1);
  DirectionWeights& weights = layer.directions.emplace_back();
  weights.w = a.NeedWeights("weightMatrix", {out, in});
  weights.r = a.NeedWeights("recursionMatrix", {out, out});
  if (biased) weights.bias = a.NeedWeights("biasVector", {out});
  SetActivation(a, &layer, "activation");
  a.Given("activation");
  return ResultsOf(Recurrent(a, layer), sequence);
}

Values Gru(NnArgs& a) {
  const auto [in, out] = SizesOf(a);
  const bool sequence = a.Flag("sequenceOutput"), biased = a.Flag("hasBiasVectors");
  RecurrentLayer layer;
  layer.op = "gru";
  if (a.Flag("reverseInput")) layer.direction = "reverse";
  layer.x = Sequence(a, 0);
  layer.h = State(a, 1);
  // The reset gate scales the state before it is multiplied.
  layer.attrs.Set("linear_before_reset", 0);
  DirectionWeights& weights = layer.directions.emplace_back();
  weights.w = OfGates(a, kGruGates, "", "WeightMatrix", {out, in}, 3);
  weights.r = OfGates(a, kGruGates, "", "RecursionMatrix", {out, out}, 3);
  if (biased) weights.bias = OfGates(a, kGruGates, "", "BiasVector", {out}, 3);
  for (const char* path : {"activations.0", "activations.1"}) SetActivation(a, &layer, path);
  return ResultsOf(Recurrent(a, layer), sequence);
}

// The cell is held within bounds, of 50 where the file says none.
Values Lstm(NnArgs& a, bool both) {
  const auto sizes = SizesOf(a);
  const int64_t in = sizes.in, out = sizes.out;
  const bool sequence = a.Flag("params.sequenceOutput"), biased = a.Flag("params.hasBiasVectors"),
             forgets = a.Flag("params.forgetBias"), peeps = a.Flag("params.hasPeepholeVectors"),
             coupled = a.Flag("params.coupledInputAndForgetGate");
  const double bound = a.Number("params.cellClipThreshold");
  a.Given("params");
  RecurrentLayer layer;
  layer.op = "lstm";
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
    weights.w = OfGates(a, kLstmGates, at, "WeightMatrix", {out, in}, 4);
    weights.r = OfGates(a, kLstmGates, at, "RecursionMatrix", {out, out}, 4);
    if (biased) weights.bias = OfGates(a, kLstmGates, at, "BiasVector", {out}, 4);
    if (forgets) {
      std::vector<float> ones(static_cast<size_t>(4 * out), 0.0f);
      std::fill(ones.begin() + 2 * out, ones.begin() + 3 * out, 1.0f);
      const Expr more = {a.b(), a.b().Constant(Tensor::Of<float>({4 * out}, ones))};
      weights.bias = weights.bias ? (more + Expr(a.b(), weights.bias)).value() : more.value();
    }
    if (peeps) weights.peephole = OfGates(a, kLstmGates, at, "PeepholeVector", {out}, 3);
  }
  // Gates, cell, result: of the forward direction, and the backward one must have the same.
  const std::string path = both ? "activationsForwardLSTM." : "activations.";
  for (int i = 0; i < 3; ++i) SetActivation(a, &layer, StrCat(path, i));
  if (both) {
    const std::vector<RecurrentActivation> forward = std::move(layer.activations);
    layer.activations.clear();
    for (int i = 0; i < 3; ++i) SetActivation(a, &layer, StrCat("activationsBackwardLSTM.", i));
    a.Require(layer.activations == forward, "directions with different activations");
  }
  if (!both) {
    layer.h = State(a, 1);
    layer.c = State(a, 2);
    return ResultsOf(Recurrent(a, layer), sequence);
  }
  // States: forward h and c, backward h and c.
  const auto beside = [&](size_t i, size_t j) -> Value* {
    return a.count() > 4 ? Concat(a.b(), {State(a, i), State(a, j)}, 1).value() : nullptr;
  };
  layer.h = beside(1, 3);
  layer.c = beside(2, 4);
  const RecurrentResults made = Recurrent(a, layer);
  const auto half = [&](const Expr& state, int64_t from) {
    return AsSequence(Slice(state, 1, from, from + out), true);
  };
  return {sequence ? AsSequence(made.y, false) : AsSequence(made.h, true), half(made.h, 0),
          half(made.c, 0), half(made.h, out), half(made.c, out)};
}
Values OneLstm(NnArgs& a) { return Lstm(a, false); }
Values BothLstms(NnArgs& a) { return Lstm(a, true); }

}  // namespace

X2IR_NN(if).From("branch", Branch);
X2IR_NN(loop).From("loop", Loop);
X2IR_NN(rnn).From("simpleRecurrent", SimpleRecurrent);
X2IR_NN(gru).From("gru", Gru);
X2IR_NN(lstm).From("uniDirectionalLSTM", OneLstm).From("biDirectionalLSTM", BothLstms);

}  // namespace x2ir
