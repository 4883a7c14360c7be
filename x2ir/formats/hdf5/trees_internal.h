// B-trees of versions 1 and 2: all of their records, in order.
#ifndef X2IR_FORMATS_HDF5_TREES_INTERNAL_H_
#define X2IR_FORMATS_HDF5_TREES_INTERNAL_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "x2ir/formats/hdf5/image_internal.h"

namespace x2ir::hdf5 {

// What trees of version 1 are of.
enum class NodeType : uint8_t { kGroup = 0, kChunks = 1 };

// Calls `leaf` with the key before each child of the lowest nodes, and the child's address.
absl::Status WalkTree1(const Image& image, uint64_t root, NodeType type, size_t key_size,
                       Meter* meter,
                       absl::FunctionRef<absl::Status(std::string_view key, uint64_t child)> leaf);

// What records of version 2 are.
enum class RecordType : uint8_t {
  kHugeObject = 1,  // of a fractal heap
  kLinkName = 5,
  kAttributeName = 8,
  kChunk = 10,
  kFilteredChunk = 11,
};

// Calls `record` with the bytes of each. DataLoss if the tree is of another type, or its records
// have less than `least` bytes.
absl::Status WalkTree2(const Image& image, uint64_t address, RecordType type, size_t least,
                       Meter* meter,
                       absl::FunctionRef<absl::Status(std::string_view record)> record);

// The bytes that HDF5 gives a number that is at most `limit`.
size_t BytesFor(uint64_t limit);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_TREES_INTERNAL_H_
