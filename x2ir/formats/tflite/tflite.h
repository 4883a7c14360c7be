// TFLite files (LiteRT), read naively: FlatBuffers with the identifier TFL3. Nodes are copied as
// the file has them, in dialect "tflite" (schema.h), with nothing understood:
//
//   tensor                a value of its name; those that no node makes and that have bytes are
//                         constants, which stay mapped; sparse ones are made dense
//   variable tensor       a constant of zeros, which is what a state is before the first call
//   shape_signature       sizes of inputs that may vary: symbols "<input>_<axis>"
//   quantization          an annotation of the value (quantization.h)
//   operator              a node; "custom::NAME" where it is a custom one, whose options are
//                         attributes where they are a map of FlexBuffers, else the string
//                         custom_options; FLEX with the attribute op and those of TensorFlow's node
//                         where it is one of TensorFlow's
//                         (custom_version: where it is of a version from 2)
//   intermediates         attributes intermediate_scales (0: none) and intermediate_zero_points
//   subgraph              a nested graph of the node that runs it; a copy for each node
//   signature             names in annotations of inputs and outputs: tflite.signature_name
//   metadata              annotations of the model: "tflite.metadata.NAME"
//
// Only the subgraph that is wanted is read, and those that it runs.
#ifndef X2IR_FORMATS_TFLITE_TFLITE_H_
#define X2IR_FORMATS_TFLITE_TFLITE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace tflite {
// Annotations of constants: of a tensor that was variable, and of one that is to be.
inline constexpr char kVariable[] = "tflite.variable", kState[] = "tflite.state";
// The attribute of a custom operator of a later version than the first.
inline constexpr char kCustomVersion[] = "custom_version";
}  // namespace tflite

struct TfliteOptions {
  std::string signature{};  // which one; empty: the first subgraph
  bool dequantize = false;  // the model is marked so: import makes the float network of it
};

// Errors: DataLoss where the bytes are no such file, InvalidArgument where the model makes no
// sense, NotFound for missing files.
absl::StatusOr<Model> ReadTflite(const Source& source, const TfliteOptions& options = {});

// Writes a graph of dialect "tflite", whose values all have types. Equal constants are written
// once; their bytes are moved from the files that they are mapped from. FailedPrecondition for what
// no file can hold.
absl::Status WriteTflite(const Model& model, const Sink& sink);

bool LooksLikeTflite(absl::Span<const std::byte> head);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TFLITE_TFLITE_H_
