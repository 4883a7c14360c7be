// Products of quantized tensors: matmul_integer, conv_integer, qlinear_matmul, qlinear_conv.
// They are evaluated with the ops matmul and conv on doubles, in which every product and sum of
// integers of 8 bits is exact.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/window.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

using Dims = std::vector<int64_t>;

// --- By way of another op -------------------------------------------------------------------

// The shape that `op` gives for operands of these shapes.
absl::StatusOr<std::optional<Shape>> ShapeBy(Symbol op, const std::vector<const Shape*>& shapes,
                                             const AttributeMap& attrs) {
  Graph graph("g");
  Builder builder(graph, nullptr);
  std::vector<Value*> operands;
  for (const Shape* shape : shapes) {
    const Type type = shape ? Type::Tensor(DType::kFloat64, *shape) : Type::Tensor(DType::kFloat64);
    operands.push_back(graph.AddInput(StrCat("x", operands.size()), type));
  }
  const Value* y = builder.Op(op, operands, attrs);
  X2IR_RETURN_IF_ERROR(builder.status());
  return y->shape() ? std::optional<Shape>(*y->shape()) : std::nullopt;
}

absl::StatusOr<Tensor> RunBy(Symbol op, std::vector<Tensor> operands, const AttributeMap& attrs) {
  Graph graph("g");
  Builder builder(graph, nullptr);
  std::vector<Value*> values;
  for (Tensor& t : operands) {
    values.push_back(graph.AddConstant(StrCat("x", values.size()), std::move(t)));
  }
  const Value* y = builder.Op(op, values, attrs);
  X2IR_RETURN_IF_ERROR(builder.status());
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, EvalConstantNode(*y->producer()));
  return *results[0].tensor();
}

// --- Element types --------------------------------------------------------------------------

bool IsByte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }
bool IsFloat8(DType t) { return IsFloating(t) && BitWidth(t) == 8 && t != DType::kFloat8E8M0; }
bool IsLinearScale(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat16 || t == DType::kBFloat16;
}
bool Bytes(DType t) { return IsByte(t); }
bool BytesOrFloat8(DType t) { return IsByte(t) || IsFloat8(t); }
bool Float32(DType t) { return t == DType::kFloat32; }
bool Int32(DType t) { return t == DType::kInt32; }

struct TypeRule {
  size_t operand;
  bool (*allowed)(DType);
  int same_as = -1;  // another operand
};

// C is InferContext or EvalContext.
template <typename C>
absl::Status CheckTypes(const C& ctx, const OpDef& def, std::initializer_list<TypeRule> rules) {
  for (const TypeRule& rule : rules) {
    if (rule.operand >= ctx.num_inputs() || !ctx.has(rule.operand)) continue;
    const DType t = ctx.dtype(rule.operand);
    if (t == DType::kUndefined) continue;
    const std::string& name = def.inputs()[rule.operand].name;
    if (!rule.allowed(t)) return Invalid(name, ": elements of type ", Name(t), " are not allowed");
    const DType other = rule.same_as < 0 ? t : ctx.dtype(rule.same_as);
    if (other != DType::kUndefined && other != t) {
      return Invalid(name, ": expected ", Name(other), ", got ", Name(t));
    }
  }
  return absl::OkStatus();
}

template <typename C>
absl::Status CheckIntegerTypes(const C& ctx) {
  return CheckTypes(ctx, *FindOp(ctx.node().op()),
                    {{0, Bytes}, {1, Bytes}, {2, Bytes, 0}, {3, Bytes, 1}});
}
template <typename C>
absl::Status CheckQLinearMatMulTypes(const C& ctx) {
  return CheckTypes(ctx, *FindOp(ctx.node().op()),
                    {{0, BytesOrFloat8},
                     {1, IsLinearScale},
                     {2, BytesOrFloat8, 0},
                     {3, BytesOrFloat8},
                     {4, IsLinearScale, 1},
                     {5, BytesOrFloat8, 3},
                     {6, IsLinearScale, 1},
                     {7, BytesOrFloat8}});
}
template <typename C>
absl::Status CheckQLinearConvTypes(const C& ctx) {
  return CheckTypes(ctx, *FindOp(ctx.node().op()),
                    {{0, Bytes},
                     {1, Float32},
                     {2, Bytes, 0},
                     {3, Bytes},
                     {4, Float32},
                     {5, Bytes, 3},
                     {6, Float32},
                     {7, Bytes},
                     {8, Int32}});
}

// --- Scales and zero points -----------------------------------------------------------------

// Scales or zero points, and how they lie along a tensor that they broadcast to.
struct Along {
  Numbers<double> numbers;
  Dims dims;
};

// A vector of numbers along `axis` of a tensor of those dims (negative: from the end). More axes
// are those of the tensor, all of size 1 but the ones that the numbers differ along.
absl::StatusOr<Along> PutAlong(const Tensor& t, std::string_view name, const Dims& dims,
                               int64_t axis) {
  Along along{Numbers<double>(t), {}};
  if (t.num_elements() == 1) return along;
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  if (t.rank() == 1) {
    along.dims.assign(dims.size() - axis, 1);
    along.dims[0] = t.dim(0);
  } else {
    along.dims = t.dims();
  }
  const absl::StatusOr<Dims> both = BroadcastDims(along.dims, dims);
  if (!both.ok() || *both != dims) {
    return Invalid(name, ": ", DimsText(t.dims()), " does not fit ", DimsText(dims));
  }
  return along;
}

// `numbers` minus zero points, as doubles.
Tensor Centered(const Tensor& t, const Dims& dims, const std::optional<Along>& zero_point) {
  const Numbers<double> in(t);
  NumbersOut<double> out(DType::kFloat64, t.dims());
  if (!zero_point || zero_point->dims.empty()) {
    const double z = zero_point ? zero_point->numbers[0] : 0;
    for (int64_t i = 0; i < in.size(); ++i) out[i] = in[i] - z;
    return out.Finish();
  }
  const Dims strides = BroadcastStrides(zero_point->dims, dims);
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < in.size(); ++i) {
    int64_t at = 0;
    for (size_t k = 0; k < index.size(); ++k) at += index[k] * strides[k];
    out[i] = in[i] - zero_point->numbers[at];
    NextIndex(dims, index);
  }
  return out.Finish();
}

// An exact integer in a double as int32, wrapping.
Tensor AsInt32(const Tensor& t) {
  const Numbers<double> in(t);
  std::vector<int64_t> out(in.size());
  for (int64_t i = 0; i < in.size(); ++i) out[i] = TruncateToInt64(in[i]);
  return FromNumbers<int64_t>(DType::kInt32, t.dims(), out);
}

// What becomes of sums of products: times the scales of both operands, over that of the result,
// rounded to nearest even, plus the zero point, clamped. The factor is a float32.
absl::StatusOr<Tensor> Requantize(const Tensor& sums, const Dims& dims, const Along& scale_a,
                                  const Along& scale_b, const Tensor& scale,
                                  const Tensor& zero_point) {
  if (scale.num_elements() != 1 || zero_point.num_elements() != 1) {
    return Invalid("y_scale and y_zero_point: expected one number, got shapes ",
                   DimsText(scale.dims()), " and ", DimsText(zero_point.dims()));
  }
  const DType out = zero_point.dtype();
  const auto over = static_cast<float>(Numbers<double>(scale)[0]);
  const double z = Numbers<double>(zero_point)[0];
  const bool integer = IsInteger(out);
  const double lo = out == DType::kInt8 ? -128 : 0, hi = out == DType::kInt8 ? 127 : 255;
  const Numbers<double> in(sums);
  const Dims a = BroadcastStrides(scale_a.dims, dims), b = BroadcastStrides(scale_b.dims, dims);
  Dims index(dims.size(), 0);
  std::vector<double> y(in.size());
  for (int64_t i = 0; i < in.size(); ++i) {
    int64_t at_a = 0, at_b = 0;
    for (size_t k = 0; k < index.size(); ++k) {
      at_a += index[k] * a[k];
      at_b += index[k] * b[k];
    }
    const float factor = static_cast<float>(scale_a.numbers[at_a]) *
                         static_cast<float>(scale_b.numbers[at_b]) / over;
    const double v = in[i] * static_cast<double>(factor);
    if (integer) {
      // ONNX says nothing of NaN: the smallest number here.
      y[i] = std::isnan(v) ? lo : std::clamp(std::nearbyint(v) + z, lo, hi);
    } else {
      y[i] = z == 0 ? v : v + z;
    }
    NextIndex(dims, index);
  }
  return CastTensor(FromNumbers<double>(DType::kFloat64, sums.dims(), y), out);
}

// --- Matrices -------------------------------------------------------------------------------

// Dims as a stack of matrices: a vector is a row on the left, a column on the right.
Dims MatrixDims(const Tensor& t, bool left) {
  Dims dims = t.dims();
  if (dims.size() == 1) dims.insert(left ? dims.begin() : dims.end(), 1);
  return dims;
}

// Scales and zero points are one for each row on the left, for each column on the right.
absl::StatusOr<Along> AlongMatrix(const EvalContext& ctx, size_t i, const Dims& dims, bool left) {
  const std::string& name = FindOp(ctx.node().op())->inputs()[i].name;
  X2IR_ASSIGN_OR_RETURN(Along along, PutAlong(ctx.input(i), name, dims, left ? -2 : -1));
  const size_t depth = left ? 1 : 2;  // that axis is summed over
  if (along.dims.size() >= depth && along.dims[along.dims.size() - depth] != 1) {
    return Invalid(name, ": ", DimsText(ctx.dims(i)), " differs along the axis that is summed");
  }
  return along;
}

absl::Status InferProduct(InferContext& ctx, size_t a, size_t b, DType out) {
  X2IR_ASSIGN_OR_RETURN(std::optional<Shape> shape,
                        ShapeBy("matmul", {ctx.shape(a), ctx.shape(b)}, {}));
  return ctx.Return(out, std::move(shape));
}

absl::StatusOr<Tensor> EvalProduct(EvalContext& ctx, size_t a, size_t b, size_t a_zero,
                                   size_t b_zero) {
  if (ctx.input(a).rank() == 0 || ctx.input(b).rank() == 0) {
    return Invalid("expected operands of rank 1 or more");
  }
  std::vector<Tensor> centered;
  for (const bool left : {true, false}) {
    const Tensor& t = ctx.input(left ? a : b);
    const size_t zero = left ? a_zero : b_zero;
    const Dims dims = MatrixDims(t, left);
    std::optional<Along> zero_point;
    if (zero < ctx.num_inputs() && ctx.has(zero)) {
      X2IR_ASSIGN_OR_RETURN(Along along, AlongMatrix(ctx, zero, dims, left));
      zero_point.emplace(std::move(along));
    }
    centered.push_back(Centered(t, dims, zero_point));
  }
  return RunBy("matmul", std::move(centered), {});
}

absl::Status InferMatMulInteger(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckIntegerTypes(ctx));
  return InferProduct(ctx, 0, 1, DType::kInt32);
}

absl::Status EvalMatMulInteger(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckIntegerTypes(ctx));
  X2IR_ASSIGN_OR_RETURN(const Tensor sums, EvalProduct(ctx, 0, 1, 2, 3));
  return ctx.Return(AsInt32(sums));
}

X2IR_OP(matmul_integer)
    .Signature("a, b, a_zero_point?, b_zero_point? -> y")
    .Functions(InferMatMulInteger, EvalMatMulInteger)
    .Opaque()
    .Heavy()
    .Doc(
        "matmul of a - a_zero_point and b - b_zero_point as int32. Zero points are one for all, or "
        "one for each row of a and each column of b.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfMatMul);

absl::Status InferQLinearMatMul(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckQLinearMatMulTypes(ctx));
  return InferProduct(ctx, 0, 3, ctx.dtype(7));
}

absl::Status EvalQLinearMatMul(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckQLinearMatMulTypes(ctx));
  X2IR_ASSIGN_OR_RETURN(const Tensor sums, EvalProduct(ctx, 0, 3, 2, 5));
  const Dims a = MatrixDims(ctx.input(0), true), b = MatrixDims(ctx.input(3), false);
  X2IR_ASSIGN_OR_RETURN(const Along scale_a, AlongMatrix(ctx, 1, a, true));
  X2IR_ASSIGN_OR_RETURN(const Along scale_b, AlongMatrix(ctx, 4, b, false));
  X2IR_ASSIGN_OR_RETURN(Dims dims,
                        BroadcastDims(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2)));
  dims.push_back(a[a.size() - 2]);
  dims.push_back(b.back());
  X2IR_ASSIGN_OR_RETURN(Tensor y,
                        Requantize(sums, dims, scale_a, scale_b, ctx.input(6), ctx.input(7)));
  return ctx.Return(std::move(y));
}

X2IR_OP(qlinear_matmul)
    .Signature("a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point -> y")
    .Functions(InferQLinearMatMul, EvalQLinearMatMul)
    .Opaque()
    .Heavy()
    .Doc(
        "matmul of quantized matrices: of (a - a_zero_point) * a_scale and (b - b_zero_point) * "
        "b_scale, quantized by y_scale and y_zero_point. Scales and zero points are one for all, "
        "or one for each row of a and each column of b.")
    .NeedsFloat32(float32_for::kUnits)
    .MultiplyAdds(WorkOfMatMul);

// --- Convolutions ---------------------------------------------------------------------------

// One number for all, or one for each output channel.
absl::Status CheckPerChannel(const Tensor& t, std::string_view name, int64_t channels) {
  if (t.num_elements() == 1 || (t.rank() == 1 && t.dim(0) == channels)) return absl::OkStatus();
  return Invalid(name, ": expected one number, or ", channels, ", got shape ", DimsText(t.dims()));
}
absl::Status CheckOne(const Tensor& t, std::string_view name) {
  if (t.num_elements() == 1) return absl::OkStatus();
  return Invalid(name, ": expected one number, got shape ", DimsText(t.dims()));
}

// What is known of it already; `channels` is unknown where only one number is allowed.
absl::Status InferPerChannel(const InferContext& ctx, size_t i, std::string_view name,
                             const std::optional<Dim>& channels) {
  const Shape* s = i < ctx.num_inputs() && ctx.has(i) ? ctx.shape(i) : nullptr;
  if (!s) return absl::OkStatus();
  if (s->rank() == 1 && channels && !ProvablyDifferent((*s)[0], *channels)) {
    return absl::OkStatus();
  }
  if (!ProvablyDifferent(s->NumElements(), Dim(1))) return absl::OkStatus();
  return Invalid(name, ": [", s->ToString(), "] is not one number",
                 channels ? " nor one for each output channel" : "");
}

absl::Status InferConvBy(InferContext& ctx, size_t x, size_t w, size_t b, DType out) {
  std::vector<const Shape*> shapes = {ctx.shape(x), ctx.shape(w)};
  if (b < ctx.num_inputs() && ctx.has(b)) shapes.push_back(ctx.shape(b));
  X2IR_ASSIGN_OR_RETURN(std::optional<Shape> shape, ShapeBy("conv", shapes, ctx.attrs()));
  return ctx.Return(out, std::move(shape));
}

Dim OutChannels(const InferContext& ctx, size_t w) {
  const Shape* s = ctx.shape(w);
  return s && s->rank() > 0 ? (*s)[0] : Dim();
}

absl::StatusOr<Tensor> EvalConvBy(EvalContext& ctx, size_t x, size_t w, size_t x_zero,
                                  size_t w_zero, size_t b) {
  const auto given = [&](size_t i) { return i < ctx.num_inputs() && ctx.has(i); };
  if (ctx.input(w).rank() < 3) return Invalid("w: expected rank 3 or more");
  std::optional<Along> x_zero_point, w_zero_point;
  if (given(x_zero)) {
    X2IR_RETURN_IF_ERROR(CheckOne(ctx.input(x_zero), "x_zero_point"));
    x_zero_point.emplace(Along{Numbers<double>(ctx.input(x_zero)), {}});
  }
  if (given(w_zero)) {
    const Tensor& zero = ctx.input(w_zero);
    X2IR_RETURN_IF_ERROR(CheckPerChannel(zero, "w_zero_point", ctx.input(w).dim(0)));
    X2IR_ASSIGN_OR_RETURN(Along along, PutAlong(zero, "w_zero_point", ctx.dims(w), 0));
    w_zero_point.emplace(std::move(along));
  }
  std::vector<Tensor> operands = {Centered(ctx.input(x), ctx.dims(x), x_zero_point),
                                  Centered(ctx.input(w), ctx.dims(w), w_zero_point)};
  if (given(b)) operands.push_back(Centered(ctx.input(b), ctx.dims(b), std::nullopt));
  return RunBy("conv", std::move(operands), ctx.attrs());
}

constexpr size_t kNone = 99;

absl::Status InferConvInteger(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckIntegerTypes(ctx));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 2, "x_zero_point", std::nullopt));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 3, "w_zero_point", OutChannels(ctx, 1)));
  return InferConvBy(ctx, 0, 1, kNone, DType::kInt32);
}

absl::Status EvalConvInteger(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckIntegerTypes(ctx));
  X2IR_ASSIGN_OR_RETURN(const Tensor sums, EvalConvBy(ctx, 0, 1, 2, 3, kNone));
  return ctx.Return(AsInt32(sums));
}

X2IR_OP(conv_integer)
    .Signature("x, w, x_zero_point?, w_zero_point? -> y")
    .With(ConvAttrs)
    .Functions(InferConvInteger, EvalConvInteger)
    .Opaque()
    .Heavy()
    .Doc(
        "conv of x - x_zero_point and w - w_zero_point as int32; padding counts as zero after "
        "that. w_zero_point is one for all, or one for each output channel.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfConv<1>);

absl::Status InferQLinearConv(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckQLinearConvTypes(ctx));
  const Dim channels = OutChannels(ctx, 3);
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 1, "x_scale", std::nullopt));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 2, "x_zero_point", std::nullopt));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 4, "w_scale", channels));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 5, "w_zero_point", channels));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 6, "y_scale", std::nullopt));
  X2IR_RETURN_IF_ERROR(InferPerChannel(ctx, 7, "y_zero_point", std::nullopt));
  return InferConvBy(ctx, 0, 3, 8, ctx.dtype(7));
}

absl::Status EvalQLinearConv(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckQLinearConvTypes(ctx));
  X2IR_ASSIGN_OR_RETURN(const bool last, ChannelsLast(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(CheckOne(ctx.input(1), "x_scale"));
  X2IR_ASSIGN_OR_RETURN(const Tensor sums, EvalConvBy(ctx, 0, 3, 2, 5, 8));
  X2IR_RETURN_IF_ERROR(CheckPerChannel(ctx.input(4), "w_scale", ctx.input(3).dim(0)));
  const Along x_scale{Numbers<double>(ctx.input(1)), {}};
  X2IR_ASSIGN_OR_RETURN(const Along w_scale, PutAlong(ctx.input(4), "w_scale", sums.dims(),
                                                      ChannelAxis(last, sums.rank())));
  X2IR_ASSIGN_OR_RETURN(
      Tensor y, Requantize(sums, sums.dims(), x_scale, w_scale, ctx.input(6), ctx.input(7)));
  return ctx.Return(std::move(y));
}

X2IR_OP(qlinear_conv)
    .Signature("x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, b? -> y")
    .With(ConvAttrs)
    .Functions(InferQLinearConv, EvalQLinearConv)
    .Opaque()
    .Heavy()
    .Doc(
        "conv of (x - x_zero_point) * x_scale and (w - w_zero_point) * w_scale, plus b, which is "
        "int32 in units of x_scale * w_scale; quantized by y_scale and y_zero_point. w_scale and "
        "w_zero_point are one for all, or one for each output channel.")
    .NeedsFloat32(float32_for::kUnits)
    .MultiplyAdds(WorkOfConv<3>);

}  // namespace
}  // namespace x2ir
