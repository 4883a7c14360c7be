// What the parts of the TensorFlow reader share: the numbers of the fields that are read, and
// messages as they are in the file.
#ifndef X2IR_FORMATS_TENSORFLOW_TENSORFLOW_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_TENSORFLOW_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace x2ir::tf_format {

namespace entry_field {
enum : uint32_t { kKey = 1, kValue = 2 };
}
namespace graph_field {
enum : uint32_t { kNode = 1, kLibrary = 2, kVersion = 3, kVersions = 4 };
}
namespace versions_field {
enum : uint32_t { kProducer = 1 };
}
namespace library_field {
enum : uint32_t { kFunction = 1 };
}
namespace node_field {
enum : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5 };
}
namespace function_field {
enum : uint32_t { kSignature = 1, kNode = 3, kRet = 4, kControlRet = 6 };
}
namespace op_field {
enum : uint32_t { kName = 1, kInputArg = 2, kOutputArg = 3, kAttr = 4 };
}
namespace arg_field {
enum : uint32_t { kName = 1, kType = 3, kTypeAttr = 4, kNumberAttr = 5, kTypeListAttr = 6 };
}
namespace op_attr_field {
enum : uint32_t { kName = 1, kType = 2, kDefault = 3 };
}
namespace attr_field {  // of AttrValue, and of its ListValue
enum : uint32_t {
  kList = 1,
  kS = 2,
  kI = 3,
  kF = 4,
  kB = 5,
  kType = 6,
  kShape = 7,
  kTensor = 8,
  kPlaceholder = 9,
  kFunc = 10,
  kListFunc = 9,
};
}
namespace func_field {  // NameAttrList
enum : uint32_t { kName = 1, kAttr = 2 };
}
namespace shape_field {
enum : uint32_t { kDim = 2, kUnknownRank = 3, kDimSize = 1 };
}
namespace tensor_field {
enum : uint32_t {
  kDType = 1,
  kShape = 2,
  kContent = 4,
  kFloat = 5,
  kDouble = 6,
  kInt = 7,
  kString = 8,
  kComplex64 = 9,
  kInt64 = 10,
  kBool = 11,
  kComplex128 = 12,
  kHalf = 13,
  kUInt32 = 16,
  kUInt64 = 17,
};
}
namespace saved_model_field {
enum : uint32_t { kSchemaVersion = 1, kMetaGraph = 2 };
}
namespace meta_graph_field {
enum : uint32_t { kMetaInfo = 1, kGraph = 2, kSaver = 3, kSignature = 5, kAsset = 6 };
}
namespace saver_field {
enum : uint32_t { kFileName = 1, kRestoreOp = 3 };
}
namespace meta_info_field {
enum : uint32_t { kTags = 4, kTensorFlowVersion = 5 };
}
namespace signature_field {
enum : uint32_t { kInputs = 1, kOutputs = 2 };
}
namespace tensor_info_field {
enum : uint32_t { kName = 1, kDType = 2, kShape = 3 };
}
namespace asset_field {  // AssetFileDef
enum : uint32_t { kTensor = 1, kFile = 2 };
}
namespace bundle_field {  // BundleHeaderProto; BundleEntryProto
enum : uint32_t {
  kShards = 1,
  kEndianness = 2,
  kDType = 1,
  kShape = 2,
  kShard = 3,
  kOffset = 4,
  kSize = 5,
  kCrc = 6,
  kSlices = 7,
};
}
namespace slice_field {  // TensorSliceProto and its extents
enum : uint32_t { kExtent = 1, kStart = 1, kLength = 2 };
}
namespace object_graph_field {  // TrackableObjectGraph, its nodes and their attributes
enum : uint32_t { kNodes = 1, kAttributes = 2, kFullName = 2, kCheckpointKey = 3 };
}

inline constexpr std::string_view kDialect = "tf";
// Numbers of types above this one are references to variables of the type below.
inline constexpr int64_t kRefOffset = 100;

// DataType by name ("DT_FLOAT"), with references.
std::optional<int64_t> TypeNumber(std::string_view name);
// The element type; kUndefined for types that x2ir does not have (resource, variant, quantized,
// ...).
DType ToDType(int64_t type);
// "DT_RESOURCE", for messages.
std::string TypeName(int64_t type);
// An attribute's type: that of a tensor, or an opaque one.
Type ToType(int64_t type);

// Messages in text form as the same message in wire form. `root`: "GraphDef", "SavedModel".
absl::StatusOr<std::string> TextToWire(std::string_view text, std::string_view root);
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
// The graph of a SavedModel that has these tags ("serve,gpu"); without any, the one to serve.
absl::StatusOr<SavedModelProto> ReadSavedModelProto(const Source& source, std::string_view tags);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_TENSORFLOW_INTERNAL_H_
