// Pools, as layers of all dialects have them.
#ifndef X2IR_BUILDER_LAYERS_POOL_H_
#define X2IR_BUILDER_LAYERS_POOL_H_

#include <cstdint>

#include "x2ir/builder/layers/window.h"

namespace X2IR_API x2ir {

enum class PoolKind { kMax, kAverage, kSum, kLp };
struct WindowPool {
  Window window;
  PoolKind kind = PoolKind::kMax;
  bool count_include_pad = false;  // of averages
  int64_t p = 2;                   // of kLp
};

// The pool of the IR, by ONNX's rules where sizes are rounded up.
Expr MakePool(const Expr& x, const WindowPool& pool);
// The same where the last window that is rounded up does not begin after x, else Unimplemented:
// its rules do not matter.
Expr PoolWindows(NodeReader& a, const Expr& x, const WindowPool& pool);
// Over all spatial axes, which stay with size 1.
Expr GlobalPool(NodeReader& a, const Expr& x, PoolKind kind, bool channels_last, int64_t p = 2);

// --- Caffe's rules, which ncnn and Caffe2 kept ---------------------------------------------------

// No window begins after the image and its padding in front, and a mean counts the padding at both
// ends but nothing after it. x [batch, channels, spatial axes...], a maximum or an average without
// dilations. Unimplemented where the size of an axis is not known and what its last window sees
// depends on it.
Expr PoolByEnds(NodeReader& a, const Expr& x, const WindowPool& pool);
// The window over x of known sizes, with its ends padded as far as the last windows reach.
Window WithReachedEnds(NodeReader& a, const Expr& x, Window window);
// Fails for windows without a size or a step, for padding that is as much as the window, and for
// images so large that sizes are no longer numbers. To be asked before one counts with them.
void CheckPool(NodeReader& a, const Expr& x, const Window& window);

}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_POOL_H_
