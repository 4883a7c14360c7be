// See pool.h.
#include "x2ir/graph_wrapper/pool.h"

#include <sys/mman.h>

#include <new>

namespace x2ir {

void* NewHugePage() {
  void* page = ::operator new (kHugePage, std::align_val_t{kHugePage});
#ifdef MADV_HUGEPAGE
  // Best effort: where the system has none, these are pages of 4 KB.
  (void)::madvise(page, kHugePage, MADV_HUGEPAGE);
#endif
  return page;
}

void FreeHugePage(void* page) { ::operator delete (page, std::align_val_t{kHugePage}); }

}  // namespace x2ir
