// The entry point of the library: models in, models out. It throws no exception; every error is a
// status (docs/design.md, "Errors"). Functions are thread-safe for separate models.
//
//   X2IR_ASSIGN_OR_RETURN(Model ir, x2ir::Import("model.onnx"));
//   X2IR_RETURN_IF_ERROR(x2ir::Export(std::move(ir), "model17.onnx", {.opset = 17}));
//
// Or in one call: x2ir::Convert("model.pt2", "model.onnx"). A Source may be bytes in memory, a Sink
// a function that takes bytes; neither needs a file. All registered formats (formats/format.h) can
// be used, including those of a host program.
//
// An error about an option names it as it is called here (graph_wrapper/option_error.h).
#ifndef X2IR_CORE_CONVERT_H_
#define X2IR_CORE_CONVERT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/report.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// Which ops without a mapping may stay as foreign ops: none, those of some domains, or all.
struct ForeignPolicy {
  bool all = false;  // also ops whose mapping failed
  std::vector<std::string> domains{};
  // For an import: the dialect that is written afterwards, so that hints apply to it; empty: IR. If
  // it is the source's own, operators for which IR has several ops may stay nodes of that dialect
  // (core/composites.h); Convert has them decomposed if an option changes all of the model.
  std::string target{};
};

// Progress of long work: done of total nodes. Called often, from the thread that converts; must be
// cheap. Returns whether to continue: after `false` the call ends soon with Cancelled, and as after
// any error nothing was written.
using ProgressFn = std::function<bool(int64_t done, int64_t total)>;

struct LoadOptions {
  // The format's own, by name ("allow_outside", "model", "signature"); InvalidArgument (an option
  // error) for an option that the format does not have.
  FormatOptions format_options{};
  // The outputs of a graph that does not declare its inputs and outputs ("node:k").
  std::vector<std::string> inputs{}, outputs{};
};

// A network of float32 becomes one of int8, with scales that are measured by running it
// (core/calibrate.h).
struct Int8Request {
  // The inputs of these runs: io files, .npy files, and folders of such files.
  std::vector<std::string> calibrate{};
  bool per_channel = false;              // weights have a scale for each channel of the result
  std::optional<int64_t> weight_bits{};  // 7 or 8; by default what suits the target
  std::string method{};                  // one of RangeMethodNames(); empty: the first
};

// Members have initializers so that {.opset = 17} draws no warning about the others.
struct ImportOptions {
  std::string format{};            // "onnx", "ir", ...; empty: found by looking at the file
  FormatOptions format_options{};  // as for Load
  std::vector<std::pair<std::string, Shape>> shapes{};  // of inputs; the rest is inferred again
  // Axes of inputs whose size may vary, although the model has a fixed number there.
  std::vector<DynamicAxis> dynamic{};
  std::vector<std::pair<std::string, DType>> dtypes{};  // element types of inputs
  // An io file (io_file.h): what neither the model nor the caller says of an input is what its
  // tensors are; sizes in which cases differ are names.
  std::string example{};
  std::vector<std::string> example_cases{};  // only these cases of it; empty: all
  // Checkpoints, files or folders, whose tensors become the weights of these names
  // (core/edit/weights_from.h).
  std::vector<std::string> weights_from{};
  std::vector<std::string> inputs{};   // cut the graph at these values
  std::vector<std::string> outputs{};  // "name" or "node:k"
  // Inputs that become constants, each with its .npy file or number (core/edit/edit.h).
  std::vector<std::pair<std::string, std::string>> fold_inputs{};
  // Values that get another name in IR: inputs, outputs, weights, results of nodes.
  std::vector<std::pair<std::string, std::string>> rename{};
  std::optional<int> from_opset{};  // instead of what the file says
  // Initializers that are also inputs become constants. By default yes, unless the file holds IR,
  // whose inputs with default values are intended.
  std::optional<bool> freeze_params{};
  bool keep_functions = false;  // calls of local functions stay calls
  bool optimize = false;
  std::optional<std::vector<std::string>> passes{};  // instead of the default ones
  // "channels_first" or "channels_last", which the pass `layout` gives to ops that have one; empty:
  // each has its own.
  std::string layout{};
  ForeignPolicy foreign{};
  ProgressFn progress{};
  LoadOptions Loading() const { return {format_options, inputs, outputs}; }
};

struct ExportOptions {
  std::string format{};                     // of the file; empty: what its name says
  std::optional<int> opset{};               // default: the model's own, else the target's
  std::vector<OpsetImport> extra_opsets{};  // of other domains
  // The format's own, by name ("external_data", "weights"). "opset" and "extra_opsets" are options
  // of a format like these, and an error where it has none; the members are for convenience.
  FormatOptions format_options{};
  std::vector<std::pair<std::string, Shape>> shapes{};
  std::vector<DynamicAxis> dynamic{};
  // Whether passes run. By default yes, unless the target is IR.
  std::optional<bool> optimize{};
  std::optional<std::vector<std::string>> passes{};  // instead of the default ones
  // Passes keep the modules of the source and the weights that are named after them. Formats for
  // reading and training (Python) always require this.
  bool keep_modules = false;
  // Weights of float16 and bfloat16 keep their type where the graph computes in float32. By default
  // they become float32 where passes run: the same numbers, without a cast in each run
  // (optimizer/widen_weights.h).
  bool keep_weight_types = false;
  // Inputs and outputs whose last axis becomes the second, or whose second becomes the last.
  std::vector<std::string> inputs_as_nchw{}, inputs_as_nhwc{};
  std::vector<std::string> outputs_as_nchw{}, outputs_as_nhwc{};
  // The element type that replaces float32, also of weights, inputs and outputs: kFloat16 or
  // kBFloat16 (optimizer/narrow_floats.h). With `keep_io` inputs and outputs stay what they are;
  // `keep` names ops and nodes that stay float32.
  std::optional<DType> narrow_floats{};
  bool keep_io = false;
  std::vector<std::string> keep{};
  // Computations are quantized, before all steps for the target; the calibration inputs are those
  // of the unchanged model. Notes of the report list what became int8 and the errors of the
  // outputs.
  std::optional<Int8Request> int8{};
  // Metadata of the model; replaces the values that it has under these keys. An option error for a
  // format that has none.
  std::vector<std::pair<std::string, std::string>> metadata{};
  bool strip_names = false;       // only inputs and outputs have names of their own
  bool params_as_inputs = false;  // weights are inputs, with what they hold as default values
  // The result is checked against the target's schemas; a model that does not pass is not written.
  bool check = false;
  // Called by Export with the model in the target's dialect before anything is written; what it
  // returns is the export's status (another checker, say).
  std::function<absl::Status(const Model&)> before_writing{};
  // Foreign ops of the target's dialect are always written unchanged. `all`: ops that cannot be
  // expressed are written too, as ops of domain "x2ir", which Import reads again.
  ForeignPolicy foreign{};
  ProgressFn progress{};
};

// Reads a model of any format into a graph in its own dialect, without interpreting it. `format`:
// its name, or empty: found by looking at the source.
absl::StatusOr<Model> Load(const Source& source, const std::string& format = "",
                           const LoadOptions& options = {});
// The name of the format a source is in, by its content: "onnx", "ir", ... DataLoss if unknown.
absl::StatusOr<std::string> DetectFormat(const Source& source);

// Load, then ToIr. IR comes as it is (shapes re-inferred if options say so).
// On failure `report` (may be null) has all errors; the status lists them as well.
absl::StatusOr<Model> Import(const Source& source, const ImportOptions& options = {},
                             Report* report = nullptr);
// Rewrites a model in its source dialect to IR. In place: on success values and nodes that stay are
// the same objects; on failure the model is as it was, in a new graph, which costs a copy of the
// graph (not of weights) beforehand. A model that is moved in is not copied, and is lost on
// failure.
absl::Status ToIr(Model& model, const ImportOptions& options = {}, Report* report = nullptr);
absl::StatusOr<Model> ToIr(Model&& model, const ImportOptions& options = {},
                           Report* report = nullptr);

// Whether the options change the model that an IR file holds. If they do not, the model is taken
// unchanged: its foreign ops were allowed when it was written.
bool ChangesIr(const ImportOptions& options);

// FromIr to the dialect of the sink's format, then Write. Either all files appear complete, or none
// appears. To keep the model: Export(ir.Clone(), ...).
absl::Status Export(Model&& ir, const Sink& sink, const ExportOptions& options = {},
                    Report* report = nullptr);
// Optimizes, lowers and rewrites an IR model to a dialect; of format_options it uses "opset",
// "extra_opsets" and the options of the dialect. In place or moved in, as for ToIr.
absl::Status FromIr(Model& model, const std::string& dialect, const ExportOptions& options = {},
                    Report* report = nullptr);
absl::StatusOr<Model> FromIr(Model&& model, const std::string& dialect,
                             const ExportOptions& options = {}, Report* report = nullptr);

// Import, then Export, without an intermediate file; the output is the same as with an IR file
// between the two calls, but for operators that stay as they are (ForeignPolicy::target). The
// report is that of the export; if the import failed, that of the import.
struct ConvertOptions {
  ImportOptions from{};
  ExportOptions to{};
};
absl::Status Convert(const Source& source, const Sink& sink, const ConvertOptions& options = {},
                     Report* report = nullptr);

// Writes a model as it is: IR, or one in the format's dialect. `format`: its name, or empty: what
// the sink's name says.
absl::Status Write(const Model& model, const Sink& sink, const std::string& format = "",
                   const FormatOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_CORE_CONVERT_H_
