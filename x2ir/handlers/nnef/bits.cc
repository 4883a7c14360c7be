// NNEF: tract's operators on the bits of integers.
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

// Of flags, the logical operator.
auto OfBits(std::string_view bits, std::string_view flags) {
  return [bits, flags](NnefArgs& a) -> Value* {
    if (a.num_inputs() == 1) return a.in(0).Op(a.dtype() == DType::kBool ? flags : bits);
    const std::vector<Expr> both = a.Alike({a.in(0), a.in(1)});
    return both[0].Op(both[0].dtype() == DType::kBool ? flags : bits, {both[1]});
  };
}
auto Shift(std::string_view direction) {
  return [direction](NnefArgs& a) -> Value* {
    const std::vector<Expr> both = a.Alike({a.in(0), a.in(1)});
    a.Require(IsInteger(both[0].dtype()) && !IsSignedInt(both[0].dtype()),
              StrCat("bits of ", Name(both[0].dtype()), " shifted"));
    return both[0].Op("bit_shift", {both[1]}, {{"direction", direction}});
  };
}

// --- Written -------------------------------------------------------------------------------------

auto ToBits(std::string_view op) {
  return [op](NnefWriter& w) -> absl::StatusOr<Value*> {
    if (w.num_inputs() == 1) return w.Call(op, {{"x", w.in(0)}});
    X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> ab, w.Broadcast());
    return w.Call(op, {{"a", ab[0]}, {"b", ab[1]}});
  };
}
// A shift by the width or more leaves nothing; tract has none for it.
absl::StatusOr<Value*> ToShift(NnefWriter& w) {
  const DType t = w.dtype(0);
  const double width = BitWidth(t);
  X2IR_ASSIGN_OR_RETURN(const std::vector<Value*> ab, w.Broadcast());
  const Expr by(w, ab[1]);
  X2IR_ASSIGN_OR_RETURN(Value * shifted,
                        w.Call(w.String("direction") == "LEFT" ? "tract_shl" : "tract_shr",
                               {{"a", ab[0]}, {"b", Min(by, width - 1)}}));
  return w.Call(
      "select",
      {{"condition", by < width}, {"true_value", shifted}, {"false_value", w.Number(t, 0)}});
}

}  // namespace

X2IR_NNEF(bitwise_and)
    .From("tract_core_bitand", OfBits("bitwise_and", "and"))
    .To("tract_core_bitand", ToBits("tract_core_bitand"));
X2IR_NNEF(bitwise_or)
    .From("tract_core_bitor", OfBits("bitwise_or", "or"))
    .To("tract_core_bitor", ToBits("tract_core_bitor"));
X2IR_NNEF(bitwise_xor)
    .From("tract_core_bitxor", OfBits("bitwise_xor", "xor"))
    .To("tract_core_bitxor", ToBits("tract_core_bitxor"));
X2IR_NNEF(bitwise_not)
    .From("tract_core_bitnot", OfBits("bitwise_not", "not"))
    .To("tract_core_bitnot", ToBits("tract_core_bitnot"));
X2IR_NNEF(bit_shift)
    .From("tract_shl", Shift("LEFT"))
    .From("tract_shr", Shift("RIGHT"))
    .To("tract_shl", ToShift);

}  // namespace x2ir
