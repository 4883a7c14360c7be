// Deployment targets, by the names that coremltools has for them: the oldest systems that a program
// must run on, which say its opset.
#ifndef X2IR_FORMATS_COREML_TARGETS_H_
#define X2IR_FORMATS_COREML_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace coreml {

inline constexpr int kOldestMilOpset = 5, kNewestMilOpset = 8;  // CoreML5 to CoreML8

// "iOS15", ..., "macOS15", ...: those whose opset is one of these.
const std::vector<std::string>& DeploymentTargets();
// 0 for what is not a target.
int OpsetOfTarget(std::string_view target);
// "iOS17", the target of that opset; of another system "macOS14".
std::string TargetOfOpset(int opset, std::string_view system = "iOS");

}  // namespace coreml
}  // namespace x2ir

#endif  // X2IR_FORMATS_COREML_TARGETS_H_
