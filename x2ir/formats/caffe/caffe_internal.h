// What the reader of Caffe's networks is made of.
#ifndef X2IR_FORMATS_CAFFE_CAFFE_INTERNAL_H_
#define X2IR_FORMATS_CAFFE_CAFFE_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/caffe/caffe.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {
namespace caffe {

// --- Messages ------------------------------------------------------------------------------------

const ProtoMessage& NetMessage();
const ProtoMessage& LayerMessage();
const ProtoMessage& V1LayerMessage();
const ProtoMessage& V0LayerMessage();

// Says in which states of a network a layer is there.
struct StateRule {
  std::optional<int64_t> phase, min_level, max_level;
  std::vector<std::string> stages, not_stages;
};
struct NetState {
  int64_t phase = 1;  // TEST
  int64_t level = 0;
  std::vector<std::string> stages;
};

struct LayerDesc {
  std::string name, type;  // type: as of today, "Convolution"
  std::vector<std::string> bottoms, tops;
  std::vector<StateRule> include, exclude;
  std::optional<int64_t> phase;
  std::vector<std::pair<std::string, Attribute>> attrs;  // "convolution_param.pad"
  std::vector<std::vector<int64_t>> shapes;              // of input_param and dummy_data_param
  std::vector<Tensor> blobs;

  const Attribute* Find(std::string_view attr) const;
};

struct NetDesc {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::vector<int64_t>> input_shapes;
  std::vector<int64_t> input_dims;  // four an input
  NetState state;
  std::vector<LayerDesc> layers;
};

// The network of a definition (text); of its layers' weights, those that it holds itself.
absl::StatusOr<NetDesc> ReadDefinition(const BlobPtr& text);
// The names and weights of a binary file's layers, which are views of it.
absl::StatusOr<std::vector<LayerDesc>> ReadWeights(const BlobPtr& file);
// One tensor in a file of its own (.binaryproto).
absl::StatusOr<Tensor> ReadBlobFile(const BlobPtr& file);

// --- Versions ------------------------------------------------------------------------------------

// The current layer type of a number of V1's enum, or of a word of V0; empty if there is none.
std::string_view TypeOfV1(int64_t number);
std::string_view TypeOfV0(std::string_view word);
// Where a field of V0's one message of parameters is today for a layer of that (new) type, as
// "convolution_param.pad"; empty where it has no meaning.
std::string V0FieldOf(std::string_view type, std::string_view field);
// Layers of V0 that only pad become the pads of the layers after them.
absl::Status MergePaddings(std::vector<LayerDesc>* layers);

}  // namespace caffe
}  // namespace x2ir

#endif  // X2IR_FORMATS_CAFFE_CAFFE_INTERNAL_H_
