// A SavedModel's checkpoint: an index of variables, and files with their bytes, which stay mapped.
#ifndef X2IR_FORMATS_TENSORFLOW_CHECKPOINT_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_CHECKPOINT_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/tensorflow/saved_files_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::tf_format {

// A part of a tensor: where it begins and how long it is, an axis each. A length of -1: all of the
// axis, which keys of the index say so too.
struct Extent {
  int64_t start = 0, length = -1;
};
using Slice = std::vector<Extent>;

// Where a variable has its value: the whole of a key, or what a text such as "20 10 0,5:-" says
// (the shape, and a start and a length an axis).
struct Place {
  std::string key, slice;
};

class Checkpoint {
 public:
  // InvalidArgument when the SavedModel has no variables/.
  static absl::StatusOr<std::unique_ptr<Checkpoint>> Open(const SavedFiles& files);
  // By the name that a graph knows the variable by.
  absl::StatusOr<Tensor> Variable(std::string_view name) const;
  absl::StatusOr<Tensor> At(const Place& place) const;

 private:
  struct Stored {
    int64_t type = 0, shard = 0, offset = 0, size = 0;
    uint32_t crc = 0;
    Shape shape;
    std::vector<Slice> slices;  // which other entries hold
  };
  absl::Status ReadIndex(std::string_view file, uint64_t* shards);
  absl::Status ReadObjectGraph();
  absl::StatusOr<Tensor> Whole(std::string_view key, const Stored& entry) const;
  absl::StatusOr<Tensor> Read(const Stored& entry) const;
  absl::StatusOr<Tensor> ReadStrings(const Stored& entry, std::vector<int64_t> dims,
                                     std::string_view bytes) const;
  absl::StatusOr<const Stored*> SliceEntry(std::string_view key, const Stored& whole,
                                           const Slice& slice) const;
  absl::StatusOr<Tensor> Assemble(std::string_view key, const Stored& entry) const;
  absl::Status Spend(const Stored& entry, int64_t bytes) const;
  const Slice* FindSlice(const Stored& entry, const std::vector<int64_t>& dims,
                         const Slice& wanted) const;

  std::vector<BlobPtr> shards_;
  StringMap<Stored> entries_;
  StringMap<std::string> keys_;  // variables' own names to keys; "" where there are two
  // What there is still to spend on putting slices together: bytes, and some for each slice.
  mutable int64_t budget_ = int64_t{16} << 20;
  // Of variables that were asked for by parts: the slices, by their keys with every length.
  mutable absl::flat_hash_map<const Stored*, StringMap<const Slice*>> slices_;
};

// --- Slices -------------------------------------------------------------------------------------

// The key of a slice's entry.
std::string SliceKey(std::string_view key, const Slice& slice);
// With every length written out; InvalidArgument when it does not lie in a tensor of these sizes.
absl::StatusOr<Slice> Within(const Slice& slice, const std::vector<int64_t>& dims);
// "20 10 0,5:-" of a tensor of these sizes.
absl::StatusOr<Slice> ParseSlice(std::string_view text, const std::vector<int64_t>& dims);
std::vector<int64_t> DimsOf(const Slice& slice);  // of one that is Within
// Copies `part` to the place of `slice` in `whole`, or back. `seen` (may be null) marks the
// elements of `whole` that were copied; false when one was marked before.
bool CopyIn(const Tensor& part, const Slice& slice, Tensor* whole, std::vector<bool>* seen);
Tensor CutOut(const Tensor& whole, const Slice& slice);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_CHECKPOINT_INTERNAL_H_
