#include "x2ir/formats/coreml/targets.h"

#include <cstddef>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::coreml {
namespace {

struct TargetRow {
  std::string_view system;
  int version;  // that came with CoreML5
};
constexpr TargetRow kSystems[] = {{"iOS", 15}, {"macOS", 12}, {"watchOS", 8}, {"tvOS", 15}};

}  // namespace

const std::vector<std::string>& DeploymentTargets() {
  static const auto* const targets = [] {
    auto* all = new std::vector<std::string>;
    for (const TargetRow& row : kSystems) {
      for (int opset = kOldestMilOpset; opset <= kNewestMilOpset; ++opset) {
        all->push_back(StrCat(row.system, row.version + opset - kOldestMilOpset));
      }
    }
    return all;
  }();
  return *targets;
}

int OpsetOfTarget(std::string_view target) {
  constexpr int kOpsets = kNewestMilOpset - kOldestMilOpset + 1;
  const std::vector<std::string>& all = DeploymentTargets();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == target) return kOldestMilOpset + static_cast<int>(i) % kOpsets;
  }
  return 0;
}

std::string TargetOfOpset(int opset, std::string_view system) {
  for (const TargetRow& row : kSystems) {
    if (row.system == system) return StrCat(system, row.version + opset - kOldestMilOpset);
  }
  return "";
}

}  // namespace x2ir::coreml
