// See target.h.
#include "x2ir/ops/target.h"

namespace x2ir {

const Target& Target::Nothing() {
  struct HasNothing : Target {
    bool Holds(const Fact&) const override { return false; }
  };
  static const HasNothing nothing;
  return nothing;
}

}  // namespace x2ir
