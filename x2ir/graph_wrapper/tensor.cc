// Tensor and MappedFile: views of shared buffers, and the checks that make them safe.
#include "x2ir/graph_wrapper/tensor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/files_read.h"
#include "x2ir/graph_wrapper/mappings.h"
#include "x2ir/graph_wrapper/memory_size_internal.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// More than this many bytes is not made out of a sparse tensor: a file of a few bytes can
// claim any dense shape.
constexpr int64_t kMaxDenseBytes = int64_t{4} << 30;

std::string ShapeText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(&text, i == 0 ? "" : ",", dims[i]);
  return text + "]";
}

std::string_view ErrnoText(int error) { return std::strerror(error); }

// double -> int64 without undefined behaviour: out of range and NaN give the minimum, as
// x86 conversions do.
int64_t ToInt64(double v) {
  if (v >= -0x1p63 && v < 0x1p63) return static_cast<int64_t>(v);
  return std::numeric_limits<int64_t>::min();
}

template <typename T>
T Load(const std::byte* data, int64_t i) {
  T v;
  std::memcpy(&v, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return v;
}

}  // namespace

namespace {

// Files that are mapped stay open below this number, so that the kernel can copy ranges of them; of
// others the mapping is enough. The other half of the numbers is for what is written meanwhile. A
// system without such limits (WebAssembly) copies no ranges.
int MostOpen() {
  static const int most = [] {
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return static_cast<int>(std::clamp<rlim_t>(limit.rlim_cur / 2, 16, 4096));
  }();
  return most;
}

}  // namespace

// --- MappedFile -----------------------------------------------------------------------------

absl::StatusOr<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  int fd;
  do {
    // Non-blocking, so that a FIFO without a writer does not hang us.
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      return NotFound("no such file: '", path, "'");
    }
    if (error == ENXIO) return DataLoss("'", path, "' is not a regular file");  // a socket
    return SystemError("cannot open '", path, "': ", ErrnoText(error));
  }
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = path;
  file->fd_ = fd;
  struct stat st;
  if (fstat(fd, &st) != 0) {
    return SystemError("cannot read '", path, "': ", ErrnoText(errno));
  }
  if (!S_ISREG(st.st_mode)) {
    return DataLoss("'", path, "' is ", S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
  }
  AddFileRead(st.st_dev, st.st_ino);
  file->size_ = static_cast<size_t>(st.st_size);
  if (static_cast<off_t>(file->size_) != st.st_size) {
    file->size_ = 0;
    return SystemError("cannot map '", path, "': its ", st.st_size,
                       " bytes are more than the memory that a program can have on this system");
  }
  if (file->size_ != 0) {  // mmap refuses an empty range
    void* p = mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
      const int error = errno;
      file->size_ = 0;
      return SystemError("cannot map '", path, "': ", ErrnoText(error));
    }
    file->data_ = static_cast<const std::byte*>(p);
    AddMapping(file->data_, file->size_, file->path_, st);
    // A model may be of more files than a process may have open.
    if (fd >= MostOpen()) {
      close(fd);
      file->fd_ = -1;
    }
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    RemoveMapping(data_);
    munmap(const_cast<std::byte*>(data_), size_);
  }
  if (fd_ >= 0) close(fd_);
}

// --- Making tensors -------------------------------------------------------------------------

absl::StatusOr<Tensor> Tensor::View(DType dtype, std::vector<int64_t> dims,
                                    absl::Span<const std::byte> bytes,
                                    std::shared_ptr<const void> owner) {
  const std::optional<int64_t> n = CheckedProduct(dims);
  if (!n) return Invalid("a tensor cannot have shape ", ShapeText(dims));
  const std::optional<int64_t> size = ByteSize(dtype, *n);
  if (!size) {
    return Invalid("a tensor of ", Name(dtype), ShapeText(dims), " cannot be a range of bytes");
  }
  if (static_cast<uint64_t>(*size) != bytes.size()) {
    return Invalid("a tensor of ", Name(dtype), ShapeText(dims), " has the wrong size: expected ",
                   *size, " bytes, got ", bytes.size());
  }
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  t.num_elements_ = *n;
  t.data_ = bytes.data();
  t.nbytes_ = bytes.size();
  t.owner_ = std::move(owner);
  return t;
}

absl::StatusOr<Tensor> Tensor::FromFile(DType dtype, std::vector<int64_t> dims,
                                        std::shared_ptr<const MappedFile> file, uint64_t offset,
                                        uint64_t nbytes) {
  if (offset > file->size() || nbytes > file->size() - offset) {
    return DataLoss("bytes ", offset, " to ", offset, "+", nbytes, " lie outside of '",
                    file->path(), "', which has ", file->size());
  }
  const absl::Span<const std::byte> bytes(file->data() + offset, nbytes);
  X2IR_ASSIGN_OR_RETURN(Tensor t, View(dtype, std::move(dims), bytes, std::move(file)));
  t.holder_ = kFile;
  return t;
}

Tensor Tensor::Zeros(DType dtype, std::vector<int64_t> dims) {
  const std::optional<int64_t> n = CheckedProduct(dims);
  X2IR_CHECK(n.has_value(), "bad shape " + ShapeText(dims));
  if (dtype == DType::kString) {
    return Strings(std::move(dims), std::vector<std::string>(MemorySize(*n)));
  }
  const std::optional<int64_t> size = ByteSize(dtype, *n);
  X2IR_CHECK(size.has_value(), "bad size of " + ShapeText(dims));
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  t.num_elements_ = *n;
  t.nbytes_ = MemorySize(*size);
  t.owner_ = std::make_shared<Buffer>(t.nbytes_);
  t.holder_ = kBuffer;
  t.data_ = t.buffer().data();
  return t;
}

Tensor Tensor::Strings(std::vector<int64_t> dims, std::vector<std::string> values) {
  const std::optional<int64_t> n = CheckedProduct(dims);
  X2IR_CHECK(n.has_value() && static_cast<size_t>(*n) == values.size(),
             "string count does not fit shape " + ShapeText(dims));
  Tensor t;
  t.dtype_ = DType::kString;
  t.dims_ = std::move(dims);
  t.num_elements_ = *n;
  t.owner_ = std::make_shared<std::vector<std::string>>(std::move(values));
  t.holder_ = kStrings;
  return t;
}

Tensor Tensor::Vector(absl::Span<const int64_t> values) {
  return Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

Tensor Tensor::ScalarOf(DType dtype, double value) {
  Tensor t = Zeros(dtype, {});
  if (IsSmallFloat(dtype)) {
    const uint32_t bits = EncodeSmallFloat(dtype, value);
    std::memcpy(t.buffer().data(), &bits, t.nbytes_);
    return t;
  }
  const auto store = [&t](auto v) { std::memcpy(t.buffer().data(), &v, sizeof(v)); };
  if (IsInteger(dtype)) {
    // To nearest, clamped to the type: a bound such as -inf or 1e30 stays a bound.
    const int bits = BitWidth(dtype);
    const double rounded = std::isnan(value) ? 0 : std::nearbyint(value);
    uint64_t result;
    if (IsSignedInt(dtype)) {
      const int64_t max = std::numeric_limits<int64_t>::max() >> (64 - bits);
      const double limit = std::ldexp(1.0, bits - 1);
      result = static_cast<uint64_t>(rounded >= limit   ? max
                                     : rounded < -limit ? -max - 1
                                                        : static_cast<int64_t>(rounded));
    } else {
      const uint64_t max = std::numeric_limits<uint64_t>::max() >> (64 - bits);
      result = rounded >= std::ldexp(1.0, bits) ? max
               : rounded <= 0                   ? 0
                                                : static_cast<uint64_t>(rounded);
    }
    if (bits < 8) result &= (1u << bits) - 1;
    std::memcpy(t.buffer().data(), &result, t.nbytes_);
    return t;
  }
  switch (dtype) {
    case DType::kFloat32: store(static_cast<float>(value)); break;
    case DType::kFloat64: store(value); break;
    case DType::kBool: store(value != 0); break;
    case DType::kComplex64: store(std::complex<float>(static_cast<float>(value))); break;
    case DType::kComplex128: store(std::complex<double>(value)); break;
    default: X2IR_CHECK(false, "a number cannot become a " + std::string(Name(dtype)));
  }
  return t;
}

Tensor Tensor::Sparse(std::vector<int64_t> dims, Tensor values, Tensor indices) {
  const std::optional<int64_t> n = CheckedProduct(dims);
  X2IR_CHECK(n.has_value(), "bad shape " + ShapeText(dims));
  Tensor t;
  t.dtype_ = values.dtype();
  t.dims_ = std::move(dims);
  t.num_elements_ = *n;
  t.owner_ = std::make_shared<SparseParts>(SparseParts{std::move(values), std::move(indices)});
  t.holder_ = kSparse;
  return t;
}

Type Tensor::type() const {
  return is_sparse() ? Type::SparseTensor(dtype_, shape()) : Type::Tensor(dtype_, shape());
}

absl::StatusOr<Tensor> Tensor::ToDense() const {
  if (!is_sparse()) return *this;
  const SparseParts& parts = sparse();
  const int64_t nnz = parts.values.num_elements();
  if (parts.values.is_sparse() || parts.indices.is_sparse()) {
    return Invalid("a sparse tensor cannot be made of sparse tensors");
  }
  if (parts.indices.dtype() != DType::kInt64 || parts.indices.rank() < 1 ||
      parts.indices.rank() > 2 || parts.indices.dim(0) != nnz ||
      (parts.indices.rank() == 2 && parts.indices.dim(1) != rank())) {
    return Invalid("indices of a sparse tensor: expected int64[", nnz, "] or int64[", nnz, ",",
                   rank(), "], got ", Name(parts.indices.dtype()), ShapeText(parts.indices.dims()));
  }
  const std::optional<int64_t> size = is_string() ? num_elements_ : ByteSize(dtype_, num_elements_);
  if (!size || *size > kMaxDenseBytes) {
    return Invalid("a sparse tensor of shape ", ShapeText(dims_), " is too large to be made dense");
  }
  Tensor out = Zeros(dtype_, dims_);
  const int bits = BitWidth(dtype_);
  const int64_t width = parts.indices.rank() == 2 ? rank() : 1;
  for (int64_t i = 0; i < nnz; ++i) {
    int64_t at = 0;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t limit = parts.indices.rank() == 2 ? dims_[k] : num_elements_;
      const auto index = Load<int64_t>(parts.indices.bytes().data(), i * width + k);
      if (index < 0 || index >= limit) {
        return Invalid("index of a sparse tensor is out of range: expected 0 to ", limit - 1,
                       ", got ", index);
      }
      at = at * limit + index;
    }
    if (at >= num_elements_) return Invalid("a sparse tensor has values but no elements");
    if (is_string()) {
      out.mutable_strings()[at] = parts.values.strings()[i];
    } else if (bits < 8) {
      SetPacked(out.buffer().data(), at, bits, GetPacked(parts.values.bytes().data(), i, bits));
    } else {
      const int bytes = bits / 8;
      std::memcpy(out.buffer().data() + at * bytes, parts.values.bytes().data() + i * bytes, bytes);
    }
  }
  return out;
}

// --- Views and copies -----------------------------------------------------------------------

Tensor Tensor::AlignedCopyIfNeeded() const {
  if (nbytes_ == 0 || reinterpret_cast<uintptr_t>(bytes().data()) % 16 == 0) return *this;
  Tensor copy = Zeros(dtype_, dims_);
  std::memcpy(copy.buffer().data(), bytes().data(), nbytes_);
  return copy;
}

void Tensor::CheckSpan(DType want, size_t align) const {
  X2IR_CHECK(dtype_ == want,
             StrCat("tensor of ", Name(dtype_), " read as if it were ", Name(want)));
  X2IR_CHECK(!is_sparse(), "a sparse tensor has no plain elements");
  X2IR_CHECK(nbytes_ == 0 || reinterpret_cast<uintptr_t>(bytes().data()) % align == 0,
             "elements are not aligned");
}

void Tensor::MakeUnique() {
  X2IR_CHECK(!is_sparse() && !is_string() && dtype_ != DType::kUndefined,
             "the tensor has no bytes of its own");
  if (holder_ == kBuffer && owner_.use_count() == 1) return;
  auto fresh = std::make_shared<Buffer>(nbytes_);
  if (nbytes_ != 0) std::memcpy(fresh->data(), bytes().data(), nbytes_);
  data_ = fresh->data();
  owner_ = std::move(fresh);
  holder_ = kBuffer;
}

absl::Span<std::byte> Tensor::mutable_bytes() {
  MakeUnique();
  return {buffer().data(), buffer().size()};
}

std::vector<std::string>& Tensor::mutable_strings() {
  X2IR_CHECK(is_string() && !is_sparse(), "not a tensor of strings");
  if (owner_.use_count() != 1) owner_ = std::make_shared<std::vector<std::string>>(strings());
  return const_cast<std::vector<std::string>&>(strings());
}

Tensor Tensor::Reshaped(std::vector<int64_t> dims) const {
  const std::optional<int64_t> n = CheckedProduct(dims);
  X2IR_CHECK(n.has_value() && *n == num_elements_ && !is_sparse(),
             StrCat(ShapeText(dims_), " cannot be reshaped to ", ShapeText(dims)));
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

Tensor Tensor::Reinterpreted(DType dtype) const {
  X2IR_CHECK(BitWidth(dtype) != 0 && BitWidth(dtype) == BitWidth(dtype_) && !is_sparse(),
             StrCat(Name(dtype_), " cannot be reinterpreted as ", Name(dtype)));
  Tensor t = *this;
  t.dtype_ = dtype;
  return t;
}

// --- Single elements ------------------------------------------------------------------------

int64_t Tensor::AsInt(int64_t i) const {
  X2IR_CHECK(i >= 0 && i < num_elements_ && !is_sparse(), "element index out of range");
  const int bits = BitWidth(dtype_);
  const std::byte* data = bytes().data();
  if (bits == 2 || bits == 4) {
    const uint8_t v = GetPacked(data, i, bits);
    if (dtype_ == DType::kFloat4E2M1) return ToInt64(DecodeSmallFloat(dtype_, v));
    const int sign = 1 << (bits - 1);
    return IsSignedInt(dtype_) ? (v ^ sign) - sign : v;
  }
  switch (dtype_) {
    case DType::kInt8: return Load<int8_t>(data, i);
    case DType::kInt16: return Load<int16_t>(data, i);
    case DType::kInt32: return Load<int32_t>(data, i);
    case DType::kInt64: return Load<int64_t>(data, i);
    case DType::kUInt8: return Load<uint8_t>(data, i);
    case DType::kUInt16: return Load<uint16_t>(data, i);
    case DType::kUInt32: return Load<uint32_t>(data, i);
    case DType::kUInt64: return static_cast<int64_t>(Load<uint64_t>(data, i));
    case DType::kBool: return Load<uint8_t>(data, i) != 0;
    default: return ToInt64(AsDouble(i));
  }
}

double Tensor::AsDouble(int64_t i) const {
  X2IR_CHECK(i >= 0 && i < num_elements_ && !is_sparse(), "element index out of range");
  const std::byte* data = bytes().data();
  if (IsSmallFloat(dtype_)) {
    const int bits = BitWidth(dtype_);
    const uint32_t v = bits == 16 ? Load<uint16_t>(data, i) : GetPacked(data, i, bits);
    return DecodeSmallFloat(dtype_, v);
  }
  switch (dtype_) {
    case DType::kFloat32: return Load<float>(data, i);
    case DType::kFloat64: return Load<double>(data, i);
    case DType::kUInt64: return static_cast<double>(Load<uint64_t>(data, i));
    default:
      X2IR_CHECK(IsInteger(dtype_) || dtype_ == DType::kBool,
                 StrCat("an element of ", Name(dtype_), " is not a real number"));
      return static_cast<double>(AsInt(i));
  }
}

absl::StatusOr<std::vector<int64_t>> Tensor::ToInts() const {
  if (is_sparse() || !(IsInteger(dtype_) || dtype_ == DType::kBool)) {
    return Invalid("expected a tensor of integers, got ", is_sparse() ? "a sparse one of " : "",
                   Name(dtype_));
  }
  std::vector<int64_t> values(static_cast<size_t>(num_elements_));
  for (int64_t i = 0; i < num_elements_; ++i) {
    values[i] = AsInt(i);
    if (dtype_ == DType::kUInt64 && values[i] < 0) {
      return Invalid("element ", i, " is too large for int64: ", static_cast<uint64_t>(values[i]));
    }
  }
  return values;
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.dims_ != b.dims_ || a.is_sparse() != b.is_sparse()) return false;
  if (a.is_sparse()) {
    return a.owner_ == b.owner_ ||
           (a.sparse().values == b.sparse().values && a.sparse().indices == b.sparse().indices);
  }
  if (a.is_string()) return a.owner_ == b.owner_ || a.strings() == b.strings();
  if (a.data_id() == b.data_id() || a.nbytes_ == 0) return true;
  return std::memcmp(a.bytes().data(), b.bytes().data(), a.nbytes_) == 0;
}

}  // namespace x2ir
