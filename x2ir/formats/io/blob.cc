#include "x2ir/formats/io/blob.h"

#include <utility>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

absl::StatusOr<BlobPtr> Blob::Open(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  std::shared_ptr<Blob> blob(new Blob());
  blob->path_ = path;
  blob->bytes_ = {file->data(), file->size()};
  blob->mapped_ = std::move(file);
  return BlobPtr(std::move(blob));
}

BlobPtr Blob::InMemory(absl::Span<const std::byte> bytes, std::shared_ptr<const void> owner,
                       std::string name) {
  std::shared_ptr<Blob> blob(new Blob());
  blob->path_ = std::move(name);
  blob->bytes_ = bytes;
  blob->owner_ = std::move(owner);
  return blob;
}

absl::StatusOr<Tensor> TensorOf(DType dtype, std::vector<int64_t> dims, BlobPtr blob,
                                uint64_t offset, uint64_t nbytes) {
  if (blob->mapped()) {
    return Tensor::FromFile(dtype, std::move(dims), blob->mapped(), offset, nbytes);
  }
  if (offset > blob->size() || nbytes > blob->size() - offset) {
    return DataLoss("bytes ", offset, " to ", offset, "+", nbytes, " lie outside of '",
                    blob->path(), "', which has ", blob->size());
  }
  const absl::Span<const std::byte> bytes(blob->data() + offset, nbytes);
  return Tensor::View(dtype, std::move(dims), bytes, std::move(blob));
}

}  // namespace x2ir
