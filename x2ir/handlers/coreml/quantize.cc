// Core ML: quantization.
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

AttributeMap StepsAxis(MilArgs& a, const Expr& scale) {
  AttributeMap attrs;
  const int64_t axis = a.Int("axis");
  if (scale.rank() > 0) attrs.Set("axis", axis);
  return attrs;
}

Expr MilDequantize(MilArgs& a) {
  const Expr scale = a.X("scale");
  return a.Op("dequantize_linear", {a.X("input"), scale, a.Opt("zero_point")}, StepsAxis(a, scale));
}

absl::StatusOr<Value*> MilQuantize(MilArgs& a) {
  const Expr scale = a.X("scale");
  const DType type = coreml::ParseMilTypeName(a.Text("output_dtype"));
  AttributeMap attrs = StepsAxis(a, scale);
  if (type != DType::kInt8 && type != DType::kUInt8) return Unimplemented("steps of that type");
  if (!a.Has("zero_point")) attrs.Set("output_dtype", Name(type));
  return a.Op("quantize_linear", {a.X("input"), scale, a.Opt("zero_point")}, std::move(attrs))
      .value();
}

// Compressed weights: operands are the numbers, the scale and the zero point.
Expr MilAffineDequantize(NodeReader& a) {
  const int64_t axis = a.Int("axis", 0);
  const Expr scale = a.in(1);
  AttributeMap attrs;
  if (scale.rank() > 0) attrs.Set("axis", axis);
  return a.Op("dequantize_linear", {a.in(0), scale, a.in(2)}, std::move(attrs));
}

absl::StatusOr<AttributeMap> WrittenSteps(MilWriter& w) {
  for (size_t i = 1; i < 3; ++i) {
    if (w.has(i) && !w.in(i)->fixed_constant()) return CannotExpress("computed steps");
  }
  if (w.Int("block_size") != 0) return CannotExpress("steps of blocks");
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank(1));
  AttributeMap attrs;
  if (rank > 1) return CannotExpress("steps of blocks");
  if (rank == 1) attrs.Set("axis", w.attrs().Int("axis", 1));
  return attrs;
}

bool IsByte(DType t) { return t == DType::kInt8 || t == DType::kUInt8; }

absl::StatusOr<Value*> ToDequantize(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenSteps(w));
  if (!IsByte(w.dtype())) return CannotExpress("steps of ", Name(w.dtype()));
  if (w.out_type().dtype() != w.dtype(1)) return CannotExpress("steps of two types");
  return w.Mil("dequantize", {w.in(0), w.in(2), w.in(1)}, std::move(attrs));
}

absl::StatusOr<Value*> ToQuantize(MilWriter& w) {
  X2IR_ASSIGN_OR_RETURN(AttributeMap attrs, WrittenSteps(w));
  const DType to = w.out_type().dtype();
  if (!IsByte(to) || w.dtype() != w.dtype(1)) return CannotExpress("steps of ", Name(to));
  attrs.Set("output_dtype", coreml::MilTypeName(to));
  return w.Mil("quantize", {w.in(0), w.in(2), w.in(1)}, std::move(attrs));
}

}  // namespace

X2IR_MIL(dequantize_linear)
    .To("dequantize", ToDequantize)
    .From("dequantize", MilDequantize)
    .From("constexpr_affine_dequantize", [](MilArgs& a) { return MilAffineDequantize(a); });
X2IR_MIL(quantize_linear).To("quantize", ToQuantize).From("quantize", MilQuantize);

}  // namespace x2ir
