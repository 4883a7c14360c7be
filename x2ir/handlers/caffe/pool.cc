// Caffe: pools. Sizes are rounded up unless a layer says otherwise.
#include "x2ir/builder/layers/pool.h"

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/dense.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/caffe/caffe.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {
namespace {

int64_t OneOf(CaffeArgs& a, std::string_view whole, std::string_view part, int64_t fallback) {
  const int64_t own = a.Int(part, fallback);
  return a.Has(part) ? own : a.Int(whole, fallback);
}

Expr Pooled(CaffeArgs& a, const Expr& x, const Window& window, const std::string& method) {
  if (method == "MAX") return PoolByEnds(a, x, {window});
  const WindowPool mean{window, PoolKind::kAverage, /*count_include_pad=*/true};
  if (method == "AVE") return PoolByEnds(a, x, mean);
  // At inference a stochastic pool weighs each number by its own share.
  return PoolByEnds(a, Square(x), mean) / (PoolByEnds(a, x, mean) + 1.17549435e-38);
}

// The places of the largest numbers in their planes, as floats.
Expr PlacesOf(CaffeArgs& a, const Expr& x, const Window& window) {
  const auto sizes = KnownSizes(x, 2, 4);
  a.Require(sizes.has_value(), "places in a plane of unknown size");
  const Values both = a.b().Ops("max_pool", {x}, PoolAttrs(WithReachedEnds(a, x, window)), 2);
  const Expr all(a, both[1]);
  return Mod(all, Int(a, (*sizes)[0] * (*sizes)[1])).To(x.dtype());
}

absl::StatusOr<Values> Pooling(CaffeArgs& a) {
  const Expr x = a.in(0);
  const std::string method = a.Text("pool", "MAX");
  const bool global = a.Bool("global_pooling", false);
  Window window;
  window.ceil_mode = a.Text("round_mode", "CEIL") == "CEIL";
  window.kernel = {OneOf(a, "kernel_size", "kernel_h", 0), OneOf(a, "kernel_size", "kernel_w", 0)};
  window.strides = {OneOf(a, "stride", "stride_h", 1), OneOf(a, "stride", "stride_w", 1)};
  window.pads = BothEnds({OneOf(a, "pad", "pad_h", 0), OneOf(a, "pad", "pad_w", 0)});
  if (!global) CheckPool(a, a.in(0), window);
  if (a.RankOf() != 4) return Invalid("a pool of an operand of ", a.RankOf(), " axes");
  if (global) {
    if (!a.wants(1) && method != "STOCHASTIC") {
      return Values{a.Op(method == "MAX" ? "global_max_pool" : "global_average_pool", {x})};
    }
    const auto sizes = KnownSizes(x, 2, 4);
    a.Require(sizes.has_value(), "this pool of an image of unknown size");
    window.kernel = *sizes;
    window.strides = {1, 1};
    window.pads = {0, 0, 0, 0};
  }
  Values all = {Pooled(a, x, window, method)};
  if (a.wants(1)) {
    a.Require(method == "MAX", "places of what is no maximum");
    all.push_back(PlacesOf(a, x, window));
  }
  return all;
}

// Planes of 1, 2 x 2, 4 x 4, ... cells, each flattened, one after the other.
absl::StatusOr<Value*> Spp(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t height = a.Int("pyramid_height", 0);
  const std::string method = a.Text("pool", "MAX");
  const auto sizes = KnownSizes(x, 2, 4);
  a.Require(sizes.has_value(), "a pyramid of an image of unknown size");
  if (height < 1 || height > 16) return Invalid("a pyramid of height ", height);
  Values parts;
  for (int64_t level = 0; level < height; ++level) {
    const int64_t cells = int64_t{1} << level;
    Window window;
    window.ceil_mode = true;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t size = (*sizes)[i], kernel = (size + cells - 1) / cells;
      window.kernel.push_back(kernel);
      window.pads.push_back((kernel * cells - size + 1) / 2);
    }
    window.strides = window.kernel;
    window.pads = BothEnds(window.pads);
    parts.push_back(FlattenedRows(Pooled(a, x, window, method)));
  }
  return Concat(a, parts, 1).value();
}

}  // namespace

X2IR_CAFFE(max_pool).From("Pooling", "pooling_param", Pooling).From("SPP", "spp_param", Spp);

}  // namespace x2ir
