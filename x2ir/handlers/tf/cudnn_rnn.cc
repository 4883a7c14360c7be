// TensorFlow: recurrent networks as cuDNN runs them, and their parameters by themselves.
#include <string>
#include <vector>

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

absl::StatusOr<CudnnNet> TakeNet(TfArgs& a) {
  const std::string mode = a.String("rnn_mode", "lstm");
  const std::string input = a.String("input_mode", "linear_input");
  const std::string direction = a.String("direction", "unidirectional");
  const CudnnNet net = {.cell = CudnnCell(mode),
                        .directions = direction == "bidirectional" ? 2 : 1};
  if (!net.cell) return Invalid("rnn_mode '", mode, "'");
  if (net.directions == 1 && direction != "unidirectional") {
    return Invalid("direction '", direction, "'");
  }
  // Without matrices of the input; IR has no layer of that kind.
  if (input != "linear_input") return Unimplemented("input_mode '", input, "'");
  if (a.Int("num_proj", 0) != 0) return Unimplemented("a projection of the state");
  for (const char* name : {"seed", "seed2"}) a.Ignore(name);
  return net;
}

absl::StatusOr<Values> CudnnRnn(TfArgs& a, bool v3) {
  X2IR_ASSIGN_OR_RETURN(const CudnnNet net, TakeNet(a));
  const bool time_major = !v3 || a.Bool("time_major", true);
  const float dropout = a.Float("dropout", 0);
  a.Require(!a.Bool("is_training", true) || dropout == 0, "dropout of a training");
  RecurrentLayer in{.cell = *net.cell, .x = a.in(0), .w = a.in(3), .h = a.in(1)};
  if (net.cell->lstm()) in.c = a.in(2);
  if (v3) in.lengths = a.Cast(a.in(4), DType::kInt32);
  X2IR_ASSIGN_OR_RETURN(Values results, RunCudnn(a, net, in, time_major));
  results.resize(5);  // what cuDNN keeps for training has no counterpart
  return results;
}

// --- The buffer by itself -----------------------------------------------------------------------

absl::StatusOr<CudnnNet> KnownNet(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(CudnnNet net, TakeNet(a));
  a.Ignore("dropout");
  X2IR_ASSIGN_OR_RETURN(net.layers, a.KnownInt(0, "num_layers"));
  X2IR_ASSIGN_OR_RETURN(net.units, a.KnownInt(1, "num_units"));
  X2IR_ASSIGN_OR_RETURN(net.features, a.KnownInt(2, "input_size"));
  X2IR_RETURN_IF_ERROR(CheckSizes(net));
  return net;
}

absl::StatusOr<Value*> ParamsSize(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const CudnnNet net, KnownNet(a));
  const DType dtype = a.Type("S", DType::kInt32);
  return a.Op("identity", {a.Cast(Ints(a, {net.matrices() + net.biases()}), dtype)});
}

absl::StatusOr<Value*> CanonicalToParams(TfArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const CudnnNet net, KnownNet(a));
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
  X2IR_ASSIGN_OR_RETURN(const CudnnNet net, KnownNet(a));
  for (const char* name : {"num_params", "num_params_weights", "num_params_biases"}) {
    a.Ignore(name);
  }
  X2IR_RETURN_IF_ERROR(CheckBuffer(net, a.in(3), 3));
  CudnnParams params(a.in(3), 0);
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
X2IR_TF(concat).From({{"CudnnRNNCanonicalToParams", CanonicalToParams},
                      {"CudnnRNNCanonicalToParamsV2", CanonicalToParams}});
X2IR_TF(slice).From({{"CudnnRNNParamsToCanonical", ParamsToCanonical},
                     {"CudnnRNNParamsToCanonicalV2", ParamsToCanonical}});
X2IR_TF(identity).From("CudnnRNNParamsSize", ParamsSize);

}  // namespace x2ir
