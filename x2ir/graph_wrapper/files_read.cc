#include "x2ir/graph_wrapper/files_read.h"

#include <atomic>
#include <mutex>
#include <set>

namespace x2ir {
namespace {

struct ReadList {
  std::atomic<bool> on{false};
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> files;
};
ReadList& TheReadList() {
  static auto* list = new ReadList;
  return *list;
}

}  // namespace

void RememberFilesRead() {
  ReadList& list = TheReadList();
  const std::lock_guard lock(list.mutex);
  list.files.clear();
  list.on = true;
}

void AddFileRead(dev_t device, ino_t inode) {
  ReadList& list = TheReadList();
  if (!list.on) return;
  const std::lock_guard lock(list.mutex);
  list.files.emplace(device, inode);
}

bool WasRead(dev_t device, ino_t inode) {
  ReadList& list = TheReadList();
  const std::lock_guard lock(list.mutex);
  return list.files.contains({device, inode});
}

}  // namespace x2ir
