#include "x2ir/builder/division.h"

namespace x2ir {

Expr TruncatedMod(const Expr& x, const Expr& y) { return x.Op("mod", {y}, {{"fmod", 1}}); }

Expr FloorMod(const Expr& x, const Expr& y) {
  if (!IsFloating(x.dtype())) return x.Op("mod", {y});
  const Expr m = TruncatedMod(x, y);
  return Where(Not(m == 0) & ((m < 0) ^ (y < 0)), m + y, m);
}

Expr FloorQuotient(const Expr& x, const Expr& y) {
  const Expr quotient = x / y;
  if (IsFloating(x.dtype())) return Floor(quotient);
  if (IsUnsignedInt(x.dtype())) return quotient;
  const Expr one = x.Number(1);
  return Where(Not(TruncatedMod(x, y) == 0) & ((x < 0) ^ (y < 0)), quotient - one, quotient);
}

}  // namespace x2ir
