// Where the bytes of a tensor are: in a range of a file, or nowhere until they are made.
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/check.h"
#include "x2ir/graph_wrapper/memory_size_internal.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {

struct Tensor::MadeOnce {
  explicit MadeOnce(ByteMaker m) : maker(std::move(m)) {}
  const ByteMaker maker;
  std::once_flag once;
  std::atomic<bool> is_done{false};
  Tensor bytes;  // [count, size], once it is done
};

const Tensor::MadeOnce& Tensor::made() const { return *static_cast<const MadeOnce*>(owner_.get()); }

Tensor Tensor::Made(DType dtype, std::vector<int64_t> dims, ByteMaker maker) {
  const std::optional<int64_t> n = CheckedProduct(dims);
  X2IR_CHECK(n.has_value(), "bad shape of bytes that are made");
  const std::optional<int64_t> size = ByteSize(dtype, *n);
  X2IR_CHECK(
      size && static_cast<uint64_t>(*size) == static_cast<uint64_t>(maker.count) * maker.size,
      "what makes the bytes makes another number of them");
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  t.num_elements_ = *n;
  t.nbytes_ = MemorySize(*size);
  t.owner_ = std::make_shared<MadeOnce>(std::move(maker));
  t.holder_ = kMade;
  return t;
}

const ByteMaker* Tensor::maker() const {
  return holder_ == kMade && !made().is_done ? &made().maker : nullptr;
}

absl::Span<const std::byte> Tensor::MadeBytes() const {
  // Not const when it was made, and only this changes it.
  MadeOnce& once = const_cast<MadeOnce&>(made());
  std::call_once(once.once, [&] {
    const auto size = static_cast<int64_t>(once.maker.size);
    once.bytes =
        SpilledInParts(DType::kUInt8, {once.maker.count, size}, [&](int64_t begin, int64_t end) {
          Tensor part = Zeros(DType::kUInt8, {end - begin, size});
          once.maker.make(begin, end, part.buffer().data());
          return part;
        });
    once.is_done = true;
  });
  return once.bytes.bytes();
}

void Tensor::Read(size_t offset, absl::Span<std::byte> to) const {
  X2IR_CHECK(offset <= nbytes_ && to.size() <= nbytes_ - offset, "no such bytes of a tensor");
  if (to.empty()) return;
  const ByteMaker* maker = this->maker();
  if (!maker) {
    std::memcpy(to.data(), bytes().data() + offset, to.size());
    return;
  }
  const size_t size = maker->size, end = offset + to.size();
  if (offset % size == 0 && end % size == 0) {
    return maker->make(static_cast<int64_t>(offset / size), static_cast<int64_t>(end / size),
                       to.data());
  }
  const size_t first = offset / size, last = (end + size - 1) / size;
  std::vector<std::byte> rows((last - first) * size);
  maker->make(static_cast<int64_t>(first), static_cast<int64_t>(last), rows.data());
  std::memcpy(to.data(), rows.data() + (offset - first * size), to.size());
}

std::optional<Tensor::FileRange> Tensor::file_range() const {
  if (holder_ == kMade && !maker()) return made().bytes.file_range();
  if (holder_ != kFile || data_ == nullptr) return std::nullopt;
  auto file = std::static_pointer_cast<const MappedFile>(owner_);
  const auto offset = static_cast<uint64_t>(data_ - file->data());
  return FileRange{std::move(file), offset, nbytes_};
}

}  // namespace x2ir
