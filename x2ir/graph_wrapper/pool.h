// Stores objects of one class side by side in memory, in the order of creation, so that a walk over
// a large graph in that order does not wait for memory at every step.
#ifndef X2IR_GRAPH_WRAPPER_POOL_H_
#define X2IR_GRAPH_WRAPPER_POOL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

#ifdef __SANITIZE_ADDRESS__  // GCC
#define X2IR_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // Clang
#define X2IR_ADDRESS_SANITIZER
#endif
#endif

namespace X2IR_API x2ir {

inline constexpr size_t kHugePage = size_t{1} << 21;

// Memory of that size, which the system hands out at once where it can: it spends a tenth of the
// conversion of a large graph on pages of 4 KB. FreeHugePage takes it back.
void* NewHugePage();
void FreeHugePage(void* page);

// Objects never move. The owner must delete them before the pool is destroyed.
template <typename T>
class Pool {
 public:
#ifdef X2IR_ADDRESS_SANITIZER
  T* New() { return new T; }  // so that the use of one that is gone is found
  void Delete(T* object) { delete object; }
#else
  T* New() {
    void* at = gone_;
    if (gone_) {
      gone_ = gone_->next;
    } else {
      if (fresh_ == end_) Grow();
      at = fresh_++;
    }
    return ::new (at) T;
  }
  void Delete(T* object) {
    object->~T();
    gone_ = ::new (static_cast<void*>(object)) Slot{gone_};
  }

 private:
  union Slot {
    Slot* next;  // of those that are gone
    alignas(T) std::byte bytes[sizeof(T)];
  };
  // Twice as many at a time, so that a small graph is small; then a huge page.
  void Grow() {
    constexpr size_t kFirst = 4, kOfPage = kHugePage / sizeof(Slot);
    last_ = last_ == 0 ? kFirst : std::min(2 * last_, kOfPage);
    if (last_ < kOfPage) {
      blocks_.emplace_back(new Slot[last_]);
      fresh_ = blocks_.back().get();
    } else {
      pages_.emplace_back(NewHugePage());
      fresh_ = static_cast<Slot*>(pages_.back().get());
    }
    end_ = fresh_ + last_;
  }
  struct FreePage {
    void operator()(void* page) const { FreeHugePage(page); }
  };
  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::vector<std::unique_ptr<void, FreePage>> pages_;
  size_t last_ = 0;  // how many the last block holds
  Slot* fresh_ = nullptr;
  Slot* end_ = nullptr;
  Slot* gone_ = nullptr;
#endif
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_POOL_H_
