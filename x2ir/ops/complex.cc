// Complex numbers made of their parts, and taken apart. No target has these ops: import writes what
// is complex as real tensors (optimizer/complex_parts.h).
#include <complex>

#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

absl::Status InferComplex(InferContext& ctx) {
  for (size_t i = 0; i < 2; ++i) {
    const DType t = ctx.dtype(i);
    if (t != DType::kUndefined && t != DType::kFloat32 && t != DType::kFloat64) {
      return Unimplemented("complex numbers of ", Name(t));
    }
  }
  X2IR_ASSIGN_OR_RETURN(const DType part, CommonDType(ctx, 0, 2));
  if (part == DType::kUndefined) return BroadcastAllAs(ctx, part);
  return BroadcastAllAs(ctx, part == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64);
}

absl::Status EvalComplex(EvalContext& ctx) {
  if (ctx.dtype(0) != ctx.dtype(1)) return Invalid("parts of two types");
  if (ctx.dtype(0) == DType::kFloat32) {
    return ZipElements<float, std::complex<float>>(
        ctx, DType::kComplex64, [](float re, float im) { return std::complex<float>(re, im); });
  }
  return ZipElements<double, std::complex<double>>(
      ctx, DType::kComplex128, [](double re, double im) { return std::complex<double>(re, im); });
}

absl::Status InferPart(InferContext& ctx) {
  const Shape* shape = ctx.shape(0);
  const DType t = ctx.dtype(0);
  if (t != DType::kUndefined && !IsComplex(t)) return Invalid("expected complex, got ", Name(t));
  DType part = DType::kUndefined;
  if (t != DType::kUndefined) part = t == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  return ctx.Return(part, shape ? std::optional<Shape>(*shape) : std::nullopt);
}

EvalFn EvalPart(bool imaginary) {
  return [imaginary](EvalContext& ctx) -> absl::Status {
    const Tensor& x = ctx.input(0);
    if (!IsComplex(x.dtype())) return Invalid("expected complex, got ", Name(x.dtype()));
    const Numbers<std::complex<double>> in(x);
    std::vector<double> out;
    for (int64_t i = 0; i < in.size(); ++i) {
      out.push_back(imaginary ? in[i].imag() : in[i].real());
    }
    const DType part = x.dtype() == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
    return ctx.Return(FromNumbers<double>(part, x.dims(), out));
  };
}

X2IR_OP(complex)
    .Signature("real, imaginary -> z")
    .Functions(InferComplex, EvalComplex)
    .Opaque()
    .Doc("Complex numbers of these parts, which are float32 or float64, broadcast.")
    .AllowsFloat16();

X2IR_OP(real)
    .Signature("z -> x")
    .Functions(InferPart, EvalPart(false))
    .Opaque()
    .Doc("The real parts of complex numbers.")
    .AllowsFloat16();

X2IR_OP(imag)
    .Signature("z -> x")
    .Functions(InferPart, EvalPart(true))
    .Opaque()
    .Doc("The imaginary parts of complex numbers.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
