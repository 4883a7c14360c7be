// Where the chunks of a dataset are: the indexes of all versions of layouts.
#ifndef X2IR_FORMATS_HDF5_CHUNKS_INTERNAL_H_
#define X2IR_FORMATS_HDF5_CHUNKS_INTERNAL_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "x2ir/formats/hdf5/types_internal.h"

namespace x2ir::hdf5 {

enum class ChunkIndex : uint8_t {
  kTree1 = 0,  // of layouts before version 4
  kSingle = 1,
  kImplicit = 2,  // one after another
  kFixedArray = 3,
  kExtensibleArray = 4,
  kTree2 = 5,
};

struct ChunkLayout {
  ChunkIndex index = ChunkIndex::kTree1;
  uint64_t address = kNowhere;   // of the index; kNowhere: no chunk was written
  std::vector<uint64_t> dims{};  // of a chunk, in elements, without the axis of an element's bytes
  uint64_t nbytes = 0;           // of a chunk without filters
  bool filtered = false;         // the index has a size for each chunk
  bool plain_edges = false;      // chunks that reach past the dataset did not go through filters
  uint64_t single_size = 0, single_skipped = 0;  // of a single chunk with filters
};

struct StoredChunk {
  uint64_t address = 0, size = 0;
  uint64_t skipped = 0;        // a bit for each filter that did not run
  std::vector<uint64_t> at{};  // its first element
};
using ChunkVisitor = absl::FunctionRef<absl::Status(const StoredChunk& chunk)>;

// Each chunk that is stored, in no order, as the file lists them: the places are not checked.
absl::Status VisitChunks(Image* image, const ChunkLayout& layout, const Extent& extent,
                         ChunkVisitor visit);

// An entry of an array: of a chunk's place in the order of all chunks that the dataset may have.
using EntryVisitor = absl::FunctionRef<absl::Status(uint64_t index, Cursor entry)>;
absl::Status VisitFixedArray(Image* image, uint64_t address, EntryVisitor visit);
absl::Status VisitExtensibleArray(Image* image, uint64_t address, EntryVisitor visit);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_CHUNKS_INTERNAL_H_
