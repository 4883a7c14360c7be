// Targets for tests of passes: they have some IR ops, of every element type and with every
// attribute.
#ifndef X2IR_TESTS_OPTIMIZER_TARGET_UTIL_H_
#define X2IR_TESTS_OPTIMIZER_TARGET_UTIL_H_

#include <functional>
#include <utility>

#include "x2ir/ops/target.h"

namespace x2ir {

class TargetOfOps : public Target {
 public:
  explicit TargetOfOps(std::function<bool(Symbol op)> has) : has_(std::move(has)) {}
  bool Holds(const Fact& fact) const override { return has_(fact.op); }

 private:
  std::function<bool(Symbol op)> has_;
};

inline const Target& AllOpsTarget() {
  static const auto& target = *new TargetOfOps([](Symbol) { return true; });
  return target;
}

}  // namespace x2ir

#endif  // X2IR_TESTS_OPTIMIZER_TARGET_UTIL_H_
