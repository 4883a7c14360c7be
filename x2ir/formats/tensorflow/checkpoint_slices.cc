// Variables that are stored in parts.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "x2ir/formats/tensorflow/checkpoint_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

// Numbers and strings such that the order of their bytes is that of the values.
void PutNumber(uint64_t value, std::string* out) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  out->push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// As many ones as there are bytes, a zero, and the number, all of it in seven bits a byte; of a
// negative number all bits are the other way round.
void PutSigned(int64_t value, std::string* out) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int bytes = std::bit_width(magnitude) / 7 + 1;
  std::string number;
  for (int i = bytes - 1; i >= 0; --i) {
    number.push_back(static_cast<char>(i >= 8 ? (value < 0 ? -1 : 0) : value >> (8 * i)));
  }
  for (int i = 0; i < bytes; ++i) {
    number[i / 8] = static_cast<char>(number[i / 8] ^ (0x80 >> (i % 8)));
  }
  *out += number;
}

void PutString(std::string_view text, std::string* out) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->append("\0\1", 2);
}

// Calls row(first element in the whole, first in the part, how many) for what lies in one piece.
template <typename Row>
void ForEachRow(const std::vector<int64_t>& dims, const Slice& slice, Row row) {
  const std::vector<int64_t> sizes = DimsOf(slice);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t length = rank == 0 ? 1 : sizes.back();
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t part = 0;; part += length) {
    int64_t whole = 0;
    for (int64_t i = 0; i < rank; ++i) whole = whole * dims[i] + slice[i].start + at[i];
    row(whole, part, length);
    int64_t axis = rank - 2;
    while (axis >= 0 && ++at[axis] == sizes[axis]) at[axis--] = 0;
    if (axis < 0) return;
  }
}

}  // namespace

std::string SliceKey(std::string_view key, const Slice& slice) {
  std::string out;
  PutNumber(0, &out);
  PutString(key, &out);
  PutNumber(slice.size(), &out);
  for (const Extent& extent : slice) {
    PutSigned(extent.start, &out);
    PutSigned(extent.length, &out);
  }
  return out;
}

absl::StatusOr<Slice> Within(const Slice& slice, const std::vector<int64_t>& dims) {
  bool fits = slice.size() == dims.size();
  Slice result = slice;
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    Extent& extent = result[i];
    fits = extent.start >= 0 && extent.start <= dims[i];
    const int64_t left = fits ? dims[i] - extent.start : 0;
    if (extent.length == -1) extent.length = left;
    fits = fits && extent.length >= 0 && extent.length <= left;
  }
  if (!fits) return Invalid("a slice of it lies outside of it");
  return result;
}

absl::StatusOr<Slice> ParseSlice(std::string_view text, const std::vector<int64_t>& dims) {
  const absl::Status bad = Invalid("the part '", text, "' of a tensor of shape [",
                                   Shape::FromInts(dims).ToString(), "] is invalid");
  for (const int64_t dim : dims) {
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || ParseNumber<int64_t>(text.substr(0, space)) != dim)
      return bad;
    text.remove_prefix(space + 1);
  }
  Slice slice;
  while (slice.size() < dims.size()) {
    const std::string_view one = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    Extent extent;
    if (one != "-") {
      const size_t comma = one.find(',');
      if (comma == std::string_view::npos) return bad;
      const auto start = ParseNumber<int64_t>(one.substr(0, comma)),
                 length = ParseNumber<int64_t>(one.substr(comma + 1));
      if (!start || !length || *length < 0) return bad;
      extent = {*start, *length};
    }
    slice.push_back(extent);
  }
  if (!text.empty()) return bad;
  return Within(slice, dims);
}

std::vector<int64_t> DimsOf(const Slice& slice) {
  std::vector<int64_t> dims;
  for (const Extent& extent : slice) dims.push_back(extent.length);
  return dims;
}

bool CopyIn(const Tensor& part, const Slice& slice, Tensor* whole, std::vector<bool>* seen) {
  const int64_t width = BitWidth(part.dtype()) / 8;
  std::byte* const to = whole->mutable_bytes().data();
  const std::byte* const from = part.bytes().data();
  bool fresh = true;
  ForEachRow(whole->dims(), slice, [&](int64_t at, int64_t in_part, int64_t count) {
    std::memcpy(to + at * width, from + in_part * width, static_cast<size_t>(count * width));
    for (int64_t i = at; seen && i < at + count; ++i) {
      fresh &= !(*seen)[i];
      (*seen)[i] = true;
    }
  });
  return fresh;
}

Tensor CutOut(const Tensor& whole, const Slice& slice) {
  const int64_t width = BitWidth(whole.dtype()) / 8;
  Tensor part = Tensor::Zeros(whole.dtype(), DimsOf(slice));
  std::byte* const to = part.mutable_bytes().data();
  const std::byte* const from = whole.bytes().data();
  ForEachRow(whole.dims(), slice, [&](int64_t at, int64_t in_part, int64_t count) {
    std::memcpy(to + in_part * width, from + at * width, static_cast<size_t>(count * width));
  });
  return part;
}

}  // namespace x2ir::tf_format
