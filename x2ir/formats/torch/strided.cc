#include "x2ir/formats/torch/strided.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

absl::StatusOr<TorchStorage> StorageOf(ZipArchive& zip, const ZipEntry& entry) {
  if (entry.stored()) return TorchStorage{zip.file(), entry.offset, entry.size, nullptr};
  X2IR_ASSIGN_OR_RETURN(ZipArchive::Bytes bytes, zip.Read(entry));
  const uint64_t size = bytes.view.size();
  return TorchStorage{nullptr, 0, size, std::move(bytes.owner)};
}

bool TorchTensor::is_absent() const {
  return storage.size == 0 && std::find(sizes.begin(), sizes.end(), 0) == sizes.end();
}

std::string TorchTensor::Identity() const {
  std::string id = StrCat(absl::Hex(reinterpret_cast<uintptr_t>(storage.owner.get())), ":",
                          storage.offset, ":", storage_offset, ":", Name(dtype));
  for (const int64_t size : sizes) StrAppend(&id, ",", size);
  for (const int64_t stride : strides) StrAppend(&id, "/", stride);
  return id;
}

absl::StatusOr<Tensor> TorchTensor::Make() const {
  const std::optional<int64_t> count = CheckedProduct(sizes);
  const std::optional<int64_t> bytes = count ? ByteSize(dtype, *count) : std::nullopt;
  if (!bytes || sizes.size() != strides.size() || storage_offset < 0) {
    return DataLoss("a tensor of impossible sizes");
  }
  const auto view = [&](uint64_t offset, uint64_t size) -> absl::StatusOr<Tensor> {
    if (storage.owner) {
      return Tensor::View(
          dtype, sizes,
          absl::Span<const std::byte>(
              reinterpret_cast<const std::byte*>(storage.owner->data()) + offset, size),
          storage.owner);
    }
    return TensorOf(dtype, sizes, storage.file, storage.offset + offset, size);
  };
  if (*count == 0) return Tensor::Zeros(dtype, sizes);
  const uint64_t element = static_cast<uint64_t>(BitWidth(dtype)) / 8;
  const uint64_t have = storage.size / element;  // elements of the storage

  // The last element that the strides reach, and whether they walk the storage in order.
  bool contiguous = true;
  uint64_t last = static_cast<uint64_t>(storage_offset);
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (strides[i] < 0) return DataLoss("a tensor of negative strides");
    if (sizes[i] != 1) contiguous = contiguous && strides[i] == expected;
    expected *= sizes[i];
    const uint64_t steps = static_cast<uint64_t>(sizes[i] - 1);
    const uint64_t stride = static_cast<uint64_t>(strides[i]);
    if (steps != 0 && stride > have / steps) last = have;
    if (last < have) last += steps * stride;
  }
  if (last >= have) {
    return DataLoss("a tensor of ", Type::Tensor(dtype, Shape::FromInts(sizes)).ToString(),
                    " in a storage of ", storage.size, " bytes");
  }
  if (contiguous) {
    return view(static_cast<uint64_t>(storage_offset) * element, static_cast<uint64_t>(*bytes));
  }
  // Strides of 0 make much of little.
  constexpr int64_t kMaxRepeated = int64_t{1} << 28;
  if (static_cast<uint64_t>(*count) > have && *bytes > kMaxRepeated) {
    return Unimplemented("a weight that repeats ", storage.size, " bytes to ", *bytes);
  }
  Tensor copy = Tensor::Zeros(dtype, sizes);
  std::byte* to = copy.mutable_bytes().data();
  const char* from =
      storage.owner ? storage.owner->data() : storage.file->view().data() + storage.offset;
  std::vector<int64_t> index(sizes.size(), 0);
  uint64_t at = static_cast<uint64_t>(storage_offset);
  for (int64_t n = 0; n < *count; ++n, to += element) {
    std::memcpy(to, from + at * element, element);
    for (size_t i = sizes.size(); i-- > 0;) {
      at += static_cast<uint64_t>(strides[i]);
      if (++index[i] < sizes[i]) break;
      at -= static_cast<uint64_t>(strides[i]) * static_cast<uint64_t>(sizes[i]);
      index[i] = 0;
    }
  }
  return copy;
}

}  // namespace x2ir
