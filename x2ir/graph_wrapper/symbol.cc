// The intern table of Symbol.
#include "x2ir/graph_wrapper/symbol.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <shared_mutex>

#include "absl/container/node_hash_set.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

struct SymbolTable {
  SymbolTable() { texts.reserve(8192); }  // as many names as are registered, and more
  // The standard library's: Abseil's looks for deadlocks at every lock where a distribution built
  // it so, and sanitizers do not see it in a library that was built without them.
  std::shared_mutex mutex;
  absl::node_hash_set<std::string, StringViewHash, StringViewEq> texts;  // nodes never move
};

// Never destroyed: Symbols may live in static objects.
SymbolTable& GetTable() {
  static SymbolTable* table = new SymbolTable;
  return *table;
}

const std::string* Find(std::string_view text) {
  SymbolTable& table = GetTable();
  {
    const std::shared_lock lock(table.mutex);
    if (auto it = table.texts.find(text); it != table.texts.end()) return &*it;
  }
  const std::unique_lock lock(table.mutex);
  return &*table.texts.emplace(text).first;
}

}  // namespace

const std::string& Symbol::Empty() {
  static const std::string* empty = new std::string;
  return *empty;
}

const std::string* Symbol::Intern(std::string_view text) {
  if (text.empty()) return &Empty();
  // The same few are asked for again and again: what was found last of those that begin, end and
  // are as long alike needs no lock.
  static std::array<std::atomic<const std::string*>, 1024> found{};
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t n = text.size();
  const size_t mixed = (at(0) * 31 + at(n / 2)) * 31 + at(n - 1) + at(n - 1 - n / 4) * 7 + n * 101;
  std::atomic<const std::string*>& last = found[mixed % found.size()];
  const std::string* symbol = last.load(std::memory_order_acquire);
  if (!symbol || *symbol != text) {
    symbol = Find(text);
    last.store(symbol, std::memory_order_release);
  }
  return symbol;
}

}  // namespace x2ir
