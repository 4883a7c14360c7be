// Bessel functions and Airy's, and the sine over its argument.
#include "x2ir/builder/bessel.h"

#include <numbers>

#include "x2ir/handlers/torch/special.h"

namespace x2ir {
namespace {

using std::numbers::pi;

Expr SphericalJ0(const Expr& x) {
  return Where(x == 0, 1, Where(IsInf(x), 0, Sin(Where(IsInf(x), 1, x)) / x));
}
Expr Sinc(const Expr& x) {
  const Expr angle = x * pi;
  return Where(x == 0, 1, Sin(angle) / angle);
}

X2IR_TORCH(cos)
    .From("aten::special_bessel_j0.default", InDoubles(BesselJ0))
    .From("aten::special_bessel_j1.default", InDoubles(BesselJ1))
    .From("aten::special_bessel_y0.default", InDoubles(BesselY0))
    .From("aten::special_bessel_y1.default", InDoubles(BesselY1))
    .From("aten::special_airy_ai.default", InDoubles(AiryAi, "x"));
X2IR_TORCH(exp)
    .From({"aten::i0.default", "aten::special_i0.default",
           "aten::special_modified_bessel_i0.default"},
          InDoubles(BesselI0))
    .From({"aten::special_i1.default", "aten::special_modified_bessel_i1.default"},
          InDoubles(BesselI1))
    .From("aten::special_i0e.default", InDoubles(BesselI0e))
    .From("aten::special_i1e.default", InDoubles(BesselI1e))
    .From("aten::special_modified_bessel_k0.default", InDoubles(BesselK0))
    .From("aten::special_modified_bessel_k1.default", InDoubles(BesselK1))
    .From("aten::special_scaled_modified_bessel_k0.default", InDoubles(BesselK0e, "x"))
    .From("aten::special_scaled_modified_bessel_k1.default", InDoubles(BesselK1e, "x"));
X2IR_TORCH(sin)
    .From("aten::special_spherical_bessel_j0.default", InDoubles(SphericalJ0, "x"))
    .From({"aten::sinc.default", "aten::special_sinc.default"}, InDoubles(Sinc));

}  // namespace
}  // namespace x2ir
