// HDF5 files, read where they lie: attributes, names in groups, datasets.
//
// By the HDF5 File Format Specification, version 3.0, and for arrays as indexes of chunks by 4.0:
// superblocks 0 to 3, also after a user block; object headers 1 and 2; groups of all kinds; hard
// and soft links; attributes in and outside of headers; compact, contiguous and chunked datasets
// with each index; the filters deflate, shuffle and fletcher32. docs/keras.md says what is refused.
//
// A file is untrusted: nothing outside of it is read, and the work and the memory are bounded by
// its size. DataLoss: the file is broken. Unimplemented: a form that is not read.
#ifndef X2IR_FORMATS_HDF5_FILE_INTERNAL_H_
#define X2IR_FORMATS_HDF5_FILE_INTERNAL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/hdf5/attributes_internal.h"
#include "x2ir/formats/hdf5/dataset_internal.h"
#include "x2ir/formats/hdf5/links_internal.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/unpack_budget.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::hdf5 {

// Whether a file begins as one: with its signature, at 0, 512, 1024, 2048 and so on.
bool LooksLikeHdf5(std::string_view head);

struct OpenOptions {
  // Of a file that was unpacked itself: the bytes that it was unpacked from. 0: it was not.
  uint64_t packed = 0;
  // Compare the checksums of structures and chunks. Tests of damaged files do not.
  bool verify = true;
};

class File {
 public:
  // The file in bytes [offset, offset + size) of the blob.
  static absl::StatusOr<std::unique_ptr<File>> Open(BlobPtr blob, uint64_t offset, uint64_t size,
                                                    const OpenOptions& options = {});

  // Paths are "group/dataset"; "" is the root. False if it is something else, or nothing.
  absl::StatusOr<bool> IsGroup(std::string_view path);
  absl::StatusOr<bool> IsDataset(std::string_view path);
  // The same for all paths of one object. NotFound if there is none.
  absl::StatusOr<uint64_t> Id(std::string_view path);
  // The names in a group, sorted; empty if it is not a group.
  absl::StatusOr<std::vector<std::string>> Names(std::string_view group);
  // The names of an object's attributes, sorted; empty if there is no object.
  absl::StatusOr<std::vector<std::string>> AttributeNames(std::string_view path);
  // An attribute that is one text; nullopt where there is none.
  absl::StatusOr<std::optional<std::string>> Text(std::string_view path,
                                                  std::string_view attribute);
  // One that is a list of texts, or an empty list of anything; nullopt where there is none.
  absl::StatusOr<std::optional<std::vector<std::string>>> Texts(std::string_view path,
                                                                std::string_view attribute);
  // What is contiguous and of a plain type is a view of the blob; all else is put together. Texts
  // are a tensor of strings.
  absl::StatusOr<Tensor> Dataset(std::string_view path);

 private:
  struct Object {
    Messages messages;
    std::optional<Links> links{};
    std::optional<Attributes> attributes{};
  };
  File(Origin origin, std::string_view bytes, const OpenOptions& options);

  absl::Status ReadSuperblock();
  absl::StatusOr<Object*> ObjectAt(uint64_t address);
  absl::StatusOr<Object*> ObjectOf(std::string_view path);
  absl::StatusOr<const Links*> LinksAt(uint64_t address);
  absl::StatusOr<const Attributes*> AttributesOf(Object* object);
  // The data of a message, which may be that of another object.
  absl::StatusOr<std::string_view> DataOf(std::string_view data, bool shared, MessageType type);
  absl::StatusOr<std::optional<std::vector<std::string>>> ReadTexts(Object* object,
                                                                    std::string_view attribute);
  absl::StatusOr<Tensor> ReadDataset(std::string_view path);

  Origin origin_;
  Image image_;
  UnpackBudget budget_;  // of what is not a view of the file
  uint64_t root_ = 0;
  absl::node_hash_map<uint64_t, Object> objects_;
  GlobalHeaps texts_;
};

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_FILE_INTERNAL_H_
