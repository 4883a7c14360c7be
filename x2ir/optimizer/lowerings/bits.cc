// Lowerings of ops on bits by arithmetic.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
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
