#include <algorithm>

#include "x2ir/formats/hdf5/chunks_internal.h"
#include "x2ir/formats/hdf5/trees_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr size_t kMaskSize = 4;

class ChunkReader {
 public:
  ChunkReader(Image* image, const ChunkLayout& layout, const Extent& extent, ChunkVisitor visit)
      : image_(image), layout_(layout), extent_(extent), visit_(visit) {
    chunk_.at.resize(layout.dims.size());
  }

  absl::Status Read() {
    if (layout_.address == kNowhere) return absl::OkStatus();
    switch (layout_.index) {
      case ChunkIndex::kTree1: return ReadTree1();
      case ChunkIndex::kTree2: return ReadTree2();
      case ChunkIndex::kSingle: return ReadSingle();
      case ChunkIndex::kImplicit: return ReadImplicit();
      case ChunkIndex::kFixedArray:
        X2IR_RETURN_IF_ERROR(SetGrid(kNoAxis));
        return VisitFixedArray(image_, layout_.address, [this](uint64_t index, Cursor entry) {
          return ReadEntry(index, entry);
        });
      case ChunkIndex::kExtensibleArray: {
        size_t endless = kNoAxis;
        for (size_t i = 0; i < extent_.most.size(); ++i) {
          if (extent_.most[i] == kNowhere) endless = i;
        }
        if (endless == kNoAxis) return Broken("the index of chunks does not fit the shape");
        X2IR_RETURN_IF_ERROR(SetGrid(endless));
        return VisitExtensibleArray(image_, layout_.address, [this](uint64_t index, Cursor entry) {
          return ReadEntry(index, entry);
        });
      }
    }
    return NotRead("its index of chunks is of type ", static_cast<int>(layout_.index));
  }

 private:
  static constexpr size_t kNoAxis = ~size_t{0};

  size_t rank() const { return layout_.dims.size(); }
  absl::Status CutOff() const { return Broken("an index of chunks is cut off"); }

  absl::Status ReadTree1() {
    return WalkTree1(*image_, layout_.address, NodeType::kChunks, 8 + 8 * (rank() + 1),
                     image_->indexes(), [this](std::string_view key, uint64_t child) {
                       Cursor in = image_->Over(key);
                       chunk_.size = in.UInt(4);
                       chunk_.skipped = in.UInt(4);
                       for (uint64_t& at : chunk_.at) at = in.UInt(8);
                       chunk_.address = child;
                       return visit_(chunk_);
                     });
  }

  absl::Status ReadTree2() {
    const size_t places = 8 * rank(), width = image_->widths().address;
    const size_t least = width + (layout_.filtered ? 1 + kMaskSize : 0) + places;
    return WalkTree2(*image_, layout_.address,
                     layout_.filtered ? RecordType::kFilteredChunk : RecordType::kChunk, least,
                     image_->indexes(), [&](std::string_view record) -> absl::Status {
                       Cursor in = image_->Over(record.substr(record.size() - places));
                       for (size_t i = 0; i < rank(); ++i) {
                         X2IR_RETURN_IF_ERROR(SetPlace(i, in.UInt(8)));
                       }
                       return ReadStored(image_->Over(record.substr(0, record.size() - places)));
                     });
  }

  absl::Status ReadSingle() {
    chunk_.address = layout_.address;
    chunk_.size = layout_.filtered ? layout_.single_size : layout_.nbytes;
    chunk_.skipped = layout_.single_skipped;
    return visit_(chunk_);
  }

  absl::Status ReadImplicit() {
    X2IR_RETURN_IF_ERROR(SetGrid(kNoAxis));
    uint64_t count = 1;
    for (const uint64_t n : grid_) {
      if (__builtin_mul_overflow(count, n, &count)) return CutOff();
    }
    if (count > image_->bytes().size() / layout_.nbytes) return CutOff();
    chunk_.size = layout_.nbytes;
    for (uint64_t i = 0; i < count; ++i) {
      chunk_.address = layout_.address + i * layout_.nbytes;
      X2IR_RETURN_IF_ERROR(VisitNumber(i));
    }
    return absl::OkStatus();
  }

  absl::Status ReadEntry(uint64_t index, Cursor entry) {
    Cursor in = entry;
    if (in.Address() == kNowhere) return absl::OkStatus();
    X2IR_RETURN_IF_ERROR(SetNumber(index));
    return ReadStored(entry);
  }

  // An address; with filters, a size in what is left and a mask.
  absl::Status ReadStored(Cursor in) {
    chunk_.address = in.Address();
    chunk_.size = layout_.nbytes;
    chunk_.skipped = 0;
    if (layout_.filtered) {
      if (in.left() <= kMaskSize) return CutOff();
      chunk_.size = in.UInt(in.left() - kMaskSize);
      chunk_.skipped = in.UInt(kMaskSize);
    }
    if (!in.ok()) return CutOff();
    return visit_(chunk_);
  }

  absl::Status SetPlace(size_t axis, uint64_t chunk) {
    if (__builtin_mul_overflow(chunk, layout_.dims[axis], &chunk_.at[axis])) {
      return Broken("a chunk is outside of its dataset");
    }
    return absl::OkStatus();
  }

  // Chunks are numbered in the order of the dataset at its largest, the endless axis first.
  absl::Status SetGrid(size_t endless) {
    for (size_t i = 0; i < rank(); ++i) {
      const uint64_t most = extent_.most[i];
      if (i == endless) {
        order_.insert(order_.begin(), i);
        grid_.insert(grid_.begin(), kNowhere);
        continue;
      }
      if (most == kNowhere || most == 0) {
        return Broken("the index of chunks does not fit the shape");
      }
      order_.push_back(i);
      grid_.push_back((most - 1) / layout_.dims[i] + 1);
    }
    return absl::OkStatus();
  }
  absl::Status SetNumber(uint64_t number) {
    for (size_t i = rank(); i-- > 0;) {
      X2IR_RETURN_IF_ERROR(SetPlace(order_[i], number % grid_[i]));
      number /= grid_[i];
    }
    return absl::OkStatus();
  }
  absl::Status VisitNumber(uint64_t number) {
    X2IR_RETURN_IF_ERROR(SetNumber(number));
    return visit_(chunk_);
  }

  Image* image_;
  const ChunkLayout& layout_;
  const Extent& extent_;
  ChunkVisitor visit_;
  StoredChunk chunk_;
  std::vector<size_t> order_;   // of axes
  std::vector<uint64_t> grid_;  // how many chunks, by that order
};

}  // namespace

absl::Status VisitChunks(Image* image, const ChunkLayout& layout, const Extent& extent,
                         ChunkVisitor visit) {
  return ChunkReader(image, layout, extent, visit).Read();
}

}  // namespace x2ir::hdf5
