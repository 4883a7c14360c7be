// Lowerings of quantization: types that an older opset lacks, zero points that say the type, and
// plain arithmetic where there is no quantization at all. Each gives the numbers that the
// evaluation of the op gives; NaN, which ONNX leaves open for quantized integers, aside.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/weights.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/match.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 24;  // of a constant that is made here

const Shape* ShapeOf(const Rewrite& r, size_t i) { return r.has(i) ? r.in(i)->shape() : nullptr; }

bool Has(const Rewrite& r, size_t i) { return i < r.node.num_inputs() && r.has(i); }

// --- Placing scales -------------------------------------------------------------------------

// `v`, a scale or zero point, with the axes of x, so that it broadcasts to it.
absl::StatusOr<Value*> PlaceScale(Rewrite& r, Value* v) {
  const Shape *x = ShapeOf(r, 0), *s = v->shape();
  if (!x || !s) return CannotExpress("the ranks of x and of its scale are not known");
  if (s->rank() == 0) return v;
  const int64_t block = r.attrs().Int("block_size");
  const int64_t axis = r.attrs().Int("axis", 0);
  const int64_t from_front = axis < 0 ? axis + x->rank() : axis;
  if (block > 0 && s->rank() == x->rank() && r.attrs().Has("axis")) {
    // Each scale as often as its block is long, the last one as often as is left.
    const Dim& size = (*x)[from_front];
    if (!size.is_static() || size.value() > kMaxElements) {
      return CannotExpress("blocks of an axis whose size is not known have no other form");
    }
    std::vector<int64_t> picks(size.value());
    for (int64_t i = 0; i < size.value(); ++i) picks[i] = i / block;
    return r.b.Op("gather", {v, r.b.Ints(picks, "blocks")}, {{"axis", from_front}});
  }
  if (s->rank() != 1 || !(*s)[0].is_static()) {
    return CannotExpress("the number of scales is not known");
  }
  if ((*s)[0] == Dim(1)) return r.b.Op("squeeze", {v, r.b.Ints({0}, "axes")});
  if (x->rank() == 1) return v;
  std::vector<int64_t> dims(static_cast<size_t>(x->rank()), 1);
  dims[static_cast<size_t>(from_front)] = (*s)[0].value();
  return ReshapedWeight(r.b, v, std::move(dims));
}

// --- quantize_linear ------------------------------------------------------------------------

struct QuantizeTypes {
  DType compute, out;
};

// The type of the division and that of the result.
absl::StatusOr<QuantizeTypes> TypesOfQuantize(const Rewrite& r) {
  QuantizeTypes t{r.dtype(1), r.node.output(0)->dtype()};
  if (r.attrs().Has("precision")) {
    t.compute = ParseDType(r.attrs().String("precision")).value_or(DType::kUndefined);
  }
  if (t.compute == DType::kFloat8E8M0) t.compute = DType::kFloat32;
  if (!IsFloating(t.compute) || r.dtype(0) == DType::kUndefined || t.out == DType::kUndefined) {
    return CannotExpress("the element types are not known, or the scale is no float");
  }
  return t;
}

// x and the scale in the type that they are divided in.
absl::StatusOr<Values> QuantizeInOneType(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const QuantizeTypes t, TypesOfQuantize(r));
  if (r.dtype(0) == t.compute && r.dtype(1) == t.compute && !r.attrs().Has("precision")) {
    return NothingToDo();
  }
  AttributeMap attrs = r.attrs();
  attrs.Erase("precision");
  std::vector<Value*> operands = {Expr(r.b, r.in(0)).To(t.compute),
                                  Expr(r.b, r.in(1)).To(t.compute)};
  if (Has(r, 2)) operands.push_back(r.in(2));
  return Values{r.b.Op("quantize_linear", operands, std::move(attrs))};
}
X2IR_LOWERING(quantize_linear, QuantizeInOneType);

// A zero point of zeros says the type, too.
absl::StatusOr<Values> QuantizeByZeroPoint(Rewrite& r) {
  if (!r.attrs().Has("output_dtype")) return CannotExpress("it has no output_dtype");
  AttributeMap attrs = r.attrs();
  const std::optional<DType> out = ParseDType(attrs.String("output_dtype"));
  attrs.Erase("output_dtype");
  std::vector<Value*> operands = {r.in(0), r.in(1)};
  if (Has(r, 2)) {
    operands.push_back(r.in(2));
  } else {
    const Shape* scale = ShapeOf(r, 1);
    const auto dims = scale ? scale->Static() : std::nullopt;
    const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
    if (!out || !count || *count > kMaxElements) {
      return CannotExpress("output_dtype without y_zero_point, and a scale of unknown shape");
    }
    operands.push_back(r.b.Constant(Tensor::Zeros(*out, *dims), "zero_point"));
  }
  return Values{r.b.Op("quantize_linear", operands, std::move(attrs))};
}
X2IR_LOWERING(quantize_linear, QuantizeByZeroPoint);

// clip(round(x / scale) + zero_point), in float32 from the rounding on: all that is not clamped
// is exact there. The cast rounds to float8.
absl::StatusOr<Values> QuantizeAsArithmetic(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const QuantizeTypes t, TypesOfQuantize(r));
  const int bits = BitWidth(t.out);
  if (bits < 8 || bits > 16 || t.out == DType::kFloat8E8M0 ||
      (!IsInteger(t.out) && (bits > 8 || !IsFloating(t.out)))) {
    return CannotExpress("quantization to ", Name(t.out), " has no other form");
  }
  X2IR_ASSIGN_OR_RETURN(Value * scale, PlaceScale(r, r.in(1)));
  Value* quotient =
      r.b.Op("div", {Expr(r.b, r.in(0)).To(t.compute), Expr(r.b, scale).To(t.compute)});
  Value* y = Expr(r.b, quotient).To(DType::kFloat32);
  if (IsInteger(t.out)) y = r.b.Op("round", {y});
  if (Has(r, 2)) {
    X2IR_ASSIGN_OR_RETURN(Value * zero_point, PlaceScale(r, r.in(2)));
    y = r.b.Op("add", {y, CastNow({r.b, zero_point}, DType::kFloat32)});
  }
  if (IsFloating(t.out)) {
    return Values{
        r.b.Op("cast", {y}, {{"to", Name(t.out)}, {"saturate", r.attrs().Int("saturate")}})};
  }
  const bool is_signed = IsSignedInt(t.out);
  const double lo = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double hi = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  y = r.b.Op("clip",
             {y, r.b.Scalar(DType::kFloat32, lo, "min"), r.b.Scalar(DType::kFloat32, hi, "max")});
  return Values{Expr(r.b, y).To(t.out)};
}
X2IR_LOWERING(quantize_linear, QuantizeAsArithmetic);

// --- dequantize_linear ----------------------------------------------------------------------

// Constants of fewer than 8 bits as such of 8.
absl::StatusOr<Values> DequantizeBytes(Rewrite& r) {
  const DType t = r.dtype(0);
  if (!IsInteger(t) || BitWidth(t) >= 8 || r.target.Takes("dequantize_linear", 0, t)) {
    return CannotExpress("x has 8 bits or more, or the target takes it as it is");
  }
  std::vector<Value*> operands = {nullptr, r.in(1)};
  for (size_t i : {0, 2}) {
    if (!Has(r, i)) continue;
    if (!r.in(i)->fixed_constant()) {
      return CannotExpress("integers of ", Name(t), " that are computed");
    }
    operands.resize(std::max(operands.size(), i + 1));
    operands[i] = CastNow({r.b, r.in(i)}, IsSignedInt(t) ? DType::kInt8 : DType::kUInt8);
  }
  return Values{r.b.Op("dequantize_linear", operands, r.attrs())};
}
X2IR_LOWERING(dequantize_linear, DequantizeBytes);

// The product is a float32, rounded to the type of the result afterwards.
absl::StatusOr<Values> DequantizeToFloat32(Rewrite& r) {
  const DType out = r.node.output(0)->dtype(), scale = r.dtype(1);
  if (out == DType::kUndefined || scale == DType::kUndefined) {
    return CannotExpress("the element types are not known");
  }
  AttributeMap attrs = r.attrs();
  if (scale == DType::kFloat32 && !attrs.Erase("output_dtype")) {
    return NothingToDo();
  }
  attrs.Erase("output_dtype");
  std::vector<Value*> operands = {r.in(0), Expr(r.b, r.in(1)).To(DType::kFloat32)};
  if (Has(r, 2)) operands.push_back(r.in(2));
  return Values{Expr(r.b, r.b.Op("dequantize_linear", operands, std::move(attrs))).To(out)};
}
X2IR_LOWERING(dequantize_linear, DequantizeToFloat32);

bool AreZeros(const Value* integers) {
  const Tensor* constant = DenseConstant(integers);
  for (int64_t i = 0; constant && i < constant->num_elements(); ++i) {
    if (constant->AsInt(i) != 0) return false;
  }
  return constant;
}

// (x - zero_point) * scale. Differences of 16 bits and less are exact in float32.
absl::StatusOr<Values> DequantizeAsArithmetic(Rewrite& r) {
  const DType x = r.dtype(0);
  if (r.dtype(1) != DType::kFloat32 || r.attrs().Has("output_dtype") || x == DType::kUndefined) {
    return CannotExpress("the element types are not known, or not float32");
  }
  if (Has(r, 2) && !(IsInteger(x) && BitWidth(x) <= 16)) {
    return CannotExpress("x of ", Name(x), " with a zero point has no other form");
  }
  Value* y = Expr(r.b, r.in(0)).To(DType::kFloat32);
  if (Has(r, 2) && !AreZeros(r.in(2))) {
    X2IR_ASSIGN_OR_RETURN(Value * zero_point, PlaceScale(r, r.in(2)));
    y = r.b.Op("sub", {y, CastNow({r.b, zero_point}, DType::kFloat32)});
  }
  X2IR_ASSIGN_OR_RETURN(Value * scale, PlaceScale(r, r.in(1)));
  return Values{r.b.Op("mul", {y, scale})};
}
X2IR_LOWERING(dequantize_linear, DequantizeAsArithmetic);

// --- dynamic_quantize_linear ----------------------------------------------------------------

absl::StatusOr<Values> DynamicQuantizeAsArithmetic(Rewrite& r) {
  const auto scalar = [&](double v, const char* name) {
    return r.b.Scalar(DType::kFloat32, v, name);
  };
  Value* x = r.in(0);
  Value* zero = scalar(0, "zero");
  Value* lo = r.b.Op("min", {r.b.Op("reduce_min", {x}, {{"keepdims", 0}}), zero});
  Value* hi = r.b.Op("max", {r.b.Op("reduce_max", {x}, {{"keepdims", 0}}), zero});
  Value* scale = r.b.Op("div", {r.b.Op("sub", {hi, lo}), scalar(255, "steps")});
  Value* start = r.b.Op("sub", {zero, r.b.Op("div", {lo, scale})});
  Value* clipped = r.b.Op("clip", {start, zero, scalar(255, "max")});
  Value* zero_point = r.b.Op("cast", {r.b.Op("round", {clipped})}, {{"to", Name(DType::kUInt8)}});
  return Values{r.b.Op("quantize_linear", {x, scale, zero_point}), scale, zero_point};
}
X2IR_LOWERING(dynamic_quantize_linear, DynamicQuantizeAsArithmetic);

// --- Products -------------------------------------------------------------------------------

// A vector of scales or zero points, reshaped to be along `axis` of a tensor of that rank.
absl::StatusOr<Value*> PlaceVector(Rewrite& r, Value* v, int64_t axis, int64_t rank) {
  const Shape* s = v->shape();
  if (!s || rank < 2) return CannotExpress("the ranks of operands are not known, or below 2");
  if (s->rank() != 1 || axis == rank - 1) return v;
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - axis; ++i) axes.push_back(i);
  return r.b.Op("unsqueeze", {v, r.b.Ints(axes, "axes")});
}

// Operand i minus the zero point that is operand `zero`, in a type that holds the difference. A
// vector of zero points is along `axis` of it.
absl::StatusOr<Value*> Centered(Rewrite& r, size_t i, size_t zero, int64_t axis, DType t) {
  Value* v = Expr(r.b, r.in(i)).To(t);
  if (!Has(r, zero)) return v;
  X2IR_ASSIGN_OR_RETURN(Value * zero_point, PlaceVector(r, r.in(zero), axis, r.rank(i)));
  return r.b.Op("sub", {v, Expr(r.b, zero_point).To(t)});
}

absl::StatusOr<Values> MatMulIntegerAsMatMul(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Value * a, Centered(r, 0, 2, r.rank(0) - 2, DType::kInt32));
  X2IR_ASSIGN_OR_RETURN(Value * b, Centered(r, 1, 3, r.rank(1) - 1, DType::kInt32));
  return Values{r.b.Op("matmul", {a, b})};
}
X2IR_LOWERING(matmul_integer, MatMulIntegerAsMatMul);

// Sums of fewer products than this fit int32.
constexpr int64_t kMaxProducts = 32768;

// A convolution of whole numbers from -255 to 255, operand `weights` of the node among them, as
// int32. Runtimes convolve float32 alone, whose sums are exact below 2^24. Where there are more
// products than fit, images, and then weights too, are taken as 16 * high + low.
absl::StatusOr<Value*> ExactConv(Rewrite& r, size_t weights, const Expr& x, const Expr& w) {
  const Shape* shape = ShapeOf(r, weights);
  const Dim products = shape && shape->rank() > 1 ? shape->NumElements(1, shape->rank()) : Dim();
  if (!products.is_static() || products.value() > kMaxProducts) {
    return CannotExpress("the sums may not fit int32");
  }
  constexpr int64_t kExact = int64_t{1} << 24;
  const auto conv = [&](const Expr& a, const Expr& b) {
    return Expr(r.b, r.b.Op("conv", {a, b}, r.attrs())).To(DType::kInt32);
  };
  const auto high = [](const Expr& a) { return Floor(a / 16); };  // -16 to 15
  const auto low = [](const Expr& a, const Expr& of) { return a - of * 16; };
  if (products.value() * 255 * 255 < kExact) return conv(x, w).value();
  const Expr x_high = high(x), x_low = low(x, x_high);
  const auto both = [&](const Expr& b) { return conv(x_high, b) * 16 + conv(x_low, b); };
  if (products.value() * 16 * 255 < kExact) return both(w).value();
  const Expr w_high = high(w), w_low = low(w, w_high);
  return (both(w_high) * 16 + both(w_low)).value();
}

absl::StatusOr<Values> ConvIntegerAsConv(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Value * a, Centered(r, 0, 2, r.rank(0) - 1, DType::kFloat32));
  X2IR_ASSIGN_OR_RETURN(Value * b, Centered(r, 1, 3, 0, DType::kFloat32));
  X2IR_ASSIGN_OR_RETURN(Value * y, ExactConv(r, 1, {r.b, a}, {r.b, b}));
  return Values{y};
}
X2IR_LOWERING(conv_integer, ConvIntegerAsConv);

// Sums of products, as doubles, times a float32 factor, quantized to the type of the zero point.
absl::StatusOr<Values> Requantized(Rewrite& r, Value* sums, Value* scale_a, Value* scale_b,
                                   size_t scale, size_t zero) {
  const DType out = r.dtype(zero);
  if (out != DType::kInt8 && out != DType::kUInt8) {
    return CannotExpress("quantization to ", Name(out), " has no other form");
  }
  Value* factor = r.b.Op(
      "mul", {Expr(r.b, scale_a).To(DType::kFloat32), Expr(r.b, scale_b).To(DType::kFloat32)});
  factor = r.b.Op("div", {factor, Expr(r.b, r.in(scale)).To(DType::kFloat32)});
  Value* y = r.b.Op("round", {r.b.Op("mul", {sums, Expr(r.b, factor).To(DType::kFloat64)})});
  y = r.b.Op("add", {y, Expr(r.b, r.in(zero)).To(DType::kFloat64)});
  const bool is_signed = out == DType::kInt8;
  // Runtimes clip float32 at any opset. Whole numbers between the bounds are the same in it.
  y = Expr(r.b, y).To(DType::kFloat32);
  y = r.b.Op("clip", {y, r.b.Scalar(DType::kFloat32, is_signed ? -128 : 0, "min"),
                      r.b.Scalar(DType::kFloat32, is_signed ? 127 : 255, "max")});
  return Values{Expr(r.b, y).To(out)};
}

// The factor is a float32, whatever the type of the scales.
absl::StatusOr<Values> QLinearMatMulInFloat32(Rewrite& r) {
  if (r.dtype(1) == DType::kFloat32 || r.dtype(1) == DType::kUndefined) {
    return CannotExpress("its scales are float32 already, or of a type that is not known");
  }
  std::vector<Value*> operands = r.node.inputs();
  for (size_t i : {1, 4, 6}) operands[i] = Expr(r.b, operands[i]).To(DType::kFloat32);
  return Values{r.b.Op("qlinear_matmul", operands)};
}
X2IR_LOWERING(qlinear_matmul, QLinearMatMulInFloat32);

absl::StatusOr<Values> QLinearMatMulAsMatMul(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(Value * a, Centered(r, 0, 2, r.rank(0) - 2, DType::kFloat64));
  X2IR_ASSIGN_OR_RETURN(Value * b, Centered(r, 3, 5, r.rank(3) - 1, DType::kFloat64));
  X2IR_ASSIGN_OR_RETURN(Value * scale_a, PlaceVector(r, r.in(1), r.rank(0) - 2, r.rank(0)));
  return Requantized(r, r.b.Op("matmul", {a, b}), scale_a, r.in(4), 6, 7);
}
X2IR_LOWERING(qlinear_matmul, QLinearMatMulAsMatMul);

absl::StatusOr<Values> QLinearConvAsConv(Rewrite& r) {
  if (r.attrs().String("layout") != "channels_first") {
    return CannotExpress("qlinear_conv with channels last");
  }
  X2IR_ASSIGN_OR_RETURN(Value * x, Centered(r, 0, 2, r.rank(0) - 1, DType::kFloat32));
  X2IR_ASSIGN_OR_RETURN(Value * w, Centered(r, 3, 5, 0, DType::kFloat32));
  X2IR_ASSIGN_OR_RETURN(Value * scale_w, PlaceVector(r, r.in(4), 1, r.rank(0)));
  X2IR_ASSIGN_OR_RETURN(Value * sums, ExactConv(r, 3, {r.b, x}, {r.b, w}));
  Expr wide = Expr(r.b, sums).To(DType::kFloat64);
  if (Has(r, 8)) {
    X2IR_ASSIGN_OR_RETURN(Value * bias, PlaceVector(r, r.in(8), 1, r.rank(0)));
    wide = wide + Expr(r.b, bias).To(DType::kFloat64);
  }
  return Requantized(r, wide, r.in(1), scale_w, 6, 7);
}
X2IR_LOWERING(qlinear_conv, QLinearConvAsConv);

}  // namespace
}  // namespace x2ir
