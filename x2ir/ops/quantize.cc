// Quantization: quantize_linear, dequantize_linear, dynamic_quantize_linear.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- Element types --------------------------------------------------------------------------

bool IsQuantizedFloat(DType t) {
  return IsFloating(t) && BitWidth(t) <= 8 && t != DType::kFloat8E8M0;
}
bool IsQuantized(DType t) { return (IsInteger(t) && BitWidth(t) <= 16) || IsQuantizedFloat(t); }
bool IsReal(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16;
}
bool IsScale(DType t) { return IsReal(t) || t == DType::kFloat8E8M0; }

absl::Status Expect(DType t, bool allowed, std::string_view name, std::string_view what) {
  if (t == DType::kUndefined || allowed) return absl::OkStatus();
  return Invalid(name, ": expected ", what, ", got ", Name(t));
}

// The element type that an optional attribute names; kUndefined when it is absent.
absl::StatusOr<DType> DTypeOr(const AttributeMap& attrs, Symbol name) {
  if (!attrs.Has(name)) return DType::kUndefined;
  const std::optional<DType> t = ParseDType(attrs.String(name));
  if (!t || *t == DType::kUndefined) {
    return Invalid("attribute '", name.str(), "': '", attrs.String(name), "' is no element type");
  }
  return *t;
}

// --- Granularity ----------------------------------------------------------------------------

// One scale and zero point for the whole tensor, for each index of an axis, or for each block
// of consecutive indices of an axis.
enum class Grain { kTensor, kAxis, kBlocks, kUnknown };

bool IsSingle(const Shape& s) { return s.rank() == 0 || (s.rank() == 1 && s[0] == Dim(1)); }

struct Granularity {
  Grain grain = Grain::kUnknown;
  int64_t axis = 0;
  int64_t block = 0;
};

// What the shape of x and that of its scales say; InvalidArgument if they do not fit.
absl::StatusOr<Granularity> ReadGranularity(const AttributeMap& attrs, const Shape& x,
                                            const Shape& scale) {
  Granularity g;
  g.block = attrs.Int("block_size");
  if (g.block < 0 || g.block >= (int64_t{1} << 31)) {
    return Invalid("block_size: expected a number from 0, got ", g.block);
  }
  const bool has_axis = attrs.Has("axis");
  const bool blocked = has_axis && g.block > 0 && scale.rank() == x.rank() && scale.rank() > 0;
  if (!blocked && IsSingle(scale)) {
    g.grain = Grain::kTensor;
    return g;
  }
  if (!blocked && (g.block > 0 || scale.rank() != 1)) {
    return Invalid("scale [", scale.ToString(), "] does not fit x [", x.ToString(),
                   "] with block_size = ", g.block);
  }
  if (!has_axis && scale.rank() == 1 && scale[0].is_static()) {
    return Invalid("scale: expected one number, since there is no axis, got ", scale.ToString());
  }
  // A rank-1 scale of unknown size may turn out to be a single number, for any axis.
  if (!blocked && !scale[0].is_static()) return g;
  X2IR_ASSIGN_OR_RETURN(g.axis, NormalizeAxis(attrs.Int("axis"), x.rank()));
  g.grain = blocked ? Grain::kBlocks : Grain::kAxis;
  for (int64_t i = 0; i < scale.rank(); ++i) {
    const int64_t at = blocked ? i : g.axis;
    const Dim want = blocked && i == g.axis ? CeilDiv(x[at], Dim(g.block)) : x[at];
    if (ProvablyDifferent(scale[i], want)) {
      return Invalid("scale [", scale.ToString(), "] does not fit x [", x.ToString(),
                     "] along axis ", g.axis, " with block_size = ", g.block);
    }
  }
  return g;
}

absl::Status CheckSameShape(const Shape& scale, const Shape& zero_point) {
  if (IsSingle(scale) && IsSingle(zero_point)) return absl::OkStatus();
  bool differ = scale.rank() != zero_point.rank();
  for (int64_t i = 0; !differ && i < scale.rank(); ++i) {
    differ = ProvablyDifferent(scale[i], zero_point[i]);
  }
  if (!differ) return absl::OkStatus();
  // A rank-1 side of unknown size may be a single number, too.
  const auto maybe_single = [](const Shape& s) {
    return IsSingle(s) || (s.rank() == 1 && !s[0].is_static());
  };
  if (maybe_single(scale) && maybe_single(zero_point)) return absl::OkStatus();
  return Invalid("zero point: expected the scale's shape [", scale.ToString(), "], got [",
                 zero_point.ToString(), "]");
}

absl::Status CheckShapes(const InferContext& ctx) {
  const Shape* x = ctx.shape(0);
  const Shape* scale = ctx.shape(1);
  if (x && scale) X2IR_RETURN_IF_ERROR(ReadGranularity(ctx.attrs(), *x, *scale).status());
  const Shape* zero_point = ctx.has(2) ? ctx.shape(2) : nullptr;
  if (scale && zero_point) X2IR_RETURN_IF_ERROR(CheckSameShape(*scale, *zero_point));
  return absl::OkStatus();
}

// Calls f(i, s) for each element i of operand 0, s being the number of its scale.
template <typename F>
absl::Status ForEachScaled(const EvalContext& ctx, const F& f) {
  const Tensor& x = ctx.input(0);
  const Tensor& scale = ctx.input(1);
  X2IR_ASSIGN_OR_RETURN(const Granularity g,
                        ReadGranularity(ctx.attrs(), x.shape(), scale.shape()));
  if (ctx.has(2)) X2IR_RETURN_IF_ERROR(CheckSameShape(scale.shape(), ctx.input(2).shape()));
  if (g.grain == Grain::kTensor) {
    for (int64_t i = 0; i < x.num_elements(); ++i) f(i, 0);
    return absl::OkStatus();
  }
  if (x.num_elements() == 0) return absl::OkStatus();
  const bool blocks = g.grain == Grain::kBlocks;
  const AxisView view = ViewAt(x.dims(), g.axis);
  const int64_t block = blocks ? g.block : 1;
  const int64_t scales = (view.size - 1) / block + 1;
  int64_t i = 0;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t a = 0; a < view.size; ++a) {
      for (int64_t k = 0; k < view.inner; ++k, ++i) {
        f(i, blocks ? (o * scales + a / block) * view.inner + k : a);
      }
    }
  }
  return absl::OkStatus();
}

// --- Arithmetic -----------------------------------------------------------------------------

// A double rounded to a float type. The quotient or product of two numbers of at most 24 bits,
// rounded to double first, becomes what it would without.
double RoundTo(DType t, double v) {
  if (t == DType::kFloat64) return v;
  if (t == DType::kFloat32) return static_cast<float>(v);
  return DecodeSmallFloat(t, EncodeSmallFloat(t, v));
}

struct Range {
  double lo, hi;
};
Range RangeOf(DType t) {
  const int bits = BitWidth(t);
  if (IsSignedInt(t)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {0, std::ldexp(1.0, bits) - 1};
}

// Rounded to nearest even, moved, clamped. ONNX says nothing of NaN: the smallest number here.
int64_t Saturate(double quotient, double zero_point, const Range& range) {
  const double v = std::nearbyint(quotient) + zero_point;
  return static_cast<int64_t>(std::isnan(v) ? range.lo : std::clamp(v, range.lo, range.hi));
}

// The type that x / scale is computed in. ONNX has no division of integers here: doubles hold
// their quotients well enough to round them right. Powers of two divide as floats.
absl::StatusOr<DType> Precision(const AttributeMap& attrs, DType scale) {
  X2IR_ASSIGN_OR_RETURN(const DType asked, DTypeOr(attrs, "precision"));
  if (asked != DType::kUndefined) {
    X2IR_RETURN_IF_ERROR(Expect(asked, IsReal(asked), "precision", "float32, float16 or bfloat16"));
    return asked;
  }
  if (scale == DType::kInt32) return DType::kFloat64;
  return scale == DType::kFloat8E8M0 ? DType::kFloat32 : scale;
}

// --- quantize_linear ------------------------------------------------------------------------

absl::StatusOr<DType> QuantizedType(const AttributeMap& attrs, bool has_zero_point,
                                    DType zero_point) {
  X2IR_ASSIGN_OR_RETURN(const DType asked, DTypeOr(attrs, "output_dtype"));
  X2IR_RETURN_IF_ERROR(Expect(asked, IsQuantized(asked), "output_dtype", "a quantized type"));
  X2IR_RETURN_IF_ERROR(
      Expect(zero_point, IsQuantized(zero_point), "y_zero_point", "a quantized type"));
  if (!has_zero_point) return asked == DType::kUndefined ? DType::kUInt8 : asked;
  if (asked != DType::kUndefined && zero_point != DType::kUndefined && asked != zero_point) {
    return Invalid("y_zero_point: expected output_dtype ", Name(asked), ", got ", Name(zero_point));
  }
  return zero_point == DType::kUndefined ? asked : zero_point;
}

absl::Status CheckQuantizeTypes(const AttributeMap& attrs, DType x, DType scale) {
  X2IR_RETURN_IF_ERROR(
      Expect(x, IsReal(x) || x == DType::kInt32, "x", "float32, float16, bfloat16 or int32"));
  X2IR_RETURN_IF_ERROR(Expect(scale, IsScale(scale) || scale == DType::kInt32, "y_scale",
                              "float32, float16, bfloat16, float8e8m0 or int32"));
  return Precision(attrs, scale).status();
}

absl::Status InferQuantize(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckQuantizeTypes(ctx.attrs(), ctx.dtype(0), ctx.dtype(1)));
  X2IR_ASSIGN_OR_RETURN(
      const DType out,
      QuantizedType(ctx.attrs(), ctx.has(2), ctx.has(2) ? ctx.dtype(2) : DType::kUndefined));
  X2IR_RETURN_IF_ERROR(CheckShapes(ctx));
  return ShapeAsFirst(ctx, out);
}

absl::Status EvalQuantize(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  X2IR_RETURN_IF_ERROR(CheckQuantizeTypes(ctx.attrs(), x.dtype(), ctx.dtype(1)));
  X2IR_ASSIGN_OR_RETURN(
      const DType out,
      QuantizedType(ctx.attrs(), ctx.has(2), ctx.has(2) ? ctx.dtype(2) : DType::kUndefined));
  X2IR_ASSIGN_OR_RETURN(const DType precision, Precision(ctx.attrs(), ctx.dtype(1)));
  const Numbers<double> xs(x), scales(ctx.input(1));
  std::optional<Numbers<double>> zero_points;
  if (ctx.has(2)) zero_points.emplace(ctx.input(2));
  const auto quotient = [&](int64_t i, int64_t s) {
    return RoundTo(precision, RoundTo(precision, xs[i]) / RoundTo(precision, scales[s]));
  };
  const auto zero_point = [&](int64_t s) {
    return !zero_points ? 0.0 : (*zero_points)[zero_points->size() == 1 ? 0 : s];
  };
  if (IsInteger(out)) {
    const Range range = RangeOf(out);
    std::vector<int64_t> y(xs.size());
    X2IR_RETURN_IF_ERROR(ForEachScaled(
        ctx, [&](int64_t i, int64_t s) { y[i] = Saturate(quotient(i, s), zero_point(s), range); }));
    return ctx.Return(FromNumbers<int64_t>(out, x.dims(), y));
  }
  std::vector<double> y(xs.size());
  X2IR_RETURN_IF_ERROR(ForEachScaled(ctx, [&](int64_t i, int64_t s) {
    // Adding no zero point keeps the sign of zero.
    const double z = zero_point(s);
    y[i] = z == 0 ? quotient(i, s) : RoundTo(precision, quotient(i, s) + z);
  }));
  const Tensor wide = FromNumbers<double>(DType::kFloat64, x.dims(), y);
  X2IR_ASSIGN_OR_RETURN(Tensor small, CastTensor(wide, out, ctx.attrs().Int("saturate") != 0));
  return ctx.Return(std::move(small));
}

// Scales are one for all, one for each index of the axis, or one for each block along it.
std::optional<Flip> FlipQuantized(const Node& node, Slot slot, const Perm& p) {
  if (RankOf(node.input(1)) < 0) return std::nullopt;
  const bool blocks = node.attrs().Int("block_size", 0) != 0;
  return FlipSame(node, slot, p, blocks ? 3 : 1);
}
void MoveOptionalAxis(Node& node, const Flip& flip, Builder&) {
  if (!node.attrs().Has("axis")) return;
  node.SetAttr("axis", NewAxes({node.attrs().Int("axis")}, flip.out[0])[0]);
}

X2IR_OP(quantize_linear)
    .Signature("x, y_scale, y_zero_point? -> y")
    .Attrs("axis: int?, block_size = 0, saturate = 1, output_dtype: string?, precision: string?")
    .Functions(InferQuantize, EvalQuantize)
    .Axes({FlipQuantized, MoveOptionalAxis})
    .Numbers(NumberUse::kFixed)
    .Doc(
        "x / y_scale, rounded to nearest even, plus y_zero_point, clamped to the quantized type: "
        "output_dtype, else y_zero_point's, else uint8. Scales are one for all, one for each "
        "index of the axis (rank 1), or one for each block_size indices of it (rank of x); without "
        "an axis, one for all. The division has type `precision`, else y_scale's (float32 for "
        "float8e8m0). To float8, "
        "`saturate` says whether numbers out of range are clamped.")
    .NeedsFloat32(float32_for::kUnits)
    .Zeros(ZeroUse::kTellsOfOperand1)
    .Origins(OriginsInOrder);

// --- dequantize_linear ----------------------------------------------------------------------

absl::StatusOr<DType> DequantizedType(const AttributeMap& attrs, DType x, DType scale) {
  X2IR_RETURN_IF_ERROR(Expect(x, IsQuantized(x) || x == DType::kInt32, "x", "a quantized type"));
  X2IR_RETURN_IF_ERROR(
      Expect(scale, IsScale(scale), "x_scale", "float32, float16, bfloat16 or float8e8m0"));
  X2IR_ASSIGN_OR_RETURN(const DType asked, DTypeOr(attrs, "output_dtype"));
  X2IR_RETURN_IF_ERROR(
      Expect(asked, IsReal(asked), "output_dtype", "float32, float16 or bfloat16"));
  if (asked != DType::kUndefined) return asked;
  if (scale == DType::kFloat8E8M0) return Invalid("x_scale of float8e8m0 needs output_dtype");
  return scale;
}

absl::Status CheckZeroPointType(DType x, DType zero_point) {
  if (x == DType::kUndefined) return absl::OkStatus();
  return Expect(zero_point, zero_point == x, "x_zero_point", Name(x));
}

absl::Status InferDequantize(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType out, DequantizedType(ctx.attrs(), ctx.dtype(0), ctx.dtype(1)));
  if (ctx.has(2)) X2IR_RETURN_IF_ERROR(CheckZeroPointType(ctx.dtype(0), ctx.dtype(2)));
  X2IR_RETURN_IF_ERROR(CheckShapes(ctx));
  return ShapeAsFirst(ctx, out);
}

absl::Status EvalDequantize(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const DType out, DequantizedType(ctx.attrs(), x.dtype(), ctx.dtype(1)));
  if (ctx.has(2)) X2IR_RETURN_IF_ERROR(CheckZeroPointType(x.dtype(), ctx.dtype(2)));
  const Numbers<double> xs(x), scales(ctx.input(1));
  std::optional<Numbers<double>> zero_points;
  if (ctx.has(2)) zero_points.emplace(ctx.input(2));
  std::vector<float> y(xs.size());
  X2IR_RETURN_IF_ERROR(ForEachScaled(ctx, [&](int64_t i, int64_t s) {
    const double z = !zero_points ? 0 : (*zero_points)[zero_points->size() == 1 ? 0 : s];
    y[i] = static_cast<float>(z == 0 ? xs[i] : xs[i] - z) * static_cast<float>(scales[s]);
  }));
  return ctx.Return(FromNumbers<float>(out, x.dims(), y));
}

X2IR_OP(dequantize_linear)
    .Signature("x, x_scale, x_zero_point? -> y")
    .Attrs("axis: int?, block_size = 0, output_dtype: string?")
    .Functions(InferDequantize, EvalDequantize)
    .Axes({FlipQuantized, MoveOptionalAxis})
    .Numbers(NumberUse::kFixed)
    .QuantizedUnit()
    .Doc(
        "(x - x_zero_point) * x_scale, computed in float32, as output_dtype, else x_scale's type. "
        "Scales are one for all, one for each index of the axis (rank 1), or one for each "
        "block_size indices of it (rank of x); without an axis, one for all.")
    .NeedsFloat32(float32_for::kUnits)
    .Origins(OriginsInOrder);

// --- dynamic_quantize_linear ----------------------------------------------------------------

absl::Status InferDynamicQuantize(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(Expect(ctx.dtype(0), ctx.dtype(0) == DType::kFloat32, "x", "float32"));
  ctx.Set(0, DType::kUInt8, ctx.shape(0) ? std::optional<Shape>(*ctx.shape(0)) : std::nullopt);
  ctx.Set(1, DType::kFloat32, Shape());
  ctx.Set(2, DType::kUInt8, Shape());
  return absl::OkStatus();
}

absl::Status EvalDynamicQuantize(EvalContext& ctx) {
  if (ctx.dtype(0) != DType::kFloat32) return Invalid("x: expected float32");
  const Numbers<float> x(ctx.input(0));
  float lo = 0, hi = 0;  // the range has zero in it
  for (const float v : x.span()) {
    if (std::isnan(v)) lo = hi = v;
    if (std::isnan(lo)) break;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  const Range range = RangeOf(DType::kUInt8);
  const float scale = (hi - lo) / 255.0f;
  const auto zero_point = static_cast<uint64_t>(Saturate(0.0f - lo / scale, 0, range));
  std::vector<uint64_t> y(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    y[i] = static_cast<uint64_t>(Saturate(x[i] / scale, static_cast<double>(zero_point), range));
  }
  ctx.Set(0, FromNumbers<uint64_t>(DType::kUInt8, ctx.dims(0), y));
  ctx.Set(1, Tensor::Scalar<float>(scale));
  ctx.Set(2, Tensor::Scalar<uint8_t>(static_cast<uint8_t>(zero_point)));
  return absl::OkStatus();
}

// The scale and the zero point are of the whole tensor.
std::optional<Flip> FlipDynamicQuantize(const Node& node, Slot slot, const Perm& p) {
  if (slot.index != 0) return std::nullopt;
  Flip flip(node);
  flip.in[0] = p;
  if (node.output(0)) flip.out[0] = p;
  return flip;
}

X2IR_OP(dynamic_quantize_linear)
    .Signature("x -> y, y_scale, y_zero_point")
    .Functions(InferDynamicQuantize, EvalDynamicQuantize)
    .Axes({FlipDynamicQuantize})
    .Numbers(NumberUse::kFixed)
    .Doc(
        "x quantized to uint8 by the scale and zero point that its own range, widened to have "
        "zero in it, asks for: y_scale is the range over 255.")
    .NeedsFloat32(float32_for::kUnits);

}  // namespace
}  // namespace x2ir
