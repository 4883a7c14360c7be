// The intern table behind Symbol.
#include "x2ir/graph_wrapper/symbol.h"

#include "absl/container/node_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct Table {
  absl::Mutex mutex;
  absl::node_hash_set<std::string, StringViewHash, StringViewEq> texts
      ABSL_GUARDED_BY(mutex);  // nodes never move
};

// Never destroyed: Symbols may live in static objects.
Table& GetTable() {
  static Table* table = new Table;
  return *table;
}

}  // namespace

const std::string& Symbol::Empty() {
  static const std::string* empty = new std::string;
  return *empty;
}

const std::string* Symbol::Intern(std::string_view text) {
  if (text.empty()) return &Empty();
  Table& table = GetTable();
  {
    absl::ReaderMutexLock lock(&table.mutex);
    if (auto it = table.texts.find(text); it != table.texts.end()) return &*it;
  }
  absl::MutexLock lock(&table.mutex);
  return &*table.texts.emplace(text).first;
}

}  // namespace x2ir
