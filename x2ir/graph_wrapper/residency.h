// Keeps weights out of memory: memory use should depend on the graph, not on the weights, even if a
// pass reads or changes some.
#ifndef X2IR_GRAPH_WRAPPER_RESIDENCY_H_
#define X2IR_GRAPH_WRAPPER_RESIDENCY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// After the bytes of a tensor were read: where it is large and mapped from a file, its pages leave
// this process's memory. A later read loads them again.
void DropPages(const Tensor& tensor);

// While it lives, reads of a few bytes of a large tensor do not trigger read-ahead, which may be
// megabytes; its end does the same as DropPages.
class SparseReads {
 public:
  explicit SparseReads(const Tensor& tensor);
  ~SparseReads();
  SparseReads(const SparseReads&) = delete;
  SparseReads& operator=(const SparseReads&) = delete;

 private:
  const Tensor& tensor_;
};

// The same tensor. Of large ones that this process made, 32 MB stay in memory; others lie in a
// temporary file afterwards, which is gone when the tensor is ($TMPDIR says where). Where no such
// file can be, they stay in memory too. Call it once for a tensor that is made.
Tensor Spilled(Tensor tensor);

// The same for a tensor of these dims (rank >= 1) that can be made in parts: `part` gives entries
// [begin, end) of its first axis. Where it goes to a file, a megabyte is in memory at a time.
Tensor SpilledInParts(DType dtype, const std::vector<int64_t>& dims,
                      absl::FunctionRef<Tensor(int64_t begin, int64_t end)> part);

// A tensor of these dims (rank >= 1) whose bytes are made when they are needed (Tensor::Made), or
// at once where they are few: `make` fills in entries [begin, end) of its first axis. It reads
// `source` and nothing that could go away.
Tensor MadeInParts(DType dtype, const std::vector<int64_t>& dims,
                   std::function<void(int64_t begin, int64_t end, std::byte* to)> make,
                   const Tensor& source);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_RESIDENCY_H_
