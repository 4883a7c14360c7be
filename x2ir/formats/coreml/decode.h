// A message of Core ML as attributes, by the table of its fields (facts/coreml-proto-fields.json).
// A field is an attribute of its path ("valid.paddingAmounts.borderAmounts.startEdgeSize"):
//
//   numbers of any width, bools   an int, or ints
//   float, double                 a float, a double; several: floats, a float64 tensor
//   string, bytes                 a string, strings
//   enum                          its name ("AVERAGE"); "#7" for a number without one
//   message                       its fields under its path; one without fields set is an int, 1
//   messages                      of plain fields: a list for each of their fields, one entry for
//                                 each message; what is a list already has its lengths in
//                                 "PATH#". Others: each under "PATH.INDEX"
//   WeightParams                  no attribute but a tensor, under its path
#ifndef X2IR_FORMATS_COREML_DECODE_H_
#define X2IR_FORMATS_COREML_DECODE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {
namespace coreml {

struct Decoded {
  AttributeMap attrs;
  std::vector<std::pair<std::string, Tensor>> weights;             // rank 1
  std::vector<std::pair<std::string, std::string_view>> networks;  // nested ones, by their paths
};

const ProtoMessage& ModelMessage();
const ProtoMessage& NeuralNetworkLayerMessage();
// `bytes` lie in `file`; weights stay there where they can.
absl::StatusOr<Decoded> DecodeMessage(std::string_view bytes, const ProtoMessage& message,
                                      const BlobPtr& file);

// WeightParams: float32 or float16, of rank 1. Quantized ones are unpacked: linear steps as
// float32, one pair of scale and bias for all or for each of as many equal parts.
// `inner`: if it is not 0, the parts are those of the second axis, and `inner` is the number of
// elements of the axes after it.
absl::StatusOr<Tensor> DecodeWeights(std::string_view bytes, const BlobPtr& file, size_t inner = 0);

}  // namespace coreml
}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_DECODE_H_
