// Core ML: pools.

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/coreml/nn.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

std::string KindOfPool(NnArgs& a) {
  const std::string type = a.Enum("type", "MAX");
  if (type == "MAX") return "max";
  if (type == "AVERAGE") return "average";
  a.Require(type == "L2", StrCat("pools ", type));
  return "l2";
}

Expr OfWhole(const Expr& x, std::string_view kind, const std::vector<int64_t>& axes) {
  return Reduce(x,
                kind == "max"  ? "reduce_max"
                : kind == "l2" ? "reduce_l2"
                               : "reduce_mean",
                axes, true);
}

Expr Pooling(NnArgs& a) {
  const std::string kind = KindOfPool(a);
  const bool whole = a.Flag("globalPooling"), exclude = a.Flag("avgPoolExcludePadding");
  Window window;
  window.kernel = a.List("kernelSize", {3, 3});
  window.strides = a.List("stride", {1, 1});
  a.Require(window.kernel.size() == 2 && window.strides.size() == 2, "a kernel of other axes");
  if (a.Given("includeLastPixel")) {
    const std::vector<int64_t> pads = a.List("includeLastPixel.paddingAmounts", {0, 0});
    a.Require(pads.size() == 2, "pads of other axes");
    window.pads = BothEnds(pads);
    window.ceil_mode = true;
  } else if (!whole || a.Given("same") || a.Given("valid")) {
    PadAutomatically(a, &window);
  }
  if (whole) return OfWhole(a.X(), kind, {-2, -1});
  return OnImages(a, a.X(), [&](const Expr& x) { return Pooled(a, x, kind, window, !exclude); });
}

Expr Pooling3d(NnArgs& a) {
  const std::string kind = KindOfPool(a);
  Window window;
  window.kernel = Three(a, "kernel", 3);
  window.strides = Three(a, "stride", 1);
  PadThree(a, &window);
  return Pooled(a, a.X(), kind, window, !a.Flag("countExcludePadding"));
}

Expr GlobalPooling3d(NnArgs& a) { return OfWhole(a.X(), KindOfPool(a), {-3, -2, -1}); }

}  // namespace

X2IR_NN(average_pool)
    .From({{"pooling", Pooling}, {"pooling3d", Pooling3d}, {"globalPooling3d", GlobalPooling3d}});

}  // namespace x2ir
