// Io files: the inputs of a model and the outputs that it should give, as a safetensors file.
// A tensor is called in_0, in_1, ... or out_0, out_1, ... in the model's order, or by the real
// name of the input or output. A prefix "case0.", "case1.", ... tells several cases apart; so does
// any other word before a dot, where the rest is the name of an input or output. Where the file's
// metadata has the real names ("out_0": "scores"), and the model has all of them, they
// count, not the order.
#ifndef X2IR_CORE_IO_FILE_H_
#define X2IR_CORE_IO_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval.h"

namespace X2IR_API x2ir {

struct IoCase {
  std::string name;  // "case0"; empty for tensors without a prefix
  // In the graph's order, one entry each; nothing where the file has none.
  std::vector<std::optional<Tensor>> inputs, outputs;
};

// The cases of a file by number, for that graph. InvalidArgument: a tensor that is neither an
// input nor an output, or one that is there twice. Tensors without a prefix in a file that has
// cases belong to every one that does not have them itself; if some do, they are case 0, too. A
// vector of one element is taken for an input of rank 0.
absl::StatusOr<std::vector<IoCase>> ReadIoFile(const std::string& path, const Graph& graph);
absl::StatusOr<std::vector<IoCase>> BindIo(absl::Span<const NamedTensor> tensors,
                                           const Graph& graph);

// Inputs whose element type or rank is not known get those of the file's tensors. A size in which
// its cases differ becomes a name. Unimplemented: cases of different element types or ranks.
// `cases`: only those ("case0"); empty: all.
absl::Status TypesFromIoFile(const std::string& path, Graph& graph,
                             const std::vector<std::string>& cases = {});
// The names of the file's cases, those together whose inputs have the same element types and ranks:
// a model without types of its own is another one for each group. Empty: one case without a name.
absl::StatusOr<std::vector<std::vector<std::string>>> IoCaseGroups(const std::string& path);

// The parts of complex numbers along a last axis of 2: what a model takes and gives in their place.
// A complex tensor of a file that belongs to a real input or output is bound so, and one of floats
// that belongs to a complex one the other way.
Tensor AsPairs(const Tensor& complex);

// Writes inputs and outputs, by position, so that the file can be read again.
absl::Status WriteIoFile(const std::string& path, absl::Span<const IoCase> cases,
                         const Graph& graph);

// Whether inputs fit what the graph declares: none missing that has no default, element types,
// ranks, known dims, and one size for each symbolic name. InvalidArgument names the input.
absl::Status CheckInputs(const Graph& graph, absl::Span<const std::optional<Tensor>> inputs);

// Checks the inputs of a case and runs a sorted IR graph on them.
absl::StatusOr<std::vector<Datum>> RunCaseWith(const Graph& graph, const IoCase& io,
                                               const RunOptions& options);
// `progress` (may be null) gets nodes done and their total, and says whether to go on (Cancelled
// where not): in nested graphs the same numbers again, before each of their nodes.
using RunProgress = std::function<bool(int64_t done, int64_t total)>;
RunOptions WithProgress(const Graph& graph, RunProgress progress);
absl::StatusOr<std::vector<Datum>> RunCase(const Graph& graph, const IoCase& io,
                                           const RunProgress& progress = nullptr);

}  // namespace x2ir

#endif  // X2IR_CORE_IO_FILE_H_
