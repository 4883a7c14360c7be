// ncnn: pools.

#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/ncnn/windows_internal.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> PoolLayer(NcnnArgs& a) {
  const size_t spatial = a.SpatialAxes();
  const Expr x = a.in(0);
  const int64_t kind = a.Int(0, 0), mode = a.Int(5, 0);
  const bool global = a.Flag(4, false), count = a.Flag(6, false), adaptive = a.Flag(7, false);
  const bool mean = kind == 1;
  if (kind != 0 && kind != 1) return Unimplemented("pools of kind ", kind);
  // Of width, then 10 more for each other axis; ends are numbered on their own.
  const auto ids = [&](int64_t first) {
    return CountedFrom(first, static_cast<int64_t>(spatial), 10);
  };
  WindowPool pool{.window = {}, .kind = mean ? PoolKind::kAverage : PoolKind::kMax};
  Window& w = pool.window;
  w.kernel = Turned(Each(a, ids(1), 0));
  w.strides = Turned(Each(a, ids(2), 1));
  w.pads = PadsOf(a, ids(3), {14, 15, 16});
  const std::vector<int64_t> out = Each(a, ids(8), 0);
  if (a.RankOf() != static_cast<int64_t>(spatial) + 2) {
    return Invalid("a pool of an operand of ", a.RankOf() - 1, " axes");
  }
  if (global) {
    // A list of channels is left.
    return Reduce(x, mean ? "reduce_mean" : "reduce_max",
                  CountedFrom(2, static_cast<int64_t>(spatial)))
        .value();
  }
  if (adaptive) {
    std::vector<Size> sizes = SizesAt(x, 2, x.rank());
    const std::vector<int64_t> wanted = Turned(out);
    bool even = true;
    for (size_t i = 0; i < spatial; ++i) {
      const std::optional<int64_t> from = sizes[i].number;
      if (wanted[i] != -233) sizes[i] = Size(wanted[i]);  // else the size that it has
      const std::optional<int64_t> to = sizes[i].number;
      even = even && from && to && *to > 0 && *from % *to == 0;
      if (even) w.kernel[i] = *from / *to;
    }
    if (!even && mean) return AdaptiveAverage(a, x, sizes).value();
    if (!even) return AdaptiveMax(a, x, sizes).values.value();
    w.strides = w.kernel;
    w.pads.clear();
    return MakePool(x, pool).value();
  }
  pool.count_include_pad = count;
  if (mode == 2 || mode == 3) {
    w.auto_pad = mode == 2 ? AutoPad::kSameUpper : AutoPad::kSameLower;
    w.pads.clear();
    return MakePool(x, pool).value();
  }
  if (mode != 0 && mode != 1) return Unimplemented("pad_mode ", mode);
  w.ceil_mode = mode == 0;
  CheckPool(a, x, w);
  // No window is dropped here, but one that sees nothing of the image means nothing either; a mean
  // counts all of what was added, or none.
  bool inside = true, beyond = false;
  for (size_t i = 0; i < spatial; ++i) {
    const Dim dim = DimAt(x, w.axis(i));
    inside = inside && LastBeginsInside(w, i, dim);
    beyond = beyond || (dim.is_static() ? LastOf(w, i, dim.value(), false).beyond > w.pad_end(i)
                                        : w.strides[i] > 1);
  }
  a.Require(!w.ceil_mode || inside, "a pool whose last window begins after the image");
  a.Require(!mean || !count || !w.ceil_mode || !beyond, "a mean that counts what rounding up adds");
  return PoolByEnds(a, x, pool).value();
}

// Means of the planes, and how far numbers are from them.
Value* StatisticsPooling(NcnnArgs& a) {
  const bool deviation = a.Flag(0, false);
  // Blobs of one or two axes have one plane.
  const Expr x = a.RankOf() < 4 ? Unsqueeze(FlattenedRows(a.in(0)), {1}) : a.in(0);
  const std::vector<int64_t> axes = CountedFrom(2, x.rank() - 2);
  const Expr mean = Reduce(x, "reduce_mean", axes, true);
  const auto flat = [&](const Expr& y) { return Squeeze(y, axes); };
  if (!deviation) return flat(mean);
  return Concat(a, {flat(mean), flat(Sqrt(Reduce(Square(x - mean), "reduce_mean", axes, true)))},
                1);
}

}  // namespace

X2IR_NCNN(max_pool).From({"Pooling", "Pooling1D", "Pooling3D"}, PoolLayer);
X2IR_NCNN(average_pool).From("StatisticsPooling", StatisticsPooling);

}  // namespace x2ir
