#include "x2ir/formats/nnef/tensor_file.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

constexpr size_t kHeader = 128, kMaxRank = 8;
constexpr size_t kLengthAt = 4, kRankAt = 8, kDimsAt = 12, kBitsAt = 44, kTypeAt = 48;
constexpr size_t kVendorAt = 50, kParamsAt = 52, kParams = 32;
constexpr uint16_t kTractVendor = 'T' << 8 | 'R';
constexpr uint16_t kTractBlocks = 0x2040, kGgmlBlocks = 0x3040;
constexpr int64_t kBlock = 32, kBlockBytes = 18;
enum ItemType : uint16_t {
  kFloat,
  kUnsigned,
  kQuantizedUnsigned,
  kQuantizedSigned,
  kSigned,
  kBools
};

DType TypeOfItems(uint16_t type, uint32_t bits) {
  struct Row {
    uint32_t bits;
    DType real, natural, whole;
  };
  static constexpr Row kRows[] = {
      {8, DType::kUndefined, DType::kUInt8, DType::kInt8},
      {16, DType::kFloat16, DType::kUInt16, DType::kInt16},
      {32, DType::kFloat32, DType::kUInt32, DType::kInt32},
      {64, DType::kFloat64, DType::kUInt64, DType::kInt64},
  };
  if (type == kBools) return bits == 1 || bits == 8 ? DType::kBool : DType::kUndefined;
  for (const Row& row : kRows) {
    if (row.bits != bits) continue;
    if (type == kFloat) return row.real;
    if (type == kUnsigned || type == kQuantizedUnsigned) return row.natural;
    if (type == kSigned || type == kQuantizedSigned) return row.whole;
  }
  return DType::kUndefined;
}

// A half for the step of 32 numbers, and their four bits, of which 8 is zero. tract has them in
// order, GGML those of the first half as the low bits, and those of the second half as the high
// ones.
absl::StatusOr<Tensor> NumbersOfBlocks(std::vector<int64_t> dims, std::string_view bytes,
                                       bool in_order) {
  const auto count = CheckedProduct(dims);
  const int64_t row = dims.empty() || dims[0] == 0 || !count ? 0 : *count / dims[0];
  if (!count || dims.size() < 2 || row % kBlock != 0 ||
      static_cast<uint64_t>(*count / kBlock) * kBlockBytes != bytes.size()) {
    return DataLoss("a tensor of blocks that has not the size of its shape");
  }
  Tensor tensor = Tensor::Zeros(DType::kFloat32, std::move(dims));
  float* out = tensor.mutable_span<float>().data();
  for (int64_t block = 0; block < *count / kBlock; ++block) {
    const char* at = bytes.data() + block * kBlockBytes;
    const float step = HalfToFloat({LoadNumber<uint16_t>(at)});
    for (int64_t i = 0; i < kBlock; ++i) {
      const bool high = in_order ? i % 2 != 0 : i >= kBlock / 2;
      const auto byte = static_cast<unsigned char>(at[2 + (in_order ? i / 2 : i % (kBlock / 2))]);
      *out++ = static_cast<float>((high ? byte >> 4 : byte & 15) - 8) * step;
    }
  }
  return tensor;
}

Tensor BoolsOfBits(std::vector<int64_t> dims, std::string_view bytes) {
  Tensor tensor = Tensor::Zeros(DType::kBool, std::move(dims));
  const absl::Span<std::byte> out = tensor.mutable_bytes();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>(static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8) & 1);
  }
  return tensor;
}

}  // namespace

absl::StatusOr<StoredTensor> ReadTensorFile(const BlobPtr& file) {
  const std::string_view bytes = file->view();
  const auto broken = [&](const auto&... what) {
    return DataLoss("tensor file '", file->path(), "': ", what...);
  };
  if (bytes.size() < kHeader) return broken("it has no header of ", kHeader, " bytes");
  if (bytes[0] != 0x4e || static_cast<unsigned char>(bytes[1]) != 0xef) {
    return broken("it does not begin as one");
  }
  if (bytes[2] != 1) return broken("version ", static_cast<int>(bytes[2]), " is not known");
  const auto number = [&](size_t at) { return LoadNumber<uint32_t>(bytes.data() + at); };
  const uint64_t length = number(kLengthAt);
  const uint32_t rank = number(kRankAt), bits = number(kBitsAt);
  const auto type = LoadNumber<uint16_t>(bytes.data() + kTypeAt);
  const auto vendor = LoadNumber<uint16_t>(bytes.data() + kVendorAt);
  if (rank > kMaxRank) return broken("it has ", rank, " axes; ", kMaxRank, " are the most");
  if (length > bytes.size() - kHeader) {
    return broken("it is cut off: ", bytes.size() - kHeader, " of ", length, " bytes");
  }
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) dims.push_back(number(kDimsAt + 4 * i));
  const auto count = CheckedProduct(dims);
  if (!count) return broken("its shape is too large");
  const std::string_view items = bytes.substr(kHeader, length);
  if (vendor == kTractVendor && (type == kTractBlocks || type == kGgmlBlocks)) {
    auto numbers = NumbersOfBlocks(std::move(dims), items, type == kTractBlocks);
    if (!numbers.ok()) return broken(numbers.status().message());
    return StoredTensor{*std::move(numbers)};
  }
  const DType dtype = vendor == 0 ? TypeOfItems(type, bits) : DType::kUndefined;
  if (dtype == DType::kUndefined) {
    return Unimplemented("tensor file '", file->path(), "': elements of ", bits, " bits of type ",
                         type, vendor == 0 ? "" : " of a vendor");
  }
  // Before version 1.0.3, these said how numbers are quantized, and which are signed.
  if (type != kFloat && bytes.substr(kParamsAt, kParams).find_first_not_of('\0') != bytes.npos) {
    return Unimplemented("tensor file '", file->path(),
                         "': parameters of the element type, as files before NNEF 1.0.3 have");
  }
  if (dtype == DType::kBool) {
    const auto needed = static_cast<uint64_t>(*count);
    if ((bits == 1 ? (needed + 7) / 8 : needed) != length) {
      return broken(length, " bytes are not the size of its shape");
    }
    if (bits == 1) return StoredTensor{BoolsOfBits(std::move(dims), items)};
    const auto odd =
        std::find_if(items.begin(), items.end(), [](char c) { return c != 0 && c != 1; });
    if (odd != items.end()) {
      Tensor tensor = Tensor::Zeros(DType::kBool, std::move(dims));
      const absl::Span<std::byte> out = tensor.mutable_bytes();
      for (size_t i = 0; i < out.size(); ++i) out[i] = std::byte(items[i] != 0);
      return StoredTensor{std::move(tensor)};
    }
  }
  auto tensor = TensorOf(dtype, std::move(dims), file, kHeader, length);
  if (!tensor.ok()) return broken(tensor.status().message());
  return StoredTensor{*std::move(tensor), type == kQuantizedUnsigned || type == kQuantizedSigned};
}

absl::StatusOr<std::string> TensorHeader(const Tensor& tensor, bool quantized) {
  const DType t = tensor.dtype();
  const int bits = t == DType::kBool ? 8 : tensor.is_string() ? 0 : BitWidth(t);
  uint16_t type = kBools;
  if (t != DType::kBool) type = IsFloating(t) ? kFloat : IsSignedInt(t) ? kSigned : kUnsigned;
  if (quantized) type = IsSignedInt(t) ? kQuantizedSigned : kQuantizedUnsigned;
  if (tensor.is_sparse() || TypeOfItems(type, static_cast<uint32_t>(bits)) != t) {
    return CannotExpress("a tensor of type ", Name(t));
  }
  if (tensor.rank() > static_cast<int64_t>(kMaxRank)) {
    return CannotExpress("a tensor of ", tensor.rank(), " axes; ", kMaxRank, " are the most");
  }
  if (tensor.nbytes() > UINT32_MAX) return CannotExpress("a tensor of more than 4 GiB");
  std::string header(kHeader, '\0');
  const auto put = [&](size_t at, auto value) {
    std::copy_n(reinterpret_cast<const char*>(&value), sizeof(value),
                header.begin() + static_cast<ptrdiff_t>(at));
  };
  put(0, std::array<uint8_t, 4>{0x4e, 0xef, 1, 0});
  put(kLengthAt, static_cast<uint32_t>(tensor.nbytes()));
  put(kRankAt, static_cast<uint32_t>(tensor.rank()));
  for (int64_t i = 0; i < tensor.rank(); ++i) {
    if (tensor.dim(i) > UINT32_MAX) return CannotExpress("an axis of ", tensor.dim(i));
    put(kDimsAt + 4 * static_cast<size_t>(i), static_cast<uint32_t>(tensor.dim(i)));
  }
  put(kBitsAt, static_cast<uint32_t>(bits));
  put(kTypeAt, type);
  return header;
}

}  // namespace nnef
}  // namespace x2ir
