#include "x2ir/graph_wrapper/residency.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "x2ir/graph_wrapper/descriptors.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr size_t kLarge = size_t{1} << 20;

// What this process made and keeps: a few weights go to their file at once, without a stay in
// another one.
constexpr size_t kMostKept = size_t{32} << 20;
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
  if (g_kept.fetch_add(tensor->nbytes()) + tensor->nbytes() > kMostKept) {
    g_kept -= tensor->nbytes();
    return false;
  }
  auto kept = std::make_shared<const Kept>(std::move(*tensor));
  const Tensor& own = kept->tensor;
  auto view = Tensor::View(own.dtype(), own.dims(), own.bytes(), kept);
  *tensor = view.ok() ? *std::move(view) : own;
  return true;
}

// Pages at the ends belong to neighbours too, which is no harm.
void Advise(const Tensor& tensor, int advice) {
  if (tensor.nbytes() < kLarge || !tensor.file_range()) return;
  static const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(tensor.bytes().data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(tensor.bytes().data() + tensor.nbytes());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
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
  const int fd = OpenUnnamedFile();
  if (fd < 0) return tensor;
  if (WriteAll(fd, tensor.bytes().data(), tensor.nbytes()) == 0) {
    // By its descriptor: a file without a name has no other way to be opened again.
    auto file = MappedFile::Open(StrCat("/proc/self/fd/", fd));
    if (file.ok()) {
      auto moved =
          Tensor::FromFile(tensor.dtype(), tensor.dims(), *std::move(file), 0, tensor.nbytes());
      if (moved.ok()) tensor = *std::move(moved);
    }
  }
  ::close(fd);
  return tensor;
}

}  // namespace x2ir
