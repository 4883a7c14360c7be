// What the readers of both forms share.
#ifndef X2IR_FORMATS_PADDLE_PADDLE_INTERNAL_H_
#define X2IR_FORMATS_PADDLE_PADDLE_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/formats/paddle/paddle.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {
namespace paddle {

// --- Messages (facts/paddle-proto-fields.json) ---------------------------------------------------

enum VarKind : int64_t {
  kLodTensor = 7,
  kSelectedRows = 8,
  kFeedMinibatch = 9,
  kFetchList = 10,
  kLodTensorArray = 13,
  kReader = 15,
  kRaw = 17,
};

struct TensorDesc {
  int64_t data_type = -1;
  std::vector<int64_t> dims;
};

struct VarDesc {
  std::string_view name;
  int64_t kind = -1;
  TensorDesc tensor;
  int64_t lod_level = 0;
  bool persistable = false;
};

struct Slot {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

struct OpDesc {
  std::string_view type;
  std::vector<Slot> inputs, outputs;  // attributes that are variables are inputs
  std::vector<std::pair<std::string_view, Attribute>> attrs;
  std::vector<std::pair<std::string_view, int64_t>> blocks;  // attributes that are blocks
};

struct BlockDesc {
  int64_t index = 0, parent = -1;
  std::vector<VarDesc> vars;
  std::vector<OpDesc> ops;
};

struct ProgramDesc {
  std::vector<BlockDesc> blocks;
  int64_t version = 0;
  std::vector<std::pair<std::string_view, int64_t>> op_versions;
};

absl::Status ReadTensorDesc(std::string_view bytes, const char* origin, TensorDesc* desc);
// Views lie in `bytes`.
absl::StatusOr<ProgramDesc> ReadProgramDesc(std::string_view bytes);

// --- Parameters ----------------------------------------------------------------------------------

// A parameter as the program declares it; `type` is of unknown shape where it does not say one.
struct DeclaredParameter {
  std::string name;
  DType dtype = DType::kUndefined;
  std::optional<std::vector<int64_t>> dims;
};

class ModelFiles;
using Parameters = StringMap<Tensor>;
// The parameters of a model from its files: all at once in the order of their names, or one by one.
absl::StatusOr<Parameters> ReadParameters(const ModelFiles& files,
                                          std::vector<DeclaredParameter> declared);

// --- Files ---------------------------------------------------------------------------------------

// The files of a model, whichever of them was named.
class ModelFiles {
 public:
  static absl::StatusOr<ModelFiles> Find(const Source& source, const std::string& params);
  const BlobPtr& model() const { return model_; }
  const std::string& model_name() const { return model_name_; }
  // The file of all parameters; null where there is none.
  absl::StatusOr<BlobPtr> OpenCombined() const;
  // What it would be called.
  const std::string& combined_name() const { return combined_; }
  // A parameter's own file beside the model; null where there is none.
  absl::StatusOr<BlobPtr> FindParameter(const std::string& name) const;

 private:
  explicit ModelFiles(const Source& source) : source_(source) {}

  const Source& source_;
  BlobPtr model_;
  std::string model_name_, combined_;
  bool combined_is_chosen_ = false;
};

// --- Graphs --------------------------------------------------------------------------------------

// A shape as files say it: sizes of -1 are symbols.
Shape ShapeOf(const std::vector<int64_t>& dims, std::string_view name);
// The value under another name, as the operator "assign" gives it.
Value* Assigned(Graph& graph, Value* value, std::string_view name);
// An output of a nested graph that it makes itself.
void AddOwnOutput(Graph& graph, Value* value);
// Unused results are left out.
void DropUnusedResults(Graph& graph);

absl::StatusOr<Model> ReadProgram(const ModelFiles& files);
absl::StatusOr<Model> ReadPir(const ModelFiles& files);

}  // namespace paddle
}  // namespace x2ir

#endif  // X2IR_FORMATS_PADDLE_PADDLE_INTERNAL_H_
