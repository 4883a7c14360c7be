// Tensor: a type, a shape and a view of a shared, immutable buffer. The buffer is most
// often a mapped file: making, copying and slicing Tensors never touches a weight byte.
#ifndef X2IR_GRAPH_WRAPPER_TENSOR_H_
#define X2IR_GRAPH_WRAPPER_TENSOR_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

// A file mapped read-only and kept open, so that ranges of it can be moved file to file.
class MappedFile {
 public:
  // Errors: NotFound when it does not exist, DataLoss when it is not a regular file, Unavailable
  // when the system refuses (permission, I/O).
  static absl::StatusOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  MappedFile() = default;
  std::string path_;
  int fd_ = -1;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Sixteen-bit floats as bit patterns; arithmetic happens in float.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// DTypeOf<T>::value: the DType of a C++ type.
template <typename T>
struct DTypeOf;
#define X2IR_DTYPE_OF_(T, V)                 \
  template <>                                \
  struct DTypeOf<T> {                        \
    static constexpr DType value = DType::V; \
  };
X2IR_DTYPE_OF_(float, kFloat32)
X2IR_DTYPE_OF_(double, kFloat64)
X2IR_DTYPE_OF_(int8_t, kInt8)
X2IR_DTYPE_OF_(int16_t, kInt16)
X2IR_DTYPE_OF_(int32_t, kInt32)
X2IR_DTYPE_OF_(int64_t, kInt64)
X2IR_DTYPE_OF_(uint8_t, kUInt8)
X2IR_DTYPE_OF_(uint16_t, kUInt16)
X2IR_DTYPE_OF_(uint32_t, kUInt32)
X2IR_DTYPE_OF_(uint64_t, kUInt64)
X2IR_DTYPE_OF_(bool, kBool)
X2IR_DTYPE_OF_(Half, kFloat16)
X2IR_DTYPE_OF_(BFloat16, kBFloat16)
X2IR_DTYPE_OF_(std::complex<float>, kComplex64)
X2IR_DTYPE_OF_(std::complex<double>, kComplex128)
#undef X2IR_DTYPE_OF_

struct SparseParts;

// Bytes that are made when somebody needs them: `count` rows of `size` bytes each.
struct ByteMaker {
  int64_t count = 0;
  size_t size = 0;
  // Makes rows [begin, end). Any thread may call it, and more than once for the same rows.
  std::function<void(int64_t begin, int64_t end, std::byte* to)> make;
  std::shared_ptr<const MappedFile> source = nullptr;  // the file that it reads, if any
};

class Tensor {
 public:
  Tensor() = default;  // dtype kUndefined

  // A tensor over bytes owned by `owner` (kept alive as long as any view lives). `bytes`
  // must be exactly ByteSize(dtype, product of dims), else InvalidArgument; alignment is
  // free (see AlignedCopyIfNeeded).
  static absl::StatusOr<Tensor> View(DType dtype, std::vector<int64_t> dims,
                                     absl::Span<const std::byte> bytes,
                                     std::shared_ptr<const void> owner);
  // The same over a range of a mapped file; remembers the range (see file_range).
  static absl::StatusOr<Tensor> FromFile(DType dtype, std::vector<int64_t> dims,
                                         std::shared_ptr<const MappedFile> file, uint64_t offset,
                                         uint64_t nbytes);
  // Zero-filled and owned. Dies (CHECK) if the size overflows: validate dims first.
  static Tensor Zeros(DType dtype, std::vector<int64_t> dims);
  static Tensor Strings(std::vector<int64_t> dims, std::vector<std::string> values);
  // From C++ values: Tensor::Of<int64_t>({2}, {3, 4}).
  template <typename T>
  static Tensor Of(std::vector<int64_t> dims, absl::Span<const T> values);
  template <typename T>
  static Tensor Of(std::vector<int64_t> dims, std::initializer_list<T> values) {
    return Of<T>(std::move(dims), absl::Span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Scalar(T value) {
    return Of<T>({}, {value});
  }
  static Tensor Vector(absl::Span<const int64_t> values);  // int64, rank 1
  // A float value as a rank-0 tensor of any floating or integer dtype (rounded to nearest).
  static Tensor ScalarOf(DType dtype, double value);
  // Writers make the bytes part by part, and keep none of them (maker()). The first call of bytes()
  // makes all of them; then they stay, in memory or in a temporary file (residency.h). Dies (CHECK)
  // if the maker's size is not that of the tensor.
  static Tensor Made(DType dtype, std::vector<int64_t> dims, ByteMaker maker);
  // A sparse tensor (ONNX SparseTensorProto): dense shape, values, indices.
  static Tensor Sparse(std::vector<int64_t> dims, Tensor values, Tensor indices);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  int64_t dim(int64_t i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t num_elements() const { return num_elements_; }
  Shape shape() const { return Shape::FromInts(dims_); }
  Type type() const;

  bool is_string() const { return dtype_ == DType::kString; }
  bool is_sparse() const { return holder_ == kSparse; }
  const SparseParts& sparse() const {  // only when is_sparse()
    return *static_cast<const SparseParts*>(owner_.get());
  }
  absl::StatusOr<Tensor> ToDense() const;  // itself when not sparse

  // The bytes, packed, little-endian, C order. Empty for strings and sparse tensors.
  absl::Span<const std::byte> bytes() const {
    return holder_ == kMade ? MadeBytes() : absl::Span<const std::byte>(data_, nbytes_);
  }
  size_t nbytes() const { return nbytes_; }
  // Only when is_string() and not is_sparse().
  const std::vector<std::string>& strings() const {
    return *static_cast<const std::vector<std::string>*>(owner_.get());
  }

  // What makes the bytes; null where they exist.
  const ByteMaker* maker() const;
  // Copies bytes from `offset` on. Where they do not exist yet, only these are made.
  void Read(size_t offset, absl::Span<std::byte> to) const;

  // The range of the bytes in a mapped file, if they are in one.
  struct FileRange {
    std::shared_ptr<const MappedFile> file;
    uint64_t offset;
    uint64_t size;
  };
  std::optional<FileRange> file_range() const;
  // Identity of the underlying bytes: equal for two views of the same range.
  const void* data_id() const { return is_string() || holder_ == kMade ? owner_.get() : data_; }

  // Elements as C++ values. dtype() must be DTypeOf<T> and the bytes aligned for T (CHECK).
  template <typename T>
  absl::Span<const T> span() const;
  // Itself when aligned to 16 bytes (or holds no bytes), else an owned copy.
  Tensor AlignedCopyIfNeeded() const;

  // Copy on write: the bytes made owned and unique, for writing in place.
  template <typename T>
  absl::Span<T> mutable_span();
  absl::Span<std::byte> mutable_bytes();
  std::vector<std::string>& mutable_strings();

  // The same elements under another shape (same count; CHECK).
  Tensor Reshaped(std::vector<int64_t> dims) const;
  // The same bytes as another dtype of the same bit width (CHECK).
  Tensor Reinterpreted(DType dtype) const;

  // Element i as a number: double for floating types, exact int64/uint64 for integers
  // and bool. For small tensors (axes, shapes, bounds), not for loops over weights.
  double AsDouble(int64_t i) const;
  int64_t AsInt(int64_t i) const;
  // All elements as int64 (any integer dtype or bool); InvalidArgument otherwise.
  absl::StatusOr<std::vector<int64_t>> ToInts() const;

  // Same dtype, dims and bytes (NaNs compare by bits).
  friend bool operator==(const Tensor& a, const Tensor& b);
  friend bool operator!=(const Tensor& a, const Tensor& b) { return !(a == b); }

 private:
  struct MadeOnce;
  const MadeOnce& made() const;
  absl::Span<const std::byte> MadeBytes() const;
  void CheckSpan(DType want, size_t align) const;
  void MakeUnique();
  using Buffer = std::vector<std::byte>;
  // The buffer, if this process owns it: writable if no other tensor shares it.
  Buffer& buffer() { return *static_cast<Buffer*>(const_cast<void*>(owner_.get())); }
  // The type of owner_: not known, a MappedFile, a Buffer, a vector of strings, SparseParts, or a
  // MadeOnce.
  enum Holder : uint8_t { kUnknown, kFile, kBuffer, kStrings, kSparse, kMade };
  DType dtype_ = DType::kUndefined;
  Holder holder_ = kUnknown;
  std::vector<int64_t> dims_;
  int64_t num_elements_ = 0;
  const std::byte* data_ = nullptr;
  size_t nbytes_ = 0;
  std::shared_ptr<const void> owner_;  // keeps data_ alive
};

// values: 1-D [nnz]; indices: int64, [nnz] linear or [nnz, rank], as ONNX's SparseTensorProto.
struct SparseParts {
  Tensor values;
  Tensor indices;
};

// Bit-exact conversions of the small float formats (round to nearest even; out of range
// saturates or not as the ONNX Cast specification says: `saturate`).
float HalfToFloat(Half h);
Half FloatToHalf(float f);
float BFloat16ToFloat(BFloat16 b);
BFloat16 FloatToBFloat16(float f);

template <typename T>
Tensor Tensor::Of(std::vector<int64_t> dims, absl::Span<const T> values) {
  Tensor t = Zeros(DTypeOf<T>::value, std::move(dims));
  auto out = t.mutable_bytes();
  const size_t n = std::min(out.size(), values.size() * sizeof(T));
  if (n != 0) std::memcpy(out.data(), values.data(), n);
  return t;
}

template <typename T>
absl::Span<const T> Tensor::span() const {
  CheckSpan(DTypeOf<T>::value, alignof(T));
  return absl::Span<const T>(reinterpret_cast<const T*>(bytes().data()),
                             static_cast<size_t>(num_elements_));
}

template <typename T>
absl::Span<T> Tensor::mutable_span() {
  CheckSpan(DTypeOf<T>::value, 1);
  MakeUnique();
  return absl::Span<T>(reinterpret_cast<T*>(buffer().data()), static_cast<size_t>(num_elements_));
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_TENSOR_H_
