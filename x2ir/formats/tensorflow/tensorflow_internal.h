// What the parts of the TensorFlow reader share: the numbers of the fields that are read, and
// messages as they are in the file.
#ifndef X2IR_FORMATS_TENSORFLOW_TENSORFLOW_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_TENSORFLOW_INTERNAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/proto_text.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace x2ir::tf_format {

#include "x2ir_tensorflow_fields.inc"

inline constexpr std::string_view kDialect = "tf";
// Numbers of types above this one are references to variables of the type below.
inline constexpr int64_t kRefOffset = 100;

// DataType by name ("DT_FLOAT"), with references.
std::optional<int64_t> TypeNumber(std::string_view name);
// The element type; kUndefined for types that x2ir does not have (resource, variant, quantized,
// ...).
DType ToDType(int64_t type);
// The other way; 0 for types that TensorFlow does not have, or not in these bytes.
int64_t NumberOfDType(DType dtype);
// "DT_RESOURCE", for messages.
std::string TypeName(int64_t type);
// An attribute's type: that of a tensor, or an opaque one.
Type ToType(int64_t type);

const ProtoMessage& GraphMessage();
// Messages in text form as the same message in wire form. `root`: "GraphDef", "SavedModel".
absl::StatusOr<std::string> TextToWire(std::string_view text, std::string_view root);
// The same the other way, given to `put` piece by piece.
absl::Status WireToText(std::string_view wire, std::string_view root, const ProtoPut& put);
// Which of the two it is; "" when it is none.
std::string_view TextRoot(std::string_view head);

// What a file may claim without having it.
struct Budget {
  int64_t repeated = int64_t{256} << 20;  // bytes of tensors whose last value fills the rest
  int64_t nodes = 1 << 20;                // of function bodies that are written out
  int64_t looks = 1 << 26;                // at functions, for what they change
};

// Where the bytes that are read come from.
struct Source {
  std::string_view bytes;
  BlobPtr file;  // perhaps in memory
  std::shared_ptr<Budget> budget = std::make_shared<Budget>();
  const char* origin() const { return bytes.data(); }
  WireReader Fields(std::string_view message) const { return {message, origin()}; }
};

// An entry of a map: the key, and the value's bytes.
using Entry = std::pair<std::string_view, std::string_view>;
absl::StatusOr<Entry> ReadEntry(const Source& source, std::string_view bytes);
// TensorShapeProto: nullopt when the rank is not known.
absl::StatusOr<std::optional<Shape>> ReadShape(const Source& source, std::string_view bytes);
// A TensorProto as it lies there: the values that are given, of which the last one fills what is
// left of `dims` when it `repeats`.
struct TensorProto {
  DType dtype;
  std::vector<int64_t> dims;
  int64_t count;
  Tensor values;  // rank 1
  bool repeats;
};
absl::StatusOr<TensorProto> ReadTensorProto(const Source& source, std::string_view bytes);
// The same written out, within the budget (Unimplemented).
absl::StatusOr<Tensor> ReadTensor(const Source& source, std::string_view bytes);

// AttrValue. Functions are names (strings); `function` says so. A reference to an attribute of
// the enclosing function is its name in `placeholder`.
struct AttrProto {
  Attribute value;
  bool function = false;
  std::string_view placeholder;
};
absl::StatusOr<AttrProto> ReadAttr(const Source& source, std::string_view bytes);

struct NodeProto {
  std::string_view name, op;
  std::vector<std::string_view> inputs;
  std::vector<std::pair<std::string_view, std::string_view>> attrs;  // name, AttrValue

  std::string_view attr(std::string_view key) const;
};
absl::Status ReadNodeProto(const Source& source, std::string_view bytes, NodeProto* node);
struct ArgProto {
  std::string_view name;
  int64_t type = 0;
  bool is_list = false;
};
struct FunctionProto {
  std::string_view name;
  std::vector<ArgProto> inputs, outputs;
  std::vector<std::pair<std::string_view, std::string_view>> attrs;  // name, kind ("type")
  std::vector<NodeProto> nodes;
  std::vector<std::pair<std::string_view, std::string_view>> rets;  // output, "node:arg:i"
  std::vector<std::string_view> control_rets;                       // nodes
};
struct GraphProto {
  std::vector<NodeProto> nodes;
  std::vector<FunctionProto> functions;
  int64_t producer = 0;
};
absl::Status ReadGraphProto(const Source& source, std::string_view bytes, GraphProto* out);

// The op's output arguments where it has several: their names, in order. Only the last one may
// be a list. Empty for ops that have one, and for those that are not known.
struct OutputArgs {
  std::string_view op;
  std::vector<std::string_view> names;
  int results = 1;  // the number of results for callers that request all
};
const OutputArgs* FindOutputArgs(std::string_view op);
// How many outputs the node's list output has, as its attributes say; nullopt: it has none.
std::optional<int64_t> ListOutputs(const Source& source, const NodeProto& node);
// Whether the op changes a variable or another resource.
bool ChangesState(std::string_view op);

// --- SavedModels --------------------------------------------------------------------------------

// What a SavedModel calls its version whose signatures have their inputs and outputs in order.
inline constexpr std::string_view kOrderedVersion = "x2ir-1";

// Annotations of graphs: the names of the signature that was read, and of others with the same
// inputs and outputs, one a line; not where it is kDefaultSignature alone.
inline constexpr char kSignaturesNote[] = "tensorflow.signatures";
inline constexpr std::string_view kDefaultSignature = "serving_default";
// Of inputs that the signature calls like an output, which has the name in the graph: the input's
// name there, and on a second line that in the signature. An input that was renamed has that name.
inline constexpr char kInputNameNote[] = "tensorflow.input_name";
std::string NameInSignature(const Value& input);

// One tensor of a signature: how it is called there, and which tensor of the graph it is.
struct PortProto {
  std::string_view name, tensor;
  int64_t type = 0;
  std::optional<Shape> shape;
};
struct SignatureProto {
  std::string_view name;
  std::vector<PortProto> inputs, outputs;
};
struct SavedModelProto {
  std::string_view graph;  // GraphDef
  std::vector<SignatureProto> signatures;
  std::vector<std::string_view> tags;
  std::string tensorflow_version;
  // What restores the variables: the tensor with the checkpoint's name, and the node to run.
  std::string_view checkpoint_name, restore_op;
  std::vector<std::pair<std::string_view, std::string_view>> assets;  // "node:0", file
};
// The value of a placeholder, where it is a constant.
using ValueElsewhere =
    std::function<absl::StatusOr<std::optional<Tensor>>(std::string_view name, DType dtype)>;
// A GraphDef of another format's files, in wire form. `signature`: its inputs and outputs, or null.
absl::StatusOr<Model> ReadGraphDef(std::string wire, const SignatureProto* signature,
                                   const std::vector<std::string>& outputs,
                                   const ValueElsewhere& elsewhere);

// The graph of a SavedModel that has these tags ("serve,gpu"); without any, the one to serve.
absl::StatusOr<SavedModelProto> ReadSavedModelProto(const Source& source, std::string_view tags);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_TENSORFLOW_INTERNAL_H_
