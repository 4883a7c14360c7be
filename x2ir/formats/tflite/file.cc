// A file's FlatBuffer and the ranges of bytes beside it.
#include <algorithm>
#include <memory>
#include <utility>

#include "x2ir/formats/tflite/reader_internal.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tflite {
namespace {

constexpr size_t kHead = 8;  // offset of the root, identifier

// FlatBuffers are read where they lie, which must be aligned.
BlobPtr Aligned(BlobPtr blob) {
  constexpr size_t kAlignment = 16;
  if (reinterpret_cast<uintptr_t>(blob->data()) % kAlignment == 0) return blob;
  auto copy =
      std::make_shared<Tensor>(Tensor::Zeros(DType::kUInt8, {static_cast<int64_t>(blob->size())}));
  const absl::Span<std::byte> bytes = copy->mutable_bytes();
  std::copy(blob->data(), blob->data() + blob->size(), bytes.data());
  return Blob::InMemory(bytes, copy, blob->path());
}

}  // namespace

absl::StatusOr<File> File::Open(const Source& source) {
  File file(source);
  X2IR_ASSIGN_OR_RETURN(BlobPtr blob, source.Open());
  file.blob_ = Aligned(std::move(blob));
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.blob_->data());
  if (file.blob_->size() < kHead || !fb::ModelBufferHasIdentifier(bytes)) {
    return DataLoss("not a TFLite file");
  }
  // The FlatBuffer itself is at most 2 GB; buffers may come after it.
  const size_t size = std::min<size_t>(file.blob_->size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  flatbuffers::Verifier verifier(bytes, size, /*max_depth=*/64, /*max_tables=*/10'000'000);
  if (!fb::VerifyModelBuffer(verifier)) {
    return DataLoss("the file is damaged: FlatBuffers' verifier refuses it");
  }
  file.model_ = fb::GetModel(bytes);
  if (file.model_->version() != 3) {
    return Unimplemented("version ", static_cast<int64_t>(file.model_->version()),
                         " of the format; x2ir reads version 3");
  }
  return file;
}

File::Range File::Here(const flatbuffers::Vector<uint8_t>& bytes) const {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {blob_, static_cast<uint64_t>(data - blob_->data()), bytes.size()};
}

absl::StatusOr<File::Range> File::RangeAt(uint64_t offset, uint64_t size) const {
  if (offset > blob_->size() || size > blob_->size() - offset) {
    return DataLoss("bytes ", offset, " to ", offset, " + ", size, " lie outside of the file");
  }
  return Range{blob_, offset, size};
}

absl::StatusOr<std::optional<File::Range>> File::Buffer(uint32_t index) const {
  const auto* buffers = model_->buffers();
  if (!buffers || index >= buffers->size()) {
    // Buffer 0 means no bytes.
    if (index == 0) return std::nullopt;
    return Invalid("there is no buffer ", static_cast<int64_t>(index));
  }
  const fb::Buffer* buffer = buffers->Get(index);
  // An offset of 1 is a place that a writer had not filled yet.
  if (buffer->offset() > 1) {
    X2IR_ASSIGN_OR_RETURN(Range range, RangeAt(buffer->offset(), buffer->size()));
    return range;
  }
  if (!buffer->data() || buffer->data()->size() == 0) return std::nullopt;
  return Here(*buffer->data());
}

absl::StatusOr<std::optional<File::Range>> File::External(uint32_t id) {
  if (id == 0) return std::nullopt;
  const auto* buffers = model_->external_buffers();
  const auto* groups = model_->external_buffer_groups();
  for (uint32_t i = 0; buffers && i < buffers->size(); ++i) {
    const fb::ExternalBuffer& buffer = *buffers->Get(i);
    if (buffer.id() != id) continue;
    if (!groups || buffer.group() >= groups->size() || !groups->Get(buffer.group())->name()) {
      return Invalid("external buffer ", static_cast<int64_t>(id), " is not in a group");
    }
    const std::string name = groups->Get(buffer.group())->name()->str();
    auto found = std::find_if(externals_.begin(), externals_.end(),
                              [&](const auto& entry) { return entry.first == name; });
    if (found == externals_.end()) {
      X2IR_ASSIGN_OR_RETURN(BlobPtr blob, source_.OpenBeside(name));
      found = externals_.emplace(externals_.end(), name, std::move(blob));
    }
    const BlobPtr& blob = found->second;
    if (buffer.packing() && buffer.packing()->size() != 0 &&
        buffer.packing()->string_view() != "unpacked") {
      return Unimplemented("external buffers packed as '", buffer.packing()->str(), "'");
    }
    if (buffer.offset() > blob->size() || buffer.length() > blob->size() - buffer.offset()) {
      return DataLoss("external buffer ", static_cast<int64_t>(id), " lies outside of '", name,
                      "'");
    }
    return Range{blob, buffer.offset(), buffer.length()};
  }
  return Invalid("there is no external buffer ", static_cast<int64_t>(id));
}

}  // namespace tflite

bool LooksLikeTflite(absl::Span<const std::byte> head) {
  return head.size() >= tflite::kHead && tflite::fb::ModelBufferHasIdentifier(head.data());
}

}  // namespace x2ir
