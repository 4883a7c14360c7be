#include <algorithm>
#include <iterator>

#include "x2ir/formats/hdf5/types_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr uint64_t kMaxTensorRank = 32;

enum Class : uint64_t {
  kInteger,
  kFloat,
  kTime,
  kString,
  kBits,
  kOpaque,
  kCompound,
  kReference,
  kEnumeration,
  kVariableLength,
  kArray,
  kClasses
};
constexpr std::string_view kClassNames[] = {"integers of another width",
                                            "floating point of another format",
                                            "times",
                                            "strings",
                                            "bit fields",
                                            "opaque bytes",
                                            "compounds",
                                            "references",
                                            "an enumeration",
                                            "sequences of variable length",
                                            "arrays"};

std::optional<DType> IntegerOf(size_t size, bool is_signed) {
  switch (size) {
    case 1: return is_signed ? DType::kInt8 : DType::kUInt8;
    case 2: return is_signed ? DType::kInt16 : DType::kUInt16;
    case 4: return is_signed ? DType::kInt32 : DType::kUInt32;
    case 8: return is_signed ? DType::kInt64 : DType::kUInt64;
    default: return std::nullopt;
  }
}

// The formats of IEEE 754 and bfloat16: sign, exponent and mantissa in this order from the top.
std::optional<DType> FloatOf(size_t size, uint64_t bits, Cursor in) {
  static constexpr struct {
    size_t size;
    uint64_t exponent, mantissa;
    DType dtype;
  } kFloats[] = {{2, 5, 10, DType::kFloat16},
                 {2, 8, 7, DType::kBFloat16},
                 {4, 8, 23, DType::kFloat32},
                 {8, 11, 52, DType::kFloat64}};
  constexpr uint64_t kImpliedOne = 2, kVax = 0x40;
  const uint64_t offset = in.UInt(2), precision = in.UInt(2);
  const uint64_t exponent_at = in.UInt(1), exponent = in.UInt(1);
  const uint64_t mantissa_at = in.UInt(1), mantissa = in.UInt(1), bias = in.UInt(4);
  for (const auto& one : kFloats) {
    if (in.ok() && size == one.size && offset == 0 && precision == 8 * size &&
        exponent_at == one.mantissa && exponent == one.exponent && mantissa_at == 0 &&
        mantissa == one.mantissa && bias == (uint64_t{1} << (exponent - 1)) - 1 &&
        (bits >> 4 & 3) == kImpliedOne && (bits >> 8 & 0xff) == 8 * size - 1 &&
        (bits & kVax) == 0) {
      return one.dtype;
    }
  }
  return std::nullopt;
}

// The members FALSE = 0 and TRUE = 1 of int8. Before version 3 names are padded to 8 bytes.
bool IsBool(uint64_t version, uint64_t members, Cursor in) {
  constexpr std::string_view kNames[] = {"FALSE", "TRUE"};
  if (members != 2) return false;
  const uint64_t base = in.UInt(1);
  in.Skip(3);
  if ((base & 15) != kInteger || in.UInt(4) != 1) return false;
  in.Skip(4);
  for (const std::string_view name : kNames) {
    const size_t begin = in.at();
    if (in.Bytes(name.size()) != name || in.UInt(1) != 0) return false;
    if (version < 3) in.Align8(begin);
  }
  return in.UInt(1) == 0 && in.UInt(1) == 1 && in.ok();
}

}  // namespace

absl::StatusOr<ElementType> TypeOf(const Image& image, std::string_view data) {
  Cursor in = image.Over(data);
  const uint64_t head = in.UInt(1), bits = in.UInt(3);
  ElementType type;
  type.size = in.UInt(4);
  if (!in.ok() || type.size == 0) return Broken("a type of elements is cut off");
  const uint64_t kind = head & 15, version = head >> 4;
  if (kind < kClasses) type.name = kClassNames[kind];
  std::optional<DType> dtype;
  switch (kind) {
    case kInteger: {
      const uint64_t offset = in.UInt(2), precision = in.UInt(2);
      if (in.ok() && offset == 0 && precision == 8 * type.size) {
        dtype = IntegerOf(type.size, (bits & 8) != 0);
      }
      type.big_endian = (bits & 1) != 0;
      break;
    }
    case kFloat:
      dtype = FloatOf(type.size, bits, in);
      type.big_endian = (bits & 1) != 0;
      break;
    case kString:
      type.kind = ElementType::kText;
      type.padded_with_spaces = (bits & 15) == 2;
      break;
    case kOpaque:
      if (type.size == 2) dtype = DType::kBFloat16;
      break;
    case kEnumeration:
      if (type.size == 1 && IsBool(version, bits & 0xffff, in)) dtype = DType::kBool;
      break;
    case kVariableLength:
      if ((bits & 15) == 1 && type.size == 8u + image.widths().address) {
        type.kind = ElementType::kLongText;
      }
      break;
    default: break;
  }
  if (dtype) {
    type.kind = ElementType::kNumber;
    type.dtype = *dtype;
  }
  return type;
}

absl::StatusOr<Extent> ExtentOf(const Image& image, std::string_view data) {
  constexpr uint64_t kNull = 2, kHasMost = 1, kHasOrder = 2;
  Cursor in = image.Over(data);
  const uint64_t version = in.UInt(1), rank = in.UInt(1), flags = in.UInt(1);
  Extent extent;
  if (version == 1) {
    in.Skip(5);
    if ((flags & kHasOrder) != 0) return NotRead("the axes of a shape have an order of their own");
  } else if (version == 2) {
    extent.none = in.UInt(1) == kNull;
  } else {
    return NotRead("a shape is of version ", version);
  }
  if (rank > kMaxTensorRank) {
    return Unimplemented("it has ", rank, " axes; tensors have at most ", kMaxTensorRank);
  }
  const uint64_t endless = kNowhere >> (64 - 8 * image.widths().length);
  for (uint64_t i = 0; i < rank; ++i) {
    extent.dims.push_back(static_cast<int64_t>(in.Length()));
    if (extent.dims.back() < 0) return Broken("a shape is larger than any file");
  }
  for (uint64_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<uint64_t>(extent.dims[i]);
    const uint64_t most = (flags & kHasMost) != 0 ? in.Length() : dim;
    if (most < dim) return Broken("an axis is longer than its maximum");
    extent.most.push_back(most == endless ? kNowhere : most);
  }
  if (!in.ok()) return Broken("a shape is cut off");
  // Zeros count first: the other dims may be anything.
  const bool empty =
      extent.none || std::find(extent.dims.begin(), extent.dims.end(), 0) != extent.dims.end();
  if (empty) extent.count = 0;
  for (const int64_t dim : extent.dims) {
    if (!empty && __builtin_mul_overflow(extent.count, dim, &extent.count)) {
      return Broken("a shape is larger than any file");
    }
  }
  return extent;
}

absl::StatusOr<Fill> FillOf(const Image& image, const Messages& messages) {
  constexpr uint64_t kNever = 1;  // when it is written
  constexpr uint64_t kNoSize = 0xffffffff;
  Fill fill;
  if (const Message* message = Find(messages, MessageType::kFill)) {
    std::string_view data = message->data;
    if (message->shared) return NotRead("the fill value is shared by many objects");
    Cursor in = image.Over(data);
    const uint64_t version = in.UInt(1);
    bool has_value = false;
    if (version == 1 || version == 2) {
      in.Skip(1);
      const bool written = in.UInt(1) != kNever;
      has_value = in.UInt(1) != 0;
      fill.defined = written && has_value;
    } else if (version == 3) {
      const uint64_t flags = in.UInt(1);
      fill.defined = (flags >> 2 & 3) != kNever && (flags & 0x10) == 0;
      has_value = (flags & 0x20) != 0;
    } else {
      return NotRead("the fill value is of version ", version);
    }
    if (has_value) {
      const uint64_t size = in.UInt(4);
      if (size != kNoSize) fill.value = in.Bytes(size);
    }
    if (!in.ok()) return Broken("the fill value is cut off");
  } else if (const Message* old = Find(messages, MessageType::kOldFill)) {
    if (old->shared) return NotRead("the fill value is shared by many objects");
    Cursor in = image.Over(old->data);
    fill.value = in.Bytes(in.UInt(4));
    if (!in.ok()) return Broken("the fill value is cut off");
  }
  return fill;
}

}  // namespace x2ir::hdf5
