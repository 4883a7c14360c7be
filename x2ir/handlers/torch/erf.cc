// The error function's family, and the normal distribution's.
#include <cmath>
#include <numbers>

#include "x2ir/builder/error_function.h"
#include "x2ir/builder/special_functions.h"
#include "x2ir/handlers/torch/special.h"
#include "x2ir/ops/constants.h"

namespace x2ir {
namespace {

using std::numbers::pi;
using std::numbers::sqrt2;

}  // namespace

Expr XLogY(const Expr& x, const Expr& y) {
  return Where(IsNan(y), y, Where(x == 0, 0, x * Log(y)));
}

namespace {

Expr Ndtr(const Expr& x) { return 0.5 * Erfc(x * (-1 / sqrt2)); }
Expr LogNdtr(const Expr& x) {
  const Expr t = x * (1 / sqrt2);
  const Expr left = x < 1;
  const Expr below = Log(Erfcx(-Where(left, t, 0)) * 0.5) - t * t;
  return Where(left, below, Log1p(-0.5 * Erfc(Where(left, 1, t))));
}
Expr XLog1pY(const Expr& x, const Expr& y) {
  return Where(IsNan(y), y, Where(x == 0, 0, x * Log1p(y)));
}
Expr Entropy(const Expr& x) {
  const Expr y =
      Where(x > 0, -x * Log(Where(x > 0, x, 1)), Where(x == 0, x.Number(0), x.Number(-kInf)));
  return Where(IsNan(x), x, y);
}

X2IR_TORCH(erf)
    .From({"aten::erfc.default", "aten::special_erfc.default"}, InDoubles(Erfc))
    .From("aten::special_erfcx.default", InDoubles(Erfcx))
    .From({"aten::erfinv.default", "aten::special_erfinv.default"}, InDoubles(Erfinv))
    .From("aten::special_ndtr.default", InDoubles(Ndtr))
    .From("aten::special_log_ndtr.default", InDoubles(LogNdtr))
    .From("aten::special_ndtri.default", InDoubles(Ndtri));
X2IR_TORCH(log)
    .From({"aten::xlogy.Tensor", "aten::xlogy.Scalar_Other", "aten::xlogy.Scalar_Self",
           "aten::special_xlogy.default", "aten::special_xlogy.other_scalar",
           "aten::special_xlogy.self_scalar"},
          InDoubles2(XLogY))
    .From({"aten::special_xlog1py.default", "aten::special_xlog1py.other_scalar",
           "aten::special_xlog1py.self_scalar"},
          InDoubles2(XLog1pY))
    .From("aten::special_entr.default", InDoubles(Entropy));

}  // namespace
}  // namespace x2ir
