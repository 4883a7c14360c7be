// What operations of regions leave as it is, and the operations by element (regions.h).
#include <cstring>
#include <limits>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/handlers/stablehlo/elementwise.h"
#include "x2ir/handlers/stablehlo/regions.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

Expr NeutralOf(Builder& b, std::string_view op, DType t) {
  const bool sum = op == "add" || op == "subtract" || op == "or" || op == "xor";
  if (IsComplex(t)) {
    if (!sum && op != "multiply") b.Fail(Unimplemented("an order of complex numbers"));
    const DType part = PartType(t);
    return Expr(b, b.Scalar(part, sum ? 0 : 1)).Op("complex", {b.Scalar(part, 0)});
  }
  if (t == DType::kBool) {
    const bool value = op == "multiply" || op == "and" || op == "minimum";
    return {b, b.Constant(Tensor::Scalar<bool>(value))};
  }
  if (op == "maximum" || op == "minimum") return Extreme(b, t, op == "minimum");
  if (IsFloating(t)) {
    // Of zeros, -0 is the one that leaves -0 as it is.
    return {b, b.Scalar(t, op == "multiply" ? 1.0 : op == "add" ? -0.0 : 0.0)};
  }
  return IntegerOf(b, t, op == "multiply" ? 1 : op == "and" ? -1 : 0);
}

bool IsNeutral(std::string_view op, const Value* value) {
  const std::optional<Tensor> known = KnownTensor(*value);
  if (!known || known->num_elements() != 1) return false;
  const DType t = known->dtype();
  if (IsComplex(t)) {
    const auto is = [&](auto zero) {
      using Part = decltype(zero);
      Part parts[2];
      std::memcpy(parts, known->bytes().data(), sizeof(parts));
      return parts[1] == 0 &&
             ((op == "add" && parts[0] == 0) || (op == "multiply" && parts[0] == 1));
    };
    return t == DType::kComplex64 ? is(float{}) : is(double{});
  }
  const bool sum = op == "add" || op == "or" || op == "xor" || op == "subtract";
  if (t == DType::kBool) {
    if (sum || op == "maximum") return known->AsInt(0) == 0;
    return known->AsInt(0) != 0 && (op == "multiply" || op == "and" || op == "minimum");
  }
  if (IsFloating(t)) {
    const double x = known->AsDouble(0);
    if (op == "maximum") return x == -std::numeric_limits<double>::infinity();
    if (op == "minimum") return x == std::numeric_limits<double>::infinity();
    return (op == "add" && x == 0) || (op == "multiply" && x == 1);
  }
  if (!IsInteger(t) || BitWidth(t) < 8) return false;
  const int64_t x = known->AsInt(0);
  const int bits = BitWidth(t);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  const auto is_all = [&] { return (static_cast<uint64_t>(x) & all) == all; };
  if (sum) return x == 0;
  if (op == "multiply") return x == 1;
  if (op == "and") return is_all();
  if (op == "maximum") return IsUnsignedInt(t) ? x == 0 : x == -most - 1;
  if (op == "minimum") return IsUnsignedInt(t) ? is_all() : x == most;
  return false;
}

Expr Combined(std::string_view op, const Expr& x, const Expr& y) {
  const bool logic = x.dtype() == DType::kBool;
  if (op == "first") return x;
  if (op == "second") return y;
  if (op == "add") return logic ? x | y : x + y;
  if (op == "multiply") return logic ? x & y : x * y;
  if (op == "minimum") return Least(x, y);
  if (op == "maximum") return Greatest(x, y);
  if (op == "subtract") return x - y;
  const std::string_view name = logic         ? op
                                : op == "and" ? "bitwise_and"
                                : op == "or"  ? "bitwise_or"
                                              : "bitwise_xor";
  return x.Op(name, {y});
}

}  // namespace x2ir
