// HDF5 files, read in place in memory: attributes, names of groups, datasets.
//
// A file is untrusted: links that leave it and data in other files are refused, and allocations are
// limited by the file's size. A broken file is DataLoss.
//
// x2ir has its own reader, because the HDF5 library is not safe for untrusted files: some randomly
// changed files cause accesses out of bounds, others endless loops. It knows the forms that h5py
// writes unless it is told otherwise; what else there is the library reads, if it is asked for
// (hdf5_library.cc, the only file that includes it).
#ifndef X2IR_FORMATS_KERAS_HDF5_INTERNAL_H_
#define X2IR_FORMATS_KERAS_HDF5_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::keras {

bool LooksLikeHdf5(absl::Span<const std::byte> head);

class Hdf5File {
 public:
  // The file in bytes [offset, offset + size) of the blob. `by_library`: of a file that is trusted,
  // by the HDF5 library; Unimplemented where that is not installed. `packed`: of one that was
  // unpacked itself, the bytes that it was unpacked from.
  static absl::StatusOr<std::unique_ptr<Hdf5File>> Open(BlobPtr blob, uint64_t offset,
                                                        uint64_t size, bool by_library,
                                                        uint64_t packed = 0);
  virtual ~Hdf5File() = default;
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Paths are "group/dataset"; "" is the root. False if it is not a group, or not a dataset.
  virtual bool IsGroup(const std::string& path) = 0;
  virtual bool IsDataset(const std::string& path) = 0;
  // The names in a group, in the order of HDF5; empty if it is not a group.
  virtual std::vector<std::string> Names(const std::string& group) = 0;
  // An attribute that is one text; nullopt where there is none.
  absl::StatusOr<std::optional<std::string>> Text(const std::string& path,
                                                  const std::string& attribute);
  // One that is a list of texts, or an empty list of anything; nullopt where there is none.
  virtual absl::StatusOr<std::optional<std::vector<std::string>>> Texts(
      const std::string& path, const std::string& attribute) = 0;
  // What is contiguous and of a plain type is a view of the blob; all else is read.
  virtual absl::StatusOr<Tensor> Dataset(const std::string& path) = 0;

 protected:
  Hdf5File() = default;

 private:
  static absl::StatusOr<std::unique_ptr<Hdf5File>> OpenByLibrary(BlobPtr blob, uint64_t offset,
                                                                 uint64_t size);
};

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_HDF5_INTERNAL_H_
