// Tensors as PyTorch keeps them: a stretch of bytes (a storage), and strides over it.
#ifndef X2IR_FORMATS_TORCH_STRIDED_H_
#define X2IR_FORMATS_TORCH_STRIDED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

struct TorchStorage {
  BlobPtr file;
  uint64_t offset = 0, size = 0;             // in the file, unless
  std::shared_ptr<const std::string> owner;  // it was unpacked into memory
};

struct TorchTensor {
  TorchStorage storage;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> sizes, strides;
  int64_t storage_offset = 0;

  // Whether it has elements, and nothing to hold them: programs of fake tensors, or of those on the
  // device "meta", are saved so.
  bool is_absent() const;
  // Equal for tensors of the same elements of the same storage.
  std::string Identity() const;
  // A view of the storage where it is contiguous, else a copy in order.
  absl::StatusOr<Tensor> Make() const;
};

// The bytes of a zip entry: in the file where stored.
absl::StatusOr<TorchStorage> StorageOf(ZipArchive& zip, const ZipEntry& entry);

}  // namespace x2ir

#endif  // X2IR_FORMATS_TORCH_STRIDED_H_
