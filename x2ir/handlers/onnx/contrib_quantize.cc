// ONNX Runtime's own domain: quantization, and ops on quantized tensors that ONNX Runtime computes
// as the op on dequantized floats. All of it is only read. The kernels of QLinearAdd, QLinearMul,
// QLinearSoftmax, QGemm and the pools multiply by quotients of scales, and round some numbers to
// the other side: there one step of difference is theirs.
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// A tensor with its scale and zero point, as operands i, i + 1, i + 2.
Value* Dequantized(Rewrite& r, size_t i) {
  return r.b.Op("dequantize_linear", {r.in(i), r.in(i + 1), r.in(i + 2)});
}

// Without a zero point the type of the operand decides.
Value* Quantized(Rewrite& r, Value* y, size_t scale, DType dtype) {
  AttributeMap attrs;
  if (!r.has(scale + 1)) attrs.Set("output_dtype", std::string(Name(dtype)));
  return r.b.Op("quantize_linear", {y, r.in(scale), r.in(scale + 1)}, std::move(attrs));
}

absl::Status CheckType(const Rewrite& r, size_t i) {
  if (r.dtype(i) == DType::kInt8 || r.dtype(i) == DType::kUInt8) return absl::OkStatus();
  return Unimplemented("operands of an unknown element type");
}

absl::StatusOr<Values> FromQLinearSigmoid(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckType(r, 0));
  return Values{Quantized(r, r.b.Op("sigmoid", {Dequantized(r, 0)}), 3, r.dtype(0))};
}

absl::StatusOr<Values> FromQLinearLeakyRelu(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckType(r, 0));
  const float alpha = static_cast<float>(r.attrs().Float("alpha", 0.01));
  Value* y = r.b.Op("leaky_relu", {Dequantized(r, 0)}, {{"alpha", alpha}});
  return Values{Quantized(r, y, 3, r.dtype(0))};
}

// Of two operands, each with its scale and zero point.
template <const char* kOp>
absl::StatusOr<Values> FromQLinearBinary(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckType(r, 0));
  return Values{Quantized(r, r.b.Op(kOp, {Dequantized(r, 0), Dequantized(r, 3)}), 6, r.dtype(0))};
}
constexpr char kAdd[] = "add", kMul[] = "mul";

Attribute LayoutOf(const Rewrite& r) {
  return r.attrs().Int("channels_last", 0) != 0 ? "channels_last" : "channels_first";
}

absl::StatusOr<Values> FromQLinearGlobalAveragePool(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckType(r, 0));
  Value* y = r.b.Op("global_average_pool", {Dequantized(r, 0)}, {{"layout", LayoutOf(r)}});
  return Values{Quantized(r, y, 3, r.dtype(0))};
}

// What a pool says, with the layout that a flag names.
AttributeMap PoolAttrs(const Rewrite& r, Attribute layout, bool averages) {
  AttributeMap attrs = {{"layout", std::move(layout)},
                        {"kernel_shape", r.attrs().Ints("kernel_shape")},
                        {"auto_pad", r.attrs().String("auto_pad", "NOTSET")},
                        {"ceil_mode", r.attrs().Int("ceil_mode", 0)}};
  if (averages) attrs.Set("count_include_pad", r.attrs().Int("count_include_pad", 0));
  for (const char* name : {"strides", "pads", "dilations"}) {
    if (r.attrs().Has(name)) attrs.Set(name, r.attrs().Ints(name));
  }
  return attrs;
}

absl::StatusOr<Values> FromQLinearAveragePool(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckType(r, 0));
  Value* y = r.b.Op("average_pool", {Dequantized(r, 0)}, PoolAttrs(r, LayoutOf(r), true));
  return Values{Quantized(r, y, 3, r.dtype(0))};
}

absl::StatusOr<Values> FromNhwcMaxPool(Rewrite& r) {
  return Values{r.b.Ops("max_pool", {r.in(0)}, PoolAttrs(r, "channels_last", false), 1)[0]};
}

// Sums are of int32, and wrap.
absl::StatusOr<Values> FromMatMulInteger16(Rewrite& r) {
  for (const size_t i : {0, 1}) {
    const DType t = r.dtype(i);
    if (t == DType::kInt16 || (i == 1 && t == DType::kUInt16)) continue;
    return Invalid("operand ", i, ": expected int16", i == 1 ? " or uint16" : "", ", got ",
                   Name(t));
  }
  const auto wide = [&](size_t i) { return r.b.Op("cast", {r.in(i)}, {{"to", "int32"}}); };
  return Values{r.b.Op("matmul", {wide(0), wide(1)})};
}

// `opset` says whether it is the Softmax before opset 13, of all axes from `axis` on as one.
absl::StatusOr<Values> FromQLinearSoftmax(Rewrite& r) {
  X2IR_RETURN_IF_ERROR(CheckType(r, 0));
  const int64_t opset = r.attrs().Int("opset"), axis = r.attrs().Int("axis", -1);
  Builder& b = r.b;
  Value* x = Dequantized(r, 0);
  if (opset >= 13) {
    return Values{Quantized(r, b.Op("softmax", {x}, {{"axis", axis}}), 3, r.dtype(0))};
  }
  if (r.rank(0) < 0) return Unimplemented("X: an unknown rank, with an opset before 13");
  if (axis < -r.rank(0) || axis > r.rank(0))
    return Invalid("axis: ", axis, " for rank ", r.rank(0));
  Value* rows = b.Op("flatten", {x}, {{"axis", axis}});
  Value* y = b.Op("reshape", {b.Op("softmax", {rows}, {{"axis", 1}}), b.Op("shape", {x})});
  return Values{Quantized(r, y, 3, r.dtype(0))};
}

absl::StatusOr<Values> FromQLinearConcat(Rewrite& r) {
  const size_t n = r.node.num_inputs();
  if (n < 5 || (n - 2) % 3 != 0) {
    return Invalid("expected a scale and a zero point with each operand");
  }
  std::vector<Value*> parts;
  for (size_t i = 2; i < n; i += 3) {
    X2IR_RETURN_IF_ERROR(CheckType(r, i));
    if (!r.has(i + 1) || !r.has(i + 2))
      return Invalid("operand ", i, " has no scale or zero point");
    parts.push_back(Dequantized(r, i));
  }
  Value* y = r.b.Op("concat", parts, {{"axis", r.attrs().Int("axis")}});
  return Values{Quantized(r, y, 0, r.dtype(2))};
}

absl::StatusOr<Values> FromQLinearWhere(Rewrite& r) {
  Value* y = r.b.Op("where", {r.in(0), Dequantized(r, 1), Dequantized(r, 4)});
  return Values{Quantized(r, y, 7, r.dtype(1))};
}

absl::StatusOr<Values> FromQGemm(Rewrite& r) {
  enum { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kC, kScaleY, kZeroY };
  Builder& b = r.b;
  if (r.has(kScaleY)) {
    // The integers of the third operand are sums as those of products, alpha included.
    X2IR_RETURN_IF_ERROR(CheckType(r, kA));
    const bool trans_b = r.attrs().Int("transB", 0) != 0;
    Value* of_b = b.Op("dequantize_linear", {r.in(kB), r.in(kScaleB), r.in(kZeroB)},
                       {{"axis", int64_t{trans_b ? 0 : 1}}});
    const auto alpha = static_cast<float>(r.attrs().Float("alpha", 1));
    std::vector<Value*> operands = {Dequantized(r, kA), of_b};
    if (r.has(kC)) {
      Value* steps = b.Op("mul", {r.in(kScaleA), r.in(kScaleB)});
      if (alpha != 1) steps = b.Op("mul", {steps, b.Scalar(DType::kFloat32, alpha)});
      operands.push_back(b.Op("dequantize_linear", {r.in(kC), steps}, {{"axis", -1}}));
    }
    Value* y = b.Op("gemm", std::move(operands),
                    {{"alpha", alpha},
                     {"beta", 1.0f},
                     {"transA", r.attrs().Int("transA", 0)},
                     {"transB", int64_t{trans_b}}});
    return Values{Quantized(r, y, kScaleY, r.dtype(kA))};
  }
  const auto matrix = [&](size_t i, const char* flag) {
    return r.attrs().Int(flag, 0) == 0
               ? r.in(i)
               : b.Op("transpose", {r.in(i)}, {{"perm", Attribute::Ints{1, 0}}});
  };
  Value* sums = b.Op("matmul_integer",
                     {matrix(kA, "transA"), matrix(kB, "transB"), r.in(kZeroA), r.in(kZeroB)});
  if (r.has(kC)) sums = b.Op("add", {sums, r.in(kC)});
  Value* scale = b.Op("mul", {r.in(kScaleA), r.in(kScaleB)});
  const float alpha = static_cast<float>(r.attrs().Float("alpha", 1));
  if (alpha != 1) scale = b.Op("mul", {scale, b.Scalar(DType::kFloat32, alpha)});
  return Values{b.Op("mul", {b.Op("cast", {sums}, {{"to", "float32"}}), scale})};
}

X2IR_ONNX(where).Is("com.microsoft::QLinearWhere", Since(1), Code{FromQLinearWhere, nullptr});
X2IR_ONNX(matmul_integer).Is("com.microsoft::QGemm", Since(1), Code{FromQGemm, nullptr});
X2IR_ONNX(add).Is("com.microsoft::QLinearAdd", Since(1), Code{FromQLinearBinary<kAdd>, nullptr});
X2IR_ONNX(mul).Is("com.microsoft::QLinearMul", Since(1), Code{FromQLinearBinary<kMul>, nullptr});
X2IR_ONNX(global_average_pool)
    .Is("com.microsoft::QLinearGlobalAveragePool", Since(1),
        Code{FromQLinearGlobalAveragePool, nullptr});
X2IR_ONNX(average_pool)
    .Is("com.microsoft::QLinearAveragePool", Since(1), Code{FromQLinearAveragePool, nullptr});
X2IR_ONNX(max_pool).Is("com.microsoft::NhwcMaxPool", Since(1), Code{FromNhwcMaxPool, nullptr});
X2IR_ONNX(matmul).Is("com.microsoft::MatMulInteger16", Since(1),
                     Code{FromMatMulInteger16, nullptr});
X2IR_ONNX(softmax).Is("com.microsoft::QLinearSoftmax", Since(1), Code{FromQLinearSoftmax, nullptr});
X2IR_ONNX(sigmoid).Is("com.microsoft::QLinearSigmoid", Since(1), Code{FromQLinearSigmoid, nullptr});
X2IR_ONNX(leaky_relu)
    .Is("com.microsoft::QLinearLeakyRelu", Since(1), Code{FromQLinearLeakyRelu, nullptr});
X2IR_ONNX(concat).Is("com.microsoft::QLinearConcat", Since(1), Code{FromQLinearConcat, nullptr});

// As ONNX has them now; an axis counts for scales of rank 1 alone.
AttributeMap QuantizeAttrs(const Rewrite& r) {
  return {{"axis", r.attrs().Int("axis", 1)}, {"block_size", r.attrs().Int("block_size", 0)}};
}

absl::StatusOr<Values> FromQuantizeLinear(Rewrite& r) {
  return Values{r.b.Op("quantize_linear", r.node.inputs(), QuantizeAttrs(r))};
}
absl::StatusOr<Values> FromDequantizeLinear(Rewrite& r) {
  return Values{r.b.Op("dequantize_linear", r.node.inputs(), QuantizeAttrs(r))};
}

X2IR_ONNX(quantize_linear)
    .Is("com.microsoft::QuantizeLinear", Since(1), Code{FromQuantizeLinear, nullptr});
X2IR_ONNX(dequantize_linear)
    .Is("com.microsoft::DequantizeLinear", Since(1), Code{FromDequantizeLinear, nullptr});

}  // namespace
}  // namespace x2ir
