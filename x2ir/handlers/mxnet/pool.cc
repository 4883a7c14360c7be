// MXNet: pools.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/adaptive_pool.h"
#include "x2ir/builder/layers/detection.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

PoolKind KindOfPool(SymbolArgs& a) {
  const std::string type = a.Text("pool_type", "max");
  if (type == "avg") return PoolKind::kAverage;
  if (type == "sum") return PoolKind::kSum;
  if (type == "lp") return PoolKind::kLp;
  a.Require(type == "max", StrCat("pool_type ", type));
  return PoolKind::kMax;
}

Value* Pooling(SymbolArgs& a) { return MxnetPool(a, a.in(0), KindOfPool(a)); }

// Since version 1 of the operator an average does not count the part of a window past the padding.
Value* OldPooling(SymbolArgs& a) {
  const PoolKind kind = KindOfPool(a);
  a.Require(kind == PoolKind::kMax || a.Flag("global_pool", false) ||
                a.Text("pooling_convention", "valid") != "full",
            "averages of the first version whose sizes are rounded up");
  return MxnetPool(a, a.in(0), kind);
}

// Every cell of the result is the mean of its part of the image.
Value* AdaptiveAveragePool(SymbolArgs& a) {
  std::vector<int64_t> to = a.TupleOf("output_size", 2, 1);
  if (to[0] == 1 && to[1] == 1) return GlobalPool(a, a.in(0), PoolKind::kAverage, false);
  Expr x = a.in(0);
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t axis = 2 + i, cells = to[static_cast<size_t>(i)];
    const Dim dim = DimAt(x, axis);
    const int64_t size = dim.is_static() ? dim.value() : 0;
    if (size < 1 || size > 4096 || cells < 1 || cells > 4096) {
      return AdaptiveAverage(a, a.in(0), {Size(to[0]), Size(to[1])});
    }
    // A mean is a product with a matrix of weights.
    std::vector<double> weights(static_cast<size_t>(size * cells), 0);
    for (int64_t c = 0; c < cells; ++c) {
      const int64_t from = c * size / cells, end = ((c + 1) * size + cells - 1) / cells;
      for (int64_t k = from; k < end; ++k) {
        weights[static_cast<size_t>(k * cells + c)] = 1.0 / static_cast<double>(end - from);
      }
    }
    const Expr matrix = NumbersAs(a, x.dtype(), {size, cells}, weights, "means");
    x = axis == 3 ? MatMul(x, matrix) : SwapLast(MatMul(SwapLast(x), matrix));
  }
  return x;
}

// Of two maps: each channel the mean product (or difference) of a window of the first with a window
// of the second that is moved, by each of the moves in turn.
absl::StatusOr<Value*> Correlation(SymbolArgs& a) {
  const int64_t kernel = a.Integer("kernel_size", 1), most = a.Integer("max_displacement", 1),
                stride = a.Integer("stride1", 1), step = a.Integer("stride2", 1),
                pad = a.Integer("pad_size", 0);
  const bool product = a.Flag("is_multiply", true);
  constexpr int64_t kLimit = 4096;
  if (kernel < 1 || kernel % 2 == 0 || most < 0 || stride < 1 || step < 1 || pad < 0 ||
      std::max({kernel, most, stride, step, pad}) > kLimit || most / step > 32) {
    return Invalid("a correlation of windows of ", kernel, " moved by ", most);
  }
  const auto padded = [&](size_t i) -> Expr {
    const std::vector<int64_t> pads = {0, 0, pad, pad, 0, 0, pad, pad};
    return pad == 0 ? a.in(i) : a.Op("pad", {a.in(i), a.b().Ints(pads)}, {{"mode", "constant"}});
  };
  const Expr left = padded(0), right = padded(1);
  const auto moved = [&](const Expr& x, int64_t axis, int64_t by) {
    return Slice(x, axis, Size(most + by), by == most ? Size(kToEnd) : Size(by - most));
  };
  const Expr middle = moved(moved(left, 2, 0), 3, 0);
  Values parts;
  const int64_t radius = most / step;
  for (int64_t y = -radius; y <= radius; ++y) {
    const Expr rows = moved(right, 2, y * step);
    for (int64_t x = -radius; x <= radius; ++x) {
      const Expr other = moved(rows, 3, x * step);
      const Expr each = product ? middle * other : Abs(middle - other);
      parts.push_back(Reduce(each, "reduce_mean", {1}, true));
    }
  }
  const Expr all = Concat(a, parts, 1);
  if (kernel == 1 && stride == 1) return all.value();
  return a
      .Op("average_pool", {all},
          {{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
           {"strides", std::vector<int64_t>{stride, stride}}})
      .value();
}

}  // namespace

X2IR_MXNET(average_pool)
    .From({{"_contrib_AdaptiveAvgPooling2D", AdaptiveAveragePool}, {"Correlation", Correlation}});
X2IR_MXNET(max_pool).From({"Pooling", "_npx_pooling"}, Pooling).From("Pooling_v1", OldPooling);

}  // namespace x2ir
