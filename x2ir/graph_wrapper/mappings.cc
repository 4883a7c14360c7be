#include "x2ir/graph_wrapper/mappings.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// A mapping as the handler finds it: without a lock, in a list that only ever grows. Records are
// used again, and never freed.
struct Mapping {
  std::atomic<const std::byte*> begin{nullptr};  // null: not in use
  std::atomic<size_t> size{0};
  std::atomic<const char*> path{nullptr};
  int64_t file_size = 0;
  timespec changed{};
  Mapping* next = nullptr;
};

std::atomic<Mapping*> mappings{nullptr};

// For those who add and remove.
struct Table {
  std::mutex mutex;
  absl::flat_hash_map<const std::byte*, Mapping*> used;
  std::vector<Mapping*> unused;
};
Table& TheTable() {
  static auto* table = new Table;
  return *table;
}

// The first file that failed a thread, until the thread takes the fault. Of fixed size and place,
// as a signal handler requires; and no thread-local variable, since a library that is loaded late
// may get none that a handler could use. Few threads meet a fault at the same time.
struct Fault {
  std::atomic<pthread_t> thread{};  // none: not in use; that thread alone looks at the path
  char path[256] = {};
};
std::array<Fault, 64> faults;
std::atomic<int> num_faults{0};

// Of this thread; null when it has none.
Fault* FindFault() {
  if (num_faults.load(std::memory_order_relaxed) == 0) return nullptr;
  const pthread_t self = ::pthread_self();
  for (Fault& fault : faults) {
    if (fault.thread.load(std::memory_order_acquire) == self) return &fault;
  }
  return nullptr;
}

// False when there is no room to note it.
bool NoteFault(const char* path) {
  if (FindFault()) return true;
  for (Fault& fault : faults) {
    pthread_t unused{};
    if (!fault.thread.compare_exchange_strong(unused, ::pthread_self())) continue;
    num_faults.fetch_add(1, std::memory_order_relaxed);
    std::strncpy(fault.path, path, sizeof(fault.path) - 1);
    return true;
  }
  return false;
}

size_t PageSize() {
  static const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// Zeros from the page that failed to the end of its mapping: one signal a file, not one a page.
bool Mend(const std::byte* at) {
  for (const Mapping* mapping = mappings.load(std::memory_order_acquire); mapping;
       mapping = mapping->next) {
    const std::byte* begin = mapping->begin.load(std::memory_order_acquire);
    const size_t size = mapping->size.load(std::memory_order_acquire);
    const size_t page = PageSize();
    const size_t mapped = (size + page - 1) / page * page;
    if (!begin || at < begin || static_cast<size_t>(at - begin) >= mapped) continue;
    // Another mapping's record may have become one more's since.
    if (mapping->begin.load(std::memory_order_acquire) != begin) continue;
    const size_t offset = static_cast<size_t>(at - begin) / page * page;
    const char* path = mapping->path.load();
    if (path && !NoteFault(path)) return false;
    void* const from = const_cast<std::byte*>(begin + offset);
    if (::mmap(from, mapped - offset, PROT_READ,
               MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
      return false;
    }
    return true;
  }
  return false;
}

void OnBusError(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const bool sent = info->si_code <= 0;  // sent with kill()
  if (sent || !Mend(static_cast<const std::byte*>(info->si_addr))) {
    // Not a mapped file: act as without this handler.
    ::signal(signal, SIG_DFL);
    if (sent) ::raise(signal);
  }
  errno = error;
}

}  // namespace

void HandleMappingFaults() {
  PageSize();
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

absl::Status MappingFault() {
  const Fault* fault = FindFault();
  if (!fault) return absl::OkStatus();
  return DataLoss("'", std::string_view(fault->path),
                  "' became shorter, or unreadable, while it was read");
}

absl::Status TakeMappingFault() {
  absl::Status status = MappingFault();
  if (Fault* fault = FindFault()) {
    std::fill(std::begin(fault->path), std::end(fault->path), '\0');
    num_faults.fetch_sub(1, std::memory_order_relaxed);
    fault->thread.store(pthread_t{}, std::memory_order_release);
  }
  return status;
}

absl::Status CheckUnchanged(const MappedFile& file) {
  int64_t size = 0;
  timespec changed{};
  if (file.size() != 0) {
    Table& table = TheTable();
    const std::lock_guard lock(table.mutex);
    const auto it = table.used.find(file.data());
    if (it == table.used.end()) return absl::OkStatus();
    size = it->second->file_size;
    changed = it->second->changed;
  }
  struct stat now;
  if ((file.fd() >= 0 ? ::fstat(file.fd(), &now) : ::stat(file.path().c_str(), &now)) != 0) {
    return SystemError("cannot read '", file.path(), "': ", std::strerror(errno));
  }
  const bool same = now.st_size == size && (size == 0 || (now.st_mtim.tv_sec == changed.tv_sec &&
                                                          now.st_mtim.tv_nsec == changed.tv_nsec));
  return same ? absl::OkStatus() : DataLoss("'", file.path(), "' changed while it was read");
}

void AddMapping(const std::byte* begin, size_t size, const std::string& path,
                const struct stat& info) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  Mapping* mapping = nullptr;
  if (table.unused.empty()) {
    mapping = new Mapping;
    mapping->next = mappings.load(std::memory_order_relaxed);
    mappings.store(mapping, std::memory_order_release);
  } else {
    mapping = table.unused.back();
    table.unused.pop_back();
  }
  mapping->file_size = info.st_size;
  mapping->changed = info.st_mtim;
  mapping->size.store(size);
  mapping->path.store(path.c_str());
  mapping->begin.store(begin, std::memory_order_release);
  table.used[begin] = mapping;
}

void RemoveMapping(const std::byte* begin) {
  Table& table = TheTable();
  const std::lock_guard lock(table.mutex);
  const auto it = table.used.find(begin);
  if (it == table.used.end()) return;
  it->second->begin.store(nullptr, std::memory_order_release);
  table.unused.push_back(it->second);
  table.used.erase(it);
}

}  // namespace x2ir
