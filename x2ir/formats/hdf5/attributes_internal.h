// Attributes of objects, in their headers or outside of them, and the texts that elements are.
#ifndef X2IR_FORMATS_HDF5_ATTRIBUTES_INTERNAL_H_
#define X2IR_FORMATS_HDF5_ATTRIBUTES_INTERNAL_H_

#include <functional>
#include <map>
#include <string>

#include "x2ir/formats/hdf5/heaps_internal.h"
#include "x2ir/formats/hdf5/types_internal.h"

namespace x2ir::hdf5 {

struct Attribute {
  // Types and shapes may be those of another object (shared).
  std::string_view type{}, extent{}, value{};
  bool shared_type = false, shared_extent = false;
};
// By name; of several of one name the first counts.
using Attributes = std::map<std::string, Attribute, std::less<>>;

absl::StatusOr<Attributes> ReadAttributes(Image* image, const Messages& messages);

// `count` elements of a type of texts. DataLoss if `bytes` are too few.
absl::StatusOr<std::vector<std::string>> TextsOf(Image* image, GlobalHeaps* heaps,
                                                 const ElementType& type, int64_t count,
                                                 std::string_view bytes);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_ATTRIBUTES_INTERNAL_H_
