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
#include <string_view>
#include <utility>
#include <vector>

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

// The option of reading that sets Source::AllowOutside.
inline constexpr std::string_view kAllowOutside = "allow_outside";

class Source {
 public:
  // Gives the bytes of a file that the model names (weights, most often). `name` is from the model
  // and is untrusted: it may be anything. An error of the function becomes the error of the import.
  using Resolver = std::function<absl::StatusOr<HeldBytes>(const std::string& name)>;

  Source(std::string path) : name_(std::move(path)) {}     // NOLINT: a path is a source
  Source(const char* path) : Source(std::string(path)) {}  // NOLINT
  // A std::filesystem::path.
  template <typename Path>
  requires requires(const Path& path) {
    { path.string() } -> std::same_as<std::string>;
  }
  Source(const Path& path) : Source(path.string()) {}  // NOLINT
  // Bytes that are not copied. `name` ("net.onnx") appears in messages; its extension is used if
  // the bytes do not tell the format, and IR derives the names of its weight files from it.
  static Source Bytes(HeldBytes bytes, Resolver resolver = {}, std::string name = "model");
  // Bytes that the source owns, and then the model's tensors.
  static Source Bytes(std::string bytes, Resolver resolver = {}, std::string name = "model");
  // The rest of a stream, read into memory. Unavailable if the stream fails.
  static absl::StatusOr<Source> Stream(std::istream& stream, Resolver resolver = {},
                                       std::string name = "model");

  const std::string& name() const { return name_; }  // the path of a file
  bool in_memory() const { return memory_ != nullptr; }
  bool is_folder() const;

  // The model's own file, mapped; the errors are those of Blob::Open.
  absl::StatusOr<BlobPtr> Open() const;

  // --- The model's other files -------------------------------------------------------------------
  // They lie in the model's folder: that of its own file, or the source itself where that is a
  // folder. A model that is a link also has the folder of the file that it leads to, since caches
  // of models consist of links. In memory, the resolver gives them.

  // Allows files that the model names to be anywhere (the option "allow_outside" of formats).
  Source& AllowOutside(bool allow = true) {
    allow_outside_ = allow;
    return *this;
  }
  std::string folder() const;
  // False in memory without a resolver: there are no other files.
  bool has_files() const { return !in_memory() || resolver_ != nullptr; }
  // The file that the model names, relative to `folder` ("": the model's). The name may be any
  // text. InvalidArgument if it is outside of the folder, directly or by a link, and that is not
  // allowed; NotFound where there is no such file, and in memory without a resolver.
  absl::StatusOr<BlobPtr> OpenBeside(std::string_view name, const std::string& folder = "") const;
  // The same for a name that is only a convention: null where there is no such file, or a link that
  // leads out of the folder.
  absl::StatusOr<BlobPtr> FindBeside(std::string_view name, const std::string& folder = "") const;
  // The names of the files that FindBeside finds, sorted; none in memory.
  std::vector<std::string> FilesBeside() const;
  // A file that the caller named (the option "params"): any path; in memory as OpenBeside.
  absl::StatusOr<BlobPtr> OpenGiven(const std::string& path) const;

 private:
  absl::StatusOr<BlobPtr> OpenNamed(const std::string& name) const;
  // Whether the path, whose links are resolved, lies in the folder.
  bool IsInside(const std::string& folder, const std::string& real) const;

  std::string name_;
  BlobPtr memory_;
  Resolver resolver_;
  bool allow_outside_ = false;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_SOURCE_H_
