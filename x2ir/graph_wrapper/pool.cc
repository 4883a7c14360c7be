// See pool.h.
#include "x2ir/graph_wrapper/pool.h"

#include <sys/mman.h>

#include <new>

namespace x2ir {

void* NewHugePages(size_t count) {
  void* pages = ::operator new (count* kHugePage, std::align_val_t{kHugePage});
#ifdef MADV_HUGEPAGE
  // Best effort: where the system has none, these are pages of 4 KB.
  (void)::madvise(pages, count * kHugePage, MADV_HUGEPAGE);
#endif
  return pages;
}

void FreeHugePages(void* pages) { ::operator delete (pages, std::align_val_t{kHugePage}); }

}  // namespace x2ir
