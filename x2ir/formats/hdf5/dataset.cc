#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "x2ir/formats/hdf5/chunks_internal.h"
#include "x2ir/formats/hdf5/dataset_internal.h"
#include "x2ir/formats/hdf5/filters_internal.h"
#include "x2ir/graph_wrapper/residency.h"

namespace x2ir::hdf5 {
namespace {

enum Storage : uint64_t { kCompact = 0, kContiguous = 1, kChunked = 2, kVirtual = 3 };

// Deflate packs no more than 1032 bytes into one.
constexpr uint64_t kMaxOfAByte = 1032;
constexpr uint64_t kSmallChunk = uint64_t{16} << 20, kMaxOfADataset = 4;

struct Layout {
  uint64_t storage = 0;
  std::string_view compact{};
  uint64_t address = kNowhere;  // of contiguous bytes
  ChunkLayout chunks{};
};

absl::Status LayoutCutOff() { return Broken("a layout is cut off"); }

// The dims of a chunk have one axis more, the bytes of an element.
absl::Status SetChunkDims(std::vector<uint64_t> dims, const ElementType& type, const Extent& extent,
                          ChunkLayout* layout) {
  if (dims.size() != extent.dims.size() + 1 || dims.size() < 2 || dims.back() != type.size) {
    return Broken("the chunks of a dataset do not fit its shape");
  }
  layout->nbytes = 1;
  for (const uint64_t dim : dims) {
    if (dim == 0 || __builtin_mul_overflow(layout->nbytes, dim, &layout->nbytes)) {
      return Broken("the chunks of a dataset do not fit its shape");
    }
  }
  dims.pop_back();
  layout->dims = std::move(dims);
  return absl::OkStatus();
}

// Versions 1 and 2.
absl::Status ReadOldLayout(Cursor in, const ElementType& type, const Extent& extent,
                           Layout* layout) {
  const uint64_t rank = in.UInt(1);
  layout->storage = in.UInt(1);
  in.Skip(5);
  if (layout->storage != kCompact) layout->address = in.Address();
  std::vector<uint64_t> dims;
  for (uint64_t i = 0; i < rank; ++i) dims.push_back(in.UInt(4));
  if (layout->storage == kCompact) layout->compact = in.Bytes(in.UInt(4));
  if (!in.ok()) return LayoutCutOff();
  if (layout->storage != kChunked) return absl::OkStatus();
  layout->chunks.address = layout->address;
  return SetChunkDims(std::move(dims), type, extent, &layout->chunks);
}

// Chunks of version 4, with one of several indexes.
absl::Status ReadChunkIndex(Cursor in, const ElementType& type, const Extent& extent,
                            ChunkLayout* layout) {
  constexpr uint64_t kPlainEdges = 1, kSingleFiltered = 2;
  const uint64_t flags = in.UInt(1), rank = in.UInt(1), width = in.UInt(1);
  if (width > 8) return LayoutCutOff();
  std::vector<uint64_t> dims;
  for (uint64_t i = 0; i < rank; ++i) dims.push_back(in.UInt(width));
  layout->index = static_cast<ChunkIndex>(in.UInt(1));
  layout->plain_edges = (flags & kPlainEdges) != 0;
  switch (layout->index) {
    case ChunkIndex::kSingle:
      if ((flags & kSingleFiltered) != 0) {
        layout->single_size = in.Length();
        layout->single_skipped = in.UInt(4);
      } else {
        layout->filtered = false;
      }
      break;
    case ChunkIndex::kImplicit: layout->filtered = false; break;
    case ChunkIndex::kFixedArray: in.Skip(1); break;
    case ChunkIndex::kExtensibleArray: in.Skip(5); break;
    case ChunkIndex::kTree2: in.Skip(6); break;
    default: return NotRead("its index of chunks is of type ", static_cast<int>(layout->index));
  }
  layout->address = in.Address();
  if (!in.ok()) return LayoutCutOff();
  return SetChunkDims(std::move(dims), type, extent, layout);
}

absl::StatusOr<Layout> LayoutOf(const Image& image, std::string_view data, bool filtered,
                                const ElementType& type, const Extent& extent) {
  Layout layout;
  layout.chunks.filtered = filtered;
  Cursor in = image.Over(data);
  const uint64_t version = in.UInt(1);
  if (version == 1 || version == 2) {
    X2IR_RETURN_IF_ERROR(ReadOldLayout(in, type, extent, &layout));
    return layout;
  }
  if (version != 3 && version != 4) return NotRead("its layout is of version ", version);
  layout.storage = in.UInt(1);
  if (layout.storage == kCompact) {
    layout.compact = in.Bytes(in.UInt(2));
  } else if (layout.storage == kContiguous) {
    layout.address = in.Address();
  } else if (layout.storage == kChunked && version == 4) {
    X2IR_RETURN_IF_ERROR(ReadChunkIndex(in, type, extent, &layout.chunks));
  } else if (layout.storage == kChunked) {
    const uint64_t rank = in.UInt(1);
    layout.chunks.address = in.Address();
    std::vector<uint64_t> dims;
    for (uint64_t i = 0; i < rank; ++i) dims.push_back(in.UInt(4));
    X2IR_RETURN_IF_ERROR(SetChunkDims(std::move(dims), type, extent, &layout.chunks));
  }
  if (!in.ok()) return LayoutCutOff();
  return layout;
}

class ElementReader {
 public:
  ElementReader(Image* image, const Origin& origin, UnpackBudget* budget, const ElementType& type,
                const Extent& extent)
      : image_(image), origin_(origin), budget_(budget), type_(type), extent_(extent) {}

  absl::StatusOr<Tensor> Read(const Messages& messages) {
    const bool is_text = type_.kind != ElementType::kNumber;
    dtype_ = is_text ? DType::kUInt8 : type_.dtype;
    dims_ = extent_.dims;
    if (__builtin_mul_overflow(static_cast<uint64_t>(extent_.count), type_.size, &nbytes_) ||
        nbytes_ > INT64_MAX) {
      return Broken("a shape is larger than any file");
    }
    if (is_text) dims_ = {static_cast<int64_t>(nbytes_)};
    if (nbytes_ == 0) return Tensor::Zeros(dtype_, dims_);
    const Message* at = Find(messages, MessageType::kLayout);
    if (!at || at->shared) return Broken("a dataset has no layout");
    if (Find(messages, MessageType::kExternal)) {
      return Unimplemented("its elements are stored in another file");
    }
    const Message* filters = Find(messages, MessageType::kFilters);
    if (filters) {
      if (filters->shared) return NotRead("its filters are shared by many objects");
      X2IR_ASSIGN_OR_RETURN(filters_, Filters::Of(*image_, filters->data));
    }
    X2IR_ASSIGN_OR_RETURN(const Layout layout,
                          LayoutOf(*image_, at->data, !filters_.empty(), type_, extent_));
    X2IR_ASSIGN_OR_RETURN(fill_, FillOf(*image_, messages));
    switch (layout.storage) {
      case kCompact: {
        if (layout.compact.size() != nbytes_) return Broken("a layout does not fit the shape");
        return View(static_cast<uint64_t>(layout.compact.data() - image_->bytes().data()));
      }
      case kContiguous:
        if (layout.address == kNowhere) return Filled();
        if (image_->At(layout.address, nbytes_).size() != nbytes_) {
          return Broken("a dataset ends past the file");
        }
        return View(layout.address);
      case kChunked: return ReadChunks(layout.chunks);
      case kVirtual: return Unimplemented("its elements are those of other datasets (virtual)");
      default: return NotRead("its layout is of type ", layout.storage);
    }
  }

 private:
  absl::StatusOr<Tensor> View(uint64_t address) {
    X2IR_ASSIGN_OR_RETURN(Tensor tensor,
                          TensorOf(dtype_, dims_, origin_.blob, origin_.offset + address, nbytes_));
    if (!type_.big_endian || type_.size == 1) return tensor;
    X2IR_RETURN_IF_ERROR(budget_->Take(nbytes_));
    Tensor swapped = Tensor::Zeros(dtype_, dims_);
    std::memcpy(swapped.mutable_bytes().data(), tensor.bytes().data(), nbytes_);
    DropPages(tensor);
    return Finished(std::move(swapped));
  }

  Tensor Finished(Tensor tensor) const {
    if (type_.big_endian && type_.size > 1) {
      std::byte* bytes = tensor.mutable_bytes().data();
      for (uint64_t i = 0; i < nbytes_; i += type_.size) {
        std::reverse(bytes + i, bytes + i + type_.size);
      }
    }
    return Spilled(std::move(tensor));
  }

  // A tensor of nothing but the fill value, in the order of the file's bytes.
  absl::StatusOr<Tensor> Blank() {
    X2IR_RETURN_IF_ERROR(budget_->Take(nbytes_));
    Tensor tensor = Tensor::Zeros(dtype_, dims_);
    const std::string_view value = fill_.value;
    if (value.empty() || value.find_first_not_of('\0') == value.npos) return tensor;
    if (type_.kind == ElementType::kLongText) {
      return NotRead("its fill value is a text of variable length");
    }
    if (value.size() != type_.size) return Broken("a fill value does not fit its type");
    std::byte* bytes = tensor.mutable_bytes().data();
    for (uint64_t i = 0; i < nbytes_; i += value.size()) {
      std::memcpy(bytes + i, value.data(), value.size());
    }
    return tensor;
  }
  absl::Status NeverWritten() const {
    return fill_.defined ? absl::OkStatus()
                         : DataLoss("it was never written as a whole, and has no fill value");
  }
  absl::StatusOr<Tensor> Filled() {
    X2IR_RETURN_IF_ERROR(NeverWritten());
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, Blank());
    return Finished(std::move(tensor));
  }

  absl::StatusOr<Tensor> ReadChunks(const ChunkLayout& layout) {
    const uint64_t most = image_->bytes().size() * kMaxOfAByte;
    if (layout.nbytes > most) return DataLoss("its chunks are larger than the file can hold");
    // A chunk may be larger than the present data if the dataset can grow; writers do not use such
    // large chunks for small data.
    if (layout.nbytes > kSmallChunk && layout.nbytes / kMaxOfADataset > nbytes_) {
      return DataLoss("its chunks have ", layout.nbytes, " bytes, too many for the ", nbytes_,
                      " bytes stored in them");
    }
    uint64_t missing = 1;
    for (size_t i = 0; i < layout.dims.size(); ++i) {
      missing *= (static_cast<uint64_t>(extent_.dims[i]) - 1) / layout.dims[i] + 1;
    }
    X2IR_ASSIGN_OR_RETURN(Tensor tensor, Blank());
    std::byte* to = tensor.mutable_bytes().data();
    uint64_t unpacked = 0, first = image_->bytes().size(), end = 0;
    X2IR_RETURN_IF_ERROR(
        VisitChunks(image_, layout, extent_, [&](const StoredChunk& chunk) -> absl::Status {
          bool inside = true, edge = false;
          for (size_t i = 0; i < layout.dims.size(); ++i) {
            const auto dim = static_cast<uint64_t>(extent_.dims[i]);
            inside &= chunk.at[i] < dim && chunk.at[i] % layout.dims[i] == 0;
            edge |= inside && dim - chunk.at[i] < layout.dims[i];
          }
          // A dataset that became smaller may still have others.
          if (!inside) return absl::OkStatus();
          if (missing-- == 0) return Broken("a chunk is listed twice");
          const bool plain = filters_.empty() || (edge && layout.plain_edges);
          const std::string_view stored = image_->At(chunk.address, chunk.size);
          if (stored.size() != chunk.size) return Broken("a chunk ends past the file");
          if (plain && stored.size() != layout.nbytes) return Broken("a chunk has another size");
          unpacked += layout.nbytes;
          if (unpacked > most) return DataLoss("it is larger than the file can hold");
          first = std::min(first, chunk.address);
          end = std::max(end, chunk.address + chunk.size);
          std::string_view bytes = stored;
          if (!plain) {
            X2IR_ASSIGN_OR_RETURN(bytes, filters_.Undo(stored, chunk.skipped, layout.nbytes));
          }
          Put(layout.dims, chunk.at, bytes, to);
          return absl::OkStatus();
        }));
    if (missing != 0) X2IR_RETURN_IF_ERROR(NeverWritten());
    if (first < end) Forget(first, end - first);
    return Finished(std::move(tensor));
  }

  // A part of the file that is not needed again.
  void Forget(uint64_t address, uint64_t size) const {
    const auto part = TensorOf(DType::kUInt8, {static_cast<int64_t>(size)}, origin_.blob,
                               origin_.offset + address, size);
    if (part.ok()) DropPages(*part);
  }

  // A chunk's rows, as far as they are inside of the dataset.
  void Put(const std::vector<uint64_t>& chunk, const std::vector<uint64_t>& at,
           std::string_view bytes, std::byte* to) const {
    const size_t rank = chunk.size();
    std::vector<uint64_t> sizes(rank), place(rank, 0);
    for (size_t i = 0; i < rank; ++i) {
      sizes[i] = std::min(chunk[i], static_cast<uint64_t>(extent_.dims[i]) - at[i]);
    }
    const uint64_t row = sizes[rank - 1] * type_.size;
    while (true) {
      uint64_t from = 0, into = 0;
      for (size_t i = 0; i < rank; ++i) {
        from = from * chunk[i] + place[i];
        into = into * static_cast<uint64_t>(extent_.dims[i]) + at[i] + place[i];
      }
      std::memcpy(to + into * type_.size, bytes.data() + from * type_.size, row);
      size_t axis = rank - 1;
      while (axis > 0 && ++place[axis - 1] == sizes[axis - 1]) place[--axis] = 0;
      if (axis == 0) return;
    }
  }

  Image* image_;
  const Origin& origin_;
  UnpackBudget* budget_;
  const ElementType& type_;
  const Extent& extent_;
  DType dtype_ = DType::kUndefined;
  std::vector<int64_t> dims_;
  uint64_t nbytes_ = 0;
  Filters filters_;
  Fill fill_;
};

}  // namespace

absl::StatusOr<Tensor> ReadElements(Image* image, const Origin& origin, UnpackBudget* budget,
                                    const Messages& messages, const ElementType& type,
                                    const Extent& extent) {
  return ElementReader(image, origin, budget, type, extent).Read(messages);
}

}  // namespace x2ir::hdf5
