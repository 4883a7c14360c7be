// Relay: pools.
#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/relay/windows_internal.h"

namespace x2ir {
namespace {

template <PoolKind kKind>
Value* PoolRow(SymbolArgs& a) {
  const size_t n = a.SpatialAxes();
  const DataLayouts layouts = TakeLayouts(a, "layout", n);
  std::vector<int64_t> size = a.Tuple("pool_size");
  if (size.size() == 1) size.resize(n, size[0]);
  a.Require(size.size() == n, "a window of another number of axes");
  WindowPool pool{TakeRelayWindow(a, std::move(size)), kKind};
  pool.window.channels_last = layouts.channels_last;
  CheckWindow(a, pool.window);
  pool.window.ceil_mode = a.Flag("ceil_mode", false);
  pool.count_include_pad = a.Flag("count_include_pad", false);
  if (kKind == PoolKind::kAverage && pool.window.ceil_mode && pool.count_include_pad) {
    // Rounded up by more padding, all of which counts.
    for (size_t i = 0; i < n; ++i) pool.window.pads[n + i] += pool.window.strides[i] - 1;
    pool.window.ceil_mode = false;
  }
  const Expr x = InLayout(a, a.in(0), layouts.in, layouts.computed);
  return InLayout(a, PoolWindows(a, x, pool), layouts.computed, layouts.out);
}

template <PoolKind kKind>
Value* GlobalPoolRow(SymbolArgs& a) {
  const DataLayouts layouts = TakeLayouts(a, "layout", 2);
  const Expr x = InLayout(a, a.in(0), layouts.in, layouts.computed);
  return InLayout(a, GlobalPool(a, x, kKind, layouts.channels_last), layouts.computed, layouts.out);
}

template <PoolKind kKind>
Value* AdaptiveRow(SymbolArgs& a) {
  const size_t n = a.SpatialAxes();
  DataLayouts layouts = TakeLayouts(a, "layout", n);
  layouts.computed = RelayLayout("NC", n);
  std::vector<int64_t> size = a.Tuple("output_size");
  if (size.size() == 1) size.resize(n, size[0]);
  const Expr x = InLayout(a, a.in(0), layouts.in, layouts.computed);
  std::vector<Size> sizes(size.begin(), size.end());
  if (sizes.empty()) sizes = SizesAt(x, 2, 2 + static_cast<int64_t>(n));
  a.Require(sizes.size() == n, "a size of another number of axes");
  const Expr y =
      kKind == PoolKind::kMax ? AdaptiveMax(a, x, sizes).values : AdaptiveAverage(a, x, sizes);
  return InLayout(a, y, layouts.computed, layouts.out);
}

template <bool kMax>
absl::StatusOr<Value*> ToPoolOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank < 3 || rank > 5) return CannotExpress("a pool of other than one to three spatial axes");
  if (w.String("layout") != "channels_first") return CannotExpress("its channels are last");
  if (w.wants(1)) return CannotExpress("places of the largest");
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), w.attrs().Ints("kernel_shape")));
  const auto padded = WithPads(window, w.shape(0));
  if (!padded) return CannotExpress("pads that depend on the size");
  // Of an average, what dilated windows count is not known of all versions.
  if (!kMax && window.dilated()) return CannotExpress("a dilated mean");
  const bool counts = !kMax && w.Int("count_include_pad") != 0;
  for (size_t i = 0; window.ceil_mode && i < window.rank(); ++i) {
    const Dim size = (*w.shape(0))[static_cast<int64_t>(i) + 2];
    X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, size));
    const Dim slack(window.pad_begin(i) + window.pad_end(i) - window.extent(i));
    if (out != CeilDiv(size + slack, window.strides[i]) + 1) {
      return CannotExpress("a last window that would begin in the padding");
    }
    if (counts && out != FloorDiv(size + slack, window.strides[i]) + 1) {
      return CannotExpress("a mean that counts padding, of a window that reaches beyond it");
    }
  }
  AttributeMap attrs = {{"pool_size", TupleText(window.kernel)},
                        {"strides", TupleText(window.strides)},
                        {"padding", TupleText(padded->pads)},
                        {"ceil_mode", FlagText(w.Int("ceil_mode") != 0)}};
  if (window.dilated()) attrs.Set("dilation", TupleText(window.dilations));
  if (!kMax) attrs.Set("count_include_pad", FlagText(counts));
  return w.Call(StrCat(kMax ? "nn.max_pool" : "nn.avg_pool", rank - 2, "d"), {w.in(0)},
                std::move(attrs));
}

template <bool kMax>
absl::StatusOr<Value*> ToGlobalPoolOp(RelayWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  if (rank != 4 || w.String("layout") != "channels_first") {
    return ReduceSpatial(w, kMax ? "reduce_max" : "reduce_mean");
  }
  return w.Call(kMax ? "nn.global_max_pool2d" : "nn.global_avg_pool2d", {w.in(0)});
}

}  // namespace

X2IR_RELAY(max_pool)
    .From({"nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d"}, PoolRow<PoolKind::kMax>)
    .From({"nn.adaptive_max_pool1d", "nn.adaptive_max_pool2d", "nn.adaptive_max_pool3d",
           "contrib.adaptive_max_pool2d"},
          AdaptiveRow<PoolKind::kMax>)
    .To("nn.max_pool2d", ToPoolOp<true>);
X2IR_RELAY(average_pool)
    .From({"nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d"}, PoolRow<PoolKind::kAverage>)
    .From({"nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d",
           "contrib.adaptive_avg_pool2d"},
          AdaptiveRow<PoolKind::kAverage>)
    .To("nn.avg_pool2d", ToPoolOp<false>);
X2IR_RELAY(global_max_pool)
    .From("nn.global_max_pool2d", GlobalPoolRow<PoolKind::kMax>)
    .To("nn.global_max_pool2d", ToGlobalPoolOp<true>);
X2IR_RELAY(global_average_pool)
    .From("nn.global_avg_pool2d", GlobalPoolRow<PoolKind::kAverage>)
    .To("nn.global_avg_pool2d", ToGlobalPoolOp<false>);

}  // namespace x2ir
