// Heaps: of the names in old groups (local), of texts of variable length (global), and of links and
// attributes outside of object headers (fractal).
#ifndef X2IR_FORMATS_HDF5_HEAPS_INTERNAL_H_
#define X2IR_FORMATS_HDF5_HEAPS_INTERNAL_H_

#include <optional>
#include <set>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/hdf5/image_internal.h"

namespace x2ir::hdf5 {

// All bytes of a local heap.
absl::StatusOr<std::string_view> LocalHeap(const Image& image, uint64_t address);
// A text in it, up to its null byte.
absl::StatusOr<std::string_view> TextAt(std::string_view heap, uint64_t offset);

class GlobalHeaps {
 public:
  // What a text of variable length is: a length, an address and an index in the heap there.
  absl::StatusOr<std::string_view> Text(Image* image, std::string_view reference);

 private:
  using Objects = absl::flat_hash_map<uint64_t, std::string_view>;
  static absl::StatusOr<Objects> Read(Image* image, uint64_t address);
  absl::flat_hash_map<uint64_t, Objects> heaps_;
};

// A heap whose blocks double in size from row to row. Objects in it are views of the file.
// Unimplemented for heaps that are compressed.
class FractalHeap {
 public:
  static absl::StatusOr<FractalHeap> Open(Image* image, uint64_t address);

  // The bytes of an identifier in records of B-trees.
  size_t id_size() const { return id_size_; }
  absl::StatusOr<std::string_view> Object(std::string_view id);

 private:
  struct Place {
    uint64_t address = 0, size = 0;
  };
  absl::StatusOr<std::string_view> Managed(uint64_t offset, uint64_t size);
  absl::StatusOr<std::string_view> Huge(std::string_view id);
  absl::StatusOr<std::string_view> InBlock(uint64_t address, uint64_t block_size, uint64_t offset,
                                           uint64_t size);
  absl::Status CheckSum(uint64_t address, std::string_view block, size_t head);
  uint64_t SizeInRow(uint64_t row) const { return row == 0 ? start_ : start_ << (row - 1); }

  Image* image_ = nullptr;
  size_t id_size_ = 0, offset_width_ = 0, length_width_ = 0;
  bool sums_ = false;  // in its direct blocks
  uint64_t width_ = 0, start_ = 0, largest_ = 0, root_ = 0, root_rows_ = 0, huge_tree_ = 0;
  bool knows_huge_ = false;
  absl::flat_hash_map<uint64_t, Place> huge_;
  std::set<uint64_t> verified_;
};

// Links or attributes that are outside of an object's header: a heap, and the B-tree of version 2
// that has their identifiers.
struct Outside {
  FractalHeap heap;
  uint64_t tree;
};
// `in`: the message that says where; nothing where there are none. `order_size`: the bytes of the
// largest creation order, where it is tracked. `what` names them in errors.
absl::StatusOr<std::optional<Outside>> OpenOutside(Image* image, Cursor in, size_t order_size,
                                                   std::string_view what);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_HEAPS_INTERNAL_H_
