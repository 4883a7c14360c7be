// Keras: pools.
#include "x2ir/builder/layers/pool.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/conv.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {

Expr AdaptivePool(NodeReader& a, const Expr& x, std::vector<int64_t> sizes, bool channels_last,
                  bool average) {
  const int64_t rank = x.rank(), spatial = rank - 2;
  if (spatial < 1 || spatial > 3) a.Fail(Invalid("an image of ", rank, " axes"));
  if (sizes.size() == 1) sizes.resize(static_cast<size_t>(spatial), sizes[0]);
  if (static_cast<int64_t>(sizes.size()) != spatial) a.Fail(Invalid("its output_size"));
  const Expr first = channels_last ? MoveAxis(x, rank - 1, 1) : x;
  const Expr y = {
      a,
      AsTorch(a, StrCat("aten::adaptive_", average ? "avg" : "max", "_pool", spatial, "d.default"),
              {{"self", first}, {"output_size", sizes}},
              average ? std::vector<DType>{x.dtype()}
                      : std::vector<DType>{x.dtype(), DType::kUndefined})[0]};
  return channels_last ? MoveAxis(y, 1, rank - 1) : y;
}

namespace {

template <int64_t kSpatial, bool kAverage>
Value* AdaptivePoolLayer(KerasArgs& a) {
  const Expr x = a.tensor();
  if (a.RankOf(x) != kSpatial + 2) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  return AdaptivePool(a, x, a.Integers("output_size"), a.ChannelsLast(), kAverage);
}

// Averages are of the elements of a window that are no padding.
template <size_t kSpatial, bool kAverage>
Value* PoolLayer(KerasArgs& a) {
  a.Ignore("call.theano_layout");
  Window window;
  window.kernel = a.Tuple("pool_size", kSpatial, 2);
  window.strides = a.Given("strides") ? a.Tuple("strides", kSpatial, 1) : window.kernel;
  a.Ignore("strides");
  const std::string padding = a.Text("padding", "valid");
  window.channels_last = a.ChannelsLast();
  a.Require(padding != "causal", "causal padding of a pool");
  SetPadding(a, padding, &window);
  for (size_t i = 0; i < kSpatial; ++i) {
    if (window.kernel[i] < 1 || window.strides[i] < 1) a.Fail(Invalid("a window without a size"));
  }
  const Expr x = a.tensor();
  if (a.RankOf(x) != kSpatial + 2) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  return MakePool(x, {window, kAverage ? PoolKind::kAverage : PoolKind::kMax});
}

// Of steps whose mask is false an average does not know.
template <size_t kSpatial, bool kAverage>
Value* GlobalPool(KerasArgs& a) {
  a.Ignore("call.theano_layout");
  const bool last = a.ChannelsLast(), keep = a.Flag("keepdims", false);
  const Expr x = a.tensor();
  if (a.RankOf(x) != kSpatial + 2) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  const std::vector<int64_t> axes = CountedFrom(last ? 1 : 2, kSpatial);
  const std::vector<Expr> given = kAverage && kSpatial == 1 ? a.named("mask") : std::vector<Expr>();
  if (kAverage && kSpatial == 1 && (a.has_mask() || !given.empty())) {
    const Expr counts = given.empty() ? a.mask() : given[0];
    const Expr mask = Unsqueeze(counts.To(x.dtype()), {last ? 2 : 1});
    return Reduce(x * mask, "reduce_sum", axes, keep) / Reduce(mask, "reduce_sum", axes, keep);
  }
  if (kSpatial == 1) return Reduce(x, kAverage ? "reduce_mean" : "reduce_max", axes, keep);
  const Expr y = x.Op(kAverage ? "global_average_pool" : "global_max_pool", {},
                      {{"layout", last ? "channels_last" : "channels_first"}});
  return keep ? y : Squeeze(y, axes);
}

}  // namespace

X2IR_KERAS(average_pool)
    .From("AdaptiveAveragePooling1D", AdaptivePoolLayer<1, true>)
    .From("AdaptiveAveragePooling2D", AdaptivePoolLayer<2, true>)
    .From("AdaptiveAveragePooling3D", AdaptivePoolLayer<3, true>)
    .From("AveragePooling1D", PoolLayer<1, true>)
    .From("AveragePooling2D", PoolLayer<2, true>)
    .From("AveragePooling3D", PoolLayer<3, true>);
X2IR_KERAS(max_pool)
    .From("AdaptiveMaxPooling1D", AdaptivePoolLayer<1, false>)
    .From("AdaptiveMaxPooling2D", AdaptivePoolLayer<2, false>)
    .From("AdaptiveMaxPooling3D", AdaptivePoolLayer<3, false>)
    .From("MaxPooling1D", PoolLayer<1, false>)
    .From("MaxPooling2D", PoolLayer<2, false>)
    .From("MaxPooling3D", PoolLayer<3, false>);
X2IR_KERAS(global_average_pool)
    .From("GlobalAveragePooling1D", GlobalPool<1, true>)
    .From("GlobalAveragePooling2D", GlobalPool<2, true>)
    .From("GlobalAveragePooling3D", GlobalPool<3, true>);
X2IR_KERAS(global_max_pool)
    .From("GlobalMaxPooling1D", GlobalPool<1, false>)
    .From("GlobalMaxPooling2D", GlobalPool<2, false>)
    .From("GlobalMaxPooling3D", GlobalPool<3, false>);

}  // namespace x2ir
