// Core ML: pools.
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/windows.h"

namespace x2ir {
namespace {

Expr MilPool(MilArgs& a, std::string_view kind) {
  const size_t n = SpatialAxes(a);
  const std::vector<int64_t> kernel = a.List("kernel_sizes");
  a.Require(kernel.size() == n, "kernel_sizes of other axes");
  Window window = MilWindow(a, n, kernel);
  window.ceil_mode = a.Bool("ceil_mode");
  const bool exclude = kind == "average" && a.Bool("exclude_padding_from_average");
  return Pooled(a, a.X(), kind, window, !exclude);
}

Expr MilMaxPool(MilArgs& a) { return MilPool(a, "max"); }
Expr MilAvgPool(MilArgs& a) { return MilPool(a, "average"); }
Expr MilL2Pool(MilArgs& a) { return MilPool(a, "l2"); }

auto ToPool(std::string_view op) {
  return [op](MilWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("ceil_mode") != 0) return CannotExpress("sizes that are rounded up");
    if (op == "max_pool" && w.wants(1)) return CannotExpress("places of maxima");
    if (op == "l2_pool" && w.Int("p") != 2) return CannotExpress("norms other than the second");
    for (const int64_t dilation : w.attrs().Ints("dilations", {})) {
      if (dilation != 1) return CannotExpress("windows with gaps");
    }
    const std::vector<int64_t> kernel = w.attrs().Ints("kernel_shape");
    X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenWindow(w, kernel));
    attrs.Set("kernel_sizes", kernel);
    if (op == "avg_pool") {
      attrs.Set("exclude_padding_from_average", w.Int("count_include_pad") == 0 ? 1 : 0);
    }
    return w.Mil(op, {w.in(0)}, std::move(attrs));
  };
}

auto ToGlobalPool(Symbol op) {
  return [op](MilWriter& w) { return ReduceSpatial(w, op); };
}

}  // namespace

X2IR_MIL(average_pool).To("avg_pool", ToPool("avg_pool")).From("avg_pool", MilAvgPool);
X2IR_MIL(max_pool).To("max_pool", ToPool("max_pool")).From("max_pool", MilMaxPool);
X2IR_MIL(lp_pool).To("l2_pool", ToPool("l2_pool")).From("l2_pool", MilL2Pool);
X2IR_MIL(global_average_pool).To("reduce_mean", ToGlobalPool("reduce_mean"));
X2IR_MIL(global_max_pool).To("reduce_max", ToGlobalPool("reduce_max"));

}  // namespace x2ir
