// Parts of the reader of TensorFlow.js.
#ifndef X2IR_FORMATS_TFJS_TFJS_INTERNAL_H_
#define X2IR_FORMATS_TFJS_TFJS_INTERNAL_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/keras/json_tree.h"
#include "x2ir/formats/keras/network.h"

namespace x2ir::tfjs {

// A file of weights, by its name in the manifest.
using OpenShard = std::function<absl::StatusOr<BlobPtr>(const std::string& name)>;

// All weights of a manifest, in its order.
absl::StatusOr<std::vector<keras::StoredWeight>> ReadManifest(const keras::Json& manifest,
                                                              const OpenShard& open);

// A GraphDef as JSON in protobuf's wire form. Constants of these names become placeholders.
absl::StatusOr<std::string> GraphToWire(const keras::Json& graph,
                                        const std::set<std::string>& weights);

}  // namespace x2ir::tfjs

#endif  // X2IR_FORMATS_TFJS_TFJS_INTERNAL_H_
