// Runtimes that the user has installed: ONNX Runtime and LiteRT (TensorFlow Lite). Each is a
// library for C that is loaded on request; nothing of it is needed to build or to start a program.
// The library runs in this process and stays loaded.
#ifndef X2IR_RUNTIMES_RUNTIME_H_
#define X2IR_RUNTIMES_RUNTIME_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval.h"

namespace X2IR_API x2ir {

// An input or an output, as the runtime tells it.
struct RuntimePort {
  std::string name;
  DType dtype;  // kUndefined: it is not a tensor, or of a type that is not known here
};

// A model that a runtime has read. Not thread-safe.
class RuntimeModel {
 public:
  virtual ~RuntimeModel() = default;
  const std::vector<RuntimePort>& inputs() const { return inputs_; }  // that must be given
  const std::vector<RuntimePort>& outputs() const { return outputs_; }
  // One tensor for each of inputs(), of its element type (InvalidArgument otherwise), gives what
  // outputs() are. FailedPrecondition with the runtime's own message where it refuses.
  virtual absl::StatusOr<std::vector<Datum>> Run(absl::Span<const Tensor> inputs) = 0;

 protected:
  absl::Status CheckInputTypes(absl::Span<const Tensor> inputs) const;
  std::vector<RuntimePort> inputs_, outputs_;
};

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual std::string_view name() const = 0;    // as in RuntimeNames()
  virtual std::string_view format() const = 0;  // of the files that it reads (formats/format.h)
  virtual std::string version() const = 0;      // as it tells it
  // Reads a file. FailedPrecondition with the runtime's own message where it refuses.
  virtual absl::StatusOr<std::unique_ptr<RuntimeModel>> Open(const std::string& path) const = 0;
};

// "onnxruntime", "litert".
std::vector<std::string> RuntimeNames();
// The format of the files that it reads; empty for a name that is none.
std::string_view RuntimeFormat(std::string_view name);

// Loads a runtime's library: the file `library`, or where that is empty one of the usual names from
// where the system's loader looks. Option errors (graph_wrapper/option_error.h): "with" for a name
// that is none, "runtime_library" for a file that is not the library. Unavailable where none is
// found.
absl::StatusOr<std::shared_ptr<const Runtime>> LoadRuntime(std::string_view name,
                                                           const std::string& library = "");

}  // namespace x2ir

#endif  // X2IR_RUNTIMES_RUNTIME_H_
