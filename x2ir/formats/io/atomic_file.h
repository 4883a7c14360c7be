// AtomicFile: a file that appears under its name only when it is complete.
//
// It is written under a temporary name in the same folder (.NAME.x2ir-PID-SEQ.tmp) and
// renamed by Commit(). After any failure before that, the old file is unchanged and the temporary
// is removed. The temporary of a killed process is removed by the next write to the same target: a
// temporary is locked (flock) as long as its writer lives.
//
// With ToFunction there is no file: the function gets the bytes in order, and they are complete
// when the file is committed.
//
// Ranges of mapped files go from file to file inside the kernel: no page of a weight is
// touched on the way. Errors are Unavailable and name the file and the system's reason.
#ifndef X2IR_FORMATS_IO_ATOMIC_FILE_H_
#define X2IR_FORMATS_IO_ATOMIC_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

class AtomicFile {
 public:
  // Whether a program was killed while it wrote this file: its temporary file still exists. Create
  // removes it.
  static bool WasInterrupted(const std::string& path);
  // InvalidArgument when the path is a folder or a device: those are never replaced. A
  // symbolic link stays, and the file that it points to is replaced.
  static absl::StatusOr<AtomicFile> Create(const std::string& path);
  // `write` gets the bytes in pieces; `name` appears in messages.
  static AtomicFile ToFunction(std::string name,
                               std::function<absl::Status(std::string_view bytes)> write);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();  // removes the temporary if it was not committed

  // An error is kept: every later call, and Commit, returns it again.
  absl::Status Append(std::string_view bytes);
  absl::Status Append(absl::Span<const std::byte> bytes);
  // The tensor's bytes. InvalidArgument for string and sparse tensors, which have none. `seen` is
  // shown the bytes, in order, as they are read to be written.
  using SeenFn = std::function<void(std::string_view bytes)>;
  absl::Status Append(const Tensor& tensor, const SeenFn& seen = nullptr);
  // Replaces bytes that were appended. Not possible with ToFunction.
  absl::Status Replace(uint64_t at, std::string_view bytes);
  bool can_replace() const { return !write_; }
  // Declares that written bytes were read from this file, though not by Append.
  void DependOn(std::shared_ptr<const MappedFile> file) { sources_.insert(std::move(file)); }
  // Zeros up to the next multiple of `alignment`.
  absl::Status AlignTo(uint64_t alignment);

  uint64_t size() const { return size_; }  // bytes appended so far
  const std::string& path() const { return path_; }

  absl::Status Commit();
  // Commits a group in this order (weights first, then the file that names them). All are
  // complete on disk before the first is renamed; if a rename fails, earlier ones are undone. While
  // weights are renamed there is no file that names them: whenever this process is killed, no file
  // is beside weights of another version. DataLoss when a file that was read for them has changed
  // since it was mapped: then nothing is renamed.
  static absl::Status CommitAll(absl::Span<AtomicFile* const> files);

 private:
  AtomicFile() = default;
  absl::Status Fail(std::string_view what);
  absl::Status Flush();
  absl::Status WriteAll(const char* data, size_t n);
  absl::Status CopyRange(const Tensor::FileRange& range, const SeenFn& seen);
  absl::Status Finish();
  void Discard();
  bool is_open() const { return fd_ >= 0 || write_; }

  std::string path_;    // as the caller named it
  std::string target_;  // with a symbolic link followed
  std::string temp_;    // empty: nothing to remove
  int fd_ = -1;
  std::function<absl::Status(std::string_view bytes)> write_;  // instead of a file
  uint64_t size_ = 0;
  std::string buffer_;
  absl::flat_hash_set<std::shared_ptr<const MappedFile>> sources_;  // what was read for it
  absl::Status status_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_ATOMIC_FILE_H_
