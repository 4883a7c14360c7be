// Source: what a model is read from: a file or a folder by its path, or bytes in memory.
//
//   Import("model.onnx");
//   Import(Source::Bytes(bytes, owner, [&](const std::string& name) { return FindBlob(name); }));
#ifndef X2IR_FORMATS_IO_SOURCE_H_
#define X2IR_FORMATS_IO_SOURCE_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// The bytes of a file that is in memory, and what keeps them alive (null: the caller does, as long
// as the model or any of its tensors lives).
struct HeldBytes {
  absl::Span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class Source {
 public:
  // Gives the bytes of a file that the model names (weights, most often). `name` is as the model
  // says it: it comes from a stranger and may be anything. An error of it is the import's.
  using Resolver = std::function<absl::StatusOr<HeldBytes>(const std::string& name)>;

  Source(std::string path) : name_(std::move(path)) {}     // NOLINT: a path is a source
  Source(const char* path) : Source(std::string(path)) {}  // NOLINT
  // A std::filesystem::path.
  template <typename Path>
  requires requires(const Path& path) {
    { path.string() } -> std::same_as<std::string>;
  }
  Source(const Path& path) : Source(path.string()) {}  // NOLINT
  // Bytes that are not copied. `name` ("net.onnx") stands in messages; its extension counts where
  // the bytes do not tell the format, and IR's files name theirs after it.
  static Source Bytes(HeldBytes bytes, Resolver resolver = {}, std::string name = "model");
  // Bytes that the source owns, and then the model's tensors.
  static Source Bytes(std::string bytes, Resolver resolver = {}, std::string name = "model");
  // All that is left of a stream, read into memory. Unavailable when the stream fails.
  static absl::StatusOr<Source> Stream(std::istream& stream, Resolver resolver = {},
                                       std::string name = "model");

  const std::string& name() const { return name_; }  // the path of a file
  bool in_memory() const { return memory_ != nullptr; }
  bool is_folder() const;

  // The model's own file, mapped; the errors are those of Blob::Open.
  absl::StatusOr<BlobPtr> Open() const;
  bool has_resolver() const { return resolver_ != nullptr; }
  // A file that the model names, in memory only: readers of files follow their own rules on where
  // such files may lie. NotFound without a resolver.
  absl::StatusOr<BlobPtr> OpenNamed(const std::string& name) const;

 private:
  std::string name_;
  BlobPtr memory_;
  Resolver resolver_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_SOURCE_H_
