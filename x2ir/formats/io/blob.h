// Blob: the bytes of a file that is read, mapped or in memory. Readers treat both alike.
#ifndef X2IR_FORMATS_IO_BLOB_H_
#define X2IR_FORMATS_IO_BLOB_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

class Blob {
 public:
  // The errors are those of MappedFile::Open.
  static absl::StatusOr<std::shared_ptr<const Blob>> Open(const std::string& path);
  // Bytes that `owner` keeps alive (null: the caller keeps them alive, as long as any tensor of
  // them lives). `name` appears in messages.
  static std::shared_ptr<const Blob> InMemory(absl::Span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner, std::string name);

  const std::string& path() const { return path_; }
  const std::byte* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  std::string_view view() const { return {reinterpret_cast<const char*>(data()), size()}; }
  // Null in memory.
  const std::shared_ptr<const MappedFile>& mapped() const { return mapped_; }

 private:
  Blob() = default;
  std::string path_;
  absl::Span<const std::byte> bytes_;
  std::shared_ptr<const MappedFile> mapped_;
  std::shared_ptr<const void> owner_;
};
using BlobPtr = std::shared_ptr<const Blob>;

// A tensor over a range of a blob; of a mapped file it remembers the range (Tensor::FromFile).
// DataLoss where the range is outside, InvalidArgument if it does not have the tensor's size.
absl::StatusOr<Tensor> TensorOf(DType dtype, std::vector<int64_t> dims, BlobPtr blob,
                                uint64_t offset, uint64_t nbytes);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_BLOB_H_
