// NNEF: numbers as their quantization leaves them, and stored integers as the numbers that they
// stand for.
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/nnef/nnef.h"

namespace x2ir {
namespace {

Expr AwayFromZero(const Expr& x) { return Sign(x) * RoundHalfUp(Abs(x)); }

int64_t TakeBits(NnefArgs& a) {
  const int64_t bits = a.Integer("bits");
  a.Require(bits >= 1 && bits <= 24, "so many bits");
  return bits;
}

// q, the integers, of x between min and max: y = (q + p) / r * (max - min) + min.
struct MinMaxSteps {
  double r = 0, p = 0;
};
MinMaxSteps TakeMinMax(NnefArgs& a) {
  const int64_t bits = TakeBits(a);
  const bool linear = a.op() == "linear_quantize" || a.Text("quantize") == "linear_quantize";
  const bool is_signed = !linear && a.Flag("signed"), symmetric = !linear && a.Flag("symmetric");
  const double steps = std::ldexp(1.0, static_cast<int>(bits)) - 1;
  return {steps - (is_signed && symmetric ? 1 : 0),
          is_signed ? std::ldexp(1.0, static_cast<int>(bits) - 1) - (symmetric ? 1 : 0) : 0};
}

Value* MinMaxRow(NnefArgs& a) {
  const MinMaxSteps steps = TakeMinMax(a);
  const std::vector<Expr> all = a.Alike({a.Tensor("x"), a.Tensor("min"), a.Tensor("max")});
  const Expr &low = all[1], &high = all[2];
  const Expr z = Max(Min(all[0], high), low);
  return AwayFromZero((z - low) / (high - low) * steps.r) / steps.r * (high - low) + low;
}

Value* ZeroPointRow(NnefArgs& a) {
  const int64_t bits = TakeBits(a);
  const bool is_signed = a.Flag("signed"), symmetric = a.Flag("symmetric");
  const double most = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits)) - 1;
  const double least = !is_signed ? 0 : symmetric ? -most : -most - 1;
  const Expr x = a.Tensor("x");
  const std::vector<Expr> all =
      a.Alike({x, a.Tensor("zero_point").To(x.dtype()), a.Tensor("scale").To(x.dtype())});
  const Expr q = AwayFromZero(all[0] / all[2]) + all[1];
  return (Clip(q, q.Number(least), q.Number(most)) - all[1]) * all[2];
}

Value* LogarithmicRow(NnefArgs& a) {
  const double r = std::ldexp(1.0, static_cast<int>(TakeBits(a))) - 1;
  const std::vector<Expr> all = a.Alike({a.Tensor("x"), a.Tensor("max")});
  const auto log2 = [](const Expr& x) { return Log(x) * (1 / std::log(2.0)); };
  const Expr m = Ceil(log2(all[1]));
  const Expr q = AwayFromZero(Max(Min(log2(Abs(all[0])), m), m - r));
  return Sign(all[0]) * Pow(2.0, q);
}

// A variable of integers.
Value* DequantizeRow(NnefArgs& a) {
  const std::string kind = a.Text("quantize");
  const Expr q = a.Tensor("x").To(DType::kFloat32);
  if (kind == "zero_point_linear_quantize") {
    TakeBits(a), a.Flag("signed"), a.Flag("symmetric");
    const std::vector<Expr> all = a.Alike(
        {q, a.Tensor("zero_point").To(DType::kFloat32), a.Tensor("scale").To(DType::kFloat32)});
    return (all[0] - all[1]) * all[2];
  }
  a.Require(kind == "min_max_linear_quantize" || kind == "linear_quantize",
            StrCat("stored integers of '", kind, "'"));
  const MinMaxSteps steps = TakeMinMax(a);
  const std::vector<Expr> all = a.Alike({q, a.Tensor("min"), a.Tensor("max")});
  return (all[0] + steps.p) / steps.r * (all[2] - all[1]) + all[1];
}

}  // namespace

X2IR_NNEF(quantize_linear)
    .From({"min_max_linear_quantize", "linear_quantize"}, MinMaxRow)
    .From("zero_point_linear_quantize", ZeroPointRow)
    .From("logarithmic_quantize", LogarithmicRow);
X2IR_NNEF(dequantize_linear).From("x2ir.dequantize", DequantizeRow);

}  // namespace x2ir
