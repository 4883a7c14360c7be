// What the readers of all kinds of models share.
#ifndef X2IR_FORMATS_COREML_READER_INTERNAL_H_
#define X2IR_FORMATS_COREML_READER_INTERNAL_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/coreml/decode.h"
#include "x2ir/formats/coreml/fields_internal.h"
#include "x2ir/formats/coreml/mil_ops.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace coreml {

// The model's file, and how files beside it are opened.
class ModelFiles {
 public:
  static absl::StatusOr<ModelFiles> Find(const Source& source);
  const BlobPtr& model() const { return model_; }
  // A file as the model names it: "@model_path/weights/weight.bin". Opened once.
  absl::StatusOr<BlobPtr> Open(std::string_view name);

 private:
  explicit ModelFiles(const Source& source) : source_(source) {}

  const Source& source_;
  BlobPtr model_;
  std::string folder_;  // where it lies in a package; empty: no package
  StringMap<BlobPtr> opened_;
};

// --- Descriptions
// ---------------------------------------------------------------------------------

enum class FeatureKind : uint8_t {
  kNone,
  kInt,
  kDouble,
  kString,
  kImage,
  kArray,
  kDictionary,
  kOther
};

struct Feature {
  std::string name;
  FeatureKind kind = FeatureKind::kNone;
  DType dtype = DType::kFloat32;
  std::vector<Dim> dims;  // of arrays as they are described; of images [channels, height, width]
  bool has_dims = false;
  bool optional = false;
  std::string layout;     // of images: kImage
  bool int_keys = false;  // of dictionaries
  bool is_state = false;
  std::string kind_name;  // of kOther, for messages
};

struct Description {
  std::vector<Feature> inputs, outputs, states;
  std::string label, probabilities;  // names of a classifier's outputs
  // What the writer left under "x2ir.port.NAME": the name and type before it was written.
  std::map<std::string, std::string> ports;
};

// Values by the names that they have in the file.
using Scope = absl::flat_hash_map<std::string, Value*>;

// A node of the dialect with one result.
Value* AddNode(Graph& graph, std::string_view op, const std::vector<Value*>& operands,
               AttributeMap attrs, std::string_view result);
// Says of an input that it is an image, where it is one.
void NoteImage(Value* input, const Feature& feature);
// A cast in the dialect; the value itself where it is of that type.
Value* CastTo(Graph& graph, Value* value, DType dtype, std::string_view name);

// --- Programs and networks
// ------------------------------------------------------------------------

// Adds the function of an ML Program to the graph. `inputs` are declared by it; what `description`
// says is their order. Results are in the scope.
absl::Status ReadProgram(std::string_view bytes, ModelFiles& files, const std::string& function,
                         const Description& description, Graph& graph, Scope* scope);

// Adds the layers of a network to the graph; inputs are in the scope, as are all blobs afterwards.
absl::Status ReadNetwork(std::string_view bytes, const BlobPtr& file,
                         const Description& description, bool raw_images, Graph& graph,
                         Scope* scope);
// The fields of a network that are not its layers: what a classifier's labels are.
struct NetworkLabels {
  std::vector<std::string> strings;
  std::vector<int64_t> ints;
  std::string probabilities;
};
absl::StatusOr<NetworkLabels> ReadLabels(std::string_view bytes, const char* origin);

// How arrays are laid out in a network.
struct NetworkShape {
  bool exact_arrays = false, rank4_images = false;
};
absl::StatusOr<NetworkShape> ReadNetworkShape(std::string_view bytes, const char* origin);

// Weights of ML Programs that are stored compressed, as they are meant: a tensor for each result.
// nullopt: the operation is none of these, or is one that stays a node.
struct Constexpr {
  std::string_view op;
  std::function<const Tensor*(std::string_view)> argument;  // null: it is left out
};
absl::StatusOr<std::optional<std::vector<Tensor>>> Decompress(const Constexpr& constexpr_op);

// Numbers of `bits` bits as bytes of a uint8 tensor, the first in the lowest bits.
absl::StatusOr<Tensor> UnpackLowFirst(absl::Span<const std::byte> bytes, int bits,
                                      std::vector<int64_t> dims);

}  // namespace coreml
}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_READER_INTERNAL_H_
