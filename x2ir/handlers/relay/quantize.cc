// Relay: integers that represent floats. Operators of "qnn" become units that dequantize their
// operands, compute with floats and quantize the result; products of integers are computed as such.
// A number whose quotient is within rounding of a half may go to the other neighbor: halves are
// rounded to even here, and as the version of TVM says there.
#include <limits>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/relay/windows_internal.h"

namespace x2ir {
namespace {

// The operands from `i` on are a scale and a zero point.
QuantizationParams StepsAt(SymbolArgs& a, size_t i, int64_t axis, int64_t rank) {
  QuantizationParams steps{.scale = a.in(i), .zero_point = a.in(i + 1)};
  if (steps.scale.rank() == 1 && DimAt(steps.scale, 0) != Dim(1)) {
    steps.axis = axis < 0 ? axis + rank : axis;
  }
  return steps;
}

IntegerRange RangeOf(SymbolArgs& a, DType t) {
  a.Require(IsInteger(t) && BitWidth(t) <= 32, StrCat("quantized numbers of type ", Name(t)));
  const ValueBounds bounds = RangeOfInteger(t);
  return {t, static_cast<int64_t>(bounds.low), static_cast<int64_t>(bounds.high)};
}

Value* QuantizeRow(SymbolArgs& a) {
  const DType t = a.ElementType("out_dtype", DType::kInt8);
  const int64_t axis = a.Integer("axis", -1);
  return Quantized(a.in(0), StepsAt(a, 1, axis, a.RankOf(0)), RangeOf(a, t));
}

Value* DequantizeRow(SymbolArgs& a) {
  const DType t = a.ElementType("out_dtype", DType::kFloat32);
  const int64_t axis = a.Integer("axis", -1);
  return Dequantized(a.in(0), StepsAt(a, 1, axis, a.RankOf(0)), t);
}

Value* RequantizeRow(SymbolArgs& a) {
  a.Ignore("rounding"), a.Ignore("compute_dtype");
  const DType t = a.ElementType("out_dtype", DType::kInt8);
  const int64_t axis = a.Integer("axis", -1), rank = a.RankOf(0);
  const Expr x = Dequantized(a.in(0), StepsAt(a, 1, axis, rank), DType::kFloat32);
  return Quantized(x, StepsAt(a, 3, axis, rank), RangeOf(a, t));
}

// Of two operands: both with their scales and zero points, then those of the result.
std::function<Value*(SymbolArgs&)> QuantizedOfTwo(Expr (*fn)(const Expr&, const Expr&)) {
  return [fn](SymbolArgs& a) -> Value* {
    const int64_t left = a.Integer("lhs_axis", -1), right = a.Integer("rhs_axis", -1);
    const Expr x = Dequantized(a.in(0), StepsAt(a, 2, left, a.RankOf(0)), DType::kFloat32);
    const Expr y = Dequantized(a.in(1), StepsAt(a, 4, right, a.RankOf(1)), DType::kFloat32);
    return Quantized(fn(x, y), StepsAt(a, 6, -1, a.RankOf(0)), RangeOf(a, a.dtype(0)));
  };
}
Expr SumOf(const Expr& x, const Expr& y) { return x + y; }
Expr DifferenceOf(const Expr& x, const Expr& y) { return x - y; }
Expr ProductOf(const Expr& x, const Expr& y) { return x * y; }

std::function<Value*(SymbolArgs&)> QuantizedOfOne(Expr (*fn)(const Expr&)) {
  return [fn](SymbolArgs& a) -> Value* {
    a.Ignore("axis");
    const Expr x = Dequantized(a.in(0), StepsAt(a, 1, -1, a.RankOf(0)), DType::kFloat32);
    return Quantized(fn(x), StepsAt(a, 3, -1, a.RankOf(0)), RangeOf(a, a.dtype(0)));
  };
}
Expr RsqrtOf(const Expr& x) { return Reciprocal(Sqrt(x)); }
Expr ErfOf(const Expr& x) { return x.Op("erf"); }
Expr SigmoidOf(const Expr& x) { return x.Op("sigmoid"); }
Expr TanhOf(const Expr& x) { return x.Op("tanh"); }
Expr HardSwishOf(const Expr& x) { return x.Op("hard_swish"); }

Value* QuantizedLeakyRelu(SymbolArgs& a) {
  const Expr x = Dequantized(a.in(0), StepsAt(a, 1, -1, a.RankOf(0)), DType::kFloat32);
  const Expr y = x.Op("leaky_relu", {}, {{"alpha", static_cast<float>(a.Number("alpha", 0.25))}});
  return Quantized(y, StepsAt(a, 3, -1, a.RankOf(0)), RangeOf(a, a.dtype(0)));
}

Value* QuantizedSoftmax(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", -1);
  const Expr x = Dequantized(a.in(0), StepsAt(a, 1, -1, a.RankOf(0)), DType::kFloat32);
  return Quantized(x.Op("softmax", {}, {{"axis", axis}}), StepsAt(a, 3, -1, a.RankOf(0)),
                   RangeOf(a, a.dtype(0)));
}

// Parts, their scales, their zero points, and those of the result.
absl::StatusOr<Value*> QuantizedConcat(SymbolArgs& a) {
  const int64_t axis = a.Integer("axis", 0);
  if (a.num_inputs() < 5 || (a.num_inputs() - 2) % 3 != 0) {
    return Invalid("a concatenation of ", a.num_inputs(), " operands");
  }
  const size_t count = (a.num_inputs() - 2) / 3;
  Values parts;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(Dequantized(
        a.in(i), {.scale = a.in(count + i), .zero_point = a.in(2 * count + i)}, DType::kFloat32));
  }
  const Expr whole = Concat(a, parts, axis);
  return Quantized(whole, StepsAt(a, 3 * count, -1, a.RankOf(0)), RangeOf(a, a.dtype(0))).value();
}

// A zero point in the type of what it belongs to.
Value* ZeroPointAs(const Expr& zero, DType t) { return CastNow(zero, t); }

bool IsByte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }

// The sums of products, int32: data, weights and their zero points. The scales, which follow, are
// those of the sums, and count where these are requantized.
Value* QuantizedConv(SymbolArgs& a) {
  const size_t n = 2;
  a.Ignore("channels");
  const DataLayouts layouts = TakeLayouts(a, "data_layout", n);
  const Expr x = InLayout(a, a.in(0), layouts.in, layouts.computed);
  const Expr w = InLayout(a, a.in(1), a.Text("kernel_layout", "OIHW"), "OIHW");
  const int64_t groups = a.Integer("groups", 1);
  std::vector<int64_t> kernel = a.Tuple("kernel_size");
  if (kernel.empty()) {
    const auto sizes = KnownSizes(w, 2, 4);
    if (sizes) kernel = *sizes;
  }
  Window window = TakeRelayWindow(a, std::move(kernel));
  a.Require(window.rank() == n, "a kernel of unknown size");
  window.channels_last = layouts.channels_last;
  CheckWindow(a, window);
  a.Require(IsByte(x.dtype()) && IsByte(w.dtype()), "operands of other types than int8 and uint8");
  a.Require(a.ElementType("out_dtype", DType::kInt32) == DType::kInt32, "sums of another type");
  for (const size_t i : {size_t{4}, size_t{5}}) a.in(i);
  AttributeMap attrs = WindowAttrs(window);
  attrs.Set("group", groups);
  const Expr y =
      a.Op("conv_integer",
           {x, w, ZeroPointAs(Reshape(a.in(2), {}), x.dtype()), ZeroPointAs(a.in(3), w.dtype())},
           std::move(attrs));
  return InLayout(a, y, layouts.computed, layouts.out);
}

Value* QuantizedDense(SymbolArgs& a) {
  a.Ignore("units");
  const Expr x = a.in(0), w = a.in(1);
  a.Require(IsByte(x.dtype()) && IsByte(w.dtype()), "operands of other types than int8 and uint8");
  a.Require(a.ElementType("out_dtype", DType::kInt32) == DType::kInt32, "sums of another type");
  const bool transposed =
      a.op() == "qnn.dense" || (a.Flag("transpose_b", true) && !a.Flag("transpose_a", false));
  a.Require(transposed, "other matrices than [.., rows, k] and [.., columns, k]");
  return a.Op("matmul_integer", {x, SwapLast(w), ZeroPointAs(Reshape(a.in(2), {}), x.dtype()),
                                 ZeroPointAs(Reshape(a.in(3), {}), w.dtype())});
}

// --- Written -------------------------------------------------------------------------------------

// The scale and the zero point, which is int32 there.
struct WrittenSteps {
  Value *scale, *zero;
  int64_t axis;
};
absl::StatusOr<WrittenSteps> StepsOf(RelayWriter& w, DType quantized) {
  if (w.Int("block_size") != 0) return CannotExpress("blocks of scales");
  if (!IsInteger(quantized) || BitWidth(quantized) < 8) {
    return CannotExpress("quantized numbers of type ", Name(quantized));
  }
  if (w.dtype(1) != DType::kFloat32) return CannotExpress("scales of type ", Name(w.dtype(1)));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(0));
  X2IR_ASSIGN_OR_RETURN(const int64_t steps, w.Rank(1));
  int64_t axis = w.attrs().Has("axis") ? w.Int("axis") : 1;
  if (axis < 0) axis += rank;
  Value* scale = w.in(1);
  Value* zero = w.in(2)      ? w.Cast(w.in(2), DType::kInt32)
                : steps == 0 ? w.Int32(0)
                             : w.Op("expand", {w.Int32(0), w.Op("shape", {scale}, {{"start", 0}})});
  return WrittenSteps{scale, zero, steps == 0 ? -1 : axis};
}

absl::StatusOr<Value*> ToQuantize(RelayWriter& w) {
  const DType t = w.out_type().dtype();
  if (w.dtype(0) != DType::kFloat32) return CannotExpress("elements of type ", Name(w.dtype(0)));
  X2IR_ASSIGN_OR_RETURN(const WrittenSteps steps, StepsOf(w, t));
  return w.Call("qnn.quantize", {w.in(0), steps.scale, steps.zero},
                {{"out_dtype", std::string(Name(t))}, {"axis", StrCat(steps.axis)}});
}
absl::StatusOr<Value*> ToDequantize(RelayWriter& w) {
  if (w.out_type().dtype() != DType::kFloat32) return CannotExpress("results of another type");
  X2IR_ASSIGN_OR_RETURN(const WrittenSteps steps, StepsOf(w, w.dtype(0)));
  return w.Call("qnn.dequantize", {w.in(0), steps.scale, steps.zero},
                {{"axis", StrCat(steps.axis)}});
}

}  // namespace

X2IR_RELAY(quantize_linear)
    .From({{"qnn.quantize", QuantizeRow}, {"qnn.requantize", RequantizeRow}})
    .From({{"qnn.add", QuantizedOfTwo(SumOf)},
           {"qnn.subtract", QuantizedOfTwo(DifferenceOf)},
           {"qnn.mul", QuantizedOfTwo(ProductOf)},
           {"qnn.rsqrt", QuantizedOfOne(RsqrtOf)},
           {"qnn.sqrt", QuantizedOfOne(Sqrt)},
           {"qnn.exp", QuantizedOfOne(Exp)},
           {"qnn.log", QuantizedOfOne(Log)},
           {"qnn.abs", QuantizedOfOne(Abs)},
           {"qnn.erf", QuantizedOfOne(ErfOf)},
           {"qnn.sigmoid", QuantizedOfOne(SigmoidOf)},
           {"qnn.tanh", QuantizedOfOne(TanhOf)},
           {"qnn.hardswish", QuantizedOfOne(HardSwishOf)},
           {"qnn.leaky_relu", QuantizedLeakyRelu},
           {"qnn.softmax", QuantizedSoftmax},
           {"qnn.concatenate", QuantizedConcat}})
    .To("qnn.quantize", ToQuantize);
X2IR_RELAY(dequantize_linear)
    .From("qnn.dequantize", DequantizeRow)
    .To("qnn.dequantize", ToDequantize);
X2IR_RELAY(conv_integer).From("qnn.conv2d", QuantizedConv);
X2IR_RELAY(matmul_integer).From({"qnn.dense", "qnn.batch_matmul"}, QuantizedDense);

}  // namespace x2ir
