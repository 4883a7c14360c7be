#include "x2ir/handlers/checkpoint/architectures.h"

#include <map>
#include <memory>
#include <utility>

#include "x2ir/graph_wrapper/registry.h"

namespace x2ir::checkpoint {
namespace {

struct ByType {
  using Entry = std::shared_ptr<const Architecture>;
  void Add(Entry entry) {
    const std::string name = entry->model_type;
    if (!all.emplace(name, std::move(entry)).second) {
      AddRegistrationProblem(StrCat("architecture '", name, "' is registered twice"));
    }
  }
  std::map<std::string, Entry, std::less<>> all;
};

Registry<ByType>& Architectures() {
  static auto* const registry = new Registry<ByType>;
  return *registry;
}

}  // namespace

bool RegisterArchitecture(Architecture architecture) {
  Architectures().Add(std::make_shared<const Architecture>(std::move(architecture)));
  return true;
}

const Architecture* FindArchitecture(std::string_view model_type) {
  const auto& all = Architectures().Get().all;
  const auto it = all.find(model_type);
  return it == all.end() ? nullptr : it->second.get();
}

std::vector<const Architecture*> AllArchitectures() {
  std::vector<const Architecture*> all;
  for (const auto& [name, architecture] : Architectures().Get().all) {
    all.push_back(architecture.get());
  }
  return all;
}

}  // namespace x2ir::checkpoint
