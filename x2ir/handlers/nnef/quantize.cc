// NNEF: numbers as their quantization leaves them, and stored integers as the numbers that they
// stand for.
#include <cmath>
#include <optional>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/nnef/nnef.h"
#include "x2ir/optimizer/lowering_util.h"

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
  const auto log2 = [](const Expr& x) { return Log(x) * (1 / portable::log(2.0)); };
  const Expr m = Ceil(log2(all[1]));
  const Expr q = AwayFromZero(Max(Min(log2(Abs(all[0])), m), m - r));
  return Sign(all[0]) * Pow(2.0, q);
}

// Steps for all, or one for each index of one axis: axes of size 1 aside, of which those that the
// tensor has more are at its end. Null: other steps.
std::optional<QuantizationParams> StepsOf(Builder& b, const Expr& q, const Expr& scale,
                                          const Expr& zero_point) {
  const auto sizes = KnownSizes(scale), offsets = KnownSizes(zero_point);
  if (!sizes || !offsets || static_cast<int64_t>(sizes->size()) > q.rank()) return std::nullopt;
  std::optional<int64_t> axis;
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] == 1) continue;
    if (axis) return std::nullopt;
    axis = static_cast<int64_t>(i);
  }
  const bool one = CheckedProduct(*offsets) == 1;
  if (!axis) {
    if (!one) return std::nullopt;
    return QuantizationParams{Reshape(scale, {}), Reshape(zero_point, {})};
  }
  if (!one && *offsets != *sizes) return std::nullopt;
  const Expr count = Ints(b, {(*sizes)[static_cast<size_t>(*axis)]});
  const Expr offset = one ? Expand(Reshape(zero_point, {1}), count) : Flat(zero_point);
  return QuantizationParams{Flat(scale), offset, axis};
}

// A variable of integers.
Value* DequantizeRow(NnefArgs& a) {
  const std::string kind = a.Text("quantize");
  if (kind == "zero_point_linear_quantize") {
    a.Integer("bits"), a.Flag("signed"), a.Flag("symmetric");
    const Expr q = a.Tensor("x"), scale = a.Tensor("scale").To(DType::kFloat32);
    const Expr zero_point = a.Tensor("zero_point").To(DType::kInt64);
    if (const auto steps = StepsOf(a, q, scale, zero_point)) {
      return Dequantized(q, *steps, DType::kFloat32);
    }
    const std::vector<Expr> all =
        a.Alike({q.To(DType::kFloat32), zero_point.To(DType::kFloat32), scale});
    return (all[0] - all[1]) * all[2];
  }
  const Expr q = a.Tensor("x").To(DType::kFloat32);
  a.Require(kind == "min_max_linear_quantize" || kind == "linear_quantize",
            StrCat("stored integers of '", kind, "'"));
  const MinMaxSteps steps = TakeMinMax(a);
  const std::vector<Expr> all = a.Alike({q, a.Tensor("min"), a.Tensor("max")});
  return (all[0] + steps.p) / steps.r * (all[2] - all[1]) + all[1];
}

// --- Written -------------------------------------------------------------------------------------

// Constants of one step are variables of graph.quant, others numbers. What is computed has a
// lowering.
absl::StatusOr<Value*> ToDequantize(NnefWriter& w) {
  const Tensor *q = w.in(0)->fixed_constant(), *scale = w.in(1)->fixed_constant();
  Value* offset = w.num_inputs() > 2 ? w.in(2) : nullptr;
  const Tensor* zero_point = offset ? offset->fixed_constant() : nullptr;
  const DType t = w.dtype(0);
  if (q && IsInteger(t) && BitWidth(t) < 8) {
    std::vector<Value*> operands = w.node().inputs();
    const DType wide = IsSignedInt(t) ? DType::kInt8 : DType::kUInt8;
    operands[0] = CastNow({w, operands[0]}, wide);
    if (offset) operands[2] = CastNow({w, offset}, wide);
    return w.Op("dequantize_linear", operands, w.attrs());
  }
  if (!q || !scale || (offset && !zero_point)) return CannotExpress("integers that are computed");
  const bool stored = (t == DType::kInt8 || t == DType::kUInt8 || t == DType::kInt16 ||
                       t == DType::kUInt16 || t == DType::kInt32) &&
                      !q->is_sparse() && scale->dtype() == DType::kFloat32 &&
                      scale->num_elements() == 1 && std::isfinite(scale->AsDouble(0)) &&
                      w.out_type().dtype() == DType::kFloat32;
  if (!stored) {
    X2IR_ASSIGN_OR_RETURN(const Values numbers, ConstantResults(w.node(), w.b()));
    return numbers[0];
  }
  const double first = zero_point ? zero_point->AsDouble(0) : 0;
  return w.Call("x2ir.dequantize",
                {{"x", w.in(0)},
                 {"zero_point", w.b().Int(static_cast<int64_t>(first))},
                 {"scale", w.Number(DType::kFloat32, scale->AsDouble(0))}},
                {{"quantize", "zero_point_linear_quantize"},
                 {"bits", BitWidth(t)},
                 {"signed", IsSignedInt(t) ? 1 : 0},
                 {"symmetric", 0}});
}

}  // namespace

X2IR_NNEF(quantize_linear)
    .From({"min_max_linear_quantize", "linear_quantize"}, MinMaxRow)
    .From("zero_point_linear_quantize", ZeroPointRow)
    .From("logarithmic_quantize", LogarithmicRow);
X2IR_NNEF(dequantize_linear)
    .From("x2ir.dequantize", DequantizeRow)
    .To("x2ir.dequantize", ToDequantize);

}  // namespace x2ir
