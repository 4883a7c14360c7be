// Reads and writes models of Keras. Read are whole models in HDF5 (Keras 1, 2, tf.keras), Keras 3's
// ".keras" archives, and architectures as JSON with a file of weights; written are archives of
// Keras 3. Nodes are of dialect "keras":
//
//   a call of a layer       a node of the layer's class, named like the layer; its configuration as
//                           attributes (what is nested is JSON, null is left out)
//   its operands            tensors that it is called with, those it is given by name, its weights
//   nested models           their layers in the place of each call, as "outer/inner"
//   a shared layer          a node for each call, of the same weights
//   Bidirectional           two nodes and one that merges them
//   TimeDistributed         the layer between "TimeDistributed/fold" and "TimeDistributed/unfold"
//   RNN of cells            a node of the layer that has the cell ("LSTM"), one for each cell
//   a function              a node of its name ("tf.math.add", "ops.Add"), its arguments as JSON
//   TensorFlowOpLayer       its operator, the operator's attributes and constants as JSON
//
// Keras 1 is brought to Keras 2 as Keras 2 itself does it: names of classes and of what they are
// configured by, and gates of recurrent layers as one weight.
#ifndef X2IR_FORMATS_KERAS_KERAS_H_
#define X2IR_FORMATS_KERAS_KERAS_H_

#include <string>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace keras {
inline constexpr char kDialect[] = "keras";
// Attributes that are not of the configuration. How many operands are tensors that the layer is
// called with; the names of those that follow; how many of the next are weights. Masks follow last:
// of which of the first operands they are.
inline constexpr char kCallInputs[] = "call.inputs";
inline constexpr char kCallNames[] = "call.names";
inline constexpr char kCallWeights[] = "call.weights";
inline constexpr char kCallMasks[] = "call.masks";
// Of recurrent layers: results of all steps are the other way round than they were made. The
// version of Keras.
inline constexpr char kReverseOutput[] = "call.reverse_output";
inline constexpr char kVersion[] = "call.keras";
// Of functions: {"args": [..], "kwargs": {..}}, where {"tensor": i} is the i-th operand.
inline constexpr char kCallArguments[] = "call.arguments";
// Of TensorFlowOpLayer: the operator, how many operands it has, those that are constants
// ({"1": [0, 2, 1]}), and before the names of its attributes.
inline constexpr char kTfOp[] = "node.op", kTfOperands[] = "node.operands";
inline constexpr char kTfConstants[] = "node.constants", kTfAttrPrefix[] = "node.attr.";
// Begins the attributes that are arguments of a call, such as that of attention.
inline constexpr char kCallPrefix[] = "call.";
inline constexpr char kCausalMask[] = "call.use_causal_mask";
// Before and after the layer that is applied to each step.
inline constexpr char kFold[] = "TimeDistributed/fold", kUnfold[] = "TimeDistributed/unfold";
}  // namespace keras

struct KerasOptions {
  std::string params{};  // the file of weights; empty: the model's own, or one beside it
};

// The version of the graph's opset is Keras's (1, 2 or 3). InvalidArgument or DataLoss for files
// that are broken or of another format; NotFound for a file of weights that was asked for.
absl::StatusOr<Model> ReadKeras(const Source& source, const KerasOptions& options = {});

// Writes an archive of Keras 3: a Functional model of one call of each layer. Nodes are layers with
// constants as weights, and operations ("ops.Add"); other constants are written into the
// configuration. FailedPrecondition names all that an archive cannot hold.
absl::Status WriteKeras(const Model& model, const Sink& sink);

// Whether a text begins as the architecture of a model.
bool LooksLikeKerasJson(std::string_view head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_KERAS_KERAS_H_
