// Mappings of files, which WebAssembly does not have: the bytes of a file are read into memory,
// once for all of its mappings. Those of the last file stay when it is mapped no more, since it is
// often mapped again, until the memory is needed.
#include "mappings.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kPage = 4096;  // an alignment that the program counts on

// Lies a page before its bytes.
struct Mapping {
  Mapping* next;
  int uses;
  size_t size;
  // The file, and its state when it was read.
  off_t offset;
  struct stat file;

  char* bytes() { return reinterpret_cast<char*>(this) + kPage; }

  bool IsOf(size_t bytes, off_t at, const struct stat& now) const {
    return size == bytes && offset == at && file.st_ino == now.st_ino &&
           file.st_dev == now.st_dev && file.st_size == now.st_size &&
           file.st_mtim.tv_sec == now.st_mtim.tv_sec && file.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
  }
};
static_assert(sizeof(Mapping) <= kPage);

Mapping* mappings = nullptr;

// 0, or what failed.
int ReadAll(int file, char* into, size_t size, off_t offset) {
  while (size > 0) {
    const ssize_t got = ::pread(file, into, std::min<size_t>(size, PTRDIFF_MAX), offset);
    if (got < 0) return errno;
    if (got == 0) return EIO;  // it became shorter
    into += got;
    offset += got;
    size -= static_cast<size_t>(got);
  }
  return 0;
}

void* Fail(int error) {
  errno = error;
  return MAP_FAILED;
}

}  // namespace

bool FreeUnusedMappings() {
  bool any = false;
  for (Mapping** link = &mappings; *link;) {
    Mapping* const mapping = *link;
    if (mapping->uses > 0) {
      link = &mapping->next;
      continue;
    }
    *link = mapping->next;
    std::free(mapping);
    any = true;
  }
  return any;
}

extern "C" void* mmap(void*, size_t size, int access, int flags, int descriptor, off_t offset) {
  if (access != PROT_READ || (flags & (MAP_FIXED | MAP_ANONYMOUS)) != 0) return Fail(ENOTSUP);
  struct stat file;
  if (::fstat(descriptor, &file) != 0) return MAP_FAILED;
  for (Mapping* mapping = mappings; mapping; mapping = mapping->next) {
    if (!mapping->IsOf(size, offset, file)) continue;
    ++mapping->uses;
    return mapping->bytes();
  }
  FreeUnusedMappings();
  if (size > SIZE_MAX - 2 * kPage) return Fail(ENOMEM);
  void* const memory = std::aligned_alloc(kPage, kPage + (size + kPage - 1) / kPage * kPage);
  if (!memory) return Fail(ENOMEM);
  auto* const mapping = new (memory) Mapping{mappings, 1, size, offset, file};
  if (const int error = ReadAll(descriptor, mapping->bytes(), size, offset)) {
    std::free(memory);
    return Fail(error);
  }
  mappings = mapping;
  return mapping->bytes();
}

extern "C" int munmap(void* at, size_t) {
  Mapping* mapping = mappings;
  while (mapping && mapping->bytes() != at) mapping = mapping->next;
  if (!mapping || mapping->uses == 0) return errno = EINVAL, -1;
  if (mapping->uses == 1) FreeUnusedMappings();
  --mapping->uses;
  return 0;
}
