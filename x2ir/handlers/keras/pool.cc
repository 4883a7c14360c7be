// Keras: pools.
#include "x2ir/builder/layers/pool.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/conv.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {

Expr AdaptivePool(NodeReader& a, const Expr& x, std::vector<int64_t> sizes, bool channels_last,
                  bool average) {
  const int64_t rank = x.rank(), spatial = rank - 2;
  if (spatial < 1 || spatial > 3) a.Fail(Invalid("an image of ", rank, " axes"));
  if (sizes.size() == 1) sizes.resize(static_cast<size_t>(spatial), sizes[0]);
  if (static_cast<int64_t>(sizes.size()) != spatial) a.Fail(Invalid("its output_size"));
  const Expr first = channels_last ? MoveAxis(x, rank - 1, 1) : x;
  const std::vector<Size> out(sizes.begin(), sizes.end());
  const Expr y = average ? AdaptiveAverage(a, first, out) : AdaptiveMax(a, first, out).values;
  return channels_last ? MoveAxis(y, 1, rank - 1) : y;
}

namespace {

template <bool kAverage>
Value* AdaptivePoolLayer(KerasArgs& a) {
  const auto spatial = static_cast<int64_t>(a.SpatialAxes());
  const Expr x = a.tensor();
  if (a.RankOf(x) != spatial + 2) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  return AdaptivePool(a, x, a.Integers("output_size"), a.ChannelsLast(), kAverage);
}

// Averages are of the elements of a window that are no padding.
template <bool kAverage>
Value* PoolLayer(KerasArgs& a) {
  const auto spatial = static_cast<int64_t>(a.SpatialAxes());
  a.Ignore("call.theano_layout");
  Window window;
  window.kernel = a.Tuple("pool_size", spatial, 2);
  window.strides = a.Given("strides") ? a.Tuple("strides", spatial, 1) : window.kernel;
  a.Ignore("strides");
  const std::string padding = a.Text("padding", "valid");
  window.channels_last = a.ChannelsLast();
  a.Require(padding != "causal", "causal padding of a pool");
  SetPadding(a, padding, &window);
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    if (window.kernel[i] < 1 || window.strides[i] < 1) a.Fail(Invalid("a window without a size"));
  }
  const Expr x = a.tensor();
  if (a.RankOf(x) != spatial + 2) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  return MakePool(x, {window, kAverage ? PoolKind::kAverage : PoolKind::kMax});
}

// Of steps whose mask is false an average does not know.
template <bool kAverage>
Value* GlobalPool(KerasArgs& a) {
  const auto spatial = static_cast<int64_t>(a.SpatialAxes());
  a.Ignore("call.theano_layout");
  const bool last = a.ChannelsLast(), keep = a.Flag("keepdims", false);
  const Expr x = a.tensor();
  if (a.RankOf(x) != spatial + 2) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  const std::vector<int64_t> axes = CountedFrom(last ? 1 : 2, spatial);
  const std::vector<Expr> given = kAverage && spatial == 1 ? a.named("mask") : std::vector<Expr>();
  if (kAverage && spatial == 1 && (a.has_mask() || !given.empty())) {
    const Expr counts = given.empty() ? a.mask() : given[0];
    const Expr mask = Unsqueeze(counts.To(x.dtype()), {last ? 2 : 1});
    return Reduce(x * mask, "reduce_sum", axes, keep) / Reduce(mask, "reduce_sum", axes, keep);
  }
  if (spatial == 1) return Reduce(x, kAverage ? "reduce_mean" : "reduce_max", axes, keep);
  const Expr y = x.Op(kAverage ? "global_average_pool" : "global_max_pool", {},
                      {{"layout", last ? "channels_last" : "channels_first"}});
  return keep ? y : Squeeze(y, axes);
}

}  // namespace

X2IR_KERAS(average_pool)
    .From({"AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D"},
          AdaptivePoolLayer<true>)
    .From({"AveragePooling1D", "AveragePooling2D", "AveragePooling3D"}, PoolLayer<true>);
X2IR_KERAS(max_pool)
    .From({"AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D"},
          AdaptivePoolLayer<false>)
    .From({"MaxPooling1D", "MaxPooling2D", "MaxPooling3D"}, PoolLayer<false>);
X2IR_KERAS(global_average_pool)
    .From({"GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D"},
          GlobalPool<true>);
X2IR_KERAS(global_max_pool)
    .From({"GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"}, GlobalPool<false>);

}  // namespace x2ir
