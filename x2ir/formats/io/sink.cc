#include "x2ir/formats/io/sink.h"

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Sink Sink::Files(std::string name, WriteFn write) {
  Sink sink(std::move(name));
  sink.write_ = std::move(write);
  return sink;
}

Sink Sink::Stream(std::function<absl::Status(std::string_view bytes)> write, std::string name) {
  Sink sink =
      Files(std::move(name), [write = std::move(write)](std::string_view, std::string_view bytes) {
        return write(bytes);
      });
  sink.several_ = false;
  return sink;
}

Sink Sink::To(std::string* bytes, std::string name) {
  return Stream(
      [bytes](std::string_view more) {
        bytes->append(more);
        return absl::OkStatus();
      },
      std::move(name));
}

absl::StatusOr<AtomicFile> Sink::Create(const std::string& name) const {
  if (is_path()) return AtomicFile::Create(name);
  if (!several_ && name != name_) {
    return CannotExpress("the model needs a second file, '", name,
                         "', but only one file can be written here");
  }
  return AtomicFile::ToFunction(
      name, [write = write_, name](std::string_view bytes) { return write(name, bytes); });
}

}  // namespace x2ir
