// A model of float32 as one of int8, whose scales are measured: the model runs on inputs that the
// user has chosen, with x2ir's own evaluation, and the numbers that each value holds give its
// scale. The error of the result on the same inputs is measured as well.
#ifndef X2IR_CORE_CALIBRATE_H_
#define X2IR_CORE_CALIBRATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/optimizer/quantize_floats.h"

namespace X2IR_API x2ir {

// Which part of the numbers that a value has held the integers cover.
enum class RangeMethod : uint8_t {
  kMinMax,      // all
  kPercentile,  // all but one in 10,000, half of these at either end
  kMse          // the range with the least sum of squared errors
};
std::vector<std::string> RangeMethodNames();  // "minmax", "percentile", "mse", in that order
std::optional<RangeMethod> RangeMethodOf(std::string_view name);

struct Int8Options {
  RangeMethod method = RangeMethod::kMinMax;
  QuantizeFloatsOptions floats{};
  std::string dialect{};  // of the file that is written: its layout is taken first
  // The passes that run first; quantized units keep the structure that they leave.
  std::vector<std::string> passes{};
  ProgressFn progress{};
};

// An output compared with float32, over all cases.
struct OutputError {
  std::string output;
  double max_abs = 0;  // infinite where its shape is another one
  double cosine = 1;
  double snr = 0;  // dB; infinite where there is no error
  // For people. `by`: who computed it; empty: our own evaluation.
  std::string Note(std::string_view by = "") const;
};
// The outputs of these names in each case, compared with float32; only floats.
std::vector<OutputError> OutputErrors(absl::Span<const std::string> names,
                                      absl::Span<const std::vector<Datum>> got,
                                      absl::Span<const std::vector<Datum>> floats);

struct Int8Result {
  QuantizedFloats what;
  std::vector<std::vector<Datum>> floats;  // the outputs in float32, of each case
  std::vector<OutputError> errors;
  // For people: what became integers, what did not and why, and the errors.
  std::vector<std::string> Notes() const;
};

// In place; on failure the model is left half done. InvalidArgument if there is no case;
// FailedPrecondition if no op of the model can become integers; otherwise errors of running the
// model.
absl::StatusOr<Int8Result> QuantizeToInt8(Model& ir, absl::Span<const IoCase> cases,
                                          const Int8Options& options = {});

// The files that inputs are read from: those that are named, and of a folder its io files and .npy
// files, in the order of their names. An option error ("calibrate") where a folder has none.
absl::StatusOr<std::vector<std::string>> CalibrationFiles(absl::Span<const std::string> paths);
// Inputs to calibrate with, for that graph: an io file, an .npy file for a model of one input, or a
// folder of such files. An option error ("calibrate") where there is nothing, or what is there does
// not fit.
absl::StatusOr<std::vector<IoCase>> ReadCalibration(absl::Span<const std::string> paths,
                                                    const Graph& graph);

// The default width of weights: the width with which runtimes of a dialect compute correctly.
struct Int8Defaults {
  std::string name;  // of the dialect; the values below are for dialects without an entry
  int weight_bits = 8;
};
bool RegisterInt8Defaults(Int8Defaults defaults, SourcePlace place = SourcePlace::Here());

// --- As an option of an export -----------------------------------------------------------------
// An option error where int8 is asked for, and no inputs are given to measure with.
absl::Status CheckCalibrates(const ExportOptions& options);
// The same, once it is known which format is read (null: none). A format that can round weights
// alone (its option int8_weights) does that where no inputs are given: the request becomes one of
// reading.
absl::Status SettleInt8(const Format* source, ImportOptions& from, ExportOptions& to);
// The request of ExportOptions::int8 for a model that is written in `dialect`.
absl::StatusOr<Int8Result> QuantizeAsAsked(Model& ir, absl::Span<const IoCase> cases,
                                           const ExportOptions& options,
                                           const std::string& dialect);

}  // namespace x2ir

#endif  // X2IR_CORE_CALIBRATE_H_
