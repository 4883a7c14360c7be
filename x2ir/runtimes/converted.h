// A file that a conversion wrote, run by a runtime on inputs of the model that was converted, and
// how far off it is there. The file has the inputs and outputs that the conversion gave it: other
// names, orders of axes, element types, integers for numbers.
#ifndef X2IR_RUNTIMES_CONVERTED_H_
#define X2IR_RUNTIMES_CONVERTED_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/calibrate.h"
#include "x2ir/core/edit/interface.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/eval.h"
#include "x2ir/runtimes/runtime.h"

namespace X2IR_API x2ir {

class ConvertedInRuntime {
 public:
  // `interface`: of the model that was converted, in its order, and of the file. Where it is not
  // known, the file has the inputs and outputs of the model. Errors of Import and Runtime::Open;
  // Unimplemented for a port whose integers have no known scale.
  static absl::StatusOr<ConvertedInRuntime> Open(const std::string& path, Interface interface,
                                                 std::shared_ptr<const Runtime> runtime);
  ConvertedInRuntime(ConvertedInRuntime&&) noexcept;
  ~ConvertedInRuntime();

  // One for each input of the interface; gives the outputs of the interface.
  absl::StatusOr<std::vector<Datum>> Run(absl::Span<const Datum> inputs) const;
  std::string Title() const;  // "onnxruntime 1.20.1"

 private:
  struct State;
  explicit ConvertedInRuntime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// How far off a runtime is of what a network computed in float32, when the int8 network is written.
class Int8InRuntime {
 public:
  // `ir`: the network as it is before it is exported; `interface`: what is known of it then.
  // `floats`: its outputs in float32 for each case (Int8Result).
  Int8InRuntime(const Graph& ir, Interface interface, std::vector<IoCase> cases,
                std::vector<std::vector<Datum>> floats);

  // `after`: the interface when `path` is written.
  absl::StatusOr<std::vector<OutputError>> Measure(const std::string& path, const Interface& after,
                                                   std::shared_ptr<const Runtime> runtime) const;

 private:
  std::vector<size_t> required_;  // inputs of the graph that have no default
  std::vector<std::string> inputs_, outputs_;
  Interface before_;
  std::vector<IoCase> cases_;
  std::vector<std::vector<Datum>> floats_;
};

}  // namespace x2ir

#endif  // X2IR_RUNTIMES_CONVERTED_H_
