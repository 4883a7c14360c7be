// TFLite: quantization.
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using tflite::Quantization;

bool HasSteps(DType t) { return t == DType::kInt8 || t == DType::kUInt8 || t == DType::kInt16; }

// The scales of a node of the two ops, which must be known.
absl::StatusOr<Quantization> StepsOfNode(TfliteWriter& w, DType type) {
  if (w.attrs().Int("block_size", 0) != 0) return CannotExpress("scales of blocks");
  const Tensor* scale = w.in(1)->fixed_constant();
  if (!scale || scale->is_sparse() || scale->dtype() != DType::kFloat32 || scale->rank() > 1 ||
      scale->num_elements() == 0) {
    return CannotExpress("scales that are no constants of float32");
  }
  const Tensor* zero = w.has(2) ? w.in(2)->fixed_constant() : nullptr;
  if (w.has(2) && (!zero || zero->is_sparse() || zero->dtype() != type ||
                   zero->num_elements() != scale->num_elements())) {
    return CannotExpress("zero points that are no constants");
  }
  Quantization q;
  for (int64_t i = 0; i < scale->num_elements(); ++i) {
    q.scales.push_back(static_cast<float>(scale->AsDouble(i)));
    q.zero_points.push_back(zero ? zero->AsInt(i) : 0);
    if (!(q.scales.back() > 0)) return CannotExpress("a scale that is not positive");
  }
  if (q.scales.size() > 1) {
    X2IR_ASSIGN_OR_RETURN(q.axis, w.Axis());
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    const Dim& dim = q.axis < rank ? (*w.shape())[q.axis] : Dim();
    if (!(dim == Dim(static_cast<int64_t>(q.scales.size())))) {
      return CannotExpress("scales that do not fit their axis");
    }
  }
  return q;
}

absl::StatusOr<Value*> ToDequantize(TfliteWriter& w) {
  Value* x = w.in(0);
  const DType type = x->dtype();
  if (w.out_type().dtype() != DType::kFloat32) {
    return CannotExpress("results of ", Name(w.out_type().dtype()));
  }
  const bool constant = x->fixed_constant() && !x->fixed_constant()->is_sparse();
  const bool of_constants = constant && (type == DType::kInt32 || type == DType::kInt4);
  if (!HasSteps(type) && !of_constants) return CannotExpress("integers of ", Name(type));
  X2IR_ASSIGN_OR_RETURN(const Quantization q, StepsOfNode(w, type));
  if (q.scales.size() > 1 && !constant) return CannotExpress("scales of an axis of a result");
  if (type == DType::kInt16 && q.zero_points != std::vector<int64_t>(q.scales.size(), 0)) {
    return CannotExpress("a zero point of int16 that is not 0");
  }
  if (tflite::IsQuantized(*x)) {
    X2IR_ASSIGN_OR_RETURN(const auto own, tflite::QuantizationOf(*x));
    if (*own != q) {
      if (!constant) return CannotExpress("the same integers in other steps");
      x = w.b().Constant(*x->fixed_constant(), x->name());
    }
  }
  tflite::SetQuantization(*x, q);
  return w.Tflite("DEQUANTIZE", {x});
}

absl::StatusOr<Value*> ToQuantize(TfliteWriter& w) {
  Value* y = w.node().output(0);
  const DType type = y->dtype();
  if (w.dtype() != DType::kFloat32) return CannotExpress("operands of ", Name(w.dtype()));
  if (!HasSteps(type)) return CannotExpress("integers of ", Name(type));
  if (w.attrs().Has("precision")) return CannotExpress("a precision");
  X2IR_ASSIGN_OR_RETURN(const Quantization q, StepsOfNode(w, type));
  if (q.scales.size() > 1) return CannotExpress("scales of an axis");
  tflite::SetQuantization(*y, q);
  return w.Tflite("QUANTIZE", {w.in(0)});
}

}  // namespace

X2IR_TFLITE(dequantize_linear).To("DEQUANTIZE", ToDequantize);
X2IR_TFLITE(quantize_linear).To("QUANTIZE", ToQuantize);

}  // namespace x2ir
