// Darknet: pools.
#include <algorithm>
#include <cstdlib>

#include "x2ir/builder/layers/activation.h"
#include "x2ir/handlers/darknet/darknet.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

// Padding is what all windows need; half of it, rounded down, is before the image. A pool that a
// blur follows has steps of 1.
Window PoolOf(DarknetArgs& a, const Expr& x, std::vector<int64_t> strides) {
  const int64_t size = a.Integer("size", a.Integer("stride", 1)),
                padding = a.Integer("padding", size - 1);
  Window w = SquareWindow(size, std::move(strides), 1, padding / 2);
  CheckWindow(a, w);
  a.Require(padding / 2 < size, "padding of as much as the window");
  for (size_t i = 0; i < 2; ++i) {
    const Dim dim = DimAt(x, static_cast<int64_t>(i) + 2);
    a.Require(dim.is_static(), "a pool of an image of unknown size");
    w.pads[2 + i] = padding - padding / 2;
    a.Require(dim.value() + padding >= size, "a window larger than the image");
    const LastWindow last = LastOf(w, i, dim.value(), /*within=*/false);
    a.Require(last.begin < dim.value(), "a pool whose last window begins after the image");
    w.pads[2 + i] = std::max<int64_t>(last.beyond, 0);
  }
  return w;
}

std::vector<int64_t> PoolSteps(DarknetArgs& a) {
  const int64_t stride = a.Integer("stride", 1), stride_x = a.Integer("stride_x", stride);
  return {a.Integer("stride_y", stride), stride_x};
}

// The greatest of each n-th channel.
Expr MaxOfDepth(DarknetArgs& a, const Expr& x, int64_t channels) {
  const auto sizes = KnownSizes(x, 1, 4);
  a.Require(sizes && channels >= 1 && (*sizes)[0] % channels == 0, "groups of different sizes");
  const Expr groups = ReshapeTo(x, {SizeAt(x, 0), Size((*sizes)[0] / channels), Size(channels),
                                    Size((*sizes)[1]), Size((*sizes)[2])});
  return Reduce(groups, "reduce_max", {1});
}

absl::StatusOr<Value*> MaxPool(DarknetArgs& a) {
  a.RefuseAll({"maxpool_zero_nonmax"});
  const int64_t blur = a.Integer("antialiasing", 0), channels = a.Integer("out_channels", 1);
  const std::vector<int64_t> strides = PoolSteps(a);
  const Expr x = a.image();
  if (a.Flag("maxpool_depth", false)) {
    a.Drop({"size", "padding"});
    return Blurred(a, MaxOfDepth(a, x, channels), blur, strides).value();
  }
  const Window window = PoolOf(a, x, blur != 0 ? std::vector<int64_t>{1, 1} : strides);
  return Blurred(a, MakePool(x, {window}), blur, strides).value();
}

absl::StatusOr<Value*> LocalAvgPool(DarknetArgs& a) {
  const Expr x = a.image();
  return MakePool(x, {PoolOf(a, x, PoolSteps(a)), PoolKind::kAverage}).value();
}

}  // namespace

X2IR_DARKNET(max_pool).From("maxpool", MaxPool);
X2IR_DARKNET(average_pool).From("local_avgpool", LocalAvgPool);
X2IR_DARKNET(global_average_pool).From("avgpool", [](DarknetArgs& a) -> absl::StatusOr<Value*> {
  return a.Op("global_average_pool", {a.image()}).value();
});

}  // namespace x2ir
