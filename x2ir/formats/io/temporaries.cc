#include "x2ir/formats/io/temporaries.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace x2ir {

// A handler may look at a slot at any time. Slots and their paths are never freed, only used again.
struct Temporary::Slot {
  std::atomic<int> kind{0};  // 0: nothing
  std::atomic<const char*> path{nullptr};
  char* buffer = nullptr;
  size_t capacity = 0;
  Slot* next = nullptr;
};

namespace {

std::atomic<Temporary::Slot*> slots{nullptr};
std::atomic<int> renaming{0};
std::atomic<int> waiting{0};  // a signal that came meanwhile

struct FreeSlots {
  std::mutex mutex;
  std::vector<Temporary::Slot*> all;
};
FreeSlots& Free() {
  static auto* free = new FreeSlots;
  return *free;
}

// Calls what a signal handler may call, and nothing else.
void RemoveAll() {
  for (Temporary::Slot* slot = slots.load(); slot; slot = slot->next) {
    if (slot->kind.load() == Temporary::kFile) ::unlink(slot->path.load());
  }
  // A folder in a folder goes first, in whatever order they come.
  for (bool any = true; any;) {
    any = false;
    for (Temporary::Slot* slot = slots.load(); slot; slot = slot->next) {
      if (slot->kind.load() == Temporary::kFolder && ::rmdir(slot->path.load()) == 0) any = true;
    }
  }
}

void OnInterrupt(int signal) {
  if (renaming.load() > 0) {
    waiting.store(signal);
    return;
  }
  RemoveAll();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void RemoveTemporariesOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) {
    struct sigaction old {};
    if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = OnInterrupt;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (const int other : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) ::sigaddset(&action.sa_mask, other);
    ::sigaction(signal, &action, nullptr);
  }
}

Temporary::Temporary(const std::string& path, Kind kind) {
  FreeSlots& free = Free();
  const std::lock_guard lock(free.mutex);
  if (free.all.empty()) {
    slot_ = new Slot;
    slot_->next = slots.load();
    slots.store(slot_);
  } else {
    slot_ = free.all.back();
    free.all.pop_back();
  }
  if (slot_->capacity <= path.size()) {
    // The old one is left where a handler may still look at it.
    slot_->capacity = 2 * path.size() + 64;
    slot_->buffer = static_cast<char*>(std::malloc(slot_->capacity));
    if (!slot_->buffer) throw std::bad_alloc();
  }
  std::memcpy(slot_->buffer, path.c_str(), path.size() + 1);
  slot_->path.store(slot_->buffer);
  slot_->kind.store(kind);
}

Temporary& Temporary::operator=(Temporary&& other) noexcept {
  if (this == &other) return *this;
  Forget();
  slot_ = other.slot_;
  other.slot_ = nullptr;
  return *this;
}

void Temporary::Forget() {
  if (!slot_) return;
  slot_->kind.store(0);
  FreeSlots& free = Free();
  const std::lock_guard lock(free.mutex);
  free.all.push_back(slot_);
  slot_ = nullptr;
}

NoInterrupts::NoInterrupts() { renaming.fetch_add(1); }

NoInterrupts::~NoInterrupts() {
  if (renaming.fetch_sub(1) != 1) return;
  if (const int signal = waiting.exchange(0)) ::raise(signal);
}

}  // namespace x2ir
