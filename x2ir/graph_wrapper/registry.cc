// What is wrong with registrations.
#include "x2ir/graph_wrapper/registry.h"

#include <algorithm>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

struct Problems {
  std::mutex mutex;
  std::vector<RegistryBase*> registries;
  std::vector<std::string> texts;
};

Problems& All() {
  static auto* problems = new Problems;
  return *problems;
}

}  // namespace

std::string SourcePlace::ToString() const { return StrCat(file, ":", line); }

RegistryBase::RegistryBase() {
  Problems& all = All();
  const std::lock_guard lock(all.mutex);
  all.registries.push_back(this);
}

void AddRegistrationProblem(std::string problem) {
  Problems& all = All();
  const std::lock_guard lock(all.mutex);
  if (std::find(all.texts.begin(), all.texts.end(), problem) != all.texts.end()) return;
  all.texts.push_back(std::move(problem));
}

void AddDuplicate(std::string_view what, const SourcePlace& first, const SourcePlace& second) {
  AddRegistrationProblem(
      StrCat(what, " is registered twice: at ", first.ToString(), " and at ", second.ToString()));
}

std::vector<std::string> RegistrationProblems() {
  Problems& all = All();
  std::vector<RegistryBase*> registries;
  {
    const std::lock_guard lock(all.mutex);
    registries = all.registries;
  }
  for (RegistryBase* registry : registries) registry->Update();
  const std::lock_guard lock(all.mutex);
  return all.texts;
}

absl::Status CheckRegistrations() {
  std::string text;
  for (const std::string& problem : RegistrationProblems()) StrAppend(&text, "\n  ", problem);
  if (text.empty()) return absl::OkStatus();
  return CannotExpress("the linked registrations contradict each other:", text);
}

}  // namespace x2ir
