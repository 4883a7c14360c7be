// ncnn: quantization.

#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

// A number for each index of the first axis, or one for all.
Expr OfChannels(NcnnArgs& a, const Expr& numbers) {
  if (DimAt(numbers, 0) == Dim(1)) return numbers;
  return AlongChannels(numbers, a.RankOf());
}

Value* QuantizeLayer(NcnnArgs& a) {
  a.Drop({0});
  return NcnnQuantized(a.in(0), OfChannels(a, a.weights(0))).To(DType::kInt8);
}

Value* DequantizeLayer(NcnnArgs& a) {
  a.Drop({0});
  const bool bias = a.Int(1, 0) != 0;
  const Expr y = a.in(0).To(DType::kFloat32) * OfChannels(a, a.weights(0));
  return bias ? y + OfChannels(a, a.weights(1)) : y;
}

absl::StatusOr<Value*> RequantizeLayer(NcnnArgs& a) {
  a.Drop({0, 1});
  const bool bias = a.Int(2, 0) != 0;
  Expr y = a.in(0).To(DType::kFloat32) * OfChannels(a, a.weights(0));
  if (bias) y = y + OfChannels(a, a.weights(2));
  X2IR_ASSIGN_OR_RETURN(y, NcnnActivated(a, y, 3));
  return NcnnQuantized(y, OfChannels(a, a.weights(1))).To(DType::kInt8).value();
}

}  // namespace

X2IR_NCNN(quantize_linear).From({{"Quantize", QuantizeLayer}, {"Requantize", RequantizeLayer}});
X2IR_NCNN(dequantize_linear).From("Dequantize", DequantizeLayer);

}  // namespace x2ir
