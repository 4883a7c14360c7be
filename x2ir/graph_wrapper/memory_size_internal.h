// How many bytes of memory a tensor takes.
#ifndef X2IR_GRAPH_WRAPPER_MEMORY_SIZE_INTERNAL_H_
#define X2IR_GRAPH_WRAPPER_MEMORY_SIZE_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <new>

namespace x2ir {

// A size that is not negative, as one of memory. Throws std::bad_alloc where addresses are too
// short for it, as those of WebAssembly are.
inline size_t MemorySize(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  if (static_cast<int64_t>(size) != bytes) throw std::bad_alloc();
  return size;
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_MEMORY_SIZE_INTERNAL_H_
