// Slices as ONNX defines them: bounds that count from either end and are clamped.
#ifndef X2IR_OPS_SLICE_H_
#define X2IR_OPS_SLICE_H_

#include <cstdint>

#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/shape.h"

namespace X2IR_API x2ir {

// Which elements of an axis a slice takes: start, start + step, ... (count of them).
struct SliceRange {
  int64_t start, step, count;
};
// step must not be 0. Any numbers are fine, also the limits of int64.
SliceRange ResolveSlice(int64_t size, int64_t start, int64_t end, int64_t step);
// How many elements a slice takes when sizes and bounds may be symbolic; unknown if the exact
// number is not known.
Dim SlicedDim(const Dim& size, const Dim& start, const Dim& end, int64_t step);

// A slice, pad or squeeze that is known to name no axes: the result is operand 0. Runtimes refuse
// some of these, and take others for all axes.
bool NamesNoAxes(const Node& node);

// A pad that is known to take more elements of an axis than it has: reflects more elements than
// follow the first one (which the IR does back and forth), wraps around more than once, or repeats
// an edge that does not exist. Runtimes refuse it, or compute something else.
bool PadsBeyond(const Node& node);

}  // namespace x2ir

#endif  // X2IR_OPS_SLICE_H_
