// Registries of ops, forms, passes, ...: static objects register them before main, or when a
// library is loaded later. Adding and looking up are thread-safe; a look-up takes no lock.
//
// A problem with a registration, such as a second one of a name, does not end the program: the
// first one counts, and every conversion fails and says what is wrong (CheckRegistrations).
#ifndef X2IR_GRAPH_WRAPPER_REGISTRY_H_
#define X2IR_GRAPH_WRAPPER_REGISTRY_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// Where something is registered. As a default argument, Here() is the caller's place.
struct SourcePlace {
  const char* file = "";
  int line = 0;
  static SourcePlace Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  std::string ToString() const;  // "x2ir/ops/activation.cc:12"
};

// Remembers what is wrong with a registration. `what`: "op 'relu'".
void AddRegistrationProblem(std::string problem);
void AddDuplicate(std::string_view what, const SourcePlace& first, const SourcePlace& second);
// All problems with the registrations so far, each once; empty if there are none.
std::vector<std::string> RegistrationProblems();
// FailedPrecondition with all of them.
absl::Status CheckRegistrations();

class RegistryBase {
 public:
  RegistryBase();
  RegistryBase(const RegistryBase&) = delete;
  virtual ~RegistryBase() = default;

 private:
  friend std::vector<std::string> RegistrationProblems();
  virtual void Update() = 0;
};

// `Index` holds the entries in the form that readers need. It is copyable, has a type Entry, and
// void Add(Entry), which says what is wrong with one (above); it may have void Reserve(size_t
// more). Make registries that are never destroyed: what is found in one stays where it is.
template <typename Index>
class Registry : public RegistryBase {
 public:
  using Entry = typename Index::Entry;

  void Add(Entry entry) {
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(entry));
    current_.store(nullptr, std::memory_order_release);
  }

  // All entries that were added before.
  const Index& Get() {
    const Index* index = current_.load(std::memory_order_acquire);
    return index ? *index : Merge();
  }

 private:
  void Update() override { Get(); }

  const Index& Merge() {
    const std::lock_guard lock(mutex_);
    if (const Index* index = current_.load(std::memory_order_relaxed)) return *index;
    // Other threads may still read the previous index, so it is not changed.
    auto index =
        indexes_.empty() ? std::make_unique<Index>() : std::make_unique<Index>(*indexes_.back());
    if constexpr (requires { index->Reserve(added_.size()); }) index->Reserve(added_.size());
    for (Entry& entry : added_) index->Add(std::move(entry));
    added_.clear();
    indexes_.push_back(std::move(index));
    current_.store(indexes_.back().get(), std::memory_order_release);
    return *indexes_.back();
  }

  std::atomic<const Index*> current_{nullptr};  // null: entries wait in added_
  std::mutex mutex_;
  std::vector<Entry> added_;
  std::vector<std::unique_ptr<Index>> indexes_;
};

// A registry of things that are found by their member `name`.
template <typename T>
class NamedRegistry {
 public:
  // `what`: "pass", for messages.
  explicit NamedRegistry(std::string_view what) : what_(what) {}

  void Add(T thing, SourcePlace place) {
    registry_.Add({std::make_shared<const T>(std::move(thing)), place, what_});
  }
  // Null when there is none. What is found lives as long as the registry.
  const T* Find(std::string_view name) {
    const auto& things = registry_.Get().by_name;
    const auto it = things.find(name);
    return it == things.end() ? nullptr : it->second.thing.get();
  }
  std::vector<const T*> All() {  // by name
    std::vector<const T*> all;
    for (const auto& [name, entry] : registry_.Get().by_name) all.push_back(entry.thing.get());
    return all;
  }

 private:
  struct Index {
    struct Entry {
      std::shared_ptr<const T> thing;
      SourcePlace place;
      std::string_view what;
    };
    std::map<std::string, Entry, std::less<>> by_name;

    void Add(Entry entry) {
      const auto [it, fresh] = by_name.try_emplace(std::string(entry.thing->name), entry);
      if (!fresh) {
        AddDuplicate(std::string(entry.what) + " '" + it->first + "'", it->second.place,
                     entry.place);
      }
    }
  };
  const std::string_view what_;
  Registry<Index> registry_;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_REGISTRY_H_
