// Reads networks of Caffe2: two nets as protobufs, binary or text: "predict_net.pb", which
// computes, and "init_net.pb", which fills its weights. Operators are copied as dialect "caffe2",
// arguments as attributes, nets in arguments as nested graphs; operators that fill a blob with
// given numbers are constants. Source: caffe2.proto.
#ifndef X2IR_FORMATS_CAFFE2_CAFFE2_H_
#define X2IR_FORMATS_CAFFE2_CAFFE2_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/model_files.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/model.h"

namespace X2IR_API x2ir {

namespace caffe2 {
inline constexpr char kDialect[] = "caffe2";

struct NetArgument;
struct OperatorDesc {
  std::string type, name;
  std::vector<std::string> inputs{}, outputs{};
  std::vector<std::pair<std::string, Attribute>> args{};
  std::vector<NetArgument> nets;
  std::vector<std::string> other_args{};  // those that are tensors or lists of nets

  const Attribute* Find(std::string_view arg) const;
};
struct NetDesc {
  std::string name;
  std::vector<OperatorDesc> ops{};
  std::vector<std::string> inputs{}, outputs{};
};
struct NetArgument {
  std::string name;
  NetDesc net;
};
// Of either form. DataLoss or InvalidArgument for other files. Long "values" are a tensor.
absl::StatusOr<NetDesc> ReadNet(const BlobPtr& file);
bool LooksLikeNetText(std::string_view head);
bool LooksLikeNet(std::string_view head);
// The tensor that an operator fills its only result with; of "Int8Given..." the integers. No value:
// the operator does not fill, or not with given numbers.
absl::StatusOr<std::optional<Tensor>> FilledBy(const OperatorDesc& op);

// "predict_net.pb" with "init_net.pb", also with a common prefix, or as ".pbtxt".
const ModelFileNames& Caffe2FileNames();
}  // namespace caffe2

struct Caffe2Options {
  std::string params{};  // the net that fills weights; empty: the one beside the other
};

// Inputs are what neither net makes; where init_net fills all, the first one that an operator reads
// as its own first operand. InvalidArgument or DataLoss for files that are broken or of another
// format; NotFound as of OpenModelFiles.
absl::StatusOr<Model> ReadCaffe2(const Source& source, const Caffe2Options& options = {});

}  // namespace x2ir

#endif  // X2IR_FORMATS_CAFFE2_CAFFE2_H_
