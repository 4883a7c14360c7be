// MXNet: windows of convolutions and pools.

#include "x2ir/builder/layers/activation.h"
#include "x2ir/handlers/mxnet/mxnet.h"
#include "x2ir/handlers/nnvm/elementwise.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace x2ir {

Window TakeMxnetWindow(SymbolArgs& a) {
  Window w;
  w.kernel = a.Tuple("kernel");
  const size_t n = w.kernel.size();
  a.Require(n >= 1 && n <= 3, "a window without a size");
  w.strides = a.TupleOf("stride", n, 1);
  w.dilations = a.TupleOf("dilate", n, 1);
  w.pads = BothEnds(a.TupleOf("pad", n, 0));
  w.channels_last = IsChannelsLast(a, a.Text("layout"));
  CheckWindow(a, w);
  return w;
}

Expr MxnetPool(SymbolArgs& a, const Expr& x, PoolKind kind) {
  const int64_t p = a.Integer("p_value", 2);
  if (a.Flag("global_pool", false)) {
    for (const char* name :
         {"kernel", "stride", "pad", "pooling_convention", "count_include_pad"}) {
      a.Ignore(name);
    }
    return GlobalPool(a, x, kind, IsChannelsLast(a, a.Text("layout")), p);
  }
  const std::string convention = a.Text("pooling_convention", "valid");
  a.Require(convention == "valid" || convention == "full",
            StrCat("pooling_convention ", convention));
  WindowPool pool{TakeMxnetWindow(a), kind, a.Flag("count_include_pad", true), p};
  pool.window.ceil_mode = convention == "full";
  return PoolWindows(a, x, pool);
}

}  // namespace x2ir
