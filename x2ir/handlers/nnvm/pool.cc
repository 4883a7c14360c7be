// NNVM: pools.

#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/nnvm/layouts.h"
#include "x2ir/handlers/nnvm/symbol.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/window.h"

namespace x2ir {
namespace {

template <PoolKind kKind>
Value* Pool2d(SymbolArgs& a) {
  WindowPool pool{TakeNnvmWindow(a, "pool_size"), kKind};
  pool.window.ceil_mode = a.Flag("ceil_mode", false);
  pool.count_include_pad = a.Flag("count_include_pad", false);
  if (kKind == PoolKind::kAverage && pool.window.ceil_mode && pool.count_include_pad) {
    // Rounded up by more padding, all of which counts.
    for (size_t i = 0; i < 2; ++i) pool.window.pads[2 + i] += pool.window.strides[i] - 1;
    pool.window.ceil_mode = false;
  }
  return InItsLayout(a, PoolWindows(a, InChannelsFirst(a), pool), pool.window.channels_last);
}

template <PoolKind kKind>
Value* GlobalPool2d(SymbolArgs& a) {
  const std::string layout = a.Text("layout", "NCHW");
  const bool last = !IsBlockedLayout(layout) && IsChannelsLast(a, layout);
  return InItsLayout(a, GlobalPool(a, InChannelsFirst(a), kKind, last), last);
}

template <bool kMax>
absl::StatusOr<Value*> ToPool2d(SymbolWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlanar(w));
  if (w.wants(1)) return CannotExpress("places of the largest");
  // NNVM's readers have the last window also where it would begin in the padding.
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), w.attrs().Ints("kernel_shape")));
  if (window.dilated()) return CannotExpress("a dilated pool");
  X2IR_ASSIGN_OR_RETURN(const Window padded, WindowOf(w, window.kernel));
  for (size_t i = 0; window.ceil_mode && i < window.rank(); ++i) {
    const Dim size = (*w.shape(0))[static_cast<int64_t>(i) + 2];
    X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, size));
    const Dim slack(window.pad_begin(i) + window.pad_end(i) - window.extent(i));
    if (out != CeilDiv(size + slack, window.strides[i]) + 1) {
      return CannotExpress("a last window that would begin in the padding");
    }
    // Nor do they agree on whether what lies beyond the padding counts.
    if (!kMax && w.Int("count_include_pad") != 0 &&
        out != FloorDiv(size + slack, window.strides[i]) + 1) {
      return CannotExpress("a mean that counts padding, of a window that reaches beyond it");
    }
  }
  AttributeMap attrs = {{"pool_size", TupleText(window.kernel)},
                        {"strides", TupleText(window.strides)},
                        {"padding", TupleText(padded.even() ? padded.begins() : padded.pads)},
                        {"ceil_mode", FlagText(w.Int("ceil_mode") != 0)}};
  if (!kMax) attrs.Set("count_include_pad", FlagText(w.Int("count_include_pad") != 0));
  return w.Nnvm(kMax ? "max_pool2d" : "avg_pool2d", {w.in(0)}, std::move(attrs));
}

template <bool kMax>
absl::StatusOr<Value*> ToGlobalPool2d(SymbolWriter& w) {
  X2IR_RETURN_IF_ERROR(CheckPlanar(w));
  return w.Nnvm(kMax ? "global_max_pool2d" : "global_avg_pool2d", {w.in(0)});
}

}  // namespace

X2IR_NNVM(max_pool).From("max_pool2d", Pool2d<PoolKind::kMax>).To("max_pool2d", ToPool2d<true>);
X2IR_NNVM(average_pool)
    .From("avg_pool2d", Pool2d<PoolKind::kAverage>)
    .To("avg_pool2d", ToPool2d<false>);
X2IR_NNVM(global_max_pool)
    .From("global_max_pool2d", GlobalPool2d<PoolKind::kMax>)
    .To("global_max_pool2d", ToGlobalPool2d<true>);
X2IR_NNVM(global_average_pool)
    .From("global_avg_pool2d", GlobalPool2d<PoolKind::kAverage>)
    .To("global_avg_pool2d", ToGlobalPool2d<false>);

}  // namespace x2ir
