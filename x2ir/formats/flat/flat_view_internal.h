// Reads a FlatBuffer of an untrusted file. Each access is checked, in place of a pass that verifies
// all of the file before: a file may refer to one object from many places, and such a pass takes
// the product of both. A wrong offset makes an error that the FlatBuffer keeps, and what is read
// from then on is empty.
//
//   FlatBuffer file(bytes);
//   const FlatView model = file.root().Table(fb::InferenceSession::VT_MODEL);
//   const std::string_view name = model.Text(fb::Model::VT_PRODUCER_NAME);
//   X2IR_RETURN_IF_ERROR(file.status());
#ifndef X2IR_FORMATS_FLAT_FLAT_VIEW_INTERNAL_H_
#define X2IR_FORMATS_FLAT_FLAT_VIEW_INTERNAL_H_

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace x2ir::flat {

class FlatBuffer;

// A vector: of numbers, or of offsets to texts or tables.
class FlatVector {
 public:
  FlatVector() = default;
  uint32_t size() const { return size_; }
  uint64_t begin() const { return begin_; }  // of the first element, in the file
  class FlatView Table(uint32_t i) const;
  std::string_view Text(uint32_t i) const;
  template <typename T>
  T Number(uint32_t i) const;
  template <typename T>
  std::vector<T> Numbers() const {
    std::vector<T> numbers;
    numbers.reserve(size_);
    for (uint32_t i = 0; i < size_; ++i) numbers.push_back(Number<T>(i));
    return numbers;
  }

 private:
  friend class FlatView;
  FlatBuffer* file_ = nullptr;
  uint64_t begin_ = 0;
  uint32_t size_ = 0;
};

// A table. One that is not there has no fields.
class FlatView {
 public:
  using At = flatbuffers::voffset_t;  // as flatc's header has them: fb::Tensor::VT_DIMS

  FlatView() = default;
  explicit operator bool() const { return file_ != nullptr; }
  bool Has(At at) const { return FieldAt(at, 0) != 0; }
  template <typename T>
  T Number(At at, T fallback = T()) const;
  std::string_view Text(At at) const;
  FlatView Table(At at) const;
  // `width`: bytes of an element; 1, 4 or 8. The elements of `in_place` are not read from the view.
  FlatVector Vector(At at, uint32_t width = sizeof(flatbuffers::uoffset_t),
                    bool in_place = false) const;

 private:
  friend class FlatBuffer;
  // Where the field lies in the file; 0: it is not there.
  uint64_t FieldAt(At at, uint64_t width) const;

  FlatBuffer* file_ = nullptr;
  uint64_t begin_ = 0, vtable_ = 0;
  uint16_t vtable_size_ = 0;
};

class FlatBuffer {
 public:
  explicit FlatBuffer(std::string_view bytes);
  FlatBuffer(const FlatBuffer&) = delete;

  FlatView root() { return TableAt(Follow(0)); }
  const absl::Status& status() const { return status_; }
  // Keeps the first error.
  void Fail(absl::Status status);

 private:
  friend class FlatView;
  friend class FlatVector;
  template <typename T>
  T At(uint64_t place) const {
    return flatbuffers::ReadScalar<T>(bytes_.data() + place);
  }
  // The place that an offset leads to; 0: nowhere.
  uint64_t Follow(uint64_t place);
  FlatView TableAt(uint64_t place);
  std::string_view TextAt(uint64_t place);
  // The number of elements of the vector at that place, which lies in the file.
  uint32_t LengthAt(uint64_t place, uint64_t width);
  // Whether that many bytes more may be read.
  bool Take(uint64_t bytes);

  std::string_view bytes_;
  uint64_t left_;  // bytes that may be read yet, each time that they are referred to
  absl::Status status_;
};

template <typename T>
T FlatView::Number(At at, T fallback) const {
  const uint64_t place = FieldAt(at, sizeof(T));
  return place == 0 ? fallback : file_->At<T>(place);
}

template <typename T>
T FlatVector::Number(uint32_t i) const {
  return i < size_ ? file_->At<T>(begin_ + uint64_t{i} * sizeof(T)) : T();
}

}  // namespace x2ir::flat

#endif  // X2IR_FORMATS_FLAT_FLAT_VIEW_INTERNAL_H_
