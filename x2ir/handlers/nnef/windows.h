// Windows of NNEF's convolutions and pools. Padding that is left out ([]) gives a result for each
// step, with the odd element at the end.
#ifndef X2IR_HANDLERS_NNEF_WINDOWS_H_
#define X2IR_HANDLERS_NNEF_WINDOWS_H_

#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace X2IR_API x2ir {

// The attributes that a window has besides its kernel, of spatial axes alone.
Window TakeNnefWindow(NnefArgs& a, std::vector<int64_t> kernel);

// x, and a window that needs no border of its own: modes that repeat elements are made by a pad.
struct BorderedInput {
  Expr x;
  Window window;
  bool counts = false;  // a border of zeros is part of what is pooled
};
// The window is over the axes from `first` on.
BorderedInput WithBorder(NnefArgs& a, const Expr& x, Window window, int64_t first);
// x with a border along the axes from `first` on; `value`: of 'constant'. Unimplemented for one
// that has no form.
Expr PaddedBy(NnefArgs& a, const Expr& x, const std::vector<int64_t>& pads, int64_t first,
              double value = 0);

// A sum, or a mean, of the elements of a window over all axes of x.
Expr BoxOver(NnefArgs& a, const Expr& x, const BorderedInput& input, bool mean);
// The same with steps of 1 and automatic padding, as normalizations have it.
Expr SameBox(NnefArgs& a, const Expr& x, std::vector<int64_t> size);
// A window over all axes without the first two, which it leaves alone.
Window WithoutFirstTwo(const Window& window);
// A window over all axes, as one over the last axes of [1, 1, axes...], or of the axes after the
// first two, where it leaves these alone.
struct PooledView {
  Expr x;
  Window window;
  bool is_whole = false;  // of [1, 1, axes...]
};
PooledView ViewForPool(const Expr& x, const Window& window);
Expr BackFromView(const Expr& y, const PooledView& view);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NNEF_WINDOWS_H_
