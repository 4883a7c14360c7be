// Caffe2: pools.
#include <algorithm>
#include <cmath>

#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/caffe2/windows_internal.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> PoolOp(Caffe2Args& a, bool mean) {
  const bool global = a.Bool("global_pooling", false);
  const bool count = a.Bool("count_include_pad", false);
  if (global) {
    const bool last = a.ChannelsLast();
    a.Drop({"kernel", "kernels", "kernel_h", "kernel_w", "stride", "strides", "pad", "pads",
            "legacy_pad", "dilation", "dilations", "stride_h", "stride_w"});
    return GlobalPool(a, a.in(0), mean ? PoolKind::kAverage : PoolKind::kMax, last).value();
  }
  const Windows w = WindowsOf(a);
  // By default a mean counts only elements of the image.
  WindowPool pool{w.window, mean ? PoolKind::kAverage : PoolKind::kMax, count};
  if (w.legacy == kCaffe) {
    a.Require(!w.window.channels_last, "channels last");
    pool.window.dilations.clear();
    pool.window.ceil_mode = true;
    return PoolByEnds(a, a.in(0), pool).value();
  }
  if (w.legacy != kNotSet && w.legacy != kValid) {
    return Unimplemented("legacy_pad ", w.legacy);
  }
  if (w.legacy == kValid) std::fill(pool.window.pads.begin(), pool.window.pads.end(), 0);
  return PoolWindows(a, a.in(0), pool).value();
}

Value* LpPool(Caffe2Args& a) {
  WindowPool pool{.window = {}, .kind = PoolKind::kLp};
  const double p = a.Number("p", 2);
  a.Require(p >= 1 && p == std::floor(p) && p < 64, "a power that is no integer");
  pool.p = static_cast<int64_t>(p);
  pool.window = WindowsOf(a).window;
  return PoolWindows(a, a.in(0), pool);
}

}  // namespace

X2IR_CAFFE2(max_pool).From("MaxPool", [](Caffe2Args& a) { return PoolOp(a, false); });
X2IR_CAFFE2(average_pool).From("AveragePool", [](Caffe2Args& a) { return PoolOp(a, true); });
X2IR_CAFFE2(lp_pool).From("LpPool", LpPool);

}  // namespace x2ir
