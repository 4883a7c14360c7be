// operator new that throws: the one of Debian's libc++abi for wasm32-wasi, which is built without
// exceptions, ends the program.
#include <cstdlib>
#include <new>

#include "mappings.h"

namespace {
void* Allocate(size_t size) {
  do {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  } while (FreeUnusedMappings());
  throw std::bad_alloc();
}
void* AllocateAligned(size_t size, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  do {
    if (void* memory = std::aligned_alloc(step, (size + step - 1) / step * step)) return memory;
  } while (FreeUnusedMappings());
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateAligned(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateAligned(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
