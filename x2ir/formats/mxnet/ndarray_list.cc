#include "x2ir/formats/mxnet/ndarray_list.h"

#include <algorithm>
#include <cstring>

#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/npy/npy.h"

namespace x2ir {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV1 = 0xF993FAC8, kV2 = 0xF993FAC9, kV3 = 0xF993FACA;
constexpr uint32_t kMaxRank = 64;
// Of a dense copy of a sparse array: what is written for it is mostly zeros.
constexpr int64_t kMaxDenseBytes = int64_t{1} << 28;

enum Storage : int32_t { kDense = 0, kRowSparse = 1, kCsr = 2 };

class NdarrayReader {
 public:
  explicit NdarrayReader(const BlobPtr& file) : in_(file) {}

  absl::StatusOr<std::vector<NamedTensor>> Read() {
    if (in_.Read<uint64_t>() != kListMagic || !in_.ok()) {
      return DataLoss("it is not a list of arrays of MXNet");
    }
    in_.Read<uint64_t>();
    const uint64_t count = in_.Count(4);
    std::vector<std::optional<Tensor>> tensors;
    for (uint64_t i = 0; i < count && in_.ok(); ++i) {
      absl::StatusOr<std::optional<Tensor>> tensor = Array();
      if (!tensor.ok()) return Annotate(tensor.status(), StrCat("array ", i));
      tensors.push_back(*std::move(tensor));
    }
    std::vector<std::string> names = in_.Texts();
    X2IR_RETURN_IF_ERROR(in_.status());
    if (names.size() != tensors.size()) {
      return DataLoss("it has ", tensors.size(), " arrays and ", names.size(), " names");
    }
    std::vector<NamedTensor> all;
    for (size_t i = 0; i < names.size(); ++i) {
      if (tensors[i]) all.push_back({std::move(names[i]), *std::move(tensors[i])});
    }
    return all;
  }

 private:
  // nullopt: the array is none.
  absl::StatusOr<std::optional<Tensor>> Array() {
    const auto magic = in_.Read<uint32_t>();
    int32_t storage = kDense;
    bool none = false;
    std::vector<int64_t> shape, stored;
    if (magic == kV2 || magic == kV3) {
      storage = in_.Read<int32_t>();
      if (in_.ok() && storage != kDense && storage != kRowSparse && storage != kCsr) {
        return Unimplemented("storage of type ", storage);
      }
      if (storage != kDense) stored = Shape<int64_t>(in_.Read<uint32_t>());
      const auto rank = in_.Read<uint32_t>();
      // Since version 3 an array without axes is one number, and -1 says that there is no shape.
      none = magic == kV3 ? rank == ~uint32_t{0} : rank == 0;
      if (!none) shape = Shape<int64_t>(rank);
    } else if (magic == kV1) {
      const auto rank = in_.Read<uint32_t>();
      none = rank == 0;
      shape = Shape<int64_t>(rank);
    } else {
      none = magic == 0;
      shape = Shape<uint32_t>(magic);
    }
    X2IR_RETURN_IF_ERROR(in_.status());
    if (none) return std::optional<Tensor>();
    in_.Read<int32_t>();  // where it was: device
    in_.Read<int32_t>();
    X2IR_ASSIGN_OR_RETURN(const DType dtype, ElementType());
    if (storage == kDense) {
      X2IR_ASSIGN_OR_RETURN(Tensor tensor, in_.Elements(dtype, std::move(shape)));
      return std::optional(std::move(tensor));
    }
    return Sparse(storage, dtype, shape, stored);
  }

  template <typename T>
  std::vector<int64_t> Shape(uint32_t rank) {
    std::vector<int64_t> dims;
    if (in_.ok() && rank > kMaxRank) {
      in_.Fail(DataLoss("byte ", in_.place() - 4, ": an array cannot have ", rank, " axes"));
    }
    for (uint32_t i = 0; i < rank && in_.ok(); ++i) {
      dims.push_back(static_cast<int64_t>(in_.Read<T>()));
    }
    return dims;
  }

  absl::StatusOr<DType> ElementType() {
    const auto flag = in_.Read<int32_t>();
    X2IR_RETURN_IF_ERROR(in_.status());
    const auto dtype = MxnetDType(flag);
    if (!dtype) return Unimplemented("elements of type ", flag);
    return *dtype;
  }

  // Rows by their numbers; or, of csr, where each row's elements begin, and their columns.
  absl::StatusOr<std::optional<Tensor>> Sparse(int32_t storage, DType dtype,
                                               const std::vector<int64_t>& shape,
                                               const std::vector<int64_t>& stored) {
    const size_t lists = storage == kCsr ? 2 : 1;
    std::vector<DType> types(lists);
    std::vector<std::vector<int64_t>> shapes(lists);
    for (size_t i = 0; i < lists; ++i) {
      X2IR_ASSIGN_OR_RETURN(types[i], ElementType());
      shapes[i] = Shape<int64_t>(in_.Read<uint32_t>());
    }
    X2IR_ASSIGN_OR_RETURN(const Tensor values, in_.Elements(dtype, stored));
    std::vector<std::vector<int64_t>> index(lists);
    for (size_t i = 0; i < lists; ++i) {
      X2IR_ASSIGN_OR_RETURN(const Tensor numbers, in_.Elements(types[i], shapes[i]));
      X2IR_ASSIGN_OR_RETURN(index[i], numbers.AlignedCopyIfNeeded().ToInts());
    }
    int64_t count = 1;
    for (const int64_t dim : shape) {
      if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
        return DataLoss("an impossible shape");
    }
    const auto nbytes = ByteSize(dtype, count);
    if (!nbytes || *nbytes > kMaxDenseBytes) {
      return Unimplemented("a sparse array of ", count, " elements: too large to be made dense");
    }
    Tensor dense = Tensor::Zeros(dtype, shape);
    const size_t width = static_cast<size_t>(BitWidth(dtype)) / 8;
    std::byte* to = dense.mutable_bytes().data();
    const std::byte* from = values.bytes().data();
    if (storage == kRowSparse) {
      const auto rows = static_cast<int64_t>(index[0].size());
      const int64_t row = shape.empty() || shape[0] == 0 ? 0 : count / shape[0];
      if (shape.empty() || rows * row != values.num_elements())
        return DataLoss("row indices that do not match the shape");
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t place = index[0][static_cast<size_t>(i)];
        if (place < 0 || place >= shape[0]) return DataLoss("there is no row ", place);
        if (row == 0) continue;
        std::memcpy(to + static_cast<size_t>(place * row) * width,
                    from + static_cast<size_t>(i * row) * width, static_cast<size_t>(row) * width);
      }
      return std::optional(std::move(dense));
    }
    const auto& starts = index[0];
    const auto& columns = index[1];
    if (shape.size() != 2 || static_cast<int64_t>(starts.size()) != shape[0] + 1 ||
        static_cast<int64_t>(columns.size()) != values.num_elements()) {
      return DataLoss("row indices that do not match the shape");
    }
    for (size_t r = 0; r + 1 < starts.size(); ++r) {
      if (starts[r] < 0 || starts[r + 1] < starts[r] ||
          starts[r + 1] > static_cast<int64_t>(columns.size())) {
        return DataLoss("row ", r, " has no elements");
      }
      for (int64_t i = starts[r]; i < starts[r + 1]; ++i) {
        const int64_t c = columns[static_cast<size_t>(i)];
        if (c < 0 || c >= shape[1]) return DataLoss("there is no column ", c);
        std::memcpy(to + (r * static_cast<size_t>(shape[1]) + static_cast<size_t>(c)) * width,
                    from + static_cast<size_t>(i) * width, width);
      }
    }
    return std::optional(std::move(dense));
  }

  nnvm::ByteCursor in_;
};

}  // namespace

std::optional<DType> MxnetDType(int64_t flag) {
  static constexpr DType kTypes[] = {
      DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kUInt8, DType::kInt32,
      DType::kInt8,    DType::kInt64,   DType::kBool,    DType::kInt16, DType::kUInt16,
      DType::kUInt32,  DType::kUInt64,  DType::kBFloat16};
  if (flag < 0 || flag >= static_cast<int64_t>(std::size(kTypes))) return std::nullopt;
  return kTypes[flag];
}

bool LooksLikeNdarrayList(absl::Span<const std::byte> head) {
  return head.size() >= 16 && LoadNumber<uint64_t>(head.data()) == kListMagic &&
         LoadNumber<uint64_t>(head.data() + 8) == 0;
}

absl::StatusOr<std::vector<NamedTensor>> ReadNdarrayList(const BlobPtr& file) {
  return LooksLikeZip(file->view()) ? ReadNpz(file) : NdarrayReader(file).Read();
}

}  // namespace x2ir
