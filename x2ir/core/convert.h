// The front door: models in, models out. No exception crosses it; every error is a status
// (docs/design.md, "Errors"). Functions are thread-safe for separate models.
//
//   X2IR_ASSIGN_OR_RETURN(Model ir, x2ir::Import("model.onnx"));
//   X2IR_RETURN_IF_ERROR(x2ir::Export(std::move(ir), "model17.onnx", {.opset = 17}));
#ifndef X2IR_CORE_CONVERT_H_
#define X2IR_CORE_CONVERT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/report.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// Which ops without a mapping may stay as foreign ops: none, those of some domains, or all.
struct ForeignPolicy {
  bool all = false;                    // --continue-on-error: also ops whose mapping failed
  std::vector<std::string> domains{};  // --allow-foreign
};

// Progress of long work: done of total nodes. Called often; must be cheap.
using ProgressFn = std::function<void(int64_t done, int64_t total)>;

struct LoadOptions {
  // Weights of an IR file or a SavedModel may lie outside of its own folder only if this says so:
  // a file from elsewhere shall not make us read what its sender may not.
  bool allow_outside = false;
  std::string model{};      // --model: which one, where a file holds several
  std::string signature{};  // --signature: of a SavedModel; empty: serving_default
  // What is wanted of a graph that does not say what its inputs and outputs are ("node:k").
  std::vector<std::string> inputs{}, outputs{};
};

// Members have initializers so that {.opset = 17} draws no warning about the others.
struct ImportOptions {
  std::string format{};  // "onnx", "ir", ...; empty: found by looking at the file
  std::vector<std::pair<std::string, Shape>> shapes{};  // --shape: input shapes, re-inferred
  std::vector<std::pair<std::string, DType>> dtypes{};  // --dtype: input element types
  std::vector<std::string> inputs{};                    // --inputs: cut the graph at these values
  std::vector<std::string> outputs{};                   // --outputs: "name" or "node:k"
  std::optional<int> opset{};                           // --opset: instead of what the file says
  bool freeze_params = true;    // initializers that are also inputs become constants
  bool keep_functions = false;  // --keep-functions: calls of local functions stay calls
  bool optimize = false;
  std::optional<std::vector<std::string>> passes{};  // instead of the default ones
  // --layout: "channels_first" or "channels_last", which the pass `layout` gives to ops that have
  // one; empty: each has its own.
  std::string layout{};
  bool allow_outside = false;        // as for Load
  std::string model{}, signature{};  // as for Load
  ForeignPolicy foreign{};
  ProgressFn progress{};
  LoadOptions Loading() const { return {allow_outside, model, signature, inputs, outputs}; }
};

struct ExportOptions {
  std::optional<int> opset{};               // default: the model's own, else 17
  std::vector<OpsetImport> extra_opsets{};  // --extra-opset: of other domains
  std::vector<std::pair<std::string, Shape>> shapes{};
  bool optimize = true;
  std::optional<std::vector<std::string>> passes{};  // instead of the default ones
  // --inputs-as-nchw, --outputs-as-nchw: inputs and outputs whose last axis becomes the second.
  std::vector<std::string> inputs_as_nchw{};
  std::vector<std::string> outputs_as_nchw{};
  // Where weights go (OnnxWriteOptions); more than `external_data_limit` bytes of them (0: no
  // limit) into several files.
  enum class External { kAuto, kAlways, kNever, kReference } external_data = External::kAuto;
  uint64_t external_data_limit = 0;
  // The result is checked against ONNX's schemas; what does not pass is not written.
  bool check = false;
  // Called by Export with the model in the target's dialect before anything is written; what it
  // returns is the export's status (another checker, say).
  std::function<absl::Status(const Model&)> before_writing{};
  // Foreign ops of the target's dialect are written as they are in any case. `all`: what cannot
  // be expressed is written too, as ops of domain "x2ir", which Import knows again.
  ForeignPolicy foreign{};
  ProgressFn progress{};
};

// Reads a model file of any format into a graph in its own dialect; understands nothing.
absl::StatusOr<Model> Load(const std::string& path, const std::string& format = "",
                           const LoadOptions& options = {});
// The name of the format a file is in, by its content: "onnx", "ir", "torch", "tensorflow".
// DataLoss if unknown.
absl::StatusOr<std::string> DetectFormat(const std::string& path);

// Load, then ToIr. An IR file comes as it is (shapes re-inferred if options say so).
// On failure `report` (may be null) says everything; the status lists it as well.
absl::StatusOr<Model> Import(const std::string& path, const ImportOptions& options = {},
                             Report* report = nullptr);
// Rewrites a model in its source dialect to IR, in place.
absl::Status ToIr(Model& model, const ImportOptions& options = {}, Report* report = nullptr);

// FromIr to "onnx", then writes the file (and its external data), atomically.
absl::Status Export(Model ir, const std::string& path, const ExportOptions& options = {},
                    Report* report = nullptr);
// Optimizes, lowers and rewrites an IR model to a dialect, in place.
absl::Status FromIr(Model& model, const std::string& dialect, const ExportOptions& options = {},
                    Report* report = nullptr);

// How IR files hold weights: copied into NAME.safetensors, or by reference to byte ranges
// of the files that they came from.
enum class Weights { kCopy, kReference };
absl::Status SaveIr(const Model& ir, const std::string& path, Weights weights = Weights::kCopy);

}  // namespace x2ir

#endif  // X2IR_CORE_CONVERT_H_
