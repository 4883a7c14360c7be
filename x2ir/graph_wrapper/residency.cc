#include "x2ir/graph_wrapper/residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "x2ir/graph_wrapper/descriptors.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr size_t kLarge = size_t{1} << 20;

// Weights that this process made and keeps: few of them are written to their file at once, without
// being kept in another one.
constexpr size_t kMaxKept = size_t{32} << 20;
std::atomic<size_t> g_kept{0};

// A tensor that counts as kept as long as anybody has it; the tensor as it was, where there is no
// room for it.
struct Kept {
  explicit Kept(Tensor t) : tensor(std::move(t)) {}
  ~Kept() { g_kept -= tensor.nbytes(); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  Tensor tensor;
};
bool Keep(Tensor* tensor) {
  if (g_kept.fetch_add(tensor->nbytes()) + tensor->nbytes() > kMaxKept) {
    g_kept -= tensor->nbytes();
    return false;
  }
  auto kept = std::make_shared<const Kept>(std::move(*tensor));
  const Tensor& own = kept->tensor;
  auto view = Tensor::View(own.dtype(), own.dims(), own.bytes(), kept);
  *tensor = view.ok() ? *std::move(view) : own;
  return true;
}

// Of bytes [begin, end) of a large tensor in a file. Pages at the ends belong to neighbours too,
// which is no harm.
void Advise(const Tensor& tensor, size_t begin, size_t end, int advice) {
  if (tensor.nbytes() < kLarge || !tensor.file_range()) return;
  static const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<uintptr_t>(tensor.bytes().data() + begin) / page * page;
  const auto to = reinterpret_cast<uintptr_t>(tensor.bytes().data() + end);
  ::madvise(reinterpret_cast<void*>(from), to - from, advice);
}
void Advise(const Tensor& tensor, int advice) { Advise(tensor, 0, tensor.nbytes(), advice); }

// A tensor in a temporary file, which `write` fills; nullopt where there can be none.
std::optional<Tensor> InFile(DType dtype, const std::vector<int64_t>& dims,
                             absl::FunctionRef<bool(int fd)> write) {
  const int fd = OpenUnnamedFile();
  if (fd < 0) return std::nullopt;
  std::optional<Tensor> tensor;
  if (write(fd)) {
    // By its descriptor: a file without a name has no other way to be opened again.
    auto file = MappedFile::Open(StrCat("/proc/self/fd/", fd));
    if (file.ok()) {
      const size_t size = (*file)->size();
      auto all = Tensor::FromFile(dtype, dims, *std::move(file), 0, size);
      if (all.ok()) tensor = *std::move(all);
    }
  }
  ::close(fd);
  return tensor;
}

}  // namespace

void DropPages(const Tensor& tensor) {
  // Of a file that is mapped for reading only, nothing is lost.
  Advise(tensor, MADV_DONTNEED);
}

SparseReads::SparseReads(const Tensor& tensor) : tensor_(tensor) { Advise(tensor, MADV_RANDOM); }

SparseReads::~SparseReads() {
  Advise(tensor_, MADV_NORMAL);
  DropPages(tensor_);
}

Tensor Spilled(Tensor tensor) {
  if (tensor.nbytes() < kLarge || tensor.file_range() || Keep(&tensor)) return tensor;
  auto moved = InFile(tensor.dtype(), tensor.dims(), [&](int fd) {
    return WriteAll(fd, tensor.bytes().data(), tensor.nbytes()) == 0;
  });
  return moved ? *std::move(moved) : tensor;
}

Tensor SpilledInParts(DType dtype, const std::vector<int64_t>& dims,
                      absl::FunctionRef<Tensor(int64_t begin, int64_t end)> part) {
  const int64_t count = dims[0];
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  const auto nbytes = static_cast<size_t>(ByteSize(dtype, elements).value_or(0));
  if (nbytes >= 2 * kLarge && count > 1 && g_kept + nbytes > kMaxKept) {
    const int64_t step = std::max<int64_t>(1, static_cast<int64_t>(kLarge / (nbytes / count)));
    auto made = InFile(dtype, dims, [&](int fd) {
      for (int64_t begin = 0; begin < count; begin += step) {
        const Tensor some = part(begin, std::min(count, begin + step));
        if (WriteAll(fd, some.bytes().data(), some.nbytes()) != 0) return false;
      }
      return true;
    });
    if (made) return *std::move(made);
  }
  return Spilled(part(0, count));
}

Tensor MadeInParts(DType dtype, const std::vector<int64_t>& dims,
                   std::function<void(int64_t begin, int64_t end, std::byte* to)> make,
                   const Tensor& source) {
  int64_t row = 1;
  for (size_t i = 1; i < dims.size(); ++i) row *= dims[i];
  const int64_t bits = row * BitWidth(dtype);
  if (dims[0] < 2 || bits % 8 != 0 || dims[0] * bits / 8 < static_cast<int64_t>(kLarge)) {
    Tensor tensor = Tensor::Zeros(dtype, dims);
    make(0, dims[0], tensor.mutable_bytes().data());
    DropPages(source);
    return Spilled(std::move(tensor));
  }
  const auto range = source.file_range();
  const ByteMaker* before = source.maker();
  auto file = range ? range->file : before ? before->source : nullptr;
  const auto made = [source, make = std::move(make), count = dims[0]](int64_t begin, int64_t end,
                                                                      std::byte* to) {
    make(begin, end, to);
    // About what was read.
    const size_t row = source.nbytes() / static_cast<size_t>(count);
    Advise(source, static_cast<size_t>(begin) * row, static_cast<size_t>(end) * row, MADV_DONTNEED);
  };
  return Tensor::Made(dtype, dims, {dims[0], static_cast<size_t>(bits / 8), made, std::move(file)});
}

}  // namespace x2ir
