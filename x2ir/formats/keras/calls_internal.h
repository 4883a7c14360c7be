// How layers and functions are called: the content of "inbound_nodes".
#ifndef X2IR_FORMATS_KERAS_CALLS_INTERNAL_H_
#define X2IR_FORMATS_KERAS_CALLS_INTERNAL_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace x2ir::keras {

struct TensorRef {
  std::string layer;
  int64_t call = 0, index = 0;
};
struct CallSite {
  std::vector<TensorRef> inputs;
  std::vector<std::string> keys;  // of inputs that are in a dictionary
  std::vector<std::pair<std::string, TensorRef>> named;
  AttributeMap attrs;
};

// ["layer", 0, 0] or ["layer", 0, 0, {..}], or Keras 3's object.
std::optional<TensorRef> RefOf(const Json& json);
// All that there are, those of a dictionary in the order of its keys.
void CollectRefs(const Json& json, std::vector<TensorRef>* refs);

// The calls of a layer.
std::vector<CallSite> CallSitesOf(const Json& inbound);

// The name of a class that is none of Keras's, as Keras 3 and archives of tf.keras tell them apart;
// empty for one of Keras's, and where nothing is said.
std::string CustomClassOf(const Json& entry);

// An entry of a model's layers that is a function: how its nodes are called, "tf.math.add" for one
// of TensorFlow, "ops.Add" for an operation of Keras 3; empty for a layer.
std::string FunctionOf(const Json& entry, int version);
// Its calls, with their arguments (kCallArguments).
std::vector<CallSite> FunctionCallsOf(const Json& inbound, const Json& config);

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_CALLS_INTERNAL_H_
