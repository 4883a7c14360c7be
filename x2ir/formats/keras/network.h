// From the configuration of a model to a graph: what Keras's own files and those of tf.js share.
#ifndef X2IR_FORMATS_KERAS_NETWORK_H_
#define X2IR_FORMATS_KERAS_NETWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {
namespace keras {

struct StoredWeight {
  std::string name;  // "dense/kernel:0", "cell/vars/0"
  Tensor tensor;
};

// Where the weights of a layer are to be found.
struct LayerPlace {
  std::vector<std::string> names;  // of the models around it, and its own
  std::string path;                // in Keras 3's files: "layers/dense_1"
};

class WeightStore {
 public:
  virtual ~WeightStore() = default;
  // In the order in which the layer has them; none where the file has none.
  virtual absl::StatusOr<std::vector<StoredWeight>> Of(const LayerPlace& place) = 0;
  // A text that is kept beside the weights ("vocabulary.txt"); empty: there is none.
  virtual absl::StatusOr<std::string> Asset(const LayerPlace&, std::string_view) {
    return std::string();
  }
};

// Of a list of all weights, those of a layer: whose name has the layer's name as a part, and those
// of the models around it where there are more such.
std::vector<size_t> FindByName(const std::vector<std::string>& names, const LayerPlace& place);

struct NetworkSource {
  const Json& model;  // {"class_name": .., "config": ..}
  WeightStore& weights;
  int version = 2;        // of Keras: 1, 2 or 3
  std::string backend{};  // "theano": kernels of convolutions are the other way round
};
// Fills `model`: the graph, its weights' names, the opset. Unimplemented where the model is of a
// class of its own; InvalidArgument where its configuration makes no sense.
absl::Status BuildNetwork(const NetworkSource& source, Model* model);

// The element type that a configuration says, as a name or a policy ("mixed_float16"): the policy's
// name; empty: none is said.
std::string PolicyName(const Json& dtype);

// How a class of Keras 3 is called where its weights are stored ("conv2d", "max_pooling2d").
std::string StoredName(const std::string& class_name);

}  // namespace keras
}  // namespace x2ir

#endif  // X2IR_FORMATS_KERAS_NETWORK_H_
