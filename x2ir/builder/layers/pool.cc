#include "x2ir/builder/layers/pool.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

Expr MakePool(const Expr& x, const WindowPool& pool) {
  AttributeMap attrs = PoolAttrs(pool.window);
  switch (pool.kind) {
    case PoolKind::kMax: return x.Op("max_pool", {}, std::move(attrs));
    case PoolKind::kAverage:
      attrs.Set("count_include_pad", pool.count_include_pad ? 1 : 0);
      return x.Op("average_pool", {}, std::move(attrs));
    case PoolKind::kSum: {
      // Sums are averages of windows that are full: padding counts.
      attrs.Set("count_include_pad", 1);
      const int64_t count = Product(pool.window.kernel);
      return x.Op("average_pool", {}, std::move(attrs)) * static_cast<double>(count);
    }
    case PoolKind::kLp: attrs.Set("p", pool.p); return x.Op("lp_pool", {}, std::move(attrs));
  }
  return x;
}

Expr PoolWindows(NodeReader& a, const Expr& x, const WindowPool& pool) {
  const Window& w = pool.window;
  CheckWindow(a, w);
  for (size_t i = 0; w.ceil_mode && i < w.rank(); ++i) {
    a.Require(LastBeginsInside(w, i, DimAt(x, w.axis(i))),
              "a pool whose last window begins in the padding");
  }
  a.Require(pool.kind != PoolKind::kSum || !w.ceil_mode,
            "a sum of windows whose sizes are rounded up");
  return MakePool(x, pool);
}

Expr GlobalPool(NodeReader& a, const Expr& x, PoolKind kind, bool channels_last, int64_t p) {
  const AttributeMap layout = {{"layout", LayoutName(channels_last)}};
  if (kind == PoolKind::kMax) return a.Op("global_max_pool", {x}, layout);
  if (kind == PoolKind::kAverage) return a.Op("global_average_pool", {x}, layout);
  a.Require(x->shape() != nullptr, "a pool over all axes of an operand of unknown rank");
  const std::vector<int64_t> axes =
      CountedFrom(SpatialAxis(channels_last, 0), x->shape()->rank() - 2);
  if (kind == PoolKind::kSum) return Reduce(x, "reduce_sum", axes, true);
  return VectorNorm(x, static_cast<double>(p), axes, true);
}

// --- Caffe's rules -------------------------------------------------------------------------------

void CheckPool(NodeReader& a, const Expr& x, const Window& window) {
  CheckWindow(a, window);
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t most = std::max(window.pad_begin(i), window.pad_end(i));
    if (most < window.kernel[i]) continue;
    a.Fail(Invalid("a pool of windows of ", window.kernel[i], " with padding of ", most));
  }
  for (size_t i = 0; i < window.rank(); ++i) {
    const Dim dim = DimAt(x, window.axis(i));
    a.Require(!dim.is_static() || dim.value() < int64_t{1} << 40, "an image of this size");
  }
}

Window WithReachedEnds(NodeReader& a, const Expr& x, Window window) {
  const bool within = window.ceil_mode && window.padded();
  const Window given = window;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t size = DimAt(x, window.axis(i)).value();
    if (size + given.pad_begin(i) + given.pad_end(i) < given.kernel[i]) {
      a.Fail(Invalid("a window of ", given.kernel[i], " on an axis of ", size));
    }
    const LastWindow last = LastOf(given, i, size, within);
    a.Require(last.begin < size, "a pool whose last window begins after the image");
    window.pads[window.rank() + i] = std::max<int64_t>(last.beyond, 0);
  }
  window.ceil_mode = false;
  return window;
}

Expr PoolByEnds(NodeReader& a, const Expr& x, const WindowPool& pool) {
  const Window& given = pool.window;
  CheckPool(a, x, given);
  WindowPool own = pool;
  if (KnownSizes(x, given.axis(0), given.axis(0) + static_cast<int64_t>(given.rank()))) {
    own.window = WithReachedEnds(a, x, given);
  }
  // Rounded up by the IR's rule, which is this one where the last window begins inside.
  bool beyond = own.window.ceil_mode;
  for (size_t i = 0; i < given.rank(); ++i) {
    a.Require(!own.window.ceil_mode || LastBeginsInside(given, i, Dim()),
              "a pool of an image of unknown size whose last window may begin after it");
    beyond |= own.window.pad_end(i) > given.pad_end(i);
  }
  if (pool.kind == PoolKind::kMax || !pool.count_include_pad || !beyond) return MakePool(x, own);
  // The padding that counts becomes a part of the image.
  Window counted = own.window;
  std::vector<int64_t> rest(given.rank(), 0);
  for (size_t i = 0; i < given.rank(); ++i) {
    int64_t& end = counted.pads[given.rank() + i];
    end = std::min(end, given.pad_end(i));
    rest.push_back(own.window.pad_end(i) - end);
  }
  own.window.pads = std::move(rest);
  own.count_include_pad = false;
  if (!counted.padded()) return MakePool(x, own);
  return MakePool(x.Op("pad", {Ints(a, TensorPads(counted)), x.Number(0)}), own);
}

}  // namespace x2ir
