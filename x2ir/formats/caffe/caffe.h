// Reads networks of Caffe: a definition as text ("deploy.prototxt") and its weights
// ("net.caffemodel"). Layers are copied as dialect "caffe": the operands of a node are the layer's
// bottoms, then its weights; an attribute is a field of the layer's parameters, under the names of
// both ("convolution_param.kernel_size").
//
// What the file's age and phase change is settled here: layers of the versions V0 and V1 are
// upgraded, layers for training only are removed, and a blob that layers compute in place is a
// value of each of them. Source: BVLC's caffe.proto, net.cpp and upgrade_proto.cpp.
#ifndef X2IR_FORMATS_CAFFE_CAFFE_H_
#define X2IR_FORMATS_CAFFE_CAFFE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/model_files.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace caffe {
inline constexpr char kDialect[] = "caffe";
// An attribute of every node: how many of its operands are bottoms.
inline constexpr char kBottoms[] = "bottoms";
// "net.prototxt" with "net.caffemodel", or with the only such file of its folder.
const ModelFileNames& CaffeFileNames();
// Whether a text begins like a network's definition.
bool LooksLikeNet(std::string_view head);
}  // namespace caffe

struct CaffeOptions {
  std::string params{};  // the file of weights; empty: the one beside the definition
};

// Layers of data, and "Input", are inputs of the graph; blobs that no layer uses are its outputs,
// in the order of the file. InvalidArgument or DataLoss for files that are broken or of another
// format; NotFound as of OpenModelFiles, and where there are no weights for layers that have some.
absl::StatusOr<Model> ReadCaffe(const Source& source, const CaffeOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_FORMATS_CAFFE_CAFFE_H_
