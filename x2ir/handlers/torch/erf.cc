// The error function's family, and the normal distribution's.
#include <cmath>
#include <numbers>

#include "x2ir/handlers/torch/special.h"
#include "x2ir/ops/constants.h"
#include "x2ir/ops/error_function.h"
#include "x2ir/ops/special_functions.h"

namespace x2ir {
namespace {

using std::numbers::pi;
using std::numbers::sqrt2;

Num Erfcx(const Num& x) { return Of<x2ir::Erfcx>(x); }
Num Erfc(const Num& x) { return Of<x2ir::Erfc>(x); }

}  // namespace

Num XLogY(const Num& x, const Num& y) { return If(IsNaN(y), y, If(x == 0, 0, x * Log(y))); }

namespace {

Num Ndtr(const Num& x) { return 0.5 * Erfc(x * (-1 / sqrt2)); }
Num LogNdtr(const Num& x) {
  const Num t = x * (1 / sqrt2);
  const Num left = x < 1;
  const Num below = Log(Erfcx(-If(left, t, 0)) * 0.5) - t * t;
  return If(left, below, Log1p(-0.5 * Erfc(If(left, 1, t))));
}
Num XLog1pY(const Num& x, const Num& y) { return If(IsNaN(y), y, If(x == 0, 0, x * Log1p(y))); }
Num Entropy(const Num& x) {
  const Num y = If(x > 0, -x * Log(If(x > 0, x, 1)), If(x == 0, x.N(0), x.N(-kInf)));
  return If(IsNaN(x), x, y);
}

X2IR_TORCH(erf)
    .Is({"aten::erfc.default", "aten::special_erfc.default"}, InDoubles(Erfc))
    .Is("aten::special_erfcx.default", InDoubles(Erfcx))
    .Is({"aten::erfinv.default", "aten::special_erfinv.default"}, InDoubles(Of<Erfinv>))
    .Is("aten::special_ndtr.default", InDoubles(Ndtr))
    .Is("aten::special_log_ndtr.default", InDoubles(LogNdtr))
    .Is("aten::special_ndtri.default", InDoubles(Of<Ndtri>));
X2IR_TORCH(log)
    .Is({"aten::xlogy.Tensor", "aten::xlogy.Scalar_Other", "aten::xlogy.Scalar_Self",
         "aten::special_xlogy.default", "aten::special_xlogy.other_scalar",
         "aten::special_xlogy.self_scalar"},
        InDoubles2(XLogY))
    .Is({"aten::special_xlog1py.default", "aten::special_xlog1py.other_scalar",
         "aten::special_xlog1py.self_scalar"},
        InDoubles2(XLog1pY))
    .Is("aten::special_entr.default", InDoubles(Entropy));

}  // namespace
}  // namespace x2ir
