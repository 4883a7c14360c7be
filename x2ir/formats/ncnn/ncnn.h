// Reads networks of ncnn: a graph as text ("net.param") or binary ("net.param.bin"), and its
// weights
// ("net.bin"). Layers are copied as dialect "ncnn": the operands of a node are the layer's bottoms,
// then its weights as flat lists; an attribute is a parameter under its number. ncnn's blobs have
// no batch: here a batch of 1 is added before their axes. Source: Tencent/ncnn, net.cpp,
// paramdict.cpp, modelbin.cpp and the layers' load_model.
#ifndef X2IR_FORMATS_NCNN_NCNN_H_
#define X2IR_FORMATS_NCNN_NCNN_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/model_files.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace ncnn {
inline constexpr char kDialect[] = "ncnn";
// An attribute of every node: how many of its operands are bottoms.
inline constexpr char kBottoms[] = "x2ir.bottoms";
// And of those of binary graphs, where a number may be the bits of a float.
inline constexpr char kBits[] = "x2ir.bits";

// A layer's parameters by their numbers.
class Params {
 public:
  bool bits = false;  // numbers are as they lie in a binary file
  std::map<int64_t, Attribute> values{};

  int64_t Int(int64_t id, int64_t fallback) const;
};
struct Layer {
  std::string type, name;
  std::vector<std::string> bottoms{}, tops{};
  Params params{};
};
// A part of a layer's weights: so many numbers, which a tag may say to be of another type.
struct WeightPart {
  std::string name;
  int64_t count = 0;
  bool tagged = false;
};

// DataLoss or InvalidArgument for files that are not a graph; for text with the line.
absl::StatusOr<std::vector<Layer>> ParseParam(std::string_view text);
absl::StatusOr<std::vector<Layer>> ParseBinaryParam(std::string_view bytes);
bool LooksLikeParam(std::string_view head);
bool LooksLikeBinaryParam(std::string_view head);
// What a layer loads, in order. Unimplemented for one that is not known to have no weights.
absl::StatusOr<std::vector<WeightPart>> WeightsOf(const Layer& layer);
// The layer's type in a binary graph; empty: none of ncnn's own.
std::string_view TypeOfNumber(int64_t number);
bool IsKnownType(std::string_view type);

// "net.param" with "net.bin"; "net.param.bin" with "net.bin".
const ModelFileNames& NcnnFileNames();
}  // namespace ncnn

struct NcnnOptions {
  std::string params{};  // the file of weights; empty: the one beside the graph
};

// Blobs that no layer uses are outputs. InvalidArgument or DataLoss for files that are broken or of
// another format; NotFound as of OpenModelFiles; an option error about "params" where there are no
// weights.
absl::StatusOr<Model> ReadNcnn(const Source& source, const NcnnOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_FORMATS_NCNN_NCNN_H_
