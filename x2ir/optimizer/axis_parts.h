// Where the axes of a tensor go through reshapes and transposes. Each axis is a list of parts, the
// first of which counts slowest; a reshape takes axes apart and puts parts together, a transpose
// puts axes into another order. Axes of size 1 have no parts.
#ifndef X2IR_OPTIMIZER_AXIS_PARTS_H_
#define X2IR_OPTIMIZER_AXIS_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "x2ir/optimizer/match.h"

namespace X2IR_API x2ir {

// A value, and the reshapes and transposes that make another one of it, in their order.
struct Moved {
  Value* from;
  std::vector<const Node*> moves;
};
// From as far before the value as it goes, through values that nothing else uses.
Moved BeforeMoves(const Pattern& pattern, Value* value);

class AxisParts {
 public:
  using Axis = std::vector<int>;  // numbers of parts

  // nullopt where the rank is not known, a size is not known or 0, or a reshape cannot be followed.
  static std::optional<AxisParts> Of(const Moved& moved);
  // Follows one more reshape or transpose; other nodes leave the axes as they are.
  bool Follow(const Node& move);

  // The axes at the start and those now.
  const std::vector<Axis>& before() const { return before_; }
  const std::vector<Axis>& after() const { return after_; }
  size_t count() const { return sizes_.size(); }
  const Dim& SizeOf(int part) const { return sizes_[static_cast<size_t>(part)]; }
  // Takes the one part of an axis that is there now apart, slowest first.
  bool TakeApart(size_t axis, const std::vector<Dim>& sizes);

 private:
  void Replace(int part, const Axis& parts);

  std::vector<Dim> sizes_;
  std::vector<Axis> before_, after_;
};

// The order of the axes before in which they are after; `reshaped`: some of them put together, or
// taken apart, or between others of size 1. nullopt where parts of an axis are no longer side by
// side.
struct MovedAxes {
  std::vector<int64_t> perm;
  bool reshaped;
};
std::optional<MovedAxes> PermOf(const AxisParts& parts);

}  // namespace x2ir

#endif  // X2IR_OPTIMIZER_AXIS_PARTS_H_
