// Implements the protobuf wire format.
#include "x2ir/formats/wire.h"

#include <bit>
#include <cstring>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// Nested messages up to this size are moved to make room for a longer length; larger ones
// get their length spliced in.
constexpr size_t kMaxMove = size_t{1} << 14;

std::string_view TypeName(WireType type) {
  switch (type) {
    case WireType::kVarint: return "a varint";
    case WireType::kFixed64: return "64 bits";
    case WireType::kBytes: return "length-delimited";
    case WireType::kFixed32: return "32 bits";
    default: return "a group";
  }
}

// Writes at `out`, which has room for 10 bytes.
int EncodeVarint(uint64_t value, char* out) {
  int n = 0;
  for (; value >= 0x80; value >>= 7) out[n++] = static_cast<char>(value | 0x80);
  out[n++] = static_cast<char>(value);
  return n;
}

}  // namespace

std::optional<uint64_t> VarintAt(std::string_view bytes, size_t* at, int most) {
  uint64_t value = 0;
  for (int i = 0; i < most && *at < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[(*at)++]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

int VarintSize(uint64_t value) { return (std::bit_width(value | 1) + 6) / 7; }

// --- WireReader ---------------------------------------------------------------------------

void WireReader::Fail(std::string_view what) {
  if (status_.ok()) status_ = DataLoss(what, " at byte ", start_ - origin_);
  end_ = p_;
}

bool WireReader::ReadVarint(uint64_t* value) {
  if (p_ != end_ && static_cast<unsigned char>(*p_) < 0x80) {
    *value = static_cast<unsigned char>(*p_++);
    return true;
  }
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (p_ == end_) {
      Fail("the data ends inside of a number");
      return false;
    }
    const uint64_t byte = static_cast<unsigned char>(*p_++);
    // The tenth byte has room for one bit.
    if (shift == 63 && byte > 1) break;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  Fail("a number of more than 64 bits");
  return false;
}

bool WireReader::Next() {
  start_ = p_;
  if (p_ == end_) return false;
  uint64_t tag;
  if (!ReadVarint(&tag)) return false;
  const uint64_t number = tag >> 3;
  if (number == 0 || number > 0x1fffffff) {
    Fail(StrCat("the impossible field number ", number));
    return false;
  }
  field_ = static_cast<uint32_t>(number);
  type_ = static_cast<WireType>(tag & 7);
  const size_t left = static_cast<size_t>(end_ - p_);
  auto need = [&](size_t n) {
    if (left >= n) return true;
    Fail(StrCat("the data ends inside of field ", field_));
    return false;
  };
  switch (type_) {
    case WireType::kVarint: return ReadVarint(&number_);
    case WireType::kFixed64:
      if (!need(8)) return false;
      number_ = LoadNumber<uint64_t>(p_);
      p_ += 8;
      return true;
    case WireType::kFixed32:
      if (!need(4)) return false;
      number_ = LoadNumber<uint32_t>(p_);
      p_ += 4;
      return true;
    case WireType::kBytes: {
      uint64_t length;
      if (!ReadVarint(&length)) return false;
      if (length > static_cast<uint64_t>(end_ - p_)) {
        Fail(StrCat("field ", field_, " claims ", length, " bytes where ", end_ - p_, " are left"));
        return false;
      }
      bytes_ = {p_, static_cast<size_t>(length)};
      p_ += length;
      return true;
    }
    case WireType::kGroup: return SkipGroup();
    default: Fail(StrCat("the impossible wire type ", tag & 7)); return false;
  }
}

bool WireReader::SkipGroup() {
  std::vector<uint64_t> open = {field_};
  while (!open.empty()) {
    uint64_t tag, ignored;
    if (!ReadVarint(&tag)) return false;
    size_t skip = 0;
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        if (!ReadVarint(&ignored)) return false;
        break;
      case WireType::kFixed64: skip = 8; break;
      case WireType::kFixed32: skip = 4; break;
      case WireType::kBytes:
        if (!ReadVarint(&ignored)) return false;
        skip = ignored;
        break;
      case WireType::kGroup:
        if (open.size() >= static_cast<size_t>(kMaxWireDepth)) {
          Fail("too deeply nested groups");
          return false;
        }
        open.push_back(tag >> 3);
        break;
      case WireType::kEndGroup:
        if (open.back() != tag >> 3) {
          Fail("a group ends with another field number");
          return false;
        }
        open.pop_back();
        break;
      default: Fail(StrCat("the impossible wire type ", tag & 7)); return false;
    }
    if (skip > static_cast<size_t>(end_ - p_)) {
      Fail("the data ends inside of a group");
      return false;
    }
    p_ += skip;
  }
  return true;
}

bool WireReader::Expect(WireType type) {
  if (type_ == type) return status_.ok();
  Fail(StrCat("field ", field_, " is ", TypeName(type_), ", expected ", TypeName(type)));
  return false;
}

uint64_t WireReader::Varint() { return Expect(WireType::kVarint) ? number_ : 0; }

float WireReader::Float() {
  return Expect(WireType::kFixed32) ? std::bit_cast<float>(static_cast<uint32_t>(number_)) : 0;
}

double WireReader::Double() {
  return Expect(WireType::kFixed64) ? std::bit_cast<double>(number_) : 0;
}

std::string_view WireReader::Bytes() {
  return Expect(WireType::kBytes) ? bytes_ : std::string_view();
}

void WireReader::AppendInts(std::vector<int64_t>* out) {
  if (type_ != WireType::kBytes) {
    if (Expect(WireType::kVarint)) out->push_back(static_cast<int64_t>(number_));
    return;
  }
  WireReader packed(bytes_, origin_);
  // Every byte without the high bit ends a number.
  size_t count = 0;
  for (char c : bytes_) count += static_cast<signed char>(c) >= 0;
  out->reserve(out->size() + count);
  uint64_t value;
  while (packed.p_ != packed.end_ && packed.ReadVarint(&value)) {
    out->push_back(static_cast<int64_t>(value));
  }
  if (!packed.status_.ok()) Fail(StrCat("a broken list of numbers in field ", field_));
}

template <typename T>
void WireReader::AppendFixed(WireType type, std::vector<T>* out) {
  if (type_ != WireType::kBytes) {
    if (!Expect(type)) return;
    T value;
    std::memcpy(&value, &number_, sizeof(T));  // little-endian: the low bytes come first
    out->push_back(value);
    // A list that is not packed is taken as a whole, not by a field a time.
    const std::string_view tag(start_, static_cast<size_t>(p_ - start_) - sizeof(T));
    const size_t step = tag.size() + sizeof(T);
    while (static_cast<size_t>(end_ - p_) >= step && tag == std::string_view(p_, tag.size())) {
      std::memcpy(&value, p_ + tag.size(), sizeof(T));
      out->push_back(value);
      p_ += step;
    }
    return;
  }
  if (bytes_.size() % sizeof(T) != 0) {
    return Fail(
        StrCat("field ", field_, " of ", bytes_.size(), " bytes, not a multiple of ", sizeof(T)));
  }
  const size_t before = out->size();
  out->resize(before + bytes_.size() / sizeof(T));
  if (!bytes_.empty()) std::memcpy(out->data() + before, bytes_.data(), bytes_.size());
}

std::optional<WireReader::FloatRun> WireReader::TakeFloatRun(size_t least) {
  constexpr size_t kSize = sizeof(float);
  if (type_ == WireType::kBytes) {
    const FloatRun run = {bytes_.data(), kSize, bytes_.size() / kSize};
    return run.count >= least && bytes_.size() % kSize == 0 ? std::optional(run) : std::nullopt;
  }
  if (type_ != WireType::kFixed32) return std::nullopt;
  const std::string_view tag(start_, static_cast<size_t>(p_ - start_) - kSize);
  FloatRun run = {p_ - kSize, tag.size() + kSize, 1};
  const char* end = p_;
  // Most tags are a byte: a call for each would take longer than all else.
  const auto is_next = [&] {
    return tag.size() == 1 ? *end == tag[0] : tag == std::string_view(end, tag.size());
  };
  while (static_cast<size_t>(end_ - end) >= run.step && is_next()) {
    end += run.step;
    ++run.count;
  }
  if (run.count < least) return std::nullopt;
  p_ = end;
  return run;
}

void WireReader::AppendFloats(std::vector<float>* out) { AppendFixed(WireType::kFixed32, out); }
void WireReader::AppendDoubles(std::vector<double>* out) { AppendFixed(WireType::kFixed64, out); }

// --- WireWriter ---------------------------------------------------------------------------

void WireWriter::PutVarint(uint64_t value) {
  if (value < 0x80) {
    buffer_.push_back(static_cast<char>(value));
    ++size_;
    return;
  }
  char bytes[10];
  const int n = EncodeVarint(value, bytes);
  buffer_.append(bytes, n);
  size_ += n;
}

void WireWriter::Tag(uint32_t field, WireType type) {
  PutVarint(uint64_t{field} << 3 | static_cast<uint64_t>(type));
}

void WireWriter::Varint(uint32_t field, uint64_t value) {
  Tag(field, WireType::kVarint);
  PutVarint(value);
}

void WireWriter::Float(uint32_t field, float value) {
  Tag(field, WireType::kFixed32);
  Raw({reinterpret_cast<const char*>(&value), sizeof(value)});
}

void WireWriter::Double(uint32_t field, double value) {
  Tag(field, WireType::kFixed64);
  Raw({reinterpret_cast<const char*>(&value), sizeof(value)});
}

void WireWriter::Bytes(uint32_t field, std::string_view value) {
  Tag(field, WireType::kBytes);
  PutVarint(value.size());
  Raw(value);
}

void WireWriter::IntUnlessZero(uint32_t field, int64_t value) {
  if (value != 0) Int(field, value);
}

void WireWriter::BytesUnlessEmpty(uint32_t field, std::string_view value) {
  if (!value.empty()) Bytes(field, value);
}

void WireWriter::Raw(std::string_view fields) {
  buffer_.append(fields);
  size_ += fields.size();
}

void WireWriter::Append(const WireWriter& fields) {
  X2IR_CHECK(fields.open_.empty(), "Begin without End");
  for (Splice splice : fields.splices_) {
    splice.position += buffer_.size();
    if (splice.tensor >= 0) splice.tensor += static_cast<int64_t>(tensors_.size());
    splices_.push_back(splice);
  }
  tensors_.insert(tensors_.end(), fields.tensors_.begin(), fields.tensors_.end());
  buffer_.append(fields.buffer_);
  size_ += fields.size_;
}

void WireWriter::TensorBytes(uint32_t field, const Tensor& tensor) {
  constexpr size_t kInline = 256;  // smaller than what keeping track of it takes
  Tag(field, WireType::kBytes);
  PutVarint(tensor.nbytes());
  if (tensor.nbytes() <= kInline) {
    return Raw({reinterpret_cast<const char*>(tensor.bytes().data()), tensor.nbytes()});
  }
  splices_.push_back({buffer_.size(), static_cast<int64_t>(tensors_.size()), 0});
  tensors_.push_back(tensor);
  size_ += tensor.nbytes();
}

void WireWriter::Begin(uint32_t field) {
  Tag(field, WireType::kBytes);
  open_.push_back({buffer_.size(), splices_.size(), size_ + 1});
  buffer_.push_back(0);
  ++size_;
}

void WireWriter::End() {
  X2IR_CHECK(!open_.empty(), "End without Begin");
  const Open open = open_.back();
  open_.pop_back();
  const uint64_t length = size_ - open.size;
  const int extra = VarintSize(length) - 1;
  size_ += extra;
  const bool plain = splices_.size() == open.splices;
  if (extra == 0) {
    buffer_[open.position] = static_cast<char>(length);
  } else if (plain && length <= kMaxMove) {
    char bytes[10];
    const int n = EncodeVarint(length, bytes);
    buffer_.replace(open.position, 1, bytes, n);
  } else {
    splices_.insert(splices_.begin() + static_cast<ptrdiff_t>(open.splices),
                    {open.position, -1, length});
  }
}

std::string WireWriter::ToString() const {
  std::string all;
  all.reserve(size_);
  const auto append = [&all](std::string_view bytes) {
    all.append(bytes);
    return absl::OkStatus();
  };
  const auto append_tensor = [&](const Tensor& tensor) {
    const auto bytes = tensor.bytes();
    return append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  Emit(append, append_tensor).IgnoreError();  // nothing here fails
  return all;
}

absl::Status WireWriter::Emit(const std::function<absl::Status(std::string_view)>& bytes,
                              const std::function<absl::Status(const Tensor&)>& tensor) const {
  X2IR_CHECK(open_.empty(), "Begin without End");
  const std::string_view all = buffer_;
  size_t done = 0;
  for (const Splice& splice : splices_) {
    if (splice.position > done) {
      X2IR_RETURN_IF_ERROR(bytes(all.substr(done, splice.position - done)));
    }
    done = splice.position;
    if (splice.tensor >= 0) {
      X2IR_RETURN_IF_ERROR(tensor(tensors_[splice.tensor]));
      continue;
    }
    char length[10];
    const int n = EncodeVarint(splice.length, length);
    X2IR_RETURN_IF_ERROR(bytes({length, static_cast<size_t>(n)}));
    ++done;  // the reserved byte
  }
  return done < all.size() ? bytes(all.substr(done)) : absl::OkStatus();
}

}  // namespace x2ir
