// Lowerings of ops on bits by arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/constants.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

// Among integers of one width, Cast keeps the bits too.
absl::StatusOr<Values> BitCastAsCast(Rewrite& r) {
  const DType from = r.dtype(0), to = r.node.output(0) ? r.node.output(0)->dtype() : from;
  if (!IsInteger(from) || !IsInteger(to) || BitWidth(from) != BitWidth(to)) {
    return CannotExpress("no other op takes the bits of ", Name(from), " for ", Name(to));
  }
  return Values{r.b.Op("cast", {r.in(0)}, {{"to", Name(to)}})};
}
X2IR_LOWERING(bit_cast, BitCastAsCast);

// Integers as the floats whose bits they have, by arithmetic: the mantissa, times a power of two
// for each exponent out of a table. A NaN is one, whatever else its bits say.
struct FloatLayout {
  int64_t exponents, mantissas;  // how many there are of each
  int bias;                      // of the exponent, for a mantissa that is an integer
};
std::optional<FloatLayout> LayoutOf(DType t) {
  switch (t) {
    case DType::kFloat16: return FloatLayout{32, 1 << 10, 25};
    case DType::kBFloat16: return FloatLayout{256, 1 << 7, 134};
    case DType::kFloat32: return FloatLayout{256, 1 << 23, 150};
    case DType::kFloat64: return FloatLayout{2048, int64_t{1} << 52, 1075};
    default: return std::nullopt;
  }
}
absl::StatusOr<Values> BitCastAsArithmetic(Rewrite& r) {
  Builder& b = r.b;
  const DType from = r.dtype(0), to = r.node.output(0) ? r.node.output(0)->dtype() : from;
  const std::optional<FloatLayout> layout = LayoutOf(to);
  if (!IsInteger(from) || !layout || BitWidth(from) != BitWidth(to)) return NothingToDo();
  const DType wide = to == DType::kFloat64 ? to : DType::kFloat32;
  std::vector<double> powers;
  for (int64_t e = 0; e < layout->exponents; ++e) {
    // The last exponent is that of infinity.
    const bool last = e + 1 == layout->exponents;
    powers.push_back(
        last ? 0 : std::ldexp(1.0, static_cast<int>(std::max<int64_t>(e, 1)) - layout->bias));
  }
  const auto number = [&](int64_t n) { return Int(b, n); };
  const auto floor_mod = [](const Expr& n, const Expr& by) {
    return n.Op("mod", {by}, {{"fmod", 0}});
  };
  // Negative integers have the same lower bits as large ones.
  const Expr bits = Expr(b, r.in(0)).To(DType::kInt64);
  const Expr mantissa = floor_mod(bits, number(layout->mantissas));
  const Expr rest = (bits - mantissa) / number(layout->mantissas);
  const Expr exponent = floor_mod(rest, number(layout->exponents));
  const Expr above = (rest - exponent) / number(layout->exponents);
  const Expr whole = Where(exponent == 0, mantissa, mantissa + number(layout->mantissas)).To(wide);
  const Expr table = NumbersAs(b, wide, {layout->exponents}, powers, "powers");
  const Expr size = whole * table.Op("gather", {exponent}, {{"axis", 0}});
  const Expr special = Where(mantissa == 0, size.Number(kInf), size.Number(kNaN));
  const Expr value = Where(exponent == number(layout->exponents - 1), special, size);
  const Expr negative = floor_mod(above, number(2)) == 1;
  return Values{Where(negative, -value, value).To(to)};
}
X2IR_LOWERING(bit_cast, BitCastAsArithmetic);

// Times, or by, a power of two out of a table. Narrow numbers go through 32 bits, whose lower bits
// the cast back takes.
absl::StatusOr<Values> ShiftByTable(Rewrite& r) {
  Builder& b = r.b;
  const DType t = r.dtype(0);
  if (!IsUnsignedInt(t) || BitWidth(t) < 8) return CannotExpress("shifts are of unsigned integers");
  const bool left = r.attrs().String("direction") == "LEFT";
  const DType wide = BitWidth(t) < 32 ? DType::kUInt32 : t;
  const int64_t bits = BitWidth(wide);
  std::vector<uint64_t> powers;
  for (int64_t i = 0; i < bits; ++i) powers.push_back(uint64_t{1} << i);
  Tensor table = Tensor::Of<uint64_t>({bits}, powers);
  if (wide == DType::kUInt32) {
    table = Tensor::Of<uint32_t>({bits}, std::vector<uint32_t>(powers.begin(), powers.end()));
  }
  // A shift by the width or more leaves nothing. As int64 the largest shifts are negative.
  Value* n = Expr(b, r.in(1)).To(DType::kInt64);
  Value* zero = b.Int(0, "zero");
  Value* fits = b.Op(
      "and", {b.Op("not", {b.Op("less", {n, zero})}), b.Op("less", {n, b.Int(bits, "width")})});
  Value* index = b.Op("where", {fits, n, zero});
  Value* power = b.Op("gather", {b.Constant(std::move(table), "powers"), index}, {{"axis", 0}});
  Value* y = b.Op(left ? "mul" : "div", {Expr(b, r.in(0)).To(wide), power});
  return Values{Expr(b, b.Op("mul", {y, Expr(b, fits).To(wide)})).To(t)};
}
X2IR_LOWERING(bit_shift, ShiftByTable);

}  // namespace
}  // namespace x2ir
