// Windows of convolutions and pools, as layers of all dialects have them. Window (ops/window.h) is
// the one description of them: readers fill one with what a file says, writers get one from the
// attributes of the IR by ReadWindow.
//
// What a reader's window does not say is an empty list, and becomes no attribute; a list that it
// has is one number for each spatial axis (pads: two).
#ifndef X2IR_BUILDER_LAYERS_WINDOW_H_
#define X2IR_BUILDER_LAYERS_WINDOW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/ops/window.h"

namespace X2IR_API x2ir {

// --- Pads: all begins, then all ends -------------------------------------------------------------

std::vector<int64_t> JoinPads(std::vector<int64_t> begins, const std::vector<int64_t>& ends);
// Those of axes that have as much at both ends.
inline std::vector<int64_t> BothEnds(const std::vector<int64_t>& pads) {
  return JoinPads(pads, pads);
}
// From begin and end of each axis in turn, and back.
std::vector<int64_t> PadsOfPairs(absl::Span<const int64_t> pairs);
std::vector<int64_t> PairsOfPads(absl::Span<const int64_t> pads);
// Those of the window's pads for all axes of the tensor that it is over.
std::vector<int64_t> TensorPads(const Window& window);

// --- Read ----------------------------------------------------------------------------------------

inline const char* LayoutName(bool channels_last) {
  return channels_last ? "channels_last" : "channels_first";
}
// The attributes of a convolution of the IR: layout, strides, dilations, auto_pad and pads. Those
// of a pool have kernel_shape and ceil_mode too.
AttributeMap WindowAttrs(const Window& window);
AttributeMap PoolAttrs(const Window& window);

// Fails for sizes and steps below 1, pads below 0, and numbers so large that their products are
// none.
void CheckWindow(NodeReader& a, const Window& window);

// The convolutions of the IR. Weights are [out, in of a group, kernel...], and [in, out of a group,
// kernel...] of a transposed one; the bias may be null.
Expr MakeConv(const Expr& x, Value* weights, Value* bias, const Window& window, int64_t groups);
Expr MakeConvTranspose(const Expr& x, Value* weights, Value* bias, const Window& window,
                       int64_t groups, const std::vector<int64_t>& output_padding = {});

// --- Where sizes are rounded up ------------------------------------------------------------------

// The last window along axis i, over `in` elements, by window.ceil_mode. A window that begins after
// the elements is left out if `within` is true: then the one before it is the last.
struct LastWindow {
  int64_t begin;   // counted from the first element
  int64_t beyond;  // elements that it covers after the last one; negative: how many are left
};
LastWindow LastOf(const Window& window, size_t i, int64_t in, bool within);
// Whether the last window, rounded up, begins at an element or before the first one, for all that
// is known of the size.
bool LastBeginsInside(const Window& window, size_t i, const Dim& in);

// --- Written -------------------------------------------------------------------------------------

// The window over a tensor of that shape (null: an unknown one) with pads in place of auto_pad;
// nullopt where these depend on a size that is not known.
std::optional<Window> WithPads(Window window, const Shape* x);
// Operand 0 with the window's padding, filled with `number`. The window has none then.
Value* PadApart(NodeWriter& w, Window& window, double number);
// A global pool by the reduction of its spatial axes.
absl::StatusOr<Value*> ReduceSpatial(NodeWriter& w, Symbol reduction);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_WINDOW_H_
