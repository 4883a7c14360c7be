// ONNX: linear algebra.
#include <memory>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {
namespace {

// Before opset 11, Gemm could not do without C.
class ZeroForC : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* a = draft.node().input(0);
    if (draft.node().input(2)) return absl::OkStatus();
    if (!a || !(IsFloating(a->dtype()) || IsInteger(a->dtype()))) {
      return CannotExpress("without c, and without known element type, Gemm needs opset 11");
    }
    draft.SetOperandAt(
        2, draft.builder().Constant(Tensor::ScalarOf(a->dtype(), 0).Reshaped({1}), "c"));
    return absl::OkStatus();
  }
};

}  // namespace

X2IR_ONNX(matmul).Is("MatMul", Since(1));
X2IR_ONNX(gemm)
    .Is("Gemm", In(1, 6), BroadcastOfC(), ImportOnly())
    .Is("Gemm", In(7, 10), Lens(std::make_shared<ZeroForC>()))
    .Is("Gemm", Since(11));
X2IR_ONNX(einsum).Is("Einsum", Since(12), NotOf(DType::kInt8), NotOf(DType::kUInt8),
                     NotOf(DType::kInt16), NotOf(DType::kUInt16), NotOf(DType::kUInt32),
                     NotOf(DType::kUInt64));
X2IR_ONNX(det).Is("Det", Since(11));

}  // namespace x2ir
