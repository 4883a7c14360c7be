// ONNX: reductions and what else walks along axes.
#include <memory>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/axis_lenses.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"

namespace x2ir {
namespace {

// An empty list of axes in an attribute is the same as none: reduce all.
Lens AxesAttr(int computed_from) {
  return AxesAsAttr(EmptyAxes::kAll, /*inserted=*/false, computed_from);
}

// ONNX Runtime rounds the exponentials of integers, too.
class OfFloatsLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* x = draft.node().input(0);
    return x && IsInteger(x->dtype()) ? CannotExpress("exponentials of integers")
                                      : absl::OkStatus();
  }
};

Lens OfFloats() { return std::make_shared<OfFloatsLens>(); }

}  // namespace

X2IR_ONNX(reduce_sum)
    .Is("ReduceSum", In(1, 12), AxesAttr(13))
    .Is("ReduceSum", Since(13), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_mean)
    .Is("ReduceMean", In(1, 17), AxesAttr(18))
    .Is("ReduceMean", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_max)
    .Is("ReduceMax", In(1, 17), AxesAttr(18))
    .Is("ReduceMax", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_min)
    .Is("ReduceMin", In(1, 17), AxesAttr(18))
    .Is("ReduceMin", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_prod)
    .Is("ReduceProd", In(1, 17), AxesAttr(18))
    .Is("ReduceProd", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_l1)
    .Is("ReduceL1", In(1, 17), AxesAttr(18))
    .Is("ReduceL1", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_l2)
    .Is("ReduceL2", In(1, 17), AxesAttr(18))
    .Is("ReduceL2", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(reduce_log_sum)
    .Is("ReduceLogSum", In(1, 17), AxesAttr(18), NotOf(DType::kUInt32), NotOf(DType::kUInt64))
    .Is("ReduceLogSum", Since(18), OfRank(1, {1}), AxesOfNothingFromFront(), NotOf(DType::kUInt32),
        NotOf(DType::kUInt64));
X2IR_ONNX(reduce_log_sum_exp)
    .Is("ReduceLogSumExp", In(1, 17), AxesAttr(18), OfFloats())
    .Is("ReduceLogSumExp", Since(18), OfRank(1, {1}), AxesOfNothingFromFront(), OfFloats());
X2IR_ONNX(reduce_sum_square)
    .Is("ReduceSumSquare", In(1, 17), AxesAttr(18))
    .Is("ReduceSumSquare", Since(18), OfRank(1, {1}), AxesOfNothingFromFront());
X2IR_ONNX(arg_max).Is("ArgMax", Since(1), AxisFromFront("axis"));
X2IR_ONNX(arg_min).Is("ArgMin", Since(1), AxisFromFront("axis"));
X2IR_ONNX(cum_sum).Is("CumSum", Since(11));
X2IR_ONNX(cum_prod).Is("CumProd", Since(26));
X2IR_ONNX(reverse_sequence).Is("ReverseSequence", Since(10));

}  // namespace x2ir
