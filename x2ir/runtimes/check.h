// Models of IR run by a runtime instead of x2ir's own evaluation: they are written as a file of the
// runtime's format, as Export writes it, and what it computes is compared with what we do.
#ifndef X2IR_RUNTIMES_CHECK_H_
#define X2IR_RUNTIMES_CHECK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/inspect/compare.h"
#include "x2ir/inspect/verify.h"
#include "x2ir/runtimes/runtime.h"

namespace X2IR_API x2ir {

// A model in a runtime, with the ports of a graph. The graph must outlive it. Not thread-safe.
class ModelInRuntime {
 public:
  // Writes the IR model to a file, at the least opset that has what it needs where the usual one
  // has not, and opens it. The file is removed with this object. Errors of Export and of
  // Runtime::Open.
  static absl::StatusOr<ModelInRuntime> Convert(const Model& ir,
                                                std::shared_ptr<const Runtime> runtime,
                                                ExportOptions options = {});
  // Opens a file as it is. Its inputs and outputs are those of `graph`, by name where all names are
  // there, else by position; InvalidArgument where the numbers differ.
  static absl::StatusOr<ModelInRuntime> Open(const std::string& path, const Graph& graph,
                                             std::shared_ptr<const Runtime> runtime);

  // Results in the order of the graph's outputs. Inputs are checked against the graph first.
  absl::StatusOr<std::vector<Datum>> Run(const IoCase& io) const;
  // "onnxruntime 1.20.1".
  std::string Title() const;

 private:
  ModelInRuntime() = default;
  absl::Status MatchInterfaces();
  const Graph* graph_ = nullptr;
  std::shared_ptr<const Runtime> runtime_;
  std::shared_ptr<const void> folder_;  // of the file; the model is destroyed before it
  std::unique_ptr<RuntimeModel> model_;
  std::vector<size_t> inputs_, outputs_;  // of the graph, for each of the runtime's
};

// What the runtime gives for each case, compared with the outputs of the case; with what x2ir's own
// evaluation of `ir` gives, whose graph `model` has the ports of, where the case has none. `note`
// says which runtime it was.
absl::StatusOr<Verification> VerifyInRuntime(const Model& ir, const ModelInRuntime& model,
                                             absl::Span<const IoCase> cases,
                                             const VerifyOptions& options = {});

// Every tensor on the way compared: the model is written without passes, with all of them as
// outputs.
absl::StatusOr<ModelComparison> CompareInRuntime(const Model& ir,
                                                 std::shared_ptr<const Runtime> runtime,
                                                 absl::Span<const IoCase> cases,
                                                 const VerifyOptions& options = {});

}  // namespace x2ir

#endif  // X2IR_RUNTIMES_CHECK_H_
