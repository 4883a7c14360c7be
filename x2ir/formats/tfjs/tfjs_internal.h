// Parts of the reader of TensorFlow.js.
#ifndef X2IR_FORMATS_TFJS_TFJS_INTERNAL_H_
#define X2IR_FORMATS_TFJS_TFJS_INTERNAL_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/formats/keras/network.h"

namespace x2ir::tfjs {

// A file of weights, by its name in the manifest.
using OpenShard = std::function<absl::StatusOr<BlobPtr>(const std::string& name)>;

// All weights of a manifest, in its order.
absl::StatusOr<std::vector<keras::StoredWeight>> ReadManifest(const Json& manifest,
                                                              const OpenShard& open);

// A weight as a graph says it: files have int64 as int32, and float64 and float16 as float32.
// InvalidArgument for other types.
absl::StatusOr<Tensor> OfType(const Tensor& weight, DType dtype);

// What a graph model says of its inputs and outputs; null if nothing.
const Json& SignatureOf(const Json& model);
// The tensor of the graph that a port of a signature is: "node:0".
std::string PortTensor(const std::string& name, const Json& port);

// The graph of a model as a GraphDef in protobuf's wire form, with what its initializer does to
// fill tables. Constants whose elements the manifest has become placeholders of the same name;
// those in functions and of the initializer, which can be none, have their elements.
absl::StatusOr<std::string> GraphToWire(const Json& model,
                                        const std::vector<keras::StoredWeight>& weights);

}  // namespace x2ir::tfjs

#endif  // X2IR_FORMATS_TFJS_TFJS_INTERNAL_H_
