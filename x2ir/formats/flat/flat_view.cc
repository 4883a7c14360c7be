#include <algorithm>

#include "x2ir/formats/flat/flat_view_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::flat {
namespace {

constexpr uint64_t kOffset = sizeof(flatbuffers::uoffset_t);
// A file of objects that are shared as much as can be is read to a few times its size.
constexpr uint64_t kTimes = 100, kLeast = uint64_t{16} << 20;
constexpr uint64_t kTable = 16;  // what a table counts for

}  // namespace

FlatBuffer::FlatBuffer(std::string_view bytes)
    : bytes_(bytes.substr(0, FLATBUFFERS_MAX_BUFFER_SIZE)),
      left_(std::max<uint64_t>(kLeast, kTimes * bytes_.size())) {}

void FlatBuffer::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool FlatBuffer::Take(uint64_t bytes) {
  if (bytes > left_) {
    left_ = 0;
    Fail(DataLoss("objects of the file are referred to so often that all together are more than ",
                  kTimes, " times its ", uint64_t{bytes_.size()}, " bytes"));
    return false;
  }
  left_ -= bytes;
  return true;
}

uint64_t FlatBuffer::Follow(uint64_t place) {
  if (place + kOffset > bytes_.size()) {
    Fail(DataLoss("the file is incomplete: it has ", uint64_t{bytes_.size()}, " bytes"));
    return 0;
  }
  const uint64_t target = place + At<flatbuffers::uoffset_t>(place);
  if (target == place || target + kOffset > bytes_.size()) {
    Fail(DataLoss("the file is damaged: the offset at byte ", place, " leads out of it"));
    return 0;
  }
  return target;
}

FlatView FlatBuffer::TableAt(uint64_t place) {
  FlatView table;
  if (place == 0 || !Take(kTable)) return table;
  const int64_t vtable = static_cast<int64_t>(place) - At<flatbuffers::soffset_t>(place);
  const auto size = static_cast<int64_t>(bytes_.size());
  constexpr int64_t kLeastVtable = 2 * sizeof(flatbuffers::voffset_t);
  const auto bad = [&] {
    Fail(DataLoss("the file is damaged: at byte ", place, " is no table"));
    return table;
  };
  if (vtable < 0 || vtable + kLeastVtable > size) return bad();
  const auto vtable_size = At<flatbuffers::voffset_t>(static_cast<uint64_t>(vtable));
  if (vtable_size < kLeastVtable || vtable_size % 2 != 0 || vtable + vtable_size > size) {
    return bad();
  }
  table.file_ = this;
  table.begin_ = place;
  table.vtable_ = static_cast<uint64_t>(vtable);
  table.vtable_size_ = vtable_size;
  return table;
}

uint32_t FlatBuffer::LengthAt(uint64_t place, uint64_t width) {
  const auto length = At<flatbuffers::uoffset_t>(place);
  if (length * width > bytes_.size() - place - kOffset) {
    Fail(DataLoss("the file is damaged or incomplete: the vector at byte ", place,
                  " leads out of it"));
    return 0;
  }
  return length;
}

std::string_view FlatBuffer::TextAt(uint64_t place) {
  if (place == 0) return {};
  const uint32_t length = LengthAt(place, 1);
  return Take(length + kOffset) ? bytes_.substr(place + kOffset, length) : std::string_view();
}

uint64_t FlatView::FieldAt(At at, uint64_t width) const {
  if (file_ == nullptr || at + sizeof(At) > vtable_size_) return 0;
  const auto offset = file_->At<At>(vtable_ + at);
  if (offset == 0) return 0;
  if (begin_ + offset + width > file_->bytes_.size()) {
    file_->Fail(DataLoss("the file is damaged: a field of the table at byte ", begin_,
                         " lies outside of it"));
    return 0;
  }
  return begin_ + offset;
}

std::string_view FlatView::Text(At at) const {
  const uint64_t place = FieldAt(at, kOffset);
  return place == 0 ? std::string_view() : file_->TextAt(file_->Follow(place));
}

FlatView FlatView::Table(At at) const {
  const uint64_t place = FieldAt(at, kOffset);
  return place == 0 ? FlatView() : file_->TableAt(file_->Follow(place));
}

FlatVector FlatView::Vector(At at, uint32_t width, bool in_place) const {
  FlatVector vector;
  const uint64_t place = FieldAt(at, kOffset);
  const uint64_t target = place == 0 ? 0 : file_->Follow(place);
  if (target == 0) return vector;
  const uint32_t length = file_->LengthAt(target, width);
  if (!file_->Take(in_place ? kOffset : uint64_t{length} * width + kOffset)) return vector;
  vector.file_ = file_;
  vector.begin_ = target + kOffset;
  vector.size_ = length;
  return vector;
}

FlatView FlatVector::Table(uint32_t i) const {
  return i < size_ ? file_->TableAt(file_->Follow(begin_ + kOffset * i)) : FlatView();
}

std::string_view FlatVector::Text(uint32_t i) const {
  return i < size_ ? file_->TextAt(file_->Follow(begin_ + kOffset * i)) : std::string_view();
}

}  // namespace x2ir::flat
