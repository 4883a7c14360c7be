// Types of elements, shapes and fill values of datasets and attributes.
#ifndef X2IR_FORMATS_HDF5_TYPES_INTERNAL_H_
#define X2IR_FORMATS_HDF5_TYPES_INTERNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/hdf5/header_internal.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace x2ir::hdf5 {

struct ElementType {
  // kText: of `size` bytes each; kLongText: of variable length; kOther: tensors have no such type.
  enum Kind { kNumber, kText, kLongText, kOther } kind = kOther;
  DType dtype = DType::kUndefined;  // of numbers
  size_t size = 0;                  // bytes of an element in the file
  bool big_endian = false, padded_with_spaces = false;
  std::string_view name = "an unknown type";  // for messages
};

// Booleans are what h5py writes for them: enumerations of int8 with the members FALSE and TRUE.
// Two opaque bytes are bfloat16, which NumPy has no type for.
absl::StatusOr<ElementType> TypeOf(const Image& image, std::string_view data);

// DataLoss for more axes than tensors have, or more elements than int64 counts.
struct Extent {
  std::vector<int64_t> dims;
  std::vector<uint64_t> most;  // to which it may grow; kNowhere without end
  int64_t count = 1;
  bool none = false;  // no elements at all, which is not the same as a dim of 0
};
absl::StatusOr<Extent> ExtentOf(const Image& image, std::string_view data);

// What elements are that were never written.
struct Fill {
  bool defined = true;
  std::string_view value{};  // as an element in the file; empty: zeros
};
absl::StatusOr<Fill> FillOf(const Image& image, const Messages& messages);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_TYPES_INTERNAL_H_
