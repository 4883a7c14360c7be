// The filters that chunks went through: deflate, shuffle and fletcher32 are undone.
#ifndef X2IR_FORMATS_HDF5_FILTERS_INTERNAL_H_
#define X2IR_FORMATS_HDF5_FILTERS_INTERNAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/hdf5/image_internal.h"

namespace x2ir::hdf5 {

class Filters {
 public:
  Filters() = default;
  // Of a message.
  static absl::StatusOr<Filters> Of(const Image& image, std::string_view data);

  bool empty() const { return filters_.empty(); }
  // The `size` bytes that `stored` was made of; valid until the next call. Bit i of `skipped`: the
  // i-th filter did not run. Unimplemented for filters of other kinds, by name.
  absl::StatusOr<std::string_view> Undo(std::string_view stored, uint64_t skipped, uint64_t size);

 private:
  struct Filter {
    uint64_t id = 0;
    uint64_t parameter = 0;  // the first
  };
  absl::StatusOr<std::string_view> UndoOne(const Filter& filter, std::string_view bytes,
                                           uint64_t most);
  bool verify_ = true;
  std::vector<Filter> filters_;
  std::string buffers_[2];  // taken in turns
  size_t turn_ = 0;
};

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_FILTERS_INTERNAL_H_
