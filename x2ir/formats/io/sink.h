// Sink: where a model is written: a file (with others beside it), or a function that takes the
// bytes.
//
//   Export(std::move(ir), "model.onnx");
//   std::string bytes;
//   Export(std::move(ir), Sink::To(&bytes), {.format = "onnx"});
#ifndef X2IR_FORMATS_IO_SINK_H_
#define X2IR_FORMATS_IO_SINK_H_

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

class Sink {
 public:
  // Takes the next bytes of a file: of the model's own, called `name()`, or of one that belongs
  // beside it ("model.onnx.data"). Those of one file come in order, those of several files may
  // alternate. The files are complete when the writer has returned OK; after an error, the bytes so
  // far are invalid. An error of the function becomes the writer's error.
  using WriteFn = std::function<absl::Status(std::string_view file, std::string_view bytes)>;

  Sink(std::string path) : name_(std::move(path)) {}   // NOLINT: a path is a sink
  Sink(const char* path) : Sink(std::string(path)) {}  // NOLINT
  // A std::filesystem::path.
  template <typename Path>
  requires requires(const Path& path) {
    { path.string() } -> std::same_as<std::string>;
  }
  Sink(const Path& path) : Sink(path.string()) {}  // NOLINT
  // Any number of files. `name` is what the model's own is called; its extension selects the format
  // unless an option does.
  static Sink Files(std::string name, WriteFn write);
  // One file only: a model that needs more is FailedPrecondition.
  static Sink Stream(std::function<absl::Status(std::string_view bytes)> write,
                     std::string name = "model");
  // The same, appended to a string that outlives the sink.
  static Sink To(std::string* bytes, std::string name = "model");

  const std::string& name() const { return name_; }  // the path of a file
  bool is_path() const { return !write_; }

  // For writers: a file of the model, `name()` or one beside it, which appears when it is
  // committed.
  absl::StatusOr<AtomicFile> Create(const std::string& name) const;

 private:
  std::string name_;
  WriteFn write_;
  bool several_ = true;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_SINK_H_
