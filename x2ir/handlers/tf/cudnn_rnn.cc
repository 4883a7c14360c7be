// TensorFlow: recurrent networks as cuDNN runs them, with all parameters in one buffer. It holds
// the matrices, layer by layer and direction by direction, those of the input before those of the
// state, gate by gate; and after all of them the biases in the same order.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

struct CudnnMode {
  std::string_view name, op;
  std::vector<int64_t> gates;  // where cuDNN has each of IR's
  Attribute::Strings activations;
};

const CudnnMode* FindCudnnMode(std::string_view name) {
  static const auto* modes = new std::vector<CudnnMode>{
      {"lstm", "lstm", {0, 3, 1, 2}, {"Sigmoid", "Tanh", "Tanh"}},  // i, f, c, o
      {"gru", "gru", {1, 0, 2}, {"Sigmoid", "Tanh"}},               // r, z, h
      {"rnn_tanh", "rnn", {0}, {"Tanh"}},
      {"rnn_relu", "rnn", {0}, {"Relu"}},
  };
  for (const CudnnMode& mode : *modes) {
    if (mode.name == name) return &mode;
  }
  return nullptr;
}

// What the sizes of the parameters follow from.
struct Net {
  const CudnnMode* mode;
  int64_t directions, layers = 0, units = 0, features = 0;

  int64_t gates() const { return static_cast<int64_t>(mode->gates.size()); }
  int64_t width(int64_t layer) const { return layer == 0 ? features : units * directions; }
  int64_t biases() const { return 2 * gates() * units * layers * directions; }
  int64_t matrices() const {
    int64_t sum = 0;
    for (int64_t i = 0; i < layers; ++i) sum += units * (width(i) + units);
    return sum * gates() * directions;
  }
};

absl::StatusOr<Net> TakeNet(TfArgs& a) {
  const std::string mode = a.String("rnn_mode", "lstm");
  const std::string input = a.String("input_mode", "linear_input");
  const std::string direction = a.String("direction", "unidirectional");
  const Net net = {.mode = FindCudnnMode(mode), .directions = direction == "bidirectional" ? 2 : 1};
  if (!net.mode) return Invalid("rnn_mode '", mode, "'");
  if (net.directions == 1 && direction != "unidirectional") {
    return Invalid("direction '", direction, "'");
  }
  // Without matrices of the input; IR has no layer of that kind.
  if (input != "linear_input") return Unimplemented("input_mode '", input, "'");
  if (a.Int("num_proj", 0) != 0) return Unimplemented("a projection of the state");
  for (const char* name : {"seed", "seed2"}) a.Ignore(name);
  return net;
}

// So that no product of them overflows.
absl::Status CheckSizes(const Net& net) {
  constexpr int64_t kMost = int64_t{1} << 20, kMaxLayers = int64_t{1} << 10;
  if (net.units >= 1 && net.units <= kMost && net.layers >= 1 && net.layers <= kMaxLayers &&
      net.features >= 0 && net.features <= kMost) {
    return absl::OkStatus();
  }
  return Invalid(net.layers, " layers of ", net.units, " units for ", net.features, " features");
}

// Hands out pieces of the buffer, from the first to the last.
class Params {
 public:
  Params(TfArgs& a, Value* buffer, int64_t begin) : a_(a), buffer_(buffer), at_(begin) {}
  Value* Next(std::vector<int64_t> dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    const int64_t begin = std::exchange(at_, at_ + count);
    Value* piece = a_.Op("slice", {buffer_, Ints(a_, {begin}), Ints(a_, {at_}), Ints(a_, {0})});
    return ReshapeTo({a_, piece}, Ints(a_, std::move(dims)));
  }

 private:
  TfArgs& a_;
  Value* buffer_;
  int64_t at_;
};

absl::StatusOr<int64_t> StaticDim(TfArgs& a, size_t i, int64_t axis, std::string_view what) {
  const Shape* shape = a.shape(i);
  if (shape && shape->rank() != 3) {
    return Invalid("operand ", i, ": expected rank 3, got ", shape->rank());
  }
  if (!shape || !(*shape)[axis].is_static()) return Unimplemented(what, " must be known");
  return (*shape)[axis].value();
}

// --- Whole nets ---------------------------------------------------------------------------------

absl::Status CheckBuffer(TfArgs& a, size_t i, const Net& net) {
  const Shape* shape = a.shape(i);
  if (shape && shape->rank() != 1) {
    return Invalid("operand ", i, ": expected rank 1, got ", shape->rank());
  }
  const int64_t expected = net.matrices() + net.biases();
  if (shape && (*shape)[0].is_static() && (*shape)[0].value() != expected) {
    return Unimplemented((*shape)[0].value(), " parameters, where cuDNN needs ", expected);
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> CudnnRnn(TfArgs& a, bool v3) {
  X2IR_ASSIGN_OR_RETURN(Net net, TakeNet(a));
  const bool time_major = !v3 || a.Bool("time_major", true);
  const bool lstm = net.mode->op == "lstm";
  const float dropout = a.Float("dropout", 0);
  a.Require(!a.Bool("is_training", true) || dropout == 0, "dropout of a training");
  for (const size_t i : {0, 1, 3}) a.in(i);
  X2IR_ASSIGN_OR_RETURN(net.features, StaticDim(a, 0, 2, "the number of features"));
  X2IR_ASSIGN_OR_RETURN(net.units, StaticDim(a, 1, 2, "the number of units"));
  X2IR_ASSIGN_OR_RETURN(net.layers, StaticDim(a, 1, time_major ? 0 : 1, "the number of layers"));
  if (net.layers % net.directions != 0) return Invalid(net.layers, " states of two directions");
  net.layers /= net.directions;
  X2IR_RETURN_IF_ERROR(CheckSizes(net));
  X2IR_RETURN_IF_ERROR(CheckBuffer(a, 3, net));
  const int64_t gates = net.gates(), units = net.units, directions = net.directions;

  // A transpose is its own inverse.
  const auto turned = [&](Value* v) { return time_major ? v : Transpose({a, v}, {1, 0, 2}); };
  const auto joined = [&](const Values& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : a.Op("concat", parts, {{"axis", axis}});
  };
  const auto reordered = [&](Value* v, int64_t axis) {
    return gates == 1 ? v : a.Op("gather", {v, Ints(a, net.mode->gates)}, {{"axis", axis}});
  };
  Attribute::Strings activations;
  for (int64_t d = 0; d < directions; ++d) {
    activations.insert(activations.end(), net.mode->activations.begin(),
                       net.mode->activations.end());
  }
  AttributeMap attrs = {{"activations", activations},
                        {"direction", directions == 2 ? "bidirectional" : "forward"},
                        {"hidden_size", units}};
  if (net.mode->op == "gru") attrs.Set("linear_before_reset", 1);
  Value* lengths = v3 ? a.Cast(a.in(4), DType::kInt32).value() : nullptr;
  Value* initial_h = turned(a.in(1));
  Value* initial_c = lstm ? turned(a.in(2)) : nullptr;
  Params matrices(a, a.in(3), 0), biases(a, a.in(3), net.matrices());

  Value* y = turned(a.in(0));
  Values last_h, last_c;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    Values w, r, b;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t width = net.width(layer);
      Value* of_input = reordered(matrices.Next({gates, units, width}), 0);
      Value* of_state = reordered(matrices.Next({gates, units, units}), 0);
      Value* of_both = reordered(biases.Next({2, gates, units}), 1);
      w.push_back(ReshapeTo({a, of_input}, Ints(a, {1, gates * units, width})));
      r.push_back(ReshapeTo({a, of_state}, Ints(a, {1, gates * units, units})));
      b.push_back(ReshapeTo({a, of_both}, Ints(a, {1, 2 * gates * units})));
    }
    const auto first = [&](Value* all) {
      const int64_t begin = layer * directions;
      return a.Op("slice", {all, Ints(a, {begin}), Ints(a, {begin + directions}), Ints(a, {0})});
    };
    Values operands = {y, joined(w, 0), joined(r, 0), joined(b, 0), lengths, first(initial_h)};
    if (lstm) operands.push_back(first(initial_c));
    // length, directions, batch, units
    const Values out = a.b().Ops(net.mode->op, operands, attrs, lstm ? 3 : 2);
    y = a.Op("reshape",
             {Transpose({a, out[0]}, {0, 2, 1, 3}), Ints(a, {0, 0, directions * units})});
    last_h.push_back(out[1]);
    if (lstm) last_c.push_back(out[2]);
  }
  Values results = {turned(y), turned(joined(last_h, 0)), nullptr, nullptr, nullptr};
  if (lstm) results[2] = turned(joined(last_c, 0));
  return results;  // what cuDNN keeps for training has no counterpart
}

// --- The buffer by itself -----------------------------------------------------------------------

absl::StatusOr<Net> KnownNet(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(Net net, TakeNet(a));
  a.Ignore("dropout");
  X2IR_ASSIGN_OR_RETURN(net.layers, a.KnownInt(0, "num_layers"));
  X2IR_ASSIGN_OR_RETURN(net.units, a.KnownInt(1, "num_units"));
  X2IR_ASSIGN_OR_RETURN(net.features, a.KnownInt(2, "input_size"));
  X2IR_RETURN_IF_ERROR(CheckSizes(net));
  return net;
}

absl::StatusOr<Value*> ParamsSize(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Net net, KnownNet(a));
  const DType dtype = a.Type("S", DType::kInt32);
  return a.Op("identity", {a.Cast(Ints(a, {net.matrices() + net.biases()}), dtype)});
}

absl::StatusOr<Value*> CanonicalToParams(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Net net, KnownNet(a));
  for (const char* name : {"num_params", "num_params_weights", "num_params_biases"}) {
    a.Ignore(name);
  }
  const auto count = static_cast<size_t>(4 * net.gates() * net.layers * net.directions);
  if (a.num_inputs() != count + 3) {
    return Invalid("expected ", count, " matrices and biases, got ", a.num_inputs() - 3);
  }
  Values flat;
  for (Value* v : a.inputs(3)) flat.push_back(ReshapeTo({a, v}, Ints(a, {-1})));
  return a.Op("concat", flat, {{"axis", 0}});
}

absl::StatusOr<Values> ParamsToCanonical(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Net net, KnownNet(a));
  for (const char* name : {"num_params", "num_params_weights", "num_params_biases"}) {
    a.Ignore(name);
  }
  a.in(3);
  X2IR_RETURN_IF_ERROR(CheckBuffer(a, 3, net));
  Params params(a, a.in(3), 0);
  Values results;
  for (int64_t layer = 0; layer < net.layers * net.directions; ++layer) {
    for (const int64_t width : {net.width(layer / net.directions), net.units}) {
      for (int64_t gate = 0; gate < net.gates(); ++gate) {
        results.push_back(params.Next({net.units, width}));
      }
    }
  }
  const size_t biases = results.size();
  for (size_t i = 0; i < biases; ++i) results.push_back(params.Next({net.units}));
  return results;
}

}  // namespace

X2IR_TF(lstm)
    .From("CudnnRNN", [](TfArgs& a) { return CudnnRnn(a, false); })
    .From("CudnnRNNV2", [](TfArgs& a) { return CudnnRnn(a, false); })
    .From("CudnnRNNV3", [](TfArgs& a) { return CudnnRnn(a, true); });
X2IR_TF(concat)
    .From("CudnnRNNCanonicalToParams", CanonicalToParams)
    .From("CudnnRNNCanonicalToParamsV2", CanonicalToParams);
X2IR_TF(slice)
    .From("CudnnRNNParamsToCanonical", ParamsToCanonical)
    .From("CudnnRNNParamsToCanonicalV2", ParamsToCanonical);
X2IR_TF(identity).From("CudnnRNNParamsSize", ParamsSize);

}  // namespace x2ir
